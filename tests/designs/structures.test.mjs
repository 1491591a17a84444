// Structured values: orders with lines, customers with addresses.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { BIN, ROOT, freshDirectory, runToEnd, startDesign } from './harness.mjs';

const file = join(ROOT, 'tests', 'designs', 'structures', 'orders.yaml');
const app = await startDesign(file);
const ann = await app.as('ann', 'user');

const home = { street: 'Main 1', zip: '12345' };
const line = (sku, quantity, price) => ({ sku, quantity, price });
const errorsOf = ({ body }) => Object.fromEntries(body.errors.map(({ attribute, detail }) => [attribute, detail]));
const merge = { 'content-type': 'application/merge-patch+json' };
const mergePatch = (path, body, options = {}) => ann.patch(path, body, { headers: merge, ...options });

test('the reviewer has nothing to say', async () => {
  const { code, stdout } = await runToEnd(['check', file]);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /0 errors, 0 warnings/);
});

test('members are checked, normalised and completed like attributes', async () => {
  const { body } = await ann.put('/customers/members', {
    addresses: { home: { ...home, city: ' Lund ', since: '2026-01-01T10:00:00+02:00', note: null }, 'at work': { ...home, country: 'de' } },
    scores: { a: 1.5 },
    labels: { colour: 'red' },
    size: { width: 2, depth: [1, { unit: null }] },
  });
  assert.deepEqual(body.addresses, {
    home: { ...home, city: 'lund', country: 'se', since: '2026-01-01T08:00:00Z' },
    'at work': { ...home, country: 'de' },
  });
  assert.deepEqual(body.size, { width: 2, depth: [1, { unit: null }] });
  const order = (await ann.post('/orders', { lines: [{ sku: 'a', price: 2, tags: ['X', 'x', ' y'] }] })).body;
  assert.deepEqual(order.lines, [{ sku: 'a', quantity: 1, price: 2, tags: ['x', 'y'] }]);
});

test('all errors come at once, each with its path', async () => {
  const wrong = await ann.put('/customers/wrong', {
    addresses: { home, work: { street: '', zip: '1', geo: { lat: 100 }, cuntry: 'se', mail: 'nope' } },
    billing: 5,
    scores: { a: 'x' },
    labels: { colour: 'RED' },
    size: { width: 11 },
  }, { status: 422 });
  assert.deepEqual(errorsOf(wrong), {
    'addresses.work.street': 'between 1 and 100 characters',
    'addresses.work.zip': 'a text that matches [0-9]{5}',
    'addresses.work.geo.lat': 'between -90 and 90',
    'addresses.work.geo.lon': 'is required',
    'addresses.work.cuntry': "there is no such member; did you mean 'country'?",
    'addresses.work.mail': 'an e-mail address like ann@example.com',
    billing: 'an object',
    'scores.a': 'a number',
    'labels.colour': 'a text that matches [a-z]+',
    'size.width': 'between 0 and 10',
  });
  assert.deepEqual(errorsOf(await ann.post('/orders', { lines: [line('a', 1, 1), line('', 100, 'x'), { price: -1 }, 7] }, { status: 422 })), {
    'lines[1].sku': 'between 1 and 40 characters',
    'lines[1].quantity': 'between 1 and 99',
    'lines[1].price': 'a number',
    'lines[2].price': 'between 0 and 1000000',
    'lines[2].sku': 'is required',
    'lines[3]': 'an object',
  });
  await ann.post('/orders', { lines: [] }, { status: 422, detail: /lines: between 1 and 20 elements/ });
  await ann.post('/orders', { lines: Array.from({ length: 21 }, () => line('a', 1, 1)) }, { status: 422, detail: /lines: between 1 and 20 elements/ });
  await ann.put('/customers/wrong', { addresses: { a: home, b: home, c: home, d: home } }, { status: 422, detail: /addresses: at most 3 members/ });
  await ann.put('/customers/wrong', { addresses: { '': home } }, { status: 422, detail: /no empty names/ });
  const hostile = await ann.post('/orders', { lines: Array.from({ length: 20 }, () => Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`x${i}`, i]))) }, { status: 422 });
  assert.ok(hostile.body.errors.length < 60, 'not each of ten thousand errors is told');
});

