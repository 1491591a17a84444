// designs/examples/code-host.yaml: accounts in one name space, repositories, issues and pull requests with shared numbers.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, designFile, runToEnd, startDesign, until } from './harness.mjs';
import { COMMIT, PASSWORD, recount, startCodeHost } from './code-host-world.mjs';

const { app, repository, ann, abe, bob, cat } = await startCodeHost();
const engine = await repository(ann, { owner: 'acme', name: 'Engine' });
const secret = await repository(abe, { owner: 'acme', name: 'plans', visibility: 'private' });
const own = await repository(bob, { name: 'notes' });
const numbers = (items) => items.map(({ number }) => number);

test('the reviewer has nothing to say', async () => {
  const { code, stdout } = await runToEnd(['check', designFile('code-host')]);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /0 errors, 0 warnings/);
  assert.doesNotMatch(stdout, /note:/);
});

test('users and organisations share one name space', async () => {
  assert.equal((await app.nobody.get('/accounts/ann')).body.kind, 'user');
  assert.equal((await app.nobody.get('/accounts/acme')).body.kind, 'organisation');
  await app.nobody.post('/users', { user: 'ACME', email: 'x@example.com', password: PASSWORD }, { status: 409, detail: /Account acme/ });
  await bob.post('/organisations', { organisation: 'ann', title: 'Ann & Co' }, { status: 409 });
  await app.nobody.get('/users/acme', { status: 404 });
  await bob.get('/organisations/ann', { status: 404 });
  await app.nobody.post('/users', { user: 'dan', email: 'ANN@example.com', password: PASSWORD }, { status: 409, attribute: 'email' });
  await app.nobody.get('/accounts/dan', { status: 404 });
  const { status } = await app.nobody.request('POST', '/login', { body: { name: 'acme', password: PASSWORD } });
  assert.equal(status, 401);
});

test('an organisation has members with roles, and keeps an owner', async () => {
  assert.deepEqual((await app.nobody.list('/organisations/acme/all-members')).map(({ user, role }) => [user, role]), [['abe', 'member'], ['ann', 'owner']]);
  assert.deepEqual((await app.nobody.list('/users/abe/organisations')).map(({ organisation }) => organisation), ['acme']);
  await abe.put('/organisations/acme/members/bob', {}, { status: 403 });
  await abe.patch('/organisations/acme/members/abe', { role: 'owner' }, { status: 403 });
  await bob.put('/organisations/acme/members/bob', { role: 'owner' }, { status: 403 });
  await ann.put('/organisations/acme/members/nobody-there', {}, { status: 404 });
  await ann.delete('/organisations/acme/members/ann', { status: 409, detail: /keeps an owner/ });
  await ann.patch('/organisations/acme/members/ann', { role: 'member' }, { status: 409 });
});

test('a repository is found by owner and name, whatever the case, and belongs to an account of the caller', async () => {
  const { body } = await app.nobody.get('/repos/Acme/ENGINE');
  assert.equal(`/repositories/${body.repository}`, engine);
  await app.nobody.get('/repos/acme/nothing', { status: 404 });
  await ann.post('/repositories', { owner: 'acme', name: 'ENGINE' }, { status: 409, attribute: 'name' });
  await bob.post('/repositories', { owner: 'acme', name: 'mine' }, { status: 403 });
  await bob.post('/repositories', { owner: 'ann', name: 'mine' }, { status: 403 });
  assert.equal((await bob.get(own)).body.owner, 'bob');
  assert.equal((await app.nobody.get('/accounts/acme')).body.repositories, 2);
});

test('a private repository is visible to members only, with everything in it', async () => {
  await abe.post(`${secret}/issues`, { title: 'Brass' });
  await abe.post(`${secret}/numbers/1/comments`, { body: 'More of it' });
  await ann.get(secret);
  for (const caller of [bob, app.nobody]) {
    await caller.get(secret, { status: 404 });
    await caller.get('/repos/acme/plans', { status: 404 });
    await caller.get(`${secret}/issues/1`, { status: 404 });
    for (const list of ['all-issues', 'issues-by-state/open', 'all-pulls', 'all-labels', 'stargazers', 'all-watchers', 'forks', 'numbers/1/all-comments']) {
      assert.deepEqual(await caller.list(`${secret}/${list}`), [], list);
    }
    assert.deepEqual((await caller.list('/accounts/acme/repositories')).map(({ name }) => name), ['engine']);
    assert.deepEqual(await caller.list('/users/abe/issues'), []);
  }
  assert.deepEqual((await ann.list('/accounts/acme/repositories')).map(({ name }) => name).sort(), ['engine', 'plans']);
});

