// The site catalogue under people who mean no good, and under many at once.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { generateKeyPairSync, sign } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { Caller, atOnce, startDesign, until } from './harness.mjs';

const app = await startDesign('fus', { oracle: ['orphan'] }); // someone is put into a group that is not there
const operator = await app.operator();
const ada = await app.as('sub-ada', 'admin');
const mallory = await app.as('mallory');
const names = Array.from({ length: 12 }, (_, i) => `user${String(i).padStart(2, '0')}`);
const users = await Promise.all(names.map((name) => app.as(name)));
const clients = (n, start) => Array.from({ length: n }, (_, i) => () => start(i));

/** Everything that was ever answered; a note is told to its writer and operators alone (F16). */
const request = Caller.prototype.request;
Caller.prototype.request = async function listen(method, path, options) {
  const reply = await request.call(this, method, path, options);
  const text = JSON.stringify(reply.body) ?? '';
  for (const [note] of text.matchAll(/note of \w+/g)) {
    const writer = users[names.indexOf(note.slice(8))];
    assert.ok(this === writer || this === operator, `${method} ${path} tells the ${note}`);
  }
  for (const key of ['"PK":', '"SK":', '"entitySk":', '"commentSk":', '"starRating":', '"siteId":']) assert.ok(!text.includes(key), `${method} ${path} tells ${key}: ${text}`);
  return reply;
};

/** Every tag item has its tag in a list, and the other way round (F4); what is of a site is of one that is there. */
async function audit() {
  const items = await app.items();
  const sites = items.filter((item) => item.entityType === 'SITE');
  const listed = sites.flatMap((site) => (site.tags ?? []).map((tag) => `${site.PK} TAG#${tag}`));
  assert.deepEqual(items.filter((item) => item.SK.startsWith('TAG#')).map((item) => `${item.PK} ${item.SK}`).sort(), listed.sort());
  const there = new Set(sites.map((site) => site.PK));
  for (const item of items) {
    if (item.siteId) assert.ok(there.has(item.siteId), `${item.PK} ${item.SK} is of a site that is not there`);
    if (item.starRating !== undefined) assert.equal(item.starRating, item.stars);
  }
  return items;
}

for (let i = 0; i < 3; i += 1) await ada.post('/sites', { id: `site${i}`, url: `https://${i}.example`, title: `Site ${i}`, tags: ['shared', `own${i}`] });

test('F-A22: nobody rates in the name of another, whatever the body says', async () => {
  await users[0].put('/users/user00/ratings/site0', { stars: 5, note: 'note of user00' });
  const before = await app.items();
  await mallory.put('/users/user01/ratings/site0', { stars: 1 }, { status: 403, type: 'forbidden' });
  await mallory.post('/users/user01/ratings', { site: 'site0', stars: 1 }, { status: 403 });
  await mallory.post('/users/user00/ratings/site0/rate', { stars: 1 }, { status: 403 });
  await mallory.post('/users/user01/ratings/site0/rate', { stars: 1 }, { status: 403 });
  await mallory.patch('/users/user00/ratings/site0', { stars: 1 }, { status: 403 });
  await mallory.delete('/users/user00/ratings/site0', { status: 403 });
  await ada.patch('/users/user00/ratings/site0', { stars: 1 }, { status: 403 });
  await app.nobody.put('/users/user01/ratings/site0', { stars: 1 }, { status: 401, type: 'unauthenticated' });
  await app.nobody.post('/users/user01/ratings/site0/rate', { stars: 1 }, { status: 401 });
  assert.deepEqual(await app.items(), before);
  const { body: own } = await mallory.put('/users/mallory/ratings/site0', { stars: 1, user: 'user01' }); // who he is, the token says
  assert.equal(own.user, 'mallory');
  await mallory.delete('/users/mallory/ratings/site0');
  assert.deepEqual(await app.items(), before);
  assert.equal((await users[0].get('/users/user00/ratings/site0')).body.note, 'note of user00');
  for (const path of ['/users/user00/ratings/site0', '/stars/5/ratings', '/sites/site0/ratings', '/sites/site0/stars/5/ratings']) await mallory.get(path);
  const { body } = await mallory.post('/batch', { requests: [{ method: 'GET', path: '/users/user00/ratings/site0' }, { method: 'GET', path: '/users/user00/ratings' }] });
  assert.deepEqual(body.responses.map((reply) => reply.status), [200, 403]);
});

