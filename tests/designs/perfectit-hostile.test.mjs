// PerfectIt under people who mean no good, and under many at once; then everything is counted again.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { atOnce, startDesign, until } from './harness.mjs';
import { ago, audit, ids, of, people, published, things } from './perfectit-world.mjs';

const app = await startDesign('perfectit');
const operator = await app.operator();
const admin = await app.as('boss', 'admin');
const names = Array.from({ length: 15 }, (_, i) => `user${String(i).padStart(2, '0')}`);
const { gus, hana, mallory, ...others } = await people(app, 'gus', 'hana', 'mallory', ...names);
const users = names.map((name) => others[name]);
const clients = (n, start) => Array.from({ length: n }, (_, i) => () => start(i));
const only = (statuses, ...allowed) => assert.deepEqual(Object.keys(statuses).filter((status) => !allowed.includes(Number(status))), [], JSON.stringify(statuses));
const card = (id) => app.item(`CARD#${id}`, 'METADATA');
for (const categoryId of ['wood', 'walls']) await operator.post('/categories', { categoryId, name: categoryId });
for (const id of ['shelf', 'table', 'chair']) await published(operator, id, 'gus', 'wood', ago(5));

test('P-A28: of twenty who want one name at once, one gets it; renames leave no guard behind', async () => {
  const statuses = await atOnce(clients(20, (i) => operator.request('POST', '/users', { body: { userId: `twin${i}`, username: 'twin' } }).then((reply) => {
    if (reply.status !== 201) assert.deepEqual([reply.body.type, reply.body.attribute], ['urn:thorpe:taken', 'username']);
    return reply;
  })));
  assert.deepEqual(statuses, { 201: 1, 409: 19 });
  const race = await atOnce(clients(15, (i) => users[i].request('PATCH', `/users/${names[i]}`, { body: { username: 'wanted' } })));
  assert.deepEqual(race, { 200: 1, 409: 14 });
  only(await atOnce(clients(15, (i) => gus.request('PATCH', '/users/gus', { body: { username: `gus${i}` } }))), 200, 503);
  await audit(app); // P12: the guards are the names
});

test('P-A31: thirty votes, changes and retractions at once, and every counter is right', async () => {
  const vote = (i, value) => users[i % 15].request('PUT', `/votes/${names[i % 15]}/shelf`, { body: { voteValue: value } });
  assert.deepEqual(await atOnce(clients(30, (i) => vote(i, i % 2 ? 1 : -1))), { 201: 15, 409: 15 });
  await audit(app);
  for (let round = 0; round < 3; round += 1) {
    const statuses = await atOnce(clients(45, (i) => {
      const path = `/votes/${names[(i * 7) % 15]}/shelf`;
      const caller = users[(i * 7) % 15];
      if (i % 3 === 0) return caller.request('DELETE', path);
      return i % 3 === 1 ? caller.request('PATCH', path, { body: { voteValue: (i + round) % 2 ? 1 : -1 } }) : caller.request('PUT', path, { body: { voteValue: 1 } });
    }));
    only(statuses, 200, 201, 204, 404, 409);
      await audit(app);
  }
  const top = await app.nobody.list('/top');
  assert.deepEqual(of('voteScore')(top), [...of('voteScore')(top)].sort((a, b) => b - a));
});

test('P-A30, P-A31: comments are written, voted on and deleted at once', async () => {
  const { body: root } = await hana.post('/cards/table/comments', { body: 'root' });
  const at = `/cards/table/comments/${root.createdAt}/${root.commentId}`;
  const vote = { targetType: 'COMMENT', cardId: 'table', commentedAt: root.createdAt };
  only(await atOnce(clients(30, (i) => (i % 2
    ? users[i % 15].request('PUT', `/votes/${names[i % 15]}/${root.commentId}`, { body: { ...vote, voteValue: i % 4 === 1 ? 1 : -1 } })
    : users[i % 15].request('POST', '/cards/table/comments', { body: { body: `answer ${i}` } })))), 201);
  await audit(app);
  assert.equal((await card('table')).commentCount, 16);
  // it goes while it is voted on: who is too late is told so, and no vote is left on nothing
  const statuses = await atOnce([
    ...clients(15, (i) => users[i].request('PATCH', `/votes/${names[i]}/${root.commentId}`, { body: { voteValue: 1 } })),
    () => gus.request('DELETE', at),
    ...clients(15, (i) => users[i].request('PUT', `/votes/${names[i]}/${root.commentId}`, { body: { ...vote, voteValue: 1 } })),
  ]);
  assert.equal(statuses[204], 1, JSON.stringify(statuses));
  only(statuses, 200, 201, 204, 404, 409, 422);
  await until('its votes to go', async () => !(await things(app)).some((item) => item.targetId === root.commentId));
  await audit(app);
});

