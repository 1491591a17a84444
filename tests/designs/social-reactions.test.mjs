// designs/social.yaml: likes, comments and replies, likes of comments, shares; and the counters and scores that follow them.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDesign, until } from './harness.mjs';
import { TIME, ULID, ago, audit, people } from './social-world.mjs';

const app = await startDesign('social');
const op = await app.operator();
const admin = await app.as('boss', 'admin');
const { ann, ben, cyd, dan } = await people(app, 'ann', 'ben', 'cyd', 'dan');
await ann.put('/posts/p1', { content: 'the first' });
await ann.put('/posts/p2', { content: 'the second' });
await ben.put('/posts/p3', { content: 'the third' });

const post = (id) => app.item(`POST#${id}`, 'METADATA');
const comment = (p, id) => app.item(`POST#${p}`, `COMMENT#${id}`);
const commentIds = async (caller, path) => (await caller.all(path, 2)).map((each) => each.comment_id);

test('S-A32, S-A18: a like is there once, counts once, and may change its mind', async () => {
  const made = await ben.put('/posts/p1/likes/ben');
  assert.equal(made.status, 201);
  const item = await app.item('POST#p1', 'LIKE#ben');
  assert.match(item.created_at, TIME);
  assert.deepEqual(item, { // T8; author_id is the post's
    PK: 'POST#p1', SK: 'LIKE#ben', GSI1PK: 'USER#ben', GSI1SK: `LIKE#${item.created_at}#p1`,
    user_id: 'ben', post_id: 'p1', author_id: 'ann', created_at: item.created_at, like_type: 'like',
  });
  assert.equal((await post('p1')).likes_count, 1);
  await ben.put('/posts/p1/likes/ben', {}, { status: 409, type: 'already-exists' }); // S13
  await ben.post('/posts/p1/likes', { user_id: 'ben', like_type: 'love' }, { status: 409, type: 'already-exists' });
  assert.equal((await post('p1')).likes_count, 1);

  assert.equal((await cyd.get('/posts/p1/likes/ben')).body.like_type, 'like');
  await cyd.get('/posts/p1/likes/cyd', { status: 404 });
  await ben.patch('/posts/p1/likes/ben', { like_type: 'laugh' });
  assert.equal((await cyd.get('/posts/p1/likes/ben')).body.like_type, 'laugh');
  assert.deepEqual(await app.item('POST#p1', 'LIKE#ben'), { ...item, like_type: 'laugh' });
  assert.equal((await post('p1')).likes_count, 1);

  assert.equal((await ben.delete('/posts/p1/likes/ben')).status, 204);
  assert.equal(await app.item('POST#p1', 'LIKE#ben'), undefined);
  assert.equal((await post('p1')).likes_count, 0);
  await ben.delete('/posts/p1/likes/ben', { status: 404 });
  await ben.patch('/posts/p1/likes/ben', { like_type: 'love' }, { status: 404 });
  assert.equal((await post('p1')).likes_count, 0);
  await audit(app);
});

test('S-A32: nobody likes for another, nor what is not there', async () => {
  await ben.put('/posts/p1/likes/ben');
  const before = await app.items();
  await cyd.put('/posts/p1/likes/ann', {}, { status: 403, type: 'forbidden' });
  await cyd.put('/posts/p1/likes/cyd', { user_id: 'dan' }, { status: 422 });
  await cyd.put('/posts/p1/likes/cyd', { post_id: 'p2' }, { status: 422 });
  await cyd.post('/posts/p1/likes', { user_id: 'ben' }, { status: 403 });
  await cyd.put('/posts/p1/likes/cyd', { author_id: 'cyd' }, { status: 422 });
  await cyd.put('/posts/p1/likes/cyd', { like_type: 'hate' }, { status: 422 });
  await cyd.put('/posts/p1/likes/cyd', { like_type: 1 }, { status: 422 });
  await cyd.put('/posts/none/likes/cyd', {}, { status: 404, type: 'not-found' });
  await cyd.delete('/posts/p1/likes/ben', { status: 403 });
  await cyd.patch('/posts/p1/likes/ben', { like_type: 'love' }, { status: 403 });
  await ben.patch('/posts/p1/likes/ben', { post_id: 'p2' }, { status: 422 });
  await ann.patch('/posts/p1', { post_id: 'p9' }, { status: 422 }); // its likes would stay behind
  await op.patch('/posts/p1', { post_id: 'p9' }, { status: 422 });
  await app.nobody.put('/posts/p1/likes/nobody', {}, { status: 401 });
  await app.nobody.delete('/posts/p1/likes/ben', { status: 401 });
  assert.deepEqual(await app.items(), before);
  assert.equal(await post('none'), undefined); // no ghost
});