test('F-A23: nobody comments in the name of another', async () => {
  await mallory.post('/users/user01/sites/site0/comments', { body: 'forged' }, { status: 403 });
  await mallory.put('/users/user01/sites/site0/comments/c1', { body: 'forged' }, { status: 403 });
  await mallory.post('/users/mallory/sites/site0/comments', { body: 'x', site: 'site1' }, { status: 422 });
  await mallory.post('/users/mallory/sites/site0/comments', { body: 'x', commentSk: 'COMMENT#0' }, { status: 422 });
  await mallory.post('/users/mallory/sites/site0/comments', { body: 'x', createdAt: '2020-01-01T00:00:00Z' }, { status: 422 });
  await app.nobody.post('/users/mallory/sites/site0/comments', { body: 'x' }, { status: 401 });
  assert.equal((await app.items()).filter((item) => item.commentSk).length, 0);
  const { body: own, location } = await mallory.post('/users/mallory/sites/site0/comments', { body: 'forged', user: 'user01' });
  assert.equal(own.user, 'mallory'); // who he is, the token says
  await mallory.delete(location.replace('/api/fus', ''));
  await users[1].put('/users/user01/sites/site0/comments/c1', { body: 'mine' }, { status: 422, detail: /^commentId/ }); // its id is always ours
  const mine = (await users[1].post('/users/user01/sites/site0/comments', { body: 'mine' })).location.replace('/api/fus', '');
  const { etag } = await users[1].get(mine);
  await mallory.put(mine, { body: 'x' }, { status: 403, headers: { 'if-match': etag } });
  await users[1].patch(mine, { commentId: 'c2' }, { status: 422 });
  assert.equal((await users[1].patch(mine, { user: 'mallory' })).body.user, 'user01');
  await ada.delete(mine); // F14
});

test('F-A20, F-A24: what is no site and no group; # stays out of keys', async () => {
  const before = await app.items();
  const site = { url: 'https://x.example', title: 'X' };
  for (const [wrong, attribute] of [
    [{ id: 'a#b' }, 'id'], [{ id: '' }, 'id'], [{ id: 7 }, 'id'], [{ url: '' }, 'url'], [{ url: undefined }, 'url'], [{ url: ['x'] }, 'url'], [{ title: null }, 'title'],
    [{ title: 'x'.repeat(301) }, 'title'], [{ tags: 'one' }, 'tags'], [{ tags: [1] }, 'tags'], [{ tags: ['a#b'] }, 'tags'], [{ tags: [''] }, 'tags'], [{ tags: { a: 1 } }, 'tags'],
    [{ scrapedContent: 'x'.repeat(300001) }, 'scrapedContent'], [{ entityType: 'GROUP' }, 'entityType'], [{ entitySk: 'GROUP#x' }, 'entitySk'], [{ PK: 'SITE#y' }, 'PK'],
    [{ createdAt: '2020-01-01T00:00:00Z' }, 'createdAt'], [{ groupName: 'x' }, 'groupName'], [{ Title: 'X' }, 'Title'],
  ]) {
    const { body } = await ada.post('/sites', { ...site, ...wrong }, { status: 422, type: 'invalid' });
    assert.ok(body.errors.some((each) => each.attribute.startsWith(attribute)), `${JSON.stringify(wrong).slice(0, 100)}: ${JSON.stringify(body)}`);
  }
  for (const wrong of [{ name: 'a#b' }, { name: '' }, { name: 'x'.repeat(65) }, { name: 'fine', permissions: 'site:write' }, { name: 'fine', permissions: [null] }, {}]) {
    await ada.post('/groups', wrong, { status: 422, type: 'invalid' });
  }
  await ada.put('/users/a%23b/groups/x', {}, { status: 422 });
  for (const path of ['/sites/a%23b', '/users/a%23b/ratings/site0', '/groups/%23', '/sites/%', '/stars/5.5.5/ratings', `/sites/${'x'.repeat(3000)}`]) {
    const { status } = await ada.request('GET', path);
    assert.ok([400, 404, 422].includes(status), `${path}: ${status}`);
  }
  assert.deepEqual(await mallory.list('/stars/6/ratings'), []);
  await mallory.get('/sites?nope=1', { status: 422, type: 'invalid' });
  assert.deepEqual(await app.items(), before);
  // as large as it may be: an item of 300,000 characters, which lists leave out
  await ada.post('/sites', { id: 'large', ...site, scrapedContent: 'é'.repeat(150000), tags: ['large'] });
  assert.equal((await app.nobody.get('/sites/large')).body.scrapedContent.length, 150000);
  assert.equal((await app.nobody.list('/tags/large/sites'))[0].scrapedContent, undefined);
  await ada.delete('/sites/large');
});

