// The blog, played through: comments and replies, likes, bookmarks, notifications, and what a user did.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { fillBlog, ids, recount, startBlog, TIME, ULID } from './blog-world.mjs';
import { Caller, ROOT, runToEnd, startDesign, until } from './harness.mjs';

const world = await startBlog();
const { app, operator, ana, bruno, clara, davi, elisa, published } = world;
await fillBlog(world);
await published('p1', 'sub-bruno', 'cloud', '2024-01-01T00:00:00Z');
await published('p2', 'sub-clara', 'food', '2024-01-02T00:00:00Z');
await bruno.post('/posts', { postId: 'draft', title: 'Draft', subcategoryId: 'cloud' });

const answers = [];
const request = Caller.prototype.request;
Caller.prototype.request = async function (method, path, options) {
  const reply = await request.call(this, method, path, options);
  answers.push({ who: this, asked: `${method} ${path}`, text: JSON.stringify(reply.body) ?? '' });
  return reply;
};

/** A comment of then, and not now. */
const comment = (commentId, authorId, createdAt, parentId, postId = 'p1') =>
  operator.post(`/posts/${postId}/comments`, { commentId, authorId, createdAt, parentId, body: `I am ${commentId}` });
/** Ids of a thread: c1, or [c1, replies…]. */
const shape = (rows) => rows.map((row) => (row.children?.length ? [row.commentId, ...shape(row.children)] : row.commentId));

