// designs/social.yaml: names that a block hides, what blocked and suspended callers still try, requests to an account that opens,
// notifications of posts that are gone, what a deleted post leaves, and follows and blocks that another program writes.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDesign, until } from './harness.mjs';
import { audit, people } from './social-world.mjs';

const app = await startDesign('social', { oracle: ['counter-differs'] }); // the last test writes a block that nothing counts
const admin = await app.as('boss', 'admin');
const { ann, ben, cyd, dan } = await people(app, 'ann', 'ben', 'cyd', 'dan');
const follow = (caller, a, b) => caller.put(`/users/${a}/following/${b}`);
const blocking = (caller, blocked, by) => caller.post(`/users/${blocked}/following/${by}/block`);
const names = async (caller, path) => [...new Set((await caller.list(path)).map((row) => row.user_id ?? row.follower_id))].sort();
const pause = async (...processors) => {
  const operator = await app.operator();
  for (const name of processors) await operator.post(`/processors/${encodeURIComponent(name)}/pause`);
  return async () => { for (const name of processors) await operator.post(`/processors/${encodeURIComponent(name)}/resume`); };
};

test('S-A28, S-A06, S-A07: a block hides names in the likes, shares and followers of others, from both', async () => {
  await cyd.put('/posts/cyds', { content: 'of Cyd' });
  for (const [caller, name] of [[ann, 'ann'], [ben, 'ben'], [dan, 'dan']]) {
    await caller.put(`/posts/cyds/likes/${name}`);
    await caller.put(`/posts/cyds/shares/${name}`);
    await follow(caller, name, 'cyd');
  }
  const { body: { comment_id: anns } } = await ann.post('/posts/cyds/comments', { content: 'Ann says' });
  const { body: { comment_id: bens } } = await ben.post('/posts/cyds/comments', { content: 'Ben says' });
  await ann.put(`/comments/${bens}/likes/ann`, { post_id: 'cyds' });
  await dan.put(`/comments/${bens}/likes/dan`, { post_id: 'cyds' });
  await follow(ann, 'ann', 'ben');
  await blocking(ann, 'dan', 'ann');

  const all = ['ann', 'ben', 'dan'];
  for (const path of ['/posts/cyds/likes', '/posts/cyds/shares', '/users/cyd/followers', '/users/cyd/followers/now']) {
    assert.deepEqual(await names(dan, path), ['ben', 'dan'], path);
    assert.deepEqual(await names(ann, path), ['ann', 'ben'], path);
    for (const caller of [ben, cyd, admin, app.nobody]) assert.deepEqual(await names(caller, path), all, path);
  }
  assert.deepEqual(await names(dan, `/comments/${bens}/likes`), ['dan']);
  assert.deepEqual(await names(ann, `/comments/${bens}/likes`), ['ann']);
  for (const list of ['likes', 'shares', 'comment-likes', 'comments', 'following', 'followers', 'followers/now']) {
    assert.deepEqual(await dan.list(`/users/ann/${list}`), [], list); // as of an account that is not there
  }
  assert.ok((await ann.list('/users/ann/likes')).length === 1 && (await ben.list('/users/ann/following')).length === 2);
  assert.ok(!JSON.stringify(await dan.list('/follows')).includes('"ann"'));
  assert.deepEqual(await names(dan, `/comments/${anns}/likes`), []);
  for (const path of ['/posts/cyds/likes/ann', '/users/ann/following/cyd', '/users/ann/follows/cyd', `/comments/${bens}/likes/ann`]) {
    await dan.get(path, { status: 404 });
    await ben.get(path);
  }
  await audit(app);

  // and a blocked caller does not reach the comment by its id
  const tries = (id) => [
    ['PUT', `/comments/${id}/likes/dan`, { post_id: 'cyds' }],
    ['POST', '/posts/cyds/comments', { content: 'me again', parent_comment_id: id }],
  ];
  const answers = async (id) => Promise.all(tries(id).map(async ([method, path, body]) => {
    const { status, body: told } = await dan.request(method, path, { body });
    assert.ok(status >= 400, `${method} ${path} gave ${status}`);
    return `${status} ${told.type} ${told.detail}`.replaceAll(id, 'X');
  }));
  assert.deepEqual(await answers(anns), await answers('01ARZ3NDEKTSV4RRFFQ69G5FAV'), 'as of a comment that is not there');
  await ben.post('/posts/cyds/comments', { content: 'Ben to Ann', parent_comment_id: anns });

  await ann.delete('/users/dan/following/ann'); // unblocked
  for (const path of ['/posts/cyds/likes', '/users/cyd/followers', '/users/cyd/followers/now']) assert.deepEqual(await names(dan, path), all, path);
  await audit(app);
});

