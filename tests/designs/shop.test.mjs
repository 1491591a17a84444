// designs/examples/shop.yaml: carts, a checkout that never oversells, orders and what follows them; and hostile customers.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { atOnce, designFile, eventually, freshDirectory, noteWrite, runToEnd, startDesign } from './harness.mjs';

const app = await startDesign('shop');
const operator = await app.operator();
const manager = await app.as('mira', 'manager');
const clerk = await app.as('kai', 'clerk');
const payments = await app.as('pay', 'payments');
const home = { recipient: 'Ada Moreau', street: 'Hafengasse 4', postcode: '20457', city: 'Hamburg', country: 'DE' };
const month = new Date().toISOString().slice(0, 7);
const today = new Date().toISOString().slice(0, 10);

await manager.put('/series/invoices');
await manager.put('/categories/tea', { title: 'Tea' });
await manager.put('/categories/cups', { title: 'Cups' });

/** A customer with an account, who does what a customer does. */
async function customer(name) {
  await operator.post('/customers', { customer: name, name, email: `${name}@example.com`, password: 'wonderland' });
  const caller = await app.as(name, 'customer');
  caller.name = name;
  caller.fill = (...lines) => refill(caller, lines.map(([sku, quantity]) => ({ sku, quantity })));
  caller.checkout = (more = {}, expect) => caller.post('/orders', { ship_to: home, ...more }, expect);
  caller.buy = async (...lines) => (await caller.fill(...lines), (await caller.checkout()).body.order);
  return caller;
}
/** The cart, whether or not there is one. */
async function refill(caller, lines) {
  const { status } = await caller.request('PUT', `/customers/${caller.name}/cart`, { body: { lines } });
  if (status === 409) await caller.patch(`/customers/${caller.name}/cart`, { lines });
  else assert.equal(status, 201);
}
async function product(sku, stock, price = 500, more = {}) {
  await manager.put(`/products/${sku}`, { category: 'tea', name: `Thing ${sku}`, price, ...more });
  if (stock) await clerk.post(`/products/${sku}/deliveries`, { quantity: stock });
}
const stockOf = async (sku) => (await manager.get(`/products/${sku}`)).body.stock;
const linesOf = (order) => operator.list(`/orders/${order}/lines`);
const statusOf = async (order) => (await operator.get(`/orders/${order}`)).body.status;

const ada = await customer('ada');
const ben = await customer('ben');

test('the reviewer has nothing to say, not even a note', async () => {
  const { code, stdout } = await runToEnd(['check', designFile('shop')]);
  assert.equal(code, 0, stdout);
  assert.equal(stdout.trim(), '1 design, 0 errors, 0 warnings');
});

test('an address book: entries of their own, twenty at most, nobody else sees them', async () => {
  await ada.put('/customers/ada/addresses/home', home);
  await ada.put('/customers/ada/addresses/work', { ...home, street: 'Am Kai 1' });
  await ada.put('/customers/ada/addresses/bad', { ...home, country: 'Germany' }, { status: 422 });
  await ada.patch('/customers/ada/addresses/work', {}, { status: 405 });
  const { body } = await ada.get('/customers/ada');
  assert.deepEqual(Object.keys(body.addresses).sort(), ['home', 'work']);
  await ada.delete('/customers/ada/addresses/work');
  await ben.get('/customers/ada', { status: 404 });
  await ben.put('/customers/ada/addresses/home', home, { status: 404 });
});

