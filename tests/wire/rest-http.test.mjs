// The REST API as HTTP: workers, order, clients that leave, shutdown, CORS, HEAD, gzip; and the command line around it.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync, gzipSync } from 'node:zlib';
import { EXTERNAL, call, connect, freshDirectory, request, runToEnd, startServer, thorpeTest, until, verify } from './harness.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const folder = join(here, '..', 'designs', 'shelves');
const design = join(folder, 'shelves.yaml');
const secretFile = join(freshDirectory(), 'secret');

const start = (options = {}) => startServer({ ...options, args: ['--design', design, '--secret-file', secretFile, ...(options.args ?? [])] });
const shelves = EXTERNAL ? {} : await start(); // stopped by the last test

const tokens = new Map(); // of promises
/** A token for a reader, as `thorpe token` makes them. */
function tokenOf(subject) {
  if (!tokens.has(subject)) {
    tokens.set(subject, runToEnd(['token', 'shelves', '--subject', subject, '--secret-file', secretFile]).then(({ code, stdout, stderr }) => {
      assert.equal(code, 0, stderr);
      return stdout.trim();
    }));
  }
  return tokens.get(subject);
}

/** One request below /api/shelves; `as` logs in. */
async function api(method, path, { as, body, headers = {}, endpoint = shelves.endpoint, agent } = {}) {
  const all = { ...headers };
  if (as) all.authorization = `Bearer ${await tokenOf(as)}`;
  if (body !== undefined) all['content-type'] ??= 'application/json';
  return request({ method, path: `/api/shelves${path}`, headers: all, body, endpoint, agent });
}

const expectStatus = (reply, status) => assert.equal(reply.status, status, reply.text);
const password = 'correct horse';
let serial = 0;
/** A reader of its own for each test. */
async function reader(options = {}) {
  serial += 1;
  const name = `reader${serial}`;
  expectStatus(await api('POST', '/readers', { ...options, body: { name, password } }), 201);
  return name;
}

/** Everything a pattern lists, page after page. */
async function all(path, options) {
  const items = [];
  for (let query = '?limit=100'; query;) {
    const reply = await api('GET', path + query, options);
    expectStatus(reply, 200);
    items.push(...reply.json.items);
    query = reply.json.next ? `?limit=100&after=${encodeURIComponent(reply.json.next)}` : '';
  }
  return items;
}

async function bytesOf(method, path, { as, body } = {}) {
  const payload = body === undefined ? '' : JSON.stringify(body);
  return `${method} /api/shelves${path} HTTP/1.1\r\nHost: localhost\r\n`
    + (as ? `Authorization: Bearer ${await tokenOf(as)}\r\n` : '')
    + (payload ? `Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(payload)}\r\n` : '')
    + `\r\n${payload}`;
}

/** The HTTP replies that have come over a bare connection. */
function replies(wire) {
  const list = [];
  let rest = wire.received;
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    if (end < 0) return list;
    const head = rest.subarray(0, end).toString('latin1');
    const length = Number(/^content-length: *(\d+)/im.exec(head)?.[1] ?? 0);
    if (rest.length < end + 4 + length) return list;
    list.push({ status: Number(head.split(' ')[1]), head, body: rest.subarray(end + 4, end + 4 + length).toString() });
    rest = rest.subarray(end + 4 + length);
  }
}

const untilReplies = (wire, count) => until(`${count} replies`, () => {
  const list = replies(wire);
  if (list.length < count && wire.closed) throw new Error(`closed after ${list.length} replies`);
  return list.length >= count && list;
});

// ---------------------------------------------------------------- addresses

thorpeTest('GET /api lists the designs, and HEAD has the same head', async () => {
  const list = await request({ method: 'GET', path: '/api', endpoint: shelves.endpoint });
  expectStatus(list, 200);
  assert.equal(list.json.designs.length, 1);
  const [shown] = list.json.designs;
  assert.equal(shown.design, 'shelves');
  assert.equal(shown.title, 'Shelves');
  assert.equal(shown.base, '/api/shelves');
  expectStatus(await request({ method: 'GET', path: shown.openapi, endpoint: shelves.endpoint }), 200);
  const head = await request({ method: 'HEAD', path: '/api', endpoint: shelves.endpoint });
  expectStatus(head, 200);
  assert.equal(head.bytes.length, 0);
  assert.equal(head.headers['content-length'], String(list.bytes.length));
});

