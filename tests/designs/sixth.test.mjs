// A sixth design, a shop, which nothing in src/ was written for: what a design says is all there is to say.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, atOnce, runToEnd, startDesign } from './harness.mjs';

const file = join(ROOT, 'tests', 'designs', 'sixth', 'shop.yaml');
const app = await startDesign(file);
const staff = await app.as('boss', 'staff');
const operator = await app.operator();
const CLIENTS = 20;

/** Someone who shops. Logging in is shown once; these come with a token. */
async function customer(id) {
  await operator.post('/customers', { customer_id: id, email: `${id}@example.org`, name: id });
  return Object.assign(await app.as(id, 'customer'), { id });
}
const ann = await customer('ann');
const bob = await customer('bob');
const crowd = await Promise.all(Array.from({ length: CLIENTS }, (_, i) => customer(`c${i}`)));

const item = async (pk, sk) => (await app.settled(), await app.doc.get({ TableName: app.table, Key: { pk, sk } })).Item;
const stockOf = async (sku) => (await staff.get(`/products/tee/variants/${sku}`)).body.stock;
async function variant(sku, stock, more = {}) {
  await staff.post('/products/tee/variants', { sku, price_cents: 1999, ...more });
  if (stock) await staff.post(`/products/tee/variants/${sku}/deliveries`, { quantity: stock });
}
async function order(who, sku, quantity = 1) {
  const { body } = await who.post('/orders', { address: 'Main street 1' });
  if (sku) await who.put(`/orders/${body.order_id}/lines/${sku}`, { product_id: 'tee', quantity });
  return `/orders/${body.order_id}`;
}
async function paid(who, sku) {
  const path = await order(who, sku);
  await who.post(`${path}/place`);
  await staff.post(`${path}/pay`);
  return path;
}

await staff.post('/products', { product_id: 'tee', title: 'T-Shirt', category: 'Clothes' });

test('the reviewer has nothing to say, and the table is as the file says', async () => {
  const { code, stdout } = await runToEnd(['check', file]);
  assert.equal(code, 0);
  assert.match(stdout, /0 errors, 0 warnings/);
  const { Table } = await app.ddb.describeTable({ TableName: 'shop-main' });
  assert.deepEqual(Table.KeySchema.map((key) => key.AttributeName), ['pk', 'sk']);
  const indexes = Object.fromEntries(Table.GlobalSecondaryIndexes.map((each) => [each.IndexName, each.KeySchema.map((key) => key.AttributeName).join(' ')]));
  assert.deepEqual(indexes, { 'gsi-orders': 'orders_of ordered_at', 'gsi-stock': 'shelf stock', 'gsi-price': 'catalogue price_cents' });
  const types = Object.fromEntries(Table.AttributeDefinitions.map((each) => [each.AttributeName, each.AttributeType]));
  assert.equal(types.stock, 'N');
  assert.equal(types.price_cents, 'N');
});

test('a customer signs up, logs in with his address in any case, and is seen by himself and staff', async () => {
  const { location } = await app.nobody.post('/customers', { email: 'Eve@Example.org', name: 'Eve', password: 'secret enough' });
  await app.nobody.post('/customers', { email: 'eve@example.ORG', name: 'Eve 2', password: 'secret enough' }, { status: 409, type: 'taken', attribute: 'email' });
  const { body } = await app.nobody.post('/login', { email: 'EVE@example.org', password: 'secret enough' });
  assert.match(body.subject, /^cus_[0-9A-Z]{26}$/);
  assert.deepEqual(body.roles, ['customer']);
  assert.ok(location.endsWith(`/customers/${body.subject}`));
  const eve = app.withToken(body.token);
  assert.equal((await eve.get(`/customers/${body.subject}`)).body.email, 'eve@example.org');
  await eve.patch(`/customers/${body.subject}`, { role: 'staff' }, { status: 422 });
  await bob.get(`/customers/${body.subject}`, { status: 404 });
  assert.equal((await staff.get(`/customers/${body.subject}`)).body.password_hash, undefined);
  assert.match((await item(`CUSTOMER#${body.subject}`, 'CUSTOMER')).password_hash, /^\$2b\$10\$/);
});

