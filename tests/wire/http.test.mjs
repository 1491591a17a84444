// HTTP: connections, bodies, compression, checksums, CORS, and clients that are slow or send too much.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import http from 'node:http';
import { test } from 'node:test';
import { deflateSync, gunzipSync, gzipSync, inflateSync } from 'node:zlib';
import {
  EXTERNAL, call, connect, createTable, ddb, doc, errorName, freshDirectory, request, requestBytes, server, startServer, tableRequest, target, thorpeTest, until,
} from './harness.mjs';

const TableName = await createTable({ key: ['pk'] });
for (let i = 0; i < 8; i += 1) await doc.put({ TableName, Item: { pk: `k${i}`, v: i } });
await doc.put({ TableName, Item: { pk: 'large', data: 'abcdefgh'.repeat(10_000) } });
const getBody = (pk) => ({ TableName, Key: { pk: { S: pk } } });

const table = Array.from({ length: 256 }, (_, n) => {
  let c = n;
  for (let k = 0; k < 8; k += 1) c = c & 1 ? 0xedb88320 ^ (c >>> 1) : c >>> 1;
  return c >>> 0;
});
const crc32 = (bytes) => {
  let c = 0xffffffff;
  for (const byte of bytes) c = table[(c ^ byte) & 0xff] ^ (c >>> 8);
  return (c ^ 0xffffffff) >>> 0;
};

/** Splits what came over a connection into its HTTP replies. */
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

test('every reply, good or bad, has an id and a true checksum', async () => {
  const ids = new Set();
  for (const reply of [
    await call('GetItem', getBody('k1')), await call('GetItem', getBody('large')), await call('GetItem', '{}'), await call('ListTables', {}),
  ]) {
    assert.match(reply.headers['x-amzn-requestid'], /^[0-9A-Za-z-]{36,52}$/);
    ids.add(reply.headers['x-amzn-requestid']);
    assert.equal(Number(reply.headers['x-amz-crc32']), crc32(reply.bytes));
    assert.match(reply.headers['content-type'], /^application\/x-amz-json-1\.0/);
  }
  assert.equal(ids.size, 4);
});

