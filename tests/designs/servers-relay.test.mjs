// Live lists at many servers of one table: the owner of a shard reads it and hands its records to the others, who tell each change
// once and in its order, whatever becomes of the owner.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import http from 'node:http';
import { connect } from 'node:net';
import { after, test } from 'node:test';
import { Caller, ROOT, clientsFor, runToEnd, startServer, until } from './harness.mjs';
import { Watcher } from './events.mjs';
import { openGate } from './gate.mjs';

const DESIGN = `${ROOT}/designs/social.yaml`;
const BESIDE = 'SocialMediaApp.thorpe';
const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

/** A database of its own and servers in front of it, each through a gate that knows which shards it has read. */
async function place({ args = [], peers = ['--peer-listen', '127.0.0.1:0'] } = {}) {
  const database = await startServer({ data: null, args });
  const { ddb, doc, streams } = clientsFor(database.endpoint, { maxAttempts: 10 });
  const servers = [];
  let token;
  const it = {
    database, doc, servers,
    serve: async (more = peers) => {
      const gate = await openGate(database.endpoint);
      const server = await startServer({ data: null, args: ['--design', DESIGN, '--backend', gate.endpoint, ...more] });
      server.gate = gate;
      server.reads = new Map(); // shard -> GetRecords
      gate.refuse = ({ operation, body }) => {
        // Thorpe's iterators: arn|shard|era|…
        const shard = operation === 'GetRecords' && Buffer.from(JSON.parse(body).ShardIterator, 'base64').toString().split('|').slice(1, 3).join('|');
        if (shard) server.reads.set(shard, (server.reads.get(shard) ?? 0) + 1);
      };
      servers.push(server);
      return server;
    },
    at: async (server) => {
      if (!token) {
        const { code, stdout, stderr } = await runToEnd(['token', DESIGN, '--backend', database.endpoint, '--operator']);
        assert.equal(code, 0, stderr);
        token = stdout.trim();
      }
      return new Caller(`${server.endpoint}/api/social`, token);
    },
    metric: async (server, name) => Number(new RegExp(`^thorpe_relay_${name}_total\\S* (\\d+)$`, 'm').exec(await (await fetch(`${server.endpoint}/metrics`)).text())[1]),
    /** The owners of shards, as servers. */
    owners: async () => {
      const { body } = await (await it.at(servers.find(({ dead }) => !dead))).get('/processors');
      return new Map(body.shards.filter(({ closed }) => !closed).map(({ shard, owner }) => [shard, owner]));
    },
    idOf: async (server) => (await (await it.at(server)).get('/processors')).body.servers.find((each) => each.this).server,
    shared: async (n) => until('the servers to have shared the shards', async () => {
      const owners = await it.owners();
      return [...owners.values()].every(Boolean) && new Set(owners.values()).size === Math.min(n, owners.size) && owners;
    }, 30),
    beats: async () => (await doc.query({
      TableName: BESIDE, KeyConditionExpression: 'PK = :p AND begins_with(SK, :s)', ExpressionAttributeValues: { ':p': 'LEASE', ':s': 'server#' }, ConsistentRead: true,
    })).Items,
    end: () => {
      ddb.destroy();
      streams.destroy();
      for (const { child } of [...servers, database]) child.kill('SIGKILL');
    },
  };
  after(it.end);
  return it;
}

/** An author at all servers, and at each one who watches the posts. */
async function watched(it, name) {
  const first = await it.at(it.servers[0]);
  await first.post('/users', { user_id: name, username: name, email: `${name}@example.com` });
  const watchers = [];
  for (const server of it.servers) {
    const watcher = await Watcher.open(await it.at(server), `/users/${name}/posts`);
    await watcher.heard(1);
    watchers.push(watcher);
  }
  return watchers;
}

