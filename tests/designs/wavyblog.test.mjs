// WavyBlog, played through: every access pattern and every recipe, seen from the REST API and in the table.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { Caller, ROOT, runToEnd, startDesign, until } from './harness.mjs';

const app = await startDesign('wavyblog');
const operator = await app.operator();
const john = await app.as('john_doe', 'user');
const maria = await app.as('maria', 'user');
const sam = await app.as('sam', 'admin');

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const ULID = '[0-9A-HJKMNP-TV-Z]{26}';
const slugs = (items) => items.map((post) => post.Slug);
const names = (items) => items.map((user) => user.Username);

/** Everything that any caller was ever answered, to look through at the end. */
const answers = [];
const request = Caller.prototype.request;
Caller.prototype.request = async function (method, path, options) {
  const reply = await request.call(this, method, path, options);
  answers.push({ who: this, asked: `${method} ${path}`, text: JSON.stringify(reply.body) ?? '' });
  return reply;
};

/** A post made by an operator, who may say when and by whom. */
const post = (Slug, AuthorID, Category, CreatedAt, more = {}) =>
  operator.post('/posts', { Slug, Title: `About ${Slug}`, AuthorID, Category, CreatedAt, Content: 'words', IsPublished: true, ...more });

test('W-A17: signing up puts the user and the guard of the email, in the forms of the document', async () => {
  // T1; W8: trimmed and in lower case before anything becomes a key
  const { body, location } = await app.nobody.post('/users', { Username: ' John_Doe', Email: ' John@Example.com ', password: 'wonderland' }, { status: 201 });
  assert.equal(location, '/api/wavyblog/users/john_doe');
  assert.equal(body.Username, 'john_doe');
  assert.equal(body.Email, undefined, 'an email is for its owner, and nobody has logged in yet');

  const user = await app.item('USER#john_doe', 'METADATA#john_doe');
  const { UserID, PasswordHash, CreatedAt, UpdatedAt, ...rest } = user;
  assert.deepEqual(rest, {
    PK: 'USER#john_doe', SK: 'METADATA#john_doe', EntityType: 'USER', Username: 'john_doe', Email: 'john@example.com', Role: 'user',
  });
  assert.match(UserID, new RegExp(`^usr_${ULID}$`));
  assert.match(PasswordHash, /^\$2[aby]\$10\$.{53}$/);
  assert.match(CreatedAt, TIME); // W14, W19: a string, UTC, seconds
  assert.equal(UpdatedAt, CreatedAt);
  assert.deepEqual(await app.item('USEREMAIL#john@example.com', 'USEREMAIL#john@example.com'), {
    PK: 'USEREMAIL#john@example.com', SK: 'USEREMAIL#john@example.com', Username: 'john_doe',
  });
  assert.equal((await app.items()).length, 2);

  // W7: nobody takes over an account; W8: in whatever spelling
  await app.nobody.post('/users', { Username: 'JOHN_DOE', Email: 'other@example.com', password: 'wonderland' }, { status: 409, type: 'already-exists' });
  await app.nobody.post('/users', { Username: 'johnny', Email: 'JOHN@example.com', password: 'wonderland' }, { status: 409, type: 'taken', attribute: 'Email' });
  assert.deepEqual(await app.item('USER#john_doe', 'METADATA#john_doe'), user);
  assert.equal((await app.items()).length, 2, 'a refused sign-up leaves nothing behind');

  await app.nobody.post('/users', { Username: 'maria', Email: 'maria@example.com', password: 'wonderland' });
  await app.nobody.post('/users', { Username: 'sam', Email: 'sam@example.com', password: 'wonderland' });
  await operator.post('/users/sam/role', { Role: 'admin' });
});

test('W-A01: a user by the username', async () => {
  const { body, etag } = await john.get('/users/john_doe');
  const { CreatedAt, UpdatedAt, UserID, ...rest } = body;
  assert.deepEqual(rest, { Username: 'john_doe', Email: 'john@example.com', Role: 'user' });
  assert.ok(CreatedAt && UpdatedAt && UserID && etag);
  assert.deepEqual((await app.nobody.get('/users/John_Doe')).body, { Username: 'john_doe', Role: 'user', UserID, CreatedAt, UpdatedAt });
  assert.equal((await maria.get('/users/john_doe')).body.Email, undefined);
  assert.equal((await sam.get('/users/john_doe')).body.Email, 'john@example.com');
  await app.nobody.get('/users/nobody_here', { status: 404, type: 'not-found' });
});

