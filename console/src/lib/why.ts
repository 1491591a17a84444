// Explains an item's place: what it is, how its keys are made, which access patterns read it there.
// SPDX-License-Identifier: Apache-2.0
import { companionRole, explain, keyList, kindOf, type KeyParts, type Recognised } from './recognise';
import { valuesOf } from './references';
import { matchTemplate, parseTemplate, prefixOf, shapeOf } from './templates';
import type { AccessPattern, Design, Item } from './types';
import { keyText } from './values';

/** One condition of a request in words: GSI1PK = USER#<user_id>, begins_with(GSI1SK, POST#). */
interface Condition {
  attribute: string;
  operator: string;
  template: string;
}

/** One Query or GetItem out of a pattern's request; `index` null: the table. */
interface Read {
  index: string | null;
  conditions: Condition[];
}

export interface Place {
  /** null: the table. */
  index: string | null;
  keys: KeyParts[];
  patterns: AccessPattern[];
}

export interface Why {
  sentence: string;
  places: Place[];
  /** Other items written, updated or counted with it. */
  notes: string[];
}

function condition(text: string): Condition | null {
  const begins = /^begins_with\((\S+), (.*)\)$/.exec(text);
  if (begins) return { attribute: begins[1]!, operator: 'begins_with', template: begins[2]! };
  const found = /^(\S+) (=|<=|>=|<|>|between) (.*)$/.exec(text);
  if (!found) return null;
  const template = found[2] === 'between' ? found[3]!.split(' and ')[0]! : found[3]!;
  return { attribute: found[1]!, operator: found[2]!, template };
}

function reads(request: string): Read[] {
  const list: Read[] = [];
  for (const found of request.matchAll(/(?:Query (the table|\S+): |(?:Batch)?GetItem )([^;·]*)/g)) {
    const conditions = found[2]!
      .split(/, (?=\S+ (?:=|<|>|between)|begins_with)/)
      .map((part) =>
        condition(
          part
            .trim()
            .replace(/ (when|for each) .*$/, '')
            .replace(/ \(if given\)/, '')
            .replace(/\):?$/, (end) => (/begins_with\([^)]*\)$/.test(part.trim()) ? end : '')),
        ),
      )
      .filter((of): of is Condition => of !== null);
    list.push({ index: !found[1] || found[1] === 'the table' ? null : found[1], conditions });
  }
  return list;
}

function begins(template: string, text: string): boolean {
  const escaped = (literal: string) => literal.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const pattern = parseTemplate(template)
    .map((part) => ('text' in part ? escaped(part.text) : '[^#]+'))
    .join('');
  return new RegExp(`^${pattern}`).test(text);
}

function holds({ attribute, operator, template }: Condition, item: Item): boolean {
  const text = keyText(item[attribute]);
  if (text === null) return false;
  if (operator === '=') return matchTemplate(parseTemplate(template), text) !== null;
  if (operator === 'begins_with') return begins(template, text);
  // A range: at least what stands before its first placeholder is the same.
  return text.startsWith(prefixOf(parseTemplate(template)));
}

const readsOf = new WeakMap<AccessPattern, Read[]>();

function readsOfPattern(pattern: AccessPattern): Read[] {
  let found = readsOf.get(pattern);
  if (!found) readsOf.set(pattern, (found = reads(pattern.request)));
  return found;
}

/** The access patterns whose request can find this item there; null: in the table itself. */
export function patternsReading(design: Design, item: Item, index: string | null): AccessPattern[] {
  return design.access.filter((pattern) =>
    readsOfPattern(pattern).some((read) => {
      if (read.index !== index || read.conditions.length === 0) return false;
      const forms = new Map<string, Condition[]>();
      for (const of of read.conditions) forms.set(of.attribute, [...(forms.get(of.attribute) ?? []), of]);
      return [...forms.values()].every((list) => list.some((of) => holds(of, item)));
    }),
  );
}

/** The parameters with which a pattern finds this item there. */
export function patternValues(pattern: AccessPattern, item: Item, index: string | null): Record<string, string> {
  const values: Record<string, string> = {};
  for (const read of readsOfPattern(pattern)) {
    for (const { attribute, operator, template } of read.index === index ? read.conditions : []) {
      const pieces = operator === '=' ? matchTemplate(parseTemplate(template), keyText(item[attribute]) ?? '') : null;
      for (const { name, text } of pieces ?? [])
        if (name && pattern.params.some((param) => param.name === name)) values[name] = text;
    }
  }
  return values;
}

