// The server's counters, fetched each second while the page is visible, with the rates of the last minute.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from 'preact/hooks';
import { consoleApi, forget } from './client';
import { load } from './session';
import type { ProcessorStats, Stats, TableStats } from './types';

const EVERY_MS = 1_000;
/** How many rates are kept: one a second. */
export const HISTORY = 60;

export interface Rates {
  /** A second, oldest first, at most HISTORY. */
  reads: number[];
  writes: number[];
}

export interface Live {
  stats: Stats | null;
  /** Why the last request failed; null: it did not. */
  error: Error | null;
  rates: Map<string, Rates>;
}

let live: Live = { stats: null, error: null, rates: new Map() };
const watchers = new Set<(live: Live) => void>();
let timer: ReturnType<typeof setTimeout> | undefined;
let running = false;

const tableOf = (stats: Stats | null, name: string) => stats?.tables.find((table) => table.name === name);

function rateOf(before: Stats, now: Stats, table: TableStats): { reads: number; writes: number } {
  const seconds = (now.now_ms - before.now_ms) / 1000;
  const old = tableOf(before, table.name);
  if (!old || seconds <= 0) return { reads: 0, writes: 0 };
  return {
    reads: Math.max(0, table.reads - old.reads) / seconds,
    writes: Math.max(0, table.writes - old.writes) / seconds,
  };
}

/** The rates after one more document; after a restart of the server there are none. */
export function advance(before: Live, now: Stats): Live {
  const last = before.stats && before.stats.uptime_ms <= now.uptime_ms ? before.stats : null;
  const rates = new Map<string, Rates>();
  for (const table of now.tables) {
    const kept = (last && before.rates.get(table.name)) ?? { reads: [], writes: [] };
    if (!last) {
      rates.set(table.name, kept);
      continue;
    }
    const rate = rateOf(last, now, table);
    rates.set(table.name, {
      reads: [...kept.reads, rate.reads].slice(-HISTORY),
      writes: [...kept.writes, rate.writes].slice(-HISTORY),
    });
  }
  return { stats: now, error: null, rates };
}

async function poll(): Promise<void> {
  if (running) return;
  running = true;
  try {
    const now = await consoleApi<Stats>('stats');
    if (live.stats && now.uptime_ms < live.stats.uptime_ms) {
      forget();
      await load();
    }
    live = advance(live, now);
  } catch (error) {
    live = { ...live, error: error as Error };
  }
  running = false;
  for (const tell of watchers) tell(live);
  schedule(EVERY_MS);
}

function schedule(ms: number): void {
  clearTimeout(timer);
  if (watchers.size > 0 && document.visibilityState === 'visible') timer = setTimeout(() => void poll(), ms);
}

document.addEventListener('visibilitychange', () => schedule(0));

/** The counters, live while the component is on the page and the page is visible. */
export function useStats(): Live {
  const [now, setNow] = useState(live);
  useEffect(() => {
    watchers.add(setNow);
    if (watchers.size === 1) schedule(0);
    return () => {
      watchers.delete(setNow);
      if (watchers.size === 0) clearTimeout(timer);
    };
  }, []);
  return now;
}

export const processorsOf = (stats: Stats | null, design: string): ProcessorStats[] =>
  stats?.processors.filter((processor) => processor.design === design) ?? [];
