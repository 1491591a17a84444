// The chart: throughput of each operation, one bar for each contestant, on a logarithmic scale; readable on light and dark.
// SPDX-License-Identifier: Apache-2.0
import { summary } from './measure.mjs';

const CONTESTANTS = [
  ['thorpe', 'Thorpe'], ['dynalite', 'dynalite'], ['local', 'DynamoDB Local'], ['nginx', 'the limit: nginx (reads), RocksDB alone (writes)'],
];
const LABELS = { Query: 'Query of 20', 'Query after writes': 'Query, after writes', BatchGetItem: 'BatchGetItem of 100', PutItem: 'PutItem, synced', 'PutItem relaxed': 'PutItem, relaxed', UpdateItem: 'UpdateItem, synced', BatchWriteItem: 'BatchWriteItem of 25', Follow: 'follow transaction' };
const BAR = 13;
const GAP = 15;
const LEFT = 150;
const RIGHT = 70;
const WIDTH = 860;
const TOP = 62;

const style = `
  text { font: 12px system-ui, sans-serif; fill: #24292f; }
  .title { font-size: 15px; font-weight: 600; }
  .faint { fill: #6a737d; font-size: 11px; }
  .line { stroke: #d0d7de; stroke-width: 1; }
  .thorpe { fill: #0a7d72; } .dynalite { fill: #d08700; } .local { fill: #8552c0; } .nginx { fill: #a3adb8; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; } .faint { fill: #8b949e; } .line { stroke: #30363d; }
    .thorpe { fill: #2bb8a8; } .dynalite { fill: #e3a32b; } .local { fill: #b083f0; } .nginx { fill: #5d6772; }
  }`;

/** Rates of one operation: the limit is whichever there is. */
function bars(by) {
  const rate = (...names) => names.map((name) => summary(by[name] ?? [])?.rate).find((n) => n);
  return [
    ['thorpe', rate('thorpe', 'thorpe relaxed')], ['dynalite', rate('dynalite')], ['local', rate('local')], ['nginx', rate('nginx', 'rocksdb', 'rocksdb relaxed')],
  ].filter(([, n]) => n);
}

export function chart({ results }, connections = 64) {
  const groups = Object.entries(results).map(([name, by]) => [LABELS[name] ?? name, bars(by[connections] ?? {})]).filter(([, all]) => all.length);
  const rates = groups.flatMap(([, all]) => all.map(([, n]) => n));
  if (!rates.length) return undefined;
  const low = Math.floor(Math.log10(Math.min(...rates)) - 0.3);
  const high = Math.ceil(Math.log10(Math.max(...rates)));
  const x = (n) => LEFT + ((Math.log10(n) - low) / (high - low)) * (WIDTH - LEFT - RIGHT);
  const parts = [];
  let y = TOP;
  for (const [label, all] of groups) {
    parts.push(`<text x="${LEFT - 10}" y="${y + (all.length * BAR) / 2 + 4}" text-anchor="end">${label}</text>`);
    for (const [who, n] of all) {
      parts.push(`<rect class="${who}" x="${LEFT}" y="${y}" width="${(x(n) - LEFT).toFixed(1)}" height="${BAR - 2}" rx="2"/>`);
      parts.push(`<text class="faint" x="${(x(n) + 5).toFixed(1)}" y="${y + BAR - 3}">${Math.round(n).toLocaleString('en')}</text>`);
      y += BAR;
    }
    y += GAP;
  }
  const scale = Array.from({ length: high - low + 1 }, (_, i) => 10 ** (low + i)).map((n) =>
    `<line class="line" x1="${x(n).toFixed(1)}" x2="${x(n).toFixed(1)}" y1="${TOP - 6}" y2="${y - GAP + 4}"/><text class="faint" x="${x(n).toFixed(1)}" y="${y + 4}" text-anchor="middle">${n.toLocaleString('en')}</text>`);
  let at = LEFT;
  const legend = CONTESTANTS.map(([who, label]) => {
    const text = `<rect class="${who}" x="${at}" y="33" width="10" height="10" rx="2"/><text x="${at + 15}" y="42">${label}</text>`;
    at += 40 + label.length * 6.9;
    return text;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y + 16}" width="${WIDTH}" height="${y + 16}" role="img" aria-label="Requests a second of each operation with ${connections} connections">
<style>${style}
</style>
<text class="title" x="${LEFT}" y="20">Requests a second, ${connections} connections, logarithmic</text>
${[...legend, ...scale, ...parts].join('\n')}
</svg>
`;
}
