// The parameters from before expressions: Expected, AttributeUpdates, KeyConditions, QueryFilter, ScanFilter,
// AttributesToGet, ConditionalOperator.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTable, ddb, invalid, rejects, sorted } from './harness.mjs';

const TableName = await createTable({ key: ['pk', 'sk:N'] });
const Key = (sk, pk = 'p') => ({ pk: { S: pk }, sk: { N: String(sk) } });
const S = (value) => ({ S: value });
const N = (value) => ({ N: String(value) });
for (let i = 0; i < 5; i += 1) {
  await ddb.putItem({ TableName, Item: { ...Key(i), n: N(i * 10), s: S(`text${i}`), ...(i % 2 ? { odd: { BOOL: true } } : {}), ss: { SS: ['x', `y${i}`] } } });
}
const get = async (sk) => (await ddb.getItem({ TableName, Key: Key(sk), ConsistentRead: true })).Item;

test('Expected: values, existence, comparisons', async () => {
  const put = (Expected, extra) => ddb.putItem({ TableName, Item: { ...Key(100), v: N(1) }, Expected, ...extra });
  await put({ v: { Exists: false } });
  await rejects(put({ v: { Exists: false } }), 'ConditionalCheckFailedException', 'The conditional request failed');
  await put({ v: { Value: N(1) } });
  await put({ v: { Exists: true, Value: N(1) } });
  await rejects(put({ v: { Value: N(2) } }), 'ConditionalCheckFailedException');
  await put({ v: { ComparisonOperator: 'GE', AttributeValueList: [N(1)] } });
  await put({ v: { ComparisonOperator: 'NOT_NULL' }, w: { ComparisonOperator: 'NULL' } });
  await rejects(put({ v: { ComparisonOperator: 'LT', AttributeValueList: [N(1)] } }), 'ConditionalCheckFailedException');
  await put({ v: { Value: N(9) }, w: { Exists: false } }, { ConditionalOperator: 'OR' });
  await rejects(put({ v: { Value: N(9) }, w: { Exists: false } }, { ConditionalOperator: 'AND' }), 'ConditionalCheckFailedException');
  await ddb.deleteItem({ TableName, Key: Key(100), Expected: { v: { Value: N(1) } } });
});

test('Expected that makes no sense', async () => {
  const put = (Expected) => ddb.putItem({ TableName, Item: Key(101), Expected });
  const prefix = 'One or more parameter values were invalid: ';
  await invalid(put({ a: {} }), `${prefix}Value must be provided when Exists is null for Attribute: a`);
  await invalid(put({ a: { Exists: true } }), `${prefix}Value must be provided when Exists is true for Attribute: a`);
  await invalid(put({ a: { Exists: false, Value: N(1) } }), `${prefix}Value cannot be used when Exists is false for Attribute: a`);
  await invalid(put({ a: { AttributeValueList: [N(1)] } }), `${prefix}AttributeValueList can only be used with a ComparisonOperator for Attribute: a`);
  await invalid(put({ a: { ComparisonOperator: 'LT' } }), `${prefix}Value or AttributeValueList must be used with ComparisonOperator: LT for Attribute: a`);
  await invalid(put({ a: { ComparisonOperator: 'EQ', Exists: true } }), `${prefix}Exists and ComparisonOperator cannot be used together for Attribute: a`);
  await invalid(put({ a: { ComparisonOperator: 'EQ', Value: N(1), AttributeValueList: [N(1)] } }), `${prefix}Value and AttributeValueList cannot be used together for Attribute: a`);
  await invalid(put({ a: { ComparisonOperator: 'BETWEEN', AttributeValueList: [N(1)] } }), `${prefix}Invalid number of argument(s) for the BETWEEN ComparisonOperator`);
  await invalid(ddb.putItem({ TableName, Item: Key(101), ConditionalOperator: 'OR' }), 'ConditionalOperator cannot be used without Filter or Expected');
  await invalid(ddb.putItem({ TableName, Item: Key(101), Expected: { a: { Value: N(1) } }, ConditionExpression: 'attribute_exists(a)' }),
    'Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {Expected} Expression parameters: {ConditionExpression}');
});

