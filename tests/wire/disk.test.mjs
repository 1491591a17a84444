// The disk's bad days over the wire: damaged files, health, readiness, and who may read the files.
// What a full disk does is in tests/crash/full-disk.mjs.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { chmodSync, closeSync, existsSync, openSync, readFileSync, readdirSync, readSync, statSync, writeFileSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { clientsFor, freshDirectory, freshName, request, runToEnd, startServer, tableRequest, thorpeTest } from './harness.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const get = (own, path) => request({ method: 'GET', path, endpoint: own.endpoint });

/** Flips one bit of a byte every `step` bytes between two parts of a file. */
function flipBits(path, { from = 0, to = 1, step }) {
  const { size } = statSync(path);
  const fd = openSync(path, 'r+');
  const byte = Buffer.alloc(1);
  for (let at = Math.floor(size * from) + 7; at < size * to; at += step) {
    readSync(fd, byte, 0, 1, at);
    byte[0] ^= 0x10;
    writeSync(fd, byte, 0, 1, at);
  }
  closeSync(fd);
}

/** RocksDB's largest file: that of the items. */
function largestFile(data) {
  const files = readdirSync(data).filter((name) => name.endsWith('.sst')).map((name) => join(data, name));
  return files.sort((a, b) => statSync(b).size - statSync(a).size)[0];
}

/** Incompressible, and another for each. */
const text = (i) => {
  let noise = i * 2654435761 + 1;
  return Array.from({ length: 150 }, () => { noise = (noise * 1664525 + 1013904223) % 4294967296; return noise.toString(36); }).join('');
};

async function putMany({ doc }, TableName, n) {
  for (let i = 0; i < n; i += 25) {
    const puts = Array.from({ length: 25 }, (_, k) => ({ PutRequest: { Item: { pk: `p${(i + k) % 10}`, sk: i + k, text: text(i + k) } } }));
    await doc.batchWrite({ RequestItems: { [TableName]: puts } });
  }
}

/** The answer, or the error: which must be DynamoDB's, without a word about files. */
async function outcome(own, promise) {
  try {
    return await promise;
  } catch (error) {
    assert.equal(error.$metadata.httpStatusCode, 500);
    assert.equal(error.name, 'InternalServerError');
    assert.equal(error.message, 'Internal server error');
    assert.ok(!JSON.stringify(error).includes(own.data));
    return undefined;
  }
}

thorpeTest('a read that meets damage is a 500 without paths; other reads and writes go on; log, metric and health say so', async () => {
  const data = freshDirectory();
  const N = 3000;
  const first = await startServer({ data });
  const before = clientsFor(first.endpoint);
  const TableName = freshName();
  const other = freshName();
  for (const name of [TableName, other]) await before.ddb.createTable({ TableName: name, ...tableRequest({ key: ['pk', 'sk:N'] }), TableName: name });
  await putMany(before, TableName, N);
  await before.doc.put({ TableName: other, Item: { pk: 'a', sk: 1, text: 'whole' } });
  await first.stop();
  flipBits(largestFile(data), { to: 0.5, step: 100_000 });

  const own = await startServer({ data });
  const { ddb, doc } = clientsFor(own.endpoint);
  assert.equal((await get(own, '/healthz')).status, 200, 'nothing has been met yet');
  assert.equal(await outcome(own, ddb.scan({ TableName })), undefined);
  await doc.put({ TableName: other, Item: { pk: 'a', sk: 2 } }); // at once: when a compaction meets it as well, RocksDB takes no writes any more
  let right = 0;
  let refused = 0;
  for (let i = 0; i < N; i += 1) {
    const reply = await outcome(own, doc.get({ TableName, Key: { pk: `p${i % 10}`, sk: i } }));
    if (reply) assert.equal(reply.Item.text, text(i));
    if (reply) right += 1;
    else refused += 1;
  }
  assert.ok(right > N / 4, `${right} were read`);
  assert.ok(refused > 0);
  const queries = await Promise.all(Array.from({ length: 10 }, (_, k) => outcome(own, doc.query({
    TableName, KeyConditionExpression: 'pk = :p', ExpressionAttributeValues: { ':p': `p${k}` },
  }))));
  assert.ok(queries.includes(undefined));
  const Keys = Array.from({ length: 100 }, (_, i) => ({ pk: `p${i % 10}`, sk: i * 30 + (i % 10) }));
  await outcome(own, doc.batchGet({ RequestItems: { [TableName]: { Keys } } }));

  assert.equal((await doc.get({ TableName: other, Key: { pk: 'a', sk: 1 } })).Item.text, 'whole');
  const health = await get(own, '/healthz');
  assert.equal(health.status, 503);
  assert.match(health.text, /^damaged data was found/);
  assert.equal((await get(own, '/readyz')).status, 503);
  const [, count] = /^thorpe_corruption_total (\d+)$/m.exec((await get(own, '/metrics')).text);
  assert.ok(Number(count) >= refused);
  const lines = own.log().split('\n').filter((line) => /met damaged data/.test(line));
  assert.ok(lines.length >= 1 && lines.length <= 4, `${lines.length} lines for ${count} times`);
  assert.match(lines[0], /\.sst/);
  await own.kill();
});

