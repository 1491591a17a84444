// A lost password, and proof of an address: tokens that are sent, used once, and tell strangers nothing.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Caller, ROOT, freshDirectory, runToEnd, scan, startDesign, startServer, until } from './harness.mjs';

const file = join(ROOT, 'tests', 'designs', 'letters', 'letters.yaml');
const sent = []; // { headers, text, body }
let refuse = 0; // so many requests are answered with 503 first
let answer; // a status for all of them; undefined: 204
const tried = []; // all that came
const hook = createServer((request, reply) => {
  let text = '';
  request.on('data', (part) => { text += part; });
  request.on('end', () => {
    const refused = refuse > 0 || answer;
    if (refuse > 0) refuse -= 1;
    tried.push(JSON.parse(text));
    if (!refused) sent.push({ headers: request.headers, text, body: JSON.parse(text) });
    reply.writeHead(answer ?? (refused ? 503 : 204)).end();
  });
}).listen(0, '127.0.0.1');
await new Promise((resolve) => hook.once('listening', resolve));
after(() => hook.close());
const app = await startDesign(file, { env: { MAIL_HOOK: `http://127.0.0.1:${hook.address().port}/mail` } });
const password = 'a long enough password';

let made = 0;
async function account() {
  const email = `user${made += 1}@example.com`;
  const { location } = await app.nobody.post('/users', { email, password });
  const login = async (with_ = password) => (await app.nobody.post('/login', { email, password: with_ })).body;
  return { email, user: location.split('/').pop(), login };
}
/** The next message to an address. */
async function mailTo(email, event) {
  return until(`mail to ${email}`, async () => {
    const at = sent.findIndex(({ body }) => body.to === email && body.event === event);
    return at >= 0 && sent.splice(at, 1)[0];
  });
}
const ask = async (email) => (await app.nobody.post('/password/reset', { email }, { status: 202 })).body;
const used = { status: 401, type: 'unauthenticated', detail: /used already, or has ended/ };

test('the reviewer has nothing to say', async () => {
  const { code, stdout } = await runToEnd(['check', file]);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /0 errors, 0 warnings/);
});

test('a lost password: the token that is sent sets a new one, once, and ends all sessions', async () => {
  const { email, user, login } = await account();
  const before = await login();
  await ask(email);
  const { body, headers, text } = await mailTo(email, 'reset');
  assert.deepEqual(Object.keys(body), ['id', 'design', 'event', 'to', 'subject', 'token', 'expires']);
  assert.deepEqual([body.design, body.subject, headers['thorpe-id']], ['letters', user, body.id]);
  const left = Date.parse(body.expires) - Date.now();
  assert.ok(left > 3500_000 && left <= 3600_000, body.expires);
  const { stdout: secret } = await runToEnd(['token', 'letters', '--data', app.data, '--webhook-secret']);
  const signature = createHmac('sha256', secret.trim()).update(`${headers['thorpe-timestamp']}.${text}`).digest('hex');
  assert.equal(headers['thorpe-signature'], `v1=${signature}`);

  await app.nobody.post('/password', { token: body.token, password: 'short' }, { status: 422 });
  await app.nobody.post('/password', { token: body.token }, { status: 422 });
  await app.nobody.post('/proof', { token: body.token }, used); // a token for something else
  await app.nobody.post('/password', { token: body.token, password: 'a new good password' });
  await app.nobody.post('/password', { token: body.token, password: 'another password' }, used);
  await app.withToken(before.token).get('/me', { status: 401 });
  await app.nobody.post('/renew', { renewal: before.renewal }, { status: 401 });
  await app.nobody.post('/login', { email, password }, { status: 401 });
  assert.equal((await login('a new good password')).subject, user);
});