test('B-A30: a comment and a reply, as the document has them', async () => {
  // T4
  const { body, location } = await davi.post('/posts/p1/comments', { body: 'Olá!', authorId: 'sub-ana' }, { status: 201 });
  const { commentId, createdAt } = body;
  assert.match(commentId, ULID); // B6
  assert.equal(location, `/api/blog/posts/p1/comments/${commentId}`);
  const root = await app.item('POST#p1', `COMMENT#${commentId}#${createdAt}`);
  const authorProfileId = async (sub) => (await app.item(`USER#${sub}`, `PROFILE#${sub}`)).profileId;
  assert.deepEqual(root, {
    PK: 'POST#p1', SK: `COMMENT#${commentId}#${createdAt}`, GSI1PK: `COMMENT#${commentId}`, GSI1SK: 'POST#p1', GSI2PK: 'AUTHOR#sub-davi',
    GSI2SK: `COMMENT#${createdAt}#${commentId}`, entityType: 'COMMENT', postId: 'p1', commentId, authorId: 'sub-davi', authorName: 'Davi', body: 'Olá!', isDeleted: false,
    replyCount: 0, createdAt, updatedAt: createdAt, authorProfileId: await authorProfileId('sub-davi'),
  });
  const { body: reply } = await bruno.post('/posts/p1/comments', { body: 'Olá, Davi', parentId: commentId });
  assert.deepEqual(await app.item('POST#p1', `COMMENT#${commentId}#${reply.commentId}#${reply.createdAt}`), { // B7: with index keys
    PK: 'POST#p1', SK: `COMMENT#${commentId}#${reply.commentId}#${reply.createdAt}`, GSI1PK: `COMMENT#${reply.commentId}`, GSI1SK: 'POST#p1',
    GSI2PK: 'AUTHOR#sub-bruno', GSI2SK: `COMMENT#${reply.createdAt}#${reply.commentId}`, entityType: 'REPLY', postId: 'p1', commentId: reply.commentId,
    parentId: commentId, authorId: 'sub-bruno', authorName: 'Bruno', body: 'Olá, Davi', isDeleted: false, replyCount: 0, createdAt: reply.createdAt, updatedAt: reply.createdAt,
    authorProfileId: await authorProfileId('sub-bruno'),
  });
  assert.equal((await app.item('POST#p1', 'POST#p1')).commentCount, 2);
  assert.equal((await app.item('POST#p1', root.SK)).replyCount, 1);

  // what is not open, not there, or elsewhere takes no comments
  await davi.post('/posts/draft/comments', { body: 'x' }, { status: 404, type: 'not-found' }); // as if there were no draft
  await bruno.post('/posts/draft/comments', { body: 'x' }, { status: 409, type: 'conflict', detail: /not open for comments/ });
  await davi.post('/posts/none/comments', { body: 'x' }, { status: 404, type: 'not-found' });
  await davi.post('/posts/p2/comments', { body: 'x', parentId: commentId }, { status: 422 });
  await davi.post('/posts/p1/comments', { body: 'x', parentId: 'none' }, { status: 422 });
  await app.nobody.post('/posts/p1/comments', { body: 'x' }, { status: 401, type: 'unauthenticated' });
  await davi.post('/posts/p1/comments', { body: '' }, { status: 422, type: 'invalid' });
  // an id is made here: nothing but its randomness keeps two comments apart
  await davi.post('/posts/p1/comments', { body: 'x', commentId: 'mine' }, { status: 422, type: 'invalid' });
  await davi.put('/posts/p1/comments/mine', { body: 'x' }, { status: 422, type: 'invalid' });

  // edited by its author and by nobody else
  await davi.patch(`/posts/p1/comments/${commentId}`, { body: 'Olá a todos!' });
  await elisa.patch(`/posts/p1/comments/${commentId}`, { body: 'x' }, { status: 403, type: 'forbidden' });
  await davi.patch(`/posts/p1/comments/${commentId}`, { parentId: reply.commentId }, { status: 422 });

  // T5: the text goes, the place stays, so that the reply keeps its parent
  await elisa.delete(`/posts/p1/comments/${commentId}`, { status: 403, type: 'forbidden' });
  assert.equal((await davi.delete(`/posts/p1/comments/${commentId}`)).status, 204);
  const gone = await app.item('POST#p1', root.SK);
  assert.deepEqual(gone, { ...root, replyCount: 1, isDeleted: true, body: '', updatedAt: gone.updatedAt });
  assert.equal((await app.item('POST#p1', 'POST#p1')).commentCount, 1);
  await davi.delete(`/posts/p1/comments/${commentId}`, { status: 403 });
  assert.equal((await app.item('POST#p1', 'POST#p1')).commentCount, 1);
  await elisa.post('/posts/p1/comments', { body: 'x', parentId: commentId }, { status: 409, type: 'conflict' });
  await ana.delete(`/posts/p1/comments/${reply.commentId}`); // an admin may
  assert.equal((await app.item('POST#p1', root.SK)).replyCount, 0);
  assert.equal((await app.item('POST#p1', 'POST#p1')).commentCount, 0);
  assert.deepEqual(recount(await app.items()), []);
});

test('B-A04, B-A05: the whole thread in one read, as a tree', async () => {
  await comment('c2', 'sub-davi', '2024-02-02T00:00:00Z', undefined, 'p2');
  await comment('c1', 'sub-elisa', '2024-02-03T00:00:00Z', undefined, 'p2');
  await comment('a9', 'sub-clara', '2024-02-04T00:00:00Z', 'c2', 'p2');
  await comment('z1', 'sub-bruno', '2024-02-03T12:00:00Z', 'c2', 'p2');
  await comment('d1', 'sub-davi', '2024-02-05T00:00:00Z', 'a9', 'p2');
  await comment('e1', 'sub-elisa', '2024-02-06T00:00:00Z', 'd1', 'p2');
  const { body } = await app.nobody.get('/posts/p2/comments');
  assert.deepEqual(shape(body.items), [['c2', 'z1', ['a9', ['d1', 'e1']]], 'c1']); // B6: by time on every level
  assert.equal(body.next, undefined);
  assert.deepEqual(await app.nobody.list('/posts/draft/comments'), []);
  // a deleted comment keeps its place
  await clara.delete('/posts/p2/comments/a9');
  const [first] = await app.nobody.list('/posts/p2/comments');
  assert.deepEqual(shape([first]), [['c2', 'z1', ['a9', ['d1', 'e1']]]]);
  assert.equal(first.children[1].body, '');
});

