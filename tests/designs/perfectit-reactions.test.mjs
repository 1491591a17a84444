// PerfectIt: what people do with cards: comments, votes, collections, notifications; and what goes with a card that goes.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDesign, until } from './harness.mjs';
import { TIME, ULID, ago, audit, encoded, ids, of, people, published, things } from './perfectit-world.mjs';

const app = await startDesign('perfectit');
const operator = await app.operator();
const admin = await app.as('boss', 'admin');
const { gus, hana, ivo, judy, nora } = await people(app, 'gus', 'hana', 'ivo', 'judy', 'nora');
const card = (id) => app.item(`CARD#${id}`, 'METADATA');
const counts = async (id) => {
  const { voteScore, upVotes, downVotes, commentCount } = await card(id);
  return [voteScore, upVotes, downVotes, commentCount];
};

await operator.post('/categories', { categoryId: 'wood', name: 'Wood' });
for (const [id, hours] of [['shelf', 30], ['table', 20], ['chair', 10]]) await published(operator, id, 'gus', 'wood', ago(hours));
await gus.post('/cards', { cardId: 'draft', title: 'Not yet', category: 'wood' });
let comment;

test('P-A30, P-A06: comments on what is published, counted with them, oldest first', async () => {
  const { body, location } = await hana.post('/cards/shelf/comments', { body: 'Holds sixty cookbooks.', authorId: 'gus' }, { status: 201 }); // T3
  comment = body;
  assert.equal(location, `/api/perfectit/cards/shelf/comments/${encodeURIComponent(body.createdAt)}/${body.commentId}`); // P6: both parts
  assert.match(body.commentId, ULID);
  assert.match(body.createdAt, TIME);
  assert.deepEqual(await app.item('CARD#shelf', `COMMENT#${body.createdAt}#${body.commentId}`), {
    PK: 'CARD#shelf', SK: `COMMENT#${body.createdAt}#${body.commentId}`, entityType: 'Comment', id: body.commentId, commentId: body.commentId, cardId: 'shelf', authorId: 'hana',
    body: 'Holds sixty cookbooks.', voteScore: 0, createdAt: body.createdAt, updatedAt: body.createdAt, GSI1PK: 'USER#hana', GSI1SK: `COMMENT#${body.createdAt}`,
  });
  assert.deepEqual(await counts('shelf'), [0, 0, 0, 1]);
  await hana.post('/cards/draft/comments', { body: 'x' }, { status: 409, type: 'conflict' });
  await hana.post('/cards/none/comments', { body: 'x' }, { status: 404 });
  assert.equal(await card('none'), undefined, 'no ghost of a card');
  await app.nobody.post('/cards/shelf/comments', { body: 'x' }, { status: 401 });
  await hana.post('/cards/shelf/comments', { body: '' }, { status: 422 });
  const at = `/cards/shelf/comments/${body.createdAt}/${body.commentId}`;
  assert.equal((await app.nobody.get(at)).body.body, 'Holds sixty cookbooks.');
  await hana.patch(at, { body: 'Holds seventy.' });
  await gus.patch(at, { body: 'x' }, { status: 403 });
  for (const [n, text] of [[5, 'first'], [4, 'second'], [3, 'third']]) await operator.post('/cards/table/comments', { body: text, authorId: n % 2 ? 'ivo' : 'hana', createdAt: ago(n), commentId: `c${n}` });
  assert.deepEqual(of('body')(await app.nobody.all('/cards/table/comments', 2)), ['first', 'second', 'third']);
  assert.deepEqual(await counts('table'), [0, 0, 0, 3]);
  assert.deepEqual(await app.nobody.list('/cards/draft/comments'), []);
  await audit(app);
});

test('P-A12: what a user has commented, newest first, from the index that has it', async () => {
  assert.deepEqual(of('body')(await app.nobody.all('/users/hana/comments', 1)), ['Holds seventy.', 'second']); // P1
  assert.deepEqual(of('body')(await app.nobody.all('/users/ivo/comments', 1)), ['third', 'first']);
  assert.deepEqual(await app.nobody.list('/users/gus/comments'), []);
});