test('lists by a number: prices within bounds, and what is low on the shelf, lowest first', async () => {
  await variant('mug', 30, { price_cents: 900 });
  await variant('cap', 2, { price_cents: 1500 });
  await variant('tee-s', 4, { price_cents: 10000 });
  await app.settled();
  const prices = async (query) => (await app.nobody.list(`/categories/Clothes/by-price${query}`)).map((each) => each.price_cents);
  assert.deepEqual(await prices(''), [900, 1500, 10000]);
  assert.deepEqual(await prices('?from=901&to=9999'), [1500]);
  assert.deepEqual(await prices('?from=1500'), [1500, 10000]);
  assert.deepEqual(await prices('?to=1500'), [900, 1500]);
  assert.deepEqual((await app.nobody.all('/categories/clothes/by-price', 1)).length, 3);
  await app.nobody.get('/categories/clothes/by-price?from=cheap', { status: 422 });
  assert.deepEqual((await staff.list('/low-stock')).map((each) => [each.sku, each.stock]), [['cap', 2], ['tee-s', 4]]);
  assert.deepEqual((await staff.list('/low-stock?most=3')).map((each) => each.sku), ['cap']);
  await staff.post('/products/tee/variants/cap/deliveries', { quantity: 100 });
  await app.settled();
  assert.deepEqual((await staff.list('/low-stock')).map((each) => each.sku), ['tee-s']);
  assert.equal((await item('PRODUCT#tee', 'VARIANT#cap')).shelf, undefined);
  await ann.get('/low-stock', { status: 403 });
});

test('a delivery is at its own address alone, though its key has only a part of it', async () => {
  const { body } = await staff.post('/products/tee/variants/cap/deliveries', { quantity: 1 });
  await staff.get(`/products/tee/variants/cap/deliveries/${body.delivery_id}`);
  const elsewhere = `/products/other/variants/cap/deliveries/${body.delivery_id}`;
  await staff.get(elsewhere, { status: 404 });
  await staff.delete(elsewhere, { status: 404 });
  await operator.patch(elsewhere, { quantity: 5 }, { status: 404 });
  await operator.delete(`/products/tee/variants/cap/deliveries/${body.delivery_id}`);
});

test('a cart is its owner\'s, holds what there is, and is forgotten after a month', async () => {
  const { body } = await ann.put('/customers/ann/cart/mug', { product_id: 'tee', quantity: 2 });
  assert.equal(body.forget_at, Date.parse(body.changed) / 1000 + 30 * 86400);
  await ann.put('/customers/ann/cart/nothing', { product_id: 'tee' }, { status: 422, detail: /there is no such variant/ });
  await ann.patch('/customers/ann/cart/mug', { quantity: 3 });
  assert.deepEqual((await ann.list('/customers/ann/cart')).map((each) => [each.sku, each.quantity]), [['mug', 3]]);
  assert.deepEqual(await bob.list('/customers/ann/cart'), []);
  await bob.delete('/customers/ann/cart/mug', { status: 404 });
  await ann.delete('/customers/ann/cart/mug');
});

