// designs/social.yaml: many at once, then everything is counted again: the audit recounts every counter, key, guard and copy of the table.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atOnce, startDesign } from './harness.mjs';
import { audit, people } from './social-world.mjs';

const app = await startDesign('social');
const op = await app.operator();
const names = Array.from({ length: 30 }, (_, i) => `user${String(i).padStart(2, '0')}`);
const all = Object.values(await people(app, ...names));
const { ann, ben } = await people(app, 'ann', 'ben');
await ann.put('/posts/p1', { content: 'everyone is here', hashtags: ['#busy'] });

const put = (caller, path, body = {}) => () => caller.request('PUT', path, { body });
const send = (caller, path, body = {}) => () => caller.request('POST', path, { body });
const patch = (caller, path, body, headers) => () => caller.request('PATCH', path, { body, headers });
const remove = (caller, path) => () => caller.request('DELETE', path);
const post = (id) => app.item(`POST#${id}`, 'METADATA');
const profile = (id) => app.item(`USER#${id}`, 'PROFILE');

/** No reply may be a failure of the server's. */
function noFailures(statuses) {
  for (const status of Object.keys(statuses)) assert.ok(Number(status) < 500, JSON.stringify(statuses));
  return statuses;
}

test('S-A25: of twenty who want the same name one gets it, and the others are told which attribute', async () => {
  const ask = async (caller, make) => {
    const replies = await Promise.all(Array.from({ length: 20 }, (_, i) => caller.request('POST', '/users', { body: make(i) })));
    assert.equal(replies.filter(({ status }) => status === 201).length, 1, JSON.stringify(replies.map(({ status }) => status)));
    return replies.filter(({ status }) => status !== 201);
  };
  for (const { status, body } of await ask(app.nobody, (i) => ({ username: 'wanted', email: `w${i}@example.com`, password: 'long enough' }))) {
    assert.deepEqual([status, body.type, body.attribute], [409, 'urn:thorpe:taken', 'username']);
  }
  for (const { status, body } of await ask(op, (i) => ({ username: `wants_mail${i}`, email: 'Wanted@example.com' }))) {
    assert.deepEqual([status, body.type, body.attribute], [409, 'urn:thorpe:taken', 'email']);
  }
  for (const { status, body } of await ask(op, (i) => ({ user_id: 'wanted', username: `wants_id${i}`, email: `i${i}@example.com` }))) {
    assert.deepEqual([status, body.type], [409, 'urn:thorpe:already-exists']);
  }
  await audit(app); // nobody has left a guard behind
});

test('S-A25: an address is passed on while others want it', async () => {
  for (let round = 0; round < 3; round += 1) {
    const [from, to] = round % 2 ? [ben, ann] : [ann, ben];
    const [giver, taker] = round % 2 ? ['ben', 'ann'] : ['ann', 'ben'];
    const has = (await profile(giver)).email;
    const statuses = noFailures(await atOnce([
      patch(from, `/users/${giver}`, { email: `free${round}@example.com` }),
      ...Array.from({ length: 4 }, () => patch(to, `/users/${taker}`, { email: has })),
      send(app.nobody, '/users', { username: `late${round}`, email: has, password: 'long enough' }),
    ]));
    assert.ok(Object.keys(statuses).every((status) => ['200', '201', '409'].includes(status)), JSON.stringify(statuses));
    await audit(app);
  }
});

test('S-A32: thirty like a post at once, each three times, and some take it back', async () => {
  const like = (i) => put(all[i], `/posts/p1/likes/${names[i]}`);
  const unlike = (i) => remove(all[i], `/posts/p1/likes/${names[i]}`);
  const each = (start) => all.map((_, i) => start(i));
  assert.deepEqual(await atOnce([...each(like), ...each(like), ...each(like)]), { 201: 30, 409: 60 });
  assert.equal((await post('p1')).likes_count, 30);
  assert.equal((await post('p1')).engagement_score, 600);
  await audit(app);

  const some = Array.from({ length: 15 }, (_, i) => 2 * i);
  assert.deepEqual(await atOnce(some.flatMap((i) => [unlike(i), unlike(i)])), { 204: 15, 404: 15 });
  assert.equal((await post('p1')).likes_count, 15);
  await audit(app);

  noFailures(await atOnce(all.flatMap((_, i) => [like(i), unlike(i), like(i), patch(all[i], `/posts/p1/likes/${names[i]}`, { like_type: 'love' })])));
  const { like: likes } = await audit(app);
  assert.equal((await post('p1')).likes_count, likes.length);
});

