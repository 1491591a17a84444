// Items as item collections: what shares a partition key stands together, in the order of the database.
// SPDX-License-Identifier: Apache-2.0
import type { AttributeValue, Item, KeyNames } from './types';
import { compareKeys, keyText } from './values';

export interface Collection {
  /** Tells it from others of the page. */
  id: string;
  hash: AttributeValue;
  items: Item[];
}

/** Rows in a line that are of one kind, so that they share their columns. */
export interface Run<K> {
  kind: K;
  items: Item[];
}

/** One text for each key. */
export function itemId(item: Item, names: string[]): string {
  return JSON.stringify(names.map((name) => item[name] ?? null));
}

/** What an item is found by, out of the whole of it. */
export function keyOf(item: Item, names: string[]): Item {
  return Object.fromEntries(names.filter((name) => item[name]).map((name) => [name, item[name]!]));
}

function compareItems(a: Item, b: Item, names: string[]): number {
  for (const name of names) {
    const x = a[name],
      y = b[name];
    const order = x && y ? compareKeys(x, y) : 0;
    if (order) return order;
  }
  return 0;
}

/** `keys`: of the table or the index looked through; `tableKeys` break ties, as they do in an index. What lacks them is left out. */
export function collections(items: Item[], keys: KeyNames, tableKeys: string[], descending = false): Collection[] {
  const found = new Map<string, Collection>();
  const seen = new Set<string>();
  for (const item of items) {
    const hash = item[keys.hash];
    const own = itemId(item, tableKeys);
    if (!hash || (keys.range && !item[keys.range]) || seen.has(own)) continue;
    seen.add(own);
    const id = JSON.stringify(hash);
    const collection = found.get(id) ?? { id, hash, items: [] };
    collection.items.push(item);
    found.set(id, collection);
  }
  const order = keys.range ? [keys.range, ...tableKeys] : tableKeys;
  for (const collection of found.values())
    collection.items.sort((a, b) => (descending ? -1 : 1) * compareItems(a, b, order));
  return [...found.values()];
}

export function runs<K>(items: Item[], kindOf: (item: Item) => K): Run<K>[] {
  const list: Run<K>[] = [];
  for (const item of items) {
    const kind = kindOf(item);
    const last = list[list.length - 1];
    if (last && last.kind === kind) last.items.push(item);
    else list.push({ kind, items: [item] });
  }
  return list;
}

/** Without a design: what stands before the first # of a sort key tells kinds apart. */
export function prefixKind(item: Item, keys: KeyNames): string {
  const text = keys.range ? keyText(item[keys.range]) : null;
  const at = text?.indexOf('#') ?? -1;
  return at > 0 ? text!.slice(0, at + 1) : '';
}

/** The attributes of some rows, those of `first` before the others, those of `last` behind. */
export function columns(items: Item[], first: string[], last: string[], without: string[]): string[] {
  const there = new Set(items.flatMap((item) => Object.keys(item)));
  const named = [...first, ...last];
  const rest = [...there].filter((name) => !named.includes(name)).sort();
  return [...first, ...rest, ...last].filter((name) => there.has(name) && !without.includes(name));
}

// ---------------------------------------------------------------- pages

/** One reply, and the key it was asked to start after: enough to ask for it again. */
export interface Page {
  start: Item | null;
  items: Item[];
}

/** The pages in the browser. `before` are the starts of those dropped in front, oldest first. */
export interface Window {
  before: (Item | null)[];
  pages: Page[];
  /** Where the next page starts; null: there is none. */
  next: Item | null;
}

export const EMPTY_WINDOW: Window = { before: [], pages: [], next: null };
export const WINDOW_ITEMS = 500;

const count = (pages: Page[]) => pages.reduce((sum, page) => sum + page.items.length, 0);

/** A page more at the end; the oldest leave when there are too many. */
export function append(window: Window, page: Page, next: Item | null): Window {
  const pages = [...window.pages, page];
  const before = [...window.before];
  while (pages.length > 1 && count(pages) > WINDOW_ITEMS) before.push(pages.shift()!.start);
  return { before, pages, next };
}

/** The page before the first, asked for again; the newest leave. */
export function prepend(window: Window, page: Page): Window {
  const pages = [page, ...window.pages];
  let next = window.next;
  while (pages.length > 1 && count(pages) > WINDOW_ITEMS) next = pages.pop()!.start;
  return { before: window.before.slice(0, -1), pages, next };
}

export const windowItems = (window: Window): Item[] => window.pages.flatMap((page) => page.items);
