// Sending out: webhooks and OpenSearch, to receivers that work, refuse, break and come back. They are servers of this file.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { createHmac, timingSafeEqual } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { freshDirectory, runToEnd, startDesign, until } from './harness.mjs';

const DESIGN = `
design: hooks
title: Orders, told to others
table: Hooks
key: [PK, SK]
stream: new and old images
entities:
  Order:
    path: /orders/<id>
    attributes:
      id: string
      state: open | paid | shipped, default open
      total: number, default 0
      note: string
      card: string, hidden
      phone: string, private
    keys: {PK: ORDER#<id>, SK: ORDER}
    allow: {create: anyone, read: anyone, update: anyone, delete: anyone}
processors:
  tell the shop:
    on: Order created, updated, deleted
    when: state <> 'open' or old.state is present
    send: {to: '\${HOOK:-}'}
  tell the bank:
    on: Order updated
    when: state = 'paid' and old.state <> 'paid'
    send: {to: '\${BANK:-}', secret: '\${BANK_SECRET:-}'}
  index orders:
    on: Order created, updated, deleted
    send: {opensearch: '\${SEARCH:-}'}
`;

/** A server that keeps what it gets; `answer(request)` gives { status, headers, body }, or nothing for 200. */
async function startReceiver(answer = () => ({})) {
  const receiver = { got: [], answer };
  receiver.server = createServer((request, reply) => {
    const parts = [];
    request.on('data', (part) => parts.push(part));
    request.on('end', () => {
      const got = { path: request.url, headers: request.headers, text: Buffer.concat(parts).toString() };
      receiver.got.push(got);
      const { status = 200, headers = {}, body = '', destroy } = receiver.answer(got, receiver.got.length) ?? {};
      if (destroy) return reply.destroy();
      reply.writeHead(status, headers).end(body);
    });
  });
  const listen = (port) => new Promise((resolve) => { receiver.server.listen(port, '127.0.0.1', resolve); });
  await listen(0);
  const { port } = receiver.server.address();
  receiver.url = `http://127.0.0.1:${port}/in`;
  receiver.close = () => new Promise((resolve) => { receiver.server.close(resolve); receiver.server.closeAllConnections(); });
  receiver.open = () => listen(port);
  receiver.bodies = () => receiver.got.map(({ text }) => JSON.parse(text));
  after(() => receiver.close());
  return receiver;
}

const directory = freshDirectory();
writeFileSync(join(directory, 'hooks.yaml'), DESIGN);
const start = (env, options = {}) => startDesign(join(directory, 'hooks.yaml'), { env: { THORPE_RETRY_MS: '1', ...env }, ...options });
/** One whose end is part of the test. */
const startToEnd = (env, data) => start(env, { data, check: false });

const processorsOf = async (app) => (await (await app.operator()).get('/processors')).body.processors;
const processorOf = async (app, name) => (await processorsOf(app)).find((p) => p.name === name);
const at = (app, name) => `/processors/${encodeURIComponent(name)}`;

const signatureOf = (secret, { headers, text }) => `v1=${createHmac('sha256', secret).update(`${headers['thorpe-timestamp']}.${text}`).digest('hex')}`;

test('a webhook tells each change, in order, signed, without what is hidden or private', async () => {
  const shop = await startReceiver();
  const bank = await startReceiver();
  const app = await start({ HOOK: shop.url, BANK: bank.url, BANK_SECRET: 'known to the bank and us' });
  await (await app.operator()).post('/orders', { id: 'a', total: 12.5, card: '4242', phone: '030' }); // only operators may set what is hidden
  await app.nobody.patch('/orders/a', { note: 'grün' });
  await app.nobody.patch('/orders/a', { state: 'paid' });
  await app.nobody.patch('/orders/a', { state: 'shipped' });
  await app.nobody.delete('/orders/a');
  await until('four changes to arrive', () => shop.got.length === 4);
  const bodies = shop.bodies();
  assert.deepEqual(bodies.map((b) => [b.event, b.new?.state]), [['updated', 'open'], ['updated', 'paid'], ['updated', 'shipped'], ['deleted', undefined]]);
  const [first, , , last] = bodies;
  assert.equal(first.design, 'hooks');
  assert.equal(first.processor, 'tell the shop');
  assert.equal(first.entity, 'Order');
  assert.deepEqual(first.key, { PK: 'ORDER#a', SK: 'ORDER' });
  assert.deepEqual(first.new, { id: 'a', state: 'open', total: 12.5, note: 'grün' });
  assert.equal(first.old.note, undefined);
  assert.equal(last.new, null);
  assert.equal(last.old.state, 'shipped');

  const { code, stdout } = await runToEnd(['token', 'hooks', '--webhook-secret', '--data', app.data]);
  assert.equal(code, 0);
  for (const got of shop.got) {
    assert.ok(timingSafeEqual(Buffer.from(got.headers['thorpe-signature']), Buffer.from(signatureOf(stdout.trim(), got))));
    assert.ok(Math.abs(got.headers['thorpe-timestamp'] - Date.now() / 1000) < 300);
    assert.equal(got.headers['thorpe-id'], JSON.parse(got.text).id);
    assert.equal(got.headers['content-type'], 'application/json');
  }
  assert.equal(new Set(shop.got.map(({ headers }) => headers['thorpe-id'])).size, 4);

  await until('the bank to be told', () => bank.got.length === 1);
  assert.equal(bank.bodies()[0].new.state, 'paid');
  assert.equal(bank.got[0].headers['thorpe-signature'], signatureOf('known to the bank and us', bank.got[0]));
});

