// The social network's processors: feeds that are made in advance, filled, withdrawn and emptied; who is told; what is popular.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, atOnce, freshDirectory, startDesign } from './harness.mjs';
import { ago, audit, epoch, people } from './social-world.mjs';

const app = await startDesign('social');
const operator = await app.operator();

const post = async (author, more = {}) => (await author.post('/posts', { content: 'Hello', ...more })).body;
const follow = (follower, id, of) => follower.put(`/users/${id}/following/${of}`);
/** The rows of a reader's feed, as they are in the table. */
const feedOf = async (id, of = app) => {
  await of.settled();
  return (await of.doc.query({ TableName: of.table, KeyConditionExpression: 'PK = :p', ExpressionAttributeValues: { ':p': `FEED#${id}` }, ConsistentRead: true })).Items;
};
const postsIn = async (id, of) => (await feedOf(id, of)).map((row) => row.post_id);
const told = async (id, caller) => { await app.settled(); return caller.list(`/users/${id}/notifications`); };

test('S-A03, S-A29: a post is in the feed of every follower, as a snapshot that ends after thirty days', async () => {
  const { ann, ben, cat, dan } = await people(app, 'ann', 'ben', 'cat', 'dan');
  await follow(ben, 'ben', 'ann');
  await follow(cat, 'cat', 'ann');
  await follow(dan, 'dan', 'ben');
  const { post_id, created_at } = await post(ann, { content: 'x'.repeat(200), content_type: 'image', visibility: 'followers' });
  for (const id of ['ben', 'cat']) {
    const [row, ...more] = await feedOf(id);
    assert.deepEqual(more, []);
    const { inserted_at, ...rest } = row;
    assert.match(inserted_at, /Z$/);
    assert.deepEqual(rest, {
      PK: `FEED#${id}`, SK: `${created_at}#${post_id}`, GSI1PK: `FEED_MANAGEMENT#${id}`, GSI1SK: created_at, user_id: id, post_id, author_id: 'ann', author_username: 'ann',
      content_preview: 'x'.repeat(80), content_type: 'image', created_at, engagement_score: 0, is_promoted: false, feed_rank: 1, expires_at: epoch(created_at) + 30 * 86400,
    });
  }
  assert.deepEqual(await postsIn('dan'), []); // follows ben only
  assert.deepEqual(await postsIn('ann'), []);
  assert.deepEqual((await ben.list('/users/ben/feed')).map((row) => row.post_id), [post_id]);
  await ben.list('/users/cat/feed').then((rows) => assert.deepEqual(rows, [])); // nobody else's
  await audit(app);
});

test('S-A28: who was unfollowed and then blocked, or has to ask again, keeps nothing that a follower is told', async () => {
  const { tess, uli, vero } = await people(app, 'tess', 'uli', 'vero');
  const takeBack = '/processors/take%20back%20what%20a%20follower%20was%20told';
  await follow(uli, 'uli', 'tess');
  await follow(vero, 'vero', 'tess');
  await post(tess);
  assert.deepEqual([(await told('uli', uli)).length, (await told('vero', vero)).length], [1, 1]);
  await operator.post(`${takeBack}/pause`);
  for (const [id, caller] of [['uli', uli], ['vero', vero]]) await caller.delete(`/users/${id}/following/tess`);
  await tess.post('/users/uli/following/tess/block');
  await tess.patch('/users/tess', { is_private: true });
  await follow(vero, 'vero', 'tess');
  await operator.post(`${takeBack}/resume`);
  assert.deepEqual([await told('uli', uli), await told('vero', vero)], [[], []]);
  await audit(app);
});

test('S-A31, S-A26: a post that is withdrawn while nobody follows is told to nobody who follows again', async () => {
  const { wim, xena } = await people(app, 'wim', 'xena');
  const takeBack = '/processors/take%20back%20what%20a%20follower%20was%20told';
  await follow(xena, 'xena', 'wim');
  const hidden = await post(wim);
  const shown = await post(wim);
  assert.equal((await told('xena', xena)).length, 2);
  await operator.post(`${takeBack}/pause`);
  await xena.delete('/users/xena/following/wim');
  await wim.patch(`/posts/${hidden.post_id}`, { visibility: 'private' });
  await app.settled(); // the post has found no follower
  await follow(xena, 'xena', 'wim');
  await operator.post(`${takeBack}/resume`);
  const ids = async () => (await told('xena', xena)).map((each) => each.post_id);
  assert.deepEqual(await ids(), [shown.post_id], 'what may be seen stays');
  await audit(app);
});

