// The site catalogue, played through: every access pattern and every recipe, seen from the REST API and in the table.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, operations, startDesign, until } from './harness.mjs';

const app = await startDesign('fus');
const operator = await app.operator();
const ada = await app.as('sub-ada', 'admin');
const carl = await app.as('sub-carl');
const dora = await app.as('sub-dora');
const emil = await app.as('sub-emil');

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/;
const of = (name) => (items) => items.map((item) => item[name]);
const ids = of('id');
const under = async (PK) => (await app.items()).filter((item) => item.PK === PK);
const index = async (IndexName, hash, value) => (await app.doc.query({
  TableName: app.table, IndexName, KeyConditionExpression: '#h = :h', ExpressionAttributeNames: { '#h': hash }, ExpressionAttributeValues: { ':h': value },
})).Items;
const requestsOf = async (pattern, parameters) => (await operator.post('/call', { pattern, with: parameters, explain: true })).body.requests;

test('the table has the keys, the four indexes of the document, and bySite', async () => {
  const { Table } = await app.ddb.describeTable({ TableName: 'fus-main' });
  assert.deepEqual(Table.KeySchema, [{ AttributeName: 'PK', KeyType: 'HASH' }, { AttributeName: 'SK', KeyType: 'RANGE' }]);
  assert.equal(Table.BillingModeSummary.BillingMode, 'PAY_PER_REQUEST');
  assert.deepEqual(
    Object.fromEntries(Table.AttributeDefinitions.map((each) => [each.AttributeName, each.AttributeType])),
    { PK: 'S', SK: 'S', entityType: 'S', entitySk: 'S', tag: 'S', siteId: 'S', groupName: 'S', userId: 'S', commentSk: 'S', starRating: 'N' },
  );
  const keys = Table.GlobalSecondaryIndexes.map(({ IndexName, KeySchema: [hash, range], Projection }) =>
    [IndexName, `${hash.AttributeName} ${range.AttributeName}`, Projection.ProjectionType, (Projection.NonKeyAttributes ?? []).slice().sort().join(' ')]);
  assert.deepEqual(keys.sort(), [ // F15: no scrapedContent; F16: no note
    ['byEntity', 'entityType entitySk', 'INCLUDE', 'createdAt description name permissions tags title updatedAt url'],
    ['byGroup', 'groupName userId', 'INCLUDE', 'addedAt addedBy'],
    ['bySite', 'siteId commentSk', 'INCLUDE', 'body createdAt updatedAt'],
    ['byStars', 'starRating siteId', 'INCLUDE', 'stars updatedAt'],
    ['byTag', 'tag siteId', 'KEYS_ONLY', ''],
  ]);
});

test('F-A20: a site and an item for each of its tags are put in one transaction, by admins', async () => {
  const site = { url: 'https://sqlite.org', title: 'SQLite', description: 'Small. Fast. Reliable.', scrapedContent: 'SQLite is a C library', tags: [' Database', 'c', 'DATABASE', 'classic'] };
  await app.nobody.post('/sites', site, { status: 401, type: 'unauthenticated' });
  await carl.post('/sites', site, { status: 403, type: 'forbidden' });
  assert.deepEqual(await app.items(), []);

  const { body, location } = await ada.post('/sites', { id: 'sqlite', ...site }, { status: 201 }); // T1
  assert.equal(location, '/api/fus/sites/sqlite');
  assert.match(body.createdAt, TIME);
  assert.deepEqual(body, { id: 'sqlite', ...site, tags: ['database', 'c', 'classic'], createdAt: body.createdAt, updatedAt: body.createdAt }); // F25, F4: equal ones once
  assert.deepEqual(await app.item('SITE#sqlite', 'METADATA'), { // F23: the id is in the key, not an attribute
    PK: 'SITE#sqlite', SK: 'METADATA', url: site.url, title: site.title, description: site.description, scrapedContent: site.scrapedContent,
    tags: ['database', 'c', 'classic'], createdAt: body.createdAt, updatedAt: body.createdAt, entityType: 'SITE', entitySk: 'SITE#sqlite',
  });
  for (const tag of ['database', 'c', 'classic']) { // F2: siteId is the whole PK
    assert.deepEqual(await app.item('SITE#sqlite', `TAG#${tag}`), { PK: 'SITE#sqlite', SK: `TAG#${tag}`, tag, siteId: 'SITE#sqlite' });
  }
  assert.equal((await app.items()).length, 4);

  await ada.post('/sites', { id: 'sqlite', url: 'https://example.com', title: 'Another', tags: ['new'] }, { status: 409, type: 'already-exists' });
  await ada.put('/sites/sqlite', { url: 'https://example.com', title: 'Another', tags: ['new'] }, { status: 409, type: 'already-exists' });
  assert.equal((await app.items()).length, 4, 'what is refused leaves no tag behind');

  const made = await ada.post('/sites', { url: 'https://a.example', title: 'A' }); // F5: an id in the order of creation
  assert.match(made.body.id, ULID);
  assert.equal((await app.item(`SITE#${made.body.id}`, 'METADATA')).tags, undefined);
  await ada.delete(`/sites/${made.body.id}`);
});

