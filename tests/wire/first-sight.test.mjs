// What someone sees who uses the program for the first time: help, greetings, refusals; and what a program sees that starts it.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { BIN, freshDirectory, launch, runToEnd, startServer, until, within } from './process.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const designs = join(root, 'designs');
const asWritten = join(root, 'tests', 'designs', 'as-written');

/** A design of one entity, changed as `change` says. */
function smallDesign(change = (text) => text, dir = freshDirectory()) {
  const file = join(dir, 'small.yaml');
  writeFileSync(file, change(`design: small
table: small
key: [PK]
entities:
  Thing:
    path: /things/<name>
    attributes:
      name: string 3..20, fixed
      color: string 1..20, required
      owner: string, the caller, fixed
    keys: {PK: THING#<name>}
    allow: {create: caller is user, read: anyone, update, delete: owner = caller}
`));
  return file;
}

process.setMaxListeners(50); // a directory each

const readyLine = (file) => until('the ready file', () => existsSync(file) && readFileSync(file, 'utf8'));

test('--ready-file has the address once requests are answered, and is gone after a stop', async () => {
  const file = join(freshDirectory(), 'ready');
  const run = launch(['serve', '--in-memory', '--listen', '127.0.0.1:0', '--ready-file', file]);
  try {
    const line = await readyLine(file);
    assert.match(line, /^http:\/\/127\.0\.0\.1:[1-9]\d*\n$/);
    assert.equal(await (await fetch(`${line.trim()}/healthz`)).text(), 'ok\n');
    assert.deepEqual(readdirSync(dirname(file)), ['ready'], 'nothing is left beside it');
    run.child.kill('SIGTERM');
    assert.equal(await within(30, 'the server to end', run.done), 0);
    assert.ok(!existsSync(file), 'removed at the end');
    assert.match(run.stderr, /stopping: .*\n.*stopped\n$/);
  } finally {
    run.child.kill('SIGKILL');
  }
});

test('--ready-file: one that a killed server left is removed before anything else, even if the start fails', async () => {
  const dir = freshDirectory();
  const file = join(dir, 'ready');
  writeFileSync(file, 'http://127.0.0.1:1\n');
  const { code } = await runToEnd(['serve', '--in-memory', '--listen', '127.0.0.1:0', '--ready-file', file, '--design', join(dir, 'none.yaml')]);
  assert.equal(code, 1);
  assert.ok(!existsSync(file));
});

test('--ready-file that cannot be written stops the start', async () => {
  const dir = freshDirectory();
  for (const file of [join(dir, 'no', 'such', 'directory'), dir]) {
    const { code, stderr } = await runToEnd(['serve', '--in-memory', '--listen', '127.0.0.1:0', '--ready-file', file]);
    assert.equal(code, 1);
    assert.match(stderr, /--ready-file: cannot (write|remove) /);
  }
});

test('a design with an error of thorpe check is not served, unless --allow-check-errors says so', async () => {
  const design = join(asWritten, 'fus.yaml');
  const refused = await runToEnd(['serve', '--in-memory', '--listen', '127.0.0.1:0', '--design', design]);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /fus\.yaml:\d+:\d+: error: .*\[double-prefix\]/);
  assert.doesNotMatch(refused.stderr, /warning: /, 'warnings are for thorpe check');
  assert.match(refused.stderr, /fus\.yaml has 3 errors \(above\): repair them, or serve it as it is with --allow-check-errors\.\n$/);

  const server = await startServer({ args: ['--design', design, '--allow-check-errors'] });
  await until('the warning', () => /is served with 3 errors that 'thorpe check' finds/.test(server.log()));
  await server.stop();
});

test('serve says things in the singular, and nothing of a title that is not there', async () => {
  const server = await startServer({ args: ['--design', smallDesign()] });
  await until('the greeting', () => /curl /.test(server.log()));
  assert.match(server.log(), /design small: table small made/);
  assert.match(server.log(), /\/api\/small {2}1 entity, 0 access patterns/);
  await server.stop();
});

test('the aws command that serve and --help print can be pasted: credentials, region, no pager', async () => {
  const server = await startServer();
  const line = await until('the greeting', () => /^ {2}(AWS_ACCESS_KEY_ID=.*aws dynamodb list-tables .*)$/m.exec(server.log())?.[1]);
  const { stdout } = await runToEnd(['--help']);
  const command = stdout.slice(stdout.indexOf('  AWS_ACCESS_KEY_ID='), stdout.indexOf('\n\nExit codes'));
  for (const text of [line, command.replace('http://127.0.0.1:8000', server.endpoint)]) {
    const script = text.replaceAll(/\baws dynamodb/g, `${process.env.THORPE_AWS || 'aws'} dynamodb`);
    const env = { PATH: process.env.PATH, HOME: freshDirectory() };
    assert.deepEqual(JSON.parse(execFileSync('sh', ['-c', script], { env, encoding: 'utf8' })), { TableNames: [] });
  }
  await server.stop();
});

