// The blog's processors: who is told of a like, a comment, a reply; and the number of what is unread.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atOnce } from './harness.mjs';
import { ULID, fillBlog, recount, startBlog } from './blog-world.mjs';

const world = await startBlog();
const { app, operator, bruno, clara, davi, elisa, published } = world;
await fillBlog(world);
await published('p1', 'sub-bruno', 'backend', '2026-01-10T10:00:00Z');
await published('p2', 'sub-clara', 'backend', '2026-01-11T10:00:00Z');

const inbox = async (caller, id) => { await app.settled(); return caller.all(`/users/${id}/notifications`, 100); };
const unread = async (id) => (await app.item(`USER#${id}`, `PROFILE#${id}`)).unreadNotifications;
const right = async () => assert.deepEqual(recount(await app.items()), []);

test('B-A24, B-A30, B-A31: an author is told of likes and comments, a commenter of replies, and nobody of what he does himself', async () => {
  await davi.put('/posts/p1/likes/sub-davi');
  await bruno.put('/posts/p1/likes/sub-bruno');
  const { body: comment } = await elisa.post('/posts/p1/comments', { body: 'Good' });
  await bruno.post('/posts/p1/comments', { body: 'Mine' });
  const { body: reply } = await davi.post('/posts/p1/comments', { body: 'Indeed', parentId: comment.commentId });
  await elisa.post('/posts/p1/comments', { body: 'Thanks', parentId: comment.commentId }); // to herself
  const told = await inbox(bruno, 'sub-bruno');
  assert.deepEqual(told.map(({ type, actorId, postId, commentId, isRead }) => ({ type, actorId, postId, commentId, isRead })).sort((a, b) => a.type.localeCompare(b.type)), [
    { type: 'COMMENT', actorId: 'sub-elisa', postId: 'p1', commentId: comment.commentId, isRead: false },
    { type: 'LIKE', actorId: 'sub-davi', postId: 'p1', commentId: undefined, isRead: false },
  ]);
  for (const { type, notificationId } of told) {
    if (type === 'LIKE') assert.equal(notificationId, 'p1-sub-davi'); // one for a reader and a post
    else assert.match(notificationId, ULID); // B31
  }
  assert.ok(await app.item('USER#sub-bruno', `NOTIFICATION#${comment.commentId}#${comment.createdAt}`));
  assert.deepEqual((await inbox(elisa, 'sub-elisa')).map(({ type, actorId, commentId }) => [type, actorId, commentId]), [['REPLY', 'sub-davi', reply.commentId]]);
  assert.deepEqual(await inbox(davi, 'sub-davi'), []);
  assert.equal(await unread('sub-bruno'), 2);
  assert.equal(await unread('sub-elisa'), 1);
  await right();
});

test('B-A31: who takes a like back and gives it again is no news; who has no profile is told of nothing', async () => {
  const likes = async () => (await inbox(bruno, 'sub-bruno')).filter(({ type }) => type === 'LIKE');
  const before = await unread('sub-bruno');
  await operator.post('/processors/tell%20an%20author%20of%20a%20like/pause');
  for (let i = 0; i < 20; i++) {
    await davi.delete('/posts/p1/likes/sub-davi');
    await operator.post('/posts/p1/likes', { userId: 'sub-davi', createdAt: `2026-01-20T00:00:${10 + i}Z` }); // another second, another item
  }
  await operator.post('/processors/tell%20an%20author%20of%20a%20like/resume');
  assert.equal((await likes()).length, 1);
  assert.equal(await unread('sub-bruno'), before);
  // nor after it was read
  const [{ notificationId }] = await likes();
  await bruno.post(`/users/sub-bruno/notifications/${notificationId}/read`);
  await davi.delete('/posts/p1/likes/sub-davi');
  await davi.put('/posts/p1/likes/sub-davi');
  assert.deepEqual((await likes()).map(({ isRead }) => isRead), [true]);
  assert.equal(await unread('sub-bruno'), before - 1);
  // another reader, or another post, is
  await elisa.put('/posts/p1/likes/sub-elisa');
  assert.equal((await likes()).length, 2);
  // whose profile is gone by other hands is told of nothing
  const key = 'POST#p3';
  await app.doc.put({ TableName: app.table, Item: {
    ...await app.item('POST#p2', 'POST#p2'), PK: key, SK: key, postId: 'p3', authorId: 'sub-nobody', GSI1SK: 'POST#2026-01-11T10:00:00Z#p3',
    GSI2PK: 'AUTHOR#sub-nobody', GSI2SK: 'POST#2026-01-11T10:00:00Z#p3', GSI3SK: 'POST#2026-01-11T10:00:00Z#p3',
  } });
  await davi.put('/posts/p3/likes/sub-davi');
  await app.settled();
  assert.equal((await operator.get('/processors')).body.processors.reduce((sum, { parked }) => sum + parked, 0), 0);
  assert.deepEqual((await app.items()).filter(({ PK, SK }) => PK === 'USER#sub-nobody' || SK.includes('sub-nobody')), []);
  await operator.delete('/posts/p3');
  await right();
});

test('B-A25, B-A32: reading counts down, twice counts once, and only one may', async () => {
  const [first] = await inbox(bruno, 'sub-bruno');
  const before = await unread('sub-bruno');
  const path = `/users/sub-bruno/notifications/${first.notificationId}`;
  await davi.post(`${path}/read`, {}, { status: 404 });
  await bruno.post(`${path}/read`);
  await bruno.post(`${path}/read`);
  assert.equal(await unread('sub-bruno'), before - 1);
  assert.ok(!(await bruno.list('/users/sub-bruno/notifications/unread')).some(({ notificationId }) => notificationId === first.notificationId));
  const [, second] = await inbox(bruno, 'sub-bruno');
  await atOnce(Array.from({ length: 10 }, () => () => bruno.request('POST', `/users/sub-bruno/notifications/${second.notificationId}/read`, { body: {} })));
  await right();
  await bruno.delete(`/users/sub-bruno/notifications/${second.notificationId}`); // read: nothing to count off
  await bruno.patch(path, { isRead: false }, { status: 422, type: 'invalid' });
  await right();
});

