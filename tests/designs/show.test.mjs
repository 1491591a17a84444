// Rows and items that show parts of other items.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, freshDirectory, runToEnd, startDesign } from './harness.mjs';

const file = join(ROOT, 'tests', 'designs', 'threads', 'threads.yaml');
const app = await startDesign(file);
const ann = await app.as('ann', 'user');
const bob = await app.as('bob', 'user');
const cid = await app.as('cid', 'user');
const operator = await app.operator();

/** A design with its text changed: what `thorpe check` says. */
async function checked(from, to) {
  const text = readFileSync(file, 'utf8');
  assert.ok(text.includes(from), from);
  const path = join(freshDirectory(), 'threads.yaml');
  writeFileSync(path, text.replace(from, to));
  const { code, stdout } = await runToEnd(['check', path]);
  return { code, stdout };
}

await ann.put('/teams/red', { title: 'The Reds' });
await ann.put('/people/ann', { display_name: 'Ann', email: 'ann@example.com', team: 'red' });
await bob.put('/people/bob', { display_name: 'Bob', email: 'bob@example.com', listed: false });
const first = (await ann.post('/posts', { board: 'cats', text: 'meow', score: 9 })).body;
const second = (await bob.post('/posts', { board: 'cats', text: 'purr' })).body;
await cid.post('/posts', { board: 'cats', text: 'gone' });
await bob.put(`/posts/${first.post}/likes/bob`, { stars: 3 });

const rows = async (caller, path = '/boards/cats/posts') => Object.fromEntries((await caller.list(path)).map((row) => [row.text, row]));

test('the reviewer has nothing to say, and the description says what is shown', async () => {
  const { code, stdout } = await runToEnd(['check', file]);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /0 errors, 0 warnings/);
});

test('rows show what the caller may read of other items; the rest is absent', async () => {
  const asAnn = await rows(ann);
  assert.equal(asAnn.meow.author_name, 'Ann');
  assert.equal(asAnn.meow.author_email, 'ann@example.com', 'her own');
  assert.equal(asAnn.meow.team_title, 'The Reds');
  assert.equal(asAnn.meow.liked, false);
  assert.ok(!('stars' in asAnn.meow));
  assert.equal(asAnn.meow.shout, 'MEOW');
  assert.ok(!('author_name' in asAnn.purr), 'bob is not visible');
  assert.ok(!('author_name' in asAnn.gone), 'there is no cid');
  assert.ok(!('author' in asAnn.meow), 'without');
  const asBob = await rows(bob, '/boards/cats/posts?least=5');
  assert.equal(asBob.meow.author_name, 'Ann');
  assert.ok(!('author_email' in asBob.meow), 'private');
  assert.deepEqual([asBob.meow.liked, asBob.meow.stars, asBob.meow.good, asBob.purr.good], [true, 3, true, false]);
  assert.equal(asBob.purr.author_name, 'Bob');
  const anonymous = await rows(app.nobody);
  assert.equal(anonymous.meow.author_name, 'Ann');
  assert.ok(!('team_title' in anonymous.meow), 'teams are for users');
  assert.equal(anonymous.meow.liked, false);
  assert.equal((await rows(operator)).purr.author_email, 'bob@example.com');
});

test('a rule that reads other items decides, too', async () => {
  assert.ok(!('author_name' in (await rows(cid)).purr));
  await bob.put('/people/bob/friends/cid');
  assert.equal((await rows(cid)).purr.author_name, 'Bob');
  assert.ok(!('author_name' in (await rows(ann)).purr));
  await bob.delete('/people/bob/friends/cid');
  assert.ok(!('author_name' in (await rows(cid)).purr));
});

test('an item shows parts when it is read by its path; its ETag is for writes, too', async () => {
  const { body, etag } = await bob.get(`/posts/${first.post}`);
  assert.deepEqual([body.author_name, body.team_title, body.liked], ['Ann', 'The Reds', true]);
  assert.equal((await bob.get(`/posts/${first.post}`, { headers: { 'if-none-match': etag }, status: 304 })).status, 304);
  await ann.patch('/people/ann', { display_name: 'Ann A.' });
  const later = await bob.get(`/posts/${first.post}`, { headers: { 'if-none-match': etag } });
  assert.equal(later.body.author_name, 'Ann A.');
  assert.notEqual(later.etag, etag);
  const patched = await ann.patch(`/posts/${first.post}`, { score: 8 }, { headers: { 'if-match': etag } });
  assert.ok(!('author_name' in patched.body), 'a write answers with the item');
  await ann.patch(`/posts/${first.post}`, { score: 9 }, { headers: { 'if-match': etag }, status: 412 });
  await ann.patch('/people/ann', { display_name: 'Ann' });
});