test('P-A30: a comment is deleted by its writer, the author of the card or an admin, with its votes', async () => {
  const { body } = await ivo.post('/cards/shelf/comments', { body: 'to go' });
  const at = `/cards/shelf/comments/${body.createdAt}/${body.commentId}`;
  await judy.put(`/votes/judy/${body.commentId}`, { targetType: 'COMMENT', cardId: 'shelf', commentedAt: body.createdAt, voteValue: 1 });
  await judy.delete(at, { status: 403 });
  await gus.delete(at, { status: 204 });
  assert.deepEqual(await counts('shelf'), [0, 0, 0, 1]);
  await until('its votes to go', async () => !(await app.item(`VOTE#judy#${body.commentId}`, 'VOTE')));
  await ivo.delete(at, { status: 404 });
  await audit(app);
});

test('P-A31, P-A09: one vote for each user and card; it can be changed and taken back', async () => {
  const { body } = await hana.put('/votes/hana/shelf', { voteValue: 1 }, { status: 201 }); // T4
  assert.deepEqual(await app.item('VOTE#hana#shelf', 'VOTE'), {
    PK: 'VOTE#hana#shelf', SK: 'VOTE', entityType: 'Vote', id: 'hana-shelf', userId: 'hana', targetId: 'shelf', targetType: 'CARD', voteValue: 1, targetPK: 'CARD#shelf', targetSK: 'METADATA', // P5
    createdAt: body.createdAt, updatedAt: body.createdAt, GSI1PK: 'TARGET#shelf', GSI1SK: `VOTE#${body.createdAt}`, GSI2PK: 'USER#hana', GSI2SK: `VOTE#${body.createdAt}`,
  });
  assert.deepEqual(await counts('shelf'), [1, 1, 0, 1]);
  await hana.put('/votes/hana/shelf', { voteValue: 1 }, { status: 409, type: 'already-exists' });
  assert.deepEqual(await counts('shelf'), [1, 1, 0, 1]);
  await hana.patch('/votes/hana/shelf', { voteValue: -1 });
  assert.deepEqual(await counts('shelf'), [-1, 0, 1, 1]);
  await hana.patch('/votes/hana/shelf', { voteValue: -1 });
  assert.deepEqual(await counts('shelf'), [-1, 0, 1, 1]);
  await ivo.post('/votes', { userId: 'ivo', targetId: 'shelf', voteValue: 1 }, { status: 201 });
  assert.deepEqual(await counts('shelf'), [0, 1, 1, 1]);
  assert.equal((await hana.get('/votes/hana/shelf')).body.voteValue, -1);
  await judy.get('/votes/judy/shelf', { status: 404 });
  await hana.delete('/votes/hana/shelf', { status: 204 });
  assert.deepEqual(await counts('shelf'), [1, 1, 0, 1]);
  await hana.delete('/votes/hana/shelf', { status: 404 });
  assert.deepEqual(await counts('shelf'), [1, 1, 0, 1]);
  // GSI5SK follows the counter (H2's first half)
  await until('the card to be in its place', async () => (await card('shelf')).GSI5SK === `SCORE#${encoded(1)}#shelf`);
  await audit(app);
});

test('P-A31: what is no vote', async () => {
  const before = await things(app);
  for (const voteValue of [0, 2, -2, 0.5, '1', true, null]) await hana.put('/votes/hana/shelf', { voteValue }, { status: 422 });
  await hana.put('/votes/hana/shelf', {}, { status: 422 });
  await hana.put('/votes/hana/none', { voteValue: 1 }, { status: 404 });
  assert.equal(await card('none'), undefined);
  await hana.put('/votes/hana/draft', { voteValue: 1 }, { status: 409, type: 'conflict' });
  await ivo.put('/votes/hana/shelf', { voteValue: 1 }, { status: 403 });
  await ivo.put('/votes/ivo/table', { voteValue: 1, userId: 'hana' }, { status: 422 });
  await app.nobody.put('/votes/hana/shelf', { voteValue: 1 }, { status: 401 });
  await hana.patch('/votes/ivo/shelf', { voteValue: -1 }, { status: 403 });
  await hana.delete('/votes/ivo/shelf', { status: 403 });
  await ivo.patch('/votes/ivo/shelf', { targetId: 'table' }, { status: 422 });
  await ivo.patch('/votes/ivo/shelf', { targetType: 'COMMENT' }, { status: 422 });
  await hana.put('/votes/hana/table', { voteValue: 1, targetPK: 'CARD#chair' }, { status: 422 });
  await hana.put(`/votes/hana/${comment.commentId}`, { voteValue: 1 }, { status: 404 }, 'a comment is not a card');
  await hana.put(`/votes/hana/${comment.commentId}`, { voteValue: 1, targetType: 'COMMENT' }, { status: 422 }, 'where it is must be said');
  const elsewhere = { voteValue: 1, targetType: 'COMMENT', cardId: 'table', commentedAt: comment.createdAt };
  assert.ok([404, 422].includes((await hana.request('PUT', `/votes/hana/${comment.commentId}`, { body: elsewhere })).status), 'it is not on that card');
  assert.deepEqual(await things(app), before);
});

