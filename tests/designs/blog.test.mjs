// The blog, played through: profiles, categories and posts. Comments, likes, bookmarks and notifications: blog-reactions.test.mjs.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ids, recount, startBlog, TIME, ULID } from './blog-world.mjs';
import { eventually, until } from './harness.mjs';

const { app, operator, ana, bruno, clara, davi, elisa, published } = await startBlog();

test('B-A01: a profile, made by its owner at the first visit', async () => {
  const { body, location } = await davi.post('/users', { displayName: 'Davi', email: ' Davi@Example.com', cognitoSub: 'sub-ana' }, { status: 201 });
  assert.equal(location, '/api/blog/users/sub-davi'); // who one is comes from the token
  assert.equal(body.email, 'davi@example.com');
  const { createdAt, profileId, ...rest } = await app.item('USER#sub-davi', 'PROFILE#sub-davi');
  assert.match(createdAt, TIME);
  assert.match(profileId, ULID);
  assert.deepEqual(rest, {
    PK: 'USER#sub-davi', SK: 'PROFILE#sub-davi', GSI1PK: 'USER#sub-davi', GSI1SK: 'PROFILE', GSI2PK: 'ROLE#reader', GSI2SK: 'USER#sub-davi', entityType: 'USER',
    cognitoSub: 'sub-davi', role: 'reader', displayName: 'Davi', email: 'davi@example.com', unreadNotifications: 0, updatedAt: createdAt,
  });
  await davi.post('/users', { displayName: 'Davi' }, { status: 409, type: 'already-exists' });
  await app.nobody.post('/users', { displayName: 'Nobody' }, { status: 401, type: 'unauthenticated' });
  await elisa.post('/users', { displayName: 'Elisa', role: 'admin' }, { status: 422, type: 'invalid' });
  await elisa.put('/users/sub-elisa', { displayName: 'Elisa', email: 'elisa@example.com' }, { status: 201 });
  await ana.post('/users', { displayName: 'Ana', email: 'ana@example.com' });
  await bruno.post('/users', { displayName: 'Bruno', email: 'bruno@example.com' });
  await clara.post('/users', { displayName: 'Clara', email: 'clara@example.com' });

  assert.deepEqual((await app.nobody.get('/users/sub-davi')).body, {
    cognitoSub: 'sub-davi', role: 'reader', displayName: 'Davi', createdAt, updatedAt: createdAt, entityType: 'USER',
  });
  assert.equal((await davi.get('/users/sub-davi')).body.unreadNotifications, 0);
  assert.equal((await elisa.get('/users/sub-davi')).body.email, undefined);
  await app.nobody.get('/users/sub-none', { status: 404, type: 'not-found' });
  await davi.patch('/users/sub-davi', { bio: 'Reads.' });
  await elisa.patch('/users/sub-davi', { bio: 'Hers.' }, { status: 403, type: 'forbidden' });
  await elisa.delete('/users/sub-davi', { status: 403, type: 'forbidden' });
});

test('B-A09: a profile through the index', async () => {
  assert.deepEqual((await app.nobody.get('/profiles/sub-davi')).body, (await app.nobody.get('/users/sub-davi')).body); // B15
  assert.equal((await davi.get('/profiles/sub-davi')).body.email, 'davi@example.com');
  await app.nobody.get('/profiles/sub-none', { status: 404, type: 'not-found' });
});

test('B-A08, B-A32: users by role, and an admin changes the role', async () => {
  // T10
  await davi.post('/users/sub-davi/role', { role: 'admin' }, { status: 403, type: 'forbidden' });
  await ana.post('/users/sub-bruno/role', { role: 'editor' }, { status: 422, type: 'invalid' });
  await ana.post('/users/sub-bruno/role', { role: 'author' });
  await ana.post('/users/sub-clara/role', { role: 'author' });
  await ana.post('/users/sub-ana/role', { role: 'admin' });
  const { role, GSI2PK, GSI2SK } = await app.item('USER#sub-bruno', 'PROFILE#sub-bruno');
  assert.deepEqual([role, GSI2PK, GSI2SK], ['author', 'ROLE#author', 'USER#sub-bruno']);
  assert.deepEqual(ids(await ana.all('/roles/author/users', 1), 'cognitoSub'), ['sub-bruno', 'sub-clara']);
  assert.deepEqual(ids(await ana.all('/roles/reader/users', 1), 'cognitoSub'), ['sub-davi', 'sub-elisa']);
  await bruno.get('/roles/reader/users', { status: 403, type: 'forbidden' });
  await app.nobody.get('/roles/reader/users', { status: 401, type: 'unauthenticated' });
});