test('F-A01: a site, which everyone may read whole', async () => {
  for (const caller of [app.nobody, carl, ada]) {
    const { body, etag } = await caller.get('/sites/sqlite');
    assert.equal(body.scrapedContent, 'SQLite is a C library');
    assert.ok(etag);
  }
  await app.nobody.get('/sites/none', { status: 404, type: 'not-found' });
  const [{ operation, request }] = await requestsOf('get Site', { id: 'sqlite' });
  assert.deepEqual([operation, request.Key], ['GetItem', { PK: { S: 'SITE#sqlite' }, SK: { S: 'METADATA' } }]); // C5
});

test('F-A02: all sites, newest first, without what was scraped', async () => {
  const empty = await app.nobody.list('/sites');
  assert.deepEqual(ids(empty), ['sqlite']);
  await ada.delete('/sites/sqlite');
  for (const [n, title, tags] of [[1, 'SQLite', ['database', 'c']], [2, 'Maps', ['maps', 'open']], [3, 'Encyclopedia', ['reference', 'open']], [4, 'News', ['news']], [5, 'Books', ['books', 'open']]]) {
    await ada.post('/sites', { id: `01JD000000000000000000000${n}`, url: `https://${n}.example`, title, tags, scrapedContent: 'long'.repeat(1000) });
  }
  const all = await app.nobody.all('/sites', 2);
  assert.deepEqual(of('title')(all), ['Books', 'News', 'Encyclopedia', 'Maps', 'SQLite']);
  assert.deepEqual(all[0], { id: '01JD0000000000000000000005', url: 'https://5.example', title: 'Books', tags: ['books', 'open'], createdAt: all[0].createdAt, updatedAt: all[0].updatedAt });
  const { headers } = await app.nobody.get('/sites');
  assert.match(headers.get('cache-control'), /public, max-age=60/); // F21
});

const [sqlite, maps, wiki, news, books] = [1, 2, 3, 4, 5].map((n) => `01JD000000000000000000000${n}`);

test('F-A03: sites by tag, whole as they are now', async () => {
  assert.deepEqual(of('title')(await app.nobody.all('/tags/open/sites', 2)), ['Maps', 'Encyclopedia', 'Books']);
  const [site] = await app.nobody.list('/tags/DataBase/sites'); // F25
  assert.deepEqual([site.id, site.url, site.scrapedContent], [sqlite, 'https://1.example', undefined]); // F17: more than the index knows
  assert.deepEqual(await app.nobody.list('/tags/none/sites'), []);
  const requests = await requestsOf('sites by tag', { tag: 'open' });
  assert.deepEqual(of('operation')(requests), ['Query', 'BatchGetItem']);
  assert.ok(JSON.stringify(requests[1]).includes(`"SITE#${maps}"`)); // F2: not SITE#SITE#
  assert.ok(!JSON.stringify(requests).includes('SITE#SITE#'));
});

test('F-A12: the tags of a site', async () => {
  const tags = await app.nobody.list(`/sites/${books}/tags`);
  assert.deepEqual(of('tag')(tags), ['books', 'open']);
  assert.ok(!('PK' in tags[0]));
  assert.deepEqual(await app.nobody.list('/sites/none/tags'), []);
});

test('F-A21: when tags change, list and items change together; a stale diff is refused', async () => {
  const tagsOf = async () => [(await app.item(`SITE#${news}`, 'METADATA')).tags, (await under(`SITE#${news}`)).filter((item) => item.tag).map((item) => item.SK).sort()];
  await ada.patch(`/sites/${news}`, { tags: ['News', 'Links', ' links ', 'classic'] }); // T2
  assert.deepEqual(await tagsOf(), [['news', 'links', 'classic'], ['TAG#classic', 'TAG#links', 'TAG#news']]);
  const { body } = await ada.patch(`/sites/${news}`, { tags: ['links'], title: 'Hacker News' });
  assert.deepEqual([body.title, body.url], ['Hacker News', 'https://4.example']);
  assert.deepEqual(await tagsOf(), [['links'], ['TAG#links']]);
  assert.deepEqual(ids(await app.nobody.list('/tags/links/sites')), [news]);
  assert.deepEqual(await app.nobody.list('/tags/classic/sites'), []);
  await ada.patch(`/sites/${news}`, { tags: null });
  assert.deepEqual(await tagsOf(), [undefined, []]);
  await ada.patch(`/sites/${news}`, { tags: ['news'] });

  const { etag } = await ada.get(`/sites/${news}`);
  await app.doc.update({ TableName: app.table, Key: { PK: `SITE#${news}`, SK: 'METADATA' }, UpdateExpression: 'SET updatedAt = :t', ExpressionAttributeValues: { ':t': '2024-01-01T00:00:00Z' } });
  await ada.patch(`/sites/${news}`, { tags: ['stale'] }, { status: 412, type: 'changed', headers: { 'if-match': etag } });
  assert.deepEqual(await tagsOf(), [['news'], ['TAG#news']]);
  // 48 out and 48 in still fit; C13
  const many = (word) => Array.from({ length: 48 }, (_, i) => `${word}${i}`);
  await ada.patch(`/sites/${news}`, { tags: many('a') });
  await ada.patch(`/sites/${news}`, { tags: many('b') });
  assert.deepEqual((await tagsOf())[1], many('TAG#b').sort());
  await ada.patch(`/sites/${news}`, { tags: [...many('c'), 'more'] }, { status: 422, type: 'invalid' });
  await ada.patch(`/sites/${news}`, { tags: ['news'] });
  await carl.patch(`/sites/${news}`, { title: 'Mine' }, { status: 403, type: 'forbidden' });
  await app.nobody.patch(`/sites/${news}`, { title: 'Mine' }, { status: 401 });
});

