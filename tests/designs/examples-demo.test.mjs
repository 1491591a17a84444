// The demo data of shop, devices and game: it loads without a word of complaint, adds up, and shows something for every list.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, startDesign } from './harness.mjs';

const demo = join(ROOT, 'designs', 'demo');
const today = new Date().toISOString().slice(0, 10);

async function load(name) {
  const app = await startDesign(name, { args: ['--demo', demo] });
  const { steps } = JSON.parse(readFileSync(join(demo, `${name}.json`), 'utf8'));
  assert.doesNotMatch(app.server.log(), /warn|error|failed/i);
  assert.match(app.server.log(), new RegExp(`demo data of ${name}: ${steps.length} steps`));
  return { app, items: await app.items() };
}

test('shop: what is left is what came in less what was ordered, and each order adds up', async () => {
  const { app, items } = await load('shop');
  const of = (prefix, SK) => items.filter((item) => item.PK.startsWith(prefix) && (!SK || item.SK.startsWith(SK)));
  const orders = of('ORDER#', 'ORDER');
  for (const product of of('PRODUCT#', 'PRODUCT')) {
    const came = of(product.PK, 'DELIVERY#').reduce((sum, { quantity }) => sum + quantity, 0);
    const went = orders.filter(({ status }) => status !== 'cancelled').flatMap(({ lines }) => lines)
      .reduce((sum, { sku, quantity }) => sum + (sku === product.sku ? quantity : 0), 0);
    assert.equal(product.stock, came - went, product.sku);
  }
  for (const order of orders) {
    const lines = of(order.PK, 'LINE#');
    assert.equal(order.subtotal, lines.reduce((sum, { quantity, price }) => sum + quantity * price, 0));
    assert.equal(order.total, order.subtotal - order.discount + order.shipping);
  }
  assert.deepEqual(new Set(orders.map(({ status }) => status)), new Set(['placed', 'paid', 'delivered', 'cancelled']));
  const ada = await app.login('ada@example.com', 'wonderland');
  assert.deepEqual((await ada.list('/customers/ada/orders')).map(({ order }) => order), ['o-1004', 'o-1001']);
  assert.deepEqual((await ada.list('/customers/ada/purchases')).map(({ sku }) => sku), ['espresso-blend', 'stoneware-cup']);
  assert.equal((await ada.get('/customers/ada/cart')).body.pieces, 2);
  const kai = await app.login('kai@example.com', 'wonderland');
  assert.deepEqual((await kai.list(`/desk/paid/${today}`)).map(({ order }) => order), ['o-1004']);
  assert.ok((await kai.list('/running-low')).length >= 2);
  assert.equal((await app.nobody.list('/categories')).length, 3);
});

test('devices: roll-ups of last month without their readings, an open alarm, devices on the map', async () => {
  const { app } = await load('devices');
  const nora = await app.login('nora', 'wonderland');
  const days = await nora.list('/devices/weather-1/days/temperature');
  assert.ok(days.length >= 4);
  const oldest = days.at(-1);
  assert.ok(Date.parse(oldest.last_at) < Date.now() - 38 * 86400_000);
  assert.deepEqual((await nora.list(`/devices/weather-1/readings/temperature/days/${oldest.day}`)), []);
  assert.ok((await nora.list(`/devices/weather-1/readings/temperature/days/${today}`)).length > 10);
  assert.ok((await nora.list('/accounts/nora/alarms')).length >= 1);
  assert.deepEqual((await app.nobody.list('/nearby?cells=u1x0&lat=53.5405&lon=9.984')).map(({ device }) => device), ['weather-3', 'weather-1', 'soil-1']);
});

test('game: every board is in order, of eight players and two seasons', async () => {
  const { app } = await load('game');
  for (const board of ['blocks.all', 'blocks.season.winter', 'blocks.season.spring', 'maze.all']) {
    const rows = await app.nobody.list(`/boards/${board}`);
    assert.ok(rows.length >= 4, board);
    assert.deepEqual(rows.map(({ points }) => points), rows.map(({ points }) => points).sort((a, b) => b - a));
  }
  assert.equal((await app.nobody.list('/boards/blocks.all')).length, 8);
});
