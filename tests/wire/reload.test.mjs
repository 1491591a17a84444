// SIGHUP: keys and certificate are loaded again while requests go on. And who may have /metrics where there are keys.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { join } from 'node:path';
import tls from 'node:tls';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import { call, clientsFor, freshDirectory, rejects, request, runToEnd, startServer, tableRequest, thorpeTest, until } from './harness.mjs';

const dir = freshDirectory();
const ann = { accessKeyId: 'AKIDANN', secretAccessKey: 'the-secret-of-ann' };
const bob = { accessKeyId: 'AKIDBOB', secretAccessKey: 'the-secret-of-bob' };
const line = ({ accessKeyId, secretAccessKey }) => `${accessKeyId} ${secretAccessKey}\n`;

/** Replaces a file at once, as it should be done: never half of it is there. */
function put(path, text, mode = 0o600) {
  writeFileSync(`${path}.new`, text, { mode });
  renameSync(`${path}.new`, path);
}

let files = 0;
function keyFile(...keys) {
  const path = join(dir, `keys-${files++}`);
  put(path, keys.map(line).join(''));
  return path;
}

const list = (server, credentials) => clientsFor(server.endpoint, { credentials }).ddb.listTables({});

/** SIGHUP, and the line of the log that answers it. */
async function hangUp(server, pattern) {
  const before = server.log().length;
  server.child.kill('SIGHUP');
  await until(`${pattern} in the log`, () => pattern.test(server.log().slice(before)));
}

function certificate(name, kind = ['ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1']) {
  const cert = join(dir, `${name}.cert`);
  const key = join(dir, `${name}.key`);
  execFileSync('openssl', ['req', '-x509', '-newkey', ...kind, '-nodes', '-keyout', key, '-out', cert, '-days', '2', '-subj', `/CN=${name}`,
    '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'], { stdio: 'ignore' });
  chmodSync(key, 0o600);
  return { cert, key };
}

// ---------------------------------------------------------------- keys

thorpeTest('a key that was added works after SIGHUP, one that was removed does not, nor does an old secret', async () => {
  const path = keyFile(ann);
  const server = await startServer({ data: null, args: ['--keys', path] });
  await list(server, ann);
  await rejects(list(server, bob), 'UnrecognizedClientException');
  put(path, line(ann) + line(bob));
  await rejects(list(server, bob), 'UnrecognizedClientException'); // not before
  await hangUp(server, /2 access keys are in use now/);
  await list(server, ann);
  await list(server, bob);
  put(path, line(bob));
  await hangUp(server, /1 access key is in use now/);
  await rejects(list(server, ann), 'UnrecognizedClientException');
  await list(server, bob);
  const changed = { ...bob, secretAccessKey: 'another' };
  put(path, line(changed));
  await hangUp(server, /1 access key is in use now/);
  await rejects(list(server, bob), 'InvalidSignatureException'); // though what was derived from the old one had been kept
  await list(server, changed);
  await server.stop();
});

thorpeTest('a file that cannot be used changes nothing, and the log says why', async () => {
  const path = keyFile(ann);
  const server = await startServer({ data: null, args: ['--keys', path] });
  for (const [text, why] of [['half-a-line\n', /error.*line 1.*stay as they were/], ['', /error.*holds no key.*stay as they were/]]) {
    put(path, text);
    await hangUp(server, why);
    await list(server, ann);
  }
  renameSync(path, `${path}.away`);
  await hangUp(server, /error.*cannot read the keys.*stay as they were/);
  await list(server, ann);
  await server.stop();
});

thorpeTest('without keys and certificate SIGHUP is a line in the log', async () => {
  const server = await startServer({ data: null });
  for (let i = 0; i < 3; i++) await hangUp(server, /SIGHUP: there are no keys/);
  assert.equal((await call('ListTables', {}, { endpoint: server.endpoint })).status, 200);
  await server.stop();
});

thorpeTest('SIGHUP under load loses no request', async () => {
  const path = keyFile(ann, bob);
  const server = await startServer({ data: null, args: ['--keys', path] });
  const { ddb, doc } = clientsFor(server.endpoint, { credentials: ann, requestHandler: new NodeHttpHandler({ httpAgent: new http.Agent({ keepAlive: true, maxSockets: 8 }) }) });
  const { TableName } = tableRequest();
  await ddb.createTable({ ...tableRequest(), TableName });
  let going = true;
  let done = 0;
  const clients = Array.from({ length: 8 }, async (_, n) => {
    for (let i = 0; going; i++, done++) {
      await doc.put({ TableName, Item: { pk: `${n}-${i}`, d: 'x'.repeat(2000) } });
      assert.ok((await doc.get({ TableName, Key: { pk: `${n}-${i}` } })).Item);
    }
  });
  for (let i = 0; i < 30; i++) {
    put(path, i % 2 ? line(ann) : line(ann) + line(bob));
    await hangUp(server, i % 2 ? /1 access key is/ : /2 access keys are/);
  }
  const enough = done + 50;
  await until('more requests', () => done > enough);
  going = false;
  await Promise.all(clients);
  ddb.destroy();
  await server.stop();
});

