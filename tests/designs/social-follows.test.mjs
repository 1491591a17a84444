// designs/social.yaml: who follows whom: the document's transaction, its way back, blocks, mutes, requests to private accounts.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDesign } from './harness.mjs';
import { TIME, ago, audit, people } from './social-world.mjs';

const app = await startDesign('social');
const op = await app.operator();
const admin = await app.as('boss', 'admin');
const { ann, ben, cyd, dan } = await people(app, 'ann', 'ben', 'cyd', 'dan');

const counts = async (name) => {
  const { followers_count, following_count } = await app.item(`USER#${name}`, 'PROFILE');
  return [followers_count, following_count];
};
const followersOf = async (name) => (await app.nobody.all(`/users/${name}/followers`, 2)).map((edge) => edge.follower_id);
const mirrorsOf = async (name) => (await app.nobody.all(`/users/${name}/followers/now`, 2)).map((edge) => edge.follower_id);
const followedBy = async (name) => (await app.nobody.all(`/users/${name}/following`, 2)).map((edge) => edge.followed_id);
const lists = async (name) => [await followersOf(name), await mirrorsOf(name), await followedBy(name)];
const edge = (a, b) => app.item(`USER#${a}`, `FOLLOWING#${b}`);

test('S-A26: to follow writes the edge and its mirror and moves both counters, once', async () => {
  const made = await ben.put('/users/ben/following/ann');
  assert.equal(made.status, 201);
  const item = await edge('ben', 'ann');
  assert.match(item.created_at, TIME);
  assert.deepEqual(item, { // T2, the document's four actions
    PK: 'USER#ben', SK: 'FOLLOWING#ann', GSI1PK: 'USER#ann', GSI1SK: 'FOLLOWER#ben', GSI2PK: 'FOLLOW_GRAPH', GSI2SK: `${item.created_at}#ben#ann`,
    follower_id: 'ben', followed_id: 'ann', follower_username: 'ben', followed_username: 'ann', followed_is_popular: false,
    created_at: item.created_at, status: 'active', state: 'active', notification_enabled: true,
  });
  assert.deepEqual(await app.item('USER#ann', 'FOLLOWER#ben'), // S1: without index keys
    { PK: 'USER#ann', SK: 'FOLLOWER#ben', follower_id: 'ben', followed_id: 'ann', created_at: item.created_at });
  assert.deepEqual([await counts('ben'), await counts('ann')], [[0, 1], [1, 0]]);

  await ben.put('/users/ben/following/ann', {}, { status: 409, type: 'already-exists' }); // S2
  await ben.post('/users/ben/following', { followed_id: 'ann' }, { status: 409, type: 'already-exists' });
  assert.deepEqual([await counts('ben'), await counts('ann')], [[0, 1], [1, 0]]);
  const other = await ben.post('/users/ben/following', { followed_id: 'cyd', notification_enabled: false });
  assert.equal(other.location, '/api/social/users/ben/following/cyd');
  assert.equal((await edge('ben', 'cyd')).notification_enabled, false);
  await audit(app);
});

test('S-A26: nobody follows himself, nor who is not there, nor in the name of another', async () => {
  const before = await app.items();
  await ann.put('/users/ann/following/ann', {}, { status: 422, type: 'invalid', detail: /themselves/ });
  await ann.put('/users/ann/following/none', {}, { status: 404, type: 'not-found' });
  const ghost = await app.as('ghost');
  await ghost.put('/users/ghost/following/ann', {}, { status: 404 });
  assert.equal(await app.item('USER#none', 'PROFILE'), undefined); // S2: no ghost profiles
  await ann.put('/users/ben/following/dan', {}, { status: 403, type: 'forbidden' });
  await ann.post('/users/ann/following', { follower_id: 'ben', followed_id: 'dan' }, { status: 422 });
  await ann.put('/users/ann/following/dan', { followed_id: 'cyd' }, { status: 422 });
  await ann.put('/users/ann/following/dan', { status: 'active' }, { status: 422 });
  await ann.put('/users/ann/following/dan', { followed_username: 'The Pope' }, { status: 422 });
  await ann.put('/users/ann/following/da%23n', {}, { status: 422 });
  await app.nobody.put('/users/ann/following/dan', {}, { status: 401 });
  await ann.post('/users/ann/following', {}, { status: 422 });
  assert.deepEqual(await app.items(), before);
});