test('W-A02: a user by the email', async () => {
  assert.equal((await sam.get('/emails/john@example.com/user')).body.Username, 'john_doe');
  assert.equal((await sam.get('/emails/John%40EXAMPLE.com/user')).body.Username, 'john_doe'); // W8
  await sam.get('/emails/none@example.com/user', { status: 404, type: 'not-found' });
  await app.nobody.get('/emails/john@example.com/user', { status: 401, type: 'unauthenticated' });
  await maria.get('/emails/john@example.com/user', { status: 403, type: 'forbidden' });
});

test('W-A03: all users, in the order of their names, page by page', async () => {
  for (const name of ['zoe', 'adam', 'kim', 'ben']) await app.nobody.post('/users', { Username: name, Email: `${name}@example.com`, password: 'wonderland' });
  assert.deepEqual(names(await app.nobody.all('/users', 2)), ['adam', 'ben', 'john_doe', 'kim', 'maria', 'sam', 'zoe']);
  for (const user of await app.nobody.list('/users')) assert.deepEqual(Object.keys(user).sort(), ['CreatedAt', 'Role', 'UpdatedAt', 'UserID', 'Username']);
  const emails = (await john.list('/users')).filter((user) => user.Email); // one's own is in a list, too
  assert.deepEqual(names(emails), ['john_doe']);
  assert.equal((await sam.list('/users')).filter((user) => user.Email).length, 7);
});

test('W-A16: the admins', async () => {
  assert.deepEqual(names(await app.nobody.all('/admins', 1)), ['sam']);
});

test('W-A26: a category is made, renamed and deleted by admins', async () => {
  await app.nobody.post('/categories', { Name: 'Technology' }, { status: 401, type: 'unauthenticated' });
  await john.post('/categories', { Name: 'Technology' }, { status: 403, type: 'forbidden' });
  const { body, location } = await sam.post('/categories', { Name: 'Technology' }, { status: 201 });
  assert.equal(location, '/api/wavyblog/categories/technology');
  const { CategoryID, CreatedAt, UpdatedAt, ...rest } = await app.item('CATEGORY#technology', 'METADATA#technology');
  assert.deepEqual(rest, { PK: 'CATEGORY#technology', SK: 'METADATA#technology', EntityType: 'CATEGORY', Slug: 'technology', Name: 'Technology' });
  assert.match(CategoryID, new RegExp(`^cat_${ULID}$`));
  assert.match(CreatedAt, TIME);
  assert.match(UpdatedAt, TIME);
  assert.equal(body.CategoryID, CategoryID);
  assert.equal(await app.item('SLUG#technology', 'SLUG#technology'), undefined); // W6

  await sam.post('/categories', { Name: 'Tech again', Slug: 'TECHNOLOGY' }, { status: 409, type: 'already-exists' });
  await sam.patch('/categories/technology', { Name: 'Technology & Science' });
  assert.equal((await app.item('CATEGORY#technology', 'METADATA#technology')).Name, 'Technology & Science');
  await sam.patch('/categories/technology', { Slug: 'science' }, { status: 422, type: 'invalid' }); // W16: posts point to it
  await john.patch('/categories/technology', { Name: 'Mine' }, { status: 403, type: 'forbidden' });

  // T7: refused while there are posts, drafts too
  await sam.post('/categories', { Name: 'Short lived' });
  await post('in-the-way', 'john_doe', 'short-lived', '2024-01-01T00:00:00Z', { IsPublished: false });
  await sam.delete('/categories/short-lived', { status: 409, type: 'conflict' });
  await john.delete('/posts/in-the-way');
  await john.delete('/categories/short-lived', { status: 403, type: 'forbidden' });
  await until('the index to have let go of the post', async () => (await sam.request('DELETE', '/categories/short-lived')).status === 204);
  assert.equal(await app.item('CATEGORY#short-lived', 'METADATA#short-lived'), undefined);
  await sam.delete('/categories/short-lived', { status: 404, type: 'not-found' });
});

test('W-A10: a category by its slug', async () => {
  assert.equal((await app.nobody.get('/categories/technology')).body.Name, 'Technology & Science');
  await app.nobody.get('/categories/none', { status: 404, type: 'not-found' });
});

test('W-A08: all categories, in the order of their slugs', async () => {
  for (const Name of ['Travel', 'Cooking', 'Gardening', 'Empty']) await sam.post('/categories', { Name });
  const all = await app.nobody.all('/categories', 2);
  assert.deepEqual(all.map((category) => category.Slug), ['cooking', 'empty', 'gardening', 'technology', 'travel']);
});

