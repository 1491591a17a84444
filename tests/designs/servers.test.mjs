// Several servers of one design, with its table at another server.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { openGate } from './gate.mjs';
import { Caller, ROOT, clientsFor, freshDirectory, runToEnd, startServer, until, verify } from './harness.mjs';
import { Watcher } from './events.mjs';

const data = freshDirectory();
const tables = await startServer({ data });
const { ddb, doc } = clientsFor(tables.endpoint);
const start = () => startServer({ data: null, args: ['--design', `${ROOT}/designs/social.yaml`, '--backend', tables.endpoint] });
const servers = [await start(), await start(), await start()];
const base = (server) => `${server.endpoint}/api/social`;
const TABLE = 'SocialMediaApp';

after(async () => {
  for (const server of servers) await server.stop();
  await tables.stop();
  ddb.destroy();
  await verify(data);
  const { code, stdout } = await runToEnd(['verify', '--design', `${ROOT}/designs/social.yaml`, '--data', data]);
  assert.equal(code, 0, stdout);
});

const at = (n, token) => new Caller(base(servers[n]), token);
const password = 'a long enough password';

/** Signs up at one server and gives a caller of another. */
async function signUp(name, there, here) {
  await at(there).post('/users', { username: name, email: `${name}@example.com`, password, display_name: name, user_id: name });
  const { body } = await at(there).post('/login', { name, password });
  return at(here, body.token);
}

const every = async (PK) => (await doc.query({
  TableName: TABLE, KeyConditionExpression: 'PK = :p', ExpressionAttributeValues: { ':p': PK }, ConsistentRead: true,
})).Items;
const owners = async () => {
  const { Items } = await doc.query({
    TableName: `${TABLE}.thorpe`, KeyConditionExpression: 'PK = :p AND begins_with(SK, :s)',
    ExpressionAttributeValues: { ':p': 'LEASE', ':s': 'shard#' }, ConsistentRead: true,
  });
  return Items.map(({ owner }) => owner);
};

const operator = async () => (await runToEnd(['token', `${ROOT}/designs/social.yaml`, '--operator', '--backend', tables.endpoint])).stdout.trim();

test('servers share the shards of the stream', async () => {
  const shares = await until('each server to have a part', async () => {
    const counts = {};
    for (const owner of await owners()) counts[owner] = (counts[owner] ?? 0) + 1;
    return Object.keys(counts).length === 3 && counts;
  });
  assert.ok(Object.values(shares).every((n) => n <= 2), JSON.stringify(shares));
});

test('a token and a cursor of one server are taken by the others', async () => {
  const alice = await signUp('alice', 0, 1);
  for (let i = 0; i < 4; i += 1) await alice.post('/posts', { content: `post ${i}` });
  const { body } = await alice.get('/users/alice/posts?limit=2');
  const { body: rest } = await at(2).get(`/users/alice/posts?limit=2&after=${encodeURIComponent(body.next)}`);
  assert.deepEqual([...body.items, ...rest.items].map(({ content }) => content), ['post 3', 'post 2', 'post 1', 'post 0']);
});

test('a post reaches each follower once, whichever server took it and whichever delivers it, and one is killed meanwhile', async () => {
  const author = await signUp('author', 0, 0);
  const followers = await Promise.all(Array.from({ length: 12 }, (_, i) => signUp(`fan${i}`, i % 3, (i + 1) % 3)));
  for (const [i, follower] of followers.entries()) await follower.put(`/users/fan${i}/following/author`);
  const posts = [];
  for (let i = 0; i < 6; i += 1) {
    const caller = at(i % 2, author.token); // the third is killed
    posts.push((await caller.post('/posts', { content: `news ${i}` })).body.post_id);
    if (i === 2) await servers[2].kill();
  }
  const began = Date.now();
  for (let i = 0; i < followers.length; i += 1) {
    await until(`the feed of fan${i}`, async () => (await every(`FEED#fan${i}`)).length >= posts.length);
  }
  assert.ok(Date.now() - began < 25_000, 'what a dead server had is taken over'); // within ten, on a machine that is not busy: test_lease.c
  for (let i = 0; i < followers.length; i += 1) {
    const feed = await every(`FEED#fan${i}`);
    assert.deepEqual(feed.map(({ post_id: id }) => id).sort(), [...posts].sort(), `the feed of fan${i}`);
  }
  servers[2] = await start();
  assert.equal((await at(2).get('/users/author')).body.posts_count, posts.length);
});