test('S-A28: of two who block each other, one who ends the block still sees nothing', async () => {
  const { eve, fay } = await people(app, 'eve', 'fay');
  await eve.put('/posts/eves', { content: 'of Eve' });
  await fay.put('/posts/fays', { content: 'of Fay' });
  await Promise.all([blocking(eve, 'fay', 'eve'), blocking(fay, 'eve', 'fay')]);
  assert.equal((await app.item('USER#eve', 'PROFILE')).blocks_count, 2);
  await eve.delete('/users/fay/following/eve');
  assert.equal((await app.item('USER#eve', 'PROFILE')).blocks_count, 1);
  await eve.get('/posts/fays', { status: 404 });
  await fay.get('/posts/eves', { status: 404 });
  await fay.delete('/users/eve/following/fay');
  await eve.get('/posts/fays');
  await fay.get('/posts/eves');
  await audit(app);
});

test('a suspended user follows nobody and changes nothing, whatever token is left, but may delete', async () => {
  const { sue } = await people(app, 'sue');
  await sue.put('/posts/sues', { content: 'of Sue' });
  const { body: { comment_id } } = await sue.post('/posts/sues/comments', { content: 'Sue says' });
  const changes = ['/users/sue', '/posts/sues', `/posts/sues/comments/${comment_id}`];
  await admin.post('/users/sue/suspend');
  await sue.put('/users/sue/following/ann', {}, { status: 403 });
  for (const path of changes) await sue.patch(path, path === '/users/sue' ? { bio: 'x' } : { content: 'x' }, { status: 403 });
  await admin.patch('/users/sue', { bio: 'an admin may' });
  await admin.post('/users/sue/reinstate');
  await follow(sue, 'sue', 'ann');
  for (const path of changes) await sue.patch(path, path === '/users/sue' ? { bio: 'y' } : { content: 'y' });
  await admin.post('/users/sue/suspend');
  await sue.delete('/posts/sues');
  await sue.delete('/users/sue');
});

test('a deleted account stays as it is, whatever token is left', async () => {
  const { tom } = await people(app, 'tom');
  await tom.patch('/users/tom', { bio: 'Tom' });
  await tom.delete('/users/tom');
  const left = await app.item('USER#tom', 'PROFILE');
  for (const caller of [tom, admin]) {
    await caller.patch('/users/tom', { bio: 'back again' }, { status: 403 });
    await caller.delete('/users/tom', { status: 403 });
  }
  assert.deepEqual(await app.item('USER#tom', 'PROFILE'), left);
});

test('S-A26, S-A28: a request to an account that has become public needs no approval', async () => {
  const { pia, quin } = await people(app, 'pia', 'quin');
  await pia.patch('/users/pia', { is_private: true });
  await pia.put('/posts/pias', { content: 'of Pia' });
  await follow(quin, 'quin', 'pia');
  const confirm = (caller, expect) => caller.post('/users/quin/following/pia/confirm', {}, expect);
  await confirm(quin, { status: 409, detail: /waits for an approval/ });
  await pia.patch('/users/pia', { is_private: false });
  await confirm(ben, { status: 404 });
  assert.equal((await confirm(quin)).body.status, 'active');
  await confirm(quin, { status: 409 });
  await app.settled();
  assert.deepEqual((await quin.list('/users/quin/feed')).map((row) => row.post_id), ['pias']);
  assert.deepEqual(await pia.list('/users/pia/requests'), []);
  assert.equal((await app.item('USER#pia', 'PROFILE')).followers_count, 1);
  await audit(app);
});

