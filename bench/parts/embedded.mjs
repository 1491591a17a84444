// The same operations through the C library, without HTTP; one thread's synced write beside fdatasync alone.
// SPDX-License-Identifier: Apache-2.0
import { cpus } from 'node:os';
import { freshPath, remove, say } from '../lib/run.mjs';
import { embedded as run, nextStart, rocksLimit, summary } from '../lib/measure.mjs';
import { calmly } from '../lib/steal.mjs';
import { captureBatches, fillDirectory } from '../lib/limits.mjs';
import { operationFile } from '../lib/templates.mjs';

const MEASURED = [['GetItem'], ['Query'], ['BatchGetItem'], ['PutItem'], ['PutItem', 'relaxed'], ['UpdateItem'], ['BatchWriteItem'], ['Follow']];
const title = (name, how) => (how === 'relaxed' ? `${name} relaxed` : name);

export async function embedded({ users = 1000, threads = [1, cpus().length, 64], rounds = 3, seconds = 1 } = {}) {
  const dir = freshPath('embedded');
  const results = {};
  const fdatasync = [];
  const notes = [];
  await fillDirectory(dir, 0, users);
  const logs = await captureBatches(['PutItem'], users).catch((error) => { notes.push(`fdatasync was not measured: ${error.message}`); });
  const take = async (name, how, n) => {
    const result = await run(['run', dir, operationFile(name, users), n, seconds, nextStart(), how], seconds + 60);
    if (result.errors) throw new Error(`${result.errors} of ${result.requests} calls failed`);
    return result;
  };
  for (const [name, how = 'synced'] of MEASURED) {
    const found = (results[title(name, how)] = {});
    for (const n of threads) {
      try {
        for (let round = 0; round < rounds; round += 1) {
          (found[n] ??= []).push(await calmly(() => take(name, how, n)));
          if (logs && n === 1 && title(name, how) === 'PutItem') fdatasync.push(await calmly(() => rocksLimit('fdatasync', logs.PutItem, '-', seconds, '-')));
        }
      } catch (error) {
        notes.push(`${title(name, how)}, ${n} threads: ${error.message}`);
        say(notes.at(-1));
      }
    }
    say(`embedded: ${title(name, how)}: ${Object.entries(found).map(([n, all]) => `${n} thread${n > 1 ? 's' : ''} ${Math.round(summary(all).rate).toLocaleString('en')}`).join(', ')} a second`);
  }
  remove(dir);
  return { users, rounds, seconds, results, fdatasync, notes };
}
