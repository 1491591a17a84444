// The accounts of the three designs that have some: sessions, the first admin, a lost password.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { runToEnd, scan, startDesign, until } from './harness.mjs';
import { openSmtp } from './smtp.mjs';

const sent = [];
const hook = createServer((request, reply) => {
  let text = '';
  request.on('data', (part) => { text += part; });
  request.on('end', () => {
    sent.push(JSON.parse(text));
    reply.writeHead(204).end();
  });
}).listen(0, '127.0.0.1');
await new Promise((resolve) => hook.once('listening', resolve));
after(() => hook.close());
const mail = `http://127.0.0.1:${hook.address().port}/mail`;

const password = 'a long enough password';
const DESIGNS = {
  wavyblog: {
    person: (name) => ({ Username: name, Email: `${name}@example.com` }), id: (user) => user.Username, role: 'role', roleOf: 'Role', member: 'Role',
    env: { WAVYBLOG_MAIL: mail }, ids: ['W-A11', 'W-A19'],
  },
  perfectit: { person: (name) => ({ username: name }), id: (user) => user.userId, role: 'set-role', roleOf: 'role', ids: ['P-A28'] },
  social: {
    person: (name) => ({ username: name, email: `${name}@example.com` }), id: (user) => user.user_id, role: 'set-role', roleOf: 'role',
    env: { SOCIAL_MAIL: mail }, ids: ['S-A22', 'S-A25'],
  },
};

for (const [name, of] of Object.entries(DESIGNS)) {
  const app = await startDesign(name, { env: of.env });
  const signUp = async (who) => {
    const { location } = await app.nobody.post('/users', { ...of.person(who), password });
    return decodeURIComponent(location.split('/').pop());
  };
  const logIn = async (who, with_ = password) => {
    const { body } = await app.nobody.post('/login', { name: who, password: with_ });
    return { ...body, caller: app.withToken(body.token) };
  };
  const renew = (renewal) => app.nobody.request('POST', '/renew', { body: { renewal }, headers: { 'idempotency-key': randomUUID() } });

  test(`${name}: a session is renewed, and ends here or everywhere`, async () => {
    const id = await signUp('sam');
    const [here, there] = [await logIn('sam'), await logIn('SAM')];
    assert.deepEqual([here.subject, here.expires_in, here.renewal_expires_in], [id, 600, 30 * 86400]);
    const { status, body } = await renew(here.renewal);
    assert.equal(status, 200);
    const next = app.withToken(body.token);
    assert.equal((await next.get('/me')).body.subject, id);
    await next.post('/logout', {}, { status: 204 });
    await here.caller.get('/me', { status: 401 });
    assert.equal((await renew(body.renewal)).status, 401);
    await there.caller.get('/me');
    await (await logIn('sam')).caller.post('/logout', { everywhere: true }, { status: 204 });
    await there.caller.get('/me', { status: 401 });
    assert.equal((await renew(there.renewal)).status, 401);
  });

  test(`${name}: a renewal token that is used twice ends the session for both`, async () => {
    await signUp('tess');
    const { renewal, caller } = await logIn('tess');
    const { body } = await renew(renewal);
    assert.equal((await renew(renewal)).status, 401);
    await caller.get('/me', { status: 401 });
    assert.equal((await renew(body.renewal)).status, 401);
  });

  test(`${name}: an operator makes the first admin, who makes others`, async () => {
    const [first, second] = [await signUp('first'), await signUp('second')];
    const boss = await logIn('first');
    const stored = async (id) => (await app.operator().then((operator) => operator.get(`/users/${id}`))).body[of.roleOf];
    await boss.caller.post(`/users/${second}/${of.role}`, { [of.roleOf]: 'admin' }, { status: 403 });
    await boss.caller.patch(`/users/${first}`, { [of.roleOf]: 'admin' }).then(() => assert.fail('made an admin'), () => {});
    const said = await runToEnd(['role', name, 'First', 'admin', '--data', app.data, '--endpoint', app.server.endpoint]);
    assert.equal(said.code, 0, said.stderr);
    assert.equal(said.stdout, `First is now admin (subject ${first})\n`);
    assert.deepEqual((await boss.caller.get('/me')).body.roles, ['admin'], 'without another login');
    await boss.caller.post(`/users/${second}/${of.role}`, { [of.roleOf]: 'admin' });
    assert.equal(await stored(second), 'admin');
    const other = await logIn('second');
    assert.deepEqual(other.roles, ['admin']);
    await other.caller.post(`/users/${first}/${of.role}`, { [of.roleOf]: 'user' });
    await boss.caller.post(`/users/${second}/${of.role}`, { [of.roleOf]: 'user' }, { status: 403 });
  });

  if (of.env)
    test(`${name}: a lost password: a token goes to the address, is good once, and ends all sessions`, async () => {
      await signUp('lost');
      const before = await logIn('lost');
      sent.length = 0;
      for (const who of ['lost', 'nobody-is-called-that']) assert.deepEqual((await app.nobody.post('/password/reset', { name: who }, { status: 202 })).body, {});
      const { to, token, event } = await until('the mail', () => sent[0]);
      assert.deepEqual([to, event, sent.length], ['lost@example.com', 'reset', 1]);
      await app.nobody.post('/password', { token, password: 'short' }, { status: 422 });
      await app.nobody.post('/password', { token, password: 'another good password' }, { status: 204 });
      await app.nobody.post('/password', { token, password: 'a third good password' }, { status: 401 });
      await before.caller.get('/me', { status: 401 });
      assert.equal((await renew(before.renewal)).status, 401);
      await app.nobody.post('/login', { name: 'lost', password }, { status: 401 });
      await logIn('lost', 'another good password');
      await app.nobody.post('/proof', { token }, { status: 404 }); // the documents know no proof of an address
    });

  test(`${name}: sessions are beside the table, which has items of the document alone`, async () => {
    const items = await scan(app.doc, `${app.table}.thorpe`);
    assert.ok(items.some(({ PK }) => PK.startsWith('SESSIONS#')));
    assert.ok(!JSON.stringify(await app.items()).includes('SESSIONS#'));
  });
}

