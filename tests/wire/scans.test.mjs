// Scan: everything exactly once, in pages, in parallel segments, through indexes and filters.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTable, ddb, doc, invalid, putAll } from './harness.mjs';

const TableName = await createTable({ key: ['pk', 'sk:N'], gsi: { byTag: { key: ['tag', 'sk:N'] } } });
const items = Array.from({ length: 120 }, (_, i) => ({ pk: `p${i % 17}`, sk: i, odd: i % 2 === 1, ...(i % 3 === 0 ? { tag: `t${i % 5}` } : {}) }));
await putAll(TableName, items);
const everything = items.map(({ sk }) => sk).sort((a, b) => a - b);

async function scanAll(request = {}) {
  const seen = [];
  let ExclusiveStartKey;
  do {
    const page = await doc.scan({ TableName, ...request, ExclusiveStartKey });
    seen.push(...page.Items);
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
  return seen;
}
const numbers = (list) => list.map(({ sk }) => sk).sort((a, b) => a - b);

test('a scan sees every item once', async () => {
  assert.deepEqual(numbers(await scanAll()), everything);
});

test('pages of any size add up', async () => {
  for (const Limit of [1, 7, 50, 119, 120, 121]) assert.deepEqual(numbers(await scanAll({ Limit })), everything, `Limit ${Limit}`);
});

test('segments share the table out', async () => {
  for (const TotalSegments of [1, 2, 3, 8, 100]) {
    const parts = await Promise.all(Array.from({ length: TotalSegments }, (_, Segment) => scanAll({ Segment, TotalSegments, Limit: 10 })));
    assert.deepEqual(numbers(parts.flat()), everything, `${TotalSegments} segments`);
  }
});

test('items of one partition stay together and sorted', async () => {
  const seen = await scanAll({ Limit: 13 });
  const last = new Map();
  let current;
  for (const { pk, sk } of seen) {
    if (pk !== current) assert.equal(last.has(pk), false, `partition ${pk} comes twice`);
    else assert.ok(sk > last.get(pk));
    last.set(pk, sk);
    current = pk;
  }
});

test('a scan of an index sees only what is in it', async () => {
  const tagged = items.filter(({ tag }) => tag).map(({ sk }) => sk);
  assert.deepEqual(numbers(await scanAll({ IndexName: 'byTag' })), tagged);
  assert.deepEqual(numbers(await scanAll({ IndexName: 'byTag', Limit: 3 })), tagged);
  const parts = await Promise.all([0, 1, 2].map((Segment) => scanAll({ IndexName: 'byTag', Segment, TotalSegments: 3 })));
  assert.deepEqual(numbers(parts.flat()), tagged);
});

test('filters, projections and counts', async () => {
  const odd = { FilterExpression: 'odd = :t', ExpressionAttributeValues: { ':t': true } };
  assert.equal((await scanAll(odd)).length, 60);
  const page = await doc.scan({ TableName, ...odd, Limit: 10 });
  assert.equal(page.ScannedCount, 10);
  assert.equal(page.Count, page.Items.length);
  const counted = await doc.scan({ TableName, ...odd, Select: 'COUNT' });
  assert.deepEqual([counted.Count, counted.ScannedCount, counted.Items], [60, 120, undefined]);
  assert.ok((await scanAll({ ProjectionExpression: 'sk' })).every((item) => Object.keys(item).join() === 'sk'));
  assert.ok((await doc.scan({ TableName, FilterExpression: 'pk = :p', ExpressionAttributeValues: { ':p': 'p3' } })).Count > 0, 'a scan may filter on keys');
});

test('a page of a scan ends at 1 MB', async () => {
  const table = await createTable();
  for (let i = 0; i < 6; i += 1) await doc.put({ TableName: table, Item: { pk: `big${i}`, data: 'x'.repeat(250 * 1024) } });
  const first = await doc.scan({ TableName: table });
  assert.ok(first.LastEvaluatedKey);
  assert.ok(first.Count >= 4 && first.Count < 6, `${first.Count} items in the first page`);
  const second = await doc.scan({ TableName: table, ExclusiveStartKey: first.LastEvaluatedKey });
  assert.equal(first.Count + second.Count, 6);
});

test('a scan that starts after a deleted item goes on from there', async () => {
  const table = await createTable();
  await putAll(table, Array.from({ length: 10 }, (_, i) => ({ pk: `k${i}` })));
  const first = await doc.scan({ TableName: table, Limit: 4 });
  await doc.delete({ TableName: table, Key: first.LastEvaluatedKey });
  const second = await doc.scan({ TableName: table, ExclusiveStartKey: first.LastEvaluatedKey });
  assert.equal(first.Count + second.Count, 10);
});

test('what makes no sense as a scan', async (t) => {
  const refuse = (name, request, message) => t.test(name, () => invalid(ddb.scan({ TableName, ...request }), message));
  await refuse('Segment alone', { Segment: 0 }, 'The TotalSegments parameter is required but was not present in the request when Segment parameter is present');
  await refuse('TotalSegments alone', { TotalSegments: 2 }, 'The Segment parameter is required but was not present in the request when parameter TotalSegments is present');
  await refuse('a segment beyond the last', { Segment: 5, TotalSegments: 5 },
    'The Segment parameter is zero-based and must be less than parameter TotalSegments: Segment: 5 is not less than TotalSegments: 5');
  await refuse('a limit of zero', { Limit: 0 },
    "1 validation error detected: Value '0' at 'limit' failed to satisfy constraint: Member must have value greater than or equal to 1");
  await refuse('a million and one segments', { Segment: 0, TotalSegments: 1000001 }, /less than or equal to 1000000/);
  await refuse('an index that is not there', { IndexName: 'whatever' }, 'The table does not have the specified index: whatever');
  await refuse('a start key of another shape', { ExclusiveStartKey: { pk: { S: 'a' } } }, /^The provided starting key is invalid/);
  await refuse('ConsistentRead of a GSI', { IndexName: 'byTag', ConsistentRead: true }, 'Consistent reads are not supported on global secondary indexes');
  await refuse('an empty filter', { FilterExpression: '' }, 'Invalid FilterExpression: The expression can not be empty;');
});

test('of several faults the one DynamoDB looks at first is told', async (t) => {
  const first = (name, request, message) => t.test(name, () => invalid(ddb.scan({ TableName, ...request }), message));
  const badStart = { ExclusiveStartKey: { pk: {} } };
  await first('AttributesToGet before the filter', { ...badStart, AttributesToGet: ['a', 'a'], ScanFilter: { a: { ComparisonOperator: 'EQ' } } },
    'One or more parameter values were invalid: Duplicate value in attribute name: a');
  await first('the filter before the start key', { ...badStart, ScanFilter: { a: { ComparisonOperator: 'EQ' } } },
    'One or more parameter values were invalid: Invalid number of argument(s) for the EQ ComparisonOperator');
  await first('the start key before the segment', { ...badStart, Segment: 1 }, /^The provided starting key is invalid: Supplied AttributeValue is empty/);
  const start = async () => (await ddb.scan({ TableName, Limit: 1, Segment: 0, TotalSegments: 2 })).LastEvaluatedKey;
  await first('the segment of the start key before a path into a key', { ExclusiveStartKey: await start(), Segment: 1, TotalSegments: 2, ProjectionExpression: 'pk.x' },
    'The provided starting key is invalid: Invalid ExclusiveStartKey. Please use ExclusiveStartKey with correct Segment. TotalSegments: 2 Segment: 1');
});
