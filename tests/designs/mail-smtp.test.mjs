// Tokens by a mail server: what is sent, over what, and what its answers mean; and that a request for mail outlives the server.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { Caller, ROOT, clientsFor, freshDirectory, runToEnd, scan, startDesign, startServer, until, verify } from './harness.mjs';
import { openGate } from './gate.mjs';
import { certificate, openSmtp } from './smtp.mjs';

const file = join(ROOT, 'tests', 'designs', 'letters', 'letters.yaml');
const password = 'a long enough password';
const FROM = ['--smtp-from', 'Brief & Co <noreply@letters.example.com>'];
const QUICK = { MAIL_HOOK: '', THORPE_RETRY_MS: '5' };
const smtp = await openSmtp();
const app = await startDesign(file, { args: ['--smtp', smtp.url(), ...FROM], env: QUICK });

let made = 0;
async function account(at = app.nobody, email = `user${made += 1}@example.com`) {
  await at.post('/users', { email, password });
  return email;
}
const ask = (email, at = app.nobody) => at.post('/password/reset', { email }, { status: 202 });
const mailTo = (email, from = smtp) => until(`mail to ${email}`, () => from.to(email).at(-1));
const tokenOf = ({ body }) => /#(\S+)/.exec(body)[1];
const notes = async () => (await scan(app.doc, `${app.table}.thorpe`)).filter(({ PK }) => PK === 'MAIL');
const settled = () => until('no note to be left', async () => (await notes()).length === 0);
function passwordFile(text = 'sesame\n') {
  const at = join(freshDirectory(), 'password');
  writeFileSync(at, text, { mode: 0o600 });
  return at;
}

test('a letter has the headers of RFC 5322, the words of the design, and a token that works', async () => {
  const email = await account();
  const before = Date.now();
  await ask(email);
  const mail = await mailTo(email);
  const { headers } = mail;
  assert.deepEqual(Object.keys(headers), ['date', 'from', 'to', 'subject', 'message-id', 'auto-submitted', 'mime-version', 'content-type', 'content-transfer-encoding']);
  assert.deepEqual([mail.from, headers.from, headers.to], ['noreply@letters.example.com', 'Brief & Co <noreply@letters.example.com>', `<${email}>`]);
  assert.match(headers.date, /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d [A-Z][a-z]{2} \d{4} \d\d:\d\d:\d\d \+0000$/);
  assert.ok(Math.abs(Date.parse(headers.date) - before) < 30_000, headers.date);
  assert.match(headers['message-id'], /^<[0-9a-f]{32}@letters\.example\.com>$/);
  assert.match(headers.subject, new RegExp(`^Neues Passwort für ${email}: wähle es bald, spätestens jedoch bis \\d{4}-\\d\\d-\\d\\dT\\S+ ✉$`));
  assert.match(mail.body, new RegExp(`^Hallo ${email}!\r\nhttps://letters\\.example\\.com/reset#\\S+\r\n$`));
  for (const line of mail.text.split('\r\n')) assert.ok(line.length <= 78 && /^[\x20-\x7e]*$/.test(line), line);
  assert.ok(smtp.commands.includes('EHLO letters.example.com'));
  await app.nobody.post('/password', { token: tokenOf(mail), password: 'a new good password' });
  await app.nobody.post('/password', { token: tokenOf(mail), password: 'another password' }, { status: 401 });
});

test('a letter that the design says nothing of has its title, the token and its end', async () => {
  const email = await account();
  const { body } = await app.nobody.post('/login', { email, password });
  await app.withToken(body.token).post('/proof/send');
  const mail = await mailTo(email);
  assert.equal(mail.headers.subject, 'Letters');
  const [title, token, expires] = mail.body.trim().split('\r\n\r\n');
  assert.equal(title, 'Letters');
  assert.ok(Date.parse(expires) > Date.now() + 2 * 86400_000);
  await app.nobody.post('/proof', { token });
});

