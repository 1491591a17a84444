// Single items: put, get, update, delete, and what each returns.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTable, ddb, doc, freshName, invalid, rejects } from './harness.mjs';

const TableName = await createTable({ key: ['pk'] });
const Composite = await createTable({ key: ['pk', 'sk:N'] });
const get = async (pk, table = TableName) => (await ddb.getItem({ TableName: table, Key: { pk: { S: pk } }, ConsistentRead: true })).Item;

test('what was put is read back, consistently or not', async () => {
  const Item = { pk: { S: 'put' }, n: { N: '1' }, s: { S: 'text' } };
  assert.deepEqual(Object.keys(await ddb.putItem({ TableName, Item })), ['$metadata'], 'PutItem answers with nothing unless asked');
  assert.deepEqual(await get('put'), Item);
  assert.deepEqual((await ddb.getItem({ TableName, Key: { pk: { S: 'put' } } })).Item, Item);
});

test('an item that is not there is answered without Item', async () => {
  const reply = await ddb.getItem({ TableName, Key: { pk: { S: 'absent' } } });
  assert.equal('Item' in reply, false);
});

test('a put replaces the whole item', async () => {
  await ddb.putItem({ TableName, Item: { pk: { S: 'replace' }, old: { S: 'x' } } });
  const { Attributes } = await ddb.putItem({ TableName, Item: { pk: { S: 'replace' }, new: { S: 'y' } }, ReturnValues: 'ALL_OLD' });
  assert.deepEqual(Attributes, { pk: { S: 'replace' }, old: { S: 'x' } });
  assert.deepEqual(await get('replace'), { pk: { S: 'replace' }, new: { S: 'y' } });
  const fresh = await ddb.putItem({ TableName, Item: { pk: { S: 'replace-fresh' } }, ReturnValues: 'ALL_OLD' });
  assert.equal('Attributes' in fresh, false);
});

test('a delete returns what it deleted, and succeeds on nothing', async () => {
  await ddb.putItem({ TableName, Item: { pk: { S: 'del' }, a: { S: 'x' } } });
  const { Attributes } = await ddb.deleteItem({ TableName, Key: { pk: { S: 'del' } }, ReturnValues: 'ALL_OLD' });
  assert.deepEqual(Attributes, { pk: { S: 'del' }, a: { S: 'x' } });
  assert.equal(await get('del'), undefined);
  const again = await ddb.deleteItem({ TableName, Key: { pk: { S: 'del' } }, ReturnValues: 'ALL_OLD' });
  assert.equal('Attributes' in again, false);
});

test('an update makes the item when it is not there', async () => {
  await ddb.updateItem({ TableName, Key: { pk: { S: 'upsert' } } });
  assert.deepEqual(await get('upsert'), { pk: { S: 'upsert' } });
  await ddb.updateItem({ TableName, Key: { pk: { S: 'upsert2' } }, UpdateExpression: 'SET a = :a', ExpressionAttributeValues: { ':a': { N: '1' } } });
  assert.deepEqual(await get('upsert2'), { pk: { S: 'upsert2' }, a: { N: '1' } });
});