test('F-A20: twenty make the same site at once: one does, with its own tags alone', async () => {
  const statuses = await atOnce(clients(20, (i) => ada.request('POST', '/sites', { body: { id: 'race', url: 'https://race.example', title: `${i}`, tags: [`t${i}`, 'race'] } })));
  assert.deepEqual(statuses, { 201: 1, 409: 19 });
  await audit();
  await ada.delete('/sites/race');
});

test('F-A21: thirty change the tags of one site at once, and list and items stay one', async () => {
  const statuses = await atOnce(clients(30, (i) => ada.request('PATCH', '/sites/site1', { body: { tags: ['shared', `round${i}`, `both${i % 3}`] } })));
  assert.deepEqual(Object.keys(statuses).filter((status) => !['200', '503'].includes(status)), [], JSON.stringify(statuses));
  const items = await audit();
  assert.equal(items.filter((item) => item.PK === 'SITE#site1' && item.tag).length, 3);
  await app.doc.update({ TableName: app.table, Key: { PK: 'SITE#site1', SK: 'METADATA' }, UpdateExpression: 'SET updatedAt = :t', ExpressionAttributeValues: { ':t': '2024-01-15T10:30:00Z' } });
  const { etag } = await ada.get('/sites/site1');
  assert.deepEqual(await atOnce(clients(15, (i) => ada.request('PATCH', '/sites/site1', { body: { tags: [`only${i}`] }, headers: { 'if-match': etag } }))), { 200: 1, 412: 14 });
  await audit();
});

test('F-A22, F-A16: many rate, rate again and take back at once, and the histogram is right', async () => {
  const rate = (i, stars) => users[i % 12].request('POST', `/users/${names[i % 12]}/ratings/site2/rate`, { body: { stars } });
  const statuses = await atOnce(clients(60, (i) => (i % 7 === 6
    ? users[i % 12].request('DELETE', `/users/${names[i % 12]}/ratings/site2`)
    : rate(i, (i % 5) + 1))));
  assert.deepEqual(Object.keys(statuses).filter((status) => !['200', '201', '204', '404', '409'].includes(status)), [], JSON.stringify(statuses));
  const items = (await audit()).filter((item) => item.siteId === 'SITE#site2' && item.stars);
  const counts = Object.fromEntries([1, 2, 3, 4, 5].map((n) => [n, items.filter((item) => item.stars === n).length]));
  const { body } = await app.nobody.get('/sites/site2/stars');
  assert.deepEqual([body.count, body.counts], [items.length, counts]);
  assert.equal((await app.nobody.all('/sites/site2/ratings', 2)).length, items.length);
  await Promise.all(clients(12, (i) => rate(i, 3)).map((start) => start()));
  assert.deepEqual((await app.nobody.get('/sites/site2/stars')).body, { count: 12, mean: 3, counts: { 1: 0, 2: 0, 3: 12, 4: 0, 5: 0 } });
});

test('F-A27, F-A22, F-A23: a site is deleted while it is rated and commented, and nothing is left without it', async () => {
  for (let round = 0; round < 3; round += 1) {
    await ada.post('/sites', { id: `gone${round}`, url: 'https://gone.example', title: 'Gone', tags: ['gone', 'shared'] });
    const statuses = await atOnce([
      ...clients(12, (i) => users[i].request('PUT', `/users/${names[i]}/ratings/gone${round}`, { body: { stars: 5 } })),
      () => ada.request('DELETE', `/sites/gone${round}`),
      ...clients(12, (i) => users[i].request('POST', `/users/${names[i]}/sites/gone${round}/comments`, { body: { body: 'wait' } })),
      () => ada.request('PATCH', `/sites/gone${round}`, { body: { tags: ['later'] } }),
    ]);
    assert.equal(statuses[204], 1, JSON.stringify(statuses));
    assert.deepEqual(Object.keys(statuses).filter((status) => !['200', '201', '204', '404', '409'].includes(status)), [], JSON.stringify(statuses));
    await until('what hung on it to go', async () => !(await app.items()).some((item) => item.siteId === `SITE#gone${round}`));
  }
  await audit();
});

