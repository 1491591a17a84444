// designs/examples/game.yaml: boards where only the best result counts, whatever the order, and what is around a place.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atOnce, designFile, noteWrite, runToEnd, startDesign } from './harness.mjs';

const app = await startDesign('game');
const host = await app.as('host', 'host');
const server = await app.as('server-1', 'server');
const operator = await app.operator();

const player = (name) => operator.post('/players', { player: name, email: `${name}@example.com`, nick: name.toUpperCase(), password: 'wonderland' });
const at = (seconds) => new Date(Date.UTC(2026, 9, 14, 12) + seconds * 1000).toISOString(); // a Wednesday, 2026-W42
const match = (game, id, who, points, when = at(0)) => server.request('PUT', `/games/${game}/matches/${id}`, { body: { player: who, points, at: when } });
const board = async (name) => (await app.nobody.all(`/boards/${name}`, 3)).map(({ player: who, points }) => [who, points]);
const shuffled = (list) => list.map((each, i) => [(i * 7919) % 104729, each]).sort(([a], [b]) => a - b).map(([, each]) => each);

for (const name of ['ann', 'bea', 'cat', 'dan']) await player(name);
for (const game of ['chess', 'maze', 'race', 'ties', 'wide', 'ages', 'gone']) await host.put(`/games/${game}`, { title: game, season: 's1' });

test('the reviewer has nothing to say, not even a note', async () => {
  const { code, stdout } = await runToEnd(['check', designFile('game')]);
  assert.equal(code, 0, stdout);
  assert.equal(stdout.trim(), '1 design, 0 errors, 0 warnings');
});

test('results in random order, at once, each reported twice: the best of each player counts, and all are counted', async () => {
  const names = ['ann', 'bea', 'cat', 'dan'];
  const results = Array.from({ length: 80 }, (_, i) => ({ id: `m${i}`, who: names[i % 4], points: (i * 7919) % 1000, when: at(i) }));
  const reports = shuffled([...results, ...results]);
  const statuses = [];
  for (let i = 0; i < reports.length; i += 16)
    statuses.push(...await Promise.all(reports.slice(i, i + 16).map(async ({ id, who, points, when }) => (await match('race', id, who, points, when)).status)));
  assert.equal(statuses.filter((status) => status === 201).length, 80);
  assert.equal(statuses.filter((status) => status === 409).length, 80);
  await app.settled();
  const best = names.map((who) => results.filter((each) => each.who === who).reduce((a, b) => (b.points > a.points ? b : a)));
  best.sort((a, b) => b.points - a.points);
  for (const name of ['race.all', 'race.season.s1', 'race.week.2026-W42', 'race.day.2026-10-14'])
    assert.deepEqual(await board(name), best.map(({ who, points }) => [who, points]), name);
  for (const { who, points, when, id } of best) {
    const { body } = await app.nobody.get(`/boards/race.all/of/${who}`);
    assert.deepEqual([body.points, body.at, body.match, body.matches], [points, when, id, 20]);
  }
  assert.equal((await app.nobody.get('/boards/race.all')).body.items[0].nick, best[0].who.toUpperCase());
});

test('a lower result, or the same one later, changes nothing; of equals the earlier is above', async () => {
  await match('ties', 'a', 'bea', 500, at(60));
  await match('ties', 'b', 'ann', 500, at(120));
  await match('ties', 'c', 'cat', 500, at(30));
  await app.settled();
  assert.deepEqual((await board('ties.all')).map(([who]) => who), ['cat', 'bea', 'ann']);
  await match('ties', 'd', 'cat', 500, at(300));
  await match('ties', 'e', 'bea', 499, at(400));
  await match('ties', 'f', 'ann', 500, at(10)); // played first, reported last
  await app.settled();
  assert.deepEqual((await board('ties.all')).map(([who]) => who), ['ann', 'cat', 'bea']);
  assert.deepEqual((await app.nobody.get('/boards/ties.all/of/cat')).body.at, at(30));
});

test('a match of yesterday or last week is on the boards of then', async () => {
  await match('ages', 'now', 'ann', 10, at(0));
  await match('ages', 'late', 'ann', 90, at(-86400)); // reported after it
  await match('ages', 'old', 'bea', 50, at(-7 * 86400));
  await app.settled();
  assert.deepEqual(await board('ages.day.2026-10-14'), [['ann', 10]]);
  assert.deepEqual(await board('ages.day.2026-10-13'), [['ann', 90]]);
  assert.deepEqual(await board('ages.week.2026-W42'), [['ann', 90]]);
  assert.deepEqual(await board('ages.week.2026-W41'), [['bea', 50]]);
  assert.deepEqual(await board('ages.all'), [['ann', 90], ['bea', 50]]);
  assert.deepEqual((await app.nobody.all('/players/ann/matches', 50)).filter(({ game }) => game === 'ages').map(({ match: id }) => id), ['now', 'late']);
  assert.equal((await match('ages', 'future', 'ann', 1, new Date(Date.now() + 3600_000).toISOString())).status, 422);
});

