// designs/examples/devices.yaml: readings that come late, twice and in any order; roll-ups, alarms, owners, places.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atOnce, BACKEND, designFile, noteWrite, NO_TTL_WITH_INDEXES, runToEnd, startDesign, TTL_PATIENCE, until } from './harness.mjs';

const app = await startDesign('devices');
const factory = await app.as('factory', 'factory');
const operator = await app.operator();
const nora = await app.as('nora', 'user');
const omar = await app.as('omar', 'user');
for (const account of ['nora', 'omar']) await operator.post('/accounts', { account, email: `${account}@example.com`, password: 'wonderland' });

const HOUR = 3600_000;
const DAY = 24 * HOUR;
/** The beginning of the hour of some time ago: a moment in it is never in the next one. */
const hourAgo = (ms) => Math.floor((Date.now() - ms) / HOUR) * HOUR;
const text = (ms) => new Date(ms).toISOString();
const hourOf = (ms) => text(ms).slice(0, 13);
const dayOf = (ms) => text(ms).slice(0, 10);

/** A device that is claimed, and a caller that is the device. */
async function device(id, owner = nora, more = {}) {
  await factory.put(`/devices/${id}`, { model: 'Weather One' });
  await factory.put(`/devices/${id}/claim-code`, { code: `code of ${id}` });
  if (owner) await owner.post(`/devices/${id}/claim`, { code: `code of ${id}` });
  if (owner) await operator.patch(`/devices/${id}`, { claimed_at: text(Date.now() - 30 * DAY) }); // owners see nothing from before
  if (owner && Object.keys(more).length) await owner.patch(`/devices/${id}`, more);
  const caller = await app.as(id, 'device');
  caller.measure = (metric, at, value) => caller.request('PUT', `/devices/${id}/readings/${metric}/${encodeURIComponent(text(at))}`, { body: { value } });
  return caller;
}
const shuffled = (list) => list.map((each, i) => [(i * 7919) % 104729, each]).sort(([a], [b]) => a - b).map(([, each]) => each);

test('the reviewer has nothing to say, not even a note', async () => {
  const { code, stdout } = await runToEnd(['check', designFile('devices')]);
  assert.equal(code, 0, stdout);
  assert.equal(stdout.trim(), '1 design, 0 errors, 0 warnings');
});

test('readings in random order, each sent twice, some at once: every roll-up counts each once', async () => {
  const d1 = await device('d1');
  const begin = hourAgo(5 * HOUR);
  const readings = Array.from({ length: 90 }, (_, i) => ({ at: begin + i * 2 * 60_000 + i, value: ((i * 37) % 61) - 20.5 }));
  const sent = shuffled([...readings, ...readings]);
  const statuses = [];
  for (let i = 0; i < sent.length; i += 10)
    statuses.push(...(await Promise.all(sent.slice(i, i + 10).map(({ at, value }) => d1.measure('temperature', at, value)))).map(({ status }) => status));
  assert.equal(statuses.filter((status) => status === 201).length, 90);
  assert.equal(statuses.filter((status) => status === 409).length, 90);
  await app.settled();
  const check = (roll, of) => {
    const values = of.map(({ value }) => value);
    const sum = values.reduce((a, b) => a + b, 0);
    const low = of.reduce((a, b) => (b.value < a.value ? b : a));
    const high = of.reduce((a, b) => (b.value > a.value ? b : a));
    const last = of.reduce((a, b) => (b.at > a.at ? b : a));
    assert.deepEqual([roll.readings, roll.total, roll.low, roll.high, roll.last, roll.last_at],
      [of.length, sum, low.value, high.value, last.value, text(last.at)]);
    assert.ok(Math.abs(roll.mean - sum / of.length) <= 0.0005, `${roll.mean}`);
    // Of equal values any may be the one.
    assert.ok(of.some(({ at, value }) => text(at) === roll.low_at && value === low.value));
    assert.ok(of.some(({ at, value }) => text(at) === roll.high_at && value === high.value));
  };
  const hours = await nora.list('/devices/d1/hours/temperature');
  assert.deepEqual(hours.map(({ hour }) => hour), [...new Set(readings.map(({ at }) => hourOf(at)))].sort().reverse());
  for (const hour of hours) check(hour, readings.filter(({ at }) => hourOf(at) === hour.hour));
  for (const day of await nora.list('/devices/d1/days/temperature')) check(day, readings.filter(({ at }) => dayOf(at) === day.day));
  const last = readings.at(-1);
  assert.deepEqual((await nora.list('/devices/d1/latest')).map(({ metric, value, at }) => [metric, value, at]), [['temperature', last.value, text(last.at)]]);
});