test('B-A32, B-A14: categories in two levels, with the link from parent to child', async () => {
  // T8
  await bruno.post('/categories', { name: 'Mine' }, { status: 403, type: 'forbidden' });
  await ana.post('/categories', { categoryId: 'tech', name: 'Tecnologia', order: 2 }, { status: 201 });
  const { createdAt, ...main } = await app.item('CATEGORY#tech', 'CATEGORY#tech');
  assert.deepEqual(main, {
    PK: 'CATEGORY#tech', SK: 'CATEGORY#tech', GSI1PK: 'CATEGORY_ROOT', GSI1SK: 'CATEGORY#000002#tech', entityType: 'CATEGORY', // B12
    categoryId: 'tech', order: 2, name: 'Tecnologia', slug: 'tecnologia', updatedAt: createdAt,
  });
  await ana.post('/categories', { categoryId: 'cloud', parentId: 'tech', name: 'Nuvem', order: 10, description: 'Lá em cima' });
  const { createdAt: then, ...sub } = await app.item('CATEGORY#cloud', 'CATEGORY#cloud');
  assert.deepEqual(sub, {
    PK: 'CATEGORY#cloud', SK: 'CATEGORY#cloud', GSI1PK: 'CATEGORY#tech', GSI1SK: 'CATEGORY#000010#cloud', entityType: 'CATEGORY',
    categoryId: 'cloud', parentId: 'tech', order: 10, name: 'Nuvem', slug: 'nuvem', description: 'Lá em cima', updatedAt: then,
  });
  assert.deepEqual(await app.item('CATEGORY#tech', 'CHILD#cloud#000010'), {
    PK: 'CATEGORY#tech', SK: 'CHILD#cloud#000010', entityType: 'CATEGORY_CHILD', parentId: 'tech', childId: 'cloud', order: 10, name: 'Nuvem', createdAt: then, updatedAt: then,
  });
  assert.equal((await app.nobody.get('/categories/cloud')).body.name, 'Nuvem');
  await app.nobody.get('/categories/none', { status: 404, type: 'not-found' });
  await ana.post('/categories', { categoryId: 'cloud', name: 'Again' }, { status: 409, type: 'already-exists' });
  await ana.post('/categories', { categoryId: 'lost', parentId: 'none', name: 'x' }, { status: 422 });
  await ana.post('/categories', { categoryId: 'deep', parentId: 'cloud', name: 'x' }, { status: 409, type: 'conflict', detail: /hangs on a main category/ });
  await ana.patch('/categories/tech', { parentId: 'cloud' }, { status: 422 });
  await ana.patch('/categories/cloud', { parentId: null }, { status: 422 });
  const made = (await ana.post('/categories', { name: 'Sem id' })).body.categoryId;
  assert.match(made, ULID);
  await ana.delete(`/categories/${made}`);
});

test('B-A11: the main categories in their order', async () => {
  for (const [categoryId, order] of [['life', 10], ['news', 1]]) await ana.post('/categories', { categoryId, order, name: categoryId });
  assert.deepEqual(ids(await app.nobody.all('/categories', 1), 'categoryId'), ['news', 'tech', 'life']); // B12: 1, 2, 10
});