test('S-A31, S-A30: a deleted post and one that is private now leave every feed; one that comes back is delivered', async () => {
  const { eva, fay, gil } = await people(app, 'eva', 'fay', 'gil');
  await follow(fay, 'fay', 'eva');
  await follow(gil, 'gil', 'eva');
  const gone = await post(eva);
  const hidden = await post(eva, { visibility: 'followers' });
  const never = await post(eva, { visibility: 'private' });
  assert.deepEqual((await postsIn('fay')).sort(), [gone.post_id, hidden.post_id].sort());
  await gil.post('/users/gil/following/eva/mute'); // his rows are withdrawn all the same
  await eva.delete(`/posts/${gone.post_id}`);
  await eva.patch(`/posts/${hidden.post_id}`, { visibility: 'private' });
  for (const id of ['fay', 'gil']) assert.deepEqual(await postsIn(id), [], id);
  await eva.patch(`/posts/${never.post_id}`, { visibility: 'followers' });
  assert.deepEqual(await postsIn('fay'), [never.post_id]);
  assert.deepEqual(await postsIn('gil'), []); // muted
  await eva.patch(`/posts/${never.post_id}`, { visibility: 'public', content: 'Hello, all' }); // wider: it is there already
  assert.deepEqual(await postsIn('fay'), [never.post_id]);
  await audit(app);
});

test('S-A31: a post that is withdrawn before it could be delivered is delivered to nobody', async () => {
  const { hal, ida } = await people(app, 'hal', 'ida');
  await follow(ida, 'ida', 'hal');
  await app.settled();
  for (const name of ['deliver a post to followers', 'fill the feed of a new follower']) await operator.post(`/processors/${encodeURIComponent(name)}/pause`);
  const deleted = await post(hal);
  const hidden = await post(hal);
  await hal.delete(`/posts/${deleted.post_id}`);
  await hal.patch(`/posts/${hidden.post_id}`, { visibility: 'private' });
  const { ian, joy } = await people(app, 'ian', 'joy');
  const kept = await post(ian);
  await follow(joy, 'joy', 'ian');
  await joy.delete('/users/joy/following/ian');
  // the others are through, these two begin
  const others = async () => (await operator.get('/processors')).body.processors.every(({ paused, backlog }) => paused || !backlog);
  while (!(await others())) await new Promise((resolve) => { setImmediate(resolve); });
  for (const name of ['deliver a post to followers', 'fill the feed of a new follower']) await operator.post(`/processors/${encodeURIComponent(name)}/resume`);
  assert.deepEqual(await postsIn('ida'), []);
  assert.deepEqual(await postsIn('joy'), [], `nobody has followed for long enough to have ${kept.post_id}`);
  await audit(app);
});

test('S-A26, S-A27: a new follower gets what was posted of late, and loses it by leaving', async () => {
  const { kim, leo, mia } = await people(app, 'kim', 'leo', 'mia');
  const old = await operator.post('/posts', { author_id: 'kim', content: 'long ago', created_at: ago(40) });
  const recent = await Promise.all([3, 2, 1].map(async (days) => (await operator.post('/posts', { author_id: 'kim', content: `${days}`, created_at: ago(days) })).body.post_id));
  await post(kim, { visibility: 'private' });
  const gone = await post(kim);
  await kim.delete(`/posts/${gone.post_id}`);
  const other = await post(mia);
  await follow(leo, 'leo', 'kim');
  await follow(leo, 'leo', 'mia');
  assert.deepEqual(await postsIn('leo'), [...recent, other.post_id], `not ${old.body.post_id}`);
  await leo.delete('/users/leo/following/kim');
  assert.deepEqual(await postsIn('leo'), [other.post_id]);
  // in and out, and in
  await follow(leo, 'leo', 'kim');
  await leo.delete('/users/leo/following/kim');
  await follow(leo, 'leo', 'kim');
  assert.deepEqual(await postsIn('leo'), [...recent, other.post_id]);
  await kim.delete('/users/leo/following/kim'); // shown out by the followed
  assert.deepEqual(await postsIn('leo'), [other.post_id]);
  await audit(app);
});

test('S-A28: who is blocked loses it all, who mutes gets nothing new, who unmutes gets what he missed', async () => {
  const { nat, oli, pam } = await people(app, 'nat', 'oli', 'pam');
  await follow(oli, 'oli', 'nat');
  await follow(pam, 'pam', 'nat');
  const first = await post(nat);
  assert.deepEqual([await postsIn('oli'), await postsIn('pam')], [[first.post_id], [first.post_id]]);
  await nat.post('/users/oli/following/nat/block');
  await pam.post('/users/pam/following/nat/mute');
  const second = await post(nat);
  assert.deepEqual([await postsIn('oli'), await postsIn('pam')], [[], [first.post_id]]);
  assert.deepEqual((await told('pam', pam)).map((each) => each.post_id), [first.post_id]);
  await pam.post('/users/pam/following/nat/unmute');
  assert.deepEqual((await postsIn('pam')).sort(), [first.post_id, second.post_id].sort());
  await audit(app);
});

