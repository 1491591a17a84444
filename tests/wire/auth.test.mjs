// Access keys: SigV4 signatures accepted, refused, and expired; and TLS with a certificate of our own.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import https from 'node:https';
import { join } from 'node:path';
import { NodeHttpHandler } from '@smithy/node-http-handler';
import {
  EXTERNAL, call, clientsFor, connect, errorName, freshDirectory, rejects, request, requestBytes, runToEnd, startServer, tableRequest, thorpeTest, until,
} from './harness.mjs';

const dir = freshDirectory();
const keyFile = join(dir, 'keys');
writeFileSync(keyFile, '# who may come in\nAKIDEXAMPLE wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY\n\nAKIDSECOND second-secret\n', { mode: 0o600 });
const good = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };

const guarded = EXTERNAL ? null : await startServer({ data: null, args: ['--keys', keyFile] });
const list = (options) => clientsFor(guarded.endpoint, { credentials: good, ...options }).ddb.listTables({});

thorpeTest('a right signature is accepted, whatever the key', async () => {
  assert.deepEqual((await list()).TableNames, []);
  assert.deepEqual((await list({ credentials: { accessKeyId: 'AKIDSECOND', secretAccessKey: 'second-secret' } })).TableNames, []);
  assert.deepEqual((await list({ credentials: { ...good, sessionToken: 'a-session-token' } })).TableNames, []);
});

thorpeTest('a signed request can do its work, large bodies too', async () => {
  const { ddb, doc } = clientsFor(guarded.endpoint, { credentials: good });
  const create = tableRequest();
  await ddb.createTable(create);
  await doc.put({ TableName: create.TableName, Item: { pk: 'ünï "quoted"', d: 'x'.repeat(300_000) } });
  assert.equal((await doc.get({ TableName: create.TableName, Key: { pk: 'ünï "quoted"' } })).Item.d.length, 300_000);
  await ddb.deleteTable({ TableName: create.TableName });
});

thorpeTest('an unknown key and a wrong secret are refused', async () => {
  await rejects(list({ credentials: { accessKeyId: 'AKIDNOBODY', secretAccessKey: 'x' } }), 'UnrecognizedClientException', 'The security token included in the request is invalid.');
  await rejects(list({ credentials: { ...good, secretAccessKey: 'wrong' } }), 'InvalidSignatureException', /^The request signature we calculated does not match the signature you provided\./);
});

thorpeTest('a signature is for the region of the server and for DynamoDB, streams included', async () => {
  await rejects(list({ region: 'eu-west-3' }), 'InvalidSignatureException', "Credential should be scoped to a valid region, not 'eu-west-3'. ");
  const { streams } = clientsFor(guarded.endpoint, { credentials: good });
  assert.deepEqual((await streams.listStreams({})).Streams, []);
  await rejects(clientsFor(guarded.endpoint, { credentials: good, region: 'eu-west-3' }).streams.listStreams({}), 'InvalidSignatureException');
  const elsewhere = await startServer({ data: null, args: ['--keys', keyFile, '--region', 'eu-west-3'] });
  const there = (region) => clientsFor(elsewhere.endpoint, { credentials: good, region }).ddb.listTables({});
  assert.deepEqual((await there('eu-west-3')).TableNames, []);
  await rejects(there('us-east-1'), 'InvalidSignatureException', "Credential should be scoped to a valid region, not 'us-east-1'. ");
  await elsewhere.stop();
});

thorpeTest('a clock more than fifteen minutes off is refused, fourteen are not', async () => {
  const minutes = (n) => n * 60 * 1000;
  for (const systemClockOffset of [minutes(14), minutes(-14)]) assert.deepEqual((await list({ systemClockOffset })).TableNames, []);
  await rejects(list({ systemClockOffset: minutes(-16) }), 'InvalidSignatureException', /^Signature expired: /);
  await rejects(list({ systemClockOffset: minutes(16) }), 'InvalidSignatureException', /^Signature not yet current: /);
});

