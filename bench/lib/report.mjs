// bench/RESULTS.md and the chart, from the figures of all parts: ratios first.
// SPDX-License-Identifier: Apache-2.0
import { ratio, summary } from './measure.mjs';
import { chart } from './chart.mjs';
import { LIMIT, mark, percent } from './steal.mjs';
import { goals, startOf } from './targets.mjs';

const NAMES = { thorpe: 'Thorpe', 'thorpe relaxed': 'Thorpe', local: 'DynamoDB Local', rocksdb: 'RocksDB alone', 'rocksdb merged': 'RocksDB, one writer', 'rocksdb relaxed': 'RocksDB alone' };
const nameOf = (contestant) => NAMES[contestant] ?? contestant;
const OPERATION = { Query: 'Query of 20 on a GSI', 'Query after writes': 'Query of 20 on a GSI, items written over before', BatchGetItem: 'BatchGetItem of 100', BatchWriteItem: 'BatchWriteItem of 25', PutItem: 'PutItem, synced', 'PutItem relaxed': 'PutItem, relaxed', UpdateItem: 'UpdateItem (`ADD`), synced', Follow: 'TransactWriteItems, a follow (4 actions), synced' };

const count = (n) => (n === undefined ? '–' : Math.round(n).toLocaleString('en'));
const ms = (us) => (us === undefined || us === null ? '–' : (us / 1000).toFixed(2));
const mb = (kb) => (kb === undefined ? '–' : `${(kb / 1024).toFixed(1)} MB`);
const times = (n) => (n === undefined ? '–' : `${n < 10 ? n.toFixed(2) : n.toFixed(0)} ×`);
/** Of a summary a figure, marked when the host disturbed it. */
const marked = (show, all, field) => show(all?.[field]) + mark(all);
const table = (head, rows) => [`| ${head.join(' | ')} |`, `|${head.map((_, i) => (i ? '---:' : '---')).join('|')}|`, ...rows.map((row) => `| ${row.join(' | ')} |`), ''].join('\n');
const connectionsOf = (results) => [...new Set(Object.values(results).flatMap((by) => Object.keys(by)))].map(Number).sort((a, b) => a - b);

export const goalTable = (parts) => table(['', 'measured', 'goal', ''], goals(parts).map(({ what, got, goal, met }) => [what, got, goal, met ? '✓' : '✗']));

function relative({ results }) {
  const others = [['nginx', 'nginx'], ['rocksdb', 'RocksDB alone'], ['dynalite', 'dynalite'], ['local', 'DynamoDB Local']];
  return connectionsOf(results).map((n) => [`With ${n} connection${n > 1 ? 's' : ''}, Thorpe ÷ the other, requests a second:\n`,
    table(['', ...others.map(([, label]) => label)], Object.entries(results).map(([name, by]) => {
      const ours = by[n]?.thorpe ?? by[n]?.['thorpe relaxed'];
      return [OPERATION[name] ?? name, ...others.map(([other]) => marked(times, ratio(ours, by[n]?.[other] ?? by[n]?.[`${other} relaxed`]), 'value'))];
    }))].join('\n')).join('\n');
}

const cells = (rounds) => {
  const all = rounds && summary(rounds);
  const why = rounds?.find((round) => round?.failed)?.failed;
  return all ? [marked(count, all, 'rate'), ms(all.p50_us), ms(all.p99_us), all.cpu_us === undefined ? '–' : all.cpu_us.toFixed(1)] : [why ? `failed: ${why}` : '–', '–', '–', '–'];
};

function absolute(results, contestantsOf) {
  return connectionsOf(results).map((n) => [`${n} connection${n > 1 ? 's' : ''}:\n`,
    table(['', '', 'a second', 'p50, ms', 'p99, ms', 'CPU, µs each'], Object.entries(results).flatMap(([name, by]) => contestantsOf(by[n] ?? {}).map(([who, rounds], i) => [i ? '' : OPERATION[name] ?? name, nameOf(who), ...cells(rounds)])))].join('\n')).join('\n');
}

/** What the time of one client's synced write is made of: who takes one way only, and one fdatasync. */
function oneWrite({ results }, embedded) {
  const at = (name, who) => results[name]?.[1]?.[who];
  const rows = [
    ['PutItem, synced, of one client', at('PutItem', 'thorpe'), at('PutItem', 'fdatasync')],
    ['the way there and back: GetItem of one client', at('GetItem', 'thorpe')],
    ['the same to nginx sending its bytes', at('GetItem', 'nginx')],
    ['all but the sync: PutItem of one client, relaxed', at('PutItem relaxed', 'thorpe relaxed')],
    ['RocksDB alone, the same batch, synced', at('PutItem', 'rocksdb'), at('PutItem', 'fdatasync')],
    ['fdatasync alone, as many bytes', at('PutItem', 'fdatasync')],
    ['PutItem, synced, through the embedded library, one thread', [embedded?.results.PutItem?.[1]].flat(), embedded?.fdatasync],
    ['fdatasync alone, beside that', embedded?.fdatasync],
  ].filter(([, all]) => all && summary(all));
  if (!at('PutItem', 'thorpe')) return '';
  return ['One client\'s synced write, and what it is made of; ÷ fdatasync: the median of the ratios to what was measured in the same round.\n',
    table(['median', 'µs', '÷ fdatasync'], rows.map(([what, all, sync]) => [what, marked(count, summary(all), 'p50_us'), marked(times, ratio(all, sync, 'p50_us'), 'value')]))].join('\n');
}