test('S-A05, S-A06, S-A17: whom one follows, and by whom one is followed, once each; also from the table itself', async () => {
  const names = ['fan1', 'fan2', 'fan3', 'fan4', 'fan5'];
  const fans = await people(app, ...names, 'star');
  for (const name of names) await fans[name].put(`/users/${name}/following/star`);
  for (const name of names) await fans.star.put(`/users/star/following/${name}`);
  assert.deepEqual(await lists('star'), [names, names, names]); // S1, S31: in the order of ids
  const [first] = await app.nobody.list('/users/star/followers');
  assert.deepEqual([first.follower_id, first.follower_username, first.followed_id, first.state], ['fan1', 'fan1', 'star', 'active']);
  const [mirror] = await app.nobody.list('/users/star/followers/now'); // S12
  assert.deepEqual(Object.keys(mirror).sort(), ['created_at', 'followed_id', 'follower_id']);
  assert.deepEqual(await counts('star'), [5, 5]);
  const { body } = await op.post('/call', { pattern: 'followers, strongly consistent', with: { user_id: 'star' }, explain: true });
  assert.ok(JSON.stringify(body.requests).includes('ConsistentRead'));
  await audit(app);
});

test('S-A16: whether one follows another, strongly consistent', async () => {
  assert.equal((await app.nobody.get('/users/ben/follows/ann')).body.state, 'active');
  await app.nobody.get('/users/ann/follows/ben', { status: 404 });
  await app.nobody.get('/users/ben/follows/none', { status: 404 });
  for (let i = 0; i < 5; i += 1) { // what was written is seen at once
    await dan.put('/users/dan/following/cyd');
    await dan.get('/users/dan/follows/cyd');
    await dan.delete('/users/dan/following/cyd');
    await dan.get('/users/dan/follows/cyd', { status: 404 });
  }
});

test('S-A27: to unfollow takes both items and both counts back', async () => {
  await dan.put('/users/dan/following/ann');
  const before = [await counts('dan'), await counts('ann')];
  assert.deepEqual(before, [[0, 1], [2, 0]]);
  await cyd.delete('/users/dan/following/ann', { status: 403 });
  await app.nobody.delete('/users/dan/following/ann', { status: 401 });
  assert.equal((await dan.delete('/users/dan/following/ann')).status, 204); // T3
  assert.equal(await edge('dan', 'ann'), undefined);
  assert.equal(await app.item('USER#ann', 'FOLLOWER#dan'), undefined);
  assert.deepEqual([await counts('dan'), await counts('ann')], [[0, 0], [1, 0]]);
  await dan.delete('/users/dan/following/ann', { status: 404 });
  assert.deepEqual([await counts('dan'), await counts('ann')], [[0, 0], [1, 0]]);
  await dan.put('/users/dan/following/ann');
  await ann.delete('/users/dan/following/ann'); // the followed loses a follower
  assert.deepEqual([await counts('dan'), await counts('ann')], [[0, 0], [1, 0]]);
  await audit(app);
});

test('S-A28: to block a follower takes him out of lists and counts, and keeps him out', async () => {
  await dan.put('/users/dan/following/ann');
  await dan.post('/users/dan/following/ann/block', {}, { status: 403 }); // it is the followed who blocks (S16)
  await cyd.post('/users/dan/following/ann/block', {}, { status: 403 });
  assert.equal((await ann.post('/users/dan/following/ann/block')).body.state, 'blocked');
  const item = await edge('dan', 'ann'); // T4
  assert.equal(item.status, 'blocked');
  assert.deepEqual(Object.keys(item).filter((name) => name.startsWith('GSI')), []);
  assert.equal(await app.item('USER#ann', 'FOLLOWER#dan'), undefined);
  assert.deepEqual([await counts('dan'), await counts('ann')], [[0, 0], [1, 0]]);
  assert.deepEqual(await lists('ann'), [['ben'], ['ben'], []]);
  assert.deepEqual(await lists('dan'), [[], [], []]);
  await ann.post('/users/dan/following/ann/block', {}, { status: 409, type: 'conflict' });

  await dan.put('/users/dan/following/ann', {}, { status: 404 }); // no way back in
  for (const action of ['mute', 'unmute', 'approve']) {
    const { status } = await dan.request('POST', `/users/dan/following/ann/${action}`, { body: {} });
    assert.equal(status, 404, action);
  }
  await dan.delete('/users/dan/following/ann', { status: 404 });
  assert.equal((await edge('dan', 'ann')).status, 'blocked');
  await dan.get('/users/dan/following/ann', { status: 404 });
  await cyd.get('/users/dan/follows/ann', { status: 404 });
  assert.equal((await ann.get('/users/dan/follows/ann')).body.state, 'blocked');
  await ann.put('/posts/inner', { content: 'for followers', visibility: 'followers' });
  await dan.get('/posts/inner', { status: 404 });
  await ben.get('/posts/inner');

  assert.equal((await ann.delete('/users/dan/following/ann')).status, 204); // to unblock
  assert.equal(await edge('dan', 'ann'), undefined);
  assert.deepEqual([await counts('dan'), await counts('ann')], [[0, 0], [1, 0]]);
  await dan.put('/users/dan/following/ann');
  assert.deepEqual([await counts('dan'), await counts('ann')], [[0, 1], [2, 0]]);
  await dan.delete('/users/dan/following/ann');
  await audit(app);
});