test('P-A31, P-A17, P-A25, P-A21: votes on comments; on a target, of a user, of a page of cards', async () => {
  for (const [caller, name, voteValue] of [[gus, 'gus', 1], [ivo, 'ivo', 1], [judy, 'judy', -1]]) {
    await caller.put(`/votes/${name}/${comment.commentId}`, { voteValue, targetType: 'COMMENT', cardId: 'shelf', commentedAt: comment.createdAt });
  }
  const item = await app.item('CARD#shelf', `COMMENT#${comment.createdAt}#${comment.commentId}`);
  assert.equal(item.voteScore, 1);
  const vote = await app.item(`VOTE#gus#${comment.commentId}`, 'VOTE');
  assert.deepEqual([vote.targetPK, vote.targetSK], ['CARD#shelf', item.SK]);
  await judy.delete(`/votes/judy/${comment.commentId}`);
  assert.equal((await app.item('CARD#shelf', item.SK)).voteScore, 2);

  for (const [n, name] of [[9, 'gus'], [8, 'hana'], [7, 'judy']]) await operator.put(`/votes/${name}/table`, { voteValue: n === 8 ? -1 : 1, createdAt: ago(n) });
  await judy.put('/votes/judy/chair', { voteValue: 1 });
  assert.deepEqual((await app.nobody.all('/targets/table/votes', 1)).map((each) => [each.userId, each.voteValue]), [['gus', 1], ['hana', -1], ['judy', 1]]);
  assert.deepEqual(of('targetId')(await app.nobody.all('/users/judy/votes', 1)), ['chair', 'table']);
  assert.deepEqual(ids(await app.nobody.list('/users/gus/cards')), ['chair', 'table', 'shelf'], 'votes are not among the cards of an author');
  const page = await judy.list('/my-votes?id=shelf&id=table&id=chair&id=none');
  assert.deepEqual(Object.fromEntries(page.map((each) => [each.targetId, each.voteValue])), { table: 1, chair: 1 });
  assert.deepEqual(await app.nobody.list('/my-votes?id=shelf'), []);
  const { body } = await operator.post('/call', { pattern: 'my votes', with: { id: ['shelf', 'table'] }, as: { subject: 'judy', roles: [] }, explain: true });
  assert.deepEqual(of('operation')(body.requests), ['BatchGetItem']);
  await audit(app);
  const top = await app.nobody.list('/top'); // after what the votes have moved has moved
  assert.deepEqual(top.map((each) => [each.cardId, each.voteScore]), [['table', 1], ['shelf', 1], ['chair', 1]]);
});

test('P-A32, P-A07, P-A18: collections, private until they are said to be public', async () => {
  const { body, location } = await judy.post('/users/judy/collections', { collectionId: 'weekend', name: 'Weekend' }, { status: 201 });
  assert.equal(location, '/api/perfectit/users/judy/collections/weekend');
  assert.deepEqual(await app.item('USER#judy', 'COLLECTION#weekend'), {
    PK: 'USER#judy', SK: 'COLLECTION#weekend', entityType: 'Collection', id: 'weekend', collectionId: 'weekend', userId: 'judy', name: 'Weekend', isPublic: false, cardCount: 0,
    createdAt: body.createdAt, updatedAt: body.createdAt, GSI1PK: 'COLLECTION#weekend', GSI1SK: 'METADATA',
  });
  await judy.post('/users/judy/collections', { name: 'Later', isPublic: true });
  assert.deepEqual(of('name')(await judy.all('/users/judy/collections', 1)).sort(), ['Later', 'Weekend']);
  assert.deepEqual(of('name')(await hana.all('/users/judy/collections', 1)), ['Later']);
  assert.equal((await judy.get('/collections/weekend')).body.userId, 'judy');
  await hana.get('/collections/weekend', { status: 404 });
  await hana.post('/users/judy/collections', { name: 'Mine' }, { status: 403 });
  await hana.patch('/users/judy/collections/weekend', { isPublic: true }, { status: 404 });
  await judy.patch('/users/judy/collections/weekend', { cardCount: 7 }, { status: 422 });
  await judy.patch('/users/judy/collections/weekend', { collectionId: 'monday' }, { status: 422 });
  await judy.patch('/users/judy/collections/weekend', { userId: 'hana' }, { status: 422 });
  await audit(app);
});

