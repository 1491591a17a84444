// The blog under people who mean no good, and under many at once.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fillBlog, ids, recount, startBlog } from './blog-world.mjs';
import { atOnce, until } from './harness.mjs';

const world = await startBlog();
const { app, operator, ana, bruno, clara, davi, elisa, published } = world;
await fillBlog(world);
const crowd = await Promise.all(Array.from({ length: 30 }, (_, i) => app.as(`reader-${String(i).padStart(2, '0')}`, 'reader')));
const names = crowd.map((_, i) => `reader-${String(i).padStart(2, '0')}`);
for (const reader of crowd) await reader.post('/users');
const each = (start) => crowd.map((reader, i) => () => start(reader, i));
const right = async () => assert.deepEqual(recount(await app.items()), []);

test('B-A31: thirty like and unlike at once, and every counter is right', async () => {
  await published('loved', 'sub-bruno', 'cloud', '2024-01-01T00:00:00Z');
  assert.deepEqual(await atOnce(each((reader) => reader.request('POST', '/posts/loved/likes', { body: {} }))), { 201: 30 });
  assert.equal((await app.nobody.get('/posts/loved')).body.likeCount, 30);
  // the same person many times: one like
  const twice = await atOnce(Array.from({ length: 20 }, (_, i) => () => davi.request(i % 2 ? 'PUT' : 'POST', `/posts/loved/likes${i % 2 ? '/sub-davi' : ''}`, { body: {} })));
  assert.deepEqual(twice, { 201: 1, 409: 19 });
  // some take it back, again and again; some like meanwhile
  const mixed = await atOnce(each((reader, i) => reader.request(i % 3 ? 'DELETE' : 'PUT', `/posts/loved/likes/${names[i]}`, i % 3 ? {} : { body: {} })));
  assert.deepEqual(mixed, { 204: 20, 409: 10 });
  const undone = await atOnce(Array.from({ length: 20 }, () => () => davi.request('DELETE', '/posts/loved/likes/sub-davi')));
  assert.deepEqual(undone, { 204: 1, 404: 19 });
  const storm = each((reader, i) => async () => {
    for (const method of ['PUT', 'DELETE', 'PUT']) await reader.request(method, `/posts/loved/likes/${names[i]}`, method === 'PUT' ? { body: {} } : {});
    return { status: 200 };
  });
  await atOnce(storm.map((start) => start()));
  assert.equal((await app.nobody.get('/posts/loved')).body.likeCount, 30);
  await right();
});

test('B-A31: thirty bookmark and let go at once', async () => {
  assert.deepEqual(await atOnce(each((reader, i) => reader.request('PUT', `/users/${names[i]}/bookmarks/loved`, { body: {} }))), { 201: 30 });
  assert.deepEqual(await atOnce(each((reader, i) => reader.request('DELETE', `/users/${names[i]}/bookmarks/loved`))), { 204: 30 });
  assert.equal((await app.nobody.get('/posts/loved')).body.bookmarkCount, 0);
  const twice = await atOnce(Array.from({ length: 20 }, () => () => davi.request('POST', '/users/sub-davi/bookmarks', { body: { postId: 'loved' } })));
  assert.deepEqual(twice, { 201: 1, 409: 19 });
  await right();
});

test('B-A30: thirty comment, reply and delete at once', async () => {
  const { commentId: root } = (await clara.post('/posts/loved/comments', { body: 'Root' })).body;
  const made = [];
  assert.deepEqual(await atOnce(each(async (reader, i) => {
    const reply = await reader.request('POST', '/posts/loved/comments', { body: { body: `No ${i}`, parentId: i % 2 ? root : undefined } });
    made[i] = reply.body.commentId;
    return reply;
  })), { 201: 30 });
  await right();
  // every one is deleted by two at once; it counts once
  const remove = (caller, i) => caller.request('DELETE', `/posts/loved/comments/${made[i]}`);
  const gone = await atOnce([...each(remove), ...each((_, i) => remove(ana, i))]);
  assert.deepEqual(gone, { 204: 30, 403: 30 });
  assert.equal((await app.nobody.get('/posts/loved')).body.commentCount, 1);
  // replies to a comment that is being deleted: either it is open, or it is not
  const race = await Promise.all([clara.request('DELETE', `/posts/loved/comments/${root}`),
    ...crowd.map((reader) => reader.request('POST', '/posts/loved/comments', { body: { body: 'Late', parentId: root } }))]);
  assert.equal(race[0].status, 204);
  for (const { status } of race.slice(1)) assert.ok(status === 201 || status === 409, `${status}`);
  await right();
});

