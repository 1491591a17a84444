// WavyBlog under people who mean no good, and under many at once.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atOnce, startDesign, until } from './harness.mjs';

const app = await startDesign('wavyblog');
const operator = await app.operator();
const sam = await app.as('sam', 'admin');
const maria = await app.as('maria', 'user');
const john = await app.as('john_doe', 'user');

const clients = (n, start) => Array.from({ length: n }, (_, i) => () => start(i));
const guards = async (prefix) => (await app.items()).filter((item) => item.PK.startsWith(prefix));

test('W-A17: of twenty who want one email or one name at once, one gets it', async () => {
  const emails = await atOnce(clients(20, (i) => app.nobody.request('POST', '/users', { body: { Username: `twin${i}`, Email: 'twin@example.com', password: 'wonderland' } })
    .then((reply) => {
      if (reply.status !== 201) assert.deepEqual([reply.body.type, reply.body.attribute], ['urn:thorpe:taken', 'Email']);
      return reply;
    })));
  assert.deepEqual(emails, { 201: 1, 409: 19 });
  const [guard, ...more] = await guards('USEREMAIL#');
  assert.deepEqual(more, []);
  assert.deepEqual((await guards('USER#')).map((user) => user.Username), [guard.Username]);

  const same = await atOnce(clients(8, (i) => app.nobody.request('POST', '/users', { body: { Username: 'john_doe', Email: `john${i}@example.com`, password: 'wonderland' } })));
  assert.deepEqual(same, { 201: 1, 409: 7 });
  assert.equal((await guards('USER#john_doe')).length, 1);
  assert.equal((await guards('USEREMAIL#john')).length, 1);
});

test('W-A20, W-A09: of twenty who want one slug at once, one gets it', async () => {
  for (const name of ['maria', 'sam']) await operator.post('/users', { Username: name, Email: `${name}@example.com`, password: 'wonderland' });
  for (const Name of ['Travel', 'Cooking']) await sam.post('/categories', { Name });
  const statuses = await atOnce(clients(20, (i) => (i % 2 ? john : maria).request('POST', '/posts', { body: { Title: 'Wanted By All', Category: 'travel' } })
    .then((reply) => {
      if (reply.status !== 201) assert.deepEqual([reply.body.type, reply.body.attribute], ['urn:thorpe:taken', 'Slug']);
      return reply;
    })));
  assert.deepEqual(statuses, { 201: 1, 409: 19 });
  const [slug] = await guards('SLUG#');
  const [post, ...more] = await guards('POST#');
  assert.deepEqual(more, []);
  assert.equal(slug.PostID, post.PostID);
});

test('W-A24, W-A18: slugs and emails that move at once leave no guard behind', async () => {
  for (let i = 0; i < 20; i++) await john.post('/posts', { Title: `Mover ${i}`, Category: 'travel', IsPublished: true });
  assert.deepEqual(await atOnce(clients(20, (i) => john.request('PATCH', `/posts/mover-${i}`, { body: { Slug: 'one-place' } }))), { 200: 1, 409: 19 });
  // one post, moved by twenty: each move is from where it is at that moment, so that one is first and the others do not find it
  const moved = await atOnce(clients(20, (i) => john.request('PATCH', '/posts/one-place', { body: { Slug: `place-${i}` } })));
  assert.deepEqual(moved, { 200: 1, 404: 19 });
  // edits and moves of one post: none is lost
  const { Slug: place } = (await guards('POST#place-'))[0];
  const mixed = await Promise.all([
    john.request('PATCH', `/posts/${place}`, { body: { Slug: 'mixed' } }),
    ...clients(10, (i) => john.request('PATCH', `/posts/${place}`, { body: { ThumbnailURL: `https://example.com/${i}` } })).map((start) => start()),
  ]);
  assert.equal(mixed[0].status, 200, JSON.stringify(mixed[0].body));
  for (const { status } of mixed.slice(1)) assert.ok(status === 200 || status === 404);
  const posts = await guards('POST#');
  const slugs = await guards('SLUG#');
  assert.deepEqual(posts.map((post) => [`SLUG#${post.Slug}`, post.PostID]).sort(), slugs.map((slug) => [slug.PK, slug.PostID]).sort());
  assert.equal(posts.length, 21);

  await atOnce(clients(20, (i) => john.request('PATCH', '/users/john_doe', { body: { Email: `john.${i}@example.com` } })));
  const [email, ...more] = (await guards('USEREMAIL#')).filter((guard) => guard.Username === 'john_doe');
  assert.deepEqual(more, []);
  assert.equal(email.PK, `USEREMAIL#${(await app.item('USER#john_doe', 'METADATA#john_doe')).Email}`);
});