test('P-A32, P-A08, P-A22: cards in a collection, in its order, by its owner alone', async () => {
  for (const [cardId, position] of [['table', 3], ['shelf', 1], ['chair', 2]]) await judy.post('/collections/weekend/cards', { cardId, position }, { status: 201 }); // T5
  const row = await app.item('COLLECTION#weekend', 'CARD#table');
  assert.deepEqual(row, {
    PK: 'COLLECTION#weekend', SK: 'CARD#table', entityType: 'CardInCollection', id: 'table', collectionId: 'weekend', cardId: 'table', userId: 'judy', position: 3, title: 'About table',
    addedAt: row.addedAt, createdAt: row.addedAt, updatedAt: row.addedAt, GSI1PK: 'CARD#table', GSI1SK: 'COLLECTION#weekend', // P11
    GSI2PK: 'COLLECTION#weekend', GSI2SK: `POSITION#000003#${row.addedAt}#table`,
  });
  assert.equal((await app.item('USER#judy', 'COLLECTION#weekend')).cardCount, 3);
  const before = await things(app);
  await judy.put('/collections/weekend/cards/table', {}, { status: 409, type: 'already-exists' });
  for (const path of ['/collections/weekend/cards/draft', '/collections/weekend/cards/shelf', '/collections/weekend/cards/chair', '/collections/none/cards/shelf']) {
    const { status } = await hana.request('PUT', path, { body: {} });
    assert.ok([403, 404, 409].includes(status), `${path}: ${status}`);
  }
  await judy.put('/collections/weekend/cards/draft', {}, { status: 404 }); // a draft is as if not there
  await judy.put('/collections/weekend/cards/none', {}, { status: 404 });
  await hana.request('DELETE', '/collections/weekend/cards/table');
  assert.deepEqual(await things(app), before);

  const cards = await judy.list('/collections/weekend/cards');
  assert.deepEqual(ids(cards), ['shelf', 'chair', 'table']);
  assert.deepEqual(ids(await judy.all('/collections/weekend/cards', 1)), ['shelf', 'chair', 'table'], 'also from page to page');
  assert.deepEqual((await judy.all('/collections/weekend/places', 2)).map((each) => [each.cardId, each.position]), [['shelf', 1], ['chair', 2], ['table', 3]]);
  assert.deepEqual(await hana.list('/collections/weekend/places'), []);
  assert.equal(cards[0].voteScore, (await card('shelf')).voteScore, 'as the cards are now');
  assert.deepEqual(await hana.list('/collections/weekend/cards'), []);
  await judy.patch('/collections/weekend/cards/table', { position: 0 });
  assert.deepEqual(ids(await judy.list('/collections/weekend/cards')), ['table', 'shelf', 'chair']);
  assert.deepEqual(of('collectionId')(await judy.list('/cards/table/collections')), ['weekend']);
  assert.deepEqual(await hana.list('/cards/table/collections'), []);
  await judy.patch('/users/judy/collections/weekend', { isPublic: true });
  assert.deepEqual(ids(await hana.list('/collections/weekend/cards')), ['table', 'shelf', 'chair']);
  assert.deepEqual(of('collectionId')(await app.nobody.list('/cards/table/collections')), ['weekend']);

  await gus.patch('/cards/table', { title: 'A better table' }); // the copy follows
  await until('the copy to follow', async () => (await app.item('COLLECTION#weekend', 'CARD#table')).title === 'A better table');
  await judy.delete('/collections/weekend/cards/chair', { status: 204 });
  assert.equal((await app.item('USER#judy', 'COLLECTION#weekend')).cardCount, 2);
  await gus.post('/cards/shelf/archive'); // what is not public any more is not in public collections
  assert.deepEqual(ids(await hana.list('/collections/weekend/cards')), ['table']);
  assert.deepEqual(ids(await gus.list('/collections/weekend/cards')), ['table', 'shelf']);
  await gus.patch('/cards/shelf', { title: 'Nobody\'s business' });
  assert.equal((await app.item('COLLECTION#weekend', 'CARD#shelf')).title, undefined, 'nor is its title');
  assert.equal((await hana.get('/collections/weekend/cards/shelf')).body.title, undefined);
  await audit(app);
});

