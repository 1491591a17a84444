// The console as the server has it: files from the binary, documents for operators, and nobody else who gets them.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { EXTERNAL, call, connect, errorName, freshDirectory, request, startServer, thorpeTest, until } from './harness.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const design = join(here, '..', 'designs', 'shelves', 'shelves.yaml');
const keyFile = join(freshDirectory(), 'keys');
const key = { id: 'AKIDCONSOLE', secret: 'a-secret-for-this-test' };
writeFileSync(keyFile, `${key.id} ${key.secret}\n`, { mode: 0o600 });

const open = EXTERNAL ? {} : await startServer({ data: null, args: ['--design', design] });
const guarded = EXTERNAL ? {} : await startServer({ data: null, args: ['--design', design, '--keys', keyFile] });

const CONSOLE = { 'x-thorpe-console': '1' };
const get = (path, { headers = {}, endpoint = open.endpoint, method = 'GET' } = {}) => request({ method, path, headers, endpoint });
const api = (path, options = {}) => get(`/console/api${path}`, { ...options, headers: { ...CONSOLE, ...options.headers } });
const DOCUMENTS = ['/session', '/stats', '/designs/shelves'];

/** SigV4 as a browser does it, for a GET without a query. */
function signed(path, { secret = key.secret, endpoint = guarded.endpoint } = {}) {
  const { host } = new URL(endpoint);
  const now = new Date().toISOString().replace(/[:-]|\.\d+/g, '');
  const scope = `${now.slice(0, 8)}/us-east-1/dynamodb/aws4_request`;
  const sha = (text) => createHash('sha256').update(text).digest('hex');
  const hmac = (by, text) => createHmac('sha256', by).update(text).digest();
  const canonical = ['GET', path, '', `host:${host}`, `x-amz-date:${now}`, '', 'host;x-amz-date', sha('')].join('\n');
  const toSign = ['AWS4-HMAC-SHA256', now, scope, sha(canonical)].join('\n');
  const derived = scope.split('/').reduce((by, part) => hmac(by, part), `AWS4${secret}`);
  const signature = createHmac('sha256', derived).update(toSign).digest('hex');
  return {
    'x-amz-date': now,
    authorization: `AWS4-HMAC-SHA256 Credential=${key.id}/${scope}, SignedHeaders=host;x-amz-date, Signature=${signature}`,
  };
}

// ---------------------------------------------------------------- files

thorpeTest('the page is served with a policy that lets nothing foreign in', async () => {
  const page = await get('/console/');
  assert.equal(page.status, 200);
  assert.equal(page.headers['content-type'], 'text/html; charset=utf-8');
  assert.match(page.text, /<!doctype html>/i);
  const policy = page.headers['content-security-policy'];
  for (const rule of ["default-src 'self'", "style-src 'self' 'unsafe-inline'", "img-src 'self' data:", "frame-ancestors 'none'"]) assert.ok(policy.includes(rule), rule);
  assert.ok(!/script-src|unsafe-eval|https?:|\*/.test(policy), policy);
  assert.equal(page.headers['x-content-type-options'], 'nosniff');
  assert.equal(page.headers['cache-control'], 'no-cache');
});

thorpeTest('everything the page names is there, and may be kept for ever', async (t) => {
  const page = await get('/console/');
  const names = [...page.text.matchAll(/(?:src|href)="\.?\/?([^":]+\.(?:js|css))"/g)].map((found) => found[1].replace(/^console\//, ''));
  if (names.length === 0) {
    t.skip('this server was built without the console');
    return;
  }
  for (const name of names) {
    const file = await get(`/console/${name}`);
    assert.equal(file.status, 200, name);
    assert.match(file.headers['content-type'], name.endsWith('.js') ? /^text\/javascript/ : /^text\/css/);
    assert.match(file.headers['cache-control'], /immutable/);
    assert.equal(file.headers['x-content-type-options'], 'nosniff');
  }
});

