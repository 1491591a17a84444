// PerfectIt, played through: people, categories, cards and how they are found, seen from the REST API and in the table.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually, ROOT, startDesign, until } from './harness.mjs';
import { TIME, ULID, ago, audit, encoded, ids, inflate, of, published, things } from './perfectit-world.mjs';

// Cards are imported by hand here, without what belongs to them.
const app = await startDesign('perfectit', { oracle: ['key-differs', 'companion-missing', 'counter-differs', 'outlived'] });
const operator = await app.operator();
const admin = await app.as('judy', 'admin');
const gus = await app.as('gus');
const hana = await app.as('hana');
const card = (id) => app.item(`CARD#${id}`, 'METADATA');
const tokens = async (id) => (await things(app)).filter((item) => item.PK === `CARD#${id}` && item.SK.startsWith('SEARCH#')).map((item) => item.SK.slice(7)).sort();
const setTimes = (id, values) => app.doc.update({
  TableName: app.table, Key: { PK: `CARD#${id}`, SK: 'METADATA' }, UpdateExpression: `SET ${Object.keys(values).map((name) => `#${name} = :${name}`).join(', ')}`,
  ExpressionAttributeNames: Object.fromEntries(Object.keys(values).map((name) => [`#${name}`, name])),
  ExpressionAttributeValues: Object.fromEntries(Object.entries(values).map(([name, value]) => [`:${name}`, value])),
});
const requestsOf = async (pattern, parameters) => (await operator.post('/call', { pattern, with: parameters, explain: true })).body.requests;

test('the table has the keys, the five indexes, the stream and the time to live of the document', async () => {
  const { Table } = await app.ddb.describeTable({ TableName: 'perfectit-main' });
  assert.deepEqual(Table.KeySchema, [{ AttributeName: 'PK', KeyType: 'HASH' }, { AttributeName: 'SK', KeyType: 'RANGE' }]);
  assert.equal(Table.BillingModeSummary.BillingMode, 'PAY_PER_REQUEST');
  assert.equal(Table.StreamSpecification.StreamViewType, 'NEW_AND_OLD_IMAGES');
  assert.deepEqual(
    Table.GlobalSecondaryIndexes.map(({ IndexName, KeySchema, Projection }) => [IndexName, of('AttributeName')(KeySchema).join(' '), Projection.ProjectionType]).sort(),
    [['GSI1', 'GSI1PK GSI1SK', 'ALL'], ['GSI2', 'GSI2PK GSI2SK', 'ALL'], ['GSI3', 'GSI3PK GSI3SK', 'INCLUDE'], ['GSI4', 'GSI4PK GSI4SK', 'KEYS_ONLY'], ['GSI5', 'GSI5PK GSI5SK', 'INCLUDE']],
  );
  for (const { IndexName, Projection } of Table.GlobalSecondaryIndexes.filter((each) => each.Projection.ProjectionType === 'INCLUDE')) {
    for (const name of ['title', 'imageUrls', 'category', 'difficulty', 'voteScore', 'authorId', 'entityType']) assert.ok(Projection.NonKeyAttributes.includes(name), `${IndexName} ${name}`); // P19
    assert.ok(!Projection.NonKeyAttributes.includes('instructions'));
  }
  const { TimeToLiveDescription } = await app.ddb.describeTimeToLive({ TableName: 'perfectit-main' });
  assert.equal(TimeToLiveDescription.AttributeName, 'expiresAt');
});

