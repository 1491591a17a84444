// Latency when the server is not overloaded: requests at half the rate it can take. Beside it, in each round and at the same rate, what
// the machine does by itself: nginx that sends the same bytes, RocksDB alone that writes the same batches.
// SPDX-License-Identifier: Apache-2.0
import { say, settled } from '../lib/run.mjs';
import { counting, letRun, rocksLimit, steady as paced, summary, wrk } from '../lib/measure.mjs';
import { LIMIT, calmly, mark } from '../lib/steal.mjs';
import { fillServer, hasNginx, samplesOf, startNginx, startThorpe } from '../lib/servers.mjs';
import { captureBatches } from '../lib/limits.mjs';
import { OPERATIONS, operationFile } from '../lib/templates.mjs';

const NAMES = ['GetItem', 'Query', 'BatchGetItem', 'PutItem', 'UpdateItem', 'Follow'];
const PEAKS = 3;

/** The best of several runs: a peak taken while the host was busy would ask for less than half. */
async function peakOf(server, file, seconds) {
  await wrk(server, file, 64, 1);
  const peaks = [];
  for (let i = 0; i < PEAKS; i += 1) peaks.push(await calmly(() => wrk(server, file, 64, seconds)));
  return { peaks, peak: Math.max(...counting(peaks).map(({ rate }) => rate)) };
}

const inWords = (rounds) => {
  const { p50_us: p50, p99_us: p99, ...all } = summary(rounds);
  return `median ${(p50 / 1000).toFixed(2)} ms, p99 ${(p99 / 1000).toFixed(2)} ms${mark(all)}${all.errors + all.unsent ? `, ${all.errors + all.unsent} not answered` : ''}`;
};

export async function steady({ users = 1000, rounds = 3, seconds = 3, names = NAMES } = {}) {
  const results = {};
  const notes = [];
  const note = (text) => { notes.push(text); say(text); };
  const logs = await captureBatches(names.filter((name) => !OPERATIONS[name].reads), users).catch((error) => { note(`RocksDB alone was not measured: ${error.message}`); });
  const server = await startThorpe();
  let nginx;
  try {
    await fillServer(server, users);
    if (hasNginx()) nginx = await startNginx(await samplesOf(server)).catch((error) => { note(`nginx did not take part: ${error.message}`); });
    for (const name of names) {
      const file = operationFile(name, users);
      const besideOf = (rate) => {
        if (nginx?.ports[name]) return { beside: 'nginx', run: () => paced(nginx.ports[name], file, rate, seconds) };
        return logs?.[name] ? { beside: 'rocksdb', run: () => rocksLimit('paced', logs[name], rate, seconds, 'synced') } : {};
      };
      try {
        const { peak, peaks } = await peakOf(server, file, Math.max(1, seconds - 1));
        const rate = Math.floor(peak / 2);
        // What the peak has left to compact is not part of half its rate.
        if (!OPERATIONS[name].reads) await settled(server.run, 10);
        const { beside, run } = besideOf(rate);
        const ours = [];
        const theirs = [];
        for (let round = 0; round < rounds; round += 1) {
          letRun(server, [server]);
          ours.push(await calmly(() => paced(server.port, file, rate, seconds), LIMIT.percentile));
          if (!run) continue;
          letRun(undefined, [server]);
          theirs.push(await calmly(run, LIMIT.percentile));
        }
        results[name] = { peak, peaks, rounds: ours, beside, besides: theirs };
        say(`steady: ${name} at ${rate} a second, half of what is possible: ${inWords(ours)}${run ? `; ${beside} at that rate: ${inWords(theirs)}` : ''}`);
      } catch (error) {
        note(`${name} at half its rate: ${error.message}`);
      } finally {
        letRun(server, [server]);
      }
    }
    return { rounds, seconds, results, notes };
  } finally {
    await server.stop();
    await nginx?.stop();
  }
}
