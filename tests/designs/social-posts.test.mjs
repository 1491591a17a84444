// designs/social.yaml: posts: written, changed, deleted; by author, by day, by popularity, by hashtag; and who sees which.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDesign } from './harness.mjs';
import { TIME, ULID, ago, audit, people } from './social-world.mjs';

const app = await startDesign('social');
const op = await app.operator();
const admin = await app.as('boss', 'admin');
const { ann, ben, cyd, pia } = await people(app, 'ann', 'ben', 'cyd', 'pia');
await pia.patch('/users/pia', { is_private: true });
await ben.put('/users/ben/following/ann');
await cyd.put('/users/cyd/following/ann');
await op.post('/users/cyd/following/ann/block'); // an edge, but no follower

const ids = (items) => items.map((item) => item.post_id);
const listed = async (caller, path) => ids(await caller.all(path, 2));

test('S-A29, S-A09: a post is written with its index keys and hashtags, and counted, and read by its id', async () => {
  const made = await ann.post('/posts', {
    author_id: 'ben', // forged: it is the caller
    content: 'Just launched my new project! 🚀', content_type: 'image', media_urls: ['https://example.com/a.png'],
    hashtags: ['#Coding', '#startup', 'coding'], mentions: ['@ben'],
  });
  const id = made.body.post_id;
  assert.equal(made.status, 201);
  assert.match(id, ULID);
  assert.equal(made.location, `/api/social/posts/${id}`);
  const item = await app.item(`POST#${id}`, 'METADATA');
  const at = item.created_at;
  assert.match(at, TIME);
  assert.deepEqual(item, { // T5, all fifteen attributes
    PK: `POST#${id}`, SK: 'METADATA', GSI1PK: 'USER#ann', GSI1SK: `POST#${at}#${id}`, GSI2PK: `TIMELINE#${at.slice(0, 10)}`, GSI2SK: `${at}#${id}`,
    GSI3PK: 'POPULAR_POSTS', GSI3SK: `0000000000#${at}`, post_id: id, author_id: 'ann', author_username: 'ann', author_is_private: false,
    content: 'Just launched my new project! 🚀', content_type: 'image', media_urls: ['https://example.com/a.png'], created_at: at, updated_at: at,
    likes_count: 0, comments_count: 0, shares_count: 0, engagement_score: 0, visibility: 'public', is_deleted: false,
    hashtags: ['#Coding', '#startup', 'coding'], mentions: ['@ben'],
  });
  for (const tag of ['coding', 'startup']) { // S14
    assert.deepEqual(await app.item(`POST#${id}`, `HASHTAG#${tag}`),
      { PK: `POST#${id}`, SK: `HASHTAG#${tag}`, GSI3PK: `HASHTAG#${tag}`, GSI3SK: `${at}#${id}`, post_id: id });
  }
  assert.equal((await app.item('USER#ann', 'PROFILE')).posts_count, 1); // S17
  assert.equal((await app.item('USER#ben', 'PROFILE')).posts_count, 0);

  const { body, etag } = await app.nobody.get(`/posts/${id}`);
  assert.deepEqual(body, (await ann.get(`/posts/${id}`)).body);
  assert.equal(body.content, item.content);
  assert.equal((await app.nobody.request('GET', `/posts/${id}`, { headers: { 'if-none-match': etag } })).status, 304);
  await ann.get('/posts/none', { status: 404, type: 'not-found' });
  await audit(app);
});

