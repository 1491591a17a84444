// Time to live: switched on and described; expired items go within seconds, and only they.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  clientsFor, createTable, ddb, doc, freshDirectory, freshName, invalid, rejects, startServer, streams, tableRequest, thorpeTest, until,
} from './harness.mjs';

const now = () => Math.floor(Date.now() / 1000);
const on = (AttributeName = 'expires') => ({ TimeToLiveSpecification: { Enabled: true, AttributeName } });
const gone = (TableName, pk, client = doc) => until(`item ${pk} to expire`, async () => !(await client.get({ TableName, Key: { pk }, ConsistentRead: true })).Item);

test('TTL is switched on, described, and switched on only once', async () => {
  const TableName = await createTable();
  assert.equal((await ddb.describeTimeToLive({ TableName })).TimeToLiveDescription.TimeToLiveStatus, 'DISABLED');
  const { TimeToLiveSpecification } = await ddb.updateTimeToLive({ TableName, ...on() });
  assert.deepEqual(TimeToLiveSpecification, { Enabled: true, AttributeName: 'expires' });
  await until('TTL to be ENABLED', async () => (await ddb.describeTimeToLive({ TableName })).TimeToLiveDescription.TimeToLiveStatus === 'ENABLED');
  assert.equal((await ddb.describeTimeToLive({ TableName })).TimeToLiveDescription.AttributeName, 'expires');
  await invalid(ddb.updateTimeToLive({ TableName, ...on() }), 'TimeToLive is already enabled');
});

test('TTL requests that make no sense', async () => {
  const TableName = await createTable();
  await invalid(ddb.updateTimeToLive({ TableName, TimeToLiveSpecification: { Enabled: false, AttributeName: 'x' } }), 'TimeToLive is already disabled');
  await invalid(ddb.updateTimeToLive({ TableName, ...on('') }));
  await rejects(ddb.updateTimeToLive({ TableName: freshName('absent'), ...on() }), 'ResourceNotFoundException');
  await rejects(ddb.describeTimeToLive({ TableName: freshName('absent') }), 'ResourceNotFoundException');
});

thorpeTest('expired items go within seconds; others stay', async () => {
  const TableName = await createTable({ gsi: { byG: { key: ['g'] } } });
  await doc.put({ TableName, Item: { pk: 'before', expires: now() - 10, g: 'x' } });
  await ddb.updateTimeToLive({ TableName, ...on() });
  await doc.put({ TableName, Item: { pk: 'soon', expires: now() + 1, g: 'x' } });
  await doc.put({ TableName, Item: { pk: 'later', expires: now() + 3600, g: 'x' } });
  await doc.put({ TableName, Item: { pk: 'text', expires: String(now() - 10), g: 'x' } });
  await doc.put({ TableName, Item: { pk: 'ancient', expires: now() - 6 * 365 * 86400, g: 'x' } });
  await doc.put({ TableName, Item: { pk: 'none', g: 'x' } });
  await doc.put({ TableName, Item: { pk: 'moved', expires: now() + 1, g: 'x' } });
  await doc.update({ TableName, Key: { pk: 'moved' }, UpdateExpression: 'SET expires = :t', ExpressionAttributeValues: { ':t': now() + 3600 } });
  await gone(TableName, 'soon');
  await gone(TableName, 'before');
  const left = (await doc.scan({ TableName, IndexName: 'byG' })).Items.map(({ pk }) => pk).sort();
  assert.deepEqual(left, ['ancient', 'later', 'moved', 'none', 'text']);
  assert.equal((await ddb.describeTable({ TableName })).Table.ItemCount, 5);
});

thorpeTest('a TTL deletion is marked in the stream as the service\'s own', async () => {
  const TableName = await createTable({ StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' } });
  const StreamArn = (await ddb.describeTable({ TableName })).Table.LatestStreamArn;
  await ddb.updateTimeToLive({ TableName, ...on() });
  await doc.put({ TableName, Item: { pk: 'a', expires: now() } });
  await gone(TableName, 'a');
  const { StreamDescription } = await streams.describeStream({ StreamArn });
  const all = [];
  for (const { ShardId } of StreamDescription.Shards) {
    const { ShardIterator } = await streams.getShardIterator({ StreamArn, ShardId, ShardIteratorType: 'TRIM_HORIZON' });
    all.push(...(await streams.getRecords({ ShardIterator })).Records);
  }
  const remove = all.find(({ eventName }) => eventName === 'REMOVE');
  assert.deepEqual(remove.userIdentity, { PrincipalId: 'dynamodb.amazonaws.com', Type: 'Service' });
  assert.equal(remove.dynamodb.OldImage.pk.S, 'a');
  assert.equal(all.find(({ eventName }) => eventName === 'INSERT').userIdentity, undefined);
});

thorpeTest('TTL survives a kill and a restart', async () => {
  const data = freshDirectory();
  const first = await startServer({ data });
  const before = clientsFor(first.endpoint);
  const request = tableRequest({ key: ['pk'] });
  const { TableName } = request;
  await before.ddb.createTable(request);
  await before.ddb.updateTimeToLive({ TableName, ...on() });
  await before.doc.put({ TableName, Item: { pk: 'a', expires: now() + 3 } });
  await before.doc.put({ TableName, Item: { pk: 'b', expires: now() + 3600 } });
  await first.kill();
  const second = await startServer({ data });
  const after = clientsFor(second.endpoint);
  assert.equal((await after.ddb.describeTimeToLive({ TableName })).TimeToLiveDescription.TimeToLiveStatus, 'ENABLED');
  await gone(TableName, 'a', after.doc);
  assert.ok((await after.doc.get({ TableName, Key: { pk: 'b' } })).Item);
  await second.stop();
});

thorpeTest('TTL that is switched off deletes no more', async () => {
  const TableName = await createTable();
  await ddb.updateTimeToLive({ TableName, ...on() });
  await ddb.updateTimeToLive({ TableName, TimeToLiveSpecification: { Enabled: false, AttributeName: 'expires' } });
  const witness = await createTable();
  await ddb.updateTimeToLive({ TableName: witness, ...on() });
  await doc.put({ TableName, Item: { pk: 'stays', expires: now() - 5 } });
  await doc.put({ TableName: witness, Item: { pk: 'goes', expires: now() - 5 } });
  await gone(witness, 'goes');
  assert.ok((await doc.get({ TableName, Key: { pk: 'stays' } })).Item);
});