test('B-A04, B-A06: the roots only', async () => {
  assert.deepEqual(ids(await app.nobody.all('/posts/p2/comments/roots', 1), 'commentId').sort(), ['c1', 'c2']); // B5
});

test('B-A04, B-A07: the replies of one comment', async () => {
  assert.deepEqual(ids(await app.nobody.all('/posts/p2/comments/c2/replies', 1), 'commentId').sort(), ['a9', 'z1']); // B5: not c2, nor d1
  assert.deepEqual(ids(await app.nobody.list('/posts/p2/comments/a9/replies'), 'commentId'), ['d1']);
  assert.deepEqual(await app.nobody.list('/posts/p2/comments/c1/replies'), []);
  assert.deepEqual(await app.nobody.list('/posts/p2/comments/c/replies'), []);
});

test('B-A15: a comment or a reply by its id', async () => {
  assert.equal((await app.nobody.get('/comments/c2')).body.body, 'I am c2');
  assert.equal((await app.nobody.get('/comments/d1')).body.parentId, 'a9');
  assert.equal((await app.nobody.get('/comments/d1?postId=p2')).body.parentId, 'a9');
  await app.nobody.get('/comments/d1?postId=p1', { status: 404, type: 'not-found' });
  await app.nobody.get('/comments/none', { status: 404, type: 'not-found' });
  assert.equal((await app.nobody.get('/posts/p2/comments/d1')).body.commentId, 'd1'); // B8: the id suffices
  await app.nobody.get('/posts/p1/comments/d1', { status: 404, type: 'not-found' });
});

test('B-A16: the comments of a user, newest first, replies too', async () => {
  const mine = ids(await app.nobody.all('/users/sub-elisa/comments', 1), 'commentId');
  assert.deepEqual(mine, ['e1', 'c1']); // B7
  await elisa.patch('/users/sub-elisa', { displayName: 'Elisa P.' });
  await until('the copies of the name', async () => (await app.nobody.list('/users/sub-elisa/comments')).every((each) => each.authorName === 'Elisa P.'));
  assert.equal((await app.nobody.get('/comments/c2')).body.authorName, 'Davi');
  // a deleted one is in its thread, and not among what a user did
  const { body: brief } = await elisa.post('/posts/p2/comments', { body: 'Never mind' });
  await elisa.delete(`/posts/p2/comments/${brief.commentId}`);
  assert.deepEqual(ids(await app.nobody.list('/users/sub-elisa/comments'), 'commentId'), mine);
  assert.ok((await app.nobody.list('/users/sub-elisa/activity')).every(({ commentId }) => commentId !== brief.commentId));
  assert.ok((await app.nobody.list('/posts/p2/comments')).some(({ commentId }) => commentId === brief.commentId));
  // of another program, which knows nothing of isDeleted
  const { isDeleted, ...bare } = await app.item('POST#p2', `COMMENT#${brief.commentId}#${brief.createdAt}`);
  const other = { ...bare, SK: `COMMENT#bare#${brief.createdAt}`, commentId: 'bare', GSI1PK: 'COMMENT#bare', GSI2SK: `COMMENT#${brief.createdAt}#bare`, body: 'Bare' };
  await app.doc.put({ TableName: app.table, Item: other });
  assert.deepEqual(ids(await app.nobody.list('/users/sub-elisa/comments'), 'commentId'), ['bare', ...mine]);
  await app.settled();
  await app.doc.delete({ TableName: app.table, Key: { PK: other.PK, SK: other.SK } });
  await elisa.patch('/users/sub-elisa', { displayName: 'Elisa' });
  await app.settled();
  assert.equal((await app.nobody.get(`/comments/${brief.commentId}`)).body.authorName, 'Elisa'); // its name is kept all the same
});

