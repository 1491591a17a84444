// Secondary indexes: local and global, every projection, sparse, always in step with the table.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTable, ddb, doc, invalid, putAll, rejects, thorpeTest, until, untilActive } from './harness.mjs';

const TableName = await createTable({
  key: ['pk', 'sk'],
  gsi: {
    all: { key: ['g', 'r:N'], project: 'ALL' },
    keys: { key: ['g'], project: 'KEYS_ONLY' },
    some: { key: ['g', 'sk'], project: ['x'] },
  },
  lsi: { local: { key: ['pk', 'r:N'], project: 'KEYS_ONLY' } },
});

const query = async (IndexName, condition, values, extra) => (await doc.query({
  TableName, IndexName, KeyConditionExpression: condition, ExpressionAttributeValues: values, ...extra,
}));

test('each projection holds what it should', async () => {
  const item = { pk: 'proj', sk: '1', g: 'proj', r: 1, x: 'kept', y: 'dropped' };
  await doc.put({ TableName, Item: item });
  const first = async (index) => (await query(index, 'g = :g', { ':g': 'proj' })).Items[0];
  assert.deepEqual(await first('all'), item);
  assert.deepEqual(await first('keys'), { pk: 'proj', sk: '1', g: 'proj' });
  assert.deepEqual(await first('some'), { pk: 'proj', sk: '1', g: 'proj', x: 'kept' });
  assert.deepEqual((await query('local', 'pk = :p', { ':p': 'proj' })).Items[0], { pk: 'proj', sk: '1', r: 1 });
});

test('an item without the index\'s key is not in the index', async () => {
  await putAll(TableName, [{ pk: 'sparse', sk: 'none' }, { pk: 'sparse', sk: 'half', g: 'sparse' }, { pk: 'sparse', sk: 'full', g: 'sparse', r: 1 }]);
  assert.deepEqual((await query('all', 'g = :g', { ':g': 'sparse' })).Items.map(({ sk }) => sk), ['full']);
  assert.deepEqual((await query('keys', 'g = :g', { ':g': 'sparse' })).Items.map(({ sk }) => sk).sort(), ['full', 'half']);
  assert.deepEqual((await query('local', 'pk = :p', { ':p': 'sparse' })).Items.map(({ sk }) => sk), ['full']);
});

test('an index follows puts, updates and deletes at once', async () => {
  const counts = async (...values) => Promise.all(values.map(async (g) => (await query('all', 'g = :g', { ':g': g })).Count));
  const Key = { pk: 'follow', sk: '1' };
  const set = (UpdateExpression, ExpressionAttributeValues) => doc.update({ TableName, Key, UpdateExpression, ExpressionAttributeValues });
  await doc.put({ TableName, Item: { ...Key, g: 'f1', r: 1 } });
  assert.deepEqual(await counts('f1', 'f2'), [1, 0]);
  await set('SET g = :g', { ':g': 'f2' });
  assert.deepEqual(await counts('f1', 'f2'), [0, 1]);
  await set('REMOVE g');
  assert.deepEqual(await counts('f1', 'f2'), [0, 0]);
  await set('SET g = :g, z = :z', { ':g': 'f1', ':z': 'v1' });
  await set('SET z = :z', { ':z': 'v2' });
  assert.equal((await query('all', 'g = :g', { ':g': 'f1' })).Items[0].z, 'v2');
  await doc.put({ TableName, Item: Key });
  assert.deepEqual(await counts('f1', 'f2'), [0, 0]);
  await doc.put({ TableName, Item: { ...Key, g: 'f1', r: 2 } });
  await doc.delete({ TableName, Key });
  assert.deepEqual(await counts('f1', 'f2'), [0, 0]);
});

