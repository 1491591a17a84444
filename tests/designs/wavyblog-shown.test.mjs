// What posts of designs/wavyblog.yaml show of their categories, and posts of one second.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDesign } from './harness.mjs';

const app = await startDesign('wavyblog');
const operator = await app.operator();
const admin = await app.as('judy', 'admin');
for (const Username of ['maria', 'sam']) await operator.post('/users', { Username, Email: `${Username}@example.com` });
for (const Name of ['Fine Cooking', 'Travel']) await admin.post('/categories', { Name });
const second = '2026-03-01T12:00:00Z';
const slugs = Array.from({ length: 7 }, (_, i) => `same-second-${i}`);
for (const [i, Slug] of slugs.entries())
  await operator.post('/posts', { Slug, Title: Slug, AuthorID: i % 2 ? 'sam' : 'maria', Category: 'fine-cooking', CreatedAt: second, IsPublished: true });
const of = (name) => (items) => items.map((item) => item[name]);

test('W-A04, W-A05, W-A06: posts show the display name of their category, as it is now, to every cache', async () => {
  assert.equal((await app.nobody.get('/posts/same-second-0')).body.CategoryName, 'Fine Cooking');
  for (const path of ['/posts', '/latest', '/users/maria/posts']) {
    const { body, headers } = await app.nobody.get(path);
    assert.deepEqual(new Set(of('CategoryName')(body.items)), new Set(['Fine Cooking']), path);
    if (path === '/latest') assert.equal(headers.get('cache-control'), 'public, max-age=30');
  }
  await admin.patch('/categories/fine-cooking', { Name: 'Cooking' });
  assert.equal((await app.nobody.list('/users/sam/posts'))[0].CategoryName, 'Cooking');
  await admin.patch('/posts/same-second-0', { CategoryName: 'x' }, { status: 422 });
  assert.ok(!('CategoryName' in (await app.item('POST#same-second-0', 'METADATA#same-second-0'))));
});

test('W-A06, W-A07, W-A12: posts of one second are all listed, once, in the same order on every page', async () => {
  const whole = of('Slug')(await app.nobody.list('/categories/fine-cooking/posts'));
  assert.deepEqual([...whole].sort(), slugs);
  for (const limit of [1, 2, 3]) assert.deepEqual(of('Slug')(await app.nobody.all('/categories/fine-cooking/posts', limit)), whole);
  assert.deepEqual(of('Slug')(await app.nobody.all('/users/maria/posts', 1)).sort(), slugs.filter((_, i) => i % 2 === 0));
  assert.deepEqual(of('Slug')(await app.nobody.all('/latest', 2)).sort(), slugs);
  assert.deepEqual(of('Slug')(await app.nobody.all(`/users/sam/posts?from=${second}&to=${second}`, 1)).sort(), slugs.filter((_, i) => i % 2));
});
