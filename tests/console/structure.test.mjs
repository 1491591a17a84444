// Structured values in the console: rows of lists, named entries of maps and their members as fields.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startConsole, until } from './harness.mjs';
import { loadModule } from './modules.mjs';

const file = join(dirname(fileURLToPath(import.meta.url)), '..', 'designs', 'structures', 'orders.yaml');
const app = await startConsole({ designs: [file], demo: false, tolerate: [/status of 4\d\d/] });
after(() => app.close());
const { page, ddb } = app;

const key = (PK, SK) => ({ PK: { S: PK }, SK: { S: SK } });
const get = async (PK, SK) => (await ddb.getItem({ TableName: 'orders', Key: key(PK, SK), ConsistentRead: true })).Item;
const address = (pk, sk) => `#/table/orders/item?pk=${encodeURIComponent(pk)}&sk=${encodeURIComponent(sk)}`;
const button = (name) => page.getByRole('button', { name, exact: true });
const input = (path) => page.getByLabel(path, { exact: true });
const part = (path) => page.getByRole('group', { name: path, exact: true });

async function put(PK, SK, more) {
  await ddb.putItem({ TableName: 'orders', Item: { ...key(PK, SK), ...more } });
}
await put('CUSTOMER#ann', 'CUSTOMER', {
  name: { S: 'ann' },
  addresses: { M: { home: { M: { street: { S: 'Main 1' }, zip: { S: '12345' }, country: { S: 'se' }, city: { S: 'lund' } } }, old: { M: { street: { S: 'Old 1' }, zip: { S: '54321' }, country: { S: 'se' } } } } },
});
await put('ORDER#one', 'ORDER', {
  id: { S: 'one' }, buyer: { S: 'nobody' }, limit: { N: '100000' }, GSI1PK: { S: 'BUYER#nobody' }, GSI1SK: { S: 'A#one' },
  lines: { L: [{ M: { sku: { S: 'A' }, quantity: { N: '2' }, price: { N: '1.5' } } }] },
});

test('typed texts become numbers where the type says so, and a patch removes what is gone', async () => {
  const { typed, patchOf } = await loadModule('lib/entity-form.ts');
  const line = { name: '', type: 'Line', flags: [], line: 1, members: [{ name: 'n', type: 'integer', flags: [], line: 1 }, { name: 'b', type: 'boolean', flags: [], line: 1 }] };
  const lines = { name: 'lines', type: 'list of Line', flags: [], line: 1, each: line };
  assert.deepEqual(typed(lines, [{ n: '12', b: 'true', x: '1' }, { n: 'many' }]), [{ n: 12, b: true, x: '1' }, { n: 'many' }]);
  assert.deepEqual(patchOf({ a: { x: 1, y: 2 }, b: 1 }, { a: { x: 3 } }), { a: { x: 3, y: null }, b: null });
  assert.deepEqual(patchOf({ a: [1] }, { a: [2] }), { a: [2] });
});

test('members of a map are fields, and its entries are added, renamed and removed', async () => {
  await app.open(address('CUSTOMER#ann', 'CUSTOMER'));
  await input('addresses.home.zip').fill('22222');
  await input('addresses.home.city').fill('');
  await part('addresses.old').getByRole('button', { name: 'Remove', exact: true }).click();
  await button('Add to addresses').click();
  await input('Name of addresses.new').fill('work');
  await input('addresses.work.street').fill('Work 1');
  await input('addresses.work.zip').fill('x');
  await button('Add addresses.work.geo').click();
  await input('addresses.work.geo.lat').fill('1.50');
  await input('addresses.work.geo.lon').fill('2');
  await button('Save by the rules').click();
  await page.getByText('a text that matches [0-9]{5}', { exact: true }).waitFor();
  await input('addresses.work.zip').fill('33333');
  await button('Save by the rules').click();
  await app.expectText('Saved by the rules.');
  const { addresses } = await get('CUSTOMER#ann', 'CUSTOMER');
  assert.deepEqual(Object.keys(addresses.M).sort(), ['home', 'work']);
  assert.deepEqual(addresses.M.home.M, { street: { S: 'Main 1' }, zip: { S: '22222' }, country: { S: 'se' } });
  assert.deepEqual(addresses.M.work.M, { street: { S: 'Work 1' }, zip: { S: '33333' }, country: { S: 'se' }, geo: { M: { lat: { N: '1.5' }, lon: { N: '2' } } } });
});

test('rows of a list are added and removed, each member with its type', async () => {
  await app.open(address('ORDER#one', 'ORDER'));
  await button('Add to lines').click();
  await input('lines[1].sku').fill('B');
  await input('lines[1].quantity').fill('3');
  await input('lines[1].price').fill('0.25');
  await button('Save by the rules').click();
  await app.expectText('Saved by the rules.');
  assert.deepEqual((await get('ORDER#one', 'ORDER')).lines.L[1].M, { sku: { S: 'B' }, quantity: { N: '3' }, price: { N: '0.25' } });
  await part('lines[0]').getByRole('button', { name: 'Remove', exact: true }).click();
  await input('lines[0].quantity').fill('x');
  await button('Save by the rules').click();
  await page.getByText('a whole number', { exact: true }).waitFor();
  await input('lines[0].quantity').fill('4');
  await button('Save by the rules').click();
  await until('it is saved', async () => (await get('ORDER#one', 'ORDER')).lines.L.length === 1);
  const item = await get('ORDER#one', 'ORDER');
  assert.deepEqual(item.lines.L, [{ M: { sku: { S: 'B' }, quantity: { N: '4' }, price: { N: '0.25' } } }]);
  assert.equal(item.total.N, '1');
});