test('with keys serve does not print credentials that it would refuse', async () => {
  const keys = join(freshDirectory(), 'keys');
  writeFileSync(keys, 'AKID secretsecret\n', { mode: 0o600 });
  const server = await startServer({ args: ['--keys', keys] });
  await until('the greeting', () => /SDKs: /.test(server.log()));
  assert.doesNotMatch(server.log(), /AWS_ACCESS_KEY_ID=local/);
  await server.stop();
});

test('thorpe token works with an --in-memory server by --secret-file, and says so where it cannot', async () => {
  const dir = freshDirectory();
  const secret = join(dir, 'secret');
  const design = smallDesign();
  const server = await startServer({ data: null, args: ['--design', design, '--secret-file', secret] });
  await until('the greeting', () => server.log().includes(`thorpe token small --subject NAME --secret-file ${secret}`));
  const { stdout } = await runToEnd(['token', 'small', '--subject', 'ann', '--secret-file', secret]);
  const put = await fetch(`${server.endpoint}/api/small/things/abc`, {
    method: 'PUT', headers: { authorization: `Bearer ${stdout.trim()}`, 'content-type': 'application/json' }, body: '{"color": "red"}',
  });
  assert.equal(put.status, 201);
  assert.deepEqual(await put.json(), { name: 'abc', color: 'red', owner: 'ann' });
  await server.stop();

  const without = await runToEnd(['token', 'small', '--subject', 'ann'], { cwd: dir });
  assert.equal(without.code, 1);
  assert.match(without.stderr, /no data directory .*--in-memory.*--secret-file FILE/);
});

test("the demo's logins are printed at every start, not only at the first", async () => {
  const data = freshDirectory();
  for (let i = 0; i < 2; i++) {
    const server = await startServer({ data, args: ['--design', join(designs, 'wavyblog.yaml'), '--demo', join(designs, 'demo')] });
    await until('the logins', () => server.log().includes(JSON.parse(readFileSync(join(designs, 'demo', 'wavyblog.json'), 'utf8')).accounts));
    assert.equal(/\d+ steps loaded/.test(server.log()), i === 0);
    await server.stop();
  }
});

test('callr is answered with caller, wherever it may stand', async () => {
  for (const [from, to] of [['= caller', '= callr'], ['create: caller is', 'create: callr is']]) {
    const { code, stdout } = await runToEnd(['check', smallDesign((text) => text.replace(from, to))]);
    assert.equal(code, 1);
    assert.match(stdout, /repair: did you mean 'caller'\?/, to);
  }
  const { stdout } = await runToEnd(['check', smallDesign((text) => text.replace('= caller', '= old.callr'))]);
  assert.doesNotMatch(stdout, /did you mean 'caller'/, 'old.caller is nothing');
});

test('REST answers end with one line feed, problems and lists too; parts of a batch do not', async () => {
  const server = await startServer({ args: ['--design', join(designs, 'social.yaml')] });
  const base = `${server.endpoint}/api/social`;
  const send = (path, body) => fetch(base + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  const user = { username: 'zoe99', email: 'zoe@example.com', password: 'wonderland', user_id: 'zoe' };
  const plain = (url) => fetch(url, { headers: { 'accept-encoding': 'identity' } });
  const replies = [
    await send('/users', user), await send('/users', user), await plain(`${base}/users/zoe`), await plain(`${base}/users/zoe/posts`),
    await plain(base), await plain(`${base}/openapi.json`), await plain(`${base}/no/such`), await plain(`${server.endpoint}/api`),
    await send('/login', { name: 'zoe99', password: 'wonderland' }),
  ];
  assert.deepEqual(replies.map((r) => r.status), [201, 409, 200, 200, 200, 200, 404, 200, 200]);
  for (const reply of replies) {
    const text = await reply.text();
    assert.match(text, /[}\]]\n$/, reply.url);
    assert.equal(Number(reply.headers.get('content-length')), Buffer.byteLength(text), reply.url);
  }
  const batch = await (await send('/batch', { requests: [{ method: 'GET', path: '/users/zoe' }, { method: 'GET', path: '/users/none' }] })).text();
  assert.equal(batch.indexOf('\n'), batch.length - 1);
  assert.deepEqual(JSON.parse(batch).responses.map((r) => r.status), [200, 404]);

  const etag = replies[2].headers.get('etag');
  assert.equal((await fetch(`${base}/users/zoe`, { headers: { 'if-none-match': etag, 'accept-encoding': 'identity' } })).status, 304);
  await server.stop();
});

