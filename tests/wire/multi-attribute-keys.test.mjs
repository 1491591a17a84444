// Global secondary indexes whose keys have several attributes: 1 to 4 HASH, then 0 to 4 RANGE.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createTable, ddb, doc, invalid, putAll, tableRequest } from './harness.mjs';

// A peer without them refuses the table; then there is nothing to compare.
const supported = await createTable({ key: ['pk'], gsi: { two: { key: { hash: ['a', 'b'] } } } }).then(() => true, () => false);
const multiTest = (name, body) => test(name, { skip: supported ? false : 'the endpoint has no multi-attribute keys' }, body);

const TableName = supported && await createTable({
  key: ['pk'],
  gsi: { games: { key: { hash: ['league', 'season:N'], range: ['round_:N', 'team', 'seat:N'] }, project: 'ALL' } },
});
const items = [];
for (const league of ['east', 'west']) {
  for (const season of [2024, 2025]) {
    for (const round_ of [1, 2]) {
      for (const team of ['Ants', 'Bees', 'Bears']) {
        for (const seat of [1, 10, 9]) items.push({ pk: `${league}${season}${round_}${team}${seat}`, league, season, round_, team, seat });
      }
    }
  }
}
if (supported) await putAll(TableName, items);

const query = (condition, values, extra) => doc.query({
  TableName, IndexName: 'games', KeyConditionExpression: condition, ExpressionAttributeValues: values, ...extra,
});
const east = { ':l': 'east', ':s': 2025 };
const tail = ({ round_, team, seat }) => `${round_} ${team} ${seat}`;

multiTest('DescribeTable shows every key attribute in order', async () => {
  const { Table } = await ddb.describeTable({ TableName });
  assert.deepEqual(Table.GlobalSecondaryIndexes[0].KeySchema.map(({ AttributeName, KeyType }) => `${AttributeName} ${KeyType}`),
    ['league HASH', 'season HASH', 'round_ RANGE', 'team RANGE', 'seat RANGE']);
});

multiTest('the partition is all HASH attributes together, sorted by all RANGE attributes', async () => {
  const { Items } = await query('league = :l AND season = :s', east);
  assert.equal(Items.length, 18);
  assert.ok(Items.every((item) => item.league === 'east' && item.season === 2025));
  const order = [];
  for (const round_ of [1, 2]) for (const team of ['Ants', 'Bears', 'Bees']) for (const seat of [1, 9, 10]) order.push(`${round_} ${team} ${seat}`);
  assert.deepEqual(Items.map(tail), order);
  const reversed = await query('league = :l AND season = :s', east, { ScanIndexForward: false });
  assert.deepEqual(reversed.Items.map(tail), order.reverse());
});

multiTest('RANGE attributes are given left to right, the last one may be an inequality', async (t) => {
  const cases = [
    ['round_ = :r', { ':r': 1 }, 9],
    ['round_ > :r', { ':r': 1 }, 9],
    ['round_ = :r AND team = :t', { ':r': 1, ':t': 'Bees' }, 3],
    ['round_ = :r AND begins_with(team, :t)', { ':r': 2, ':t': 'Be' }, 6],
    ['round_ = :r AND team < :t', { ':r': 2, ':t': 'Bears' }, 3],
    ['round_ = :r AND team = :t AND seat >= :n', { ':r': 2, ':t': 'Ants', ':n': 9 }, 2],
    ['round_ = :r AND team = :t AND seat BETWEEN :n AND :m', { ':r': 2, ':t': 'Ants', ':n': 1, ':m': 9 }, 2],
    ['round_ = :r AND team = :t AND seat = :n', { ':r': 2, ':t': 'Ants', ':n': 10 }, 1],
  ];
  for (const [condition, values, count] of cases) {
    await t.test(condition, async () => assert.equal((await query(`league = :l AND season = :s AND ${condition}`, { ...east, ...values })).Count, count));
  }
});

multiTest('conditions with gaps or inequalities in the middle are refused', async () => {
  const refused = (condition, values) => invalid(query(condition, values));
  await refused('league = :l', { ':l': 'east' });
  await refused('league = :l AND season > :s', east);
  await refused('league = :l AND season = :s AND team = :t', { ...east, ':t': 'Ants' });
  await refused('league = :l AND season = :s AND round_ > :r AND team = :t', { ...east, ':r': 1, ':t': 'Ants' });
  await refused('league = :l AND season = :s AND round_ = :r AND seat = :n', { ...east, ':r': 1, ':n': 1 });
});