test('B-A31, B-A20: liking once, and taking it back', async () => {
  // T6, B9, B10
  const { body, location } = await davi.post('/posts/p1/likes', { userId: 'sub-ana' }, { status: 201 });
  assert.equal(location, '/api/blog/posts/p1/likes/sub-davi');
  const { createdAt } = body;
  assert.match(createdAt, TIME);
  assert.deepEqual(await app.item('POST#p1', `LIKE#sub-davi#${createdAt}`), {
    PK: 'POST#p1', SK: `LIKE#sub-davi#${createdAt}`, GSI1PK: 'LIKE#sub-davi#p1', GSI1SK: 'LIKE', GSI2PK: 'AUTHOR#sub-davi', GSI2SK: `LIKE#${createdAt}`, // B11
    entityType: 'LIKE', userId: 'sub-davi', postId: 'p1', authorId: 'sub-davi', postAuthorId: 'sub-bruno', createdAt, updatedAt: createdAt,
  });
  assert.deepEqual(await app.item('LIKE#sub-davi#p1', 'LIKE'), { PK: 'LIKE#sub-davi#p1', SK: 'LIKE', entityType: 'LIKE_GUARD', createdAt });
  assert.equal((await app.item('POST#p1', 'POST#p1')).likeCount, 1);
  assert.equal((await app.nobody.get('/users/sub-davi/liked/p1')).body.createdAt, createdAt);
  await app.nobody.get('/users/sub-elisa/liked/p1', { status: 404, type: 'not-found' });

  await davi.post('/posts/p1/likes', {}, { status: 409, type: 'already-exists' });
  await davi.put('/posts/p1/likes/sub-davi', {}, { status: 409, type: 'already-exists' });
  // a like of long ago is in the way, too: its second is another
  await operator.post('/posts/p2/likes', { userId: 'sub-davi', createdAt: '2024-01-03T00:00:00Z' });
  await davi.post('/posts/p2/likes', {}, { status: 409 });
  assert.equal((await app.items()).filter((item) => item.entityType === 'LIKE').length, 2);
  await davi.post('/posts/none/likes', {}, { status: 404, type: 'not-found' });
  await davi.post('/posts/draft/likes', {}, { status: 404, type: 'not-found' }); // as if there were no draft
  await bruno.post('/posts/draft/likes', {}, { status: 409, type: 'conflict', detail: /not published/ });
  await app.nobody.post('/posts/p1/likes', {}, { status: 401, type: 'unauthenticated' });

  await elisa.delete('/posts/p1/likes/sub-davi', { status: 403, type: 'forbidden' });
  assert.equal((await davi.delete('/posts/p1/likes/sub-davi')).status, 204);
  assert.equal(await app.item('POST#p1', `LIKE#sub-davi#${createdAt}`), undefined);
  assert.equal(await app.item('LIKE#sub-davi#p1', 'LIKE'), undefined);
  assert.equal((await app.item('POST#p1', 'POST#p1')).likeCount, 0);
  await davi.delete('/posts/p1/likes/sub-davi', { status: 404, type: 'not-found' });
  await davi.put('/posts/p1/likes/sub-davi', {}, { status: 201 });
  assert.deepEqual(recount(await app.items()), []);
});

test('B-A19: the likes of a post', async () => {
  await clara.post('/posts/p1/likes');
  await elisa.post('/posts/p1/likes');
  assert.deepEqual(ids(await app.nobody.all('/posts/p1/likes', 1), 'userId'), ['sub-clara', 'sub-davi', 'sub-elisa']);
});

test('B-A17: the likes a user gave, newest first', async () => {
  await operator.post('/posts/p2/likes', { userId: 'sub-elisa', createdAt: '2024-01-04T00:00:00Z' });
  assert.deepEqual(ids(await app.nobody.all('/users/sub-elisa/likes', 1)), ['p1', 'p2']);
});