test('rows that `then` fetches show parts of others', async () => {
  await ann.put(`/posts/${first.post}/likes/ann`);
  const list = await ann.list(`/posts/${first.post}/likers`);
  assert.deepEqual(list.map(({ person, team_title }) => [person, team_title]), [['ann', 'The Reds']]);
  await ann.delete(`/posts/${first.post}/likes/ann`);
});

test('caches know whom an answer is for', async () => {
  const open = await bob.get('/open/cats');
  assert.match(open.headers.get('cache-control'), /public/);
  assert.deepEqual([...new Set(open.body.items.map(({ length }) => length))], [4]);
});

test('a list that shows more than its items cannot be watched', async () => {
  await ann.get('/boards/cats/posts', { headers: { accept: 'text/event-stream' }, status: 422, detail: /shows? more than the items/ });
});

test('what is shown is typed in OpenAPI', async () => {
  const { body } = await app.nobody.get('/openapi.json');
  const at = (path) => body.paths[path].get.responses['200'].content['application/json'].schema;
  const row = at('/boards/{board}/posts').properties.items.items;
  assert.match(row.allOf[0].$ref, /schemas\/Post$/);
  const shown = row.allOf[1].properties;
  assert.equal(shown.author_name.type, 'string');
  assert.equal(shown.liked.type, 'boolean');
  assert.equal(shown.stars.type, 'integer');
  assert.equal(at('/posts/{post}').allOf[1].properties.team_title.type, 'string');
});

test('what cannot be shown is an error with its place', async () => {
  for (const [from, to, says] of [
    ['author_name: Person(author).display_name\n      author_email: Person(author).email\n      team_title: Team(Person(author).team).title\n      liked: exists Like(post, caller)\n      stars', 'author_name: Person(author).secret\n      stars', /'secret' is hidden/],
    ['show: {team_title: Team(team).title}', 'show: {team_title: email}', /'email' is private/],
    ['show: {team_title: Team(team).title}', 'show: {points: Team(team).title}', /Person has 'points' already/],
    ['show: {team_title: Team(team).title}', 'show: {children: Team(team).title}', /the name of what is shown/],
    ['show: {team_title: Team(team).title}', 'show: {team_title: Team(tam).title}', /tam.*\n.*team|did you mean team/s],
    ['show: {length: size(text)}', 'show: {length: size(score)}', /size\(x\) is for/],
    ['show: {length: size(text)}', 'show: {length: size(text)}\n    count: true', /'show' goes with rows/],
  ]) {
    const { code, stdout } = await checked(from, to);
    assert.notEqual(code, 0, to);
    assert.match(stdout, says);
    assert.match(stdout, /threads\.yaml:\d+:\d+/);
  }
});

test('docs/design-language.md: the forum', async () => {
  const text = readFileSync(join(ROOT, 'docs', 'design-language.md'), 'utf8');
  const path = join(freshDirectory(), 'forum.yaml');
  writeFileSync(path, /```yaml\n(design: forum\n.*?)```/s.exec(text)[1]);
  const { code, stdout } = await runToEnd(['check', path]);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /0 errors, 0 warnings/);
  const forum = await startDesign(path);
  const eva = await forum.as('eva', 'user');
  await eva.put('/people/eva', { display_name: 'Eva' });
  const { body: { post } } = await eva.post('/boards/cats/posts', { text: 'meow' });
  await eva.put(`/likes/${post}/eva`);
  assert.deepEqual(await eva.list('/boards/cats/latest'), [{ board: 'cats', post, author: 'eva', text: 'meow', author_name: 'Eva', liked: true }]);
  assert.deepEqual(await forum.nobody.list('/boards/cats/latest'), [{ board: 'cats', post, author: 'eva', text: 'meow', liked: false }]);
});
