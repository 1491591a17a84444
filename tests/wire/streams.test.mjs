// Streams: what each view type shows, order, iterators of every type, and streams switched off and on.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTable, ddb, doc, rejects, invalid, putAll, streams, thorpeTest, until, untilActive } from './harness.mjs';

const stream = (StreamViewType) => ({ StreamSpecification: { StreamEnabled: true, StreamViewType } });

async function streamTable(view, description = { key: ['pk', 'sk:N'] }) {
  const TableName = await createTable({ ...description, ...stream(view) });
  const { Table } = await ddb.describeTable({ TableName });
  return { TableName, StreamArn: Table.LatestStreamArn };
}

async function shardsOf(StreamArn) {
  const shards = [];
  let ExclusiveStartShardId;
  do {
    const { StreamDescription } = await streams.describeStream({ StreamArn, ExclusiveStartShardId });
    shards.push(...StreamDescription.Shards);
    ExclusiveStartShardId = StreamDescription.LastEvaluatedShardId;
  } while (ExclusiveStartShardId);
  return shards;
}

/** Everything there is in one shard from an iterator on, and where reading would go on. */
async function drain(iterator) {
  const records = [];
  let next = iterator;
  for (;;) {
    const page = await streams.getRecords({ ShardIterator: next });
    records.push(...page.Records);
    next = page.NextShardIterator;
    if (!next || page.Records.length === 0) return { records, next };
  }
}

async function readShard(StreamArn, ShardId, position = { ShardIteratorType: 'TRIM_HORIZON' }) {
  const { ShardIterator } = await streams.getShardIterator({ StreamArn, ShardId, ...position });
  return (await drain(ShardIterator)).records;
}

async function readAll(StreamArn) {
  const shards = await shardsOf(StreamArn);
  return (await Promise.all(shards.map(({ ShardId }) => readShard(StreamArn, ShardId)))).flat();
}

/** The records of a stream once there are that many. */
const records = (StreamArn, count) => until(`${count} records`, async () => {
  const all = await readAll(StreamArn);
  return all.length >= count && all;
});

