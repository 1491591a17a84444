// Renaming an item that others belong to: they follow, each in one transaction, and nothing of the old name is left.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { ROOT, freshDirectory, runToEnd, scan, startDesign, until } from './harness.mjs';
import { killable } from './killable.mjs';

const FORGE = join(ROOT, 'tests', 'designs', 'renames', 'forge.yaml');
const CHILDREN = Number(process.env.THORPE_CHILDREN ?? 1500);

/** Asks until it is not told to wait. */
async function patiently(start) {
  for (let waits = 0; ; waits++) {
    const reply = await start();
    if (reply.status !== 503) return { ...reply, waits };
    assert.equal(reply.headers.get('retry-after'), '1', JSON.stringify(reply.body));
    assert.equal(reply.body.type, 'urn:thorpe:busy');
    assert.ok(waits < 400, 'it has to come to an end');
    await pause(20);
  }
}

const markers = async (doc, table) => (await scan(doc, `${table}.thorpe`)).filter(({ PK }) => PK.startsWith('RENAMING#'));
const through = (app) => until('everything to have followed', async () => (await markers(app.doc, app.table)).length === 0);
const naming = (items, name) => items.filter((item) => Object.values(item).some((value) => typeof value === 'string' && value.includes(name)));

async function oracle(app) {
  await app.settled();
  const { stdout } = await runToEnd(['verify', '--design', FORGE, '--endpoint', app.server.endpoint, '--json']);
  return stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line));
}

async function begin() {
  const app = await startDesign(FORGE);
  const ann = await app.as('ann', 'user');
  for (const owner of ['ann', 'bob']) await ann.post('/owners', { owner });
  await ann.post('/repos', { owner: 'ann', repo: 'x', title: 'X' });
  return { app, ann };
}

/** Stars as an import would bring them, and counted. */
async function importStars(doc, table, n) {
  const all = Array.from({ length: n }, (_, i) => ({ PK: `PERSON#p${i}`, SK: 'STAR#ann#x', GSI1PK: 'STARS#ann#x', GSI1SK: `p${i}`, owner: 'ann', repo: 'x', person: `p${i}`, at: '2026-01-01T00:00:00Z' }));
  for (let at = 0; at < n; at += 25) await doc.batchWrite({ RequestItems: { [table]: all.slice(at, at + 25).map((Item) => ({ PutRequest: { Item } })) } });
  await doc.update({ TableName: table, Key: { PK: 'REPO#ann#x', SK: 'REPO' }, UpdateExpression: 'SET stars = :n', ExpressionAttributeValues: { ':n': n } });
}