test('B-A12, B-A13, B-A32: subcategories in their order, and after a reorder or a move', async () => {
  await ana.post('/categories', { categoryId: 'backend', parentId: 'tech', name: 'Backend', order: 2 });
  await ana.post('/categories', { categoryId: 'art', parentId: 'tech', name: 'Arte', order: 30 });
  for (const list of ['subcategories', 'children']) {
    assert.deepEqual(ids(await app.nobody.list(`/categories/tech/${list}`), 'categoryId'), ['backend', 'cloud', 'art'], list);
  }
  assert.deepEqual(ids(await app.nobody.all('/categories/tech/subcategories', 1), 'categoryId'), ['backend', 'cloud', 'art']);
  assert.deepEqual(await app.nobody.list('/categories/news/children'), []);
  // B28, B29: the index and the link move together
  await ana.patch('/categories/cloud', { order: 1 });
  assert.equal(await app.item('CATEGORY#tech', 'CHILD#cloud#000010'), undefined);
  assert.equal((await app.item('CATEGORY#tech', 'CHILD#cloud#000001')).order, 1);
  assert.equal((await app.item('CATEGORY#cloud', 'CATEGORY#cloud')).GSI1SK, 'CATEGORY#000001#cloud');
  await ana.patch('/categories/art', { parentId: 'life', order: 3 });
  assert.equal(await app.item('CATEGORY#tech', 'CHILD#art#000030'), undefined);
  assert.equal((await app.item('CATEGORY#life', 'CHILD#art#000003')).childId, 'art');
  assert.equal((await app.item('CATEGORY#art', 'CATEGORY#art')).GSI1PK, 'CATEGORY#life');
  await ana.patch('/categories/art', { name: 'Artes' });
  assert.equal((await app.item('CATEGORY#life', 'CHILD#art#000003')).name, 'Artes');
  for (const list of ['subcategories', 'children']) {
    assert.deepEqual(ids(await app.nobody.list(`/categories/tech/${list}`), 'categoryId'), ['cloud', 'backend'], list);
    assert.deepEqual(ids(await app.nobody.list(`/categories/life/${list}`), 'categoryId'), ['art'], list);
  }
  await ana.patch('/categories/art', { parentId: 'none' }, { status: 422 });
});