test('DescribeTable, ListStreams and DescribeStream show the stream', async () => {
  const { TableName, StreamArn } = await streamTable('NEW_IMAGE');
  const { Table } = await ddb.describeTable({ TableName });
  assert.deepEqual(Table.StreamSpecification, { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' });
  assert.equal(StreamArn, `${Table.TableArn}/stream/${Table.LatestStreamLabel}`);
  const { Streams } = await streams.listStreams({ TableName });
  assert.deepEqual(Streams.map((s) => [s.StreamArn, s.TableName, s.StreamLabel]), [[StreamArn, TableName, Table.LatestStreamLabel]]);
  const { StreamDescription } = await streams.describeStream({ StreamArn });
  assert.equal(StreamDescription.TableName, TableName);
  assert.equal(StreamDescription.StreamViewType, 'NEW_IMAGE');
  assert.deepEqual(StreamDescription.KeySchema, Table.KeySchema);
  await until('the stream to be ENABLED', async () => (await streams.describeStream({ StreamArn })).StreamDescription.StreamStatus === 'ENABLED');
  assert.ok(StreamDescription.Shards.length >= 1);
  for (const shard of StreamDescription.Shards) {
    assert.match(shard.ShardId, /^shardId-/);
    assert.ok(BigInt(shard.SequenceNumberRange.StartingSequenceNumber) > 0n);
    assert.equal(shard.SequenceNumberRange.EndingSequenceNumber, undefined, 'an open shard has no end');
  }
});

test('an insert, a change and a removal leave a record each', async () => {
  const { TableName, StreamArn } = await streamTable('NEW_AND_OLD_IMAGES');
  const Key = { pk: 'a', sk: 1 };
  const K = { pk: { S: 'a' }, sk: { N: '1' } };
  await doc.put({ TableName, Item: { ...Key, v: 'one' } });
  await doc.update({ TableName, Key, UpdateExpression: 'SET v = :v', ExpressionAttributeValues: { ':v': 'two' } });
  await doc.delete({ TableName, Key });
  const [insert, modify, remove] = await records(StreamArn, 3);
  assert.deepEqual([insert, modify, remove].map(({ eventName }) => eventName), ['INSERT', 'MODIFY', 'REMOVE']);
  for (const record of [insert, modify, remove]) {
    assert.equal(record.eventSource, 'aws:dynamodb');
    assert.equal(record.eventVersion, '1.1');
    assert.equal(typeof record.awsRegion, 'string');
    assert.equal(typeof record.eventID, 'string');
    assert.deepEqual(record.dynamodb.Keys, K);
    assert.equal(record.dynamodb.StreamViewType, 'NEW_AND_OLD_IMAGES');
    assert.ok(record.dynamodb.SizeBytes > 0);
    assert.ok(Math.abs(record.dynamodb.ApproximateCreationDateTime - Date.now()) < 120_000);
    assert.equal(record.userIdentity, undefined);
  }
  assert.equal(new Set([insert, modify, remove].map(({ eventID }) => eventID)).size, 3);
  assert.deepEqual(insert.dynamodb.NewImage, { ...K, v: { S: 'one' } });
  assert.equal(insert.dynamodb.OldImage, undefined);
  assert.deepEqual(modify.dynamodb.OldImage, { ...K, v: { S: 'one' } });
  assert.deepEqual(modify.dynamodb.NewImage, { ...K, v: { S: 'two' } });
  assert.deepEqual(remove.dynamodb.OldImage, { ...K, v: { S: 'two' } });
  assert.equal(remove.dynamodb.NewImage, undefined);
});

test('each view type shows what it says', async () => {
  for (const [view, images] of Object.entries({ KEYS_ONLY: [], NEW_IMAGE: ['NewImage'], OLD_IMAGE: ['OldImage'], NEW_AND_OLD_IMAGES: ['NewImage', 'OldImage'] })) {
    const { TableName, StreamArn } = await streamTable(view);
    await putAll(TableName, [{ pk: 'a', sk: 1, v: 1 }]);
    await putAll(TableName, [{ pk: 'a', sk: 1, v: 2 }]);
    const modify = (await records(StreamArn, 2))[1];
    assert.deepEqual(Object.keys(modify.dynamodb).filter((name) => name.endsWith('Image')).sort(), images, view);
    assert.deepEqual(modify.dynamodb.Keys, { pk: { S: 'a' }, sk: { N: '1' } });
  }
});

test('a write that changes nothing leaves no record', async () => {
  const { TableName, StreamArn } = await streamTable('KEYS_ONLY');
  await doc.put({ TableName, Item: { pk: 'a', sk: 1, v: 1 } });
  await doc.put({ TableName, Item: { pk: 'a', sk: 1, v: 1 } });
  await doc.update({ TableName, Key: { pk: 'a', sk: 1 }, UpdateExpression: 'SET v = :v', ExpressionAttributeValues: { ':v': 1 } });
  await doc.delete({ TableName, Key: { pk: 'absent', sk: 1 } });
  await rejects(doc.put({ TableName, Item: { pk: 'a', sk: 1 }, ConditionExpression: 'attribute_not_exists(pk)' }), 'ConditionalCheckFailedException');
  await doc.put({ TableName, Item: { pk: 'a', sk: 2 } });
  const all = await records(StreamArn, 2);
  assert.deepEqual(all.map(({ eventName, dynamodb }) => `${eventName} ${dynamodb.Keys.sk.N}`), ['INSERT 1', 'INSERT 2']);
});

test('the changes of one partition come in order, in one shard, with rising sequence numbers', async () => {
  const { TableName, StreamArn } = await streamTable('NEW_IMAGE');
  const partitions = ['p0', 'p1', 'p2', 'p3', 'p4'];
  await Promise.all(partitions.map(async (pk) => {
    for (let i = 0; i < 20; i += 1) await doc.put({ TableName, Item: { pk, sk: 1, i } });
  }));
  await records(StreamArn, 100);
  const home = new Map();
  for (const { ShardId } of await shardsOf(StreamArn)) {
    const list = await readShard(StreamArn, ShardId);
    for (let i = 1; i < list.length; i += 1) {
      assert.ok(BigInt(list[i].dynamodb.SequenceNumber) > BigInt(list[i - 1].dynamodb.SequenceNumber));
    }
    for (const pk of partitions) {
      const mine = list.filter(({ dynamodb }) => dynamodb.Keys.pk.S === pk).map(({ dynamodb }) => Number(dynamodb.NewImage.i.N));
      if (mine.length === 0) continue;
      assert.equal(home.has(pk), false, 'a partition lives in one shard');
      home.set(pk, ShardId);
      assert.deepEqual(mine, Array.from({ length: 20 }, (_, i) => i));
    }
  }
  assert.equal(home.size, partitions.length);
});

test('iterators start where they say', async () => {
  const { TableName, StreamArn } = await streamTable('KEYS_ONLY');
  const write = (sk) => doc.put({ TableName, Item: { pk: 'a', sk } });
  for (const sk of [1, 2, 3, 4]) await write(sk);
  await records(StreamArn, 4);
  let shard;
  let list;
  for (const { ShardId } of await shardsOf(StreamArn)) {
    const found = await readShard(StreamArn, ShardId);
    if (found.length) [shard, list] = [ShardId, found];
  }
  const numbers = (found) => found.map(({ dynamodb }) => Number(dynamodb.Keys.sk.N));
  const second = list[1].dynamodb.SequenceNumber;
  assert.deepEqual(numbers(list), [1, 2, 3, 4]);
  assert.deepEqual(numbers(await readShard(StreamArn, shard, { ShardIteratorType: 'AT_SEQUENCE_NUMBER', SequenceNumber: second })), [2, 3, 4]);
  assert.deepEqual(numbers(await readShard(StreamArn, shard, { ShardIteratorType: 'AFTER_SEQUENCE_NUMBER', SequenceNumber: second })), [3, 4]);

  const { ShardIterator: latest } = await streams.getShardIterator({ StreamArn, ShardId: shard, ShardIteratorType: 'LATEST' });
  const empty = await drain(latest);
  assert.deepEqual(empty.records, []);
  await write(5);
  assert.deepEqual(numbers(await until('the new record', async () => {
    const found = await drain(latest);
    return found.records.length > 0 && found.records;
  })), [5], 'LATEST sees what was written after it');
  assert.deepEqual(numbers((await until('the next iterator to see it', async () => {
    const found = await drain(empty.next);
    return found.records.length > 0 && found.records;
  }))), [5]);

  const { ShardIterator } = await streams.getShardIterator({ StreamArn, ShardId: shard, ShardIteratorType: 'TRIM_HORIZON' });
  const page = await streams.getRecords({ ShardIterator, Limit: 2 });
  assert.deepEqual(numbers(page.Records), [1, 2]);
  assert.deepEqual(numbers((await drain(page.NextShardIterator)).records), [3, 4, 5]);
});

test('batches and transactions are in the stream too', async () => {
  const { TableName, StreamArn } = await streamTable('NEW_IMAGE');
  await putAll(TableName, [{ pk: 'b', sk: 1 }, { pk: 'b', sk: 2 }]);
  await doc.transactWrite({
    TransactItems: [
      { Put: { TableName, Item: { pk: 't', sk: 1 } } },
      { Update: { TableName, Key: { pk: 't', sk: 2 }, UpdateExpression: 'SET v = :v', ExpressionAttributeValues: { ':v': 1 } } },
      { Delete: { TableName, Key: { pk: 'b', sk: 1 } } },
    ],
  });
  await rejects(doc.transactWrite({
    TransactItems: [{ Put: { TableName, Item: { pk: 'n', sk: 1 } } }, { ConditionCheck: { TableName, Key: { pk: 'n', sk: 2 }, ConditionExpression: 'attribute_exists(pk)' } }],
  }), 'TransactionCanceledException');
  await doc.put({ TableName, Item: { pk: 'z', sk: 1 } });
  const all = await records(StreamArn, 6);
  assert.deepEqual(all.map(({ eventName, dynamodb }) => `${eventName} ${dynamodb.Keys.pk.S}${dynamodb.Keys.sk.N}`).sort(),
    ['INSERT b1', 'INSERT b2', 'INSERT t1', 'INSERT t2', 'INSERT z1', 'REMOVE b1']);
});

test('a stream that is switched off closes its shards and stays readable; switched on again it is another one', async () => {
  const { TableName, StreamArn } = await streamTable('KEYS_ONLY');
  await doc.put({ TableName, Item: { pk: 'a', sk: 1 } });
  await records(StreamArn, 1);
  await ddb.updateTable({ TableName, StreamSpecification: { StreamEnabled: false } });
  const table = await untilActive(TableName);
  assert.equal(table.StreamSpecification?.StreamEnabled ?? false, false);
  await until('the stream to be DISABLED', async () => (await streams.describeStream({ StreamArn })).StreamDescription.StreamStatus === 'DISABLED');
  await doc.put({ TableName, Item: { pk: 'a', sk: 2 } });
  for (const { ShardId, SequenceNumberRange } of await shardsOf(StreamArn)) {
    assert.ok(SequenceNumberRange.EndingSequenceNumber, 'a closed shard has an end');
    const { ShardIterator } = await streams.getShardIterator({ StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' });
    const { next } = await drain(ShardIterator);
    assert.equal(next, undefined, 'a closed shard ends');
  }
  assert.deepEqual((await readAll(StreamArn)).map(({ dynamodb }) => dynamodb.Keys.sk.N), ['1']);

  await ddb.updateTable({ TableName, ...stream('NEW_IMAGE') });
  const again = await untilActive(TableName);
  assert.notEqual(again.LatestStreamArn, StreamArn);
  await doc.put({ TableName, Item: { pk: 'a', sk: 3 } });
  const fresh = await records(again.LatestStreamArn, 1);
  assert.deepEqual(fresh.map(({ dynamodb }) => dynamodb.Keys.sk.N), ['3']);
});

thorpeTest('switching a stream to where it is already is refused', async () => {
  const { TableName } = await streamTable('KEYS_ONLY');
  await invalid(ddb.updateTable({ TableName, ...stream('NEW_IMAGE') }), `Table already has an enabled stream: TableName: ${TableName}`);
  await ddb.updateTable({ TableName, StreamSpecification: { StreamEnabled: false } });
  await untilActive(TableName);
  await invalid(ddb.updateTable({ TableName, StreamSpecification: { StreamEnabled: false } }), `Table has no stream to disable: TableName: ${TableName}`);
});

test('ListStreams pages', async () => {
  const made = [];
  for (let i = 0; i < 3; i += 1) made.push((await streamTable('KEYS_ONLY')).StreamArn);
  const seen = [];
  let ExclusiveStartStreamArn;
  do {
    const page = await streams.listStreams({ Limit: 2, ExclusiveStartStreamArn });
    assert.ok(page.Streams.length <= 2);
    seen.push(...page.Streams.map(({ StreamArn }) => StreamArn));
    ExclusiveStartStreamArn = page.LastEvaluatedStreamArn;
  } while (ExclusiveStartStreamArn);
  for (const arn of made) assert.equal(seen.filter((name) => name === arn).length, 1);
});

test('streams and iterators that are not there', async () => {
  const { StreamArn } = await streamTable('KEYS_ONLY');
  const [{ ShardId }] = await shardsOf(StreamArn);
  const absent = StreamArn.replace(/table\/[^/]+/, 'table/no-such-table-here');
  await rejects(streams.describeStream({ StreamArn: absent }), 'ResourceNotFoundException');
  await rejects(streams.getShardIterator({ StreamArn: absent, ShardId, ShardIteratorType: 'LATEST' }), 'ResourceNotFoundException');
  await rejects(streams.getShardIterator({ StreamArn, ShardId: 'shardId-00000000000000000000-00000000', ShardIteratorType: 'LATEST' }), 'ResourceNotFoundException');
  await invalid(streams.getShardIterator({ StreamArn, ShardId, ShardIteratorType: 'SOMETIME' }), /enum value set/);
  await invalid(streams.getShardIterator({ StreamArn, ShardId, ShardIteratorType: 'AT_SEQUENCE_NUMBER' }));
  await invalid(streams.getRecords({ ShardIterator: 'not an iterator' }));
  await invalid(streams.getRecords({ ShardIterator: Buffer.from('nor this one').toString('base64') }));
});

test('a page of streams or shards has a hundred at most', async () => {
  await invalid(streams.listStreams({ Limit: 101 }), /Member must have value less than or equal to 100/);
});

test('shards are described from any place in their order', async () => {
  const TableName = await createTable({ StreamSpecification: { StreamEnabled: true, StreamViewType: 'KEYS_ONLY' } });
  const { LatestStreamArn: StreamArn } = (await ddb.describeTable({ TableName })).Table;
  const shards = async (ExclusiveStartShardId) => (await streams.describeStream({ StreamArn, ExclusiveStartShardId })).StreamDescription.Shards;
  const all = await shards();
  assert.deepEqual(await shards(all[0].ShardId), all.slice(1));
  assert.deepEqual(await shards('shardId-zzzzzzzzzzzzzzzzzzzzzzzz'), [], 'also from one where no shard is');
  assert.deepEqual(await shards('shardId-00000000000000000000-00000000'), all);
});

test('a filter of shards says of what and which', async () => {
  const TableName = await createTable({ StreamSpecification: { StreamEnabled: true, StreamViewType: 'KEYS_ONLY' } });
  const { LatestStreamArn: StreamArn } = (await ddb.describeTable({ TableName })).Table;
  const [{ ShardId }] = (await streams.describeStream({ StreamArn })).StreamDescription.Shards;
  const children = (ShardFilter) => streams.describeStream({ StreamArn, ShardFilter });
  assert.deepEqual((await children({ Type: 'CHILD_SHARDS', ShardId })).StreamDescription.Shards, []);
  await invalid(children({ Type: 'CHILD_SHARDS', ShardId: 'qwerty' }), /'shardFilter\.shardId'/);
  await invalid(children({ Type: 'OTHER', ShardId }), /'shardFilter\.type'/);
  await invalid(children({ ShardId }), /'shardFilter\.type'/);
  await invalid(children({ Type: 'CHILD_SHARDS' }), /'shardFilter\.shardId'/);
});
