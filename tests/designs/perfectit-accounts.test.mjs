// PerfectIt: its own accounts: how one becomes an admin, what goes with an account, and an author's archive.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDesign, until } from './harness.mjs';
import { ULID, audit, ids, of, things } from './perfectit-world.mjs';

const app = await startDesign('perfectit');
const operator = await app.operator();
const names = ['gus', 'hana', 'ivo'];
for (const name of names) await app.nobody.post('/users', { userId: name, username: name, password: 'wonderland' }, { status: 201 });
const [gus, hana, ivo] = await Promise.all(names.map((name) => app.login(name, 'wonderland')));

test('P-A28, P-A33: an operator makes the first admin, admins make others, and nobody himself', async () => {
  const category = { categoryId: 'wood', name: 'Wood' };
  await app.nobody.post('/users', { userId: 'eve', username: 'eve', password: 'wonderland', role: 'admin' }, { status: 422, detail: /^role/ });
  await gus.patch('/users/gus', { role: 'admin' }, { status: 422, detail: /^role/ });
  await gus.post('/users/gus/set-role', { role: 'admin' }, { status: 403 });
  await gus.post('/categories', category, { status: 403 });

  await operator.patch('/users/gus', { role: 'admin' }); // as docs/server.md says
  assert.deepEqual((await gus.get('/me')).body.roles.includes('admin'), true, 'with the token he has');
  await gus.post('/categories', category, { status: 201 });
  await hana.post('/categories', { categoryId: 'x', name: 'x' }, { status: 403 });
  await gus.post('/users/hana/set-role', { role: 'admin' });
  await hana.post('/categories', { categoryId: 'metal', name: 'Metal' }, { status: 201 });
  await gus.post('/users/hana/set-role', { role: 'god' }, { status: 422 });
  await gus.post('/users/hana/set-role', { username: 'x' }, { status: 422 });
  await gus.post('/users/none/set-role', { role: 'admin' }, { status: 404 });
  await gus.post('/users/hana/set-role', { role: 'user' });
  await hana.post('/categories', { categoryId: 'y', name: 'y' }, { status: 403 });
  assert.equal((await app.item('USER#hana', 'PROFILE')).role, 'user');
});

test('P-A29: an author finds what is archived, and brings it back to where it was', async () => {
  for (const cardId of ['shelf', 'table']) {
    await ivo.post('/cards', { cardId, title: `About ${cardId}`, category: 'wood' });
    await ivo.post(`/cards/${cardId}/publish`);
  }
  const before = await app.item('CARD#shelf', 'METADATA');
  await ivo.post('/cards/shelf/restore', {}, { status: 409, detail: /only an archived card/ });
  await ivo.post('/cards/shelf/archive');
  assert.deepEqual(ids(await ivo.list('/users/ivo/archive')), ['shelf']);
  assert.deepEqual(ids(await gus.list('/users/ivo/archive')), ['shelf'], 'an admin sees it, too');
  assert.deepEqual([await hana.list('/users/ivo/archive'), await app.nobody.list('/users/ivo/archive')], [[], []]);
  assert.deepEqual(ids(await ivo.list('/users/ivo/cards')), ['table']);
  await hana.post('/cards/shelf/restore', {}, { status: 404 });
  await ivo.patch('/cards/shelf', { category: 'nowhere' });
  await ivo.post('/cards/shelf/restore', {}, { status: 422, detail: /no such category/ });
  await ivo.patch('/cards/shelf', { category: 'wood' });
  await ivo.post('/cards/shelf/restore');
  const { updatedAt, ...after } = await app.item('CARD#shelf', 'METADATA');
  assert.deepEqual({ ...after, updatedAt: before.updatedAt }, before);
  assert.deepEqual(ids(await app.nobody.list('/search?q=shelf')), ['shelf']);
  assert.deepEqual(await ivo.list('/users/ivo/archive'), []);
  await audit(app);
});

test('P-A26: all that is unread is read at once', async () => {
  for (const cardId of ['shelf', 'table']) await hana.put(`/votes/hana/${cardId}`, { voteValue: 1 });
  const unread = () => ivo.list('/users/ivo/notifications/unread');
  await until('ivo to be told', async () => (await unread()).length === 2);
  await hana.post('/users/ivo/notifications/unread/mark-read');
  assert.equal((await unread()).length, 2, 'not by another');
  await ivo.post('/users/ivo/notifications/unread/mark-read');
  assert.deepEqual(await unread(), []);
  assert.equal((await ivo.list('/users/ivo/notifications')).length, 2);
});

