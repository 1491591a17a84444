// designs/examples/code-host.yaml: many at once, and callers who try what is not theirs.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BACKEND, atOnce } from './harness.mjs';
import { COMMIT, PASSWORD, recount, startCodeHost } from './code-host-world.mjs';

const { app, operator, repository, ann, abe, bob, cat } = await startCodeHost();
const engine = await repository(ann, { owner: 'acme', name: 'engine' });
const secret = await repository(ann, { owner: 'acme', name: 'secret', visibility: 'private' });
const MANY = BACKEND ? 12 : 30;

/** Opens a pull request that can be merged. */
async function ready(more = {}) {
  const { body: { number } } = await bob.post(`${engine}/pulls`, { title: 'Ready', head: 'x', head_commit: COMMIT, ...more });
  await abe.post(`${engine}/pulls/${number}/examine`, { head_commit: COMMIT, mergeable: 'clean' });
  return `${engine}/pulls/${number}`;
}

test('issues and pull requests created at once have numbers without gaps or repeats, failures included', async () => {
  const replies = await Promise.all(Array.from({ length: MANY }, (_, i) => {
    if (i % 5 === 4) return bob.request('POST', `${engine}/issues`, { body: { title: '' } }); // refused: takes no number
    if (i % 2) return abe.request('POST', `${engine}/pulls`, { body: { title: `Pull ${i}`, head: 'x', head_commit: COMMIT } });
    return bob.request('POST', `${engine}/issues`, { body: { title: `Issue ${i}` } });
  }));
  const made = replies.filter(({ status }) => status === 201).map(({ body }) => body.number).sort((a, b) => a - b);
  assert.equal(made.length, MANY - Math.floor(MANY / 5));
  assert.deepEqual(made, Array.from({ length: made.length }, (_, i) => i + 1));
});

test('a star by many requests at once is one star; stars of many people are all counted', async () => {
  assert.deepEqual(await atOnce(Array.from({ length: 8 }, () => () => bob.request('PUT', `${engine}/stars/bob`, { body: {} }))), { 201: 1, 409: 7 });
  const fans = await Promise.all(Array.from({ length: 10 }, (_, i) => app.as(`fan${i}`, 'user')));
  await Promise.all(fans.map((_, i) => operator.post('/users', { user: `fan${i}`, email: `fan${i}@example.com`, password: PASSWORD })));
  await Promise.all(fans.map((fan, i) => fan.put(`${engine}/stars/fan${i}`)));
  assert.equal((await bob.get(engine)).body.stars, 11);
  await Promise.all([...fans.map((fan, i) => fan.delete(`${engine}/stars/fan${i}`)), bob.delete(`${engine}/stars/bob`)]);
  assert.equal((await bob.get(engine)).body.stars, 0);
});

test('two merges at once: one; a merge and a push at once never merge what was not examined', async () => {
  const at = await ready();
  assert.deepEqual(await atOnce([ann, abe, ann, abe].map((each) => () => each.request('POST', `${at}/merge`, { body: {} }))), { 200: 1, 409: 3 });
  for (let i = 0; i < 5; i += 1) {
    const next = await ready();
    const other = COMMIT.replaceAll('0', 'e');
    const [pushed, merged] = await Promise.all([bob.request('POST', `${next}/push`, { body: { head_commit: other } }), abe.request('POST', `${next}/merge`, { body: {} })]);
    const { body } = await abe.get(next);
    assert.deepEqual([pushed.status, merged.status].sort(), [200, 409], JSON.stringify([pushed.body, merged.body]));
    assert.deepEqual([body.state, body.head_commit], merged.status === 200 ? ['merged', COMMIT] : ['open', other]);
  }
});

test('a merge and a close at once: one of both', async () => {
  const at = await ready();
  const statuses = await atOnce([() => abe.request('POST', `${at}/merge`, { body: {} }), () => bob.request('POST', `${at}/close`, { body: {} })]);
  assert.deepEqual(statuses, { 200: 1, 409: 1 });
});

test('a name is taken once: by users, organisations and repositories at once', async () => {
  const statuses = await atOnce([
    ...Array.from({ length: 4 }, (_, i) => () => app.nobody.request('POST', '/users', { body: { user: 'wanted', email: `w${i}@example.com`, password: PASSWORD } })),
    ...Array.from({ length: 4 }, () => () => cat.request('POST', '/organisations', { body: { organisation: 'wanted', title: 'W' } })),
  ]);
  assert.deepEqual(statuses, { 201: 1, 409: 7 });
  assert.equal((await app.items()).filter(({ PK, SK }) => PK === 'ACCOUNT#wanted' && ['USER', 'ORGANISATION'].includes(SK)).length, 1);
  assert.deepEqual(await atOnce(Array.from({ length: 6 }, () => () => cat.request('POST', '/repositories', { body: { name: 'same' } }))), { 201: 1, 409: 5 });
});

