// One post to a hundred thousand followers: how long until it is in every feed, and how fast single items are read meanwhile.
//
//   node bench/fanout.mjs [--followers 100000] [--reads 500] [--rounds 3] [--durability synced|relaxed]
//
// The design is designs/social.yaml with a higher limit for what is delivered; reads are GetItem, so many a second, on four connections.
// THORPE_BIN: the program (default: build/thorpe).
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { cpus } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { clientsFor, freshDirectory, runToEnd, startServer } from '../tests/wire/process.mjs';

const option = (name, otherwise) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : process.argv[at + 1];
};
const FOLLOWERS = Number(option('followers', 100_000));
const READS = Number(option('reads', 500));
const ROUNDS = Number(option('rounds', 3));
const DURABILITY = option('durability', 'synced');
const AT_ONCE = 8;

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const data = freshDirectory();
const design = join(freshDirectory(), 'social.yaml');
writeFileSync(design, readFileSync(join(root, 'designs', 'social.yaml'), 'utf8').replace('followers_count > 10000', 'followers_count > 100000000'));
const server = await startServer({ data, args: ['--design', design, '--durability', DURABILITY] });
const { doc, ddb, streams } = clientsFor(server.endpoint);
const base = `${server.endpoint}/api/social`;
const { stdout: token } = await runToEnd(['token', 'social', '--data', data, '--operator']);

const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });
const since = (start) => Number(process.hrtime.bigint() - start) / 1e6;

async function call(method, path, body) {
  const reply = await fetch(base + path, { method, headers: { authorization: `Bearer ${token.trim()}`, 'content-type': 'application/json' }, body: body && JSON.stringify(body) });
  assert.ok(reply.ok, `${method} ${path}: ${reply.status} ${await reply.clone().text()}`);
  return reply.json();
}

/** Seconds of processor time that the server has taken so far (Linux). */
const busy = () => {
  const [utime, stime] = readFileSync(`/proc/${server.child.pid}/stat`, 'utf8').split(') ')[1].split(' ').slice(11, 13);
  return (Number(utime) + Number(stime)) / 100;
};

const idle = async () => { while (!(await call('GET', '/processors')).idle) await pause(20); };

// ---------------------------------------------------------------- reading

const agent = new Agent({ keepAlive: true, maxSockets: 4 });
const signed = `AWS4-HMAC-SHA256 Credential=fakeMyKeyId/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=${'0'.repeat(64)}`;

const getItem = (i) => new Promise((resolve, reject) => {
  const body = JSON.stringify({ TableName: 'SocialMediaApp', Key: { PK: { S: `USER#f${i}` }, SK: { S: 'FOLLOWING#ann' } } });
  const start = process.hrtime.bigint();
  const sent = request(server.endpoint, {
    agent, method: 'POST', headers: { authorization: signed, 'x-amz-date': '20260101T000000Z', 'x-amz-target': 'DynamoDB_20120810.GetItem', 'content-type': 'application/x-amz-json-1.0', 'content-length': body.length },
  }, (reply) => {
    reply.resume();
    reply.on('end', () => (reply.statusCode === 200 ? resolve(since(start)) : reject(new Error(`GetItem gave ${reply.statusCode}`))));
  });
  sent.on('error', reject);
  sent.end(body);
});

/** Reads at a steady rate until told to stop; gives how long each took. */
function readOn() {
  const times = [];
  const pending = new Set();
  const start = process.hrtime.bigint();
  let sent = 0;
  const timer = setInterval(() => {
    for (const due = (since(start) * READS) / 1000; sent < due; sent += 1) {
      const one = getItem(Math.floor(Math.random() * FOLLOWERS)).then((ms) => { times.push(ms); pending.delete(one); });
      pending.add(one);
    }
  }, 2);
  return async () => {
    clearInterval(timer);
    await Promise.all(pending);
    return times.sort((a, b) => a - b);
  };
}

const figures = (times) => `${times.length} reads, median ${times[times.length >> 1].toFixed(2)} ms, p99 ${times[Math.floor(times.length * 0.99)].toFixed(2)} ms, slowest ${times.at(-1).toFixed(1)} ms`;

// ---------------------------------------------------------------- followers

await call('POST', '/users', { user_id: 'ann', username: 'ann', email: 'ann@example.com' });
const created_at = `${new Date().toISOString().slice(0, 19)}Z`;
const edge = (id) => ({
  PK: `USER#${id}`, SK: 'FOLLOWING#ann', GSI1PK: 'USER#ann', GSI1SK: `FOLLOWER#${id}`, GSI2PK: 'FOLLOW_GRAPH', GSI2SK: `${created_at}#${id}#ann`, follower_id: id,
  followed_id: 'ann', follower_username: id, followed_username: 'ann', followed_is_popular: false, created_at, status: 'active', notification_enabled: false,
});
let next = 0;
let start = process.hrtime.bigint();
await Promise.all(Array.from({ length: AT_ONCE }, async () => {
  while (next < FOLLOWERS) {
    const first = next;
    next += 25;
    const SocialMediaApp = Array.from({ length: Math.min(25, FOLLOWERS - first) }, (_, i) => ({ PutRequest: { Item: edge(`f${first + i}`) } }));
    const { UnprocessedItems } = await doc.batchWrite({ RequestItems: { SocialMediaApp } });
    assert.deepEqual(UnprocessedItems ?? {}, {});
  }
}));
await idle();
console.log(`${cpus().length} processors for the server and for whoever reads; durability ${DURABILITY}; ${FOLLOWERS.toLocaleString('en')} followers made in ${(since(start) / 1000).toFixed(1)} s`);

const quiet = readOn();
await pause(2000);
console.log(`nothing else going on: ${figures(await quiet())}`);

// ---------------------------------------------------------------- posts

const inFeed = async (i, post) => (await doc.get({ TableName: 'SocialMediaApp', Key: { PK: `FEED#f${i}`, SK: `${post.created_at}#${post.post_id}` } })).Item !== undefined;
for (let round = 0; round < ROUNDS; round += 1) {
  const stop = readOn();
  const before = busy();
  start = process.hrtime.bigint();
  const post = await call('POST', '/posts', { author_id: 'ann', content: `Post ${round}: ${'lorem ipsum '.repeat(10)}` });
  await idle();
  const took = since(start);
  const cpu = busy() - before;
  const times = await stop();
  for (let i = 0; i < FOLLOWERS; i += Math.ceil(FOLLOWERS / 500)) assert.ok(await inFeed(i, post), `it is not in the feed of f${i}`);
  assert.ok(await inFeed(FOLLOWERS - 1, post));
  console.log(`in every feed after ${(took / 1000).toFixed(2)} s (${Math.round(FOLLOWERS / (took / 1000)).toLocaleString('en')} feeds a second), ${cpu.toFixed(1)} s of processor time; meanwhile ${figures(times)}`);
}
agent.destroy();
ddb.destroy();
streams.destroy();
await server.stop();