test('P-A28, P-A01: signing up puts the user and the guard of the name; a rename moves the guard', async () => {
  const { body, location } = await app.nobody.post('/users', { userId: 'gus', username: ' Gus', password: 'wonderland' }, { status: 201 }); // T1
  assert.equal(location, '/api/perfectit/users/gus');
  const user = await app.item('USER#gus', 'PROFILE');
  assert.deepEqual(user, {
    PK: 'USER#gus', SK: 'PROFILE', entityType: 'User', id: 'gus', userId: 'gus', username: 'gus', role: 'user', createdAt: body.createdAt, updatedAt: body.createdAt,
    GSI1PK: 'USERNAME#gus', GSI1SK: 'PROFILE',
  });
  assert.match(body.createdAt, TIME);
  assert.deepEqual(await app.item('USERNAME#gus', 'USERNAME'), { PK: 'USERNAME#gus', SK: 'USERNAME', userId: 'gus' });
  assert.match(Object.values(await app.item('USER#gus', 'AUTH')).join(' '), /\$2b\$10\$/);
  assert.equal((await things(app)).length, 3);
  await app.nobody.post('/users', { userId: 'gustav', username: 'GUS', password: 'wonderland' }, { status: 409, type: 'taken', attribute: 'username' }); // P12
  await app.nobody.post('/users', { userId: 'gus', username: 'other', password: 'wonderland' }, { status: 409, type: 'already-exists' });
  assert.equal((await things(app)).length, 3, 'a refused sign-up leaves nothing behind');

  for (const name of ['hana', 'judy']) await app.nobody.post('/users', { userId: name, username: name, password: 'wonderland' });
  assert.match((await app.nobody.post('/users', { username: 'anonymous', password: 'wonderland' })).body.userId, ULID);
  assert.equal((await app.nobody.get('/users/gus')).body.username, 'gus');
  await app.nobody.get('/users/none', { status: 404 });

  await gus.patch('/users/gus', { username: 'Gustav' });
  const renamed = await app.item('USER#gus', 'PROFILE');
  assert.deepEqual(renamed, { ...user, username: 'gustav', GSI1PK: 'USERNAME#gustav', updatedAt: renamed.updatedAt });
  assert.equal(await app.item('USERNAME#gus', 'USERNAME'), undefined);
  await gus.patch('/users/gus', { username: 'hana' }, { status: 409, type: 'taken', attribute: 'username' });
  await hana.patch('/users/gus', { username: 'stolen' }, { status: 403, type: 'forbidden' });
  await gus.patch('/users/gus', { userId: 'other' }, { status: 422 });
  const writer = await app.login('gustav', 'wonderland');
  assert.equal((await writer.get('/me')).body.subject, 'gus');
  await app.nobody.post('/login', { name: 'gus', password: 'wonderland' }, { status: 401 });
  await audit(app);
});

test('P-A02: a user by the name, from the index and strongly consistent', async () => {
  for (const path of ['/usernames/gustav', '/usernames/GUSTAV', '/usernames/gustav/now']) assert.equal((await app.nobody.get(path)).body.userId, 'gus', path);
  for (const path of ['/usernames/gus', '/usernames/gus/now']) await app.nobody.get(path, { status: 404 });
  const [guard] = await requestsOf('user by username, strongly consistent', { username: 'gustav' });
  assert.deepEqual([guard.operation, guard.request.ConsistentRead, guard.request.Key.PK.S], ['GetItem', true, 'USERNAME#gustav']);
});

