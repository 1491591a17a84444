// Query: key conditions, order, pages, projections, filters, Select; and what is refused.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { marshall } from '@aws-sdk/util-dynamodb';
import { createTable, ddb, doc, invalid, putAll } from './harness.mjs';

const TableName = await createTable({ key: ['pk', 'sk'], gsi: { byOther: { key: ['theirs'], project: 'KEYS_ONLY' } }, lsi: { byRank: { key: ['pk', 'rank:N'], project: ['kept'] } } });
const letters = ['a', 'aa', 'ab', 'b', 'c', 'd', 'e'];
await putAll(TableName, letters.map((sk, i) => ({ pk: 'p', sk, i, theirs: 'o', rank: 10 - i, kept: `k${i}`, lost: `l${i}` })));
await putAll(TableName, [{ pk: 'q', sk: 'a' }]);

const query = (condition, values, extra = {}) => doc.query({
  TableName, KeyConditionExpression: condition, ...(values ? { ExpressionAttributeValues: values } : {}), ...extra,
});
const keys = async (...args) => (await query(...args)).Items.map(({ sk }) => sk);

test('a partition comes back in the order of its sort key, either way', async () => {
  assert.deepEqual(await keys('pk = :p', { ':p': 'p' }), letters);
  assert.deepEqual(await keys('pk = :p', { ':p': 'p' }, { ScanIndexForward: false }), [...letters].reverse());
  assert.deepEqual(await keys('pk = :p', { ':p': 'nobody' }), []);
});

test('every operator a sort key allows', async (t) => {
  const cases = [
    ['pk = :p AND sk = :s', { ':s': 'b' }, ['b']],
    ['pk = :p AND sk < :s', { ':s': 'b' }, ['a', 'aa', 'ab']],
    ['pk = :p AND sk <= :s', { ':s': 'b' }, ['a', 'aa', 'ab', 'b']],
    ['pk = :p AND sk > :s', { ':s': 'c' }, ['d', 'e']],
    ['pk = :p AND sk >= :s', { ':s': 'c' }, ['c', 'd', 'e']],
    ['pk = :p AND sk BETWEEN :s AND :t', { ':s': 'aa', ':t': 'b' }, ['aa', 'ab', 'b']],
    ['pk = :p AND begins_with(sk, :s)', { ':s': 'a' }, ['a', 'aa', 'ab']],
    ['sk = :s AND pk = :p', { ':s': 'c' }, ['c']],
    ['(pk = :p) AND (sk > :s)', { ':s': 'd' }, ['e']],
    ['#k = :p and begins_with (#s, :s)', { ':s': 'ab' }, ['ab'], { '#k': 'pk', '#s': 'sk' }],
  ];
  for (const [condition, values, expected, names] of cases) {
    await t.test(condition, async () => {
      const extra = names ? { ExpressionAttributeNames: names } : {};
      assert.deepEqual(await keys(condition, { ':p': 'p', ...values }, extra), expected);
      assert.deepEqual(await keys(condition, { ':p': 'p', ...values }, { ...extra, ScanIndexForward: false }), [...expected].reverse());
    });
  }
});

test('pages follow one another without gap or overlap, in both directions', async () => {
  for (const ScanIndexForward of [true, false]) {
    for (const Limit of [1, 2, 3, 7, 8]) {
      const seen = [];
      let ExclusiveStartKey;
      do {
        const page = await query('pk = :p', { ':p': 'p' }, { Limit, ScanIndexForward, ExclusiveStartKey });
        assert.ok(page.Items.length <= Limit);
        seen.push(...page.Items.map(({ sk }) => sk));
        ExclusiveStartKey = page.LastEvaluatedKey;
        if (ExclusiveStartKey) assert.deepEqual(Object.keys(ExclusiveStartKey).sort(), ['pk', 'sk']);
      } while (ExclusiveStartKey);
      assert.deepEqual(seen, ScanIndexForward ? letters : [...letters].reverse());
    }
  }
});

