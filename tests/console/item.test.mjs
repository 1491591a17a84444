// One item: looked at, changed and deleted, through the design's rules and as it is in the table.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { startConsole, until } from './harness.mjs';
import { loadModule } from './modules.mjs';

// What the server refuses is part of these tests; the browser writes each refusal to its console.
const app = await startConsole({ designs: ['social', 'blog', 'wavyblog'], tolerate: [/status of 4\d\d/] });
after(() => app.close());
const { page, ddb } = app;

const SOCIAL = 'SocialMediaApp';
const key = (PK, SK) => ({ PK: { S: PK }, SK: { S: SK } });
const get = async (PK, SK, TableName = SOCIAL) => (await ddb.getItem({ TableName, Key: key(PK, SK), ConsistentRead: true })).Item;
const address = (table, pk, sk, more = '') => `#/table/${table}/item?pk=${encodeURIComponent(pk)}&sk=${encodeURIComponent(sk)}${more}`;
const editor = () => page.getByLabel('Item as JSON');
const edited = async (change) => editor().fill(await change(await editor().inputValue()));
const button = (name) => page.getByRole('button', { name, exact: true });
const field = (name) => page.locator('.rule-field', { has: page.locator('.field-label code', { hasText: new RegExp(`^${name}$`) }) });

