// Several servers of one design, and what can go wrong between them: one hangs and comes back, one dies between its write and its
// answer, replies of the table beside are lost, shards split meanwhile, credentials end.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Caller, ROOT, clientsFor, freshDirectory, runToEnd, scan, startServer, until } from './harness.mjs';
import { openGate } from './gate.mjs';

const DESIGN = `${ROOT}/designs/social.yaml`;
const TABLE = 'SocialMediaApp';
const BESIDE = `${TABLE}.thorpe`;
const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

/** A database of its own, and servers in front of it. */
async function place({ args = [], env } = {}) {
  const database = await startServer({ data: null, args });
  const { ddb, doc, streams } = clientsFor(database.endpoint, { maxAttempts: 10 });
  const servers = [];
  const tokens = new Map();
  const it = {
    database, doc, servers,
    serve: async (endpoint = database.endpoint, more = env) => {
      const server = await startServer({ data: null, args: ['--design', DESIGN, '--backend', endpoint], env: more });
      servers.push(server);
      return server;
    },
    as: async (server, ...flags) => {
      const key = flags.join(' ');
      if (!tokens.has(key)) {
        const { code, stdout, stderr } = await runToEnd(['token', DESIGN, '--backend', database.endpoint, ...flags]);
        assert.equal(code, 0, stderr);
        tokens.set(key, stdout.trim());
      }
      return new Caller(`${server.endpoint}/api/social`, tokens.get(key));
    },
    user: (server, name) => it.as(server, '--subject', name, '--role', 'user'),
    operator: (server) => it.as(server, '--operator'),
    /** An author, and so many who follow. */
    followed: async (server, author, count) => {
      const operator = await it.operator(server);
      const names = Array.from({ length: count }, (_, i) => `${author}fan${i}`);
      for (const name of [author, ...names]) await operator.post('/users', { user_id: name, username: name, email: `${name}@example.com` });
      for (const name of names) await operator.put(`/users/${name}/following/${author}`);
      return names;
    },
    leases: async () => (await doc.query({
      TableName: BESIDE, KeyConditionExpression: 'PK = :p AND begins_with(SK, :s)', ExpressionAttributeValues: { ':p': 'LEASE', ':s': 'shard#' }, ConsistentRead: true,
    })).Items,
    feeds: async (names) => Promise.all(names.map(async (name) => (await doc.query({
      TableName: TABLE, KeyConditionExpression: 'PK = :p', ExpressionAttributeValues: { ':p': `FEED#${name}` }, ConsistentRead: true,
    })).Items.map(({ post_id: id }) => id).sort())),
    /** Each has each post, and none twice; and so it stays. */
    delivered: async (names, posts, seconds = 40) => {
      const wanted = [...posts].sort();
      await until('everything to be delivered', async () => (await it.feeds(names)).every(({ length }) => length >= wanted.length), seconds);
      for (const [i, feed] of (await it.feeds(names)).entries()) assert.deepEqual(feed, wanted, `the feed of ${names[i]}`);
    },
    /** Nothing is parked, and the oracle finds nothing. */
    isRight: async (server) => {
      const operator = await it.operator(server);
      await until('the processors to be idle', async () => (await operator.get('/processors')).body.idle);
      const { body } = await operator.get('/processors');
      assert.deepEqual(body.processors.filter(({ parked }) => parked).map(({ name, last_problem: why }) => `${name}: ${why}`), []);
      const { code, stdout, stderr } = await runToEnd(['verify', '--design', DESIGN, '--backend', database.endpoint]);
      assert.equal(code, 0, stdout + stderr);
    },
    end: async () => {
      ddb.destroy();
      streams.destroy();
      for (const { child } of [...servers, database]) child.kill('SIGKILL');
    },
  };
  after(it.end);
  return it;
}