multiTest('pages follow one another', async () => {
  for (const ScanIndexForward of [true, false]) {
    const seen = [];
    let ExclusiveStartKey;
    do {
      const page = await query('league = :l AND season = :s AND round_ = :r', { ...east, ':r': 2 }, { Limit: 2, ExclusiveStartKey, ScanIndexForward });
      seen.push(...page.Items.map(tail));
      ExclusiveStartKey = page.LastEvaluatedKey;
    } while (ExclusiveStartKey);
    assert.equal(new Set(seen).size, 9);
    assert.equal(seen.length, 9);
  }
  const scanned = [];
  let ExclusiveStartKey;
  do {
    const page = await doc.scan({ TableName, IndexName: 'games', Limit: 7, ExclusiveStartKey });
    scanned.push(...page.Items);
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
  assert.equal(new Set(scanned.map(({ pk }) => pk)).size, items.length);
});

multiTest('an item lacking any key attribute is not indexed, and enters when it has them all', async () => {
  const partition = { ':l': 'north', ':s': 1 };
  const count = async () => (await query('league = :l AND season = :s', partition)).Count;
  await doc.put({ TableName, Item: { pk: 'partial', league: 'north', season: 1, round_: 1, team: 'Cats' } });
  assert.equal(await count(), 0);
  await doc.update({ TableName, Key: { pk: 'partial' }, UpdateExpression: 'SET seat = :n', ExpressionAttributeValues: { ':n': 1 } });
  assert.equal(await count(), 1);
  await doc.update({ TableName, Key: { pk: 'partial' }, UpdateExpression: 'REMOVE season' });
  assert.equal(await count(), 0);
});

multiTest('values that run into each other stay apart', async () => {
  const table = await createTable({ key: ['pk'], gsi: { both: { key: { hash: ['a', 'b'], range: ['c', 'd'] } } } });
  await putAll(table, [
    { pk: '1', a: 'x', b: 'yz', c: 'm', d: 'no' },
    { pk: '2', a: 'xy', b: 'z', c: 'mn', d: 'o' },
    { pk: '3', a: 'x', b: 'yz', c: 'm\0', d: 'a' },
    { pk: '4', a: 'x', b: 'yz', c: 'mn', d: 'o' },
  ]);
  const ask = async (condition, values) => (await doc.query({ TableName: table, IndexName: 'both', KeyConditionExpression: condition, ExpressionAttributeValues: values })).Items.map(({ pk }) => pk);
  assert.deepEqual(await ask('a = :a AND b = :b', { ':a': 'x', ':b': 'yz' }), ['1', '3', '4']);
  assert.deepEqual(await ask('a = :a AND b = :b AND c = :c', { ':a': 'x', ':b': 'yz', ':c': 'm' }), ['1']);
});

multiTest('four and four are allowed; five, a wrong order, or an LSI are not', async () => {
  await createTable({ key: ['pk'], gsi: { both: { key: { hash: ['a', 'b', 'c', 'd'], range: ['e', 'f', 'g', 'h'] } } } });
  await invalid(ddb.createTable(tableRequest({ key: ['pk'], gsi: { both: { key: { hash: ['a', 'b', 'c', 'd', 'e'] } } } })));
  await invalid(ddb.createTable(tableRequest({ key: ['pk'], gsi: { both: { key: { hash: ['a'], range: ['b', 'c', 'd', 'e', 'f'] } } } })));
  const wrong = tableRequest({ key: ['pk'], gsi: { both: { key: { hash: ['a'], range: ['b'] } } } });
  wrong.GlobalSecondaryIndexes[0].KeySchema.reverse();
  await invalid(ddb.createTable(wrong));
  await invalid(ddb.createTable(tableRequest({ key: ['pk', 'sk'], lsi: { local: { key: { hash: ['pk'], range: ['a', 'b'] } } } })));
});

test('what a condition on such a key lacks is named', async () => {
  const table = await createTable({ key: ['pk'], gsi: { multi: { key: { hash: ['h1', 'h2'], range: ['r1', 'r2'] } } } });
  const find = (KeyConditionExpression, ...names) => doc.query({
    TableName: table, IndexName: 'multi', KeyConditionExpression, ExpressionAttributeValues: Object.fromEntries(names.map((name) => [`:${name}`, 'v'])),
  });
  const hash = (names) => `HASH key attributes ${names} must have equality conditions specified in the query`;
  const range = 'RANGE key attributes r1 must have equality conditions specified in the query because a condition is present on key attribute r2';
  await invalid(find('h1 = :a', 'a'), hash('h2'));
  await invalid(find('h1 = :a AND h2 > :b', 'a', 'b'), hash('h2'));
  await invalid(find('r1 = :a AND r2 = :b', 'a', 'b'), hash('h1, h2'));
  await invalid(find('h1 = :a AND h2 = :b AND r2 = :c', 'a', 'b', 'c'), range);
  await invalid(find('h1 = :a AND h2 = :b AND r1 > :c AND r2 = :d', 'a', 'b', 'c', 'd'), range);
  await invalid(find('h1 = :a AND h2 = :b AND begins_with(r1, :c) AND r2 > :d', 'a', 'b', 'c', 'd'), range);
});
