// Groups items into item collections by partition key, in the order of the database. SPDX-License-Identifier:
// Apache-2.0
import type { AttributeValue, Item, KeyNames } from './types';
import { compareKeys, keyText } from './values';

export interface Collection {
  /** Unique on the page. */
  id: string;
  hash: AttributeValue;
  items: Item[];
}

/** Consecutive rows of one kind, with common columns. */
export interface Run<K> {
  kind: K;
  items: Item[];
}

/** One text for each key. */
export function itemId(item: Item, names: string[]): string {
  return JSON.stringify(names.map((name) => item[name] ?? null));
}

/** The key of an item. */
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

/** `keys`: of the table or index being read; `tableKeys` break ties, as in an index. Skips items without them. */
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

/** Without a design: the part before the first # of a sort key distinguishes kinds. */
export function prefixKind(item: Item, keys: KeyNames): string {
  const text = keys.range ? keyText(item[keys.range]) : null;
  const at = text?.indexOf('#') ?? -1;
  return at > 0 ? text!.slice(0, at + 1) : '';
}

/** The attributes of some rows: `first` before the others, `last` after them. */
export function columns(items: Item[], first: string[], last: string[], without: string[]): string[] {
  const there = new Set(items.flatMap((item) => Object.keys(item)));
  const named = [...first, ...last];
  const rest = [...there].filter((name) => !named.includes(name)).sort();
  return [...first, ...rest, ...last].filter((name) => there.has(name) && !without.includes(name));
}

// ---------------------------------------------------------------- pages

/** One reply and its start key, which is enough to fetch it again. */
export interface Page {
  start: Item | null;
  items: Item[];
}

/** The pages in the browser. `before` are the starts of those dropped in front, oldest first. */
export interface Window {
  before: (Item | null)[];
  pages: Page[];
  /** Where the next page starts; null: none. */
  next: Item | null;
}

export const EMPTY_WINDOW: Window = { before: [], pages: [], next: null };
export const WINDOW_ITEMS = 500;

const count = (pages: Page[]) => pages.reduce((sum, page) => sum + page.items.length, 0);

/** Adds a page at the end; drops the oldest if there are too many. */
export function append(window: Window, page: Page, next: Item | null): Window {
  const pages = [...window.pages, page];
  const before = [...window.before];
  while (pages.length > 1 && count(pages) > WINDOW_ITEMS) before.push(pages.shift()!.start);
  return { before, pages, next };
}

/** Adds the page before the first, fetched again; drops the newest. */
export function prepend(window: Window, page: Page): Window {
  const pages = [page, ...window.pages];
  let next = window.next;
  while (pages.length > 1 && count(pages) > WINDOW_ITEMS) next = pages.pop()!.start;
  return { before: window.before.slice(0, -1), pages, next };
}

export const windowItems = (window: Window): Item[] => window.pages.flatMap((page) => page.items);