test('an order goes from draft to delivered, in this order only, and is found by where it is', async () => {
  const path = await order(ann, 'mug', 2);
  await ann.put(`${path}/lines/cap`, { product_id: 'tee', quantity: 1 });
  await bob.put(`${path}/lines/tee-s`, { product_id: 'tee' }, { status: 404 });
  assert.equal(await stockOf('mug'), 28);
  await ann.post(`${path}/lines/mug/change`, { quantity: 5 });
  assert.equal(await stockOf('mug'), 25);
  await ann.post(`${path}/lines/mug/change`, { quantity: 99 }, { status: 409, type: 'conflict', detail: /not so many left/ });
  assert.equal(await stockOf('mug'), 25);
  await ann.post(`${path}/pay`, {}, { status: 403 });
  await staff.post(`${path}/pay`, {}, { status: 409, detail: /only a placed order/ });
  const { body } = await ann.post(`${path}/place`);
  assert.deepEqual([body.status, body.lines_count, body.subtotal_cents, body.to_pay_cents], ['placed', 2, 6000, 6000]);
  await ann.post(`${path}/place`, {}, { status: 409 });
  await ann.put(`${path}/lines/tee-s`, { product_id: 'tee' }, { status: 409 });
  await ann.post(`${path}/lines/mug/change`, { quantity: 1 }, { status: 409, detail: /has been placed/ });
  for (const [action, given] of [['pay'], ['ship', { tracking: 'X1' }], ['deliver']]) await staff.post(`${path}/${action}`, given);
  await ann.post(`${path}/cancel`, {}, { status: 409, detail: /shipped/ });
  const [found] = await staff.list(`/orders/by-status/delivered?from=2020-01-01T00:00:00Z`);
  assert.deepEqual([found.order_id, found.tracking], [body.order_id, 'X1']);
  assert.deepEqual(await staff.list('/orders/by-status/placed'), []);
  assert.deepEqual(await staff.list('/orders/by-status/delivered?to=2020-01-01T00:00:00Z'), []);
  await staff.get('/orders/by-status/lost', { status: 404 });
  assert.deepEqual((await ann.list('/customers/ann/orders')).map((each) => each.status), ['delivered']);
  assert.deepEqual(await bob.list('/customers/ann/orders'), []);
  assert.equal((await ann.get('/customers/ann')).body.orders_placed, 1);
});

test('what is cancelled goes back on the shelf, once', async () => {
  await variant('scarf', 3);
  const path = await order(bob, 'scarf', 3);
  assert.equal(await stockOf('scarf'), 0);
  assert.deepEqual(await atOnce(Array.from({ length: 5 }, () => () => bob.request('POST', `${path}/cancel`))), { 200: 1, 409: 4 });
  await app.settled();
  assert.equal(await stockOf('scarf'), 3);
  assert.equal((await bob.list(`${path}/lines`))[0].released, true);
});

test('the last item of stock is sold once, though twenty want it', async () => {
  await variant('rare', 1);
  const orders = await Promise.all(crowd.map((who) => order(who)));
  const statuses = await atOnce(crowd.map((who, i) => () => who.request('PUT', `${orders[i]}/lines/rare`, { body: { product_id: 'tee' } })));
  assert.deepEqual(statuses, { 201: 1, 409: CLIENTS - 1 });
  assert.equal(await stockOf('rare'), 0);
  await variant('few', 30);
  const more = await atOnce(crowd.map((who, i) => () => who.request('PUT', `${orders[i]}/lines/few`, { body: { product_id: 'tee', quantity: 4 } })));
  assert.deepEqual(more, { 201: 7, 409: CLIENTS - 7 });
  assert.equal(await stockOf('few'), 2);
});

test('a coupon of three uses is used three times, and lowers what is to be paid', async () => {
  await staff.post('/coupons', { code: 'Spring', percent: 15, max_uses: 3, good_until: '2099-01-01T00:00:00Z' });
  await staff.post('/coupons', { code: 'old', percent: 15, max_uses: 3, good_until: '2020-01-01T00:00:00Z' });
  await variant('sock', 100, { price_cents: 333 });
  const orders = await Promise.all(crowd.map((who) => order(who, 'sock')));
  await crowd[0].post(`${orders[0]}/redeem`, { coupon: 'none' }, { status: 422, type: 'invalid' });
  await crowd[0].post(`${orders[0]}/redeem`, { coupon: 'old' }, { status: 409, detail: /has run out/ });
  const replies = await Promise.all(crowd.map((who, i) => who.request('POST', `${orders[i]}/redeem`, { body: { coupon: 'SPRING' } })));
  const [winners, losers] = [replies.filter((each) => each.status === 200), replies.filter((each) => each.status === 409)];
  assert.deepEqual([winners.length, losers.length], [3, CLIENTS - 3]);
  for (const each of losers) assert.equal(each.body.detail, 'this coupon has been used up');
  for (const each of winners) assert.deepEqual([each.body.coupon, each.body.to_pay_cents], ['spring', 283]);
  const first = replies.findIndex((each) => each.status === 200);
  await crowd[first].post(`${orders[first]}/redeem`, { coupon: 'spring' }, { status: 409, detail: /one coupon an order/ });
  assert.equal((await ann.get('/coupons/spring')).body.used, 3);
  await crowd[first].post(`${orders[first]}/cancel`);
  assert.equal((await ann.get('/coupons/spring')).body.used, 2);
  await staff.patch('/coupons/spring', { max_uses: 1 }, { status: 422 });
});

