// Which names and which web pages a server without keys answers to, on every route; what --host, --cors and keys change.
// What a browser makes of it is in tests/console/other-pages.test.mjs.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EXTERNAL, connect, errorName, freshDirectory, request, runToEnd, startServer, target, thorpeTest, until } from './harness.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const design = ['--design', join(here, '..', 'designs', 'shelves', 'shelves.yaml')];
const keyFile = join(freshDirectory(), 'keys');
writeFileSync(keyFile, 'AKIDPAGES a-secret-for-this-test\n', { mode: 0o600 });

const open = EXTERNAL ? {} : await startServer({ data: null, args: design });
const named = EXTERNAL ? {} : await startServer({
  data: null, listen: '0.0.0.0:0',
  args: [...design, '--no-auth', '--host', 'thorpe.internal', '--host', 'host.docker.internal', '--cors', 'https://app.example', '--cors', 'http://app.example:3000'],
});
const guarded = EXTERNAL ? {} : await startServer({ data: null, args: [...design, '--keys', keyFile, '--cors', 'https://app.example'] });
if (!EXTERNAL) named.endpoint = named.endpoint.replace('0.0.0.0', '127.0.0.1');

const ROUTES = [
  { method: 'POST', path: '/', headers: target('ListTables'), body: '{}' },
  { method: 'POST', path: '/', headers: { 'x-amz-target': 'DynamoDBStreams_20120810.ListStreams', 'content-type': 'application/x-amz-json-1.0' }, body: '{}' },
  { method: 'GET', path: '/' },
  { method: 'GET', path: '/', headers: { accept: 'text/html' } },
  { method: 'GET', path: '/healthz' },
  { method: 'GET', path: '/metrics' },
  { method: 'GET', path: '/api' },
  { method: 'GET', path: '/api/shelves/openapi.json' },
  { method: 'POST', path: '/api/shelves/readers', headers: { 'content-type': 'application/json' }, body: '{"name":"eve","password":"correct horse"}' },
  { method: 'POST', path: '/api/shelves/readers', headers: { 'content-type': 'text/plain' }, body: '{"name":"eve","password":"correct horse"}' },
  { method: 'GET', path: '/api/shelves/readers/eve', headers: { accept: 'text/event-stream' } },
  { method: 'GET', path: '/console' },
  { method: 'GET', path: '/console/' },
  { method: 'GET', path: '/console/api/session', headers: { 'x-thorpe-console': '1' } },
  { method: 'GET', path: '/nothing' },
  { method: 'HEAD', path: '/healthz' },
];
const FOREIGN_NAMES = ['evil.example', 'evil.example:80', 'localhost.evil.example', '127.0.0.1.evil.example', 'thorpe.internal'];

const send = (server, route, headers) => request({ endpoint: server.endpoint, ...route, headers: { ...route.headers, ...headers } });
const corsHeaders = (reply) => Object.keys(reply.headers).filter((name) => name.startsWith('access-control-'));
const nobodySignedUp = async (server) => {
  const reply = await send(server, { method: 'GET', path: '/api/shelves/readers/eve' });
  assert.equal(reply.status, 404, reply.text);
};

thorpeTest('a foreign name that leads to a server without keys is refused on every route', async () => {
  for (const host of [...FOREIGN_NAMES, '10.0.0.1']) {
    for (const route of ROUTES) {
      const reply = await send(open, route, { host });
      assert.equal(reply.status, 403, `${route.method} ${route.path} as ${host}: ${reply.text}`);
    }
  }
  await nobodySignedUp(open);
  const wire = await connect(open.endpoint); // and one without a name
  wire.send('GET /healthz HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n');
  await until('the answer', () => wire.closed);
  assert.match(wire.text(), /^HTTP\/1\.1 403 /);
});

