// Attribute values: the ten types, the normal form of numbers, sizes and limits.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTable, ddb, invalid } from './harness.mjs';

const TableName = await createTable({ key: ['pk'] });
const put = (v, pk = 'v') => ddb.putItem({ TableName, Item: { pk: { S: pk }, v } });
const read = async (pk = 'v') => (await ddb.getItem({ TableName, Key: { pk: { S: pk } }, ConsistentRead: true })).Item?.v;
const roundTrip = async (v) => { await put(v); return read(); };
const bytes = (...list) => new Uint8Array(list);

test('all ten types come back as they went in', async (t) => {
  const values = {
    S: { S: 'text with ünïcödé, 漢字, 🚀 and "quotes" \\ \n\t\u0001' },
    'empty S': { S: '' },
    N: { N: '42' },
    BOOL: { BOOL: false },
    NULL: { NULL: true },
    L: { L: [{ S: 'a' }, { N: '1' }, { L: [] }, { M: {} }] },
    M: { M: { a: { M: { b: { L: [{ BOOL: true }] } } } } },
    'NUL in a string': { S: 'a\0b' },
  };
  for (const [name, value] of Object.entries(values)) {
    await t.test(name, async () => assert.deepEqual(await roundTrip(value), value));
  }
  await t.test('B', async () => assert.deepEqual([...(await roundTrip({ B: bytes(0, 255, 128) })).B], [0, 255, 128]));
  await t.test('empty B', async () => assert.equal((await roundTrip({ B: bytes() })).B.length, 0));
  await t.test('SS', async () => assert.deepEqual([...(await roundTrip({ SS: ['b', 'a', 'c'] })).SS].sort(), ['a', 'b', 'c']));
  await t.test('NS', async () => assert.deepEqual([...(await roundTrip({ NS: ['10', '-1', '2.50'] })).NS].sort(), ['-1', '10', '2.5']));
  await t.test('BS', async () => assert.deepEqual((await roundTrip({ BS: [bytes(2), bytes(1, 1)] })).BS.map((b) => [...b]).sort(), [[1, 1], [2]]));
});

test('numbers come back in DynamoDB\'s normal form', async (t) => {
  const cases = {
    '00042': '42',
    '-0': '0',
    '0.0': '0',
    '1.0': '1',
    '3.140': '3.14',
    '1.5E2': '150',
    '1e3': '1000',
    '+5': '5',
    '.5': '0.5',
    '-1.50': '-1.5',
    '12345678901234567890123456789012345678': '12345678901234567890123456789012345678',
    '0.12345678901234567890123456789012345678': '0.12345678901234567890123456789012345678',
    '1E-130': '0.0000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000001',
    '9.9999999999999999999999999999999999999E+125': `99999999999999999999999999999999999999${'0'.repeat(88)}`,
    '-9.9999999999999999999999999999999999999E+125': `-99999999999999999999999999999999999999${'0'.repeat(88)}`,
    '10000000000000000000000000000000000000000': '10000000000000000000000000000000000000000',
  };
  for (const [given, kept] of Object.entries(cases)) {
    await t.test(given, async () => assert.equal((await roundTrip({ N: given })).N, kept));
  }
});

test('numbers out of range or shape are refused', async (t) => {
  const cases = {
    '123456789012345678901234567890123456789': 'Attempting to store more than 38 significant digits in a Number',
    '1.00000000000000000000000000000000000001': 'Attempting to store more than 38 significant digits in a Number',
    '1E126': 'Number overflow. Attempting to store a number with magnitude larger than supported range',
    '-1E126': 'Number overflow. Attempting to store a number with magnitude larger than supported range',
    '1E-131': 'Number underflow. Attempting to store a number with magnitude smaller than supported range',
    abc: 'The parameter cannot be converted to a numeric value: abc',
    '1.2.3': 'The parameter cannot be converted to a numeric value: 1.2.3',
    '': 'The parameter cannot be converted to a numeric value',
    NaN: 'The parameter cannot be converted to a numeric value: NaN',
    Infinity: 'The parameter cannot be converted to a numeric value: Infinity',
    '0x10': 'The parameter cannot be converted to a numeric value: 0x10',
    '1 ': 'The parameter cannot be converted to a numeric value: 1 ',
    '1E': 'The parameter cannot be converted to a numeric value: 1E',
    '1E999999999999': /Number overflow|cannot be converted/,
  };
  for (const [given, message] of Object.entries(cases)) {
    await t.test(given || 'an empty string', () => invalid(put({ N: given }), message));
  }
});

test('sets must have members, without duplicates', async () => {
  const prefix = 'One or more parameter values were invalid: ';
  await invalid(put({ SS: [] }), `${prefix}An string set  may not be empty`);
  await invalid(put({ NS: [] }), `${prefix}An number set  may not be empty`);
  await invalid(put({ BS: [] }), `${prefix}Binary sets should not be empty`);
  await invalid(put({ SS: ['a', 'a'] }), `${prefix}Input collection [a, a] contains duplicates.`);
  await invalid(put({ NS: ['1', '1.0'] }), /Input collection (contains duplicates|\[1, 1(\.0)?\] contains duplicates\.)/);
  await invalid(put({ BS: [bytes(1), bytes(1)] }), /Input collection \[.*\]\s?(of type BS )?contains duplicates\./);
  await invalid(put({ L: [{ SS: [] }] }), `${prefix}An string set  may not be empty`);
  await invalid(put({ M: { x: { SS: ['a', 'a'] } } }), /contains duplicates/);
});