test('a checkout takes what is in the cart, at the prices of the products, whatever the client says', async () => {
  await product('sencha', 10, 890);
  await product('pot', 5, 3400, { category: 'cups' });
  await ada.fill(['sencha', 2], ['pot', 1]);
  assert.equal((await ada.get('/customers/ada/cart')).body.pieces, 3);
  for (const cheat of [{ subtotal: 1 }, { lines: [{ sku: 'pot', quantity: 1 }] }, { status: 'paid' }, { percent: 90 }, { total: 1 }])
    await ada.checkout(cheat, { status: 422 });
  const { body } = await ada.checkout();
  assert.deepEqual([body.subtotal, body.discount, body.shipping, body.total], [5180, 0, 0, 5180]);
  assert.equal(body.status, 'placed');
  assert.equal(body.customer, 'ada');
  assert.deepEqual([await stockOf('sencha'), await stockOf('pot')], [8, 4]);
  const lines = await linesOf(body.order);
  assert.deepEqual(lines.map(({ sku, price, quantity, amount, category }) => [sku, price, quantity, amount, category]).sort(),
    [['pot', 3400, 1, 3400, 'cups'], ['sencha', 890, 2, 1780, 'tea']]);
  await ada.get('/customers/ada/cart', { status: 404 });
  await ada.checkout({}, { status: 422 }); // nothing in it
  await ben.get(`/orders/${body.order}`, { status: 404 });
  assert.deepEqual(await ben.list(`/orders/${body.order}/all`), []);
  assert.equal((await ada.list(`/orders/${body.order}/all`)).length, 3);
  await ada.patch(`/orders/${body.order}`, { ship_to: { street: 'Am Kai 1' } });
  assert.equal((await ada.get(`/orders/${body.order}`)).body.total, 5180);
});

test('a price that changes between cart and checkout is the new one, in the order as in its lines', async () => {
  await product('oolong', 100, 1000);
  await ada.fill(['oolong', 3]);
  await manager.patch('/products/oolong', { price: 1200 });
  const { body } = await ada.checkout();
  assert.equal(body.subtotal, 3600);
  // Changed all the time, while others buy: each order agrees with its own lines.
  const others = await Promise.all(['c0', 'c1', 'c2', 'c3', 'c4', 'c5'].map(customer));
  await Promise.all(others.map((who) => who.fill(['oolong', 2])));
  const prices = (async () => { for (let i = 1; i <= 12; i++) await manager.patch('/products/oolong', { price: 1000 + i }); })();
  const orders = await Promise.all(others.map(async (who) => (await who.checkout()).body));
  await prices;
  for (const { order, subtotal } of orders) {
    const [line] = await linesOf(order);
    assert.equal(subtotal, line.price * 2);
    assert.equal(line.amount, subtotal);
  }
});

test('twenty customers at once for the last three: three orders, and 409 for the others with the name of the product', async () => {
  await product('last', 3);
  await product('many', 100);
  const people = await Promise.all(Array.from({ length: 20 }, (_, i) => customer(`p${i}`)));
  await Promise.all(people.map((who) => who.fill(['many', 1], ['last', 1])));
  const replies = await Promise.all(people.map((who) => who.request('POST', '/orders', { body: { ship_to: home } })));
  const won = replies.filter(({ status }) => status === 201);
  assert.equal(won.length, 3, replies.map(({ status }) => status).join());
  for (const { status, body } of replies.filter((reply) => !won.includes(reply))) {
    assert.equal(status, 409);
    assert.equal(body.detail, 'Product last: there is not enough of it');
  }
  assert.deepEqual([await stockOf('last'), await stockOf('many')], [0, 97]);
  const loser = people[replies.findIndex(({ status }) => status === 409)];
  assert.equal((await loser.get(`/customers/${loser.name}/cart`)).body.lines.length, 2, 'the cart is still there');
  await clerk.post('/products/last/deliveries', { quantity: 1 });
  await loser.checkout();
});