test('of two uses at the same moment one wins, and all tokens that were sent end with it', async () => {
  const { email, login } = await account();
  await ask(email);
  await ask(email);
  const [one, two] = [await mailTo(email, 'reset'), await mailTo(email, 'reset')];
  const replies = await Promise.all(Array.from({ length: 6 }, (_, i) => app.nobody.request('POST', '/password',
    { body: { token: (i % 2 ? one : two).body.token, password: `new password ${i}` } })));
  const won = replies.map(({ status }, i) => (status === 204 ? i : -1)).filter((i) => i >= 0);
  assert.equal(won.length, 1, JSON.stringify(replies.map(({ status, body }) => [status, body?.detail])));
  assert.deepEqual([...new Set(replies.filter(({ status }) => status !== 204).map(({ status }) => status))], [401]);
  await login(`new password ${won[0]}`);
});

test('strangers learn nothing: the same answer for no account, and nothing is sent', async () => {
  const { email } = await account();
  const known = await app.nobody.request('POST', '/password/reset', { body: { name: email } });
  const unknown = await app.nobody.request('POST', '/password/reset', { body: { name: 'nobody@example.com' } });
  assert.deepEqual([known.status, known.body], [unknown.status, unknown.body]);
  await mailTo(email, 'reset');
  assert.deepEqual(sent.filter(({ body }) => body.to === 'nobody@example.com'), []);
  await app.nobody.post('/password/reset', {}, { status: 422 });
  for (const token of ['', 'x', 'a.b.c', 7, null, undefined]) {
    const { status } = await app.nobody.request('POST', '/password', { body: { token, password: 'a good password' } });
    assert.ok([401, 422].includes(status), `${token}: ${status}`);
  }
});

test('an account that may not log in gets no new password', async () => {
  const { email, user, login } = await account();
  await ask(email);
  const { body } = await mailTo(email, 'reset');
  await app.withToken((await login()).token).post(`/users/${user}/close`);
  await app.nobody.post('/password', { token: body.token, password: 'a new good password' }, used);
  await ask(email);
  await new Promise((resolve) => setTimeout(resolve, 1000)); // nothing happens
  assert.deepEqual(sent.filter((mail) => mail.body.to === email), []);
});

test('requests are slowed, for each name, whether or not there is such an account', async () => {
  for (const email of [(await account()).email, 'nobody2@example.com']) {
    const statuses = [];
    for (let i = 0; i < 8; i += 1) statuses.push((await app.nobody.request('POST', '/password/reset', { body: { email } })).status);
    assert.deepEqual([statuses[0], statuses.at(-1)], [202, 429], `${email}: ${statuses}`);
  }
  const { login } = await account();
  await login(); // others are not
});

test('only the proof says that an address is proved, and only of the address it was sent to', async () => {
  const { email, user, login } = await account();
  const me = app.withToken((await login()).token);
  await me.patch(`/users/${user}`, { email_verified: true }, { status: 422 });
  await me.post('/letters', { text: 'x' }, { status: 409, detail: /prove your address/ });
  await app.nobody.post('/proof/send', {}, { status: 401 });
  await (await app.as('nobody')).post('/proof/send', {}, { status: 409 });
  assert.equal((await me.post('/proof/send')).status, 202);
  const { body } = await mailTo(email, 'proof');
  await app.nobody.post('/password', { token: body.token, password: 'a good password' }, used);
  await app.nobody.post('/proof', { token: body.token });
  assert.equal((await me.get(`/users/${user}`)).body.email_verified, true);
  await app.nobody.post('/proof', { token: body.token }, used);
  await me.post('/letters', { text: 'x' });

  await me.patch(`/users/${user}`, { email: `new-${email}` });
  assert.equal((await me.get(`/users/${user}`)).body.email_verified, false, 'a new address is not proved');
  await app.nobody.post('/proof', { token: body.token }, used);
  await me.post('/proof/send');
  const { body: second } = await mailTo(`new-${email}`, 'proof');
  await me.patch(`/users/${user}`, { email });
  await app.nobody.post('/proof', { token: second.token }, used);
  assert.equal((await me.get(`/users/${user}`)).body.email_verified, false);
});

test('of two proofs at the same moment one wins', async () => {
  const { email, login } = await account();
  await app.withToken((await login()).token).post('/proof/send');
  const { body } = await mailTo(email, 'proof');
  const statuses = (await Promise.all([1, 2, 3, 4].map(() => app.nobody.request('POST', '/proof', { body: { token: body.token } })))).map(({ status }) => status);
  assert.deepEqual(statuses.sort(), [204, 401, 401, 401]);
});