test('S-A07, S-A11, S-A19: likes of a post, likes of a user, and which of a page of posts one likes', async () => {
  await ann.put('/posts/p1/likes/ann');
  await cyd.put('/posts/p1/likes/cyd', { like_type: 'love' });
  assert.deepEqual((await app.nobody.all('/posts/p1/likes', 2)).map((like) => [like.user_id, like.like_type]),
    [['ann', 'like'], ['ben', 'like'], ['cyd', 'love']]); // S31
  await op.put('/posts/p2/likes/dan', { created_at: ago(3) });
  await op.put('/posts/p1/likes/dan', { created_at: ago(1) });
  await op.put('/posts/p3/likes/dan', { created_at: ago(2) });
  assert.deepEqual((await app.nobody.all('/users/dan/likes', 2)).map((like) => like.post_id), ['p1', 'p3', 'p2']);
  assert.deepEqual(await app.nobody.list('/users/none/likes'), []);

  const page = await cyd.list('/liked?id=p1&id=p2&id=p3&id=none');
  assert.deepEqual(page.map((like) => [like.post_id, like.like_type]), [['p1', 'love']]);
  assert.deepEqual((await dan.list('/liked?id=p1&id=p2&id=p3')).map((like) => like.post_id).sort(), ['p1', 'p2', 'p3']);
  assert.deepEqual((await cyd.list('/liked?id=p1&id=p1')).map((like) => like.post_id), ['p1'], 'twice asked, once told');
  assert.deepEqual((await app.nobody.list('/liked?id=p1', {})).length, 0);
  await cyd.get(`/liked?${Array.from({ length: 101 }, (_, i) => `id=p${i}`).join('&')}`, { status: 422 });
  // What is hidden since is not told of.
  await ben.patch('/posts/p3', { visibility: 'private' });
  assert.deepEqual((await dan.list('/liked?id=p1&id=p3')).map((like) => like.post_id), ['p1']);
  assert.deepEqual((await dan.all('/users/dan/likes', 1)).map((like) => like.post_id), ['p1', 'p2']);
  await ben.patch('/posts/p3', { visibility: 'public' });
  await audit(app);
});