test('P-A28, P26: an account goes with all that it wrote, and counts no more', async () => {
  // ivo: cards (one a draft, one archived) that others have commented, voted on and collected; comments and votes of his own elsewhere
  await ivo.post('/cards', { cardId: 'secret', title: 'Secret', category: 'wood' });
  await ivo.post('/cards', { cardId: 'old', title: 'Old', category: 'wood' });
  await ivo.post('/cards/old/publish');
  const { body: others } = await hana.post('/cards/shelf/comments', { body: 'Nice' });
  await gus.put(`/votes/gus/${others.commentId}`, { targetType: 'COMMENT', cardId: 'shelf', commentedAt: others.createdAt, voteValue: 1 });
  await ivo.post('/cards/old/archive');
  await hana.put('/users/hana/collections/best', { name: 'Best' });
  await hana.put('/collections/best/cards/shelf');
  await hana.post('/cards', { cardId: 'knife', title: 'Sharpen a knife', category: 'metal' });
  await hana.post('/cards/knife/publish');
  await hana.put('/collections/best/cards/knife');
  await gus.put('/votes/gus/knife', { voteValue: 1 });
  await ivo.put('/votes/ivo/knife', { voteValue: -1 });
  const { body: his } = await ivo.post('/cards/knife/comments', { body: 'Mine is sharper' });
  await gus.put(`/votes/gus/${his.commentId}`, { targetType: 'COMMENT', cardId: 'knife', commentedAt: his.createdAt, voteValue: -1 });
  for (let i = 0; i < 30; i += 1) await ivo.put(`/users/ivo/collections/c${i}`, { name: `${i}` }); // more than one transaction takes
  await ivo.put('/collections/c7/cards/knife');
  await audit(app);

  await hana.delete('/users/ivo', { status: 403 });
  await app.nobody.delete('/users/ivo', { status: 401 });
  await ivo.delete('/users/ivo', { status: 204 });
  await ivo.get('/me', { status: 401 });
  await app.nobody.post('/login', { username: 'ivo', password: 'wonderland' }, { status: 401 });
  await app.nobody.get('/users/ivo', { status: 404 });
  const left = async () => (await app.items()).filter((item) => [item.userId, item.authorId].includes('ivo') || /USER#ivo$|CARD#(shelf|table|secret|old)$|COLLECTION#c\d/.test(`${item.PK}`));
  await until('all of it to go', async () => (await left()).length === 0);
  const knife = await app.item('CARD#knife', 'METADATA');
  assert.deepEqual([knife.voteScore, knife.upVotes, knife.downVotes, knife.commentCount], [1, 1, 0, 0]);
  assert.equal((await app.item('USER#hana', 'COLLECTION#best')).cardCount, 1);
  assert.deepEqual(of('cardId')(await hana.list('/collections/best/places')), ['knife']);
  assert.deepEqual((await things(app)).filter((item) => [his.commentId, others.commentId].includes(item.targetId)), [], 'votes on what is gone');
  await audit(app);

  // the name is free, and whoever takes it begins with nothing
  await app.nobody.post('/users', { userId: 'ivo', username: 'ivo', password: 'another-one' }, { status: 201 });
  const next = await app.login('ivo', 'another-one');
  for (const path of ['cards', 'drafts', 'archive', 'comments', 'votes', 'collections', 'notifications']) assert.deepEqual(await next.list(`/users/ivo/${path}`), [], path);
  await ivo.get('/me', { status: 401 });
  await gus.delete('/users/ivo', { status: 204 }); // an admin
  await next.get('/me', { status: 401 });
});

test('P-A33: no category is below itself', async () => {
  for (const [categoryId, parentId] of [['a', 'ROOT'], ['b', 'a'], ['c', 'b']]) await gus.post('/categories', { categoryId, name: categoryId, parentId });
  const before = await app.items();
  await gus.patch('/categories/a', { parentId: 'c' }, { status: 422 });
  await gus.patch('/categories/a', { parentId: 'B' }, { status: 422 });
  assert.deepEqual(await app.items(), before);
  await gus.patch('/categories/c', { parentId: 'a' });
  await gus.patch('/categories/b', { parentId: 'c' });
  await gus.patch('/categories/c', { parentId: 'b' }, { status: 422 });
});

test('P-A30: the id of a comment is ours', async () => {
  const { body } = await hana.post('/cards/knife/comments', { body: 'x' });
  assert.match(body.commentId, ULID);
  await hana.post('/cards/knife/comments', { body: 'x', commentId: 'knife' }, { status: 422, detail: /^commentId/ });
  const { status } = await hana.request('PUT', `/cards/knife/comments/${body.createdAt}/knife`, { body: { body: 'x' } });
  assert.ok([404, 405, 422].includes(status), `${status}`);
});