test('the same checkout twice: with one Idempotency-Key it is one order, without one the second finds no cart', async () => {
  await product('twice', 50);
  await ada.fill(['twice', 5]);
  const headers = { 'idempotency-key': randomUUID() };
  const same = await Promise.all([0, 1, 2].map(() => ada.request('POST', '/orders', { body: { ship_to: home }, headers })));
  const again = (await ada.request('POST', '/orders', { body: { ship_to: home }, headers }));
  assert.equal(again.status, 201);
  for (const { status, body } of same) assert.ok(status === 409 || body.order === again.body.order, `${status} ${JSON.stringify(body)}`);
  assert.equal(await stockOf('twice'), 45);
  await ada.fill(['twice', 5]);
  const statuses = await atOnce(Array.from({ length: 4 }, () => () => ada.request('POST', '/orders', { body: { ship_to: home } })));
  assert.deepEqual(statuses, { 201: 1, 422: 3 });
  assert.equal(await stockOf('twice'), 40);
});

test('the same product twice in a cart: two lines, and one change of the stock', async () => {
  await product('double', 5);
  await ada.fill(['double', 2], ['DOUBLE', 1]);
  const { body } = await ada.checkout();
  assert.equal(body.subtotal, 1500);
  assert.equal(await stockOf('double'), 2);
  assert.equal((await linesOf(body.order)).length, 2);
  await ada.fill(['double', 2], ['double', 2]);
  assert.equal((await ada.checkout({}, { status: 409 })).body.detail, 'Product double: there is not enough of it');
  await ada.post(`/orders/${body.order}/cancel`);
  assert.equal(await stockOf('double'), 5);
});

test('forty products are one transaction; a cart of more is refused', async () => {
  const skus = Array.from({ length: 40 }, (_, i) => `t${i}`);
  await Promise.all(skus.map((sku) => product(sku, 1, 100)));
  await manager.put('/coupons/FORTY', { percent: 50, until: '2099-01-01T00:00:00Z', max_uses: 9 });
  await ada.fill(...skus.map((sku) => [sku, 1]));
  await ada.patch('/customers/ada/cart', { lines: [...skus, 't0'].map((sku) => ({ sku, quantity: 1 })) }, { status: 422 });
  await ada.post('/customers/ada/cart/add', { lines: [{ sku: 't0', quantity: 1 }] }, { status: 422 });
  const { body } = await ada.checkout({ coupon: 'FORTY' });
  assert.deepEqual([body.subtotal, body.discount, body.total], [4000, 2000, 2490]);
  assert.deepEqual([...new Set(await Promise.all(skus.map(stockOf)))], [0]);
  await ada.post(`/orders/${body.order}/cancel`);
  assert.deepEqual([...new Set(await Promise.all(skus.map(stockOf)))], [1]);
});

test('more than a transaction can hold is an error when the design is checked, and a 422 where it is served all the same', async () => {
  const path = join(freshDirectory(), 'shop.yaml');
  writeFileSync(path, readFileSync(designFile('shop'), 'utf8').replaceAll(/list of Line (\d)\.\.40/g, 'list of Line $1..60'));
  const { code, stdout } = await runToEnd(['check', path]);
  assert.equal(code, 1);
  assert.match(stdout, /error: one Order can take \d+ actions \[transaction-size\]/);
  const wide = await startDesign(path, { args: ['--allow-check-errors'] });
  const boss = await wide.as('mira', 'manager');
  const skus = Array.from({ length: 60 }, (_, i) => `w${i}`);
  await boss.put('/categories/tea', { title: 'Tea' });
  await boss.post('/batch', { requests: skus.map((sku) => ({ method: 'PUT', path: `/products/${sku}`, body: { category: 'tea', name: sku, price: 1 } })) });
  await Promise.all(skus.map((sku) => boss.post(`/products/${sku}/deliveries`, { quantity: 1 })));
  await (await wide.operator()).post('/customers', { customer: 'eva', name: 'Eva', email: 'eva@example.com', password: 'wonderland' });
  const eva = await wide.as('eva', 'customer');
  await eva.put('/customers/eva/cart', { lines: skus.map((sku) => ({ sku, quantity: 1 })) });
  await eva.post('/orders', { ship_to: home }, { status: 422, type: 'invalid', detail: /at most 100 can be changed at once/ });
  assert.equal((await boss.get('/products/w0')).body.stock, 1);
});

