// Lets the server die at each of its crash points (base/crashpoint.h) under load, opens it again, and
// checks what is left. Which invariant of table/db.h a point is about stands beside it.
// SPDX-License-Identifier: Apache-2.0
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkAll } from './lib/check.mjs';
import { Client } from './lib/client.mjs';
import { Load } from './lib/load.mjs';
import { Model } from './lib/model.mjs';
import { Random } from './lib/random.mjs';
import { report } from './lib/report.mjs';
import { Server, verify, within } from './lib/server.mjs';
import { setUp } from './lib/tables.mjs';

const SEED = Number(process.env.CRASH_SEED ?? Date.now() % 1e9);
const POINTS = [
  ['evaluated', 40], // T3, T6: nothing of what was only evaluated may show
  ['journaled', 40], // S1, T2, T3: in the journal, but not yet in the database
  ['written', 40], // T2, T3, T5: on disk, but not yet in memory
  ['published', 40], // T4, T7: visible to others, but nobody was answered
  ['answered', 300], // T2, T7: some of a batch were answered, others not
  ['backfill-chunk', 3], // T4: an index filled by half
  ['backfill-end', 1], // T4: filled, but not yet ACTIVE
  ['ttl-found', 1], // T3: expired items found, not yet deleted
  ['ttl-swept', 1], // T3, T5: deleted, with their records
];

const dir = mkdtempSync(join(tmpdir(), 'thorpe-points-'));
process.on('exit', () => rmSync(dir, { recursive: true, force: true }));

async function withServer(options, body) {
  const server = await Server.start(dir, options);
  const client = new Client(server.port);
  try {
    return await body(client, server);
  } finally {
    client.close();
    if (server.alive) await server.stop();
  }
}

async function dieAt(point, hits, model, rng) {
  return withServer({ env: { THORPE_CRASH_AT: `${point}:${hits}` } }, async (client, server) => {
    const load = new Load(client, model, rng, { isRestless: true });
    const loaded = load.run();
    const how = await within(30_000, `the server to reach ${point}`, server.ended);
    load.stop();
    await loaded;
    if (how !== 'SIGKILL') model.violated(`the server ended with ${how}: ${server.log.slice(-2000)}`);
    return load.answered;
  }).catch((error) => {
    // What the server does by itself, such as looking for expired items, it may do before it listens.
    if (error.endedWith !== 'SIGKILL') throw error;
    return 0;
  });
}

await report(`crash points, seed ${SEED}`, async (tally) => {
  const rng = new Random(SEED);
  const model = new Model();
  await withServer({}, (client) => setUp(client, model, rng));
  for (const [point, most] of POINTS) {
    const hits = rng.between(1, most);
    const line = await tally.run(async () => {
      const answered = await dieAt(point, hits, model, rng);
      await withServer({}, (client) => checkAll(client, model, rng));
      await verify(dir);
      return `died at ${point}:${hits} after ${answered} answers`;
    }, model);
    if (line === undefined) break; // the model is no longer sure of anything
  }
});
