// designs/social.yaml and designs/perfectit.yaml behind an outside issuer of tokens: a profile is of the token's subject.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { startDesign } from './harness.mjs';

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const server = createServer((request, response) => {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k', use: 'sig', alg: 'RS256' }] }));
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
after(() => server.close());
const issuer = `http://127.0.0.1:${server.address().port}`;

const text = (object) => Buffer.from(JSON.stringify(object)).toString('base64url');
const token = (sub, ...roles) => {
  const now = Math.floor(Date.now() / 1000);
  const said = `${text({ alg: 'RS256', typ: 'JWT', kid: 'k' })}.${text({ sub, roles, iss: issuer, aud: 'web', iat: now, exp: now + 3600 })}`;
  return `${said}.${sign('RSA-SHA256', Buffer.from(said), privateKey).toString('base64url')}`;
};

const designs = [
  ['social', 'SOCIAL', (user_id) => ({ user_id, username: user_id, email: `${user_id}@example.com` })],
  ['perfectit', 'PERFECTIT', (userId) => ({ userId, username: userId })],
];
const serve = (name, prefix) => startDesign(name, { env: { [`${prefix}_ISSUER`]: issuer, [`${prefix}_JWKS`]: `${issuer}/keys`, [`${prefix}_AUDIENCE`]: 'web' } });
const apps = [];
for (const [name, prefix] of designs) apps.push(await serve(name, prefix)); // all of them before the first test
for (const [i, [name, , profile]] of designs.entries()) {
  const app = apps[i];
  const as = (sub, ...roles) => app.withToken(token(sub, ...roles));

  test(`${name}: nobody takes the profile of another subject`, async () => {
    const ann = as('ann');
    assert.equal((await ann.get('/me')).body.subject, 'ann');
    await ann.post('/users', profile('bob'), { status: 403 });
    await ann.put('/users/bob', profile('bob'), { status: 403 });
    await as('boss', 'admin').post('/users', profile('bob'), { status: 403 });
    await app.nobody.post('/users', profile('bob'), { status: 401 });
    const { [Object.keys(profile('x'))[0]]: _, ...unnamed } = profile('bob');
    await ann.post('/users', unnamed, { status: 403 }); // an id of its own would be no subject
    await app.nobody.get('/users/bob', { status: 404 });
    await ann.put('/users/ann', profile('ann'), { status: 201 });
    await as('bob').post('/users', profile('bob'), { status: 201 });
    await ann.patch('/users/bob', { username: 'mine' }, { status: 403 });
  });
}
