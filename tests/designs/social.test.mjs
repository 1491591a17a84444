// designs/social.yaml: its table, and its people: sign-up, logins, names, profiles.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atOnce, startDesign } from './harness.mjs';
import { TIME, ULID, audit, people, replies } from './social-world.mjs';

const app = await startDesign('social');
const op = await app.operator();
const admin = await app.as('boss', 'admin');
const { ann, ben, cyd } = await people(app, 'ann', 'ben', 'cyd');

const john = {
  user_id: 'user123', username: ' John_Doe', email: 'John@Example.com ', display_name: 'John Doe',
  bio: 'Software developer and coffee enthusiast', profile_image_url: 'https://example.com/john.png', password: 'correct horse',
};

test('the table is the one of the document: its keys, three indexes, a stream, time to live', async () => {
  const { Table } = await app.ddb.describeTable({ TableName: 'SocialMediaApp' });
  assert.equal(app.table, 'SocialMediaApp');
  assert.deepEqual(Table.KeySchema, [{ AttributeName: 'PK', KeyType: 'HASH' }, { AttributeName: 'SK', KeyType: 'RANGE' }]);
  const indexes = Table.GlobalSecondaryIndexes.sort((a, b) => (a.IndexName < b.IndexName ? -1 : 1));
  assert.deepEqual(
    indexes.map(({ IndexName, KeySchema, Projection }) => [IndexName, ...KeySchema.map((key) => key.AttributeName), Projection.ProjectionType]),
    [1, 2, 3].map((n) => [`GSI${n}`, `GSI${n}PK`, `GSI${n}SK`, 'ALL']), // S35
  );
  assert.ok(Table.AttributeDefinitions.every(({ AttributeType }) => AttributeType === 'S'));
  assert.deepEqual(Table.StreamSpecification, { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' }); // S24
  assert.equal(Table.BillingModeSummary.BillingMode, 'PAY_PER_REQUEST'); // S29
  const { TimeToLiveDescription } = await app.ddb.describeTimeToLive({ TableName: 'SocialMediaApp' });
  assert.equal(TimeToLiveDescription.AttributeName, 'expires_at'); // S10
});

test('S-A25, S-A01: a sign-up writes the profile, both guards and the credentials, and the profile is read by its id', async () => {
  const made = await app.nobody.post('/users', john);
  assert.equal(made.status, 201);
  assert.equal(made.location, '/api/social/users/user123');
  const profile = await app.item('USER#user123', 'PROFILE');
  assert.match(profile.created_at, TIME);
  assert.deepEqual(profile, { // T1, all thirteen attributes of the document and no more than S27 and S23 add
    PK: 'USER#user123', SK: 'PROFILE', GSI1PK: 'USER#user123', GSI1SK: 'PROFILE', user_id: 'user123', username: 'john_doe', email: 'john@example.com',
    display_name: 'John Doe', bio: john.bio, profile_image_url: john.profile_image_url, created_at: profile.created_at, updated_at: profile.created_at,
    followers_count: 0, following_count: 0, posts_count: 0, blocks_count: 0, is_verified: false, is_private: false, status: 'active', is_popular: false,
  });
  assert.deepEqual(await app.item('USERNAME#john_doe', 'USERNAME#john_doe'), { PK: 'USERNAME#john_doe', SK: 'USERNAME#john_doe', user_id: 'user123' });
  assert.deepEqual(await app.item('EMAIL#john@example.com', 'EMAIL#john@example.com'),
    { PK: 'EMAIL#john@example.com', SK: 'EMAIL#john@example.com', user_id: 'user123' });
  const auth = await app.item('USER#user123', 'AUTH'); // S9
  assert.match(auth.password_hash, /^\$2b\$10\$.{53}$/);
  assert.ok(!JSON.stringify(await app.items()).includes('correct horse'));

  const { body, etag } = await ann.get('/users/user123');
  assert.equal(body.username, 'john_doe');
  assert.ok(!('email' in body) && !('password' in body));
  assert.equal((await ann.request('GET', '/users/user123', { headers: { 'if-none-match': etag } })).status, 304);
  const own = await app.login('john_doe', 'correct horse');
  assert.equal((await own.get('/users/user123')).body.email, 'john@example.com');
  await ann.get('/users/nobody-here', { status: 404, type: 'not-found' });
});

test('S-A25: an id is made when none is given', async () => {
  const { body, location } = await app.nobody.post('/users', { username: 'made', email: 'made@example.com', password: 'long enough' });
  assert.match(body.user_id, ULID);
  assert.equal(location, `/api/social/users/${body.user_id}`);
  assert.equal((await app.item(`USER#${body.user_id}`, 'PROFILE')).username, 'made');
});

test('S-A25: names and addresses are taken once, whatever their case, also after a change', async () => {
  const other = { username: 'johnny', email: 'johnny@example.com', password: 'long enough' };
  await app.nobody.post('/users', { ...other, username: 'JOHN_DOE' }, { status: 409, type: 'taken', attribute: 'username' }); // S9
  await app.nobody.post('/users', { ...other, email: 'JOHN@EXAMPLE.COM' }, { status: 409, type: 'taken', attribute: 'email' });
  await app.nobody.post('/users', { ...other, user_id: 'user123' }, { status: 409, type: 'already-exists' });
  assert.equal(await app.item('USERNAME#johnny', 'USERNAME#johnny'), undefined, 'a refused sign-up leaves nothing');

  await ann.patch('/users/ann', { email: 'John@example.com' }, { status: 409, type: 'taken', attribute: 'email' });
  await ann.patch('/users/ann', { email: 'Ann@Elsewhere.org' });
  assert.equal(await app.item('EMAIL#ann@example.com', 'EMAIL#ann@example.com'), undefined);
  assert.equal((await app.item('EMAIL#ann@elsewhere.org', 'EMAIL#ann@elsewhere.org')).user_id, 'ann');
  await ben.patch('/users/ben', { email: 'ann@example.com' }); // free again
  await ben.patch('/users/ben', { email: 'ben@example.com' });
  await audit(app);
});

test('S-A22: a login by name or address, and the authentication data for operators alone', async () => {
  for (const by of [{ username: 'john_doe' }, { email: 'john@example.com' }, { name: 'John_Doe' }, { name: 'john@example.com' }]) {
    const { body } = await app.nobody.post('/login', { ...by, password: 'correct horse' });
    assert.equal(body.subject, 'user123');
    assert.equal(body.token_type, 'Bearer');
    assert.equal((await app.withToken(body.token).get('/me')).body.subject, 'user123');
  }
  const wrong = await app.nobody.post('/login', { username: 'john_doe', password: 'incorrect horse' }, { status: 401, type: 'unauthenticated' });
  const unknown = await app.nobody.post('/login', { username: 'jon_doe', password: 'incorrect horse' }, { status: 401, type: 'unauthenticated' });
  assert.equal(wrong.body.detail, unknown.body.detail);
  await app.nobody.post('/login', { username: 'ann', password: 'undefined' }, { status: 401 }); // she has no password at all
  for (const password of ['', 1, null, ['correct horse'], { $ne: '' }]) {
    const { status } = await app.nobody.request('POST', '/login', { body: { username: 'john_doe', password } });
    assert.ok(status >= 400 && status < 500, `${status}`);
  }

  const { body } = await op.get('/users/user123/auth');
  assert.ok(!('password_hash' in body), 'hidden, also from operators');
  for (const caller of [app.nobody, ann, admin, await app.as('user123')]) {
    const { status } = await caller.request('GET', '/users/user123/auth');
    assert.ok([401, 403, 404].includes(status), `${status}`);
  }
});

test('S-A22: a new password needs the old one', async () => {
  const me = await app.login('john_doe', 'correct horse');
  const before = await app.item('USER#user123', 'AUTH');
  for (const body of [{ password: 'battery staple' }, { password: 'battery staple', current_password: 'wrong' }, { password: 'short', current_password: 'correct horse' }]) {
    const { status } = await me.request('PATCH', '/users/user123', { body });
    assert.ok([401, 403, 422].includes(status), `${JSON.stringify(body)}: ${status}`);
  }
  await ann.patch('/users/user123', { password: 'battery staple', current_password: 'correct horse' }, { status: 403, type: 'forbidden' });
  assert.deepEqual(await app.item('USER#user123', 'AUTH'), before);
  await me.patch('/users/user123', { password: 'battery staple', current_password: 'correct horse' });
  await app.nobody.post('/login', { name: 'john_doe', password: 'correct horse' }, { status: 401 });
  await app.login('john_doe', 'battery staple');
});

test('S-A23: a user by name for everyone, by address for admins', async () => {
  assert.equal((await app.nobody.get('/usernames/john_doe')).body.user_id, 'user123');
  assert.equal((await app.nobody.get('/usernames/John_Doe')).body.user_id, 'user123');
  assert.ok(!('email' in (await ben.get('/usernames/john_doe')).body));
  await app.nobody.get('/usernames/user123', { status: 404 });
  assert.equal((await admin.get('/emails/John@Example.com')).body.username, 'john_doe');
  await admin.get('/emails/nobody@example.com', { status: 404 });
  await ben.get('/emails/john@example.com', { status: 403, type: 'forbidden' });
  await app.nobody.get('/emails/john@example.com', { status: 401, type: 'unauthenticated' });
});

test('S-A01: a profile is edited by its owner; the name, the counters and the flags are not his to set', async () => {
  const { body } = await cyd.patch('/users/cyd', { display_name: 'Cyd C.', bio: 'Dance.', is_private: true });
  assert.deepEqual([body.display_name, body.bio, body.is_private], ['Cyd C.', 'Dance.', true]);
  const removed = await cyd.patch('/users/cyd', { bio: null, is_private: false });
  assert.ok(!('bio' in removed.body));
  assert.ok(!('bio' in await app.item('USER#cyd', 'PROFILE')));
  await cyd.patch('/users/cyd', { username: 'cyd' }); // repeated, not changed
  await cyd.patch('/users/cyd', { username: 'sid' }, { status: 422, type: 'invalid' }); // S15
  for (const [name, value] of Object.entries({
    followers_count: 9, following_count: 9, posts_count: 9, is_verified: true, status: 'active', is_popular: true, created_at: '2020-01-01T00:00:00Z',
    user_id: 'ann', PK: 'USER#ann', GSI1PK: 'USER#ann', role: 'admin',
  })) {
    const { body: problem } = await cyd.patch('/users/cyd', { [name]: value }, { status: 422, type: 'invalid' });
    assert.deepEqual(problem.errors.map(({ attribute }) => attribute), [name]);
  }
  await ben.patch('/users/cyd', { bio: 'I am not Cyd' }, { status: 403, type: 'forbidden' });
  await app.nobody.patch('/users/cyd', { bio: 'I am nobody' }, { status: 401, type: 'unauthenticated' });
  await ben.delete('/users/cyd', { status: 403 });
  await ben.patch('/users/none', { bio: 'x' }, { status: 404 });
  assert.equal((await cyd.get('/users/cyd')).body.display_name, 'Cyd C.');
});

test('S-A25: a sign-up that is wrong says all that is wrong, and writes nothing', async () => {
  const count = (await app.items()).length;
  const refuse = async (body, ...attributes) => {
    const { body: problem } = await app.nobody.post('/users', { username: 'zoe', email: 'zoe@example.com', password: 'long enough', ...body }, { status: 422, type: 'invalid' });
    assert.deepEqual(problem.errors.map(({ attribute }) => attribute).sort(), attributes);
  };
  await refuse({ username: 'ab' }, 'username');
  await refuse({ username: 'x'.repeat(31) }, 'username');
  await refuse({ username: 'zo#e' }, 'username'); // C1: it would be a key of something else
  await refuse({ user_id: 'a#b' }, 'user_id');
  await refuse({ user_id: '' }, 'user_id');
  await refuse({ email: 'zoe#@example.com' }, 'email');
  await refuse({ username: 5, email: ['zoe@example.com'], is_private: 'no', bio: {} }, 'bio', 'email', 'is_private', 'username');
  await refuse({ username: null }, 'username');
  await refuse({ bio: 'x'.repeat(281), display_name: '' }, 'bio', 'display_name');
  await refuse({ followers_count: 1000000, is_verified: true, usernam: 'x' }, 'followers_count', 'is_verified', 'usernam');
  await refuse({ password: 'short' }, 'password');
  await refuse({ password: 'x'.repeat(73) }, 'password');
  await refuse({ password: 12345678 }, 'password');
  await app.nobody.post('/users', { password: 'long enough' }, { status: 422 });
  assert.equal((await app.nobody.request('POST', '/users', { raw: '{"username":', headers: { 'content-type': 'application/json' } })).status, 400);
  assert.equal((await app.nobody.request('POST', '/users', { raw: '[]', headers: { 'content-type': 'application/json' } })).status, 400);
  assert.equal((await app.nobody.request('POST', '/users', { raw: 'username=zoe', headers: { 'content-type': 'application/x-www-form-urlencoded' } })).status, 415);
  assert.equal((await app.items()).length, count);
  // 280 characters are not 280 bytes (S19).
  await app.nobody.post('/users', { user_id: 'zoe', username: 'zoe', email: 'zoe@example.com', password: 'long enough', bio: '🚀'.repeat(280) });
  assert.equal((await app.item('USER#zoe', 'PROFILE')).bio, '🚀'.repeat(280));
});

test('an account is suspended, reinstated and verified by admins', async () => {
  await people(app, 'dan');
  const dan = await app.as('dan');
  for (const action of ['verify', 'suspend', 'reinstate']) {
    await dan.post(`/users/dan/${action}`, {}, { status: 403, type: 'forbidden' });
    await app.nobody.post(`/users/dan/${action}`, {}, { status: 401 });
  }
  assert.equal((await admin.post('/users/dan/verify')).body.is_verified, true);
  await admin.post('/users/dan/reinstate', {}, { status: 409, type: 'conflict', detail: /not suspended/ });
  assert.equal((await admin.post('/users/dan/suspend')).body.status, 'suspended');
  await admin.post('/users/dan/suspend', {}, { status: 409, type: 'conflict' });
  await dan.post('/posts', { content: 'still here' }, { status: 409, type: 'conflict' });
  assert.equal((await app.item('USER#dan', 'PROFILE')).posts_count, 0);
  await admin.post('/users/dan/reinstate');
  await dan.post('/posts', { content: 'back' });
  await admin.post('/users/dan/suspend', { status: 'deleted' }, { status: 422 });
  await admin.post('/users/none/suspend', {}, { status: 404 });
});

test('who is suspended cannot log in or go on, nor who has left; the name of who has left stays taken', async () => {
  const zoe = await app.login('zoe', 'long enough');
  await admin.post('/users/zoe/suspend');
  await app.nobody.post('/login', { name: 'zoe', password: 'long enough' }, { status: 401 });
  await zoe.get('/me', { status: 401, type: 'unauthenticated', detail: /log in again/ });
  await admin.post('/users/zoe/reinstate');
  await app.login('zoe', 'long enough');
  assert.equal((await zoe.delete('/users/zoe')).status, 204);
  assert.equal((await app.item('USER#zoe', 'PROFILE')).status, 'deleted');
  await app.nobody.post('/login', { name: 'zoe', password: 'long enough' }, { status: 401 });
  await ann.get('/users/zoe', { status: 404 });
  await ann.get('/usernames/zoe', { status: 404 });
  await zoe.get('/users/zoe', { status: 401, type: 'unauthenticated' });
  assert.equal((await admin.get('/usernames/zoe')).body.status, 'deleted');
  await app.nobody.post('/users', { username: 'zoe', email: 'new@example.com', password: 'long enough' }, { status: 409, type: 'taken', attribute: 'username' });
});

test('a token is what it says or nothing', async () => {
  const { token } = ann;
  const [head, claims, signature] = token.split('.');
  const forged = Buffer.from(JSON.stringify({ ...JSON.parse(Buffer.from(claims, 'base64url')), sub: 'ben', operator: true })).toString('base64url');
  const none = Buffer.from('{"alg":"none","typ":"JWT"}').toString('base64url');
  for (const text of ['x', `${head}.${forged}.${signature}`, `${none}.${forged}.`, `${head}.${claims}.`, `${token}x`, 'undefined']) {
    await app.withToken(text).get('/users/ben', { status: 401, type: 'unauthenticated' });
  }
  assert.equal((await ann.get('/me')).body.subject, 'ann');
  await app.nobody.get('/me', { status: 401 });
});

test('who nobody lets in by a route does not get in by a batch', async () => {
  const requests = [
    { method: 'PATCH', path: '/users/ben', body: { bio: 'taken over' } },
    { method: 'PUT', path: '/users/user123/auth', body: { password_hash: 'x' } },
    { method: 'PATCH', path: '/users/ann', body: { bio: 'mine' } },
  ];
  const { body } = await ann.post('/batch', { requests });
  const statuses = body.responses.map(({ status }) => status);
  assert.equal(statuses[0], 403);
  assert.ok([403, 404, 405].includes(statuses[1]), `${statuses[1]}`);
  assert.equal(statuses[2], 200);
  assert.match((await app.item('USER#user123', 'AUTH')).password_hash, /^\$2b/);
  await ann.post('/call', { pattern: 'authentication data', with: { user_id: 'user123' } }, { status: 403 });
});

test('every reply has been searched for keys and hashes, and the table is sound', async () => {
  assert.ok(replies() > 100);
  assert.deepEqual(await atOnce([() => op.request('GET', '/users/ann')]), { 200: 1 });
  await audit(app);
});
