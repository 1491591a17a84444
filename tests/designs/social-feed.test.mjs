// designs/social.yaml: what is made in advance for each reader: feeds, notifications; and the half that is not: posts of popular authors.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NO_TTL_WITH_INDEXES, TTL_PATIENCE, startDesign, until } from './harness.mjs';
import { ago, audit, epoch, people } from './social-world.mjs';

// Rows that an operator has put there, of posts that nobody may see: they are left, and not shown.
const app = await startDesign('social', { oracle: ['outlived'] });
const op = await app.operator();
const { ann, ben, cyd } = await people(app, 'ann', 'ben', 'cyd');
const ids = (items) => items.map((item) => item.post_id);

/** A post of Ben's and the row it gives in Ann's feed, as the processors write it. */
async function deliver(post_id, created_at, row = {}, post = {}) {
  await op.post('/posts', { post_id, author_id: 'ben', content: `this is ${post_id}`, created_at, ...post });
  await op.put(`/users/ann/feed/${created_at}/${post_id}`, { author_id: 'ben', author_username: 'ben', content_preview: `this is ${post_id}`, engagement_score: 850, ...row });
}

const times = Array.from({ length: 9 }, (_, i) => ago(i + 1, 1800)); // the seventh is a little older than a week
for (const [i, at] of times.entries()) await deliver(`f${i}`, at);
const newest = times.map((_, i) => `f${i}`);

test('S-A03: a feed, newest first, page by page, for its reader alone', async () => {
  const row = await app.item('FEED#ann', `${times[0]}#f0`);
  assert.deepEqual(row, { // F1, all eleven attributes
    PK: 'FEED#ann', SK: `${times[0]}#f0`, GSI1PK: 'FEED_MANAGEMENT#ann', GSI1SK: times[0], user_id: 'ann', post_id: 'f0', author_id: 'ben', author_username: 'ben',
    content_preview: 'this is f0', content_type: 'text', created_at: times[0], inserted_at: row.inserted_at, engagement_score: 850, is_promoted: false,
    feed_rank: 1, expires_at: epoch(times[0]) + 30 * 86400,
  });
  assert.deepEqual(ids(await ann.list('/users/ann/feed')), newest);
  assert.deepEqual(ids(await ann.all('/users/ann/feed', 2)), newest);
  assert.deepEqual(ids(await ann.all('/users/ann/feed', 4)), newest);
  assert.equal((await ann.list('/users/ann/feed'))[0].content_preview, 'this is f0');
  for (const caller of [ben, cyd, app.nobody]) {
    assert.deepEqual(await caller.list('/users/ann/feed'), []);
    await caller.get(`/users/ann/feed/${times[0]}/f0`, { status: 404 });
  }
  assert.deepEqual(ids(await ann.list(`/users/ann/feed?since=${ago(3, 3600)}`)), ['f0', 'f1', 'f2']);
  await ann.get('/users/ann/feed?since=lately', { status: 422 });
});

test('S-A03: rows are written by the server, not by readers', async () => {
  const body = { author_id: 'ann', content_preview: 'buy this', is_promoted: true, feed_rank: 99 };
  await ann.put(`/users/ann/feed/${ago(0)}/spam`, body, { status: 422 });
  const { is_promoted, feed_rank, ...plain } = body;
  assert.ok(is_promoted && feed_rank);
  await ann.put(`/users/ann/feed/${ago(0)}/spam`, plain, { status: 403 });
  await ann.put(`/users/ben/feed/${ago(0)}/spam`, plain, { status: 403 });
  await app.nobody.put(`/users/ann/feed/${ago(0)}/spam`, plain, { status: 401 });
  await ann.patch(`/users/ann/feed/${times[0]}/f0`, { content_preview: 'x' }, { status: 403 });
  await cyd.delete(`/users/ann/feed/${times[0]}/f0`, { status: 404 });
  await op.put('/users/ann/feed/yesterday/f0', { author_id: 'ben' }, { status: 422 });
  assert.deepEqual(ids(await ann.list('/users/ann/feed')), newest);
});