test('UpdateItem returns what ReturnValues asks for', async (t) => {
  const update = async (ReturnValues) => {
    await ddb.putItem({ TableName, Item: { pk: { S: 'rv' }, a: { N: '1' }, b: { S: 'same' }, m: { M: { x: { N: '1' }, y: { N: '2' } } } } });
    const { Attributes } = await ddb.updateItem({
      TableName, Key: { pk: { S: 'rv' } }, ReturnValues,
      UpdateExpression: 'SET a = a + :one, m.x = :nine, c = :one', ExpressionAttributeValues: { ':one': { N: '1' }, ':nine': { N: '9' } },
    });
    return Attributes;
  };
  await t.test('NONE', async () => assert.equal(await update('NONE'), undefined));
  await t.test('ALL_OLD', async () => assert.deepEqual(await update('ALL_OLD'),
    { pk: { S: 'rv' }, a: { N: '1' }, b: { S: 'same' }, m: { M: { x: { N: '1' }, y: { N: '2' } } } }));
  await t.test('ALL_NEW', async () => assert.deepEqual(await update('ALL_NEW'),
    { pk: { S: 'rv' }, a: { N: '2' }, b: { S: 'same' }, c: { N: '1' }, m: { M: { x: { N: '9' }, y: { N: '2' } } } }));
  await t.test('UPDATED_OLD', async () => assert.deepEqual(await update('UPDATED_OLD'), { a: { N: '1' }, m: { M: { x: { N: '1' } } } }));
  await t.test('UPDATED_NEW', async () => assert.deepEqual(await update('UPDATED_NEW'), { a: { N: '2' }, c: { N: '1' }, m: { M: { x: { N: '9' } } } }));
  await t.test('an unknown word', () => invalid(update('SOMETHING'),
    "1 validation error detected: Value 'SOMETHING' at 'returnValues' failed to satisfy constraint: Member must satisfy enum value set: [ALL_NEW, UPDATED_OLD, ALL_OLD, NONE, UPDATED_NEW]"));
  await t.test('ALL_NEW is not for PutItem', () => invalid(ddb.putItem({ TableName, Item: { pk: { S: 'x' } }, ReturnValues: 'ALL_NEW' }),
    'ReturnValues can only be ALL_OLD or NONE'));
  await t.test('UPDATED_NEW is not for DeleteItem', () => invalid(ddb.deleteItem({ TableName, Key: { pk: { S: 'x' } }, ReturnValues: 'UPDATED_NEW' }),
    'ReturnValues can only be ALL_OLD or NONE'));
});

test('a failed condition says so, and returns the item when asked', async () => {
  const Item = { pk: { S: 'cond' }, v: { N: '1' } };
  await ddb.putItem({ TableName, Item });
  const condition = { ConditionExpression: 'v = :two', ExpressionAttributeValues: { ':two': { N: '2' } } };
  for (const send of [
    (extra) => ddb.putItem({ TableName, Item, ...condition, ...extra }),
    (extra) => ddb.deleteItem({ TableName, Key: { pk: Item.pk }, ...condition, ...extra }),
    (extra) => ddb.updateItem({ TableName, Key: { pk: Item.pk }, UpdateExpression: 'REMOVE v', ...condition, ...extra }),
  ]) {
    const quiet = await rejects(send({}), 'ConditionalCheckFailedException', 'The conditional request failed');
    assert.equal(quiet.Item, undefined);
    const telling = await rejects(send({ ReturnValuesOnConditionCheckFailure: 'ALL_OLD' }), 'ConditionalCheckFailedException');
    assert.deepEqual(telling.Item, Item);
  }
  assert.deepEqual(await get('cond'), Item);
});

test('a condition on an item that is not there sees nothing', async () => {
  await rejects(ddb.deleteItem({ TableName, Key: { pk: { S: 'nothing' } }, ConditionExpression: 'attribute_exists(pk)' }), 'ConditionalCheckFailedException');
  await rejects(ddb.updateItem({
    TableName, Key: { pk: { S: 'nothing' } }, UpdateExpression: 'SET a = :v', ConditionExpression: 'a = :v', ExpressionAttributeValues: { ':v': { N: '1' } },
  }), 'ConditionalCheckFailedException');
  assert.equal(await get('nothing'), undefined, 'no ghost of the item is left');
  await ddb.putItem({ TableName, Item: { pk: { S: 'nothing' } }, ConditionExpression: 'attribute_not_exists(pk)' });
});

test('concurrent conditional writes: exactly one wins', async () => {
  const attempts = await Promise.allSettled(Array.from({ length: 20 }, (_, i) => ddb.putItem({
    TableName, Item: { pk: { S: 'race' }, who: { N: String(i) } }, ConditionExpression: 'attribute_not_exists(pk)',
  })));
  assert.equal(attempts.filter(({ status }) => status === 'fulfilled').length, 1);
});

