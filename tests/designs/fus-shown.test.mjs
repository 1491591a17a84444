// What rows of designs/fus.yaml show of other items: the caller's stars, the title of a site, what a group permits.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDesign } from './harness.mjs';

const app = await startDesign('fus');
const ada = await app.as('sub-ada', 'admin');
const carl = await app.as('sub-carl');
const dora = await app.as('sub-dora');
const site = async (title) => (await ada.post('/sites', { url: `https://${title.toLowerCase()}.example`, title, tags: ['open'] })).body.id;
const [maps, books, wiki] = [await site('Maps'), await site('Books'), await site('Wiki')];
await carl.post(`/users/sub-carl/ratings/${maps}/rate`, { stars: 5, note: 'mine alone' });
await carl.post(`/users/sub-carl/ratings/${books}/rate`, { stars: 2 });
await dora.post(`/users/sub-dora/ratings/${maps}/rate`, { stars: 1 });

test('F-A01, F-A03, F-A04: a site shows the stars that the caller gave it', async () => {
  const stars = async (caller) => (await caller.get(`/sites/${maps}`)).body.myStars;
  assert.deepEqual([await stars(carl), await stars(dora), await stars(ada), await stars(app.nobody)], [5, 1, undefined, undefined]);
  const tagged = async (caller) => Object.fromEntries((await caller.list('/tags/open/sites')).map((row) => [row.title, row.myStars]));
  assert.deepEqual(await tagged(carl), { Maps: 5, Books: 2, Wiki: undefined });
  assert.deepEqual(await tagged(app.nobody), { Maps: undefined, Books: undefined, Wiki: undefined });
  await ada.patch(`/sites/${maps}`, { myStars: 5 }, { status: 422 });
});

test("F-A04, F-A02: the caller's ratings for a page of sites, with one request; the list itself is the same for everyone", async () => {
  assert.equal((await carl.get('/sites')).headers.get('cache-control'), 'public, max-age=60');
  const mine = async (caller) => (await caller.list(`/my-ratings?id=${maps}&id=${books}&id=${wiki}`)).map((row) => [row.site, row.stars, row.note]);
  assert.deepEqual((await mine(carl)).sort(), [[books, 2, undefined], [maps, 5, 'mine alone']].sort());
  assert.deepEqual(await mine(dora), [[maps, 1, undefined]]);
  assert.deepEqual(await mine(app.nobody), []);
});

test('F-A05, F-A06, F-A14: ratings and comments name the site that they are of', async () => {
  assert.deepEqual((await carl.list('/users/sub-carl/ratings')).map((row) => [row.title, row.url]).sort(), [['Books', 'https://books.example'], ['Maps', 'https://maps.example']]);
  assert.deepEqual((await app.nobody.list('/stars/5/ratings')).map((row) => [row.title, row.note]), [['Maps', undefined]]);
  await carl.post(`/users/sub-carl/sites/${wiki}/comments`, { body: 'Ask me anything' });
  assert.deepEqual((await carl.list('/users/sub-carl/comments')).map((row) => row.title), ['Wiki']);
});

test('F-A10: the groups of a user say what they permit', async () => {
  await ada.post('/groups', { name: 'editors', description: 'They edit', permissions: ['site:write'] });
  await ada.put('/users/sub-carl/groups/editors');
  const [row] = await carl.list('/users/sub-carl/groups');
  assert.deepEqual([row.groupName, row.addedBy, row.description, row.permissions], ['editors', 'sub-ada', 'They edit', ['site:write']]);
  await dora.get('/users/sub-carl/groups', { status: 403 }).catch(async () => assert.deepEqual(await dora.list('/users/sub-carl/groups'), []));
});