test('S-A03: what is promoted stands first in its page', async () => {
  const at = ago(2, 7200);
  await deliver('ad', at, { is_promoted: true, feed_rank: 5.5 }); // S28
  assert.deepEqual(ids((await ann.get('/users/ann/feed?limit=4')).body.items), ['ad', 'f0', 'f1', 'f2']);
  assert.deepEqual(ids((await ann.get('/users/ann/feed?limit=2')).body.items), ['f0', 'f1'], 'not in another one');
  assert.deepEqual(ids(await ann.all('/users/ann/feed', 2)).sort(), ['ad', ...newest], 'and nothing is lost between pages');
  await ann.delete(`/users/ann/feed/${at}/ad`); // the reader has enough of it
  assert.deepEqual(ids(await ann.list('/users/ann/feed')), newest);
});

test('S-A24: the posts of a feed, without those that are gone or hidden since', async () => {
  assert.deepEqual(ids(await ann.all('/users/ann/feed/posts', 2)), newest);
  assert.equal((await ann.list('/users/ann/feed/posts'))[0].content, 'this is f0');
  await ben.patch('/posts/f0', { content: 'edited since' });
  assert.equal((await ann.list('/users/ann/feed/posts'))[0].content, 'edited since');
  assert.equal((await ann.list('/users/ann/feed'))[0].content_preview, 'this is f0', 'the row is a snapshot (S22)');
  await ben.delete('/posts/f1');
  await ben.patch('/posts/f3', { visibility: 'private' });
  await ben.patch('/posts/f4', { visibility: 'followers' }); // and Ann does not follow him any more
  await op.put(`/users/ann/feed/${ago(0, 60)}/never`, { author_id: 'ben' }); // a post that never was
  assert.deepEqual(ids(await ann.all('/users/ann/feed/posts', 2)), ['f0', 'f2', 'f5', 'f6', 'f7', 'f8']);
  const fill = '/processors/fill%20the%20feed%20of%20a%20new%20follower'; // would bring back what she has deleted
  await op.post(`${fill}/pause`);
  await app.settled(); // a processor that is late would tell Ann of posts from before she follows
  await ann.put('/users/ann/following/ben');
  assert.deepEqual(ids(await ann.all('/users/ann/feed/posts', 3)), ['f0', 'f2', 'f4', 'f5', 'f6', 'f7', 'f8']);
  await op.post(`${fill}/resume`);
  assert.deepEqual(await cyd.list('/users/ann/feed/posts'), [], 'what someone reads is nobody\'s business');
  assert.deepEqual(await ben.list('/users/ann/feed/posts'), []);
});

test('S-A15: rows of a feed before a day, oldest first', async () => {
  const cutoff = ago(5, 3600);
  const old = await ann.all(`/users/ann/feed/old?cutoff=${cutoff}`, 2);
  assert.deepEqual(ids(old), ['f8', 'f7', 'f6', 'f5']);
  assert.deepEqual(ids(await op.all(`/users/ann/feed/old?cutoff=${cutoff}`, 3)), ['f8', 'f7', 'f6', 'f5']);
  assert.deepEqual(await ann.list('/users/ann/feed/old'), [], 'nothing is older than a month');
  assert.deepEqual(await cyd.list(`/users/ann/feed/old?cutoff=${cutoff}`), []);
  await ann.delete(`/users/ann/feed/${times[8]}/f8`);
  assert.deepEqual(ids(await ann.list(`/users/ann/feed/old?cutoff=${cutoff}`)), ['f7', 'f6', 'f5']);
});

test('S-A35: rows of a feed go after thirty days, and are not shown a second longer', async () => {
  const { TimeToLiveDescription } = await app.ddb.describeTimeToLive({ TableName: app.table });
  assert.equal(TimeToLiveDescription.AttributeName, 'expires_at'); // S10
  const at = ago(31);
  // Not past the cut of the query, and expired all the same.
  const young = ago(1, 30);
  await app.doc.put({ TableName: app.table, Item: {
    PK: 'FEED#ann', SK: `${young}#gone`, GSI1PK: 'FEED_MANAGEMENT#ann', GSI1SK: young, user_id: 'ann', post_id: 'gone', author_id: 'ben', created_at: young,
    expires_at: Math.floor(Date.now() / 1000) - 1,
  } });
  await op.put(`/users/ann/feed/${at}/month`, { author_id: 'ben' });
  for (const path of ['/users/ann/feed', `/users/ann/feed?since=${ago(400)}`, `/users/ann/feed/old?cutoff=${ago(0)}`]) {
    const shown = ids(await ann.all(path, 3));
    assert.ok(!shown.includes('month') && !shown.includes('gone') && shown.includes('f7'), path);
  }
  await ann.get(`/users/ann/feed/${at}/month`, { status: 404 });
  if (NO_TTL_WITH_INDEXES) { // they are not shown, which is what a user sees
    for (const SK of [`${at}#month`, `${young}#gone`]) await app.doc.delete({ TableName: app.table, Key: { PK: 'FEED#ann', SK } });
    return;
  }
  await until('the rows to be removed', async () => !await app.item('FEED#ann', `${at}#month`) && !await app.item('FEED#ann', `${young}#gone`), TTL_PATIENCE);
  assert.equal((await app.item('FEED#ann', `${times[7]}#f7`)).expires_at, epoch(times[7]) + 30 * 86400);
});