test('children and their children follow an item that is renamed, with companions, copies and counters as they were', async () => {
  const { app, ann } = await begin();
  await ann.post('/repos/ann/x/milestones', { name: 'm1' });
  for (let i = 1; i <= 5; i++) await ann.post('/repos/ann/x/issues', { title: `t${i}`, ...(i < 3 ? { milestone: 'm1' } : {}) });
  await ann.patch('/repos/ann/x/issues/5', { state: 'closed' });
  for (let i = 0; i < 3; i++) await ann.post('/repos/ann/x/issues/1/comments', { body: `c${i}` });
  for (const person of ['p', 'q']) await ann.post('/repos/ann/x/stars', { person });
  await app.settled();
  const before = (await ann.get('/repos/ann/x')).body;
  assert.deepEqual([before.issues, before.open, before.comments, before.stars, before.last_issue], [5, 4, 3, 2, 5]);
  const notices = await ann.list('/notices');
  assert.deepEqual(notices.map(({ what }) => what), Array(5).fill('new'));

  await ann.patch('/repos/ann/x', { owner: 'bob', repo: 'y' });
  await through(app);
  await app.settled();
  const { owner, repo, title, ...rest } = (await ann.get('/repos/bob/y')).body;
  assert.deepEqual([owner, repo, title], ['bob', 'y', 'X']);
  for (const name of ['issues', 'open', 'comments', 'stars', 'last_issue']) assert.equal(rest[name], before[name], name);
  await ann.get('/repos/ann/x', { status: 404 });
  assert.deepEqual((await ann.list('/repos/bob/y/issues')).map((x) => [x.number, x.title, x.state, x.repo_title, x.first_title, x.comments]),
    [1, 2, 3, 4, 5].map((n) => [n, `t${n}`, n < 5 ? 'open' : 'closed', 'X', 'X', n === 1 ? 3 : 0]));
  assert.deepEqual(await ann.list('/repos/ann/x/issues'), []);
  assert.equal((await ann.list('/repos/bob/y/issues/1/comments')).length, 3);
  assert.deepEqual((await ann.list('/repos/bob/y/milestones')).map(({ name, issues }) => [name, issues]), [['m1', 2]]);
  assert.deepEqual((await ann.list('/repos/bob/y/stars')).map(({ person }) => person), ['p', 'q']);
  assert.deepEqual([(await ann.get('/owners/ann')).body.issues, (await ann.get('/owners/bob')).body.issues], [0, 5], 'what does not follow is counted anew');
  assert.deepEqual(naming((await app.items()).filter(({ PK }) => PK !== 'OWNER#ann' && PK !== 'NOTICES'), 'ann#x'), []);
  // Nothing was new, and nothing was lost.
  assert.equal((await ann.list('/notices')).length, 5);
  // What guards titles came along; and life goes on.
  await ann.post('/repos/bob/y/issues', { title: 't1' }, { status: 409 });
  assert.equal((await ann.post('/repos/bob/y/issues', { title: 't6' })).body.number, 6);
  await ann.delete('/repos/bob/y/issues/6');
  await app.settled();
  assert.deepEqual((await ann.list('/notices')).map(({ what }) => what).sort(), ['lost', ...Array(6).fill('new')]);
});