test('a processor that is paused at one server is paused at all, and goes on', async () => {
  const token = await operator();
  const processor = '/processors/deliver%20a%20post%20to%20followers';
  const follower = await signUp('patient', 1, 2);
  await follower.put('/users/patient/following/alice');
  // Another processor fills the feed of a new follower, and would deliver a post that was written before it has come to this follow.
  await until('the feed of the new follower to be filled', async () => (await at(0, token).get('/processors?wait=20')).body.idle);
  const paused = async (n) => (await at(n, token).get(processor)).body.paused;
  await at(0, token).post(`${processor}/pause`);
  for (const n of [0, 1, 2]) await until(`server ${n} to pause`, () => paused(n));
  await (await signUp('dora', 0, 1)).put('/users/dora/following/alice');
  const { body } = await at(1, (await at(0).post('/login', { name: 'alice', password })).body.token).post('/posts', { content: 'late' });
  await new Promise((resolve) => setTimeout(resolve, 1000)); // nothing happens
  const got = async () => (await every('FEED#patient')).some(({ post_id: id }) => id === body.post_id);
  assert.ok(!await got());
  await at(2, token).post(`${processor}/resume`);
  await until('the post to be delivered', got);
});

test('a list is watched at one server while another is written to', async () => {
  const bob = await signUp('bob', 0, 1);
  const watcher = await Watcher.open(at(2), '/users/bob/posts');
  await watcher.heard(1);
  const { body } = await bob.post('/posts', { content: 'seen elsewhere' });
  assert.deepEqual(await watcher.heard(2, 'post_id'), ['ready', `added ${body.post_id}`]);
  watcher.close();
});

test('whichever server is asked, idle means that all of them are through with what was written before', async () => {
  const token = await operator();
  const writer = await signUp('writer', 0, 0);
  await Promise.all(Array.from({ length: 6 }, async (_, i) => (await signUp(`reader${i}`, i % 3, i % 3)).put(`/users/reader${i}/following/writer`)));
  for (let round = 0; round < 3; round += 1) {
    const { body } = await writer.post('/posts', { content: `round ${round}` });
    await until('all servers to be through', async () => (await at((round + 1) % 3, token).get('/processors?wait=20')).body.idle);
    for (let i = 0; i < 6; i += 1) {
      assert.ok((await every(`FEED#reader${i}`)).some(({ post_id: id }) => id === body.post_id), `reader${i} has no post of round ${round}`);
    }
  }
  for (const query of ['wait=', 'wait=61', 'wait=soon', 'patience=1']) {
    assert.equal((await at(0, token).request('GET', `/processors?${query}`)).status, 422, query);
  }
});