test('P-A33, P-A20, P-A19: a tree of categories, in an order that admins choose', async () => {
  await gus.post('/categories', { categoryId: 'home', name: 'Home' }, { status: 403, type: 'forbidden' });
  for (const [categoryId, sortOrder, parentId] of [['home', 10], ['kitchen', 2], ['woodworking', 1], ['walls', 10, 'home'], ['floors', 2, 'home'], ['parquet', 1, 'floors'], ['baking', 1, 'kitchen']]) {
    await admin.post('/categories', { categoryId, sortOrder, parentId, name: `The ${categoryId}` }, { status: 201 });
  }
  const { createdAt, updatedAt, ...rest } = await app.item('CAT#walls', 'METADATA');
  assert.deepEqual(rest, { // P7
    PK: 'CAT#walls', SK: 'METADATA', entityType: 'Category', id: 'walls', categoryId: 'walls', name: 'The walls', parentId: 'home', sortOrder: 10,
    GSI1PK: 'PARENT#home', GSI1SK: 'SORT#000010',
  });
  assert.ok(TIME.test(createdAt) && TIME.test(updatedAt));
  assert.equal((await app.item('CAT#home', 'METADATA')).GSI1PK, 'PARENT#ROOT');
  assert.equal((await app.nobody.get('/categories/walls')).body.name, 'The walls');
  const list = async (path) => of('categoryId')(await app.nobody.all(path, 1));
  const children = (parent) => list(`/categories/${parent}/children`);
  assert.deepEqual([await list('/categories'), await children('HOME'), await children('baking')], [['woodworking', 'kitchen', 'home'], ['floors', 'walls'], []]);
  await admin.patch('/categories/walls', { sortOrder: 1 });
  assert.equal((await app.item('CAT#walls', 'METADATA')).GSI1SK, 'SORT#000001');
  assert.deepEqual(await children('home'), ['walls', 'floors']);
  await admin.patch('/categories/parquet', { parentId: 'home', sortOrder: 3 });
  assert.deepEqual([await children('home'), await children('floors')], [['walls', 'floors', 'parquet'], []]);
  await admin.patch('/categories/parquet', { parentId: 'floors' });
  // a name of a category is stored as that category is called
  await admin.post('/categories', { categoryId: 'Toys', name: 'Toys' });
  assert.equal((await admin.post('/categories', { categoryId: 'cars', name: 'Cars', parentId: ' TOYS' })).body.parentId, 'toys');
  assert.deepEqual((await admin.list('/categories/Toys/children')).map((each) => each.categoryId), ['cars']);
  assert.equal((await admin.patch('/categories/cars', { parentId: 'Home' })).body.parentId, 'home');
  await eventually(); // refused while an index shows a child
  await admin.delete('/categories/toys');
  assert.equal((await admin.patch('/categories/cars', { parentId: 'ROOT' })).body.parentId, 'ROOT');
  await admin.delete('/categories/cars');
  await admin.patch('/categories/walls', { parentId: 'none' }, { status: 422, detail: /no such parent/ });
  await admin.patch('/categories/walls', { parentId: 'walls' }, { status: 422 });
  await admin.post('/categories', { categoryId: 'ROOT', name: 'x' }, { status: 422 });
  await admin.post('/categories', { categoryId: 'HOME', name: 'x' }, { status: 409, type: 'already-exists' });
  await admin.patch('/categories/walls', { sortOrder: 1e6 }, { status: 422 });
  await admin.patch('/categories/walls', { categoryId: 'fences' }, { status: 422 });
  await admin.delete('/categories/home', { status: 409, type: 'conflict' });
  await gus.patch('/categories/home', { name: 'x' }, { status: 403 });
});

const sample = {
  title: 'Perfect Wood Finish', description: 'How to', imageUrls: ['https://img.example/1.jpg'], instructions: [{ step: 1, text: 'Sand — très fin' }, { text: 'Oil', minutes: 20 }, { text: 'Wait', imageUrl: 'https://img.example/wait.jpg' }],
  materials: { oil: '1 l', paper: { grit: [80, 120] } }, tools: ['brush'], category: 'woodworking', tags: ['furniture', 'Finishing'], difficulty: 'INTERMEDIATE', estimatedTime: 120, estimatedCost: 50,
};