test('a merge patch changes members, and the result must be right', async () => {
  await ann.put('/customers/patched', { addresses: { home: { ...home, city: 'lund', geo: { lat: 1, lon: 2 } } }, scores: { a: 1, b: 2 } });
  const { body } = await mergePatch('/customers/patched', {
    addresses: { home: { zip: '54321', city: null, geo: { lat: 7 } }, work: { street: 'B', zip: '11111' } },
    scores: { a: null, c: 3 },
  });
  assert.deepEqual(body.addresses, {
    home: { street: 'Main 1', zip: '54321', country: 'se', geo: { lat: 7, lon: 2 } },
    work: { street: 'B', zip: '11111', country: 'se' },
  });
  assert.deepEqual(body.scores, { b: 2, c: 3 });
  const wrong = await mergePatch('/customers/patched', {
    addresses: { home: { zip: null, geo: { lon: null } }, third: { street: 'C' } },
    billing: { country: 'de' },
  }, { status: 422 });
  assert.deepEqual(errorsOf(wrong), {
    'addresses.home.zip': 'is required',
    'addresses.home.geo.lon': 'is required',
    'addresses.third.zip': 'is required',
    'billing.street': 'is required',
    'billing.zip': 'is required',
  });
  assert.deepEqual(errorsOf(await mergePatch('/customers/patched', { addresses: { home: { zip: 'x', cty: 1 } } }, { status: 422 })), {
    'addresses.home.zip': 'a text that matches [0-9]{5}',
    'addresses.home.cty': "there is no such member; did you mean 'city'?",
  });
  await mergePatch('/customers/patched', { addresses: { a: home, b: home } }, { status: 422, detail: /addresses: at most 3 members/ });
  assert.deepEqual((await mergePatch('/customers/patched', { addresses: { home: { country: null, geo: null } } })).body.addresses.home,
    { street: 'Main 1', zip: '54321', country: 'se' }, 'a default comes back');
  assert.equal((await mergePatch('/customers/patched', { addresses: null })).body.addresses, undefined);
  const lines = (await ann.post('/orders', { lines: [line('a', 1, 1)] })).body;
  assert.deepEqual(errorsOf(await mergePatch(`/orders/${lines.id}`, { lines: [{ sku: 'b' }] }, { status: 422 })), { 'lines[0].price': 'is required' });
});

test('two clients that change different entries of one map lose nothing', async () => {
  await ann.put('/customers/both', {});
  for (let round = 0; round < 5; round++) {
    await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => mergePatch('/customers/both', { scores: { [name]: round } })));
    assert.deepEqual((await ann.get('/customers/both')).body.scores, { a: round, b: round, c: round, d: round, e: round });
  }
});

test('PATCH merges with either media type, and PUT replaces', async () => {
  const { etag } = await ann.put('/customers/plain', { addresses: { home, work: home } });
  const put = await ann.put('/customers/plain', { addresses: { home } }, { headers: { 'if-match': etag } });
  assert.deepEqual(put.body.addresses, { home: { ...home, country: 'se' } });
  const { body } = await ann.patch('/customers/plain', { addresses: { home: { street: 'X' } } });
  assert.deepEqual(body.addresses, { home: { ...home, street: 'X', country: 'se' } });
  const lost = await ann.put('/customers/plain', { addresses: { home: { country: 'de' } } }, { headers: { 'if-match': body && '"x"' }, status: 422 });
  assert.deepEqual(errorsOf(lost), { 'addresses.home.street': 'is required', 'addresses.home.zip': 'is required' });
});

test('paths into structures: keys, companions, derived attributes, filters and checks', async () => {
  const address = (street, zip, more = {}) => ({ street, zip, ...more });
  await ann.put('/customers/south', { billing: address('S 1', '20000', { city: 'ystad' }) });
  await ann.put('/customers/abroad', { billing: address('S 2', '20000', { country: 'de', city: 'Kiel' }) });
  await ann.put('/customers/away', { billing: address('S 3', '20000', { country: 'de', city: 'Ulm' }) });
  const zip = async (code) => (await ann.get(`/zips/${code}/customers`)).body.items.map(({ name }) => name).sort();
  assert.deepEqual(await zip('20000'), ['abroad', 'south']);
  await mergePatch('/customers/south', { billing: { zip: '21111' } });
  assert.deepEqual(await zip('20000'), ['abroad'], 'the key follows the member');
  assert.deepEqual(await zip('21111'), ['south']);
  await mergePatch('/customers/south', { billing: null });
  assert.deepEqual(await zip('21111'), []);

  const order = async (lines, more = {}) => (await ann.post('/orders', { buyer: 'eve', lines, ...more })).body;
  const a = await order([line('A1', 2, 10), line('B1', 1, 5)], { ship_to: address('N 1', '90000', { geo: { lat: 65, lon: 20 } }) });
  const b = await order([line('A2', 1, 1), line('A1', 60, 1)], { ship_to: address('S 1', '20000', { geo: { lat: 55, lon: 13 } }) });
  assert.deepEqual([a.first_sku, a.north, b.first_sku, b.north], ['A1', true, 'A2', false]);
  const ids = async (path) => (await ann.get(path)).body.items.map(({ id, order: of }) => id ?? of).sort();
  assert.deepEqual(await ids('/buyers/eve/orders?sku=A1'), [a.id, b.id].sort());
  assert.deepEqual(await ids('/buyers/eve/orders?sku=A2'), [b.id]);
  assert.deepEqual(await ids('/buyers/eve/orders-to/se'), [b.id]);
  assert.deepEqual(await ids('/skus/A1'), [a.id, b.id].sort());
  await ann.patch(`/orders/${a.id}`, { lines: [line('C1', 2, 10)] });
  assert.deepEqual(await ids('/skus/A1'), [b.id]);
  assert.deepEqual(await ids('/skus/C1'), [a.id]);
  assert.deepEqual(await ids('/buyers/eve/orders?sku=C1'), [a.id]);
  await ann.patch(`/orders/${b.id}`, { ship_to: { country: 'de' } });
  await ann.patch(`/orders/${b.id}`, { lines: [line('A1', 51, 1)] }, { status: 422, detail: /at most fifty go abroad/ });
  const rows = (await app.items()).filter(({ PK }) => PK === `ORDER#${a.id}`);
  assert.equal(rows[0].GSI1SK, `C1#${a.id}`);
});

