// What rows of designs/social.yaml show of other items: how people are called today, what the reader likes, how two stand to each other.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDesign } from './harness.mjs';
import { ago, audit, people } from './social-world.mjs';

const app = await startDesign('social');
const op = await app.operator();
const { ann, ben, cyd } = await people(app, 'ann', 'ben', 'cyd');
const today = new Date().toISOString().slice(0, 10);
await ann.patch('/users/ann', { display_name: 'Ann Arbor', profile_image_url: 'https://img.example/ann.png' });
await ben.patch('/users/ben', { display_name: 'Ben Nevis' });
await ann.put('/posts/p1', { content: 'one #tea', hashtags: ['#tea'] });
await ann.put('/posts/p2', { content: 'two #tea', hashtags: ['#tea'] });
await ben.put('/posts/p1/likes/ben');
await ben.put('/users/ben/following/ann');
await app.settled();

const shown = (rows) => Object.fromEntries(rows.map((row) => [row.post_id, [row.author_name, row.author_image, row.liked]]));
const asBen = { p1: ['Ann Arbor', 'https://img.example/ann.png', true], p2: ['Ann Arbor', 'https://img.example/ann.png', false] };

test('S-A02, S-A04, S-A10, S-A34, S-A24, S-A19, S-A09: lists of posts name their authors and say what the reader likes', async () => {
  for (const path of ['/users/ann/posts/with-authors', `/timeline/${today}/with-authors`, '/popular/with-authors', '/hashtags/tea/with-authors', '/users/ben/home', '/posts-with-authors?id=p1&id=p2']) {
    const { body, headers } = await ben.get(path);
    assert.deepEqual(shown(body.items), asBen, path);
    assert.ok(!/public/.test(headers.get('cache-control')), path); // one reader's alone
  }
  assert.deepEqual(shown([(await ben.get('/posts/p1/with-author')).body]), { p1: asBen.p1 });
  for (const caller of [ann, cyd, app.nobody]) assert.deepEqual(Object.values(shown(await caller.list('/users/ann/posts/with-authors'))).map((row) => row[2]), [false, false]);
  // The lists of the document are as they were: the same for everyone, and cached.
  assert.ok(!('liked' in (await ben.list('/users/ann/posts'))[0]));
  assert.equal((await app.nobody.get('/popular')).headers.get('cache-control'), 'public, max-age=30');
});

test('S-A02: a name is shown as it is now; the copy that the document writes is the user name', async () => {
  await ann.patch('/users/ann', { display_name: 'Ann of Green Gables' });
  assert.equal((await ben.list('/users/ann/posts/with-authors'))[0].author_name, 'Ann of Green Gables');
  assert.equal((await app.item('POST#p1', 'METADATA')).author_username, 'ann');
  await ann.patch('/users/ann', { display_name: null });
  assert.ok(!('author_name' in (await ben.list('/users/ann/posts/with-authors'))[0]));
  await ann.patch('/users/ann', { display_name: 'Ann Arbor' });
});

test('S-A08, S-A07, S-A11, S-A12: comments, likes and shares name people and posts', async () => {
  const { body } = await ben.post('/posts/p1/comments', { content: 'Milk?' });
  await ann.put(`/comments/${body.comment_id}/likes/ann`, { post_id: 'p1' });
  await ben.put('/posts/p1/shares/ben');
  const comments = async (caller) => (await caller.list('/posts/p1/comments/with-authors')).map((row) => [row.author_name, row.username, row.liked]);
  assert.deepEqual(await comments(ann), [['Ben Nevis', 'ben', true]]);
  assert.deepEqual(await comments(cyd), [['Ben Nevis', 'ben', false]]);
  for (const path of ['/posts/p1/likes', '/posts/p1/shares']) assert.deepEqual((await cyd.list(path)).map((row) => [row.username, row.name]), [['ben', 'Ben Nevis']], path);
  assert.deepEqual((await cyd.list(`/comments/${body.comment_id}/likes`)).map((row) => [row.username, row.name]), [['ann', 'Ann Arbor']]);
  for (const path of ['/users/ben/likes', '/users/ben/shares']) assert.deepEqual((await cyd.list(path)).map((row) => [row.author_username, row.content_preview]), [['ann', 'one #tea']], path);
});

test('S-A01, S-A16: a profile and how two stand to each other, in one request', async () => {
  const relation = async (caller, id) => {
    const { my_follow, their_follow, username } = (await caller.get(`/users/${id}/with-relation`)).body;
    return [username, my_follow, their_follow];
  };
  assert.deepEqual(await relation(ben, 'ann'), ['ann', 'active', undefined]);
  assert.deepEqual(await relation(ann, 'ben'), ['ben', undefined, 'active']);
  assert.deepEqual(await relation(app.nobody, 'ann'), ['ann', undefined, undefined]);
  await ben.post('/users/ben/following/ann/mute');
  assert.deepEqual(await relation(ann, 'ben'), ['ben', undefined, 'active'], "a mute is the follower's own business");
  await ben.post('/users/ben/following/ann/unmute');
  await ann.patch('/users/ann', { is_private: true });
  await cyd.put('/users/cyd/following/ann');
  assert.deepEqual(await relation(cyd, 'ann'), ['ann', 'pending', undefined]);
  await cyd.delete('/users/cyd/following/ann');
  await ann.patch('/users/ann', { is_private: false });
});