test('concurrent increments are all counted', async () => {
  await Promise.all(Array.from({ length: 100 }, () => ddb.updateItem({
    TableName, Key: { pk: { S: 'counter' } }, UpdateExpression: 'ADD n :one', ExpressionAttributeValues: { ':one': { N: '1' } },
  })));
  assert.equal((await get('counter')).n.N, '100');
});

test('keys must have the shape of the schema', async (t) => {
  const message = 'The provided key element does not match the schema';
  await t.test('a missing sort key', () => invalid(ddb.getItem({ TableName: Composite, Key: { pk: { S: 'a' } } }), message));
  await t.test('an extra attribute', () => invalid(ddb.getItem({ TableName, Key: { pk: { S: 'a' }, x: { S: 'b' } } }), message));
  await t.test('another name', () => invalid(ddb.deleteItem({ TableName, Key: { other: { S: 'a' } } }), message));
  await t.test('another type', () => invalid(ddb.updateItem({ TableName, Key: { pk: { N: '1' } } }), message));
  await t.test('an item without its key', () => invalid(ddb.putItem({ TableName, Item: { a: { S: 'x' } } }),
    'One or more parameter values were invalid: Missing the key pk in the item'));
  await t.test('an item without its sort key', () => invalid(ddb.putItem({ TableName: Composite, Item: { pk: { S: 'x' } } }),
    'One or more parameter values were invalid: Missing the key sk in the item'));
  await t.test('an item with a key of another type', () => invalid(ddb.putItem({ TableName: Composite, Item: { pk: { S: 'x' }, sk: { S: 'y' } } }),
    'One or more parameter values were invalid: Type mismatch for key sk expected: N actual: S'));
  await t.test('an empty key', () => invalid(ddb.putItem({ TableName, Item: { pk: { S: '' } } }),
    'One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: pk'));
});

test('keys have their limits: 2048 bytes for the partition, 1024 for the sort key', async () => {
  const table = await createTable({ key: ['pk', 'sk'] });
  const item = (p, s) => ({ pk: { S: 'p'.repeat(p) }, sk: { S: 's'.repeat(s) } });
  await ddb.putItem({ TableName: table, Item: item(2048, 1024) });
  assert.ok((await ddb.getItem({ TableName: table, Key: item(2048, 1024) })).Item);
  await invalid(ddb.putItem({ TableName: table, Item: item(2049, 1) }),
    'One or more parameter values were invalid: Size of hashkey has exceeded the maximum size limit of2048 bytes');
  await invalid(ddb.putItem({ TableName: table, Item: item(1, 1025) }),
    'One or more parameter values were invalid: Aggregated size of all range keys has exceeded the size limit of 1024 bytes');
});

test('operations on a table that is not there', async () => {
  const name = freshName('absent');
  const Key = { pk: { S: 'a' } };
  for (const send of [
    () => ddb.getItem({ TableName: name, Key }),
    () => ddb.putItem({ TableName: name, Item: Key }),
    () => ddb.updateItem({ TableName: name, Key }),
    () => ddb.deleteItem({ TableName: name, Key }),
    () => ddb.scan({ TableName: name }),
    () => ddb.query({ TableName: name, KeyConditionExpression: 'pk = :a', ExpressionAttributeValues: { ':a': { S: 'a' } } }),
  ]) await rejects(send(), 'ResourceNotFoundException', 'Requested resource not found');
});

test('a table may be named by its ARN', async () => {
  const { Table } = await ddb.describeTable({ TableName });
  await ddb.putItem({ TableName: Table.TableArn, Item: { pk: { S: 'arn' } } });
  assert.deepEqual(await get('arn'), { pk: { S: 'arn' } });
});