test('a server with nothing to do looks at each shard about once a second', async () => {
  const it = await place();
  const gate = await openGate(it.database.endpoint);
  const server = await it.serve(gate.endpoint);
  const operator = await it.operator(server);
  await until('its processors to be idle', async () => (await operator.get('/processors')).body.idle);
  const shards = (await operator.get('/processors')).body.shards.length;
  await pause(3000); // it looks less and less often
  const before = gate.counts.GetRecords;
  const began = performance.now();
  await pause(6000);
  const each = (gate.counts.GetRecords - before) / shards / ((performance.now() - began) / 1000);
  assert.ok(each > 0.5 && each < 1.3, `${each.toFixed(2)} looks a second at each of ${shards} shards`);
  // And what it writes itself is looked for at once.
  const fans = await it.followed(server, 'ann', 3);
  const wrote = performance.now();
  const { body } = await (await it.user(server, 'ann')).post('/posts', { content: 'at once' });
  await it.delivered(fans, [body.post_id]);
  assert.ok(performance.now() - wrote < 5000);
  await it.isRight(server);
  await it.end();
});

test('all servers show all shards: who reads them, and what waits there', async () => {
  const it = await place();
  const servers = [await it.serve(), await it.serve()];
  const look = async (n) => (await (await it.operator(servers[n])).get('/processors')).body;
  const shared = await until('both to have a part', async () => {
    const { shards = [], servers: all = [] } = await look(0);
    return all.length === 2 && shards.length > 0 && new Set(shards.map(({ owner }) => owner)).size === 2 && shards.every(({ owner }) => owner) && shards;
  });
  const text = (pairs) => JSON.stringify(pairs.sort());
  await until('both to say what the leases say', async () => {
    const leases = text((await it.leases()).map(({ SK, owner }) => [SK.slice('shard#'.length), owner]));
    const said = await Promise.all([0, 1].map(async (n) => text((await look(n)).shards.map(({ shard, owner }) => [shard, owner]))));
    return said.every((each) => each === leases);
  });

  // What waits at the other server is seen at this one.
  const fans = await it.followed(servers[0], 'ann', 4);
  const operators = [await it.operator(servers[0]), await it.operator(servers[1])];
  const processor = 'deliver a post to followers';
  await operators[0].post(`/processors/${encodeURIComponent(processor)}/pause`);
  await until('it to be paused at both', async () => (await operators[1].get(`/processors/${encodeURIComponent(processor)}`)).body.paused);
  const posts = [];
  for (let i = 0; i < 8; i += 1) posts.push((await (await it.user(servers[0], 'ann')).post('/posts', { content: `post ${i}` })).body.post_id);
  for (const n of [0, 1]) {
    await until(`server ${n} to know of all`, async () => (await look(n)).processors.find(({ name }) => name === processor).backlog >= posts.length);
  }
  const { stdout } = await runToEnd(['processors', DESIGN, '--backend', it.database.endpoint, '--endpoint', servers[1].endpoint]);
  assert.match(stdout, /^2 servers, \d+ shards$/m);
  assert.equal(stdout.match(/^ {2}shardId-\S+ {2}[0-9A-Z]{26}/gm).length, shared.length);
  assert.match(stdout, /s behind, \d+ waiting$/m);

  // What a dead one had is this one's a while later.
  await operators[0].post(`/processors/${encodeURIComponent(processor)}/resume`);
  await servers[1].kill();
  await it.delivered(fans, posts);
  await until('this one to have all', async () => {
    const body = await look(0);
    return body.servers.length === 1 && body.shards.every(({ owner }) => owner === body.servers[0].server) && body.idle;
  });
  await it.isRight(servers[0]);
  await it.end();
});