test('S-A33, S-A13: a comment and a reply, each with its keys and counts, and read by its id', async () => {
  const root = await ben.post('/posts/p1/comments', { content: 'Great post! Thanks for sharing.', user_id: 'ann', username: undefined });
  const { comment_id: c1 } = root.body;
  assert.match(c1, ULID); // S6
  assert.equal(root.location, `/api/social/posts/p1/comments/${c1}`);
  const item = await comment('p1', c1);
  assert.deepEqual(item, { // T9; NULL and there for a root, as written
    PK: 'POST#p1', SK: `COMMENT#${c1}`, GSI1PK: 'USER#ben', GSI1SK: `COMMENT#${item.created_at}#${c1}`, GSI2PK: `COMMENT#${c1}`, GSI2SK: 'METADATA',
    comment_id: c1, post_id: 'p1', user_id: 'ben', username: 'ben', content: 'Great post! Thanks for sharing.', created_at: item.created_at,
    updated_at: item.created_at, likes_count: 0, replies_count: 0, parent_comment_id: null, is_deleted: false,
  });
  assert.equal(root.body.parent_comment_id, null);
  const { body: reply } = await ann.post('/posts/p1/comments', { content: 'You are welcome', parent_comment_id: c1 });
  const answer = await comment('p1', reply.comment_id);
  assert.deepEqual([answer.GSI3PK, answer.GSI3SK], [`COMMENT#${c1}`, `REPLY#${answer.created_at}#${reply.comment_id}`]);
  assert.equal((await comment('p1', c1)).replies_count, 1);
  assert.equal((await post('p1')).comments_count, 2); // roots and replies (S17)
  assert.equal((await app.nobody.get(`/comments/${c1}`)).body.content, item.content);
  assert.equal((await app.nobody.get(`/posts/p1/comments/${c1}`)).body.replies_count, 1);
  await app.nobody.get('/comments/none', { status: 404 });
  await app.nobody.get(`/posts/p2/comments/${c1}`, { status: 404 });
  await audit(app);
});

test('S-A08, S-A20, S-A21: comments oldest first, roots alone, replies of one', async () => {
  const say = async (caller, content, parent) => {
    const { body } = await caller.post('/posts/p2/comments', { content, ...(parent && { parent_comment_id: parent }) });
    const said = Date.now();
    await until('the next millisecond, which the next id begins with', () => Date.now() > said);
    return body.comment_id;
  };
  const ids = [];
  for (let i = 0; i < 7; i += 1) ids.push(await say([ann, ben, cyd][i % 3], `number ${i}`, i % 2 ? ids[0] : undefined));
  assert.deepEqual(await commentIds(app.nobody, '/posts/p2/comments'), ids); // S6: the ids are in the order of time
  assert.deepEqual(await commentIds(app.nobody, '/posts/p2/root-comments'), [0, 2, 4, 6].map((i) => ids[i])); // a stored NULL is found
  assert.deepEqual((await commentIds(app.nobody, `/comments/${ids[0]}/replies`)).sort(), [1, 3, 5].map((i) => ids[i]));
  assert.deepEqual(await commentIds(app.nobody, `/comments/${ids[2]}/replies`), []);
  const twice = await op.post('/posts/p2/comments', { comment_id: 'late', content: 'x', user_id: 'dan', parent_comment_id: ids[2], created_at: ago(0, 10) });
  const once = await op.post('/posts/p2/comments', { comment_id: 'later', content: 'x', user_id: 'dan', parent_comment_id: ids[2], created_at: ago(0, 20) });
  assert.deepEqual(await commentIds(app.nobody, `/comments/${ids[2]}/replies`), [once.body.comment_id, twice.body.comment_id]);
  assert.equal((await comment('p2', ids[0])).replies_count, 3);
  assert.equal((await post('p2')).comments_count, 9);
  const explain = await op.post('/call', { pattern: 'root comments', with: { post_id: 'p2' }, explain: true });
  assert.ok(!JSON.stringify(explain.body.requests).includes('attribute_not_exists'));
  await audit(app);
});

test('S-A12: comments of a user, newest first, and no likes of comments among them', async () => {
  const { eve } = await people(app, 'eve');
  for (const [i, id] of ['e1', 'e2', 'e3'].entries()) {
    await op.post('/posts/p1/comments', { comment_id: id, content: id, user_id: 'eve', created_at: ago(3 - i) });
  }
  await eve.put('/comments/e1/likes/eve', { post_id: 'p1' });
  await eve.put('/posts/p1/likes/eve');
  assert.deepEqual(await commentIds(app.nobody, '/users/eve/comments'), ['e3', 'e2', 'e1']); // S7
  assert.deepEqual((await app.nobody.list('/users/eve/likes')).map((like) => like.post_id), ['p1']);
  assert.deepEqual((await app.nobody.list('/users/eve/comment-likes')).map((like) => like.comment_id), ['e1']);
  await ann.patch('/posts/p1', { visibility: 'private' });
  assert.deepEqual(await commentIds(eve, '/users/eve/comments'), []);
  assert.deepEqual(await commentIds(ann, '/users/eve/comments'), ['e3', 'e2', 'e1']);
  await eve.get('/comments/e1', { status: 404 });
  await ann.patch('/posts/p1', { visibility: 'public' });
});