const sections = {
  api: (part, { embedded }) => ['## DynamoDB\'s operations\n', relative(part), oneWrite(part, embedded), absolute(part.results, (by) => Object.entries(by)),
    'Most memory that each process had meanwhile: ', Object.entries(part.memory).map(([who, kb]) => `${who} ${mb(kb)}`).join(', '), '.\n\n'],
  rest: (part) => ['## The REST API\n', absolute(part.results, (by) => (Array.isArray(by) ? [['thorpe', by]] : []))],
  steady: ({ results }) => ['## Latency at half the peak rate\n',
    'Requests are sent when they are due, whether or not the last one has been answered, on 64 connections; a request that finds all of them busy waits, and its time counts from when it was due.',
    'At the same rate, right after it in each round, what the machine does to such a figure by itself: nginx that sends the same bytes; RocksDB alone in one thread, which writes what is due together as one synced batch. *Sent late*: the p99 of how late the load generator was itself, which shares the processors with the server; it is part of all of these times.\n',
    table(['', 'rate', 'p50, ms', 'p99, ms', 'longest, ms', 'sent late, ms', 'the machine', 'its p50, ms', 'its p99, ms'], Object.entries(results).map(([name, { rounds, beside, besides = [] }]) => {
      const [all, other] = [summary(rounds), summary(besides)];
      return [name, count(all.rate), ms(all.p50_us), marked(ms, all, 'p99_us'), ms(all.max_us), ms(all.late_p99_us), other ? nameOf(beside) : '–', ms(other?.p50_us), marked(ms, other, 'p99_us')];
    }))],
  growth: ({ results, sizes, connections }) => ['## Growth\n',
    table([`a second, ${connections} connections`, ...sizes.map(({ items }) => `${count(items)} items`)], Object.entries(results).map(([name, by]) => [name, ...sizes.map(({ items }) => marked(count, summary(by[items] ?? []), 'rate'))])),
    `The large partition has ${count(sizes.at(-1).batches * 20)} items; a query starts anywhere in it. *Of the same items*: only the ${count(sizes[0].items)} that every size has are asked for; otherwise any, at random.\n`,
    table(['', ...sizes.map(({ items }) => `${count(items)} items`)], [
      ['bytes of the items, as DynamoDB counts', ...sizes.map(({ stored_bytes: n }) => `${count(n / 2 ** 20)} MB`)],
      ['bytes on disk (items, index, stream)', ...sizes.map(({ disk_bytes: n }) => `${count(n / 2 ** 20)} MB`)],
      ...(sizes[0].files === undefined ? [] : [['of them in files, when reads are measured', ...sizes.map(({ files: n }) => `${count(n)} file${n === 1 ? '' : 's'}`)],
        ['and set aside for the journal (256 KB: nothing is in it, or in memtables)', ...sizes.map(({ log_bytes: n }) => `${count(n / 1024)} KB`)]]),
      ['disk ÷ items', ...sizes.map((size) => times(size.disk_bytes / size.stored_bytes))],
      ['loaded through the library, items a second', ...sizes.map(({ load_rate: n }) => count(n))],
      ['start-up', ...sizes.map(({ start_ms: n }) => `${n.toFixed(0)} ms`)],
    ])],
  process: ({ results }) => ['## The process\n',
    table(['', 'start-up', 'memory', 'at most'], Object.entries(results).map(([name, { rss_kb: rss, peak_kb: peak }]) => [nameOf(name), marked((n) => (n === undefined ? '–' : `${n.toFixed(1)} ms`), startOf(results[name]), 'start_ms'), mb(rss), mb(peak)]))],
  embedded: ({ results }) => {
    const threads = [...new Set(Object.values(results).flatMap((by) => Object.keys(by)))];
    return ['## Embedded: the C library without HTTP\n', table(['calls a second', ...threads.map((n) => `${n} thread${n > 1 ? 's' : ''}`), 'p50 of one thread, ms'],
      Object.entries(results).map(([name, by]) => {
        const of = (n) => summary([by[n]].flat());
        return [OPERATION[name] ?? name, ...threads.map((n) => marked(count, of(n), 'rate')), ms(of(1)?.p50_us)];
      }))];
  },
};
const ORDER = ['api', 'rest', 'steady', 'growth', 'process', 'embedded'];