test('B-A18: what a user did, in one line of time', async () => {
  await published('p3', 'sub-clara', 'food', '2024-02-03T18:00:00Z', { createdAt: '2023-12-01T00:00:00Z' });
  await comment('by-clara', 'sub-clara', '2024-02-01T00:00:00Z', undefined, 'p2');
  await operator.post('/posts/p2/likes', { userId: 'sub-clara', createdAt: '2024-02-02T00:00:00Z' });
  const line = (rows) => rows.map((row) => [row['@type'], row.publishedAt ?? row.createdAt]);
  const all = await app.nobody.all('/users/sub-clara/activity', 1);
  assert.deepEqual(line(all).slice(1), [ // the first is the like of just now; a9 is deleted
    ['Post', '2024-02-03T18:00:00Z'], ['Like', '2024-02-02T00:00:00Z'], ['Comment', '2024-02-01T00:00:00Z'], ['Post', '2024-01-02T00:00:00Z'],
  ]); // B32; by when it was published, as readers saw it
  assert.equal(all[0]['@type'], 'Like');
  assert.deepEqual(await app.nobody.all('/users/sub-clara/activity', 4), all);
});

test('B-A31, B-A21, B-A22, B-A23: bookmarks', async () => {
  // T7, B16
  const { body, location } = await davi.post('/users/sub-davi/bookmarks', { postId: 'p1' }, { status: 201 });
  assert.equal(location, '/api/blog/users/sub-davi/bookmarks/p1');
  const { createdAt } = body;
  assert.deepEqual(await app.item('USER#sub-davi', `BOOKMARK#p1#${createdAt}`), {
    PK: 'USER#sub-davi', SK: `BOOKMARK#p1#${createdAt}`, GSI1PK: 'BOOKMARK#sub-davi', GSI1SK: `BOOKMARK#${createdAt}#p1`, GSI2PK: 'POST#p1', GSI2SK: 'BOOKMARK#sub-davi',
    entityType: 'BOOKMARK', userId: 'sub-davi', postId: 'p1', postTitle: 'About p1', createdAt, updatedAt: createdAt,
  });
  assert.deepEqual(await app.item('BOOKMARK#sub-davi#p1', 'BOOKMARK'), { PK: 'BOOKMARK#sub-davi#p1', SK: 'BOOKMARK', entityType: 'BOOKMARK_GUARD', createdAt });
  assert.equal((await app.item('POST#p1', 'POST#p1')).bookmarkCount, 1);
  await davi.post('/users/sub-davi/bookmarks', { postId: 'p1' }, { status: 409, type: 'already-exists' });
  await operator.post('/users/sub-davi/bookmarks', { postId: 'p2', createdAt: '2024-01-03T00:00:00Z' });
  await davi.post('/users/sub-davi/bookmarks', { postId: 'p2' }, { status: 409 });
  await elisa.put('/users/sub-elisa/bookmarks/p1', {}, { status: 201 });
  await davi.post('/users/sub-davi/bookmarks', { postId: 'none' }, { status: 404 });
  await davi.post('/users/sub-davi/bookmarks', { postId: 'draft' }, { status: 404, type: 'not-found' });
  await bruno.post('/users/sub-bruno/bookmarks', { postId: 'draft' }, { status: 409, type: 'conflict', detail: /not published/ });

  // B-A21
  assert.deepEqual(ids(await davi.all('/users/sub-davi/bookmarks', 1)), ['p1', 'p2']);
  assert.deepEqual(await elisa.list('/users/sub-davi/bookmarks'), []); // one's own business
  assert.deepEqual(await app.nobody.list('/users/sub-davi/bookmarks'), []);
  // B-A22
  assert.equal((await davi.get('/users/sub-davi/bookmarked/p1')).body.createdAt, createdAt);
  await davi.get('/users/sub-davi/bookmarked/p3', { status: 404, type: 'not-found' });
  await elisa.get('/users/sub-davi/bookmarked/p1', { status: 403, type: 'forbidden' });
  // B-A23
  assert.deepEqual(ids(await operator.all('/posts/p1/bookmarks', 1), 'userId'), ['sub-davi', 'sub-elisa']);
  await clara.get('/posts/p1/bookmarks', { status: 403, type: 'forbidden' });

  // the title is a copy that is kept
  await bruno.patch('/posts/p1', { title: 'Another title' });
  await until('the copies of the title', async () => (await davi.get('/users/sub-davi/bookmarks/p1')).body.postTitle === 'Another title');
  // and shows nothing of a post that is a draft again
  const title = async () => (await davi.get('/users/sub-davi/bookmarks/p1')).body.postTitle;
  await bruno.post('/posts/p1/unpublish');
  await bruno.patch('/posts/p1', { title: 'Not for you yet' });
  await app.settled();
  assert.equal(await title(), undefined);
  await bruno.post('/posts/p1/publish');
  await until('the title of the new edition', async () => await title() === 'Not for you yet');
  await bruno.patch('/posts/p1', { title: 'Another title' });
  await until('the copies of the title', async () => await title() === 'Another title');
  await elisa.delete('/users/sub-davi/bookmarks/p1', { status: 404 });
  assert.equal((await davi.delete('/users/sub-davi/bookmarks/p1')).status, 204);
  assert.equal(await app.item('BOOKMARK#sub-davi#p1', 'BOOKMARK'), undefined);
  assert.equal((await app.item('POST#p1', 'POST#p1')).bookmarkCount, 1);
  await davi.put('/users/sub-davi/bookmarks/p1', {}, { status: 201 });
  assert.deepEqual(recount(await app.items()), []);
});

