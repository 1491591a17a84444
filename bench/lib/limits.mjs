// What RocksDB is given to write: the batches that Thorpe itself wrote for each kind of request.
// SPDX-License-Identifier: Apache-2.0
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SCRATCH, freshPath, remove } from './run.mjs';
import { embedded, wrk } from './measure.mjs';
import { startThorpe } from './servers.mjs';
import { CREATE_TABLE, LOAD, apiRequests, operationFile, writeTemplates } from './templates.mjs';

/** A directory filled through the library, without a server. Returns what the loader says. */
export async function fillDirectory(dir, from, to, { body = LOAD, seconds = 1800 } = {}) {
  const create = join(SCRATCH, 'create.json');
  writeFileSync(create, JSON.stringify(CREATE_TABLE));
  const file = writeTemplates('load', {}, apiRequests({ operation: 'BatchWriteItem', bodies: [body] }));
  return embedded(['load', dir, create, file, from, to], seconds);
}

/** For each operation a directory with the journal of its batches: one client writes, the server is killed, its journal is kept. */
export async function captureBatches(operations, users) {
  const dir = freshPath('capture');
  const logs = {};
  await fillDirectory(dir, 0, users);
  for (const name of operations) {
    const server = await startThorpe({ dir, args: ['--durability', 'relaxed'] });
    try {
      await wrk(server, operationFile(name, users), 1, 1);
    } finally {
      await server.kill();
    }
    logs[name] = join(SCRATCH, `batches-${name}`);
    mkdirSync(logs[name], { recursive: true });
    for (const file of readdirSync(dir)) if (file.startsWith('journal.')) copyFileSync(join(dir, file), join(logs[name], file));
    // A clean stop removes the journal, so that the next one has only what follows.
    await (await startThorpe({ dir })).stop();
  }
  remove(dir);
  return logs;
}