test('S-A26: requests made again and again while the processor stands still are told of once', async () => {
  const { gil, hal } = await people(app, 'gil', 'hal');
  await gil.patch('/users/gil', { is_private: true });
  const resume = await pause('tell of a request to follow');
  for (let i = 0; i < 3; i += 1) {
    await follow(hal, 'hal', 'gil');
    await hal.delete('/users/hal/following/gil');
    const second = Math.floor(Date.now() / 1000); // the time is in the key of a notification
    await until('the next second', async () => Math.floor(Date.now() / 1000) > second);
  }
  await follow(hal, 'hal', 'gil');
  await resume();
  await app.settled();
  assert.equal((await gil.list('/users/gil/notifications')).length, 1);
  await audit(app);
});

test('S33: a notification of a post goes with the post, in whatever order processors hear of it', async () => {
  const { vic, wes } = await people(app, 'vic', 'wes');
  await follow(wes, 'wes', 'vic');
  await app.settled();
  const told = async () => (await app.settled(), (await wes.list('/users/wes/notifications')).map((row) => row.post_id).sort());
  await vic.put('/posts/v1', { content: '1' });
  await vic.put('/posts/v2', { content: '2' });
  await vic.put('/posts/v3', { content: '3' });
  assert.deepEqual(await told(), ['v1', 'v2', 'v3']);
  await vic.delete('/posts/v1');
  await vic.patch('/posts/v2', { visibility: 'private' });
  assert.deepEqual(await told(), ['v3']);
  // the one that tells is late
  const resume = await pause('tell followers of a post');
  await vic.put('/posts/v4', { content: '4' });
  await vic.put('/posts/v5', { content: '5' });
  await vic.delete('/posts/v4');
  await resume();
  assert.deepEqual(await told(), ['v3', 'v5']);
  await audit(app);
});

test('S33: readers mark notifications as read, one or all, and change nothing else of them', async () => {
  const wes = await app.as('wes');
  const [row] = await wes.list('/users/wes/notifications');
  const path = `/users/wes/notifications/${row.created_at}/${row.notification_id}`;
  for (const change of [{ type: 'follow_request' }, { actor_id: 'ann' }, { actor_username: 'ann' }, { post_id: 'x' }]) await wes.patch(path, change, { status: 422 });
  assert.equal((await wes.patch(path, { is_read: true })).body.is_read, true);
  assert.equal((await wes.list('/users/wes/notifications/unread')).length, 1);
  await ann.post(`${path}/mark-read`, {}, { status: 404 });
  assert.deepEqual((await wes.post('/users/wes/notifications/unread/mark-read')).body, { done: 1 });
  assert.deepEqual(await wes.list('/users/wes/notifications/unread'), []);
});

test('S-A31: what a deleted post said is in the table no more, also after its author has left', async () => {
  const { xan } = await people(app, 'xan');
  await xan.put('/posts/regret', { content: 'I regret this', hashtags: ['#sorry'], mentions: ['@ann'], media_urls: ['https://example.com/regret.png'] });
  await ann.put('/posts/regret/likes/ann');
  await xan.delete('/posts/regret');
  const left = async () => JSON.stringify((await app.items()).filter((item) => item.SK !== 'PROFILE'));
  for (const trace of ['I regret this', 'sorry', 'regret.png']) assert.ok(!(await left()).includes(trace), trace);
  const post = await app.item('POST#regret', 'METADATA');
  assert.deepEqual([post.is_deleted, post.content, post.likes_count], [true, '', 1]);
  await xan.delete('/users/xan');
  await audit(app);
});