test('AttributeUpdates: PUT, ADD, DELETE', async () => {
  const update = (AttributeUpdates, extra) => ddb.updateItem({ TableName, Key: Key(200), AttributeUpdates, ...extra });
  const { Attributes } = await update({ a: { Value: N(1) }, b: { Action: 'PUT', Value: S('x') }, c: { Action: 'ADD', Value: N(5) }, s: { Action: 'ADD', Value: { SS: ['x'] } } }, { ReturnValues: 'ALL_NEW' });
  assert.deepEqual(Attributes, { ...Key(200), a: N(1), b: S('x'), c: N(5), s: { SS: ['x'] } });
  await update({ c: { Action: 'ADD', Value: N(-2) }, s: { Action: 'ADD', Value: { SS: ['y'] } }, b: { Action: 'DELETE' }, nothing: { Action: 'DELETE' } });
  const item = await get(200);
  assert.deepEqual({ ...item, s: [...item.s.SS].sort() }, { ...Key(200), a: N(1), c: N(3), s: ['x', 'y'] });
  await update({ s: { Action: 'DELETE', Value: { SS: ['x', 'y'] } } });
  assert.equal((await get(200)).s, undefined);
  await update({ l: { Value: { L: [N(1)] } } });
  await update({ l: { Action: 'ADD', Value: { L: [N(2)] } } });
  assert.deepEqual((await get(200)).l, { L: [N(1), N(2)] }, 'ADD appends to a list');
  await invalid(update({ pk: { Value: S('x') } }), 'One or more parameter values were invalid: Cannot update attribute pk. This attribute is part of the key');
  await invalid(update({ a: { Action: 'ADD', Value: S('x') } }), /ADD/);
  await invalid(update({ a: { Action: 'ADD', Value: { NS: ['1'] } } }), 'Type mismatch for attribute to update');
  await invalid(update({ a: { Action: 'PUT' } }), 'One or more parameter values were invalid: Only DELETE action is allowed when no attribute value is specified');
  await rejects(update({ a: { Value: N(2) } }, { Expected: { a: { Value: N(7) } } }), 'ConditionalCheckFailedException');
});

test('KeyConditions with every operator', async (t) => {
  const query = async (condition, extra) => (await ddb.query({
    TableName, KeyConditions: { pk: { ComparisonOperator: 'EQ', AttributeValueList: [S('p')] }, ...(condition ? { sk: condition } : {}) }, ...extra,
  })).Items.map(({ sk }) => Number(sk.N)).filter((sk) => sk < 100);
  const cases = [
    [undefined, [0, 1, 2, 3, 4]],
    [{ ComparisonOperator: 'EQ', AttributeValueList: [N(2)] }, [2]],
    [{ ComparisonOperator: 'LT', AttributeValueList: [N(2)] }, [0, 1]],
    [{ ComparisonOperator: 'LE', AttributeValueList: [N(2)] }, [0, 1, 2]],
    [{ ComparisonOperator: 'GT', AttributeValueList: [N(2)] }, [3, 4]],
    [{ ComparisonOperator: 'GE', AttributeValueList: [N(2)] }, [2, 3, 4]],
    [{ ComparisonOperator: 'BETWEEN', AttributeValueList: [N(1), N(3)] }, [1, 2, 3]],
  ];
  for (const [condition, expected] of cases) {
    await t.test(condition?.ComparisonOperator ?? 'the partition alone', async () => assert.deepEqual(await query(condition), expected));
  }
  await t.test('NE is refused', () => invalid(query({ ComparisonOperator: 'NE', AttributeValueList: [N(2)] }), 'Attempted conditional constraint is not an indexable operation'));
  await t.test('BEGINS_WITH a number is refused', () => invalid(query({ ComparisonOperator: 'BEGINS_WITH', AttributeValueList: [N(2)] }), /ComparisonOperator BEGINS_WITH is not valid for N AttributeValue type/));
  await t.test('QueryFilter', async () => {
    assert.deepEqual(await query(undefined, { QueryFilter: { odd: { ComparisonOperator: 'NOT_NULL' } } }), [1, 3]);
    assert.deepEqual(await query(undefined, { QueryFilter: { odd: { ComparisonOperator: 'NULL' }, n: { ComparisonOperator: 'GT', AttributeValueList: [N(10)] } } }), [2, 4]);
    assert.deepEqual(await query(undefined, { ConditionalOperator: 'OR', QueryFilter: { n: { ComparisonOperator: 'EQ', AttributeValueList: [N(0)] }, s: { ComparisonOperator: 'EQ', AttributeValueList: [S('text4')] } } }), [0, 4]);
  });
  await t.test('QueryFilter on a key is refused', () => invalid(query(undefined, { QueryFilter: { sk: { ComparisonOperator: 'NOT_NULL' } } }), /Filter Expression can only contain non-primary key attributes: Primary key attribute: sk|QueryFilter can only contain non-primary key attributes: Primary key attribute: sk/));
});