test('P-A29, P-A05: a card is saved as a draft, published, edited and archived', async () => {
  const { body, location } = await gus.post('/cards', { cardId: '123', ...sample }, { status: 201 }); // T2
  assert.equal(location, '/api/perfectit/cards/123');
  const draft = await card('123');
  const { createdAt, instructions, expiresAt, ...rest } = draft;
  assert.deepEqual(rest, { // the document's sample item, without what makes it public (P8)
    PK: 'CARD#123', SK: 'METADATA', entityType: 'PerfectionCard', id: '123', cardId: '123', ...Object.fromEntries(Object.entries(sample).filter(([name]) => name !== 'instructions')),
    tags: ['furniture', 'finishing'], viewCount: 0, voteScore: 0, upVotes: 0, downVotes: 0, commentCount: 0, authorId: 'gus', status: 'DRAFT', updatedAt: createdAt,
    GSI2PK: 'USER#gus', GSI2SK: `CREATED#${createdAt}`, instructionsEncoding: 'gzip+json',
  });
  assert.ok(instructions instanceof Uint8Array);
  assert.deepEqual(inflate(instructions), sample.instructions); // P9: gzip of JSON in the table, an array to whoever asks
  assert.deepEqual(body.instructions, sample.instructions);
  assert.equal(expiresAt, Date.parse(createdAt) / 1000 + 30 * 86400);
  assert.deepEqual(await tokens('123'), []);
  await hana.get('/cards/123', { status: 404, type: 'not-found' });
  await app.nobody.get('/cards/123', { status: 404 });
  await hana.post('/cards/123/publish', {}, { status: 404 });
  assert.deepEqual((await gus.get('/cards/123')).body.instructions, sample.instructions);

  await setTimes('123', { createdAt: '2025-01-01T00:00:00Z', GSI2SK: 'CREATED#2025-01-01T00:00:00Z' });
  const { publishedAt } = (await gus.post('/cards/123/publish')).body;
  const now = await card('123');
  assert.deepEqual(now, {
    ...rest, createdAt: '2025-01-01T00:00:00Z', updatedAt: now.updatedAt, instructions, status: 'PUBLISHED', publishedAt, GSI2SK: 'CREATED#2025-01-01T00:00:00Z',
    GSI1PK: 'CAT#woodworking', GSI1SK: `CREATED#${publishedAt}`, GSI3PK: `DATE#${publishedAt.slice(0, 10)}`, GSI3SK: `CREATED#${publishedAt}#123`, // P24, P2
    GSI5PK: 'VOTETYPE#CARD', GSI5SK: 'SCORE#5000000000#123', // P4; expiresAt is gone (P8)
  });
  assert.deepEqual(await tokens('123'), ['finish', 'finishing', 'furniture', 'perfect', 'wood']); // P3
  await gus.post('/cards/123/publish', {}, { status: 409, type: 'conflict', detail: /only a draft/ });
  const read = (await app.nobody.get('/cards/123')).body;
  assert.deepEqual([read.instructions, read.instructionsEncoding, read.materials], [sample.instructions, 'gzip+json', sample.materials]);

  await gus.patch('/cards/123', { title: 'The Perfect Oak Finish', tags: ['oak'], estimatedCost: null, instructions: [{ text: 'just oil' }] });
  assert.deepEqual(await tokens('123'), ['finish', 'oak', 'perfect']);
  assert.deepEqual(inflate((await card('123')).instructions), [{ text: 'just oil' }]);
  assert.equal((await card('123')).estimatedCost, undefined);
  await hana.patch('/cards/123', { title: 'Hers' }, { status: 403, type: 'forbidden' });
  await gus.patch('/cards/123', { category: 'none' }, { status: 422, detail: /no such category/ });
  await gus.patch('/cards/123', { category: 'walls' });
  assert.equal((await card('123')).GSI1PK, 'CAT#walls');

  await hana.post('/cards/123/archive', {}, { status: 403 });
  await gus.post('/cards/123/archive');
  const archived = await card('123');
  assert.deepEqual(Object.keys(archived).filter((name) => name.startsWith('GSI')).sort(), ['GSI2PK', 'GSI2SK']);
  assert.ok(!('expiresAt' in archived), 'what was published does not expire');
  assert.deepEqual(await tokens('123'), []);
  await app.nobody.get('/cards/123', { status: 404 });
  await gus.post('/cards/123/archive', {}, { status: 409, type: 'conflict' });

  assert.match((await gus.post('/cards', { title: 'x', category: 'woodworking' })).body.cardId, ULID);
  const { body: lost } = await gus.post('/cards', { title: 'Lost', category: 'nowhere' }); // a draft may be anywhere…
  await gus.post(`/cards/${lost.cardId}/publish`, {}, { status: 422, detail: /no such category/ }); // …but not when it is published
  assert.equal((await card(lost.cardId)).status, 'DRAFT');
  await audit(app);
});