test('S-A30: who may see a post decides which indexes it is in', async () => {
  await ann.put('/posts/shy', { content: 'for everyone', hashtags: ['#shy'] });
  const at = (await app.item('POST#shy', 'METADATA')).created_at;
  const keys = async () => {
    const item = await app.item('POST#shy', 'METADATA');
    return Object.keys(item).filter((name) => name.startsWith('GSI')).sort();
  };
  const every = ['GSI1PK', 'GSI1SK', 'GSI2PK', 'GSI2SK', 'GSI3PK', 'GSI3SK'];
  assert.deepEqual(await keys(), every);
  for (const visibility of ['followers', 'private', 'followers']) { // T6, S4
    const { body } = await ann.patch('/posts/shy', { visibility });
    assert.equal(body.visibility, visibility);
    assert.deepEqual(await keys(), ['GSI1PK', 'GSI1SK']);
    assert.equal(await app.item('POST#shy', 'HASHTAG#shy'), undefined);
  }
  await ann.patch('/posts/shy', { visibility: 'public', content: 'for everyone again' });
  assert.deepEqual(await keys(), every);
  const item = await app.item('POST#shy', 'METADATA');
  assert.deepEqual([item.created_at, item.GSI2SK, item.content], [at, `${at}#shy`, 'for everyone again']);
  await ann.patch('/posts/shy', { hashtags: ['#brave', '#bold'] });
  assert.deepEqual((await app.items()).filter(({ PK, SK }) => PK === 'POST#shy' && SK.startsWith('HASHTAG#')).map(({ SK }) => SK).sort(),
    ['HASHTAG#bold', 'HASHTAG#brave']);
  await audit(app);
});

test('S-A30: an edit under If-Match happens only to what was seen', async () => {
  await ann.put('/posts/edited', { content: 'one' });
  const { etag, body } = await ann.get('/posts/edited');
  await ben.put('/posts/edited/likes/ben'); // a like is not an edit
  assert.notEqual((await ann.get('/posts/edited')).body.likes_count, body.likes_count);
  await ann.patch('/posts/edited', { content: 'two' }, { headers: { 'if-match': etag } });
  await ann.patch('/posts/edited', { content: 'three' }, { headers: { 'if-match': etag }, status: 412, type: 'changed' });
  await ann.delete('/posts/edited', { headers: { 'if-match': '"2020-01-01T00:00:00Z"' }, status: 412, type: 'changed' });
  const now = (await ann.get('/posts/edited')).body;
  assert.deepEqual([now.content, now.likes_count], ['two', 1]);
  await ann.patch('/posts/edited', { content: 'four' }, { headers: { 'if-match': `"${now.updated_at}"` } });
  await ann.put('/posts/edited', { content: 'again' }, { status: 409, type: 'already-exists' });
  const whole = await ann.put('/posts/edited', { content: 'five', visibility: 'followers' }, { headers: { 'if-match': '*' } });
  assert.deepEqual([whole.status, whole.body.content, whole.body.likes_count, whole.body.visibility], [200, 'five', 1, 'followers']);
  await ann.put('/posts/edited', { content: 'six' }, { headers: { 'if-match': '*' } });
  assert.equal((await app.item('POST#edited', 'METADATA')).visibility, 'public', 'what a PUT leaves out is as if never given');
});

test('S-A31: a deleted post stays as an item and is in no list, and is counted off', async () => {
  const before = (await app.item('USER#ann', 'PROFILE')).posts_count;
  await ann.put('/posts/doomed', { content: 'soon gone', hashtags: ['#doomed'] });
  await ben.put('/posts/doomed/likes/ben');
  await ben.delete('/posts/doomed', { status: 403, type: 'forbidden' });
  assert.equal((await ann.delete('/posts/doomed')).status, 204);
  const item = await app.item('POST#doomed', 'METADATA'); // T7
  assert.equal(item.is_deleted, true);
  assert.deepEqual(Object.keys(item).filter((name) => name.startsWith('GSI')), []); // S32
  assert.equal(await app.item('POST#doomed', 'HASHTAG#doomed'), undefined);
  assert.equal((await app.item('USER#ann', 'PROFILE')).posts_count, before);
  for (const caller of [ann, ben, app.nobody]) await caller.get('/posts/doomed', { status: 404 });
  assert.equal((await admin.get('/posts/doomed')).body.is_deleted, true);
  await ann.delete('/posts/doomed', { status: 404 });
  await ann.patch('/posts/doomed', { content: 'alive!' }, { status: 404 });
  await ben.put('/posts/doomed/likes/ben', {}, { status: 404 });
  await cyd.put('/posts/doomed/likes/cyd', {}, { status: 404 });
  await ann.put('/posts/doomed', { content: 'reborn' }, { status: 409, type: 'already-exists' });
  for (const path of ['/users/ann/posts', '/popular', '/hashtags/doomed', `/timeline/${item.created_at.slice(0, 10)}`]) {
    assert.ok(!(await listed(ann, path)).includes('doomed'), path);
  }
  assert.deepEqual(await ben.list('/posts/doomed/likes'), [], 'nor its likes');
  await audit(app);
});

