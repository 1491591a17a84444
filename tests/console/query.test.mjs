// The query builder: the request it makes, what it brings, and the address that keeps it.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { PHONE, startConsole, until } from './harness.mjs';

const app = await startConsole({ designs: ['social'], tolerate: [/status of 4\d\d/] });
after(() => app.close());
const { page, ddb } = app;

await ddb.createTable({
  TableName: 'readings', BillingMode: 'PAY_PER_REQUEST',
  KeySchema: [{ AttributeName: 'sensor', KeyType: 'HASH' }, { AttributeName: 'at', KeyType: 'RANGE' }],
  AttributeDefinitions: [{ AttributeName: 'sensor', AttributeType: 'S' }, { AttributeName: 'at', AttributeType: 'N' }, { AttributeName: 'kind', AttributeType: 'S' }],
  GlobalSecondaryIndexes: [{ IndexName: 'byKind', KeySchema: [{ AttributeName: 'kind', KeyType: 'HASH' }], Projection: { ProjectionType: 'ALL' } }],
});
const items = Array.from({ length: 30 }, (_, i) => ({
  sensor: { S: 's1' }, at: { N: String(i) }, value: { N: String(i * 1.5) }, label: { S: `reading ${i}` }, ok: { BOOL: i % 2 === 0 }, tags: { SS: [`t${i % 3}`, 'all'] },
  ...(i % 10 === 0 ? { kind: { S: 'full' }, note: { NULL: true } } : {}), deep: { M: { 'a-b': { L: [{ N: String(i) }] } } },
}));
for (const Item of items) await ddb.putItem({ TableName: 'readings', Item });

const label = (name) => page.getByLabel(name, { exact: true });
const shownRequest = async () => JSON.parse(await page.getByRole('region', { name: 'The request' }).locator('pre').innerText());
const result = () => page.getByRole('region', { name: 'Result' });
const run = async () => page.getByRole('button', { name: 'Run', exact: true }).click();
const summary = async (pattern) => until(`a result like ${pattern}`, async () => pattern.test(await result().getByRole('status').innerText().catch(() => '')));
const cells = async (name) => {
  const at = (await result().locator('thead th').allInnerTexts()).indexOf(name);
  return result().locator(`tbody td:nth-child(${at + 1})`).allInnerTexts();
};

async function filter(attribute, operator, value, type) {
  await page.getByRole('button', { name: 'Add a filter' }).click();
  await label('Filter attribute').last().fill(attribute);
  await label('Filter operator').last().selectOption(operator);
  if (type) await label('Value type').last().selectOption(type);
  if (value !== undefined) {
    const field = operator === 'type is' ? label('Attribute type').last() : label('Filter value').last();
    await (type === 'BOOL' || operator === 'type is' ? field.selectOption(value) : field.fill(value));
  }
}

test('the request is there while it is put together, and is what is run', async () => {
  await app.open('#/table/readings/query');
  await label('Partition key value').fill('s1');
  await label('Sort key condition').selectOption('between');
  await label('Sort key value').fill('5');
  await label('Sort key upper value').fill('9');
  assert.deepEqual(await shownRequest(), {
    TableName: 'readings', KeyConditionExpression: '#n0 = :v0 AND #n1 BETWEEN :v1 AND :v2', ExpressionAttributeNames: { '#n0': 'sensor', '#n1': 'at' },
    ExpressionAttributeValues: { ':v0': { S: 's1' }, ':v1': { N: '5' }, ':v2': { N: '9' } }, Limit: 50,
  });
  await run();
  await summary(/5 items of 5 read/);
  assert.deepEqual(await cells('at'), ['5', '6', '7', '8', '9']);
  await result().locator('.units', { hasText: 'RCU' }).waitFor();
});

test('what is typed is read as the key’s type, and refused when it is none', async () => {
  await app.open('#/table/readings/query?pk=s1&sort=%3D&sk=seven');
  await run();
  await app.expectText('this is not a number');
  assert.equal(await result().count(), 0);
  await label('Sort key value').fill('7');
  await run();
  await summary(/1 item of 1 read/);
});