test('P-A32: a collection goes with its rows', async () => {
  await judy.put('/users/judy/collections/short', { name: 'Short' });
  for (const id of ['table', 'chair']) await judy.put(`/collections/short/cards/${id}`);
  await hana.delete('/users/judy/collections/short', { status: 404 });
  await judy.delete('/users/judy/collections/short', { status: 204 });
  await until('the rows to go', async () => !(await things(app)).some((item) => item.PK === 'COLLECTION#short'));
  assert.ok(await card('table'));
  await hana.put('/users/hana/collections/short', { name: 'The name is free again' });
  await audit(app);
});

test('P-A26: notifications, newest first, unread ones, for their owner, for ninety days', async () => {
  for (const [n, type] of [[3, 'COMMENT'], [2, 'VOTE'], [1, 'COMMENT']]) {
    await operator.post('/users/nora/notifications', { createdAt: ago(n), notificationId: `n${n}`, type, actorId: 'hana', cardId: 'table' });
  }
  const { createdAt } = (await nora.list('/users/nora/notifications'))[0];
  assert.deepEqual(await app.item('USER#nora', `NOTIFICATION#${createdAt}#n1`), { // R4, P13
    PK: 'USER#nora', SK: `NOTIFICATION#${createdAt}#n1`, entityType: 'Notification', id: 'n1', userId: 'nora', createdAt, notificationId: 'n1', type: 'COMMENT', actorId: 'hana', cardId: 'table',
    isRead: false, expiresAt: Date.parse(createdAt) / 1000 + 90 * 86400, GSI1PK: 'NOTIFICATION#nora', GSI1SK: 'NOTIFICATION#n1',
  });
  const list = async (path = '') => of('notificationId')(await nora.all(`/users/nora/notifications${path}`, 1));
  assert.deepEqual(await list(), ['n1', 'n2', 'n3']);
  await nora.post('/users/nora/notifications/n1/mark-read');
  assert.deepEqual(await list('/unread'), ['n2', 'n3']);
  await hana.post('/users/nora/notifications/n1/mark-read', {}, { status: 404 });
  assert.deepEqual(await hana.list('/users/nora/notifications'), []);
  await nora.post('/users/nora/notifications', { createdAt: ago(1), notificationId: 'own', type: 'VOTE' }, { status: 403 });
  await nora.patch('/users/nora/notifications/n1', { type: 'VOTE' }, { status: 403 });
  await operator.post('/users/nora/notifications', { createdAt: ago(91 * 24), notificationId: 'old', type: 'VOTE' }); // C16: over
  assert.deepEqual(await list(), ['n1', 'n2', 'n3']);
  await nora.delete('/users/nora/notifications/n1');
  assert.deepEqual(await list(), ['n2', 'n3']);
  assert.deepEqual(await app.nobody.list('/users/nora/collections'), []);
});

test('P-A29: a card goes with its words, comments, votes, votes on comments and places in collections', async () => {
  await judy.put('/collections/weekend/cards/chair');
  const { body } = await ivo.post('/cards/table/comments', { body: 'liked' });
  await judy.put(`/votes/judy/${body.commentId}`, { targetType: 'COMMENT', cardId: 'table', commentedAt: body.createdAt, voteValue: 1 });
  assert.equal((await app.item('USER#judy', 'COLLECTION#weekend')).cardCount, 3);
  await hana.delete('/cards/table', { status: 403 });
  await gus.delete('/cards/table', { status: 204 }); // P26
  await app.nobody.get('/cards/table', { status: 404 });
  await until('what hung on it to go', async () => !/table/.test(JSON.stringify(await things(app))));
  assert.equal((await app.item('USER#judy', 'COLLECTION#weekend')).cardCount, 2);
  assert.deepEqual(await app.nobody.list('/search?q=better'), []);
  await audit(app);
  await admin.delete('/cards/shelf', { status: 204 });
  await until('the rest to go', async () => !/shelf/.test(JSON.stringify(await things(app))));
  await audit(app);
});
