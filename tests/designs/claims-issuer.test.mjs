// caller.tenant from an outside issuer: RS256 and ES256, claims that are missing, of another type or of another name, and keys that change.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { freshDirectory, startDesign, until } from './harness.mjs';

const DESIGN = `design: halls
title: Halls of many tenants
table: halls
key: [PK, SK]
indexes: {GSI1: {key: [GSI1PK, GSI1SK]}}
callers:
  roles: [user]
  issuer: \${ISSUER:-}
  jwks: \${JWKS:-}
  audience: web
  claims: {tenant: slug from custom:tenant, level: integer 1..9, unit: string from org.unit}
everywhere: {allow: tenant = caller.tenant}
entities:
  Hall:
    path: /halls/<tenant>/<hall>
    attributes: {hall: 'string, id', tenant: 'slug, required, fixed', unit: 'string, default caller.unit'}
    keys: {PK: TENANT#<tenant>#HALL#<hall>, SK: HALL, GSI1PK: TENANT#<tenant>, GSI1SK: <hall>}
    allow: {create, read: caller is user, delete: caller.level >= 5}
access:
  mine:
    path: /mine
    query: GSI1
    where: {GSI1PK: TENANT#<caller.tenant>}
`;
const KINDS = {
  RS256: [() => generateKeyPairSync('rsa', { modulusLength: 2048 }), (said, key) => sign('RSA-SHA256', said, key)],
  ES256: [() => generateKeyPairSync('ec', { namedCurve: 'P-256' }), (said, key) => sign('SHA256', said, { key, dsaEncoding: 'ieee-p1363' })],
};
const keyPair = (alg, kid) => ({ alg, kid, ...KINDS[alg][0]() });
const jwk = ({ alg, kid, publicKey }) => ({ ...publicKey.export({ format: 'jwk' }), kid, use: 'sig', alg });

const [rsa, ec, next, stranger] = [keyPair('RS256', 'rsa-1'), keyPair('ES256', 'ec-1'), keyPair('ES256', 'ec-2'), keyPair('ES256', 'ec-1')];
let keys = [rsa, ec];
let asked = 0;
const issuer = createServer((request, response) => {
  asked += 1;
  response.setHeader('content-type', 'application/json').end(JSON.stringify({ keys: keys.map(jwk) }));
});
issuer.listen(0, '127.0.0.1');
await once(issuer, 'listening');
after(() => issuer.close());
const ISSUER = `http://127.0.0.1:${issuer.address().port}`;

const text = (object) => Buffer.from(JSON.stringify(object)).toString('base64url');
function token(key, more) {
  const now = Math.floor(Date.now() / 1000);
  const said = `${text({ alg: key.alg, typ: 'JWT', kid: key.kid })}.${text({ sub: 'ann', roles: ['user'], iss: ISSUER, aud: 'web', iat: now, exp: now + 3600, ...more })}`;
  return `${said}.${KINDS[key.alg][1](Buffer.from(said), key.privateKey).toString('base64url')}`;
}

const file = join(freshDirectory(), 'halls.yaml');
writeFileSync(file, DESIGN);
const data = freshDirectory();
const env = { ISSUER, JWKS: `${ISSUER}/keys` };
const app = await startDesign(file, { env, data });
const as = (more, key = ec) => app.withToken(token(key, more));
const acme = { 'custom:tenant': 'acme', level: 7, org: { unit: 'north' } };

test('claims are read by their names in the token, whichever algorithm signs it', async () => {
  for (const key of [rsa, ec]) {
    assert.deepEqual((await as(acme, key).get('/me')).body, { subject: 'ann', roles: ['user'], claims: { tenant: 'acme', level: 7, unit: 'north' } });
    const { body } = await as(acme, key).put(`/halls/acme/${key.kid}`);
    assert.deepEqual([body.tenant, body.unit], ['acme', 'north']);
  }
  assert.deepEqual((await as(acme).list('/mine')).map(({ hall }) => hall), ['ec-1', 'rsa-1']);
  await as({ ...acme, 'custom:tenant': 'beta' }).get('/halls/acme/ec-1', { status: 404 });
  assert.deepEqual(await as({ ...acme, 'custom:tenant': 'beta' }).list('/mine'), []);
  await as({ ...acme, 'custom:tenant': 'beta' }).put('/halls/acme/mine', {}, { status: 403 });
});