test('P-A29, P-A23: drafts are for their author, for thirty days after the last edit', async () => {
  const mine = async (caller) => of('title')(await caller.all('/users/gus/drafts', 1)).sort();
  assert.deepEqual(await mine(gus), ['Lost', 'x']);
  assert.deepEqual(await mine(hana), []);
  assert.deepEqual(await mine(app.nobody), []);
  const { cardId } = (await gus.list('/users/gus/drafts')).find((each) => each.title === 'Lost');
  await setTimes(cardId, { updatedAt: ago(29 * 24), expiresAt: Math.floor(Date.parse(ago(-24)) / 1000) });
  await gus.patch(`/cards/${cardId}`, { title: 'Found' });
  assert.equal((await card(cardId)).expiresAt, Date.parse((await card(cardId)).updatedAt) / 1000 + 30 * 86400);
  await setTimes(cardId, { expiresAt: Math.floor(Date.now() / 1000) - 60 }); // C16: over, though it may still be in the table
  assert.deepEqual(await mine(gus), ['x']);
  await gus.get(`/cards/${cardId}`, { status: 404 });
  await gus.post(`/cards/${cardId}/publish`, {}, { status: 404 });
  await gus.patch(`/cards/${cardId}`, { title: 'Alive' }, { status: 404 });
});

test('P-A03, P-A04, P-A27: cards of a category, of what is below it, and of an author, newest first', async () => {
  for (const [id, author, category, hours] of [['w1', 'gus', 'walls', 50], ['w2', 'hana', 'walls', 10], ['w3', 'gus', 'walls', 30], ['f1', 'hana', 'floors', 20], ['p1', 'gus', 'parquet', 40], ['h1', 'hana', 'home', 60], ['b1', 'hana', 'baking', 5]]) {
    await published(operator, id, author, category, ago(hours));
  }
  await hana.post('/cards', { cardId: 'hidden', title: 'Hidden', category: 'walls' });
  assert.deepEqual(ids(await app.nobody.all('/categories/walls/cards', 1)), ['w2', 'w3', 'w1']); // P15
  assert.deepEqual(ids(await app.nobody.all('/categories/home/cards', 2)), ['h1']); // P7: a parent alone does not include its children
  assert.deepEqual(ids(await app.nobody.all('/categories/home/all-cards', 2)), ['w2', 'f1', 'w3', 'p1', 'w1', 'h1']);
  assert.deepEqual(ids(await app.nobody.all('/categories/floors/all-cards', 1)), ['f1', 'p1']);
  assert.deepEqual(ids(await app.nobody.all('/users/hana/cards', 2)), ['b1', 'w2', 'f1', 'h1']);
  assert.deepEqual(ids(await hana.all('/users/hana/cards', 2)), ['b1', 'w2', 'f1', 'h1'], 'drafts have their own list');
  assert.deepEqual(ids(await hana.list('/users/hana/drafts')), ['hidden']);
  assert.match((await app.nobody.get('/categories/walls/cards')).headers.get('cache-control'), /public, max-age=60/); // P21
  assert.equal((await app.nobody.get('/users/hana/cards')).headers.get('cache-control'), 'private, no-cache');
  // P24: a draft of last year that is published now is new
  await operator.post('/cards', { cardId: 'late', authorId: 'gus', title: 'Late', category: 'walls', createdAt: '2024-01-01T00:00:00Z' });
  await gus.post('/cards/late/publish');
  assert.deepEqual(ids(await app.nobody.all('/categories/walls/cards', 2)), ['late', 'w2', 'w3', 'w1']);
  assert.deepEqual(ids(await app.nobody.all('/users/gus/cards', 2)).at(-1), 'late');
  await gus.delete('/cards/late');
});