test('S-A26: a private account hears of a request, and its posts are delivered once it is approved', async () => {
  const { qin, ray } = await people(app, 'qin', 'ray');
  await qin.patch('/users/qin', { is_private: true });
  const early = await post(qin);
  const { body: edge } = await follow(ray, 'ray', 'qin');
  assert.equal(edge.status, 'pending');
  assert.deepEqual(await postsIn('ray'), []);
  assert.deepEqual((await told('qin', qin)).map(({ type, actor_id, actor_username, is_read }) => ({ type, actor_id, actor_username, is_read })),
    [{ type: 'follow_request', actor_id: 'ray', actor_username: 'ray', is_read: false }]);
  assert.ok(await app.item('USER#qin', `NOTIFICATION#${edge.created_at}#ray`));
  await qin.post('/users/ray/following/qin/approve');
  assert.deepEqual(await postsIn('ray'), [early.post_id]);
  const late = await post(qin);
  assert.deepEqual((await postsIn('ray')).sort(), [early.post_id, late.post_id].sort());
  // one that is turned down leaves nothing
  const { sam } = await people(app, 'sam');
  await follow(sam, 'sam', 'qin');
  await qin.delete('/users/sam/following/qin');
  await post(qin);
  assert.deepEqual(await postsIn('sam'), []);
  // an open account is told of nothing
  await follow(sam, 'sam', 'ray');
  assert.deepEqual((await told('ray', ray)).filter(({ type }) => type !== 'new_post'), []);
  await audit(app);
});

test('S33: followers are told of a post where they ask for it', async () => {
  const { tom, una, vic } = await people(app, 'tom', 'una', 'vic');
  await follow(una, 'una', 'tom');
  await vic.put('/users/vic/following/tom', { notification_enabled: false });
  const first = await post(tom);
  const [one, ...more] = await told('una', una);
  assert.deepEqual(more, []);
  assert.deepEqual([one.type, one.actor_id, one.actor_username, one.post_id, one.notification_id, one.created_at], ['new_post', 'tom', 'tom', first.post_id, first.post_id, first.created_at]);
  assert.deepEqual(await told('vic', vic), []);
  await post(tom, { visibility: 'private' });
  await tom.patch(`/posts/${first.post_id}`, { content: 'Edited' });
  assert.equal((await told('una', una)).length, 1);
  await vic.patch('/users/vic/following/tom', { notification_enabled: true });
  await una.patch('/users/una/following/tom', { notification_enabled: false });
  const second = await post(tom);
  assert.deepEqual((await told('vic', vic)).map((each) => each.post_id), [second.post_id]);
  assert.equal((await told('una', una)).length, 1);
  await audit(app);
});

test('S-A10, S-A32: the place among popular posts follows likes, comments and shares at once', async () => {
  const names = Array.from({ length: 12 }, (_, i) => `fan${i}`);
  const { wes, ...fans } = await people(app, 'wes', ...names);
  const { post_id } = await post(wes);
  assert.deepEqual(await atOnce(names.flatMap((name) => [
    () => fans[name].request('PUT', `/posts/${post_id}/likes/${name}`, { body: {} }),
    () => fans[name].request('PUT', `/posts/${post_id}/likes/${name}`, { body: { like_type: 'love' } }),
    () => fans[name].request('POST', `/posts/${post_id}/comments`, { body: { content: 'Nice' } }),
    () => fans[name].request('PUT', `/posts/${post_id}/shares/${name}`, { body: {} }),
  ])).then((statuses) => Object.keys(statuses).every((status) => ['200', '201', '409', '503'].includes(status))), true);
  await Promise.all(names.slice(0, 5).map((name) => fans[name].delete(`/posts/${post_id}/likes/${name}`)));
  const { likes_count, comments_count, shares_count, engagement_score, GSI3SK } = await app.item(`POST#${post_id}`, 'METADATA');
  assert.equal(likes_count, 7);
  assert.equal(engagement_score, 20 * likes_count + 60 * comments_count + 100 * shares_count);
  assert.ok(GSI3SK.startsWith(`${String(engagement_score).padStart(10, '0')}#`));
  await audit(app);
});

