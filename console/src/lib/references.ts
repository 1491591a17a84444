// Items that an item refers to: the user of a user_id, the post of a post_id, with their keys.
// SPDX-License-Identifier: Apache-2.0
import type { FormField } from './entity-form';
import { explain, keyList, kindOf, recognise, type Kind, type Recognised } from './recognise';
import { fillTemplate } from './templates';
import type { AttributeValue, Design, Entity, Item, KeyRule } from './types';
import { keyText } from './values';

export interface Reference {
  /** The attribute that names it, or the last of them. */
  attribute: string;
  /** Its identity: "alice", or "alice/bob" where that has parts. */
  value: string;
  entity: string;
  /** The table key; without its sort key if that is unknown. */
  key: Item;
}

export type Values = (name: string) => string | undefined;

/** The attributes of an item, and those that are in its keys only. */
export function valuesOf(design: Design, item: Item, kind: Kind | null): Values {
  const known = new Map<string, string>();
  const names = kind ? [...new Set(kind.rules.map((rule) => rule.attribute))] : keyList(design.key);
  for (const name of kind ? names : [])
    for (const { name: placeholder, text, format } of explain(kind!, item, name)?.parts ?? [])
      if (placeholder && (!format || format === 'lower')) known.set(placeholder, text);
  for (const [name, value] of Object.entries(item)) {
    const text = keyText(value);
    if (text !== null) known.set(name, text);
  }
  return (name) => known.get(name);
}

function fillKey(rules: KeyRule[], attribute: string, values: Values): AttributeValue | null {
  for (const rule of rules) {
    const text = rule.attribute === attribute ? fillTemplate(rule.parts, values) : null;
    if (text) return { S: text };
  }
  return null;
}

/** The key of an entity with this identity; null: not even its partition is known. */
export function keyOfEntity(design: Design, entity: Entity, values: Values): Item | null {
  const { hash, range } = design.key;
  const partition = fillKey(entity.keys, hash, values);
  if (!partition) return null;
  const sort = range ? fillKey(entity.keys, range, values) : null;
  return sort ? { [hash]: partition, [range!]: sort } : { [hash]: partition };
}

/** The items that a field's text names, with their keys; a list's text is JSON. */
export function namedBy(design: Design, field: FormField, text: string, values: Values): Reference[] {
  const entity = design.entities.find((of) => of.name === field.refers?.entity);
  if (!entity || !field.refers || !text.trim()) return [];
  return textsOf(field, text).flatMap((one) => {
    const own = field.flags.includes('lower') ? one.trim().toLowerCase() : one;
    const named = target(design, entity, field.refers!.args, (name) => (name === field.name ? own : values(name)));
    return named ? [{ ...named, attribute: field.name }] : [];
  });
}

function textsOf(field: FormField, text: string): string[] {
  if (field.kind !== 'json' && field.kind !== 'structure') return [text];
  try {
    const list = JSON.parse(text) as unknown;
    return Array.isArray(list) ? list.map(String).filter((one) => one.trim()) : []; // a row that was just added is empty
  } catch {
    return [];
  }
}

function target(design: Design, entity: Entity, args: string[], values: Values): Reference | null {
  const given = new Map(entity.params.map((param, i) => [param, args[i] === undefined ? undefined : values(args[i]!)]));
  if (entity.params.some((param) => !given.get(param))) return null;
  const key = keyOfEntity(design, entity, (name) => given.get(name));
  const attribute = args[args.length - 1]!;
  return key && { attribute, value: args.map((arg) => values(arg)).join('/'), entity: entity.name, key };
}

/** What the design says the item refers to; of a companion first what it goes with. */
export function references(design: Design, item: Item, found?: Recognised | null): Reference[] {
  const recognised = found ?? recognise(design, item);
  if (!recognised) return [];
  const kind = kindOf(design, recognised);
  const values = valuesOf(design, item, kind);
  const list: Reference[] = [];
  const add = (reference: Reference | null) => {
    const known =
      reference && (list.some((of) => of.attribute === reference.attribute) || isSelf(design, item, reference.key));
    if (reference && !known) list.push(reference);
  };
  if (recognised.companion) add(target(design, recognised.entity, recognised.entity.params, values));
  for (const { entity, args } of recognised.entity.references) {
    const named = design.entities.find((of) => of.name === entity);
    if (named) add(target(design, named, args, values));
  }
  return list;
}

function isSelf(design: Design, item: Item, key: Item): boolean {
  return keyList(design.key).every((name) => keyText(item[name]) === keyText(key[name]));
}