test('an index sorts by its own key, and ties are all there', async () => {
  const items = [5, 1, 3, 3, 3, 2, 4].map((r, i) => ({ pk: 'order', sk: `s${i}`, g: 'order', r }));
  await putAll(TableName, items);
  const ranks = (extra) => query('all', 'g = :g', { ':g': 'order' }, extra).then(({ Items }) => Items.map(({ r }) => r));
  assert.deepEqual(await ranks(), [1, 2, 3, 3, 3, 4, 5]);
  assert.deepEqual(await ranks({ ScanIndexForward: false }), [5, 4, 3, 3, 3, 2, 1]);
  const between = await query('all', 'g = :g AND r BETWEEN :a AND :b', { ':g': 'order', ':a': 2, ':b': 3 });
  assert.deepEqual(between.Items.map(({ r }) => r), [2, 3, 3, 3]);

  for (const ScanIndexForward of [true, false]) {
    const seen = [];
    let ExclusiveStartKey;
    do {
      const page = await query('all', 'g = :g', { ':g': 'order' }, { Limit: 2, ScanIndexForward, ExclusiveStartKey });
      seen.push(...page.Items.map(({ sk }) => sk));
      ExclusiveStartKey = page.LastEvaluatedKey;
      if (ExclusiveStartKey) assert.deepEqual(Object.keys(ExclusiveStartKey).sort(), ['g', 'pk', 'r', 'sk'], 'a page of an index ends with both keys');
    } while (ExclusiveStartKey);
    assert.deepEqual([...seen].sort(), items.map(({ sk }) => sk).sort(), 'every item once');
  }
});

test('an LSI can be read consistently', async () => {
  await doc.put({ TableName, Item: { pk: 'lsi', sk: 'a', r: 7 } });
  assert.equal((await query('local', 'pk = :p AND r = :r', { ':p': 'lsi', ':r': 7 }, { ConsistentRead: true })).Count, 1);
});

test('an index key must have its type, and may not be empty', async () => {
  await invalid(doc.put({ TableName, Item: { pk: 'bad', sk: '1', g: 5 } }),
    /^One or more parameter values were invalid: Type mismatch for Index Key g Expected: S Actual: N IndexName: (all|keys|some)$/);
  await invalid(doc.update({ TableName, Key: { pk: 'bad', sk: '1' }, UpdateExpression: 'SET r = :r', ExpressionAttributeValues: { ':r': 'text' } }),
    /^The update expression attempted to update the secondary index key to unsupported type$|Type mismatch for Index Key r/);
  await invalid(doc.put({ TableName, Item: { pk: 'bad', sk: '1', g: '' } }),
    /^One or more parameter values (are not valid\. A value specified for a secondary index key is not supported\. The AttributeValue for a key attribute cannot contain an empty string value\.|are not valid\. .*empty string)/);
  assert.equal((await doc.get({ TableName, Key: { pk: 'bad', sk: '1' } })).Item, undefined);
});

test('a GSI added to a live table is filled while writes go on', async () => {
  const table = await createTable({ key: ['pk'] });
  await putAll(table, Array.from({ length: 300 }, (_, i) => ({ pk: `old${i}`, g: `g${i % 3}`, n: i })));
  const { TableDescription } = await ddb.updateTable({
    TableName: table,
    AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }, { AttributeName: 'g', AttributeType: 'S' }],
    GlobalSecondaryIndexUpdates: [{ Create: { IndexName: 'late', KeySchema: [{ AttributeName: 'g', KeyType: 'HASH' }], Projection: { ProjectionType: 'ALL' } } }],
  });
  const [late] = TableDescription.GlobalSecondaryIndexes;
  assert.equal(late.IndexName, 'late');
  assert.equal(late.IndexStatus, 'CREATING');
  const writes = [];
  for (let i = 0; i < 60; i += 1) {
    writes.push(doc.put({ TableName: table, Item: { pk: `new${i}`, g: 'g0' } }));
    writes.push(doc.delete({ TableName: table, Key: { pk: `old${i}` } }));
  }
  await Promise.all(writes);
  await untilActive(table);
  const tableItems = (await doc.scan({ TableName: table })).Items;
  const indexItems = (await doc.scan({ TableName: table, IndexName: 'late' })).Items;
  const byKey = (a, b) => (a.pk < b.pk ? -1 : 1);
  assert.deepEqual(indexItems.sort(byKey), tableItems.sort(byKey));
  assert.equal(tableItems.length, 300);
});