test('B-A29: a draft, published, archived, taken back', async () => {
  // T1, B13
  await davi.post('/posts', { title: 'x', subcategoryId: 'cloud' }, { status: 403, type: 'forbidden' });
  await bruno.post('/posts', { title: 'x', subcategoryId: 'none' }, { status: 422, type: 'invalid' });
  await bruno.post('/posts', { title: 'x', subcategoryId: 'tech' }, { status: 409, type: 'conflict', detail: /subcategory/ }); // B3
  await bruno.post('/posts', { title: 'x', subcategoryId: 'cloud', status: 'PUBLISHED' }, { status: 422, type: 'invalid' });
  const { body } = await bruno.post('/posts', { title: 'Filas & Fluxos', subcategoryId: 'cloud', content: 'a'.repeat(300), authorId: 'sub-ana' }, { status: 201 });
  assert.match(body.postId, ULID);
  const key = `POST#${body.postId}`;
  const draft = await app.item(key, key);
  const { createdAt } = draft;
  assert.deepEqual(draft, {
    PK: key, SK: key, GSI2PK: 'AUTHOR#sub-bruno', GSI2SK: `DRAFT#${createdAt}#${body.postId}`, GSI3PK: 'STATUS#DRAFT', GSI3SK: `POST#${createdAt}#${body.postId}`,
    entityType: 'POST', postId: body.postId, authorId: 'sub-bruno', subcategoryId: 'cloud', title: 'Filas & Fluxos', slug: 'filas-fluxos', content: 'a'.repeat(300),
    excerpt: 'a'.repeat(280), status: 'DRAFT', likeCount: 0, commentCount: 0, bookmarkCount: 0, createdAt, updatedAt: createdAt,
  });
  await app.nobody.get(`/posts/${body.postId}`, { status: 404, type: 'not-found' });
  await clara.post(`/posts/${body.postId}/publish`, {}, { status: 404, type: 'not-found' });
  // T2
  const { publishedAt } = (await bruno.post(`/posts/${body.postId}/publish`)).body;
  assert.match(publishedAt, TIME);
  const now = await app.item(key, key);
  assert.deepEqual(now, {
    ...draft, status: 'PUBLISHED', publishedAt, GSI1PK: 'CATEGORY#cloud', GSI1SK: `POST#${publishedAt}#${body.postId}`, GSI2SK: `POST#${publishedAt}#${body.postId}`,
    GSI3PK: 'STATUS#PUBLISHED', GSI3SK: `POST#${publishedAt}#${body.postId}`, updatedAt: now.updatedAt,
  });
  await bruno.post(`/posts/${body.postId}/publish`, {}, { status: 409, type: 'conflict', detail: /only a draft/ });
  await clara.post(`/posts/${body.postId}/unpublish`, {}, { status: 403, type: 'forbidden' });
  // T3
  await bruno.patch(`/posts/${body.postId}`, { subcategoryId: 'none' }, { status: 422 });
  await bruno.patch(`/posts/${body.postId}`, { subcategoryId: 'life' }, { status: 409, type: 'conflict' });
  await bruno.patch(`/posts/${body.postId}`, { subcategoryId: 'backend', title: 'Filas' });
  const moved = await app.item(key, key);
  assert.deepEqual(moved, { ...now, subcategoryId: 'backend', title: 'Filas', GSI1PK: 'CATEGORY#backend', updatedAt: moved.updatedAt });
  await clara.patch(`/posts/${body.postId}`, { title: 'Hers' }, { status: 403, type: 'forbidden' });
  // archived: in a list of its author's and of the editors'; taken back: a draft as before
  await ana.post(`/posts/${body.postId}/archive`);
  const archived = await app.item(key, key);
  const { GSI1PK, GSI1SK, ...left } = moved;
  const place = `${publishedAt}#${body.postId}`;
  assert.deepEqual(archived, { ...left, status: 'ARCHIVED', GSI2SK: `ARCHIVED#${place}`, GSI3PK: 'STATUS#ARCHIVED', GSI3SK: `POST#${place}`, updatedAt: archived.updatedAt });
  for (const who of [bruno, ana]) assert.deepEqual(ids(await who.list('/users/sub-bruno/archived')), [body.postId]);
  assert.deepEqual(ids(await ana.list('/statuses/ARCHIVED/posts')), [body.postId]);
  await clara.get('/users/sub-bruno/archived', { status: 403, type: 'forbidden' });
  for (const list of ['/posts', '/users/sub-bruno/posts', '/users/sub-bruno/drafts', '/categories/backend/posts']) {
    assert.ok(!ids(await bruno.list(list)).includes(body.postId), list);
  }
  await app.nobody.get(`/posts/${body.postId}`, { status: 404 });
  await ana.post(`/posts/${body.postId}/archive`, {}, { status: 409, type: 'conflict' });
  await bruno.post(`/posts/${body.postId}/unpublish`);
  const again = await app.item(key, key);
  assert.deepEqual(again, { ...draft, subcategoryId: 'backend', title: 'Filas', updatedAt: again.updatedAt });
  await bruno.delete(`/posts/${body.postId}`);
});

test('B-A29: what lists show of a post follows its text, unless the author says it in other words', async () => {
  const { body: { postId } } = await bruno.post('/posts', { title: 'Começo', subcategoryId: 'cloud', content: 'The first version.' });
  const path = `/posts/${postId}`;
  const excerpt = async () => (await bruno.get(path)).body.excerpt;
  assert.equal(await excerpt(), 'The first version.');
  await bruno.patch(path, { content: 'The second version, ' + 'x'.repeat(300) });
  assert.equal(await excerpt(), 'The second version, ' + 'x'.repeat(260));
  await bruno.patch(path, { summary: 'In short.' });
  await bruno.patch(path, { content: 'The third version.' });
  assert.equal(await excerpt(), 'In short.');
  for (const nothing of ['', null]) {
    await bruno.patch(path, { summary: 'In short.' });
    await bruno.patch(path, { summary: nothing });
    assert.equal(await excerpt(), 'The third version.');
  }
  await bruno.patch(path, { content: null });
  assert.equal(await excerpt(), undefined);
  // the slug is part of addresses that others have: it stays until the author says otherwise
  assert.equal((await bruno.patch(path, { title: 'Meio e fim' })).body.slug, 'comeco');
  assert.equal((await bruno.patch(path, { slug: null })).body.slug, 'meio-e-fim');
  assert.equal((await bruno.patch(path, { slug: 'Fim' })).body.slug, 'fim');
  await bruno.delete(path);
});

