// `thorpe new`: begins a design, from an example or from answers, and overwrites nothing.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { BIN, SHIPPED as examples, designFile, freshDirectory, runToEnd, startServer } from './process.mjs';


/** With a terminal that gives these answers. */
function onTerminal(args, answers, cwd) {
  const script = 'import os, pty, sys\n'
    + 'pid, fd = pty.fork()\n'
    + 'if pid == 0: os.execv(sys.argv[1], sys.argv[1:])\n'
    + 'out = b""\n'
    + `for answer in ${JSON.stringify(answers)}:\n`
    + '  while not out.endswith(b"): "): out += os.read(fd, 1000)\n'
    + '  out += b"\\n"; os.write(fd, answer.encode() + b"\\n")\n'
    + 'try:\n'
    + '  while True: out += os.read(fd, 1000)\n'
    + 'except OSError: pass\n'
    + 'sys.stdout.write(out.decode()); sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))\n';
  return execFileSync('python3', ['-c', script, BIN, ...args], { cwd, encoding: 'utf8', timeout: 20_000 });
}

async function checked(file, cwd) {
  const { code, stdout } = await runToEnd(['check', file], { cwd });
  assert.equal(code, 0, stdout);
  assert.match(stdout, /0 errors, 0 warnings/);
}

async function request(endpoint, method, path, body, token) {
  const reply = await fetch(`${endpoint}/api${path}`, {
    method, headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) }, body: body && JSON.stringify(body),
  });
  return { status: reply.status, body: await reply.json() };
}

test('without a terminal it asks nothing, and what it writes can be served', async () => {
  const cwd = freshDirectory();
  const { code, stdout } = await runToEnd(['new', 'my-notes'], { cwd });
  assert.equal(code, 0);
  assert.match(stdout, /^wrote my-notes\.yaml\n/);
  await checked('my-notes.yaml', cwd);
  const server = await startServer({ data: null, args: ['--design', join(cwd, 'my-notes.yaml')] });
  assert.equal((await request(server.endpoint, 'POST', '/my-notes/notes', { text: 'first' })).status, 201);
  assert.equal((await request(server.endpoint, 'POST', '/my-notes/notes', { text: 'second' })).status, 201);
  assert.deepEqual((await request(server.endpoint, 'GET', '/my-notes/notes')).body.items.map(({ text }) => text), ['second', 'first']);
  await server.stop();
});

test('on a terminal it asks, again where an answer makes no sense, and people can log in', async () => {
  const cwd = freshDirectory();
  const said = onTerminal(['new', 'shelf'], ['book', 'User', 'Book', 'y'], cwd);
  assert.match(said, /'book' is no such name/);
  assert.match(said, /'User' is no such name/);
  assert.match(said, /wrote shelf\.yaml/);
  await checked('shelf.yaml', cwd);
  const server = await startServer({ data: null, args: ['--design', join(cwd, 'shelf.yaml')] });
  assert.equal((await request(server.endpoint, 'POST', '/shelf/users', { user_id: 'ann', password: 'correct horse' })).status, 201);
  const { body: { token } } = await request(server.endpoint, 'POST', '/shelf/login', { name: 'ann', password: 'correct horse' });
  assert.equal((await request(server.endpoint, 'POST', '/shelf/users/ann/books', { text: 'mine' }, token)).status, 201);
  assert.equal((await request(server.endpoint, 'POST', '/shelf/users/ann/books', { text: 'mine' })).status, 401);
  assert.equal((await request(server.endpoint, 'GET', '/shelf/users/ann/books')).body.items.length, 1);
  await server.stop();
});

test('an empty answer, or none, is the one in parentheses', async () => {
  const cwd = freshDirectory();
  onTerminal(['new', 'mine'], ['', ''], cwd);
  await runToEnd(['new', 'other'], { cwd });
  assert.equal(readFileSync(join(cwd, 'mine.yaml'), 'utf8').replace('design: mine', 'design: other').replace('table: Mine', 'table: Other'), readFileSync(join(cwd, 'other.yaml'), 'utf8'));
});

test('each example can be begun with, under a name and a table of its own', async () => {
  const cwd = freshDirectory();
  for (const name of examples) {
    const { code, stderr } = await runToEnd(['new', `my-${name}`, '--from', name], { cwd });
    assert.equal(code, 0, stderr);
    const [before, after] = [designFile(name), join(cwd, `my-${name}.yaml`)].map((file) => readFileSync(file, 'utf8').split('\n'));
    const changed = after.filter((line, i) => line !== before[i]);
    assert.deepEqual(changed, [`design: my-${name}`, `table: My${name.replaceAll(/(?:^|-)(.)/g, (_, first) => first.toUpperCase())}`]);
    assert.equal((await runToEnd(['check', `my-${name}.yaml`], { cwd })).code, 0);
  }
});

test('an example can be a file, and must be a design', async () => {
  const cwd = freshDirectory();
  await runToEnd(['new', 'one'], { cwd });
  assert.equal((await runToEnd(['new', 'two', '--from', './one.yaml'], { cwd })).code, 0);
  assert.match(readFileSync(join(cwd, 'two.yaml'), 'utf8'), /^design: two$/m);
  writeFileSync(join(cwd, 'broken.yaml'), 'design: broken\n');
  const broken = await runToEnd(['new', 'three', '--from', './broken.yaml'], { cwd });
  assert.equal(broken.code, 1);
  assert.match(broken.stderr, /a design needs 'table'[^]*is no design to begin with/);
  const none = await runToEnd(['new', 'three', '--from', 'nothing'], { cwd });
  assert.equal(none.code, 1);
  assert.match(none.stderr, /there is no example 'nothing'/);
  assert.deepEqual(readdirSync(cwd).sort(), ['broken.yaml', 'one.yaml', 'two.yaml']);
});

test('nothing is overwritten, and a wrong name is refused before anything is asked', async () => {
  const cwd = freshDirectory();
  writeFileSync(join(cwd, 'mine.yaml'), 'precious');
  mkdirSync(join(cwd, 'folder.yaml'));
  for (const name of ['mine', 'folder']) {
    const { code, stderr } = await runToEnd(['new', name], { cwd });
    assert.equal(code, 1);
    assert.match(stderr, /is there already; it stays as it is/);
  }
  assert.equal(readFileSync(join(cwd, 'mine.yaml'), 'utf8'), 'precious');
  for (const name of ['Mine', '../up', 'a b', '', 'x'.repeat(65)]) assert.equal((await runToEnd(['new', name], { cwd })).code, 2, name);
  assert.deepEqual(readdirSync(cwd).sort(), ['folder.yaml', 'mine.yaml']);
});
