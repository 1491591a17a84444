// References: attributes that name other items. They have the form of what they name, and exist when they are written.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, runToEnd, startDesign } from './harness.mjs';

const file = join(ROOT, 'tests', 'designs', 'references', 'papers.yaml');
const app = await startDesign(file);
const ann = await app.as('ann', 'user');

const refused = (reply) => { assert.equal(reply.status, 422); return reply.body.errors; };
const folder = (team, name, parent) => ann.put(`/teams/${team}/folders/${name}`, parent ? { parent } : {});

test('the reviewer has nothing to say', async () => {
  const { code, stdout } = await runToEnd(['check', file]);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /0 errors, 0 warnings/);
});

test('a reference is stored as what it names is, and exists', async () => {
  for (const person of ['ann', 'Bob']) await ann.put(`/people/${person}`, {});
  for (const tag of ['ink', 'nib']) await ann.put(`/tags/${tag}`, {});
  const { body } = await ann.post('/papers', { author: ' BOB ', tags: ['INK', 'nib', 'ink'] });
  assert.equal(body.author, 'bob');
  assert.deepEqual(body.tags, ['ink', 'nib']);
  assert.equal((await ann.get('/people/bob')).body.papers, 1);
  assert.deepEqual(refused(await ann.post('/papers', { author: 'no one' }, { status: 422 })).map(({ attribute }) => attribute), ['author']);
});

test('a reference that names nothing is refused with the same text everywhere', async () => {
  const expected = (attribute, detail) => [{ attribute, detail }];
  const bob = expected('reviewer', 'there is no Person zoe');
  const { body } = await ann.post('/papers', { author: 'ann' });
  assert.deepEqual(refused(await ann.post('/papers', { author: 'ann', reviewer: 'Zoe' }, { status: 422 })), bob);
  assert.deepEqual(refused(await ann.patch(`/papers/${body.paper}`, { reviewer: 'zoe' }, { status: 422 })), bob);
  assert.deepEqual(refused(await ann.put(`/papers/${body.paper}`, { author: 'ann', reviewer: 'zoe' }, { status: 422 })), bob);
  assert.deepEqual(refused(await ann.post(`/papers/${body.paper}/hand-over`, { author: 'zoe' }, { status: 422 })), expected('author', 'there is no Person zoe'));
  const cem = await app.as('cem', 'user');
  assert.deepEqual(refused(await cem.post(`/papers/${body.paper}/assign`, {}, { status: 422 })), expected('reviewer', 'there is no Person cem'));
  assert.deepEqual(refused(await ann.post(`/papers/${body.paper}/tag`, { tags: ['ink', 'pen'] }, { status: 422 })), expected('tags', 'there is no Tag pen'));
  assert.deepEqual(refused(await ann.post('/papers', { author: 'ann', follows: 'p_no' }, { status: 422 })), expected('follows', 'there is no Paper p_no'));
});