thorpeTest('a list of the REST API that meets damage is a problem without paths', async () => {
  const data = freshDirectory();
  // Positions of its processors may be in a damaged block, too: then these stand still, and the rest is served.
  const args = ['--design', join(root, 'designs', 'social.yaml')];
  const first = await startServer({ data, args: [...args, '--demo', join(root, 'designs', 'demo')] });
  const path = '/api/social/users/alice/posts';
  assert.equal((await get(first, path)).status, 200);
  await first.stop();
  for (const name of readdirSync(data).filter((file) => file.endsWith('.sst') && statSync(join(data, file)).size > 8192)) {
    flipBits(join(data, name), { to: 0.6, step: 500 });
  }
  const own = await startServer({ data, args });
  const reply = await get(own, path);
  assert.equal(reply.status, 500);
  assert.match(reply.headers['content-type'], /^application\/problem\+json/);
  assert.ok(!reply.text.includes(data) && !reply.text.includes('.sst'), reply.text);
  assert.equal((await get(own, '/healthz')).status, 503);
  await own.kill();
});

thorpeTest('a server that is well is alive and ready, and names no trouble', async () => {
  const own = await startServer();
  for (const path of ['/healthz', '/readyz']) {
    const { status, text: body } = await get(own, path);
    assert.deepEqual([status, body], [200, 'ok\n']);
  }
  const metrics = (await get(own, '/metrics')).text;
  assert.match(metrics, /^thorpe_corruption_total 0$/m);
  assert.match(metrics, /^thorpe_refusing_writes 0$/m);
  await own.stop();
});

const modes = (dir) => Object.fromEntries([dir, ...readdirSync(dir).map((name) => join(dir, name))]
  .map((path) => [path, (statSync(path).mode & 0o777).toString(8)]));

thorpeTest('the data directory and all files in it are for their owner alone', async () => {
  const data = join(freshDirectory(), 'new');
  const own = await startServer({ data, args: ['--design', join(root, 'designs', 'social.yaml')] });
  assert.doesNotMatch(own.log(), /others may read/);
  await own.stop();
  const again = await startServer({ data });
  await clientsFor(again.endpoint).ddb.createTable({ ...tableRequest({ key: ['pk'] }), TableName: freshName() });
  assert.doesNotMatch(again.log(), /others may read/);
  const { [data]: own_, [join(data, 'media')]: media, ...files } = modes(data);
  assert.deepEqual([own_, media], ['700', '700']);
  assert.ok(existsSync(join(data, 'token-secret')));
  assert.deepEqual(new Set(Object.values(files)), new Set(['600']), JSON.stringify(files));
  await again.stop();
});

thorpeTest('wider modes of what was there before, and of files with secrets, are warned of and left alone', async () => {
  const data = join(freshDirectory(), 'wide');
  const first = await startServer({ data });
  await first.stop();
  chmodSync(join(data, 'CURRENT'), 0o644);
  const files = await startServer({ data });
  assert.match(files.log(), /others may read the data directory .*1 of its files.*: chmod -R go-rwx /);
  await files.stop();
  chmodSync(join(data, 'CURRENT'), 0o600);
  chmodSync(data, 0o755);
  const secret = join(freshDirectory(), 'secret');
  writeFileSync(secret, `${'ab'.repeat(32)}\n`, { mode: 0o644 });
  chmodSync(secret, 0o644);
  const wide = await startServer({ data, args: ['--design', join(root, 'designs', 'social.yaml'), '--secret-file', secret] });
  assert.match(wide.log(), /others may read the data directory .*mode 0755.*: chmod -R go-rwx /);
  assert.match(wide.log(), /others may read the secret in .*: chmod 600 /);
  await wide.stop();
  assert.equal(modes(data)[data], '755');
});

thorpeTest('verify makes nothing that others may read', async () => {
  const data = join(freshDirectory(), 'new');
  const own = await startServer({ data });
  await own.stop();
  assert.equal((await runToEnd(['verify', '--data', data])).code, 0);
  const { [data]: own_, ...files } = modes(data);
  assert.deepEqual(new Set(Object.values(files)), new Set(['600']), own_);
});