test('B-A29: of twenty who publish at once one does, and a post that moves keeps what comes meanwhile', async () => {
  await bruno.post('/posts', { postId: 'once', title: 'Once', subcategoryId: 'cloud' });
  assert.deepEqual(await atOnce(Array.from({ length: 20 }, () => () => bruno.request('POST', '/posts/once/publish'))), { 200: 1, 409: 19 });
  const [moved] = await Promise.all([
    bruno.request('PATCH', '/posts/once', { body: { subcategoryId: 'backend', title: 'Moved' } }),
    ...crowd.map((reader) => reader.request('POST', '/posts/once/comments', { body: { body: 'Meanwhile' } })),
    ...crowd.map((reader) => reader.request('POST', '/posts/once/likes', { body: {} })),
  ]);
  assert.equal(moved.status, 200, JSON.stringify(moved.body));
  const post = await app.item('POST#once', 'POST#once');
  assert.deepEqual([post.commentCount, post.likeCount, post.GSI1PK], [30, 30, 'CATEGORY#backend']);
  // unpublished while thirty like: counted or refused, nothing in between
  const race = await Promise.all([bruno.request('POST', '/posts/once/unpublish'), ...crowd.map((reader) => reader.request('POST', '/posts/once/comments', { body: { body: 'x' } }))]);
  assert.equal(race[0].status, 200);
  for (const { status } of race.slice(1)) assert.ok([201, 404, 409].includes(status), `${status}`);
  await right();
});

test('B-A29: a post deleted while thirty like and comment leaves nothing behind', async () => {
  await published('fleeting', 'sub-bruno', 'cloud', '2024-01-02T00:00:00Z');
  const race = await Promise.all([
    ...crowd.slice(0, 10).map((reader) => reader.request('POST', '/posts/fleeting/likes', { body: {} })),
    bruno.request('DELETE', '/posts/fleeting'),
    ...crowd.slice(10).map((reader) => reader.request('POST', '/posts/fleeting/comments', { body: { body: 'x' } })),
    ...crowd.map((reader, i) => reader.request('PUT', `/users/${names[i]}/bookmarks/fleeting`, { body: {} })),
  ]);
  assert.equal(race[10].status, 204);
  for (const [i, { status, body }] of race.entries()) if (i !== 10) assert.ok(status === 201 || status === 404, `${status} ${JSON.stringify(body)}`);
  await until('everything of the post to be gone', async () => !(await app.items())
    .some((item) => item.entityType !== 'NOTIFICATION' && (item.postId === 'fleeting' || item.PK.endsWith('#fleeting')))); // who was told, was told
  await right();
});