test('F-A25, F-A26, F-A19: a group is deleted while members are added: none stays in what is gone', async () => {
  for (let round = 0; round < 3; round += 1) {
    await ada.post('/groups', { name: `flash${round}`, permissions: ['site:write'] });
    const statuses = await atOnce([
      ...clients(6, (i) => ada.request('PUT', `/users/${names[i]}/groups/flash${round}`, { body: {} })),
      () => ada.request('DELETE', `/groups/flash${round}`),
      ...clients(6, (i) => ada.request('PUT', `/users/${names[i + 6]}/groups/flash${round}`, { body: {} })),
    ]);
    assert.equal(statuses[204], 1, JSON.stringify(statuses));
    await until('its memberships to go', async () => !(await app.items()).some((item) => item.groupName === `flash${round}`));
  }
  await users[0].patch('/sites/site0', { title: 'x' }, { status: 403 });
});

test('F-A18, F-A19: nobody gives himself rights', async () => {
  await ada.post('/groups', { name: 'curators', permissions: ['site:write'] });
  const before = await app.items();
  await mallory.put('/users/mallory/groups/curators', {}, { status: 403 });
  await mallory.post('/users/mallory/groups', { groupName: 'curators', userId: 'mallory', addedBy: 'sub-ada' }, { status: 403 });
  await mallory.patch('/groups/curators', { permissions: [] }, { status: 403 });
  await mallory.delete('/groups/curators', { status: 403 });
  await mallory.post('/call', { pattern: 'my ratings', with: { user: 'user00' } }, { status: 403 });
  await mallory.post('/call', { pattern: 'my ratings', with: { user: 'user00' }, as: { subject: 'user00', roles: [] } }, { status: 403 });
  await mallory.post('/login', { name: 'mallory', password: 'wonderland' }, { status: 404 }); // accounts are Cognito's
  // a role that no admin has given, and one that only looks like it
  const admins = await app.as('mallory', 'Admin');
  await admins.post('/groups', { name: 'x' }, { status: 403 });
  assert.deepEqual(await app.items(), before);
  // a group with no permissions, and a membership that outlived its group, grant nothing
  await ada.post('/groups', { name: 'empty' });
  await ada.put('/users/mallory/groups/empty');
  await app.doc.put({ TableName: app.table, Item: { PK: 'USER#mallory', SK: 'MEMBERSHIP#ghost', groupName: 'ghost', userId: 'mallory', addedAt: '2024-01-01T00:00:00Z', addedBy: 'x' } });
  assert.deepEqual((await mallory.get('/users/mallory/permissions')).body, { items: [] });
  await mallory.patch('/sites/site0', { title: 'x' }, { status: 403 });
});

test('F-A05, F-A02, F-A17: cursors belong to one list of one caller, and nobody makes one up', async () => {
  for (let i = 0; i < 3; i += 1) await users[3].put(`/users/user03/ratings/site${i}`, { stars: 4 }).catch(() => users[3].patch(`/users/user03/ratings/site${i}`, { stars: 4 }));
  const { next } = (await users[3].get('/users/user03/ratings?limit=1')).body;
  assert.ok(next);
  assert.doesNotMatch(Buffer.from(next, 'base64url').toString('latin1'), /USER|SITE/);
  await mallory.get(`/users/mallory/ratings?after=${next}`, { status: 400, type: 'malformed' });
  await mallory.get(`/users/user03/ratings?after=${next}`, { status: 403 });
  await mallory.get(`/sites?after=${next}`, { status: 400, type: 'malformed' });
  for (const bad of ['x', `${next}A`, next.slice(1), next.replace(/^./, (c) => (c === 'A' ? 'B' : 'A')), 'e30']) {
    await users[3].get(`/users/user03/ratings?after=${encodeURIComponent(bad)}`, { status: 400, type: 'malformed' });
  }
  const merged = (await app.nobody.get('/sites/site2/ratings?limit=2')).body.next;
  await app.nobody.get(`/sites/site1/ratings?limit=2&after=${merged}`, { status: 400, type: 'malformed' });
});