test('F-A21: the scraper brings what the page says now', async () => {
  const before = await app.item(`SITE#${maps}`, 'METADATA');
  const { body } = await ada.post(`/sites/${maps}/refresh`, { title: 'OpenStreetMap', scrapedContent: 'the free wiki world map' });
  assert.deepEqual([body.title, body.scrapedContent, body.tags], ['OpenStreetMap', 'the free wiki world map', ['maps', 'open']]);
  assert.equal((await app.item(`SITE#${maps}`, 'METADATA')).createdAt, before.createdAt);
  await ada.post(`/sites/${maps}/refresh`, { url: 'https://evil.example' }, { status: 422, type: 'invalid' });
  await carl.post(`/sites/${maps}/refresh`, { title: 'x' }, { status: 403 });
  await ada.post('/sites/none/refresh', { title: 'x' }, { status: 404 });
  assert.equal(await app.item('SITE#none', 'METADATA'), undefined);
});

test('F-A22, F-A04: one rating for each user and site; new stars do not erase the note', async () => {
  const { body, location } = await carl.post('/users/sub-carl/ratings', { site: sqlite, stars: 5, note: 'everywhere' }, { status: 201 }); // T3
  assert.equal(location, `/api/fus/users/sub-carl/ratings/${sqlite}`);
  assert.deepEqual(await app.item('USER#sub-carl', `SITE#${sqlite}`), {
    PK: 'USER#sub-carl', SK: `SITE#${sqlite}`, stars: 5, starRating: 5, siteId: `SITE#${sqlite}`, note: 'everywhere', createdAt: body.createdAt, updatedAt: body.updatedAt,
  });
  await carl.post('/users/sub-carl/ratings', { site: sqlite, stars: 1 }, { status: 409, type: 'already-exists' }); // F8: not silently
  await app.doc.update({
    TableName: app.table, Key: { PK: 'USER#sub-carl', SK: `SITE#${sqlite}` }, UpdateExpression: 'SET createdAt = :t, updatedAt = :t', ExpressionAttributeValues: { ':t': '2024-01-01T00:00:00Z' },
  });
  await carl.post(`/users/sub-carl/ratings/${sqlite}/rate`, { stars: 3 }); // again
  let item = await app.item('USER#sub-carl', `SITE#${sqlite}`);
  assert.deepEqual([item.stars, item.starRating, item.note, item.createdAt], [3, 3, 'everywhere', '2024-01-01T00:00:00Z']);
  assert.ok(item.updatedAt > '2024-01-01T00:00:00Z');
  assert.deepEqual([(await index('byStars', 'starRating', 5)).length, (await index('byStars', 'starRating', 3)).length], [0, 1]); // it moves by itself
  await carl.patch(`/users/sub-carl/ratings/${sqlite}`, { stars: 4 });
  item = await app.item('USER#sub-carl', `SITE#${sqlite}`);
  assert.deepEqual([item.stars, item.starRating, item.note], [4, 4, 'everywhere']); // F6: both, always

  const first = await dora.post(`/users/sub-dora/ratings/${sqlite}/rate`, { stars: 5 }); // the first time, by the same way
  assert.deepEqual([first.body.stars, first.body.site, first.body.user], [5, sqlite, 'sub-dora']);
  assert.deepEqual(await app.item('USER#sub-dora', `SITE#${sqlite}`), {
    PK: 'USER#sub-dora', SK: `SITE#${sqlite}`, stars: 5, starRating: 5, siteId: `SITE#${sqlite}`, createdAt: first.body.createdAt, updatedAt: first.body.updatedAt,
  });

  const mine = (await carl.get(`/users/sub-carl/ratings/${sqlite}`)).body;
  assert.deepEqual([mine.user, mine.site, mine.stars, mine.note], ['sub-carl', sqlite, 4, 'everywhere']);
  assert.equal((await dora.get(`/users/sub-carl/ratings/${sqlite}`)).body.note, undefined); // F16
  assert.equal((await app.nobody.get(`/users/sub-carl/ratings/${sqlite}`)).body.note, undefined);
  await carl.get(`/users/sub-carl/ratings/${maps}`, { status: 404 });
});