test('S-A30: the owner finds private posts in the list of posts, and nobody else does', async () => {
  await ben.put('/posts/diary', { content: 'dear diary', visibility: 'private' });
  const has = async (caller) => (await caller.list('/users/ben/posts')).some((post) => post.post_id === 'diary');
  assert.deepEqual([await has(ben), await has(ann), await has(app.nobody)], [true, false, false]);
});

test("S-A26: the document's own transaction, by an SDK, fills the feed as well", async () => {
  const { yan } = await people(app, 'yan');
  await ann.put('/posts/anns', { content: 'of Ann' });
  const at = '2025-01-27T12:00:00Z';
  const edge = {
    PK: 'USER#yan', SK: 'FOLLOWING#ann', GSI1PK: 'USER#ann', GSI1SK: 'FOLLOWER#yan', GSI2PK: 'FOLLOW_GRAPH', GSI2SK: `${at}#yan#ann`, follower_id: 'yan', followed_id: 'ann',
    follower_username: 'yan', followed_username: 'ann', created_at: at, status: 'active', notification_enabled: true,
  };
  const count = (id, name) => ({ Update: { TableName: app.table, Key: { PK: `USER#${id}`, SK: 'PROFILE' }, UpdateExpression: `ADD ${name} :inc`, ExpressionAttributeValues: { ':inc': 1 } } });
  await app.doc.transactWrite({
    TransactItems: [
      { Put: { TableName: app.table, Item: edge } },
      { Put: { TableName: app.table, Item: { PK: 'USER#ann', SK: 'FOLLOWER#yan', follower_id: 'yan', followed_id: 'ann', created_at: at } } },
      count('yan', 'following_count'), count('ann', 'followers_count'),
    ],
  });
  await app.settled();
  assert.deepEqual((await yan.list('/users/yan/feed')).map((row) => row.post_id), ['anns']);
  await audit(app);
});

test('S-A29, S-A03: posts of an author whose profile another program wrote reach the feeds, before the keeper has seen it', async () => {
  const { una } = await people(app, 'una');
  const at = '2026-01-01T00:00:00Z';
  const put = (Item) => app.doc.put({ TableName: app.table, Item });
  await put({
    PK: 'USER#raw', SK: 'PROFILE', GSI1PK: 'USER#raw', GSI1SK: 'PROFILE', user_id: 'raw', username: 'raw', email: 'raw@example.com', created_at: at, updated_at: at,
    followers_count: 0, following_count: 0, posts_count: 0, is_verified: false, is_private: false, status: 'active',
  });
  for (const guard of ['USERNAME#raw', 'EMAIL#raw@example.com']) await put({ PK: guard, SK: guard, user_id: 'raw' });
  await app.settled();
  const resume = await pause('keeper');
  await follow(una, 'una', 'raw');
  await (await app.as('raw')).put('/posts/raws', { content: 'of Raw' });
  await until('the row', async () => (await una.list('/users/una/feed')).length === 1);
  await until('the notification', async () => (await una.list('/users/una/notifications')).length === 1);
  await resume();
  await app.settled();
});

test('S-A28, S16: a block that another program writes hides, too', async () => {
  const { zed, ida } = await people(app, 'zed', 'ida');
  await zed.put('/posts/zeds', { content: 'of Zed' });
  await ida.put('/posts/idas', { content: 'of Ida' });
  await app.doc.put({
    TableName: app.table,
    Item: { PK: 'USER#zed', SK: 'FOLLOWING#ida', follower_id: 'zed', followed_id: 'ida', created_at: '2026-01-01T00:00:00Z', status: 'blocked' },
  });
  await app.settled();
  await zed.get('/users/ida', { status: 404 });
  await zed.get('/posts/idas', { status: 404 });
  await ida.get('/posts/zeds', { status: 404 });
});
