// Effects that create or change: roll-ups and a leaderboard. Processors with several effects, and a loop over a list of the item.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually, noteWrite, ROOT, freshDirectory, runToEnd, startDesign } from './harness.mjs';

const file = join(ROOT, 'tests', 'designs', 'sensors', 'sensors.yaml');
const app = await startDesign(file);
const ann = await app.as('ann', 'user');
const operator = await app.operator();
const processor = async (name) => (await operator.get(`/processors/${encodeURIComponent(name)}`)).body;

/** The same numbers each time, in no order. */
const shuffled = (n) => Array.from({ length: n }, (_, i) => i).sort((a, b) => (a * 7919) % 104729 - (b * 7919) % 104729);

test('the reviewer has nothing to say', async () => {
  const { code, stdout } = await runToEnd(['check', file]);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /0 errors, 0 warnings/);
});

test('readings become hours, whatever their order: count, sum, mean, lowest, highest, last', async () => {
  const all = shuffled(60).map((i) => ({ at: `2026-03-01T1${i % 2}:${String(i).padStart(2, '0')}:00.000Z`, value: ((i * 37) % 61) - 20 }));
  await Promise.all(all.map((reading, i) => ann.put(`/devices/d1/readings/r${i}`, reading)));
  await app.settled();
  const hours = await ann.list('/devices/d1/hours');
  assert.deepEqual(hours.map(({ hour }) => hour), ['2026-03-01T10', '2026-03-01T11']);
  for (const hour of hours) {
    const of = all.filter(({ at }) => at.startsWith(hour.hour));
    const values = of.map(({ value }) => value);
    const last = of.reduce((a, b) => (a.at > b.at ? a : b));
    const sum = values.reduce((a, b) => a + b);
    assert.equal(hour.readings, 30);
    assert.equal(hour.total, sum);
    assert.equal(hour.mean, Math.round(sum / 30 * 100) / 100);
    assert.deepEqual([hour.low, hour.high], [Math.min(...values), Math.max(...values)]);
    assert.equal(hour.high_at, of.find(({ value }) => value === hour.high).at);
    assert.deepEqual([hour.last, hour.last_at], [last.value, last.at]);
    assert.equal(hour.unit, '°C');
  }
});

test('a leaderboard keeps the higher score, under the right key, and requires its player', async () => {
  for (const player of ['eva', 'kim']) await ann.put(`/players/${player}`, { name: player });
  const games = [['eva', 10], ['kim', 30], ['eva', 50], ['eva', 20], ['kim', 30], ['nobody', 99]];
  for (const [player, points] of games) await ann.post('/games', { player, board: 'chess', points });
  await app.settled();
  const best = await ann.list('/boards/chess');
  assert.deepEqual(best.map(({ player, score, games: n }) => [player, score, n]), [['eva', 50, 3], ['kim', 30, 2]]);
  const stored = (await app.items()).find((item) => item.SK === 'BEST#eva');
  assert.equal(stored.rank, '000000050#eva');
  const told = await processor('keep the best');
  assert.equal(told.effect, 'upsert');
  assert.equal(told.passed_over.requirement, 1);
});

test('one processor with several effects, for each of the list: all of them once, equal elements once', async () => {
  const made = [];
  for (let i = 0; i < 10; i++)
    made.push((await ann.put(`/devices/d2/readings/warm-warm-${i % 2 ? 'odd' : 'even'}-${i}`, { value: i === 3 ? 500 : i, at: `2026-04-01T00:00:0${i}.000Z` })).body);
  await app.settled();
  assert.equal((await ann.get('/tags/warm')).body.readings, 10);
  assert.equal((await ann.get('/tags/odd')).body.readings, 5);
  assert.equal((await ann.get('/tags/odd')).body.seen, '2026-04-01T00:00:03.000Z');
  assert.ok(!('seen' in (await ann.get('/tags/even')).body), 'its own `when` did not hold');
  assert.equal((await ann.list('/tags/warm/all')).length, 10);
  await ann.delete(`/devices/d2/readings/${made[0].reading}`);
  await app.settled();
  assert.equal((await ann.get('/tags/warm')).body.readings, 9);
  assert.equal((await ann.get('/tags/even')).body.readings, 4);
  assert.equal((await ann.list('/tags/even/all')).length, 4);
  assert.equal((await processor('follow tags')).effect, 'several');
});

test('a replay sets the same values; only what is added is added again', async () => {
  const before = await ann.list('/devices/d1/hours');
  await operator.post('/processors/roll%20up/replay', { from: '2026-01-01' });
  await app.settled();
  const after = await ann.list('/devices/d1/hours');
  assert.deepEqual(after.map(({ low, high, last, high_at }) => [low, high, last, high_at]), before.map(({ low, high, last, high_at }) => [low, high, last, high_at]));
  assert.deepEqual(after.map(({ readings }) => readings), [60, 60]);
});