test('S-A33: a comment is edited by who wrote it, and deleted by him, by the author of the post or an admin', async () => {
  const { body: { comment_id: root } } = await cyd.post('/posts/p3/comments', { content: 'one' });
  const { body: { comment_id: reply } } = await dan.post('/posts/p3/comments', { content: 'two', parent_comment_id: root });
  assert.equal((await cyd.patch(`/posts/p3/comments/${root}`, { content: 'one!' })).body.content, 'one!');
  for (const caller of [dan, ben, admin]) await caller.patch(`/posts/p3/comments/${root}`, { content: 'hijacked' }, { status: 403 });
  await cyd.patch(`/posts/p3/comments/${root}`, { content: '' }, { status: 422, detail: /says something/ });
  await cyd.patch(`/posts/p3/comments/${root}`, { content: null }, { status: 422 });
  await cyd.patch(`/posts/p3/comments/${root}`, { parent_comment_id: reply }, { status: 422 });
  await cyd.patch(`/posts/p3/comments/${root}`, { replies_count: 7 }, { status: 422 });
  await dan.delete(`/posts/p3/comments/${root}`, { status: 403 });
  await app.nobody.delete(`/posts/p3/comments/${root}`, { status: 401 });

  assert.equal((await dan.delete(`/posts/p3/comments/${reply}`)).status, 204);
  let item = await comment('p3', reply);
  assert.deepEqual([item.is_deleted, item.content, item.parent_comment_id], [true, '', root]);
  assert.equal((await comment('p3', root)).replies_count, 0);
  assert.equal((await post('p3')).comments_count, 1);
  await dan.delete(`/posts/p3/comments/${reply}`, { status: 403 });
  await dan.patch(`/posts/p3/comments/${reply}`, { content: 'back' }, { status: 403 });
  assert.equal((await post('p3')).comments_count, 1);
  await ben.delete(`/posts/p3/comments/${root}`); // the post is his
  item = await comment('p3', root);
  assert.deepEqual([item.is_deleted, item.content], [true, '']);
  assert.equal((await post('p3')).comments_count, 0);
  const shown = await app.nobody.list('/posts/p3/comments'); // S32: a placeholder, so that replies keep their place
  assert.deepEqual(shown.map((each) => [each.comment_id, each.content, each.is_deleted]).sort(), [[root, '', true], [reply, '', true]].sort());
  await dan.post('/posts/p3/comments', { content: 'to whom?', parent_comment_id: root }, { status: 409, type: 'conflict' });
  const { body: { comment_id: last } } = await dan.post('/posts/p3/comments', { content: 'and this?' });
  await admin.delete(`/posts/p3/comments/${last}`);
  await audit(app);
});

