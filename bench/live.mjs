// Ten thousand watchers on one list: how much memory they take, and how long it takes until all have heard of a post.
//
//   node bench/live.mjs [--watchers 10000] [--posts 10] [--burst 200]
//
// Twice: watchers who are nobody in particular share everything; watchers who are all somebody else have the rules asked for each of them.
// THORPE_BIN: the program (default: build/thorpe). Needs as many open files as watchers, in this process and in the server's.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { cpus } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { freshDirectory, startServer, until } from '../tests/wire/process.mjs';

const option = (name, otherwise) => {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : Number(process.argv[at + 1]);
};
const WATCHERS = option('watchers', 10_000);
const POSTS = option('posts', 10);
const BURST = option('burst', 200);
const AT_ONCE = 200; // connections on their way

// ---------------------------------------------------------------- the server

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
let server, hostname, port, base, key;

/** A fresh one each time: memory that was given back would hide how much the next ones take. */
async function start() {
  const data = freshDirectory();
  server = await startServer({
    data, files: WATCHERS + 2000,
    args: ['--design', join(root, 'designs', 'social.yaml'), '--durability', 'relaxed', '--limit', `connections=${WATCHERS + 500}`, '--limit', `connections_per_address=${WATCHERS + 500}`],
  });
  ({ hostname, port } = new URL(server.endpoint));
  base = `${server.endpoint}/api/social`;
  key = createHmac('sha256', Buffer.from(readFileSync(join(data, 'token-secret'), 'utf8').trim(), 'hex')).update('thorpe token\0social').digest();
}

const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
const head = encode({ alg: 'HS256', typ: 'JWT' });
const token = (claims) => {
  const signed = `${head}.${encode({ iss: 'thorpe', aud: 'social', roles: [], minted: true, exp: Math.floor(Date.now() / 1000) + 3600, ...claims })}`;
  return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
};

async function call(method, path, body, claims) {
  const reply = await fetch(base + path, {
    method, headers: { authorization: `Bearer ${token(claims)}`, 'content-type': 'application/json' }, body: JSON.stringify(body),
  });
  assert.ok(reply.ok, `${method} ${path}: ${reply.status} ${await reply.clone().text()}`);
  return reply.json();
}

async function metrics() {
  const text = await (await fetch(`${server.endpoint}/metrics`)).text();
  return Object.fromEntries([...text.matchAll(/^(\w+) (\d+)$/gm)].map(([, name, value]) => [name, Number(value)]));
}

// ---------------------------------------------------------------- watchers

const READY = Buffer.from('event: ready\n');
const ADDED = Buffer.from('event: added\n');
const count = (text, what) => {
  let n = 0;
  for (let at = text.indexOf(what); at >= 0; at = text.indexOf(what, at + what.length)) n += 1;
  return n;
};

class Crowd {
  sockets = [];
  ready = 0;
  added = 0;
  lost = 0;

  #open(claims) {
    return new Promise((resolve, reject) => {
      const socket = connect(Number(port), hostname);
      const authorization = claims ? `Authorization: Bearer ${token(claims)}\r\n` : '';
      let rest = Buffer.alloc(0);
      socket.on('error', reject);
      socket.on('close', () => { this.lost += 1; });
      socket.on('data', (chunk) => {
        // an event's name may come in two pieces
        const text = rest.length ? Buffer.concat([rest, chunk]) : chunk;
        const whole = text.lastIndexOf('\n') + 1;
        const lines = text.subarray(0, whole);
        rest = text.subarray(whole);
        this.added += count(lines, ADDED);
        if (lines.includes(READY)) {
          this.ready += 1;
          resolve();
        }
      });
      socket.write(`GET /api/social/users/ann/posts HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n${authorization}\r\n`);
      this.sockets.push(socket);
    });
  }

  async gather(claimsOf) {
    const next = Array.from({ length: WATCHERS }, (_, i) => i);
    await Promise.all(Array.from({ length: AT_ONCE }, async () => {
      while (next.length) await this.#open(claimsOf(next.pop()));
    }));
  }

  async hear(events) {
    const all = this.added + events * WATCHERS;
    const since = process.hrtime.bigint();
    return async () => {
      while (this.added < all) {
        assert.equal(this.lost, 0, `${this.lost} watchers were cut off`);
        await new Promise((resolve) => { setImmediate(resolve); });
      }
      return Number(process.hrtime.bigint() - since) / 1e6;
    };
  }

  async leave() {
    for (const socket of this.sockets) socket.destroy();
    await until('all to have left', async () => (await metrics()).thorpe_watchers === 0, 60);
  }
}

const mb = (bytes) => `${(bytes / 2 ** 20).toFixed(1)} MB`;
const ms = (list) => {
  const sorted = [...list].sort((a, b) => a - b);
  return `${sorted[sorted.length >> 1].toFixed(0)} ms (slowest ${sorted.at(-1).toFixed(0)} ms)`;
};

async function play(title, claimsOf, burst) {
  await start();
  await call('POST', '/users', { user_id: 'ann', username: 'ann', email: 'ann@example.com' }, { sub: 'ops', operator: true });
  const crowd = new Crowd();
  const before = (await metrics()).process_resident_memory_bytes;
  const began = Date.now();
  await crowd.gather(claimsOf);
  const opened = Date.now() - began;
  const quiet = await metrics();
  assert.equal(quiet.thorpe_watchers, WATCHERS);
  const times = [];
  for (let i = 0; i < POSTS; i += 1) {
    const heard = await crowd.hear(1);
    await call('POST', '/posts', { content: `Post ${i}: ${'lorem ipsum '.repeat(20)}` }, { sub: 'ann' });
    times.push(await heard());
  }
  const heard = await crowd.hear(burst);
  let left = burst;
  await Promise.all(Array.from({ length: 8 }, async () => {
    while (left > 0) {
      left -= 1;
      await call('POST', '/posts', { content: `Burst: ${'lorem ipsum '.repeat(20)}` }, { sub: 'ann' });
    }
  }));
  const all = await heard();
  const busy = await metrics();
  await crowd.leave();
  const after = await metrics();
  console.log(`${title}
  ${WATCHERS} watchers connected in ${(opened / 1000).toFixed(1)} s
  memory of the server: before ${mb(before)}, with them ${mb(quiet.process_resident_memory_bytes)} (${((quiet.process_resident_memory_bytes - before) / WATCHERS / 1024).toFixed(1)} KB each), after ${burst} posts ${mb(busy.process_resident_memory_bytes)}, when they have gone ${mb(after.process_resident_memory_bytes)}
  one post until all have heard of it: ${ms(times)}, from the request on
  ${burst} posts at once: ${(all / 1000).toFixed(1)} s, ${Math.round((burst * WATCHERS) / (all / 1000)).toLocaleString('en')} events a second
  cut off: ${after.thorpe_watchers_cut_total}`);
  await server.stop();
}

console.log(`${cpus().length} processors for the server and for all the watchers`);
await play('Nobody in particular', () => undefined, BURST);
await play('Everybody somebody else', (i) => ({ sub: `user${i}` }), Math.ceil(BURST / 20));