test('F-A22: a rating is of a site that is there, from one to five, and taken back by its writer', async () => {
  const before = await app.items();
  await carl.post('/users/sub-carl/ratings', { site: 'none', stars: 5 }, { status: 404, type: 'not-found', detail: /there is no Site none/ }); // F22
  await carl.put('/users/sub-carl/ratings/none', { stars: 5 }, { status: 404 });
  await carl.post('/users/sub-carl/ratings/none/rate', { stars: 5 }, { status: 404 });
  // T3: nor rated again, when a rating has outlived its site for a moment
  const Key = { PK: 'USER#sub-carl', SK: 'SITE#none' };
  await app.doc.put({ TableName: app.table, Item: { ...Key, siteId: 'SITE#none', stars: 4, starRating: 4, createdAt: '2026-01-01T00:00:00Z', updatedAt: '2026-01-01T00:00:00Z' } });
  await carl.post('/users/sub-carl/ratings/none/rate', { stars: 5 }, { status: 404 });
  assert.equal((await app.item(Key.PK, Key.SK)).stars, 4);
  await app.doc.delete({ TableName: app.table, Key });
  for (const stars of [0, 6, -1, 2.5, '5', null, true, [5], 1e400]) {
    await carl.put(`/users/sub-carl/ratings/${maps}`, { stars }, { status: 422, type: 'invalid' });
    await carl.post(`/users/sub-carl/ratings/${maps}/rate`, { stars }, { status: 422, type: 'invalid' });
    await carl.patch(`/users/sub-carl/ratings/${sqlite}`, { stars }, { status: 422, type: 'invalid' });
  }
  await carl.put(`/users/sub-carl/ratings/${maps}`, {}, { status: 422 });
  await carl.post(`/users/sub-carl/ratings/${maps}/rate`, { note: 'no stars' }, { status: 422 });
  await carl.patch(`/users/sub-carl/ratings/${sqlite}`, { starRating: 1 }, { status: 422 });
  await carl.patch(`/users/sub-carl/ratings/${sqlite}`, { siteId: 'SITE#other' }, { status: 422 });
  await carl.patch(`/users/sub-carl/ratings/${sqlite}`, { groupName: 'curators' }, { status: 422 }); // F23
  await carl.patch(`/users/sub-carl/ratings/${sqlite}`, { site: maps }, { status: 422 });
  assert.deepEqual(await app.items(), before);

  await carl.put(`/users/sub-carl/ratings/${maps}`, { stars: 2 });
  await dora.delete(`/users/sub-carl/ratings/${maps}`, { status: 403 });
  await carl.delete(`/users/sub-carl/ratings/${maps}`, { status: 204 }); // F14
  assert.deepEqual(await app.items(), before);
});

test('F-A23, F-A13, F-A14: comments of their writer, as many as one likes', async () => {
  // its id is always ours: two of them would be one comment in the list of a site
  const write = async (caller, user, site, body) => (await caller.post(`/users/${user}/sites/${site}/comments`, { body }, { status: 201 })).body;
  await carl.post(`/users/sub-carl/sites/${sqlite}/comments`, { body: 'x', commentId: 'mine' }, { status: 422, detail: /^commentId/ });
  const one = await write(carl, 'sub-carl', sqlite, 'Testing pages alone are worth it.'); // T4
  assert.match(one.commentId, ULID);
  assert.deepEqual(await app.item('USER#sub-carl', `SITE#${sqlite}#COMMENT#${one.commentId}`), {
    PK: 'USER#sub-carl', SK: `SITE#${sqlite}#COMMENT#${one.commentId}`, body: one.body, createdAt: one.createdAt, updatedAt: one.updatedAt,
    siteId: `SITE#${sqlite}`, commentSk: `COMMENT#${one.commentId}`, // F3
  });
  const two = await write(carl, 'sub-carl', sqlite, 'And another thing.'); // F13
  await write(carl, 'sub-carl', maps, 'Mapped my village.');
  await write(dora, 'sub-dora', sqlite, 'A joy.');
  assert.deepEqual(of('body')(await carl.all(`/users/sub-carl/sites/${sqlite}/comments`, 1)), [one.body, two.body]);
  assert.deepEqual(of('body')(await carl.all('/users/sub-carl/comments', 1)), [one.body, two.body, 'Mapped my village.']); // and not the rating
  await dora.get('/users/sub-carl/comments', { status: 403 });
  await dora.get(`/users/sub-carl/sites/${sqlite}/comments`, { status: 403 });
  await app.nobody.get('/users/sub-carl/comments', { status: 401 });
  assert.equal((await ada.list('/users/sub-carl/comments')).length, 3);

  const at = `/users/sub-carl/sites/${sqlite}/comments/${two.commentId}`;
  const edited = await carl.patch(at, { body: 'One more thing.' });
  assert.deepEqual([edited.body.body, edited.body.createdAt], ['One more thing.', two.createdAt]);
  await dora.patch(at, { body: 'x' }, { status: 403 });
  await ada.patch(at, { body: 'x' }, { status: 403 }, 'an admin deletes, but puts no words into mouths');
  await carl.patch(at.replace('sub-carl', 'sub-dora'), { body: 'x' }, { status: 404 });
  await dora.delete(at, { status: 403 });
  await carl.delete(at, { status: 204 });
  await carl.delete(at, { status: 404 });
  await carl.post('/users/sub-carl/sites/none/comments', { body: 'x' }, { status: 404, detail: /there is no Site none/ }); // F22
  assert.deepEqual(of('body')(await carl.all('/users/sub-carl/comments', 1)), [one.body, 'Mapped my village.']);
});

