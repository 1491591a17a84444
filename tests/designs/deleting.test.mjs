// Deleting and creating again under the same identity: nothing of the old is seen under the new, nothing of the new goes with the old.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { BACKEND, freshDirectory, scan, startDesign, until } from './harness.mjs';
import { killable } from './killable.mjs';

const MEMBERS = Number(process.env.THORPE_MEMBERS ?? 3000);

/** Asks until it is not told to wait; how often it was. */
async function patiently(start) {
  for (let waits = 0; ; waits++) {
    const reply = await start();
    if (reply.status !== 503) return { ...reply, waits };
    assert.equal(reply.headers.get('retry-after'), '1', JSON.stringify(reply.body));
    assert.equal(reply.body.type, 'urn:thorpe:busy');
    assert.ok(waits < 200, 'it has to come to an end');
    await pause(20);
  }
}

const markers = async (doc, table) => (await scan(doc, `${table}.thorpe`)).filter(({ PK }) => PK.startsWith('DELETING#'));

/** Memberships as an import would bring them. */
async function importMembers(doc, table, group, n) {
  const all = Array.from({ length: n }, (_, i) => ({ PK: `USER#m${i}`, SK: `MEMBERSHIP#${group}`, userId: `m${i}`, groupName: group, addedAt: '2026-01-01T00:00:00Z' }));
  for (let at = 0; at < n; at += 25) await doc.batchWrite({ RequestItems: { [table]: all.slice(at, at + 25).map((Item) => ({ PutRequest: { Item } })) } });
}

const GROUP = { name: 'editors', permissions: ['site:write'] };

async function createAgain(keeper) {
  const app = await startDesign('fus');
  const ada = await app.as('sub-ada', 'admin');
  const operator = await app.operator();
  if (keeper === 'stands still') await operator.post('/processors/keeper/pause');
  for (let round = 0; round < 10; round++) {
    const old = Array.from({ length: round % 2 ? 40 : 6 }, (_, i) => `old-${round}-${i}`);
    await ada.post('/groups', GROUP);
    await Promise.all(old.map((who) => ada.put(`/users/${who}/groups/editors`)));
    const bob = await app.as(old[0]);
    const site = { url: 'https://example.com', title: 'x' };
    await bob.post('/sites', site); // may, as a member
    await ada.delete('/groups/editors');
    const { status, body } = await patiently(() => ada.request('POST', '/groups', { body: GROUP }));
    assert.equal(status, 201, JSON.stringify(body));
    await bob.post('/sites', site, { status: 403 });
    assert.deepEqual(await ada.list('/groups/editors/members?limit=100'), []);
    assert.deepEqual(await bob.list(`/users/${old[0]}/groups`), []);
    const fresh = Array.from({ length: 20 }, (_, i) => (i < 3 ? old[i] : `new-${round}-${i}`)); // some come back
    await Promise.all(fresh.map((who) => ada.put(`/users/${who}/groups/editors`)));
    if (keeper === 'runs') await app.settled();
    const members = await ada.list('/groups/editors/members?limit=100');
    assert.deepEqual(members.map(({ userId }) => userId).sort(), [...fresh].sort());
    await ada.delete('/groups/editors');
    await patiently(() => ada.request('POST', '/groups', { body: GROUP })); // and once more, at once
    await ada.delete('/groups/editors');
  }
  await operator.post('/processors/keeper/resume');
  await app.settled();
  assert.deepEqual(await markers(app.doc, app.table), []);
  assert.deepEqual((await app.items()).filter(({ SK }) => SK.startsWith('MEMBERSHIP#')), []);
}

test('F-A26, F-A24: a group that is deleted and created again has no old members and gives them nothing', () => createAgain('runs'));

test('F-A26, F-A24: nor while the keeper stands still', () => createAgain('stands still'));

