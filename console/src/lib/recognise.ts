// Which entity an item is, judged by its keys: USER#alice and PROFILE came from USER#<user_id> and PROFILE.
// SPDX-License-Identifier: Apache-2.0
import { literalLength, matchTemplate, parseTemplate, type Piece } from './templates';
import type { Companion, Design, Entity, Item, KeyNames, KeyRule } from './types';
import { keyText } from './values';

export interface KeyParts {
  attribute: string;
  template: string;
  /** `name`: which placeholder this piece is. */
  parts: Piece[];
  /** The condition under which the item has this key. */
  when?: string;
}

export interface Recognised {
  entity: Entity;
  entityIndex: number;
  /** The item is not the entity itself but a companion: a guard, a mirror, one row of a list. */
  companion: Companion | null;
  /** Of the given index, or of the table. */
  keys: KeyParts[];
}

/** An entity or one of its companions, and the templates of all its computed attributes. */
export interface Kind {
  entity: Entity;
  entityIndex: number;
  companion: Companion | null;
  rules: KeyRule[];
}

const kindsOf = new WeakMap<Design, Kind[]>();

/** Everything that can be in the design's table, entities before their companions. */
export function kinds(design: Design): Kind[] {
  let found = kindsOf.get(design);
  if (!found) {
    found = design.entities.flatMap((entity, entityIndex) => [
      { entity, entityIndex, companion: null, rules: entity.keys },
      ...entity.companions.map((companion) => ({ entity, entityIndex, companion, rules: companion.keys })),
    ]);
    kindsOf.set(design, found);
  }
  return found;
}

/** What a companion is for, in a word. */
export function companionRole(companion: Companion): string {
  return companion.unique ? 'guard' : companion.each ? companion.each.split(' ')[0]! : 'mirror';
}

/** The server's name for an unnamed companion. */
const isGiven = ({ name, unique, each }: Companion) =>
  name !== '' && name !== 'companion' && name !== `unique ${unique}` && name !== `each ${each?.split(' ')[0]}`;

/** "Follow", "Follow mirror", "Post tag" (one for each tag), "User email guard" (where there are guards of several attributes). */
export function kindName({ entity, companion }: { entity: Entity; companion: Companion | null }): string {
  if (!companion) return entity.name;
  const guards = entity.companions.filter((of) => of.unique).length;
  const of = companion.unique && guards > 1 ? `${companion.unique} ` : '';
  return `${entity.name} ${isGiven(companion) ? companion.name : of + companionRole(companion)}`;
}

/** Attributes not to display: those the design hides, and password hashes. */
export function isHidden(
  { entity, companion }: { entity: Entity; companion: Companion | null },
  attribute: string,
): boolean {
  if (companion)
    return companion.name === 'credentials' && !companion.keys.some((rule) => rule.attribute === attribute);
  return entity.attributes.some((of) => of.name === attribute && of.flags.includes('hidden'));
}

/** The rules for one attribute; an attribute that is in a key as it is counts as the template of itself. */
export function rulesFor(kind: Kind, attribute: string): KeyRule[] {
  const rules = kind.rules.filter((rule) => rule.attribute === attribute);
  if (rules.length || kind.companion) return rules;
  const own = kind.entity.attributes.find((of) => of.name === attribute);
  return own ? [{ attribute, template: `<${attribute}>`, parts: [{ name: attribute }], line: own.line }] : [];
}

export function keyNames(design: Design, index?: string | null): KeyNames {
  return (index && design.indexes.find((of) => of.name === index)) || design.key;
}

export const keyList = ({ hash, range }: KeyNames): string[] => (range ? [hash, range] : [hash]);

// ---------------------------------------------------------------- matching

function matchRule(rule: KeyRule, item: Item): KeyParts | null {
  const text = keyText(item[rule.attribute]);
  const parts =
    text === null ? null : matchTemplate(rule.parts.length ? rule.parts : parseTemplate(rule.template), text);
  return parts && { attribute: rule.attribute, template: rule.template, parts, when: rule.when };
}

/** Among several forms of a key, the most specific one that agrees best with the item. */
function bestMatch(rules: KeyRule[], item: Item): { keys: KeyParts; score: number } | null {
  let best: { keys: KeyParts; score: number } | null = null;
  for (const rule of rules) {
    const keys = matchRule(rule, item);
    const score = keys ? literalLength(rule.parts) * 100 + agreement(keys, item) : 0;
    if (keys && (!best || score > best.score)) best = { keys, score };
  }
  return best;
}

/** How many values in the key are those of the item's attributes, less those that are not. */
function agreement(keys: KeyParts, item: Item): number {
  let score = 0;
  for (const { name, text, format } of keys.parts) {
    const value = name && !format ? keyText(item[name]) : null;
    if (value !== null) score += value === text ? 1 : -5;
  }
  return score;
}

/** The same placeholder twice is the same value twice. */
function consistent(keys: KeyParts[]): boolean {
  const values = new Map<string, string>();
  for (const { name, text, format } of keys.flatMap((key) => key.parts)) {
    if (!name || format) continue;
    if (values.has(name) && values.get(name) !== text) return false;
    values.set(name, text);
  }
  return true;
}

/** Constants like entityType: what the item has of them should be what the kind says. */
function constants(kind: Kind, item: Item): number {
  let score = 0;
  for (const rule of kind.rules) {
    const value = keyText(item[rule.attribute]);
    if (value !== null && !rule.when && rule.parts.every((part) => 'text' in part))
      score += value === rule.template ? 5 : -20;
  }
  return score;
}

function matchKind(kind: Kind, names: string[], item: Item): { keys: KeyParts[]; score: number } | null {
  // Where both fit, it is the entity itself.
  let score = constants(kind, item) + (kind.companion ? 0 : 0.5);
  const keys: KeyParts[] = [];
  for (const name of names) {
    const best = bestMatch(rulesFor(kind, name), item);
    if (!best) return null;
    keys.push(best.keys);
    score += best.score;
  }
  return consistent(keys) ? { keys, score } : null;
}

/** null: the item belongs to no entity of the design. `index`: whose keys to give instead of the table's. */
export function recognise(design: Design, item: Item, index?: string | null): Recognised | null {
  const names = keyList(design.key);
  let best: { kind: Kind; keys: KeyParts[]; score: number } | null = null;
  for (const kind of kinds(design)) {
    const match = matchKind(kind, names, item);
    if (match && (!best || match.score > best.score)) best = { kind, ...match };
  }
  if (!best) return null;
  const { kind } = best;
  const keys = index ? keyList(keyNames(design, index)).flatMap((name) => explain(kind, item, name) ?? []) : best.keys;
  return { entity: kind.entity, entityIndex: kind.entityIndex, companion: kind.companion, keys };
}

/** One computed attribute of a kind: which template it came from. */
export function explain(kind: Kind, item: Item, attribute: string): KeyParts | null {
  return bestMatch(rulesFor(kind, attribute), item)?.keys ?? null;
}

export function kindOf(design: Design, recognised: Recognised): Kind {
  return kinds(design).find((kind) => kind.entity === recognised.entity && kind.companion === recognised.companion)!;
}

export function explainKey(design: Design, item: Item, attribute: string): KeyParts | null {
  const recognised = recognise(design, item);
  return recognised && explain(kindOf(design, recognised), item, attribute);
}