test('S-A28: someone who does not follow can be blocked, too', async () => {
  await ann.post('/users/cyd/following/ann/block');
  const item = await edge('cyd', 'ann');
  assert.deepEqual(item, {
    PK: 'USER#cyd', SK: 'FOLLOWING#ann', follower_id: 'cyd', followed_id: 'ann', follower_username: 'cyd', followed_username: 'ann',
    followed_is_popular: false, created_at: item.created_at, status: 'blocked', state: 'blocked', notification_enabled: true,
  });
  assert.deepEqual(await counts('cyd'), [1, 0]);
  await cyd.put('/users/cyd/following/ann', {}, { status: 404 });
  await cyd.post('/users/dan/following/ann/block', {}, { status: 404 }); // for whom Ann is not there
  await ann.post('/users/none/following/ann/block', {}, { status: 404 });
  await ann.post('/users/ann/following/ann/block', {}, { status: 422 });
  await ann.delete('/users/cyd/following/ann');
  await audit(app);
});

test('S-A28: to mute and to silence is for the follower, and changes no list and no count', async () => {
  await ann.post('/users/ben/following/ann/mute', {}, { status: 403 });
  assert.equal((await ben.post('/users/ben/following/ann/mute')).body.status, 'muted');
  assert.deepEqual(await followersOf('ann'), ['ben']);
  assert.deepEqual(await counts('ann'), [1, 0]);
  assert.equal((await edge('ben', 'ann')).GSI1SK, 'FOLLOWER#ben');
  await ben.post('/users/ben/following/ann/mute', {}, { status: 409, type: 'conflict' });
  await ben.post('/users/ben/following/ann/unmute');
  await ben.post('/users/ben/following/ann/unmute', {}, { status: 409 });
  assert.equal((await ben.patch('/users/ben/following/ann', { notification_enabled: false })).body.notification_enabled, false);
  assert.equal((await edge('ben', 'ann')).notification_enabled, false);
  await ben.patch('/users/ben/following/ann', { notification_enabled: true });
  await ben.patch('/users/ben/following/ann', { status: 'active' }, { status: 422 });
  await ben.patch('/users/ben/following/ann', { notification_enabled: 'yes' }, { status: 422 });
  await ann.patch('/users/ben/following/ann', { notification_enabled: false }, { status: 403 });
  for (const turned of [{ followed_id: 'dan' }, { follower_id: 'dan' }]) await ben.patch('/users/ben/following/ann', turned, { status: 422, type: 'invalid' });
  await ben.post('/users/ben/following/none/mute', {}, { status: 404 });
  await audit(app);
});

test('S-A14: who followed whom lately, newest first', async () => {
  const { old } = await people(app, 'old');
  for (let i = 1; i <= 5; i += 1) {
    await people(app, `lately${i}`);
    await op.put(`/users/lately${i}/following/old`, { created_at: ago(400 + i) });
  }
  const all = await old.all('/follows', 3);
  assert.deepEqual(all.slice(-5).map((each) => each.follower_id), ['lately1', 'lately2', 'lately3', 'lately4', 'lately5']);
  const live = (await app.items()).filter(({ GSI2PK }) => GSI2PK === 'FOLLOW_GRAPH');
  assert.equal(all.length, live.length);
  assert.deepEqual(all.map((each) => each.created_at), live.map((each) => each.created_at).sort().reverse());
});