test('F-A05: my ratings, without my comments and memberships', async () => {
  await ada.post('/groups', { name: 'curators', permissions: ['site:write'] });
  await ada.post('/users/sub-carl/groups', { groupName: 'curators' });
  for (const [site, stars] of [[maps, 4], [wiki, 5], [news, 2]]) await carl.put(`/users/sub-carl/ratings/${site}`, { stars });
  for (let i = 0; i < 7; i += 1) await carl.post(`/users/sub-carl/sites/${maps}/comments`, { body: `in between ${i}` });
  const mine = await carl.all('/users/sub-carl/ratings', 2); // F1; C9: full pages in spite of the filter
  assert.deepEqual(mine.map((rating) => [rating.site, rating.stars]), [[sqlite, 4], [maps, 4], [wiki, 5], [news, 2]]);
  assert.equal(mine[0].note, 'everywhere');
  await dora.get('/users/sub-carl/ratings', { status: 403, type: 'forbidden' });
  await app.nobody.get('/users/sub-carl/ratings', { status: 401, type: 'unauthenticated' });
  assert.deepEqual(of('note')(await ada.list('/users/sub-carl/ratings')), [undefined, undefined, undefined, undefined]); // F16: not even an admin
  assert.deepEqual(of('stars')(await dora.list('/users/sub-dora/ratings')), [5]);
  const [{ request }] = await requestsOf('my ratings', { user: 'sub-carl' });
  assert.deepEqual(Object.values(request.ExpressionAttributeValues).map((value) => value.S).sort(), ['SITE#', 'USER#sub-carl']);
});

test('F-A06, F-A15, F-A17, F-A16: ratings by value, of a site, and how many of each', async () => {
  await emil.put(`/users/sub-emil/ratings/${sqlite}`, { stars: 4, note: 'a secret of Emil' });
  await emil.put(`/users/sub-emil/ratings/${wiki}`, { stars: 5 });
  const pairs = (items) => items.map((rating) => `${rating.user} ${rating.site} ${rating.stars}`).sort();
  const fives = await app.nobody.all('/stars/5/ratings', 1);
  assert.deepEqual(pairs(fives), [`sub-carl ${wiki} 5`, `sub-dora ${sqlite} 5`, `sub-emil ${wiki} 5`]);
  assert.deepEqual(pairs(await app.nobody.list('/stars/1/ratings')), []);
  assert.deepEqual(pairs(await app.nobody.list(`/sites/${sqlite}/stars/4/ratings`)), [`sub-carl ${sqlite} 4`, `sub-emil ${sqlite} 4`]);
  assert.deepEqual(pairs(await app.nobody.all(`/sites/${sqlite}/ratings`, 2)), [`sub-carl ${sqlite} 4`, `sub-dora ${sqlite} 5`, `sub-emil ${sqlite} 4`]);
  const { body, headers } = await app.nobody.get(`/sites/${sqlite}/stars`);
  assert.deepEqual([body.count, body.counts], [3, { 1: 0, 2: 0, 3: 0, 4: 2, 5: 1 }]);
  assert.ok(Math.abs(body.mean - 13 / 3) < 1e-4, `${body.mean}`);
  assert.match(headers.get('cache-control'), /max-age=60/);
  const none = (await app.nobody.get(`/sites/${books}/stars`)).body;
  assert.deepEqual([none.count, none.counts], [0, { 1: 0, 2: 0, 3: 0, 4: 0, 5: 0 }]);
  const requests = await requestsOf('stars of site', { id: sqlite });
  assert.deepEqual(requests.map(({ operation, request }) => [operation, request.Select]), Array(5).fill(['Query', 'COUNT']));
  for (const item of await index('byStars', 'starRating', 4)) assert.ok(!('note' in item)); // F16
  await app.nobody.get('/stars/five/ratings', { status: 404 });
  assert.ok(!JSON.stringify(await carl.list(`/sites/${sqlite}/ratings`)).includes('secret'));
});