test('B-A23: the author and admins see who bookmarked a post', async () => {
  assert.deepEqual(ids(await bruno.all('/posts/p1/bookmarks', 1), 'userId'), ['sub-davi', 'sub-elisa']);
  assert.deepEqual(ids(await ana.all('/posts/p1/bookmarks', 1), 'userId'), ['sub-davi', 'sub-elisa']);
});

test('B-A24, B-A25, B-A32: notifications, the unread ones, and reading one', async () => {
  const told = (actorId, createdAt) => operator.post('/users/sub-ana/notifications', { type: 'LIKE', actorId, postId: 'p1', createdAt });
  const first = (await told('sub-davi', '2024-01-05T00:00:00Z')).body;
  await told('sub-elisa', '2024-01-07T00:00:00Z');
  await told('sub-clara', '2024-01-06T00:00:00Z');
  assert.match(first.notificationId, ULID);
  const key = ['USER#sub-ana', `NOTIFICATION#${first.notificationId}#2024-01-05T00:00:00Z`];
  const { updatedAt, ...item } = await app.item(...key);
  assert.deepEqual(item, {
    PK: key[0], SK: key[1], GSI1PK: 'NOTIFICATION#sub-ana', GSI1SK: `NOTIFICATION#2024-01-05T00:00:00Z#${first.notificationId}`, entityType: 'NOTIFICATION',
    userId: 'sub-ana', notificationId: first.notificationId, type: 'LIKE', actorId: 'sub-davi', postId: 'p1', isRead: false, createdAt: '2024-01-05T00:00:00Z',
  });
  assert.match(updatedAt, TIME);
  assert.deepEqual(ids(await ana.all('/users/sub-ana/notifications', 1), 'actorId'), ['sub-elisa', 'sub-clara', 'sub-davi']);
  assert.equal((await ana.get('/users/sub-ana')).body.unreadNotifications, 3);

  assert.deepEqual(await davi.list('/users/sub-ana/notifications'), []);
  await davi.get(`/users/sub-ana/notifications/${first.notificationId}`, { status: 404, type: 'not-found' });
  await davi.post(`/users/sub-ana/notifications/${first.notificationId}/read`, {}, { status: 404, type: 'not-found' });
  await davi.post('/users/sub-ana/notifications', { type: 'LIKE', actorId: 'sub-davi', postId: 'p1' }, { status: 403, type: 'forbidden' });

  await ana.post(`/users/sub-ana/notifications/${first.notificationId}/read`);
  await ana.post(`/users/sub-ana/notifications/${first.notificationId}/read`); // a second time changes nothing
  assert.equal((await app.item(...key)).isRead, true);
  assert.equal((await ana.get('/users/sub-ana')).body.unreadNotifications, 2);
  assert.deepEqual(ids(await ana.all('/users/sub-ana/notifications/unread', 1), 'actorId'), ['sub-elisa', 'sub-clara']);
  const [newest] = await ana.list('/users/sub-ana/notifications');
  await ana.delete(`/users/sub-ana/notifications/${newest.notificationId}`);
  assert.equal((await ana.get('/users/sub-ana')).body.unreadNotifications, 1);
  assert.deepEqual(recount(await app.items()), []);
});

