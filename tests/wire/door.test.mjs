// Clients that would take all there is: memory by bodies half sent, connections by saying nothing; and who is served meanwhile.
//
// The process's memory is measured where it means something: not under a sanitizer, which keeps what is freed.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import net from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import {
  EXTERNAL, call, clientsFor, connect, errorName, freshDirectory, request, requestBytes, startServer, target, thorpeTest, until,
} from './harness.mjs';

const MB = 1024 * 1024;
const SANITIZED = Boolean(process.env.ASAN_OPTIONS ?? process.env.TSAN_OPTIONS ?? process.env.UBSAN_OPTIONS);
const designs = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'designs');
const limit = (limits) => Object.entries(limits).flatMap(([name, n]) => ['--limit', `${name}=${n}`]);
const megabytes = ({ child }, what) => Number(new RegExp(`${what}:\\s+(\\d+)`).exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))[1]) / 1024;
const metric = async (server, name) => {
  const { text } = await request({ endpoint: server.endpoint, method: 'GET', path: '/metrics' });
  return Number(new RegExp(`^thorpe_${name} (\\d+)$`, 'm').exec(text)[1]);
};
const head = (path, headers) => `POST ${path} HTTP/1.1\r\nhost: localhost\r\n${Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n`;
const status = (wire) => Number(/^HTTP\/1\.1 (\d+)/.exec(wire.text())?.[1]);
const table = { TableName: 'table', BillingMode: 'PAY_PER_REQUEST', KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }], AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }] };
const get = { TableName: 'table', Key: { pk: { S: 'a' } } };

const sockets = ({ child }) => readdirSync(`/proc/${child.pid}/fd`).filter((fd) => {
  try { return readlinkSync(`/proc/${child.pid}/fd/${fd}`).startsWith('socket:'); } catch { return false; }
}).length;

/** A server with a table that has an item, and without connections. */
async function serve(limits = {}, options = {}) {
  const server = await startServer({ data: null, ...options, args: [...limit(limits), ...(options.args ?? [])] });
  const own = sockets(server);
  if (!options.args?.includes('--keys')) {
    assert.equal((await call('CreateTable', table, { endpoint: server.endpoint })).status, 200);
    assert.equal((await call('PutItem', { TableName: 'table', Item: get.Key }, { endpoint: server.endpoint })).status, 200);
    await until('the connections of these to be gone', () => sockets(server) <= own);
  }
  return server;
}

// ---------------------------------------------------------------- memory