test('later (4xx) is tried again, with the same Message-ID; a lost connection too', async () => {
  const email = await account();
  let tries = 0;
  smtp.answer = (line) => {
    if (!line.startsWith('RCPT') || !line.includes(email)) return undefined;
    tries += 1;
    return tries <= 2 ? '451 4.3.0 come again' : undefined;
  };
  await ask(email);
  await mailTo(email);
  smtp.answer = () => undefined;
  assert.equal(tries, 3);
  const other = await account();
  smtp.drop = true; // taken, and we do not learn of it
  await ask(other);
  await until('the second sending', () => smtp.to(other).length === 2);
  await settled();
  const [one, two] = smtp.to(other);
  assert.deepEqual([one.text, smtp.to(other).length], [two.text, 2]);
});

test('a refusal (5xx) of the receiver, or of the text, is final', async () => {
  for (const refused of ['RCPT', '.']) {
    const email = await account();
    let tries = 0;
    smtp.answer = (line) => {
      if (!line.startsWith(refused)) return undefined;
      tries += 1;
      return '550 5.1.1 nobody of that name';
    };
    await ask(email);
    await until('the refusal', () => tries > 0);
    await settled();
    smtp.answer = () => undefined;
    assert.deepEqual([tries, smtp.to(email).length], [1, 0], refused);
    assert.match(app.server.log(), /a token was not sent, and is given up: the mail server answered: 550 5\.1\.1 nobody/);
  }
  const email = await account();
  await ask(email);
  await mailTo(email); // others are sent
});

test('what the server says of itself (554 at the door) is not of the mail: it waits', async () => {
  const email = await account();
  let tries = 0;
  smtp.answer = (line) => (line === '' && (tries += 1) <= 3 ? '554 5.3.2 closed' : undefined);
  await ask(email);
  await mailTo(email);
  smtp.answer = () => undefined;
  assert.equal(tries, 4);
});

test('given up after twelve tries, and no token stays', async () => {
  const email = await account();
  let tries = 0;
  smtp.answer = (line) => (line.startsWith('MAIL') ? (tries += 1, '421 4.3.2 not now') : undefined);
  await ask(email);
  await until('twelve tries', () => tries === 12, 60);
  await settled();
  smtp.answer = () => undefined;
  assert.match(app.server.log(), /given up: the mail server answered: 421 4\.3\.2 not now/);
});

test('an address that could be read as something else gets no mail', async () => {
  for (const email of ['-oQ@example.com', 'a@example.com\r\nBcc: x@example.com', 'a b@example.com', '<a@example.com>', 'ä@example.com',
    '"a"@example.com', 'a@-example.com', `${'a'.repeat(65)}@example.com`, 'a@b@example.com']) {
    const normal = await account();
    const { body } = await app.nobody.post('/login', { email: normal, password });
    const key = { PK: `USER#${body.subject}`, SK: 'PROFILE' };
    const before = (await app.doc.get({ TableName: app.table, Key: key })).Item;
    const [count, told] = [smtp.mails.length, app.server.log().length];
    await app.doc.put({ TableName: app.table, Item: { ...before, email } }); // by an SDK: the design refuses most of these
    await app.withToken(body.token).post('/proof/send');
    await until(`the refusal of ${email}`, () => /none that mail can be sent to/.test(app.server.log().slice(told)));
    await settled();
    assert.equal(smtp.mails.length, count, email);
    await app.doc.put({ TableName: app.table, Item: before });
  }
  assert.ok(smtp.commands.every((line) => !/Bcc|-oQ/.test(line)));
});

