// Loads the pages of the single-table view: one partition by Query, or the table by Scan. Never more than a window of them.
// SPDX-License-Identifier: Apache-2.0
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { timed } from '../lib/client';
import { EMPTY_WINDOW, append, prepend, type Page, type Window } from '../lib/collections';
import { rulesFor, type Kind } from '../lib/recognise';
import { indexOf, keysOfView, typedKey, type TableInfo } from '../lib/table-info';
import { prefixOf } from '../lib/templates';
import type { AttributeValue, Item } from '../lib/types';

/** The current view, which is the address of the page. */
export interface View {
  index: string | null;
  /** The partition, and what its sort keys begin with (a number: are equal to); null: any. */
  pk: string | null;
  sk: string | null;
  descending: boolean;
  /** Only items of this kind: found by what their keys begin with. */
  only: Kind | null;
}

export const PAGE_ITEMS = 50;
/** A Scan for one kind skips others; it stops after this many requests until the user continues. */
const LOOK_REQUESTS = 20;
const LOOK_LIMIT = 500;

export interface Totals {
  requests: number;
  scanned: number;
  units: number;
  ms: number;
}

interface Reply {
  Items?: Item[];
  ScannedCount?: number;
  LastEvaluatedKey?: Item;
  ConsumedCapacity?: { CapacityUnits?: number };
}

const NO_TOTALS: Totals = { requests: 0, scanned: 0, units: 0, ms: 0 };

/** What keys of this kind begin with, as a filter. */
function kindFilter(
  kind: Kind,
  names: (string | null)[],
): { expression: string; names: Record<string, string>; values: Item } {
  const parts: string[] = [];
  const out = { names: {} as Record<string, string>, values: {} as Item };
  names.forEach((name, i) => {
    const rules = name ? rulesFor(kind, name) : [];
    const alternatives = rules.flatMap((rule, j) => {
      const literal = rule.parts.every((part) => 'text' in part);
      const prefix = literal ? rule.template : prefixOf(rule.parts);
      if (!prefix) return [];
      out.names[`#k${i}`] = name!;
      out.values[`:k${i}${j}`] = { S: prefix };
      return [literal ? `#k${i} = :k${i}${j}` : `begins_with(#k${i}, :k${i}${j})`];
    });
    if (alternatives.length && alternatives.length === rules.length) parts.push(`(${alternatives.join(' OR ')})`);
    else for (let j = 0; j < rules.length; j++) delete out.values[`:k${i}${j}`];
  });
  for (const name of Object.keys(out.names)) if (!parts.some((part) => part.includes(name))) delete out.names[name];
  return { expression: parts.join(' AND '), ...out };
}

/** The request of a view, without where it starts. */
export function requestOf(
  table: TableInfo,
  view: View,
): { operation: 'Query' | 'Scan'; input: Record<string, unknown> } {
  const { hash, range } = keysOfView(table, view.index);
  const input: Record<string, unknown> = { TableName: table.name, Limit: PAGE_ITEMS, ReturnConsumedCapacity: 'TOTAL' };
  if (indexOf(table, view.index)) input.IndexName = view.index;
  if (view.pk !== null) {
    const names: Record<string, string> = { '#pk': hash };
    const values: Record<string, AttributeValue> = { ':pk': typedKey(table, hash, view.pk) };
    let condition = '#pk = :pk';
    if (view.sk && range) {
      names['#sk'] = range;
      values[':sk'] = typedKey(table, range, view.sk);
      condition += table.types[range] === 'S' ? ' AND begins_with(#sk, :sk)' : ' AND #sk = :sk';
    }
    Object.assign(input, {
      KeyConditionExpression: condition,
      ExpressionAttributeNames: names,
      ExpressionAttributeValues: values,
    });
    if (view.descending) input.ScanIndexForward = false;
    return { operation: 'Query', input };
  }
  const filter = view.only && kindFilter(view.only, [table.hash, table.range]);
  if (filter?.expression) {
    Object.assign(input, {
      FilterExpression: filter.expression,
      ExpressionAttributeNames: filter.names,
      ExpressionAttributeValues: filter.values,
      Limit: LOOK_LIMIT,
    });
  }
  return { operation: 'Scan', input };
}

