// Processors that run on a schedule: once for each time, by one server at a time, also when servers are killed.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Caller, ROOT, clientsFor, freshDirectory, runToEnd, startDesign, startServer, until, verify } from './harness.mjs';
import { killable } from './killable.mjs';

const file = join(ROOT, 'tests', 'designs', 'nightly', 'nightly.yaml');
const PERIOD_MS = 5000;

/** The runs, when none is under way. */
const complete = (caller, members) => until('the run to end', async () => {
  const ticks = await caller.list('/all-ticks');
  return ticks.length && ticks.at(-1).members === members && ticks;
}, 30);

/** Each time once, none twice, and none left out; each run counted every member once. */
function checkTicks(ticks, members, { gaps = 0 } = {}) {
  const times = ticks.map(({ at }) => Date.parse(at));
  for (const tick of ticks) assert.equal(tick.members, members, JSON.stringify(ticks));
  assert.ok(times.every((time) => time % PERIOD_MS === 0), JSON.stringify(times));
  const steps = times.slice(1).map((time, i) => (time - times[i]) / PERIOD_MS);
  assert.ok(steps.filter((step) => step !== 1).length <= gaps, `each time once, and ${gaps} gaps: ${steps}`);
}

test('the reviewer has nothing to say', async () => {
  const { code, stdout } = await runToEnd(['check', file]);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /0 errors, 0 warnings/);
});

test('a schedule runs at its times, when an operator says so, and not while it is paused', async () => {
  const app = await startDesign(file);
  const ann = await app.as('ann', 'user');
  const operator = await app.operator();
  const sweep = '/processors/sweep%20drafts';
  for (let i = 0; i < 3; i++) await ann.put(`/members/m${i}`);
  const told = (await operator.get('/processors/tick')).body;
  assert.deepEqual([told.on, told.effect], ['every 5 seconds', 'several']);
  assert.equal(Date.parse(told.next_run_at) % PERIOD_MS, 0);
  await until('two runs', async () => (await ann.list('/all-ticks')).length >= 2, 30);
  checkTicks(await complete(ann, 3), 3);
  await operator.post('/processors/tick/pause');
  await operator.post('/processors/tick/run', {}, { status: 409, detail: /paused/ });
  await operator.post('/processors/tick/replay', { from: '2026-01-01' }, { status: 409, detail: /on a schedule/ });

  const day = (n) => new Date(Date.now() - n * 86400_000).toISOString().slice(0, 10);
  for (const n of [29, 30, 31]) for (let i = 0; i < 120; i += 40) await ann.put(`/drafts/d${n}-${i}`, { touched_on: day(n) });
  await operator.get(sweep);
  await until('the first look', async () => (await operator.get(sweep)).body.last_run_at);
  const first = (await operator.get(sweep)).body;
  assert.match(first.last_run_at, /T03:00:00/, 'a new schedule begins with the next time');
  assert.match(first.next_run_at, /T03:00:00/);
  await app.settled();
  assert.equal((await ann.list(`/days/${day(30)}`)).length, 3);
  await operator.post(`${sweep}/run`);
  await app.settled();
  await until('the sweep', async () => (await ann.list(`/days/${day(30)}`)).length === 0);
  assert.equal((await ann.list(`/days/${day(29)}`)).length, 3);
  assert.equal((await ann.list(`/days/${day(31)}`)).length, 3);
  const swept = (await operator.get(sweep)).body;
  assert.ok(Math.abs(Date.parse(swept.last_run_at) - Date.now()) < 60_000);
  assert.equal(swept.running, false);
  await operator.post('/processors/sweep%20draft/run', {}, { status: 404 });
  const before = await ann.list('/all-ticks');
  await sleep(PERIOD_MS + 1000);
  assert.equal((await ann.list('/all-ticks')).length, before.length, 'paused');
  await operator.post('/processors/tick/resume');
  await until('a run after the pause', async () => (await ann.list('/all-ticks')).length > before.length, 20);
  checkTicks(await complete(ann, 3), 3, { gaps: 1 });
  const metrics = await (await fetch(`${app.server.endpoint}/metrics`)).text();
  assert.match(metrics, /thorpe_processor_done_total\{design="nightly",processor="tick"\} [1-9]/);
  await operator.post('/processors/tick/pause');
});

test('a run that is killed goes on, and of missed times the last one is made up for', async (t) => {
  const place = killable(t, file);
  let run = await place.start();
  const members = 150;
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
  await sleep(3 * PERIOD_MS);
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
  const members = 40;
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
  await until('a run more', async () => { const all = await list(); return all.length > earlier + 4 && all.at(-1).members === members; }, 90);
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

test('what is no schedule is an error with its place', async () => {
  const text = readFileSync(file, 'utf8');
  for (const [to, says] of [
    ['every: 7 minutes', /how often, as in 15 minutes/],
    ['every: 2 seconds', /how often/],
    ['every: day at 3', /how often/],
    ['every: hour at 03:00', /how often/],
    ['every: fortnight', /how often/],
    ['every: day at 25:00', /how often/],
    ['every: 5 seconds\n    on: Draft created', /either 'on' or 'every'/],
    ['every: monday at 06:30\n    when: text = 1', /there is no attribute 'text'/],
  ]) {
    const path = join(freshDirectory(), 'nightly.yaml');
    writeFileSync(path, text.replace('every: 5 seconds', to));
    const { code, stdout } = await runToEnd(['check', path]);
    assert.notEqual(code, 0, to);
    assert.match(stdout, says);
    assert.match(stdout, /nightly\.yaml:\d+:\d+/);
  }
  for (const good of ['15 minutes', 'hour', '6 hours', 'day', 'day at 03:00', '2 days at 00:30', 'sunday', 'monday at 06:30', 'week']) {
    const path = join(freshDirectory(), 'nightly.yaml');
    writeFileSync(path, text.replace('every: 5 seconds', `every: ${good}`));
    const { code, stdout } = await runToEnd(['check', path]);
    assert.equal(code, 0, `${good}: ${stdout}`);
  }
});