test('one review a customer and product, and a mean that is right', async () => {
  const again = await atOnce(Array.from({ length: CLIENTS }, () => () => ann.request('POST', '/products/tee/reviews', { body: { stars: 5 } })));
  assert.deepEqual(again, { 201: 1, 409: CLIENTS - 1 });
  await Promise.all(crowd.map((who, i) => who.post('/products/tee/reviews', { stars: (i % 5) + 1 })));
  await bob.put('/products/tee/reviews/ann', { stars: 1 }, { status: 403 });
  await app.settled();
  const { body } = await app.nobody.get('/products/tee');
  assert.deepEqual([body.rating_sum, body.rating_count, body.rating], [65, 21, 3.1]);
  await ann.patch('/products/tee/reviews/ann', { stars: 1 });
  await crowd[0].delete('/products/tee/reviews/c0');
  await app.settled();
  const after = (await app.nobody.get('/products/tee')).body;
  assert.deepEqual([after.rating_sum, after.rating_count, after.rating], [60, 20, 3]);
  assert.equal((await app.nobody.all('/products/tee/reviews', 7)).length, 20);
  const page = await app.nobody.all('/products/tee/page', 10);
  assert.deepEqual([...new Set(page.map((each) => each['@type']))].sort(), ['Product', 'Review', 'Variant']);
  await staff.delete('/products/tee', { status: 409 });
});

test('invoices are numbered without a gap, whoever comes first, one an order', async () => {
  await staff.post('/ledgers', { year: 2026 });
  const orders = await Promise.all(crowd.map((who) => paid(who, 'sock')));
  const ids = orders.map((path) => path.replace('/orders/', ''));
  const replies = await Promise.all(ids.map((order_id) => staff.request('POST', '/ledgers/2026/invoices', { body: { order_id } })));
  assert.deepEqual([...new Set(replies.map((each) => each.status))], [201]);
  const numbers = (await staff.all('/ledgers/2026/invoices', 6)).map((each) => each.number);
  assert.deepEqual(numbers, Array.from({ length: CLIENTS }, (_, i) => i + 1));
  assert.deepEqual(new Set(replies.map((each) => each.body.amount_cents)), new Set([333]));
  await staff.post('/ledgers/2026/invoices', { order_id: ids[3] }, { status: 409, type: 'taken', attribute: 'order_id' });
  const draft = (await order(ann, 'sock')).replace('/orders/', '');
  await staff.post('/ledgers/2026/invoices', { order_id: draft }, { status: 409, detail: /only what is paid/ });
  assert.equal((await item(`ORDER#${ids[0]}`, 'INVOICE')).year, 2026);
});

test('every counter is what a recount gives', async () => {
  const items = await app.items();
  const of = (kind) => items.filter((each) => each.kind === kind);
  for (const each of of('variant')) {
    const came = of('delivery').filter((d) => d.sku === each.sku).reduce((sum, d) => sum + d.quantity, 0);
    const went = of('line').filter((l) => l.sku === each.sku && !l.released).reduce((sum, l) => sum + l.quantity, 0);
    assert.equal(each.stock, came - went, each.sku);
    assert.equal(each.shelf, each.stock <= each.reorder_at ? 'LOW' : undefined, each.sku);
  }
  for (const each of of('order')) {
    const lines = of('line').filter((l) => l.order_id === each.order_id);
    assert.equal(each.lines_count, lines.length);
    assert.equal(each.subtotal_cents, lines.reduce((sum, l) => sum + l.quantity * l.price_cents, 0));
  }
});
