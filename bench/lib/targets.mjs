// What is to be reached, and what was: one row for each goal that has been measured.
// SPDX-License-Identifier: Apache-2.0
import { oneAfterTheOther, ratio, summary } from './measure.mjs';
import { mark } from './steal.mjs';

const AT = 64; // connections at which throughput is compared
const times = (n) => `${n < 10 ? n.toFixed(2) : n.toFixed(1)} ×`;
const ms = (us) => `${(us / 1000).toFixed(2)} ms`;

// `found`: a summary with `value`, or nothing.
const least = (what, goal, found) => found && { what, goal: `at least ${goal} ×`, got: times(found.value) + mark(found), met: found.value >= goal };
const most = (what, goal, found, show) => found && { what, goal: `at most ${show(goal)}`, got: show(found.value) + mark(found), met: found.value <= goal };
const valued = (found, value) => found && value !== undefined && { ...found, value };

function operations({ results }) {
  const against = (name, other, goal, title, label) =>
    least(`${label ?? name} ÷ ${title}`, goal, ratio(results[name]?.[AT]?.thorpe, results[name]?.[AT]?.[other]));
  const nginx = 'nginx sending the same bytes';
  const rocks = 'RocksDB alone, same batches, same sync';
  return [
    against('GetItem', 'nginx', 0.6, nginx), against('GetItem', 'dynalite', 6, 'dynalite'), against('GetItem', 'local', 12, 'DynamoDB Local'),
    against('Query', 'nginx', 0.5, nginx, 'Query of 20'), against('Query', 'dynalite', 15, 'dynalite', 'Query of 20'), against('Query', 'local', 15, 'DynamoDB Local', 'Query of 20'),
    against('Query after writes', 'nginx', 0.5, nginx, 'Query of 20, items written over before'),
    ...['PutItem', 'UpdateItem'].flatMap((name) => [
      against(name, 'rocksdb', 0.5, rocks, `${name}, synced`), against(name, 'dynalite', 5, 'dynalite, not synced', `${name}, synced`), against(name, 'local', 15, 'DynamoDB Local, not synced', `${name}, synced`),
    ]),
    against('Follow', 'local', 15, 'DynamoDB Local, not synced', 'follow transaction, synced'),
  ];
}

function oneClient({ results }) {
  const { thorpe, fdatasync } = results.PutItem?.[1] ?? {};
  return [most('PutItem, synced, one client: median time ÷ that of one fdatasync', 1.5, ratio(thorpe, fdatasync, 'p50_us'), times)];
}

/** The same without the way there and back: through the library, in the same process. */
const oneCaller = ({ results, fdatasync = [] }) =>
  [most('PutItem, synced, one thread of the embedded library: median time ÷ that of one fdatasync', 1.5, ratio([results.PutItem?.[1]].flat(), fdatasync, 'p50_us'), times)];

const rest = ({ results, under }) => Object.entries(under).map(([name, requests]) => [name, [requests].flat()]).map(([name, all]) =>
  least(`REST: ${name} ÷ ${all.join(' and ')}${all.length > 1 ? ', one after the other' : ''}`, 0.7, ratio(results[name]?.[AT], oneAfterTheOther(all.map((one) => results[one]?.[AT])))));

const READS = ['GetItem', 'Query', 'BatchGetItem'];
const steady = ({ results }) => Object.entries(results).filter(([name]) => name !== 'BatchGetItem').map(([name, { rounds }]) => {
  const all = summary(rounds);
  const row = most(`${name}: p99 at half the peak rate`, READS.includes(name) ? 3000 : 10_000, valued(all, all?.p99_us), ms);
  return row && { ...row, met: row.met && !all.errors && !all.unsent };
});

const thousands = (n) => Number(n).toLocaleString('en');
const growth = ({ results, sizes }) => ['GetItem', 'Query', 'GetItem of the same items', 'Query of the same items'].map((name) => {
  const [small, large] = [sizes[0].items, sizes.at(-1).items];
  return most(`${name}: time with ${thousands(large)} items ÷ with ${thousands(small)}`, 1.5, ratio(results[name]?.[small], results[name]?.[large]), times);
});

/** How long a process took to start: a summary of its starts. */
export const startOf = (found) => found && summary(found.starts ?? [found]);
const processes = ({ results: { 'thorpe, with data': found } }) => [
  most('start-up with data', 50, valued(startOf(found), startOf(found)?.start_ms), (n) => `${n.toFixed(2)} ms`),
  most('idle memory', 40, found && { value: found.rss_kb / 1024 }, (n) => `${n.toFixed(1)} MB`),
];

/** All goals that something is known about. */
export function goals({ api, rest: restPart, steady: steadyPart, growth: growthPart, process: processPart, embedded: embeddedPart }) {
  return [
    ...(api ? operations(api) : []), ...(restPart ? rest(restPart) : []), ...(steadyPart ? steady(steadyPart) : []), ...(growthPart ? growth(growthPart) : []),
    ...(processPart ? processes(processPart) : []), ...(api ? oneClient(api) : []), ...(embeddedPart ? oneCaller(embeddedPart) : []),
  ].filter(Boolean);
}