test('P-A13: recent cards, over the days', async () => {
  const recent = await app.nobody.all('/recent', 2);
  assert.deepEqual(ids(recent), ['b1', 'w2', 'f1', 'w3', 'p1', 'w1', 'h1']);
  assert.ok(!('description' in recent[0]) && recent[0].title);
  await published(operator, 'old1', 'gus', 'walls', '2025-01-01T00:00:00Z');
  await published(operator, 'old2', 'gus', 'walls', '2024-12-29T23:59:59Z');
  await published(operator, 'old3', 'gus', 'walls', '2024-12-20T00:00:00Z');
  assert.deepEqual(ids(await app.nobody.all('/recent?date=2025-01-01', 1)), ['old1', 'old2']); // seven days, and not the eighth
  assert.deepEqual(ids(await app.nobody.list('/recent?date=2024-12-31')), ['old2']);
  await app.nobody.get('/recent?date=yesterday', { status: 422 });
  await audit(app);
});

test('P-A10: trending cards: votes against age, over seven days', async () => {
  const scored = [['t1', 1, 3], ['t2', 30, 60], ['t3', 100, 8], ['t4', 2, -2], ['t5', 0, 0], ['t6', 140, 500]];
  for (const [id, hours, voteScore] of scored) await published(operator, id, 'hana', 'baking', ago(hours), { voteScore });
  const all = await app.nobody.list('/recent?limit=100');
  const rank = (each) => (each.voteScore + 1) / ((Date.now() - Date.parse(each.publishedAt)) / 36e5 + 2) ** 1.5;
  const expected = ids([...all].sort((a, b) => rank(b) - rank(a)).slice(0, 20));
  const { body, headers } = await app.nobody.get('/trending');
  assert.deepEqual(ids(body.items), expected); // H1
  assert.equal(body.items[0].cardId, 't1');
  assert.ok(expected.indexOf('t2') < expected.indexOf('t3') && expected.at(-1) === 't4');
  assert.match(headers.get('cache-control'), /public, max-age=300/);
  for (let i = 0; i < 12; i += 1) await published(operator, `more${i}`, 'hana', 'baking', ago(3));
  assert.equal((await app.nobody.list('/trending')).length, 20);
});

test('P-A11: top voted cards, also with more than nine and less than zero votes', async () => {
  const top = await app.nobody.all('/top', 4);
  const scores = of('voteScore')(top);
  assert.deepEqual(scores, [...scores].sort((a, b) => b - a)); // P4
  assert.deepEqual([top[0].cardId, top[1].cardId, top.at(-1).cardId], ['t6', 't2', 't4']);
  assert.equal((await card('t4')).GSI5SK, `SCORE#${encoded(-2)}#t4`);
  assert.equal(encoded(-3), '4999999997');
});

test('P-A16: cards that people disagree about', async () => {
  for (const [id, disagreement] of [['t1', 2], ['t2', 10], ['t3', 9], ['hidden', 99]]) await operator.put(`/cards/${id}/controversy`, { disagreement });
  const { updatedAt, ...item } = await app.item('CARD#t2', 'CONTROVERSY'); // P17, R3
  assert.deepEqual(item, { PK: 'CARD#t2', SK: 'CONTROVERSY', entityType: 'Controversy', cardId: 't2', disagreement: 10, GSI5PK: 'VOTETYPE#CONTROVERSIAL', GSI5SK: `SCORE#${encoded(10)}#t2` });
  assert.match(updatedAt, TIME);
  assert.deepEqual(ids(await app.nobody.all('/controversial', 1)), ['t2', 't3', 't1']);
  assert.deepEqual(ids(await hana.all('/controversial', 2)), ['t2', 't3', 't1'], 'a draft is in no public list, not even for its author');
  await gus.put('/cards/t1/controversy', { disagreement: 1 }, { status: 404 });
});

