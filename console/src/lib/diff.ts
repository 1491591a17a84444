// What differs between the old and the new image of an item, attribute by attribute and inside maps.
// SPDX-License-Identifier: Apache-2.0
import type { AttributeValue, Item } from './types';
import { sameValue } from './values';

export type Mark = 'same' | 'added' | 'removed' | 'changed';

export interface DiffRow {
  /** ["address", "city"]: city inside address. */
  path: string[];
  old?: AttributeValue;
  new?: AttributeValue;
  mark: Mark;
}

function markOf(before: AttributeValue | undefined, after: AttributeValue | undefined): Mark {
  if (!before) return 'added';
  if (!after) return 'removed';
  return sameValue(before, after) ? 'same' : 'changed';
}

/** Names of the first, then those only the second has; `first` (the keys) before all others. */
function names(before: Item, after: Item, first: string[]): string[] {
  const all = [...new Set([...Object.keys(before), ...Object.keys(after)])].sort();
  return [...first.filter((name) => all.includes(name)), ...all.filter((name) => !first.includes(name))];
}

/** A row for each attribute. A map that is in both and differs becomes rows of its own members. */
export function diff(before: Item, after: Item, first: string[] = [], path: string[] = []): DiffRow[] {
  return names(before, after, first).flatMap((name) => {
    const [a, b] = [before[name], after[name]];
    const mark = markOf(a, b);
    if (mark === 'changed' && a && b && 'M' in a && 'M' in b) return diff(a.M, b.M, [], [...path, name]);
    return [{ path: [...path, name], old: a, new: b, mark }];
  });
}