test('a sign-up is told everything that is wrong with it in one answer', async () => {
  const server = await startServer({ args: ['--design', join(designs, 'social.yaml')] });
  const signUp = async (body) => {
    const reply = await fetch(`${server.endpoint}/api/social/users`, {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body),
    });
    return [reply.status, Object.fromEntries(((await reply.json()).errors ?? []).map((e) => [e.attribute, e.detail]))];
  };
  const none = { password: 'is required' };
  assert.deepEqual(await signUp({ usernam: 'zoe99' }), [422, {
    usernam: "there is no such attribute; did you mean 'username'?", username: 'is required', email: 'is required', ...none,
  }]);
  assert.deepEqual(await signUp({ username: 'z', password: 'short' }), [422, {
    username: 'between 3 and 30 characters', email: 'is required', password: '8 to 72 bytes',
  }]);
  assert.deepEqual(await signUp({}), [422, { username: 'is required', email: 'is required', ...none }]);
  assert.deepEqual(await signUp({ username: 'zoe99', password: 12345678 }), [422, { email: 'is required', password: 'a string' }]);
  assert.deepEqual(await signUp({ username: 'zoe99', password: 'a\0bcdefgh' }), [422, { email: 'is required', password: 'without zero bytes' }]);
  assert.deepEqual(await signUp({ username: 'zoe99', email: 'zoe@example.com', password: 'wonderland' }), [201, {}]);
  await server.stop();
});

test('what the path of a PUT gives is not called missing, and no password is asked for without a login', async () => {
  const secret = join(freshDirectory(), 'secret');
  const server = await startServer({ args: ['--design', smallDesign(), '--secret-file', secret] });
  const { stdout } = await runToEnd(['token', 'small', '--subject', 'ann', '--secret-file', secret]);
  const reply = await fetch(`${server.endpoint}/api/small/things/abc`, {
    method: 'PUT', headers: { authorization: `Bearer ${stdout.trim()}`, 'content-type': 'application/json' }, body: '{"colour": "red"}',
  });
  assert.deepEqual((await reply.json()).errors.map((e) => [e.attribute, e.detail]), [
    ['colour', "there is no such attribute; did you mean 'color'?"], ['color', 'is required'],
  ]);
  await server.stop();
});

test('--limit help explains every limit', async () => {
  const { code, stdout } = await runToEnd(['serve', '--limit', 'help']);
  assert.equal(code, 0);
  const lines = stdout.split('\n').filter((line) => /^ {2}[a-z_]+ /.test(line));
  assert.ok(lines.length >= 20);
  for (const line of lines) assert.match(line, /^ {2}[a-z_]+ +(\d+|-) {2}\S.{10,}$/);
});

test('every command has help with an example, in lines that fit, and exits with 0; an option that is none is 2', async () => {
  const { stdout } = await runToEnd(['help']);
  const names = [...stdout.matchAll(/^ {2}([a-z]+) +[a-z]/gm)].map((m) => m[1]).filter((n) => !['version', 'help', 'thorpe', 'curl', 'aws'].includes(n));
  assert.ok(names.includes('serve') && names.includes('salvage'));
  assert.match(stdout, /Exit codes: 0 .*1 .*2 .*3 /);
  for (const name of names) {
    const help = await runToEnd([name, '--help']);
    assert.equal(help.code, 0, name);
    assert.match(help.stdout, new RegExp(`^Usage: thorpe ${name} `), name);
    assert.match(help.stdout, new RegExp(`\\nExamples?:\\n(.*\\n)*.*thorpe ${name} `), name);
    for (const line of help.stdout.split('\n')) assert.ok([...line].length < 120, `thorpe ${name} --help: ${line}`);
    assert.equal((await runToEnd([name, '--no-such-option'])).code, 2, name);
  }
});

test('make install puts the program and the designs under DESTDIR and PREFIX, and make uninstall takes them away', { skip: BIN !== join(root, 'build', 'thorpe') && 'it installs build/thorpe' }, () => {
  const dir = freshDirectory();
  const make = (goal, ...more) => execFileSync('make', ['-C', root, '--no-print-directory', goal, `DESTDIR=${dir}`, 'PREFIX=/opt/thorpe', ...more], { encoding: 'utf8' });
  make('install');
  make('install'); // again: replaces
  const bin = join(dir, 'opt', 'thorpe', 'bin', 'thorpe');
  const share = join(dir, 'opt', 'thorpe', 'share', 'thorpe');
  assert.match(execFileSync(bin, ['version'], { encoding: 'utf8' }), /^thorpe \d/);
  assert.match(execFileSync(bin, ['check', join(share, 'designs', 'social.yaml')], { encoding: 'utf8' }), /0 errors/);
  assert.ok(existsSync(join(share, 'designs', 'demo', 'social.json')));
  const hasApp = existsSync(join(root, 'examples', 'social-web', 'dist', 'index.html'));
  assert.equal(existsSync(join(share, 'apps', 'social', 'index.html')), hasApp);
  writeFileSync(join(dir, 'opt', 'thorpe', 'bin', 'other'), '');
  make('uninstall');
  make('uninstall');
  assert.ok(!existsSync(bin) && !existsSync(share));
  assert.ok(existsSync(join(dir, 'opt', 'thorpe', 'bin', 'other')), 'what is not ours stays');
});
