// designs/social.yaml: what a block hides, from whom, and where it is listed; mutes that nobody else sees; requests to follow.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDesign } from './harness.mjs';
import { audit, people } from './social-world.mjs';

const app = await startDesign('social');
const admin = await app.as('boss', 'admin');
const { ann, ben, cyd, dan } = await people(app, 'ann', 'ben', 'cyd', 'dan');
const today = new Date().toISOString().slice(0, 10);
const follow = (caller, a, b) => caller.put(`/users/${a}/following/${b}`);
const ids = async (caller, path) => (await caller.list(path)).map((each) => each.post_id);

test('S-A28: a block hides profile, posts and comments from the one who is blocked, as if they were not there', async () => {
  await ann.put('/posts/open', { content: 'for all', hashtags: ['#tea'] });
  await ben.put('/posts/hers', { content: 'of Ben' });
  const { body: { comment_id } } = await ann.post('/posts/hers/comments', { content: 'Ann was here' });
  const lists = ['/users/ann/posts', '/popular', `/timeline/${today}`, '/hashtags/tea'];
  await dan.get('/users/ann');
  for (const path of lists) assert.ok((await ids(dan, path)).includes('open'), path);
  assert.equal((await dan.list('/posts/hers/comments')).length, 1);

  await ann.post('/users/dan/following/ann/block');
  for (const path of ['/users/ann', '/usernames/ann', '/posts/open', `/comments/${comment_id}`]) {
    await dan.get(path, { status: 404, type: 'not-found' });
  }
  for (const path of lists) assert.ok(!(await ids(dan, path)).includes('open'), path);
  for (const path of ['/posts/open/likes', '/posts/open/comments', '/posts/hers/comments', '/users/ann/comments']) {
    assert.deepEqual(await dan.list(path), [], path);
  }
  await dan.put('/posts/open/likes/dan', {}, { status: 404 });
  await dan.post('/posts/open/comments', { content: 'let me in' }, { status: 404 });
  // everyone else sees what they saw
  for (const caller of [ann, ben, admin, app.nobody]) {
    for (const path of lists) assert.ok((await ids(caller, path)).includes('open'), path);
    await caller.get('/users/ann');
    assert.equal((await caller.list('/posts/hers/comments')).length, 1);
  }
  // a list that depends on who asks is in no shared cache
  assert.equal((await dan.get('/popular')).headers.get('cache-control'), 'private, max-age=30');
  await audit(app);
});

test('S-A28: and who blocks sees nothing of the other, but can still find and free him', async () => {
  await dan.put('/posts/his', { content: 'of Dan' });
  const { body: { comment_id } } = await dan.post('/posts/hers/comments', { content: 'Dan was here' });
  await ann.get('/posts/his', { status: 404 });
  await ann.get(`/comments/${comment_id}`, { status: 404 });
  assert.deepEqual(await ids(ann, '/users/dan/posts'), []);
  assert.deepEqual((await ben.list('/posts/hers/comments')).length, 2);
  await ann.get('/users/dan');
  await follow(ann, 'ann', 'dan').then(() => assert.fail('followed'), () => {});
  assert.equal(await app.item('USER#ann', 'FOLLOWING#dan'), undefined);
});

test('S-A28: the blocked cannot tell a block from an account that is not there', async () => {
  const tries = (of) => [
    ['GET', `/users/${of}`], ['PUT', `/users/dan/following/${of}`], ['PATCH', `/users/dan/following/${of}`], ['DELETE', `/users/dan/following/${of}`],
    ['GET', `/users/dan/following/${of}`], ['GET', `/users/dan/follows/${of}`], ['POST', `/users/dan/following/${of}/mute`],
  ];
  const answers = async (of) => {
    const all = [];
    for (const [method, path] of tries(of)) {
      const { status, body } = await dan.request(method, path, method === 'GET' || method === 'DELETE' ? {} : { body: {} });
      all.push([method, path, status, body?.type, body?.detail].join(' ').replaceAll(of, 'X'));
    }
    return all;
  };
  assert.deepEqual(await answers('ann'), await answers('zzz'));
  assert.equal((await app.item('USER#dan', 'FOLLOWING#ann')).status, 'blocked');
});

test('S-A28: whom one has blocked is a list, for oneself', async () => {
  await ann.post('/users/cyd/following/ann/block');
  const blocked = async (caller) => (await caller.list('/users/ann/blocks')).map((each) => each.follower_username);
  assert.deepEqual(await blocked(ann), ['cyd', 'dan']);
  for (const caller of [dan, ben, app.nobody]) assert.deepEqual(await caller.request('GET', '/users/ann/blocks').then(({ body }) => body.items ?? []), []);
  await ann.delete('/users/cyd/following/ann');
  assert.deepEqual(await blocked(ann), ['dan']);
  await ann.delete('/users/dan/following/ann');
  assert.deepEqual(await blocked(ann), []);
  await dan.get('/posts/open');
  await ann.get('/posts/his');
  await audit(app);
});

