// Callers at the door: hashing that keeps no write waiting, guesses that lock nobody else out, trusted proxies, the audit log, logs as JSON.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import http from 'node:http';
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CREDENTIALS, clientsFor, freshDirectory, request, runToEnd, startServer, thorpeTest, until } from './harness.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const design = join(here, '..', 'designs', 'shelves', 'shelves.yaml');
const directory = freshDirectory();
const secretFile = join(directory, 'secret');
const keyFile = join(directory, 'keys');
writeFileSync(keyFile, `${CREDENTIALS.accessKeyId} ${CREDENTIALS.secretAccessKey}\n`, { mode: 0o600 });

const start = (...args) => startServer({ data: null, args: ['--design', design, '--secret-file', secretFile, ...args] });
const agent = new http.Agent({ keepAlive: true, maxSockets: 500 });
const password = 'correct horse';

const tokens = new Map(); // of promises
function token(...flags) {
  const name = flags.join(' ');
  if (!tokens.has(name)) {
    tokens.set(name, runToEnd(['token', 'shelves', '--secret-file', secretFile, ...flags]).then(({ code, stdout, stderr }) => {
      assert.equal(code, 0, stderr);
      return stdout.trim();
    }));
  }
  return tokens.get(name);
}

/** One request below /api/shelves; `from`: the client that a proxy names. */
function api(server, method, path, { body, raw, from, by, headers = {} } = {}) {
  const all = { 'content-type': 'application/json', ...headers };
  if (from) all['x-forwarded-for'] = from;
  if (by) all.authorization = `Bearer ${by}`;
  return request({ method, path: `/api/shelves${path}`, headers: all, body: raw ?? body, endpoint: server.endpoint, agent });
}

const login = (server, name, word, options) => api(server, 'POST', '/login', { ...options, body: { name, password: word } });
const signUp = (server, name, options) => api(server, 'POST', '/readers', { ...options, body: { name, password } });

// ---------------------------------------------------------------- hashing

thorpeTest('sign-ups, alone, in batches and in disguise, keep no write waiting', async () => {
  const server = await start('--limit', 'workers=4');
  const ada = await token('--subject', 'ada');
  assert.equal((await signUp(server, 'ada')).status, 201);
  const { book } = (await api(server, 'POST', '/readers/ada/books', { by: ada, body: { title: 'one' } })).json;
  let done = 0;
  const statuses = [];
  const note = (promise) => promise.then((reply) => {
    const these = reply.json.responses?.map(({ status }) => status) ?? [reply.status];
    done += these.length;
    statuses.push(...these);
  });
  const pending = [];
  for (let i = 0; i < 16; i++) pending.push(note(signUp(server, `one${i}`)));
  for (let i = 0; i < 12; i++) pending.push(note(api(server, 'POST', '/readers', { raw: `{"name":"two${i}","p\\u0061ssword":"${password}"}` })));
  for (let i = 0; i < 12; i++) {
    const requests = [0, 1, 2].map((n) => ({ method: 'POST', path: '/readers', body: { name: `three${i}x${n}`, password } }));
    pending.push(note(api(server, 'POST', '/batch', { by: ada, body: { requests } })));
  }
  for (let i = 0; i < 8; i++) pending.push(note(login(server, 'ada', 'wrong word')));
  // All have arrived when one is being hashed and the others wait.
  await until('the hashes to wait', async () => /\nthorpe_http_hash_waiting [3-4]\d\n/.test((await request({ method: 'GET', path: '/metrics', endpoint: server.endpoint })).text));
  const before = done;
  for (let i = 0; i < 3; i++) assert.equal((await api(server, 'PATCH', `/readers/ada/books/${book}`, { by: ada, body: { title: `two ${i}` } })).status, 200);
  assert.ok(done - before < 20, `${done - before} of ${pending.length + 24} hashes came before three writes`);
  await Promise.all(pending);
  assert.deepEqual([...new Set(statuses)].sort(), [201, 401, 429]);
  assert.equal(statuses.filter((status) => status === 201).length, 16 + 12 + 36);
  assert.equal(statuses.filter((status) => status === 401).length, 5); // of the eight guesses
  await server.stop();
});

thorpeTest('when too many passwords wait to be hashed it is 503 with Retry-After, and then well again', async () => {
  const server = await start('--limit', 'hashers=1', '--limit', 'hash_waiting=6');
  const replies = await Promise.all(Array.from({ length: 40 }, (_, i) => signUp(server, `many${i}`)));
  const refused = replies.filter(({ status }) => status === 503);
  assert.ok(refused.length > 0 && refused.length < 40, `${refused.length} of 40`);
  assert.ok(replies.every(({ status }) => status === 201 || status === 503));
  assert.ok(refused.every(({ headers, json }) => Number(headers['retry-after']) >= 1 && json.type === 'urn:thorpe:busy'));
  assert.equal((await signUp(server, 'later')).status, 201);
  assert.equal((await login(server, 'later', password)).status, 200);
  const reader = await token('--subject', 'later');
  assert.equal((await api(server, 'PATCH', '/readers/later', { by: reader, body: { current_password: password, password: 'battery staple' } })).status, 200);
  assert.equal((await login(server, 'later', 'battery staple')).status, 200);
  await server.stop();
});