test('an error is JSON with __type and a message', async () => {
  const reply = await call('GetItem', { TableName: 'no-such-table', Key: { pk: { S: 'a' } } });
  assert.equal(reply.status, 400);
  assert.match(reply.json.__type, /^com\.amazonaws\.dynamodb\.v20120810#ResourceNotFoundException$/);
  assert.equal(typeof (reply.json.message ?? reply.json.Message), 'string');
});

test('one connection serves many requests', async () => {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const ports = new Set();
  agent.on('free', (socket) => ports.add(socket.localPort));
  for (let i = 0; i < 20; i += 1) assert.equal((await call('GetItem', getBody('k1'), { agent })).status, 200);
  agent.destroy();
  assert.equal(ports.size, 1);
});

thorpeTest('pipelined requests are answered in their order', async () => {
  const wire = await connect();
  const order = ['k3', 'k0', 'k7', 'large', 'k1', 'k5'];
  wire.send(Buffer.concat(order.map((pk) => requestBytes('GetItem', getBody(pk)))));
  const list = await untilReplies(wire, order.length);
  assert.deepEqual(list.map(({ body }) => JSON.parse(body).Item.pk.S), order);
  wire.close();
});

thorpeTest('pipelined writes and reads keep their order too', async () => {
  const wire = await connect();
  const steps = [];
  for (let i = 0; i < 12; i += 1) {
    steps.push(requestBytes('UpdateItem', {
      TableName, Key: { pk: { S: 'pipe' } }, UpdateExpression: 'ADD n :one', ExpressionAttributeValues: { ':one': { N: '1' } }, ReturnValues: 'UPDATED_NEW',
    }));
    steps.push(requestBytes('GetItem', { ...getBody('pipe'), ConsistentRead: true }));
  }
  wire.send(Buffer.concat(steps));
  const list = await untilReplies(wire, 24);
  const numbers = list.map(({ body }) => JSON.parse(body)).map(({ Item, Attributes }) => Number((Item ?? Attributes).n.N));
  assert.deepEqual(numbers, Array.from({ length: 24 }, (_, i) => Math.floor(i / 2) + 1));
  wire.close();
});

test('a request may arrive byte by byte', async () => {
  const wire = await connect();
  wire.socket.setNoDelay(true);
  for (const byte of requestBytes('GetItem', getBody('k2'))) wire.send(Buffer.from([byte]));
  const [{ status, body }] = await untilReplies(wire, 1);
  assert.equal(status, 200);
  assert.equal(JSON.parse(body).Item.v.N, '2');
  wire.close();
});

test('a request body may be chunked', async () => {
  const wire = await connect();
  const body = JSON.stringify(getBody('k4'));
  const chunks = [body.slice(0, 1), body.slice(1, 10), body.slice(10)].map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('');
  wire.send(requestBytes('GetItem', '', { 'content-length': undefined, 'transfer-encoding': 'chunked' }));
  wire.send(`${chunks}0\r\n\r\n`);
  const [reply] = await untilReplies(wire, 1);
  assert.equal(JSON.parse(reply.body).Item.v.N, '4');
  wire.close();
});

thorpeTest('a request body may be gzip', async () => {
  const packed = gzipSync(JSON.stringify(getBody('k6')));
  const reply = await call('GetItem', packed, { headers: { 'content-encoding': 'gzip' } });
  assert.equal(reply.status, 200);
  assert.equal(reply.json.Item.v.N, '6');
  const broken = await call('GetItem', Buffer.from('not gzip at all'), { headers: { 'content-encoding': 'gzip' } });
  assert.equal(broken.status, 400);
  const bomb = await call('PutItem', gzipSync(Buffer.alloc(64 * 1024 * 1024, 0x20)), { headers: { 'content-encoding': 'gzip' } });
  assert.ok(bomb.status >= 400 && bomb.status < 500, `a bomb is answered with ${bomb.status}`);
});

thorpeTest('a large reply is gzip when the client takes it, and the checksum is of what was sent', async () => {
  const reply = await call('GetItem', getBody('large'), { headers: { 'accept-encoding': 'gzip' } });
  assert.equal(reply.headers['content-encoding'], 'gzip');
  assert.equal(Number(reply.headers['x-amz-crc32']), crc32(reply.bytes));
  assert.equal(JSON.parse(gunzipSync(reply.bytes)).Item.data.S.length, 80_000);
  const plain = await call('GetItem', getBody('large'), { headers: { 'accept-encoding': 'identity' } });
  assert.equal(plain.headers['content-encoding'], undefined);
});

thorpeTest('deflate is spoken too, and the weights of what a client accepts are heeded', async () => {
  const asked = await call('GetItem', deflateSync(JSON.stringify(getBody('k6'))), { headers: { 'content-encoding': 'deflate' } });
  assert.equal(asked.json.Item.v.N, '6');
  const broken = await call('GetItem', Buffer.from('not deflate at all'), { headers: { 'content-encoding': 'deflate' } });
  assert.equal(broken.status, 400);
  const unknown = await call('GetItem', JSON.stringify(getBody('k6')), { headers: { 'content-encoding': 'garbage' } });
  assert.equal(unknown.status, 415);
  const large = (accepted) => call('GetItem', getBody('large'), { headers: { 'accept-encoding': accepted } });
  const reply = await large('gzip;q=0.5, deflate');
  assert.equal(reply.headers['content-encoding'], 'deflate');
  assert.equal(Number(reply.headers['x-amz-crc32']), crc32(reply.bytes));
  assert.equal(JSON.parse(inflateSync(reply.bytes)).Item.data.S.length, 80_000);
  assert.equal((await large('*')).headers['content-encoding'], 'gzip');
  assert.equal((await large('gzip;q=0')).headers['content-encoding'], undefined);
});

thorpeTest('Expect: 100-continue is answered before the body', async () => {
  const wire = await connect();
  const body = JSON.stringify(getBody('k1'));
  wire.send(requestBytes('GetItem', '', { 'content-length': body.length, expect: '100-continue' }));
  await until('100 Continue', () => wire.text().startsWith('HTTP/1.1 100'));
  wire.send(body);
  await until('the reply', () => wire.text().includes('"Item"'));
  wire.close();
});

test('Connection: close is honoured', async () => {
  const wire = await connect();
  wire.send(requestBytes('GetItem', getBody('k1'), { connection: 'close' }));
  await until('the server to close', () => wire.closed);
  assert.match(wire.text(), /^HTTP\/1\.1 200/);
});

test('browsers get their CORS headers on pages of this machine', async () => {
  const origin = 'http://localhost:3000';
  const preflight = await request({
    method: 'OPTIONS',
    headers: { origin, 'access-control-request-method': 'POST', 'access-control-request-headers': 'authorization,content-type,x-amz-target,x-amz-date' },
  });
  assert.ok([200, 204].includes(preflight.status));
  const isAllowed = (reply) => assert.ok(['*', origin].includes(reply.headers['access-control-allow-origin']));
  isAllowed(preflight);
  assert.match(preflight.headers['access-control-allow-methods'], /POST/);
  for (const name of ['authorization', 'x-amz-target', 'x-amz-date', 'content-type']) {
    assert.ok(/\*/.test(preflight.headers['access-control-allow-headers']) || preflight.headers['access-control-allow-headers'].toLowerCase().includes(name), name);
  }
  const reply = await call('ListTables', {}, { headers: { origin } });
  isAllowed(reply);
  assert.match(reply.headers['access-control-expose-headers'] ?? '', /x-amz-?n?-?requestid/i);
});

test('a request without a target is no operation', async () => {
  for (const headers of [{}, { 'x-amz-target': 'nonsense' }, { 'x-amz-target': 'DynamoDB_20120810.' }, { 'x-amz-target': 'SomethingElse_20120810.GetItem' }]) {
    const { 'x-amz-target': _, ...rest } = target('x');
    const reply = await request({ headers: { ...rest, ...headers }, body: '{}' });
    assert.ok(reply.status >= 400 && reply.status < 500, `${JSON.stringify(headers)}: ${reply.status}`);
    if (!EXTERNAL && headers['x-amz-target']) assert.equal(errorName(reply), 'UnknownOperationException');
  }
});

thorpeTest('headers that are too long or too many are refused', async () => {
  for (const extra of [{ 'x-long': 'x'.repeat(200_000) }, Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`x-h${i}`, 'v']))]) {
    const wire = await connect();
    wire.send(requestBytes('ListTables', {}, extra));
    await until('a refusal', () => wire.closed || replies(wire).length > 0);
    if (replies(wire).length) assert.ok([400, 413, 431].includes(replies(wire)[0].status), wire.text().slice(0, 200));
    await until('the connection to end', () => wire.closed);
  }
  assert.equal((await call('ListTables', {})).status, 200);
});