async function plainTable(TableName) {
  await ddb.createTable({
    TableName, BillingMode: 'PAY_PER_REQUEST', KeySchema: [{ AttributeName: 'PK', KeyType: 'HASH' }, { AttributeName: 'SK', KeyType: 'RANGE' }],
    AttributeDefinitions: ['PK', 'SK'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
  });
}
await plainTable('notes');

// ---------------------------------------------------------------- values

test('between plain and DynamoDB JSON nothing is lost', async () => {
  const { formatItem, parseItem } = await loadModule('lib/values.ts');
  const item = {
    digits: { N: '12345678901234567890123456789012345678' }, small: { N: '1E-130' }, whole: { N: '3' }, text: { S: 'a "b" \\ \u{1F600}\n' }, none: { NULL: true },
    yes: { BOOL: true }, bytes: { B: 'AAEC/w==' }, names: { SS: ['a', 'b'] }, numbers: { NS: ['1', '0.1234567890123456789012345678901234567'] }, blobs: { BS: ['AA==', 'AQ=='] },
    list: { L: [{ N: '1' }, { M: { x: { L: [] } } }] }, map: { M: {} }, trap: { M: { $set: { L: [{ S: 'not a set' }] } } }, __proto__x: { S: 'p' },
  };
  for (const form of ['plain', 'dynamo']) assert.deepEqual(parseItem(formatItem(item, form), form), item, form);
  const odd = parseItem('{"__proto__": {"S": "own"}}', 'dynamo');
  assert.deepEqual(Object.keys(odd), ['__proto__']);
});

test('what is no JSON, or no item, is said with its place', async () => {
  const { parseItem } = await loadModule('lib/values.ts');
  const wrong = (text, form, message) => assert.throws(() => parseItem(text, form), (error) => message.test(error.message), text);
  wrong('{"a": 1,\n "b" 2}', 'plain', /Line 2, column 6.*:/);
  wrong('{"a": 1, "a": 2}', 'plain', /"a" is there twice/);
  wrong('[1]', 'plain', /object/);
  wrong('{"a": {"$set": []}}', 'plain', /a: a set has at least one member/);
  wrong('{"a": {"$set": [1, "x"]}}', 'plain', /all strings, all numbers/);
  wrong('{"a": "x"}', 'dynamo', /a: one of S, N/);
  wrong('{"a": {"L": [{"N": true}]}}', 'dynamo', /a\[0\]: this is not a number/);
  wrong('{"a": 01}', 'plain', /Line 1/);
  wrong('{"a": 1} x', 'plain', /ended before/);
});

// ---------------------------------------------------------------- raw

test('a number of 38 digits survives an edit beside it', async () => {
  const digits = '12345678901234567890123456789012345678';
  await ddb.putItem({ TableName: 'notes', Item: { ...key('a', '1'), n: { N: digits }, set: { NS: ['1', '2'] }, b: { B: Buffer.from([0, 1, 255]) }, note: { S: 'before' } } });
  await app.open(address('notes', 'a', '1'));
  await edited((text) => text.replace('"before"', '"after"'));
  await page.getByRole('tab', { name: 'DynamoDB JSON' }).click();
  assert.match(await editor().inputValue(), new RegExp(`"N": "${digits}"`));
  assert.match(await editor().inputValue(), /"S": "after"/, 'what was typed came along');
  await page.getByRole('tab', { name: 'Plain JSON' }).click();
  await button('Save the raw item').click();
  await page.locator('.toast', { hasText: 'Saved.' }).waitFor();
  const item = await get('a', '1', 'notes');
  assert.deepEqual({ n: item.n, note: item.note, set: new Set(item.set.NS), b: [...item.b.B] }, { n: { N: digits }, note: { S: 'after' }, set: new Set(['1', '2']), b: [0, 1, 255] });
});

test('bad JSON is refused where it is, and nothing is written', async () => {
  await ddb.putItem({ TableName: 'notes', Item: { ...key('a', 'bad'), v: { N: '1' } } });
  await app.open(address('notes', 'a', 'bad'));
  await editor().fill('{\n  "PK": "a",\n  "SK": "bad",\n  "v": tru\n}');
  await page.getByText(/Line 4, column 8/).waitFor();
  assert.ok(await button('Save the raw item').isDisabled());
  await page.getByRole('tab', { name: 'DynamoDB JSON' }).click();
  assert.match(await editor().inputValue(), /tru/, 'it stays as it was typed');
  await button('Discard changes').click();
  assert.deepEqual((await get('a', 'bad', 'notes')).v, { N: '1' });
});

test('a concurrent change is not overwritten, unless one insists', async () => {
  await ddb.putItem({ TableName: 'notes', Item: { ...key('a', 'both'), v: { S: 'first' } } });
  await app.open(address('notes', 'a', 'both'));
  await edited((text) => text.replace('"first"', '"mine"'));
  await ddb.putItem({ TableName: 'notes', Item: { ...key('a', 'both'), v: { S: 'theirs' }, extra: { BOOL: true } } });
  await button('Save the raw item').click();
  const conflict = page.getByRole('alert').filter({ hasText: 'This item has changed' });
  await conflict.waitFor();
  assert.match(await conflict.innerText(), /theirs[\s\S]*mine/);
  assert.equal((await get('a', 'both', 'notes')).v.S, 'theirs');
  await conflict.getByRole('button', { name: 'Load the current version' }).click();
  await until('theirs is shown', async () => /"theirs"/.test(await editor().inputValue()));
  await edited((text) => text.replace('"theirs"', '"mine after all"'));
  await ddb.updateItem({ TableName: 'notes', Key: key('a', 'both'), UpdateExpression: 'SET v = :v', ExpressionAttributeValues: { ':v': { S: 'again' } } });
  await button('Save the raw item').click();
  await button('Overwrite it with mine').click();
  await until('mine is there', async () => (await get('a', 'both', 'notes')).v.S === 'mine after all');
});

test('a concurrently added attribute is detected, too', async () => {
  await ddb.putItem({ TableName: 'notes', Item: { ...key('a', 'added'), v: { S: 'x' } } });
  await app.open(address('notes', 'a', 'added'));
  await edited((text) => text.replace('"x"', '"y"'));
  await ddb.updateItem({ TableName: 'notes', Key: key('a', 'added'), UpdateExpression: 'SET w = :w', ExpressionAttributeValues: { ':w': { S: 'new' } } });
  await button('Save the raw item').click();
  await app.expectText('This item has changed');
  assert.equal((await get('a', 'added', 'notes')).w.S, 'new');
  await button('Load the current version').click();
});

test('unsaved changes are still there after a look elsewhere', async () => {
  await ddb.putItem({ TableName: 'notes', Item: { ...key('a', 'draft'), v: { S: 'x' } } });
  await app.open(address('notes', 'a', 'draft'));
  await edited((text) => text.replace('"x"', '"half written"'));
  await app.open('#/table/notes');
  await page.locator('tr[data-row]').first().waitFor();
  await app.open(address('notes', 'a', 'draft'));
  await app.expectText('These are changes you had not saved.');
  assert.match(await editor().inputValue(), /half written/);
  await button('Discard them').click();
  await until('as it is', async () => /"x"/.test(await editor().inputValue()));
});

test('a new item does not replace one of the same key', async () => {
  await app.open('#/table/notes/item?new=1');
  await editor().fill('{"PK": "new", "SK": "1", "v": {"$set": ["a"]}}');
  await button('Put the item').click();
  await app.expectHash(/item\?pk=new&sk=1/);
  assert.deepEqual((await get('new', '1', 'notes')).v, { SS: ['a'] });
  await app.open('#/table/notes/item?new=1');
  await editor().fill('{"PK": "new", "SK": "1", "v": 2}');
  await button('Put the item').click();
  await app.expectText('There is an item of this key already.');
  assert.deepEqual((await get('new', '1', 'notes')).v, { SS: ['a'] });
});

test('a raw item is deleted only as it was loaded', async () => {
  await ddb.putItem({ TableName: 'notes', Item: { ...key('a', 'gone'), v: { S: 'x' } } });
  await app.open(address('notes', 'a', 'gone'));
  await editor().waitFor();
  await ddb.putItem({ TableName: 'notes', Item: { ...key('a', 'gone'), v: { S: 'newer' } } });
  await button('Delete the raw item').click();
  await button('Delete').click();
  await app.expectText('This item has changed');
  assert.equal((await get('a', 'gone', 'notes')).v.S, 'newer');
  await button('Load the current version').click();
  await until('the newer one', async () => /"newer"/.test(await editor().inputValue()));
  await button('Delete the raw item').click();
  await button('Delete').click();
  await app.expectHash(/^#\/table\/notes\?pk=a/);
  assert.equal(await get('a', 'gone', 'notes'), undefined);
});

// ---------------------------------------------------------------- by the rules

test('an edit by the rules keeps what follows from it', async () => {
  await app.open(address(SOCIAL, 'USER#bob', 'PROFILE'));
  await page.getByRole('tab', { name: 'Through the design’s rules', selected: true }).waitFor();
  await field('email').locator('input').fill('bob@new.example');
  await button('Save by the rules').click();
  await app.expectText('Saved by the rules.');
  assert.equal((await get('USER#bob', 'PROFILE')).email.S, 'bob@new.example');
  assert.ok(await get('EMAIL#bob@new.example', 'EMAIL#bob@new.example'), 'the guard has moved');
  assert.equal(await get('EMAIL#bob@example.com', 'EMAIL#bob@example.com'), undefined);
  assert.ok(await field('followers_count').locator('input').evaluate((input) => input.readOnly), 'what is counted cannot be typed');
});

test('what the rules refuse is said at its field', async () => {
  await app.open(address(SOCIAL, 'USER#carol', 'PROFILE'));
  await field('email').locator('input').fill('x');
  await button('Save by the rules').click();
  await field('email').getByText('between 3 and 254').waitFor();
  await field('email').locator('input').fill('alice@example.com');
  await button('Save by the rules').click();
  await field('email').getByRole('alert').filter({ hasText: /taken|exists|already|other/i }).waitFor();
  assert.equal((await get('USER#carol', 'PROFILE')).email.S, 'carol@example.com');
  await button('Discard changes').click();
});

test('an edit by the rules detects a concurrent change', async () => {
  await app.open(address(SOCIAL, 'USER#dave', 'PROFILE'));
  await field('bio').locator('textarea').fill('my bio');
  await ddb.updateItem({ TableName: SOCIAL, Key: key('USER#dave', 'PROFILE'), UpdateExpression: 'SET bio = :b, updated_at = :t',
    ExpressionAttributeValues: { ':b': { S: 'another bio' }, ':t': { S: '2030-01-01T00:00:00Z' } } });
  await button('Save by the rules').click();
  await app.expectText('This User has changed');
  assert.equal((await get('USER#dave', 'PROFILE')).bio.S, 'another bio');
  await button('Load the current version, keep my input').click();
  await until('the rest is fresh', async () => (await field('updated_at').locator('input').inputValue()) === '2030-01-01T00:00:00Z');
  await button('Save by the rules').click();
  await until('mine is there', async () => (await get('USER#dave', 'PROFILE')).bio.S === 'my bio');
});

test('actions are buttons, and say when they cannot be', async () => {
  await app.open(address(SOCIAL, 'USER#frank', 'PROFILE'));
  await button('reinstate').click();
  await app.expectText('this account is not suspended');
  await button('suspend').click();
  await app.expectText('Done: suspend.');
  assert.equal((await get('USER#frank', 'PROFILE')).status.S, 'suspended');
});

test('an action with inputs asks for them', async () => {
  await app.open(address('WavyBlog', 'USER#maria', 'METADATA#maria'));
  await button('role').click();
  const dialog = page.getByRole('dialog', { name: 'User: role' });
  await dialog.getByRole('combobox').selectOption('admin');
  await dialog.getByRole('button', { name: 'role', exact: true }).click();
  await until('the role', async () => (await get('USER#maria', 'METADATA#maria', 'WavyBlog')).Role.S === 'admin');
});

test('deleting by the rules does what the design says', async () => {
  await app.open(address(SOCIAL, 'POST#p-first', 'METADATA'));
  await button('Delete').click();
  const dialog = page.getByRole('dialog');
  assert.match(await dialog.innerText(), /is_deleted/);
  await dialog.getByRole('button', { name: 'Delete', exact: true }).click();
  await until('a soft delete', async () => (await get('POST#p-first', 'METADATA')).is_deleted.BOOL === true);
});

test('the raw item of an entity comes with a warning', async () => {
  await app.open(address(SOCIAL, 'USER#alice', 'PROFILE'));
  await page.getByRole('tab', { name: 'Raw item' }).click();
  await app.expectText('past the rules of the design');
  await edited((text) => text.replace(/"followers_count": \d+/, '"followers_count": 77'));
  await button('Save the raw item').click();
  await until('it is written', async () => (await get('USER#alice', 'PROFILE')).followers_count.N === '77');
});

test('a companion says whose it is, and is not edited by rules of its own', async () => {
  await app.open(address(SOCIAL, 'USERNAME#alice', 'USERNAME#alice'));
  await app.expectText('This goes with a User');
  assert.equal(await page.getByRole('tab', { name: 'Through the design’s rules' }).count(), 0);
});

test('a new entity is made by the rules, its guards with it', async () => {
  await app.open(`#/table/${SOCIAL}/item?new=1&entity=User`);
  await field('user_id').locator('input').fill('zoe');
  await field('username').locator('input').fill('zoe');
  await button('Create by the rules').click();
  await field('email').getByRole('alert').waitFor();
  await field('email').locator('input').fill('zoe@example.com');
  await button('Create by the rules').click();
  const asked = field('password').locator('input');
  if (await asked.waitFor({ timeout: 3000 }).then(() => true, () => false)) {
    await asked.fill('wonderland');
    await button('Create by the rules').click();
  }
  await app.expectHash(/item\?pk=USER%23zoe&sk=PROFILE/);
  assert.ok(await get('USER#zoe', 'PROFILE'));
  assert.ok(await get('USERNAME#zoe', 'USERNAME#zoe'));
});

test('an item that is not there is said so', async () => {
  await app.open(address(SOCIAL, 'USER#nobody', 'PROFILE'));
  await app.expectText('There is no such item');
});