// ---------------------------------------------------------------- guessing

thorpeTest('whoever guesses waits, and nobody else does: not the guessed name elsewhere, not others at the same address', async () => {
  const server = await start('--trusted-proxy', '127.0.0.0/8');
  for (const name of ['ann', 'bob']) assert.equal((await signUp(server, name)).status, 201);
  assert.equal((await login(server, 'bob', password, { from: '203.0.113.66' })).status, 200);
  const guesses = [];
  for (let i = 0; i < 8; i++) guesses.push((await login(server, 'ann', `guess ${i}`, { from: '203.0.113.66' })));
  assert.deepEqual(guesses.slice(0, 5).map(({ status }) => status), [401, 401, 401, 401, 401]);
  const last = await login(server, 'ann', password, { from: '203.0.113.66' }); // also the right one, which is not looked at
  assert.equal(last.status, 429);
  assert.ok(Number(last.headers['retry-after']) >= 1);
  assert.equal((await login(server, 'ann', password, { from: '198.51.100.2' })).status, 200);
  assert.equal((await login(server, 'bob', password, { from: '203.0.113.66' })).status, 200);
  assert.equal((await login(server, 'bob', password, { from: '2001:db8::1' })).status, 200);
  await server.stop();
});

thorpeTest('a client that names an address itself is not believed', async () => {
  const server = await start('--trusted-proxy', '10.0.0.0/8');
  let reply;
  for (let i = 0; i < 12 && reply?.status !== 429; i++) reply = await login(server, 'nobody', `guess ${i}`, { from: `203.0.113.${i}`, headers: { forwarded: `for=198.51.100.${i}` } });
  assert.equal(reply.status, 429);
  await server.stop();
  const { code, stderr } = await runToEnd(['serve', '--in-memory', '--listen', '127.0.0.1:0', '--trusted-proxy', '10.0.0.1/8']);
  assert.equal(code, 2);
  assert.match(stderr, /'10\.0\.0\.1\/8' has bits set beyond the first 8/);
});

// ---------------------------------------------------------------- the audit log

const audit = (file) => readFileSync(file, 'utf8').split('\n').slice(0, -1).map((line) => JSON.parse(line));
const idOf = (reply) => reply.headers['x-amzn-requestid'];

thorpeTest('logins, refused callers and what operators do are in the audit log, under the ids of their replies', async () => {
  const file = join(directory, 'audit');
  const server = await start('--keys', keyFile, '--audit', file, '--trusted-proxy', '127.0.0.1');
  const from = '192.0.2.55';
  const operator = await token('--operator');
  const cleo = await token('--subject', 'cleo');
  const replies = {};
  await signUp(server, 'cleo', { from });
  replies.ok = await login(server, 'cleo', password, { from });
  for (let i = 0; i < 6; i++) replies.throttled = await login(server, 'dora', 'wrong word', { from });
  replies.password = await api(server, 'PATCH', '/readers/cleo', { by: cleo, from, body: { current_password: 'wrong word', password: 'another word' } });
  replies.forged = await api(server, 'GET', '/me', { by: `${cleo.slice(0, -3)}AAA`, from });
  replies.forbidden = await api(server, 'DELETE', '/readers/dora', { by: cleo, from });
  replies.operator = await api(server, 'DELETE', '/readers/cleo', { by: operator, from });
  replies.paused = await api(server, 'POST', '/processors/nothing/pause', { by: operator, from });
  replies.console = await request({ method: 'GET', path: '/console/api/session', headers: { 'x-thorpe-console': '1' }, endpoint: server.endpoint });
  const { ddb } = clientsFor(server.endpoint);
  await ddb.createTable({ TableName: 'kept', KeySchema: [{ AttributeName: 'p', KeyType: 'HASH' }], AttributeDefinitions: [{ AttributeName: 'p', AttributeType: 'S' }], BillingMode: 'PAY_PER_REQUEST' });
  await ddb.putItem({ TableName: 'kept', Item: { p: { S: 'x' } } });
  await ddb.deleteTable({ TableName: 'absent' }).catch(() => {});
  const stranger = clientsFor(server.endpoint, { credentials: { accessKeyId: 'AKSTRANGER', secretAccessKey: 'no-such-secret' } }).ddb;
  await stranger.listTables({}).catch(() => {});
  ddb.destroy();
  stranger.destroy();
  await server.stop();

  const lines = audit(file);
  const found = (reply) => lines.filter(({ request: id }) => id === idOf(reply)).map(({ time, request: id, ...rest }) => rest);
  const common = { address: from, design: 'shelves' };
  assert.ok(lines.every(({ time, request: id }) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(time) && /^[0-9A-V]{52}$/.test(id)));
  assert.deepEqual(found(replies.ok), [{ kind: 'login', outcome: 'ok', name: 'cleo', subject: 'cleo', ...common, status: 200 }]);
  assert.deepEqual(found(replies.throttled), [{ kind: 'login', outcome: 'throttled', name: 'dora', ...common, status: 429, why: 'too many failed attempts' }]);
  assert.equal(lines.filter(({ kind, outcome, why }) => kind === 'login' && outcome === 'refused' && why === 'wrong name or password').length, 5);
  assert.deepEqual(found(replies.password), [{ kind: 'password', outcome: 'refused', subject: 'cleo', design: 'shelves', status: 422, why: 'current_password: is not right' }]);
  assert.deepEqual(found(replies.forged), [{ kind: 'refused', outcome: 'refused', ...common, action: 'GET /me', status: 401, why: 'the token was not signed here' }]);
  assert.equal(replies.forbidden.status, 404); // there is no dora
  assert.deepEqual(found(replies.operator), [{ kind: 'operator', outcome: 'ok', subject: 'operator', ...common, action: 'DELETE /readers/cleo', status: 204 }]);
  assert.equal(found(replies.paused)[0].action, 'POST /processors/nothing/pause');
  assert.equal(found(replies.paused)[0].outcome, 'failed');
  assert.deepEqual(found(replies.console).map(({ kind, action, status }) => [kind, action, status]), [['refused', 'GET /console/api/session', 403]]);
  const calls = lines.filter(({ access_key: key }) => key).map(({ kind, outcome, access_key: key, action, target }) => [kind, outcome, key, action, target]);
  assert.deepEqual(calls, [
    ['operator', 'ok', CREDENTIALS.accessKeyId, 'CreateTable', 'kept'],
    ['operator', 'failed', CREDENTIALS.accessKeyId, 'DeleteTable', 'absent'],
    ['refused', 'refused', 'AKSTRANGER', 'ListTables', undefined],
  ]);
  const text = readFileSync(file, 'utf8');
  for (const secret of [password, 'wrong word', 'another word', operator, cleo, cleo.slice(0, -3), CREDENTIALS.secretAccessKey, 'AWS4']) assert.ok(!text.includes(secret), 'a secret is in the audit log');
  assert.equal(statSync(file).mode & 0o777, 0o600);
});

