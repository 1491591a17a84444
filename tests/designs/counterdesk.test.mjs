// Two at once: what a rule has looked at is still so when the write happens; numbers are given once; versions tell writes apart.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, runToEnd, startDesign } from './harness.mjs';

const file = join(ROOT, 'tests', 'designs', 'counterdesk', 'counterdesk.yaml');
const app = await startDesign(file);
const ann = await app.as('ann', 'user');
const bob = await app.as('bob', 'user');
const operator = await app.operator();
const MANY = 40;
const each = (n, make) => Promise.all(Array.from({ length: n }, (_, i) => make(i)));

test('the reviewer has nothing to say', async () => {
  const { code, stdout } = await runToEnd(['check', file]);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /0 errors, 0 warnings/);
});

test('no order is placed and empty, however its last line goes at the same moment', async () => {
  await each(MANY, async (i) => {
    await ann.put(`/orders/o${i}`);
    await ann.put(`/orders/o${i}/lines/l`);
  });
  const replies = (await each(MANY, (i) => [bob.request('POST', `/orders/o${i}/place`, { body: {} }), ann.request('DELETE', `/orders/o${i}/lines/l`)])).flat();
  const statuses = (await Promise.all(replies)).map((reply) => reply.status);
  assert.deepEqual(statuses.filter((status) => ![200, 204, 403, 409].includes(status)), []);
  for (let i = 0; i < MANY; i++) {
    const { body } = await ann.get(`/orders/o${i}`);
    const line = await ann.request('GET', `/orders/o${i}/lines/l`);
    assert.equal(body.status === 'placed', line.status === 200, `o${i}: ${body.status}, line ${line.status}`);
    assert.equal(body.lines, line.status === 200 ? 1 : 0);
  }
});

test('what is placed is not remarked on, also by a batch', async () => {
  await ann.put('/orders/b');
  await ann.put('/orders/b/lines/l');
  const [placed, batch] = await Promise.all([
    bob.post('/orders/b/place'),
    ann.post('/batch', { requests: [...Array(10)].map((_, i) => ({ method: 'POST', path: '/orders/b/lines/l/remark', body: { note: `n${i}` } })) }),
  ]);
  assert.equal(placed.status, 200);
  const statuses = batch.body.responses.map((reply) => reply.status);
  assert.deepEqual([...statuses].sort(), statuses, 'done until it was placed, and never after');
  await ann.post('/orders/b/lines/l/remark', { note: 'x' }, { status: 409, detail: /too late/ });
  await ann.patch('/orders/b/lines/l', { note: 'x' }, { status: 403 });
});

test('of many at once each gets a number of its own, cards and issues together, and no deletion gives one back', async () => {
  await ann.put('/boards/b');
  const replies = await each(MANY, (i) => ann.request('POST', `/boards/b/${i % 2 ? 'cards' : 'issues'}`, { body: {} }));
  assert.deepEqual([...new Set(replies.map((reply) => reply.status))], [201]);
  const numbers = replies.map((reply) => reply.body.number).sort((x, y) => x - y);
  assert.deepEqual(numbers, Array.from({ length: MANY }, (_, i) => i + 1));
  await Promise.all(replies.filter((reply) => !reply.body.issue).map((reply) => ann.delete(`/boards/b/cards/${reply.body.number}`)));
  assert.equal((await ann.post('/boards/b/cards')).body.number, MANY + 1);
  assert.equal((await operator.post('/boards/b/cards', { number: 100 })).body.number, 100);
  assert.equal((await ann.post('/boards/b/issues')).body.number, 101);
  await ann.post('/boards/b/cards', { number: 7 }, { status: 422 });
  await ann.post('/boards/none/cards', {}, { status: 404 });
});

test('two clients in one second: the first edit is made, the second is told', async () => {
  for (const by of ['version', 'etag']) {
    const { body, etag } = await ann.put(`/orders/${by}`);
    const headers = { 'if-match': by === 'etag' ? etag : `"${body.changed}"` };
    const first = await ann.patch(`/orders/${by}`, { note: 'one' }, { headers });
    await bob.patch(`/orders/${by}`, { note: 'two' }, { headers, status: 412, type: 'changed' });
    const again = { 'if-match': by === 'etag' ? first.etag : `"${first.body.changed}"` };
    await bob.patch(`/orders/${by}`, { note: 'two' }, { headers: again });
    const both = await Promise.all(['x', 'y', 'z'].map(async (note) => (await app.as(note, 'user')).request('PATCH', `/orders/${by}`, { body: { note }, headers: again })));
    assert.deepEqual(both.map((reply) => reply.status), [412, 412, 412]);
  }
});

test('null puts the default back, and so does a PUT without it', async () => {
  const { etag } = await ann.put('/orders/n', { note: 'mine' });
  assert.equal((await ann.patch('/orders/n', { note: null })).body.note, 'none');
  await ann.patch('/orders/n', { note: 'again' }, { headers: { 'if-match': etag }, status: 412 });
  await ann.patch('/orders/n', { note: 'again' });
  assert.equal((await ann.put('/orders/n', {}, { headers: { 'if-match': '*' } })).body.note, 'none');
});
