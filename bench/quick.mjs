// The main ratios in under two minutes, printed and not kept: whoever changes something on the way of a request looks here first.
//
//   node bench/quick.mjs      BENCH_BUILD, BENCH_DIR: as for bench.mjs
//
// dynalite and DynamoDB Local take part when `make bench` has installed them.
// SPDX-License-Identifier: Apache-2.0
import { existsSync } from 'node:fs';
import { THORPE, elapsed, program, tool } from './lib/run.mjs';
import { load } from './lib/machine.mjs';
import { summary } from './lib/measure.mjs';
import { LIMIT, allow, mark, percent, watch } from './lib/steal.mjs';
import { goals } from './lib/targets.mjs';
import { api } from './parts/api.mjs';
import { rest } from './parts/rest.mjs';

const fail = (text) => { console.error(`bench: ${text}`); process.exit(1); };
for (const path of [THORPE, ...['embedded', 'rocks_limit'].map(program)]) if (!existsSync(path)) fail(`${path} has not been built`);
if (!tool('wrk')) fail('wrk is not installed');
const busy = load();
const stolen = watch();
allow({ seconds: 5, share: 0.03 }); // two minutes are all there is

const left = ['thorpe relaxed', 'rocksdb merged', 'fdatasync'];
const operations = await api({
  users: 100, connections: [64], rounds: 2, seconds: 1, names: ['GetItem', 'Query', 'PutItem', 'UpdateItem', 'Query after writes'], warm: { local: 3, dynalite: 1 }, title: 'quick', wanted: (name) => !left.includes(name),
});
const reads = await rest({ connections: [64], rounds: 2, seconds: 1, names: ['a post', 'a user\'s posts', 'a feed page'], size: { authors: 100, readers: 50, others: 0 }, title: 'quick' });

console.log(`\n${busy > 0.5 ? `(the machine is busy with other things, load ${busy}: expect noise)\n` : ''}64 connections, ${Math.round(elapsed())} s; the host took ${percent(stolen())} of the processors${stolen() > LIMIT.rate ? ' (†: and so much in every round of that figure)' : ''}:`);
for (const { what, got, goal, met } of goals({ api: operations, rest: reads })) console.log(`  ${met ? '✓' : '✗'} ${what.padEnd(66)} ${got.padStart(15)}   ${goal}`);
const cpu = (rounds) => `${summary(rounds)?.cpu_us.toFixed(1) ?? '–'}${mark(summary(rounds))}`;
console.log('\nProcessor time of the server for one request, µs (other programs disturb it less than rates):');
for (const [name, { 64: by }] of Object.entries(operations.results)) {
  console.log(`  ${name.padEnd(18)} ${Object.entries(by).map(([who, rounds]) => `${who} ${cpu(rounds)}`).join(', ')}`);
}
for (const [name, { 64: rounds }] of Object.entries(reads.results)) console.log(`  ${name.padEnd(24)} ${cpu(rounds)}`);
for (const note of [...operations.notes, ...reads.notes]) console.log(`  ! ${note}`);
process.exit(0);