test('issues and pull requests have numbers of one sequence; open and closed are lists, newest first', async () => {
  await ann.put(`${engine}/labels/bug`, { colour: 'd73a4a' });
  await bob.post(`${engine}/issues`, { title: 'One' });
  await bob.post(`${engine}/pulls`, { title: 'Two', head: 'two', head_commit: COMMIT });
  await abe.post(`${engine}/issues`, { title: 'Three', labels: ['bug'], assignees: ['ann'] });
  await abe.post(`${engine}/issues`, { title: 'Four' });
  assert.deepEqual(numbers(await app.nobody.list(`${engine}/all-issues`)), [4, 3, 1]);
  assert.deepEqual(numbers(await app.nobody.list(`${engine}/all-pulls`)), [2]);
  await bob.post(`${engine}/issues/1/close`);
  await bob.post(`${engine}/issues/1/close`, {}, { status: 409 });
  await bob.post(`${engine}/issues/4/close`, {}, { status: 403 }); // abe's, and bob is no member
  assert.deepEqual(numbers(await app.nobody.list(`${engine}/issues-by-state/open`)), [4, 3]);
  assert.deepEqual((await app.nobody.list(`${engine}/issues-by-state/closed`)).map(({ number, closed_by: by }) => [number, by]), [[1, 'bob']]);
  assert.deepEqual((await app.nobody.get(engine)).body.issues, { open: 2, closed: 1 });
  await ann.post(`${engine}/issues/1/reopen`);
  assert.equal((await app.nobody.get(`${engine}/issues/1`)).body.closed_by, undefined);
  assert.deepEqual((await app.nobody.all(`${engine}/issues-by-state/open`, 2)).map(({ number }) => number), [4, 3, 1]);
  await app.nobody.list(`${engine}/issues-by-state/gone`, { status: 404 });
});

test('labels and assignees are for members; both lead to their issues', async () => {
  await bob.patch(`${engine}/issues/1`, { labels: ['bug'] }, { status: 403 });
  await bob.patch(`${engine}/issues/1`, { assignees: ['bob'] }, { status: 403 });
  await bob.post(`${engine}/issues`, { title: 'X', labels: ['bug'] }, { status: 403 });
  await bob.put(`${engine}/labels/mine`, {}, { status: 403 });
  await bob.patch(`${engine}/issues/1`, { title: 'One!' });
  await abe.patch(`${engine}/issues/1`, { labels: ['nothing'] }, { status: 422, detail: /no such label/ });
  await abe.patch(`${engine}/issues/1`, { assignees: ['nobody-there'] }, { status: 422, detail: /no such user/ });
  await abe.patch(`${engine}/issues/1`, { labels: ['bug'], assignees: ['ann', 'bob'] });
  assert.deepEqual(numbers(await app.nobody.list(`${engine}/labels/bug/issues`)), [3, 1]);
  assert.deepEqual(numbers(await app.nobody.list('/users/ann/assigned')).sort(), [1, 3]);
  assert.equal((await app.nobody.get(`${engine}/labels/bug`)).body.uses, 2);
  await ann.delete(`${engine}/labels/bug`, { status: 409 });
  await abe.patch(`${engine}/issues/1`, { labels: [], assignees: ['bob'] });
  assert.deepEqual(numbers(await app.nobody.list(`${engine}/labels/bug/issues`)), [3]);
  assert.deepEqual(numbers(await app.nobody.list('/users/ann/assigned')), [3]);
});