test('a claim that is missing is absent: nothing of any tenant is seen, nothing is made', async () => {
  const { 'custom:tenant': _, ...none } = acme;
  for (const more of [none, { ...none, tenant: 'acme' } /* not the declared name */, { ...acme, 'custom:tenant': null }]) {
    const caller = as(more);
    assert.deepEqual((await caller.get('/me')).body.claims, { level: 7, unit: 'north' });
    await caller.get('/halls/acme/ec-1', { status: 404 });
    await caller.get('/mine', { status: 403 });
    await caller.put('/halls/acme/none', {}, { status: 403 });
  }
});

test('a claim of another type is absent, and so is one outside its limits; the rest of the token holds', async () => {
  for (const tenant of [7, true, ['acme'], { slug: 'acme' }, 'Not A Slug', '', 'a#b', 'x'.repeat(500)]) {
    const caller = as({ ...acme, 'custom:tenant': tenant });
    assert.deepEqual((await caller.get('/me')).body.claims, { level: 7, unit: 'north' }, JSON.stringify(tenant));
    await caller.get('/halls/acme/ec-1', { status: 404 });
  }
  for (const level of [0, 10, 5.5, '7 or so', [7], null]) {
    const caller = as({ ...acme, level });
    assert.deepEqual((await caller.get('/me')).body.claims, { tenant: 'acme', unit: 'north' }, JSON.stringify(level));
    await caller.delete('/halls/acme/ec-1', { status: 403 });
  }
  await as({ ...acme, level: 4 }).delete('/halls/acme/ec-1', { status: 403 });
  for (const org of ['north', null, ['unit'], { unit: { name: 'north' } }, { units: 'north' }]) {
    assert.deepEqual((await as({ ...acme, org }).get('/me')).body.claims, { tenant: 'acme', level: 7 }, JSON.stringify(org));
  }
  await as(acme).delete('/halls/acme/rsa-1');
});

test('a token of another audience, issuer or key says nothing, whatever its claims', async () => {
  for (const caller of [as({ ...acme, aud: 'other' }), as({ ...acme, iss: `${ISSUER}/` }), as(acme, stranger), as({ ...acme, exp: 1 })]) {
    await caller.get('/me', { status: 401 });
    await caller.get('/halls/acme/ec-1', { status: 401 });
  }
  const [head, , signature] = token(ec, acme).split('.');
  const forged = `${head}.${token(ec, { ...acme, 'custom:tenant': 'beta' }).split('.')[1]}.${signature}`;
  await app.withToken(forged).get('/me', { status: 401 });
  const none = `${text({ alg: 'none' })}.${token(ec, acme).split('.')[1]}.`;
  await app.withToken(none).get('/me', { status: 401 });
});

test('a new key is not known at once, and is not asked for again and again; an old token holds as long as its key is published', async () => {
  keys = [rsa, next]; // ec-1 is gone there
  const before = asked;
  const fresh = as(acme, next);
  for (let i = 0; i < 20; i += 1) await fresh.get('/me', { status: 401 });
  assert.ok(asked - before <= 1, `${asked - before} requests for keys`);
  assert.equal((await as(acme).get('/me')).status, 200, 'its key is one that was fetched');

  const second = await startDesign(file, { env }); // one that has fetched nothing yet knows the new key, and not the old one
  assert.deepEqual((await second.withToken(token(next, acme)).get('/me')).body.claims, { tenant: 'acme', level: 7, unit: 'north' });
  await second.withToken(token(ec, acme)).get('/me', { status: 401 });
  keys = [];
  assert.equal((await second.withToken(token(next, acme)).get('/me')).status, 200, 'a key that was fetched stays for an hour');
});

test('while the issuer does not answer callers are asked to come again, and nobody gets in', async () => {
  const gone = await startDesign(file, { env: { ISSUER, JWKS: 'http://127.0.0.1:9/keys' } });
  await gone.withToken(token(rsa, acme)).get('/me', { status: 503 });
  await until('the log to say so', () => /cannot fetch keys from http:\/\/127\.0\.0\.1:9\/keys/.test(gone.server.log()));
});
