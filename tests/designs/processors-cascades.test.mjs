// What goes with a deleted item, and with one whose time is up: to the last of it, also when the server dies in the middle.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { TTL_PATIENCE, freshDirectory, scan, startDesign, until } from './harness.mjs';
import { killable } from './killable.mjs';

const POSTS = 300;

/** All at once, but not more than 30 at a time. */
async function many(n, one) {
  let next = 0;
  await Promise.all(Array.from({ length: 30 }, async () => { while (next < n) await one(next++); }));
}

test('W-A27: three hundred posts and their guards go with their author, though the server is killed in the middle', async (t) => {
  const place = killable(t, 'wavyblog');
  let run = await place.start();
  const { TableNames: [table] } = await run.ddb.listTables({});
  for (const Username of ['gone', 'stays']) await run.operator.post('/users', { Username, Email: `${Username}@example.com`, password: 'wonderland' });
  await run.operator.post('/categories', { Slug: 'tech', Name: 'Tech' });
  await many(POSTS, (i) => run.operator.post('/posts', { Slug: `post-${i}`, Title: `${i}`, AuthorID: 'gone', Category: 'tech', IsPublished: i % 2 === 0 }));
  await run.operator.post('/posts', { Slug: 'other', Title: 'Other', AuthorID: 'stays', Category: 'tech' });
  const left = async () => (await scan(run.doc, table)).filter(({ PK }) => /^(POST|SLUG)#post-/.test(PK)).length;
  await run.operator.delete('/users/gone');
  await until('some to be gone', async () => (await left()) < 2 * POSTS);
  run = await place.killAndStart(run);
  await until('the rest to follow', async () => (await run.operator.get('/processors')).body.idle);
  assert.deepEqual((await scan(run.doc, table)).map(({ PK }) => PK).sort(), ['CATEGORY#tech', 'POST#other', 'SLUG#other', 'USER#stays', 'USEREMAIL#stays@example.com']);
  await run.operator.post('/users', { Username: 'gone', Email: 'gone@example.com', password: 'wonderland' }); // free again
  assert.deepEqual(await run.operator.list('/users/gone/posts'), []);
  await place.end(run);
});

test('F-A27, F-A26: a site takes its ratings, comments and tags along, a group its members, and nothing of others', async () => {
  const app = await startDesign('fus');
  const ada = await app.as('sub-ada', 'admin');
  for (const id of ['one', 'two']) await ada.post('/sites', { id, url: `https://${id}.example`, title: id, tags: ['a', 'b'] });
  for (const name of ['red', 'blue']) await ada.post('/groups', { name });
  await many(30, async (i) => {
    const caller = await app.as(`sub-${i % 10}`);
    if (i < 10) {
      for (const site of ['one', 'two']) await caller.put(`/users/sub-${i}/ratings/${site}`, { stars: 1 + (i % 5) });
      for (const group of ['red', 'blue']) await ada.put(`/users/sub-${i}/groups/${group}`);
    }
    await caller.post(`/users/sub-${i % 10}/sites/${i % 2 ? 'one' : 'two'}/comments`, { body: `${i}` });
  });
  assert.equal((await app.items()).length, 2 + 4 + 2 + 20 + 20 + 30);
  await ada.delete('/sites/one');
  await ada.delete('/groups/red');
  const items = await app.items();
  assert.equal(items.length, 1 + 2 + 1 + 10 + 10 + 15);
  assert.ok(items.every((item) => !JSON.stringify(item).includes('SITE#one') && item.groupName !== 'red' && item.PK !== 'GROUP#red'));
});

test('B-A29: a post takes comments, replies, likes and bookmarks along, with their guards', async () => {
  const app = await startDesign('blog');
  const operator = await app.operator();
  const ana = await app.as('sub-ana', 'admin');
  await ana.post('/categories', { categoryId: 'tech', name: 'Tech' });
  await ana.post('/categories', { categoryId: 'sub', parentId: 'tech', name: 'Sub' });
  await operator.post('/users', { cognitoSub: 'sub-ana', displayName: 'Ana' });
  for (const postId of ['one', 'two']) {
    await operator.post('/posts', { postId, authorId: 'sub-ana', subcategoryId: 'sub', title: postId, content: 'x', status: 'PUBLISHED', publishedAt: '2026-01-10T10:00:00Z' });
  }
  await many(20, async (i) => {
    const caller = await app.as(`sub-${i}`);
    await caller.post('/users');
    for (const post of ['one', 'two']) {
      await caller.put(`/posts/${post}/likes/sub-${i}`);
      await caller.put(`/users/sub-${i}/bookmarks/${post}`);
      const { body } = await caller.post(`/posts/${post}/comments`, { body: 'first' });
      const { body: reply } = await ana.post(`/posts/${post}/comments`, { body: 'second', parentId: body.commentId });
      await caller.post(`/posts/${post}/comments`, { body: 'third', parentId: reply.commentId });
    }
  });
  const of = (items, post) => items.filter((item) => (item.postId === post || item.PK.endsWith(`#${post}`)) && item.entityType !== 'NOTIFICATION'); // these tell of what was
  const before = await app.items();
  assert.equal(of(before, 'one').length, of(before, 'two').length);
  await ana.delete('/posts/one');
  const after = await app.items();
  assert.deepEqual(of(after, 'one').map(({ PK, SK }) => `${PK} ${SK}`), []);
  assert.deepEqual(of(after, 'two').map(({ PK, SK }) => `${PK} ${SK}`).sort(), of(before, 'two').map(({ PK, SK }) => `${PK} ${SK}`).sort());
});

const CLUB = `
design: club
title: A club whose members leave by themselves
table: Club
key: [PK, SK]
stream: new and old images
ttl: expires_at
entities:
  Club:
    path: /clubs/<id>
    attributes: {id: 'string, required, fixed', members: counter, level: = members * 10, closed: 'boolean, default false, managed'}
    keys: {PK: 'CLUB#<id>', SK: CLUB}
    allow: {read: anyone}
    delete: {set: {closed: true}, then remove: [members of club]}
  Member:
    path: /clubs/<club>/members/<who>
    attributes: {club: 'string, required, fixed', who: 'string, required, fixed', mail: 'string, required, unique', expires_at: epoch}
    keys: {PK: 'CLUB#<club>', SK: 'MEMBER#<who>'}
    companions:
      - {unique: mail, PK: 'MAIL#<mail>', SK: MAIL, who: <who>}
      - {PK: 'BY#<who>', SK: 'CLUB#<club>'}
    counts: [Club(club).members]
    allow: {read: anyone}
access:
  members of club: {query: table, where: {PK: 'CLUB#<id>', SK: begins with MEMBER#}}
`;

test('what time to live removes is counted off once, and what belonged to it goes', async () => {
  const file = join(freshDirectory(), 'club.yaml');
  writeFileSync(file, CLUB);
  const app = await startDesign(file);
  const operator = await app.operator();
  const now = Math.floor(Date.now() / 1000);
  for (const id of ['go', 'chess']) await operator.post('/clubs', { id });
  await many(40, (i) => operator.post('/clubs/go/members', { who: `w${i}`, mail: `w${i}@x.y`, expires_at: i < 30 ? now + 2 : now + 3600 }));
  await many(5, (i) => operator.post('/clubs/chess/members', { who: `w${i}`, mail: `c${i}@x.y` }));
  await until('thirty to be gone', async () => (await scan(app.doc, app.table)).filter(({ SK }) => SK.startsWith('MEMBER#')).length === 15, TTL_PATIENCE);
  await until('what they left to be gone', async () => (await app.items()).length === 2 + 3 * 15);
  const { members, level } = await app.item('CLUB#go', 'CLUB');
  assert.deepEqual({ members, level }, { members: 10, level: 100 });
  await operator.post('/clubs/go/members', { who: 'w1', mail: 'w1@x.y' }); // free again
  assert.equal((await app.item('CLUB#go', 'CLUB')).members, 11);
  // a soft deletion, whose club stays
  await operator.delete('/clubs/go');
  const items = await app.items();
  assert.deepEqual(items.filter(({ PK, SK }) => SK.startsWith('MEMBER#') && PK === 'CLUB#go'), []);
  assert.equal(items.length, 2 + 3 * 5);
  assert.deepEqual([(await app.item('CLUB#go', 'CLUB')).closed, (await app.item('CLUB#go', 'CLUB')).members], [true, 0]);
});