/** Writes of an author, spread over the servers: posts and changes of one of them. What each watcher is to hear of which item. */
class Author {
  told = new Map();
  count = 0;
  constructor(it, name) { Object.assign(this, { it, name }); }
  #note(id, text) { this.told.set(id, [...this.told.get(id) ?? [], text]); this.count += 1; }
  async #caller(i) {
    const alive = this.it.servers.filter(({ dead }) => !dead);
    return this.it.at(alive[i % alive.length]);
  }
  async write(n) {
    for (let i = 0; i < n; i += 1) {
      const caller = await this.#caller(i);
      if (this.first && i % 3) {
        const content = `change ${this.count}`;
        const { status, body } = await caller.patch(`/posts/${this.first}`, { content });
        assert.equal(status, 200, JSON.stringify(body));
        this.#note(this.first, `changed ${content}`);
      } else {
        const content = `post ${this.count}`;
        const { status, body } = await caller.post('/posts', { content, author_id: this.name });
        assert.equal(status, 201, JSON.stringify(body));
        this.first ??= body.post_id;
        this.#note(body.post_id, `added ${content}`);
      }
    }
  }
}

/** Each has heard everything once, each item's in its order, and nothing else. */
async function heardAll(author, watchers) {
  for (const watcher of watchers) {
    await until(`${author.count} events, of which there are ${watcher.events.length - 1}`, () => watcher.events.length - 1 >= author.count || watcher.ended, 20);
    const heard = new Map();
    for (const { event, data } of watcher.events.slice(1)) {
      assert.notEqual(event, 'reset');
      heard.set(data.post_id, [...heard.get(data.post_id) ?? [], `${event} ${data.content}`]);
    }
    assert.deepEqual(heard, author.told);
  }
}

test('five servers watch, and each shard is read by its owner alone', async () => {
  const it = await place();
  for (let i = 0; i < 5; i += 1) await it.serve();
  const owners = await it.shared(5);
  assert.equal((await it.beats()).filter(({ address }) => /^127\.0\.0\.1:\d+$/.test(address)).length, 5);
  const watchers = await watched(it, 'ann');
  const author = new Author(it, 'ann');
  await author.write(6);
  await heardAll(author, watchers);
  await pause(2000); // all know of all owners
  for (const { reads } of it.servers) reads.clear();
  const began = performance.now();
  for (let i = 0; i < 5; i += 1) {
    await author.write(6);
    await heardAll(author, watchers);
    await pause(500);
  }
  const seconds = (performance.now() - began) / 1000;
  const readers = new Map();
  let calls = 0;
  for (const server of it.servers) {
    for (const [shard, count] of server.reads) {
      readers.set(shard, [...readers.get(shard) ?? [], await it.idOf(server)]);
      calls += count;
    }
  }
  // Processors of the owner read each shard, and so the one reader is the owner.
  assert.equal(readers.size, owners.size);
  for (const [shard, ids] of readers) assert.equal(ids.length, 1, `${shard} is read by ${ids}`);
  const given = (await Promise.all(it.servers.map((server) => it.metric(server, 'pages_given')))).reduce((a, b) => a + b);
  assert.ok(given > 0);
  console.log(`# ${calls} GetRecords in ${seconds.toFixed(1)} s at ${owners.size} shards: ${(calls / seconds / owners.size).toFixed(1)} a second and shard; ${given} pages from server to server`);
  for (const watcher of watchers) watcher.close();
  it.end();
});