thorpeTest('files are zipped for those who can unzip, and the same for those who cannot', async () => {
  const zipped = await get('/console/', { headers: { 'accept-encoding': 'br, gzip' } });
  const plain = await get('/console/', { headers: { 'accept-encoding': 'identity' } });
  assert.equal(zipped.headers['content-encoding'], 'gzip');
  assert.equal(zipped.headers.vary, 'Accept-Encoding');
  assert.equal(Number(zipped.headers['content-length']), zipped.bytes.length);
  assert.equal(plain.headers['content-encoding'], undefined);
  assert.equal(gunzipSync(zipped.bytes).toString(), plain.text);
  const refused = await get('/console/', { headers: { 'accept-encoding': 'gzip;q=0' } });
  assert.equal(refused.headers['content-encoding'], undefined);
});

thorpeTest('HEAD has the headers alone, and what a browser has already is not sent again', async () => {
  const head = await get('/console/', { method: 'HEAD' });
  assert.equal(head.status, 200);
  assert.equal(head.text, '');
  assert.ok(Number(head.headers['content-length']) > 0);
  const { etag } = head.headers;
  assert.match(etag, /^W\/"[0-9a-f]+"$/);
  for (const value of [etag, etag.slice(2), `"other", ${etag}`, '*']) {
    const again = await get('/console/', { headers: { 'if-none-match': value } });
    assert.equal(again.status, 304, value);
    assert.equal(again.text, '');
    assert.equal(again.headers.etag, etag);
  }
  assert.equal((await get('/console/', { headers: { 'if-none-match': '"other"' } })).status, 200);
});

thorpeTest('nothing but the files is below /console/', async () => {
  const paths = [
    '/console/nothing', '/console/index.html/', '/console//index.html', '/console/assets', '/console/assets/', '/console/api', '/console/api/',
    '/console/api/nothing', '/console/../metrics', '/console/%2e%2e/etc/passwd', '/console/..%2f..%2f..%2fetc/passwd', '/console/....//etc/passwd',
    '/console/assets/../../../../etc/passwd', '/console/%00', '/console/index.html%00', '/console/designs/shelves.yaml', '/console/api/designs/../session',
  ];
  for (const path of paths) {
    const wire = await connect(open.endpoint); // http.request() would tidy the path up
    wire.send(`GET ${path} HTTP/1.1\r\nHost: localhost\r\nx-thorpe-console: 1\r\nConnection: close\r\n\r\n`);
    await until(`the answer to ${path}`, () => wire.closed);
    assert.match(wire.text(), /^HTTP\/1\.1 404 /, path);
  }
});

thorpeTest('other methods do nothing here', async () => {
  for (const method of ['POST', 'PUT', 'DELETE', 'PATCH']) {
    for (const path of ['/console', '/console/', '/console/api/session']) {
      const reply = await get(path, { method, headers: CONSOLE });
      assert.equal(reply.status, 404, `${method} ${path}`);
      assert.ok(!reply.text.includes('token'));
    }
  }
});

thorpeTest('a browser at / is led to the console, everyone else hears that the server is healthy', async () => {
  const browser = await get('/', { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } });
  assert.equal(browser.status, 302);
  assert.equal(browser.headers.location, '/console/');
  assert.equal((await get('/console')).headers.location, '/console/');
  for (const headers of [{}, { accept: '*/*' }, { accept: 'application/json' }, { accept: 'text/html;q=0' }]) {
    const other = await get('/', { headers });
    assert.equal(other.status, 200);
    assert.match(other.text, /^healthy: /);
  }
  assert.equal((await call('ListTables', {}, { endpoint: open.endpoint })).status, 200);
});

thorpeTest('the server says where the console is before anything else of its greeting', async () => {
  const lines = open.log().split('\n').filter((line) => !line.startsWith('  design '));
  assert.equal(lines[0], `console  ${open.endpoint}/console/`);
});

// ---------------------------------------------------------------- documents

thorpeTest('the session has what a console needs to work', async () => {
  const { status, json, headers } = await api('/session');
  assert.equal(status, 200);
  assert.equal(headers['cache-control'], 'no-store');
  assert.ok(headers['content-security-policy']);
  assert.deepEqual({ ...json, version: 0, designs: 0 }, { version: 0, auth: 'none', region: 'us-east-1', endpoint: open.endpoint, durability: 'memory', designs: 0 });
  const [only] = json.designs;
  assert.deepEqual([json.designs.length, only.name, only.title, only.table, only.base], [1, 'shelves', 'Shelves', 'shelves', '/api/shelves']);
  assert.ok(Math.abs(only.expires_at - Date.now() - 3600_000) < 60_000);
  const operators = (headers_) => get('/api/shelves/processors', { headers: headers_ });
  assert.equal((await operators({})).status, 404);
  assert.equal((await operators({ authorization: `Bearer ${only.token}` })).status, 200);
});