thorpeTest('the refusal has the form of the API that was called, and says what to do', async () => {
  const dynamo = await send(open, ROUTES[0], { host: 'evil.example' });
  assert.equal(errorName(dynamo), 'AccessDeniedException');
  assert.equal(dynamo.headers['content-type'], 'application/x-amz-json-1.0');
  assert.match(dynamo.json.message ?? dynamo.json.Message, /--host NAME/);
  const rest = await send(open, { method: 'GET', path: '/api/shelves' }, { host: 'evil.example' });
  assert.equal(rest.headers['content-type'], 'application/problem+json');
  assert.deepEqual([rest.json.status, rest.json.type], [403, 'urn:thorpe:forbidden']);
  assert.match(rest.json.detail, /--host NAME/);
  const page = await send(open, { method: 'GET', path: '/api/shelves' }, { origin: 'https://evil.example' });
  assert.match(page.json.detail, /--cors ORIGIN/);
});

thorpeTest('loopback names are fine with any port, as are clients of HTTP/1.0 that send none', async () => {
  for (const host of ['localhost', 'localhost:1', 'LocalHost:8000', 'a.localhost', '127.0.0.1', '127.9.9.9:9', '[::1]:8000']) {
    for (const path of ['/healthz', '/metrics', '/api', '/console/']) assert.equal((await send(open, { method: 'GET', path }, { host })).status, 200, `${host} ${path}`);
    assert.equal((await send(open, ROUTES[0], { host })).status, 200, host);
  }
  const wire = await connect(open.endpoint);
  wire.send('GET /healthz HTTP/1.0\r\n\r\n');
  await until('the answer', () => wire.closed);
  assert.match(wire.text(), /^HTTP\/1\.1 200 /);
});