test('F-A25: memberships that were acknowledged after the new group was are there when everything has settled', async () => {
  const app = await startDesign('fus');
  const ada = await app.as('sub-ada', 'admin');
  for (let round = 0; round < 10; round++) {
    await ada.post('/groups', GROUP);
    await Promise.all(Array.from({ length: 30 }, (_, i) => ada.put(`/users/m${i}/groups/editors`)));
    await ada.delete('/groups/editors');
    // many who want to be first: one creates, and members come in while the others still try
    const tries = await Promise.all(Array.from({ length: 4 }, () => patiently(() => ada.request('POST', '/groups', { body: GROUP }))));
    assert.deepEqual(tries.map(({ status }) => status).sort(), [201, 409, 409, 409]);
    await Promise.all(Array.from({ length: 20 }, (_, i) => ada.put(`/users/m${i}/groups/editors`)));
    await app.settled();
    assert.equal((await ada.list('/groups/editors/members?limit=100')).length, 20, `round ${round}`);
    await ada.delete('/groups/editors');
    await app.settled();
  }
  assert.deepEqual(await markers(app.doc, app.table), []);
});

test('B-A29: a post that is created again starts with no likes and ends with as many as there are', async () => {
  const app = await startDesign('blog');
  const operator = await app.operator();
  const ana = await app.as('sub-ana', 'admin');
  await ana.post('/categories', { categoryId: 'tech', name: 'Tech' });
  await ana.post('/categories', { categoryId: 'sub', parentId: 'tech', name: 'Sub' });
  await operator.post('/users', { cognitoSub: 'sub-ana', displayName: 'Ana' });
  const post = { postId: 'one', authorId: 'sub-ana', subcategoryId: 'sub', title: 'One', content: 'x', status: 'PUBLISHED', publishedAt: '2026-01-10T10:00:00Z' };
  const readers = await Promise.all(Array.from({ length: 30 }, (_, i) => app.as(`sub-${i}`)));
  for (const reader of readers) await reader.post('/users');
  for (let round = 0; round < 6; round++) {
    if (round % 2) await operator.post('/processors/keeper/pause');
    await operator.post('/posts', post);
    await Promise.all(readers.map((reader, i) => reader.put(`/posts/one/likes/sub-${i}`)));
    await Promise.all(readers.map((reader) => reader.post('/posts/one/comments', { body: 'first' })));
    // the old one goes while likes are given and taken
    const [, ...replies] = await Promise.all([
      ana.delete('/posts/one'),
      ...readers.map((reader, i) => reader.request(i % 2 ? 'DELETE' : 'PUT', `/posts/one/likes/sub-${i}`, { body: i % 2 ? undefined : {} })),
    ]);
    assert.ok(replies.every(({ status }) => status < 500 || status === 503), JSON.stringify(replies.map(({ status }) => status)));
    const { status } = await patiently(() => operator.request('POST', '/posts', { body: post }));
    assert.equal(status, 201);
    const made = (await operator.get('/posts/one')).body;
    assert.deepEqual([made.likeCount, made.commentCount], [0, 0]);
    assert.deepEqual(await ana.list('/posts/one/likes'), []);
    assert.deepEqual(await ana.list('/posts/one/comments'), []);
    await Promise.all(readers.slice(0, 7).map((reader, i) => reader.put(`/posts/one/likes/sub-${i}`)));
    await operator.post('/processors/keeper/resume');
    await app.settled();
    const after = (await operator.get('/posts/one')).body;
    assert.deepEqual([after.likeCount, after.commentCount, (await ana.list('/posts/one/likes?limit=100')).length], [7, 0, 7], `round ${round}`);
    await ana.delete('/posts/one');
    await patiently(() => operator.request('POST', '/posts', { body: post })); // so that the next round begins after a cascade of its own
    await ana.delete('/posts/one');
  }
  await app.settled();
  assert.deepEqual((await scan(app.doc, app.table)).filter(({ PK, SK }) => `${PK} ${SK}`.includes('LIKE#')), []);
});