test('a page ends at 1 MB', async () => {
  const table = await createTable({ key: ['pk', 'sk:N'] });
  for (let sk = 0; sk < 5; sk += 1) await doc.put({ TableName: table, Item: { pk: 'p', sk, data: 'x'.repeat(300 * 1024) } });
  const ask = { TableName: table, KeyConditionExpression: 'pk = :p', ExpressionAttributeValues: { ':p': 'p' } };
  const first = await doc.query(ask);
  assert.ok(first.Count >= 3 && first.Count < 5, `${first.Count} items in the first page`);
  assert.ok(first.LastEvaluatedKey);
  const second = await doc.query({ ...ask, ExclusiveStartKey: first.LastEvaluatedKey });
  assert.equal(first.Count + second.Count, 5);
  const counted = await doc.query({ ...ask, Select: 'COUNT' });
  assert.equal(counted.Count, first.Count, 'the limit counts what is read, not what is returned');
});

test('a filter is applied after Limit, and Count and ScannedCount tell', async () => {
  const page = await query('pk = :p', { ':p': 'p', ':i': 1 }, { FilterExpression: 'i > :i', Limit: 4 });
  assert.deepEqual(page.Items.map(({ sk }) => sk), ['ab', 'b']);
  assert.equal(page.Count, 2);
  assert.equal(page.ScannedCount, 4);
  assert.deepEqual(page.LastEvaluatedKey, { pk: 'p', sk: 'b' });
});

test('Select: COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES, SPECIFIC_ATTRIBUTES', async () => {
  const counted = await query('pk = :p', { ':p': 'p' }, { Select: 'COUNT' });
  assert.equal(counted.Count, 7);
  assert.equal(counted.Items, undefined);
  const [all] = (await query('pk = :p', { ':p': 'q' }, { Select: 'ALL_ATTRIBUTES' })).Items;
  assert.deepEqual(all, { pk: 'q', sk: 'a' });
  const [projected] = (await query('pk = :p', { ':p': 'p' }, { IndexName: 'byRank', Select: 'ALL_PROJECTED_ATTRIBUTES', Limit: 1 })).Items;
  assert.deepEqual(projected, { pk: 'p', sk: 'e', rank: 4, kept: 'k6' });
  const [fetched] = (await query('pk = :p', { ':p': 'p' }, { IndexName: 'byRank', Select: 'ALL_ATTRIBUTES', Limit: 1 })).Items;
  assert.deepEqual(fetched, { pk: 'p', sk: 'e', i: 6, theirs: 'o', rank: 4, kept: 'k6', lost: 'l6' }, 'an LSI fetches from the table');
  const [specific] = (await query('pk = :p', { ':p': 'p' }, { Select: 'SPECIFIC_ATTRIBUTES', ProjectionExpression: 'i', Limit: 1 })).Items;
  assert.deepEqual(specific, { i: 0 });
});

test('projections reach into documents', async () => {
  const table = await createTable({ key: ['pk'] });
  await doc.put({ TableName: table, Item: { pk: 'x', m: { a: 1, b: { c: 2, d: 3 } }, l: [0, { y: 1, z: 2 }, 2, 3], s: 'text' } });
  const get = async (ProjectionExpression, ExpressionAttributeNames) => (await doc.get({ TableName: table, Key: { pk: 'x' }, ProjectionExpression, ExpressionAttributeNames })).Item;
  assert.deepEqual(await get('s, m.b.c'), { s: 'text', m: { b: { c: 2 } } });
  assert.deepEqual(await get('l[1].z, l[3]'), { l: [{ z: 2 }, 3] });
  assert.deepEqual(await get('l[3], l[0]'), { l: [0, 3] });
  assert.deepEqual(await get('#m.a', { '#m': 'm' }), { m: { a: 1 } });
  assert.deepEqual(await get('nothing, m.nothing, l[9]'), {});
  const refuse = (expression, message) => invalid(get(expression), `Invalid ProjectionExpression: ${message}`);
  await refuse('', 'The expression can not be empty;');
  await refuse('!!', 'Syntax error; token: "!", near: "!!"');
  await refuse('a,', 'Syntax error; token: "<EOF>", near: ","');
  await refuse('name', 'Attribute name is a reserved keyword; reserved keyword: name');
  await refuse('#x', 'An expression attribute name used in the document path is not defined; attribute name: #x');
  await refuse('m, m.a', 'Two document paths overlap with each other; must remove or rewrite one of these paths; path one: [m], path two: [m, a]');
  await refuse('m.a, m[0]', 'Two document paths conflict with each other; must remove or rewrite one of these paths; path one: [m, a], path two: [m, [0]]');
});