test('S-A03, S-A02: posts of very popular authors are merged in when a feed is read', async () => {
  const { fan, one } = await people(app, 'fan', 'one');
  await op.post('/users', { user_id: 'star', username: 'star', email: 'star@example.com', followers_count: 9999 });
  await fan.put('/users/fan/following/star');
  assert.equal((await app.item('USER#fan', 'FOLLOWING#star')).followed_is_popular, false);
  await one.put('/users/one/following/star'); // S23: one more than ten thousand
  assert.equal((await app.item('USER#star', 'PROFILE')).is_popular, true);
  assert.equal((await app.item('USER#fan', 'FOLLOWING#star')).followed_is_popular, true, 'the copy has followed');
  for (const [i, days] of [1, 3, 5].entries()) await op.post('/posts', { post_id: `s${i}`, author_id: 'star', content: 'x', created_at: ago(days, 7200) });
  for (const i of [0, 2, 5]) await op.put(`/users/fan/feed/${times[i]}/f${i}`, { author_id: 'ben' });
  assert.deepEqual(ids(await fan.all('/users/fan/feed/popular-authors', 2)), ['s0', 's1', 's2']);
  assert.deepEqual(ids(await fan.all('/users/fan/home', 2)), ['f0', 's0', 'f2', 's1', 's2', 'f5']);
  await fan.post('/users/fan/following/star/mute');
  assert.deepEqual(ids(await fan.all('/users/fan/home', 2)), ['f0', 'f2', 'f5']);
  await one.delete('/users/one/following/star');
  assert.equal((await app.item('USER#fan', 'FOLLOWING#star')).followed_is_popular, false);
  await app.doc.update({ // made-up counters are no good for the audit
    TableName: app.table, Key: { PK: 'USER#star', SK: 'PROFILE' }, UpdateExpression: 'SET followers_count = :n', ExpressionAttributeValues: { ':n': 1 },
  });
});

test('notifications are for whom they are meant, and read once', async () => {
  for (let i = 0; i < 4; i += 1) {
    await op.put(`/users/ann/notifications/${times[i]}/n${i}`, { type: i % 2 ? 'new_post' : 'follow_request', actor_id: 'ben', actor_username: 'ben', post_id: `f${i}` });
  }
  const item = await app.item('USER#ann', `NOTIFICATION#${times[0]}#n0`); // S33
  assert.deepEqual(item, {
    PK: 'USER#ann', SK: `NOTIFICATION#${times[0]}#n0`, user_id: 'ann', created_at: times[0], notification_id: 'n0', type: 'follow_request', actor_id: 'ben',
    actor_username: 'ben', post_id: 'f0', is_read: false, expires_at: epoch(times[0]) + 30 * 86400,
  });
  const names = async (caller, path) => (await caller.all(path, 2)).map((each) => each.notification_id);
  assert.deepEqual(await names(ann, '/users/ann/notifications'), ['n0', 'n1', 'n2', 'n3']);
  await ann.patch(`/users/ann/notifications/${times[1]}/n1`, { is_read: true });
  assert.deepEqual(await names(ann, '/users/ann/notifications/unread'), ['n0', 'n2', 'n3']);
  await ann.delete(`/users/ann/notifications/${times[2]}/n2`);
  assert.deepEqual(await names(ann, '/users/ann/notifications'), ['n0', 'n1', 'n3']);
  assert.deepEqual(await names(ben, '/users/ann/notifications'), []);
  await ben.patch(`/users/ann/notifications/${times[0]}/n0`, { is_read: true }, { status: 404 });
  await ben.put(`/users/ann/notifications/${times[0]}/forged`, { type: 'new_post' }, { status: 403 });
  await ann.patch(`/users/ann/notifications/${times[0]}/n0`, { type: 'bomb' }, { status: 422 });
});

test('the feeds of the whole file add up', () => audit(app));