thorpeTest('requests of foreign pages are refused on every route, whatever form they have', async () => {
  const pages = [{ origin: 'https://evil.example' }, { origin: 'null' }, { origin: 'http://localhost.evil.example' }, { origin: 'https://app.example' },
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
    { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' }];
  for (const page of pages) {
    for (const route of ROUTES) {
      const reply = await send(open, route, page);
      assert.equal(reply.status, 403, `${route.method} ${route.path} ${JSON.stringify(page)}: ${reply.text}`);
      assert.deepEqual(corsHeaders(reply), []);
    }
  }
  await nobodySignedUp(open);
});

thorpeTest('a link on a foreign page may lead to the console, and nowhere else', async () => {
  const visit = { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document', accept: 'text/html' };
  assert.equal((await send(open, { method: 'GET', path: '/' }, visit)).status, 302);
  assert.equal((await send(open, { method: 'GET', path: '/console' }, visit)).status, 302);
  assert.equal((await send(open, { method: 'GET', path: '/console/' }, visit)).status, 200);
  for (const path of ['/api', '/metrics', '/healthz', '/api/shelves/readers/eve', '/console/api/session']) assert.equal((await send(open, { method: 'GET', path }, visit)).status, 403, path);
});

thorpeTest('preflights of foreign pages are refused, those of pages of this machine allowed', async () => {
  const ask = (server, path, origin) => send(server, { method: 'OPTIONS', path }, {
    origin, 'access-control-request-method': 'PATCH', 'access-control-request-headers': 'authorization,content-type,idempotency-key,if-match,x-amz-target',
  });
  for (const path of ['/', '/api/shelves/readers', '/metrics']) {
    for (const server of [open, guarded]) {
      const refused = await ask(server, path, 'https://evil.example');
      assert.equal(refused.status, 403);
      assert.deepEqual(corsHeaders(refused), []);
      for (const origin of ['http://localhost:3000', 'https://127.0.0.1', 'http://[::1]:9', 'http://a.localhost:8000']) {
        const allowed = await ask(server, path, origin);
        assert.equal(allowed.status, 200);
        assert.equal(allowed.headers['access-control-allow-origin'], origin);
        assert.match(allowed.headers.vary, /Origin/);
        for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']) assert.ok(allowed.headers['access-control-allow-methods'].includes(method));
        for (const name of ['authorization', 'idempotency-key', 'if-match', 'x-amz-target']) assert.ok(allowed.headers['access-control-allow-headers'].includes(name));
        assert.ok(Number(allowed.headers['access-control-max-age']) > 0);
      }
    }
  }
});

thorpeTest('--host and --cors name more, on a server others can reach', async () => {
  for (const host of ['thorpe.internal:8000', 'HOST.docker.internal', '10.1.2.3', '[fd00::1]:80', 'localhost']) {
    assert.equal((await send(named, ROUTES[0], { host })).status, 200, host);
  }
  for (const host of ['evil.example', 'a.thorpe.internal', 'thorpe.internal.evil.example']) assert.equal((await send(named, ROUTES[0], { host })).status, 403, host);
  for (const origin of ['https://app.example', 'http://app.example:3000', 'http://localhost:1']) {
    const reply = await send(named, { method: 'GET', path: '/api' }, { origin });
    assert.equal(reply.status, 200);
    assert.equal(reply.headers['access-control-allow-origin'], origin);
  }
  for (const origin of ['http://app.example', 'https://app.example:3000', 'https://a.app.example']) {
    assert.equal((await send(named, { method: 'GET', path: '/api' }, { origin })).status, 403, origin);
  }
  // Its own pages: of whichever name it is called by.
  assert.equal((await send(named, ROUTES[0], { host: 'thorpe.internal:8000', origin: 'http://thorpe.internal:8000' })).status, 200);
  assert.equal((await send(named, ROUTES[0], { host: '10.1.2.3:8000', origin: 'http://10.1.2.3:8000' })).status, 200);
});

thorpeTest('with keys every name is fine, and CORS headers still go to named origins only', async () => {
  for (const host of FOREIGN_NAMES) assert.equal((await send(guarded, { method: 'GET', path: '/api' }, { host })).status, 200, host);
  const foreign = await send(guarded, { method: 'GET', path: '/api' }, { origin: 'https://evil.example' });
  assert.equal(foreign.status, 200);
  assert.deepEqual(corsHeaders(foreign), []);
  const own = await send(guarded, { method: 'GET', path: '/api' }, { origin: 'https://app.example' });
  assert.equal(own.headers['access-control-allow-origin'], 'https://app.example');
  assert.equal((await send(guarded, ROUTES[0], { origin: 'https://app.example' })).status, 400); // and has to be signed
});

thorpeTest('replies tell browsers not to guess and not to embed', async () => {
  for (const path of ['/api', '/api/shelves/openapi.json', '/metrics', '/healthz', '/nothing', '/console/']) {
    const { headers } = await send(open, { method: 'GET', path });
    assert.equal(headers['x-content-type-options'], 'nosniff', path);
    assert.equal(headers['cross-origin-resource-policy'], 'same-origin', path);
  }
});

thorpeTest('refusals are counted', async () => {
  const count = async () => Number(/^thorpe_http_foreign_total (\d+)$/m.exec((await send(open, { method: 'GET', path: '/metrics' })).text)[1]);
  const before = await count();
  await send(open, ROUTES[0], { host: 'evil.example' });
  assert.equal(await count(), before + 1);
});

thorpeTest('--cors * is possible, and warned of', async () => {
  const any = await startServer({ data: null, args: ['--cors', '*'] });
  const reply = await send(any, ROUTES[0], { origin: 'https://evil.example' });
  assert.equal(reply.status, 200);
  assert.equal(reply.headers['access-control-allow-origin'], '*');
  assert.equal((await send(any, ROUTES[0], { host: 'evil.example', origin: 'http://evil.example' })).status, 403);
  assert.match(any.log(), /warn.*--cors '\*' without --keys/);
  await any.stop();
});

thorpeTest('what is no name and no origin is refused at the start', async () => {
  for (const args of [['--host', 'http://a'], ['--host', 'a:80'], ['--cors', 'app.example'], ['--cors', 'https://app.example/'], ['--cors', 'null']]) {
    const { code, stderr } = await runToEnd(['serve', '--listen', '127.0.0.1:0', '--in-memory', ...args]);
    assert.equal(code, 2, args.join(' '));
    assert.match(stderr, /such as/);
  }
});

thorpeTest('the servers of these tests end well', async () => {
  for (const server of [open, named, guarded]) await server.stop();
});
