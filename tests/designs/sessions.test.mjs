// Sessions that are renewed and that end: each renewal token once, log out here and everywhere, at any server.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Watcher } from './events.mjs';
import { BACKEND, Caller, ROOT, freshDirectory, runToEnd, scan, startDesign, startServer, until } from './harness.mjs';

const file = join(ROOT, 'tests', 'designs', 'notebook', 'notebook.yaml');
const app = await startDesign(file);
const admin = await app.as('root', 'admin');
const password = 'a long enough password';
const again = { password: 'another good password' };

let made = 0;
/** An account with a name of its own, and how it logs in. */
async function account() {
  const name = `user${made += 1}`;
  await app.nobody.post('/users', { name, password });
  const login = async (with_ = password) => sessionOf((await app.nobody.post('/login', { name, password: with_ })).body);
  return { name, login };
}
const sessionOf = (body) => ({ ...body, caller: app.withToken(body.token) });
const renew = (renewal, key) => app.nobody.request('POST', '/renew', { body: { renewal }, headers: key ? { 'idempotency-key': key } : { 'idempotency-key': randomUUID() } });
const ended = { status: 401, type: 'unauthenticated', detail: /log in again/ };
async function isOver({ caller, renewal }) {
  await caller.get('/me', ended);
  const { status } = await renew(renewal);
  assert.equal(status, 401);
}
const goesOn = async ({ caller, subject }) => assert.equal((await caller.get('/me')).body.subject, subject);
const listOf = async () => (await scan(app.doc, `${app.table}.thorpe`)).filter(({ PK }) => PK.startsWith('SESSIONS#'));

test('the reviewer has nothing to say', async () => {
  const { code, stdout } = await runToEnd(['check', file]);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /0 errors, 0 warnings/);
});

test('a login gives a short token and a renewal token, and each renewal the next ones', async () => {
  const { name, login } = await account();
  const first = await login();
  assert.equal(first.expires_in, 300);
  assert.equal(first.renewal_expires_in, 30 * 86400);
  await goesOn(first);
  const { status, body, headers } = await renew(first.renewal);
  assert.equal(status, 200, JSON.stringify(body));
  assert.equal(headers.get('cache-control'), 'no-store');
  const second = sessionOf(body);
  assert.deepEqual([second.subject, second.roles, second.user], [name, ['user'], undefined]);
  await goesOn(second);
  await goesOn(first); // the same session
  const third = sessionOf((await renew(second.renewal)).body);
  await goesOn(third);
});

test('a renewal token is no token, and a token renews nothing', async () => {
  const { login } = await account();
  const { token, renewal } = await login();
  await app.withToken(renewal).get('/me', { status: 401 });
  const tampered = `${renewal.slice(0, -4)}${renewal.endsWith('AAAA') ? 'BBBB' : 'AAAA'}`;
  for (const wrong of [token, '', 'x', `${renewal}x`, tampered, 'a.b.c', 7, null, undefined]) {
    const { status } = await renew(wrong);
    assert.ok(status === 401 || (status === 422 && typeof wrong !== 'string') || (status === 422 && !wrong), `${wrong}: ${status}`);
  }
  assert.equal((await renew(renewal)).status, 200, 'no wrong token has harmed the session');
});

test('a renewal token that is used twice ends its session, and only that one', async () => {
  const { login } = await account();
  const [thief, other] = [await login(), await login()];
  const stolen = sessionOf((await renew(thief.renewal)).body);
  const { status, body } = await renew(thief.renewal);
  assert.equal(status, 401);
  assert.match(body.detail, /used before/);
  await isOver(stolen);
  await isOver(thief);
  await goesOn(other);
});

test('a client that got no reply repeats its renewal with the same key', async () => {
  const { login } = await account();
  const { renewal } = await login();
  const key = randomUUID();
  const first = sessionOf((await renew(renewal, key)).body);
  const second = sessionOf((await renew(renewal, key)).body);
  await goesOn(first);
  await goesOn(second);
  const third = sessionOf((await renew(second.renewal)).body);
  assert.equal((await renew(renewal, key)).status, 401, 'not once the next token has been used');
  await isOver(third);
});