/** The access patterns that read an index (null: the table). */
export function patternsOf(design: Design, index: string | null): AccessPattern[] {
  return design.access.filter((pattern) => readsOfPattern(pattern).some((read) => read.index === index));
}

/**
 * Those that read a partition of this shape by its whole key. A format is the key's: the pattern may be given the
 * value as it is.
 */
export function patternsOfShape(
  design: Design,
  index: string | null,
  hashName: string,
  shape: string,
): AccessPattern[] {
  const plain = (text: string) => text.replace(/<:[^>]*>/g, '<>');
  const asks = (read: Read | undefined) =>
    read?.index === index &&
    read.conditions.some(
      (of) =>
        of.attribute === hashName && of.operator === '=' && plain(shapeOf(parseTemplate(of.template))) === plain(shape),
    );
  const found = design.access.filter((pattern) => readsOfPattern(pattern).some(asks));
  const rank = (pattern: AccessPattern) => (asks(readsOfPattern(pattern)[0]) ? 0 : 1);
  return found.sort((a, b) => rank(a) - rank(b));
}

// ---------------------------------------------------------------- words

const article = (name: string) => (/^([AEIO]|U(?!s|ni))/.test(name) ? 'An' : 'A');

const join = (list: string[]) =>
  list.length < 2 ? list.join('') : `${list.slice(0, -1).join(', ')} and ${list[list.length - 1]}`;

function identity(design: Design, item: Item, recognised: Recognised): string {
  const values = valuesOf(design, item, kindOf(design, recognised));
  return join(
    recognised.entity.params.flatMap((param) => {
      const value = values(param);
      return value === undefined ? [] : [`${param} ${value}`];
    }),
  );
}

function sentence(design: Design, item: Item, recognised: Recognised): string {
  const { entity, companion } = recognised;
  const who = identity(design, item, recognised);
  if (!companion) return `${article(entity.name)} ${entity.name}${who ? ` with ${who}` : ''}.`;
  const of = `the ${entity.name}${who ? ` with ${who}` : ''}`;
  if (companion.unique)
    return `A guard: while it is here, no second ${entity.name} can have the same ${companion.unique}. It goes with ${of} and is written in the same transaction.`;
  if (companion.each)
    return `One of several items of ${of}: there is one for each ${companion.each}, so that each can have an index entry of its own.`;
  if (companion.name === 'credentials') return `What a login of ${of} is compared with.`;
  return `A mirror of ${of}: the same fact under another partition, written in the same transaction.`;
}

function notes(design: Design, recognised: Recognised): string[] {
  const { entity, companion } = recognised;
  if (companion) return companion.when ? [`It is there while ${companion.when}.`] : [];
  const list = entity.counts.map((count) => `Counted in ${count}.`);
  for (const of of entity.companions) {
    const keys = of.keys
      .filter((rule) => keyList(design.key).includes(rule.attribute))
      .map((rule) => rule.template)
      .join(' / ');
    const what = of.unique
      ? `a guard that keeps ${of.unique} unique`
      : of.each
        ? `one item for each ${of.each}`
        : `a ${companionRole(of)} of it`;
    list.push(`Written with it: ${what}, at ${keys}${of.when ? `, while ${of.when}` : ''}.`);
  }
  const copies = entity.attributes.filter((of) => of.from?.startsWith('copy of'));
  for (const of of copies) list.push(`${of.name} is a ${of.from}.`);
  for (const processor of design.processors)
    if (processor.entity === entity.name)
      list.push(`When ${processor.events.join(' or ')}, “${processor.name}”: ${processor.does}.`);
  return list;
}

export function why(design: Design, item: Item, recognised: Recognised): Why {
  const kind = kindOf(design, recognised);
  const keysIn = (names: string[]) => names.flatMap((name) => explain(kind, item, name) ?? []);
  const places: Place[] = [
    { index: null, keys: keysIn(keyList(design.key)), patterns: patternsReading(design, item, null) },
  ];
  for (const index of design.indexes) {
    const names = keyList(index);
    if (!names.every((name) => item[name])) continue;
    places.push({ index: index.name, keys: keysIn(names), patterns: patternsReading(design, item, index.name) });
  }
  return { sentence: sentence(design, item, recognised), places, notes: notes(design, recognised) };
}