thorpeTest('the endpoint is the one the browser used', async () => {
  const port = new URL(open.endpoint).port;
  for (const host of [`localhost:${port}`, `127.0.0.1:${port}`, `thorpe.localhost:${port}`, `[::1]:${port}`]) {
    assert.equal((await api('/session', { headers: { host } })).json.endpoint, `http://${host}`);
  }
});

thorpeTest('numbers grow with what is asked and written, whoever does it', async () => {
  const shelves = async () => (await api('/stats')).json.tables.find(({ name }) => name === 'shelves');
  const before = await shelves();
  assert.equal(before.design, 'shelves');
  await call('PutItem', { TableName: 'shelves', Item: { PK: { S: 'a' }, SK: { S: 'b' } } }, { endpoint: open.endpoint });
  await call('GetItem', { TableName: 'shelves', Key: { PK: { S: 'a' }, SK: { S: 'b' } } }, { endpoint: open.endpoint });
  const made = await request({ method: 'POST', path: '/api/shelves/readers', headers: { 'content-type': 'application/json' }, body: { name: 'ann', password: 'correct horse' }, endpoint: open.endpoint });
  assert.equal(made.status, 201, made.text);
  assert.equal((await get('/api/shelves/readers/ann')).status, 200);
  const after = await shelves();
  assert.equal(after.items, before.items + 2);
  assert.ok(after.bytes > before.bytes);
  assert.equal(after.writes, before.writes + 2);
  assert.ok(after.reads >= before.reads + 2, `${before.reads} ${after.reads}`);
  const stats = (await api('/stats')).json;
  assert.equal(stats.health, 'ok');
  assert.ok(stats.uptime_ms > 0 && stats.memory_bytes > 1e6 && stats.connections >= 1 && Math.abs(stats.now_ms - Date.now()) < 60_000);
});

thorpeTest('a design has its document, and an ETag that spares sending it again', async () => {
  const first = await api('/designs/shelves', { headers: { 'accept-encoding': 'gzip' } });
  assert.equal(first.status, 200);
  assert.equal(first.headers['content-encoding'], 'gzip');
  const document = JSON.parse(gunzipSync(first.bytes));
  assert.equal(document.file, 'shelves.yaml');
  assert.deepEqual(document.entities.map(({ name }) => name), ['Reader', 'Book']);
  const again = await api('/designs/shelves', { headers: { 'if-none-match': first.headers.etag } });
  assert.equal(again.status, 304);
  assert.equal((await api('/designs/none')).status, 404);
  assert.equal((await api('/designs/')).status, 404);
});

// ---------------------------------------------------------------- who gets them

thorpeTest('without keys a request that no console made is refused', async () => {
  for (const path of DOCUMENTS) {
    const reply = await get(`/console/api${path}`);
    assert.equal(reply.status, 403, path);
    assert.equal(errorName(reply), 'AccessDeniedException');
    assert.ok(!reply.text.includes('token'));
  }
});

thorpeTest('a server on loopback is not fooled by a foreign name that leads to it', async () => {
  const port = new URL(open.endpoint).port;
  const foreign = ['evil.example', `evil.example:${port}`, '127.0.0.1.evil.example', 'localhost.evil.example', 'notlocalhost', '10.0.0.1', '[::2]', '127.0.0.1@evil.example'];
  for (const host of foreign) {
    for (const path of DOCUMENTS) {
      const wire = await connect(open.endpoint);
      wire.send(`GET /console/api${path} HTTP/1.1\r\nHost: ${host}\r\nx-thorpe-console: 1\r\nConnection: close\r\n\r\n`);
      await until(`the answer to ${host}`, () => wire.closed);
      assert.match(wire.text(), /^HTTP\/1\.1 403 /, `${host} ${path}`);
    }
  }
  const wire = await connect(open.endpoint); // and not by none
  wire.send('GET /console/api/session HTTP/1.0\r\nx-thorpe-console: 1\r\n\r\n');
  await until('the answer', () => wire.closed);
  assert.match(wire.text(), /^HTTP\/1\.1 403 /);
});

