// BatchGetItem and BatchWriteItem: several tables, limits, what is left unprocessed, and what is refused.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTable, ddb, doc, freshName, invalid, rejects, sorted } from './harness.mjs';

const One = await createTable({ key: ['pk'] });
const Two = await createTable({ key: ['pk', 'sk:N'] });
const put = (item) => ({ PutRequest: { Item: item } });
const S = (value) => ({ S: value });

test('a batch writes and deletes in several tables', async () => {
  await ddb.putItem({ TableName: One, Item: { pk: S('doomed') } });
  const reply = await ddb.batchWriteItem({
    RequestItems: {
      [One]: [put({ pk: S('a'), v: S('1') }), { DeleteRequest: { Key: { pk: S('doomed') } } }],
      [Two]: [put({ pk: S('a'), sk: { N: '1' } }), put({ pk: S('a'), sk: { N: '2' } })],
    },
  });
  assert.deepEqual(reply.UnprocessedItems, {});
  assert.equal((await ddb.getItem({ TableName: One, Key: { pk: S('doomed') } })).Item, undefined);
  const read = await ddb.batchGetItem({
    RequestItems: {
      [One]: { Keys: [{ pk: S('a') }, { pk: S('doomed') }], ConsistentRead: true },
      [Two]: { Keys: [{ pk: S('a'), sk: { N: '2' } }, { pk: S('a'), sk: { N: '1' } }], ProjectionExpression: '#s', ExpressionAttributeNames: { '#s': 'sk' } },
    },
  });
  assert.deepEqual(read.Responses[One], [{ pk: S('a'), v: S('1') }]);
  assert.deepEqual(sorted(read.Responses[Two], 'sk'), [{ sk: { N: '1' } }, { sk: { N: '2' } }]);
  assert.deepEqual(read.UnprocessedKeys, {});
});

test('25 writes and 100 reads fit, one more does not', async () => {
  const items = Array.from({ length: 101 }, (_, i) => ({ pk: S(`n${i}`) }));
  for (let i = 0; i < 100; i += 25) await ddb.batchWriteItem({ RequestItems: { [One]: items.slice(i, i + 25).map(put) } });
  await invalid(ddb.batchWriteItem({ RequestItems: { [One]: items.slice(0, 26).map(put) } }),
    /^1 validation error detected: Value '\{.*\}' at 'requestItems' failed to satisfy constraint: Map value must satisfy constraint: \[Member must have length less than or equal to 25, Member must have length greater than or equal to 1\]$/s);
  const { Responses } = await ddb.batchGetItem({ RequestItems: { [One]: { Keys: items.slice(0, 100) } } });
  assert.equal(Responses[One].length, 100);
  await invalid(ddb.batchGetItem({ RequestItems: { [One]: { Keys: items } } }),
    `1 validation error detected: Value at 'RequestItems.${One}.member.Keys' failed to satisfy constraint: Member must have length less than or equal to 100`);
  await invalid(ddb.batchWriteItem({ RequestItems: { [One]: items.slice(0, 13).map(put), [Two]: items.slice(0, 13).map(({ pk }) => put({ pk, sk: { N: '1' } })) } }),
    'Too many items requested for the BatchWriteItem call');
  await invalid(ddb.batchGetItem({ RequestItems: { [One]: { Keys: items.slice(0, 60) }, [Two]: { Keys: items.slice(0, 60).map(({ pk }) => ({ pk, sk: { N: '1' } })) } } }),
    'Too many items requested for the BatchGetItem call');
});

test('a batch read stops at 16 MB and hands the rest back', async () => {
  const table = await createTable({ key: ['pk'] });
  const keys = Array.from({ length: 45 }, (_, i) => ({ pk: `big${i}` }));
  await Promise.all(keys.map(({ pk }) => doc.put({ TableName: table, Item: { pk, data: 'x'.repeat(399 * 1024) } })));
  const seen = new Set();
  let request = { [table]: { Keys: keys } };
  let rounds = 0;
  while (request[table]) {
    const { Responses, UnprocessedKeys } = await doc.batchGet({ RequestItems: request });
    for (const { pk } of Responses[table]) seen.add(pk);
    request = UnprocessedKeys;
    rounds += 1;
  }
  assert.equal(seen.size, 45);
  assert.equal(rounds, 2);
});

test('batches that make no sense', async (t) => {
  const write = (name, RequestItems, message) => t.test(`write: ${name}`, () => invalid(ddb.batchWriteItem({ RequestItems }), message));
  const read = (name, RequestItems, message) => t.test(`read: ${name}`, () => invalid(ddb.batchGetItem({ RequestItems }), message));
  const key = { pk: S('a') };
  await write('nothing', {}, 'The requestItems parameter is required for BatchWriteItem');
  await read('nothing', {}, 'The requestItems parameter is required for BatchGetItem');
  await write('one item twice', { [One]: [put(key), { DeleteRequest: { Key: key } }] }, 'Provided list of item keys contains duplicates');
  await read('one key twice', { [One]: { Keys: [key, key] } }, 'Provided list of item keys contains duplicates');
  await write('an empty request', { [One]: [{}] }, /must contain exactly one|PutRequest|DeleteRequest/);
  await write('a key that does not fit', { [Two]: [{ DeleteRequest: { Key: key } }] }, 'The provided key element does not match the schema');
  await read('a key that does not fit', { [Two]: { Keys: [key] } }, 'The provided key element does not match the schema');
  await write('an item without its key', { [One]: [put({ v: S('a') })] }, 'The provided key element does not match the schema');
  await write('an item that is too large', { [One]: [put({ pk: S('big'), v: S('x'.repeat(400 * 1024)) })] }, 'Item size has exceeded the maximum allowed size');
  await t.test('a table that is not there', async () => {
    await rejects(ddb.batchWriteItem({ RequestItems: { [freshName('absent')]: [put(key)] } }), 'ResourceNotFoundException', 'Requested resource not found');
    await rejects(ddb.batchGetItem({ RequestItems: { [freshName('absent')]: { Keys: [key] } } }), 'ResourceNotFoundException', 'Requested resource not found');
  });
});

test('a refused batch writes nothing', async () => {
  await invalid(ddb.batchWriteItem({ RequestItems: { [One]: [put({ pk: S('half') }), put({ pk: S('half2'), v: { N: 'abc' } })] } }));
  assert.equal((await ddb.getItem({ TableName: One, Key: { pk: S('half') } })).Item, undefined);
});