test('meanwhile the old name is nobody\'s, and what has not followed belongs to the item under its new name', async () => {
  const { app, ann } = await begin();
  const zoe = await app.as('zoe', 'user');
  await ann.post('/repos', { owner: 'bob', repo: 'other', title: 'O' });
  for (let i = 1; i <= 3; i++) await ann.post('/repos/ann/x/issues', { title: `t${i}` });
  await ann.post('/repos/ann/x/milestones', { name: 'm1' });
  await ann.patch('/repos/ann/x/issues/1', { milestone: 'm1' });
  await ann.patch('/repos/ann/x/issues/2', { milestone: 'm1' });
  const { comment } = (await ann.post('/repos/ann/x/issues/1/comments', { body: 'c' })).body;
  for (const person of ['p', 'q']) await ann.post('/repos/ann/x/stars', { person });
  // Items of another program hold up two of them for as long as this test needs.
  const held = [{ PK: 'TITLE#bob#y#t1', SK: 'TITLE' }, { PK: 'PERSON#p', SK: 'STAR#bob#y' }, { PK: 'NAME#bob#y#m1', SK: 'NAME' }];
  for (const key of held) await app.doc.put({ TableName: app.table, Item: { ...key, note: 'in the way' } });
  await ann.patch('/repos/ann/x', { owner: 'bob', repo: 'y' });
  await until('the others to have followed', async () => (await scan(app.doc, app.table)).filter(({ PK, SK, note }) => !note && `${PK} ${SK}`.includes('ann#x')).length === 6); // with a comment and two guards
  assert.equal((await markers(app.doc, app.table)).filter(({ PK }) => PK === 'RENAMING#Repo').length, 2, 'one under each name');

  // The item is at its new address; each child at one of both.
  await ann.get('/repos/ann/x', { status: 404 });
  assert.deepEqual([(await ann.get('/repos/bob/y')).body.issues, (await ann.get('/repos/bob/y')).body.stars], [3, 2]);
  await ann.get('/repos/ann/x/issues/1');
  await ann.get('/repos/ann/x/issues/2', { status: 404 });
  await ann.get('/repos/bob/y/issues/2');
  // What waits is read by the rules of the item under its new name, and counts on it.
  assert.equal((await zoe.get(`/repos/ann/x/issues/1/comments/${comment}`)).body.body, 'c');
  await ann.patch('/repos/ann/x/issues/1', { state: 'closed' });
  assert.equal((await ann.get('/repos/bob/y')).body.open, 2);
  await ann.patch('/repos/ann/x/issues/1', { state: 'open' });
  assert.equal((await ann.get('/repos/bob/y')).body.open, 3);
  const milestone = async () => (await ann.get('/repos/ann/x/milestones/m1')).body.issues;
  assert.equal(await milestone(), 2);
  await ann.patch('/repos/bob/y/issues/2', { milestone: null }); // one that has followed, and one that has not
  assert.equal(await milestone(), 1);
  await ann.patch('/repos/bob/y/issues/3', { milestone: 'm1' }, { status: 422 }); // which is not there yet
  await ann.patch('/repos/ann/x/issues/1', { milestone: null });
  assert.equal(await milestone(), 0);
  await ann.patch('/repos/ann/x/issues/1', { milestone: 'm1' });
  await ann.delete('/repos/ann/x/stars/p');
  assert.equal((await ann.get('/repos/bob/y')).body.stars, 1);
  // Nothing begins under the old name, by what route ever.
  await ann.post('/repos/ann/x/stars', { person: 'r' }, { status: 404 });
  await zoe.post('/repos/ann/x/issues/1/comments', { body: 'late' }, { status: 404 });
  await ann.post('/repos/ann/x/issues', { title: 'late' }, { status: 404 });
  await ann.patch('/repos/bob/y/stars/q', { owner: 'ann', repo: 'x' }, { status: 404 });
  for (const wait of [
    ann.request('POST', '/repos', { body: { owner: 'ann', repo: 'x', title: 'new' }, busy: true }),
    ann.request('PATCH', '/repos/bob/other', { body: { owner: 'ann', repo: 'x' }, busy: true }),
    ann.request('PATCH', '/repos/bob/y', { body: { owner: 'ann', repo: 'x' }, busy: true }),
    ann.request('PATCH', '/repos/bob/y', { body: { repo: 'z' }, busy: true }),
    ann.request('DELETE', '/repos/bob/y', { busy: true }),
  ]) {
    const { status, body, headers } = await wait;
    assert.deepEqual([status, body.type, headers.get('retry-after')], [503, 'urn:thorpe:busy', '1'], JSON.stringify(body));
  }
  await ann.patch('/repos/bob/y', { title: 'still itself' });
  // What begins under the new name takes nobody's place.
  await ann.post('/repos/bob/y/stars', { person: 'q' }, { status: 409 });
  await ann.put('/repos/bob/y/stars/s');
  await ann.delete('/repos/bob/y/stars/s');
  for (const key of held.slice(1)) await app.doc.delete({ TableName: app.table, Key: key });
  await ann.post('/repos', { owner: 'ann', repo: 'x', title: 'new' }, { status: 503 }); // which looks whether they can follow now
  assert.equal((await ann.get('/repos/bob/y/milestones/m1')).body.issues, 1);
  await ann.patch('/repos/ann/x/issues/1', { milestone: null }); // and the other way round
  assert.equal((await ann.get('/repos/bob/y/milestones/m1')).body.issues, 0);
  // The oracle knows that they are on their way.
  const findings = await oracle(app);
  assert.deepEqual(findings.filter(({ kind, severity }) => severity === 'difference' && !kind.startsWith('guard')).map(({ sentence }) => sentence), []);

  await app.doc.delete({ TableName: app.table, Key: held[0] });
  const again = await patiently(() => ann.request('POST', '/repos', { body: { owner: 'ann', repo: 'x', title: 'new' } }));
  assert.equal(again.status, 201);
  assert.equal((await ann.list('/repos/bob/y/issues/1/comments')).length, 1);
  assert.deepEqual(await ann.list('/repos/ann/x/issues'), []);
  await through(app);
});

