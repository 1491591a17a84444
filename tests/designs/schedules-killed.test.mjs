// Schedules while servers are killed: one run for each time, which goes on where it was.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Caller, ROOT, clientsFor, freshDirectory, runToEnd, startServer, until, verify } from './harness.mjs';
import { killable } from './killable.mjs';

const file = join(ROOT, 'tests', 'designs', 'nightly', 'nightly.yaml');
const PERIOD_MS = 5000;

test('a run that is killed goes on, and of missed times the last one is made up for', async (t) => {
  const place = killable(t, file);
  let run = await place.start();
  const members = 80;
  let ann = await run.as('--subject', 'ann', '--role', 'user');
  await run.operator.post('/processors/tick/pause');
  await Promise.all(Array.from({ length: members }, (_, i) => ann.put(`/members/m${i}`)));
  const gone = (await ann.list('/all-ticks')).length; // of the time before the pause
  await run.operator.post('/processors/tick/resume');
  for (let i = 0; i < 3; i++) {
    await until('a run is under way', async () => {
      const last = (await ann.list('/all-ticks')).at(-1);
      return last && last.members > 5 && last.members < members;
    }, 30).catch(() => {});
    run = await place.killAndStart(run);
    ann = await run.as('--subject', 'ann', '--role', 'user');
  }
  await run.server.kill();
  await sleep(2 * PERIOD_MS);
  run = await place.start();
  ann = await run.as('--subject', 'ann', '--role', 'user');
  await run.operator.post('/processors/tick/pause');
  await until('the run to end', async () => (await run.operator.get('/processors/tick')).body.running === false || (await run.operator.post('/processors/tick/resume'), await sleep(1500), await run.operator.post('/processors/tick/pause'), false), 60);
  const ticks = (await ann.list('/all-ticks')).slice(gone);
  for (const tick of ticks) assert.equal(tick.members, members, JSON.stringify(ticks));
  assert.equal(new Set(ticks.map(({ at }) => at)).size, ticks.length);
  const runs = (await ann.get('/members/m7')).body.runs;
  assert.equal(runs, ticks.length, 'each member was counted once in each run');
  await place.end(run);
});

test('three servers: one run for each time, while servers are killed', async () => {
  const data = freshDirectory();
  const tables = await startServer({ data });
  const start = () => startServer({ data: null, args: ['--design', file, '--backend', tables.endpoint] });
  const servers = [await start(), await start(), await start()];
  const { ddb, doc } = clientsFor(tables.endpoint);
  after(async () => {
    for (const server of servers) server.child.kill('SIGKILL');
    tables.child.kill('SIGKILL');
    ddb.destroy();
  });
  const token = async (...flags) => (await runToEnd(['token', file, ...flags, '--backend', tables.endpoint])).stdout.trim();
  const user = await token('--subject', 'ann', '--role', 'user');
  const boss = await token('--operator');
  const at = (server, text) => new Caller(`${server.endpoint}/api/nightly`, text);
  const members = 20;
  await at(servers[0], boss).post('/processors/tick/pause');
  for (let i = 0; i < members; i++) await at(servers[i % 3], user).put(`/members/m${i}`);
  const list = async () => (await doc.query({
    TableName: 'nightly', KeyConditionExpression: 'PK = :p', ExpressionAttributeValues: { ':p': 'TICKS' }, ConsistentRead: true,
  })).Items;
  const earlier = (await list()).length;
  await at(servers[1], boss).post('/processors/tick/resume');
  for (let i = 0; i < 3; i++) {
    const count = (await list()).length;
    await until('another run', async () => (await list()).length > count, 60);
    const { Item } = await doc.get({ TableName: 'nightly.thorpe', Key: { PK: 'LEASE', SK: 'shard#schedule' }, ConsistentRead: true });
    assert.ok(Item.owner, 'a server has the schedules');
    await servers[i].kill();
    servers[i] = await start();
  }
  await until('a run more', async () => { const all = await list(); return all.length > earlier + 3 && all.at(-1).members === members; }, 90);
  await at(servers[1], boss).post('/processors/tick/pause');
  await until('the last run to end', async () => (await list()).every((tick, i) => i < earlier || tick.members === members), 20).catch(() => {});
  let ticks = (await list()).slice(earlier);
  if (ticks.at(-1).members !== members) ticks = ticks.slice(0, -1); // the pause interrupted it
  for (const tick of ticks) assert.equal(tick.members, members, JSON.stringify(ticks));
  assert.equal(new Set(ticks.map((tick) => tick.at)).size, ticks.length);
  for (const server of servers) await server.stop();
  await tables.stop();
  await verify(data);
});