test('S-A22: a suspended account renews nothing, and goes on when it is reinstated', async () => {
  const app = await startDesign('social');
  const admin = await app.as('boss', 'admin');
  const { location } = await app.nobody.post('/users', { username: 'sue', email: 'sue@example.com', password });
  const id = location.split('/').pop();
  const { body } = await app.nobody.post('/login', { name: 'sue', password });
  const renew = () => app.nobody.request('POST', '/renew', { body: { renewal: body.renewal }, headers: { 'idempotency-key': randomUUID() } });
  await admin.post(`/users/${id}/suspend`);
  await app.withToken(body.token).get('/me', { status: 401 });
  assert.equal((await renew()).status, 401);
  await admin.post(`/users/${id}/reinstate`);
  assert.equal((await renew()).status, 200);
});

test('S-A22: the letter for a lost password leads to the page of the app that sets a new one', async () => {
  const smtp = await openSmtp();
  const app = await startDesign('social', { args: ['--smtp', smtp.url(), '--smtp-from', 'noreply@village.example'], env: { SOCIAL_APP: 'https://village.example/' } });
  await app.nobody.post('/users', { username: 'vera', email: 'vera@example.com', password });
  await app.nobody.post('/password/reset', { name: 'vera' }, { status: 202 });
  const { headers, body } = await until('the letter', () => smtp.to('vera@example.com').at(-1));
  assert.equal(headers.subject, 'A new password for vera');
  const [, token] = /\r\nhttps:\/\/village\.example\/#\/password\/(\S+)\r\n/.exec(body);
  assert.equal(encodeURIComponent(token), token, 'an address as it is');
  await app.nobody.post('/password', { token, password: 'another good password' });
});
