// References in forms: a link to the item that a field names, or that there is none. SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startConsole, until } from './harness.mjs';

const file = join(dirname(fileURLToPath(import.meta.url)), '..', 'designs', 'references', 'papers.yaml');
const app = await startConsole({ designs: [file], demo: false, tolerate: [/status of 4\d\d/] });
after(() => app.close());
const { page, ddb } = app;

const put = (PK, SK, more) => ddb.putItem({ TableName: 'Papers', Item: { PK: { S: PK }, SK: { S: SK }, ...more } });
const field = (name) => page.locator('.rule-field', { has: page.locator('.field-label code', { hasText: new RegExp(`^${name}$`) }) });
const named = async (name) => ((await field(name).locator('.rule-named').count()) ? field(name).locator('.rule-named').innerText() : '');

await put('PERSON#bob', 'PERSON', { person: { S: 'bob' }, papers: { N: '0' } });
await put('TEAM#red', 'TEAM', { team: { S: 'red' } });
await put('TEAM#red', 'FOLDER#old', { team: { S: 'red' }, folder: { S: 'old' } });
await put('TAG#ink', 'TAG', { tag: { S: 'ink' } });
await put('PAPER#p_1', 'PAPER', {
  paper: { S: 'p_1' }, author: { S: 'bob' }, team: { S: 'red' }, folder: { S: 'old' }, tags: { L: [{ S: 'ink' }, { S: 'gone' }] },
  touched_at: { S: '2026-01-01T00:00:00.000Z' },
});

test('a form says what its references name, and whether it is there', async () => {
  await app.open('#/table/Papers/item?pk=PAPER%23p_1&sk=PAPER');
  await until('the author', async () => (await named('author')) === 'Person bob');
  await until('the folder, of two values', async () => (await named('folder')) === 'Folder red/old');
  await until('the tags', async () => (await named('tags')) === 'Tag ink, there is no Tag gone');
  await field('tags').getByRole('button', { name: 'Add to tags' }).click();
  await field('tags').getByLabel('tags[2]', { exact: true }).fill('ink2');
  await until('a new tag, which is not there', async () => (await named('tags')) === 'Tag ink, there is no Tag gone, there is no Tag ink2');
  assert.equal(await named('reviewer'), '');
  await field('reviewer').locator('input').fill(' ZOE');
  await until('that nobody is there', async () => (await named('reviewer')) === 'there is no Person zoe');
  await field('reviewer').locator('input').fill('Bob');
  await until('the reviewer', async () => (await named('reviewer')) === 'Person bob');
  await field('reviewer').getByRole('link', { name: 'Person bob' }).click();
  await until('the person', async () => page.url().includes('pk=PERSON%23bob'));
});
