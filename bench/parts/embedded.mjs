// The same operations through the C library, without HTTP.
// SPDX-License-Identifier: Apache-2.0
import { cpus } from 'node:os';
import { freshPath, remove, say } from '../lib/run.mjs';
import { embedded as run, nextStart } from '../lib/measure.mjs';
import { fillDirectory } from '../lib/limits.mjs';
import { operationFile } from '../lib/templates.mjs';

const MEASURED = [['GetItem'], ['Query'], ['BatchGetItem'], ['PutItem'], ['PutItem', 'relaxed'], ['UpdateItem'], ['BatchWriteItem'], ['Follow']];

export async function embedded({ users = 1000, threads = [1, cpus().length, 64], seconds = 2 } = {}) {
  const dir = freshPath('embedded');
  const results = {};
  const notes = [];
  await fillDirectory(dir, 0, users);
  for (const [name, how = 'synced'] of MEASURED) {
    const title = how === 'relaxed' ? `${name} relaxed` : name;
    for (const n of threads) {
      try {
        const result = await run(['run', dir, operationFile(name, users), n, seconds, nextStart(), how], seconds + 60);
        if (result.errors) throw new Error(`${result.errors} of ${result.requests} calls failed`);
        (results[title] ??= {})[n] = result;
      } catch (error) {
        notes.push(`${title}, ${n} threads: ${error.message}`);
        say(notes.at(-1));
      }
    }
    say(`embedded: ${title}: ${Object.entries(results[title] ?? {}).map(([n, { rate }]) => `${n} thread${n > 1 ? 's' : ''} ${Math.round(rate).toLocaleString('en')}`).join(', ')} a second`);
  }
  remove(dir);
  return { users, seconds, results, notes };
}