test('what makes no sense as a query', async (t) => {
  const refuse = (name, request, message) => t.test(name, () => invalid(ddb.query({
    TableName,
    ...request,
    ...(request.values ? { ExpressionAttributeValues: marshall(request.values), values: undefined } : {}),
  }), message));
  const whole = { KeyConditionExpression: 'pk = :p', values: { ':p': 'p' } };
  await refuse('no condition', {}, /^Either the KeyConditions or KeyConditionExpression parameter must be specified in the request\.$/);
  await refuse('an empty condition', { KeyConditionExpression: '' }, 'Invalid KeyConditionExpression: The expression can not be empty;');
  await refuse('no partition', { KeyConditionExpression: 'sk = :s', values: { ':s': 'a' } }, 'Query condition missed key schema element: pk');
  await refuse('another attribute', { KeyConditionExpression: 'pk = :p AND i = :i', values: { ':p': 'p', ':i': 1 } }, 'Query condition missed key schema element: sk');
  await refuse('a range of partitions', { KeyConditionExpression: 'pk > :p', values: { ':p': 'p' } }, 'Query key condition not supported');
  await refuse('<> on the sort key', { KeyConditionExpression: 'pk = :p AND sk <> :s', values: { ':p': 'p', ':s': 's' } },
    /^Invalid KeyConditionExpression: Unsupported operator in KeyConditionExpression; operator: <>$|Invalid operator used in KeyConditionExpression: <>/);
  await refuse('OR', { KeyConditionExpression: 'pk = :p OR sk = :s', values: { ':p': 'p', ':s': 's' } }, 'Invalid operator used in KeyConditionExpression: OR');
  await refuse('contains', { KeyConditionExpression: 'pk = :p AND contains(sk, :s)', values: { ':p': 'p', ':s': 's' } },
    'Invalid operator used in KeyConditionExpression: contains');
  await refuse('two conditions on one key', { KeyConditionExpression: 'pk = :p AND sk > :s AND sk < :t', values: { ':p': 'p', ':s': 's', ':t': 't' } },
    'KeyConditionExpressions must only contain one condition per key');
  await refuse('a value of another type', { KeyConditionExpression: 'pk = :p', values: { ':p': 1 } },
    'One or more parameter values were invalid: Condition parameter type does not match schema type');
  await refuse('an empty partition', { KeyConditionExpression: 'pk = :p', values: { ':p': '' } },
    'One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty string value. Key: pk');
  await refuse('a filter on a key', { ...whole, FilterExpression: 'sk = :p' },
    'Filter Expression can only contain non-primary key attributes: Primary key attribute: sk');
  await refuse('an index that is not there', { ...whole, IndexName: 'whatever' }, 'The table does not have the specified index: whatever');
  await refuse('a consistent read of a GSI', { KeyConditionExpression: 'theirs = :p', values: { ':p': 'p' }, IndexName: 'byOther', ConsistentRead: true },
    'Consistent reads are not supported on global secondary indexes');
  await refuse('all attributes of a GSI that has not all', { KeyConditionExpression: 'theirs = :p', values: { ':p': 'p' }, IndexName: 'byOther', Select: 'ALL_ATTRIBUTES' },
    'One or more parameter values were invalid: Select type ALL_ATTRIBUTES is not supported for global secondary index byOther because its projection type is not ALL');
  await refuse('an unknown Select', { ...whole, Select: 'EVERYTHING' },
    "1 validation error detected: Value 'EVERYTHING' at 'select' failed to satisfy constraint: Member must satisfy enum value set: [SPECIFIC_ATTRIBUTES, COUNT, ALL_ATTRIBUTES, ALL_PROJECTED_ATTRIBUTES]");
  await refuse('projected attributes without an index', { ...whole, Select: 'ALL_PROJECTED_ATTRIBUTES' },
    'One or more parameter values were invalid: ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName');
  await refuse('COUNT with a projection', { ...whole, Select: 'COUNT', ProjectionExpression: 'i' }, /Cannot specify the ProjectionExpression when choosing to get only the Count$/);
  await refuse('a limit of zero', { ...whole, Limit: 0 }, /greater than or equal to 1$/);
  await refuse('an unused name', { ...whole, ExpressionAttributeNames: { '#unused': 'x' } }, 'Value provided in ExpressionAttributeNames unused in expressions: keys: {#unused}');
  await refuse('a start key of another shape', { ...whole, ExclusiveStartKey: { pk: { S: 'p' } } }, /^The provided starting key is invalid/);
  await refuse('a start key of another partition', { ...whole, ExclusiveStartKey: { pk: { S: 'q' }, sk: { S: 'a' } } },
    /^The provided starting key is (outside query boundaries based on provided conditions|invalid)/);
});

