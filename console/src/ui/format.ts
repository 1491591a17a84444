// Numbers, sizes and times as people read them.
// SPDX-License-Identifier: Apache-2.0

const grouped = new Intl.NumberFormat('en');
const short = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

/** 12,345 */
export const count = (n: number): string => grouped.format(n);

/** 12.3K */
export const compact = (n: number): string => (n < 10_000 ? grouped.format(Math.round(n)) : short.format(n));

/** A rate a second: 0, 0.5, 12, 3.4K */
export const rate = (n: number): string => (n === 0 ? '0' : n < 10 ? n.toFixed(1).replace(/\.0$/, '') : compact(n));

export function bytes(n: number): string {
  const names = ['B', 'KB', 'MB', 'GB', 'TB'];
  let at = 0;
  while (n >= 1000 && at < names.length - 1) {
    n /= 1024;
    at++;
  }
  return `${at === 0 || n >= 100 ? Math.round(n) : n.toFixed(1)} ${names[at]}`;
}

/** Capacity units: 0.5, 12, 3.5 */
export const units = (n: number): string => String(Math.round(n * 100) / 100);

/** 350 ms, 4 s, 3 min, 2 h 5 min, 3 d */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const s = Math.floor(ms / 1000);
  if (s < 60) return `${s} s`;
  if (s < 3_600) return `${Math.floor(s / 60)} min`;
  if (s < 86_400) return `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min`;
  return `${Math.floor(s / 86_400)} d ${Math.floor((s % 86_400) / 3600)} h`;
}

/** 14:03:07 */
export const time = (ms: number): string => new Date(ms).toLocaleTimeString('en-GB');

export const plural = (n: number, one: string, many = `${one}s`): string => `${count(n)} ${n === 1 ? one : many}`;