test('W-A21: of many who edit the version they have read, one does', async () => {
  await john.post('/posts', { Title: 'Contested', Category: 'travel', CreatedAt: undefined });
  await app.doc.update({ // so that the version is not of this very second
    TableName: app.table, Key: { PK: 'POST#contested', SK: 'METADATA#contested' },
    UpdateExpression: 'SET UpdatedAt = :t', ExpressionAttributeValues: { ':t': '2024-01-15T10:30:00Z' },
  });
  const { etag } = await john.get('/posts/contested');
  const race = await atOnce(clients(20, (i) => john.request('PATCH', '/posts/contested', { body: { Title: `Edit ${i}` }, headers: { 'if-match': etag } })));
  assert.deepEqual(race, { 200: 1, 412: 19 });
  await john.patch('/posts/contested', { Title: 'Late' }, { status: 412, type: 'changed', headers: { 'if-match': '"2024-01-15T10:30:00Z"' } });
  await john.delete('/posts/contested', { status: 412, type: 'changed', headers: { 'if-match': etag } });
  const { etag: now } = await john.get('/posts/contested');
  assert.equal((await john.request('GET', '/posts/contested', { headers: { 'if-none-match': now } })).status, 304);
  await john.delete('/posts/contested', { headers: { 'if-match': now } });
});

test('W-A26: a category is not deleted from under a post that is being written', async () => {
  for (let round = 0; round < 8; round++) {
    await sam.post('/categories', { Name: `Round ${round}` });
    const [written, deleted] = await Promise.all([
      john.request('POST', '/posts', { body: { Title: `In round ${round}`, Category: `round-${round}` } }),
      sam.request('DELETE', `/categories/round-${round}`),
    ]);
    assert.ok(written.status === 201 || written.status === 422, JSON.stringify(written.body));
    assert.ok(deleted.status === 204 || deleted.status === 409, JSON.stringify(deleted.body));
    const category = await app.item(`CATEGORY#round-${round}`, `METADATA#round-${round}`);
    const post = await app.item(`POST#in-round-${round}`, `METADATA#in-round-${round}`);
    assert.equal(category === undefined, deleted.status === 204);
    assert.equal(post !== undefined, written.status === 201);
    assert.ok(category || !post, 'a post without its category (W16)');
  }
});