test('comments and reactions, of each kind one by each user, on both kinds of numbers', async () => {
  const { body: comment } = await cat.post(`${engine}/numbers/2/comments`, { body: 'Nice' });
  assert.equal(comment.of, 'pull');
  assert.equal((await cat.post(`${engine}/numbers/1/comments`, { body: 'Me too' })).body.of, 'issue');
  await cat.post(`${engine}/numbers/99/comments`, { body: 'Where?' }, { status: 404 });
  for (const kind of ['heart', 'rocket']) await cat.put(`${engine}/numbers/2/reactions/${kind}/cat`);
  await bob.put(`${engine}/numbers/2/reactions/heart/bob`);
  await bob.put(`${engine}/numbers/2/reactions/heart/bob`, {}, { status: 409 });
  await bob.put(`${engine}/numbers/2/reactions/heart/cat`, {}, { status: 403 });
  await bob.put(`${engine}/numbers/2/reactions/eyes/cat`, {}, { status: 403 });
  await bob.put(`${engine}/numbers/2/reactions/anger/bob`, {}, { status: 422 });
  const at = `${engine}/numbers/2/comments/${comment.comment}`;
  await bob.put(`${at}/reactions/eyes/bob`);
  const { body: pull } = await app.nobody.get(`${engine}/pulls/2`);
  assert.deepEqual([pull.comments, pull.reactions.heart, pull.reactions.rocket, pull.reactions.eyes], [1, 2, 1, 0]);
  assert.equal((await app.nobody.get(at)).body.reactions.eyes, 1);
  assert.equal((await app.nobody.list(`${engine}/numbers/2/all-reactions`)).length, 3);
  await cat.delete(`${engine}/numbers/2/reactions/heart/cat`);
  await bob.delete(at, { status: 403 });
  await bob.patch(at, { body: 'Ugly' }, { status: 403 });
  await cat.delete(at);
  await app.settled();
  assert.deepEqual(await app.nobody.list(`${at}/all-reactions`), []);
  assert.equal((await app.nobody.get(`${engine}/pulls/2`)).body.comments, 0);
});

test('a pull request is examined, merged once, and closes its issues; a draft or a conflict is not merged', async () => {
  const { body: pull } = await bob.post(`${engine}/pulls`, { title: 'Five', head: 'five', head_commit: COMMIT, draft: true, closes: [1, 4] });
  const at = `${engine}/pulls/${pull.number}`;
  await bob.post(`${engine}/pulls`, { title: 'X', head: 'x', head_commit: COMMIT, closes: [99] }, { status: 422, detail: /no such issue/ });
  await bob.post(`${at}/examine`, { head_commit: COMMIT, mergeable: 'clean' }, { status: 403 });
  await bob.patch(at, { mergeable: 'clean' }, { status: 422 });
  await bob.patch(at, { state: 'merged' }, { status: 422 });
  await abe.post(`${at}/examine`, { head_commit: COMMIT, mergeable: 'clean' });
  await abe.post(`${at}/merge`, {}, { status: 409 }); // a draft
  await bob.patch(at, { draft: false });
  const other = COMMIT.replaceAll('0', 'f');
  await bob.post(`${at}/push`, { head_commit: other });
  await abe.post(`${at}/examine`, { head_commit: COMMIT, mergeable: 'clean' }, { status: 409 }); // of the commit before
  await abe.post(`${at}/merge`, {}, { status: 409 });
  await abe.post(`${at}/examine`, { head_commit: other, mergeable: 'conflicting' });
  await abe.post(`${at}/merge`, {}, { status: 409 });
  await abe.post(`${at}/examine`, { head_commit: other, mergeable: 'clean' });
  await bob.post(`${at}/merge`, {}, { status: 403 });
  const { body: merged } = await abe.post(`${at}/merge`);
  assert.deepEqual([merged.state, merged.merged_by], ['merged', 'abe']);
  for (const action of ['merge', 'close', 'reopen', 'push']) await (action === 'push' ? bob : abe).post(`${at}/${action}`, action === 'push' ? { head_commit: COMMIT } : {}, { status: 409 });
  await app.settled();
  for (const number of [1, 4]) {
    const { body: issue } = await app.nobody.get(`${engine}/issues/${number}`);
    assert.deepEqual([issue.state, issue.closed_by], ['closed', 'abe']);
  }
  assert.deepEqual((await app.nobody.get(engine)).body.pulls, { open: 1, merged: 1, closed: 0 });
  await bob.post(`${engine}/pulls/2/close`);
  assert.deepEqual((await app.nobody.list(`${engine}/pulls-by-state/closed`)).map(({ number }) => number), [2]);
  await bob.post(`${engine}/pulls/2/reopen`);
});