test('W-A20: creating a post puts it and the guard of its slug', async () => {
  // T3. Who writes is the caller, whatever the body says (W10: a username).
  const { body, location } = await john.post('/posts', {
    Title: 'My First Post', Category: 'technology', Content: '# Hello World\nThis is it', AuthorID: 'maria', IsPublished: true, ThumbnailURL: 'https://example.com/thumb.jpg',
  }, { status: 201 });
  assert.equal(location, '/api/wavyblog/posts/my-first-post');
  const { PostID, CreatedAt, ...rest } = await app.item('POST#my-first-post', 'METADATA#my-first-post');
  assert.deepEqual(rest, {
    PK: 'POST#my-first-post', SK: 'METADATA#my-first-post', EntityType: 'POST', GSI1PK: 'POSTS_BY_USER#john_doe', GSI1SK: `POST#${CreatedAt}`,
    GSI2PK: 'POSTS_BY_CAT#technology', GSI2SK: `POST#${CreatedAt}`, Slug: 'my-first-post', Title: 'My First Post', Content: '# Hello World\nThis is it',
    AuthorID: 'john_doe', Category: 'technology', ThumbnailURL: 'https://example.com/thumb.jpg', IsPublished: true, UpdatedAt: CreatedAt,
  });
  assert.match(PostID, new RegExp(`^post_${ULID}$`));
  assert.match(CreatedAt, TIME);
  assert.equal(body.PostID, PostID);
  assert.deepEqual(await app.item('SLUG#my-first-post', 'SLUG#my-first-post'), { PK: 'SLUG#my-first-post', SK: 'SLUG#my-first-post', PostID }); // W4

  // W3, W4: the guard is what refuses, and a retired slug can be kept reserved by the guard alone
  await maria.post('/posts', { Title: 'My First Post', Category: 'travel' }, { status: 409, type: 'taken', attribute: 'Slug' });
  await maria.post('/posts', { Title: 'x', Slug: 'MY-FIRST-POST', Category: 'travel' }, { status: 409, type: 'taken', attribute: 'Slug' });
  await app.doc.put({ TableName: app.table, Item: { PK: 'SLUG#retired', SK: 'SLUG#retired' } });
  await maria.post('/posts', { Title: 'Retired', Category: 'travel' }, { status: 409, type: 'taken', attribute: 'Slug' });
  // W6: a post may be called as a category is
  await maria.post('/posts', { Title: 'Travel', Category: 'travel', IsPublished: true }, { status: 201 });
  // W16: neither without its category nor without its author
  const before = (await app.items()).length;
  await maria.post('/posts', { Title: 'Lost', Category: 'none' }, { status: 422, type: 'invalid', detail: /there is no Category none/ });
  await (await app.as('ghost', 'user')).post('/posts', { Title: 'Lost', Category: 'travel' }, { status: 422, type: 'invalid', detail: /there is no User ghost/ });
  await app.nobody.post('/posts', { Title: 'Lost', Category: 'travel' }, { status: 401, type: 'unauthenticated' });
  await maria.post('/posts', { Category: 'travel' }, { status: 422, type: 'invalid' });
  assert.equal((await app.items()).length, before);
  await john.delete('/posts/my-first-post');
  await maria.delete('/posts/travel');
});

test('W-A04: a post by its slug', async () => {
  await post('hello', 'john_doe', 'technology', '2024-01-15T10:30:00Z');
  assert.equal((await app.nobody.get('/posts/hello')).body.Content, 'words');
  assert.equal((await app.nobody.get('/posts/HELLO')).body.Slug, 'hello');
  await app.nobody.get('/posts/none', { status: 404, type: 'not-found' });
  // W1: a draft is its author's and the admins'
  await post('secret', 'john_doe', 'technology', '2024-01-16T10:30:00Z', { IsPublished: false });
  await app.nobody.get('/posts/secret', { status: 404, type: 'not-found' });
  await maria.get('/posts/secret', { status: 404, type: 'not-found' });
  assert.equal((await john.get('/posts/secret')).body.IsPublished, false);
  assert.equal((await sam.get('/posts/secret')).body.IsPublished, false);
});

test('W-A09: whether a slug is free', async () => {
  assert.deepEqual((await app.nobody.get('/slugs/hello')).body, { count: 1 });
  assert.deepEqual((await app.nobody.get('/slugs/HELLO')).body, { count: 1 });
  assert.deepEqual((await app.nobody.get('/slugs/free-as-air')).body, { count: 0 });
  assert.deepEqual((await app.nobody.get('/slugs/technology')).body, { count: 0 }); // W6: a category's is not a post's
});