test('sum, count, any and all go through lists and maps', async () => {
  const make = async (lines, more = {}, options = {}) => (await ann.post('/orders', { lines, ...more }, options)).body;
  const shown = ({ total, pieces, bulky, gift, cheap }) => [total, pieces, bulky, gift, cheap];
  const order = await make([line('a', 2, 9.99), { ...line('b', 11, 0.1), tags: ['Gift'] }, line('c', 99, 5)]);
  assert.deepEqual(shown(order), [516.08, 112, 2, true, true]);
  const { body } = await ann.patch(`/orders/${order.id}`, { lines: [{ sku: 'a', price: 10 }] });
  assert.deepEqual(shown(body), [10, 1, 0, false, false]);
  await make([line('a', 50, 1000), line('b', 50, 1000.01)], {}, { status: 422, detail: /the total is over the limit/ });
  await make([line('a', 50, 1000), line('b', 50, 1000.01)], { limit: 200000 });
  const { body: customer } = await ann.put('/customers/sums', { scores: { a: 1.5, b: 2 }, addresses: { home, away: { ...home, country: 'de', geo: { lat: 50, lon: 9 } } } });
  assert.deepEqual([customer.best, customer.foreign], [3.5, true]);
  const { body: changed } = await mergePatch('/customers/sums', { scores: { b: null, c: 4 }, addresses: { away: { country: 'se' } } });
  assert.deepEqual([changed.best, changed.foreign], [5.5, false]);
  const { body: none } = await ann.put('/customers/nothing', {});
  assert.deepEqual([none.best, none.foreign], [0, false], 'a sum of nothing');
});

test('OpenAPI and the typed client have the members', async () => {
  const { schemas } = (await ann.get('/openapi.json')).body.components;
  assert.deepEqual(schemas.Order.properties.lines.items.properties.quantity, { type: 'integer', minimum: 1, maximum: 99, default: 1 });
  assert.deepEqual(schemas.Order.properties.lines.items.required, ['sku', 'price']);
  assert.equal(schemas.Order.properties.lines.items.additionalProperties, false);
  assert.equal(schemas.Customer.properties.addresses.maxProperties, 3);
  assert.equal(schemas.Customer.properties.addresses.additionalProperties.properties.geo.properties.lat.maximum, 90);
  assert.equal(schemas.Customer.properties.size.additionalProperties, true);
  assert.deepEqual(schemas.Customer.properties.scores.additionalProperties, { type: 'number' });
  const update = schemas.CustomerUpdate.properties.addresses.additionalProperties;
  assert.equal(update.required, undefined, 'a patch gives some of the members');
  assert.deepEqual(update.properties.city.type, ['string', 'null']);
  assert.deepEqual(schemas.OrderUpdate.properties.lines.items.required, ['sku', 'price'], 'a list is given as a whole');
  const client = execFileSync(BIN, ['client', '--typescript', file], { encoding: 'utf8' });
  assert.match(client, /geo\?: \{\s*lat: number;?\s*lon: number/);
});

test('docs/design-language.md: the structures', async () => {
  const text = readFileSync(join(ROOT, 'docs', 'design-language.md'), 'utf8');
  const yaml = /### Structures.*?```yaml\n(.*?)```/s.exec(text)[1];
  const design = join(freshDirectory(), 'structures.yaml');
  writeFileSync(design, 'design: structures\ntable: structures\nkey: [PK, SK]\n' + yaml
    .replace('  Order:\n    attributes:\n', "  Order:\n    path: /orders/<id>\n    keys: {PK: 'O#<id>', SK: O}\n    attributes:\n      id: string, id\n")
    .replace('  Customer:\n    attributes:\n', "  Customer:\n    path: /customers/<id>\n    keys: {PK: 'C#<id>', SK: C}\n    attributes:\n      id: string, id\n"));
  const { code, stdout } = await runToEnd(['check', design]);
  assert.equal(code, 0, stdout);
});