test('W-A17, W-A20: what is no user and no post', async () => {
  const before = (await app.items()).length;
  const user = { Username: 'fine', Email: 'fine@example.com', password: 'wonderland' };
  for (const [wrong, attribute] of [
    [{ Username: 'a#b' }, 'Username'], [{ Username: 'ab' }, 'Username'], [{ Username: 'x'.repeat(31) }, 'Username'], [{ Username: 7 }, 'Username'],
    [{ Username: '' }, 'Username'], [{ Username: null }, 'Username'], [{ Username: ['fine'] }, 'Username'], [{ Email: 'a#b@example.com' }, 'Email'],
    [{ Email: true }, 'Email'], [{ Email: '' }, 'Email'], [{ password: 'short' }, 'password'], [{ password: 'x'.repeat(73) }, 'password'],
    [{ password: 12345678 }, 'password'], [{ password: undefined }, 'password'], [{ Role: 'admin' }, 'Role'], [{ PasswordHash: '$2b$10$x' }, 'PasswordHash'],
    [{ CreatedAt: '2020-01-01T00:00:00Z' }, 'CreatedAt'], [{ PK: 'USER#sam' }, 'PK'], [{ EntityType: 'POST' }, 'EntityType'], [{ Nickname: 'x' }, 'Nickname'],
    [{ __proto__: null, constructor: 'x' }, 'constructor'],
  ]) {
    const reply = await app.nobody.post('/users', { ...user, ...wrong }, { status: 422, type: 'invalid' });
    assert.ok(reply.body.errors.some((each) => each.attribute === attribute), `${JSON.stringify(wrong)}: ${JSON.stringify(reply.body)}`);
  }
  const post = { Title: 'Fine', Category: 'travel' };
  for (const [wrong, attribute] of [
    [{ Slug: 'a#b' }, 'Slug'], [{ Slug: 'x'.repeat(201) }, 'Slug'], [{ Title: '' }, 'Title'], [{ Title: 5 }, 'Title'], [{ Category: 'a#b' }, 'Category'],
    [{ IsPublished: 'true' }, 'IsPublished'], [{ IsPublished: 1 }, 'IsPublished'], [{ Content: {} }, 'Content'], [{ GSI2PK: 'POSTS_BY_CAT#x' }, 'GSI2PK'],
    [{ UpdatedAt: '2020-01-01T00:00:00Z' }, 'UpdatedAt'], [{ Titel: 'x' }, 'Titel'],
  ]) {
    const reply = await john.post('/posts', { ...post, ...wrong }, { status: 422, type: 'invalid' });
    assert.ok(reply.body.errors.some((each) => each.attribute === attribute), `${JSON.stringify(wrong)}: ${JSON.stringify(reply.body)}`);
  }
  const many = await john.post('/posts', { Title: 5, IsPublished: 'yes', Nope: 1 }, { status: 422 });
  assert.deepEqual(many.body.errors.map((each) => each.attribute).sort(), ['Category', 'IsPublished', 'Nope', 'Title']); // all at once, and what is missing
  for (const raw of ['', '{', '[]', 'null', '"x"', '{"Title":"a","Title":"b"', '\u0000']) {
    const reply = await john.request('POST', '/posts', { raw, headers: { 'content-type': 'application/json' } });
    assert.ok(reply.status === 400 || reply.status === 422, `${JSON.stringify(raw)} gave ${reply.status}`);
  }
  assert.equal((await john.request('POST', '/posts', { raw: 'Title=x', headers: { 'content-type': 'text/plain' } })).status, 415);
  assert.equal((await app.items()).length, before);
});

test('W-A04, W-A19: the things of others, forged tokens and odd addresses', async () => {
  await john.post('/posts', { Title: 'Johns own', Category: 'travel', IsPublished: true });
  await maria.put('/posts/johns-own', { Title: 'Hers', Category: 'travel' }, { status: 409 });
  await maria.patch('/posts/johns-own', { AuthorID: 'maria' }, { status: 403 });
  await maria.patch('/users/john_doe', { password: 'stolen-now', current_password: 'wonderland' }, { status: 403 });
  await maria.delete('/users/john_doe', { status: 403 });
  await maria.post('/users/maria/role', { Role: 'admin' }, { status: 403 });
  // a user's token with a role that is not his: the signature says no
  const [head, body, signature] = maria.token.split('.');
  const claims = JSON.parse(Buffer.from(body, 'base64url').toString());
  const forged = Buffer.from(JSON.stringify({ ...claims, roles: ['admin'], operator: true })).toString('base64url');
  const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
  for (const token of [`${head}.${forged}.${signature}`, `${none}.${forged}.`, `${head}.${body}.`, `${head}.${body}.${'A'.repeat(43)}`, 'x', 'a.b.c', '']) {
    const reply = await app.nobody.request('GET', '/me', { headers: { authorization: `Bearer ${token}` } });
    assert.equal(reply.status, 401, token);
  }
  for (const path of ['/posts/%23', '/posts/a%23b', '/users/%00', '/users/%2e%2e%2f', '/posts/%2e%2e%2fadmin', '/nothing', '/posts/a/b/c', `/posts/${'x'.repeat(3000)}`]) {
    const { status } = await john.request('GET', path);
    assert.ok(status === 404 || status === 422 || status === 400, `${path} gave ${status}`);
  }
  const reply = await john.request('PUT', '/latest', { body: {} });
  assert.equal(reply.status, 405);
  assert.match(reply.headers.get('allow'), /GET/);
});