test('the address keeps the query', async () => {
  await app.open('#/table/readings/query');
  await label('Partition key value').fill('s1');
  await label('Sort key condition').selectOption('>');
  await label('Sort key value').fill('27');
  await page.getByLabel('descending').check();
  await filter('ok', '=', 'true', 'BOOL');
  const kept = page.url();
  const request = await shownRequest();
  await app.open('#/');
  await page.goto(kept);
  await page.reload();
  await page.getByRole('button', { name: 'Run', exact: true }).waitFor();
  assert.deepEqual(await shownRequest(), request);
  await page.locator('main').focus();
  await page.keyboard.press('Control+Enter');
  await summary(/1 item of 2 read/);
});

test('every filter means what DynamoDB means', async () => {
  for (const [attribute, operator, value, type, expected] of [
    ['label', 'begins_with', 'reading 2', 'S', 11], ['label', 'contains', '9', 'S', 3], ['label', 'not contains', 'reading', 'S', 0], ['value', 'between', '3', 'N', 3],
    ['at', 'exists', undefined, undefined, 30], ['note', 'exists', undefined, undefined, 3], ['note', 'not exists', undefined, undefined, 27], ['note', 'type is', 'NULL', undefined, 3],
    ['label', 'in', 'reading 1, reading 2, nothing', 'S', 2], ['label', 'size =', '10', undefined, 20], ['deep.a-b[0]', '>=', '28', 'N', 2], ['tags', 'contains', 't1', 'S', 10],
    ['ok', '<>', 'true', 'BOOL', 15],
  ]) {
    await app.open('#/table/readings/query?op=Scan&limit=100');
    await page.reload();
    await filter(attribute, operator, value, type);
    if (operator === 'between') await label('Filter upper value').fill('6');
    await run();
    await summary(new RegExp(`^${expected} items? of 30 read`));
  }
});

test('a projection brings those attributes alone', async () => {
  await app.open('#/table/readings/query?pk=s1&show=label,%20value&limit=3');
  await run();
  await summary(/3 items/);
  assert.deepEqual((await result().locator('thead th').allInnerTexts()).slice(1), ['label', 'value']);
});

test('pages follow one another', async () => {
  await app.open('#/table/readings/query?pk=s1&limit=12');
  await run();
  await summary(/12 items of 12 read, 1 page/);
  await page.getByRole('button', { name: 'Next page' }).click();
  await summary(/24 items of 24 read, 2 pages/);
  await page.getByRole('button', { name: 'Next page' }).click();
  await summary(/30 items of 30 read, 3 pages/);
  await result().getByText('That was all.').waitFor();
  assert.deepEqual(await cells('at'), items.map((item) => item.at.N));
});

test('a filter reads on until it has found a page full, two hundred pages at most, and stops when told', async () => {
  await ddb.createTable({ TableName: 'hay', BillingMode: 'PAY_PER_REQUEST', KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
    AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'N' }] });
  const put = (first) => ddb.batchWriteItem({ RequestItems: { hay: Array.from({ length: 25 }, (_, i) => (
    { PutRequest: { Item: { id: { N: String(first + i) }, kind: { S: (first + i) % 50 ? 'hay' : 'needle' } } } })) } });
  await Promise.all(Array.from({ length: 10 }, (_, i) => put(i * 25)));
  await app.open('#/table/hay/query?op=Scan&limit=1');
  await filter('kind', '=', 'nothing');
  await run();
  await summary(/0 items of 200 read, 200 pages/);
  await page.getByRole('button', { name: 'Keep looking' }).click();
  await summary(/0 items of 250 read/);
  await result().getByText('Nothing was found').waitFor();

  await label('Filter value').fill('needle');
  await run();
  await summary(/^1 item of \d+ read/);

  await label('Filter value').fill('nothing');
  let release;
  const held = new Promise((resolve) => { release = resolve; });
  let asked = 0;
  await page.route((url) => url.pathname === '/', async (route) => { if (++asked > 5) await held; await route.continue(); });
  await run();
  await summary(/0 items of 5 read/);
  await result().getByRole('button', { name: 'Stop' }).click();
  await page.getByRole('button', { name: 'Keep looking' }).waitFor();
  release();
  await page.unrouteAll({ behavior: 'wait' });
  await summary(/0 items of 5 read, 5 pages/);
  assert.equal(asked, 6, 'nothing was asked for after the stop');
});