thorpeTest('a body over 16 MB is refused, announced or not', async () => {
  const announced = await connect();
  announced.send(requestBytes('PutItem', '', { 'content-length': 17 * 1024 * 1024 }));
  const [refusal] = await untilReplies(announced, 1);
  assert.equal(refusal.status, 413);
  announced.close();

  const chunked = await connect();
  chunked.send(requestBytes('PutItem', '', { 'content-length': undefined, 'transfer-encoding': 'chunked' }));
  const chunk = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(0x100000, 0x20), Buffer.from('\r\n')]);
  for (let i = 0; i < 18 && !chunked.closed; i += 1) chunked.send(chunk);
  await until('a refusal', () => chunked.closed || replies(chunked).length > 0);
  if (replies(chunked).length) assert.equal(replies(chunked)[0].status, 413);
  chunked.close();
  assert.equal((await call('ListTables', {})).status, 200);
});

thorpeTest('what is not HTTP is refused without harm', async () => {
  for (const garbage of ['\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 'GARBAGE\r\n\r\n', 'GET / HTTP/9.9\r\n\r\n', '\0\0\0\0\0\0\0\0\r\n\r\n', 'POST / HTTP/1.1\r\ncontent-length: -5\r\n\r\n',
    'POST / HTTP/1.1\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n', 'POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzzz\r\n']) {
    const wire = await connect();
    wire.send(Buffer.from(garbage, 'latin1'));
    wire.socket.end();
    await until(`an end for ${JSON.stringify(garbage)}`, () => wire.closed);
    if (wire.received.length) assert.match(wire.text(), /^HTTP\/1\.1 [45]\d\d/);
  }
  assert.equal((await call('ListTables', {})).status, 200);
});

test('a request cut off in the middle does nothing', async () => {
  const bytes = requestBytes('PutItem', { TableName, Item: { pk: { S: 'cut' } } });
  for (const cut of [10, 60, bytes.length - 40, bytes.length - 1]) {
    const wire = await connect();
    wire.send(bytes.subarray(0, cut));
    wire.socket.end();
    await until('the server to give up', () => wire.closed);
  }
  assert.equal((await ddb.getItem({ TableName, Key: { pk: { S: 'cut' } }, ConsistentRead: true })).Item, undefined);
});

test('many silent and half-done clients do not hold up the others', async () => {
  const half = requestBytes('GetItem', getBody('k1'));
  const wires = await Promise.all(Array.from({ length: 100 }, () => connect()));
  wires.forEach((wire, i) => wire.send(half.subarray(0, i % half.length)));
  for (let i = 0; i < 20; i += 1) assert.equal((await call('GetItem', getBody('k1'))).status, 200);
  for (const wire of wires) wire.close();
});

test('a thousand connections at once are served', async () => {
  const results = await Promise.all(Array.from({ length: 1000 }, (_, i) => call('GetItem', getBody(`k${i % 8}`))));
  assert.ok(results.every(({ status }, i) => status === 200 && results[i].json.Item.v.N === String(i % 8)));
});