// ---------------------------------------------------------------- certificates

const nameShown = (port) => new Promise((resolve, reject) => {
  const socket = tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
    resolve(socket.getPeerCertificate().subject.CN);
    socket.destroy();
  });
  socket.on('error', reject);
});

thorpeTest('connections that come after SIGHUP get the new certificate, those that were there go on', async () => {
  const first = certificate('first');
  const second = certificate('second');
  const cert = join(dir, 'served.cert');
  const key = join(dir, 'served.key');
  const use = (pair) => { put(cert, readFileSync(pair.cert)); put(key, readFileSync(pair.key)); };
  use(first);
  const keys = keyFile(ann);
  const server = await startServer({ data: null, args: ['--tls-cert', cert, '--tls-key', key, '--keys', keys] });
  const agent = new https.Agent({ keepAlive: true, maxSockets: 1, rejectUnauthorized: false });
  const { ddb } = clientsFor(`https://127.0.0.1:${server.port}`, { credentials: ann, requestHandler: new NodeHttpHandler({ httpsAgent: agent }) });
  await ddb.listTables({});
  const [socket] = Object.values(agent.freeSockets)[0];
  assert.equal(await nameShown(server.port), 'first');

  put(cert, readFileSync(second.cert)); // and its key has not come yet
  put(keys, line(bob));
  await hangUp(server, /error.*does not belong to the certificate.*stay as they were/);
  assert.equal(await nameShown(server.port), 'first');
  await ddb.listTables({}); // all or nothing: ann's key is still good

  use(second);
  put(keys, line(ann));
  await hangUp(server, /the certificate was reloaded/);
  assert.equal(await nameShown(server.port), 'second');
  await ddb.listTables({});
  assert.equal(Object.values(agent.freeSockets)[0][0], socket, 'over the connection that was there');
  assert.equal(socket.getPeerCertificate().subject.CN, 'first');
  agent.destroy();
  await server.stop();
});

// ---------------------------------------------------------------- TLS

thorpeTest('TLS 1.2 needs ephemeral keys and authenticated ciphers; 1.3 is spoken; older versions are not', async () => {
  const rsa = certificate('rsa', ['rsa:2048']);
  const server = await startServer({ data: null, args: ['--tls-cert', rsa.cert, '--tls-key', rsa.key] });
  const handshake = (...args) => {
    const { stdout } = spawnSync('openssl', ['s_client', '-connect', `127.0.0.1:${server.port}`, ...args], { input: '', encoding: 'utf8' });
    return /Cipher is \(NONE\)/.test(stdout) ? null : /Cipher is (\S+)/.exec(stdout)?.[1] ?? null;
  };
  for (const cipher of ['ECDHE-RSA-AES128-GCM-SHA256', 'ECDHE-RSA-AES256-GCM-SHA384', 'ECDHE-RSA-CHACHA20-POLY1305']) {
    assert.equal(handshake('-tls1_2', '-cipher', cipher), cipher);
  }
  for (const cipher of ['ECDHE-RSA-AES128-SHA', 'ECDHE-RSA-AES256-SHA384', 'ECDHE-RSA-AES128-SHA256', 'AES128-SHA', 'AES256-SHA256', 'AES128-GCM-SHA256', 'DHE-RSA-AES128-GCM-SHA256']) {
    assert.equal(handshake('-tls1_2', '-cipher', `${cipher}@SECLEVEL=0`), null, cipher);
  }
  assert.match(handshake('-tls1_3'), /^TLS_/);
  for (const version of ['-tls1_1', '-tls1']) assert.equal(handshake(version, '-cipher', 'ALL@SECLEVEL=0'), null, version);
  await server.stop();
});

// ---------------------------------------------------------------- metrics

const metrics = (endpoint, headers = {}) => request({ endpoint, method: 'GET', path: '/metrics', headers });
const basic = ({ accessKeyId, secretAccessKey }) => ({ authorization: `Basic ${Buffer.from(`${accessKeyId}:${secretAccessKey}`).toString('base64')}` });