test('owners are killed, hang and come back: every watcher at the others goes on, in order and without a repetition', async () => {
  const it = await place();
  for (let i = 0; i < 3; i += 1) await it.serve();
  await it.shared(3);
  const watchers = await watched(it, 'bea');
  const author = new Author(it, 'bea');
  await author.write(9);
  await heardAll(author, watchers);

  // One dies. The others hear of everything well before its leases have ended.
  it.servers[2].dead = true;
  await it.servers[2].kill();
  await author.write(9);
  const died = performance.now();
  await heardAll(author, watchers.slice(0, 2));
  assert.ok(performance.now() - died < 10_000);
  await it.shared(2);
  await author.write(6);
  await heardAll(author, watchers.slice(0, 2));

  // One hangs, with its shards and its port open.
  it.servers[1].child.kill('SIGSTOP');
  it.servers[1].dead = true;
  const hung = performance.now();
  await author.write(9);
  await heardAll(author, watchers.slice(0, 1));
  assert.ok(performance.now() - hung < 10_000, `${performance.now() - hung} ms`);
  await it.shared(1);
  await author.write(6);
  await heardAll(author, watchers.slice(0, 1));

  // It wakes, believes for a moment that it owns what it had, and tells its own watchers what they have missed.
  it.servers[1].child.kill('SIGCONT');
  it.servers[1].dead = false;
  await author.write(9);
  await heardAll(author, watchers.slice(0, 2));
  await it.shared(2);
  await author.write(6);
  await heardAll(author, watchers.slice(0, 2));

  // A watcher of the dead one goes on at another, from where it was.
  const back = await Watcher.open(await it.at(it.servers[0]), '/users/bea/posts', { last: watchers[2].lastId });
  await until('it to be told what it has missed', () => back.events.some(({ event }) => event === 'ready' || event === 'reset'));
  const missed = author.count - (watchers[2].events.length - 1);
  assert.deepEqual(back.events.map(({ event }) => event).filter((event) => event === 'ready' || event === 'reset'), ['ready']);
  assert.equal(back.events.length - 1, missed);
  for (const watcher of [...watchers, back]) watcher.close();
  it.end();
});

test('shards split, pages come twice, reads are throttled and replies are lost, and each change is told once at three servers', async () => {
  const it = await place({ args: ['--fault', 'none'] });
  for (let i = 0; i < 3; i += 1) await it.serve();
  await it.shared(3);
  const watchers = await watched(it, 'cid');
  const author = new Author(it, 'cid');
  const fault = (body) => fetch(`${it.database.endpoint}/faults`, { method: 'POST', body });
  await fault('split-shards=1500ms,duplicate-records=30%,throttle=10%,drop-after=3%,seed=5');
  for (let i = 0; i < 8; i += 1) {
    await author.write(6);
    await pause(400);
  }
  await fault('split-shards=0s,none');
  await heardAll(author, watchers);
  assert.ok(await it.metric(it.servers[0], 'pages_taken') > 0);
  for (const watcher of watchers) watcher.close();
  it.end();
});

test('servers without --peer-listen read the shards that they own themselves, and take the others from who has them', async () => {
  const it = await place();
  await it.serve();
  await it.serve([]);
  await it.shared(2);
  const watchers = await watched(it, 'dot');
  const author = new Author(it, 'dot');
  for (let i = 0; i < 3; i += 1) {
    await author.write(6);
    await heardAll(author, watchers);
    await pause(800);
  }
  assert.ok(await it.metric(it.servers[1], 'pages_taken') > 0);
  assert.equal(await it.metric(it.servers[1], 'pages_given'), 0);
  assert.ok(await it.metric(it.servers[0], 'fallbacks') > 0);
  for (const watcher of watchers) watcher.close();
  it.end();
});