test('one moment is one reading, however it is written', async () => {
  const d2 = await device('d2');
  const at = text(hourAgo(2 * HOUR));
  const east = at.replace(/T(\d\d).*/, (_, hour) => `T${hour}:30:00.000+00:30`);
  await d2.put(`/devices/d2/readings/temperature/${encodeURIComponent(at)}`, { value: 1 });
  await d2.put(`/devices/d2/readings/temperature/${encodeURIComponent(east)}`, { value: 2 }, { status: 409 });
  await d2.put(`/devices/d2/readings/Temperature/${encodeURIComponent(at.replace('.000', ''))}`, { value: 3 }, { status: 409 });
  await d2.post('/devices/d2/readings', { metric: 'temperature', at, value: 4 }, { status: 409 });
  await app.settled();
  assert.equal((await nora.list('/devices/d2/days/temperature'))[0].readings, 1);
});

test('a late reading changes its own hour and not the latest; one that is too old, or of the future, is refused', async () => {
  const d3 = await device('d3');
  await d3.measure('humidity', hourAgo(HOUR), 50);
  await d3.measure('humidity', hourAgo(6 * DAY), 99);
  await app.settled();
  assert.equal((await nora.list('/devices/d3/latest'))[0].value, 50);
  assert.deepEqual((await nora.list('/devices/d3/hours/humidity')).map(({ last }) => last), [50, 99]);
  assert.equal((await d3.measure('humidity', hourAgo(8 * DAY), 1)).status, 422);
  assert.equal((await d3.measure('humidity', Date.now() + HOUR, 1)).status, 422);
  assert.equal((await d3.measure('humidity', Date.now() + 60_000, 51)).status, 201); // its clock is a minute ahead
});