function how(parts) {
  const { api, growth } = parts;
  return `## How\n
One machine has the server and whoever loads it; one server runs at a time, all others are stopped meanwhile (SIGSTOP). Contestants take turns, round after round;
a figure is the median of the rounds, a ratio the median of the rounds' ratios; only rounds count that the host has not disturbed, if there are any. A disturbed round is measured
again up to twice while there is time for that; what was discarded is in results.json as well. All get the same requests for the same items${api ? ` (${count(api.users * 21)} of about 450 bytes, one GSI, a stream)` : ''},
keys at random; before, their answers are compared. An answer that is not 2xx fails the measurement. CPU is the processor time of the server, the kernel's for it
included, divided by the requests: it is disturbed least by what else goes on. wrk has as many threads as there are cores.

- **dynalite** keeps everything in memory (its default) and has neither streams nor transactions. **DynamoDB Local**${api?.version ? ` ${api.version}` : ''} runs with \`-inMemory\`. Neither syncs anything; Thorpe's data is on disk, and synced unless it says relaxed.
- **nginx** answers every request with the bytes of one of Thorpe's answers${api ? ` (${Object.entries(api.bytes).map(([name, n]) => `${name} ${count(n)}`).join(', ')})` : ''}, from memory.
- **RocksDB alone** writes the batches that Thorpe wrote for such requests, read back from its log, with Thorpe's options: as many threads as connections, each waiting for its own batch. **One writer**: one thread that puts as many requests into one batch.
- **fdatasync**: a batch's bytes appended to a file with reserved room, and fdatasync.${growth ? '\n- **Growth**: each size has a directory and a server of its own, all with the same cache; they are stopped and started again after loading, so that all items are in files and compacted. Reads are measured before writes.' : ''}
`;
}

/** All rounds of a part, wherever they are in its results. */
const roundsIn = (value) => (value && typeof value === 'object' ? [...('disturbed' in value ? [value] : []), ...Object.values(value).flatMap(roundsIn)] : []);

/** How much the host took away, and what that did to the rounds. */
function stolen(parts) {
  const all = ORDER.filter((name) => parts[name]?.stolen !== undefined).map((name) => {
    const rounds = roundsIn(parts[name].data);
    const again = rounds.reduce((sum, { discarded = [] }) => sum + discarded.length, 0);
    const counts = [again && `${count(again)} measured again`, rounds.some(({ disturbed }) => disturbed) && `${count(rounds.filter(({ disturbed }) => disturbed).length)} disturbed`].filter(Boolean);
    return `${name} ${percent(parts[name].stolen)}${rounds.length ? ` (${[`${count(rounds.length)} rounds`, ...counts].join(', ')})` : ''}`;
  });
  return all.length ? [`The host took of the processors' time: ${all.join('; ')}. † behind a figure: every round of it was disturbed, that is, the host took more than ${percent(LIMIT.rate)}, or ${percent(LIMIT.percentile)} where requests come at a steady rate; and how much in those that count.\n`] : [];
}

export function report(saved) {
  const parts = Object.fromEntries(Object.entries(saved.parts).map(([name, { data }]) => [name, data]));
  const latest = Object.values(saved.parts).reduce((a, b) => (a.date > b.date ? a : b));
  const { machine } = latest;
  const versions = Object.entries(machine.versions).filter(([, v]) => v).map(([name, v]) => `${name} ${v}`).join(', ');
  const taken = ORDER.filter((name) => saved.parts[name]).map((name) => {
    const { date, seconds, waited = 0, load } = saved.parts[name];
    return `${name} ${date.slice(0, 16).replace('T', ' ')} UTC, ${(seconds / 60).toFixed(1)} minutes${waited > 6 ? `, ${(waited / 60).toFixed(1)} of them for quiet moments` : ''}${load > 0.5 ? `, beside a load of ${load.toFixed(1)}` : ''}`;
  });
  const notes = Object.values(parts).flatMap(({ notes: all = [] }) => all);
  const picture = parts.api && chart(parts.api);
  const all = goals(parts);
  const text = [
    '# Results\n', 'Made by `make bench`; [docs/performance.md](../docs/performance.md) says how to measure and what was done.\n', ...stolen(saved.parts),
    '## Goals\n', `${all.filter(({ met }) => met).length} of ${all.length} are met. Throughput is compared at 64 connections.\n`, goalTable(parts),
    ...(picture ? ['![Requests a second of each operation, by contestant](results.svg)\n'] : []),
    '## Machine\n', `${machine.processor}, ${machine.cores} cores, ${machine.memory_gb} GB, Linux ${machine.kernel}; data on ${machine.disk}. ${versions}.\n`,
    `Taken: ${taken.join('; ')}.\n`, ...(notes.length ? [`Not as planned:\n\n${notes.map((note) => `- ${note}`).join('\n')}\n`] : []),
    ...ORDER.filter((name) => parts[name]).flatMap((name) => sections[name](parts[name], parts)),
    how(parts),
  ].join('\n');
  return { text, picture };
}