thorpeTest('requests without a signature, or half of one, are refused', async () => {
  const bare = { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': 'DynamoDB_20120810.ListTables' };
  const missing = await request({ endpoint: guarded.endpoint, headers: bare, body: '{}' });
  assert.equal(missing.status, 400);
  assert.equal(errorName(missing), 'MissingAuthenticationTokenException');
  assert.equal(missing.json.message ?? missing.json.Message, 'Request is missing Authentication Token');
  for (const authorization of ['AWS4-HMAC-SHA256', 'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE', 'AWS4-HMAC-SHA256 Credential=a/b/c/d/e, SignedHeaders=, Signature=', 'Basic dXNlcjpwYXNz', 'AWS4-HMAC-SHA256 ,,,===']) {
    const reply = await request({ endpoint: guarded.endpoint, headers: { ...bare, authorization, 'x-amz-date': '20260101T000000Z' }, body: '{}' });
    assert.equal(reply.status, 400, authorization);
    assert.match(errorName(reply), /^(IncompleteSignature|InvalidSignature|MissingAuthenticationToken|UnrecognizedClient)Exception$/);
  }
  const fake = await call('ListTables', {}, { endpoint: guarded.endpoint });
  assert.equal(fake.status, 400);
});

thorpeTest('a signature covers the body and the operation', async () => {
  const { ddb } = clientsFor(guarded.endpoint, { credentials: good });
  ddb.middlewareStack.add((next) => (args) => {
    args.request.headers['x-amz-target'] = 'DynamoDB_20120810.DescribeLimits';
    return next(args);
  }, { step: 'finalizeRequest', priority: 'low', name: 'swapOperation' });
  await rejects(ddb.listTables({}), 'InvalidSignatureException');
  const other = clientsFor(guarded.endpoint, { credentials: good }).ddb;
  other.middlewareStack.add((next) => (args) => {
    args.request.body = args.request.body.replace('"Limit":1', '"Limit":9');
    return next(args);
  }, { step: 'finalizeRequest', priority: 'low', name: 'swapBody' });
  await rejects(other.listTables({ Limit: 1 }), 'InvalidSignatureException');
});

thorpeTest('health needs no key', async () => {
  assert.equal((await request({ endpoint: guarded.endpoint, method: 'GET', path: '/healthz' })).status, 200);
});

thorpeTest('keys open an address that is not loopback', async () => {
  const open = await startServer({ listen: '0.0.0.0:0', data: null, args: ['--keys', keyFile] });
  const endpoint = `http://127.0.0.1:${open.port}`;
  assert.deepEqual((await clientsFor(endpoint, { credentials: good }).ddb.listTables({})).TableNames, []);
  assert.equal((await call('ListTables', {}, { endpoint })).status, 400);
  await open.stop();
});

thorpeTest('a file of keys that cannot be used is refused in a sentence', async () => {
  const refused = async (path) => {
    const { code, stderr } = await runToEnd(['serve', '--listen', '127.0.0.1:0', '--in-memory', '--keys', path]);
    assert.notEqual(code, 0);
    assert.match(stderr, /keys|absent/);
  };
  await refused(join(dir, 'absent'));
  for (const text of ['', 'only-one-word\n']) {
    const path = join(dir, 'bad-keys');
    writeFileSync(path, text);
    await refused(path);
  }
});

thorpeTest('TLS: a certificate of our own, the SDK, and clients that speak plain HTTP', async () => {
  const cert = join(dir, 'cert.pem');
  const key = join(dir, 'key.pem');
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', key, '-out', cert,
    '-days', '2', '-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'], { stdio: 'ignore' });
  const secure = await startServer({ data: null, args: ['--tls-cert', cert, '--tls-key', key] });
  const endpoint = `https://127.0.0.1:${secure.port}`;
  const httpsAgent = new https.Agent({ ca: readFileSync(cert), keepAlive: true });
  const { ddb, doc } = clientsFor(endpoint, { requestHandler: new NodeHttpHandler({ httpsAgent }) });
  const create = tableRequest();
  await ddb.createTable(create);
  await doc.put({ TableName: create.TableName, Item: { pk: 'a', d: 'x'.repeat(350_000) } });
  await Promise.all(Array.from({ length: 40 }, async () => {
    assert.equal((await doc.get({ TableName: create.TableName, Key: { pk: 'a' } })).Item.d.length, 350_000);
  }));

  const plain = await connect(`http://127.0.0.1:${secure.port}`);
  plain.send(requestBytes('ListTables', {}));
  await until('plain HTTP to be dropped', () => plain.closed);
  assert.ok(!plain.text().includes('TableNames'));
  assert.equal((await doc.get({ TableName: create.TableName, Key: { pk: 'a' } })).Item.pk, 'a');
  httpsAgent.destroy();
  await secure.stop();
});

thorpeTest('TLS with half of what it needs is refused in a sentence', async () => {
  for (const args of [['--tls-cert', keyFile], ['--tls-key', keyFile], ['--tls-cert', keyFile, '--tls-key', keyFile], ['--tls-cert', join(dir, 'absent'), '--tls-key', join(dir, 'absent')]]) {
    const { code, stderr } = await runToEnd(['serve', '--listen', '127.0.0.1:0', '--in-memory', ...args]);
    assert.notEqual(code, 0);
    assert.match(stderr, /tls|cert|key/i);
  }
});

thorpeTest('the guarded server ends well', async () => {
  await guarded.stop();
});
