// Lists of scalars in the console's forms: a field for each element, which are added, moved and removed.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startConsole, until } from './harness.mjs';
import { loadModule } from './modules.mjs';

const file = join(dirname(fileURLToPath(import.meta.url)), '..', 'designs', 'structures', 'lists.yaml');
const app = await startConsole({ designs: [file], demo: false, tolerate: [/status of 4\d\d/] });
after(() => app.close());
const { page, ddb } = app;

const key = { PK: { S: 'NOTE#one' }, SK: { S: 'NOTE' } };
const get = async () => (await ddb.getItem({ TableName: 'lists', Key: key, ConsistentRead: true })).Item;
const put = (more) => ddb.putItem({ TableName: 'lists', Item: { ...key, note: { S: 'one' }, ...more } });
const open = () => app.open('#/table/lists/item?pk=NOTE%23one&sk=NOTE');
const button = (name) => page.getByRole('button', { name, exact: true });
const input = (path) => page.getByLabel(path, { exact: true });
const remove = (path) => button(`Remove ${path}`);
const strings = (...list) => ({ L: list.map((S) => ({ S })) });
const focused = (name) => until(`${name} has the focus`, async () => (await page.evaluate(() => document.activeElement.getAttribute('aria-label'))) === name);
async function save() {
  await button('Save by the rules').click();
  await app.expectText('Saved by the rules.');
}

test('what the elements are comes from the type, also inside structures', async () => {
  const { withElements } = await loadModule('lib/entity-form.ts');
  const of = (type, more) => ({ name: 'x', type, flags: ['required'], line: 1, ...more });
  const each = (type, more) => withElements(of(type, more)).each;
  assert.equal(each('list of string').type, 'string');
  assert.equal(each('set of number').type, 'number');
  assert.equal(each('list of timestamp ms').type, 'timestamp ms');
  assert.deepEqual(each('list of choice', { choices: ['a', 'b'] }).choices, ['a', 'b']);
  assert.equal(withElements(of('list of choice', { choices: ['a'] })).choices, undefined);
  for (const type of ['list', 'map', 'set', 'list of map', 'string', 'listing of string']) assert.equal(each(type), undefined, type);
  const line = of('Line', { members: [of('list of integer')] });
  assert.equal(withElements(of('list of Line', { each: line })).each.members[0].each.type, 'integer');
});

test('elements are added, changed, moved and removed', async () => {
  await put({ tags: strings('a', 'b', 'c') });
  await open();
  assert.equal(await input('tags[1]').inputValue(), 'b');
  await button('Move tags[2] up').click();
  assert.equal(await input('tags[1]').inputValue(), 'c');
  // What was moved has the focus still, on what can be pressed.
  await focused('Move tags[1] up');
  await page.keyboard.press('Enter');
  await focused('Move tags[0] down');
  assert.equal(await input('tags[0]').inputValue(), 'c');
  assert.ok(await button('Move tags[0] up').isDisabled());
  assert.ok(await button('Move tags[2] down').isDisabled());
  await remove('tags[1]').click();
  await button('Add to tags').click();
  await focused('tags[2]');
  await page.keyboard.type('New');
  await save();
  assert.deepEqual((await get()).tags, strings('c', 'b', 'new'));
  await app.expectReadable();
});

test('numbers, words, texts and sets have fields of their own', async () => {
  await put({ seen: { SS: ['x', 'y'] } });
  await open();
  await button('Add marks').click();
  await button('Add to marks').click();
  await input('marks[0]').fill('12');
  await button('Add to marks').click();
  await input('marks[1]').fill('9007199254740993');
  await button('Add moods').click();
  await button('Add to moods').click();
  await input('moods[0]').selectOption('sad');
  await button('Add lines').click();
  await button('Add to lines').click();
  await input('lines[0]').fill('one\ntwo');
  await remove('seen[0]').click();
  await button('Add to seen').click();
  await input('seen[1]').fill('z');
  assert.equal(await button('Move seen[0] down').count(), 0, 'a set has no order');
  await save();
  const item = await get();
  assert.deepEqual(item.marks, { L: [{ N: '12' }, { N: '9007199254740993' }] });
  assert.deepEqual(item.moods, strings('sad'));
  assert.deepEqual(item.lines, strings('one\ntwo'));
  assert.deepEqual(item.seen.SS.sort(), ['y', 'z']);
  // Numbers that a browser cannot hold stay as they are when something else is changed.
  await open();
  await input('marks[0]').fill('13');
  await save();
  assert.deepEqual((await get()).marks, { L: [{ N: '13' }, { N: '9007199254740993' }] });
});

test('what the server refuses is said at its element; a list may become empty, or absent', async () => {
  await put({ codes: strings('a', 'b'), marks: { L: [{ N: '1' }] }, tags: strings('x') });
  await open();
  await input('codes[1]').fill('B2');
  await input('marks[0]').fill('many');
  await button('Save by the rules').click();
  await page.getByText('a text that matches [a-z]+', { exact: true }).waitFor();
  await page.getByText('a whole number', { exact: true }).waitFor();
  await input('codes[1]').fill('bb');
  await input('marks[0]').fill('2');
  await remove('tags[0]').click();
  await save();
  let item = await get();
  assert.deepEqual([item.codes, item.marks, item.tags], [strings('a', 'bb'), { L: [{ N: '2' }] }, { L: [] }]);
  await open();
  await page.getByTitle('Remove codes', { exact: true }).click();
  await save();
  await until('it is gone', async () => !(item = await get()).codes);
});