test('S-A02: the posts of a user, newest first, page by page, each reader sees his own', async () => {
  const { dot } = await people(app, 'dot');
  await ben.put('/users/ben/following/dot');
  const kinds = ['public', 'private', 'followers'];
  for (let i = 0; i < 12; i += 1) { // in the order of their ids, against that of time
    await op.post('/posts', { post_id: `dot${String(i).padStart(2, '0')}`, author_id: 'dot', content: `post ${i}`, visibility: kinds[i % 3], created_at: ago(20 + i) });
  }
  const newest = Array.from({ length: 12 }, (_, i) => `dot${String(i).padStart(2, '0')}`);
  const those = (...kept) => newest.filter((_, i) => kept.includes(kinds[i % 3]));
  assert.deepEqual(await listed(dot, '/users/dot/posts'), newest);
  assert.deepEqual(await listed(ben, '/users/dot/posts'), those('public', 'followers'));
  assert.deepEqual(await listed(cyd, '/users/dot/posts'), those('public')); // S4; and pages are full (C9), which all() has seen to
  assert.deepEqual(await listed(app.nobody, '/users/dot/posts'), those('public'));
  assert.deepEqual(await app.nobody.list('/users/none/posts'), []);
  assert.equal((await dot.list('/users/dot/posts')).length, 12);
  assert.equal((await app.item('POST#dot05', 'METADATA')).GSI1SK, `POST#${(await app.item('POST#dot05', 'METADATA')).created_at}#dot05`);
  // Only posts: the partition has the profile, followers, likes and comments, too (S7).
  await dot.put('/posts/dot00/likes/dot');
  await dot.post('/posts/dot00/comments', { content: 'mine' });
  assert.deepEqual(await listed(dot, '/users/dot/posts'), newest);
});

test('S-A04: the time line of a day, then of the days before it, a week at most', async () => {
  const { tim } = await people(app, 'tim');
  const times = {
    t1: '2025-01-27T15:30:00Z', t2: '2025-01-27T09:00:00Z', t3: '2025-01-27T00:00:00Z', t4: '2025-01-26T23:59:59Z', t5: '2025-01-24T12:00:00Z',
    t6: '2025-01-21T00:00:00Z', late: '2025-01-20T23:59:59Z', early: '2025-01-28T00:00:00Z',
  };
  for (const [post_id, created_at] of Object.entries(times)) await op.post('/posts', { post_id, author_id: 'tim', content: post_id, created_at });
  await op.post('/posts', { post_id: 'hidden1', author_id: 'tim', content: 'x', created_at: '2025-01-27T10:00:00Z', visibility: 'followers' });
  await op.post('/posts', { post_id: 'hidden2', author_id: 'pia', content: 'x', created_at: '2025-01-27T10:00:01Z' });
  assert.equal((await app.item('POST#t1', 'METADATA')).GSI2PK, 'TIMELINE#2025-01-27');
  assert.equal((await app.item('POST#t1', 'METADATA')).GSI2SK, '2025-01-27T15:30:00Z#t1');
  for (const caller of [app.nobody, tim, pia]) { // S4: not even the authors of hidden ones, it is everyone's list
    assert.deepEqual(await listed(caller, '/timeline/2025-01-27'), ['t1', 't2', 't3', 't4', 't5', 't6']); // S30
  }
  const whole = await app.nobody.get('/timeline/2025-01-27');
  assert.deepEqual(ids(whole.body.items), ['t1', 't2', 't3', 't4', 't5', 't6']);
  assert.equal(whole.body.next, undefined);
  assert.equal(whole.headers.get('cache-control'), 'public, max-age=10');
  assert.equal((await app.nobody.request('GET', '/timeline/2025-01-27', { headers: { 'if-none-match': whole.etag } })).status, 304);
  assert.match((await tim.get('/timeline/2025-01-27')).headers.get('cache-control'), /^private/);
  assert.deepEqual(await app.nobody.list('/timeline/2024-01-01'), []);
  // A time is UTC and of one width, however it was given (C2): else it would sort wrongly.
  const { body } = await op.post('/posts', { post_id: 'zoned', author_id: 'tim', content: 'x', created_at: '2024-06-01T01:30:00.75+02:00' });
  assert.equal(body.created_at, '2024-05-31T23:30:00Z');
  assert.deepEqual(await listed(app.nobody, '/timeline/2024-05-31'), ['zoned']);
  for (const date of ['yesterday', '2025-13-01', '2025-01-27%23']) {
    const { status } = await app.nobody.request('GET', `/timeline/${date}`);
    assert.ok([200, 404, 422].includes(status), `${date}: ${status}`);
  }
});

