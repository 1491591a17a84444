// How long requests take whose table is 5 ms away: a follow, a like, a page of the feed, one client; at a server that has seen the items,
// and at one that has just begun.
//
//   node bench/far.mjs [how many of each, 40] [how far away, 5ms]
//
// The database is another Thorpe with `--fault latency=…`. The least, the median and the slowest tenth, in milliseconds.
// SPDX-License-Identifier: Apache-2.0
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const BIN = process.env.THORPE_BIN ?? join(ROOT, 'build', 'thorpe');
const TIMES = Number(process.argv[2] ?? 40);
const AWAY = process.argv[3] ?? '5ms';
const directory = mkdtempSync(join(tmpdir(), 'thorpe-far-'));
const design = join(ROOT, 'designs', 'social.yaml');
const children = new Set();

async function serve(...args) {
  const ready = join(directory, `ready-${children.size}-${Date.now()}`);
  const child = spawn(BIN, ['serve', '--in-memory', '--listen', '127.0.0.1:0', '--ready-file', ready, ...args], { stdio: 'ignore' });
  children.add(child);
  for (let i = 0; i < 1000; i++) {
    try {
      const text = readFileSync(ready, 'utf8');
      const url = /https?:\/\/[\d.]+:\d+/.exec(text);
      if (url) return { url: url[0], end: () => { child.kill('SIGKILL'); children.delete(child); } };
    } catch { /* not yet */ }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error('the server does not start');
}

const token = (tables, ...who) => new Promise((resolve, reject) => {
  const child = spawn(BIN, ['token', design, '--backend', tables, ...who], { stdio: ['ignore', 'pipe', 'inherit'] });
  let text = '';
  child.stdout.on('data', (data) => { text += data; });
  child.on('close', (code) => (code ? reject(new Error('no token')) : resolve(text.trim())));
});

async function timed(url, bearer, method, path, body) {
  const start = performance.now();
  const reply = await fetch(`${url}/api/social${path}`, {
    method, headers: { authorization: `Bearer ${bearer}`, ...(body ? { 'content-type': 'application/json' } : {}) }, body: body && JSON.stringify(body),
  });
  const text = await reply.text();
  const ms = performance.now() - start;
  if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${text}`);
  return { ms, body: text ? JSON.parse(text) : undefined };
}

const quantile = (list, q) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * q))].toFixed(1);
const tell = (what, list) => console.log(`${what.padEnd(40)} ${[0, 0.5, 0.9].map((q) => quantile(list, q).padStart(6)).join(' ')}`);

try {
  const far = await serve('--fault', `latency=${AWAY}`);
  let near = await serve('--design', design, '--backend', far.url);
  const operator = await token(far.url, '--operator');
  const users = Array.from({ length: TIMES + 2 }, (_, i) => `user${i}`);
  for (const user of users) await timed(near.url, operator, 'POST', '/users', { user_id: user, username: user, email: `${user}@example.com`, password: 'a long password' });
  const ann = await token(far.url, '--subject', users[0], '--role', 'user');
  const author = await token(far.url, '--subject', users[1], '--role', 'user');
  await timed(near.url, ann, 'PUT', `/users/${users[0]}/following/${users[1]}`, {});
  const posts = [];
  for (let i = 0; i < TIMES; i++) posts.push((await timed(near.url, author, 'POST', '/posts', { content: `post ${i}` })).body.post_id);
  for (let n = 0; n < Math.min(20, TIMES); ) n = (await timed(near.url, ann, 'GET', `/users/${users[0]}/home`)).body.items.length; // by the stream
  const follows = [], likes = [], pages = [], cold = { follow: [], like: [], feed: [] };
  for (const user of users.slice(2)) follows.push((await timed(near.url, ann, 'PUT', `/users/${users[0]}/following/${user}`, {})).ms);
  for (const post of posts) likes.push((await timed(near.url, ann, 'PUT', `/posts/${post}/likes/${users[0]}`, {})).ms);
  for (let i = 0; i < TIMES; i++) pages.push((await timed(near.url, ann, 'GET', `/users/${users[0]}/home`)).ms);
  console.log(`${''.padEnd(40)}  least    p50    p90`);
  tell('follow', follows);
  tell('like', likes);
  tell('a page of the feed', pages);
  for (let i = 0; i < 5; i++) {
    for (const [what, list, method, path] of [
      ['follow', cold.follow, 'PUT', `/users/${users[0]}/following/${users[2 + i]}`],
      ['like', cold.like, 'PUT', `/posts/${posts[i]}/likes/${users[0]}`],
      ['feed', cold.feed, 'GET', `/users/${users[0]}/home`],
    ]) {
      if (method === 'PUT') await timed(near.url, ann, 'DELETE', path);
      near.end();
      near = await serve('--design', design, '--backend', far.url);
      await timed(near.url, ann, 'GET', '/users/nobody/following').catch(() => {}); // a connection
      list.push((await timed(near.url, ann, method, path, method === 'PUT' ? {} : undefined)).ms);
    }
  }
  tell('follow, first after a start', cold.follow);
  tell('like, first after a start', cold.like);
  tell('a page of the feed, first after a start', cold.feed);
} finally {
  for (const child of children) child.kill('SIGKILL');
  rmSync(directory, { recursive: true, force: true });
}