test('B-A25: thirty likers at once, while the author reads: the number is right at the end', async () => {
  const fans = await Promise.all(Array.from({ length: 30 }, async (_, i) => [`fan-${i}`, await app.as(`fan-${i}`)]));
  for (const [, fan] of fans) await fan.post('/users');
  let going = true;
  const reading = (async () => {
    let read = 0;
    for (let over = false; !over || read < 5;) {
      over = !going;
      if (over) await app.settled();
      const some = await clara.list('/users/sub-clara/notifications/unread');
      const statuses = await atOnce(some.slice(0, 3).map(({ notificationId }) => () => clara.request('POST', `/users/sub-clara/notifications/${notificationId}/read`, { body: {} })));
      read += statuses[200] ?? 0;
      if (over && !some.length) break;
    }
    return read;
  })();
  const statuses = await atOnce(fans.flatMap(([id, fan]) => [
    () => fan.request('PUT', `/posts/p2/likes/${id}`, { body: {} }),
    () => fan.request('POST', '/posts/p2/comments', { body: { body: 'Nice' } }),
  ]));
  going = false;
  assert.ok(await reading >= 5);
  const made = (await inbox(clara, 'sub-clara')).length;
  assert.equal(made, statuses[201], JSON.stringify(statuses));
  await right();
});

test('B-A32: all of them are read at once, page or no page', async () => {
  const left = (await clara.all('/users/sub-clara/notifications/unread', 10)).length;
  assert.ok(left > 0);
  await davi.post('/users/sub-clara/notifications/unread/read', {}, { status: 200 }).then(({ body }) => assert.deepEqual(body, { done: 0 })); // none of them is his to see
  const { body } = await clara.post('/users/sub-clara/notifications/unread/read');
  assert.deepEqual(body, { done: left });
  assert.deepEqual(await clara.list('/users/sub-clara/notifications/unread'), []);
  assert.equal(await unread('sub-clara'), 0);
  assert.deepEqual((await clara.post('/users/sub-clara/notifications/unread/read')).body, { done: 0 });
  await right();
});

test('an account that is deleted and made again keeps what it says from then on, though the processor comes late', async () => {
  const empty = '/processors/empty%20the%20comments%20of%20an%20account%20that%20is%20gone';
  const gwen = await app.as('sub-gwen', 'reader');
  await gwen.post('/users', { displayName: 'Gwen' });
  const { body: before } = await gwen.post('/posts/p1/comments', { body: 'Before' });
  await operator.post(`${empty}/pause`);
  await gwen.delete('/users/sub-gwen');
  await gwen.post('/posts/p1/comments', { body: 'Without a profile' }, { status: 422, type: 'invalid', detail: /first make your profile/ });
  await gwen.post('/users', { displayName: 'Gwen again' });
  const { body: after } = await gwen.post('/posts/p1/comments', { body: 'After' });
  await operator.post(`${empty}/resume`);
  await app.settled();
  const read = async ({ commentId }) => (await gwen.get(`/comments/${commentId}`)).body;
  assert.deepEqual([(await read(before)).body, (await read(before)).isDeleted], ['', true]);
  assert.deepEqual([(await read(after)).body, (await read(after)).isDeleted, (await read(after)).authorName], ['After', false, 'Gwen again']);
  await right();
  assert.equal((await read(before)).authorName, 'Gwen again');
  // The second profile leaves no name behind, either, nor on what the first one had said.
  await gwen.delete('/users/sub-gwen');
  await app.settled();
  for (const comment of [before, after]) {
    const { body, isDeleted, authorName } = (await davi.get(`/comments/${comment.commentId}`)).body;
    assert.deepEqual([body, isDeleted, authorName], ['', true, undefined]);
  }
  // Who comes back when all that is over has the name on them again.
  await gwen.post('/users', { displayName: 'Gwen the third' });
  await app.settled();
  for (const comment of [before, after]) assert.equal((await read(comment)).authorName, 'Gwen the third');
  await right();
});

test('B-A31, B-A30: nobody is told of a like, a comment or a reply that was taken back before', async () => {
  const telling = ['tell an author of a like', 'tell an author of a comment', 'tell a commenter of a reply'].map((name) => `/processors/${encodeURIComponent(name)}`);
  await published('p4', 'sub-bruno', 'backend', '2026-01-12T10:00:00Z');
  const { body: root } = await davi.post('/posts/p4/comments', { body: 'Stays' });
  const before = [await inbox(bruno, 'sub-bruno'), await inbox(davi, 'sub-davi')];
  for (const each of telling) await operator.post(`${each}/pause`);
  await elisa.put('/posts/p4/likes/sub-elisa');
  await elisa.delete('/posts/p4/likes/sub-elisa');
  for (const parentId of [undefined, root.commentId]) {
    const { body } = await elisa.post('/posts/p4/comments', { body: 'Never mind', parentId });
    await elisa.delete(`/posts/p4/comments/${body.commentId}`);
  }
  for (const each of telling) await operator.post(`${each}/resume`);
  assert.deepEqual([await inbox(bruno, 'sub-bruno'), await inbox(davi, 'sub-davi')], before);
  await right();
});