test('ScanFilter with every operator', async (t) => {
  const scan = async (ScanFilter, extra) => sorted((await ddb.scan({ TableName, ScanFilter, ...extra })).Items, 'sk').map(({ sk }) => Number(sk.N)).filter((sk) => sk < 100);
  const filter = (ComparisonOperator, ...AttributeValueList) => ({ ComparisonOperator, ...(AttributeValueList.length ? { AttributeValueList } : {}) });
  const cases = [
    [{ n: filter('EQ', N(20)) }, [2]],
    [{ n: filter('NE', N(20)) }, [0, 1, 3, 4]],
    [{ n: filter('LT', N(20)) }, [0, 1]],
    [{ n: filter('LE', N(20)) }, [0, 1, 2]],
    [{ n: filter('GT', N(20)) }, [3, 4]],
    [{ n: filter('GE', N(20)) }, [2, 3, 4]],
    [{ n: filter('BETWEEN', N(10), N(30)) }, [1, 2, 3]],
    [{ n: filter('IN', N(0), N(40)) }, [0, 4]],
    [{ s: filter('BEGINS_WITH', S('text1')) }, [1]],
    [{ s: filter('CONTAINS', S('ext3')) }, [3]],
    [{ ss: filter('CONTAINS', S('y2')) }, [2]],
    [{ s: filter('NOT_CONTAINS', S('ext3')) }, [0, 1, 2, 4]],
    [{ odd: filter('NULL') }, [0, 2, 4]],
    [{ odd: filter('NOT_NULL'), n: filter('GT', N(10)) }, [3]],
  ];
  for (const [condition, expected] of cases) {
    await t.test(JSON.stringify(condition), async () => assert.deepEqual(await scan(condition), expected));
  }
  await t.test('OR', async () => assert.deepEqual(await scan({ n: filter('EQ', N(0)), odd: filter('NOT_NULL') }, { ConditionalOperator: 'OR' }), [0, 1, 3]));
});

test('AttributesToGet projects in every read', async () => {
  assert.deepEqual((await ddb.getItem({ TableName, Key: Key(1), AttributesToGet: ['n', 'nothing'] })).Item, { n: N(10) });
  const KeyConditions = { pk: { ComparisonOperator: 'EQ', AttributeValueList: [S('p')] } };
  assert.deepEqual((await ddb.query({ TableName, KeyConditions, AttributesToGet: ['sk'], Limit: 1 })).Items, [{ sk: N(0) }]);
  assert.ok((await ddb.scan({ TableName, AttributesToGet: ['sk'] })).Items.every((item) => Object.keys(item).join() === 'sk'));
  const { Responses } = await ddb.batchGetItem({ RequestItems: { [TableName]: { Keys: [Key(2)], AttributesToGet: ['s'] } } });
  assert.deepEqual(Responses[TableName], [{ s: S('text2') }]);
  await invalid(ddb.getItem({ TableName, Key: Key(1), AttributesToGet: ['a', 'a'] }), 'One or more parameter values were invalid: Duplicate value in attribute name: a');
  await invalid(ddb.getItem({ TableName, Key: Key(1), AttributesToGet: ['a'], ProjectionExpression: 'a' }),
    'Can not use both expression and non-expression parameters in the same request: Non-expression parameters: {AttributesToGet} Expression parameters: {ProjectionExpression}');
});

test('KeyConditions are one or two, and their operators matter only once the table is known', async () => {
  const condition = (ComparisonOperator, ...AttributeValueList) => ({ ComparisonOperator, ...(AttributeValueList.length ? { AttributeValueList } : {}) });
  const query = (KeyConditions, extra) => ddb.query({ TableName, KeyConditions, ...extra });
  await invalid(query({}), 'Conditions can be of length 1 or 2 only');
  await invalid(query({ pk: condition('EQ', S('p')), sk: condition('EQ', N(1)), n: condition('EQ', N(1)) }), 'Conditions can be of length 1 or 2 only');
  await rejects(query({ pk: condition('NE', S('p')) }, { TableName: 'absent' }), 'ResourceNotFoundException', 'Requested resource not found');
  await invalid(query({ pk: condition('NULL') }), 'Attempted conditional constraint is not an indexable operation');
  await invalid(query({ sk: condition('NE', N(1)) }), 'Query condition missed key schema element: pk');
});