test('P-A29: a card is published, edited and archived by many at once', async () => {
  await gus.post('/cards', { cardId: 'busy', title: 'Busy card', category: 'wood', tags: ['one'] });
  assert.deepEqual(await atOnce(clients(10, () => gus.request('POST', '/cards/busy/publish', { body: {} }))), { 200: 1, 409: 9 });
  const words = (i) => ({ title: `Busy ${['oak', 'elm', 'ash'][i % 3]}`, tags: [`tag${i}`] });
  only(await atOnce([
    ...clients(12, (i) => gus.request('PATCH', '/cards/busy', { body: words(i) })),
    ...clients(15, (i) => users[i].request('PUT', `/votes/${names[i]}/busy`, { body: { voteValue: 1 } })),
    ...clients(10, (i) => users[i].request('POST', '/cards/busy/comments', { body: { body: 'me too' } })),
  ]), 200, 201, 503);
  await audit(app);
  const { title, tags } = await card('busy');
  const tokens = (await things(app)).filter((item) => item.PK === 'CARD#busy' && item.SK.startsWith('SEARCH#')).map((item) => item.SK.slice(7)).sort();
  assert.deepEqual(tokens, [...title.toLowerCase().split(' '), ...tags].sort()); // T2: the words are those of the last edit
  // archived while it is voted on and answered: afterwards nothing counts any more
  const statuses = await atOnce([
    ...clients(8, (i) => users[i].request('DELETE', `/votes/${names[i]}/busy`)),
    () => gus.request('POST', '/cards/busy/archive', { body: {} }),
    ...clients(8, (i) => users[i].request('POST', '/cards/busy/comments', { body: { body: 'late' } })),
  ]);
  only(statuses, 200, 201, 204, 404, 409, 503);
  await audit(app);
  assert.equal((await card('busy')).status, 'ARCHIVED');
  assert.deepEqual((await things(app)).filter((item) => item.PK === 'CARD#busy' && item.SK.startsWith('SEARCH#')), []);
  const race = await gus.get('/cards/busy');
  await app.doc.update({ TableName: app.table, Key: { PK: 'CARD#busy', SK: 'METADATA' }, UpdateExpression: 'SET updatedAt = :t', ExpressionAttributeValues: { ':t': ago(1) } });
  await gus.patch('/cards/busy', { title: 'stale' }, { status: 412, type: 'changed', headers: { 'if-match': race.etag } });
  const { etag } = await gus.get('/cards/busy');
  assert.deepEqual(await atOnce(clients(15, (i) => gus.request('PATCH', '/cards/busy', { body: { title: `v${i}` }, headers: { 'if-match': etag } }))), { 200: 1, 412: 14 });
});

test('P-A32: cards are put into collections and taken out at once; a collection goes meanwhile', async () => {
  await hana.put('/users/hana/collections/mine', { name: 'Mine' });
  for (let round = 0; round < 2; round += 1) {
    only(await atOnce(clients(30, (i) => hana.request(i % 3 ? 'PUT' : 'DELETE', `/collections/mine/cards/${['shelf', 'table', 'chair'][i % 5 % 3]}`, i % 3 ? { body: {} } : {}))), 201, 204, 404, 409);
    await audit(app);
  }
  const statuses = await atOnce([
    ...clients(6, (i) => hana.request('PUT', `/collections/mine/cards/${['shelf', 'table', 'chair'][i % 3]}`, { body: {} })),
    () => hana.request('DELETE', '/users/hana/collections/mine'),
    ...clients(6, (i) => hana.request('PUT', `/collections/mine/cards/${['shelf', 'table', 'chair'][i % 3]}`, { body: {} })),
  ]);
  assert.equal(statuses[204], 1, JSON.stringify(statuses));
  await until('its rows to go', async () => !(await things(app)).some((item) => item.PK === 'COLLECTION#mine'));
  await audit(app);
});

