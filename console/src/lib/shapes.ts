// What a table, or one of its indexes, is made of: the shapes of its partition keys, and what lives under each.
// SPDX-License-Identifier: Apache-2.0
import { keyNames, kindName, kinds, rulesFor, type Kind } from './recognise';
import { placeholders, prefixOf, shapeOf } from './templates';
import type { Design, KeyRule, TemplatePart } from './types';

/** One kind of item in a partition of this shape. */
export interface Resident {
  kind: Kind;
  name: string;
  hash: KeyRule;
  /** null: the index has no sort key. */
  range: KeyRule | null;
  when: string | null;
}

export interface Shape {
  id: string;
  /** With the names of the entity that is most at home here. */
  parts: TemplatePart[];
  template: string;
  residents: Resident[];
}

/** A condition that both keys share is said once. */
function conditionOf(hash: KeyRule, range: KeyRule | null): string | null {
  const list = [...new Set([hash.when, range?.when].filter((when): when is string => !!when))];
  return list.length ? list.join(' and ') : null;
}

function residentsOf(kind: Kind, hashName: string, rangeName: string | null): Resident[] {
  const ranges = rangeName ? rulesFor(kind, rangeName) : [null];
  return rulesFor(kind, hashName).flatMap((hash) =>
    ranges
      .filter((range) => !range?.when || !hash.when || range.when === hash.when)
      .map((range) => ({ kind, name: kindName(kind), hash, range, when: conditionOf(hash, range) })),
  );
}

/** Of an index (null: the table), in the order of the design. */
export function shapes(design: Design, index: string | null): Shape[] {
  const { hash, range } = keyNames(design, index);
  const found = new Map<string, Shape>();
  for (const kind of kinds(design)) {
    for (const resident of residentsOf(kind, hash, range)) {
      const id = shapeOf(resident.hash.parts);
      const shape = found.get(id) ?? {
        id,
        parts: resident.hash.parts,
        template: resident.hash.template,
        residents: [],
      };
      shape.residents.push(resident);
      found.set(id, shape);
    }
  }
  return [...found.values()];
}

/** The placeholders to fill in for a partition of this shape; none: there is but one such partition. */
export const fieldsOf = (shape: Shape): string[] => [...new Set(placeholders(shape.parts))];

/** Where all items of a kind are in one partition: the index (null: the table), and that partition. */
export function gathering(design: Design, kind: Kind): { index: string | null; pk: string; sk: string } | null {
  for (const index of [...design.indexes.map((of) => of.name), null]) {
    const { hash, range } = keyNames(design, index);
    for (const resident of residentsOf(kind, hash, range))
      if (!resident.when && resident.hash.parts.every((part) => 'text' in part))
        return { index, pk: resident.hash.template, sk: resident.range ? prefixOf(resident.range.parts) : '' };
  }
  return null;
}