test('of many renewals at once with one token one succeeds', async () => {
  const { login } = await account();
  const { renewal } = await login();
  const replies = await Promise.all(Array.from({ length: 12 }, () => renew(renewal)));
  assert.equal(replies.filter(({ status }) => status === 200).length, 1);
  assert.deepEqual(replies.filter(({ status }) => status !== 200 && status !== 401).map(({ status }) => status), []);
  await isOver(sessionOf(replies.find(({ status }) => status === 200).body));
});

test('logging out ends this session, and everywhere all of them, at once', async () => {
  const { login } = await account();
  const [here, there, elsewhere] = [await login(), await login(), await login()];
  assert.equal((await here.caller.post('/logout')).status, 204);
  await isOver(here);
  await goesOn(there);
  assert.equal((await app.nobody.post('/logout', { renewal: here.renewal })).status, 204, 'twice is fine');
  assert.equal((await there.caller.post('/logout', { everywhere: true })).status, 204);
  await isOver(there);
  await isOver(elsewhere);
  const later = await login();
  await goesOn(later);
  await app.nobody.post('/logout', { renewal: later.renewal });
  await isOver(later);
});

test('a revoked renewal token ends no other session', async () => {
  const { login } = await account();
  const stolen = await login();
  await stolen.caller.post('/logout');
  const mine = await login();
  await app.nobody.post('/logout', { renewal: stolen.renewal, everywhere: true }, { status: 401, type: 'unauthenticated' });
  await goesOn(mine);
  await app.nobody.post('/logout', { renewal: stolen.renewal });
  await goesOn(mine);
});

test('a renewal token logs out also beside a token that has ended', async () => {
  const { login } = await account();
  const { caller, renewal } = await login();
  const late = app.withToken('ended');
  await late.post('/logout', undefined, { status: 401, type: 'unauthenticated' });
  await late.post('/logout', { renewal });
  await isOver({ caller, renewal });
});

test('whose token has no session cannot log out, nor can anonymous callers', async () => {
  await app.nobody.post('/logout', {}, { status: 401 });
  await admin.post('/logout', {}, { status: 409, type: 'conflict' });
  const { login } = await account();
  await (await login()).caller.post('/logout', { everywhere: 'yes' }, { status: 422 });
  await app.nobody.post('/batch', { requests: [{ method: 'POST', path: '/renew', body: {} }] })
    .then(({ body }) => assert.equal(body.responses[0].status, 422));
});

test('a new password ends all sessions, so do suspension and deletion; a role applies at once', async () => {
  const { name, login } = await account();
  const [one, two] = [await login(), await login()];
  await admin.post(`/users/${name}/promote`);
  assert.deepEqual((await one.caller.get('/me')).body.roles, ['admin']);
  assert.deepEqual((await renew(one.renewal)).body.roles, ['admin']);
  await one.caller.patch(`/users/${name}`, { ...again, current_password: password });
  await isOver(one);
  await isOver(two);
  const three = await login(again.password);
  await goesOn(three);
  await admin.post(`/users/${name}/suspend`);
  await isOver(three);
  await admin.post(`/users/${name}/restore`);
  const four = await login(again.password);
  await admin.delete(`/users/${name}`);
  await isOver(four);
  await app.nobody.post('/users', { name, password: again.password });
  await isOver(four);
});

test('an account has at most 32 sessions; the one that would end first goes', async () => {
  const { login } = await account();
  const sessions = [];
  for (let i = 0; i < 34; i += 1) sessions.push(await login());
  const over = await Promise.all(sessions.map(async ({ caller }) => (await caller.request('GET', '/me')).status === 401));
  assert.equal(over.filter(Boolean).length, 2);
  assert.ok(!over[33]);
});

test('a list that is watched ends with its session', async () => {
  const { name, login } = await account();
  const [here, there] = [await login(), await login()];
  const watcher = await Watcher.open(here.caller, `/users/${name}/notes`);
  await watcher.heard(1);
  await there.caller.post(`/users/${name}/notes`, { text: 'one' });
  await watcher.heard(2);
  await here.caller.post('/logout');
  await there.caller.post(`/users/${name}/notes`, { text: 'two' });
  await until('the list to end', async () => watcher.ended);
  assert.ok(!JSON.stringify(watcher.events).includes('two'), 'the second note is not told');
  watcher.close();
});