test('P-A32: nobody makes a second collection of an id, to put cards into the first or to empty it', async () => {
  await hana.put('/users/hana/collections/holiday', { name: 'Holiday', isPublic: true });
  await hana.put('/collections/holiday/cards/shelf');
  const before = await things(app);
  await mallory.put('/users/mallory/collections/holiday', { name: 'Mine now' }, { status: 409, type: 'taken', attribute: 'collectionId' });
  await mallory.post('/users/mallory/collections', { collectionId: 'holiday', name: 'Mine now' }, { status: 409, type: 'taken', attribute: 'collectionId' });
  for (const [method, path, body] of [
    ['PUT', '/collections/holiday/cards/chair', {}], ['PUT', '/collections/holiday/cards/chair', { userId: 'hana' }], ['POST', '/collections/holiday/cards', { cardId: 'chair', userId: 'hana' }],
    ['DELETE', '/collections/holiday/cards/shelf'], ['PATCH', '/collections/holiday/cards/shelf', { position: 9 }], ['DELETE', '/users/hana/collections/holiday'],
    ['PATCH', '/users/hana/collections/holiday', { name: 'x' }],
  ]) {
    const { status } = await mallory.request(method, path, { body });
    assert.ok([403, 404].includes(status), `${method} ${path}: ${status}`);
  }
  assert.deepEqual(await things(app), before);
  const statuses = await atOnce(clients(15, (i) => users[i].request('PUT', `/users/${names[i]}/collections/same`, { body: { name: 'Same' } })));
  assert.deepEqual(statuses, { 201: 1, 409: 14 });
  await audit(app);
});

test('P-A30, P-A31: a comment with the id of a card, or of another comment, takes nothing with it', async () => {
  const { body: victim } = await hana.post('/cards/chair/comments', { body: 'victim' });
  await gus.put(`/votes/gus/${victim.commentId}`, { targetType: 'COMMENT', cardId: 'chair', commentedAt: victim.createdAt, voteValue: 1 });
  await gus.put('/votes/gus/chair', { voteValue: 1 });
  await published(operator, 'stool', 'mallory', 'wood', ago(5)); // of the one who comments: nobody is told of two comments with one id
  for (const commentId of ['chair', victim.commentId]) {
    await mallory.post('/cards/stool/comments', { body: 'trap', commentId }, { status: 422, detail: /^commentId/ });
    const { body } = await operator.post('/cards/stool/comments', { body: 'trap', commentId, authorId: 'mallory' });
    await mallory.delete(`/cards/stool/comments/${body.createdAt}/${body.commentId}`);
  }
  await mallory.post('/cards', { cardId: victim.commentId, title: 'trap', category: 'wood' });
  await mallory.delete(`/cards/${victim.commentId}`);
  assert.equal((await app.item('VOTE#gus#chair', 'VOTE'))?.voteValue, 1);
  assert.equal((await app.item(`VOTE#gus#${victim.commentId}`, 'VOTE'))?.voteValue, 1);
  await audit(app);
});

test('P-A29, P-A30, P-A28: forged owners, states, times and counters', async () => {
  const { body } = await mallory.post('/cards', { title: 'x', category: 'wood', authorId: 'gus' });
  assert.equal((await card(body.cardId)).authorId, 'mallory');
  const before = await things(app);
  for (const forged of [
    { status: 'PUBLISHED' }, { publishedAt: '2020-01-01T00:00:00Z' }, { voteScore: 100 }, { viewCount: 5 }, { upVotes: 1 }, { commentCount: 1 }, { createdAt: '2020-01-01T00:00:00Z' }, { expiresAt: 1 },
    { GSI5SK: 'SCORE#9999999999#x' }, { GSI1PK: 'CAT#wood' }, { PK: 'CARD#shelf' }, { SK: 'METADATA' }, { entityType: 'Category' }, { id: 'shelf' }, { instructionsEncoding: 'x' }, { cardId: 'shelf2' },
    { title: 5 }, { title: '' }, { title: null }, { instructions: 'text' }, { materials: [] }, { tags: 'one' }, { tags: [1] }, { difficulty: 'EASY' }, { estimatedTime: -1 }, { estimatedTime: 1.5 },
    { estimatedCost: '50' }, { imageUrls: [true] }, { category: '' }, { colour: 'red' }, { instructions: Array(201).fill({ text: 'x' }) }, { instructions: ['Oil'] }, { instructions: [{ step: 1 }] }, { instructions: [{ text: 'x', colour: 'red' }] }, { category: 'two words' },
  ]) {
    await mallory.patch(`/cards/${body.cardId}`, forged, { status: 422, type: 'invalid' });
    if (!('cardId' in forged)) await mallory.post('/cards', { title: 'x', category: 'wood', ...forged }, { status: 422, type: 'invalid' });
  }
  await mallory.post('/cards', { cardId: 'a#b', title: 'x', category: 'wood' }, { status: 422 });
  await mallory.put('/cards/shelf', { title: 'x', category: 'wood' }, { status: 409 });
  const { etag } = await mallory.get('/cards/shelf');
  await mallory.put('/cards/shelf', { title: 'x', category: 'wood' }, { status: 403, headers: { 'if-match': etag } });
  for (const action of ['archive', 'publish']) await mallory.post(`/cards/shelf/${action}`, {}, { status: 403 });
  for (const forged of [{ voteScore: 9 }, { createdAt: '2020-01-01T00:00:00Z' }, { cardId: 'table' }]) await mallory.post('/cards/shelf/comments', { body: 'x', ...forged }, { status: 422 });
  const past = await mallory.request('PUT', '/cards/shelf/comments/2020-01-01T00:00:00Z/c1', { body: { body: 'first!' } });
  assert.ok([404, 405, 422].includes(past.status), `nobody comments in the past: ${past.status}`);
  await app.nobody.post('/users', { userId: 'x#y', username: 'fine', password: 'wonderland' }, { status: 422 });
  await app.nobody.post('/users', { userId: 'fine', username: 'a#b', password: 'wonderland' }, { status: 422 });
  await app.nobody.post('/users', { userId: 'fine', username: 'fine' }, { status: 422 });
  await app.nobody.post('/users', { userId: 'fine', username: 'fine', password: 'short' }, { status: 422 });
  await mallory.patch('/users/gus', { password: 'stolen-now', current_password: 'x' }, { status: 403 });
  await mallory.delete('/users/gus', { status: 403 });
  await mallory.put('/cards/shelf/controversy', { disagreement: 5 }, { status: 404 });
  await mallory.post('/categories', { categoryId: 'x', name: 'x' }, { status: 403 });
  assert.deepEqual(await things(app), before);
});