test('a name that is taken again has nothing of the old item, and the old item nothing of the new one', async () => {
  const { app, ann } = await begin();
  await ann.post('/repos/ann/x/issues', { title: 't1' });
  await importStars(app.doc, app.table, 150); // more than the request itself moves
  await ann.patch('/repos/ann/x', { repo: 'y' });
  const again = await patiently(() => ann.request('POST', '/repos', { body: { owner: 'ann', repo: 'x', title: 'new' } }));
  assert.equal(again.status, 201, JSON.stringify(again.body));
  assert.deepEqual(await ann.list('/repos/ann/x/issues'), []);
  await ann.post('/repos/ann/x/issues', { title: 't1' });
  await through(app);
  assert.deepEqual((await ann.list('/repos/ann/x/issues')).map(({ number }) => number), [1]);
  const counted = await Promise.all(['x', 'y'].map(async (repo) => (await ann.get(`/repos/ann/${repo}`)).body));
  assert.deepEqual(counted.map(({ issues, stars }) => [issues, stars]), [[1, 0], [1, 150]]);
  // There and back, and on, one after the other.
  await ann.delete('/repos/ann/x');
  for (const repo of ['z', 'y', 'x']) {
    const from = { z: 'y', y: 'z', x: 'y' }[repo];
    const moved = await patiently(() => ann.request('PATCH', `/repos/ann/${from}`, { body: { repo } }));
    assert.equal(moved.status, 200, JSON.stringify(moved.body));
  }
  await through(app);
  assert.equal((await scan(app.doc, app.table)).filter(({ SK }) => SK === 'STAR#ann#x').length, 150);
  await patiently(() => ann.request('PATCH', '/repos/ann/x', { body: { repo: 'y' } }));
  assert.equal((await patiently(() => ann.request('DELETE', '/repos/ann/y'))).status, 204);
  await app.settled();
  await through(app);
  assert.deepEqual((await app.items()).filter(({ PK }) => PK !== 'NOTICES' && !PK.startsWith('OWNER#')), [], 'what followed goes with it');
});

test('a child whose place is taken stays where it is until there is room, and is not lost', async () => {
  const { app, ann } = await begin();
  await importStars(app.doc, app.table, 3);
  const clash = { PK: 'PERSON#p1', SK: 'STAR#bob#x', note: 'of another program' };
  await app.doc.put({ TableName: app.table, Item: clash });
  await ann.patch('/repos/ann/x', { owner: 'bob' });
  await until('the others to have followed', async () => (await scan(app.doc, app.table)).filter(({ SK }) => SK === 'STAR#ann#x').length === 1);
  assert.equal((await markers(app.doc, app.table)).length, 2);
  await ann.get('/repos/ann/x/stars/p1');
  await ann.post('/repos', { owner: 'ann', repo: 'x', title: 'new' }, { status: 503 });
  await app.doc.delete({ TableName: app.table, Key: { PK: clash.PK, SK: clash.SK } });
  const again = await patiently(() => ann.request('POST', '/repos', { body: { owner: 'ann', repo: 'x', title: 'new' } }));
  assert.equal(again.status, 201);
  assert.deepEqual((await ann.list('/repos/bob/x/stars')).map(({ person }) => person), ['p0', 'p1', 'p2']);
});