test('a partition key alone finds one item, which nothing follows', async () => {
  const table = await createTable({ key: ['pk'] });
  await doc.put({ TableName: table, Item: { pk: 'only' } });
  const find = (more) => doc.query({ TableName: table, KeyConditionExpression: 'pk = :p', ExpressionAttributeValues: { ':p': 'only' }, ...more });
  const { Items, LastEvaluatedKey } = await find({ Limit: 1 });
  assert.deepEqual(Items, [{ pk: 'only' }]);
  assert.equal(LastEvaluatedKey, undefined);
  await invalid(find({ ExclusiveStartKey: { pk: 'only' } }),
    'The provided exclusive start key is invalid: ExclusiveStartKey: {pk=AttributeValue: {S:only}}');
});

test('of several faults the one DynamoDB looks at first is told', async (t) => {
  const first = (name, request, message) => t.test(name, () => invalid(ddb.query({ TableName, ...request }), message));
  const badStart = { ExclusiveStartKey: { pk: {} } };
  const whole = { KeyConditionExpression: 'pk = :p', ExpressionAttributeValues: { ':p': { S: 'p' } } };
  await first('a filter before the start key', { ...badStart, QueryFilter: { a: { ComparisonOperator: 'EQ' } } },
    'One or more parameter values were invalid: Invalid number of argument(s) for the EQ ComparisonOperator');
  await first('AttributesToGet before the start key', { ...badStart, AttributesToGet: ['a', 'a'] },
    'One or more parameter values were invalid: Duplicate value in attribute name: a');
  await first('the start key before the lack of conditions', badStart, /^The provided starting key is invalid: Supplied AttributeValue is empty/);
  await first('a filter before what the key condition means', { ...whole, KeyConditionExpression: 'pk <> :p', FilterExpression: '' },
    'Invalid FilterExpression: The expression can not be empty;');
  await first('the start key before the conditions', { ...whole, KeyConditionExpression: 'sk = :p', ExclusiveStartKey: { pk: { N: '1' }, sk: { S: 'a' } } },
    'The provided key element does not match the schema');
  await first('a condition before the next attribute of the start key', { ...whole, KeyConditionExpression: 'sk = :p', ExclusiveStartKey: { pk: { S: 'p' }, sk: { N: '1' } } },
    'Query condition missed key schema element: pk');
  await first('a path into a key before a filter on a key', { ...whole, ProjectionExpression: 'sk.x', FilterExpression: 'pk = :p' },
    "Key attributes must be scalars; list random access '[]' and map lookup '.' are not allowed: Key: sk");
});