test('requests that wait for the processors leave workers to the others', async () => {
  const own = await startServer({ data: null });
  const gate = await openGate(own.endpoint);
  const front = await startServer({ data: null, args: ['--design', `${ROOT}/designs/social.yaml`, '--backend', gate.endpoint, '--limit', 'workers=12'] });
  const waiting = new Caller(base(front), (await runToEnd(['token', `${ROOT}/designs/social.yaml`, '--operator', '--backend', own.endpoint])).stdout.trim());
  gate.hold = ({ operation }) => operation === 'GetRecords';
  await waiting.post('/users', { username: 'zed', email: 'zed@example.com', user_id: 'zed' });
  const began = Date.now();
  const all = Promise.all(Array.from({ length: 30 }, () => waiting.once('GET', '/processors?wait=5', {})));
  await new Promise((resolve) => setTimeout(resolve, 500));
  assert.equal((await waiting.get('/users/zed')).status, 200);
  assert.ok(Date.now() - began < 4000, 'the read waited for those that wait');
  const replies = await all;
  assert.equal(replies.filter(({ status, body }) => status === 200 && body.idle === false).length, 8);
  const refused = replies.filter(({ status }) => status === 503);
  assert.equal(refused.length, 22);
  assert.ok(refused.every(({ headers }) => Number(headers.get('retry-after')) > 0));
  gate.hold = () => false;
  gate.release();
  await until('it to be idle', async () => (await waiting.get('/processors?wait=5')).body.idle);
  await front.stop();
  await own.stop();
});

test('pages of the stream that come twice are told once to watchers', async () => {
  const own = await startServer({ args: ['--fault', 'duplicate-records=100%'] });
  const front = await startServer({ data: null, args: ['--design', `${ROOT}/designs/social.yaml`, '--backend', own.endpoint] });
  const caller = new Caller(base(front));
  await caller.post('/users', { username: 'yan', email: 'yan@example.com', password, user_id: 'yan' });
  const yan = new Caller(base(front), (await caller.post('/login', { name: 'yan', password })).body.token);
  const watcher = await Watcher.open(caller, '/users/yan/posts');
  await watcher.heard(1);
  const ids = [];
  for (let i = 0; i < 4; i += 1) {
    ids.push((await yan.post('/posts', { content: `post ${i}` })).body.post_id);
    await watcher.heard(i + 2);
  }
  assert.deepEqual(await watcher.heard(5, 'post_id'), ['ready', ...ids.map((id) => `added ${id}`)]);
  watcher.close();
  await front.stop();
  await own.stop();
});