test('what is marked and then deleted or changed is what it is, not on its way', async () => {
  const { app, ann } = await begin();
  for (let i = 1; i <= 2; i++) await ann.post('/repos/ann/x/issues', { title: `t${i}` });
  for (const number of ['00000001', '00000002'])
    await app.doc.update({ TableName: app.table, Key: { PK: 'REPO#ann#x', SK: `ISSUE#${number}` }, UpdateExpression: 'SET #l = :l', ExpressionAttributeNames: { '#l': 'thorpe:leaves' }, ExpressionAttributeValues: { ':l': 'a rename that a kill ended here' } });
  assert.equal((await ann.get('/repos/ann/x/issues/1')).body['thorpe:leaves'], undefined);
  await ann.delete('/repos/ann/x/issues/1');
  await ann.patch('/repos/ann/x/issues/2', { title: 'other' });
  await app.settled();
  assert.deepEqual((await ann.list('/notices')).map(({ what }) => what).sort(), ['lost', 'new', 'new']);
});

test('what processors make and remove does not go past a rename that is unfinished', async () => {
  const path = join(freshDirectory(), 'journal.yaml');
  const text = readFileSync(join(ROOT, 'tests', 'designs', 'renames', 'journal.yaml'), 'utf8').replace(/^    (delete|companions): .*\n/gm, '');
  writeFileSync(path, `${text}  remove entries: {on: Order created, when: what = 'removal', delete: 'Entry(folder, entry)'}\n`);
  const app = await startDesign(path);
  const ann = await app.as('ann', 'user');
  /** Renames a folder with one entry, which another program's item keeps where it is; returns how to let it follow. */
  const held = async (from, to, entry) => {
    const Key = { PK: `FOLDER#${to}`, SK: `ENTRY#${entry}` };
    await ann.post(`/folders/${from}/entries`, { entry, text: 'the first' });
    await app.doc.put({ TableName: app.table, Item: { ...Key, note: 'in the way' } });
    await ann.patch(`/folders/${from}`, { folder: to });
    assert.equal((await markers(app.doc, app.table)).length, 2);
    return () => app.doc.delete({ TableName: app.table, Key });
  };
  await ann.post('/folders', { folder: 'a' });
  let release = await held('a', 'b', 'one');
  await ann.post('/orders', { what: 'folder', folder: 'a' }); // the old name is nobody's
  await pause(500);
  await ann.get('/folders/a', { status: 404 });
  await release();
  await until('the folder to be made', async () => (await ann.request('GET', '/folders/a')).status === 200);
  assert.deepEqual(await ann.list('/folders/a/entries'), []);
  assert.deepEqual((await ann.list('/folders/b/entries')).map(({ text }) => text), ['the first']);
  await through(app);
  await app.settled();

  release = await held('a', 'c', 'two');
  await release();
  await ann.post('/orders', { what: 'entry', folder: 'c', entry: 'two' }); // it has its place already, and follows first
  await app.settled();
  assert.deepEqual((await ann.list('/folders/c/entries')).map(({ text }) => text), ['the first']);
  assert.deepEqual(await ann.list('/folders/a/entries'), []);
  await through(app);

  const Key = { PK: 'FOLDER#c', SK: 'ENTRY#two' };
  await app.doc.update({ TableName: app.table, Key, UpdateExpression: 'SET #l = :l', ExpressionAttributeNames: { '#l': 'thorpe:leaves' }, ExpressionAttributeValues: { ':l': 'a rename that a kill ended here' } });
  await ann.post('/orders', { what: 'removal', folder: 'c', entry: 'two' });
  await until('the loss to be told', async () => (await ann.list('/losses')).length === 1);
});

