// Does it stay as fast when there is more: ten thousand, a million, ten million items; a partition of twenty and of a million.
// SPDX-License-Identifier: Apache-2.0
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { diskBytes, freshPath, remove, say, settled } from '../lib/run.mjs';
import { letRun, summary, wrk } from '../lib/measure.mjs';
import { calmly } from '../lib/steal.mjs';
import { startThorpe } from '../lib/servers.mjs';
import { fillDirectory } from '../lib/limits.mjs';
import { BYTES_EACH, ITEMS_EACH, LOAD_BIG, OPERATIONS, POSTS, POST_BYTES, apiRequests, operationFile, writeTemplates } from '../lib/templates.mjs';

const show = (n) => Math.round(n).toLocaleString('en');

/** A directory with so many items; the largest also has the large partition. */
async function make(items, big) {
  const dir = freshPath(`growth-${items}`);
  const users = Math.floor((items - big) / ITEMS_EACH);
  const batches = Math.floor(big / POSTS);
  const { seconds } = await fillDirectory(dir, 0, users);
  if (batches) await fillDirectory(dir, 0, batches, { body: LOAD_BIG });
  say(`growth: ${show(items)} items loaded, ${show((users * ITEMS_EACH) / seconds)} a second`);
  const loaded = await startThorpe({ dir });
  const { startMs } = loaded;
  await settled(loaded.run);
  await loaded.stop();
  const stored = users * BYTES_EACH + batches * POSTS * POST_BYTES;
  // Items, a copy of most in the index, and a record of each in the stream.
  return { items, users, batches, dir, start_ms: startMs, load_rate: (users * ITEMS_EACH) / seconds, stored_bytes: stored, disk_bytes: diskBytes(dir) };
}

/** Where the items are: in RocksDB's files, or in the journal, which is to say in memtables. */
function whereabouts(dir) {
  const sizesOf = (pattern) => readdirSync(dir).filter((name) => pattern.test(name)).map((name) => statSync(join(dir, name)).size);
  return { files: sizesOf(/\.sst$/).length, log_bytes: sizesOf(/^journal\./).reduce((sum, n) => sum + n, 0) };
}

async function round(sizes, servers, measured, seconds, connections, results, notes) {
  for (const [name, fileOf] of measured) {
    for (const [i, size] of sizes.entries()) {
      const file = fileOf(size);
      if (!file) continue;
      letRun(servers[i], servers);
      const all = ((results[name] ??= {})[size.items] ??= []);
      try {
        all.push(await calmly(async () => {
          if (name === 'PutItem') await settled(servers[i].run, 15);
          return wrk(servers[i], file, connections, seconds);
        }));
      } catch (error) {
        all.push({ failed: error.message });
        notes.push(`${name}, ${show(size.items)} items: ${error.message}`);
        say(notes.at(-1));
      }
    }
  }
}

export async function growth({ items = [10_000, 1_000_000, 10_000_000], rounds = 3, seconds = 3, connections = 64 } = {}) {
  const notes = [];
  const results = {};
  const largest = Math.max(...items);
  const big = Math.min(1_000_000, Math.floor(largest / 2));
  const sizes = [];
  const servers = [];
  const of = (name) => (size) => operationFile(name, size.users);
  const reads = [
    ['GetItem', of('GetItem')],
    ['Query', of('Query')],
    // What is asked for is the same, only what is not asked for differs: what a lookup costs, without what unpacking something new does.
    ['GetItem of the same items', () => operationFile('GetItem', sizes[0].users)],
    ['Query of the same items', () => operationFile('Query', sizes[0].users)],
    ['Query in a large partition', (size) => size.batches && writeTemplates('QueryBig', { a: [1, size.batches] }, apiRequests(OPERATIONS.QueryBig))],
  ];
  const writes = [['PutItem', of('PutItem')]];
  try {
    for (const n of items) sizes.push(await make(n, n === largest ? big : 0));
    for (const { dir } of sizes) servers.push(await startThorpe({ dir }));
    // A stop has written all memtables to files: reads find every size in files, however small, and nothing left to compact.
    for (const [i, server] of servers.entries()) {
      await settled(server.run);
      Object.assign(sizes[i], whereabouts(sizes[i].dir));
    }
    // Once for the caches: each size has its own share of what fits.
    await round(sizes, servers, reads, 2, connections, {}, notes);
    // Writes come last: they would put all of the small table into memtables, several times over, and little of the large one.
    for (const [n, measured] of [...Array(rounds).fill(reads), ...Array(rounds).fill(writes)].entries()) {
      await round(sizes, servers, measured, seconds, connections, results, notes);
      say(`growth ${n + 1}/${2 * rounds}: ${Object.entries(results).map(([name, by]) => `${name} ${Object.values(by).map((all) => show(summary(all)?.rate ?? NaN)).join(' · ')}`).join(', ')} a second`);
    }
    return { rounds, seconds, connections, big, sizes: sizes.map(({ dir, ...size }) => size), results, notes };
  } finally {
    for (const server of servers) await server.kill();
    for (const { dir } of sizes) remove(dir);
  }
}