test('a GSI is removed, and can be made again', async () => {
  const table = await createTable({ key: ['pk'], gsi: { one: { key: ['a'] }, two: { key: ['b'] } } });
  await putAll(table, [{ pk: '1', a: 'x', b: 'y' }]);
  await ddb.updateTable({ TableName: table, GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: 'one' } }] });
  const described = await until('the index to go', async () => {
    const { Table } = await ddb.describeTable({ TableName: table });
    return Table.TableStatus === 'ACTIVE' && Table.GlobalSecondaryIndexes.length === 1 && Table;
  });
  assert.equal(described.GlobalSecondaryIndexes[0].IndexName, 'two');
  await invalid(doc.scan({ TableName: table, IndexName: 'one' }), 'The table does not have the specified index: one');
  await ddb.updateTable({
    TableName: table,
    AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }, { AttributeName: 'b', AttributeType: 'S' }, { AttributeName: 'n', AttributeType: 'N' }],
    GlobalSecondaryIndexUpdates: [{ Create: { IndexName: 'one', KeySchema: [{ AttributeName: 'n', KeyType: 'HASH' }], Projection: { ProjectionType: 'KEYS_ONLY' } } }],
  });
  await untilActive(table);
  await doc.put({ TableName: table, Item: { pk: '2', n: 5 } });
  assert.deepEqual((await doc.scan({ TableName: table, IndexName: 'one' })).Items, [{ pk: '2', n: 5 }]);
});

test('index changes that make no sense', async () => {
  const table = await createTable({ key: ['pk'], gsi: { one: { key: ['a'] } } });
  const update = (...GlobalSecondaryIndexUpdates) => ddb.updateTable({
    TableName: table, GlobalSecondaryIndexUpdates, AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }, { AttributeName: 'a', AttributeType: 'S' }],
  });
  const create = (IndexName, AttributeName) => ({ Create: { IndexName, KeySchema: [{ AttributeName, KeyType: 'HASH' }], Projection: { ProjectionType: 'ALL' } } });
  await invalid(update(create('one', 'a')), 'Attempting to create an index which already exists');
  await rejects(update({ Delete: { IndexName: 'absent' } }), 'ResourceNotFoundException');
  await invalid(update(create('two', 'undefined_')), /Some index key attributes are not defined in AttributeDefinitions/);
  await invalid(ddb.updateTable({ TableName: table }), /^At least one of ProvisionedThroughput, BillingMode, UpdateStreamEnabled/);
});

test('billing and throughput can be changed', async () => {
  const table = await createTable({ ProvisionedThroughput: { ReadCapacityUnits: 5, WriteCapacityUnits: 5 } });
  await ddb.updateTable({ TableName: table, ProvisionedThroughput: { ReadCapacityUnits: 7, WriteCapacityUnits: 8 } });
  let described = await untilActive(table);
  assert.equal(described.ProvisionedThroughput.ReadCapacityUnits, 7);
  assert.equal(described.ProvisionedThroughput.WriteCapacityUnits, 8);
  await invalid(ddb.updateTable({ TableName: table, ProvisionedThroughput: { ReadCapacityUnits: 7, WriteCapacityUnits: 8 } }),
    /^The provisioned throughput for the table will not change\. The requested value equals the current value\. Current ReadCapacityUnits provisioned for the table: 7\./);
  await ddb.updateTable({ TableName: table, BillingMode: 'PAY_PER_REQUEST' });
  described = await untilActive(table);
  assert.equal(described.BillingModeSummary.BillingMode, 'PAY_PER_REQUEST');
});

thorpeTest('the progress of a new index shows in DescribeTable', async () => {
  const table = await createTable({ key: ['pk'] });
  await putAll(table, Array.from({ length: 100 }, (_, i) => ({ pk: `k${i}`, g: 'x' })));
  await ddb.updateTable({
    TableName: table,
    AttributeDefinitions: [{ AttributeName: 'pk', AttributeType: 'S' }, { AttributeName: 'g', AttributeType: 'S' }],
    GlobalSecondaryIndexUpdates: [{ Create: { IndexName: 'late', KeySchema: [{ AttributeName: 'g', KeyType: 'HASH' }], Projection: { ProjectionType: 'ALL' } } }],
  });
  const { GlobalSecondaryIndexes: [late] } = await untilActive(table);
  assert.equal(late.ItemCount, 100);
  assert.equal(late.Backfilling ?? false, false);
});

