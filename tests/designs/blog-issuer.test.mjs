// The blog behind an outside issuer of tokens, in the shape of Cognito: RS256, keys by HTTP, roles in cognito:groups.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { startDesign } from './harness.mjs';

const keyPair = (kid) => ({ kid, ...generateKeyPairSync('rsa', { modulusLength: 2048 }) });
const first = keyPair('key-1');
const stranger = keyPair('key-1'); // says it is the same key
const next = keyPair('key-2');
const jwk = ({ kid, publicKey }) => ({ ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg: 'RS256' });

let keys = [jwk(first)];
let asked = 0;
const issuer = createServer((request, response) => {
  asked += request.url === '/pool/.well-known/jwks.json';
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ keys }));
});
issuer.listen(0, '127.0.0.1');
await once(issuer, 'listening');
after(() => issuer.close());
const ISSUER = `http://127.0.0.1:${issuer.address().port}/pool`;

const app = await startDesign('blog', { env: { ISSUER, JWKS: `${ISSUER}/.well-known/jwks.json`, StackName: 'shop', Environment: 'prod' } });

const text = (object) => Buffer.from(JSON.stringify(object)).toString('base64url');
const seconds = (ahead) => Math.floor(Date.now() / 1000) + ahead;
const claims = (sub, ...groups) => ({ sub, iss: ISSUER, token_use: 'access', client_id: 'web', 'cognito:groups': groups, iat: seconds(0), exp: seconds(3600), username: sub });
const signed = (body, key = first, head = {}) => {
  const said = `${text({ alg: 'RS256', typ: 'JWT', kid: key.kid, ...head })}.${text(body)}`;
  return `${said}.${sign('RSA-SHA256', Buffer.from(said), key.privateKey).toString('base64url')}`;
};
const as = (sub, ...groups) => app.withToken(signed(claims(sub, ...groups)));

test('B-A01, B-A32: who one is and what one may is in the token of the issuer', async () => {
  assert.equal(app.table, 'shop-prod-blog'); // the document's ${StackName}-${Environment}-blog
  const ana = as('5f1c-ana', 'admin');
  const bruno = as('5f1c-bruno', 'author');
  const davi = as('5f1c-davi'); // in no group at all
  assert.deepEqual((await ana.get('/me')).body, { subject: '5f1c-ana', roles: ['admin'] });
  await davi.post('/users', { displayName: 'Davi' }, { status: 201 });
  assert.equal((await app.item('USER#5f1c-davi', 'PROFILE#5f1c-davi')).cognitoSub, '5f1c-davi'); // B18
  await davi.post('/categories', { name: 'x' }, { status: 403, type: 'forbidden' });
  await bruno.post('/categories', { name: 'x' }, { status: 403, type: 'forbidden' });
  await ana.post('/categories', { categoryId: 'tech', name: 'Tecnologia' });
  await ana.post('/categories', { categoryId: 'cloud', parentId: 'tech', name: 'Nuvem' });
  // B19: the group in the token decides, and not the role in the profile
  await ana.post('/users/5f1c-davi/role', { role: 'admin' });
  await davi.post('/categories', { name: 'x' }, { status: 403, type: 'forbidden' });
});

test('B-A08, B-A01: the groups of the issuer are in ROLE#, at the first visit and after each change', async () => {
  const ana = as('5f1c-ana', 'admin');
  await ana.post('/users', { displayName: 'Ana' });
  await as('5f1c-bruno', 'beta-testers', 'author').put('/users/5f1c-bruno', { displayName: 'Bruno' });
  const { role, GSI2PK } = await app.item('USER#5f1c-bruno', 'PROFILE#5f1c-bruno');
  assert.deepEqual([role, GSI2PK], ['author', 'ROLE#author']);
  const having = async (name) => (await ana.list(`/roles/${name}/users`)).map((user) => user.cognitoSub);
  await app.settled();
  assert.ok((await having('admin')).includes('5f1c-ana'));
  // the issuer's groups have changed: the next visit tells
  const { createdAt, ...before } = await app.item('USER#5f1c-bruno', 'PROFILE#5f1c-bruno');
  await as('5f1c-bruno', 'reader').post('/users/5f1c-bruno/visit');
  const after = await app.item('USER#5f1c-bruno', 'PROFILE#5f1c-bruno');
  assert.deepEqual(after, { ...before, createdAt, role: 'reader', GSI2PK: 'ROLE#reader', updatedAt: after.updatedAt });
  assert.ok((await having('reader')).includes('5f1c-bruno'));
  assert.ok(!(await having('author')).includes('5f1c-bruno'));
  await as('5f1c-bruno', 'author', 'admin').post('/users/5f1c-bruno/visit');
  assert.ok((await having('admin')).includes('5f1c-bruno'));
  await as('5f1c-bruno', 'author').post('/users/5f1c-bruno/visit');
  // nobody visits for another, or says what the groups are; the first visit makes the profile
  await ana.post('/users/5f1c-bruno/visit', {}, { status: 403, type: 'forbidden' });
  await as('5f1c-bruno', 'author').post('/users/5f1c-bruno/visit', { role: 'admin' }, { status: 422, type: 'invalid' });
  await as('5f1c-eva', 'author').post('/users/5f1c-eva/visit');
  assert.deepEqual(await having('author'), ['5f1c-bruno', '5f1c-eva']);
  await as('5f1c-davi').post('/users/5f1c-davi/visit'); // made an admin by hand, above, and no group says so
  assert.ok((await having('reader')).includes('5f1c-davi'));
});