test('a receiver that breaks gets everything in the end, in order and under the same id', async () => {
  const shop = await startReceiver((got, n) => [{ status: 500 }, { destroy: true }, { status: 429, headers: { 'Retry-After': '1' } }, { status: 302, headers: { Location: '/other' } }][n - 1]);
  const app = await start({ HOOK: shop.url });
  await app.nobody.post('/orders', { id: 'a', state: 'paid' });
  await app.nobody.patch('/orders/a', { state: 'shipped' });
  await until('both changes to be taken', () => shop.got.length === 6);
  const ids = shop.got.map(({ headers }) => headers['thorpe-id']);
  assert.equal(new Set(ids.slice(0, 5)).size, 1);
  assert.deepEqual(shop.bodies().map((b) => b.new.state), ['paid', 'paid', 'paid', 'paid', 'paid', 'shipped']);
  assert.ok(shop.got.every(({ path }) => path === '/in'), 'a redirect was followed');
  const processor = await until('the numbers', async () => {
    const p = await processorOf(app, 'tell the shop');
    return p.done === 2 && p;
  });
  assert.ok(processor.retries >= 3); // a connection that was closed before the request is opened again without further ado
  assert.equal(processor.parked, 0);
});

test('a receiver that is down holds up nobody, and what it missed is sent when it is back', async () => {
  const shop = await startReceiver();
  const bank = await startReceiver();
  await shop.close();
  const app = await start({ HOOK: shop.url, BANK: bank.url, THORPE_RETRY_MS: '20' });
  await app.nobody.post('/orders', { id: 'a', state: 'open' });
  for (const state of ['paid', 'shipped']) await app.nobody.patch('/orders/a', { state });
  await until('the bank to be told', () => bank.got.length === 1);
  await until('a retry', async () => (await processorOf(app, 'tell the shop')).retries > 0);
  await shop.open();
  await until('the shop to be told', () => shop.got.length === 2);
  assert.deepEqual(shop.bodies().map((b) => b.new.state), ['paid', 'shipped']);
});

test('what is refused is parked; operators see it, and send it again or drop it', async () => {
  const shop = await startReceiver(({ text }) => (JSON.parse(text).new?.note === 'no' ? { status: 410 } : { status: 204 }));
  const app = await start({ HOOK: shop.url });
  const operator = await app.operator();
  const path = at(app, 'tell the shop');
  await app.nobody.post('/orders', { id: 'a', state: 'paid', note: 'no' });
  await app.nobody.post('/orders', { id: 'b', state: 'paid', note: 'no' });
  await app.nobody.post('/orders', { id: 'c', state: 'paid', note: 'yes' });
  await until('three to be sent', () => shop.got.length === 3);
  const parked = await until('two to be parked', async () => {
    const { items } = (await operator.get(`${path}/parked`)).body;
    return items.length === 2 && items;
  });
  assert.match(parked[0].reason, /410/);
  assert.equal(parked[0].tries, 1);
  shop.answer = () => ({ status: 204 });
  await operator.post(`${path}/parked/${parked[0].sequence}/retry`);
  assert.equal(shop.got.length, 4);
  await operator.post(`${path}/parked/${parked[1].sequence}/drop`);
  assert.deepEqual((await operator.get(`${path}/parked`)).body.items, []);
  assert.equal(shop.got.length, 4);
});