test('stars are counted and listed, and a star of what is private now is not shown', async () => {
  await bob.put(`${engine}/stars/bob`);
  await bob.put(`${own}/stars/bob`);
  await cat.put(`${engine}/stars/cat`);
  await cat.put(`${engine}/stars/cat`, {}, { status: 409 });
  await cat.put(`${engine}/stars/ann`, {}, { status: 403 });
  await cat.put(`${secret}/stars/cat`, {}, { status: 404 });
  assert.equal((await app.nobody.get(engine)).body.stars, 2);
  assert.deepEqual((await app.nobody.list(`${engine}/stargazers`)).map(({ user }) => user), ['bob', 'cat']);
  assert.deepEqual((await app.nobody.list('/users/bob/starred')).map(({ name }) => name).sort(), ['engine', 'notes']);
  await bob.patch(own, { visibility: 'private' });
  assert.deepEqual((await app.nobody.list('/users/bob/starred')).map(({ name }) => name), ['engine']);
  assert.equal((await bob.list('/users/bob/starred')).length, 2);
  await bob.patch(own, { visibility: 'public' });
  await cat.delete(`${engine}/stars/cat`);
  await cat.delete(`${engine}/stars/cat`, { status: 404 });
  assert.equal((await app.nobody.get(engine)).body.stars, 1);
});

test('forks are counted and listed, and a fork of a fork is in the network of the origin', async () => {
  const id = (path) => path.split('/').pop();
  const first = await repository(bob, { name: 'engine', fork_of: id(engine) });
  const second = await repository(cat, { name: 'engine', fork_of: id(first) });
  const third = await repository(cat, { name: 'engine-2', fork_of: id(engine) });
  await bob.post('/repositories', { name: 'stolen', fork_of: id(secret) }, { status: 422, detail: /there is no Repository/ });
  await bob.post('/repositories', { name: 'nothing', fork_of: 'r_nothing' }, { status: 422, detail: /there is no Repository/ });
  assert.equal((await app.nobody.get(engine)).body.forks, 2);
  assert.equal((await app.nobody.get(first)).body.forks, 1);
  assert.deepEqual((await app.nobody.list(`${engine}/forks`)).map(({ repository: each }) => each).sort(), [first, third].map(id).sort());
  assert.deepEqual((await app.nobody.list(`${engine}/network`)).map(({ repository: each }) => each).sort(), [first, second, third].map(id).sort());
  assert.equal((await app.nobody.get(second)).body.origin, id(engine));
  // A pull request from a fork; a deleted fork is off the count.
  const { body: pull } = await bob.post(`${engine}/pulls`, { title: 'From afar', head: 'main', head_repository: id(first), head_commit: COMMIT });
  assert.equal(pull.head_repository, id(first));
  await cat.delete(third);
  assert.equal((await app.nobody.get(engine)).body.forks, 1);
  await bob.delete(first); // its own fork stays
  assert.equal((await app.nobody.get(second)).body.fork_of, id(first));
  assert.equal((await app.nobody.get(engine)).body.forks, 0);
});

test('watchers are told once for each number, what is new makes it unread again, and a lost view hides it', async () => {
  await cat.put(`${engine}/watchers/cat`);
  await cat.put(`${engine}/watchers/abe`, {}, { status: 403 });
  const { body: issue } = await bob.post(`${engine}/issues`, { title: 'News' });
  await app.settled();
  const notices = async (caller, name, list = 'all-notices') => (await caller.list(`/users/${name}/${list}`)).map(({ number, what, by, unread }) => [number, what, by, unread]);
  assert.deepEqual(await notices(cat, 'cat'), [[issue.number, 'issue', 'bob', true]]);
  const at = `/users/cat/notices/${engine.split('/').pop()}/${issue.number}`;
  await bob.post(`${at}/read`, {}, { status: 404 });
  await cat.post(`${at}/read`);
  assert.deepEqual(await notices(cat, 'cat', 'unread'), []);
  await bob.post(`${engine}/numbers/${issue.number}/comments`, { body: 'More' });
  await cat.post(`${engine}/numbers/${issue.number}/comments`, { body: 'Mine' }); // tells others
  await abe.patch(`${engine}/issues/${issue.number}`, { assignees: ['cat', 'bob'] });
  await app.settled();
  assert.deepEqual((await notices(cat, 'cat', 'unread')).map(([number, , , unread]) => [number, unread]), [[issue.number, true]]);
  assert.deepEqual((await notices(bob, 'bob', 'unread')).filter(([number]) => number === issue.number).map(([, what]) => what), ['assigned']);
  assert.deepEqual(await notices(bob, 'cat'), []);
  await ann.patch(engine, { visibility: 'private' });
  assert.deepEqual(await notices(cat, 'cat'), []);
  await ann.patch(engine, { visibility: 'public' });
});