thorpeTest('what is not there is a problem document', async () => {
  for (const [method, path, status] of [
    ['GET', '/api/nothing', 404], ['POST', '/api/nothing/users', 404], ['GET', '/api/%ff%00', 404], ['POST', '/api', 405], ['GET', '/api/shelves/nothing', 404],
  ]) {
    const reply = await request({ method, path, endpoint: shelves.endpoint });
    expectStatus(reply, status);
    assert.equal(reply.headers['content-type'], 'application/problem+json', path);
    assert.equal(reply.json.status, status);
    assert.match(reply.json.type, /^urn:thorpe:/);
  }
  assert.match((await request({ method: 'GET', path: '/api/nothing', endpoint: shelves.endpoint })).json.detail, /no design nothing/);
});

thorpeTest('a body that is too large is a problem document, too', async () => {
  const wire = await connect(shelves.endpoint);
  wire.send(`POST /api/shelves/readers HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${17 * 1024 * 1024}\r\n\r\n`);
  const [reply] = await untilReplies(wire, 1);
  assert.equal(reply.status, 413);
  assert.equal(JSON.parse(reply.body).type, 'urn:thorpe:too-large');
  wire.close();
});

// ---------------------------------------------------------------- workers

thorpeTest('two hundred clients write at once, and the counter says two hundred', async () => {
  const name = await reader();
  const done = await Promise.all(Array.from({ length: 200 }, (_, i) =>
    api('PUT', `/readers/${name}/books/b${i}`, { as: name, body: { title: `Book ${i}` } })));
  for (const reply of done) expectStatus(reply, 201);
  assert.equal((await all(`/readers/${name}/books`)).length, 200);
  assert.equal((await api('GET', `/readers/${name}`)).json.books, 200);
});

thorpeTest('two hundred clients want the same thing, and one gets it', async () => {
  const name = await reader();
  const done = await Promise.all(Array.from({ length: 200 }, () =>
    api('PUT', `/readers/${name}/books/one`, { as: name, body: { title: 'One' } })));
  const statuses = done.map(({ status }) => status).sort();
  assert.deepEqual(statuses, [201, ...Array(199).fill(409)]);
  assert.equal((await api('GET', `/readers/${name}`)).json.books, 1);
});

thorpeTest('pipelined requests are answered in their order, each seeing what the one before did', async () => {
  const name = await reader();
  const book = `/readers/${name}/books/p`;
  const wire = await connect(shelves.endpoint);
  wire.send((await Promise.all([
    bytesOf('PUT', book, { as: name, body: { title: 'First' } }),
    bytesOf('GET', book),
    bytesOf('PATCH', book, { as: name, body: { title: 'Second' } }),
    bytesOf('GET', book),
    bytesOf('DELETE', book, { as: name }),
    bytesOf('GET', book),
  ])).join(''));
  const list = await untilReplies(wire, 6);
  assert.deepEqual(list.map(({ status }) => status), [201, 200, 200, 200, 204, 404]);
  assert.equal(JSON.parse(list[1].body).title, 'First');
  assert.equal(JSON.parse(list[3].body).title, 'Second');
  assert.doesNotMatch(list[4].head, /content-length/i);
  wire.close();
});

thorpeTest('a client that leaves while a worker runs harms nobody', async () => {
  const name = await reader();
  for (let i = 0; i < 60; i += 1) {
    const wire = await connect(shelves.endpoint);
    wire.send(await bytesOf('PUT', `/readers/${name}/books/gone${i}`, { as: name, body: { title: 'Gone' } }));
    if (i % 2) wire.send(await bytesOf('GET', `/readers/${name}/books`));
    await new Promise((resolve) => { setImmediate(resolve); });
    wire.close();
  }
  expectStatus(await api('PUT', `/readers/${name}/books/here`, { as: name, body: { title: 'Here' } }), 201);
  // The last of them may still be on its way; none of them may be half done.
  await until('counter and items to agree', async () =>
    (await api('GET', `/readers/${name}`)).json.books === (await all(`/readers/${name}/books`)).length);
});

