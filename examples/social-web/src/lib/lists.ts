// Lists that change while they are looked at (docs/live.md): pages, and the events of a watched list.
//
// A list is watched while the page is visible. A hidden page holds no connection: browsers allow six for one server.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from 'preact/hooks';
import { type LiveEvent, type LiveListOf, type PageOf } from '../generated/social';

export interface Source<T> {
  page(after?: string): Promise<PageOf<T>>;
  /** Left out: the list is read once. */
  watch?(options: { signal: AbortSignal }): AsyncIterable<LiveEvent<T>>;
}

export interface Order<T> {
  id: (item: T) => string;
  /** Negative: a is above b. */
  compare: (a: T, b: T) => number;
}

type Change<T> = { kind: 'added' | 'changed' | 'removed'; item: T };

const isChange = <T>(event: LiveEvent<T>): event is Change<T> => event.item !== undefined;

function applied<T>(items: T[], { kind, item }: Change<T>, { id, compare }: Order<T>): T[] {
  const others = items.filter((other) => id(other) !== id(item));
  return kind === 'removed' ? others : [...others, item].sort(compare);
}

export interface LiveItems<T> {
  items: T[];
  /** False until the first page is there. */
  loaded: boolean;
  error?: unknown;
  hasMore: boolean;
  loadMore: () => Promise<void>;
  reload: () => void;
  /** A change that was made here: shown at once, before the server tells of it. */
  apply: (change: Change<T>) => void;
}

/** `key` names the list: another key is another list. Undefined: there is none. */
export function useLiveItems<T>(key: string | undefined, make: () => Source<T>, order: Order<T>): LiveItems<T> {
  const [items, setItems] = useState<T[]>([]);
  const [next, setNext] = useState<string>();
  const [loaded, setLoaded] = useState(false);
  const [error, setError] = useState<unknown>();
  const [turn, setTurn] = useState(0);
  const missed = useRef<Change<T>[]>(); // what happens while a page is on its way
  const source = useRef<Source<T>>();

  const apply = (change: Change<T>) => {
    missed.current?.push(change);
    setItems((now) => applied(now, change, order));
  };

  useEffect(() => {
    setItems([]);
    setNext(undefined);
    setLoaded(false);
  }, [key]);

  useEffect(() => {
    if (key === undefined) return;
    const ended = new AbortController();
    const { signal } = ended;
    const own = make();
    source.current = own;
    setError(undefined);

    const load = async () => {
      const during: Change<T>[] = (missed.current = []);
      try {
        const page = await own.page();
        if (signal.aborted) return;
        const last = page.items.at(-1);
        setItems((before) => {
          const shown = new Set(page.items.map(order.id));
          // Pages that were read before stay below the new first one.
          const below =
            page.next === undefined || !last
              ? []
              : before.filter((item) => !shown.has(order.id(item)) && order.compare(last, item) < 0);
          return during.reduce((list, change) => applied(list, change, order), [...page.items, ...below]);
        });
        setNext((before) => (page.next !== undefined && before !== undefined ? before : page.next));
        setLoaded(true);
        setError(undefined);
      } catch (failed) {
        if (!signal.aborted) setError(failed);
      } finally {
        if (missed.current === during) missed.current = undefined;
      }
    };

    const follow = async () => {
      if (!own.watch) return load();
      let isFirst = true;
      try {
        for await (const event of own.watch({ signal })) {
          if (isChange(event)) {
            apply(event);
          } else {
            // A later `ready` follows the events that a lost connection has missed.
            if (event.kind === 'reset' || isFirst) void load();
            isFirst = false;
          }
        }
      } catch (failed) {
        if (signal.aborted) return;
        if (isFirst)
          await load(); // the list cannot be watched: it can be read, or the read says why not
        else setError(failed);
      }
    };

    let going = false;
    const look = () => {
      if (document.hidden || going) return;
      going = true;
      void follow();
    };
    const onVisible = () => {
      if (document.hidden && going)
        setTurn((n) => n + 1); // ends the watch; the next turn waits to be seen
      else look();
    };
    look();
    document.addEventListener('visibilitychange', onVisible);
    return () => {
      document.removeEventListener('visibilitychange', onVisible);
      ended.abort();
    };
  }, [key, turn]);

  const loadMore = async () => {
    if (next === undefined || !source.current) return;
    try {
      const page = await source.current.page(next);
      setItems((now) => page.items.reduce((list, item) => applied(list, { kind: 'added', item }, order), now));
      setNext(page.next);
    } catch (failed) {
      setError(failed);
    }
  };

  return { items, loaded, error, hasMore: next !== undefined, loadMore, reload: () => setTurn((n) => n + 1), apply };
}

export const sourceOf = <T>(list: LiveListOf<T>): Source<T> => ({
  page: (after) => list.page(after),
  watch: (options) => list.watch(options),
});

export const newestFirst = <T extends { created_at?: string }>(id: (item: T) => string): Order<T> => ({
  id,
  compare: (a, b) => (b.created_at ?? '').localeCompare(a.created_at ?? '') || id(b).localeCompare(id(a)),
});

export const oldestFirst = <T extends { created_at?: string }>(id: (item: T) => string): Order<T> => ({
  id,
  compare: (a, b) => (a.created_at ?? '').localeCompare(b.created_at ?? '') || id(a).localeCompare(id(b)),
});

/** Two lists as one, page by page; both are in this order. Its pages are read one after the other. */
export function merged<T>(parts: Source<T>[], { id, compare }: Order<T>, size: number): Source<T>['page'] {
  interface Part {
    source: Source<T>;
    waiting: T[];
    next: string | undefined;
    started: boolean;
  }
  let states: Part[] = [];

  const fill = (part: Part) => {
    if (part.waiting.length || (part.started && part.next === undefined)) return undefined;
    return part.source.page(part.next).then((page) => {
      part.started = true;
      part.waiting = page.items;
      part.next = page.next;
      return true;
    });
  };

  return async (after) => {
    const now: Part[] =
      after === undefined
        ? parts.map((source) => ({ source, waiting: [], next: undefined, started: false }))
        : states.map((part) => ({ ...part, waiting: [...part.waiting] }));
    const items: T[] = [];
    while (items.length < size) {
      // A page may be empty and not be the last.
      while ((await Promise.all(now.map(fill))).some(Boolean));
      const heads = now.filter((part) => part.waiting.length);
      const best = heads.sort((a, b) => compare(a.waiting[0]!, b.waiting[0]!))[0];
      if (!best) break;
      const item = best.waiting.shift()!;
      if (!items.some((other) => id(other) === id(item))) items.push(item);
    }
    states = now; // only now: a page that failed is read again from where it began
    const isMore = now.some((part) => part.waiting.length || part.next !== undefined);
    return isMore ? { items, next: 'more' } : { items };
  };
}