test('a server that is killed in the middle goes on, and nothing is doubled or lost', async (t) => {
  const place = killable(t, FORGE);
  let run = await place.start();
  const { TableNames: [table] } = await run.ddb.listTables({});
  for (const owner of ['ann', 'bob']) await run.operator.post('/owners', { owner });
  await run.operator.post('/repos', { owner: 'ann', repo: 'x', title: 'X' });
  for (let i = 1; i <= 30; i++) await run.operator.post('/repos/ann/x/issues', { title: `t${i}` });
  for (let i = 0; i < 30; i++) await run.operator.post('/repos/ann/x/issues/7/comments', { body: `c${i}` });
  await importStars(run.doc, table, CHILDREN);
  const left = async () => naming((await scan(run.doc, table)).filter(({ PK }) => PK !== 'OWNER#ann' && PK !== 'NOTICES'), 'ann#x').length;
  await Promise.race([run.operator.request('PATCH', '/repos/ann/x', { body: { owner: 'bob', repo: 'y' } }), pause(60)]);
  let before = Infinity, kills = 0;
  for (; kills < 8; kills++) {
    run = await place.killAndStart(run);
    const now = await left();
    assert.ok(now <= before, `what has followed has followed: ${now} after ${before}`);
    before = now;
    if (!now) break;
    await pause(150 + 100 * kills);
  }
  await until('everything to have followed', async () => (await markers(run.doc, table)).length === 0);
  assert.equal(await left(), 0);
  const repo = (await run.operator.get('/repos/bob/y')).body;
  assert.deepEqual([repo.issues, repo.comments, repo.stars], [30, 30, CHILDREN]);
  assert.equal((await run.operator.list('/repos/bob/y/issues/7/comments?limit=100')).length, 30);
  await until('the processors to be through', async () => (await run.operator.get('/processors')).body.idle);
  assert.equal((await run.operator.list('/notices?limit=100')).length, 30);
  await place.end(run);
});

test('docs/design-language.md: the design with a rename', async () => {
  const text = readFileSync(join(ROOT, 'docs', 'design-language.md'), 'utf8');
  const path = join(freshDirectory(), 'forge.yaml');
  writeFileSync(path, /### Renames that others follow.*?```yaml\n(.*?)```/s.exec(text)[1]);
  const { stdout } = await runToEnd(['check', path]);
  assert.match(stdout, /0 errors, 0 warnings/, stdout);
  const app = await startDesign(path);
  const ann = await app.as('ann', 'user');
  await ann.post('/repos', { owner: 'ann', repo: 'old' });
  for (const title of ['a', 'b']) await ann.post('/repos/ann/old/issues', { title });
  await ann.post('/repos/ann/old/issues/2/comments', { text: 'c' });
  await ann.patch('/repos/ann/old', { owner: 'bob', repo: 'new' });
  assert.equal((await ann.get('/repos/bob/new')).body.issues, 2);
  await ann.get('/repos/ann/old', { status: 404 });
  await through(app);
  assert.deepEqual((await ann.list('/repos/bob/new/issues')).map(({ title }) => title), ['a', 'b']);
  assert.deepEqual((await ann.list('/repos/bob/new/issues/2/comments')).map(({ text }) => text), ['c']);
});

test('check says what does not follow', async () => {
  const text = readFileSync(FORGE, 'utf8');
  const said = async (from, to) => {
    const path = join(freshDirectory(), 'forge.yaml');
    assert.ok(text.includes(from), from);
    writeFileSync(path, text.replace(from, to));
    return (await runToEnd(['check', path])).stdout;
  };
  assert.match(await said('rename: {then move: [issues of repo, milestones of repo, stars of repo]}', 'rename: {then move: [issues of repo, milestones of repo]}'), /may change, and Star refers to it \[identity-can-change\]/);
  assert.match(await said('    rename: {then move: comments of issue}\n', ''), /a Issue follows the Repo that is renamed, and Comment, which refers to it, does not \[left-behind\]/);
  assert.match(await said('then move: comments of issue', 'then move: stars of person'), /forge\.yaml:\d+:13: error: .*does not start from the identity of a Issue/);
  assert.match(await said('then move: comments of issue', 'then move: repo of id'), /error: .*does not start from the identity/);
  assert.match(await said('then move: comments of issue', 'then move: nowhere'), /error: .*nowhere/);
  assert.match(await said('{then move: comments of issue}', '{}'), /error: .*then move/);
  assert.match(await said("counts: ['Repo(owner, repo).stars']", 'requires: []'), /error: nothing says which attributes of the rows of 'stars of repo' name the Repo/);
});