thorpeTest('sixty-four bodies of 16 MB, all but their last byte, take no more memory than there is for requests', async () => {
  const memory = 96 * MB;
  const server = await serve({ request_memory: memory, body_ms: 2000 });
  const before = megabytes(server, 'VmRSS');
  const piece = Buffer.alloc(16 * MB - 1, 'x');
  const wires = await Promise.all(Array.from({ length: 64 }, () => connect(server.endpoint)));
  for (const wire of wires) {
    wire.send(head('/', { ...target('PutItem'), 'content-length': 16 * MB }));
    wire.send(piece);
  }
  await until('most to be refused', () => wires.filter((wire) => status(wire) === 503).length >= 48);
  // Small requests go on, and those that are refused are told to come again.
  assert.equal((await call('GetItem', get, { endpoint: server.endpoint })).status, 200);
  assert.equal((await request({ endpoint: server.endpoint, method: 'GET', path: '/healthz' })).status, 200);
  const refused = wires.find((wire) => status(wire) === 503).text();
  assert.match(refused, /\r\nretry-after: 1\r\n/i);
  assert.match(refused, /#ServiceUnavailable"/);
  assert.ok(await metric(server, 'http_request_memory_refused_total') >= 48);
  // Those that hold the memory send nothing any more: soon they are dropped, and it is free.
  await until('the rest to be dropped', () => wires.every((wire) => [503, 408].includes(status(wire))), 15);
  assert.ok(wires.some((wire) => status(wire) === 408));
  await until('their memory to be given back', async () => (await metric(server, 'http_request_memory_bytes')) < MB);
  if (!SANITIZED) {
    const grown = megabytes(server, 'VmHWM') - before;
    console.log(`grew by ${grown.toFixed(0)} MB, keeps ${(megabytes(server, 'VmRSS') - before).toFixed(0)} MB`);
    assert.ok(grown <= memory / MB, `grew by ${grown} MB`);
    assert.ok(megabytes(server, 'VmRSS') - before < 24, 'freed memory goes back to the system');
  }
  for (const wire of wires) wire.close();
  await server.stop();
});

thorpeTest('documents that are large when parsed are bounded together, and each goes through when its turn comes', async () => {
  const memory = 96 * MB;
  const server = await serve({ request_memory: memory }, { args: ['--design', join(designs, 'social.yaml')] });
  const text = `{"username": [${'0,'.repeat((MB - 100) / 2)}0]}`;
  const send = (body = text) => request({ endpoint: server.endpoint, path: '/api/social/users', headers: { 'content-type': 'application/json' }, body });
  await Promise.all(Array.from({ length: 64 }, () => send('{"username": []}'))); // threads that are started have memory of their own
  const before = megabytes(server, 'VmRSS');
  const replies = await Promise.all(Array.from({ length: 64 }, () => send()));
  for (const reply of replies.filter((reply) => reply.status === 503)) {
    assert.equal(reply.headers['content-type'], 'application/problem+json');
    assert.equal(reply.headers['retry-after'], '1');
    assert.equal(reply.json.type, 'urn:thorpe:busy');
  }
  assert.deepEqual([...new Set(replies.map((reply) => reply.status))].filter((code) => ![422, 503].includes(code)), []);
  assert.equal((await send()).status, 422);
  if (!SANITIZED) {
    const grown = megabytes(server, 'VmHWM') - before;
    console.log(`grew by ${grown.toFixed(0)} MB`);
    // Threads' heaps keep some of what the parser took; without a budget this grew by 700 MB.
    assert.ok(grown <= 64 + memory / MB, `grew by ${grown} MB`);
  }
  // One that can never fit is told so: to try again would not help.
  const dense = await call('PutItem', `{"TableName":"table","Item":[${'0,'.repeat(7 * MB)}0]}`, { endpoint: server.endpoint });
  assert.equal(dense.status, 413);
  assert.equal(errorName(dense), 'RequestEntityTooLargeException');
  assert.match(dense.json.message, /request_memory/);
  await until('all memory to be given back', async () => (await metric(server, 'http_request_memory_bytes')) === 0);
  await server.stop();
});

thorpeTest('the largest batch that DynamoDB takes goes through, and an SDK that is refused comes again by itself', async () => {
  const server = await serve({ request_memory: 80 * MB, body_ms: 1500 });
  const { doc } = clientsFor(server.endpoint, { maxAttempts: 10 });
  const batch = { RequestItems: { table: Array.from({ length: 25 }, (_, i) => ({ PutRequest: { Item: { pk: `${i}`, d: 'x'.repeat(390_000) } } })) } };
  await doc.batchWrite(batch);
  const wires = await Promise.all(Array.from({ length: 6 }, () => connect(server.endpoint)));
  for (const wire of wires) {
    wire.send(head('/', { ...target('PutItem'), 'content-length': 16 * MB }));
    wire.send(Buffer.alloc(16 * MB - 1, 'x'));
  }
  await until('there to be no memory left', async () => (await metric(server, 'http_request_memory_refused_total')) > 0);
  await doc.batchWrite(batch);
  for (const wire of wires) wire.close();
  await server.stop();
});

// ---------------------------------------------------------------- bodies

thorpeTest('a REST body is 1 MB at most, or what the design itself declares; unzipped too', async () => {
  const server = await serve({}, { args: ['--design', join(designs, 'social.yaml'), '--design', join(designs, 'wavyblog.yaml')] });
  const { endpoint } = server;
  const json = { 'content-type': 'application/json' };
  const long = (n) => JSON.stringify({ username: 'x'.repeat(n) });
  const to = (path, body, headers = {}) => request({ endpoint, path, headers: { ...json, ...headers }, body });
  assert.equal((await to('/api/social/users', long(MB - 100))).status, 422);
  for (const reply of [await to('/api/social/users', long(MB)), await to('/api/social/users', gzipSync(long(2 * MB)), { 'content-encoding': 'gzip' })]) {
    assert.equal(reply.status, 413);
    assert.equal(reply.headers['content-type'], 'application/problem+json');
    assert.equal(reply.json.type, 'urn:thorpe:too-large');
  }
  // 350,000 characters may be declared, and JSON may need several bytes for each.
  assert.notEqual((await to('/api/wavyblog/posts', long(2 * MB))).status, 413);
  assert.equal((await to('/api/wavyblog/posts', long(3 * MB))).status, 413);
  await server.stop();
  const wider = await serve({ rest_body_bytes: 4 * MB }, { args: ['--design', join(designs, 'social.yaml')] });
  assert.equal((await request({ endpoint: wider.endpoint, path: '/api/social/users', headers: json, body: long(3 * MB) })).status, 422);
  await wider.stop();
});

thorpeTest('what is too large or not allowed is refused before the body comes, and without 100 Continue', async () => {
  const server = await serve({}, { args: ['--design', join(designs, 'social.yaml')] });
  const cases = [
    ['/', { ...target('PutItem'), 'content-length': 16 * MB + 1 }, 413],
    ['/api/social/users', { 'content-type': 'application/json', 'content-length': 2 * MB }, 413],
    ['/nowhere', { 'content-length': MB }, 413],
    ['/', { ...target('PutItem'), authorization: 'AWS4-HMAC-SHA256 Credential=a', 'content-length': 1000 }, 400],
  ];
  for (const [path, headers, expected] of cases) {
    for (const extra of [{}, { expect: '100-continue' }]) {
      const wire = await connect(server.endpoint);
      wire.send(head(path, { ...headers, ...extra }));
      await until('a refusal', () => status(wire));
      assert.equal(status(wire), expected, path);
      wire.close();
    }
  }
  await server.stop();
});

thorpeTest('a client that sent nearly all at once and then nothing is dropped soon; one that goes on is not', async () => {
  const server = await serve({ body_ms: 1000, body_rate: 1000 });
  const fast = await connect(server.endpoint);
  const slow = await connect(server.endpoint);
  const started = Date.now();
  fast.send(head('/', { ...target('PutItem'), 'content-length': 4 * MB }));
  fast.send(Buffer.alloc(4 * MB - 1, 'x'));
  const item = JSON.stringify({ TableName: 'table', Item: { pk: { S: 'slow' }, d: { S: 'x'.repeat(8000) } } });
  slow.send(head('/', { ...target('PutItem'), 'content-length': item.length }));
  let sent = 0;
  const timer = setInterval(() => {
    if (sent >= item.length) return;
    slow.send(item.slice(sent, sent + 200));
    sent += 200;
  }, 80);
  await until('the silent one to be dropped', () => status(fast) === 408, 10);
  assert.ok(Date.now() - started < 5000);
  await until('the slow one to be answered', () => status(slow) === 200, 20);
  clearInterval(timer);
  fast.close();
  slow.close();
  await server.stop();
});

// ---------------------------------------------------------------- keys

thorpeTest('with keys the Authorization header is judged before the body is read', async () => {
  const file = join(freshDirectory(), 'keys');
  writeFileSync(file, 'AKIDEXAMPLE secret\n', { mode: 0o600 });
  const server = await serve({}, { args: ['--keys', file] });
  const iso = (ms) => new Date(ms).toISOString().replace(/[-:]|\.\d+/g, '');
  const signed = (key, ms = Date.now(), more = {}) => {
    const date = iso(ms);
    return {
      'x-amz-date': date, 'x-amz-target': 'DynamoDB_20120810.PutItem', 'content-type': 'application/x-amz-json-1.0',
      authorization: `AWS4-HMAC-SHA256 Credential=${key}/${date.slice(0, 8)}/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date;x-amz-target, Signature=${'0'.repeat(64)}`, ...more,
    };
  };
  const cases = [
    [{ 'x-amz-target': 'DynamoDB_20120810.PutItem' }, 'MissingAuthenticationTokenException'],
    [signed('AKIDEXAMPLE', Date.now(), { authorization: 'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE' }), 'IncompleteSignatureException'],
    [signed('AKIDNOBODY'), 'UnrecognizedClientException'],
    [signed('AKIDEXAMPLE', Date.now() - 3_600_000), 'InvalidSignatureException'],
    [signed('AKIDEXAMPLE', Date.now() + 3_600_000), 'InvalidSignatureException'],
  ];
  for (const [headers, name] of cases) {
    for (const extra of [{ 'content-length': 16 * MB }, { 'content-length': 1, expect: '100-continue' }, { 'transfer-encoding': 'chunked' }]) {
      const wire = await connect(server.endpoint);
      wire.send(head('/', { ...headers, ...extra }));
      await until(name, () => wire.text().includes('\r\n\r\n{'));
      assert.equal(status(wire), 400);
      assert.match(wire.text(), new RegExp(`#${name}"`));
      await until('the end', () => wire.closed);
    }
  }
  // What can be told only with the body is: the signature itself.
  const wire = await connect(server.endpoint);
  wire.send(head('/', { ...signed('AKIDEXAMPLE'), 'content-length': 2, expect: '100-continue' }));
  await until('to be asked for the body', () => status(wire) === 100);
  wire.send('{}');
  await until('the verdict', () => /InvalidSignatureException/.test(wire.text()));
  assert.equal((await clientsFor(server.endpoint, { credentials: { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'secret' } }).ddb.listTables({})).TableNames.length, 0);
  await server.stop();
});

// ---------------------------------------------------------------- connections

/** One GetItem or GET from a given address of this machine, on a connection kept or a new one. */
function from(localAddress, server, { agent, path = '/', method = 'POST' } = {}) {
  const body = method === 'POST' ? JSON.stringify(get) : '';
  return new Promise((resolve, reject) => {
    const req = http.request({
      host: '127.0.0.1', port: server.port, localAddress, agent: agent ?? false, path, method, headers: method === 'POST' ? { ...target('GetItem'), 'content-length': body.length } : {},
    }, (res) => {
      res.resume();
      res.on('end', () => resolve(res.statusCode));
    });
    req.on('error', reject);
    req.end(body);
  });
}

/** Sockets that are opened and say nothing; those that the server closes are not opened again. */
async function openSilent(server, count, localAddress) {
  const opened = [];
  for (let i = 0; i < count; i += 250) {
    await Promise.all(Array.from({ length: Math.min(250, count - i) }, async () => {
      const socket = net.connect({ host: '127.0.0.1', port: server.port, localAddress });
      socket.on('error', () => {});
      socket.resume(); // or its end would not be noticed
      opened.push(socket);
      await Promise.race([once(socket, 'connect'), once(socket, 'close')]).catch(() => {});
    }));
  }
  return opened;
}

thorpeTest('one address has a part of the connections, and others have the rest', async () => {
  const server = await serve({ connections: 200, connections_per_address: 50, reserved_connections: 8 });
  const silent = await openSilent(server, 150, '127.0.0.1');
  await until('the surplus to be turned away', () => silent.filter((socket) => socket.closed).length >= 100, 15);
  assert.equal(silent.filter((socket) => !socket.closed).length, 50);
  assert.equal(await from('127.0.0.2', server), 200);
  assert.equal(await from('127.0.0.1', server), 503);
  assert.match(server.log(), /127\.0\.0\.1 has 50 connections/);
  for (const socket of silent) socket.destroy();
  await until('room again', async () => (await from('127.0.0.1', server)) === 200);
  await server.stop();
});

thorpeTest('when all connections are taken, health checks and operators are still answered', async () => {
  const server = await serve({ connections: 60, connections_per_address: 60, reserved_connections: 16 });
  const silent = await openSilent(server, 60, '127.0.0.1');
  for (const path of ['/healthz', '/metrics', '/console/']) assert.equal(await from('127.0.0.1', server, { path, method: 'GET' }), 200, path);
  assert.equal(await from('127.0.0.2', server), 503);
  assert.equal(await from('127.0.0.2', server, { path: '/api', method: 'GET' }), 503);
  // Others that say nothing on the reserve do not keep it.
  const more = await openSilent(server, 40, '127.0.0.3');
  for (let i = 0; i < 20; i += 1) assert.equal(await from('127.0.0.2', server, { path: '/healthz', method: 'GET' }), 200);
  await until('all of them to be gone', () => more.every((socket) => socket.closed), 10);
  for (const socket of silent) socket.destroy();
  await until('room again', async () => (await from('127.0.0.1', server)) === 200);
  assert.equal(await metric(server, 'http_connections_reserve'), 0);
  await server.stop();
});

thorpeTest('ten thousand silent sockets of one address: others get their items within 10 ms', async () => {
  const server = await serve();
  const agent = new http.Agent({ keepAlive: true, maxSockets: 4 });
  const measure = async () => {
    const times = [];
    for (let i = 0; i < 2000; i += 1) {
      const start = performance.now();
      assert.equal(await from('127.0.0.2', server, i % 10 ? { agent } : {}), 200); // every tenth on a new connection
      times.push(performance.now() - start);
    }
    return times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)];
  };
  const alone = await measure(); // a machine that is busy with other things takes its time also without them
  const before = megabytes(server, 'VmRSS');
  const silent = await openSilent(server, 10_000, '127.0.0.1');
  const p99 = await measure();
  const open = await metric(server, 'http_connections');
  console.log(`p99 of GetItem ${p99.toFixed(2)} ms, without them ${alone.toFixed(2)} ms, ${open} connections, ${(megabytes(server, 'VmRSS') - before).toFixed(0)} MB more`);
  assert.ok(open < 2600, `${open} connections`);
  assert.ok(p99 < Math.max(SANITIZED ? 100 : 10, 2 * alone), `p99 ${p99} ms, without them ${alone} ms`);
  assert.equal(await from('127.0.0.1', server, { path: '/healthz', method: 'GET' }), 200);
  if (!SANITIZED) assert.ok(megabytes(server, 'VmRSS') - before < 16);
  agent.destroy();
  for (const socket of silent) socket.destroy();
  await server.stop();
});