test('a server that hangs with its shards, and wakes under load, does nothing twice', async () => {
  const it = await place();
  const servers = [await it.serve(), await it.serve()];
  await until('both to have a part', async () => new Set((await it.leases()).map(({ owner }) => owner)).size === 2);
  const fans = await it.followed(servers[0], 'ann', 12);
  const ann = await it.user(servers[0], 'ann');
  const posts = [];
  const publish = async (n) => { for (let i = 0; i < n; i += 1) posts.push((await ann.post('/posts', { content: `post ${posts.length}` })).body.post_id); };
  await publish(4); // the other one is in the middle of these
  servers[1].child.kill('SIGSTOP');
  await publish(8);
  await it.delivered(fans, posts); // by the one that is left
  // Also where none of the posts was in a shard of the hung one.
  await until('what the hung one had to be taken', async () => new Set((await it.leases()).map((each) => each.owner)).size === 1);
  const more = publish(12);
  servers[1].child.kill('SIGCONT');
  await more;
  await it.delivered(fans, posts);
  await until('it to have a part again', async () => new Set((await it.leases()).map((each) => each.owner)).size === 2);
  await publish(4);
  await it.delivered(fans, posts);
  assert.equal((await ann.get('/users/ann')).body.posts_count, posts.length);
  for (const server of servers) await it.isRight(server);
  await it.end();
});

test('replies of the table beside are lost, leases and positions among them, and nothing is lost or done twice', async () => {
  const it = await place({ args: ['--fault', 'none'] });
  const servers = [await it.serve(), await it.serve()];
  const fans = await it.followed(servers[0], 'ann', 10);
  const faults = (body) => fetch(`${it.database.endpoint}/faults`, { method: 'POST', body });
  await faults(`table=${BESIDE},drop-after=25%,seed=7`);
  const ann = await it.user(servers[0], 'ann');
  const posts = [];
  for (let i = 0; i < 12; i += 1) posts.push((await ann.post('/posts', { content: `post ${i}` })).body.post_id);
  await servers[1].kill(); // so that leases move while their replies are lost
  servers[1] = await it.serve();
  await it.delivered(fans, posts);
  await until('both to have a part', async () => new Set((await it.leases()).map(({ owner }) => owner)).size === 2);
  await faults(`table=${BESIDE},none`);
  await it.isRight(servers[0]);
  await it.end();
});

test('shards split while their owners are killed, and each change is followed once, in its order', async () => {
  const it = await place({ args: ['--fault', 'split-shards=2s'] });
  const servers = [await it.serve(), await it.serve()];
  const fans = await it.followed(servers[0], 'ann', 8);
  const ann = await it.user(servers[0], 'ann');
  const posts = [];
  for (let round = 0; round < 3; round += 1) {
    for (let i = 0; i < 4; i += 1) posts.push((await ann.post('/posts', { content: `post ${posts.length}` })).body.post_id);
    await servers[1].kill();
    await pause(1500); // a shard splits, and its parent's owner is gone
    servers[1] = await it.serve();
  }
  const [taken] = posts.splice(3, 1);
  await ann.delete(`/posts/${taken}`);
  await until('what was taken back to be gone', async () => (await it.feeds(fans)).every((feed) => !feed.includes(taken)), 60);
  await it.delivered(fans, posts, 90);
  await fetch(`${it.database.endpoint}/faults`, { method: 'DELETE' });
  await it.isRight(servers[0]);
  await it.end();
});