test('a cart that expires, or is changed, while it is checked out', async () => {
  await product('shy', 10);
  const { body: cart } = await ada.put('/customers/ada/cart', { lines: [{ sku: 'shy', quantity: 2 }] });
  const lasts = 14 * 86400;
  assert.equal(cart.expires_at, Date.parse(cart.updated_at) / 1000 + lasts);
  const Key = { PK: 'CUSTOMER#ada', SK: 'CART' };
  await app.doc.update({ TableName: app.table, Key, UpdateExpression: 'SET expires_at = :past', ExpressionAttributeValues: { ':past': 1000000000 } });
  noteWrite();
  await ada.get('/customers/ada/cart', { status: 404 });
  await ada.checkout({}, { status: 422 });
  assert.equal(await stockOf('shy'), 10);
  // Whichever is first, no line is lost, and none is bought twice.
  for (let i = 0; i < 5; i++) {
    await ada.fill(['shy', 1]);
    const [order, change] = await Promise.all([
      ada.request('POST', '/orders', { body: { ship_to: home } }),
      ada.request('POST', '/customers/ada/cart/add', { body: { lines: [{ sku: 'shy', quantity: 1 }] } }),
    ]);
    assert.equal(order.status, 201);
    assert.ok([200, 201].includes(change.status), `${change.status}`);
    const rest = await ada.request('GET', '/customers/ada/cart'); // a new one, if the checkout was first
    assert.equal(order.body.lines.length + (rest.status === 200 ? rest.body.lines.length : 0), 2);
    await ada.post(`/orders/${order.body.order}/cancel`);
  }
  assert.equal(await stockOf('shy'), 10);
});

test('all or nothing: a product that is not sold any more, or is none', async () => {
  await product('gone', 5);
  await product('stays', 5);
  await ada.fill(['stays', 1], ['gone', 1]);
  await manager.patch('/products/gone', { on_sale: false });
  await ada.get('/products/gone', { status: 404 });
  assert.match((await ada.checkout({}, { status: 409 })).body.detail, /^Product gone: this product is not on sale/);
  await ada.fill(['stays', 1], ['unknown', 1]);
  await ada.checkout({}, { status: 422 });
  assert.equal(await stockOf('stays'), 5);
  assert.deepEqual((await manager.list('/withdrawn')).map(({ sku }) => sku), ['gone']);
});

test('from placed to delivered: invoice, shipment, the desk of the day, and nothing backwards', async () => {
  await product('travel', 9, 2450);
  const order = await ben.buy(['travel', 2]);
  const desk = async (state) => (await clerk.all(`/desk/${state}/${today}`, 50)).map((each) => each.order);
  assert.ok((await desk('placed')).includes(order));
  await ben.post(`/orders/${order}/pay`, {}, { status: 403 });
  await clerk.post(`/orders/${order}/shipments`, { carrier: 'Post', tracking: 'T1' }, { status: 409 });
  await payments.post(`/orders/${order}/pay`, { payment: 'ref-1' });
  await payments.post(`/orders/${order}/pay`, { payment: 'ref-2' }, { status: 409 });
  const [invoice] = await ben.list('/customers/ben/invoices');
  assert.deepEqual([invoice.order, invoice.total], [order, 4900 + 490]);
  await ada.get(`/invoices/${invoice.number}`, { status: 404 });
  await ben.post(`/orders/${order}/shipments`, { carrier: 'Post', tracking: 'T1' }, { status: 403 });
  const { body: { shipment } } = await clerk.post(`/orders/${order}/shipments`, { carrier: 'Post', tracking: 'T1' });
  await clerk.post(`/orders/${order}/shipments`, { carrier: 'Post', tracking: 'T2' }, { status: 409 });
  assert.equal(await statusOf(order), 'shipped');
  assert.ok(!(await desk('placed')).includes(order) && (await desk('shipped')).includes(order));
  await ben.post(`/orders/${order}/cancel`, {}, { status: 409 });
  await ben.patch(`/orders/${order}`, { ship_to: home }, { status: 403 });
  await clerk.post(`/orders/${order}/shipments/${shipment}/deliver`);
  await clerk.post(`/orders/${order}/shipments/${shipment}/deliver`, {}, { status: 409 });
  assert.equal(await statusOf(order), 'delivered');
  assert.equal(await stockOf('travel'), 7);
  await ben.list(`/desk/paid/${today}`, { status: 403 });
});