test("a design's table is at each server, for SDKs and the console", async () => {
  const { ddb: here, doc: docHere, streams } = clientsFor(servers[1].endpoint);
  assert.equal((await here.describeTable({ TableName: TABLE })).Table.KeySchema[0].AttributeName, 'PK');
  const { Item } = await docHere.get({ TableName: TABLE, Key: { PK: 'USER#alice', SK: 'PROFILE' } });
  assert.equal(Item.username, 'alice');
  const batch = await docHere.batchGet({ RequestItems: { [TABLE]: { Keys: [{ PK: 'USER#alice', SK: 'PROFILE' }] } } });
  assert.equal(batch.Responses[TABLE].length, 1);
  await assert.rejects(docHere.put({ TableName: TABLE, Item: { PK: 'USER#alice', SK: 'PROFILE' }, ConditionExpression: 'attribute_not_exists(PK)' }),
    { name: 'ConditionalCheckFailedException' });
  await assert.rejects(docHere.get({ TableName: 'Elsewhere', Key: { PK: 'a', SK: 'b' } }), { name: 'ResourceNotFoundException' });
  await here.createTable({ TableName: 'SocialMediaApp-own', BillingMode: 'PAY_PER_REQUEST',
    AttributeDefinitions: [{ AttributeName: 'k', AttributeType: 'S' }], KeySchema: [{ AttributeName: 'k', KeyType: 'HASH' }] });
  assert.deepEqual((await here.listTables({})).TableNames, ['SocialMediaApp', 'SocialMediaApp-own', 'SocialMediaApp.thorpe']);
  const pages = [];
  for (let page = {}, more = true; more; more = page.LastEvaluatedTableName !== undefined) {
    page = await here.listTables({ Limit: 1, ExclusiveStartTableName: page.LastEvaluatedTableName });
    pages.push(...page.TableNames);
  }
  assert.deepEqual(pages, ['SocialMediaApp', 'SocialMediaApp-own', 'SocialMediaApp.thorpe']);
  await here.deleteTable({ TableName: 'SocialMediaApp-own' });
  const { Streams } = await streams.listStreams({ TableName: TABLE });
  assert.ok((await streams.describeStream({ StreamArn: Streams[0].StreamArn })).StreamDescription.Shards.length > 0);
  const metrics = await (await fetch(`${servers[1].endpoint}/metrics`)).text();
  assert.match(metrics, /^thorpe_backend_read_units_total\{[^}]*pattern="user posts[^}]*\} \d/m);
  here.destroy();
  streams.destroy();
});

test('commands find the secret of the servers where the table is', async () => {
  const where = [`${ROOT}/designs/social.yaml`, '--backend', tables.endpoint, '--endpoint', servers[2].endpoint];
  const listed = await runToEnd(['processors', ...where]);
  assert.equal(listed.code, 0, listed.stderr);
  assert.match(listed.stdout, /deliver a post to followers/);
  const called = await runToEnd(['call', where[0], 'user posts', 'user_id=alice', '--explain', ...where.slice(1)]);
  assert.equal(called.code, 0, called.stderr);
  assert.match(called.stdout, /post 3/);
  assert.match((await runToEnd(['call', 'social', ...where.slice(1)])).stderr, /needs the design's file/);
  const verified = await runToEnd(['verify', '--design', where[0], '--backend', tables.endpoint]);
  assert.equal(verified.code, 0, verified.stdout + verified.stderr);
});

/** A request that waits while another with its key is being done, as clients do. */
async function insist(caller, path, body, key) {
  for (;;) {
    const reply = await caller.request('POST', path, { body, headers: { 'idempotency-key': key } });
    if (reply.status !== 409 || !reply.headers.has('retry-after')) return reply;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

test('one Idempotency-Key at all servers at once is one request, and all get its answer', async () => {
  const { token } = await signUp('eager', 0, 0);
  for (let round = 0; round < 5; round += 1) {
    const replies = await Promise.all([0, 1, 2, 0, 1, 2].map((n) => insist(at(n, token), '/posts', { content: `once ${round}` }, `k${round}`)));
    for (const { status, body, location } of replies) {
      assert.equal(status, 201, JSON.stringify(body));
      assert.deepEqual(body, replies[0].body);
      assert.equal(location, replies[0].location);
    }
    assert.equal(replies.filter(({ headers }) => headers.has('idempotency-replayed')).length, 5);
  }
  assert.equal((await at(1).get('/users/eager')).body.posts_count, 5);
  const other = await at(2, token).request('POST', '/posts', { body: { content: 'other' }, headers: { 'idempotency-key': 'k0' } });
  assert.equal(other.status, 422);
});

test('wrong passwords count together, whichever servers they are tried at, also all at once', async () => {
  await signUp('guessed', 0, 0);
  await signUp('victim', 0, 0);
  const guess = (n, name) => at(n).request('POST', '/login', { body: { name, password: 'a wrong password' } });
  // Five, and then one for each second that has passed, at most.
  const most = (began) => 5 + Math.ceil((Date.now() - began) / 1000);
  const refusing = new Set();
  let looked = 0;
  let began = Date.now();
  for (let i = 0; refusing.size < 3; i += 1) {
    const { status, headers } = await guess(i % 3, 'guessed');
    if (status === 401) looked += 1;
    else {
      assert.equal(status, 429);
      assert.ok(Number(headers.get('retry-after')) >= 1);
      refusing.add(i % 3);
    }
  }
  assert.ok(looked >= 5 && looked <= most(began), `${looked} were looked at`);
  began = Date.now();
  const replies = await Promise.all(Array.from({ length: 18 }, (_, i) => guess(i % 3, 'victim')));
  looked = replies.filter(({ status }) => status === 401).length;
  assert.ok(looked >= 1 && looked <= most(began), `${looked} were looked at`);
  assert.ok(replies.every(({ status }) => status === 401 || status === 429), JSON.stringify(replies.map(({ status }) => status)));
  const { Items } = await doc.scan({ TableName: `${TABLE}.thorpe`, ConsistentRead: true });
  const kept = Items.filter(({ PK }) => PK.startsWith('LOGIN#'));
  assert.ok(kept.length > 0 && kept.every(({ expires }) => expires > Date.now() / 1000));
  assert.ok(!JSON.stringify(kept).includes('guessed') && !JSON.stringify(kept).includes('127.0.0'));
});

test('a suspension, a new password and a deletion at one server end sessions at all with the next request', async () => {
  const admin = await operator();
  const everywhere = async (token) => Promise.all([0, 1, 2].map(async (n) => (await at(n, token).request('GET', '/me')).status));
  const session = async (name) => {
    const { token } = await signUp(name, 0, 0);
    assert.deepEqual(await everywhere(token), [200, 200, 200]);
    return token;
  };
  const suspended = await session('rude');
  await at(0, admin).post('/users/rude/suspend');
  assert.deepEqual(await everywhere(suspended), [401, 401, 401]);
  assert.equal((await at(2).request('POST', '/login', { body: { name: 'rude', password } })).status, 401);

  const renewed = await session('careful');
  await at(1, renewed).patch('/users/careful', { password: 'another long password', current_password: password });
  assert.deepEqual(await everywhere(renewed), [401, 401, 401]);

  const gone = await session('leaving');
  await at(2, gone).delete('/users/leaving');
  assert.deepEqual(await everywhere(gone), [401, 401, 401]);
});

test('servers are replaced one after the other, and no client sees an error', async () => {
  const carol = await signUp('carol', 0, 0);
  let writing = true;
  let written = 0;
  let replaced = -1;
  const writer = (async () => {
    while (writing) {
      // A balancer leaves out the server that is being replaced.
      const n = replaced === 0 ? 1 : 0;
      await at(n, carol.token).post('/posts', { content: `number ${written}` });
      written += 1;
    }
  })();
  for (let n = 0; n < 3; n += 1) {
    replaced = n;
    await new Promise((resolve) => setTimeout(resolve, 50)); // requests under way end
    await servers[n].stop();
    servers[n] = await start();
    replaced = -1;
  }
  writing = false;
  await writer;
  assert.ok(written > 3);
  assert.equal((await at(2).get('/users/carol')).body.posts_count, written);
});

test('while the database does not answer, requests are refused and nothing hangs; when it does again, all goes on', async () => {
  const own = freshDirectory();
  let backend = await startServer({ data: own });
  const args = ['--design', `${ROOT}/designs/social.yaml`, '--backend', backend.endpoint];
  const front = await startServer({ data: null, args });
  const caller = new Caller(base(front));
  await caller.post('/users', { username: 'zoe', email: 'zoe@example.com', password, user_id: 'zoe' });
  const zoe = new Caller(base(front), (await caller.post('/login', { name: 'zoe', password })).body.token);
  await zoe.post('/posts', { content: 'before' });
  await backend.kill();
  const { status, headers, body } = await zoe.request('POST', '/posts', { body: { content: 'lost' } });
  assert.equal(status, 503);
  assert.equal(body.detail, 'the database does not answer');
  assert.ok(headers.get('retry-after'));
  assert.equal((await fetch(`${front.endpoint}/healthz`)).status, 200, 'the server itself is well');
  backend = await startServer({ data: own, listen: `127.0.0.1:${backend.port}` });
  await until('the database to be found again', async () => (await zoe.request('POST', '/posts', { body: { content: 'after' } })).status === 201);
  await until('what follows a post to be done', async () => (await zoe.get('/users/zoe')).body.posts_count === 2);
  await backend.kill();
  const began = Date.now();
  await front.stop();
  assert.ok(Date.now() - began < 20_000, 'it ends without its database, too');
});