test('W-A05, W-A14: all posts by slug, and the newest of them all; drafts for who may read them', async () => {
  await post('zebra', 'maria', 'travel', '2024-01-17T08:00:00Z');
  await post('apple', 'maria', 'cooking', '2024-01-18T08:00:00Z');
  await post('mango', 'maria', 'cooking', '2024-01-14T08:00:00Z', { IsPublished: false });
  assert.deepEqual(slugs(await app.nobody.all('/posts', 1)), ['apple', 'hello', 'zebra']); // W1: full pages, no drafts
  assert.deepEqual(slugs(await john.all('/posts', 2)), ['apple', 'hello', 'secret', 'zebra']);
  assert.deepEqual(slugs(await maria.all('/posts', 2)), ['apple', 'hello', 'mango', 'zebra']);
  assert.deepEqual(slugs(await sam.all('/posts', 2)), ['apple', 'hello', 'mango', 'secret', 'zebra']);
  for (const row of await sam.list('/posts')) assert.equal(row.Content, undefined); // W13
  // W2: by time
  const latest = await app.nobody.get('/latest');
  assert.deepEqual(slugs(latest.body.items), ['apple', 'zebra', 'hello']);
  assert.equal(latest.headers.get('cache-control'), 'public, max-age=30');
  assert.deepEqual(slugs(await sam.list('/latest')), ['apple', 'zebra', 'hello']);
});

test('W-A06, W-A14: the posts of a user, newest first', async () => {
  await post('second', 'john_doe', 'cooking', '2024-01-15T10:30:00Z'); // W15: in the same second as another
  await post('newest', 'john_doe', 'travel', '2024-03-01T00:00:00Z');
  const published = slugs(await app.nobody.all('/users/john_doe/posts', 1));
  assert.equal(published[0], 'newest');
  assert.deepEqual(published.slice(1).sort(), ['hello', 'second']); // neither is lost at the end of a page
  assert.deepEqual(slugs(await john.all('/users/john_doe/posts', 2)).filter((slug) => slug !== 'hello' && slug !== 'second'), ['newest', 'secret']);
  assert.equal((await sam.all('/users/john_doe/posts')).length, 4);
  assert.deepEqual(await app.nobody.list('/users/kim/posts'), []);
  assert.equal((await app.nobody.list('/users/john_doe/posts'))[0].Content, undefined);
});

test('W-A07, W-A14: the posts of a category, newest first', async () => {
  assert.deepEqual(slugs(await app.nobody.all('/categories/cooking/posts', 1)), ['apple', 'second']);
  assert.deepEqual(slugs(await maria.all('/categories/cooking/posts', 1)), ['apple', 'second', 'mango']);
  assert.deepEqual(slugs(await sam.all('/categories/technology/posts', 1)), ['secret', 'hello']);
  assert.deepEqual(await app.nobody.list('/categories/empty/posts'), []);
  // W8: however it is spelled, it is filed under the category's slug
  await john.post('/posts', { Title: 'Shouted', Category: 'COOKING', IsPublished: true });
  assert.equal((await app.item('POST#shouted', 'METADATA#shouted')).GSI2PK, 'POSTS_BY_CAT#cooking');
  assert.deepEqual(slugs(await app.nobody.list('/categories/Cooking/posts')), ['shouted', 'apple', 'second']);
  await john.delete('/posts/shouted');
});

test('W-A12: the posts of a user between two times', async () => {
  const window = (from, to) => `/users/john_doe/posts?from=${encodeURIComponent(from)}&to=${encodeURIComponent(to)}`;
  assert.deepEqual(slugs(await sam.all(window('2024-01-16T00:00:00Z', '2024-02-01T00:00:00Z'), 1)), ['secret']);
  assert.equal((await app.nobody.all(window('2024-01-15T10:30:00Z', '2024-01-15T10:30:00Z'), 1)).length, 2);
  assert.equal((await app.nobody.all(window('2024-01-15T12:30:00+02:00', '2024-01-15T12:30:00.000+02:00'), 1)).length, 2); // W14
  assert.deepEqual(await app.nobody.list(window('2025-01-01T00:00:00Z', '2025-02-01T00:00:00Z')), []);
  assert.deepEqual(slugs(await app.nobody.list('/users/John_Doe/posts?from=2024-02-01T00:00:00Z')), ['newest']); // one end is enough; W8
  assert.equal((await app.nobody.list('/users/john_doe/posts?to=2024-02-01T00:00:00Z')).length, 2);
  await app.nobody.get(window('yesterday', '2025-02-01T00:00:00Z'), { status: 422, type: 'invalid' });
});

test('W-A13: the posts of a category between two times', async () => {
  const window = (from, to) => `/categories/cooking/posts?from=${from}&to=${to}`;
  assert.deepEqual(slugs(await sam.all(window('2024-01-15T00:00:00Z', '2024-01-31T00:00:00Z'), 1)), ['apple', 'second']);
  assert.deepEqual(slugs(await app.nobody.list(window('2024-01-14T00:00:00Z', '2024-01-15T00:00:00Z'))), []); // mango is a draft
  assert.deepEqual(slugs(await maria.list(window('2024-01-14T00:00:00Z', '2024-01-15T00:00:00Z'))), ['mango']);
});