test('W-A06: a cursor belongs to one list, and nobody makes one up', async () => {
  const page = await app.nobody.get('/users/john_doe/posts?limit=2');
  const { next } = page.body;
  assert.ok(next);
  assert.doesNotMatch(Buffer.from(next, 'base64url').toString('latin1'), /USER|POST/);
  await app.nobody.get(`/users/maria/posts?limit=2&after=${next}`, { status: 400, type: 'malformed' });
  await app.nobody.get(`/posts?limit=2&after=${next}`, { status: 400, type: 'malformed' });
  for (const bad of ['x', 'AAAA', `${next}A`, next.slice(1), next.replace(/^./, (c) => (c === 'A' ? 'B' : 'A')), 'e30']) {
    await app.nobody.get(`/users/john_doe/posts?after=${encodeURIComponent(bad)}`, { status: 400, type: 'malformed' });
  }
  for (const limit of ['0', '-1', '1001', 'x', '1.5']) await app.nobody.get(`/posts?limit=${limit}`, { status: 422, type: 'invalid' });
  // the place survives that its row goes
  const last = page.body.items.at(-1).Slug;
  await john.delete(`/posts/${last}`);
  const rest = await app.nobody.get(`/users/john_doe/posts?limit=1000&after=${next}`);
  assert.ok(rest.body.items.length > 0);
  assert.ok(!rest.body.items.some((post) => page.body.items.some((before) => before.Slug === post.Slug)));
});

test('W-A14: pages are full although most of what is read is not for the reader', async () => {
  for (let i = 0; i < 60; i++) await operator.post('/posts', {
    Slug: `many-${String(i).padStart(2, '0')}`, Title: `Many ${i}`, AuthorID: 'maria', Category: 'cooking', IsPublished: i % 10 === 0,
    CreatedAt: `2024-05-01T00:00:${String(i).padStart(2, '0')}Z`,
  });
  const shown = (await app.nobody.all('/categories/cooking/posts', 2)).map((post) => post.Slug);
  assert.deepEqual(shown, ['many-50', 'many-40', 'many-30', 'many-20', 'many-10', 'many-00']);
  assert.equal((await maria.all('/categories/cooking/posts', 7)).length, 60);
  assert.equal((await maria.all('/users/maria/drafts', 7)).filter((post) => post.Category === 'cooking').length, 54);
});

test('W-A20, W-A25: the same request with the same key is done once', async () => {
  const headers = { 'idempotency-key': 'wave-1' };
  const first = await john.post('/posts', { Title: 'Only once', Category: 'travel' }, { status: 201, headers });
  const again = await john.post('/posts', { Title: 'Only once', Category: 'travel' }, { status: 201, headers });
  assert.deepEqual(again.body, first.body);
  await john.post('/posts', { Title: 'Another', Category: 'travel' }, { status: 422, headers });
  const { body } = await john.post('/batch', { requests: [
    { method: 'POST', path: '/posts', body: { Title: 'In a batch', Category: 'travel' } },
    { method: 'POST', path: '/posts', body: { Title: 'In a batch', Category: 'travel' } },
    { method: 'PATCH', path: '/posts/in-a-batch', body: { Content: 'x' } },
    { method: 'DELETE', path: '/posts/in-a-batch' },
    { method: 'DELETE', path: '/users/maria' },
  ] });
  assert.deepEqual(body.responses.map((response) => response.status), [201, 409, 200, 204, 403]);
});

test('W-A27: a user deleted in the middle of writing leaves no post without an author', async () => {
  for (let round = 0; round < 3; round++) {
    await operator.post('/users', { Username: 'brief', Email: 'brief@example.com' });
    const brief = await app.as('brief', 'user');
    const write = (i) => brief.request('POST', '/posts', { body: { Title: `Brief ${i}`, Category: 'travel' } });
    const race = await Promise.all([
      ...[0, 1, 2, 3, 4].map(write), brief.request('DELETE', '/users/brief'), brief.request('PATCH', '/users/brief', { body: { Email: 'long@example.com' } }),
      ...[5, 6, 7, 8, 9].map(write),
    ]);
    assert.equal(race[5].status, 204);
    for (const [i, { status }] of race.entries()) if (i !== 5 && i !== 6) assert.ok(status === 201 || status === 422, `${status}`);
    await until('everything of the user to be gone', async () => !(await app.items()).some((item) => /brief/.test(item.PK) || item.Username === 'brief'));
  }
});