thorpeTest('when too many wait it is 503 with Retry-After, and soon well again', async () => {
  const small = await start({ data: null, args: ['--limit', 'workers=1', '--limit', 'waiting=2'] });
  // All connections first, so that the requests really come at once, however busy the client is.
  const wires = await Promise.all(Array.from({ length: 40 }, () => connect(small.endpoint)));
  const crowd = await Promise.all(wires.map((_, i) => bytesOf('POST', '/readers', { body: { name: `crowd${i}`, password } })));
  wires.forEach((wire, i) => wire.send(crowd[i]));
  const done = (await Promise.all(wires.map((wire) => untilReplies(wire, 1)))).map(([reply]) => reply);
  const busy = done.filter(({ status }) => status === 503);
  assert.ok(busy.length > 0);
  assert.ok(done.some(({ status }) => status === 201));
  for (const reply of busy) {
    assert.equal(JSON.parse(reply.body).type, 'urn:thorpe:busy');
    assert.match(reply.head, /^retry-after: [1-9]/im);
  }
  for (const wire of wires) wire.close();
  expectStatus(await api('POST', '/readers', { endpoint: small.endpoint, body: { name: 'later', password } }), 201);
  await small.stop();
});

thorpeTest('stopping waits for workers, and what was acknowledged is there afterwards', async () => {
  const first = await start({ args: ['--limit', 'workers=4'] });
  const wires = await Promise.all(Array.from({ length: 16 }, () => connect(first.endpoint)));
  await Promise.all(wires.map(async (wire, i) =>
    wire.send(await bytesOf('POST', '/readers', { body: { name: `stop${i}`, password } }))));
  await until('a reply', () => wires.some((wire) => replies(wire).length)); // the others are at work, or wait for it
  await first.stop();
  await until('all connections to end', () => wires.every((wire) => wire.closed));
  const acknowledged = wires.flatMap((wire, i) => (replies(wire)[0]?.status === 201 ? [`stop${i}`] : []));
  assert.ok(acknowledged.length > 0);
  for (const wire of wires) assert.ok(wire.received.length === 0 || replies(wire).length === 1, 'half a reply');
  const second = await start({ data: first.data });
  for (const name of acknowledged) expectStatus(await api('GET', `/readers/${name}`, { endpoint: second.endpoint }), 200);
  await second.stop();
});

// ---------------------------------------------------------------- HTTP

thorpeTest('pages of this machine may call and read what they need', async () => {
  const origin = 'http://localhost:5173';
  for (const method of ['PATCH', 'PUT', 'DELETE', 'POST', 'GET']) {
    const preflight = await api('OPTIONS', '/readers', {
      headers: { origin, 'access-control-request-method': method, 'access-control-request-headers': 'authorization,if-match,idempotency-key,content-type' },
    });
    expectStatus(preflight, 200);
    assert.equal(preflight.headers['access-control-allow-origin'], origin);
    assert.match(preflight.headers['access-control-allow-methods'], new RegExp(method));
    for (const name of ['authorization', 'if-match', 'idempotency-key']) assert.ok(preflight.headers['access-control-allow-headers'].includes(name), name);
  }
  const name = await reader();
  const made = await api('PUT', `/readers/${name}/books/cors`, { as: name, body: { title: 'x' }, headers: { origin } }); // by a worker
  const read = await api('GET', `/readers/${name}/books/cors`, { headers: { origin } });                                // by the loop
  for (const reply of [made, read]) {
    assert.equal(reply.headers['access-control-allow-origin'], origin);
    assert.match(reply.headers.vary, /Origin/);
    for (const exposed of ['Location', 'ETag']) assert.ok(reply.headers['access-control-expose-headers'].includes(exposed), exposed);
  }
  assert.equal(made.headers.location, `/api/shelves/readers/${name}/books/cors`);
  assert.ok(read.headers.etag);
  // What a cache keeps of a reply to no page must not be shown to one.
  assert.match((await api('GET', `/readers/${name}/books/cors`)).headers.vary, /Origin/);
});