test('B-A10: a post by its id', async () => {
  await published('p1', 'sub-bruno', 'cloud', '2024-01-01T00:00:00Z');
  assert.equal((await app.nobody.get('/posts/p1')).body.content, 'words');
  await app.nobody.get('/posts/none', { status: 404, type: 'not-found' });
});

test('B-A26: the latest posts of the site', async () => {
  await published('p3', 'sub-clara', 'cloud', '2024-01-03T00:00:00Z');
  await published('p2', 'sub-bruno', 'backend', '2024-01-02T00:00:00Z');
  await published('p4', 'sub-clara', 'backend', '2024-01-04T00:00:00Z');
  await published('p5', 'sub-clara', 'art', '2024-01-05T00:00:00Z');
  for (const [title, postId] of [['Rascunho', 'd1'], ['Outro', 'd2']]) await bruno.post('/posts', { postId, title, subcategoryId: 'cloud' });
  const latest = await app.nobody.all('/posts', 2);
  assert.deepEqual(ids(latest), ['p5', 'p4', 'p3', 'p2', 'p1']);
  assert.equal(latest[0].content, undefined);
  assert.equal(latest[0].excerpt, 'words');
  assert.equal((await app.nobody.get('/posts')).headers.get('cache-control'), 'public, max-age=30');
  assert.deepEqual(ids(await ana.list('/statuses/DRAFT/posts')).sort(), ['d1', 'd2']);
  await bruno.get('/statuses/DRAFT/posts', { status: 403 });
});

test('B-A02: the posts of a category, newest first, ten at a time, without its subcategories', async () => {
  assert.deepEqual(ids(await app.nobody.all('/categories/cloud/posts', 1)), ['p3', 'p1']);
  assert.deepEqual(await app.nobody.list('/categories/tech/posts'), []); // B2: backend and cloud are in the same partition
  for (let i = 10; i < 22; i++) await published(`many-${i}`, 'sub-clara', 'art', `2024-02-${i}T00:00:00Z`);
  const { items, next } = (await app.nobody.get('/categories/art/posts')).body;
  assert.deepEqual(ids(items), Array.from({ length: 10 }, (_, i) => `many-${21 - i}`));
  assert.deepEqual(ids((await app.nobody.get(`/categories/art/posts?after=${next}`)).body.items), ['many-11', 'many-10', 'p5']);
  assert.equal(items[0].content, undefined);
});

test('B-A28: the posts of all subcategories of a main category, by time', async () => {
  assert.deepEqual(ids(await app.nobody.all('/categories/tech/subcategories/posts', 1)), ['p4', 'p3', 'p2', 'p1']); // B3
  assert.deepEqual(ids(await app.nobody.all('/categories/tech/subcategories/posts', 3)), ['p4', 'p3', 'p2', 'p1']);
  assert.equal((await app.nobody.all('/categories/life/subcategories/posts', 5)).length, 13);
  assert.deepEqual(await app.nobody.list('/categories/news/subcategories/posts'), []);
});

test('B-A03: the posts of a user, newest first, and nothing else the user did', async () => {
  await bruno.post('/posts/p4/likes'); // B4: these are in the same partition
  await bruno.post('/posts/p4/comments', { body: 'Bravo' });
  assert.deepEqual(ids(await app.nobody.all('/users/sub-bruno/posts', 1)), ['p2', 'p1']);
  assert.deepEqual(ids(await bruno.all('/users/sub-bruno/posts', 1)), ['p2', 'p1']);
});