test('nothing at rest renews a session', async () => {
  const { name, login } = await account();
  const { token, renewal } = await login();
  const items = await listOf();
  const text = JSON.stringify(items);
  assert.ok(items.length > 0);
  for (const secret of [token, renewal, ...renewal.split('.').slice(2), name]) assert.ok(!text.includes(secret), 'neither tokens nor names');
});

test('sessions outlive a restart', { skip: BACKEND && 'the servers share a directory' }, async () => {
  const data = freshDirectory();
  let server = await startServer({ data, args: ['--design', file] });
  const base = () => new Caller(`${server.endpoint}/api/notebook`);
  await base().post('/users', { name: 'ann', password });
  const { body } = await base().post('/login', { name: 'ann', password });
  const gone = (await base().post('/login', { name: 'ann', password })).body;
  await base().post('/logout', { renewal: gone.renewal });
  await server.kill();
  server = await startServer({ data, args: ['--design', file] });
  after(() => server.stop());
  const reply = await base().post('/renew', { renewal: body.renewal });
  const ann = (token) => new Caller(`${server.endpoint}/api/notebook`, token);
  assert.equal((await ann(reply.body.token).get('/me')).body.subject, 'ann');
  await ann(gone.token).get('/me', ended);
  await base().post('/renew', { renewal: body.renewal }, { status: 401 });
});

test('two servers of one table agree on every session at once', async () => {
  const data = freshDirectory();
  const tables = await startServer({ data });
  const servers = [];
  for (let i = 0; i < 2; i += 1) servers.push(await startServer({ data: null, args: ['--design', file, '--backend', tables.endpoint] }));
  after(async () => {
    for (const server of servers) await server.stop();
    await tables.stop();
  });
  const at = (n, token) => new Caller(`${servers[n].endpoint}/api/notebook`, token);
  await at(0).post('/users', { name: 'bob', password });
  const login = async (n) => (await at(n).post('/login', { name: 'bob', password })).body;
  const [one, two, three] = [await login(0), await login(1), await login(0)];
  for (const n of [0, 1, 0, 1]) assert.equal((await at(n, one.token).get('/me')).body.subject, 'bob');
  const replies = await Promise.all([0, 1, 0, 1, 0, 1].map((n) => at(n).request('POST', '/renew', { body: { renewal: two.renewal } })));
  assert.equal(replies.filter(({ status }) => status === 200).length, 1, JSON.stringify(replies.map(({ status, body }) => [status, body.detail])));
  for (const n of [0, 1]) await at(n, two.token).get('/me', ended);
  await at(1, one.token).post('/logout');
  for (const n of [0, 1]) await at(n, one.token).get('/me', ended);
  for (const n of [0, 1]) assert.equal((await at(n, three.token).get('/me')).status, 200);
  await at(1, three.token).post('/logout', { everywhere: true });
  for (const n of [0, 1]) await at(n, three.token).get('/me', ended);
  for (const n of [0, 1]) await at(n).post('/renew', { renewal: three.renewal }, { status: 401 });
});

test('an operator makes the first admin, who makes others', async () => {
  const [first, second] = [await account(), await account()];
  const one = await first.login();
  const server = ['--data', app.data, '--endpoint', app.server.endpoint];
  const role = (...words) => runToEnd(['role', 'notebook', ...words, ...server]);
  await one.caller.post(`/users/${second.name}/promote`, {}, { status: 403 });
  await one.caller.post('/role', { name: first.name, role: 'admin' }, { status: 403 });
  await app.nobody.post('/role', { name: first.name, role: 'admin' }, { status: 401 });
  const { code, stdout, stderr } = await role(first.name.toUpperCase(), 'admin');
  assert.equal(code, 0, stderr);
  assert.equal(stdout, `${first.name.toUpperCase()} is now admin (subject ${first.name})\n`);
  await one.caller.post(`/users/${second.name}/promote`);
  for (const [words, says] of [
    [['nobody', 'admin'], /nobody logs in as nobody/],
    [[first.name, 'boss'], /boss|user, admin/],
    [[first.name], /DESIGN NAME ROLE/],
  ]) {
    const reply = await role(...words);
    assert.notEqual(reply.code, 0);
    assert.match(reply.stderr, says);
  }
  assert.equal((await role(first.name, 'user')).code, 0);
  await one.caller.post(`/users/${second.name}/suspend`, {}, { status: 403 });
});
