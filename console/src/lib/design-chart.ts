// Which kind of item is where: the key attributes as columns, the table and its indexes as places, their partitions as collections.
// SPDX-License-Identifier: Apache-2.0
import { shapeOf } from './templates';
import type { Attribute, Companion, Design, Entity, KeyNames, KeyRule, TemplatePart } from './types';

/** A kind of item: an entity, or a companion that is written with it. */
export interface Kind {
  id: string;
  name: string;
  entity: Entity;
  /** In design.entities: its colour. */
  entityIndex: number;
  companion: Companion | null;
}

export interface Place extends KeyNames {
  /** null: the table itself */
  index: string | null;
}

/** One way in which an item of a kind gets this attribute. */
export interface KeyWay {
  template: string;
  parts: TemplatePart[];
  when?: string;
  line: number;
}

export interface Entry {
  kind: Kind;
  hash: KeyWay;
  /** null: the place has no sort key */
  range: KeyWay | null;
  when?: string;
}

/** Items that share a partition. */
export interface Collection {
  shape: string;
  hash: KeyWay;
  entries: Entry[];
}

export function kindsOf(design: Design): Kind[] {
  return design.entities.flatMap((entity, entityIndex) => [
    { id: entity.name, name: entity.name, entity, entityIndex, companion: null },
    ...entity.companions.map((companion, at) => ({
      id: `${entity.name}/${at}`,
      name: companionName(companion),
      entity,
      entityIndex,
      companion,
    })),
  ]);
}

function companionName(companion: Companion): string {
  if (companion.unique) return `guard of ${companion.unique}`;
  if (companion.each) return `each ${companion.each}`;
  return companion.name || 'mirror';
}

export function placesOf(design: Design): Place[] {
  return [
    { index: null, ...design.key },
    ...design.indexes.map((index) => ({ index: index.name, hash: index.hash, range: index.range })),
  ];
}

export interface KeyColumn {
  attribute: string;
  places: string[];
  /** Of a sort key: its partition key. */
  beside: string | null;
}

/** The key attributes in the order of the table and its indexes, each once. */
export function keyColumns(design: Design): KeyColumn[] {
  const columns = new Map<string, KeyColumn>();
  for (const place of placesOf(design)) {
    for (const attribute of [place.hash, place.range]) {
      if (!attribute) continue;
      const column = columns.get(attribute) ?? {
        attribute,
        places: [],
        beside: attribute === place.range ? place.hash : null,
      };
      column.places.push(place.index ?? 'table');
      columns.set(attribute, column);
    }
  }
  return [...columns.values()];
}

const wayOf = (rule: KeyRule): KeyWay => ({
  template: rule.template,
  parts: rule.parts,
  when: rule.when,
  line: rule.line,
});

/** An attribute that is a key of an index by itself. */
const plainWay = (attribute: Attribute): KeyWay => ({
  template: `<${attribute.name}>`,
  parts: [{ name: attribute.name }],
  line: attribute.line,
});

/** How items of a kind get a value for the attribute; none: they do not. */
export function waysOf(kind: Kind, attribute: string): KeyWay[] {
  const rules = (kind.companion ?? kind.entity).keys.filter((rule) => rule.attribute === attribute);
  if (rules.length) return rules.map(wayOf);
  if (kind.companion) return [];
  return kind.entity.attributes.filter((one) => one.name === attribute).map(plainWay);
}

function entriesOf(kind: Kind, place: Place): Entry[] {
  const hashes = waysOf(kind, place.hash);
  if (!place.range) return hashes.map((hash) => ({ kind, hash, range: null, when: hash.when }));
  const ranges = waysOf(kind, place.range);
  // Ways with the same condition belong together; one without goes with all.
  const pairs = hashes.flatMap((hash) =>
    ranges
      .filter((range) => !hash.when || !range.when || hash.when === range.when)
      .map((range) => ({ kind, hash, range, when: hash.when ?? range.when ?? kind.companion?.when })),
  );
  return pairs;
}

/** The collections of a place, in the order of the design. */
export function collectionsOf(design: Design, place: Place): Collection[] {
  const found = new Map<string, Collection>();
  for (const kind of kindsOf(design)) {
    for (const entry of entriesOf(kind, place)) {
      const shape = shapeOf(entry.hash.parts);
      const collection = found.get(shape) ?? { shape, hash: entry.hash, entries: [] };
      collection.entries.push(entry);
      found.set(shape, collection);
    }
  }
  return [...found.values()];
}

/** Where items of a kind are: "the table as USER#<user_id> / PROFILE". */
export function whereabouts(design: Design, kind: Kind): string[] {
  return placesOf(design).flatMap((place) =>
    entriesOf(kind, place).map(
      (entry) =>
        `${place.index ?? 'the table'} as ${entry.hash.template}${entry.range ? ` / ${entry.range.template}` : ''}${entry.when ? ` when ${entry.when}` : ''}`,
    ),
  );
}
