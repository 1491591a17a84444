// ConsumedCapacity, ItemCollectionMetrics, and the counts and sizes a table reports.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTable, ddb, doc, invalid, putAll } from './harness.mjs';

const TableName = await createTable({
  key: ['pk', 'sk'], gsi: { byG: { key: ['g'], project: 'ALL' } }, lsi: { byL: { key: ['pk', 'l'], project: 'KEYS_ONLY' } },
});
const kb = (n) => 'x'.repeat(n * 1024);
const TOTAL = { ReturnConsumedCapacity: 'TOTAL' };
const INDEXES = { ReturnConsumedCapacity: 'INDEXES' };
const put = (Item, extra = TOTAL) => doc.put({ TableName, Item, ...extra }).then(({ ConsumedCapacity }) => ConsumedCapacity);

test('nothing is said unless asked', async () => {
  assert.equal((await doc.put({ TableName, Item: { pk: 'q', sk: '1' } })).ConsumedCapacity, undefined);
  assert.equal((await doc.put({ TableName, Item: { pk: 'q', sk: '1' }, ReturnConsumedCapacity: 'NONE' })).ConsumedCapacity, undefined);
  await invalid(doc.put({ TableName, Item: { pk: 'q', sk: '1' }, ReturnConsumedCapacity: 'SOME' }),
    "1 validation error detected: Value 'SOME' at 'returnConsumedCapacity' failed to satisfy constraint: Member must satisfy enum value set: [INDEXES, TOTAL, NONE]");
});

test('a write costs a unit for each KB begun, of the larger of old and new', async () => {
  assert.deepEqual(await put({ pk: 'w', sk: '1' }), { TableName, CapacityUnits: 1 });
  assert.equal((await put({ pk: 'w', sk: '1', d: kb(2) })).CapacityUnits, 3);
  assert.equal((await put({ pk: 'w', sk: '1' })).CapacityUnits, 3, 'the old item was larger');
  assert.equal((await put({ pk: 'w', sk: '2', d: 'x'.repeat(1024 - 7) })).CapacityUnits, 1, 'exactly 1 KB');
  assert.equal((await put({ pk: 'w', sk: '3', d: 'x'.repeat(1024 - 6) })).CapacityUnits, 2, 'a byte more');
  const { ConsumedCapacity } = await doc.delete({ TableName, Key: { pk: 'w', sk: 'absent' }, ...TOTAL });
  assert.equal(ConsumedCapacity.CapacityUnits, 1);
});

test('a read costs half a unit for each 4 KB begun, a consistent one twice that', async () => {
  await put({ pk: 'r', sk: 'small' });
  await put({ pk: 'r', sk: 'large', d: kb(9) });
  const get = (sk, ConsistentRead) => doc.get({ TableName, Key: { pk: 'r', sk }, ConsistentRead, ...TOTAL }).then(({ ConsumedCapacity }) => ConsumedCapacity.CapacityUnits);
  assert.equal(await get('small', false), 0.5);
  assert.equal(await get('small', true), 1);
  assert.equal(await get('large', false), 1.5);
  assert.equal(await get('large', true), 3);
  assert.equal(await get('absent', false), 0.5);
});

test('a query or scan costs what all it reads costs together', async () => {
  await putAll(TableName, Array.from({ length: 10 }, (_, i) => ({ pk: 'sum', sk: String(i), d: 'x'.repeat(1000), i })));
  const query = (extra) => doc.query({ TableName, KeyConditionExpression: 'pk = :p', ExpressionAttributeValues: { ':p': 'sum', ...extra?.values }, ...TOTAL, ...extra, values: undefined })
    .then(({ ConsumedCapacity }) => ConsumedCapacity.CapacityUnits);
  assert.equal(await query(), 1.5);
  assert.equal(await query({ ConsistentRead: true }), 3);
  assert.equal(await query({ FilterExpression: 'i > :i', values: { ':i': 100 } }), 1.5, 'what a filter drops was read');
  assert.equal(await query({ Select: 'COUNT' }), 1.5);
});

test('INDEXES names the table and each index touched', async () => {
  const item = { pk: 'i', sk: '1', g: 'x', l: 'y' };
  assert.deepEqual(await put(item, INDEXES), {
    TableName, CapacityUnits: 3, Table: { CapacityUnits: 1 }, GlobalSecondaryIndexes: { byG: { CapacityUnits: 1 } }, LocalSecondaryIndexes: { byL: { CapacityUnits: 1 } },
  });
  assert.deepEqual(await put(item, TOTAL), { TableName, CapacityUnits: 1 }, 'indexes that do not change cost nothing');
  assert.deepEqual(await put({ ...item, g: 'z' }, INDEXES), {
    TableName, CapacityUnits: 3, Table: { CapacityUnits: 1 }, GlobalSecondaryIndexes: { byG: { CapacityUnits: 2 } },
  }, 'a changed index key costs a removal and an insertion');
  assert.deepEqual(await put({ pk: 'i', sk: '2' }, INDEXES), { TableName, CapacityUnits: 1, Table: { CapacityUnits: 1 } });
  const { ConsumedCapacity } = await doc.query({
    TableName, IndexName: 'byG', KeyConditionExpression: 'g = :g', ExpressionAttributeValues: { ':g': 'z' }, ...INDEXES,
  });
  assert.deepEqual(ConsumedCapacity, { TableName, CapacityUnits: 0.5, Table: { CapacityUnits: 0 }, GlobalSecondaryIndexes: { byG: { CapacityUnits: 0.5 } } });
});