test('B-A05, B-A15, B-A16, B-A19: what is said about a post is out of sight while the post is', async () => {
  await published('p9', 'sub-bruno', 'cloud', '2024-01-09T00:00:00Z');
  const { commentId } = (await davi.post('/posts/p9/comments', { body: 'Before' })).body;
  await clara.post('/posts/p9/likes');
  await bruno.post('/posts/p9/unpublish');
  for (const list of ['comments', 'comments/roots', 'likes']) {
    assert.deepEqual(await app.nobody.list(`/posts/p9/${list}`), [], list);
    assert.equal((await bruno.list(`/posts/p9/${list}`)).length, 1, list); // the author's own post
    assert.equal((await ana.list(`/posts/p9/${list}`)).length, 1, list);
  }
  await elisa.get(`/comments/${commentId}`, { status: 404, type: 'not-found' });
  await elisa.get(`/posts/p9/comments/${commentId}`, { status: 404, type: 'not-found' });
  assert.ok(!(await app.nobody.all('/users/sub-davi/comments')).some((each) => each.postId === 'p9'));
  assert.ok((await davi.all('/users/sub-davi/comments')).some((each) => each.postId === 'p9')); // one's own words stay one's own
  assert.equal((await davi.delete(`/posts/p9/comments/${commentId}`)).status, 204);
  assert.equal((await clara.delete('/posts/p9/likes/sub-clara')).status, 204);
  assert.deepEqual(recount(await app.items()), []);
});

test('no answer ever held a key of the table, and emails were for their owners', () => {
  assert.ok(answers.length > 100);
  for (const { who, asked, text } of answers) {
    assert.doesNotMatch(text, /"(PK|SK|GSI[123][PS]K)":/, asked);
    if (who === app.nobody) assert.doesNotMatch(text, /"email":|"unreadNotifications":/, asked);
  }
});

test('the demonstration plays without a warning and can be read', async () => {
  const demo = await startDesign('blog', { args: ['--demo', join(ROOT, 'designs', 'demo')] });
  const lima = await demo.as('sub-davi', 'reader');
  await until('the demonstration to be there', async () => (await lima.request('GET', '/users/sub-davi/bookmarks/post-dynamo')).status === 200);
  assert.doesNotMatch(demo.server.log(), /warn/i);
  assert.deepEqual(ids(await demo.nobody.list('/posts')), ['post-moqueca', 'post-lisboa', 'post-c', 'post-dynamo']);
  assert.deepEqual(shape(await demo.nobody.list('/posts/post-moqueca/comments')), [['com-1', ['com-2', 'com-3']]]);
  const { likeCount, commentCount, bookmarkCount } = (await demo.nobody.get('/posts/post-moqueca')).body;
  assert.deepEqual([likeCount, commentCount, bookmarkCount], [2, 3, 1]);
  assert.deepEqual(ids(await demo.nobody.list('/categories/tech/subcategories/posts')), ['post-c', 'post-dynamo']);
  assert.deepEqual(recount(await demo.items()), []);
  assert.equal((await runToEnd(['check', join(ROOT, 'designs', 'blog.yaml')])).code, 0);
});