test('a cascade of thousands keeps the next one waiting, and comes to an end though the server is killed', async (t) => {
  const place = killable(t, 'fus');
  const asAda = ['--subject', 'sub-ada', '--role', 'admin'];
  let run = await place.start();
  let ada = await run.as(...asAda);
  const { TableNames: [table] } = await run.ddb.listTables({});
  const left = async () => (await scan(run.doc, table)).filter(({ SK }) => SK === 'MEMBERSHIP#editors').length;
  await run.operator.post('/processors/keeper/pause'); // so that only creations carry it out
  await ada.post('/groups', GROUP);
  await importMembers(run.doc, table, 'editors', MEMBERS);
  await ada.delete('/groups/editors');
  assert.equal((await markers(run.doc, table)).length, 1);
  const first = await ada.request('POST', '/groups', { body: GROUP, busy: true });
  assert.equal(first.status, 503);
  assert.equal(first.headers.get('retry-after'), '1');
  const before = await left();
  assert.ok(before < MEMBERS && before > 0, `${before}`);
  run = await place.killAndStart(run);
  ada = await run.as(...asAda);
  assert.ok(await left() <= before, 'what is gone stays gone');
  const made = await patiently(() => ada.request('POST', '/groups', { body: GROUP, busy: true }));
  assert.equal(made.status, 201);
  assert.ok(made.waits > 0);
  assert.equal(await left(), 0);
  assert.deepEqual(await markers(run.doc, table), []);
  await ada.put('/users/m1/groups/editors');
  await run.operator.post('/processors/keeper/resume'); // which now sees the first deletion
  await until('the keeper to be through', async () => (await run.operator.get('/processors')).body.idle);
  assert.equal(await left(), 1);
  await place.end(run);
});

test('what is small goes in the transaction of the deletion, and what cannot clash asks for nothing', async () => {
  const app = await startDesign('fus');
  const ada = await app.as('sub-ada', 'admin');
  const operator = await app.operator();
  await operator.post('/processors/keeper/pause');
  await ada.post('/groups', GROUP);
  await Promise.all(Array.from({ length: 10 }, (_, i) => ada.put(`/users/m${i}/groups/editors`)));
  await ada.delete('/groups/editors');
  // Elsewhere an index may be late: what hangs on it is looked for when it is not.
  if (BACKEND) await until('what hung on it to go', async () => (await markers(app.doc, app.table)).length === 0);
  assert.deepEqual((await scan(app.doc, app.table)).filter(({ PK, SK }) => SK.startsWith('MEMBERSHIP#') || PK === 'GROUP#editors'), []);
  assert.deepEqual(await markers(app.doc, app.table), []);
});

const ALONE = `
design: alone
title: Nobody follows the stream
table: Alone
key: [PK, SK]
entities:
  Club:
    path: /clubs/<id>
    attributes: {id: 'string, required, fixed', members: counter}
    keys: {PK: 'CLUB#<id>', SK: CLUB}
    allow: {read: anyone}
    delete: {then remove: [members of club]}
  Member:
    path: /clubs/<club>/members/<who>
    attributes: {club: 'string, required, fixed', who: 'string, required, fixed'}
    keys: {PK: 'CLUB#<club>', SK: 'MEMBER#<who>'}
    counts: [Club(club).members]
    allow: {read: anyone}
access:
  members of club: {path: /clubs/<id>/members, query: table, where: {PK: 'CLUB#<id>', SK: begins with MEMBER#}}
`;

test('without a stream the deletion itself sees to what goes with it', async () => {
  const file = join(freshDirectory(), 'alone.yaml');
  writeFileSync(file, ALONE);
  const app = await startDesign(file);
  const operator = await app.operator();
  await operator.post('/clubs', { id: 'go' });
  await Promise.all(Array.from({ length: 60 }, (_, i) => operator.post('/clubs/go/members', { who: `w${i}` })));
  await operator.delete('/clubs/go');
  assert.deepEqual(await scan(app.doc, app.table), []);
  await operator.post('/clubs', { id: 'go' });
  assert.equal((await operator.get('/clubs/go')).body.members, 0);
});
