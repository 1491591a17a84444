// PerfectIt: a vote that comes again is no news; and votes on what is no longer shown.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDesign } from './harness.mjs';
import { audit, of } from './perfectit-world.mjs';

const app = await startDesign('perfectit');
const operator = await app.operator();
const names = ['gus', 'hana', 'ivo', 'boss'];
for (const name of names) await app.nobody.post('/users', { userId: name, username: name, password: 'wonderland' }, { status: 201 });
await operator.patch('/users/boss', { role: 'admin' });
const [gus, hana, ivo, boss] = await Promise.all(names.map((name) => app.login(name, 'wonderland')));
await boss.post('/categories', { categoryId: 'wood', name: 'Wood' });
for (const cardId of ['shelf', 'table']) {
  await gus.post('/cards', { cardId, title: `About ${cardId}`, category: 'wood' });
  await gus.post(`/cards/${cardId}/publish`);
}
const told = async (caller, name) => (await app.settled(), of('notificationId')(await caller.list(`/users/${name}/notifications`)).sort());
const switchAll = async (what, ...processors) => { for (const name of processors) await operator.post(`/processors/${encodeURIComponent(name)}/${what}`); };
// Each vote of another second, as by a hand; the time is in the key of a notification.
const nextSecond = async () => { const now = Date.now(); await new Promise((done) => { setTimeout(done, 1005 - (now % 1000)); }); };

test('P-A31, P-A26: to vote, take it back and vote again tells the author once', async () => {
  for (let i = 0; i < 3; i += 1) {
    await hana.put('/votes/hana/shelf', { voteValue: i % 2 ? -1 : 1 });
    assert.deepEqual(await told(gus, 'gus'), ['hana-shelf']);
    await hana.delete('/votes/hana/shelf');
    await nextSecond();
  }
  await gus.post('/users/gus/notifications/hana-shelf/mark-read');
  await hana.put('/votes/hana/shelf', { voteValue: 1 });
  assert.deepEqual(await told(gus, 'gus'), ['hana-shelf']);
  assert.deepEqual(await gus.list('/users/gus/notifications/unread'), []);
  await ivo.put('/votes/ivo/shelf', { voteValue: 1 });
  await hana.put('/votes/hana/table', { voteValue: 1 });
  assert.deepEqual(await told(gus, 'gus'), ['hana-shelf', 'hana-table', 'ivo-shelf']);
  await audit(app);
});

test('P-A31, P-A26: also when the processor was paused meanwhile, and of votes on a comment', async () => {
  const { body: comment } = await hana.post('/cards/shelf/comments', { body: 'Nice' });
  await app.settled();
  const vote = () => ivo.put(`/votes/ivo/${comment.commentId}`, { targetType: 'COMMENT', cardId: 'shelf', commentedAt: comment.createdAt, voteValue: 1 });
  await switchAll('pause', 'tell a commenter of a vote', 'tell an author of a vote');
  await vote();
  await hana.delete('/votes/hana/table');
  await ivo.delete(`/votes/ivo/${comment.commentId}`);
  await nextSecond();
  await vote();
  await hana.put('/votes/hana/table', { voteValue: -1 });
  await ivo.put('/votes/ivo/table', { voteValue: 1 });
  await ivo.delete('/votes/ivo/table');
  await nextSecond();
  await ivo.put('/votes/ivo/table', { voteValue: 1 });
  await switchAll('resume', 'tell a commenter of a vote', 'tell an author of a vote');
  assert.deepEqual(await told(hana, 'hana'), [`ivo-${comment.commentId}`]);
  assert.deepEqual((await told(gus, 'gus')).filter((id) => id.includes('table')), ['hana-table', 'ivo-table']);
  await audit(app);
});

test('P-A17, P-A25, P-A09: votes on an archived card are for those who may read the card, and their own', async () => {
  const seen = async (caller) => [
    (await caller.list('/targets/shelf/votes')).length, (await caller.list('/users/hana/votes')).length, (await caller.request('GET', '/votes/hana/shelf')).status,
  ];
  for (const caller of [gus, hana, ivo, boss, app.nobody]) assert.deepEqual(await seen(caller), [2, 2, 200]);
  await gus.post('/cards/shelf/archive');
  for (const caller of [gus, boss]) assert.deepEqual(await seen(caller), [2, 2, 200]);
  assert.deepEqual(await seen(app.nobody), [0, 1, 404]);
  assert.deepEqual(await seen(hana), [1, 2, 200]); // her own
  assert.deepEqual(await seen(ivo), [1, 1, 404]);
  const before = await app.item('CARD#shelf', 'METADATA');
  await hana.patch('/votes/hana/shelf', { voteValue: -1 }, { status: 403 });
  assert.deepEqual(await app.item('CARD#shelf', 'METADATA'), before);
  await hana.delete('/votes/hana/shelf'); // what is one's own can be taken back
  await gus.post('/cards/shelf/restore');
  await ivo.patch('/votes/ivo/shelf', { voteValue: -1 });
  assert.equal((await app.item('CARD#shelf', 'METADATA')).voteScore, -1);
  await audit(app);
});

test("P-A34, P-A03, P-A15: the document's sample, put by an SDK, is in the public lists and is found", async () => {
  const at = '2025-01-01T00:00:00Z';
  const sample = {
    PK: 'CARD#123', SK: 'METADATA', entityType: 'PerfectionCard', id: '123', cardId: '123', title: 'Perfect Wood Finish', description: '...', imageUrls: [], materials: {}, tools: [],
    category: 'wood', tags: ['furniture', 'finishing'], difficulty: 'INTERMEDIATE', estimatedTime: 120, estimatedCost: 50, viewCount: 0, voteScore: 0, authorId: 'gus', status: 'PUBLISHED',
    createdAt: at, updatedAt: at, GSI1PK: 'CAT#wood', GSI1SK: `CREATED#${at}`, GSI2PK: 'USER#gus', GSI2SK: `CREATED#${at}`,
  };
  await app.doc.put({ TableName: app.table, Item: sample });
  const lists = async () => Promise.all(['/categories/wood/cards', '/users/gus/cards', '/top', '/search?q=wood', '/tags/furniture/cards', `/recent?date=${at.slice(0, 10)}`].map(async (path) => {
    assert.ok(of('cardId')(await app.nobody.list(path)).includes('123'), path);
  }));
  await app.settled();
  await lists();
  await hana.put('/votes/hana/123', { voteValue: 1 });
  await gus.patch('/cards/123', { description: 'Oil, and patience' });
  await app.settled();
  await lists();
  assert.equal((await app.item('CARD#123', 'METADATA')).publishedAt, at);
});