thorpeTest('a hostile name cannot forge a line, and the file is appended to', async () => {
  const file = join(directory, 'audit-hostile');
  writeFileSync(file, '{"first":true}\n', { mode: 0o600 });
  const server = await start('--audit', file);
  const name = 'x"}\n{"kind":"login","outcome":"ok","name":"root"}\r\u2028\u0085';
  assert.equal((await login(server, name, 'wrong word')).status, 401);
  assert.equal((await api(server, 'GET', '/readers/%0A%7B/books', { by: 'forged' })).status, 401);
  const session = await request({ method: 'GET', path: '/console/api/session', headers: { 'x-thorpe-console': '1' }, endpoint: server.endpoint });
  assert.equal(session.status, 200);
  await server.stop();
  const lines = audit(file);
  assert.equal(lines.length, 4);
  assert.deepEqual([lines[3].kind, lines[3].outcome, lines[3].request, lines[3].address], ['console', 'ok', idOf(session), '127.0.0.1']);
  assert.deepEqual(lines[0], { first: true });
  assert.equal(lines[1].name, name);
  assert.equal(lines[1].outcome, 'refused');
  const { code, stderr } = await runToEnd(['serve', '--in-memory', '--listen', '127.0.0.1:0', '--audit', join(directory, 'no', 'such', 'place')]);
  assert.equal(code, 1);
  assert.match(stderr, /cannot write the audit log .*: No such file or directory/);
});

// ---------------------------------------------------------------- logs

thorpeTest('with --log-format json each line is an object, and names the request it was logged for', async () => {
  const names = join(directory, 'names.yaml');
  writeFileSync(names, `design: names
title: Names
table: names
key: [PK, SK]
entities:
  Name:
    path: /names/<name>
    attributes: {name: 'string, required, fixed'}
    keys: {PK: 'N#<name>', SK: N}
    allow: {create, read: anyone}
`);
  const server = await startServer({ data: null, args: ['--design', names, '--log-format', 'json', '--audit', '-'] });
  const reply = await request({ method: 'POST', path: '/api/names/names', headers: { 'content-type': 'application/json' }, body: { name: 'x'.repeat(3000) }, endpoint: server.endpoint });
  assert.equal(reply.status, 422);
  await server.stop();
  const lines = server.log().split('\n').slice(0, -1).map((line) => JSON.parse(line));
  assert.ok(lines.some(({ message }) => /^thorpe .* serves DynamoDB's API on http:/.test(message)));
  const [line] = lines.filter(({ request: id }) => id === idOf(reply));
  assert.equal(line.level, 'warn');
  assert.match(line.message, /the database refuses this/);
  assert.ok(lines.every(({ time }) => !Number.isNaN(Date.parse(time))));
  const refused = await runToEnd(['serve', '--in-memory', '--listen', '127.0.0.1:0', '--log-format', 'json', '--keys', join(directory, 'absent')]);
  assert.equal(refused.code, 1);
  assert.equal(JSON.parse(refused.stderr).level, 'error');
});