test('F-A05: a page of ratings is full behind hundreds of comments', async () => {
  const comment = (i) => ({ method: 'POST', path: '/users/user05/sites/site0/comments', body: { body: `${i}` } });
  for (let i = 0; i < 300; i += 100) {
    const { body } = await users[5].post('/batch', { requests: Array.from({ length: 100 }, (_, k) => comment(i + k)) });
    assert.ok(body.responses.every((reply) => reply.status === 201), JSON.stringify(body.responses.find((reply) => reply.status !== 201)));
  }
  for (let i = 0; i < 3; i += 1) await users[5].post(`/users/user05/ratings/site${i}/rate`, { stars: 2, note: 'note of user05' });
  assert.deepEqual((await users[5].all('/users/user05/ratings', 2)).map((rating) => rating.site), ['site0', 'site1', 'site2']);
  assert.equal((await users[5].all('/users/user05/comments', 50)).length, 300);
  assert.equal((await app.nobody.all('/sites/site0/comments', 70)).length, 300);
});

test('F-A20, F-A22: the same request with the same key is done once', async () => {
  const headers = { 'idempotency-key': 'catalogue-1' };
  const first = await ada.post('/sites', { url: 'https://once.example', title: 'Once' }, { status: 201, headers });
  const again = await ada.post('/sites', { url: 'https://once.example', title: 'Once' }, { status: 201, headers });
  assert.deepEqual(again.body, first.body);
  assert.equal(again.headers.get('idempotency-replayed'), 'true');
  await ada.post('/sites', { url: 'https://twice.example', title: 'Twice' }, { status: 422, headers });
  await mallory.put('/users/mallory/ratings/site0', { stars: 3 }, { status: 201, headers }); // a key is one caller's own
  await audit();
});

test('F-A20, F-A22, F-A19: with tokens of Cognito: its group makes an admin, a custom group of that name does not', async () => {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const issuer = createServer((_, response) => response.end(JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: 'k', use: 'sig', alg: 'RS256' }] })));
  issuer.listen(0, '127.0.0.1');
  await once(issuer, 'listening');
  try {
    const ISSUER = `http://127.0.0.1:${issuer.address().port}/pool`;
    const pool = await startDesign('fus', { env: { ISSUER, JWKS: `${ISSUER}/keys`, dynamoTableName: 'fus-prod' } });
    assert.equal(pool.table, 'fus-prod');
    const as = (sub, ...groups) => {
      const text = (object) => Buffer.from(JSON.stringify(object)).toString('base64url');
      const said = `${text({ alg: 'RS256', kid: 'k' })}.${text({ sub, iss: ISSUER, 'cognito:groups': groups, exp: Math.floor(Date.now() / 1000) + 600 })}`;
      return pool.withToken(`${said}.${sign('RSA-SHA256', Buffer.from(said), privateKey).toString('base64url')}`);
    };
    const chief = as('5f-chief', 'admin');
    const clerk = as('5f-clerk');
    await chief.post('/sites', { id: 's', url: 'https://s.example', title: 'S' }, { status: 201 });
    await clerk.post('/sites', { url: 'https://s.example', title: 'S' }, { status: 403 });
    await clerk.put('/users/5f-clerk/ratings/s', { stars: 4 }, { status: 201 }); // F10: the subject is the user
    assert.ok(await pool.item('USER#5f-clerk', 'SITE#s'));
    await clerk.put('/users/5f-chief/ratings/s', { stars: 1 }, { status: 403 });
    await chief.post('/groups', { name: 'admin', permissions: ['member:read'] });
    await chief.put('/users/5f-clerk/groups/admin');
    assert.deepEqual((await clerk.get('/users/5f-clerk/permissions')).body.items, ['member:read']);
    await clerk.post('/sites', { url: 'https://s.example', title: 'S' }, { status: 403 });
    await clerk.delete('/sites/s', { status: 403 });
  } finally {
    issuer.close();
  }
});