test('P-A15, P-A24: search by words of title and tags, all of them; by tag', async () => {
  for (const [id, title, tags] of [['s1', 'Sharpen a kitchen knife', ['knife', 'Steel']], ['s2', 'Sharpen a chisel', ['steel', 'hand tools']], ['s3', 'A knife block of steel', ['wood']]]) {
    await published(operator, id, 'gus', 'kitchen', ago(24), { title, tags });
  }
  const search = async (q) => ids(await app.nobody.all(`/search?q=${encodeURIComponent(q)}`, 1)).sort();
  assert.deepEqual(await search('sharpen'), ['s1', 's2']);
  assert.deepEqual(await search('Steel KNIFE'), ['s1', 's3']);
  assert.deepEqual(await search('sharpen the knife!'), ['s1'], 'the commonest words are not asked for');
  assert.deepEqual(await search('knife spoon'), []);
  assert.deepEqual(await search('the'), []);
  await app.nobody.get('/search', { status: 422 });
  await app.nobody.get(`/search?q=${'x'.repeat(201)}`, { status: 422 });
  const tagged = async (tag) => ids(await app.nobody.all(`/tags/${encodeURIComponent(tag)}/cards`, 1)).sort();
  assert.deepEqual(await tagged('steel'), ['s1', 's2'], 'a word of a title is not a tag (P23)');
  assert.deepEqual(await tagged('STEEL'), ['s1', 's2']);
  assert.deepEqual(await tagged('hand tools'), ['s2']);
  assert.deepEqual(await tagged('none'), []);
  const [found] = await app.nobody.list('/search?q=chisel');
  assert.equal(found.title, 'Sharpen a chisel');
  await operator.post('/cards/s2/archive');
  assert.deepEqual(await search('chisel'), []);
  for (const { operation } of await requestsOf('search', { q: 'steel knife' })) assert.ok(['Query', 'BatchGetItem'].includes(operation), operation);
  await audit(app).catch((error) => assert.match(error.message, /the counts of t/)); // the scores above are nobody's votes
});

test('P-A34: many cards at once, written and read', async () => {
  const make = (i) => ({ method: 'POST', path: '/cards', body: { cardId: `bulk${i}`, title: `Bulk ${i}`, category: 'kitchen' } });
  const { body } = await hana.post('/batch', { requests: Array.from({ length: 60 }, (_, i) => make(i)) });
  assert.ok(body.responses.every((reply) => reply.status === 201 && reply.location));
  const path = `/cards-by-id?${['bulk3', 'none', 'w1', 'bulk7', 'hidden'].map((id) => `id=${id}`).join('&')}`;
  assert.deepEqual(ids(await hana.list(path)).sort(), ['bulk3', 'bulk7', 'hidden', 'w1']);
  assert.deepEqual(ids(await gus.list(path)), ['w1']);
  const hundred = (n) => `/cards-by-id?${Array.from({ length: n }, (_, i) => `id=bulk${i}`).join('&')}`;
  assert.equal((await hana.list(hundred(100))).length, 60);
  await hana.get(hundred(101), { status: 422 });
  // an import by DynamoDB's own BatchWriteItem is read like everything else (P22)
  await app.doc.batchWrite({ RequestItems: { [app.table]: ['i1', 'i2'].map((id) => ({ PutRequest: { Item: {
    ...{ PK: `CARD#${id}`, SK: 'METADATA', entityType: 'PerfectionCard', id, cardId: id, title: `Import ${id}`, category: 'kitchen', authorId: 'hana', status: 'PUBLISHED' },
    ...{ createdAt: '2023-01-01T00:00:00Z', updatedAt: '2023-01-01T00:00:00Z', publishedAt: '2023-01-01T00:00:00Z', voteScore: 0, viewCount: 0, upVotes: 0, downVotes: 0, commentCount: 0 },
    ...{ GSI1PK: 'CAT#kitchen', GSI1SK: 'CREATED#2023-01-01T00:00:00Z', GSI2PK: 'USER#hana', GSI2SK: 'CREATED#2023-01-01T00:00:00Z' },
  } } })) } });
  assert.deepEqual(ids(await app.nobody.all('/categories/kitchen/cards', 1)).slice(-2).sort(), ['i1', 'i2']); // P27: both, though of the same second
});

