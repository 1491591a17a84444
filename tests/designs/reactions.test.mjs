// Counters in a map: one for each word, moved by counts, shown as a map, used in terms, keys, filters and checks.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, eventually, runToEnd, startDesign } from './harness.mjs';

const file = join(ROOT, 'tests', 'designs', 'reactions', 'reactions.yaml');
const app = await startDesign(file);
const ann = await app.as('ann', 'user');
const bob = await app.as('bob', 'user');
const operator = await app.operator();
const people = await Promise.all(Array.from({ length: 8 }, (_, i) => app.as(`p${i}`, 'user')));

const post = async (text) => (await ann.post('/posts', { text })).body.post;
const shown = async (id) => (await ann.get(`/posts/${id}`)).body;

test('the reviewer has nothing to say', async () => {
  const { code, stdout } = await runToEnd(['check', file]);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /0 errors, 0 warnings/);
});

test('each reaction counts under its word, follows a change of mind, and goes with the reaction', async () => {
  const id = await post('one');
  assert.deepEqual((await shown(id)).reactions, { like: 0, heart: 0, laugh: 0 });
  await bob.put(`/posts/${id}/reactions/bob`, { kind: 'like' });
  await ann.put(`/posts/${id}/reactions/ann`, { kind: 'heart' });
  assert.deepEqual((await shown(id)).reactions, { like: 1, heart: 1, laugh: 0 });
  await bob.patch(`/posts/${id}/reactions/bob`, { kind: 'heart' });
  assert.deepEqual((await shown(id)).reactions, { like: 0, heart: 2, laugh: 0 });
  await bob.patch(`/posts/${id}/reactions/bob`, { quiet: true });
  await ann.delete(`/posts/${id}/reactions/ann`);
  assert.deepEqual((await shown(id)).reactions, { like: 0, heart: 0, laugh: 0 });
  const { body } = await ann.get(`/posts/${id}`);
  assert.deepEqual(Object.keys(body).filter((name) => name.includes('.')), [], 'a map, and nothing beside it');
});

test('terms, keys and filters read one counter', async () => {
  const id = await post('two');
  await Promise.all(people.slice(0, 3).map((who, i) => who.put(`/posts/${id}/reactions/p${i}`, { kind: 'like' })));
  await people[3].put(`/posts/${id}/reactions/p3`, { kind: 'heart' });
  await app.settled();
  await eventually();
  assert.equal((await shown(id)).warmth, 5);
  const { body } = await ann.get('/liked');
  assert.deepEqual(body.items.map((row) => [row.post, row.reactions.like]), [[id, 3]]);
});

test('a check holds for one word; an action asks two', async () => {
  const id = await post('three');
  await ann.post(`/posts/${id}/close`, {}, { status: 409, detail: /not enough votes/ });
  const replies = await Promise.all(people.map((who, i) => who.request('PUT', `/posts/${id}/reactions/p${i}`, { body: { kind: 'laugh', vote: 'yes' } })));
  assert.equal(replies.filter(({ status }) => status === 201).length, 3);
  assert.deepEqual(replies.map(({ status }) => status).filter((status) => status !== 201), Array(5).fill(409));
  assert.deepEqual((await shown(id)).votes, { yes: 3, no: 0 });
  assert.equal((await ann.post(`/posts/${id}/close`)).body.closed, true);
});

test('clients cannot set it, may send it back as it was read, and operators restore it', async () => {
  const id = await post('four');
  await ann.patch(`/posts/${id}`, { reactions: { like: 5 } }, { status: 422 });
  const { body, headers } = await ann.request('GET', `/posts/${id}`);
  const etag = headers?.etag ?? headers?.get?.('etag');
  const put = await ann.request('PUT', `/posts/${id}`, { body: { ...body, text: 'five' }, headers: { 'if-match': etag ?? '*' } });
  assert.equal(put.status, 200, JSON.stringify(put.body));
  await operator.post('/posts', { text: 'x', reactions: { love: 5 } }, { status: 422 });
});

test('OpenAPI has an object with a member for each word', async () => {
  const { body } = await ann.get('/openapi.json');
  const { reactions } = body.components.schemas.Post.properties;
  assert.deepEqual(Object.keys(reactions.properties), ['like', 'heart', 'laugh']);
  assert.equal(reactions.properties.heart.type, 'integer');
  assert.equal(reactions.readOnly, true);
  assert.equal(body.components.schemas.Post.properties['reactions.like'], undefined);
});