test('after the last try a change is parked and the next one is sent', async () => {
  const shop = await startReceiver((got) => (JSON.parse(got.text).new.state === 'paid' ? { status: 503, body: 'not now' } : {}));
  const app = await start({ HOOK: shop.url });
  await app.nobody.post('/orders', { id: 'a', state: 'paid' });
  await app.nobody.patch('/orders/a', { state: 'shipped' });
  await until('the second one', () => shop.got.length === 13);
  assert.equal(shop.bodies()[12].new.state, 'shipped');
  const processor = await until('the numbers', async () => {
    const p = await processorOf(app, 'tell the shop');
    return p.done === 1 && p;
  });
  assert.equal(processor.parked, 1);
  assert.match(processor.last_problem, /503/);
});

test('a restart, and a crash, go on where they were', async () => {
  const shop = await startReceiver();
  const data = freshDirectory();
  let app = await startToEnd({ HOOK: shop.url }, data);
  await app.nobody.post('/orders', { id: 'a', state: 'paid', total: 1 });
  await until('the first', () => shop.got.length === 1);
  await app.server.stop();
  app = await startToEnd({ HOOK: shop.url }, data);
  await app.nobody.patch('/orders/a', { total: 2 });
  await until('the second', () => shop.got.length === 2);
  shop.answer = () => ({ status: 500 });
  await app.nobody.patch('/orders/a', { total: 3 });
  await until('the third, in vain', () => shop.got.length > 2);
  await app.server.kill();
  const before = shop.got.length;
  shop.answer = () => ({});
  app = await start({ HOOK: shop.url }, { data });
  await app.nobody.patch('/orders/a', { total: 4 });
  await until('the fourth', () => shop.bodies().at(-1).new.total === 4);
  const afterwards = shop.bodies().slice(before).map((b) => b.new.total);
  // At least once: what was taken right before the crash may come again, in order.
  assert.deepEqual(afterwards.slice(-2), [3, 4]);
  assert.deepEqual(afterwards, [...afterwards].sort());
  assert.ok(!afterwards.includes(1), 'sent again though the first end was an orderly one');
});

test('a processor can be paused, resumed and replayed', async () => {
  const shop = await startReceiver();
  const app = await start({ HOOK: shop.url });
  const operator = await app.operator();
  const path = at(app, 'tell the shop');
  await operator.post(`${path}/pause`);
  await app.nobody.post('/orders', { id: 'a', state: 'paid' });
  await until('it to be behind', async () => {
    const p = await processorOf(app, 'tell the shop');
    return p.paused && p.lag_seconds > 0;
  });
  assert.equal(shop.got.length, 0);
  await operator.post(`${path}/resume`);
  await until('it to arrive', () => shop.got.length === 1);
  await operator.post(`${path}/replay`, { from: new Date(Date.now() - 3600_000).toISOString() });
  await until('it to arrive again', () => shop.got.length === 2);
  assert.equal(shop.got[0].headers['thorpe-id'], shop.got[1].headers['thorpe-id']);
});

test('of what is written after a pause was answered nothing is sent', async () => {
  const shop = await startReceiver();
  const app = await start({ HOOK: shop.url });
  const operator = await app.operator();
  const path = at(app, 'tell the shop');
  for (let i = 0; i < 10; i += 1) {
    await operator.post(`${path}/pause`);
    await app.nobody.post('/orders', { id: `o${i}`, state: 'paid' });
    await until('it to be behind', async () => (await processorOf(app, 'tell the shop')).lag_seconds > 0);
    assert.equal(shop.got.length, i);
    await operator.post(`${path}/resume`);
    await until('it to arrive', () => shop.got.length === i + 1);
  }
});

/** As much of OpenSearch as _bulk with external versions needs. */
function searchEngine({ trouble = () => undefined } = {}) {
  const documents = new Map();
  return {
    documents,
    answer({ text }) {
      const lines = text.split('\n');
      assert.equal(lines.pop(), '', 'a bulk request ends with a newline');
      const items = [];
      for (let i = 0; i < lines.length; i++) {
        const [[action, { _id, version, version_type }]] = Object.entries(JSON.parse(lines[i]));
        const source = action === 'index' ? JSON.parse(lines[++i]) : undefined;
        assert.equal(version_type, 'external');
        const held = documents.get(_id);
        let status = trouble(action, source);
        if (!status && held && BigInt(held.version) >= BigInt(/"version":(\d+)/.exec(lines[source ? i - 1 : i])[1])) status = 409;
        if (!status) {
          status = action === 'delete' && !held?.source ? 404 : 200;
          documents.set(_id, { version: /"version":(\d+)/.exec(lines[source ? i - 1 : i])[1], source });
        }
        assert.ok(version > 0);
        items.push({ [action]: { _id, status, ...(status >= 300 ? { error: { type: 'trouble', reason: `because of ${status}` } } : {}) } });
      }
      return { body: JSON.stringify({ took: 1, errors: items.some((item) => Object.values(item)[0].error), items }) };
    },
  };
}

