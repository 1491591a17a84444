// Calling the load generators, and what to make of several rounds.
// SPDX-License-Identifier: Apache-2.0
import { cpus } from 'node:os';
import { join } from 'node:path';
import { ROOT, complete, freeze, freshPath, processorTime, program, remove, thaw, tool } from './run.mjs';

const REPLAY = join(ROOT, 'bench', 'wrk', 'replay.lua');

let starts = 0;
/** A start for unique numbers that no run before has come near. */
export const nextStart = () => { starts += 1; return (starts % 490) * 200_000; };

/** wrk on a server's port with the requests of a file. Throws when an answer was not 2xx. */
export async function wrk({ run, port }, file, connections, seconds, start = nextStart()) {
  const threads = Math.min(connections, cpus().length);
  const args = ['-t', threads, '-c', connections, '-d', `${seconds}s`, '--timeout', '60s', '-s', REPLAY, `http://127.0.0.1:${port}`, '--', file, start, threads];
  const before = processorTime(run);
  const { stdout, stderr } = await complete(tool('wrk'), args.map(String), seconds + 40);
  const found = /RESULT (.*)/.exec(stdout);
  if (!found) throw new Error(`wrk said nothing: ${(stderr || stdout).slice(-300)}`);
  const result = JSON.parse(found[1]);
  if (result.requests === 0) throw Object.assign(new Error(`no answer in ${seconds} s`), { silent: true });
  if (result.status || result.socket) throw new Error(`${result.status} of ${result.requests} answers were not 2xx, ${result.socket} did not come`);
  return { ...result, cpu_us: ((processorTime(run) - before) * 1e6) / result.requests };
}

export const steady = async (port, file, rate, seconds, { connections = 64, start = nextStart() } = {}) =>
  JSON.parse((await complete(program('steady'), [port, file, rate, seconds, connections, start].map(String), seconds + 40)).stdout);

/** RocksDB alone, or fdatasync alone; `mode` and `how` as in load/rocks_limit.c. */
export async function rocksLimit(mode, log, n, seconds, how) {
  const dir = freshPath('limit');
  try {
    return JSON.parse((await complete(program('rocks_limit'), [mode, log, dir, n, seconds, how].map(String), seconds + 60)).stdout);
  } finally {
    remove(dir);
  }
}

export const embedded = async (args, seconds) => JSON.parse((await complete(program('embedded'), args.map(String), seconds)).stdout);

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

/** The median, field by field, of the rounds that succeeded. */
export function summary(rounds) {
  const good = rounds.filter((round) => round && !round.failed);
  if (!good.length) return undefined;
  return Object.fromEntries(Object.keys(good[0]).map((field) => [field, median(good.map((round) => round[field]))]));
}

/** The median of what one did in each round divided by what the other did in the same round. */
export const ratio = (over, under, field = 'rate') =>
  median((over ?? []).map((round, i) => (round?.[field] && under?.[i]?.[field] ? round[field] / under[i][field] : undefined)));
