// Processors that run on a schedule: once for each time, by one server at a time, when an operator says so, and not while paused.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { ROOT, freshDirectory, runToEnd, startDesign, until } from './harness.mjs';

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

test('a row that the rules refuse is passed over, and the run reaches the others; the next run comes back to it', async () => {
  const path = join(freshDirectory(), 'closing.yaml');
  writeFileSync(path, `design: closing
title: Closing
table: closing
key: [PK, SK]
stream: new and old images
callers: {roles: [user]}
accept: {hot-partition: a test}
entities:
  Shop:
    path: /shops/<id>
    attributes: {id: slug, size: "integer 0..99, default 1", open: "boolean, default true", locked: "boolean, default false"}
    keys: {PK: SHOPS, SK: SHOP#<id>}
    check:
      open or not locked: it is locked
    allow: {create, read, update: caller is user}
  Mark:
    path: /marks/<id>
    internal: true
    attributes: {id: slug, size: "integer 0..9"}
    keys: {PK: MARK#<id>, SK: MARK}
    allow: {read: anyone}
access:
  shops: {path: /all, query: table, where: {PK: SHOPS}, returns: Shop}
  mark: {path: /mark/<id>, get: Mark(id)}
processors:
  close:
    every: day at 03:00
    each: shop in shops()
    effects:
      - {put: Mark, with: {id: shop.id, size: shop.size}}
      - {update: Shop(shop.id), with: {open: false}}
`);
  const app = await startDesign(path);
  const ann = await app.as('ann', 'user');
  const operator = await app.operator();
  for (const [id, more] of [['a', { locked: true }], ['b', {}], ['c', { locked: true }], ['d', { size: 50 }], ['e', {}]]) await ann.put(`/shops/${id}`, more);
  await app.settled();
  const open = async () => (await ann.list('/all')).filter((shop) => shop.open).map(({ id }) => id);
  await operator.post('/processors/close/run');
  await app.settled();
  assert.deepEqual(await open(), ['a', 'c']);
  for (const id of ['a', 'b', 'c', 'e']) await ann.get(`/mark/${id}`);
  await ann.get('/mark/d', { status: 404 });
  const told = (await operator.get('/processors/close')).body;
  assert.equal(told.passed_over.refused, 3);
  assert.match(told.last_passed_over, /^a row of the run: /);
  assert.equal(told.last_problem, undefined);
  await ann.patch('/shops/a', { locked: false });
  await operator.post('/processors/close/run');
  await app.settled();
  assert.deepEqual(await open(), ['c']);
});
