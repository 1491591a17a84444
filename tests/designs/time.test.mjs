// Times: milliseconds, hours, weeks, months and years as partitions, walks in both directions, ranges of ULIDs.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, freshDirectory, runToEnd, startDesign } from './harness.mjs';

const file = join(ROOT, 'tests', 'designs', 'clockwork', 'clockwork.yaml');
const app = await startDesign(file);
const ann = await app.as('ann', 'user');
const operator = await app.operator();

const DIGITS = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
/** The ULID of a time whose random part is one digit, repeated. */
const ulid = (time, digit) => {
  let n = Date.parse(time);
  let text = '';
  for (let i = 0; i < 10; i++, n = Math.floor(n / 32)) text = DIGITS[n % 32] + text;
  return text + digit.repeat(16);
};
let count = 0;
const at = async (time, more = {}) => (await ann.post('/events', { topic: `t${count++}`, at: time, ...more })).body;
const times = (rows) => rows.map((row) => row.at);

test('the reviewer has nothing to say', async () => {
  const { code, stdout } = await runToEnd(['check', file]);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /0 errors, 0 warnings/);
});

test('a timestamp with milliseconds always has three of them, whatever the client writes', async () => {
  const written = { '2026-11-15T12:00:00Z': '12:00:00.000', '2026-11-15T12:00:00.5Z': '12:00:00.500',
    '2026-11-15T14:00:00.1239+02:00': '12:00:00.123', '2026-11-15T12:00:00.999999Z': '12:00:00.999' };
  for (const [given, stored] of Object.entries(written)) {
    const { body } = await ann.post('/events', { topic: 'ms', at: given, seen: [given] });
    assert.equal(body.at, `2026-11-15T${stored}Z`);
    assert.deepEqual(body.seen, [`2026-11-15T${stored}Z`]);
    assert.match(body.created, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    assert.ok(Math.abs(Date.parse(body.created) - Date.now()) < 60_000);
    assert.equal(body.changed, body.created);
    assert.equal(body.expires, Math.floor(Date.parse(body.created) / 1000) + 30 * 86400);
  }
  await ann.post('/events', { topic: 'ms', at: '2026-11-15' }, { status: 422, detail: /at: a timestamp like/ });
  const { body } = await ann.post('/events', { topic: 'ms' });
  assert.match(body.at, /\.\d{3}Z$/, 'default now, too');
});

test('times are added to, in the form they have', async () => {
  const event = await at('2026-01-31T10:20:30.405Z');
  assert.equal(event.ends, '2026-01-31T11:50:30Z', 'an attribute of whole seconds');
  assert.equal(event.remind, '2026-01-30T10:20:30.405Z');
  assert.equal(event.due, '2026-02-28T10:20:30.405Z');
  assert.equal(event.hour, '2026-01-31T10');
  const { body } = await ann.post(`/events/${event.event}/move`);
  assert.equal(body.at, '2026-02-01T10:20:30.405Z');
  assert.equal(body.ends, '2026-02-01T11:50:30Z');
  assert.equal(body.hour, '2026-02-01T10');
  assert.match(body.moved, /\.\d{3}Z$/);
  const old = await at('2001-01-31T10:20:30Z');
  await ann.post(`/events/${old.event}/move`, {}, { status: 409, detail: /too long ago/ });
});

test('of many edits at once each leaves a version of its own, and If-Match tells them apart', async () => {
  const { event } = await at('2026-05-05T00:00:00Z');
  const replies = await Promise.all(Array.from({ length: 20 }, (_, i) => ann.patch(`/events/${event}`, { note: `n${i}` })));
  const versions = replies.map((reply) => reply.body.changed);
  assert.equal(new Set(versions).size, 20, 'each later than the one before');
  const { body } = await ann.get(`/events/${event}`);
  assert.equal(body.changed, versions.sort().at(-1));
  for (const version of versions.slice(0, -1)) await ann.patch(`/events/${event}`, { note: 'x' }, { status: 412, headers: { 'if-match': `"${version}"` } });
  await ann.patch(`/events/${event}`, { note: 'last' }, { headers: { 'if-match': `"${body.changed}"` } });
});

test('hours, weeks, months and years are walked back and on', async () => {
  const back = ['2030-01-01T00:10:00.000Z', '2029-12-31T23:50:00.000Z', '2029-12-31T22:00:00.000Z', '2029-12-31T00:00:00.001Z'];
  for (const time of back) await at(time);
  await at('2029-12-29T23:59:59.999Z'); // 48 hours before it is out of reach
  assert.deepEqual(times(await ann.all('/hours/2030-01-01T00', 2)), back);
  assert.deepEqual(times(await ann.list('/hours/2029-12-31T22')), back.slice(2).concat('2029-12-29T23:59:59.999Z'));
  await at('2029-11-12T00:00:00Z'); // the Monday of the eighth week
  await at('2029-11-11T23:59:59.999Z');
  assert.deepEqual(times(await ann.all('/weeks/2030-W01', 2)), [...back, '2029-12-29T23:59:59.999Z', '2029-11-12T00:00:00.000Z']);
  await at('2029-02-28T00:00:00Z');
  await at('2029-01-31T00:00:00Z');
  const months = times(await ann.all('/months/2030-01', 3));
  assert.deepEqual(months.slice(-1), ['2029-02-28T00:00:00.000Z'], 'twelve months, and January of the year before is not one of them');
  const years = times(await ann.all('/years/2028', 4));
  assert.equal(years.length, 9, 'three years');
  assert.deepEqual(years, [...years].sort(), 'oldest first, from one year to the next');
  assert.ok(years.at(-1).startsWith('2030'));
});

test('a month of days is walked on', async () => {
  for (const day of ['01', '15', '28']) await at(`2031-02-${day}T08:00:00Z`);
  await at('2031-03-03T08:00:00Z'); // the 31st day
  await at('2031-03-04T08:00:00Z');
  assert.deepEqual(times(await ann.all('/days/2031-02-01', 1)).map((time) => time.slice(5, 10)), ['02-01', '02-15', '02-28', '03-03']);
});

test('a walk begins with a period of its kind', async () => {
  await ann.get('/hours/2030-01-01', { status: 422, detail: /an hour, as in 2026-01-15T10/ });
  await ann.get('/days/2030-01', { status: 422, detail: /a date, as in/ });
  await ann.get('/weeks/2030-W54', { status: 422, detail: /a week, as in 2026-W03/ });
  await ann.get('/months/2030-13', { status: 422, detail: /a month, as in/ });
  await ann.get('/years/x', { status: 422, detail: /a year, as in 2026/ });
  await at('9999-12-01T00:00:00Z');
  assert.equal((await ann.list('/years/9999')).length, 1, 'and ends with the calendar');
  assert.equal((await ann.list('/days/9999-12-01')).length, 1);
  assert.deepEqual(await ann.list('/months/0000-01'), []);
});

test('a parameter has milliseconds as the key has: a whole second is not before its own milliseconds', async () => {
  for (const ms of ['000', '001', '999']) await at(`2032-01-01T00:00:00.${ms}Z`);
  assert.equal((await ann.list('/days/2032-01-01/since?from=2032-01-01T00:00:00Z')).length, 3);
  assert.equal((await ann.list('/days/2032-01-01/since?from=2032-01-01T00:00:00.001Z')).length, 2);
  assert.equal((await ann.list('/days/2032-01-01/since?from=2032-01-01T00:00:01Z')).length, 0);
});

test('a range of dates over ULIDs has their first and their last', async () => {
  const ids = [['2026-11-14T23:59:59.999Z', 'Z'], ['2026-11-15T00:00:00.000Z', '0'], ['2026-11-15T12:00:00.000Z', '0'], ['2026-11-15T12:00:00.999Z', 'Z'],
    ['2026-11-15T23:59:59.999Z', 'Z'], ['2026-11-16T00:00:00.000Z', '0']].map(([time, digit]) => ulid(time, digit));
  for (const event of ids) await operator.post('/events', { event, topic: 'ulids', at: '2026-01-01T00:00:00Z' });
  const found = async (query) => (await app.nobody.list(`/topics/ulids${query}`)).map((row) => ids.indexOf(row.event));
  assert.deepEqual(await found(''), []);
  const asked = async (query) => (await ann.list(`/topics/ulids${query}`)).map((row) => ids.indexOf(row.event));
  assert.deepEqual(await asked(''), [0, 1, 2, 3, 4, 5]);
  assert.deepEqual(await asked('?from=2026-11-15&to=2026-11-15'), [1, 2, 3, 4], 'the whole day');
  assert.deepEqual(await asked('?from=2026-11-15T12&to=2026-11-15T12'), [2, 3], 'the whole hour');
  assert.deepEqual(await asked('?from=2026-11-15T12:00:00Z&to=2026-11-15T12:00:00Z'), [2, 3], 'the whole second');
  assert.deepEqual(await asked('?from=2026-11-15T12:00:00.001Z&to=2026-11-16'), [3, 4, 5]);
  assert.deepEqual(await asked('?from=2026-11-16'), [5]);
  assert.deepEqual(await asked('?to=2026-11-14'), [0]);
  assert.deepEqual(await asked('?from=2026-11&to=2026-W46'), [0, 1, 2, 3, 4], 'months and weeks');
  assert.deepEqual(await asked('/before/2026-11-15'), [0], 'before the day: before its first');
  await ann.get('/topics/ulids?from=yesterday', { status: 422, detail: /from: must be a date or timestamp/ });
});

test('OpenAPI says what has milliseconds', async () => {
  const { body } = await ann.get('/openapi.json');
  const { at: schema } = body.components.schemas.Event.properties;
  assert.equal(schema.format, 'date-time');
  assert.match(schema.description, /milliseconds/);
});

test('docs/design-language.md: the design of events', async () => {
  const text = readFileSync(join(ROOT, 'docs', 'design-language.md'), 'utf8');
  const path = join(freshDirectory(), 'events.yaml');
  writeFileSync(path, /### Times.*?```yaml\n(.*?)```/s.exec(text)[1]);
  assert.match((await runToEnd(['check', path])).stdout, /0 errors, 0 warnings/);
  const app = await startDesign(path);
  const bob = await app.as('bob', 'user');
  for (const at of ['2026-03-31T23:59:59.999Z', '2026-02-01T00:00:00Z', '2025-05-01T00:00:00Z', '2025-03-31T00:00:00Z']) await bob.post('/events', { at });
  assert.deepEqual(times(await app.nobody.all('/months/2026-03', 1)), ['2026-03-31T23:59:59.999Z', '2026-02-01T00:00:00.000Z', '2025-05-01T00:00:00.000Z']);
  assert.equal((await bob.post('/events', { at: '2026-03-01T12:00:00Z' })).body.reminder, '2026-02-28T12:00:00.000Z');
});