test('taking a repository by two owners, and taking the offer back, at once', async () => {
  await ann.put('/organisations/acme/members/cat', { role: 'owner' });
  const own = await repository(bob, { name: 'offered' });
  await bob.post(`${own}/offer`, { offered_to: 'acme' });
  const statuses = await atOnce([ann, cat].map((each) => () => each.request('POST', `${own}/take`, { body: {} })));
  assert.equal(statuses[200], 1, JSON.stringify(statuses));
  for (let i = 0; i < 4; i += 1) {
    const next = await repository(bob, { name: `offered-${i}` });
    await bob.post(`${next}/offer`, { offered_to: 'acme' });
    const [back, taken] = await Promise.all([bob.request('POST', `${next}/offer`, { body: { offered_to: null } }), ann.request('POST', `${next}/take`, { body: {} })]);
    const { body } = await operator.get(next);
    assert.equal(body.owner, taken.status === 200 ? 'acme' : 'bob', JSON.stringify([back.body, taken.body]));
  }
  await ann.delete('/organisations/acme/members/cat');
});

test('issues are opened while the repository is deleted: nothing stays behind', async () => {
  const doomed = await repository(bob, { name: 'doomed' });
  for (let i = 0; i < 5; i += 1) await cat.post(`${doomed}/issues`, { title: `Issue ${i}` });
  await cat.post(`${doomed}/numbers/1/comments`, { body: 'Here' });
  await Promise.all([
    bob.request('DELETE', doomed),
    ...Array.from({ length: 6 }, (_, i) => cat.request('POST', `${doomed}/issues`, { body: { title: `Late ${i}` } })),
    cat.request('POST', `${doomed}/numbers/2/comments`, { body: 'Late' }), cat.request('PUT', `${doomed}/stars/cat`, { body: {} }),
  ]);
  await app.settled();
  const id = doomed.split('/').pop();
  assert.deepEqual((await app.items()).filter(({ PK }) => PK.startsWith(`REPO#${id}`)).map(({ PK, SK }) => `${PK} ${SK}`), []);
});

test('what is private is not there: by any address, in any attribute', async () => {
  await ann.post(`${secret}/issues`, { title: 'Hush' });
  await ann.put(`${secret}/labels/bug`, {});
  const { body: comment } = await ann.post(`${secret}/numbers/1/comments`, { body: 'Hush' });
  const before = JSON.stringify(await app.items());
  const tries = [
    ['GET', ''], ['PATCH', '', { description: 'x' }], ['DELETE', ''], ['POST', '/offer', { offered_to: 'bob' }], ['POST', '/take', {}],
    ['GET', '/issues/1'], ['PATCH', '/issues/1', { title: 'x' }], ['DELETE', '/issues/1'], ['POST', '/issues', { title: 'x' }], ['POST', '/issues/1/close', {}],
    ['POST', '/pulls', { title: 'x', head: 'x', head_commit: COMMIT }],
    ['GET', '/labels/bug'], ['PUT', '/labels/mine', {}], ['DELETE', '/labels/bug'],
    ['POST', '/numbers/1/comments', { body: 'x' }], ['GET', `/numbers/1/comments/${comment.comment}`], ['DELETE', `/numbers/1/comments/${comment.comment}`],
    ['PUT', '/numbers/1/reactions/heart/bob', {}], ['PUT', `/numbers/1/comments/${comment.comment}/reactions/heart/bob`, {}],
    ['PUT', '/stars/bob', {}], ['PUT', '/watchers/bob', {}],
  ];
  for (const caller of [bob, app.nobody]) {
    for (const [method, path, body] of tries) {
      const { status, body: reply } = await caller.request(method, secret + path, { body });
      assert.ok([401, 403, 404].includes(status), `${method} ${path}: ${status} ${JSON.stringify(reply)}`);
      assert.doesNotMatch(JSON.stringify(reply ?? ''), /Hush/);
    }
  }
  const { status } = await bob.request('POST', `${engine}/pulls`, { body: { title: 'x', head: 'x', head_commit: COMMIT, head_repository: secret.split('/').pop() } });
  assert.ok([403, 404, 422].includes(status), `${status}`);
  assert.equal(JSON.stringify(await app.items()), before);
});

test('nobody writes in the name of another', async () => {
  assert.equal((await bob.post(`${engine}/issues`, { title: 'x', author: 'ann' })).body.author, 'bob');
  await bob.post(`${engine}/issues`, { title: 'x', state: 'closed' }, { status: 422 });
  await bob.post(`${engine}/issues`, { title: 'x', number: 1 }, { status: 422 });
  await bob.post('/repositories', { name: 'many-stars', stars: 1000 }, { status: 422 });
  await bob.patch(engine, { description: 'mine' }, { status: 403 });
  await bob.post(`${engine}/offer`, { offered_to: 'bob' }, { status: 403 });
  await abe.post(`${engine}/offer`, { offered_to: 'abe' }, { status: 403 });
  await bob.put('/users/ann', { email: 'b@example.com', password: PASSWORD }, { status: 409 });
  await bob.patch('/users/ann', { bio: 'x' }, { status: 403 });
  const { status } = await bob.request('POST', '/accounts', { body: { account: 'free', kind: 'user' } });
  assert.ok([403, 404, 405].includes(status), `${status}`);
});

test('every counter is what it counts', async () => {
  assert.deepEqual(recount(await app.items()), []);
});