test('P-A05, P-A29: a draft is to everyone else as if it were not there', async () => {
  await gus.post('/cards', { cardId: 'secret', title: 'Secret', category: 'wood' });
  for (const caller of [app.nobody, mallory]) {
    for (const [method, path, body] of [['GET', ''], ['PATCH', '', { title: 'x' }], ['DELETE', ''], ['POST', '/publish', {}], ['POST', '/archive', {}], ['POST', '/view', {}]]) {
      const replies = await Promise.all(['secret', 'absent'].map((id) => caller.request(method, `/cards/${id}${path}`, { body })));
      assert.deepEqual(of('status')(replies), [404, 404], `${method} ${path}`);
      assert.equal(replies[0].body.detail.replace('secret', 'absent'), replies[1].body.detail);
    }
  }
  assert.equal((await admin.get('/cards/secret')).body.title, 'Secret');
});

test('P-A33: no category is below itself, through none, one or several others, also when two try at once', async () => {
  for (const [categoryId, parentId] of [['top', undefined], ['mid', 'top'], ['low', 'mid']]) await admin.post('/categories', { categoryId, name: categoryId, parentId });
  for (const parentId of ['top', 'mid', 'low', 'LOW ']) await admin.patch('/categories/top', { parentId }, { status: 422, type: 'invalid' });
  await admin.patch('/categories/top', { parentId: 'low' }, { status: 422, detail: /^parentId: a Category cannot be below itself/ });
  assert.equal((await admin.patch('/categories/low', { parentId: 'top' })).body.parentId, 'top'); // up is fine
  for (let round = 0; round < 10; round += 1) {
    const [x, y, z] = ['x', 'y', 'z'].map((name) => `${name}${round}`);
    for (const categoryId of [x, y, z]) await admin.post('/categories', { categoryId, name: categoryId });
    const replies = await Promise.all([[x, y], [y, z], [z, x]].map(([child, parentId]) => admin.request('PATCH', `/categories/${child}`, { body: { parentId } })));
    assert.deepEqual(replies.map((reply) => reply.status).sort(), [200, 200, 422], JSON.stringify(replies.map((reply) => reply.body)));
  }
  let parentId = 'ROOT';
  for (let level = 0; level <= 32; level += 1) {
    await admin.post('/categories', { categoryId: `deep${level}`, name: 'Deep', parentId });
    parentId = `deep${level}`;
  }
  await admin.post('/categories', { categoryId: 'deeper', name: 'Deep', parentId }, { status: 422, detail: /at most 32 levels/ });
});