test('F-A07: comments of a site, by whomever, oldest first', async () => {
  const comments = await app.nobody.all(`/sites/${sqlite}/comments`, 1);
  assert.deepEqual(comments.map((each) => [each.user, each.body]), [['sub-carl', 'Testing pages alone are worth it.'], ['sub-dora', 'A joy.']]);
  assert.equal(comments[0].site, sqlite);
  assert.match(comments[0].commentId, ULID);
  assert.deepEqual(await app.nobody.list(`/sites/${books}/comments`), []);
  // F7: a site whose id begins like another's
  await ada.post('/sites', { id: 'abc', url: 'https://abc.example', title: 'abc' });
  await ada.post('/sites', { id: 'abcd', url: 'https://abcd.example', title: 'abcd' });
  await dora.post('/users/sub-dora/sites/abcd/comments', { body: 'of abcd' });
  await dora.post('/users/sub-dora/sites/abc/comments', { body: 'of abc' });
  await dora.put('/users/sub-dora/ratings/abcd', { stars: 1 });
  assert.deepEqual(of('body')(await dora.list('/users/sub-dora/sites/abc/comments')), ['of abc']);
  assert.deepEqual(of('body')(await dora.list('/sites/abc/comments')), ['of abc']);
  await dora.get('/users/sub-dora/ratings/abc', { status: 404 });
});

test('F-A24, F-A09, F-A08: groups, their names are for good', async () => {
  const { body, location } = await ada.post('/groups', { name: 'moderators', description: 'Keep it civil', permissions: ['comment:delete', 'comment:delete', 'rating:delete'] }, { status: 201 });
  assert.equal(location, '/api/fus/groups/moderators');
  assert.deepEqual(await app.item('GROUP#moderators', 'METADATA'), { // F26: name, and no groupName
    PK: 'GROUP#moderators', SK: 'METADATA', name: 'moderators', description: 'Keep it civil', permissions: ['comment:delete', 'rating:delete'],
    createdAt: body.createdAt, updatedAt: body.updatedAt, entityType: 'GROUP', entitySk: 'GROUP#moderators',
  });
  await ada.post('/groups', { name: 'moderators' }, { status: 409, type: 'already-exists' });
  await ada.patch('/groups/moderators', { permissions: ['comment:delete'] });
  assert.deepEqual((await carl.get('/groups/moderators')).body.permissions, ['comment:delete']);
  for (const word of ['site:wirte', 'Site:Write', 'admin', '', 7, null]) { // F18: what would mean nothing cannot be given
    await ada.patch('/groups/moderators', { permissions: ['comment:delete', word] }, { status: 422, detail: /^permissions: element 2: one of: site:write,/ });
  }
  await ada.patch('/groups/moderators', { name: 'mods' }, { status: 422, type: 'invalid' }); // F9
  await carl.post('/groups', { name: 'mine' }, { status: 403, type: 'forbidden' });
  await carl.patch('/groups/moderators', { permissions: ['site:write'] }, { status: 403 });
  assert.deepEqual(of('name')(await carl.all('/groups', 1)), ['curators', 'moderators']);
  assert.equal((await carl.list('/groups'))[1].description, 'Keep it civil');
  await app.nobody.get('/groups/moderators', { status: 404 });
  assert.deepEqual(await app.nobody.list('/groups'), []);
  assert.deepEqual(await index('byGroup', 'groupName', 'moderators'), []);
});

test('F-A25, F-A10, F-A11, F-A18: members of groups that are there', async () => {
  const { body } = await ada.put('/users/sub-carl/groups/moderators', {}, { status: 201 }); // T5
  assert.deepEqual(await app.item('USER#sub-carl', 'MEMBERSHIP#moderators'), {
    PK: 'USER#sub-carl', SK: 'MEMBERSHIP#moderators', groupName: 'moderators', userId: 'sub-carl', addedAt: body.addedAt, addedBy: 'sub-ada',
  });
  assert.match(body.addedAt, TIME);
  await ada.post('/users/sub-dora/groups', { groupName: 'moderators', addedBy: 'sub-emil' });
  assert.equal((await app.item('USER#sub-dora', 'MEMBERSHIP#moderators')).addedBy, 'sub-ada');
  await ada.put('/users/sub-carl/groups/moderators', {}, { status: 409, type: 'already-exists' });
  await ada.put('/users/sub-carl/groups/none', {}, { status: 404, detail: /there is no Group none/ }); // F9
  await emil.put('/users/sub-emil/groups/moderators', {}, { status: 403, type: 'forbidden' });
  assert.deepEqual(of('groupName')(await carl.all('/users/sub-carl/groups', 1)), ['curators', 'moderators']);
  await dora.get('/users/sub-carl/groups', { status: 403 });
  assert.deepEqual(of('userId')(await ada.all('/groups/moderators/members', 1)), ['sub-carl', 'sub-dora']);
  const [member] = await ada.list('/groups/moderators/members');
  assert.deepEqual(member, { userId: 'sub-carl', groupName: 'moderators', addedAt: body.addedAt, addedBy: 'sub-ada' });
  await carl.get('/groups/moderators/members', { status: 403 });

  assert.equal((await carl.get('/users/sub-carl/groups/curators')).body.groupName, 'curators');
  await dora.get('/users/sub-dora/groups/curators', { status: 404 });
  await dora.get('/users/sub-carl/groups/curators', { status: 404 }, 'who is in which group is his own business');
  assert.equal((await ada.get('/users/sub-carl/groups/curators')).status, 200);
});