test('S-A10: popular posts by score, not by its first digit, and none older than a week', async () => {
  const { pop } = await people(app, 'pop');
  const post = (post_id, days, counts, more = {}) => op.post('/posts', { post_id, author_id: 'pop', content: post_id, created_at: ago(days), ...counts, ...more });
  await post('pop1000', 2, { likes_count: 25, comments_count: 5, shares_count: 2 }); // the document's sample (S34)
  await post('pop980', 1, { likes_count: 49 });
  await post('pop60', 1, { comments_count: 1 });
  await post('popOld', 8, { likes_count: 100 });
  await post('popShy', 1, { likes_count: 100 }, { visibility: 'followers' });
  const sample = await app.item('POST#pop1000', 'METADATA');
  assert.equal(sample.engagement_score, 1000);
  assert.equal(sample.GSI3SK, `0000001000#${sample.created_at}`); // S3
  assert.equal((await app.item('POST#popOld', 'METADATA')).GSI3PK, undefined); // S5
  const popular = (await listed(app.nobody, '/popular')).filter((id) => id.startsWith('pop'));
  assert.deepEqual(popular, ['pop1000', 'pop980', 'pop60']);
  // One that was young when it was last written.
  await app.doc.update({
    TableName: app.table, Key: { PK: 'POST#popOld', SK: 'METADATA' }, UpdateExpression: 'SET GSI3PK = :p, GSI3SK = :s',
    ExpressionAttributeValues: { ':p': 'POPULAR_POSTS', ':s': `0000002000#${(await app.item('POST#popOld', 'METADATA')).created_at}` },
  });
  assert.deepEqual((await listed(app.nobody, '/popular')).filter((id) => id.startsWith('pop')), popular);
  await pop.patch('/posts/popOld', { content: 'an edit' });
  assert.equal((await app.item('POST#popOld', 'METADATA')).GSI3PK, undefined, 'it leaves the list at its next edit');
  // Scores follow the counters.
  await ben.put('/posts/pop980/likes/ben');
  await ann.put('/posts/pop980/likes/ann');
  const risen = await app.item('POST#pop980', 'METADATA');
  assert.deepEqual([risen.likes_count, risen.engagement_score, risen.GSI3SK], [51, 1020, `0000001020#${risen.created_at}`]); // F2
  assert.deepEqual((await listed(app.nobody, '/popular')).filter((id) => id.startsWith('pop')), ['pop980', 'pop1000', 'pop60']);
  assert.equal((await app.nobody.get('/popular')).headers.get('cache-control'), 'public, max-age=30');
  for (const id of ['pop1000', 'pop980', 'pop60', 'popOld', 'popShy']) await app.doc.delete({ TableName: app.table, Key: { PK: `POST#${id}`, SK: 'METADATA' } });
  for (const user of ['ann', 'ben']) await app.doc.delete({ TableName: app.table, Key: { PK: 'POST#pop980', SK: `LIKE#${user}` } });
  await op.patch('/users/pop', { posts_count: 0 }, { status: 422 }); // counters move, and are not set
  await app.doc.update({ TableName: app.table, Key: { PK: 'USER#pop', SK: 'PROFILE' }, UpdateExpression: 'SET posts_count = :n', ExpressionAttributeValues: { ':n': 0 } });
});

