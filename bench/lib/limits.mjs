// What RocksDB is given to write: the batches that Thorpe itself wrote for each kind of request.
// SPDX-License-Identifier: Apache-2.0
import { copyFileSync, readdirSync, statSync, writeFileSync } from 'node:fs';
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

/** For each operation the path of a log file with its batches: one client writes, the server is killed, its log is kept. */
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
    const [newest] = readdirSync(dir).filter((file) => /^\d+\.log$/.test(file)).map((file) => join(dir, file)).sort((a, b) => statSync(b).size - statSync(a).size);
    logs[name] = join(SCRATCH, `batches-${name}.log`);
    copyFileSync(newest, logs[name]);
    // A clean stop empties the log, so that the next one has only what follows.
    await (await startThorpe({ dir })).stop();
  }
  remove(dir);
  return logs;
}