test('STARTTLS is required of another machine, its certificate is checked, and the login comes after it', async () => {
  const secure = certificate();
  const starttls = await openSmtp({ tls: 'starttls', secure, user: 'me@example.com', password: 'sesame' });
  const smtps = await openSmtp({ tls: 'smtps', secure, user: 'me@example.com', password: 'sesame' });
  for (const mailer of [starttls, smtps]) {
    const run = await startDesign(file, { env: QUICK,
      args: ['--smtp', mailer.url('mail.localhost', 'me@example.com'), '--smtp-ca', secure.file, '--smtp-password-file', passwordFile(), ...FROM] });
    const email = await account(run.nobody);
    await ask(email, run.nobody);
    const mail = await mailTo(email, mailer);
    assert.deepEqual([mail.tls, mail.user], [true, 'me@example.com']);
  }
  assert.ok(!starttls.commands.slice(0, starttls.commands.indexOf('STARTTLS')).some((line) => /^(AUTH|MAIL)/.test(line)));

  const plain = await openSmtp({ user: 'me@example.com', password: 'sesame' }); // offers no STARTTLS
  const wary = await startDesign(file, { env: QUICK, args: ['--smtp', plain.url('mail.localhost', 'me@example.com'), '--smtp-password-file', passwordFile(), ...FROM] });
  const strange = await startDesign(file, { env: QUICK, args: ['--smtp', smtps.url('mail.localhost', 'me@example.com'), '--smtp-password-file', passwordFile(), ...FROM] });
  for (const [run, mailer, says] of [[wary, plain, /STARTTLS|TLS|SSL/i], [strange, smtps, /certificate/i]]) {
    const email = await account(run.nobody);
    await ask(email, run.nobody);
    await until('the mail to be given up', () => /given up: (.*)/.exec(run.server.log()), 60);
    assert.match(/given up: (.*)/.exec(run.server.log())[1], says);
    assert.deepEqual(mailer.to(email), []);
  }
  assert.ok(!plain.commands.some((line) => /^(AUTH|MAIL)/.test(line)), plain.commands.join());
});

test('a wrong password of the mail server is for an operator: the mail waits', async () => {
  const strict = await openSmtp({ user: 'me', password: 'other' });
  const data = freshDirectory();
  const start = (word) => startServer({ data, env: { MAIL_HOOK: '' },
    args: ['--design', file, '--smtp', strict.url('127.0.0.1', 'me'), '--smtp-password-file', passwordFile(word), ...FROM] });
  const server = await start('sesame');
  const nobody = new Caller(`${server.endpoint}/api/letters`);
  const email = await account(nobody);
  await ask(email, nobody);
  await until('a refused login', () => strict.commands.some((line) => /^AUTH/.test(line)));
  await server.stop();
  assert.ok(!server.log().includes('sesame'));
  const again = await start('other');
  await mailTo(email, strict);
  await again.stop();
  assert.doesNotMatch(again.log(), /given up/);
});

test('a request for mail outlives a kill before it is sent, and while it is being sent: then it has the same id', async () => {
  const data = freshDirectory();
  const own = await openSmtp();
  const start = () => startServer({ data, env: { MAIL_HOOK: '' }, args: ['--design', file, '--smtp', own.url(), ...FROM] });
  let server = await start();
  const nobody = () => new Caller(`${server.endpoint}/api/letters`);
  const email = await account(nobody());
  own.answer = (line) => (line === '' ? '421 4.3.2 not now' : undefined);
  await ask(email, nobody());
  await until('a try', () => own.connections > 0);
  await server.kill();
  own.answer = () => undefined;
  server = await start();
  const first = await mailTo(email, own);
  await nobody().post('/password', { token: tokenOf(first), password });

  const other = await account(nobody());
  own.hold = true;
  await ask(other, nobody());
  await until('the first sending', () => own.to(other).length === 1);
  await server.kill();
  own.held.splice(0);
  own.hold = false;
  server = await start();
  await until('the second sending', () => own.to(other).length === 2);
  const [one, two] = own.to(other);
  assert.equal(one.text, two.text); // also its token
  const { ddb, doc } = clientsFor(server.endpoint);
  await until('no note to be left', async () => (await scan(doc, 'letters.thorpe')).every(({ PK }) => PK !== 'MAIL'));
  ddb.destroy();
  await server.stop();
  await verify(data);
});

