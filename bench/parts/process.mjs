// The process itself: how long it takes to start, and how much memory it needs when idle and when busy.
// SPDX-License-Identifier: Apache-2.0
import { freshPath, memory, pause, remove, say } from '../lib/run.mjs';
import { summary, wrk } from '../lib/measure.mjs';
import { calmly, watched } from '../lib/steal.mjs';
import { fillServer, hasDynalite, hasLocal, startDynalite, startLocal, startThorpe } from '../lib/servers.mjs';
import { operationFile } from '../lib/templates.mjs';

const times = async (n, once) => {
  const all = [];
  for (let i = 0; i < n; i += 1) all.push(await once(i));
  return all;
};

/** Start-up times, and what is left of memory after two quiet seconds. */
async function idle(start, n) {
  const starts = await times(n, () => calmly(() => watched(async () => {
    const server = await start();
    await server.stop();
    if (server.dir && server.fresh) remove(server.dir);
    return { start_ms: server.startMs };
  })));
  const server = await start();
  await pause(2000);
  const rss = memory(server.run);
  await server.stop();
  return { starts, rss_kb: rss };
}

async function busy(dir, users) {
  const server = await startThorpe({ dir });
  try {
    for (const name of ['PutItem', 'GetItem', 'Query', 'BatchGetItem']) await wrk(server, operationFile(name, users), 256, 3);
    return { rss_kb: memory(server.run), peak_kb: memory(server.run, 'VmHWM') };
  } finally {
    await server.kill(); // what follows is a start after a crash
  }
}

export async function processes({ users = 1000, starts = 10 } = {}) {
  const results = {};
  const notes = [];
  const take = async (name, work) => {
    try {
      results[name] = await work();
      const { starts: all = [], rss_kb: rss } = results[name];
      const ms = summary(all)?.start_ms;
      say(`process: ${name}: ${[ms !== undefined && `starts in ${ms.toFixed(1)} ms`, rss && `${(rss / 1024).toFixed(1)} MB`].filter(Boolean).join(', ')}`);
    } catch (error) {
      notes.push(`${name}: ${error.message}`);
      say(notes.at(-1));
    }
  };
  await take('thorpe, empty', () => idle(async () => ({ ...await startThorpe(), fresh: true }), starts));
  const dir = freshPath('process');
  const first = await startThorpe({ dir });
  await fillServer(first, users);
  await first.stop();
  await take('thorpe, with data', () => idle(() => startThorpe({ dir }), starts));
  await take('thorpe, after load', () => busy(dir, users));
  // There is one such start, however much was stolen meanwhile.
  await take('thorpe, after a crash', async () => ({ starts: [await watched(async () => {
    const server = await startThorpe({ dir });
    await server.stop();
    return { start_ms: server.startMs };
  })] }));
  remove(dir);
  if (hasDynalite()) await take('dynalite', () => idle(startDynalite, 3));
  if (hasLocal()) await take('local', () => idle(startLocal, 2));
  return { users, results, notes };
}