thorpeTest('without descriptors accepting pauses, costs nothing, and goes on', async () => {
  const server = await serve();
  const { pid } = server.child;
  const cpu = () => readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ').slice(11, 13).reduce((sum, ticks) => sum + Number(ticks), 0) * 10;
  const keeper = await connect(server.endpoint);
  keeper.send(requestBytes('GetItem', get));
  await until('a reply', () => keeper.count(/HTTP\/1.1 200/g) === 1);
  // The limit is about numbers: the one that leaves three of them, whatever gaps there are.
  const taken = new Set(readdirSync(`/proc/${pid}/fd`).map(Number));
  let limit = 0;
  for (let free = 0; free < 3; limit += 1) free += !taken.has(limit);
  execFileSync('prlimit', ['--pid', `${pid}`, `--nofile=${limit}:20000`]);
  const silent = await openSilent(server, 40, '127.0.0.1');
  await until('the surplus to be refused', () => silent.filter((socket) => socket.closed).length >= 30);
  await until('the log to say so', () => server.log().includes('out of file descriptors'));
  const [used, since] = [cpu(), Date.now()];
  await until('a second', () => Date.now() - since > 1000);
  assert.ok(cpu() - used < 300, `${cpu() - used} ms of processor in a second`);
  keeper.send(requestBytes('GetItem', get));
  await until('those that are there to be served', () => keeper.count(/HTTP\/1.1 200/g) === 2);
  for (const socket of silent) socket.destroy();
  await until('new ones to be served', async () => (await call('GetItem', get, { endpoint: server.endpoint }).catch(() => ({}))).status === 200);
  keeper.close();
  await server.stop();
});

