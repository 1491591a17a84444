// Apps: directories of web pages that the server serves (--app NAME=DIR).
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { EXTERNAL, freshDirectory, request, startServer, thorpeTest } from './harness.mjs';
import { runToEnd } from './process.mjs';

const PAGE = `<!doctype html><title>An app</title>${'<p>words</p>'.repeat(200)}`;

function makeApp() {
  const dir = freshDirectory();
  mkdirSync(join(dir, 'deep', 'er'), { recursive: true });
  writeFileSync(join(dir, 'index.html'), PAGE);
  writeFileSync(join(dir, 'deep', 'index.html'), 'deep');
  writeFileSync(join(dir, 'deep', 'er', 'a b é.js'), '1');
  writeFileSync(join(dir, 'app.js.map'), '{}');
  writeFileSync(join(dir, '.env'), 'SECRET=1');
  return dir;
}

const keyFile = join(freshDirectory(), 'keys');
writeFileSync(keyFile, 'AKIDAPPS a-secret-for-this-test\n', { mode: 0o600 });
const dir = makeApp();
const open = EXTERNAL ? {} : await startServer({ data: null, args: ['--app', `one=${dir}`, '--app', `two=${makeApp()}`] });
const guarded = EXTERNAL ? {} : await startServer({ data: null, args: ['--app', `one=${dir}`, '--keys', keyFile] });
const get = (path, { headers = {}, endpoint = open.endpoint, method = 'GET' } = {}) => request({ method, path, headers, endpoint });

thorpeTest('an app is served below its name, with and without keys, and its address is printed', async () => {
  for (const { endpoint, log } of [open, guarded]) {
    const page = await get('/apps/one/', { endpoint });
    assert.equal(page.status, 200);
    assert.equal(page.headers['content-type'], 'text/html; charset=utf-8');
    assert.equal(page.text, PAGE);
    assert.ok(log().includes(`app      ${endpoint}/apps/one/\n`), log());
  }
  assert.equal((await get('/apps/two/')).status, 200);
  assert.equal((await get('/apps/two/', { endpoint: guarded.endpoint })).status, 404);
});

thorpeTest('the name without a slash leads to it', async () => {
  const page = await get('/apps/one');
  assert.equal(page.status, 302);
  assert.equal(new URL(page.headers.location, `${open.endpoint}/apps/one`).pathname, '/apps/one/');
});

thorpeTest('files are found by their own names, also percent-encoded, and nothing else is', async () => {
  assert.equal((await get('/apps/one/deep/')).text, 'deep');
  const script = await get('/apps/one/deep/er/a%20b%20%C3%A9.js');
  assert.deepEqual([script.status, script.headers['content-type'], script.text], [200, 'text/javascript; charset=utf-8', '1']);
  for (const path of ['/apps', '/apps/', '/apps/three/', '/apps/one/none', '/apps/one/.env', '/apps/one/app.js.map', '/apps/one/../../etc/passwd',
    '/apps/one/%2e%2e/%2e%2e/etc/passwd', '/apps/one/deep', '/apps/one//index.html', '/apps/one/index.html%00', '/apps/one/deep/../index.html']) {
    const reply = await get(path);
    assert.equal(reply.status, 404, path);
  }
});

thorpeTest('browsers keep a file as long as it stays the same', async () => {
  const first = await get('/apps/one/', { headers: { 'accept-encoding': 'gzip' } });
  assert.equal(first.headers['content-encoding'], 'gzip');
  assert.equal(gunzipSync(first.bytes).toString(), PAGE);
  assert.equal(first.headers['cache-control'], 'no-cache');
  const again = await get('/apps/one/', { headers: { 'if-none-match': first.headers.etag } });
  assert.deepEqual([again.status, again.text], [304, '']);
  const head = await get('/apps/one/', { method: 'HEAD' });
  assert.deepEqual([head.status, head.text], [200, '']);
});

thorpeTest('pages of other origins may link to an app, and not read it', async () => {
  const page = await get('/apps/one/', { headers: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' } });
  assert.equal(page.status, 200);
  assert.equal(page.headers['cross-origin-resource-policy'], 'same-origin');
  assert.equal(page.headers['access-control-allow-origin'], undefined);
  assert.match(page.headers['content-security-policy'], /default-src 'self'.*frame-ancestors 'none'/);
  assert.equal((await get('/apps/one/', { headers: { origin: 'https://evil.example' } })).status, 403);
});

thorpeTest('only reading is possible', async () => {
  for (const method of ['POST', 'PUT', 'DELETE']) assert.notEqual((await get('/apps/one/', { method })).status, 200, method);
});

thorpeTest('a directory that is no app is refused at the start, in a sentence', async () => {
  const empty = freshDirectory();
  const linked = makeApp();
  symlinkSync('/etc/passwd', join(linked, 'x'));
  for (const [args, message] of [
    [['--app', `a=${empty}`], /--app a: .*there is no index\.html: is the app built\?/],
    [['--app', `a=${join(empty, 'none')}`], /there is no such directory: is the app built\?/],
    [['--app', `a=${linked}`], /--app a: x: is a symbolic link/],
    [['--app', `a=${dir}`, '--app', `a=${dir}`], /two apps are called a/],
    [['--app', dir], /is not NAME=DIR/],
    [['--app', `../x=${dir}`], /is not NAME=DIR/],
    [['--app', 'a='], /is not NAME=DIR/],
  ]) {
    const { code, stderr } = await runToEnd(['serve', '--in-memory', '--listen', '127.0.0.1:0', ...args]);
    assert.notEqual(code, 0);
    assert.match(stderr, message);
  }
});
