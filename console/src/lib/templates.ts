// Key templates: reads the values of placeholders out of a key, and makes a key of values. See
// src/design/term/template.h. SPDX-License-Identifier: Apache-2.0
import type { TemplatePart } from './types';

export interface Piece {
  text: string;
  /** Which placeholder this piece is; absent: literal text. */
  name?: string;
  format?: string;
}

/** "USER#<user_id>" into its parts: for templates that come as text alone. */
export function parseTemplate(template: string): TemplatePart[] {
  const parts: TemplatePart[] = [];
  for (const found of template.matchAll(/<([^<>]+)>|[^<]+|</g)) {
    if (found[1] === undefined) {
      parts.push({ text: found[0] });
      continue;
    }
    const [name, format] = found[1].split(':');
    parts.push(format ? { name: name!, format } : { name: name! });
  }
  return parts;
}

const isLiteral = (part: TemplatePart): part is { text: string } => 'text' in part;

/** How many characters a placeholder always takes; 0: it depends. */
function fixedWidth(format: string | undefined): number {
  if (format === 'date') return 10;
  if (format === 'month') return 7;
  return format && /^[0+]\d+$/.test(format) ? Number(format.slice(1)) : 0;
}

function isDate(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const time = Date.parse(`${text}T00:00:00Z`);
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

function fits(format: string | undefined, text: string): boolean {
  if (format === 'date') return isDate(text);
  if (format === 'month') return isDate(`${text}-01`);
  return fixedWidth(format) === 0 || /^\d+$/.test(text);
}

/** What separates the segments of this template: no value holds it. */
function separatorOf(parts: TemplatePart[]): string | null {
  const first = parts[0];
  if (first && isLiteral(first) && first.text.startsWith('/')) return '/';
  return parts.some((part) => isLiteral(part) && part.text.includes('#')) ? '#' : null;
}

/** A run of placeholders that takes the whole of `text`: of several without a fixed width the first takes all there is. */
function matchRun(run: { name: string; format?: string }[], text: string): Piece[] | null {
  const fixed = run.reduce((sum, part) => sum + fixedWidth(part.format), 0);
  const spare = text.length - fixed;
  const pieces: Piece[] = [];
  let at = 0,
    taken = false;
  if (spare < 0) return null;
  for (const part of run) {
    let width = fixedWidth(part.format);
    if (width === 0) {
      width = taken ? 0 : spare;
      if (!taken && width === 0) return null;
      taken = true;
    }
    const piece = text.slice(at, at + width);
    if (!fits(part.format, piece)) return null;
    pieces.push({ text: piece, name: part.name, format: part.format });
    at += width;
  }
  return at === text.length ? pieces : null;
}

/** Where the text of placeholders ends: at the following literal; the last literal is at the end of the key. */
function endOfRun(parts: TemplatePart[], next: number, key: string, at: number): number {
  const literal = parts[next];
  if (!literal || !isLiteral(literal)) return key.length;
  if (next + 1 < parts.length) return key.indexOf(literal.text, at);
  const end = key.length - literal.text.length;
  return end >= at && key.endsWith(literal.text) ? end : -1;
}

/** The pieces of a key that could have come from the template; null: it could not. */
export function matchTemplate(parts: TemplatePart[], key: string): Piece[] | null {
  const separator = separatorOf(parts);
  const pieces: Piece[] = [];
  let at = 0;
  for (let i = 0; i < parts.length;) {
    const part = parts[i]!;
    if (isLiteral(part)) {
      if (!key.startsWith(part.text, at)) return null;
      pieces.push({ text: part.text });
      at += part.text.length;
      i++;
      continue;
    }
    const run: { name: string; format?: string }[] = [];
    for (let next = parts[i]; next && !isLiteral(next); next = parts[++i]) run.push(next);
    const end = endOfRun(parts, i, key, at);
    const text = end < 0 ? '' : key.slice(at, end);
    const found = end < 0 || (separator && text.includes(separator)) ? null : matchRun(run, text);
    if (!found) return null;
    pieces.push(...found);
    at = end;
  }
  return at === key.length ? pieces : null;
}

/** The literal text before the first placeholder. */
export function prefixOf(parts: TemplatePart[]): string {
  const first = parts[0];
  return first && isLiteral(first) ? first.text : '';
}

export const placeholders = (parts: TemplatePart[]): string[] =>
  parts.flatMap((part) => (isLiteral(part) ? [] : [part.name]));

/** How much of a template is given: the more of its text is literal, the less it matches by accident. */
export const literalLength = (parts: TemplatePart[]): number =>
  parts.reduce((sum, part) => sum + (isLiteral(part) ? part.text.length : fixedWidth(part.format) ? 1 : 0), 0);

/** What two templates have in common when only the names of their placeholders differ: "USER#<>". */
export const shapeOf = (parts: TemplatePart[]): string =>
  parts.map((part) => (isLiteral(part) ? part.text : `<${part.format ? `:${part.format}` : ''}>`)).join('');

function slug(text: string): string {
  const plain = text
    .toLowerCase()
    .normalize('NFD')
    .replace(/[\u0300-\u036f'’]/g, '');
  return plain.replace(/[^\p{L}\p{N}]+/gu, '-').replace(/^-|-$/g, '');
}

function formatted(value: string, format: string | undefined): string | null {
  const width = fixedWidth(format);
  if (format === 'date' || format === 'month') return value.length >= width ? value.slice(0, width) : null;
  if (format === 'lower') return value.toLowerCase();
  if (format === 'slug') return slug(value) || null;
  if (!width) return value;
  if (!/^-?\d{1,37}$/.test(value)) return null;
  const number = BigInt(value) + (format!.startsWith('+') ? 5n * 10n ** BigInt(width - 1) : 0n);
  const digits = number.toString();
  return number >= 0n && digits.length <= width ? digits.padStart(width, '0') : null;
}

/** null: a value is missing, or none that its place can have. */
export function fillTemplate(parts: TemplatePart[], value: (name: string) => string | undefined): string | null {
  let key = '';
  for (const part of parts) {
    const given = isLiteral(part) ? part.text : value(part.name);
    const text = given && !isLiteral(part) ? formatted(given, part.format) : given;
    if (!text || (!isLiteral(part) && text.includes('#') && separatorOf(parts) === '#')) return null;
    key += text;
  }
  return key;
}

/** As much of the key as the values determine: the prefix for a sort key condition. */
export function fillPrefix(parts: TemplatePart[], value: (name: string) => string | undefined): string {
  let prefix = '';
  for (const part of parts) {
    const text = isLiteral(part) ? part.text : fillTemplate([part], value);
    if (!text) break;
    prefix += text;
  }
  return prefix;
}