test('cancelled twice at once, or shipped meanwhile: the stock comes back once, or not at all', async () => {
  await product('back', 10);
  const order = await ada.buy(['back', 4]);
  const statuses = await atOnce(Array.from({ length: 6 }, (_, i) => () => (i % 2 ? clerk : ada).request('POST', `/orders/${order}/cancel`)));
  assert.deepEqual(statuses, { 200: 1, 409: 5 });
  assert.equal(await stockOf('back'), 10);
  for (let i = 0; i < 4; i++) {
    const next = await ada.buy(['back', 1]);
    await payments.post(`/orders/${next}/pay`, {});
    const [cancel, ship] = await Promise.all([
      ada.request('POST', `/orders/${next}/cancel`),
      clerk.request('POST', `/orders/${next}/shipments`, { body: { carrier: 'Post', tracking: `T${i}` } }),
    ]);
    assert.deepEqual([cancel.status, ship.status].sort(), cancel.status === 200 ? [200, 409] : [201, 409]);
    assert.equal(await statusOf(next), cancel.status === 200 ? 'cancelled' : 'shipped');
    if (cancel.status !== 200) assert.ok(await stockOf('back') < 10);
  }
  const shipped = (await operator.all('/customers/ada/orders', 50)).filter(({ status, lines }) => status === 'shipped' && lines[0].sku === 'back').length;
  assert.equal(await stockOf('back'), 10 - shipped);
});

test('invoices are numbered without gaps, however many pay at once', async () => {
  await product('numbered', 50);
  const orders = [];
  for (let i = 0; i < 8; i++) orders.push(await ada.buy(['numbered', 1]));
  await Promise.all(orders.flatMap((order) => [0, 1].map(() => payments.request('POST', `/orders/${order}/pay`, { body: {} }))));
  const numbers = (await app.items()).filter(({ SK }) => SK === 'INVOICE').map(({ number }) => number).sort((a, b) => a - b);
  assert.deepEqual(numbers, numbers.map((_, i) => i + 1));
});

test('what nobody pays for lapses after a day; what has just been paid does not', async () => {
  await product('slow', 10);
  const [late, paid, fresh] = [await ben.buy(['slow', 3]), await ben.buy(['slow', 2]), await ben.buy(['slow', 1])];
  await payments.post(`/orders/${paid}/pay`, {});
  const old = new Date(Date.now() - 30 * 3600_000).toISOString();
  const age = (order, day) => app.doc.update({
    TableName: app.table, Key: { PK: `ORDER#${order}`, SK: 'ORDER' },
    UpdateExpression: 'SET placed_at = :at, GSI2PK = :pk, GSI2SK = :sk, GSI1SK = :own',
    ExpressionAttributeValues: { ':at': old, ':pk': `ORDERS#${day}`, ':sk': `${old}#${order}`, ':own': `ORDER#${old}#${order}` },
  });
  await age(late, `placed#${old.slice(0, 10)}`);
  await age(paid, `placed#${old.slice(0, 10)}`); // the index is behind: it still says placed
  noteWrite();
  await eventually();
  await operator.post('/processors/let%20unpaid%20orders%20lapse/run');
  await app.settled();
  assert.deepEqual(await Promise.all([late, paid, fresh].map(statusOf)), ['lapsed', 'paid', 'placed']);
  assert.equal(await stockOf('slow'), 7);
  await payments.post(`/orders/${late}/pay`, {}, { status: 409 });
  await age(paid, `paid#${old.slice(0, 10)}`);
});