test('the first reading of an hour makes all of it, also what is derived', async () => {
  await ann.put('/devices/d3/readings/first', { value: 7, at: '2026-05-01T00:00:00.000Z' });
  await app.settled();
  const { readings, total, mean, low, high } = (await ann.get('/hours/d3/2026-05-01T00')).body;
  assert.deepEqual({ readings, total, mean, low, high }, { readings: 1, total: 7, mean: 7, low: 7, high: 7 });
});

test('what cannot be is an error with its place', async () => {
  const text = readFileSync(file, 'utf8');
  for (const [from, to, says] of [
    ['    add: {readings: 1, total: value}\n', '    add: {readings: 1, unit: value}\n', /'unit' is not a number that can be added to/],
    ['lowest: {low: value}', 'lowest: {readings: value}', /'readings' of Hour cannot be set here/],
    ['lowest: {low: value}', "lowest: {low: value, unit: reading}", /'unit' is set by two clauses/],
    ['    upsert: Best(board, player)\n    with: {first_game: game}\n    add: {games: 1}\n    highest: {score: points, at: at}', '    upsert: Best(board, player)', /needs what it changes/],
    ['    upsert: Best(board, player)\n', '    update: Best(board, player)\n', /go with 'upsert'/],
    ['each: tag in tags\n    effects:\n      - {put', 'each: tag in value\n    effects:\n      - {put', /a list is expected, and this is a number/],
    ['each: tag in tags\n    effects:\n      - {put', 'each: old in tags\n    effects:\n      - {put', /'old' has a meaning in terms/],
    ['- {delete: Tagged(tag, reading)}', '- {delet: Tagged(tag, reading)}', /did you mean 'delete'/],
    ['- {delete: Tagged(tag, reading)}', '- {when: value > 1}', /an effect is one of/],
    ['    on: Reading deleted\n    each: tag in tags\n', '    on: Reading deleted\n    each: tag in tags\n    delete: Tagged(device, reading)\n', /either one effect or 'effects'/],
    ['highest: [{high: value', 'highest: [{high: reading', /a number is expected/],
  ]) {
    assert.ok(text.includes(from), from);
    const path = join(freshDirectory(), 'sensors.yaml');
    writeFileSync(path, text.replace(from, to));
    const { code, stdout } = await runToEnd(['check', path]);
    assert.notEqual(code, 0, to);
    assert.match(stdout, says);
    assert.match(stdout, /sensors\.yaml:\d+:\d+/);
  }
});

test('docs/design-language.md: the weather', async () => {
  const text = readFileSync(join(ROOT, 'docs', 'design-language.md'), 'utf8');
  const path = join(freshDirectory(), 'weather.yaml');
  writeFileSync(path, /```yaml\n(design: weather\n.*?)```/s.exec(text)[1]);
  const { code, stdout } = await runToEnd(['check', path]);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /0 errors, 0 warnings/);
  const weather = await startDesign(path);
  const eva = await weather.as('eva', 'user');
  const boss = await weather.operator();
  for (const [at, value] of [['T10:05', 3], ['T10:45', -4], ['T10:30', 8]]) await eva.post('/stations/pole/readings', { at: `2026-02-01${at}:00Z`, value });
  await weather.settled();
  const [hour] = await eva.list('/stations/pole/all-hours');
  const { readings, total, mean, low, high, high_at, last } = hour;
  assert.deepEqual({ readings, total, mean, low, high, high_at, last }, { readings: 3, total: 7, mean: 2.33, low: -4, high: 8, high_at: '2026-02-01T10:30:00.000Z', last: -4 });
  const old = new Date(Date.now() - 90 * 86400_000).toISOString();
  await eva.post('/stations/pole/readings', { at: old, value: 1 });
  await weather.settled();
  noteWrite();
  await eventually(); // the run reads an index
  for (const value of [20.25, 0.5]) await eva.post('/stations/cape/readings', { at: '2026-02-01T10:00:00Z', value });
  await weather.settled();
  const [{ total: sum, mean: half }] = await eva.list('/stations/cape/all-hours');
  assert.deepEqual([sum, half], [20.75, 10.38], 'a counter of fractions');
  await boss.post('/processors/forget%20old%20hours/run');
  await weather.settled();
  assert.deepEqual((await eva.list('/stations/pole/all-hours')).map((each) => each.hour), ['2026-02-01T10'].filter((each) => each !== old.slice(0, 13)));
});