test('who is no server of the table learns nothing: no secret, a request said again, nonsense, a server that is none', async () => {
  const it = await place();
  const [one, two] = [await it.serve(), await it.serve()];
  await it.shared(2);
  const addresses = (await it.beats()).map(({ address }) => address);
  const post = (address, path, body) => fetch(`http://${address}${path}`, { method: 'POST', body });
  for (const address of addresses) {
    for (const body of [Buffer.alloc(0), randomBytes(20), randomBytes(200), randomBytes(4000), Buffer.from('{"shard":"x"}')]) {
      const reply = await post(address, '/relay/social', body);
      assert.equal(reply.status, 403);
      assert.equal((await reply.arrayBuffer()).byteLength, 0);
    }
    assert.equal((await post(address, '/relay/blog', randomBytes(200))).status, 403);
    assert.equal((await post(address, '/relay/social', randomBytes(100_000))).status, 413);
    for (const path of ['/', '/api', '/api/social/users', '/metrics', '/_console/', '/faults']) {
      assert.equal((await fetch(`http://${address}${path}`)).status, 404, `${path} on the address for servers`);
    }
  }
  for (const { endpoint } of it.servers) assert.equal((await post(new URL(endpoint).host, '/relay/social', randomBytes(200))).status, 404);

  // One that listens in, and says again what it heard: between the two servers, instead of the first.
  const heard = [];
  const replies = [];
  const [first] = (await it.beats()).filter(({ address }) => address === addresses[0]);
  const ear = http.createServer((request, response) => {
    const chunks = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', async () => {
      const body = Buffer.concat(chunks);
      heard.push(body);
      const reply = await post(addresses[0], request.url, body);
      const answer = Buffer.from(await reply.arrayBuffer());
      replies.push(answer);
      // From the second on: what it answered the first time.
      response.writeHead(reply.status);
      response.end(replies.length > 2 ? replies[0] : answer);
    });
  });
  await new Promise((resolve) => { ear.listen(0, '127.0.0.1', resolve); });
  after(() => { ear.close(); ear.closeAllConnections(); });
  const moved = `127.0.0.1:${ear.address().port}`;
  const id = first.SK.slice('server#'.length);
  const other = await it.idOf(one) === id ? two : one;
  // The beat of the first says where it is: it is written again every 1.5 s, and so is this.
  const writing = setInterval(() => {
    it.doc.update({ TableName: BESIDE, Key: { PK: 'LEASE', SK: first.SK }, UpdateExpression: 'SET address = :a', ConditionExpression: 'attribute_exists(beat)', ExpressionAttributeValues: { ':a': moved } }).catch(() => {});
  }, 50);
  const watchers = await watched(it, 'eve');
  const author = new Author(it, 'eve');
  await until('the false server to be asked', async () => { await author.write(3); return replies.length > 3; }, 30);
  clearInterval(writing);
  await heardAll(author, watchers); // an answer to another question is none: the stream is read
  assert.ok(await it.metric(other, 'fallbacks') > 0);
  const refused = await it.metric(other === one ? two : one, 'refused');
  for (const body of heard) assert.equal((await post(addresses[0], '/relay/social', body)).status, 403, 'a request is answered once');
  assert.equal(await it.metric(other === one ? two : one, 'refused'), refused + heard.length);
  for (const bytes of [...heard, ...replies]) assert.equal(bytes.includes('post'), false, 'what goes from server to server cannot be read');

  // Connections that send nothing, or slowly, hold up nobody.
  const [host, port] = addresses[1].split(':');
  const slow = Array.from({ length: 100 }, () => {
    const socket = connect(Number(port), host);
    socket.on('error', () => {});
    socket.write('POST /relay/social HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n');
    return socket;
  });
  await author.write(6);
  await heardAll(author, watchers);
  for (const socket of slow) socket.destroy();
  for (const watcher of watchers) watcher.close();
  it.end();
});

test('addresses that others could reach are refused, and so is one that says nothing', async () => {
  const serve = (...args) => runToEnd(['serve', '--in-memory', '--listen', '127.0.0.1:0', '--design', DESIGN, ...args]);
  const refused = async (code, words, ...args) => {
    const reply = await serve(...args);
    assert.equal(reply.code, code, reply.stderr);
    assert.match(reply.stderr, words);
  };
  const backend = ['--backend', 'http://127.0.0.1:1'];
  await refused(2, /it needs --backend/, '--peer-listen', '127.0.0.1:0');
  await refused(2, /say with --peer-address/, ...backend, '--peer-listen', '0.0.0.0:0');
  await refused(1, /the internet can reach 8\.8\.8\.8/, ...backend, '--peer-listen', '8.8.8.8:8100');
  await refused(2, /is not HOST:PORT/, ...backend, '--peer-listen', '0.0.0.0:0', '--peer-address', 'a/b');
  await refused(2, /which is not given/, ...backend, '--peer-address', 'a:1');
});