test('a span of readings goes over the buckets of its days, newest first, page by page', async () => {
  const d4 = await device('d4');
  const noon = Math.floor(Date.now() / DAY) * DAY - 12 * HOUR; // yesterday
  const moments = Array.from({ length: 10 }, (_, i) => noon - i * 11 * HOUR);
  for (const at of shuffled(moments)) await d4.measure('temperature', at, moments.indexOf(at));
  await d4.measure('humidity', noon, 1000);
  const span = async (from, to, limit = 3) => (await nora.all(`/devices/d4/readings/temperature/days/${dayOf(to)}?from=${text(from)}&to=${text(to)}`, limit)).map(({ value }) => value);
  assert.deepEqual(await span(moments[9], moments[0]), [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  assert.deepEqual(await span(moments[6], moments[2]), [2, 3, 4, 5, 6]);
  assert.deepEqual(await span(moments[6] + 1, moments[2] - 1), [3, 4, 5]);
  assert.deepEqual(await omar.list(`/devices/d4/readings/temperature/days/${dayOf(noon)}`), []);
  await app.settled();
  assert.equal((await nora.list(`/devices/d4/hours/temperature?from=${hourOf(moments[4])}&to=${hourOf(moments[1])}`)).length, 4);
});

test('a device writes its own readings only, and nobody else does', async () => {
  const d5 = await device('d5');
  await d5.put(`/devices/d1/readings/temperature/${encodeURIComponent(text(hourAgo(HOUR) + 1))}`, { value: 1 }, { status: 403 });
  for (const who of [nora, omar, factory])
    await who.post('/devices/d5/readings', { metric: 'temperature', value: 1 }, { status: 403 });
  await d5.post('/devices/d5/readings', { metric: 'temperature', value: 'hot' }, { status: 422 });
  const { body } = await d5.post('/devices/d5/readings', { metric: 'temperature', value: 1 });
  await d5.patch(`/devices/d5/readings/temperature/${encodeURIComponent(body.at)}`, { value: 2 }, { status: 403 });
  await nora.put('/devices/d5/hours/temperature/2026-01-01T00', {}, { status: 404 });
  await d5.patch('/devices/d5', { name: 'mine' }, { status: 403 });
});

test('claims: one of many at once, with the code; a new owner sees nothing from before', async () => {
  const d6 = await device('d6', null);
  await omar.post('/devices/d6/claim', { code: 'guess' }, { status: 409 });
  await omar.post('/devices/d6/claim', {}, { status: 409 });
  await d6.measure('temperature', hourAgo(3 * HOUR), 7);
  const people = await Promise.all(Array.from({ length: 8 }, (_, i) => app.as(`q${i}`, 'user')));
  await Promise.all(people.map((_, i) => operator.post('/accounts', { account: `user${i}`, email: `u${i}@example.com`, password: 'wonderland' })));
  const claimants = await Promise.all(people.map((_, i) => app.as(`user${i}`, 'user')));
  const statuses = await atOnce(claimants.map((who) => () => who.request('POST', '/devices/d6/claim', { body: { code: 'code of d6' } })));
  assert.deepEqual(statuses, { 200: 1, 409: 7 });
  const { owner } = (await operator.get('/devices/d6')).body;
  const first = claimants[Number(owner.slice(4))];
  const { Item } = await app.doc.get({ TableName: app.table, Key: { PK: 'DEVICE#d6', SK: 'DEVICE' }, ConsistentRead: true });
  assert.ok(!('code' in Item), 'what was typed is not kept');
  const list = async (who) => (await who.list(`/devices/d6/readings/temperature/days/${dayOf(Date.now())}`)).map(({ value }) => value);
  assert.deepEqual(await list(first), []);
  await d6.post('/devices/d6/readings', { metric: 'temperature', value: 8 });
  assert.deepEqual(await list(first), [8]);
  await omar.post('/devices/d6/release', {}, { status: 404 });
  await first.post('/devices/d6/release');
  await first.get('/devices/d6', { status: 404 });
  await omar.post('/devices/d6/claim', { code: 'code of d6' });
  assert.deepEqual(await list(omar), []);
  assert.deepEqual(await list(first), []);
  await app.settled();
  assert.ok((await omar.list('/accounts/omar/devices')).some(({ device: id }) => id === 'd6'));
  assert.equal((await operator.get(`/accounts/${owner}`)).body.devices, 0);
  await omar.get('/devices/d6/claim-code', { status: 404 });
  assert.ok(!JSON.stringify(await omar.list('/accounts/omar/devices')).includes('code of'));
});

test('alarms: one for an hour and a side, with its worst value and how many, until it is acknowledged', async () => {
  const d7 = await device('d7');
  await nora.put('/devices/d7/limits/temperature', { above: 30, below: -5 });
  await omar.put('/devices/d7/limits/humidity', { above: 1 }, { status: 404 });
  const begin = hourAgo(2 * HOUR);
  const values = [20, 31, 35, 33, 30, -5, -6, 34];
  await Promise.all(shuffled(values.map((value, i) => [begin + i * 60_000, value])).map(([at, value]) => d7.measure('temperature', at, value)));
  await d7.measure('humidity', begin, 500); // nothing limits it
  await app.settled();
  const open = async () => (await nora.list('/accounts/nora/alarms')).filter(({ device: id }) => id === 'd7');
  assert.deepEqual((await open()).map(({ side, readings, worst, worst_at, first_at }) => [side, readings, worst, worst_at, first_at]), [
    ['below', 1, -6, text(begin + 6 * 60_000), text(begin + 6 * 60_000)],
    ['above', 4, 35, text(begin + 2 * 60_000), text(begin + 60_000)],
  ]);
  assert.deepEqual(await omar.list('/devices/d7/alarms'), []);
  const address = `/devices/d7/alarms/temperature/above/${hourOf(begin)}`;
  await omar.post(`${address}/acknowledge`, {}, { status: 404 });
  await nora.post(`${address}/acknowledge`);
  await nora.post(`${address}/acknowledge`, {}, { status: 409 });
  await d7.measure('temperature', begin + 9 * 60_000, 40);
  await app.settled();
  assert.deepEqual((await open()).map(({ side }) => side), ['below'], 'an hour that was acknowledged stays so');
  assert.deepEqual((await nora.list('/devices/d7/alarms')).map(({ side, readings, worst }) => [side, readings, worst]), [['below', 1, -6], ['above', 5, 40]]);
});

test('devices near a place: in their cells, nearest first, public ones only', async () => {
  const at = (lat, lon) => ({ public: true, place: { lat, lon } });
  await device('n1', nora, at(48.2082, 16.3738)); // Vienna, the cathedral
  await device('n2', omar, at(48.2035, 16.3655));
  await device('n3', omar, at(48.1858, 16.3128));
  await device('n4', nora, { place: { lat: 48.2081, lon: 16.3737 } }); // not public
  await device('n5', nora, at(47.8095, 13.055)); // Salzburg
  await app.settled();
  const near = async (query) => (await app.nobody.list(`/nearby?${query}`)).map(({ device: id }) => id);
  assert.deepEqual(await near('cells=u2ed,u2ee&lat=48.2082&lon=16.3739'), ['n1', 'n2', 'n3']);
  assert.deepEqual(await near('cells=u2ed,u2ee&lat=48.1858&lon=16.3127&limit=2'), ['n3', 'n2']);
  assert.deepEqual((await app.nobody.list('/map/u2ed')).map(({ device: id }) => id).sort(), ['n1', 'n2', 'n3']);
  const square = (await operator.get('/devices/n1')).body.geohash.slice(0, 6);
  assert.deepEqual((await app.nobody.list(`/map/u2ed?prefix=${square}`)).map(({ device: id }) => id), ['n1']);
  await omar.patch('/devices/n2', { public: false });
  await omar.patch('/devices/n3', { place: { lat: 47.81, lon: 13.05 } });
  assert.deepEqual(await near('cells=u2ed,u2ee&lat=48.2082&lon=16.3739'), ['n1']);
});

test('readings end after thirty days, and their roll-ups stay', { skip: NO_TTL_WITH_INDEXES }, async () => {
  const d8 = await device('d8');
  const begin = hourAgo(2 * HOUR);
  for (let i = 0; i < 5; i++) await d8.measure('temperature', begin + i * 1000, i);
  await app.settled();
  const rows = () => nora.list(`/devices/d8/readings/temperature/days/${dayOf(begin)}`);
  const [{ expires_at: end }] = await rows();
  assert.equal(end, Math.floor((begin + 4000) / 1000) + 30 * 86400);
  for (let i = 0; i < 5; i++)
    await app.doc.update({
      TableName: app.table, Key: { PK: `READINGS#d8#temperature#${dayOf(begin)}`, SK: text(begin + i * 1000) },
      UpdateExpression: 'SET expires_at = :past', ExpressionAttributeValues: { ':past': Math.floor(Date.now() / 1000) - 60 },
    });
  noteWrite();
  assert.deepEqual(await rows(), [], 'what has expired is not shown, deleted or not');
  if (!BACKEND) await until('time to live to remove them', async () => !(await app.items()).some(({ PK }) => PK.startsWith('READINGS#d8#')), TTL_PATIENCE);
  await app.settled();
  assert.deepEqual((await nora.list('/devices/d8/hours/temperature')).map(({ readings, mean }) => [readings, mean]), [[5, 2]]);
});