test('W-A15: the drafts of an author, for the author and admins', async () => {
  for (let i = 0; i < 5; i++) await post(`draft-${i}`, 'john_doe', 'travel', `2024-02-0${i + 1}T00:00:00Z`, { IsPublished: false });
  const drafts = ['draft-4', 'draft-3', 'draft-2', 'draft-1', 'draft-0', 'secret'];
  assert.deepEqual(slugs(await john.all('/users/john_doe/drafts', 2)), drafts);
  assert.deepEqual(slugs(await sam.all('/users/john_doe/drafts', 4)), drafts);
  assert.ok((await john.list('/users/john_doe/drafts')).every((draft) => !('Content' in draft))); // W13: as in every list
  assert.deepEqual(await maria.list('/users/john_doe/drafts'), []);
  assert.deepEqual(await app.nobody.list('/users/john_doe/drafts'), []);
  for (let i = 0; i < 5; i++) await john.delete(`/posts/draft-${i}`);
});

test('W-A11: logging in by username or email', async () => {
  for (const name of ['JOHN_DOE', 'John@Example.com']) {
    const { body } = await app.nobody.post('/login', { name, password: 'wonderland' });
    assert.equal(body.token_type, 'Bearer');
    assert.equal(body.subject, 'john_doe');
    assert.deepEqual(body.roles, ['user']);
    assert.deepEqual((await app.withToken(body.token).get('/me')).body, { subject: 'john_doe', roles: ['user'] });
  }
  const { body: { roles, user } } = await app.nobody.post('/login', { Email: 'sam@example.com', password: 'wonderland' });
  assert.deepEqual(roles, ['admin']);
  assert.equal(user.Username, 'sam');
  assert.equal((await app.nobody.post('/login', { Username: 'sam', password: 'wonderland' })).body.subject, 'sam');
  const wrong = await app.nobody.post('/login', { name: 'john_doe', password: 'Wonderland' }, { status: 401, type: 'unauthenticated' });
  const unknown = await app.nobody.post('/login', { name: 'who_else', password: 'wonderland' }, { status: 401, type: 'unauthenticated' });
  assert.deepEqual(wrong.body, unknown.body);
  const writer = await app.login('maria', 'wonderland');
  assert.equal((await writer.post('/posts', { Title: 'With a real token', Category: 'travel' })).body.AuthorID, 'maria');
  await writer.delete('/posts/with-a-real-token');
});

test('W-A18: changing the email moves its guard', async () => {
  // T2, W9
  await john.patch('/users/john_doe', { Email: 'Maria@example.com' }, { status: 409, type: 'taken', attribute: 'Email' });
  assert.equal((await app.item('USEREMAIL#maria@example.com', 'USEREMAIL#maria@example.com')).Username, 'maria');
  const before = await app.item('USER#john_doe', 'METADATA#john_doe');
  assert.equal(before.Email, 'john@example.com');
  assert.equal((await john.patch('/users/john_doe', { Email: ' John.Doe@Example.org' })).body.Email, 'john.doe@example.org');
  assert.equal(await app.item('USEREMAIL#john@example.com', 'USEREMAIL#john@example.com'), undefined);
  assert.deepEqual(await app.item('USEREMAIL#john.doe@example.org', 'USEREMAIL#john.doe@example.org'), {
    PK: 'USEREMAIL#john.doe@example.org', SK: 'USEREMAIL#john.doe@example.org', Username: 'john_doe',
  });
  const after = await app.item('USER#john_doe', 'METADATA#john_doe');
  assert.deepEqual(after, { ...before, Email: 'john.doe@example.org', UpdatedAt: after.UpdatedAt });
  assert.ok(after.UpdatedAt >= before.UpdatedAt);
  await app.nobody.post('/users', { Username: 'new_john', Email: 'john@example.com', password: 'wonderland' }, { status: 201 });
  await app.nobody.post('/login', { name: 'john.doe@example.org', password: 'wonderland' });
  await maria.patch('/users/john_doe', { Email: 'evil@example.com' }, { status: 403, type: 'forbidden' });
  await app.nobody.patch('/users/john_doe', { Email: 'evil@example.com' }, { status: 401, type: 'unauthenticated' });
});