test('S-A34: posts of a hashtag, newest first, in whatever case it was written', async () => {
  const { tag } = await people(app, 'tag');
  for (let i = 0; i < 5; i += 1) {
    await op.post('/posts', { post_id: `tag${i}`, author_id: 'tag', content: 'x', hashtags: i % 2 ? ['#Tagged', '#odd'] : ['tagged'], created_at: ago(i + 1) });
  }
  assert.deepEqual(await listed(app.nobody, '/hashtags/tagged'), ['tag0', 'tag1', 'tag2', 'tag3', 'tag4']);
  assert.deepEqual(await listed(app.nobody, '/hashtags/%23TAGGED'), ['tag0', 'tag1', 'tag2', 'tag3', 'tag4']);
  assert.deepEqual(await listed(app.nobody, '/hashtags/odd'), ['tag1', 'tag3']);
  assert.equal((await app.nobody.list('/hashtags/odd'))[0].content, 'x', 'the posts themselves');
  await tag.put('/posts/odd', { content: 'x', hashtags: ['#', '###', '', '#Über Cool', '#日本'] });
  assert.deepEqual((await app.items()).filter(({ PK, SK }) => PK === 'POST#odd' && SK.startsWith('HASHTAG#')).map(({ SK }) => SK).sort(), ['HASHTAG#uber-cool', 'HASHTAG#日本']);
  for (const name of ['Über Cool', '#über cool', 'uber-cool', '日本']) assert.deepEqual(await listed(ben, `/hashtags/${encodeURIComponent(name)}`), ['odd'], name);
  await tag.patch('/posts/odd', { hashtags: null });
  await tag.patch('/posts/tag1', { visibility: 'private' });
  await tag.delete('/posts/tag2');
  await tag.patch('/posts/tag3', { hashtags: [] });
  assert.deepEqual(await listed(app.nobody, '/hashtags/tagged'), ['tag0', 'tag4']);
  assert.deepEqual(await listed(app.nobody, '/hashtags/odd'), []);
  // What an index still says of a deleted post does not show it.
  await app.doc.put({ TableName: app.table, Item: { PK: 'POST#tag2', SK: 'HASHTAG#stale', GSI3PK: 'HASHTAG#stale', GSI3SK: `${ago(1)}#tag2`, post_id: 'tag2' } });
  assert.deepEqual(await listed(tag, '/hashtags/stale'), []);
  await app.doc.delete({ TableName: app.table, Key: { PK: 'POST#tag2', SK: 'HASHTAG#stale' } });
});

test('S-A09, S-A02: a private account takes its posts out of the public lists, and back', async () => {
  await ann.put('/posts/both', { content: 'public or not', hashtags: ['#both'] });
  const day = (await app.item('POST#both', 'METADATA')).created_at.slice(0, 10);
  const lists = ['/popular', `/timeline/${day}`, '/hashtags/both', '/users/ann/posts'];
  const where = async (caller) => {
    const found = [];
    for (const path of lists) if ((await listed(caller, path)).includes('both')) found.push(path);
    return found;
  };
  assert.deepEqual(await where(app.nobody), lists);
  await ann.patch('/users/ann', { is_private: true });
  await audit(app); // author_is_private of every post of hers
  assert.deepEqual(await where(app.nobody), []);
  assert.deepEqual(await where(cyd), [], 'nor who is blocked');
  assert.deepEqual(await where(ben), ['/users/ann/posts']);
  await app.nobody.get('/posts/both', { status: 404 });
  await cyd.get('/posts/both', { status: 404 });
  await ben.get('/posts/both');
  await ann.get('/posts/both');
  await admin.get('/posts/both');
  await ann.patch('/users/ann', { is_private: false });
  await audit(app);
  assert.deepEqual(await where(app.nobody), lists);
});

test('S-A09: a post for followers, and a private one, are not there for others', async () => {
  await ann.put('/posts/inner', { content: 'for followers', visibility: 'followers' });
  await ann.put('/posts/diary', { content: 'for me', visibility: 'private' });
  for (const caller of [app.nobody, cyd, pia]) {
    await caller.get('/posts/inner', { status: 404 });
    await caller.get('/posts/diary', { status: 404 });
  }
  assert.equal((await ben.get('/posts/inner')).body.content, 'for followers');
  await ben.post('/users/ben/following/ann/mute');
  await ben.get('/posts/inner'); // muted is still a follower (S16)
  await ben.post('/users/ben/following/ann/unmute');
  await ben.get('/posts/diary', { status: 404 });
  await pia.patch('/posts/inner', { content: 'x' }, { status: 404, type: 'not-found' });
  await ben.patch('/posts/inner', { content: 'x' }, { status: 403, type: 'forbidden' });
  await pia.delete('/posts/diary', { status: 404 });
  for (const path of ['/posts/diary/comments', '/posts/diary/likes', '/posts/diary/shares', '/posts/diary/root-comments']) {
    assert.deepEqual(await cyd.list(path), []);
  }
  await cyd.post('/posts/diary/comments', { content: 'found you' }, { status: 404 });
  await cyd.put('/posts/diary/likes/cyd', {}, { status: 404 });
  await cyd.put('/posts/diary/shares/cyd', {}, { status: 404 });
});