test('S24: processors do not wake themselves: when all is said they are idle, and what they have done does not grow', async () => {
  await app.settled();
  const numbers = async () => (await operator.get('/processors')).body.processors.map(({ name, done, backlog, parked, retries, lost }) => ({ name, done, backlog, parked, retries, lost }));
  const before = await numbers();
  assert.ok(before.every(({ parked, backlog, lost }) => !parked && !backlog && !lost), JSON.stringify(before));
  const { xia, yan } = await people(app, 'xia', 'yan');
  await follow(yan, 'yan', 'xia');
  await app.settled();
  await post(xia);
  await app.settled();
  const after = await numbers();
  const more = Object.fromEntries(after.map(({ name, done }, i) => [name, done - before[i].done]));
  delete more.keeper; // looks at everything
  assert.deepEqual(more, {
    'deliver a post to followers': 1, 'withdraw a post that is deleted or private now': 0, 'fill the feed of a new follower': 0, 'empty the feed after an unfollow': 0,
    'empty the feed after a block': 0, 'a block ends the other direction': 0, 'a block keeps the other direction out': 0, 'mark a blocked user': 0, 'mark a user who blocks': 0,
    'take back what followers were told of a post': 0, 'take back what a follower was told': 0, 'take back a request': 0,
    'empty the posts of who has left': 0, 'empty the comments of who has left': 0,
    'give a new post its week': 1, 'take an old post out of the popular ones': 0, 'take a post that comes old out of the popular ones': 0,
    'tell followers of a post': 1, 'tell of a request to follow': 0,
  });
  await app.settled();
  assert.deepEqual((await numbers()).filter(({ name }) => name !== 'keeper'), after.filter(({ name }) => name !== 'keeper'));
});

test('S-A24, S23: above the limit posts are not delivered but merged in when a feed is read', async () => {
  const file = join(freshDirectory(), 'social.yaml');
  const text = readFileSync(join(ROOT, 'designs', 'social.yaml'), 'utf8');
  writeFileSync(file, text.replace('followers_count > 10000', 'followers_count > 3'));
  const small = await startDesign(file);
  const { star, dim, ...fans } = await people(small, 'star', 'dim', 'uu1', 'uu2', 'uu3', 'uu4');
  const home = async (id) => (await small.settled(), (await fans[id].all(`/users/${id}/home`, 2)).map((each) => each.post_id));
  for (const id of ['uu1', 'uu2', 'uu3']) await follow(fans[id], id, 'star');
  await follow(fans.uu1, 'uu1', 'dim');
  const delivered = (await (await small.operator()).post('/posts', { author_id: 'star', content: 'one', created_at: ago(0, 60) })).body.post_id;
  assert.deepEqual(await postsIn('uu1', small), [delivered]);
  await follow(fans.uu4, 'uu4', 'star'); // and now there are too many
  await small.settled();
  assert.equal((await small.item('USER#uu1', 'FOLLOWING#star')).followed_is_popular, true);
  const merged = (await post(star)).post_id;
  const other = (await (await small.operator()).post('/posts', { author_id: 'dim', content: 'two', created_at: ago(0, 30) })).body.post_id;
  assert.deepEqual((await postsIn('uu1', small)).sort(), [delivered, other].sort()); // not the new one
  assert.deepEqual(await home('uu1'), [merged, other, delivered]); // each once
  assert.deepEqual(await home('uu4'), [merged, delivered]); // who came late
  await star.delete(`/posts/${merged}`);
  await fans.uu4.post('/users/uu4/following/star/mute');
  assert.deepEqual(await home('uu1'), [other, delivered]);
  assert.deepEqual(await home('uu4'), [delivered]); // what he had when he was one of few
  assert.equal((await small.item('USER#star', 'PROFILE')).followers_count, 4);
});

test('S-A24, S23: an author who is no longer popular keeps in feeds what was merged in before', async () => {
  const file = join(freshDirectory(), 'social.yaml');
  const text = readFileSync(join(ROOT, 'designs', 'social.yaml'), 'utf8');
  writeFileSync(file, text.replace('followers_count > 10000', 'followers_count > 2'));
  const small = await startDesign(file);
  const { star, ...fans } = await people(small, 'star', 'uu1', 'uu2', 'uu3');
  const home = async (id) => (await small.settled(), (await fans[id].all(`/users/${id}/home`, 2)).map((each) => each.post_id));
  for (const id of ['uu1', 'uu2', 'uu3']) await follow(fans[id], id, 'star');
  await small.settled();
  await fans.uu2.post('/users/uu2/following/star/mute');
  const { post_id: merged } = await post(star);
  assert.deepEqual(await postsIn('uu1', small), []);
  assert.deepEqual(await home('uu1'), [merged]);
  await fans.uu3.delete('/users/uu3/following/star'); // and now there are few again
  await small.settled();
  assert.equal((await small.item('USER#uu1', 'FOLLOWING#star')).followed_is_popular, false);
  assert.deepEqual(await home('uu1'), [merged]);
  assert.deepEqual([await postsIn('uu1', small), await postsIn('uu2', small), await postsIn('uu3', small)], [[merged], [], []]); // uu2 mutes
  await star.delete(`/posts/${merged}`);
  assert.deepEqual([await home('uu1'), await postsIn('uu1', small)], [[], []]);
});