test('S-A26, S-A27: thirty follow each other and let go at once', async () => {
  const follow = (a, b) => put(all[a], `/users/${names[a]}/following/${names[b]}`);
  const unfollow = (a, b) => remove(all[a], `/users/${names[a]}/following/${names[b]}`);
  assert.deepEqual(await atOnce(all.flatMap((_, i) => [put(all[i], `/users/${names[i]}/following/ann`), put(all[i], `/users/${names[i]}/following/ann`)])),
    { 201: 30, 409: 30 });
  assert.equal((await profile('ann')).followers_count, 30);
  const ring = all.flatMap((_, i) => [1, 2, 3].map((step) => [i, (i + step) % 30]));
  assert.deepEqual(await atOnce(ring.map(([a, b]) => follow(a, b))), { 201: 90 });
  await audit(app);
  // Both directions, and back, all at once; and Ann throws some out while they leave.
  noFailures(await atOnce([
    ...ring.slice(0, 45).flatMap(([a, b]) => [unfollow(a, b), follow(b, a)]),
    ...all.slice(0, 10).flatMap((caller, i) => [remove(caller, `/users/${names[i]}/following/ann`), remove(ann, `/users/${names[i]}/following/ann`)]),
  ]));
  await audit(app);
  assert.equal((await profile('ann')).followers_count, 20);
});

test('S-A28: a block, a mute and a follow of the same edge leave it in one state', async () => {
  const edge = (i) => `/users/${names[i]}/following/ann`;
  noFailures(await atOnce(all.flatMap((caller, i) => [
    put(caller, edge(i)), send(ann, `${edge(i)}/block`), send(caller, `${edge(i)}/mute`), remove(caller, edge(i)), send(ann, `${edge(i)}/block`), put(caller, edge(i)),
  ])));
  const { edge: edges } = await audit(app);
  const blocked = edges.filter(({ followed_id, status }) => followed_id === 'ann' && status === 'blocked');
  assert.equal(blocked.length, 30, 'whoever comes last, a block stays: nobody gets out of it by himself');
  assert.equal((await profile('ann')).followers_count, 0);
  assert.deepEqual(await atOnce(all.map((_, i) => remove(ann, edge(i)))), { 204: 30 });
  await audit(app);
});

test('S-A28: requests to a private account are approved, withdrawn and blocked at once', async () => {
  const { pia } = await people(app, 'pia');
  await pia.patch('/users/pia', { is_private: true });
  const edge = (i) => `/users/${names[i]}/following/pia`;
  assert.deepEqual(await atOnce(all.map((caller, i) => put(caller, edge(i)))), { 201: 30 });
  assert.equal((await profile('pia')).followers_count, 0);
  noFailures(await atOnce(all.flatMap((caller, i) => [
    send(pia, `${edge(i)}/approve`), send(pia, `${edge(i)}/approve`), ...(i % 3 === 0 ? [remove(caller, edge(i))] : []), ...(i % 3 === 1 ? [send(pia, `${edge(i)}/block`)] : []),
  ])));
  const { edge: edges } = await audit(app);
  assert.equal((await profile('pia')).followers_count, edges.filter(({ followed_id, status }) => followed_id === 'pia' && status === 'active').length);
});

