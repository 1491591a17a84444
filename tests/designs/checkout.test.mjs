// Counts and requirements for each element of a list: an order of several products is placed whole or not at all.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, runToEnd, startDesign } from './harness.mjs';

const file = join(ROOT, 'tests', 'designs', 'checkout', 'checkout.yaml');
const app = await startDesign(file);
const ann = await app.as('ann', 'user');
const clerk = await app.as('clerk', 'user', 'clerk');

const product = async (sku, stock) => {
  await clerk.put(`/products/${sku}`, { name: sku });
  if (stock) await clerk.post(`/products/${sku}/deliveries`, { quantity: stock });
};
const stockOf = async (sku) => (await ann.get(`/products/${sku}`)).body.stock;
const order = (skus, more = {}, options) => ann.post('/orders', { skus, ...more }, options);

test('the reviewer has nothing to say', async () => {
  const { code, stdout } = await runToEnd(['check', file]);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /0 errors, 0 warnings/);
});

test('an order takes one of each product that it names, of one named twice two', async () => {
  await product('pen', 5);
  await product('ink', 5);
  const { body } = await order(['pen', 'ink', 'pen']);
  assert.deepEqual([await stockOf('pen'), await stockOf('ink')], [3, 4]);
  await ann.patch(`/orders/${body.order}`, { skus: ['ink', 'ink'] });
  assert.deepEqual([await stockOf('pen'), await stockOf('ink')], [5, 3]);
  await ann.post(`/orders/${body.order}/cancel`);
  assert.deepEqual([await stockOf('pen'), await stockOf('ink')], [5, 5]);
  assert.equal((await ann.get('/products/ink')).body.sold, 0);
});

test('all or nothing: the message names the product that is missing, or that there is not enough of', async () => {
  await product('cup', 3);
  await product('mug', 1);
  const few = await order(['cup', 'mug', 'mug'], {}, { status: 409 });
  assert.equal(few.body.detail, 'Product mug: there is not enough of it');
  const none = await order(['cup', 'jug'], {}, { status: 422 });
  assert.deepEqual(none.body.errors, [{ attribute: 'skus', detail: 'Product jug: this product is not on sale' }]);
  await clerk.patch('/products/mug', { on_sale: false });
  assert.equal((await order(['cup', 'mug'], {}, { status: 409 })).body.detail, 'Product mug: this product is not on sale');
  const gift = (await order(['cup'], { gifts: ['jug', 'cup'] }, { status: 422 })).body;
  assert.deepEqual(gift.errors, [{ attribute: 'gifts', detail: 'Product jug: there is no such gift' }]);
  assert.equal(await stockOf('cup'), 3);
  await order(['cup'], { gifts: ['mug', 'cup'] });
  assert.equal(await stockOf('cup'), 2);
});

test('of many clients who order at once nobody gets what is not there', async () => {
  const skus = ['a', 'b', 'c', 'd'];
  for (const sku of skus) await product(sku, 6);
  const people = await Promise.all(Array.from({ length: 20 }, (_, i) => app.as(`p${i}`, 'user')));
  const pick = (i) => [skus[i % 4], skus[(i + 1) % 4], ...(i % 3 ? [] : [skus[i % 4]])];
  const replies = await Promise.all(people.map((who, i) => who.request('POST', '/orders', { body: { skus: pick(i) } })));
  const statuses = replies.map(({ status }) => status);
  assert.deepEqual([...new Set(statuses)].sort(), [201, 409], statuses.join());
  const sold = replies.flatMap(({ status, body }) => (status === 201 ? body.skus : []));
  for (const sku of skus) {
    assert.equal(await stockOf(sku), 6 - sold.filter((one) => one === sku).length, sku);
    assert.ok((await stockOf(sku)) >= 0);
  }
  assert.ok(Math.min(...await Promise.all(skus.map(stockOf))) <= 1, 'it was worth trying');
});

test('twenty products are one transaction', async () => {
  const skus = Array.from({ length: 20 }, (_, i) => `t${i}`);
  for (const sku of skus) await product(sku, 1);
  const { body } = await order(skus);
  assert.deepEqual(await Promise.all(skus.map(stockOf)), skus.map(() => 0));
  await order(['t0'], {}, { status: 409 });
  await ann.post(`/orders/${body.order}/cancel`);
  assert.deepEqual(await Promise.all(skus.map(stockOf)), skus.map(() => 1));
});