thorpeTest('HEAD has what GET has, but no body; 304 has neither body nor length', async () => {
  const name = await reader();
  expectStatus(await api('PUT', `/readers/${name}/books/h`, { as: name, body: { title: 'Head' } }), 201);
  const get = await api('GET', `/readers/${name}/books/h`);
  const head = await api('HEAD', `/readers/${name}/books/h`);
  expectStatus(head, 200);
  assert.equal(head.bytes.length, 0);
  for (const header of ['content-length', 'content-type', 'etag']) assert.equal(head.headers[header], get.headers[header], header);
  const same = await api('GET', `/readers/${name}/books/h`, { headers: { 'if-none-match': get.headers.etag } });
  expectStatus(same, 304);
  assert.equal(same.bytes.length, 0);
  assert.equal(same.headers['content-length'], undefined);
});

thorpeTest('bodies may be gzipped both ways', async () => {
  const name = await reader();
  const notes = 'all work and no play '.repeat(1000);
  const zipped = gzipSync(JSON.stringify({ title: 'Zipped', notes }));
  const headers = { 'content-encoding': 'gzip', 'content-type': 'application/json', 'content-length': zipped.length };
  expectStatus(await api('PUT', `/readers/${name}/books/z`, { as: name, body: zipped, headers }), 201);
  const reply = await api('GET', `/readers/${name}/books/z`, { headers: { 'accept-encoding': 'gzip' } });
  assert.equal(reply.headers['content-encoding'], 'gzip');
  assert.equal(JSON.parse(gunzipSync(reply.bytes)).notes, notes);
  const broken = await api('PUT', `/readers/${name}/books/y`, { as: name, body: 'no gzip', headers: { 'content-encoding': 'gzip' } });
  expectStatus(broken, 400);
  assert.equal(broken.json.type, 'urn:thorpe:malformed');
  const strange = await api('PUT', `/readers/${name}/books/y`, { as: name, body: '{}', headers: { 'content-encoding': 'br' } });
  expectStatus(strange, 415);
  assert.equal(strange.json.type, 'urn:thorpe:media-type');
});

thorpeTest('with --keys the API of designs still takes its own tokens, and DynamoDB\'s a signature', async () => {
  const keys = join(freshDirectory(), 'keys');
  writeFileSync(keys, 'AKID SECRET\n', { mode: 0o600 });
  const locked = await start({ data: null, args: ['--keys', keys] });
  expectStatus(await api('POST', '/readers', { endpoint: locked.endpoint, body: { name: 'keyed', password } }), 201);
  expectStatus(await api('PUT', '/readers/keyed/books/k', { endpoint: locked.endpoint, as: 'keyed', body: { title: 'x' } }), 201);
  expectStatus(await api('PUT', '/readers/keyed/books/l', { endpoint: locked.endpoint, body: { title: 'x' } }), 401);
  assert.equal((await call('ListTables', {}, { endpoint: locked.endpoint })).status, 400);
  await locked.stop();
});

// ---------------------------------------------------------------- serving

thorpeTest('the server says where to look', async () => {
  assert.match(shelves.log(), new RegExp(`${shelves.endpoint}/api/shelves {2}Shelves, 2 entities, 2 access patterns`));
  assert.match(shelves.log(), /curl http/);
});

thorpeTest('two designs of one name, or of one table, are refused', async () => {
  const dir = freshDirectory();
  const other = (name, text) => {
    const file = join(dir, `${name}.yaml`);
    writeFileSync(file, text);
    return file;
  };
  const plain = (name, table) => `design: ${name}\ntitle: T\ntable: ${table}\nkey: [PK, SK]\nentities:\n  A:\n    path: /as/<a>\n    attributes: {a: string, id}\n`
    + '    keys: {PK: A#<a>, SK: A}\n    allow: {read: anyone}\n';
  for (const [file, message] of [
    [other('same', plain('shelves', 'elsewhere')), /both called shelves/],
    [other('table', plain('others', 'shelves')), /both want the table shelves/],
  ]) {
    const { code, stderr } = await runToEnd(['serve', '--in-memory', '--listen', '127.0.0.1:0', '--design', design, '--design', file]);
    assert.equal(code, 1, stderr);
    assert.match(stderr, message);
  }
});

