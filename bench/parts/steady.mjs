// Latency when the server is not overloaded: requests at half the rate it can take.
// SPDX-License-Identifier: Apache-2.0
import { say } from '../lib/run.mjs';
import { steady as paced, summary, wrk } from '../lib/measure.mjs';
import { fillServer, startThorpe } from '../lib/servers.mjs';
import { operationFile } from '../lib/templates.mjs';

const NAMES = ['GetItem', 'Query', 'BatchGetItem', 'PutItem', 'UpdateItem', 'Follow'];

export async function steady({ users = 1000, rounds = 3, seconds = 3, names = NAMES } = {}) {
  const server = await startThorpe();
  const results = {};
  const notes = [];
  try {
    await fillServer(server, users);
    for (const name of names) {
      const file = operationFile(name, users);
      try {
        await wrk(server, file, 64, 1);
        const { rate: peak } = await wrk(server, file, 64, 2);
        const all = [];
        for (let round = 0; round < rounds; round += 1) all.push(await paced(server.port, file, Math.floor(peak / 2), seconds));
        results[name] = { peak, rounds: all };
        const { p50_us: p50, p99_us: p99, errors, unsent } = summary(all);
        say(`steady: ${name} at ${Math.round(peak / 2)} a second, half of what is possible: median ${(p50 / 1000).toFixed(2)} ms, p99 ${(p99 / 1000).toFixed(2)} ms${errors + unsent ? `, ${errors + unsent} not answered` : ''}`);
      } catch (error) {
        notes.push(`${name} at half its rate: ${error.message}`);
        say(notes.at(-1));
      }
    }
    return { rounds, seconds, results, notes };
  } finally {
    await server.stop();
  }
}
