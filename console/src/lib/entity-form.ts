// An entity's attributes as form fields, and as values in a request to its REST API. SPDX-License-Identifier:
// Apache-2.0
import { ExactNumber, JsonError, formatJson, isObject, parseJson } from './exact-json';
import { fillTemplate } from './templates';
import type { Attribute, Entity, EntityReference, Item, TemplatePart } from './types';

/** The kind of input. */
export type FieldKind = 'line' | 'text' | 'number' | 'choice' | 'json' | 'structure' | 'files';

export interface FormField {
  name: string;
  kind: FieldKind;
  type: string;
  choices: string[];
  flags: string[];
  /** Why it is read-only; null: it is not. */
  kept: string | null;
  from?: string;
  refers?: EntityReference;
  /** Of a structure: its members, or what each value is. */
  shape?: Attribute;
}

export const isNumber = (type: string) => ['number', 'integer', 'epoch'].includes(type);

export const hasShape = (attribute: Attribute) => !!(attribute.members || attribute.each);

/** With what its elements are, where the type says only that: `list of string`. Maps and lists of anything stay as they are. */
export function withElements(attribute: Attribute): Attribute {
  const of = /^(?:list|set) of (?!list|set|map)(.+)$/.exec(attribute.type)?.[1];
  if (attribute.members) return { ...attribute, members: attribute.members.map(withElements) };
  if (attribute.each) return { ...attribute, each: withElements(attribute.each) };
  if (!of) return attribute;
  const { choices, ...list } = attribute;
  return { ...list, each: { name: '', type: of, flags: [], line: attribute.line, ...(choices ? { choices } : {}) } };
}

function kindOfField(attribute: Attribute): FieldKind {
  if (attribute.file || attribute.each?.file) return 'files';
  if (hasShape(attribute)) return 'structure';
  if (attribute.choices?.length) return 'choice';
  if (attribute.type === 'boolean') return 'choice';
  if (attribute.type === 'text') return 'text';
  if (isNumber(attribute.type)) return 'number';
  return /^(list|set|map)/.test(attribute.type) ? 'json' : 'line';
}

/** Why the server maintains it, in a word. */
function keptBy(attribute: Attribute, creating: boolean): string | null {
  const has = (flag: string) => attribute.flags.includes(flag);
  if (has('counter')) return 'counted';
  if (attribute.from?.startsWith('copy of')) return attribute.from;
  if (has('derived') || attribute.from) return `computed: ${attribute.from ?? ''}`.trim();
  if (has('touched') || has('last writer')) return 'set with every write';
  if (!creating && has('fixed')) return 'fixed';
  return null;
}

export function fieldsOfEntity(entity: Entity, creating: boolean): FormField[] {
  return entity.attributes
    .filter((attribute) => !attribute.flags.includes('hidden'))
    .map(withElements)
    .map((attribute) => ({
      name: attribute.name,
      kind: kindOfField(attribute),
      type: attribute.type,
      flags: attribute.flags,
      from: attribute.from,
      choices: attribute.choices ?? (attribute.type === 'boolean' ? ['true', 'false'] : []),
      kept: keptBy(attribute, creating),
      ...(attribute.refers ? { refers: attribute.refers } : {}),
      ...(hasShape(attribute) ? { shape: attribute } : {}),
    }));
}

/** The numbers of a list or set; null: there are other elements. */
function numbersOf(stored: NonNullable<Item[string]>): string[] | null {
  if ('NS' in stored) return stored.NS;
  const list = 'L' in stored ? stored.L.map((one) => ('N' in one ? one.N : null)) : [null];
  return list.includes(null) ? null : (list as string[]);
}

/** A value of the REST API as the text of its field; absent and null are nothing. Numbers come from the item, with all their digits. */
export function fieldText(field: FormField, body: Record<string, unknown>, item: Item | null): string {
  const stored = item?.[field.name];
  const value = body[field.name];
  if (value === undefined || value === null) return '';
  if (field.kind === 'number' && stored && 'N' in stored) return stored.N;
  const numbers = stored && field.shape?.each && isNumber(field.shape.each.type) ? numbersOf(stored) : null;
  if (numbers) return `[${numbers.join(', ')}]`;
  return field.kind === 'json' || field.kind === 'structure' || field.kind === 'files'
    ? formatJson(value)
    : typeof value === 'string'
      ? value
      : formatJson(value);
}

/** Typed texts become numbers and booleans where the type says so; what is neither stays a text, for the server to refuse. */
export function typed(shape: Attribute | undefined, value: unknown): unknown {
  if (!shape) return value;
  if (Array.isArray(value)) return value.map((one) => typed(shape.each, one));
  if (isObject(value)) {
    const of = (name: string) => shape.each ?? shape.members?.find((member) => member.name === name);
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, typed(of(name), one)]));
  }
  if (typeof value !== 'string') return value;
  if (shape.type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  if (!isNumber(shape.type)) return value;
  try {
    return parseJson(value);
  } catch {
    return value;
  }
}

/** What a merge patch needs to make `after` of `before`: null for each member that is gone. */
export function patchOf(before: unknown, after: unknown): unknown {
  if (!isObject(before) || !isObject(after)) return after;
  const gone = Object.keys(before).filter((name) => !(name in after));
  return {
    ...Object.fromEntries(gone.map((name) => [name, null])),
    ...Object.fromEntries(Object.entries(after).map(([name, value]) => [name, patchOf(before[name], value)])),
  };
}

/** In a request a file is its id. */
const fileIds = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(fileIds) : isObject(value) ? value['file'] : value;

/** Throws a JsonError. Nothing typed: null, which removes. */
export function fieldValue(field: FormField, text: string): unknown {
  if (text === '') return null;
  if (field.kind === 'choice' && field.type === 'boolean') return text === 'true';
  if (field.kind === 'number') {
    const value = parseJson(text);
    if (typeof value !== 'number' && !(value instanceof ExactNumber)) throw new JsonError('This is not a number.');
    return value;
  }
  if (field.kind === 'files') return fileIds(parseJson(text));
  if (field.kind === 'structure') return typed(field.shape, parseJson(text));
  return field.kind === 'json' ? parseJson(text) : text;
}

/** The address of an entity or of an action; null: a part is missing. */
export function restPath(parts: TemplatePart[], values: (name: string) => string | undefined): string | null {
  let path = '';
  for (const part of parts) {
    const text = 'text' in part ? part.text : fillTemplate([part], values);
    if (!text) return null;
    path += 'text' in part ? text : encodeURIComponent(text);
  }
  return path;
}

export interface Problem {
  message: string;
  /** By attribute. */
  fields: Record<string, string>;
}

/** The server's errors, by field. */
export function problemOf(error: Error & { body?: unknown }): Problem {
  const body = (typeof error.body === 'object' && error.body ? error.body : {}) as {
    errors?: { attribute?: string; detail?: string }[];
    attribute?: string;
    detail?: string;
  };
  const fields: Record<string, string> = {};
  for (const { attribute, detail } of body.errors ?? []) {
    const element = /^element (\d+): (.*)$/s.exec(detail ?? '');
    if (attribute && element) fields[`${attribute}[${Number(element[1]) - 1}]`] = element[2]!;
    else if (attribute) fields[attribute] = detail ?? error.message;
  }
  if (body.attribute) fields[body.attribute] = body.detail ?? error.message;
  return { message: error.message, fields };
}