test('B-A32: categories reordered, moved and filled at once stay one tree', async () => {
  for (let i = 0; i < 10; i++) await ana.post('/categories', { categoryId: `s${i}`, parentId: 'tech', order: i, name: `S ${i}` });
  await Promise.all(Array.from({ length: 40 }, (_, i) => ana.request('PATCH', `/categories/s${i % 10}`, { body: { order: i, parentId: i % 3 ? 'life' : 'tech', name: `N ${i}` } })));
  await right();
  for (let i = 0; i < 8; i++) {
    const [deleted, made] = await Promise.all([
      ana.request('DELETE', `/categories/s${i}`),
      bruno.request('POST', '/posts', { body: { postId: `in-s${i}`, title: 'x', subcategoryId: `s${i}` } })
        .then((reply) => (reply.status === 201 ? bruno.request('POST', `/posts/in-s${i}/publish`) : reply)),
    ]);
    assert.ok(deleted.status === 204 || deleted.status === 409, JSON.stringify(deleted.body));
    assert.ok(made.status === 200 || made.status === 422, JSON.stringify(made.body));
    const category = await app.item(`CATEGORY#s${i}`, `CATEGORY#s${i}`);
    if (made.status === 200) assert.ok(category, 'a published post without its category');
  }
  // of a main category that is deleted and one that is hung on it at the same time
  for (let i = 0; i < 8; i++) {
    await ana.post('/categories', { categoryId: `m${i}`, name: 'm' });
    const [deleted, hung] = await Promise.all([
      ana.request('DELETE', `/categories/m${i}`),
      ana.request('POST', '/categories', { body: { categoryId: `k${i}`, parentId: `m${i}`, name: 'k' } }),
    ]);
    assert.ok(deleted.status === 204 || deleted.status === 409, JSON.stringify(deleted.body));
    assert.ok(hung.status === 201 || hung.status === 422, JSON.stringify(hung.body));
    assert.ok(deleted.status === 409 || hung.status === 422, 'a subcategory of what is not there');
  }
  await right();
});

test('B-A32, B-A25: notifications read by many at once are counted once', async () => {
  const made = await Promise.all(Array.from({ length: 20 }, (_, i) => operator.post('/users/sub-elisa/notifications', {
    type: 'COMMENT', actorId: 'sub-davi', postId: 'loved', createdAt: `2024-01-01T00:00:${10 + i}Z`,
  })));
  assert.equal((await elisa.get('/users/sub-elisa')).body.unreadNotifications, 20);
  const paths = made.map(({ body }) => `/users/sub-elisa/notifications/${body.notificationId}`);
  await atOnce([...paths, ...paths].map((path) => () => elisa.request('POST', `${path}/read`)));
  await atOnce(paths.slice(0, 5).flatMap((path) => [() => elisa.request('DELETE', path), () => elisa.request('DELETE', path)]));
  assert.equal((await elisa.get('/users/sub-elisa')).body.unreadNotifications, 0);
  assert.deepEqual(await elisa.list('/users/sub-elisa/notifications/unread'), []);
  assert.equal((await elisa.all('/users/sub-elisa/notifications', 4)).length, 15);
  await right();
});