thorpeTest('pages of other origins are told nothing: preflights are refused, no reply has CORS headers', async () => {
  const origin = 'https://evil.example';
  const allows = (reply) => Object.keys(reply.headers).filter((name) => name.startsWith('access-control-'));
  for (const path of ['/console', '/console/', ...DOCUMENTS.map((name) => `/console/api${name}`), '/console/api/nothing']) {
    const preflight = await get(path, {
      method: 'OPTIONS',
      headers: { origin, 'access-control-request-method': 'GET', 'access-control-request-headers': 'x-thorpe-console' },
    });
    assert.equal(preflight.status, 403, path);
    assert.deepEqual(allows(preflight), [], path);
    assert.deepEqual(allows(await get(path, { headers: { origin, ...CONSOLE } })), [], path);
    assert.deepEqual(allows(await get(path, { headers: { origin } })), [], path);
  }
  // Nor are pages of this machine, who may call everything else.
  const near = 'http://localhost:3000';
  assert.deepEqual(allows(await get('/console/api/session', { headers: { origin: near, ...CONSOLE } })), []);
  assert.equal((await get('/api', { headers: { origin: near } })).headers['access-control-allow-origin'], near);
});

thorpeTest('with keys only a signed request gets documents', async () => {
  for (const path of DOCUMENTS) {
    const whole = `/console/api${path}`;
    for (const headers of [{}, CONSOLE, { authorization: 'Bearer x', ...CONSOLE }, signed(whole, { secret: 'wrong' }), signed('/console/api/other')]) {
      const refused = await get(whole, { headers, endpoint: guarded.endpoint });
      assert.equal(refused.status, 403, `${path} ${JSON.stringify(headers)}`);
      assert.match(errorName(refused), /^(MissingAuthenticationToken|IncompleteSignature|InvalidSignature)Exception$/);
      assert.ok(refused.json.message ?? refused.json.Message);
    }
    assert.equal((await get(whole, { headers: signed(whole), endpoint: guarded.endpoint })).status, 200, path);
  }
  const session = await get('/console/api/session', { headers: signed('/console/api/session'), endpoint: guarded.endpoint });
  assert.equal(session.json.auth, 'keys');
  assert.equal((await get('/console/', { endpoint: guarded.endpoint })).status, 200, 'the page itself is where one signs in');
});

thorpeTest('a server without a design has a console, too', async () => {
  const server = await startServer({ data: null });
  try {
    const { json } = await api('/session', { endpoint: server.endpoint });
    assert.deepEqual(json.designs, []);
    assert.deepEqual((await api('/stats', { endpoint: server.endpoint })).json.tables, []);
    assert.equal((await api('/designs/shelves', { endpoint: server.endpoint })).status, 404);
  } finally {
    await server.stop();
  }
});

thorpeTest('an open server that others can reach takes addresses and the names it was given, and still only consoles', async () => {
  const server = await startServer({ data: null, listen: '0.0.0.0:0', args: ['--no-auth', '--host', 'thorpe.example'] });
  const endpoint = server.endpoint.replace('0.0.0.0', '127.0.0.1');
  try {
    const named = await api('/session', { endpoint, headers: { host: 'thorpe.example:8000' } });
    assert.equal(named.status, 200);
    assert.equal(named.json.endpoint, 'http://thorpe.example:8000');
    assert.equal((await api('/session', { endpoint, headers: { host: '10.1.2.3:8000' } })).status, 200);
    assert.equal((await api('/session', { endpoint, headers: { host: 'other.example:8000' } })).status, 403);
    assert.equal((await get('/console/api/session', { endpoint, headers: { host: 'thorpe.example:8000' } })).status, 403);
  } finally {
    await server.stop();
  }
});

thorpeTest('the servers of these tests end well', async () => {
  await open.stop();
  await guarded.stop();
});