test('F-A19: what a user may is the union of what his groups say, asked each time', async () => {
  assert.deepEqual((await carl.get('/users/sub-carl/permissions')).body, { items: ['site:write', 'comment:delete'] });
  assert.deepEqual((await emil.get('/users/sub-emil/permissions')).body, { items: [] });
  await dora.get('/users/sub-carl/permissions', { status: 403 });
  assert.deepEqual(operations(await requestsOf('permissions of user', { userId: 'sub-carl' })), ['Query', 'BatchGetItem']);

  // F18: the permission works, and does not make an admin
  await carl.post('/sites', { id: 'carls', url: 'https://carl.example', title: 'Carl found this' }, { status: 201 });
  await carl.patch('/sites/carls', { tags: ['carl'] });
  await carl.post('/sites/carls/refresh', { title: 'Carl found that' });
  await carl.delete('/sites/carls', { status: 403 });
  await carl.post('/groups', { name: 'gods' }, { status: 403 });
  await dora.patch('/sites/carls', { title: 'Dora' }, { status: 403 });

  await ada.delete('/users/sub-carl/groups/curators'); // F-A25
  await carl.patch('/sites/carls', { title: 'Again' }, { status: 403 });
  await ada.put('/users/sub-carl/groups/curators');
  await carl.patch('/sites/carls', { title: 'Again' });
});

test('F-A19, F-A27, F-A22, F-A23, F-A11, F-A25: each permission allows what it says, and nothing else', async () => {
  const fred = await app.as('sub-fred');
  const put = async (n) => {
    await ada.post('/sites', { id: `perm${n}`, url: 'https://perm.example', title: 'Perm', tags: ['perm'] });
    await dora.put(`/users/sub-dora/ratings/perm${n}`, { stars: 2, note: 'a note of Dora' });
    return (await dora.post(`/users/sub-dora/sites/perm${n}/comments`, { body: 'x' })).body.commentId;
  };
  await ada.post('/groups', { name: 'crew' });
  await ada.post('/groups', { name: 'others', permissions: ['site:write'] });
  await ada.put('/users/sub-fred/groups/crew');
  const tried = async (n, commentId) => {
    const does = {
      'site:write': ['PATCH', `/sites/perm${n}`, { title: `${n}` }],
      'rating:delete': ['DELETE', `/users/sub-dora/ratings/perm${n}`],
      'comment:delete': ['DELETE', `/users/sub-dora/sites/perm${n}/comments/${commentId}`],
      'member:read': ['GET', '/groups/others/members'],
      'member:write': ['PUT', '/users/sub-emil/groups/crew', {}],
      'site:delete': ['DELETE', `/sites/perm${n}`],
    };
    const done = [];
    for (const [permission, [method, path, body]] of Object.entries(does)) {
      const { status } = await fred.request(method, path, { body });
      assert.ok([200, 201, 204, 403].includes(status), `${method} ${path}: ${status}`);
      if (status !== 403) done.push(permission);
    }
    return done;
  };
  const all = ['site:write', 'rating:delete', 'comment:delete', 'member:read', 'member:write', 'site:delete'];
  assert.deepEqual(await tried(0, await put(0)), []);
  for (const [i, permission] of all.entries()) {
    await ada.patch('/groups/crew', { permissions: [permission] });
    assert.deepEqual(await tried(i + 1, await put(i + 1)), [permission]);
  }
  // member:write is for the groups one is in, and gives nobody a right of his own
  await ada.patch('/groups/crew', { permissions: ['member:write'] });
  await fred.delete('/users/sub-emil/groups/crew', { status: 204 });
  await fred.put('/users/sub-fred/groups/others', {}, { status: 403 });
  await fred.put('/users/sub-emil/groups/others', {}, { status: 403 });
  // moderators find what they moderate; a note stays its writer's
  for (const [permission, list, other] of [['rating:delete', 'ratings', 'comments'], ['comment:delete', 'comments', 'ratings']]) {
    await ada.patch('/groups/crew', { permissions: [permission] });
    const rows = await fred.list(`/users/sub-dora/${list}`);
    assert.ok(rows.length > 1 && !JSON.stringify(rows).includes('a note'));
    await fred.get(`/users/sub-dora/${other}`, { status: 403 });
  }
  await ada.patch('/groups/crew', { permissions: ['member:read'] });
  assert.deepEqual(of('groupName')(await fred.list('/users/sub-carl/groups')), of('groupName')(await carl.list('/users/sub-carl/groups')));
  assert.deepEqual((await fred.get('/users/sub-carl/permissions')).body, (await carl.get('/users/sub-carl/permissions')).body);
  // all of them together make no admin
  await ada.patch('/groups/crew', { permissions: all });
  await fred.patch('/groups/crew', { description: 'mine' }, { status: 403 });
  await fred.post('/groups', { name: 'gods' }, { status: 403 });
  await fred.delete('/groups/others', { status: 403 });
  await fred.patch('/users/sub-dora/ratings/perm0', { stars: 5 }, { status: 403 });
  // as many tags as there may be, all of them others: still one transaction, with what the permission rests on
  const tags = (word) => Array.from({ length: 48 }, (_, i) => `${word}${i}`);
  await fred.patch('/sites/perm0', { tags: tags('a') });
  await fred.patch('/sites/perm0', { tags: tags('b') });
  assert.equal((await under('SITE#perm0')).filter((item) => item.tag).length, 48);
  for (let n = 0; n < 6; n += 1) await ada.delete(`/sites/perm${n}`);
  for (const name of ['crew', 'others']) await ada.delete(`/groups/${name}`);
});