test('B-A29, B-A30: what is not a post, a comment, a category, or not one of yours', async () => {
  const before = (await app.items()).length;
  const wrong = async (caller, path, body, attribute) => {
    const reply = await caller.post(path, body, { status: 422, type: 'invalid' });
    assert.ok(reply.body.errors.some((part) => part.attribute === attribute), `${JSON.stringify(body)}: ${JSON.stringify(reply.body)}`);
  };
  const post = { title: 'x', subcategoryId: 'cloud' };
  for (const [part, attribute] of [
    [{ title: '' }, 'title'], [{ title: 'x'.repeat(201) }, 'title'], [{ title: null }, 'title'], [{ postId: 'a#b' }, 'postId'], [{ postId: 7 }, 'postId'], [{ likeCount: 99 }, 'likeCount'],
    [{ publishedAt: '2020-01-01T00:00:00Z' }, 'publishedAt'], [{ status: 'PUBLISHED' }, 'status'], [{ entityType: 'USER' }, 'entityType'], [{ GSI3PK: 'STATUS#PUBLISHED' }, 'GSI3PK'],
    [{ content: 'x'.repeat(350_001) }, 'content'], [{ subcategoryId: 'a#b' }, 'subcategoryId'], [{ subcategoryId: '' }, 'subcategoryId'], [{ createdAt: 'now' }, 'createdAt'],
  ]) await wrong(bruno, '/posts', { ...post, ...part }, attribute);
  for (const [part, attribute] of [
    [{ body: '' }, 'body'], [{ body: 'x'.repeat(5001) }, 'body'], [{ body: 5 }, 'body'], [{ isDeleted: true }, 'isDeleted'], [{ authorName: 'Ana' }, 'authorName'],
    [{ replyCount: 5 }, 'replyCount'], [{ parentId: '' }, 'parentId'], [{ parentId: 'a#b' }, 'parentId'], [{ commentId: '' }, 'commentId'], [{ bodi: 'x' }, 'bodi'],
  ]) await wrong(davi, '/posts/loved/comments', { body: 'x', ...part }, attribute);
  for (const order of [-1, 1.5, 1_000_000, '1', true, null, 1e300]) {
    const { status } = await ana.request('POST', '/categories', { body: { name: 'x', order, parentId: 'none' } });
    assert.equal(status, 422, `order ${order}`);
  }
  for (const [caller, method, path, body] of [
    [davi, 'PUT', '/posts/loved/likes/sub-ana', {}], [davi, 'PUT', '/users/sub-ana/bookmarks/loved', {}], [davi, 'POST', '/users/sub-ana/bookmarks', { postId: 'loved' }],
    [davi, 'PUT', '/users/sub-somebody', {}], [davi, 'POST', '/users/sub-ana/role', { role: 'reader' }], [clara, 'DELETE', '/posts/loved'],
    [clara, 'POST', '/posts/loved/archive'], [davi, 'DELETE', '/categories/cloud'], [elisa, 'DELETE', '/posts/loved/likes/reader-00'],
  ]) {
    const reply = await caller.request(method, path, { body });
    assert.equal(reply.status, 403, `${method} ${path} gave ${reply.status} ${JSON.stringify(reply.body)}`);
  }
  assert.equal((await app.items()).length, before);
  await right();
});

test('B-A02, B-A05, B-A18, B-A28: cursors of every kind of list are their own', async () => {
  for (let i = 0; i < 6; i++) await published(`c-${i}`, 'sub-clara', i % 2 ? 'cloud' : 'backend', `2024-04-0${i + 1}T00:00:00Z`);
  const lists = ['/categories/cloud/posts', '/categories/tech/subcategories/posts', '/users/sub-clara/activity', '/posts'];
  const cursors = await Promise.all(lists.map(async (list) => (await app.nobody.get(`${list}?limit=1`)).body.next));
  for (const [i, cursor] of cursors.entries()) {
    assert.ok(cursor, lists[i]);
    for (const [j, list] of lists.entries()) {
      const { status } = await app.nobody.request('GET', `${list}?limit=1&after=${cursor}`);
      assert.equal(status, i === j ? 200 : 400, `a cursor of ${lists[i]} on ${list}`);
    }
    const middle = cursor.length >> 1;
    for (const bad of [cursor.slice(0, -2), `${cursor}AA`, cursor.slice(0, middle) + (cursor[middle] === 'A' ? 'B' : 'A') + cursor.slice(middle + 1)]) {
      await app.nobody.get(`${lists[i]}?after=${bad}`, { status: 400, type: 'malformed' });
    }
  }
  await app.nobody.get('/posts/loved/comments?after=x', { status: 400 });
  // a page of roots is full though replies stand between them
  await published('talk', 'sub-clara', 'cloud', '2024-05-01T00:00:00Z');
  for (let i = 0; i < 5; i++) {
    await operator.post('/posts/talk/comments', { commentId: `t${i}`, authorId: 'sub-davi', body: 'x', createdAt: `2024-05-0${i + 1}T00:00:00Z` });
    for (let j = 0; j < 7; j++) await operator.post('/posts/talk/comments', { parentId: `t${i}`, authorId: 'sub-davi', body: 'x' });
  }
  assert.deepEqual(ids(await app.nobody.all('/posts/talk/comments/roots', 2), 'commentId'), ['t0', 't1', 't2', 't3', 't4']);
  assert.equal((await app.nobody.all('/posts/talk/comments/t3/replies', 3)).length, 7);
  const tree = await app.nobody.list('/posts/talk/comments');
  assert.deepEqual(tree.map((row) => row.children.length), [7, 7, 7, 7, 7]);
});