test('B-A27: the drafts of an author, newest first', async () => {
  await operator.post('/posts', { postId: 'd0', title: 'Old', subcategoryId: 'cloud', authorId: 'sub-bruno', createdAt: '2023-01-01T00:00:00Z' });
  const drafts = ids(await bruno.all('/users/sub-bruno/drafts', 1));
  assert.deepEqual([...drafts].sort(), ['d0', 'd1', 'd2']);
  assert.equal(drafts.at(-1), 'd0');
  assert.equal((await ana.list('/users/sub-bruno/drafts')).length, 3);
  await clara.get('/users/sub-bruno/drafts', { status: 403, type: 'forbidden' });
  await app.nobody.get('/users/sub-bruno/drafts', { status: 401, type: 'unauthenticated' });
});

test('B-A29: deleting a post takes comments, likes, bookmarks and their guards along', async () => {
  // T9, B26
  await published('doomed', 'sub-bruno', 'cloud', '2024-03-01T00:00:00Z');
  await published('spared', 'sub-bruno', 'cloud', '2024-03-02T00:00:00Z');
  for (const postId of ['doomed', 'spared']) {
    for (const reader of [davi, elisa, clara]) {
      const { commentId } = (await reader.post(`/posts/${postId}/comments`, { body: 'Oi' })).body;
      await eventually(); // a comment is found by an index
      await reader.post(`/posts/${postId}/comments`, { body: 'E mais', parentId: commentId });
      await reader.post(`/posts/${postId}/likes`);
    }
    await davi.post('/users/sub-davi/bookmarks', { postId });
  }
  assert.deepEqual(recount(await app.items()), []);
  const about = (items, postId) => items.filter((item) => (item.postId === postId || item.PK.endsWith(`#${postId}`)) && item.entityType !== 'NOTIFICATION').length;
  assert.equal(about(await app.items(), 'doomed'), 1 + 6 + 3 * 2 + 2);
  await clara.delete('/posts/doomed', { status: 403, type: 'forbidden' });
  assert.equal((await bruno.delete('/posts/doomed')).status, 204);
  await until('everything of the post to be gone', async () => about(await app.items(), 'doomed') === 0);
  assert.equal(about(await app.items(), 'spared'), 15);
  assert.deepEqual(await app.nobody.list('/posts/doomed/comments'), []);
  assert.deepEqual(ids(await davi.list('/users/sub-davi/bookmarks')), ['spared']);
  assert.deepEqual(recount(await app.items()), []);
});

test('B-A01: an account that is deleted takes along what it had and did, and its comments lose their words', async () => {
  const [zoe, yan] = [await app.as('sub-zoe', 'author'), await app.as('sub-yan')];
  await zoe.post('/users', { displayName: 'Zoe' });
  await yan.post('/users', { displayName: 'Yan' });
  const write = async (title) => (await zoe.post('/posts', { title, subcategoryId: 'cloud', content: title })).body.postId;
  const [shown, shelved] = [await write('Shown'), await write('Shelved')];
  await write('Draft');
  for (const postId of [shown, shelved]) await zoe.post(`/posts/${postId}/publish`);
  await zoe.post(`/posts/${shelved}/archive`);
  await yan.post(`/posts/${shown}/likes`);
  await yan.post(`/posts/${shown}/comments`, { body: 'To Zoe' });
  await yan.post('/users/sub-yan/bookmarks', { postId: shown });
  const before = (await app.nobody.get('/posts/p1')).body;
  await zoe.post('/posts/p1/likes');
  await zoe.post('/users/sub-zoe/bookmarks', { postId: 'p1' });
  const { commentId } = (await zoe.post('/posts/p1/comments', { body: 'Secret words' })).body;
  await eventually();
  await yan.post('/posts/p1/comments', { body: 'To Zoe', parentId: commentId });
  await app.settled();

  await yan.delete('/users/sub-zoe', { status: 403, type: 'forbidden' });
  assert.equal((await zoe.delete('/users/sub-zoe')).status, 204);
  const left = await app.items();
  assert.deepEqual(left.filter((item) => item.PK === 'USER#sub-zoe' || item.userId === 'sub-zoe'), []);
  assert.deepEqual(left.filter((item) => item.authorId === 'sub-zoe').map(({ SK, isDeleted, body, authorName }) => [SK.split('#')[1], isDeleted, body, authorName]), [[commentId, true, '', undefined]]);
  assert.deepEqual(left.filter((item) => [shown, shelved].includes(item.postId) && item.entityType !== 'NOTIFICATION'), []);
  const now = (await app.nobody.get('/posts/p1')).body;
  assert.deepEqual([now.likeCount, now.bookmarkCount, now.commentCount], [before.likeCount, before.bookmarkCount, before.commentCount + 1]);
  const thread = (await app.nobody.list('/posts/p1/comments')).find((each) => each.commentId === commentId);
  assert.deepEqual(thread.children.map(({ body }) => body), ['To Zoe']); // the answer keeps its place
  assert.deepEqual(recount(left), []);
  // without a profile nothing that goes with one; with a new one everything begins anew
  await zoe.post('/posts', { title: 'x', subcategoryId: 'cloud' }, { status: 422, detail: /profile/ });
  await zoe.post('/posts/p1/likes', {}, { status: 404, detail: /profile/ });
  await zoe.post('/users/sub-zoe/bookmarks', { postId: 'p1' }, { status: 404, detail: /profile/ });
  await zoe.post('/users', { displayName: 'Zoe' }, { status: 201 });
  assert.deepEqual(await zoe.list('/users/sub-zoe/drafts'), []);
  assert.equal((await ana.delete('/users/sub-zoe')).status, 204);
  assert.equal((await ana.delete('/users/sub-yan')).status, 204);
});