test('F-A23: the id of a comment is ours, also by its address', async () => {
  const { status } = await carl.request('PUT', `/users/sub-carl/sites/${maps}/comments/mine`, { body: { body: 'x' } });
  assert.ok([404, 405, 422].includes(status), `${status}`);
  assert.equal(await app.item('USER#sub-carl', `SITE#${maps}#COMMENT#mine`), undefined);
});

test('F-A26: a group that is deleted grants nothing any more, and its memberships go', async () => {
  await carl.delete('/groups/curators', { status: 403 });
  await ada.put('/users/sub-emil/groups/curators');
  await ada.delete('/groups/curators', { status: 204 }); // T6
  await carl.patch('/sites/carls', { title: 'Still?' }, { status: 403 }); // at once
  await until('the memberships to go', async () => (await app.items()).every((item) => item.groupName !== 'curators'));
  assert.deepEqual(of('groupName')(await carl.list('/users/sub-carl/groups')), ['moderators']);
  assert.deepEqual((await carl.get('/users/sub-carl/permissions')).body.items, ['comment:delete']);
  await ada.post('/groups', { name: 'curators', permissions: ['site:write'] });
  await carl.patch('/sites/carls', { title: 'Back?' }, { status: 403 }, 'a new group of the old name has no members');
});

test('F-A27: a site goes with its tags, ratings and comments, and with nothing of others', async () => {
  const before = await app.items();
  assert.ok(before.filter((item) => item.siteId === `SITE#${sqlite}`).length >= 7);
  await dora.delete(`/sites/${sqlite}`, { status: 403 });
  await ada.delete(`/sites/${sqlite}`, { status: 204 }); // T7
  await app.nobody.get(`/sites/${sqlite}`, { status: 404 });
  assert.ok(!ids(await app.nobody.list('/sites')).includes(sqlite));
  assert.deepEqual(await app.nobody.list('/tags/database/sites'), []);
  await carl.put(`/users/sub-carl/ratings/${sqlite}`, { stars: 1 }, { status: 404 });
  const rest = before.filter((item) => item.PK !== `SITE#${sqlite}` && item.siteId !== `SITE#${sqlite}`);
  await until('what hung on it to go', async () => (await app.items()).length === rest.length);
  const key = (item) => `${item.PK} ${item.SK}`;
  assert.deepEqual((await app.items()).map(key).sort(), rest.map(key).sort());
});

test('indexes hold what they are for and nothing else', async () => {
  const items = await app.items();
  const kind = ({ SK }) => SK.replace(/#.*#COMMENT#.*/, ' comment').replace(/#.*/, '');
  const kinds = (...names) => [...new Set(items.filter((item) => names.every((name) => name in item)).map(kind))].sort();
  assert.deepEqual(kinds('entityType', 'entitySk'), ['METADATA']);
  assert.deepEqual(kinds('tag', 'siteId'), ['TAG']);
  assert.deepEqual(kinds('starRating', 'siteId'), ['SITE']);
  assert.deepEqual(kinds('groupName', 'userId'), ['MEMBERSHIP']);
  assert.deepEqual(kinds('siteId', 'commentSk'), ['SITE comment']);
  for (const item of items) {
    if ('starRating' in item) assert.equal(item.starRating, item.stars);
    if ('siteId' in item) assert.match(item.siteId, /^SITE#[^#]+$/); // F2
    if ('userId' in item) assert.doesNotMatch(item.userId, /#/);
  }
});

test('the demonstration plays without a warning and can be read', async () => {
  const demo = await startDesign('fus', { args: ['--demo', join(ROOT, 'designs', 'demo')] });
  await until('the demonstration to be there', () => /demo data of fus/.test(demo.server.log()));
  assert.doesNotMatch(demo.server.log(), /warn|fail/i);
  const sites = await demo.nobody.list('/sites');
  assert.deepEqual(of('title')(sites), ['Project Gutenberg', 'Hacker News', 'Wikipedia', 'OpenStreetMap', 'SQLite']);
  assert.ok(sites[0].createdAt > sites[1].createdAt);
  const { body } = await demo.nobody.get(`/sites/${sites[4].id}/stars`);
  assert.deepEqual([body.count, body.counts], [3, { 1: 0, 2: 0, 3: 0, 4: 1, 5: 2 }]);
  const comments = await demo.nobody.list(`/sites/${sites[4].id}/comments`);
  assert.deepEqual(of('user')(comments), ['sub-carl', 'sub-dora']);
  const writer = await demo.as('sub-carl');
  assert.deepEqual((await writer.get('/users/sub-carl/permissions')).body.items, ['site:write']);
});
