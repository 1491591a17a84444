// PerfectIt's processors under pressure: words, votes and numbers of a day, all at once; views that are gathered; one that is behind.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atOnce, freshDirectory, startDesign, until } from './harness.mjs';
import { ago, audit, encoded, ids, people, published } from './perfectit-world.mjs';

const data = freshDirectory();
const app = await startDesign('perfectit', { data, check: false }); // checked by the one that follows it
const operator = await app.operator();
const admin = await app.as('boss', 'admin');
const names = Array.from({ length: 20 }, (_, i) => `user${i}`);
const users = await people(app, 'gus', ...names);
const { gus } = users;
await operator.post('/categories', { categoryId: 'wood', name: 'Wood' });

/** The numbers of yesterday and today: a test may run over midnight. */
const metrics = async (of = app, as = admin) => {
  await of.settled();
  const all = {};
  for (const day of new Set([ago(24), ago(0)].map((time) => time.slice(0, 10)))) {
    for (const { metric, total } of await as.list(`/metrics/${day}`)) all[metric] = (all[metric] ?? 0) + total;
  }
  return all;
};
const words = async (id) => (await app.items()).filter(({ PK, SK }) => PK === `CARD#${id}` && SK.startsWith('SEARCH#')).map(({ SK }) => SK.slice(7)).sort();
const found = async (q) => { await app.settled(); return ids(await app.nobody.list(`/search?q=${encodeURIComponent(q)}`)).sort(); };
const pause = (name) => operator.post(`/processors/${encodeURIComponent(name)}/pause`);
const resume = (name) => operator.post(`/processors/${encodeURIComponent(name)}/resume`);

test('P-A15, P-A24, P-A29: the words of a card are there while it is published, and follow its title and tags', async () => {
  await gus.post('/cards', { cardId: 'oak', title: 'Sturdy oak shelf', category: 'wood', tags: ['Weekend', 'oak'] });
  assert.deepEqual(await words('oak'), []);
  await gus.post('/cards/oak/publish');
  await gus.post('/cards', { cardId: 'pine', title: 'Pine shelf', category: 'wood', tags: ['weekend'] });
  await gus.post('/cards/pine/publish');
  assert.deepEqual(await words('oak'), ['oak', 'shelf', 'sturdy', 'weekend']);
  assert.deepEqual([await found('shelf'), await found('OAK shelf'), await found('shelf weekend pine'), await found('shelf nothing')], [['oak', 'pine'], ['oak'], ['pine'], []]);
  await gus.patch('/cards/oak', { title: 'Sturdy oak table', tags: ['oak'] });
  assert.deepEqual(await words('oak'), ['oak', 'sturdy', 'table']);
  assert.deepEqual([await found('shelf'), await found('table oak')], [['pine'], ['oak']]);
  assert.deepEqual(ids(await app.nobody.list('/tags/weekend/cards')), ['pine']);
  await gus.post('/cards/pine/archive');
  assert.deepEqual([await words('pine'), await found('shelf')], [[], []]);
  await audit(app);
});

test('P-A31, P-A16, P-A11: twenty people vote, change their minds and take votes back, at once', async () => {
  for (const id of ['one', 'two']) await published(operator, id, 'gus', 'wood', ago(2));
  await atOnce(names.flatMap((name, i) => ['one', 'two'].map((id) => async () => {
    const at = `/votes/${name}/${id}`;
    const first = await users[name].request('PUT', at, { body: { voteValue: i % 2 ? 1 : -1 } });
    if (i % 3 === 0) await users[name].request('PATCH', at, { body: { voteValue: i % 2 ? -1 : 1 } });
    if (i % 5 === 0) await users[name].request('DELETE', at);
    return first;
  })));
  const items = await audit(app);
  for (const id of ['one', 'two']) {
    const card = items.find(({ PK, SK }) => PK === `CARD#${id}` && SK === 'METADATA');
    assert.equal(card.GSI5SK, `SCORE#${encoded(card.voteScore)}#${id}`);
    const place = items.find(({ PK, SK }) => PK === `CARD#${id}` && SK === 'CONTROVERSY');
    assert.equal(place.disagreement, Math.min(card.upVotes, card.downVotes));
    assert.equal(place.GSI5SK, `SCORE#${encoded(place.disagreement)}#${id}`);
  }
  assert.deepEqual(ids(await app.nobody.list('/controversial?limit=2')).sort(), ['one', 'two']);
});