test('a repository is renamed and transferred with everything in it, by offer and by taking', async () => {
  const id = own.split('/').pop();
  await bob.post(`${own}/issues`, { title: 'Stays' });
  await bob.patch(own, { name: 'diary' });
  await bob.get('/repos/bob/notes', { status: 404 });
  assert.equal((await bob.get('/repos/bob/diary')).body.repository, id);
  await bob.patch(own, { owner: 'acme' }, { status: 403 });
  await bob.post(`${own}/offer`, { offered_to: 'nobody-there' }, { status: 422 });
  await ann.post(`${own}/take`, {}, { status: 403 });
  await bob.post(`${own}/offer`, { offered_to: 'acme' });
  await abe.post(`${own}/take`, {}, { status: 403 }); // a member, no owner
  await cat.post(`${own}/take`, {}, { status: 403 });
  await ann.post(`${own}/take`);
  await ann.post(`${own}/take`, {}, { status: 403 });
  assert.equal((await app.nobody.get('/repos/acme/diary')).body.repository, id);
  await app.nobody.get('/repos/bob/diary', { status: 404 });
  assert.equal((await app.nobody.get(`${own}/issues/1`)).body.title, 'Stays');
  await bob.patch(own, { name: 'mine-again' }, { status: 403 });
  assert.equal((await app.nobody.get('/accounts/bob')).body.repositories, 0);
  // A name that the new owner has already: nothing is taken.
  const twin = await repository(cat, { name: 'engine-3' });
  await cat.patch(twin, { name: 'diary' });
  await cat.post(`${twin}/offer`, { offered_to: 'acme' });
  await ann.post(`${twin}/take`, {}, { status: 409 });
  assert.equal((await app.nobody.get(twin)).body.owner, 'cat');
});

test('an organisation with repositories stays; a deleted repository takes everything along and frees its name', async () => {
  await ann.delete('/organisations/acme', { status: 409 });
  await abe.delete(secret, { status: 403 });
  await ann.delete(secret);
  await app.settled();
  const id = secret.split('/').pop();
  assert.deepEqual((await app.items()).filter(({ PK }) => PK.startsWith(`REPO#${id}`)), []);
  await abe.post('/repositories', { owner: 'acme', name: 'plans' });
  await bob.post('/organisations', { organisation: 'short-lived', title: 'Gone soon' });
  await bob.delete('/organisations/short-lived');
  await app.settled();
  await app.nobody.get('/accounts/short-lived', { status: 404 });
  assert.deepEqual(await app.nobody.list('/organisations/short-lived/all-members'), []);
  await cat.post('/organisations', { organisation: 'short-lived', title: 'Again' });
});

test('every counter is what it counts', async () => {
  assert.deepEqual(recount(await app.items()), []);
});

test('the demonstration plays without a warning and can be read', async () => {
  const demo = await startDesign('code-host', { args: ['--demo', join(ROOT, 'designs', 'demo')] });
  await until('the demonstration to be there', () => /demo data of code-host/.test(demo.server.log()));
  assert.doesNotMatch(demo.server.log(), /warn|fail/i);
  const { body } = await demo.nobody.get('/repos/analytical/engine');
  assert.deepEqual([body.stars, body.forks, body.pulls], [2, 1, { open: 1, merged: 1, closed: 0 }]);
  assert.deepEqual(recount(await demo.items()), []);
});