test('B-A17, B-A18, B-A26, B-A28: what happened in one second is listed once, wherever a page ends', async () => {
  const at = '2024-06-01T00:00:00Z';
  await ana.post('/categories', { categoryId: 'ties', name: 'Ties' });
  for (const categoryId of ['left', 'right']) await ana.post('/categories', { categoryId, parentId: 'ties', name: categoryId });
  await operator.post('/users', { cognitoSub: 'sub-zed', displayName: 'Zed' });
  for (let i = 0; i < 8; i++) {
    await published(`tie-${i}`, 'sub-zed', i % 2 ? 'left' : 'right', at);
    await operator.post(`/posts/tie-${i}/likes`, { userId: 'sub-zed', createdAt: at });
    await operator.post(`/posts/tie-${i}/comments`, { authorId: 'sub-zed', body: 'x', createdAt: at });
  }
  const once = (rows, n, what) => {
    assert.equal(rows.length, n, what);
    assert.equal(new Set(rows.map((row) => `${row['@type']} ${row.postId} ${row.commentId}`)).size, n, what);
  };
  for (const limit of [1, 2, 3, 5]) {
    once(await app.nobody.all('/users/sub-zed/activity', limit), 24, `activity by ${limit}`);
    once(await app.nobody.all('/users/sub-zed/likes', limit), 8, `likes by ${limit}`);
    once(await app.nobody.all('/users/sub-zed/comments', limit), 8, `comments by ${limit}`);
    once(await app.nobody.all('/categories/ties/subcategories/posts', limit), 8, `subcategories by ${limit}`);
    once((await app.nobody.all('/posts', limit)).filter((post) => post.authorId === 'sub-zed'), 8, `latest by ${limit}`);
  }
});

test('B-A16, B-A21, B-A29: copies of names and titles are the last ones, however many write at once', async () => {
  await published('copied', 'sub-bruno', 'cloud', '2024-07-01T00:00:00Z');
  const writes = [];
  for (let i = 0; i < 30; i++) {
    writes.push(elisa.request('POST', '/posts/copied/comments', { body: { body: `No ${i}` } }));
    if (i % 3 === 0) writes.push(elisa.request('PATCH', '/users/sub-elisa', { body: { displayName: `Elisa ${i}` } }));
    if (i % 4 === 0) writes.push(bruno.request('PATCH', '/posts/copied', { body: { title: `Title ${i}` } }));
    writes.push(crowd[i].request('PUT', `/users/${names[i]}/bookmarks/copied`, { body: {} }));
  }
  for (const { status, body } of await Promise.all(writes)) assert.ok(status === 200 || status === 201, `${status} ${JSON.stringify(body)}`);
  const { displayName } = await app.item('USER#sub-elisa', 'PROFILE#sub-elisa');
  const { title } = await app.item('POST#copied', 'POST#copied');
  await until('the copies', async () => {
    const items = (await app.items()).filter((item) => item.postId === 'copied');
    return items.every((item) => (item.authorName ?? displayName) === displayName && (item.postTitle ?? title) === title);
  });
  // what was read is still the version after a like, and replaced whole it keeps what the server keeps
  const { etag } = await bruno.get('/posts/copied');
  await davi.post('/posts/copied/likes');
  const { body } = await bruno.put('/posts/copied', { title: 'Replaced', subcategoryId: 'backend' }, { status: 200, headers: { 'if-match': etag } });
  assert.deepEqual([body.content, body.status, body.commentCount, body.publishedAt], [undefined, 'PUBLISHED', 30, '2024-07-01T00:00:00Z']);
  await bruno.put('/posts/copied', { title: 'Stale', subcategoryId: 'cloud' }, { status: 412, type: 'changed', headers: { 'if-match': etag } });
  await right();
});