test('a receiver that is busy gets the message again, with the same id', async () => {
  const { email } = await account();
  refuse = 2;
  await ask(email);
  const { body, headers } = await mailTo(email, 'reset');
  assert.equal(headers['thorpe-id'], body.id);
});

test('a refusal for good is final, and leaves nothing', async () => {
  for (const status of [400, 410, 413, 415, 422]) {
    const { email } = await account();
    const triedNow = () => tried.filter(({ to }) => to === email).length;
    answer = status;
    await ask(email);
    await until('the refusal', () => triedNow() > 0);
    await until('no note to be left', async () => (await scan(app.doc, `${app.table}.thorpe`)).every(({ PK }) => PK !== 'MAIL'));
    answer = undefined;
    assert.equal(triedNow(), 1, `${status}`);
    assert.match(app.server.log(), new RegExp(`given up: the receiver answered ${status}`));
  }
});

test('a request that waits is sent by the next server', async () => {
  const data = freshDirectory();
  const env = { MAIL_HOOK: `http://127.0.0.1:${hook.address().port}/mail` };
  const start = () => startServer({ data, env, args: ['--design', file] });
  let server = await start();
  const nobody = () => new Caller(`${server.endpoint}/api/letters`);
  const email = 'killed@example.com';
  await nobody().post('/users', { email, password });
  answer = 503;
  await nobody().post('/password/reset', { email }, { status: 202 });
  await until('a try', () => tried.some(({ to }) => to === email));
  await server.kill();
  answer = undefined;
  server = await start();
  const { body } = await mailTo(email, 'reset');
  assert.equal(tried.filter(({ to }) => to === email)[0].id, body.id);
  assert.equal(tried.filter(({ to }) => to === email)[0].token, body.token);
  await nobody().post('/password', { token: body.token, password: 'a new good password' });
  await server.stop();
});

test('no token is at rest', async () => {
  const { email, login } = await account();
  await ask(email);
  const { body } = await mailTo(email, 'reset');
  await login();
  const text = JSON.stringify([await scan(app.doc, app.table), await scan(app.doc, `${app.table}.thorpe`)]);
  for (const part of [body.token, body.token.split('.')[2], body.id]) assert.ok(!text.includes(part));
});

test('without an address for mail everything is accepted, and nothing is sent', async () => {
  const quiet = await startDesign(file, { env: { MAIL_HOOK: '' } });
  await quiet.nobody.post('/users', { email: 'ann@example.com', password });
  await quiet.nobody.post('/password/reset', { name: 'ann@example.com' }, { status: 202 });
});

test('what is no mail is an error with its place', async () => {
  const text = readFileSync(file, 'utf8');
  for (const [from, to, says] of [
    ['verified: email_verified', 'verified: email', /must be 'boolean, managed'/],
    ['email_verified: boolean, managed, default false', 'email_verified: boolean, default false', /only the proof sets it/],
    ['address: email', 'address: active', /must be a string/],
    ['address: email', 'adress: email', /there is no word 'adress'.*did you mean 'address'/s],
    ['reset: 1 hour', 'reset: 90 days', /at most 30 days/],
    [', address: email', '', /'mail' needs 'address'/],
    ['#<token>', '', /29:\d+: error: .*a letter needs <token>/s],
    ['für <email>', 'für <token>', /a token in a subject/],
    ['für <email>', 'für <emial>', /28:\d+.*there is no attribute 'emial'.*did you mean 'email'/s],
    ['für <email>', 'für <hash>', /'hash' is hidden/],
    ['für <email>', 'für <email', /'>' is missing|there is no attribute/],
    ['{subject:', '{subjekt:', /there is no word 'subjekt'.*did you mean 'subject'/s],
  ]) {
    assert.ok(text.includes(from), from);
    const at = join(freshDirectory(), 'letters.yaml');
    writeFileSync(at, text.replace(from, to));
    const { code, stdout } = await runToEnd(['check', at]);
    assert.equal(code, 1, stdout);
    assert.match(stdout, says);
  }
});