test('of three servers at one table one sends; and another, when it dies', async () => {
  const data = freshDirectory();
  const own = await openSmtp();
  const tables = await startServer({ data });
  const { ddb, doc } = clientsFor(tables.endpoint);
  const start = () => startServer({ data: null, env: { ...QUICK, THORPE_RETRY_MS: '50' }, args: ['--design', file, '--backend', tables.endpoint, '--smtp', own.url(), ...FROM] });
  const servers = await Promise.all([start(), start(), start()]);
  const at = (n) => new Caller(`${servers[n].endpoint}/api/letters`);
  const emails = [];
  for (let i = 0; i < 9; i += 1) emails.push(await account(at(0)));
  await Promise.all(emails.map((email, i) => ask(email, at(i % 3))));
  for (const email of emails) await mailTo(email, own);
  const left = async () => (await scan(doc, 'letters.thorpe')).filter(({ PK }) => PK === 'MAIL');
  await until('no note to be left', async () => (await left()).length === 0);
  assert.deepEqual(emails.map((email) => own.to(email).length), emails.map(() => 1));

  own.hold = true;
  const email = await account(at(0));
  await ask(email, at(1));
  await until('the first sending', () => own.to(email).length === 1);
  await servers[1].kill();
  own.held.splice(0);
  own.hold = false;
  await until('another server to send it', () => own.to(email).length === 2, 20);
  await until('no note to be left', async () => (await left()).length === 0);
  assert.equal(own.to(email)[0].text, own.to(email)[1].text);
  assert.equal(own.to(email).length, 2);
  for (const n of [0, 2]) await servers[n].stop();
  ddb.destroy();
  await tables.stop();
});