test('NULL must be true, and a value must have exactly one type', async () => {
  await invalid(put({ NULL: false }), 'One or more parameter values were invalid: Null attribute value types must have the value of true');
});

test('a value may nest to level 32, and no deeper', async () => {
  const nest = (wraps) => { let v = { S: 'x' }; for (let i = 0; i < wraps; i += 1) v = i % 2 ? { M: { m: v } } : { L: [v] }; return v; };
  const message = 'Nesting Levels have exceeded supported limits: Attributes in the item have nested levels beyond supported limit';
  const deep = nest(31);
  assert.deepEqual(await roundTrip(deep), deep);
  await invalid(put(nest(32)), message);
  await invalid(ddb.batchWriteItem({ RequestItems: { [TableName]: [{ PutRequest: { Item: { pk: { S: 'deep' }, v: nest(32) } } }] } }), message);
});

test('an item may have 400 KB, names included, and not a byte more', async () => {
  const rest = 'pk'.length + 'big'.length + 'v'.length;
  const exact = 400 * 1024 - rest;
  await put({ S: 'x'.repeat(exact) }, 'big');
  assert.equal((await read('big')).S.length, exact);
  await invalid(put({ S: 'x'.repeat(exact + 1) }, 'big'), 'Item size has exceeded the maximum allowed size');
  await invalid(ddb.updateItem({
    TableName, Key: { pk: { S: 'big' } }, UpdateExpression: 'SET w = :w', ExpressionAttributeValues: { ':w': { S: 'y' } },
  }), 'Item size to update has exceeded the maximum allowed size');
  assert.equal((await read('big')).S.length, exact, 'a refused update leaves the item alone');
});

test('numbers sort by value in keys, binaries by unsigned bytes, strings by UTF-8', async (t) => {
  const check = async (type, values, plain) => {
    const table = await createTable({ key: ['pk', `sk:${type}`] });
    const order = values.map((_, i) => i).sort((a, b) => ((a * 7919) % 13) - ((b * 7919) % 13));
    for (const i of order) await ddb.putItem({ TableName: table, Item: { pk: { S: 'p' }, sk: { [type]: values[i] }, i: { N: String(i) } } });
    const query = { TableName: table, KeyConditionExpression: 'pk = :p', ExpressionAttributeValues: { ':p': { S: 'p' } } };
    const forward = (await ddb.query(query)).Items.map(({ sk }) => plain(sk[type]));
    assert.deepEqual(forward, values.map(plain));
    const backward = (await ddb.query({ ...query, ScanIndexForward: false })).Items.map(({ sk }) => plain(sk[type]));
    assert.deepEqual(backward, values.map(plain).reverse());
  };
  await t.test('N', () => check('N', ['-99999999999999999999999999999999999999', '-100', '-10.5', '-10', '-1', '-0.001', '0', '0.0001', '0.5', '1', '1.5', '2', '9', '10', '99.9', '100', '12345678901234567890123456789012345678'], (n) => n));
  await t.test('B', () => check('B', [bytes(0), bytes(0, 0), bytes(0, 1), bytes(1), bytes(127), bytes(128), bytes(255), bytes(255, 0)], (b) => Buffer.from(b).toString('hex')));
  await t.test('S', () => check('S', ['\u0001', ' ', '0', '00', '1', 'A', 'a', 'aa', 'b', 'é', '漢', '\uffee', '🚀'], (s) => s));
});

test('numbers equal in value are one key', async () => {
  const table = await createTable({ key: ['pk:N'] });
  await ddb.putItem({ TableName: table, Item: { pk: { N: '1.0' }, v: { S: 'first' } } });
  await ddb.putItem({ TableName: table, Item: { pk: { N: '1' }, v: { S: 'second' } } });
  const { Items } = await ddb.scan({ TableName: table });
  assert.deepEqual(Items, [{ pk: { N: '1' }, v: { S: 'second' } }]);
  assert.ok((await ddb.getItem({ TableName: table, Key: { pk: { N: '100E-2' } } })).Item);
});

test('arithmetic keeps 38 digits', async () => {
  await put({ N: '99999999999999999999999999999999999998' }, 'sum');
  const add = (n) => ddb.updateItem({
    TableName, Key: { pk: { S: 'sum' } }, UpdateExpression: 'SET v = v + :n', ExpressionAttributeValues: { ':n': { N: n } }, ReturnValues: 'UPDATED_NEW',
  });
  assert.equal((await add('1')).Attributes.v.N, '99999999999999999999999999999999999999');
  await put({ N: '0.1' }, 'sum');
  assert.equal((await add('0.2')).Attributes.v.N, '0.3');
  await put({ N: '-5.5' }, 'sum');
  assert.equal((await add('5.5')).Attributes.v.N, '0');
  await put({ N: '9.9999999999999999999999999999999999999E+125' }, 'sum');
  await invalid(add('9.9999999999999999999999999999999999999E+125'), /Number overflow/);
});