test('P-A14: what happened on a day', async () => {
  for (const [date, metric, total] of [['2025-01-01', 'cards', 4], ['2025-01-01', 'votes', 17], ['2025-01-02', 'cards', 1]]) await operator.post('/metrics', { date, metric, total });
  assert.deepEqual(await app.item('METRICS#2025-01-01', 'votes'), { PK: 'METRICS#2025-01-01', SK: 'votes', entityType: 'DailyMetric', date: '2025-01-01', metric: 'votes', total: 17 }); // R5
  assert.deepEqual((await admin.list('/metrics/2025-01-01')).map((each) => [each.metric, each.total]), [['cards', 4], ['votes', 17]]);
  assert.deepEqual(await gus.list('/metrics/2025-01-01'), []);
  await gus.post('/metrics', { date: '2025-01-01', metric: 'x', total: 1 }, { status: 404 });
});

test('P-A35: views are gathered in memory and written later, at the end at the latest', async () => {
  const first = await startDesign('perfectit', { check: false }); // its directory is the second one's then
  const op = await first.operator();
  await op.post('/users', { userId: 'gus', username: 'gus' });
  await op.post('/categories', { categoryId: 'home', name: 'Home' });
  await published(op, 'seen', 'gus', 'home', ago(1));
  await op.post('/cards', { cardId: 'secret', authorId: 'gus', title: 'Secret', category: 'home' });
  const before = await first.item('CARD#seen', 'METADATA');
  for (let i = 0; i < 25; i += 1) assert.equal((await first.nobody.post('/cards/seen/view')).status, 202);
  await first.nobody.post('/cards/secret/view', {}, { status: 404 });
  await first.nobody.post('/cards/none/view', {}, { status: 404 });
  await first.nobody.post('/cards/seen/view', { viewCount: 1000 }, { status: 422 });
  assert.deepEqual(await first.item('CARD#seen', 'METADATA'), before); // H3, P10
  await first.server.stop();
  const second = await startDesign('perfectit', { data: first.data });
  assert.deepEqual(await second.item('CARD#seen', 'METADATA'), { ...before, viewCount: 25 }, 'nothing but the count');
  assert.equal((await second.nobody.get('/cards/seen')).body.viewCount, 25);
});

test('the demonstration plays without a warning and can be read', async () => {
  const demo = await startDesign('perfectit', { args: ['--demo', join(ROOT, 'designs', 'demo')] });
  await until('the demonstration to be there', () => /demo data of perfectit/.test(demo.server.log()));
  assert.doesNotMatch(demo.server.log(), /warn|fail/i);
  await audit(demo);
  assert.deepEqual((await demo.nobody.list('/top')).map((each) => [each.cardId, each.voteScore])[0], ['card-shelf', 3]);
  assert.deepEqual(ids(await demo.nobody.list('/recent')), ['card-floor', 'card-croissant', 'card-sourdough', 'card-paint', 'card-shelf']);
  assert.deepEqual(ids(await demo.nobody.list('/categories/home/all-cards')), ['card-floor', 'card-paint']);
  assert.deepEqual(ids(await demo.nobody.list('/collections/weekend/cards')), ['card-shelf', 'card-paint', 'card-sourdough']);
  assert.deepEqual(of('body')(await demo.nobody.list('/cards/card-sourdough/comments')), ['Which flour?', 'Half white, half rye.']);
  assert.ok((await (await demo.login('judy', 'wonderland')).get('/me')).body.roles.includes('admin'));
  const ivo = await demo.login('ivo', 'wonderland');
  assert.deepEqual(ids(await ivo.list('/users/ivo/drafts')), ['card-draft']);
});
