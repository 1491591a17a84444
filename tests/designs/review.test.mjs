// What must not be told, what must not get lost, and what one request must not cost.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, eventually, startDesign } from './harness.mjs';

const app = await startDesign(join(ROOT, 'tests', 'designs', 'desk', 'desk.yaml'));
const alice = await app.as('alice');
const bob = await app.as('bob');
const clerk = await app.as('carl', 'clerk');
const operator = await app.operator();

test('a union of private lists has in it what the caller may see in the items', async () => {
  await alice.post('/people', { name: 'ann', city: 'ulm', phones: ['1', '2'] });
  await bob.post('/people', { name: 'ben', city: 'ulm', phones: ['2', '3'] });
  assert.deepEqual(await alice.list('/cities/ulm/phones'), ['1', '2']);
  assert.deepEqual(await bob.list('/cities/ulm/phones'), ['2', '3']);
  assert.deepEqual(await app.nobody.list('/cities/ulm/phones'), []);
  assert.deepEqual(await operator.list('/cities/ulm/phones'), ['1', '2', '3']);
});

test('who may change an item and not read it is not shown it', async () => {
  await alice.post('/people', { name: 'cat' });
  const { body: letter, etag } = await alice.post('/letters', { to: 'cat', text: 'between us' });
  await clerk.get(`/letters/${letter.id}`, { status: 404 });
  for (const reply of [
    await clerk.patch(`/letters/${letter.id}`, { stamped: true }, { status: 204 }),
    await clerk.put(`/letters/${letter.id}`, { to: 'cat', text: 'other', stamped: true }, { status: 204, headers: { 'if-match': '*' } }),
  ]) {
    assert.equal(reply.body, undefined);
    assert.equal(reply.etag, null);
  }
  const now = await alice.get(`/letters/${letter.id}`);
  assert.deepEqual(now.body, { ...letter, text: 'other', stamped: true });
  assert.notEqual(now.etag, etag);
});

test('what an item gets while it moves is not lost', async () => {
  const added = ['nick', 'city', 'bio'];
  for (let i = 0; i < 40; i++) {
    await alice.post('/people', { name: `from${i}` });
    const [moved, ...changes] = await Promise.all([
      alice.request('PATCH', `/people/from${i}`, { body: { name: `to${i}` } }),
      ...added.map((name) => alice.request('PATCH', `/people/from${i}`, { body: { [name]: 'new' } })),
    ]);
    assert.ok([200, 503].includes(moved.status), JSON.stringify(moved.body));
    const { body } = await alice.get(moved.status === 200 ? `/people/to${i}` : `/people/from${i}`);
    changes.forEach(({ status }, k) => {
      assert.ok([200, 404, 503].includes(status), `${status}`);
      if (status === 200) assert.equal(body[added[k]], 'new', `${added[k]} of ${i} was taken and is gone`);
    });
  }
});

test('a list far too long for its companions is refused at once', { timeout: 60_000 }, async () => {
  const tags = Array.from({ length: 100_000 }, (_, i) => i.toString(36));
  await alice.post('/people', { name: 'dan', tags }, { status: 422, type: 'invalid', detail: /at most 100/ });
  await alice.get('/people/dan', { status: 404 });
  await alice.post('/people', { name: 'dan', tags: tags.slice(0, 99) });
  await alice.patch('/people/dan', { tags: tags.slice(0, 198) });
  await alice.patch('/people/dan', { tags: [] }, { status: 422, type: 'invalid', detail: /at most 100/ });
  await alice.patch('/people/dan', { tags: tags.slice(0, 100) });
  assert.equal((await app.items()).filter(({ PK, SK }) => PK === 'PERSON#dan' && SK.startsWith('TAG#')).length, 100);
});

test('limit and after without a value are not given', async () => {
  for (const query of ['limit=', 'after=', 'limit=&after='])
    assert.equal((await bob.list(`/cities/ulm/people?${query}`)).length, 2);
});

test('what no address can name is not made', async () => {
  await alice.post('/people', { name: 'e\0e' }, { status: 422, type: 'invalid' });
  await alice.patch('/people/ann', { name: 'e\0e' }, { status: 422, type: 'invalid' });
  await alice.patch('/people/ann', { bio: 'e\0e' });
});

test('a batch of long lists ends where its replies are too long, and says so', async () => {
  const bio = 'x'.repeat(300_000);
  for (let i = 0; i < 20; i++) await alice.post('/people', { name: `big${i}`, city: 'bonn', bio });
  const read = { method: 'GET', path: '/cities/bonn/people?limit=1000' };
  await eventually(); // the lists are of an index
  const { body: { responses } } = await bob.post('/batch', { requests: [...Array(99).fill(read), { method: 'POST', path: '/people', body: { name: 'fay' } }] });
  assert.equal(responses.length, 100);
  assert.deepEqual(responses.slice(0, 2).map(({ status, body }) => [status, body.items.length]), [[200, 20], [200, 20]]);
  for (const { status, body } of responses.slice(10)) assert.deepEqual([status, body.type], [413, 'urn:thorpe:too-large']);
  await alice.get('/people/fay', { status: 404 });
});

test('whoever guesses at the current password has to wait', async () => {
  const shelves = await startDesign(join(ROOT, 'tests', 'designs', 'shelves', 'shelves.yaml'));
  await shelves.nobody.post('/readers', { name: 'gus', password: 'right password' });
  const gus = await shelves.login('gus', 'right password');
  const guess = (i) => gus.request('PATCH', '/readers/gus', { body: { current_password: `wrong ${i}`, password: 'another one' } });
  const replies = [];
  while (replies.length < 12 && replies.at(-1)?.status !== 429) replies.push(await guess(replies.length));
  assert.ok(replies.slice(0, 5).every(({ status }) => status === 422));
  assert.equal(replies.at(-1).status, 429);
  assert.ok(Number(replies.at(-1).headers.get('retry-after')) >= 1);
  await shelves.login('gus', 'right password'); // which it has nothing to do with
});