test('a dot is part of the name of a key, and of what stands in quotes', async () => {
  await ddb.createTable({ TableName: 'dotted', BillingMode: 'PAY_PER_REQUEST', KeySchema: [{ AttributeName: 'the.id', KeyType: 'HASH' }],
    AttributeDefinitions: [{ AttributeName: 'the.id', AttributeType: 'S' }] });
  await ddb.putItem({ TableName: 'dotted', Item: { 'the.id': { S: 'a' }, 'x.y': { L: [{ S: 'in' }] }, x: { M: { y: { S: 'out' } } } } });
  await app.open('#/table/dotted/query?pk=a');
  await run();
  await summary(/1 item of 1 read/);
  await filter('"x.y"[0]', '=', 'in');
  await run();
  await summary(/1 item of 1 read/);
  await filter('x.y', '=', 'out');
  await run();
  await summary(/1 item of 1 read/);
});

test('an index has its own keys, and no consistent reads', async () => {
  await app.open('#/table/readings/query');
  await page.getByLabel('consistent read').check();
  assert.equal((await shownRequest()).ConsistentRead, true);
  await label('Table or index').selectOption('byKind');
  assert.equal(await page.getByLabel('consistent read').count(), 0);
  assert.equal((await shownRequest()).ConsistentRead, undefined);
  await label('Partition key value').fill('full');
  assert.equal(await label('Sort key condition').count(), 0, 'this index has no sort key');
  await run();
  await summary(/3 items of 3 read/);
});

test('items of a design are named, and open', async () => {
  await app.open('#/table/SocialMediaApp/query?pk=USER%23alice&sort=%3D&sk=PROFILE');
  await run();
  await summary(/1 item of 1/);
  await result().getByRole('link', { name: 'Open the item' }).click();
  await app.expectHash(/item\?pk=USER%23alice&sk=PROFILE/);
});

test('the request is copied as something that runs', async () => {
  await app.open('#/table/readings/query?pk=s1&limit=1');
  const request = page.getByRole('region', { name: 'The request' });
  for (const [tab, pattern] of [['curl', /curl[\s\S]*DynamoDB_20120810\.Query/], ['aws cli', /aws dynamodb query/], ['JavaScript', /QueryCommand/], ['Python', /\.query\(/]]) {
    await request.getByRole('tab', { name: tab }).click();
    await request.getByRole('button', { name: 'Copy' }).click();
    await until(`${tab} in the clipboard`, async () => pattern.test(await app.clipboard()));
  }
});

test('what the server refuses is shown in its words', async () => {
  await app.open('#/table/readings/query?pk=s1&filters=%5B%7B%22attribute%22%3A%22sensor%22%2C%22operator%22%3A%22%3D%22%2C%22type%22%3A%22S%22%2C%22value%22%3A%22x%22%7D%5D');
  await run();
  await page.getByRole('alert').filter({ hasText: 'ValidationException' }).waitFor();
});

test('on a phone it is one column', async () => {
  const phone = await app.newPage({ viewport: PHONE });
  await phone.open('#/table/SocialMediaApp/query?pk=USER%23alice');
  await phone.page.getByRole('button', { name: 'Run', exact: true }).click();
  await phone.page.getByRole('region', { name: 'Result' }).waitFor();
  await phone.expectNoSideways();
});
