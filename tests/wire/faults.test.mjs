// The adversary: `--fault SPEC` and /faults. What goes wrong on purpose, and that clients which do as AWS says get through it.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { writeFileSync, chmodSync } from 'node:fs';
import { join } from 'node:path';
import { CREDENTIALS, clientsFor, freshDirectory, killAll, runToEnd, startServer, until, verify } from './process.mjs';

let server = await startServer({ args: ['--fault', 'none,seed=42'] });
let { ddb, doc, streams } = clientsFor(server.endpoint);
const patient = clientsFor(server.endpoint, { maxAttempts: 12 });

after(async () => {
  for (const client of [ddb, streams, patient.ddb, patient.streams]) client.destroy();
  await server.stop();
  await verify(server.data);
  killAll();
});

// ---------------------------------------------------------------- helpers

let serial = 0;
const sleep = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

async function createTable({ stream, provisioned, ttl } = {}) {
  const TableName = `faults-${process.pid}-${++serial}`;
  const throughput = { ReadCapacityUnits: 5, WriteCapacityUnits: 5 };
  await ddb.createTable({
    TableName,
    AttributeDefinitions: ['pk', 'g'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
    KeySchema: [{ AttributeName: 'pk', KeyType: 'HASH' }],
    ...(provisioned ? { ProvisionedThroughput: throughput } : { BillingMode: 'PAY_PER_REQUEST' }),
    GlobalSecondaryIndexes: [{
      IndexName: 'byG',
      KeySchema: [{ AttributeName: 'g', KeyType: 'HASH' }],
      Projection: { ProjectionType: 'ALL' },
      ...(provisioned ? { ProvisionedThroughput: throughput } : {}),
    }],
    ...(stream ? { StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' } } : {}),
  });
  if (ttl) await ddb.updateTimeToLive({ TableName, TimeToLiveSpecification: { Enabled: true, AttributeName: 'until' } });
  return TableName;
}

async function faults(body, { method = 'POST', endpoint = server.endpoint, headers = {} } = {}) {
  const reply = await fetch(`${endpoint}/faults`, { method, body, headers });
  return { status: reply.status, ...(await reply.json()) };
}

/** Faults of one table. */
async function strike(TableName, spec) {
  const reply = await faults(`table=${TableName},${spec}`);
  assert.equal(reply.status, 200, reply.message);
  return reply;
}

const failure = async (promise) => {
  try {
    return { ok: await promise };
  } catch (error) {
    return error;
  }
};

async function get(TableName, pk) {
  return (await doc.get({ TableName, Key: { pk }, ConsistentRead: true })).Item;
}

// ---------------------------------------------------------------- the words

test('--fault help lists the faults, and a wrong SPEC is refused with what was expected', async () => {
  const help = await runToEnd(['serve', '--fault', 'help']);
  assert.equal(help.code, 0);
  for (const name of ['latency', 'slow', 'drop', 'drop-after', 'error-before', 'error-after', 'throttle', 'conflict', 'index-lag', 'read-lag',
    'split-shards', 'duplicate-records', 'iterator-expires', 'ttl-delay']) {
    assert.match(help.stdout, new RegExp(`^  ${name}=\\S+ +\\w`, 'm'));
  }
  for (const [spec, expected] of [
    ['thottle=5%', /'thottle' is not a fault; there are latency/],
    ['throttle=5', /throttle= needs a share of requests, such as throttle=5%, not '5'/],
    ['throttle=101%', /needs a share/],
    ['index-lag=5%', /index-lag= needs a time, such as index-lag=2s/],
    ['latency=20ms..5ms', /needs a time, or a range/],
    ['slow=200ms', /needs a share and a time, such as slow=1%:200ms/],
    ['drop=1%,drop=2%', /drop is given twice/],
    ['table=ab,drop=1%', /table= needs the name of a table/],
    ['table=orders', /after table=orders its faults, or none/],
    ['none,drop=1%', /'none' cannot be combined with other faults/],
    ['seed=x', /seed= needs a whole number/],
    ['', /a list of faults is expected/],
  ]) {
    const { code, stderr } = await runToEnd(['serve', '--fault', spec]);
    assert.equal(code, 2, spec);
    assert.match(stderr, expected);
  }
});

// ---------------------------------------------------------------- single requests

test('latency delays the requests of a table, side by side, and no others', async () => {
  const slow = await createTable();
  const quick = await createTable();
  await strike(slow, 'latency=300ms..400ms');
  const ends = [];
  const begun = Date.now();
  const put = (TableName, pk) => doc.put({ TableName, Item: { pk } }).then(() => ends.push(TableName));
  await Promise.all([...Array.from({ length: 20 }, (_, i) => put(slow, `${i}`)), put(quick, 'a')]);
  assert.equal(ends[0], quick, 'a request to another table does not wait');
  assert.ok(Date.now() - begun >= 300);
  assert.ok(Date.now() - begun < 5900, 'they wait together'); // 20 times 300 ms otherwise
});

test('throttling says why, as Amazon does for tables on demand, provisioned ones, and indexes', async () => {
  const onDemand = await createTable();
  const provisioned = await createTable({ provisioned: true });
  await strike(onDemand, 'throttle=100%');
  await strike(provisioned, 'throttle=100%');
  const Item = { pk: 'a' };
  const arn = (name) => new RegExp(`^arn:aws:dynamodb:us-east-1:\\d+:table/${name}$`);

  let error = await failure(doc.put({ TableName: onDemand, Item }));
  assert.equal(error.name, 'ThrottlingException');
  assert.match(error.message, /^Throughput exceeds the current capacity of your table or index\. DynamoDB is automatically scaling/);
  assert.equal(error.throttlingReasons[0].reason, 'TableWriteKeyRangeThroughputExceeded');
  assert.match(error.throttlingReasons[0].resource, arn(onDemand));

  error = await failure(doc.get({ TableName: provisioned, Key: Item }));
  assert.equal(error.name, 'ProvisionedThroughputExceededException');
  assert.equal(error.ThrottlingReasons[0].reason, 'TableReadProvisionedThroughputExceeded');
  assert.match(error.ThrottlingReasons[0].resource, arn(provisioned));

  error = await failure(doc.query({ TableName: provisioned, IndexName: 'byG', KeyConditionExpression: 'g = :g', ExpressionAttributeValues: { ':g': 'x' } }));
  assert.equal(error.ThrottlingReasons[0].reason, 'IndexReadProvisionedThroughputExceeded');
  assert.match(error.ThrottlingReasons[0].resource, arn(`${provisioned}/index/byG`));

  error = await failure(doc.put({ TableName: onDemand, Item: { wrong: 'key' } }));
  assert.equal(error.name, 'ValidationException', 'what is wrong with a request is said first');
  await strike(onDemand, 'none');
  assert.equal(await get(onDemand, 'a'), undefined, 'nothing was written');
});

test('an SDK that tries again gets through throttling, errors and dropped connections', async () => {
  const TableName = await createTable();
  await strike(TableName, 'throttle=10%,error-before=10%,drop=10%,drop-after=5%,error-after=5%');
  await Promise.all(Array.from({ length: 60 }, (_, i) => patient.doc.put({ TableName, Item: { pk: `${i}`, i } })));
  const found = await Promise.all(Array.from({ length: 60 }, (_, i) => patient.doc.get({ TableName, Key: { pk: `${i}` } })));
  assert.deepEqual(found.map(({ Item }) => Item.i), Array.from({ length: 60 }, (_, i) => i));
});

test('errors and lost replies come before the work, or after it', async () => {
  const TableName = await createTable();
  for (const [spec, name, done] of [
    ['error-before=100%', 'InternalServerError', false],
    ['error-after=100%', 'InternalServerError', true],
    ['drop=100%', undefined, false],
    ['drop-after=100%', undefined, true],
  ]) {
    await strike(TableName, spec);
    const error = await failure(doc.put({ TableName, Item: { pk: spec } }));
    assert.ok(!error.ok, spec);
    if (name) {
      assert.equal(error.name, name);
      assert.equal(error.$metadata.httpStatusCode, 500);
    } else {
      assert.equal(error.code, 'ECONNRESET', `${spec}: ${error.name} ${error.message}`);
    }
    await strike(TableName, 'none');
    assert.equal((await get(TableName, spec)) !== undefined, done, spec);
  }
});

test('a slow reply comes late, and the work was done before', async () => {
  const TableName = await createTable();
  await strike(TableName, 'slow=100%:2s');
  const begun = Date.now();
  let replied = false;
  const put = doc.put({ TableName, Item: { pk: 'a' } }).then(() => { replied = true; });
  await until('the request to be under way', async () => (await faults(undefined, { method: 'GET' })).injected.slow > 0);
  await strike(TableName, 'none');
  await until('the item', () => get(TableName, 'a'));
  assert.ok(!replied, 'it is there before the reply');
  await put;
  assert.ok(Date.now() - begun >= 2000);
});

// ---------------------------------------------------------------- batches and transactions

test('batches are throttled item by item, and complete when what is left is sent again', async () => {
  const TableName = await createTable();
  const items = Array.from({ length: 25 }, (_, i) => ({ pk: `${i}`, i }));
  await strike(TableName, 'throttle=40%,seed=7');
  let requests = items.map((Item) => ({ PutRequest: { Item } }));
  let rounds = 0;
  while (requests?.length) {
    const { UnprocessedItems } = await patient.doc.batchWrite({ RequestItems: { [TableName]: requests } });
    const left = UnprocessedItems[TableName];
    assert.ok((left ?? []).length < requests.length);
    requests = left;
    rounds += 1;
  }
  assert.ok(rounds > 1, 'some were left the first time');
  let keys = { [TableName]: { Keys: items.map(({ pk }) => ({ pk })), ConsistentRead: true } };
  const found = [];
  rounds = 0;
  while (Object.keys(keys).length) {
    const { Responses, UnprocessedKeys } = await patient.doc.batchGet({ RequestItems: keys });
    found.push(...Responses[TableName]);
    keys = UnprocessedKeys;
    if (keys[TableName]) assert.equal(keys[TableName].ConsistentRead, true);
    rounds += 1;
  }
  assert.ok(rounds > 1);
  assert.deepEqual(found.map(({ i }) => i).sort((a, b) => a - b), items.map(({ i }) => i));

  await strike(TableName, 'throttle=100%');
  for (const call of [
    () => doc.batchWrite({ RequestItems: { [TableName]: [{ PutRequest: { Item: { pk: 'no' } } }] } }),
    () => doc.batchGet({ RequestItems: { [TableName]: { Keys: [{ pk: '1' }] } } }),
  ]) assert.equal((await failure(call())).name, 'ThrottlingException', 'with nothing done it is an error');
  await strike(TableName, 'none');
  assert.equal(await get(TableName, 'no'), undefined);
});

test('transactions are canceled, with a reason for each action', async () => {
  const TableName = await createTable();
  const other = await createTable();
  const TransactItems = [{ Put: { TableName: other, Item: { pk: 'a' } } }, { Put: { TableName, Item: { pk: 'b' } } }];
  for (const [spec, code] of [['conflict=100%', 'TransactionConflict'], ['throttle=100%', 'ThrottlingError']]) {
    await strike(TableName, spec);
    let error = await failure(doc.transactWrite({ TransactItems }));
    assert.equal(error.name, 'TransactionCanceledException');
    assert.deepEqual(error.CancellationReasons.map(({ Code }) => Code), ['None', code]);
    assert.match(error.message, new RegExp(`\\[None, ${code}\\]$`));
    error = await failure(doc.transactGet({ TransactItems: [{ Get: { TableName, Key: { pk: 'b' } } }] }));
    assert.deepEqual(error.CancellationReasons.map(({ Code }) => Code), [code]);
  }
  await strike(TableName, 'conflict=100%');
  const error = await failure(doc.update({ TableName, Key: { pk: 'b' } }));
  assert.equal(error.name, 'TransactionConflictException');
  assert.equal(error.message, 'Transaction is ongoing for the item');
  assert.deepEqual((await doc.get({ TableName, Key: { pk: 'b' } })).Item, undefined, 'reads do not conflict, and nothing was written');
  assert.equal(await get(other, 'a'), undefined);
  await strike(TableName, 'none');
  await doc.transactWrite({ TransactItems });
  assert.ok(await get(other, 'a'));
});

// ---------------------------------------------------------------- indexes

test('a global index shows a write so much later; the table shows it at once', async () => {
  const TableName = await createTable();
  const lag = 1500;
  const query = async () => (await doc.query({ TableName, IndexName: 'byG', KeyConditionExpression: 'g = :g', ExpressionAttributeValues: { ':g': 'x' } })).Items;
  const scan = async () => (await doc.scan({ TableName, IndexName: 'byG' })).Items;
  await doc.put({ TableName, Item: { pk: 'old', g: 'x', n: 1 } });
  await strike(TableName, `index-lag=${lag}ms`);
  await until('what was there to be old enough', async () => (await query()).length === 1);
  let begun = Date.now();
  await doc.put({ TableName, Item: { pk: 'new', g: 'x', n: 1 } });
  await doc.update({ TableName, Key: { pk: 'old' }, UpdateExpression: 'SET n = :n', ExpressionAttributeValues: { ':n': 2 } });
  assert.equal((await get(TableName, 'old')).n, 2);
  assert.equal((await doc.scan({ TableName })).Items.length, 2);
  assert.deepEqual(await query(), [{ pk: 'old', g: 'x', n: 1 }], 'items are as they were, too');
  assert.deepEqual(await scan(), [{ pk: 'old', g: 'x', n: 1 }]);
  await until('the index to catch up', async () => (await query()).length === 2);
  assert.ok(Date.now() - begun >= lag - 5, `after ${Date.now() - begun} ms`);
  assert.ok(Date.now() - begun < lag + 8000);
  await until('the changed item', async () => (await scan()).every(({ pk, n }) => n === (pk === 'old' ? 2 : 1)));
  begun = Date.now();
  await doc.delete({ TableName, Key: { pk: 'new' } });
  assert.equal(await get(TableName, 'new'), undefined);
  assert.equal((await query()).length, 2, 'what was deleted is still there');
  await until('it to be gone', async () => (await query()).length === 1);
  assert.ok(Date.now() - begun >= lag - 5);
  await strike(TableName, 'none');
});

test('reads without ConsistentRead lag; those with it do not, nor do transactions', async () => {
  const TableName = await createTable();
  const Key = { pk: 'a' };
  const reads = (ConsistentRead) => Promise.all([
    doc.get({ TableName, Key, ConsistentRead }).then(({ Item }) => Item),
    doc.batchGet({ RequestItems: { [TableName]: { Keys: [Key], ConsistentRead } } }).then(({ Responses }) => Responses[TableName][0]),
    doc.query({ TableName, ConsistentRead, KeyConditionExpression: 'pk = :p', ExpressionAttributeValues: { ':p': 'a' } }).then(({ Items }) => Items[0]),
    doc.scan({ TableName, ConsistentRead }).then(({ Items }) => Items[0]),
  ]).then((items) => items.map((item) => item?.n));
  await doc.put({ TableName, Item: { ...Key, n: 1 } });
  await strike(TableName, 'read-lag=1s');
  await until('what was there to be old enough', async () => (await reads(false)).every((n) => n === 1));
  await doc.put({ TableName, Item: { ...Key, n: 2 } });
  assert.deepEqual(await reads(false), [1, 1, 1, 1]);
  assert.deepEqual(await reads(true), [2, 2, 2, 2]);
  assert.equal((await doc.transactGet({ TransactItems: [{ Get: { TableName, Key } }] })).Responses[0].Item.n, 2);
  await until('reads to catch up', async () => (await reads(false)).every((n) => n === 2));
  await strike(TableName, 'none');
});

// ---------------------------------------------------------------- streams

async function streamOf(TableName) {
  return (await ddb.describeTable({ TableName })).Table.LatestStreamArn;
}

async function shardsOf(StreamArn, filter = {}) {
  const shards = [];
  let ExclusiveStartShardId;
  do {
    const { StreamDescription } = await streams.describeStream({ StreamArn, ExclusiveStartShardId, Limit: 7, ...filter });
    shards.push(...StreamDescription.Shards);
    ExclusiveStartShardId = StreamDescription.LastEvaluatedShardId;
  } while (ExclusiveStartShardId);
  return shards;
}

/** Reads shards in the order of their parents until `enough`; children only when their parents have ended. */
async function follow(StreamArn, enough) {
  const at = new Map(); // shard id → iterator; null: ended
  const records = [];
  await until('all records', async () => {
    for (const { ShardId, ParentShardId } of await shardsOf(StreamArn)) {
      if (at.has(ShardId) || (ParentShardId && at.get(ParentShardId) !== null)) continue;
      at.set(ShardId, (await streams.getShardIterator({ StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' })).ShardIterator);
    }
    for (const [ShardId, ShardIterator] of at) {
      if (ShardIterator === null) continue;
      const page = await streams.getRecords({ ShardIterator });
      records.push(...page.Records.map((record) => ({ ...record, ShardId })));
      at.set(ShardId, page.NextShardIterator ?? null);
    }
    return enough(records);
  });
  return records;
}

const sequenceOf = (record) => record.dynamodb.SequenceNumber;
const changeOf = (record) => `${record.dynamodb.Keys.pk.S}:${record.dynamodb.NewImage.n.N}`;

test('shards split while a reader follows them: every record once, each item in order, also after a restart', async () => {
  const TableName = await createTable({ stream: true });
  const StreamArn = await streamOf(TableName);
  const wanted = [];
  await strike(TableName, 'split-shards=300ms');
  const writer = (async () => {
    for (let n = 0; n < 16; n++) {
      await Promise.all(Array.from({ length: 12 }, async (_, i) => {
        await doc.put({ TableName, Item: { pk: `item${i}`, n } });
        wanted.push(`item${i}:${n}`);
      }));
      await sleep(90);
      // Enough: on a busy machine splits by the clock outrun the reader.
      if ((await shardsOf(StreamArn)).length >= 36) await strike(TableName, 'none');
    }
    await strike(TableName, 'none');
  })();
  const records = await follow(StreamArn, (all) => all.length >= 192);
  await writer;
  assert.deepEqual(records.map(changeOf).sort(), [...wanted].sort(), 'each once');
  for (let i = 0; i < 12; i++) {
    const own = records.filter((r) => r.dynamodb.Keys.pk.S === `item${i}`);
    assert.deepEqual(own.map((r) => Number(r.dynamodb.NewImage.n.N)), Array.from({ length: 16 }, (_, n) => n), 'in order');
  }

  const shards = await shardsOf(StreamArn);
  const byId = new Map(shards.map((shard) => [shard.ShardId, shard]));
  const children = (id) => shards.filter(({ ParentShardId }) => ParentShardId === id);
  assert.equal(shards.filter(({ ParentShardId }) => !ParentShardId).length, 4);
  assert.ok(shards.some(({ ShardId }) => children(ShardId).length === 2), 'some were split in two');
  assert.ok(shards.some(({ ShardId }) => children(ShardId).length === 1), 'some were only closed');
  for (const { ShardId, ParentShardId, SequenceNumberRange: range } of shards) {
    const parent = byId.get(ParentShardId)?.SequenceNumberRange;
    assert.equal(range.EndingSequenceNumber !== undefined, children(ShardId).length > 0);
    if (parent) assert.equal(BigInt(range.StartingSequenceNumber), BigInt(parent.EndingSequenceNumber) + 1n);
    const inside = records.filter((r) => r.ShardId === ShardId).map(sequenceOf);
    assert.ok(inside.every((s) => s >= range.StartingSequenceNumber && (!range.EndingSequenceNumber || s <= range.EndingSequenceNumber)));
  }
  const filter = { ShardFilter: { Type: 'CHILD_SHARDS', ShardId: shards[0].ShardId } };
  assert.deepEqual(await shardsOf(StreamArn, filter), children(shards[0].ShardId));
  const closed = shards[0];
  const { ShardIterator } = await streams.getShardIterator({ StreamArn, ShardId: closed.ShardId, ShardIteratorType: 'LATEST' });
  assert.deepEqual((await streams.getRecords({ ShardIterator })).NextShardIterator, undefined, 'a closed shard has an end');
  const beyond = { StreamArn, ShardId: closed.ShardId, ShardIteratorType: 'AT_SEQUENCE_NUMBER', SequenceNumber: children(closed.ShardId)[0].SequenceNumberRange.StartingSequenceNumber };
  assert.equal((await failure(streams.getShardIterator(beyond))).name, 'ValidationException');

  const { data } = server;
  await server.kill();
  server = await startServer({ data, listen: new URL(server.endpoint).host, args: ['--fault', 'none,seed=42'] });
  assert.deepEqual(await shardsOf(StreamArn), shards, 'shards are as they were');
  const again = await follow(StreamArn, (all) => all.length >= 192);
  assert.deepEqual(again.map(({ eventID, ShardId }) => `${eventID} ${ShardId}`).sort(), records.map(({ eventID, ShardId }) => `${eventID} ${ShardId}`).sort());
});

test('GetRecords repeats the page before, and goes on', async () => {
  const TableName = await createTable({ stream: true });
  const StreamArn = await streamOf(TableName);
  for (let n = 0; n < 10; n++) await doc.put({ TableName, Item: { pk: 'a', n } });
  await strike(TableName, 'duplicate-records=100%');
  const pages = [];
  for (const { ShardId } of await shardsOf(StreamArn)) {
    let { ShardIterator: next } = await streams.getShardIterator({ StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' });
    for (let i = 0; i < 10; i++) {
      const page = await streams.getRecords({ ShardIterator: next, Limit: 3 });
      if (page.Records.length) pages.push(page.Records.map(changeOf));
      next = page.NextShardIterator;
    }
  }
  const expected = [[0, 1, 2], [0, 1, 2], [3, 4, 5], [3, 4, 5], [6, 7, 8], [6, 7, 8], [9], [9]];
  assert.deepEqual(pages, expected.map((page) => page.map((n) => `a:${n}`)));
});

test('shard iterators expire when they are said to', async () => {
  const TableName = await createTable({ stream: true });
  const StreamArn = await streamOf(TableName);
  const [{ ShardId }] = await shardsOf(StreamArn);
  const { ShardIterator } = await streams.getShardIterator({ StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' });
  await strike(TableName, 'iterator-expires=1s');
  const error = await until('the iterator to expire', async () => {
    const answer = await failure(streams.getRecords({ ShardIterator }));
    return !answer.ok && answer;
  });
  assert.equal(error.name, 'ExpiredIteratorException');
});

// ---------------------------------------------------------------- TTL

test('expired items are removed that much later, and are there until then', async () => {
  const late = await createTable({ ttl: true });
  const soon = await createTable({ ttl: true });
  await strike(late, 'ttl-delay=4s');
  const expired = Math.floor(Date.now() / 1000) - 1;
  const begun = Date.now();
  await Promise.all([late, soon].map((TableName) => doc.put({ TableName, Item: { pk: 'a', until: expired } })));
  await until('the other to go', async () => !(await get(soon, 'a')));
  assert.ok(await get(late, 'a'));
  await until('it to go', async () => !(await get(late, 'a')));
  assert.ok(Date.now() - begun >= 2900, `after ${Date.now() - begun} ms`);
});

// ---------------------------------------------------------------- seeds and operators

test('the same seed and requests meet the same faults', async () => {
  const TableName = await createTable();
  const run = async (seed) => {
    await strike(TableName, `throttle=30%,error-before=20%,drop=10%,seed=${seed}`);
    const outcomes = [];
    for (let i = 0; i < 40; i++) {
      const error = await failure(doc.put({ TableName, Item: { pk: 'a' } }));
      outcomes.push(error.ok ? 'ok' : error.name);
    }
    return outcomes.join(' ');
  };
  const first = await run(1);
  assert.match(first, /ok/);
  assert.match(first, /ThrottlingException/);
  assert.match(first, /InternalServerError/);
  assert.equal(await run(1), first);
  assert.notEqual(await run(2), first);
});

test('operators see, set and clear faults while the server runs, and they are counted', async () => {
  const TableName = await createTable();
  const before = await faults(undefined, { method: 'GET' });
  let now = await faults('throttle=100%, latency=1ms..2ms');
  assert.match(now.faults, /^latency=1ms\.\.2ms,throttle=100%,/);
  assert.equal((await failure(doc.get({ TableName, Key: { pk: 'a' } }))).name, 'ThrottlingException');
  now = await strike(TableName, 'throttle=0%,conflict=12.5%');
  assert.match(now.faults, new RegExp(`^latency=1ms\\.\\.2ms,throttle=100%,.*table=${TableName},throttle=0%,conflict=12\\.5%`));
  await doc.get({ TableName, Key: { pk: 'a' } });
  now = await faults(undefined, { method: 'GET' });
  assert.equal(now.injected.throttle, before.injected.throttle + 1);
  assert.equal(now.injected.latency, before.injected.latency + 2);
  const metrics = await (await fetch(`${server.endpoint}/metrics`)).text();
  assert.match(metrics, new RegExp(`^thorpe_faults_injected_total\\{fault="throttle"\\} ${now.injected.throttle}$`, 'm'));
  const wrong = await faults('throttle=lots');
  assert.equal(wrong.status, 400);
  assert.match(wrong.message, /throttle= needs a share of requests/);
  assert.equal((await faults('')).status, 400);
  assert.equal((await faults(undefined, { method: 'GET' })).faults, now.faults, 'nothing changed');
  assert.match((await faults(undefined, { method: 'DELETE' })).faults, /^none,seed=\d+$/);
  await doc.put({ TableName, Item: { pk: 'a' } });
});

test('the console has no faults, nor do requests that say so', async () => {
  const TableName = await createTable();
  await strike(TableName, 'error-before=100%');
  const ask = (headers) => fetch(server.endpoint, {
    method: 'POST',
    headers: { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': 'DynamoDB_20120810.DescribeTable', ...headers },
    body: JSON.stringify({ TableName }),
  });
  assert.equal((await ask({})).status, 500);
  assert.equal((await ask({ 'sec-fetch-site': 'same-origin', origin: server.endpoint })).status, 200);
  assert.equal((await ask({ 'x-thorpe-fault': 'none' })).status, 200);
  await strike(TableName, 'none');
});

test('without --fault there is nothing to set; pages of other origins may not; with keys it is signed', async () => {
  const plain = await startServer({ data: null });
  const reply = await faults('throttle=1%', { endpoint: plain.endpoint });
  assert.equal(reply.status, 404);
  assert.match(reply.message, /--fault none/);
  await plain.stop();

  assert.equal((await faults('throttle=1%', { headers: { origin: 'https://evil.example' } })).status, 403);

  const keys = join(freshDirectory(), 'keys');
  writeFileSync(keys, `${CREDENTIALS.accessKeyId} ${CREDENTIALS.secretAccessKey}\n`);
  chmodSync(keys, 0o600);
  const guarded = await startServer({ data: null, args: ['--keys', keys, '--fault', 'error-before=100%'] });
  assert.equal((await faults('none', { endpoint: guarded.endpoint })).status, 403);
  const clients = clientsFor(guarded.endpoint);
  assert.equal((await failure(clients.ddb.listTables({}))).name, 'InternalServerError');
  clients.ddb.destroy();
  clients.streams.destroy();
  await guarded.stop();
});