test('W-A19: profile, password and role', async () => {
  await john.patch('/users/john_doe', { password: 'looking-glass', current_password: 'not-mine' }, { status: 422, type: 'invalid' });
  await john.patch('/users/john_doe', { password: 'looking-glass' }, { status: 422 });
  await john.patch('/users/john_doe', { password: 'short', current_password: 'wonderland' }, { status: 422, type: 'invalid' });
  await john.patch('/users/john_doe', { password: 'looking-glass', current_password: 'wonderland' });
  await app.nobody.post('/login', { name: 'john_doe', password: 'wonderland' }, { status: 401 });
  await app.login('john_doe', 'looking-glass');
  assert.equal((await app.item('USER#john_doe', 'METADATA#john_doe')).password, undefined);

  await john.patch('/users/john_doe', { Role: 'admin' }, { status: 422, type: 'invalid' });
  await john.post('/users/john_doe/role', { Role: 'admin' }, { status: 403, type: 'forbidden' });
  await sam.post('/users/zoe/role', { Role: 'king' }, { status: 422, type: 'invalid' });
  assert.equal((await sam.post('/users/zoe/role', { Role: 'admin' })).body.Role, 'admin');
  assert.deepEqual(names(await app.nobody.list('/admins')), ['sam', 'zoe']);
  await sam.post('/users/zoe/role', { Role: 'user' });
  await john.patch('/users/john_doe', { Username: 'john_the_second' }, { status: 422, type: 'invalid' }); // W10
});

test('W-A21: editing a post leaves its place in time', async () => {
  const before = await app.item('POST#hello', 'METADATA#hello');
  const { body } = await john.patch('/posts/hello', { Title: 'Hello again', Content: 'new words', ThumbnailURL: 'https://example.com/2.jpg' });
  assert.equal(body.Title, 'Hello again');
  const after = await app.item('POST#hello', 'METADATA#hello');
  assert.deepEqual(after, { ...before, Title: 'Hello again', Content: 'new words', ThumbnailURL: 'https://example.com/2.jpg', UpdatedAt: after.UpdatedAt });
  assert.ok(after.UpdatedAt > before.CreatedAt);
  await john.patch('/posts/hello', { CreatedAt: '2030-01-01T00:00:00Z' }, { status: 422, type: 'invalid' });
  await john.patch('/posts/hello', { GSI1SK: 'POST#2030-01-01T00:00:00Z' }, { status: 422, type: 'invalid' });
  await maria.patch('/posts/hello', { Title: 'Mine now' }, { status: 403, type: 'forbidden' });
  await maria.patch('/posts/secret', { Title: 'Mine now' }, { status: 404, type: 'not-found' }); // she may not know of it
  await sam.patch('/posts/hello', { ThumbnailURL: null });
  assert.equal((await app.item('POST#hello', 'METADATA#hello')).ThumbnailURL, undefined);
  // W22: the content has an end
  await john.patch('/posts/hello', { Content: 'x'.repeat(350_001) }, { status: 422, type: 'invalid' });
});

test('W-A22: publishing and unpublishing', async () => {
  const before = await app.item('POST#secret', 'METADATA#secret');
  await maria.post('/posts/secret/publish', {}, { status: 404, type: 'not-found' });
  assert.equal((await john.post('/posts/secret/publish')).body.IsPublished, true);
  const after = await app.item('POST#secret', 'METADATA#secret');
  assert.deepEqual(after, { ...before, IsPublished: true, UpdatedAt: after.UpdatedAt }); // W26: not a word about time
  assert.equal((await app.nobody.get('/posts/secret')).body.IsPublished, true);
  await maria.post('/posts/secret/unpublish', {}, { status: 403, type: 'forbidden' });
  await sam.post('/posts/secret/unpublish');
  await app.nobody.get('/posts/secret', { status: 404 });
});

test('W-A23: moving a post to another category', async () => {
  // T4
  const before = await app.item('POST#hello', 'METADATA#hello');
  await john.patch('/posts/hello', { Category: 'none' }, { status: 422, type: 'invalid', detail: /there is no Category none/ });
  assert.deepEqual(await app.item('POST#hello', 'METADATA#hello'), before);
  await john.patch('/posts/hello', { Category: 'gardening' });
  const after = await app.item('POST#hello', 'METADATA#hello');
  assert.deepEqual(after, { ...before, Category: 'gardening', GSI2PK: 'POSTS_BY_CAT#gardening', UpdatedAt: after.UpdatedAt });
  assert.deepEqual(slugs(await app.nobody.list('/categories/gardening/posts')), ['hello']);
  assert.deepEqual(slugs(await app.nobody.list('/categories/technology/posts')), []);
});