test('P-A27, P-A33: a circle of categories does no harm, and a category does not go from under its cards', async () => {
  await admin.post('/categories', { categoryId: 'a', name: 'a' });
  await admin.post('/categories', { categoryId: 'b', name: 'b', parentId: 'a' });
  await app.doc.update({ // past the rules, with an SDK
    TableName: app.table, Key: { PK: 'CAT#a', SK: 'METADATA' }, UpdateExpression: 'SET parentId = :b, GSI1PK = :p', ExpressionAttributeValues: { ':b': 'b', ':p': 'PARENT#b' },
  });
  await published(operator, 'ring', 'gus', 'b', ago(2));
  assert.deepEqual([...new Set(ids(await app.nobody.list('/categories/a/all-cards')))], ['ring']);
  await gus.delete('/cards/ring');
  for (let round = 0; round < 5; round += 1) {
    await admin.post('/categories', { categoryId: `brief${round}`, name: 'Brief' });
    await gus.post('/cards', { cardId: `in${round}`, title: 'In', category: `brief${round}` });
    const [made, gone] = await Promise.all([gus.request('POST', `/cards/in${round}/publish`, { body: {} }), admin.request('DELETE', `/categories/brief${round}`)]);
    assert.ok([200, 422].includes(made.status) && [204, 409].includes(gone.status), `${made.status} ${gone.status}`);
    const there = await app.item(`CAT#brief${round}`, 'METADATA');
    assert.ok(there || (await card(`in${round}`)).status === 'DRAFT', 'a published card without its category');
  }
  await audit(app);
});

test('P-A04, P-A15, P-A13: pages are full, and cursors belong to one list', async () => {
  for (let i = 0; i < 40; i += 1) await operator.post('/cards', { cardId: `m${String(i).padStart(2, '0')}`, authorId: 'hana', title: 'Common word', category: 'walls', createdAt: ago(100 - i), ...(i % 8 ? {} : { status: 'PUBLISHED', publishedAt: ago(100 - i) }) });
  assert.deepEqual(ids(await app.nobody.all('/users/hana/cards', 2)), ['m32', 'm24', 'm16', 'm08', 'm00']); // C9
  assert.equal((await hana.all('/users/hana/drafts', 7)).length, 35);
  assert.deepEqual(await mallory.list('/users/hana/drafts'), []);
  for (let i = 0; i < 30; i += 1) await hana.request('POST', `/cards/m${String(i).padStart(2, '0')}/publish`, { body: {} });
  const found = ids(await app.nobody.all('/search?q=common+word', 7));
  assert.equal(found.length, 31);
  assert.equal(new Set(found).size, 31);
  const recent = ids(await app.nobody.all('/recent', 3));
  assert.equal(new Set(recent).size, recent.length);
  const { next } = (await app.nobody.get('/users/hana/cards?limit=2')).body;
  assert.doesNotMatch(Buffer.from(next, 'base64url').toString('latin1'), /USER|CARD/);
  await app.nobody.get(`/users/gus/cards?limit=2&after=${next}`, { status: 400, type: 'malformed' });
  await app.nobody.get(`/users/hana/drafts?limit=2&after=${next}`, { status: 400, type: 'malformed' });
  for (const path of ['/users/hana/cards', '/search?q=common', '/recent', '/top', '/collections/holiday/cards', '/categories/walls/all-cards']) {
    for (const bad of ['x', `${next}A`, next.slice(1), 'e30']) {
      await app.nobody.get(`${path}${path.includes('?') ? '&' : '?'}after=${encodeURIComponent(bad)}`, { status: 400, type: 'malformed' });
    }
  }
});

test('P-A29: a card goes while everybody is busy with it, and nothing is left of it', async () => {
  await hana.put('/users/hana/collections/last', { name: 'Last' });
  for (let round = 0; round < 2; round += 1) {
    const id = `doomed${round}`;
    await gus.post('/cards', { cardId: id, title: 'Doomed', category: 'wood' });
    await gus.post(`/cards/${id}/publish`);
    const busy = (i) => [
      () => users[i % 15].request('PUT', `/votes/${names[i % 15]}/${id}`, { body: { voteValue: 1 } }),
      () => users[i % 15].request('POST', `/cards/${id}/comments`, { body: { body: 'wait' } }),
      ...(i ? [] : [() => hana.request('PUT', `/collections/last/cards/${id}`, { body: {} })]),
    ];
    const statuses = await atOnce([...clients(8, busy).flatMap((make) => make()), () => gus.request('DELETE', `/cards/${id}`), ...clients(7, (i) => busy(i + 8)).flatMap((make) => make())]);
    assert.equal(statuses[204], 1, JSON.stringify(statuses));
    only(statuses, 201, 204, 404, 409, 403);
    await until('what hung on it to go', async () => !JSON.stringify(await things(app)).includes(id));
  }
  await audit(app);
});