test('P-A14: the numbers of a day are exact, whoever did it at once', async () => {
  const before = await metrics();
  const statuses = await atOnce(names.flatMap((name, i) => [
    () => users[name].request('POST', '/cards/one/comments', { body: { body: `${i}` } }),
    () => users[name].request('PUT', `/votes/${name}/oak`, { body: { voteValue: 1 } }),
    () => operator.request('POST', '/users', { body: { userId: `new${i}`, username: `new${i}` } }),
    async () => {
      await users[name].request('POST', '/cards', { body: { cardId: `card${i}`, title: 'A card', category: 'wood' } });
      return users[name].request('POST', `/cards/card${i}/publish`);
    },
  ]));
  assert.deepEqual(statuses, { 200: 20, 201: 60 });
  const after = await metrics();
  assert.deepEqual(Object.fromEntries(Object.keys(after).map((name) => [name, after[name] - (before[name] ?? 0)])), { signups: 20, cards: 20, comments: 20, votes: 20 });
});

test('P-A26: each comment and vote of others is told once, and ends after ninety days', async () => {
  const told = (await app.items()).filter(({ entityType, userId }) => entityType === 'Notification' && userId === 'gus');
  const { length: comments } = told.filter(({ type }) => type === 'COMMENT');
  assert.equal(comments, 20);
  assert.equal(told.filter(({ type, cardId }) => type === 'VOTE' && cardId === 'oak').length, 20);
  for (const { createdAt, expiresAt } of told) assert.equal(expiresAt, Date.parse(createdAt) / 1000 + 90 * 86400);
  const [first] = await gus.list('/users/gus/notifications/unread');
  await gus.post(`/users/gus/notifications/${encodeURIComponent(first.notificationId)}/mark-read`);
  assert.ok(!(await gus.all('/users/gus/notifications/unread', 100)).some(({ notificationId }) => notificationId === first.notificationId));
});

test('P-A16: what is behind does not list a card that has been archived or deleted meanwhile', async () => {
  for (const id of ['late', 'gone']) await published(operator, id, 'gus', 'wood', ago(1));
  await app.settled();
  await pause('list a card as controversial');
  for (const id of ['late', 'gone']) {
    await users.user1.put(`/votes/user1/${id}`, { voteValue: 1 });
    await users.user2.put(`/votes/user2/${id}`, { voteValue: -1 });
  }
  await gus.post('/cards/late/archive');
  await gus.delete('/cards/gone');
  await until('the others to be through', async () => (await operator.get('/processors')).body.processors.every(({ paused, backlog }) => paused || !backlog));
  await resume('list a card as controversial');
  assert.deepEqual((await app.items()).filter(({ PK, SK }) => SK === 'CONTROVERSY' && /late|gone/.test(PK)), []);
  await audit(app);
});

test('P-A10: what is trending is what has votes for its age', async () => {
  await published(operator, 'old-hit', 'gus', 'wood', ago(100));
  await published(operator, 'fresh', 'gus', 'wood', ago(0));
  await Promise.all(names.slice(0, 10).map((name) => users[name].put(`/votes/${name}/fresh`, { voteValue: 1 })));
  await Promise.all(names.slice(0, 11).map((name) => users[name].put(`/votes/${name}/old-hit`, { voteValue: 1 })));
  await app.settled();
  const trending = ids(await app.nobody.list('/trending'));
  assert.ok(trending.includes('fresh'), JSON.stringify(trending));
  assert.ok(!trending.slice(0, trending.indexOf('fresh')).includes('old-hit'), JSON.stringify(trending));
});

test('P-A35, P-A14: views are gathered: one write for all of them, and the day counts each', async () => {
  assert.deepEqual(await atOnce(Array.from({ length: 120 }, () => () => app.nobody.request('POST', '/cards/fresh/view', { body: {} }))), { 202: 120 });
  const before = await app.item('CARD#fresh', 'METADATA');
  assert.equal(before.viewCount, 0);
  await app.server.stop(); // writes what waits
  const again = await startDesign('perfectit', { data });
  assert.equal((await again.item('CARD#fresh', 'METADATA')).viewCount, 120);
  assert.equal((await metrics(again, await again.as('boss', 'admin'))).views, 120);
  const { StreamArn } = (await again.streams.listStreams({ TableName: again.table })).Streams[0];
  let writes = 0;
  for (const { ShardId } of (await again.streams.describeStream({ StreamArn })).StreamDescription.Shards) {
    let { ShardIterator } = await again.streams.getShardIterator({ StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' });
    for (;;) {
      const { Records, NextShardIterator } = await again.streams.getRecords({ ShardIterator });
      writes += Records.filter(({ dynamodb: { OldImage, NewImage } }) => NewImage?.PK.S === 'CARD#fresh' && OldImage && OldImage.viewCount?.N !== NewImage.viewCount?.N).length;
      if (!Records.length || !NextShardIterator) break;
      ShardIterator = NextShardIterator;
    }
  }
  assert.equal(writes, 1);
  await audit(again);
});