test('table names are checked before anything else', async () => {
  const Item = { pk: { S: 'a' } };
  await invalid(ddb.putItem({ TableName: '', Item }),
    "1 validation error detected: Value '' at 'tableName' failed to satisfy constraint: Member must have length greater than or equal to 1");
  await invalid(ddb.putItem({ TableName: 'a'.repeat(256), Item }), /failed to satisfy constraint: Member must have length less than or equal to/);
  await invalid(ddb.putItem({ TableName: 'bad table!@#', Item }),
    "1 validation error detected: Value 'bad table!@#' at 'tableName' failed to satisfy constraint: Member must satisfy regular expression pattern: [a-zA-Z0-9_.-]+");
});

test('the document client round-trips plain objects', async () => {
  const Item = { pk: 'doc', text: 'x', count: 3, list: [1, 'two', null, true], map: { deep: { er: 1 } }, set: new Set(['a', 'b']), bytes: new Uint8Array([1, 2, 3]) };
  await doc.put({ TableName, Item });
  const { Item: read } = await doc.get({ TableName, Key: { pk: 'doc' } });
  assert.deepEqual({ ...read, bytes: [...read.bytes] }, { ...Item, bytes: [1, 2, 3] });
});

test('names of attributes are shorter than 64 KB, wherever they stand', async (t) => {
  const long = 'n'.repeat(65536);
  const Key = { pk: { S: 'long' } };
  const limit = /6553[56]/;
  await t.test('an item', () => invalid(ddb.putItem({ TableName, Item: { ...Key, [long]: { N: '1' } } }), limit));
  await t.test('AttributesToGet', () => invalid(ddb.getItem({ TableName, Key, AttributesToGet: [long] }), limit));
  await t.test('AttributeUpdates', () => invalid(ddb.updateItem({ TableName, Key, AttributeUpdates: { [long]: { Action: 'DELETE' } } }), limit));
  await t.test('Expected', () => invalid(ddb.putItem({ TableName, Item: Key, Expected: { [long]: { Exists: false } } }), limit));
  await t.test('ScanFilter', () => invalid(ddb.scan({ TableName, ScanFilter: { [long]: { ComparisonOperator: 'NULL' } } }), limit));
  await t.test('ExpressionAttributeNames', () => invalid(
    ddb.getItem({ TableName, Key, ProjectionExpression: '#n', ExpressionAttributeNames: { '#n': long } }), limit));
});

test('a table name of one or two characters is no name', async () => {
  await invalid(ddb.putItem({ TableName: 'xx', Item: { pk: { S: 'x' } } }), /names must be between 3 and 255 characters long/);
});

test('a key has no parts to be projected', async (t) => {
  const Indexed = await createTable({ key: ['pk'], gsi: { byTag: { key: ['tag'] } } });
  const Key = { pk: { S: 'a' } };
  const scalar = "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: ";
  for (const [ProjectionExpression, which] of [['pk.x', 'Key: pk'], ['v, tag[0]', 'IndexKey: tag']]) {
    await t.test(`GetItem ${ProjectionExpression}`, () => invalid(ddb.getItem({ TableName: Indexed, Key, ProjectionExpression }), scalar + which));
    await t.test(`BatchGetItem ${ProjectionExpression}`, () => invalid(
      ddb.batchGetItem({ RequestItems: { [Indexed]: { Keys: [Key], ProjectionExpression } } }), scalar + which));
    await t.test(`TransactGetItems ${ProjectionExpression}`, () => rejects(
      ddb.transactGetItems({ TransactItems: [{ Get: { TableName: Indexed, Key, ProjectionExpression } }] }), 'TransactionCanceledException', /ValidationError/));
  }
});

test('an item that is too large is refused before its table and its condition are looked at', async () => {
  const Item = { pk: { S: 'big' }, v: { S: 'x'.repeat(400 * 1024) } };
  await invalid(ddb.putItem({ TableName: freshName('absent'), Item }), 'Item size has exceeded the maximum allowed size');
  await invalid(ddb.putItem({ TableName, Item, Expected: { v: {} } }), 'Item size has exceeded the maximum allowed size');
});