test('W-A24: changing the slug moves the post and its guard', async () => {
  // T5, W5
  const before = await app.item('POST#hello', 'METADATA#hello');
  await john.patch('/posts/hello', { Slug: 'newest' }, { status: 409, type: 'taken', attribute: 'Slug' });
  assert.deepEqual(await app.item('POST#hello', 'METADATA#hello'), before);
  const { body } = await john.patch('/posts/hello', { Slug: 'Hello-World' });
  assert.equal(body.Slug, 'hello-world');
  assert.equal(await app.item('POST#hello', 'METADATA#hello'), undefined);
  assert.equal(await app.item('SLUG#hello', 'SLUG#hello'), undefined);
  const after = await app.item('POST#hello-world', 'METADATA#hello-world');
  assert.deepEqual(after, { ...before, PK: 'POST#hello-world', SK: 'METADATA#hello-world', Slug: 'hello-world', UpdatedAt: after.UpdatedAt });
  assert.deepEqual(await app.item('SLUG#hello-world', 'SLUG#hello-world'), { PK: 'SLUG#hello-world', SK: 'SLUG#hello-world', PostID: before.PostID });
  await app.nobody.get('/posts/hello', { status: 404 });
  assert.ok(slugs(await app.nobody.list('/users/john_doe/posts')).includes('hello-world'));
  assert.deepEqual((await app.nobody.get('/slugs/hello')).body, { count: 0 });
  // a stale version does not move it
  await john.patch('/posts/hello-world', { Slug: 'stale' }, { status: 412, type: 'changed', headers: { 'if-match': '"2024-01-15T10:30:00Z"' } });
  // the slug it has already is not a clash with itself
  assert.equal((await john.patch('/posts/hello-world', { Slug: 'hello-world', Title: 'Same' })).body.Title, 'Same');
});

test('W-A25: deleting a post frees its slug', async () => {
  // T6
  await maria.delete('/posts/hello-world', { status: 403, type: 'forbidden' });
  await app.nobody.delete('/posts/hello-world', { status: 401, type: 'unauthenticated' });
  assert.equal((await john.delete('/posts/hello-world')).status, 204);
  assert.equal(await app.item('POST#hello-world', 'METADATA#hello-world'), undefined);
  assert.equal(await app.item('SLUG#hello-world', 'SLUG#hello-world'), undefined);
  await john.delete('/posts/hello-world', { status: 404, type: 'not-found' });
  await maria.post('/posts', { Title: 'Hello World', Category: 'travel', IsPublished: true }, { status: 201 });
});

test('W-A27: deleting a user takes the guard of the email and the posts along', async () => {
  // T8, W21
  await kimWrites();
  await john.delete('/users/kim', { status: 403, type: 'forbidden' });
  assert.equal((await sam.delete('/users/kim')).status, 204);
  assert.equal(await app.item('USER#kim', 'METADATA#kim'), undefined);
  assert.equal(await app.item('USEREMAIL#kim@example.com', 'USEREMAIL#kim@example.com'), undefined);
  await until('the posts to be gone', async () => !(await app.items()).some((item) => /kim/.test(item.PK)));
  assert.ok((await app.items()).some((item) => item.AuthorID === 'john_doe'), 'nobody else\'s are gone');
  await app.nobody.get('/users/kim', { status: 404 });
  await app.nobody.post('/login', { name: 'kim@example.com', password: 'wonderland' }, { status: 401 });
  await app.nobody.post('/users', { Username: 'kim', Email: 'kim@example.com', password: 'wonderland' }, { status: 201 });
  assert.deepEqual(await app.nobody.list('/users/kim/posts'), []);
});