test('S-A26, S-A27: an author becomes popular and is not any more while they come and go, and every edge knows', async () => {
  await op.post('/users', { user_id: 'star', username: 'star', email: 'star@example.com', followers_count: 9980 });
  const edge = (i) => `/users/${names[i]}/following/star`;
  const sound = async (count) => {
    const star = await profile('star');
    assert.deepEqual([star.followers_count, star.is_popular], [count, count > 10000]); // S23
    const edges = (await app.items()).filter(({ SK }) => SK === 'FOLLOWING#star');
    assert.equal(edges.length, count - 9980);
    assert.deepEqual(edges.filter(({ followed_is_popular: knows }) => knows !== star.is_popular), []);
  };
  assert.deepEqual(await atOnce(all.map((caller, i) => put(caller, edge(i)))), { 201: 30 });
  await sound(10010);
  assert.deepEqual(await atOnce(all.slice(0, 15).map((caller, i) => remove(caller, edge(i)))), { 204: 15 });
  await sound(9995);
  noFailures(await atOnce(all.slice(0, 20).flatMap((caller, i) => (i < 10 ? [put(caller, edge(i))] : [remove(caller, edge(i)), put(caller, edge(i)), remove(caller, edge(i))]))));
  await sound((await profile('star')).followers_count);
  await atOnce(all.map((caller, i) => remove(caller, edge(i))));
  await sound(9980);
  await app.doc.update({ // made-up counters are no good for the audit
    TableName: app.table, Key: { PK: 'USER#star', SK: 'PROFILE' }, UpdateExpression: 'SET followers_count = :n', ExpressionAttributeValues: { ':n': 0 },
  });
  await audit(app);
});

test('S-A33: thirty comment, answer, like and delete at once', async () => {
  const { body: { comment_id: root } } = await ann.post('/posts/p1/comments', { content: 'say something' });
  const reply = (caller) => send(caller, '/posts/p1/comments', { content: 'something', parent_comment_id: root });
  assert.deepEqual(await atOnce([...all.map(reply), ...all.map((caller) => send(caller, '/posts/p1/comments', { content: 'else' }))]), { 201: 60 });
  const { comment } = await audit(app);
  assert.equal((await post('p1')).comments_count, 61);
  const own = comment.filter(({ user_id }) => names.includes(user_id));
  noFailures(await atOnce(own.flatMap(({ comment_id: id, user_id: user }, i) => [
    remove(all[names.indexOf(user)], `/posts/p1/comments/${id}`), // who wrote it, and the post's author at the same time: counted off once
    ...(i % 2 ? [remove(ann, `/posts/p1/comments/${id}`)] : []),
    put(all[(i + 7) % 30], `/comments/${id}/likes/${names[(i + 7) % 30]}`, { post_id: 'p1' }),
    ...(i % 5 ? [] : [reply(all[i % 30])]),
  ])));
  await audit(app);
  // The comment goes while it is answered: whoever was too late is told so.
  const statuses = await atOnce([...all.slice(0, 10).map(reply), remove(ann, `/posts/p1/comments/${root}`), ...all.slice(10).map(reply)]);
  assert.equal(statuses[204], 1, JSON.stringify(statuses));
  assert.equal((statuses[201] ?? 0) + (statuses[409] ?? 0), 30, JSON.stringify(statuses));
  await audit(app);
});

test('S-A31, S-A32: a post is deleted while it is liked, shared and answered', async () => {
  await ann.put('/posts/p2', { content: 'quick!', hashtags: ['#quick'] });
  const statuses = noFailures(await atOnce(all.flatMap((caller, i) => [
    put(caller, `/posts/p2/likes/${names[i]}`), send(caller, '/posts/p2/comments', { content: 'wait' }), put(caller, `/posts/p2/shares/${names[i]}`),
    ...(i === 10 || i === 11 ? [remove(ann, '/posts/p2')] : []),
  ])));
  assert.equal(statuses[204], 1, JSON.stringify(statuses));
  const { post: posts } = await audit(app);
  assert.equal(posts.find(({ post_id }) => post_id === 'p2').is_deleted, true);
});