test('S-A26, S-A28: a private account is asked first', async () => {
  const { pia, qua } = await people(app, 'pia', 'qua');
  await pia.patch('/users/pia', { is_private: true });
  await pia.put('/posts/quiet', { content: 'for those I know' });
  assert.equal((await qua.put('/users/qua/following/pia')).body.status, 'pending'); // S18
  const item = await edge('qua', 'pia');
  assert.deepEqual(Object.keys(item).filter((name) => name.startsWith('GSI')), []);
  assert.equal(await app.item('USER#pia', 'FOLLOWER#qua'), undefined);
  assert.deepEqual([await counts('qua'), await counts('pia')], [[0, 0], [0, 0]]);
  assert.deepEqual(await lists('pia'), [[], [], []]);
  await ben.get('/users/qua/follows/pia', { status: 404 });
  assert.equal((await qua.get('/users/qua/follows/pia')).body.status, 'pending');
  assert.equal((await pia.get('/users/qua/follows/pia')).body.state, 'pending');
  await qua.get('/posts/quiet', { status: 404 });
  await qua.post('/users/qua/following/pia/approve', {}, { status: 403 });
  await qua.put('/users/qua/following/ben');
  await qua.patch('/users/qua/following/ben', { followed_id: 'pia' }, { status: 422 }); // nor by turning an edge that is approved
  await qua.delete('/users/qua/following/ben');
  await qua.post('/users/qua/following/pia/mute', {}, { status: 409 });
  await ben.post('/users/qua/following/pia/approve', {}, { status: 404 });

  assert.equal((await pia.post('/users/qua/following/pia/approve')).body.state, 'active');
  assert.deepEqual([await counts('qua'), await counts('pia')], [[0, 1], [1, 0]]);
  assert.deepEqual(await lists('pia'), [['qua'], ['qua'], []]);
  await qua.get('/posts/quiet');
  await pia.post('/users/qua/following/pia/approve', {}, { status: 409, type: 'conflict' });
  await audit(app);

  await qua.delete('/users/qua/following/pia');
  await qua.put('/users/qua/following/pia');
  await pia.delete('/users/qua/following/pia'); // turned down
  assert.deepEqual([await counts('qua'), await counts('pia')], [[0, 0], [0, 0]]);
  await qua.put('/users/qua/following/pia');
  await qua.delete('/users/qua/following/pia'); // thought better of it
  await qua.put('/users/qua/following/pia');
  await pia.post('/users/qua/following/pia/block');
  assert.deepEqual([await counts('qua'), await counts('pia')], [[0, 0], [0, 0]], 'what never counted is not counted off');
  await pia.patch('/users/pia', { is_private: false });
  await audit(app);
});

test('S-A28: a request that waited knows what its account has become meanwhile', async () => {
  const { eli, fay } = await people(app, 'eli', 'fay');
  await op.post('/users', { user_id: 'vip', username: 'vip', email: 'vip@example.com', is_private: true, followers_count: 10000 });
  const vip = await app.as('vip');
  await eli.put('/users/eli/following/vip');
  await fay.put('/users/fay/following/vip');
  await vip.post('/users/fay/following/vip/approve'); // the ten thousand and first
  assert.equal((await app.item('USER#vip', 'PROFILE')).is_popular, true); // S23
  await vip.post('/users/eli/following/vip/approve');
  assert.deepEqual([(await edge('eli', 'vip')).followed_is_popular, (await edge('fay', 'vip')).followed_is_popular], [true, true]);
  await app.doc.update({ // made-up counters are no good for the audit
    TableName: app.table, Key: { PK: 'USER#vip', SK: 'PROFILE' }, UpdateExpression: 'SET followers_count = :n', ExpressionAttributeValues: { ':n': 2 },
  });
  await op.patch('/users/vip', { bio: 'not so popular' }); // what follows from the counter follows now
  await audit(app);
});

test('S-A26: who has left is not followed', async () => {
  const { eve } = await people(app, 'eve');
  await ben.put('/users/ben/following/eve');
  await eve.delete('/users/eve');
  const { status } = await dan.request('PUT', '/users/dan/following/eve', { body: {} });
  assert.ok([404, 409].includes(status), `${status}`);
  assert.equal(await edge('dan', 'eve'), undefined);
  assert.equal(await edge('ben', 'eve'), undefined, 'nor any more');
  await admin.get('/users/eve');
  await audit(app);
});

test('S-A26: the same key twice is done once', async () => {
  const headers = { 'idempotency-key': 'follow-1' };
  const first = await dan.put('/users/dan/following/ben', {}, { headers });
  const again = await dan.put('/users/dan/following/ben', {}, { headers });
  assert.deepEqual([again.status, again.body], [first.status, first.body]);
  await dan.put('/users/dan/following/cyd', {}, { headers, status: 422 });
  assert.deepEqual(await counts('dan'), [0, 1]);
  const { body } = await dan.post('/batch', {
    requests: ['ben', 'cyd', 'none', 'dan', 'ann'].map((name) => ({ method: 'PUT', path: `/users/dan/following/${name}`, body: {} })),
  });
  assert.deepEqual(body.responses.map(({ status }) => status), [409, 201, 404, 422, 201]);
  assert.deepEqual(await counts('dan'), [0, 3]);
  await audit(app);
});