/** One page after `start`. Filtered ones are made of several requests. */
async function load(
  table: TableInfo,
  view: View,
  start: Item | null,
  stopped: () => boolean,
): Promise<{ page: Page; next: Item | null; totals: Totals }> {
  const { operation, input } = requestOf(table, view);
  const totals = { ...NO_TOTALS };
  const items: Item[] = [];
  let next = start;
  do {
    const { reply, ms } = await timed<Reply>(operation, next ? { ...input, ExclusiveStartKey: next } : input);
    items.push(...(reply.Items ?? []));
    next = reply.LastEvaluatedKey ?? null;
    totals.requests++;
    totals.scanned += reply.ScannedCount ?? reply.Items?.length ?? 0;
    totals.units += reply.ConsumedCapacity?.CapacityUnits ?? 0;
    totals.ms += ms;
  } while (next && items.length < (view.only ? PAGE_ITEMS : 1) && totals.requests < LOOK_REQUESTS && !stopped());
  return { page: { start, items }, next, totals };
}

export interface Loaded {
  window: Window;
  totals: Totals;
  loading: boolean;
  error: Error | null;
  more: () => void;
  earlier: () => void;
  reload: () => void;
}

const add = (a: Totals, b: Totals): Totals => ({
  requests: a.requests + b.requests,
  scanned: a.scanned + b.scanned,
  units: a.units + b.units,
  ms: a.ms + b.ms,
});

export function usePages(table: TableInfo | undefined, view: View): Loaded {
  const [state, setState] = useState({
    window: EMPTY_WINDOW,
    totals: NO_TOTALS,
    loading: true,
    error: null as Error | null,
  });
  const [turn, setTurn] = useState(0);
  // Which view the running request belongs to: a reply to an older one is dropped.
  const current = useRef(0);
  const busy = useRef(false);
  const shown = useRef('');
  const id = JSON.stringify([
    table?.name,
    table && indexOf(table, view.index)?.name,
    view.pk,
    view.sk,
    view.descending,
    view.only && [view.only.entityIndex, view.only.companion?.line],
  ]);

  const run = useCallback(
    (from: Item | null, put: (window: Window, page: Page, next: Item | null) => Window, fresh: boolean) => {
      if (!table || (busy.current && !fresh)) return;
      const mine = fresh ? ++current.current : current.current;
      const stale = () => mine !== current.current;
      busy.current = true;
      // A reloaded view stays until the new data arrives; another view is cleared at once.
      const kept = shown.current === id;
      shown.current = id;
      setState((old) => ({
        window: kept ? old.window : EMPTY_WINDOW,
        totals: fresh ? NO_TOTALS : old.totals,
        loading: true,
        error: null,
      }));
      load(table, view, from, stale)
        .then(
          ({ page, next, totals }) =>
            stale() ||
            setState((old) => ({
              window: put(fresh ? EMPTY_WINDOW : old.window, page, next),
              totals: add(old.totals, totals),
              loading: false,
              error: null,
            })),
          (error: Error) =>
            stale() ||
            setState((old) => ({ ...old, window: fresh ? EMPTY_WINDOW : old.window, loading: false, error })),
        )
        .finally(() => {
          if (!stale()) busy.current = false;
        });
    },
    [id, table],
  );

  useEffect(() => {
    run(null, append, true);
    return () => {
      current.current++;
      busy.current = false;
    };
  }, [id, table, turn]);

  const { window } = state;
  return {
    ...state,
    more: () => {
      if (window.next) run(window.next, append, false);
    },
    earlier: () => {
      if (window.before.length) run(window.before[window.before.length - 1]!, (old, page) => prepend(old, page), false);
    },
    reload: () => setTurn((n) => n + 1),
  };
}