// ---------------------------------------------------------------- the letter of HTTP

thorpeTest('what another parser might read otherwise is refused, and nothing behind it is looked at', async () => {
  const server = await serve();
  const inner = requestBytes('DeleteItem', get).toString('latin1');
  const chunked = head('/', { ...target('ListTables'), 'transfer-encoding': 'chunked' });
  const bodies = {
    'data without its line end': `${chunked}2\r\n{}0\r\n\r\n${inner}`,
    'LF alone after a size': `${chunked}2\n{}\r\n0\r\n\r\n${inner}`,
    'LF alone in an extension': `${chunked}2;a\n{}\r\n0\r\n\r\n${inner}`,
    'LF alone at the end': `${chunked}2\r\n{}\r\n0\r\n\n${inner}`,
    'HTTP/1.0 with chunks': `${chunked.replace('HTTP/1.1', 'HTTP/1.0')}2\r\n{}\r\n0\r\n\r\n${inner}`,
    'two lengths': `${head('/', target('ListTables')).replace(/\r\n$/, '')}content-length: 2\r\ncontent-length: ${inner.length + 2}\r\n\r\n{}${inner}`,
    'a length and chunks': `${chunked.replace(/\r\n$/, '')}content-length: 2\r\n\r\n2\r\n{}\r\n0\r\n\r\n${inner}`,
    'a header on two lines': `${chunked.replace('transfer-encoding: chunked', 'transfer-encoding:\r\n chunked')}${inner}`,
    'LF alone in the head': `${head('/', target('ListTables')).replace('host: localhost\r\n', 'host: localhost\n')}${inner}`,
  };
  for (const [what, text] of Object.entries(bodies)) {
    const wire = await connect(server.endpoint);
    wire.send(text);
    await until(`an end of: ${what}`, () => wire.closed, 10);
    assert.equal(status(wire), 400, what);
    assert.equal(wire.count(/HTTP\/1\.1 /g), 1, what);
  }
  const { json } = await call('GetItem', get, { endpoint: server.endpoint });
  assert.ok(json.Item, 'the request inside was not done');
  await server.stop();
});