test('a coupon has limited uses and an end, each customer has it once, and a cancelled order gives it back', async () => {
  await product('tin', 100, 1000);
  await manager.put('/coupons/DUO2', { percent: 33, until: '2099-01-01T00:00:00Z', max_uses: 2 });
  await manager.put('/coupons/OVER', { percent: 33, until: '2020-01-01T00:00:00Z', max_uses: 2 });
  const people = await Promise.all(['k0', 'k1', 'k2', 'k3', 'k4', 'k5'].map(customer));
  await Promise.all(people.map((who) => who.fill(['tin', 1])));
  const replies = await Promise.all(people.map((who) => who.request('POST', '/orders', { body: { ship_to: home, coupon: 'DUO2' } })));
  const won = people.filter((_, i) => replies[i].status === 201);
  assert.equal(won.length, 2, replies.map(({ status }) => status).join());
  assert.equal(replies.find(({ status }) => status === 409).body.detail, 'this coupon is used up');
  const { body: order } = replies.find(({ status }) => status === 201);
  assert.deepEqual([order.percent, order.discount, order.total], [33, 330, 670 + 490]);
  const loser = people.find((who) => !won.includes(who));
  for (const coupon of ['OVER', 'NONE']) await loser.checkout({ coupon }, { status: coupon === 'OVER' ? 409 : 422 });
  await manager.patch('/coupons/DUO2', { max_uses: 10, percent: 50 });
  await won[0].fill(['tin', 1]);
  await won[0].checkout({ coupon: 'DUO2' }, { status: 409, attribute: 'redeemed' });
  const first = replies[people.indexOf(won[0])].body.order;
  await won[0].post(`/orders/${first}/cancel`);
  assert.equal((await manager.get('/coupons/DUO2')).body.used, 1);
  assert.equal((await won[0].checkout({ coupon: 'DUO2' })).body.percent, 50);
  assert.equal((await won[1].get(`/orders/${replies[people.indexOf(won[1])].body.order}`)).body.percent, 33);
  await ada.get('/coupons/DUO2', { status: 404 });
});

test('only buyers review, once, when they have got it; the product has the mean', async () => {
  await product('good', 20);
  const [one, two] = [await ada.buy(['good', 1]), await ben.buy(['good', 1])];
  const review = (who, stars, expect) => who.put(`/products/good/reviews/${who.name}`, { stars, text: 'as it is' }, expect);
  await review(ada, 5, { status: 404 });
  for (const order of [one, two]) {
    await payments.post(`/orders/${order}/pay`, {});
    const { body: { shipment } } = await clerk.post(`/orders/${order}/shipments`, { carrier: 'Post', tracking: 'T' });
    await clerk.post(`/orders/${order}/shipments/${shipment}/deliver`);
  }
  await app.settled();
  assert.deepEqual((await ada.list('/customers/ada/purchases')).map(({ sku, pieces }) => [sku, pieces]), [['good', 1]]);
  await ada.put('/products/good/reviews/ben', { stars: 1 }, { status: 403 });
  const statuses = await atOnce(Array.from({ length: 4 }, () => () => ada.request('PUT', '/products/good/reviews/ada', { body: { stars: 5 } })));
  assert.deepEqual(statuses, { 201: 1, 409: 3 });
  await review(ben, 2);
  await app.settled();
  const { body } = await ada.get('/products/good');
  assert.deepEqual([body.ratings, body.stars, body.rating], [2, 7, 3.5]);
  await ben.patch('/products/good/reviews/ben', { stars: 4 });
  await manager.delete('/products/good/reviews/ada');
  assert.equal((await ada.list('/products/good/reviews')).length, 1);
  assert.equal((await (await customer('eve')).request('DELETE', '/products/good/reviews/ben')).status, 403);
});