test('transactions cost double', async () => {
  const table = await createTable();
  const written = await doc.transactWrite({ TransactItems: [{ Put: { TableName: table, Item: { pk: 'a', d: kb(2) } } }, { Put: { TableName: table, Item: { pk: 'b' } } }], ...TOTAL });
  assert.equal(written.ConsumedCapacity.length, 1);
  assert.equal(written.ConsumedCapacity[0].TableName, table);
  assert.equal(written.ConsumedCapacity[0].CapacityUnits, 8);
  const read = await doc.transactGet({ TransactItems: [{ Get: { TableName: table, Key: { pk: 'a' } } }, { Get: { TableName: table, Key: { pk: 'b' } } }], ...TOTAL });
  assert.equal(read.ConsumedCapacity[0].CapacityUnits, 4);
});

test('batches report each table', async () => {
  const one = await createTable();
  const two = await createTable();
  const written = await doc.batchWrite({
    RequestItems: { [one]: [{ PutRequest: { Item: { pk: 'a' } } }, { PutRequest: { Item: { pk: 'b', d: kb(1) } } }], [two]: [{ PutRequest: { Item: { pk: 'a' } } }] }, ...TOTAL,
  });
  const units = (list) => Object.fromEntries(list.map(({ TableName: name, CapacityUnits }) => [name, CapacityUnits]));
  assert.deepEqual(units(written.ConsumedCapacity), { [one]: 3, [two]: 1 });
  const read = await doc.batchGet({ RequestItems: { [one]: { Keys: [{ pk: 'a' }, { pk: 'b' }] }, [two]: { Keys: [{ pk: 'a' }, { pk: 'absent' }], ConsistentRead: true } }, ...TOTAL });
  assert.deepEqual(units(read.ConsumedCapacity), { [one]: 1, [two]: 2 });
});

test('ItemCollectionMetrics for tables with an LSI, and only for them', async () => {
  const { ItemCollectionMetrics } = await ddb.putItem({ TableName, Item: { pk: { S: 'icm' }, sk: { S: '1' } }, ReturnItemCollectionMetrics: 'SIZE' });
  assert.deepEqual(ItemCollectionMetrics.ItemCollectionKey, { pk: { S: 'icm' } });
  assert.equal(ItemCollectionMetrics.SizeEstimateRangeGB.length, 2);
  assert.ok(ItemCollectionMetrics.SizeEstimateRangeGB[0] <= ItemCollectionMetrics.SizeEstimateRangeGB[1]);
  const plain = await createTable();
  assert.equal((await ddb.putItem({ TableName: plain, Item: { pk: { S: 'x' } }, ReturnItemCollectionMetrics: 'SIZE' })).ItemCollectionMetrics, undefined);
});

test('ItemCount and TableSizeBytes are right at once, for table and indexes', async () => {
  const table = await createTable({ key: ['pk'], gsi: { byG: { key: ['g'], project: 'KEYS_ONLY' } } });
  const counts = async () => {
    const { Table } = await ddb.describeTable({ TableName: table });
    const [index] = Table.GlobalSecondaryIndexes;
    return [Table.ItemCount, Table.TableSizeBytes, index.ItemCount, index.IndexSizeBytes];
  };
  assert.deepEqual(await counts(), [0, 0, 0, 0]);
  await doc.put({ TableName: table, Item: { pk: 'a', text: 'hello', yes: true } }); // 2+1 + 4+5 + 3+1
  assert.deepEqual(await counts(), [1, 16, 0, 0]);
  await doc.put({ TableName: table, Item: { pk: 'b', g: 'x' } }); // 2+1 + 1+1
  assert.deepEqual((await counts()).slice(0, 3), [2, 21, 1]);
  assert.ok((await counts())[3] >= 5);
  await doc.update({ TableName: table, Key: { pk: 'a' }, UpdateExpression: 'REMOVE #t', ExpressionAttributeNames: { '#t': 'text' } });
  assert.deepEqual((await counts()).slice(0, 3), [2, 12, 1]);
  await doc.transactWrite({ TransactItems: [{ Delete: { TableName: table, Key: { pk: 'b' } } }, { Put: { TableName: table, Item: { pk: 'c' } } }] });
  assert.deepEqual(await counts(), [2, 10, 0, 0]);
});