test('S-A33: what is no comment is refused and changes nothing', async () => {
  const { body: { comment_id: elsewhere } } = await ben.post('/posts/p2/comments', { content: 'elsewhere' });
  const before = await app.items();
  const to = (path, body, expect) => cyd.post(path, body, expect);
  await to('/posts/p1/comments', {}, { status: 422 });
  await to('/posts/p1/comments', { content: '' }, { status: 422 });
  await to('/posts/p1/comments', { content: 'x'.repeat(2001) }, { status: 422 });
  await to('/posts/p1/comments', { content: ['x'] }, { status: 422 });
  await to('/posts/p1/comments', { content: 'x', post_id: 'p2' }, { status: 422 });
  await to('/posts/p1/comments', { content: 'x', comment_id: 'a#b' }, { status: 422 });
  await to('/posts/p1/comments', { content: 'x', parent_comment_id: 'a#b' }, { status: 422 });
  await to('/posts/p1/comments', { content: 'x', likes_count: 5 }, { status: 422 });
  await to('/posts/p1/comments', { content: 'x', username: 'ann' }, { status: 422 });
  await to('/posts/p1/comments', { content: 'x', is_deleted: true }, { status: 422 });
  await to('/posts/none/comments', { content: 'x' }, { status: 404 });
  await to('/posts/p1/comments', { content: 'x', parent_comment_id: 'none' }, { status: 422 });
  await to('/posts/p1/comments', { content: 'x', parent_comment_id: elsewhere }, { status: 422 }); // of another post
  await app.nobody.post('/posts/p1/comments', { content: 'x' }, { status: 401 });
  assert.deepEqual(await app.items(), before);
});

test('S-A32: likes of comments and shares are items, too, and count once', async () => {
  const { body: { comment_id: id } } = await ann.post('/posts/p2/comments', { content: 'like me' });
  await ben.put(`/comments/${id}/likes/ben`, { post_id: 'p2' }); // S13
  const like = await app.item(`COMMENT#${id}`, 'LIKE#ben');
  assert.deepEqual(like, {
    PK: `COMMENT#${id}`, SK: 'LIKE#ben', GSI1PK: 'USER#ben', GSI1SK: `COMMENT_LIKE#${like.created_at}#${id}`,
    comment_id: id, user_id: 'ben', post_id: 'p2', created_at: like.created_at,
  });
  await ben.put(`/comments/${id}/likes/ben`, { post_id: 'p2' }, { status: 409, type: 'already-exists' });
  const astray = await cyd.request('PUT', `/comments/${id}/likes/cyd`, { body: { post_id: 'p1' } }); // a post it is not on
  assert.ok([404, 422].includes(astray.status), `${astray.status}`);
  await cyd.put(`/comments/${id}/likes/cyd`, {}, { status: 422 });
  await cyd.put(`/comments/${id}/likes/ann`, { post_id: 'p2' }, { status: 403 });
  assert.equal((await comment('p2', id)).likes_count, 1);
  assert.deepEqual((await app.nobody.list(`/comments/${id}/likes`)).map((each) => each.user_id), ['ben']);
  await cyd.delete(`/comments/${id}/likes/ben`, { status: 403 });
  await ben.delete(`/comments/${id}/likes/ben`);
  assert.equal((await comment('p2', id)).likes_count, 0);
  await ann.delete(`/posts/p2/comments/${id}`);
  await ben.put(`/comments/${id}/likes/ben`, { post_id: 'p2' }, { status: 409, type: 'conflict' });

  await cyd.put('/posts/p2/shares/cyd');
  const share = await app.item('POST#p2', 'SHARE#cyd');
  assert.deepEqual(share, {
    PK: 'POST#p2', SK: 'SHARE#cyd', GSI1PK: 'USER#cyd', GSI1SK: `SHARE#${share.created_at}#p2`, post_id: 'p2', user_id: 'cyd', created_at: share.created_at,
  });
  await cyd.put('/posts/p2/shares/cyd', {}, { status: 409, type: 'already-exists' });
  await cyd.put('/posts/p2/shares/ann', {}, { status: 403 });
  assert.equal((await post('p2')).shares_count, 1);
  assert.deepEqual((await app.nobody.list('/posts/p2/shares')).map((each) => each.user_id), ['cyd']);
  await audit(app);
  await cyd.delete('/posts/p2/shares/cyd');
  assert.equal((await post('p2')).shares_count, 0);
  await audit(app);
});