test('S-A05, S-A06: followers and those followed, by the names that they show', async () => {
  assert.deepEqual((await cyd.list('/users/ann/followers-with-names')).map((row) => [row.follower_username, row.name]), [['ben', 'Ben Nevis']]);
  assert.deepEqual((await cyd.list('/users/ben/following-with-names')).map((row) => [row.followed_username, row.name, row.image]), [['ann', 'Ann Arbor', 'https://img.example/ann.png']]);
});

test('S-A28: a block ends the other direction in its own transaction, and shows no name to whom it keeps out', async () => {
  await ann.put('/users/ann/following/ben');
  await cyd.put('/posts/p1/likes/cyd');
  const before = [await app.item('USER#ann', 'PROFILE'), await app.item('USER#ben', 'PROFILE')];
  assert.deepEqual(before.map((user) => [user.followers_count, user.following_count, user.blocks_count]), [[1, 1, 0], [1, 1, 0]]);
  const processor = `/processors/${encodeURIComponent('a block ends the other direction')}`;
  await op.post(`${processor}/pause`);
  await ann.post('/users/ben/following/ann/block');
  assert.equal(await app.item('USER#ann', 'FOLLOWING#ben'), undefined);
  assert.equal(await app.item('USER#ben', 'FOLLOWER#ann'), undefined);
  const after = [await app.item('USER#ann', 'PROFILE'), await app.item('USER#ben', 'PROFILE')];
  assert.deepEqual(after.map((user) => [user.followers_count, user.following_count, user.blocks_count]), [[0, 0, 1], [0, 0, 1]]);
  assert.deepEqual((await ann.get('/users/ben/with-relation')).body.their_follow, 'blocked');
  await ben.get('/users/ann/with-relation', { status: 404 });
  await ben.get('/posts/p1/with-author', { status: 404 });
  assert.deepEqual((await ann.list('/posts/p1/likes')).map((row) => row.username), ['cyd']);
  assert.deepEqual((await ben.list('/users/ben/likes')).map((row) => row.post_id), []);
  await op.post(`${processor}/resume`);
  await app.settled();
  await audit(app);
});

test('S-A28: of two who block each other at once both have blocked, and nobody follows', async () => {
  for (let round = 0; round < 4; round++) {
    await ann.delete('/users/ben/following/ann').catch(() => {});
    await ben.delete('/users/ann/following/ben').catch(() => {});
    await ann.put('/users/ann/following/ben');
    await ben.put('/users/ben/following/ann');
    await Promise.all([ann.post('/users/ben/following/ann/block'), ben.post('/users/ann/following/ben/block')]);
    for (const [PK, SK] of [['USER#ann', 'FOLLOWING#ben'], ['USER#ben', 'FOLLOWING#ann']]) assert.equal((await app.item(PK, SK))?.status, 'blocked');
    assert.equal((await app.item('USER#ann', 'PROFILE')).blocks_count, 2);
  }
  await ann.delete('/users/ben/following/ann');
  await ben.delete('/users/ann/following/ben');
  await app.settled();
  await audit(app);
});

test('S-A29: mentions are user names with an @, and nothing else', async () => {
  await ann.post('/posts', { content: 'hello', mentions: ['@ben', '@jane_doe', '@Ünal.2'] });
  for (const wrong of ['ben', '@', '@ben@x', '@two words', '@-ben'])
    assert.deepEqual((await ann.post('/posts', { content: 'x', mentions: [wrong] }, { status: 422 })).body.errors.map(({ attribute }) => attribute), ['mentions'], wrong);
});

test('S-A02, S-A03, S-A11: posts and likes of one second are all listed, once, on pages of any length', async () => {
  const at = ago(1);
  const same = Array.from({ length: 5 }, (_, i) => `tie${i}`);
  for (const post_id of same) await op.post('/posts', { post_id, author_id: 'cyd', content: post_id, created_at: at });
  const ids = (rows) => rows.map((row) => row.post_id).filter((id) => id.startsWith('tie'));
  for (const path of ['/users/cyd/posts', '/users/cyd/posts/with-authors', `/timeline/${today}`]) {
    const whole = ids(await app.nobody.list(path));
    assert.deepEqual([...whole].sort(), same, path);
    for (const limit of [1, 2, 3]) assert.deepEqual(ids(await app.nobody.all(path, limit)), whole, path);
  }
  for (const post_id of same) await op.post(`/posts/${post_id}/likes`, { user_id: 'ann', created_at: at });
  assert.deepEqual(ids(await app.nobody.all('/users/ann/likes', 2)).sort(), same);
});