test('an Idempotency-Key whose server dies: after the write another answers, before it another does it, and never is it done twice', async () => {
  const it = await place();
  const gate = await openGate(it.database.endpoint);
  let first = await it.serve(gate.endpoint);
  const second = await it.serve();
  const operator = await it.operator(second);
  await operator.post('/users', { user_id: 'ann', username: 'ann', email: 'ann@example.com' });
  const post = async (server, key, content, options) => (await it.user(server, 'ann')).request('POST', '/posts', { body: { content }, headers: { 'idempotency-key': key }, ...options });
  const count = async () => (await (await it.user(second, 'ann')).get('/users/ann')).body.posts_count;
  /** The minute after which a request is taken over is over. */
  const age = async () => {
    const { Items } = await it.doc.scan({ TableName: BESIDE, ConsistentRead: true });
    for (const { PK, SK, since } of Items.filter((item) => item.PK.startsWith('REPLY#') && item.state !== 'done')) {
      await it.doc.update({ TableName: BESIDE, Key: { PK, SK }, UpdateExpression: 'SET since = :s', ExpressionAttributeValues: { ':s': since - 61_000 } });
    }
  };
  const isWrite = (content) => ({ operation, body }) => operation === 'TransactWriteItems' && body.includes(content) && body.includes(`"${TABLE}"`);

  gate.keep = isWrite('written'); // done, and not answered
  const lost = post(first, 'k1', 'written').catch(() => undefined);
  await until('the write to be done', () => gate.kept === 1);
  await first.kill();
  assert.equal(await lost, undefined);
  gate.release();
  let id;
  for (let i = 0; i < 2; i += 1) {
    const again = await post(second, 'k1', 'written');
    assert.equal(again.status, 201, JSON.stringify(again.body));
    assert.equal(again.headers.get('idempotency-replayed'), 'true');
    assert.equal(again.body.content, 'written');
    id ??= again.body.post_id;
    assert.equal(again.body.post_id, id);
  }
  assert.equal(await count(), 1);

  first = await it.serve(gate.endpoint);
  gate.hold = isWrite('unwritten');
  const never = post(first, 'k2', 'unwritten').catch(() => undefined);
  await until('the write to be on its way', () => gate.held === 1);
  await first.kill();
  await never;
  assert.equal((await post(second, 'k2', 'unwritten', { busy: true })).status, 409); // which is not to be repeated here
  await age();
  const done = await post(second, 'k2', 'unwritten');
  assert.equal(done.status, 201, JSON.stringify(done.body));
  assert.equal((await post(second, 'k2', 'unwritten')).body.post_id, done.body.post_id);
  assert.equal(await count(), 2);
  gate.release(); // and only now the write of the dead one arrives
  await pause(300);
  assert.equal(await count(), 2);

  // It hung, and finds when it wakes that another has done it.
  first = await it.serve(gate.endpoint);
  gate.hold = isWrite('slowly');
  const slow = post(first, 'k3', 'slowly', { busy: true });
  await until('the write to be on its way', () => gate.held === 2);
  await age();
  assert.equal((await post(second, 'k3', 'slowly')).status, 201);
  gate.release();
  assert.equal((await slow).status, 409);
  assert.equal(await count(), 3);
  assert.equal((await post(second, 'k3', 'slowly')).status, 201, 'what it says at last does not replace the answer');

  // A deletion that was done is no 404: the second server does not judge it by what the first has left.
  const { body: { post_id } } = await (await it.user(second, 'ann')).post('/posts', { content: 'to be deleted' });
  const unpost = async (server) => (await it.user(server, 'ann')).request('DELETE', `/posts/${post_id}`, { headers: { 'idempotency-key': 'k4' } });
  gate.keep = isWrite(post_id);
  const deletion = unpost(first).catch(() => undefined);
  await until('the deletion to be done', () => gate.kept === 2);
  await first.kill();
  await deletion;
  gate.release();
  const told = await unpost(second);
  assert.equal(told.status, 204, JSON.stringify(told.body));
  assert.equal(told.headers.get('idempotency-replayed'), 'true');

  // A write of a dead server that arrives after its request was answered, and without a write, changes nothing any more.
  first = await it.serve(gate.endpoint);
  await operator.post('/users', { user_id: 'bob', username: 'bob', email: 'bob@example.com' });
  const { body: { post_id: liked } } = await (await it.user(second, 'ann')).post('/posts', { content: 'to be liked' });
  const like = async (server, method, key) => (await it.user(server, 'bob')).request(method, `/posts/${liked}/likes/bob`,
    { ...(method === 'PUT' && { body: {} }), headers: { 'idempotency-key': key } });
  gate.hold = isWrite('LIKE#bob');
  const late = like(first, 'PUT', 'k5').catch(() => undefined);
  await until('the write to be on its way', () => gate.held === 3);
  await first.kill();
  await late;
  assert.equal((await like(second, 'PUT', 'k6')).status, 201);
  await age();
  const again = await like(second, 'PUT', 'k5');
  assert.equal(again.body.type, 'urn:thorpe:already-exists', 'what it says of the like that is there');
  assert.equal((await like(second, 'DELETE', 'k7')).status, 204);
  gate.release();
  await pause(500);
  assert.equal((await like(second, 'GET', 'k8')).status, 404);
  assert.equal((await (await it.user(second, 'ann')).get(`/posts/${liked}`)).body.likes_count, 0);
  await it.isRight(second);
  await it.end();
});