test('S-A33, S-A13: nobody gives a comment the id of another, under a post of his own', async () => {
  const { body: { comment_id: id } } = await ann.post('/posts/p1/comments', { content: 'the true one' });
  await ben.post('/posts/p3/comments', { content: 'a false one', comment_id: id }, { status: 422, type: 'invalid' });
  await ben.put(`/posts/p3/comments/${id}`, { content: 'a false one' }, { status: 422 });
  assert.equal((await app.nobody.get(`/comments/${id}`)).body.content, 'the true one');
});

test('S-A32, S-A33: who is suspended, or has no account, neither likes nor comments nor shares', async () => {
  const { sue } = await people(app, 'sue');
  await sue.put('/posts/p1/likes/sue');
  await admin.post('/users/sue/suspend');
  const { body: { comment_id: id } } = await ann.post('/posts/p1/comments', { content: 'anyone?' });
  const before = await app.items();
  for (const [name, caller] of [['sue', sue], ['ghost', await app.as('ghost')]]) { // the token is good for an hour
    await caller.put(`/posts/p2/likes/${name}`, {}, { status: 403, type: 'forbidden' });
    await caller.put(`/posts/p2/shares/${name}`, {}, { status: 403 });
    await caller.put(`/comments/${id}/likes/${name}`, { post_id: 'p1' }, { status: 403 });
    await caller.post('/posts/p1/comments', { content: 'here' }, { status: 403 });
  }
  await op.post('/posts/p1/comments', { content: 'of nobody' }, { status: 422, type: 'invalid' });
  assert.deepEqual(await app.items(), before);
  await sue.delete('/posts/p1/likes/sue');
});

test('addresses that nothing can have are no failures of the server', async () => {
  const long = 'x'.repeat(3000);
  const paths = [
    `/posts/${long}`, `/users/${long}/posts`, `/users/ann/follows/${long}`, `/comments/${long}`, `/comments/${long}/replies`, `/hashtags/${long}`, `/liked?id=${long}`,
    '/liked?id=a%23b', '/liked', '/posts/%ff', '/posts/%00', '/posts/%', '/posts//likes', '/posts/a%23b', '/posts/a%23b/likes', '/timeline/x%23y', '/hashtags/%23',
    '/posts/p1/comments/..%2F..%2Fusers%2Fann',
  ];
  for (const path of paths) {
    const { status, body } = await ann.request('GET', path);
    assert.ok(status < 500, `${path.slice(0, 40)}: ${status} ${JSON.stringify(body)}`);
  }
  for (const path of [`/posts/${long}/likes/ann`, `/users/ann/following/${long}`, '/posts/a%23b/likes/ann', '/posts/a%23b']) {
    const { status } = await ann.request('PUT', path, { body: {} });
    assert.ok(status >= 400 && status < 500, `${path.slice(0, 40)}: ${status}`);
  }
  const { body } = await ann.get('/hashtags/%23', { status: 422, type: 'invalid' });
  assert.deepEqual(body.errors.map(({ attribute }) => attribute), ['tag'], 'in words of the address, not of the index');
});

test('S-A32, S-A33: a deleted post takes nothing more, and what it has can still be taken back', async () => {
  await ann.put('/posts/last', { content: 'last' });
  await ben.put('/posts/last/likes/ben');
  const { body: { comment_id: id } } = await ben.post('/posts/last/comments', { content: 'nice' });
  await ann.delete('/posts/last');
  for (const caller of [cyd, ann]) {
    await caller.post('/posts/last/comments', { content: 'late' }, { status: 404 });
    await caller.put(`/posts/last/likes/${caller === cyd ? 'cyd' : 'ann'}`, {}, { status: 404 });
  }
  await op.put('/posts/last/likes/cyd', {}, { status: 409, type: 'conflict' }); // not even by someone who may do everything
  await ben.get(`/comments/${id}`, { status: 404 });
  assert.deepEqual(await ben.list('/posts/last/comments'), []);
  await ben.delete('/posts/last/likes/ben');
  assert.equal((await post('last')).likes_count, 0);
  await audit(app);
});