test('a mail that was sent, and whose note could not be deleted, is sent once', async () => {
  const own = await openSmtp();
  const tables = await startServer({ data: null });
  const gate = await openGate(tables.endpoint);
  const server = await startServer({ data: null, env: QUICK, args: ['--design', file, '--backend', gate.endpoint, '--smtp', own.url(), ...FROM] });
  const nobody = new Caller(`${server.endpoint}/api/letters`);
  const email = await account(nobody);
  let refused = 0;
  gate.refuse = ({ body }) => (/"MAIL"/.test(body) && /Delete|REMOVE #/.test(body) && !/"SET /.test(body) && (refused += 1) < 9 ? { status: 500, type: 'InternalServerError', message: 'no' } : undefined);
  await ask(email, nobody);
  await until('the note to be deleted in the end', () => refused >= 9);
  const { ddb, doc } = clientsFor(tables.endpoint);
  await until('no note to be left', async () => (await scan(doc, 'letters.thorpe')).every(({ PK }) => PK !== 'MAIL'));
  ddb.destroy();
  assert.equal(own.to(email).length, 1);
  await server.stop();
  await tables.stop();
});

test('what was sent, tried again, given up and waits is in /metrics', async () => {
  const text = await (await fetch(`${app.server.endpoint}/metrics`)).text();
  const value = (name) => Number(new RegExp(`^thorpe_mail_${name}\\{design="letters"\\} (\\d+)$`, 'm').exec(text)[1]);
  assert.ok(value('sent_total') >= smtp.mails.length - 2 && value('sent_total') <= smtp.mails.length, `${value('sent_total')} of ${smtp.mails.length}`);
  assert.ok(value('retries_total') >= 14 && value('given_up_total') >= 3);
  assert.equal(value('waiting'), (await notes()).length);
});

test('a mail server that says nothing does not keep the server from ending', async () => {
  const silent = net.createServer(() => {}).listen(0, '127.0.0.1');
  await new Promise((resolve) => { silent.once('listening', resolve); });
  const connected = new Promise((resolve) => { silent.once('connection', resolve); });
  const server = await startServer({ data: null, env: QUICK, args: ['--design', file, '--smtp', `smtp://127.0.0.1:${silent.address().port}`, ...FROM] });
  const nobody = new Caller(`${server.endpoint}/api/letters`);
  await ask(await account(nobody), nobody);
  const socket = await connected;
  const began = Date.now();
  await server.stop();
  assert.ok(Date.now() - began < 15_000, `${Date.now() - began} ms`);
  socket.destroy();
  silent.close();
});

test('what waits holds no token, and nothing that makes one', async () => {
  const email = await account();
  smtp.answer = (line) => (line === '' ? '421 4.3.2 not now' : undefined);
  await ask(email);
  const [note] = await until('a note', async () => { const list = await notes(); return list.length && list; });
  smtp.answer = () => undefined;
  const { body } = await mailTo(email);
  const token = /#(\S+)/.exec(body)[1];
  assert.deepEqual(Object.keys(note).filter((key) => !['claim'].includes(key)).sort(), ['PK', 'SK', 'asked', 'by', 'due', 'entity', 'expires', 'kind', 'name', 'tries']);
  const text = JSON.stringify([note, await scan(app.doc, `${app.table}.thorpe`), await scan(app.doc, app.table)]);
  for (const part of [token, ...token.split('.').slice(1)]) assert.ok(!text.includes(part));
});

test('a server that cannot be right is an error at the start', async () => {
  for (const [args, says] of [
    [['--smtp', 'http://mail.example.com', ...FROM], /must be smtp:\/\//],
    [['--smtp', 'smtp://mail.example.com'], /mail needs a sender/],
    [['--smtp', 'smtp://me:secret@mail.example.com', ...FROM], /--smtp-password-file/],
    [['--smtp', 'smtp://me@mail.example.com', ...FROM], /a login needs both/],
    [['--smtp', 'smtp://mail.example.com', '--smtp-password-file', passwordFile(), ...FROM], /a login needs both/],
    [['--smtp', 'smtp://me@mail.example.com', '--smtp-password-file', '/nowhere', ...FROM], /cannot read \/nowhere/],
    [['--smtp', 'smtp://me@mail.example.com', '--smtp-password-file', passwordFile('\n'), ...FROM], /must be a password/],
    [['--smtp', 'smtp://mail.example.com', '--smtp-from', 'nobody'], /is no sender/],
    [['--smtp', 'smtp://mail.example.com', '--smtp-from', 'x\r\nBcc: y <a@example.com>'], /is no sender/],
    [['--smtp', 'smtp://mail.example.com', '--smtp-from', '-x@example.com'], /is no sender/],
    [FROM, /--smtp says which mail server/],
  ]) {
    const { code, stderr } = await runToEnd(['serve', '--in-memory', '--listen', '127.0.0.1:0', '--design', file, ...args], { env: QUICK });
    assert.notEqual(code, 0, args.join(' '));
    assert.match(stderr, says);
  }
});

test('docs/design-language.md: letters', async () => {
  const text = readFileSync(join(ROOT, 'docs', 'design-language.md'), 'utf8');
  const [, block] = /They go out by the mail server[^]*?```yaml\n([^]*?)```/.exec(text);
  const design = readFileSync(file, 'utf8').replace(/ {6}mail: [^]*?\}\}\}\n/, block).replace('hash: string, hidden', 'hash: string, hidden\n      name: string');
  assert.ok(design.includes(block));
  const at = join(freshDirectory(), 'letters.yaml');
  writeFileSync(at, design);
  const run = await startDesign(at, { args: ['--smtp', smtp.url(), ...FROM] });
  await run.nobody.post('/users', { email: 'ann@docs.example.com', name: 'Ann', password });
  await ask('ann@docs.example.com', run.nobody);
  const mail = await mailTo('ann@docs.example.com');
  assert.equal(mail.headers.subject, 'A new password, Ann?');
  await run.nobody.post('/password', { token: tokenOf(mail), password: 'a new good password' });
});