async function kimWrites() {
  const kim = await app.as('kim', 'user');
  for (let i = 0; i < 30; i++) await kim.post('/posts', { Title: `Kim ${i}`, Category: 'travel', IsPublished: i % 2 === 0 });
  assert.equal((await app.items()).filter((item) => /^(POST|SLUG)#kim-/.test(item.PK)).length, 60);
}

test('W-A05, W-A14: the newest of more posts than anyone sorts in memory, page by page', async () => {
  const large = await startDesign('wavyblog');
  const author = await large.operator();
  await author.post('/users', { Username: 'maria', Email: 'maria@example.com', password: 'wonderland' });
  const CATEGORIES = 120; // more than a page of them
  for (let i = 0; i < CATEGORIES; i++) await author.post('/categories', { Name: `Category ${i}` });
  // written as another program would, in the forms of the document; the newest slug is the last one
  const COUNT = 5200;
  const draft = (i) => i % 100 === 98;
  const slug = (i) => `p-${String(i).padStart(5, '0')}`;
  const time = (i) => new Date(Date.UTC(2024, 0, 1) + i * 60_000).toISOString().replace('.000', '');
  const rows = Array.from({ length: COUNT }, (_, i) => {
    const Slug = slug(i);
    const place = `POST#${time(i)}`;
    const Category = `category-${(i * i) % CATEGORIES}`;
    return [{
      PK: `POST#${Slug}`, SK: `METADATA#${Slug}`, EntityType: 'POST', GSI1PK: 'POSTS_BY_USER#maria', GSI1SK: place, GSI2PK: `POSTS_BY_CAT#${Category}`, GSI2SK: place,
      IsPublished: !draft(i),
      PostID: `post_${i}`, Slug, Title: Slug, Content: 'words', AuthorID: 'maria', Category, CreatedAt: time(i), UpdatedAt: time(i),
    }, { PK: `SLUG#${Slug}`, SK: `SLUG#${Slug}`, PostID: `post_${i}` }];
  }).flat();
  const batches = Array.from({ length: Math.ceil(rows.length / 25) }, (_, i) => rows.slice(i * 25, i * 25 + 25));
  await Promise.all(Array.from({ length: 8 }, async () => {
    for (let batch = batches.pop(); batch; batch = batches.pop()) {
      await large.doc.batchWrite({ RequestItems: { [large.table]: batch.map((Item) => ({ PutRequest: { Item } })) } });
    }
  }));
  const expected = Array.from({ length: COUNT }, (_, i) => COUNT - 1 - i).filter((i) => !draft(i)).map(slug);
  const { items, next } = (await large.nobody.get('/latest')).body;
  assert.deepEqual(slugs(items), expected.slice(0, 50));
  assert.deepEqual(slugs((await large.nobody.get(`/latest?after=${encodeURIComponent(next)}`)).body.items), expected.slice(50, 100));
  assert.deepEqual(slugs(await large.nobody.all('/latest', 500)), expected);
  assert.equal(items[0].Content, undefined);
  // what is withdrawn is out of it, what is published in it, each at its place in time
  await author.post('/posts/p-05199/unpublish');
  await author.post('/posts/p-05198/publish');
  assert.deepEqual(slugs((await large.nobody.list('/latest?limit=2'))), ['p-05198', 'p-05197']);
});

test('the table and its indexes are those of the document', async () => {
  const { Table } = await app.ddb.describeTable({ TableName: 'WavyBlog' });
  assert.equal(Table.BillingModeSummary.BillingMode, 'PAY_PER_REQUEST');
  const keys = (schema) => schema.map((part) => part.AttributeName);
  assert.deepEqual(keys(Table.KeySchema), ['PK', 'SK']);
  assert.deepEqual(Object.fromEntries(Table.GlobalSecondaryIndexes.map((index) => [index.IndexName, keys(index.KeySchema)])), {
    GSI1: ['GSI1PK', 'GSI1SK'], GSI2: ['GSI2PK', 'GSI2SK'], GSI3: ['EntityType', 'PK'],
  });
  for (const index of Table.GlobalSecondaryIndexes) assert.equal(index.Projection.ProjectionType, 'ALL');
  assert.deepEqual(Table.AttributeDefinitions.map((each) => each.AttributeName).sort(), ['EntityType', 'GSI1PK', 'GSI1SK', 'GSI2PK', 'GSI2SK', 'PK', 'SK']);
});

test('no answer ever held a password, a hash or a key of the table', () => {
  assert.ok(answers.length > 150);
  for (const { asked, text } of answers) {
    assert.doesNotMatch(text, /\$2[aby]\$|PasswordHash":|"(PK|SK|GSI[123][PS]K|EntityType)":/, asked); // W12
    assert.doesNotMatch(text, /wonderland|looking-glass/, asked);
  }
  for (const { who, asked, text } of answers) if (who === app.nobody && asked !== 'POST /login') assert.doesNotMatch(text, /"Email":/, asked);
});

test('the demonstration plays without a warning and can be read', async () => {
  const demo = await startDesign('wavyblog', { args: ['--demo', join(ROOT, 'designs', 'demo')] });
  await until('the demonstration to be there', async () => (await demo.nobody.request('GET', '/posts/house-rules')).status === 200);
  assert.doesNotMatch(demo.server.log(), /warn/i);
  assert.deepEqual(names(await demo.nobody.list('/users')), ['john_doe', 'maria', 'sam']);
  assert.deepEqual(slugs(await demo.nobody.list('/latest')), [
    'house-rules', 'night-trains-of-europe', 'bread-without-kneading', 'three-days-in-porto', 'why-one-table-is-enough', 'my-first-post',
  ]);
  const writer = await demo.login('john@example.com', 'wonderland');
  assert.deepEqual(slugs(await writer.list('/users/john_doe/drafts')), ['notes-on-sort-keys']);
  const { CreatedAt, UpdatedAt } = (await demo.nobody.get('/posts/my-first-post')).body;
  assert.ok(Date.now() - Date.parse(CreatedAt) > 39 * 86400_000 && UpdatedAt === CreatedAt);
  assert.equal((await runToEnd(['check', join(ROOT, 'designs', 'wavyblog.yaml')])).code, 0);
});