test('seasons: each has a board of its own, and that of all time goes on', async () => {
  await match('chess', 'first', 'ann', 100);
  await host.patch('/games/chess', { season: 's2' });
  await match('chess', 'second', 'ann', 70, at(1));
  await match('chess', 'third', 'bea', 80, at(2));
  await app.settled();
  assert.deepEqual(await board('chess.season.s1'), [['ann', 100]]);
  assert.deepEqual(await board('chess.season.s2'), [['bea', 80], ['ann', 70]]);
  assert.deepEqual(await board('chess.all'), [['ann', 100], ['bea', 80]]);
  assert.equal((await app.nobody.get('/games/chess/matches/first')).body.season, 's1');
});

test('around a place: the five above, nearest first, the five below, and the rank, over all partitions', async () => {
  const names = Array.from({ length: 20 }, (_, i) => `w${String(i).padStart(2, '0')}`);
  await Promise.all(names.map(player));
  await Promise.all(shuffled(names).map((name) => match('wide', `of-${name}`, name, 1000 - names.indexOf(name) * 10, at(names.indexOf(name)))));
  await app.settled();
  assert.deepEqual((await board('wide.all')).map(([who]) => who), names);
  const partitions = new Set((await app.items()).filter(({ PK, SK }) => PK.startsWith('PLAYER#w') && SK === 'PLACE#wide.all').map(({ GSI1PK }) => GSI1PK));
  assert.equal(partitions.size, 4);
  const around = async (who) => {
    const { weight } = (await app.nobody.get(`/boards/wide.all/of/${who}`)).body;
    const list = async (side) => (await app.nobody.list(`/boards/wide.all/${side}/${weight}`)).map(({ player: name }) => name);
    return { above: await list('above'), below: await list('below'), rank: (await app.nobody.get(`/boards/wide.all/rank/${weight}`)).body.count + 1 };
  };
  assert.deepEqual(await around('w12'), { above: ['w11', 'w10', 'w09', 'w08', 'w07'], below: ['w13', 'w14', 'w15', 'w16', 'w17'], rank: 13 });
  assert.deepEqual(await around('w00'), { above: [], below: ['w01', 'w02', 'w03', 'w04', 'w05'], rank: 1 });
  assert.deepEqual(await around('w19'), { above: ['w18', 'w17', 'w16', 'w15', 'w14'], below: [], rank: 20 });
});

test('players do not report their own results, and no server one for nobody', async () => {
  const ann = await app.as('ann', 'player');
  await ann.put('/games/maze/matches/mine', { player: 'ann', points: 999 }, { status: 403 });
  await app.nobody.put('/games/maze/matches/mine', { player: 'ann', points: 999 }, { status: 401 });
  await ann.put('/boards/maze.all/players/ann', { points: 999 }, { status: 404 });
  assert.equal((await match('maze', 'x', 'nobody', 1)).status, 422);
  assert.equal((await match('none', 'x', 'ann', 1)).status, 404);
  assert.equal((await match('maze', 'x', 'ann', -1)).status, 422);
  assert.equal((await match('maze', 'x', 'ann', 1_000_000_000)).status, 422);
  const statuses = await atOnce(Array.from({ length: 6 }, () => () => match('maze', 'same', 'ann', 7)));
  assert.deepEqual(statuses, { 201: 1, 409: 5 });
  await app.settled();
  assert.equal((await app.nobody.get('/boards/maze.all/of/ann')).body.matches, 1);
});

test('a player who leaves is on no board, not even by a match that is worked off later', async () => {
  await player('eli');
  await match('gone', 'g0', 'eli', 1);
  await app.settled();
  const eli = await app.as('eli', 'player');
  await Promise.all([...Array.from({ length: 5 }, (_, i) => match('gone', `g${i + 1}`, 'eli', 10 + i, at(i))), eli.delete('/players/eli')]);
  await app.settled();
  assert.deepEqual(await board('gone.all'), []);
  assert.deepEqual((await app.items()).filter(({ PK, GSI1PK }) => PK === 'PLAYER#eli' || GSI1PK === 'MATCHES#eli'), []);
});

test('places on the boards of days and weeks end after sixty days, the others stay', async () => {
  const { body: day } = await app.nobody.get('/boards/race.day.2026-10-14/of/ann');
  assert.equal(day.expires_at, Math.floor(Date.parse(day.at) / 1000) + 60 * 86400);
  assert.ok(!('expires_at' in (await app.nobody.get('/boards/race.season.s1/of/ann')).body));
  await app.doc.update({
    TableName: app.table, Key: { PK: 'PLAYER#ann', SK: 'PLACE#race.day.2026-10-14' },
    UpdateExpression: 'SET expires_at = :past', ExpressionAttributeValues: { ':past': Math.floor(Date.now() / 1000) - 60 },
  });
  noteWrite();
  assert.ok(!(await board('race.day.2026-10-14')).some(([who]) => who === 'ann'));
  assert.ok((await board('race.all')).some(([who]) => who === 'ann'));
});
