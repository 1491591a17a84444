// The server is killed while many write over REST: what was acknowledged is there, and every counter is right.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { freshDirectory, startDesign } from './harness.mjs';

const PEOPLE = 12;
const POSTS = 4;

test('killed in the middle of likes and follows, three times: nothing acknowledged is lost, and a recount agrees', async () => {
  const data = freshDirectory();
  const liked = new Set();
  const followed = new Set();
  let app = await startDesign('social', { data, check: false });
  const operator = await app.operator();
  const people = Array.from({ length: PEOPLE }, (_, i) => `u${i}`);
  await Promise.all(people.map((user_id) => operator.post('/users', { user_id, username: `name${user_id}`, email: `${user_id}@example.com` })));
  const author = await app.as('u0');
  for (let p = 0; p < POSTS; p += 1) await author.post('/posts', { post_id: `p${p}`, content: 'hello' });

  for (let round = 0; round < 3; round += 1) {
    let acknowledged = 0;
    let dead = false;
    const writers = await Promise.all(people.map((user) => app.as(user)));
    // Each writes until the server is gone; what fails then may have happened or not.
    const write = async (caller, user, n) => {
      for (let i = n; !dead; i += 1) {
        const post = `p${i % POSTS}`;
        const other = people[i % PEOPLE];
        for (const [path, done, name] of [[`/posts/${post}/likes/${user}`, liked, `${post} ${user}`],
          [`/users/${user}/following/${other}`, followed, `${user} ${other}`]]) {
          const method = done.has(name) ? 'DELETE' : 'PUT';
          done.delete(`sure ${name}`);
          const reply = await caller.request(method, path, method === 'PUT' ? { body: {} } : {}).catch(() => undefined);
          if (!reply) return;
          assert.ok(reply.status < 500, `${method} ${path}: ${reply.status}`);
          if (reply.status === 201) done.add(name).add(`sure ${name}`);
          if (reply.status === 204) done.delete(name);
          acknowledged += 1;
          if (acknowledged === 150) {
            dead = true;
            await app.server.kill();
          }
        }
      }
    };
    await Promise.all(writers.map((caller, i) => write(caller, people[i], i)));
    app = await startDesign('social', { data, check: round === 2 });
    const items = await app.items();
    const count = (test_) => items.filter(test_).length;
    const isLike = (item) => /^LIKE#/.test(item.SK) && item.PK.startsWith('POST#');
    for (const post of items.filter((item) => item.SK === 'METADATA'))
      assert.equal(post.likes_count, count((item) => isLike(item) && item.PK === post.PK), post.PK);
    for (const user of items.filter((item) => item.SK === 'PROFILE')) {
      assert.equal(user.following_count, count((item) => item.PK === user.PK && item.SK.startsWith('FOLLOWING#')), `following of ${user.PK}`);
      assert.equal(user.followers_count, count((item) => item.PK === user.PK && item.SK.startsWith('FOLLOWER#')), `followers of ${user.PK}`);
    }
    const has = (PK, SK) => items.some((item) => item.PK === PK && item.SK === SK);
    for (const name of [...liked].filter((each) => each.startsWith('sure '))) {
      const [, post, user] = name.split(' ');
      assert.ok(has(`POST#${post}`, `LIKE#${user}`), `${user} liked ${post}, and was told so`);
    }
    for (const name of [...followed].filter((each) => each.startsWith('sure '))) {
      const [, user, other] = name.split(' ');
      assert.ok(has(`USER#${user}`, `FOLLOWING#${other}`) && has(`USER#${other}`, `FOLLOWER#${user}`), `${user} follows ${other}, and was told so`);
    }
    // What was in flight may have happened: from here on by what is there.
    liked.clear();
    followed.clear();
    for (const item of items) {
      if (isLike(item)) liked.add(`${item.PK.slice(5)} ${item.SK.slice(5)}`);
      if (item.SK.startsWith('FOLLOWING#')) followed.add(`${item.PK.slice(5)} ${item.SK.slice(10)}`);
    }
  }
});