thorpeTest('/healthz and /metrics answer', async () => {
  const health = await request({ method: 'GET', path: '/healthz' });
  assert.equal(health.status, 200);
  const metrics = await request({ method: 'GET', path: '/metrics' });
  assert.equal(metrics.status, 200);
  assert.match(metrics.headers['content-type'], /^text\/plain/);
  for (const line of metrics.text.trim().split('\n')) {
    assert.match(line, /^(# (HELP|TYPE) [a-zA-Z_:][\w:]* .+|[a-zA-Z_:][\w:]*(\{[^}]*\})? [-+0-9.eE]+(NaN|Inf)?)$/, 'Prometheus text format');
  }
  assert.match(metrics.text, /GetItem/);
});

/** How many writes were written by the thread that received them, instead of the writer's. */
const alone = async (endpoint) => Number(/^thorpe_committed_alone_total (\d+)/m.exec((await request({ method: 'GET', path: '/metrics', endpoint })).text)[1]);

thorpeTest('the only client\'s writes are written by the thread that received them, and last', async () => {
  const data = freshDirectory();
  let own = await startServer({ data, args: ['--threads', '1'] });
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  const options = () => ({ agent, endpoint: own.endpoint });
  const description = tableRequest({ key: ['pk'] });
  assert.equal((await call('CreateTable', description, options())).status, 200);
  const { TableName: name } = description;
  let n = 0;
  const add = () => call('UpdateItem', { TableName: name, Key: { pk: { S: 'n' } }, UpdateExpression: 'ADD v :one', ExpressionAttributeValues: { ':one': { N: '1' } } }, options());
  // /metrics comes over a connection of its own: for the loop there is another client then, for a moment.
  await until('writes by the loop itself', async () => {
    const before = await alone(own.endpoint);
    for (const end = Date.now() + 100; Date.now() < end; n += 1) assert.equal((await add()).status, 200);
    return await alone(own.endpoint) > before;
  });
  await own.kill();
  own = await startServer({ data });
  const { json } = await call('GetItem', { TableName: name, Key: { pk: { S: 'n' } } }, options());
  assert.equal(json.Item.v.N, String(n), 'an acknowledged write is on disk');
  agent.destroy();
  await own.stop();
});

thorpeTest('of thousands of writes sent at once the loop waits for one in a turn: others get theirs', async () => {
  const own = await startServer({ data: freshDirectory(), args: ['--threads', '1'] });
  const description = tableRequest({ key: ['pk'] });
  assert.equal((await call('CreateTable', description, { endpoint: own.endpoint })).status, 200);
  const put = (i) => requestBytes('PutItem', { TableName: description.TableName, Item: { pk: { S: `k${i}` } } });
  const wire = await connect(own.endpoint);
  const before = await alone(own.endpoint);
  wire.send(Buffer.concat(Array.from({ length: 4000 }, (_, i) => put(i))));
  await until('all answers', () => wire.count(/HTTP\/1.1 200/g) === 4000);
  const waited = await alone(own.endpoint) - before;
  // After each the rest of what came is left to the writer, and the loop looks for others before it goes on.
  assert.ok(waited < 3000, `${waited} of 4000 were written by the loop`);
  wire.close();
  await own.stop();
});

thorpeTest('a client that is not alone does not hold up others', async () => {
  const own = await startServer({ data: freshDirectory(), args: ['--threads', '1'] });
  const description = tableRequest({ key: ['pk'] });
  assert.equal((await call('CreateTable', description, { endpoint: own.endpoint })).status, 200);
  const before = await alone(own.endpoint);
  const agents = Array.from({ length: 4 }, () => new http.Agent({ keepAlive: true, maxSockets: 1 }));
  const put = (agent, i) => call('PutItem', { TableName: description.TableName, Item: { pk: { S: `k${i}` } } }, { agent, endpoint: own.endpoint });
  for (let i = 0; i < 50; i += 1) assert.ok((await Promise.all(agents.map((agent) => put(agent, i)))).every(({ status }) => status === 200));
  // One may find itself alone when the others are late.
  assert.ok(await alone(own.endpoint) - before < 20);
  for (const agent of agents) agent.destroy();
  await own.stop();
});

thorpeTest('other paths and methods are a clear 4xx', async () => {
  for (const [method, path] of [['GET', '/no/such/path'], ['PUT', '/'], ['DELETE', '/healthz']]) {
    const reply = await request({ method, path });
    assert.ok(reply.status >= 400 && reply.status < 500, `${method} ${path}: ${reply.status}`);
  }
  assert.equal(server.child.exitCode, null);
});
