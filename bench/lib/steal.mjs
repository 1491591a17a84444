// Time that the host takes away from a virtual machine ("steal" in /proc/stat): who measures without looking at it measures the host's
// other guests. Every round says how much was stolen; a round in which too much was is measured again, while there is time for that.
// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { Worker } from 'node:worker_threads';
import { elapsed, pause } from './run.mjs';

/**
 * A round is disturbed when more than this share was stolen. A rate loses about what is stolen, and rounds of a quiet machine differ by 3 %
 * themselves. Of a p99 it can be all: when the server stands still for 1 % of the time, 1 % of the requests are late.
 */
export const LIMIT = { rate: 0.03, percentile: 0.01 };

const TRIES = 3;           // of one round
const SAMPLE_MS = 250;     // the kernel counts hundredths of a second: less would see nothing
const LONGEST_WAIT_S = 10; // for a quiet moment

function ticks() {
  const all = readFileSync('/proc/stat', 'utf8').split('\n', 1)[0].split(/\s+/).slice(1, 9).map(Number);
  return { stolen: all[7] ?? 0, all: all.reduce((sum, n) => sum + n, 0) };
}

/** A function that gives the share of all processor time that has been stolen from now on. */
export function watch() {
  const before = ticks();
  return () => {
    const now = ticks();
    return now.all > before.all ? (now.stolen - before.stolen) / (now.all - before.all) : 0;
  };
}

/** What `work` gives, with the share that was stolen meanwhile. */
export async function watched(work) {
  const stolen = watch();
  const result = await work();
  return { ...result, stolen: stolen() };
}

// ---------------------------------------------------------------- patience

let budget;
/** Waiting and measuring again may take `seconds`, and `share` of the time from now on: so much for each part, and some of it is left at its end. */
export const allow = ({ seconds = 20, share = 0.12 } = {}) => { budget = { seconds, share, began: elapsed(), spent: 0 }; };
/** Seconds spent so since allow(). */
export const waited = () => budget.spent;
const left = () => budget.seconds + budget.share * (elapsed() - budget.began) - budget.spent;
allow();

async function spend(work) {
  const began = elapsed();
  try {
    return await work();
  } finally {
    budget.spent += elapsed() - began;
  }
}

/** What is stolen from whoever wants all processors; nothing can be stolen from one that sleeps. */
async function sample() {
  const stolen = watch();
  const spin = `const end = Date.now() + ${SAMPLE_MS}; while (Date.now() < end);`;
  await Promise.all(cpus().map(() => new Promise((done) => { new Worker(spin, { eval: true }).on('exit', done); })));
  return stolen();
}

async function quietMoment(limit) {
  const end = elapsed() + Math.min(LONGEST_WAIT_S, left());
  while (elapsed() < end && await sample() > limit) await pause(SAMPLE_MS);
}

// ---------------------------------------------------------------- rounds

let restless = false; // as the last round was

/**
 * A round: `once` measures and is called again when the host took more than `limit`. The try that was disturbed least is the round's;
 * it says whether it was `disturbed`, and has the others as `discarded`. They are chosen by what was stolen, never by what was measured.
 */
export async function calmly(once, limit = LIMIT.rate) {
  const tries = [];
  const again = async () => {
    await quietMoment(limit);
    // What cannot be had a second time (there is nothing left to write) has been had once.
    return once().catch(() => undefined);
  };
  if (restless && left() > 0) await spend(() => quietMoment(limit));
  for (let result = await once(); result; result = await spend(again)) {
    tries.push(result);
    restless = result.stolen > limit;
    if (!restless || tries.length === TRIES || left() <= 0) break;
  }
  if (!tries.length) return undefined;
  const [best, ...discarded] = tries.sort((a, b) => a.stolen - b.stolen);
  return { ...best, disturbed: best.stolen > limit, ...(discarded.length && { discarded }) };
}

// ---------------------------------------------------------------- saying so

export const percent = (share) => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;
/** Behind a figure that has only disturbed rounds. */
export const mark = (found) => (found?.disturbed ? ` †${percent(found.stolen)}` : '');
