// What rows of designs/blog.yaml show of other items: names of authors and categories, titles of posts, the caller's likes.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fillBlog, ids, startBlog } from './blog-world.mjs';

const world = await startBlog();
const { app, operator, bruno, davi, elisa, published } = world;
await fillBlog(world);
await operator.patch('/users/sub-bruno', { avatarUrl: 'https://img.example/bruno.png' });
await published('p1', 'sub-bruno', 'backend', '2026-01-01T10:00:00Z');
await published('p2', 'sub-clara', 'cloud', '2026-01-02T10:00:00Z');

test('B-A10, B-A20, B-A22: a post says who wrote it, where it is, and whether the caller likes and keeps it', async () => {
  const shown = async (caller) => {
    const { authorName, authorAvatar, categoryName, liked, bookmarked } = (await caller.get('/posts/p1')).body;
    return { authorName, authorAvatar, categoryName, liked, bookmarked };
  };
  const nobody = { authorName: 'Bruno', authorAvatar: 'https://img.example/bruno.png', categoryName: 'The backend', liked: false, bookmarked: false };
  assert.deepEqual(await shown(app.nobody), nobody);
  await davi.put('/posts/p1/likes/sub-davi');
  await davi.put('/users/sub-davi/bookmarks/p1');
  assert.deepEqual(await shown(davi), { ...nobody, liked: true, bookmarked: true });
  assert.deepEqual(await shown(elisa), nobody);
  await davi.delete('/posts/p1/likes/sub-davi');
  assert.deepEqual(await shown(davi), { ...nobody, bookmarked: true });
  await davi.put('/posts/p1/likes/sub-davi');
});

test('B-A26, B-A02, B-A28, B-A03: lists of posts name authors and categories, and caches share them', async () => {
  for (const [path, wanted] of [
    ['/posts', [['Clara', 'The cloud'], ['Bruno', 'The backend']]], ['/categories/tech/subcategories/posts', [['Clara', 'The cloud'], ['Bruno', 'The backend']]],
    ['/categories/backend/posts', [['Bruno', undefined]]], ['/users/sub-bruno/posts', [[undefined, 'The backend']]],
  ]) {
    const { body, headers } = await app.nobody.get(path);
    assert.deepEqual(body.items.map((post) => [post.authorName, post.categoryName]), wanted, path);
    if (path !== '/users/sub-bruno/posts') assert.equal(headers.get('cache-control'), 'public, max-age=30', path);
    assert.ok(!JSON.stringify(body).includes('example.com'), 'no email of an author');
  }
});

test('B-A16, B-A17, B-A18, B-A19: what a user did names the posts, and the likes of a post their users', async () => {
  await elisa.post('/posts/p2/comments', { body: 'Well said' });
  await elisa.put('/posts/p1/likes/sub-elisa');
  assert.deepEqual((await app.nobody.list('/users/sub-elisa/comments')).map((row) => row.postTitle), ['About p2']);
  assert.deepEqual((await app.nobody.list('/users/sub-elisa/likes')).map((row) => row.postTitle), ['About p1']);
  assert.deepEqual((await app.nobody.list('/users/sub-elisa/activity')).map((row) => row.postTitle).sort(), ['About p1', 'About p2']);
  assert.deepEqual((await app.nobody.list('/posts/p1/likes')).map((row) => row.userName).sort(), ['Davi', 'Elisa']);
});

test('B-A05, B-A06, B-A07: a thread shows pictures beside the names that it keeps', async () => {
  const { body: root } = await davi.post('/posts/p1/comments', { body: 'First' });
  await bruno.post('/posts/p1/comments', { body: 'Thank you', parentId: root.commentId });
  const [thread] = await app.nobody.list('/posts/p1/comments');
  assert.ok(!('authorAvatar' in thread));
  assert.deepEqual(thread.children.map((row) => [row.authorName, row.authorAvatar]), [['Bruno', 'https://img.example/bruno.png']]);
  assert.deepEqual((await app.nobody.list('/posts/p1/comments/roots')).map((row) => row.authorAvatar), [undefined]);
  assert.deepEqual((await app.nobody.list(`/posts/p1/comments/${root.commentId}/replies`)).map((row) => row.authorAvatar), ['https://img.example/bruno.png']);
});

test('B-A24, B-A25: notifications name who did it and on what', async () => {
  await app.settled();
  for (const path of ['/users/sub-bruno/notifications', '/users/sub-bruno/notifications/unread']) {
    const rows = await bruno.list(path);
    assert.deepEqual(new Set(rows.map((row) => `${row.type} ${row.actorName} ${row.postTitle}`)), new Set(['LIKE Davi About p1', 'LIKE Elisa About p1', 'COMMENT Davi About p1']), path);
  }
});

test('B-A26, B-A17: posts and likes of one second are all listed, once, on pages of any length', async () => {
  const at = '2026-02-01T00:00:00Z';
  const same = Array.from({ length: 5 }, (_, i) => `tie${i}`);
  for (const id of same) await published(id, 'sub-clara', 'cloud', at);
  const whole = ids(await app.nobody.list('/posts')).slice(0, 5);
  assert.deepEqual([...whole].sort(), same);
  for (const limit of [1, 2, 3]) assert.deepEqual(ids(await app.nobody.all('/posts', limit)).slice(0, 5), whole);
  for (const postId of same) await operator.post(`/posts/${postId}/likes`, { userId: 'sub-clara', createdAt: at });
  assert.deepEqual(ids(await app.nobody.all('/users/sub-clara/likes', 2)).sort(), same);
});
