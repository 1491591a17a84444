// designs/social.yaml: someone leaves: what goes with the account, what stays of it, and that all counters are right after it.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDesign } from './harness.mjs';
import { audit, people } from './social-world.mjs';

const app = await startDesign('social');
const admin = await app.as('boss', 'admin');
const { ann, ben, cyd } = await people(app, 'ann', 'ben', 'cyd');
const follow = (caller, a, b) => caller.put(`/users/${a}/following/${b}`);
const profile = (name) => app.item(`USER#${name}`, 'PROFILE');

test('who leaves takes along follows, requests, blocks, likes, shares, notifications, feed and password', async () => {
  await app.nobody.post('/users', {
    user_id: 'zoe', username: 'zoe', email: 'zoe@example.com', password: 'long enough', display_name: 'Zoe Z.', bio: 'Hello', profile_image_url: 'https://example.com/zoe.png',
  });
  const zoe = await app.login('zoe', 'long enough');
  await cyd.patch('/users/cyd', { is_private: true });
  await ann.put('/posts/anns', { content: 'of Ann' });
  for (const [caller, a, b] of [[zoe, 'zoe', 'ann'], [ann, 'ann', 'zoe'], [zoe, 'zoe', 'cyd']]) await follow(caller, a, b);
  await zoe.post('/users/ben/following/zoe/block');
  await zoe.patch('/users/zoe', { is_private: true });
  const { dan } = await people(app, 'dan');
  await follow(dan, 'dan', 'zoe');
  await app.settled();
  await zoe.put('/posts/anns/likes/zoe');
  await zoe.put('/posts/anns/shares/zoe');
  const { body: { comment_id: hers } } = await zoe.post('/posts/anns/comments', { content: 'Zoe says' });
  const { body: { comment_id: reply } } = await ann.post('/posts/anns/comments', { content: 'and Ann', parent_comment_id: hers });
  await zoe.put(`/comments/${reply}/likes/zoe`, { post_id: 'anns' });
  for (let i = 0; i < 45; i += 1) await zoe.put(`/posts/zoe${i}`, { content: `secret ${i}`, hashtags: ['#zoe'], media_urls: ['https://example.com/zoe.png'] });
  await ann.put('/posts/zoe1/likes/ann');
  await ann.put('/posts/more', { content: 'more of Ann' });
  await app.settled();
  assert.deepEqual((await zoe.list('/users/zoe/shares')).map((each) => each.post_id), ['anns']);
  assert.ok((await zoe.list('/users/zoe/notifications')).length > 0);
  assert.ok((await ann.list('/users/ann/feed')).length > 0);

  assert.equal((await zoe.delete('/users/zoe')).status, 204);
  await app.settled();
  const items = await app.items();
  const { updated_at, ...left } = await profile('zoe');
  assert.ok(updated_at);
  assert.deepEqual(left, {
    PK: 'USER#zoe', SK: 'PROFILE', GSI1PK: 'USER#zoe', GSI1SK: 'PROFILE', user_id: 'zoe', username: 'zoe', created_at: left.created_at, followers_count: 0,
    following_count: 0, posts_count: 0, blocks_count: 0, is_verified: false, is_private: true, is_popular: false, status: 'deleted',
    email: null, display_name: null, bio: null, profile_image_url: null,
  });
  assert.deepEqual(items.filter(({ PK }) => PK === 'USER#zoe').map(({ SK }) => SK), ['PROFILE']);
  assert.deepEqual(items.filter(({ PK }) => PK === 'FEED#zoe'), []);
  for (const kind of ['FOLLOWING#', 'FOLLOWER#', 'LIKE#', 'SHARE#', 'BLOCKED#', 'REQUEST#']) {
    assert.deepEqual(items.filter(({ SK }) => SK.startsWith(kind) && SK.endsWith('zoe')), [], kind);
  }
  const text = JSON.stringify(items);
  for (const trace of ['zoe@example.com', 'Zoe Z.', 'zoe.png', 'secret ', 'Zoe says', 'HASHTAG#zoe']) assert.ok(!text.includes(trace), trace);
  assert.deepEqual(await ann.list('/users/ann/feed'), []);
  assert.deepEqual((await ann.list('/users/ann/notifications')).filter((each) => each.actor_id === 'zoe'), []);
  for (let i = 0; i < 45; i += 1) await ann.get(`/posts/zoe${i}`, { status: 404 });
  const shown = await ann.list('/posts/anns/comments'); // the reply keeps its place
  assert.deepEqual(shown.map((each) => [each.content, each.is_deleted]).sort(), [['', true], ['and Ann', false]]);
  const { likes_count, shares_count, comments_count } = await app.item('POST#anns', 'METADATA');
  assert.deepEqual([likes_count, shares_count, comments_count], [0, 0, 1]);
  await audit(app);
});

test('the name of who has left stays taken, the address is free', async () => {
  const again = { username: 'zoe', email: 'zoe@example.com', password: 'long enough' };
  await app.nobody.post('/users', again, { status: 409, type: 'taken', attribute: 'username' });
  await app.nobody.post('/users', { ...again, user_id: 'zoe2', username: 'zoe2' });
  await app.login('zoe2', 'long enough');
  await app.nobody.post('/login', { name: 'zoe', password: 'long enough' }, { status: 401 });
  assert.equal((await admin.get('/usernames/zoe')).body.status, 'deleted');
  await audit(app);
});

test('nobody who has left comes back by a request or a block', async () => {
  const zoe = await app.as('zoe'); // a token of before
  const before = (await app.items()).length;
  for (const name of ['cyd', 'ben']) await zoe.put(`/users/zoe/following/${name}`, {}, { status: 403 });
  const { status } = await ben.request('POST', '/users/zoe/following/ben/block', { body: {} });
  assert.ok([404, 409].includes(status), `${status}`);
  assert.equal((await app.items()).length, before);
});

test('an account with more than one transaction takes loses it all, too', async () => {
  const names = Array.from({ length: 40 }, (_, i) => `fan${i}`);
  const fans = await people(app, 'star', ...names);
  await Promise.all(names.map((name) => follow(fans[name], name, 'star')));
  await Promise.all(names.map((name) => follow(fans.star, 'star', name)));
  await app.settled();
  await fans.star.put('/posts/starry', { content: 'of a star' });
  await app.settled();
  assert.equal((await profile('star')).followers_count, 40);
  await fans.star.delete('/users/star');
  await app.settled();
  const { followers_count, following_count, posts_count } = await profile('star');
  assert.deepEqual([followers_count, following_count, posts_count], [0, 0, 0]);
  for (const name of names) assert.deepEqual(await fans[name].list(`/users/${name}/feed`), [], name);
  await audit(app);
});
