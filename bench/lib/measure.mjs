// Calling the load generators, and what to make of several rounds.
// SPDX-License-Identifier: Apache-2.0
import { cpus } from 'node:os';
import { join } from 'node:path';
import { ROOT, complete, freeze, freshPath, processorTime, program, remove, thaw, tool } from './run.mjs';
import { watch, watched } from './steal.mjs';

const REPLAY = join(ROOT, 'bench', 'wrk', 'replay.lua');

let starts = 0;
/** A start for unique numbers that no run before has come near. */
export const nextStart = () => { starts += 1; return (starts % 490) * 200_000; };

/** wrk on a server's port with the requests of a file. Throws when an answer was not 2xx. */
export async function wrk({ run, port }, file, connections, seconds, start = nextStart()) {
  const threads = Math.min(connections, cpus().length);
  const args = ['-t', threads, '-c', connections, '-d', `${seconds}s`, '--timeout', '60s', '-s', REPLAY, `http://127.0.0.1:${port}`, '--', file, start, threads];
  const before = processorTime(run);
  const stolen = watch();
  const { stdout, stderr } = await complete(tool('wrk'), args.map(String), seconds + 40);
  const found = /RESULT (.*)/.exec(stdout);
  if (!found) throw new Error(`wrk said nothing: ${(stderr || stdout).slice(-300)}`);
  const result = JSON.parse(found[1]);
  if (result.requests === 0) throw Object.assign(new Error(`no answer in ${seconds} s`), { silent: true });
  if (result.status || result.socket) throw new Error(`${result.status} of ${result.requests} answers were not 2xx, ${result.socket} did not come`);
  return { ...result, cpu_us: ((processorTime(run) - before) * 1e6) / result.requests, stolen: stolen() };
}

/** One of the programs of load/, and what it found. */
const called = (name, args, seconds) => watched(async () => JSON.parse((await complete(program(name), args.map(String), seconds)).stdout));

export const steady = (port, file, rate, seconds, { connections = 64, start = nextStart() } = {}) =>
  called('steady', [port, file, rate, seconds, connections, start], seconds + 40);

/** RocksDB alone, or fdatasync alone; `mode` and `how` as in load/rocks_limit.c. */
export async function rocksLimit(mode, log, n, seconds, how) {
  const dir = freshPath('limit');
  try {
    return await called('rocks_limit', [mode, log, dir, n, seconds, how], seconds + 60);
  } finally {
    remove(dir);
  }
}

export const embedded = (args, seconds) => called('embedded', args, seconds);

/** Lets one server run and makes all others stand still: there are few processors, and some servers are never idle. */
export function letRun(server, servers) {
  for (const one of servers) if (one !== server && one.run) freeze(one.run);
  if (server?.run) thaw(server.run);
}

export function median(numbers) {
  const sorted = numbers.filter((n) => Number.isFinite(n)).sort((a, b) => a - b);
  if (!sorted.length) return undefined;
  const half = sorted.length >> 1;
  return sorted.length % 2 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
}

/** The rounds that count: those that the host left alone; where there is none, the half that it disturbed least. */
export function counting(rounds) {
  const good = rounds.filter((round) => round && !round.failed);
  const quiet = good.filter(({ disturbed }) => !disturbed);
  return quiet.length ? quiet : good.sort((a, b) => a.stolen - b.stolen).slice(0, Math.ceil(good.length / 2));
}

/** The median, field by field, of the rounds that count; `disturbed`: all of them were. */
export function summary(rounds) {
  const used = counting(rounds);
  if (!used.length) return undefined;
  return { ...Object.fromEntries(Object.keys(used[0]).map((field) => [field, median(used.map((round) => round[field]))])), disturbed: Boolean(used[0].disturbed) };
}

/** What is left of the rounds of several, each round as one: disturbed when one of them was. */
const joined = (rounds, values) => ({ ...values, stolen: Math.max(...rounds.map(({ stolen }) => stolen ?? 0)), disturbed: rounds.some(({ disturbed }) => disturbed) });

/** What one did in each round divided by what the other did in the same round: a summary, whose `value` is the ratio. */
export function ratio(over = [], under = [], field = 'rate') {
  const pairs = over.map((one, i) => [one, under[i]]).filter((pair) => pair.every((round) => round?.[field]));
  return summary(pairs.map(([one, other]) => joined([one, other], { value: one[field] / other[field] })));
}

/** The rounds of several requests as those of one that makes them all, one after the other. */
export function oneAfterTheOther(all) {
  const [first = [], ...others] = all;
  return first.map((one, i) => [one, ...others.map((rounds) => rounds?.[i])])
    .map((rounds) => (rounds.every((round) => round?.rate) ? joined(rounds, { rate: 1 / rounds.reduce((sum, { rate }) => sum + 1 / rate, 0) }) : undefined));
}