thorpeTest('demo data is loaded once, by the rules, at its own times', async () => {
  const demo = ['--demo', join(folder, 'demo')];
  const first = await start({ args: demo });
  assert.match(first.log(), /demo data of shelves: 5 steps loaded, 1 failed/);
  assert.match(first.log(), /step 5 \(PUT \/readers\/grace\/books\/stolen\): 4\d\d /);
  assert.match(first.log(), /log in as ada \/ difference/);
  const { endpoint } = first;
  const ada = (await api('GET', '/readers/ada', { endpoint })).json;
  assert.equal(ada.books, 2);
  assert.ok(Math.abs(Date.now() - 3 * 86_400_000 - Date.parse(ada.joined)) < 60_000, ada.joined);
  assert.equal((await api('GET', '/readers/grace', { endpoint })).json.joined, '2026-01-15T10:30:00Z');
  assert.deepEqual((await all('/readers/ada/newest', { endpoint })).map(({ book }) => book), ['engine', 'notes']);
  const login = await api('POST', '/login', { endpoint, body: { name: 'ada', password: 'difference' } });
  expectStatus(login, 200);
  assert.equal(login.json.subject, 'ada');
  expectStatus(await api('DELETE', '/readers/ada/books/notes', { endpoint, headers: { authorization: `Bearer ${login.json.token}` } }), 204);
  await first.stop();
  const second = await start({ data: first.data, args: demo });
  assert.doesNotMatch(second.log(), /demo data of/);
  assert.equal((await api('GET', '/readers/ada', { endpoint: second.endpoint })).json.books, 1);
  await second.stop();
});

// ---------------------------------------------------------------- thorpe call

const thorpeCall = (args) => runToEnd(['call', ...args, '--endpoint', shelves.endpoint, '--secret-file', secretFile]);

thorpeTest('thorpe call lists patterns, runs one, and explains it', async () => {
  const name = await reader();
  for (let i = 0; i < 3; i += 1) expectStatus(await api('PUT', `/readers/${name}/books/c${i}`, { as: name, body: { title: `C${i}` } }), 201);
  const list = await thorpeCall(['shelves']);
  assert.equal(list.code, 0, list.stderr);
  assert.match(list.stdout, /"newest books" reader=…/);
  const plain = await thorpeCall(['shelves', 'books', `reader=${name}`]);
  assert.equal(plain.code, 0, plain.stderr);
  assert.deepEqual(JSON.parse(plain.stdout).items.map(({ book }) => book), ['c0', 'c1', 'c2']);
  const explained = await thorpeCall(['shelves', 'newest books', '--explain', `reader=${name}`, '--as', name]);
  assert.equal(explained.code, 0, explained.stderr);
  assert.match(explained.stdout, /1\. Query: 3 items, 0\.5 read units?, /);
  assert.match(explained.stdout, /"IndexName": "GSI1"/);
  assert.match(explained.stdout, /\n1 request, 0\.5 read units?, /);
});

thorpeTest('thorpe call says what is wrong', async () => {
  for (const [args, code, message] of [
    [['shelves', 'bokks', 'reader=a'], 1, /no access pattern 'bokks'.*'books'/],
    [['shelfs', 'books', 'reader=a'], 1, /no design 'shelfs'; did you mean 'shelves'/],
    [['shelves', 'books'], 1, /reader/],
    [['shelves', 'books', 'a'], 2, /not NAME=VALUE/],
    [[], 2, /which design/],
    [['shelves', 'books', 'reader=a', '--explian'], 2, /did you mean --explain/],
  ]) {
    const run = await thorpeCall(args);
    assert.equal(run.code, code, `${args}: ${run.stdout}${run.stderr}`);
    assert.match(run.stderr, message);
  }
  const nobody = await runToEnd(['call', 'shelves', 'books', '--endpoint', 'http://127.0.0.1:1', '--secret-file', secretFile]);
  assert.equal(nobody.code, 1);
  assert.match(nobody.stderr, /is 'thorpe serve' running/);
  const forged = await runToEnd(['call', 'shelves', 'books', 'reader=a', '--endpoint', shelves.endpoint, '--token', 'x.y.z']);
  assert.equal(forged.code, 1);
  assert.match(forged.stderr, /refuses this token/);
});

// ---------------------------------------------------------------- the end

thorpeTest('after all that it stops in good order, and every index agrees with its table', async () => {
  await shelves.stop();
  await verify(shelves.data);
});