test('B-A32: a category is deleted when nothing is in it', async () => {
  await ana.delete('/categories/tech', { status: 409, type: 'conflict' });     // children
  await ana.delete('/categories/cloud', { status: 409, type: 'conflict' });    // posts
  await bruno.delete('/categories/news', { status: 403, type: 'forbidden' });
  await ana.post('/categories', { categoryId: 'sub-news', parentId: 'news', name: 'x', order: 5 });
  await ana.delete('/categories/news', { status: 409, type: 'conflict' });
  assert.equal((await ana.delete('/categories/sub-news')).status, 204);
  assert.equal(await app.item('CATEGORY#news', 'CHILD#sub-news#000005'), undefined);
  assert.equal((await ana.delete('/categories/news')).status, 204);
  await ana.delete('/categories/news', { status: 404, type: 'not-found' });
  assert.deepEqual(ids(await app.nobody.list('/categories'), 'categoryId'), ['tech', 'life']);
  // a draft may outlive its category; it is not published without one
  await ana.post('/categories', { categoryId: 'brief', parentId: 'tech', name: 'x' });
  const { postId } = (await bruno.post('/posts', { title: 'Tarde', subcategoryId: 'brief' })).body;
  await ana.delete('/categories/brief');
  await bruno.post(`/posts/${postId}/publish`, {}, { status: 422 });
  await bruno.patch(`/posts/${postId}`, { subcategoryId: 'cloud' });
  await bruno.post(`/posts/${postId}/publish`);
});

test('the table and its indexes are those of the document, and the third it promised', async () => {
  const { Table } = await app.ddb.describeTable({ TableName: 'thorpe-dev-blog' });
  assert.equal(Table.BillingModeSummary.BillingMode, 'PAY_PER_REQUEST');
  const keys = (schema) => schema.map((part) => part.AttributeName);
  assert.deepEqual(keys(Table.KeySchema), ['PK', 'SK']);
  assert.deepEqual(Object.fromEntries(Table.GlobalSecondaryIndexes.map((index) => [index.IndexName, keys(index.KeySchema)])), { // B1
    GSI1: ['GSI1PK', 'GSI1SK'], GSI2: ['GSI2PK', 'GSI2SK'], GSI3: ['GSI3PK', 'GSI3SK'],
  });
  for (const index of Table.GlobalSecondaryIndexes) assert.equal(index.Projection.ProjectionType, 'ALL');
  for (const { AttributeType } of Table.AttributeDefinitions) assert.equal(AttributeType, 'S'); // B24
});