test('wrong passwords count on when the server that heard them dies', async () => {
  const it = await place();
  const servers = [await it.serve(), await it.serve()];
  await (await it.operator(servers[0])).post('/users', { user_id: 'ann', username: 'ann', email: 'ann@example.com', password: 'a long enough password' });
  const guess = (server) => new Caller(`${server.endpoint}/api/social`).request('POST', '/login', { body: { name: 'ann', password: 'a wrong password' } });
  const began = Date.now();
  let looked = 0;
  await until('the first server to refuse', async () => {
    const { status } = await guess(servers[0]);
    looked += status === 401;
    return status === 429;
  });
  await servers[0].kill();
  await until('the other one to refuse', async () => {
    const { status } = await guess(servers[1]);
    looked += status === 401;
    return status === 429;
  });
  const most = 5 + Math.ceil((Date.now() - began) / 1000); // and then one for each second
  assert.ok(looked <= most, `${looked} were looked at, ${most} at most`);
  await it.end();
});

test('credentials that last for seconds are renewed under load, and no request is signed with old ones', async () => {
  const it = await place();
  const gate = await openGate(it.database.endpoint);
  const dir = freshDirectory();
  // The name of a key says when it ends.
  writeFileSync(join(dir, 'credentials.sh'), `#!/bin/sh
end=$(($(date +%s) + 4))
printf '{"Version":1,"AccessKeyId":"key%s","SecretAccessKey":"secret","SessionToken":"t","Expiration":"%s"}' $end "$(date -u -d @$end +%Y-%m-%dT%H:%M:%SZ)"
`);
  chmodSync(join(dir, 'credentials.sh'), 0o755);
  writeFileSync(join(dir, 'config'), `[default]\nregion = us-east-1\ncredential_process = ${join(dir, 'credentials.sh')}\n`);
  const keys = new Set();
  let old = 0;
  gate.refuse = ({ key }) => {
    keys.add(key);
    if (Number(key?.slice(3)) * 1000 > Date.now()) return undefined;
    old += 1;
    return { type: 'ExpiredTokenException', message: 'The security token included in the request is expired' };
  };
  const env = { AWS_CONFIG_FILE: join(dir, 'config'), AWS_SHARED_CREDENTIALS_FILE: join(dir, 'none'), AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '', AWS_SESSION_TOKEN: '', AWS_PROFILE: 'default' };
  const server = await it.serve(gate.endpoint, env);
  const fans = await it.followed(server, 'ann', 4);
  const ann = await it.user(server, 'ann');
  const posts = [];
  const began = Date.now();
  while (Date.now() - began < 12_000) {
    posts.push((await ann.post('/posts', { content: `post ${posts.length}` })).body.post_id);
    await pause(20);
  }
  await it.delivered(fans, posts);
  assert.ok(keys.size >= 3, `${keys.size} keys were used`);
  assert.ok(old <= 2 * keys.size, `${old} requests with ended credentials, of ${keys.size}`);
  await it.isRight(server);
  await it.end();
});
