// designs/demo/social.json: loads without a word of complaint, adds up, and shows something for every list.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, startDesign } from './harness.mjs';
import { audit } from './social-world.mjs';

const app = await startDesign('social', { args: ['--demo', join(ROOT, 'designs', 'demo')] });

test('the demo data loads whole', async () => {
  assert.doesNotMatch(app.server.log(), /warn|error|failed/i);
  assert.match(app.server.log(), /demo data of social: \d+ steps/);
  const { profile, post, edge, comment } = await audit(app);
  assert.deepEqual(profile.map(({ user_id }) => user_id).sort(), ['alice', 'bob', 'carol', 'dave', 'erin', 'frank']);
  assert.ok(post.length > 10 && edge.length > 10 && comment.length > 5);
  for (const { created_at: at } of [...profile, ...post, ...edge, ...comment]) assert.ok(Date.parse(at) <= Date.now(), 'nothing is from the future');
  const joined = new Map(profile.map(({ user_id, created_at }) => [user_id, created_at]));
  for (const { author_id, created_at } of post) assert.ok(created_at >= joined.get(author_id), 'nobody posts before he has joined');
  const posted = new Map(post.map(({ post_id, created_at }) => [post_id, created_at]));
  for (const { post_id, created_at } of comment) assert.ok(created_at >= posted.get(post_id), 'nobody comments on what is not there yet');
});

test('the accounts of the demo data log in and find something', async () => {
  const alice = await app.login('alice', 'wonderland');
  assert.ok((await alice.list('/users/alice/posts')).length >= 3);
  assert.ok((await alice.list('/users/alice/followers')).length >= 3);
  const popular = await app.nobody.list('/popular');
  assert.equal(popular[0].post_id, 'p-sunrise');
  assert.ok(popular.every(({ visibility, author_is_private }) => visibility === 'public' && !author_is_private));
  assert.ok((await app.nobody.list(`/timeline/${new Date().toISOString().slice(0, 10)}`)).length >= 4);
  assert.deepEqual((await app.nobody.list('/hashtags/flying')).map(({ post_id }) => post_id), ['p-landing', 'p-sunrise']);
  assert.equal((await app.nobody.list('/comments/c-3/replies'))[0].username, 'alice');
  const bob = await app.login('bob', 'wonderland');
  await bob.get('/posts/p-quiet'); // he is let in by Erin
  await alice.get('/posts/p-quiet', { status: 404 }); // and she is not yet
  assert.equal((await alice.get('/users/alice/follows/erin')).body.status, 'pending');
});