test('best sellers of the month, in a category and in all: what is cancelled does not count', async () => {
  await manager.put('/categories/books', { title: 'Books' });
  for (const sku of ['moby', 'emma', 'ulysses']) await product(sku, 100, 900, { category: 'books' });
  await ada.buy(['emma', 40], ['moby', 20]);
  await ben.buy(['emma', 5], ['ulysses', 7]);
  const returned = await ben.buy(['moby', 60], ['ulysses', 1]);
  await ben.post(`/orders/${returned}/cancel`);
  await app.settled();
  assert.deepEqual((await app.nobody.list(`/best-sellers/${month}/books`)).map(({ sku, sold }) => [sku, sold]), [['emma', 45], ['moby', 20], ['ulysses', 7]]);
  assert.equal((await app.nobody.list(`/best-sellers/${month}/all`))[0].sku, 'emma');
});

test('the catalogue: by category and price, by word, and what runs low', async () => {
  await manager.put('/categories/lamps', { title: 'Lamps' });
  for (const [sku, price, stock] of [['desk', 4900, 3], ['floor', 12900, 30], ['clip', 990, 8]])
    await product(sku, stock, price, { category: 'lamps', name: `Lamp ${sku}, brass` });
  await app.settled();
  const names = async (path) => (await app.nobody.list(path)).map(({ sku }) => sku);
  assert.deepEqual(await names('/categories/lamps/products'), ['clip', 'desk', 'floor']);
  assert.deepEqual(await names('/categories/lamps/products?least=1000&most=12900'), ['desk', 'floor']);
  assert.deepEqual((await names('/search?word=Brass')).sort(), ['clip', 'desk', 'floor']);
  assert.ok((await clerk.all('/running-low', 50)).some(({ sku }) => sku === 'desk'));
  assert.ok(!(await clerk.all('/running-low', 50)).some(({ sku }) => sku === 'floor'));
  await manager.delete('/categories/lamps', { status: 409 });
  assert.equal((await app.nobody.get('/categories/lamps')).body.products, 3);
  for (const sku of ['desk', 'floor', 'clip']) await manager.patch(`/products/${sku}`, { on_sale: false });
  await app.settled();
  assert.deepEqual(await names('/categories/lamps/products'), []);
  await manager.delete('/categories/lamps', { status: 409 }); // they may come back
});

test('orders of a customer: newest first, of a span, page by page, for nobody else', async () => {
  const walt = await customer('walt');
  await product('paper', 50);
  const made = [];
  for (let i = 0; i < 7; i++) made.unshift(await walt.buy(['paper', 1]));
  assert.deepEqual((await walt.all('/customers/walt/orders', 3)).map(({ order }) => order), made);
  assert.deepEqual(await walt.list('/customers/walt/orders?to=2020-01-01T00:00:00Z'), []);
  assert.deepEqual(await ada.list('/customers/walt/orders'), []);
  assert.equal((await walt.get('/customers/walt')).body.orders, 7);
});

test('who may what: customers are no staff, and staff are what a manager says', async () => {
  await ada.put('/products/fake', { category: 'tea', name: 'Fake', price: 1 }, { status: 403 });
  await ada.patch('/products/sencha', { price: 1 }, { status: 403 });
  await clerk.patch('/products/sencha', { price: 1 }, { status: 403 });
  await ada.post('/products/sencha/deliveries', { quantity: 9 }, { status: 403 });
  await ada.post('/customers/ada/role', { role: 'manager' }, { status: 403 });
  await ada.patch('/customers/ada', { role: 'manager' }, { status: 422 });
  await ada.put('/customers/ben/cart', { lines: [] }, { status: 403 });
  await app.nobody.post('/orders', { ship_to: home }, { status: 401 });
  await manager.post('/customers/ben/role', { role: 'clerk' });
  const benAtWork = await app.login('ben@example.com', 'wonderland');
  await benAtWork.list('/running-low');
});