test('W-A05, W-A14: lists of long articles are whole and in order', async () => {
  const Content = 'long '.repeat(60_000); // W13: the index holds them, so that a page of the database ends after three
  for (let i = 0; i < 12; i++) await operator.post('/posts', {
    Slug: `long-${String.fromCharCode(108 - i)}`, Title: `Long ${i}`, AuthorID: 'maria', Category: 'travel', IsPublished: true, Content, CreatedAt: `2030-01-01T00:00:${10 + i}Z`,
  });
  const letters = (posts) => posts.filter((post) => post.Slug.startsWith('long-')).map((post) => post.Slug[5]).join('');
  assert.equal(letters(await app.nobody.all('/posts', 5)), 'abcdefghijkl');
  assert.equal(letters((await app.nobody.list('/latest')).slice(0, 12)), 'abcdefghijkl');
  assert.equal(letters(await app.nobody.all('/users/maria/posts?from=2030-01-01T00:00:00Z', 5)), 'abcdefghijkl');
  assert.equal((await app.nobody.get('/posts/long-a')).body.Content, Content);
  await maria.patch('/posts/long-a', { Content: '\u{1F600}'.repeat(110_000) }, { status: 413, type: 'too-large' }); // W22: fewer characters, but too many bytes
});

test('W-A17, W-A20, W-A26: names, slugs and addresses are what they are said to be', async () => {
  const before = await app.items();
  const user = { Username: 'proper', Email: 'proper@example.com', password: 'wonderland' };
  const names = ['..', '...', '.ab', 'a/b', 'a\\b', 'sam@example.com', 'a b', 'a\u200bb', 'ab\u202ecd', 'a\u0000b', 'e\u0301mile'];
  for (const Username of names) await app.nobody.post('/users', { ...user, Username }, { status: 422, type: 'invalid', detail: /^Username/ });
  for (const Email of ['nope', '@example.com', 'a@', 'a b@example.com', 'a@b@example.com']) await app.nobody.post('/users', { ...user, Email }, { status: 422, detail: /^Email/ });
  const post = { Title: 'Proper', Category: 'travel' };
  for (const Slug of ['..', '.', 'a/b', '-a', 'a--b', 'a\u200b', 'a\u202eb', 'a\nb']) await john.post('/posts', { ...post, Slug }, { status: 422, detail: /^Slug/ });
  for (const ThumbnailURL of ['javascript:alert(1)', 'data:text/html,x', '//example.com', 'https://']) await john.post('/posts', { ...post, ThumbnailURL }, { status: 422, detail: /^ThumbnailURL/ });
  // W11: ids are always ours
  await app.nobody.post('/users', { ...user, UserID: 'usr_1' }, { status: 422, detail: /UserID/ });
  await john.post('/posts', { ...post, PostID: 'post_1' }, { status: 422, detail: /PostID/ });
  await sam.post('/categories', { Name: 'X', CategoryID: 'cat_1' }, { status: 422, detail: /CategoryID/ });
  assert.deepEqual(await app.items(), before);
});

test('W-A20, W-A04: a title whose slug would be too long is a post that can be reached', async () => {
  const { body } = await john.post('/posts', { Title: 'ß'.repeat(150), Category: 'travel' });
  assert.equal(body.Slug, 's'.repeat(200));
  assert.equal((await john.get(`/posts/${body.Slug}`)).body.PostID, body.PostID);
  const dashed = (await john.post('/posts', { Title: `${'ß'.repeat(99)}s x`, Category: 'travel' })).body; // cut where a hyphen is
  assert.equal(dashed.Slug, 's'.repeat(199));
  await john.post('/posts', { Title: 'ß'.repeat(150), Category: 'travel' }, { status: 409, attribute: 'Slug' });
  for (const { Slug } of [body, dashed]) await john.delete(`/posts/${Slug}`);
});

test('W-A11: whoever guesses passwords has to wait', async () => {
  let reply;
  for (let i = 0; i < 40; i++) {
    reply = await app.nobody.request('POST', '/login', { body: { name: 'sam', password: `guess-${i}` } });
    if (reply.status === 429) break;
    assert.equal(reply.status, 401);
  }
  assert.equal(reply.status, 429);
  assert.equal(reply.body.type, 'urn:thorpe:too-many-attempts');
  assert.ok(Number(reply.headers.get('retry-after')) > 0);
});

test('W-A01, W-A04: after a restart everything is there, and tokens and cursors are good', async () => {
  const { next } = (await app.nobody.get('/posts?limit=5')).body;
  const before = await app.items();
  await app.server.stop();
  const again = await startDesign('wavyblog', { data: app.data });
  assert.deepEqual(await again.items(), before);
  assert.deepEqual((await again.withToken(maria.token).get('/me')).body, { subject: 'maria', roles: ['user'] });
  assert.ok((await again.nobody.get(`/posts?limit=5&after=${next}`)).body.items.length > 0);
});