test('OpenSearch is brought up to date in bulk, and never back', async () => {
  let full = 3;
  const engine = searchEngine({ trouble: () => (full-- > 0 ? 429 : undefined) });
  const search = await startReceiver((got, n) => (n === 1 ? { status: 502, body: '<html>' } : engine.answer(got)));
  const app = await start({ SEARCH: search.url });
  const operator = await app.operator();
  await Promise.all(Array.from({ length: 40 }, (_, i) => operator.post('/orders', { id: `o${i}`, total: i, card: '4242', phone: '030' })));
  await Promise.all(Array.from({ length: 40 }, (_, i) => app.nobody.patch(`/orders/o${i}`, { total: i + 100 })));
  await app.nobody.delete('/orders/o0');
  await until('all to be there', async () => (await processorOf(app, 'index orders')).done === 81);
  const found = [...engine.documents.values()].filter(({ source }) => source).map(({ source }) => source);
  assert.equal(found.length, 39);
  for (const order of found) assert.deepEqual(order, { id: order.id, state: 'open', total: Number(order.id.slice(1)) + 100 });
  assert.ok(engine.documents.has('/orders/o7'));
  assert.match(search.got[0].path, /^\/in\/_bulk\?/);
  assert.equal(search.got[0].headers['content-type'], 'application/x-ndjson');
});

test('a card leaves the search index with its end, also when it was archived before', async () => {
  const engine = searchEngine();
  const search = await startReceiver((got) => engine.answer(got));
  const app = await startDesign('perfectit', { env: { THORPE_RETRY_MS: '1', PERFECTIT_OPENSEARCH: search.url } });
  const operator = await app.operator();
  await operator.post('/users', { userId: 'gus', username: 'gus' });
  await operator.post('/categories', { categoryId: 'wood', name: 'Wood' });
  const gus = await app.as('gus');
  const held = () => [...engine.documents].filter(([, { source }]) => source).map(([id, { source }]) => `${id} ${source.status}`).sort();
  for (const cardId of ['shown', 'hidden']) {
    await gus.post('/cards', { cardId, category: 'wood', title: cardId });
    await gus.post(`/cards/${cardId}/publish`);
  }
  await gus.post('/cards/hidden/archive');
  await until('both to be known', () => held().join() === '/cards/hidden ARCHIVED,/cards/shown PUBLISHED');
  await gus.delete('/cards/hidden');
  await until('it to be gone', () => held().join() === '/cards/shown PUBLISHED');
  await gus.delete('/cards/shown');
  await until('both to be gone', () => held().length === 0);
});

test('a document that OpenSearch refuses is parked alone', async () => {
  const engine = searchEngine({ trouble: (action, source) => (source?.note === 'bad' ? 400 : undefined) });
  const search = await startReceiver((got) => engine.answer(got));
  const app = await start({ SEARCH: search.url });
  for (const [id, note] of [['a', 'good'], ['b', 'bad'], ['c', 'good']]) await app.nobody.post('/orders', { id, note });
  await until('two to be there', async () => (await processorOf(app, 'index orders')).done === 2);
  const [parked, ...others] = await until('one to be parked', async () => {
    const { items } = (await (await app.operator()).get(`${at(app, 'index orders')}/parked`)).body;
    return items.length && items;
  });
  assert.equal(others.length, 0);
  assert.match(parked.reason, /400: trouble: because of 400/);
  assert.deepEqual([...engine.documents.keys()].sort(), ['/orders/a', '/orders/c']);
});

test('without an address nothing is sent, and no processor runs', async () => {
  const app = await start({});
  await app.nobody.post('/orders', { id: 'a', state: 'paid' });
  assert.deepEqual(await processorsOf(app), []);
});

test('writers do not wait for receivers', async () => {
  const shop = await startReceiver(() => ({ status: 500 }));
  const app = await start({ HOOK: shop.url, THORPE_RETRY_MS: '1000' });
  const started = Date.now();
  for (let i = 0; i < 50; i++) await app.nobody.post('/orders', { id: `o${i}`, state: 'paid' });
  assert.ok(Date.now() - started < 10_000);
  await until('the first try', () => shop.got.length > 0);
});