test('S-A30: of twenty edits of what one has seen one is made', async () => {
  await ann.put('/posts/p3', { content: 'version 0' });
  for (let round = 1; round <= 3; round += 1) {
    const { etag } = await ann.get('/posts/p3');
    const edits = Array.from({ length: 20 }, (_, i) => patch(ann, '/posts/p3', { content: `version ${round}.${i}` }, { 'if-match': etag }));
    assert.deepEqual(await atOnce(edits), { 200: 1, 412: 19 });
  }
  // Without If-Match all are made, one after the other, while likes go on.
  const free = Array.from({ length: 20 }, (_, i) => patch(ann, '/posts/p3', { [i % 2 ? 'content' : 'hashtags']: i % 2 ? `last ${i}` : [`#t${i}`] }));
  assert.deepEqual(await atOnce([...free, ...all.map((caller, i) => put(caller, `/posts/p3/likes/${names[i]}`))]), { 200: 20, 201: 30 });
  assert.equal((await post('p3')).likes_count, 30);
  await audit(app);
});

test('S-A29, S-A30: an account turns private and back while it posts, and every post knows', async () => {
  const writes = (n) => Array.from({ length: 8 }, (_, i) => send(ben, '/posts', { content: `${n}.${i}`, hashtags: ['#flip'] }));
  noFailures(await atOnce([...writes(0), patch(ben, '/users/ben', { is_private: true }), ...writes(1)]));
  await audit(app);
  noFailures(await atOnce([...writes(2), patch(ben, '/users/ben', { is_private: false }), patch(ben, '/users/ben', { is_private: true }), ...writes(3)]));
  const { post: posts } = await audit(app);
  assert.equal(posts.filter(({ author_id }) => author_id === 'ben').length, 32);
  assert.equal((await profile('ben')).posts_count, 32);
});

test('S-A29: the same key many times at once makes one post', async () => {
  const headers = { 'idempotency-key': 'one and only' };
  const body = { content: 'only once' };
  const replies = await Promise.all(Array.from({ length: 12 }, () => ann.request('POST', '/posts', { body, headers })));
  const made = replies.filter(({ status }) => status === 201);
  assert.ok(made.length >= 1);
  assert.equal(new Set(made.map((reply) => reply.body.post_id)).size, 1);
  assert.ok(replies.every(({ status }) => [201, 409].includes(status)), JSON.stringify(replies.map(({ status }) => status)));
  const { post: posts } = await audit(app);
  assert.equal(posts.filter(({ content }) => content === 'only once').length, 1);
});

test('everything at once, by a fixed plan, and then it is counted', async () => {
  let seed = 20250127;
  const dice = (n) => { seed = (seed * 1103515245 + 12345) % 2147483648; return Math.floor((seed / 2147483648) * n); };
  for (let i = 0; i < 3; i += 1) await op.post('/posts', { post_id: `m${i}`, author_id: names[i], content: 'x', hashtags: ['#mix'] });
  const kinds = [
    (c, n, p) => put(c, `/posts/${p}/likes/${n}`), (c, n, p) => remove(c, `/posts/${p}/likes/${n}`), (c, n, p) => put(c, `/posts/${p}/shares/${n}`),
    (c, n, p) => remove(c, `/posts/${p}/shares/${n}`), (c, n, p) => send(c, `/posts/${p}/comments`, { content: 'mixed' }),
    (c, n) => put(c, `/users/${n}/following/${names[dice(30)]}`), (c, n) => remove(c, `/users/${n}/following/${names[dice(30)]}`),
    (c, n) => send(c, `/users/${names[dice(30)]}/following/${n}/block`), (c, n) => patch(c, `/users/${n}`, { is_private: dice(2) === 0 }),
    (c, n, p) => patch(c, `/posts/${p}`, { visibility: ['public', 'followers', 'private'][dice(3)] }), (c) => send(c, '/posts', { content: 'more', hashtags: ['#mix'] }),
  ];
  for (let round = 0; round < 3; round += 1) {
    noFailures(await atOnce(Array.from({ length: 90 }, () => {
      const who = dice(30);
      return kinds[dice(kinds.length)](all[who], names[who], `m${dice(3)}`);
    })));
    await audit(app);
  }
});