thorpeTest('with keys /metrics asks for one, health does not', async () => {
  const server = await startServer({ data: null, args: ['--keys', keyFile(ann)] });
  const refused = await metrics(server.endpoint);
  assert.equal(refused.status, 401);
  assert.match(refused.headers['www-authenticate'], /^Basic realm=/);
  assert.ok(!refused.text.includes('thorpe_http_requests_total'));
  for (const headers of [basic(bob), basic({ ...ann, secretAccessKey: 'wrong' }), { authorization: 'Basic !!!' }, { authorization: 'Bearer x' }]) {
    const reply = await metrics(server.endpoint, headers);
    assert.ok([400, 401].includes(reply.status), reply.text);
    assert.ok(!reply.text.includes('thorpe_http_requests_total'));
  }
  assert.match((await metrics(server.endpoint, basic(ann))).text, /^thorpe_http_requests_total \d+$/m);
  const signed = spawnSync('curl', ['-s', '--aws-sigv4', 'aws:amz:us-east-1:dynamodb', '--user', `${ann.accessKeyId}:${ann.secretAccessKey}`, `${server.endpoint}/metrics`], { encoding: 'utf8' });
  assert.match(signed.stdout, /^thorpe_http_requests_total \d+$/m);
  assert.equal((await request({ endpoint: server.endpoint, method: 'GET', path: '/healthz' })).status, 200);
  // DynamoDB's API has never heard of passwords.
  assert.equal((await call('ListTables', {}, { endpoint: server.endpoint, headers: basic(ann) })).status, 400);
  await server.stop();
});

const monitorOf = async (server) => (await until('the address of the metrics', () => /^metrics {2}(http:\/\/[\d.]+:\d+)\/metrics$/m.exec(server.log())))[1];

thorpeTest('metrics can have a listener of their own, which has nothing else', async () => {
  for (const args of [['--keys', keyFile(ann)], []]) {
    const server = await startServer({ data: null, args: [...args, '--metrics-listen', '127.0.0.1:0'] });
    const monitor = await monitorOf(server);
    assert.match((await metrics(monitor)).text, /^thorpe_http_requests_total \d+$/m);
    assert.equal((await request({ endpoint: monitor, method: 'GET', path: '/healthz' })).text, 'ok\n');
    for (const [method, path] of [['GET', '/'], ['POST', '/'], ['GET', '/api'], ['GET', '/console/'], ['POST', '/metrics']]) {
      assert.equal((await request({ endpoint: monitor, method, path })).status, 404, `${method} ${path}`);
    }
    assert.equal((await call('ListTables', {}, { endpoint: monitor })).status, 404);
    assert.equal((await metrics(monitor, { host: 'evil.example' })).status, 403);
    assert.equal((await metrics(monitor, { origin: 'http://evil.example' })).status, 403);
    assert.equal((await metrics(server.endpoint)).status, args.length ? 401 : 404, 'on the main listener');
    await server.stop();
  }
});

thorpeTest('the listener for metrics answers when all connections of the other are taken', async () => {
  const server = await startServer({ data: null, args: ['--limit', 'connections=2', '--metrics-listen', '127.0.0.1:0'] });
  const monitor = await monitorOf(server);
  const agent = new http.Agent({ keepAlive: true });
  await Promise.all([1, 2].map(() => call('ListTables', {}, { endpoint: server.endpoint, agent })));
  assert.equal((await call('ListTables', {}, { endpoint: server.endpoint })).status, 503);
  assert.equal((await metrics(monitor)).status, 200);
  agent.destroy();
  await server.stop();
});

thorpeTest('the listener for metrics is not for the internet', async () => {
  const refused = await runToEnd(['serve', '--in-memory', '--listen', '127.0.0.1:0', '--metrics-listen', '8.8.8.8:9100']);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /loopback or a private address/);
  const taken = await startServer({ data: null, args: ['--metrics-listen', '127.0.0.1:0'] });
  const again = await runToEnd(['serve', '--in-memory', '--listen', '127.0.0.1:0', '--metrics-listen', new URL(await monitorOf(taken)).host]);
  assert.equal(again.code, 1);
  assert.match(again.stderr, /another process already listens/);
  await taken.stop();
});

// ---------------------------------------------------------------- files with secrets

thorpeTest('files with secrets that others can read are warned of at the start', async () => {
  const pair = certificate('open');
  const secret = join(dir, 'secret');
  const keys = keyFile(ann);
  put(secret, `${'ab'.repeat(32)}\n`);
  const shelves = new URL('../designs/shelves/shelves.yaml', import.meta.url).pathname;
  const args = ['--keys', keys, '--tls-cert', pair.cert, '--tls-key', pair.key, '--secret-file', secret, '--design', shelves];
  const closed = await startServer({ data: null, args });
  await closed.stop();
  assert.doesNotMatch(closed.log(), /warn/);
  chmodSync(keys, 0o640);
  chmodSync(pair.key, 0o644);
  chmodSync(secret, 0o604);
  const open = await startServer({ data: null, args });
  await open.stop();
  assert.match(open.log(), new RegExp(`warn +the keys in ${keys} can be read by its group: run chmod 600`));
  assert.match(open.log(), new RegExp(`warn +the private key in ${pair.key} can be read by every user`));
  assert.match(open.log(), new RegExp(`warn +the secret in ${secret} can be read by every user`));
});
