// What rows of designs/perfectit.yaml show of other items: authors, categories, the caller's votes, titles of cards; and steps with a type.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { startDesign } from './harness.mjs';
import { inflate, of, people, published } from './perfectit-world.mjs';

const app = await startDesign('perfectit');
const operator = await app.operator();
const admin = await app.as('judy', 'admin');
const { gus, hana, ivo } = await people(app, 'gus', 'hana', 'ivo');
for (const [categoryId, name, parentId] of [['home', 'Home'], ['wood', 'Woodwork', 'home']]) await admin.post('/categories', { categoryId, name, ...(parentId && { parentId }) });
const hoursAgo = (hours) => `${new Date(Date.now() - hours * 36e5).toISOString().slice(0, 19)}Z`;
await published(operator, 'shelf', 'gus', 'wood', hoursAgo(3), { tags: ['shelf'] });
await published(operator, 'chair', 'hana', 'wood', hoursAgo(2));
await app.settled();

test('P-A05, P-A09: a card says whose it is, where it is, and how the caller voted', async () => {
  const shown = async (caller) => {
    const { author, categoryName, myVote } = (await caller.get('/cards/shelf')).body;
    return [author, categoryName, myVote];
  };
  assert.deepEqual(await shown(app.nobody), ['gus', 'Woodwork', undefined]);
  await hana.put('/votes/hana/shelf', { voteValue: -1 });
  assert.deepEqual(await shown(hana), ['gus', 'Woodwork', -1]);
  assert.deepEqual(await shown(ivo), ['gus', 'Woodwork', undefined]);
  await gus.patch('/users/gus', { username: 'august' });
  assert.deepEqual(await shown(ivo), ['august', 'Woodwork', undefined]);
  await gus.patch('/users/gus', { username: 'gus' });
});

test('P-A03, P-A10, P-A11, P-A13, P-A15, P-A24, P-A27, P-A34: lists of cards name their authors, the same for every caller', async () => {
  for (const path of ['/categories/wood/cards', '/categories/home/all-cards', '/recent', '/trending', '/top', '/search?q=about', '/cards-by-id?id=shelf&id=chair']) {
    const { body } = await hana.get(path);
    const { headers } = await app.nobody.get(path);
    assert.deepEqual(Object.fromEntries(body.items.map((row) => [row.cardId, row.author])), { shelf: 'gus', chair: 'hana' }, path);
    if (!path.startsWith('/cards-by-id')) assert.match(headers.get('cache-control'), /^public/, path);
    else assert.deepEqual(Object.fromEntries(body.items.map((row) => [row.cardId, row.myVote])), { shelf: -1, chair: undefined });
    if (!path.startsWith('/categories/wood')) assert.deepEqual(new Set(of('categoryName')(body.items)), new Set(['Woodwork']), path);
  }
  assert.deepEqual(of('author')(await app.nobody.list('/tags/shelf/cards')), ['gus']);
});

test('P-A06, P-A12, P-A17, P-A25: comments and votes name people and cards', async () => {
  const { body } = await ivo.post('/cards/shelf/comments', { body: 'Sturdy' });
  await hana.put(`/votes/hana/${body.commentId}`, { targetType: 'COMMENT', cardId: 'shelf', commentedAt: body.createdAt, voteValue: 1 });
  const comments = async (caller) => (await caller.list('/cards/shelf/comments')).map((row) => [row.author, row.myVote]);
  assert.deepEqual(await comments(hana), [['ivo', 1]]);
  assert.deepEqual(await comments(app.nobody), [['ivo', undefined]]);
  assert.deepEqual(of('cardTitle')(await app.nobody.list('/users/ivo/comments')), ['About shelf']);
  assert.deepEqual(of('voter')(await app.nobody.list('/targets/shelf/votes')), ['hana']);
  assert.deepEqual(of('cardTitle')(await hana.list('/users/hana/votes')), ['About shelf', 'About shelf']);
});

test('P-A22, P-A26: collections that hold a card are named if they are public; notifications name who did it', async () => {
  for (const [collectionId, isPublic] of [['open', true], ['shut', false]]) {
    await hana.post('/users/hana/collections', { collectionId, name: `The ${collectionId} one`, isPublic });
    await hana.put(`/collections/${collectionId}/cards/shelf`);
  }
  assert.deepEqual(of('collectionName')(await ivo.list('/cards/shelf/collections')), ['The open one']);
  assert.deepEqual(of('collectionName')(await hana.list('/cards/shelf/collections')).sort(), ['The open one', 'The shut one']);
  await app.settled();
  assert.deepEqual((await gus.list('/users/gus/notifications')).map((row) => `${row.type} ${row.actor} ${row.cardTitle}`).sort(), ['COMMENT ivo About shelf', 'VOTE hana About shelf']);
});

test('P-A29: a step of the instructions is a structure, and what is wrong with one is told by its place', async () => {
  await gus.post('/cards', { cardId: 'steps', title: 'Steps', category: 'wood', instructions: [{ step: 1, text: 'Saw', minutes: 10 }, { text: 'Sand' }] });
  assert.deepEqual(inflate((await app.item('CARD#steps', 'METADATA')).instructions), [{ step: 1, text: 'Saw', minutes: 10 }, { text: 'Sand' }]);
  const { body } = await gus.patch('/cards/steps', { instructions: [{ text: 'Saw' }, { step: 0, tool: 'saw' }] }, { status: 422 });
  assert.deepEqual(body.errors.map(({ attribute }) => attribute).sort(), ['instructions[1].step', 'instructions[1].text', 'instructions[1].tool']);
});

test('P-A29, P-A05: a card of another program, with steps of another form, is read and changed as it is', async () => {
  const at = hoursAgo(1);
  await operator.post('/cards', { cardId: 'older', authorId: 'gus', title: 'Older', category: 'wood', createdAt: at, instructions: [{ text: 'x' }] });
  await app.doc.update({
    TableName: app.table, Key: { PK: 'CARD#older', SK: 'METADATA' }, UpdateExpression: 'SET instructions = :i', ExpressionAttributeValues: { ':i': gzipSync('["Oil",{"wait":2}]') },
  });
  await gus.patch('/cards/older', { title: 'Older still' });
  assert.deepEqual((await gus.get('/cards/older')).body.instructions, ['Oil', { wait: 2 }]);
});

test('P-A03, P-A12: cards and comments of one second are all listed, once, on pages of any length', async () => {
  const at = hoursAgo(5);
  const same = Array.from({ length: 5 }, (_, i) => `tie${i}`);
  for (const id of same) await published(operator, id, 'ivo', 'home', at);
  const whole = of('cardId')(await app.nobody.list('/categories/home/cards'));
  assert.deepEqual([...whole].sort(), same);
  for (const limit of [1, 2, 3]) assert.deepEqual(of('cardId')(await app.nobody.all('/categories/home/cards', limit)), whole);
  for (const id of same) await operator.post(`/cards/${id}/comments`, { authorId: 'hana', body: id, createdAt: at });
  assert.deepEqual(of('body')(await app.nobody.all('/users/hana/comments', 2)).sort(), same);
});