test('S-A29: what is no post is refused and changes nothing', async () => {
  const before = await app.items();
  const refuse = async (body, ...attributes) => {
    const { body: problem } = await ann.post('/posts', { content: 'x', ...body }, { status: 422, type: 'invalid' });
    assert.deepEqual(problem.errors.map(({ attribute }) => attribute.replace(/[[.].*/, '')).sort(), attributes);
  };
  await refuse({ content: '' }, 'content');
  await refuse({ content: 'x'.repeat(5001) }, 'content');
  await refuse({ content: null }, 'content');
  await refuse({ content: 17, content_type: 'gif', visibility: 'PUBLIC', media_urls: 'https://…', hashtags: [1] }, 'content', 'content_type', 'hashtags', 'media_urls', 'visibility');
  await refuse({ hashtags: Array.from({ length: 31 }, (_, i) => `#t${i}`) }, 'hashtags');
  await refuse({ post_id: 'a#b' }, 'post_id');
  await refuse({ post_id: 'x'.repeat(65) }, 'post_id');
  await refuse({ likes_count: 1000, engagement_score: 1000, is_deleted: true, author_username: 'ben', author_is_private: false, created_at: '2030-01-01T00:00:00Z' },
    'author_is_private', 'author_username', 'created_at', 'engagement_score', 'is_deleted', 'likes_count');
  await refuse({ GSI3PK: 'POPULAR_POSTS', GSI3SK: '9999999999#x', contnt: 'x' }, 'GSI3PK', 'GSI3SK', 'contnt');
  await app.nobody.post('/posts', { content: 'x' }, { status: 401, type: 'unauthenticated' });
  const ghost = await app.as('ghost'); // a token, and no account
  const { status } = await ghost.request('POST', '/posts', { body: { content: 'boo' } });
  assert.ok([404, 409, 422].includes(status), `${status}`);
  assert.equal(await app.item('USER#ghost', 'PROFILE'), undefined); // S2
  assert.deepEqual(await app.items(), before);
});

test('S-A02: pages that nobody asked for like that', async () => {
  const first = (await ann.get('/users/dot/posts?limit=1')).body;
  assert.ok(first.next);
  assert.ok(!Buffer.from(first.next, 'base64url').toString('latin1').includes('USER#'), 'a cursor does not show keys');
  const middle = first.next.length >> 1;
  const flipped = first.next.slice(0, middle) + (first.next[middle] === 'A' ? 'B' : 'A') + first.next.slice(middle + 1);
  for (const after of ['x', flipped, first.next.slice(4), `${first.next}AAAA`, '%00']) {
    await ann.get(`/users/dot/posts?after=${after}`, { status: 400, type: 'malformed' });
  }
  await ann.get(`/users/ann/posts?after=${first.next}`, { status: 400, type: 'malformed' }); // of another user
  await ann.get(`/popular?after=${first.next}`, { status: 400, type: 'malformed' }); // of another pattern
  assert.equal((await ben.get(`/users/dot/posts?limit=1&after=${first.next}`)).body.items.length, 1);
  for (const limit of ['0', '-1', '1001', 'many', '1.5', '1e9']) await ann.get(`/users/dot/posts?limit=${limit}`, { status: 422, type: 'invalid' });
  await ann.get('/users/dot/posts?limt=3', { status: 422, type: 'invalid' });
  await ann.get('/users/dot/posts?limit=3&limit=4', { status: 422 });
  assert.equal((await ann.request('POST', '/users/dot/posts', { body: {} })).status, 405);
  assert.equal((await ann.request('GET', '/users/a%23b/posts')).status < 500, true);
});

test('the posts of the whole file add up', () => audit(app));
