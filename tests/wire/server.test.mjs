// The program: its command line, its start and its end, and what it keeps in its directory.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import net from 'node:net';
import { join } from 'node:path';
import {
  call, clientsFor, connect, freshDirectory, launch, request, requestBytes, runToEnd, server, startServer, tableRequest, thorpeTest, until, verify, within,
} from './harness.mjs';

/** It must end with an error and one sentence about it that matches. */
async function refuses(args, pattern) {
  const { code, stderr } = await runToEnd(args);
  assert.notEqual(code, 0);
  assert.equal(typeof code, 'number', `it was ended by ${code}: ${stderr}`);
  assert.match(stderr, pattern);
  return stderr;
}

async function makeTable(clients) {
  const create = tableRequest({ key: ['pk'], gsi: { byG: { key: ['g'] } }, StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' } });
  await clients.ddb.createTable(create);
  await until('the table', async () => (await clients.ddb.describeTable({ TableName: create.TableName })).Table.TableStatus === 'ACTIVE');
  return create.TableName;
}

thorpeTest('--help tells every option, --version a version', async () => {
  for (const args of [['--help'], ['serve', '--help']]) {
    const help = await runToEnd(args);
    assert.equal(help.code, 0);
    assert.match(help.stdout, /serve/);
  }
  const { stdout } = await runToEnd(['serve', '--help']);
  for (const option of ['--listen', '--data', '--in-memory', '--threads', '--cache', '--durability', '--keys', '--no-auth', '--tls-cert', '--tls-key']) {
    assert.ok(stdout.includes(option), `${option} is missing in --help`);
  }
  const version = await runToEnd(['--version']);
  assert.equal(version.code, 0);
  assert.match(version.stdout, /^thorpe \d+\.\d+\.\d+/);
});

thorpeTest('options that make no sense are refused in a sentence', async () => {
  await refuses(['nonsense'], /nonsense/);
  await refuses(['serve', '--nonsense', '--in-memory'], /nonsense/);
  await refuses(['serve', '--listen', 'nowhere', '--in-memory'], /nowhere/);
  await refuses(['serve', '--listen', '127.0.0.1:99999', '--in-memory'], /99999/);
  await refuses(['serve', '--threads', 'many', '--in-memory'], /many|threads/);
  for (const cache of ['0', '-1', 'all', '1GB', '99999999999']) await refuses(['serve', '--cache', cache, '--in-memory'], new RegExp(`'${cache}'`));
  await refuses(['serve', '--durability', 'sometimes', '--in-memory'], /sometimes|durability/);
  await refuses(['serve', '--listen'], /listen/);
});

thorpeTest('a port in use is refused', async () => {
  const stderr = await refuses(['serve', '--listen', `127.0.0.1:${server.port}`, '--in-memory'], new RegExp(String(server.port)));
  assert.match(stderr, /in use|already/i);
});

thorpeTest('a data directory that another process holds is refused', async () => {
  await refuses(['serve', '--listen', '127.0.0.1:0', '--data', server.data], /(another|other|already|held|in use|lock)/i);
  assert.equal((await call('ListTables', {})).status, 200, 'the holder goes on');
});

thorpeTest('a directory that cannot be one is refused', async () => {
  const file = join(freshDirectory(), 'file');
  writeFileSync(file, 'not a directory');
  await refuses(['serve', '--listen', '127.0.0.1:0', '--data', file], /file/);
});

thorpeTest('an address that is not loopback needs keys, or --no-auth', async () => {
  await refuses(['serve', '--listen', '0.0.0.0:0', '--in-memory'], /--keys|--no-auth/);
  const open = await startServer({ listen: '0.0.0.0:0', data: null, args: ['--no-auth'] });
  assert.equal((await call('ListTables', {}, { endpoint: `http://127.0.0.1:${open.port}` })).status, 200);
  await open.stop();
});

thorpeTest('it starts quickly', async () => {
  const began = process.hrtime.bigint();
  const quick = await startServer({ data: null });
  const ms = Number(process.hrtime.bigint() - began) / 1e6;
  await quick.stop();
  assert.ok(ms < 3000, `${ms} ms`);
});

thorpeTest('--in-memory forgets, and needs no directory', async () => {
  const one = await startServer({ data: null });
  const clients = clientsFor(one.endpoint);
  const TableName = await makeTable(clients);
  await clients.doc.put({ TableName, Item: { pk: 'a' } });
  assert.equal((await clients.doc.scan({ TableName })).Count, 1);
  await one.stop();
  const two = await startServer({ data: null });
  assert.deepEqual((await clientsFor(two.endpoint).ddb.listTables({})).TableNames, []);
  await two.stop();
});

thorpeTest('SIGTERM finishes what is under way and exits with 0', async () => {
  const one = await startServer();
  const clients = clientsFor(one.endpoint);
  const TableName = await makeTable(clients);
  const writes = Array.from({ length: 50 }, (_, i) => clients.doc.put({ TableName, Item: { pk: `k${i}`, d: 'x'.repeat(10_000) } }).then(() => i, () => -1));
  await writes[0];
  await one.stop();
  const done = (await Promise.all(writes)).filter((i) => i >= 0);
  const two = await startServer({ data: one.data });
  const after = clientsFor(two.endpoint);
  for (const i of done) assert.ok((await after.doc.get({ TableName, Key: { pk: `k${i}` } })).Item, `acknowledged write ${i}`);
  await two.stop();
});

thorpeTest('SIGTERM closes idle connections, SIGINT ends it too', async () => {
  const one = await startServer({ data: null });
  const idle = await connect(one.endpoint);
  idle.send(requestBytes('ListTables', {}));
  await until('a reply', () => idle.text().includes('TableNames'));
  await one.stop();
  await until('the connection to end', () => idle.closed);
  const two = await startServer({ data: null });
  two.child.kill('SIGINT');
  assert.equal(await within(30, 'the end', two.done), 0);
});

thorpeTest('everything acknowledged is there after a restart, and after a kill', async () => {
  const data = freshDirectory();
  let current = await startServer({ data });
  let clients = clientsFor(current.endpoint);
  const TableName = await makeTable(clients);
  for (let round = 0; round < 4; round += 1) {
    await Promise.all(Array.from({ length: 25 }, (_, i) => clients.doc.put({ TableName, Item: { pk: `r${round}i${i}`, g: `g${i % 2}`, round } })));
    await clients.doc.update({ TableName, Key: { pk: 'counter' }, UpdateExpression: 'ADD n :one', ExpressionAttributeValues: { ':one': 1 } });
    if (round % 2) await current.kill();
    else await current.stop();
    await verify(data);
    current = await startServer({ data });
    clients = clientsFor(current.endpoint);
    const count = (round + 1) * 25;
    assert.equal((await clients.doc.scan({ TableName, Select: 'COUNT' })).Count, count + 1);
    assert.equal((await clients.doc.scan({ TableName, IndexName: 'byG', Select: 'COUNT' })).Count, count);
    assert.equal((await clients.doc.get({ TableName, Key: { pk: 'counter' } })).Item.n, round + 1);
    const { Table } = await clients.ddb.describeTable({ TableName });
    assert.equal(Table.ItemCount, count + 1);
    assert.equal(Table.TableStatus, 'ACTIVE');
    assert.equal(Table.StreamSpecification.StreamViewType, 'NEW_IMAGE');
    let records = 0;
    const { StreamDescription } = await clients.streams.describeStream({ StreamArn: Table.LatestStreamArn });
    for (const { ShardId } of StreamDescription.Shards) {
      let { ShardIterator: next } = await clients.streams.getShardIterator({ StreamArn: Table.LatestStreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' });
      for (;;) {
        const page = await clients.streams.getRecords({ ShardIterator: next });
        records += page.Records.length;
        next = page.NextShardIterator;
        if (!next || page.Records.length === 0) break;
      }
    }
    assert.equal(records, count + round + 1, 'the stream has every change');
  }
  await current.stop();
});

thorpeTest('an idempotency token outlives a restart', async () => {
  const data = freshDirectory();
  const one = await startServer({ data });
  const before = clientsFor(one.endpoint);
  const TableName = await makeTable(before);
  const work = {
    ClientRequestToken: 'a-token', TransactItems: [{ Update: { TableName, Key: { pk: 'a' }, UpdateExpression: 'ADD n :one', ExpressionAttributeValues: { ':one': 1 } } }],
  };
  await before.doc.transactWrite(work);
  await one.kill();
  const two = await startServer({ data });
  const after = clientsFor(two.endpoint);
  await after.doc.transactWrite(work);
  assert.equal((await after.doc.get({ TableName, Key: { pk: 'a' } })).Item.n, 1);
  await two.stop();
});

thorpeTest('--durability relaxed and --threads work, and survive SIGTERM', async () => {
  const one = await startServer({ args: ['--durability', 'relaxed', '--threads', '3'] });
  const clients = clientsFor(one.endpoint);
  const TableName = await makeTable(clients);
  await Promise.all(Array.from({ length: 50 }, (_, i) => clients.doc.put({ TableName, Item: { pk: `k${i}` } })));
  await one.stop();
  const two = await startServer({ data: one.data });
  assert.equal((await clientsFor(two.endpoint).doc.scan({ TableName, Select: 'COUNT' })).Count, 50);
  await two.stop();
});

thorpeTest('--cache bounds what is kept for reading, also when it is less than what is read', async () => {
  const own = await startServer({ args: ['--cache', '1'] });
  const clients = clientsFor(own.endpoint);
  const TableName = await makeTable(clients);
  const text = (i) => `${i} `.repeat(100_000).slice(0, 100_000);
  for (let i = 0; i < 40; i += 1) await clients.doc.put({ TableName, Item: { pk: `k${i}`, text: text(i) } });
  for (let round = 0; round < 3; round += 1) {
    for (let i = 0; i < 40; i += 1) assert.equal((await clients.doc.get({ TableName, Key: { pk: `k${i}` } })).Item.text, text(i));
  }
  await own.stop();
});

thorpeTest('the default directory is ./thorpe-data', async () => {
  const cwd = freshDirectory();
  const free = net.createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => { free.once('listening', resolve); });
  const { port } = free.address();
  await new Promise((resolve) => { free.close(resolve); });
  mkdirSync(join(cwd, 'elsewhere'));
  const run = launch(['serve', '--listen', `127.0.0.1:${port}`], { cwd });
  await until('the server', () => request({ method: 'GET', path: '/healthz', endpoint: `http://127.0.0.1:${port}` }).then(({ status }) => status === 200, () => false));
  run.child.kill('SIGTERM');
  assert.equal(await within(30, 'the end', run.done), 0);
  const again = await startServer({ data: join(cwd, 'thorpe-data') });
  await again.stop();
});