test('B-A29, B-A31: writing and liking with tokens of the issuer', async () => {
  const bruno = as('5f1c-bruno', 'author', 'beta-testers');
  const davi = as('5f1c-davi', 'reader');
  await davi.post('/posts', { title: 'x', subcategoryId: 'cloud' }, { status: 403, type: 'forbidden' });
  const { postId, authorId } = (await bruno.post('/posts', { title: 'Nuvens', subcategoryId: 'cloud' }, { status: 201 })).body;
  assert.equal(authorId, '5f1c-bruno');
  await davi.get(`/posts/${postId}`, { status: 404 });
  await bruno.post(`/posts/${postId}/publish`);
  await davi.post(`/posts/${postId}/likes`, {}, { status: 201 });
  assert.equal((await app.nobody.get(`/posts/${postId}`)).body.likeCount, 1);
  assert.equal(asked, 1, 'the keys are kept');
});

test('tokens of anyone else are no tokens', async () => {
  const good = claims('5f1c-ana', 'admin');
  const [head, body, signature] = signed(good).split('.');
  const hmac = `${text({ alg: 'HS256', typ: 'JWT', kid: 'key-1' })}.${body}`;
  const pem = first.publicKey.export({ type: 'spki', format: 'pem' });
  const refused = {
    'of another key': signed(good, stranger),
    'of another issuer': signed({ ...good, iss: 'https://cognito-idp.us-east-1.amazonaws.com/other' }),
    'with a longer issuer': signed({ ...good, iss: `${ISSUER}/` }),
    'without an issuer': signed({ ...good, iss: undefined }),
    'that has expired': signed({ ...good, exp: seconds(-120) }),
    'that is not valid yet': signed({ ...good, nbf: seconds(600) }),
    'without an end': signed({ ...good, exp: undefined }),
    'without a subject': signed({ ...good, sub: undefined }),
    'signed with nothing': `${text({ alg: 'none', typ: 'JWT' })}.${body}.`,
    'signed with the public key as a secret': `${hmac}.${createHmac('sha256', pem).update(hmac).digest('base64url')}`,
    'with another algorithm named': signed(good, first, { alg: 'RS512' }),
    'with other claims': `${head}.${text({ ...good, sub: 'root' })}.${signature}`,
    'cut short': `${head}.${body}.${signature.slice(0, -4)}`,
    'that says it is an operator\'s': `${text({ alg: 'HS256', typ: 'JWT' })}.${text({ iss: 'thorpe', aud: 'blog', sub: 'x', operator: true, exp: seconds(600) })}.${'A'.repeat(43)}`,
  };
  for (const [what, token] of Object.entries(refused)) {
    const reply = await app.withToken(token).request('GET', '/me');
    assert.equal(reply.status, 401, `a token ${what} gave ${reply.status} ${JSON.stringify(reply.body)}`);
    assert.equal((await app.withToken(token).request('POST', '/categories', { body: { name: 'x' } })).status, 401, what);
  }
  assert.deepEqual((await app.withToken(signed({ ...good, exp: seconds(-20), 'cognito:groups': undefined })).get('/me')).body, { subject: '5f1c-ana', roles: [] }); // a minute of leeway
  // an operator's claim in the issuer's own token makes no operator
  await app.withToken(signed({ ...claims('5f1c-davi'), operator: true })).post('/categories', { name: 'x' }, { status: 403 });
  await app.nobody.post('/login', { name: '5f1c-ana', password: 'wonderland' }, { status: 404 });
});

test('with an audience only tokens for it are taken', async () => {
  const shop = await startDesign('blog', { env: { ISSUER, AUDIENCE: 'web' } });
  const status = async (change) => (await shop.withToken(signed({ ...claims('5f1c-ana', 'admin'), ...change })).request('GET', '/me')).status;
  assert.equal(await status({}), 200); // client_id: web, and no aud: an access token of Cognito
  assert.equal(await status({ aud: ['api', 'web'] }), 200);
  assert.equal(await status({ client_id: 'another-app' }), 401);
  assert.equal(await status({ aud: 'another-app' }), 401);
  assert.equal(await status({ client_id: undefined }), 401);
  assert.equal((await app.withToken(signed({ ...claims('5f1c-ana'), aud: 'another-app' })).get('/me')).status, 200); // the design says nothing
  assert.match(app.server.log(), /accepts every token of its issuer, .*'audience' is not set/);
  assert.doesNotMatch(shop.server.log(), /audience/);
});

test('a key of the issuer that is new is asked for, and strangers cannot make us ask again and again', async () => {
  const before = asked;
  for (let i = 0; i < 10; i++) {
    const reply = await app.withToken(signed(claims('x'), { ...stranger, kid: `made-up-${i}` })).request('GET', '/me');
    assert.equal(reply.status, 401);
  }
  assert.ok(asked - before <= 1, `the issuer was asked ${asked - before} times`);
  assert.equal((await as('5f1c-ana', 'admin').get('/me')).status, 200);
});

test('a server that starts after the issuer has changed its key knows the new one; tokens for development go on', async () => {
  keys = [jwk(first), jwk(next)];
  const other = await startDesign('blog', { env: { ISSUER, JWKS: '' } }); // the place is worked out from the issuer
  assert.deepEqual((await other.withToken(signed(claims('x', 'author'), next)).get('/me')).body, { subject: 'x', roles: ['author'] });
  assert.deepEqual((await (await other.as('local', 'reader')).get('/me')).body, { subject: 'local', roles: ['reader'] });
});