test('S-A28: a block ends both directions, with feeds and notifications; a block of the other stays', async () => {
  const { eve, fay } = await people(app, 'eve', 'fay');
  await follow(eve, 'eve', 'fay');
  await follow(fay, 'fay', 'eve');
  await app.settled();
  await eve.put('/posts/eve1', { content: 'of Eve' });
  await fay.put('/posts/fay1', { content: 'of Fay' });
  await app.settled();
  for (const [caller, name] of [[eve, 'eve'], [fay, 'fay']]) {
    assert.equal((await caller.list(`/users/${name}/feed`)).length, 1);
    assert.equal((await caller.list(`/users/${name}/notifications`)).length, 1);
  }
  await eve.post('/users/fay/following/eve/block');
  await app.settled();
  for (const [caller, name] of [[eve, 'eve'], [fay, 'fay']]) {
    assert.deepEqual(await caller.list(`/users/${name}/feed`), []);
    assert.deepEqual(await caller.list(`/users/${name}/notifications`), []);
    const { followers_count, following_count } = await app.item(`USER#${name}`, 'PROFILE');
    assert.deepEqual([followers_count, following_count], [0, 0]);
  }
  assert.equal(await app.item('USER#eve', 'FOLLOWING#fay'), undefined);
  await (await app.operator()).put('/users/eve/following/fay'); // past the rules
  await app.settled();
  assert.equal(await app.item('USER#eve', 'FOLLOWING#fay'), undefined);
  await fay.post('/users/eve/following/fay/block');
  await app.settled();
  assert.equal((await app.item('USER#fay', 'FOLLOWING#eve')).status, 'blocked');
  assert.equal((await app.item('USER#eve', 'FOLLOWING#fay')).status, 'blocked');
  await audit(app);
});

test('S-A28: whom one mutes, and of whom one is told, nobody else learns', async () => {
  await follow(ben, 'ben', 'cyd');
  await ben.post('/users/ben/following/cyd/mute');
  assert.deepEqual((await ben.list('/users/ben/mutes')).map((each) => [each.followed_id, each.status]), [['cyd', 'muted']]);
  for (const caller of [cyd, dan, app.nobody]) {
    for (const path of ['/users/cyd/followers', '/users/cyd/followers/now', '/users/ben/following', '/follows', '/users/ben/follows/cyd', '/users/ben/following/cyd', '/users/ben/mutes']) {
      const text = JSON.stringify((await caller.request('GET', path)).body);
      assert.ok(!text.includes('muted') && !text.includes('notification_enabled') && !text.includes('"status":"'), `${path}: ${text}`);
    }
    assert.deepEqual((await caller.request('GET', '/users/ben/mutes')).body.items ?? [], []);
    assert.equal((await caller.get('/users/ben/follows/cyd')).body.state, 'active');
  }
  await audit(app);
});

test('S-A28: requests are in a list for the one who is asked, and for the one who asks', async () => {
  const { pia, qua, rex } = await people(app, 'pia', 'qua', 'rex');
  await pia.patch('/users/pia', { is_private: true });
  await follow(qua, 'qua', 'pia');
  await follow(rex, 'rex', 'pia');
  const asked = async (caller) => ((await caller.request('GET', '/users/pia/requests')).body.items ?? []).map((each) => each.follower_username).sort();
  const sent = async (caller) => (await caller.list('/users/qua/requests/sent')).map((each) => each.followed_username);
  assert.deepEqual(await asked(pia), ['qua', 'rex']);
  for (const caller of [qua, ben, app.nobody]) assert.deepEqual(await asked(caller), []);
  assert.deepEqual(await sent(qua), ['pia']);
  for (const caller of [rex, app.nobody]) assert.deepEqual(await sent(caller), []);
  await pia.post('/users/qua/following/pia/approve');
  await pia.delete('/users/rex/following/pia');
  assert.deepEqual([await asked(pia), await sent(qua)], [[], []]);
  await audit(app);
});

test('S-A26: to ask, take it back and ask again tells the other once', async () => {
  const { sam } = await people(app, 'sam');
  const pia = await app.as('pia');
  const told = async () => {
    await app.settled();
    return (await pia.list('/users/pia/notifications')).filter((each) => each.actor_id === 'sam').length;
  };
  for (let i = 0; i < 4; i += 1) {
    await app.doc.put({ // each of another second
      TableName: app.table,
      Item: {
        PK: 'USER#pia', SK: `NOTIFICATION#2026-01-0${i + 1}T00:00:00Z#sam`, user_id: 'pia', created_at: `2026-01-0${i + 1}T00:00:00Z`, notification_id: 'sam',
        type: 'follow_request', actor_id: 'sam', actor_username: 'sam', is_read: false, expires_at: Math.floor(Date.now() / 1000) + 86400,
      },
    });
    await follow(sam, 'sam', 'pia');
    assert.ok(await told() >= 1);
    await sam.delete('/users/sam/following/pia');
    assert.equal(await told(), 0);
  }
  await follow(sam, 'sam', 'pia');
  assert.equal(await told(), 1);
});