test('what an update would make of an index key is seen before the item is', async () => {
  const Key = { pk: 'typed', sk: '1' };
  const update = (UpdateExpression, v) => doc.update({ TableName, Key, UpdateExpression, ExpressionAttributeValues: { ':v': v } });
  const mismatch = (actual) => new RegExp(`^One or more parameter values were invalid: Type mismatch for Index Key g Expected: S Actual: ${actual} IndexName: `);
  await invalid(update('SET g = :v', { a: 1 }), mismatch('M'));
  await invalid(update('SET nowhere.x = :v, g = :v', null), mismatch('NULL'));
  await invalid(update('ADD g :v', 1), mismatch('N'));
  await invalid(update('SET g = list_append(g, :v)', [1]), mismatch('L'));
  await invalid(ddb.updateItem({ TableName, Key: { pk: { S: 'typed' }, sk: { S: '1' } }, AttributeUpdates: { g: { Action: 'PUT', Value: { NULL: true } } } }),
    mismatch('NULL'));
  await invalid(update('SET g.x = :v', 1),
    "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: IndexKey: g");
  await doc.put({ TableName, Item: { ...Key, five: 5 } });
  await invalid(doc.update({ TableName, Key, UpdateExpression: 'SET g = five' }),
    'The update expression attempted to update the secondary index key to unsupported type');
});

test('a filter on what an index does not hold: a query refuses it, a scan finds nothing there', async (t) => {
  await doc.put({ TableName, Item: { pk: 'held', sk: '1', g: 'held', r: 1, x: 'kept', y: 'no', z: 'no' } });
  const filters = ['z = :v OR y = :v', 'attribute_not_exists(z) OR NOT contains(y, :v)', 'y.deep = :v OR z[0] = :v'];
  for (const [index, key] of [['some', 'g'], ['local', 'pk']]) {
    for (const FilterExpression of filters) {
      await t.test(`${index}: ${FilterExpression}`, () => invalid(query(index, `${key} = :k`, { ':k': 'held', ':v': 'no' }, { FilterExpression }),
        `One or more parameter values were invalid: Secondary index ${index} does not project one or more filter attributes: [y, z]`));
    }
    await t.test(`${index}: QueryFilter`, () => invalid(ddb.query({
      TableName, IndexName: index, KeyConditions: { [key]: { ComparisonOperator: 'EQ', AttributeValueList: [{ S: 'held' }] } },
      QueryFilter: { y: { ComparisonOperator: 'NOT_NULL' } },
    }), `One or more parameter values were invalid: Secondary index ${index} does not project one or more filter attributes: [y]`));
    await t.test(`${index}: Scan`, async () => {
      const scan = async (FilterExpression) => (await doc.scan({ TableName, IndexName: index, FilterExpression })).Items;
      assert.deepEqual(await scan('attribute_exists(y)'), []);
      const found = (await scan('attribute_not_exists(y)')).find(({ pk }) => pk === 'held');
      assert.deepEqual(found, index === 'some' ? { pk: 'held', sk: '1', g: 'held', x: 'kept' } : { pk: 'held', sk: '1', r: 1 });
    });
  }
  await t.test('what it holds may be asked for', async () => {
    assert.equal((await query('some', 'g = :g', { ':g': 'held', ':x': 'kept' }, { FilterExpression: 'x = :x' })).Count, 1);
    assert.equal((await query('all', 'g = :g', { ':g': 'held', ':y': 'no' }, { FilterExpression: 'y = :y' })).Count, 1);
  });
});

test('attributes that a GSI lacks are refused, all by name; an LSI fetches them', async () => {
  await doc.put({ TableName, Item: { pk: 'asked', sk: '1', g: 'asked', r: 1, x: 'kept', y: 'y', z: 'z' } });
  const ProjectionExpression = 'z, x, y, sk';
  await invalid(query('some', 'g = :g', { ':g': 'asked' }, { ProjectionExpression }),
    'One or more parameter values were invalid: Global secondary index some does not project [y, z]');
  assert.deepEqual((await query('local', 'pk = :p', { ':p': 'asked' }, { ProjectionExpression })).Items, [{ sk: '1', x: 'kept', y: 'y', z: 'z' }]);
});
