// Instructions for a request, counted by callgrind: the same on a busy machine as on an idle one.
//
//   node bench/instructions.mjs             counts, and prints them beside those of bench/instructions.json
//   node bench/instructions.mjs --write     and keeps them there
//   node bench/instructions.mjs --check     and fails where one is more than TOLERANCE above what is kept
//   node bench/instructions.mjs like follow only these
//
// Each figure is what N requests took after as many before them, divided by N. Reads count on the event loop, from the bytes read to the bytes
// written; DynamoDB's writes over all threads of the process, which a busy machine adds some per cent to; writes of a design from app_handle() to
// its end, with the commit, for with one client the worker has the writer's turn itself. The kernel does not count. BENCH_BUILD: the build to count.
// SPDX-License-Identifier: Apache-2.0
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { ROOT, SCRATCH, THORPE, complete, pause, say, tool, until } from './lib/run.mjs';
import { fillServer, startThorpe } from './lib/servers.mjs';
import { OPERATIONS, fill, headersOf } from './lib/templates.mjs';
import { fillDesign, number, restOf, tokens } from './parts/rest.mjs';

const KEPT = join(ROOT, 'bench', 'instructions.json');
const TOLERANCE = 0.02;
const N = 100;
const USERS = 10;
const SIZE = { authors: 4, readers: 2, others: 2 * N + 20 };

const flags = process.argv.slice(2).filter((arg) => arg.startsWith('--'));
const chosen = process.argv.slice(2).filter((arg) => !arg.startsWith('--'));
const fail = (text) => { console.error(`bench: ${text}`); process.exit(1); };
if (!existsSync(THORPE)) fail(`${THORPE} has not been built`);
if (!tool('valgrind')) fail('valgrind is not installed');

// ---------------------------------------------------------------- requests

const agent = new Agent({ keepAlive: true, maxSockets: 1 });

const ask = (port, { method = 'POST', path = '/', headers = {}, body = '' }) => new Promise((done, failed) => {
  const sent = request({ host: '127.0.0.1', port, method, path, agent, headers: { ...headers, 'Content-Length': Buffer.byteLength(body) } }, (reply) => {
    let text = '';
    reply.on('data', (data) => { text += data; });
    reply.on('end', () => (reply.statusCode < 300 ? done(text) : failed(new Error(`${method} ${path}: ${reply.statusCode} ${text.slice(0, 200)}`))));
  });
  sent.on('error', failed);
  sent.end(body);
});

const api = (name) => (i) => {
  const { operation, bodies } = OPERATIONS[name];
  return { headers: headersOf(operation), body: fill(JSON.stringify(bodies[i % bodies.length]), { a: i % USERS }, i) };
};

// ---------------------------------------------------------------- counting

async function startCounting(name, collect, args = []) {
  const out = join(SCRATCH, `callgrind-${name}`);
  const server = await startThorpe({ args: ['--threads', '1', ...args],
    within: ['valgrind', '--tool=callgrind', `--callgrind-out-file=${out}`, ...(collect ? [`--toggle-collect=${collect}`] : [])] });
  const control = (what) => complete('callgrind_control', [what, String(server.run.child.pid)], 120);
  const dumps = () => readdirSync(SCRATCH).filter((file) => file.startsWith(`callgrind-${name}.`)).length;
  const count = async (make, from) => {
    for (let i = 0; i < N; i += 1) await ask(server.port, make(from + i));
    await control('--zero');
    for (let i = N; i < 2 * N; i += 1) await ask(server.port, make(from + i));
    const before = dumps();
    await control('--dump');
    await until('the dump', () => dumps() > before, { seconds: 60, every: 50 });
    await pause(100);
    const total = /^(?:summary|totals): (\d+)/m.exec(readFileSync(`${out}.${before + 1}`, 'utf8'));
    return Number(total[1]) / N;
  };
  return { server, count };
}

const results = {};
const wants = (names) => names.filter((name) => !chosen.length || chosen.includes(name));

async function countApi(kind, collect, all) {
  const names = wants(all);
  if (!names.length) return;
  const { server, count } = await startCounting(kind, collect);
  await fillServer(server, USERS);
  for (const name of names) {
    results[name] = await count(api(name), 0);
    say(`${name}: ${Math.round(results[name])}`);
  }
  await server.kill();
}

async function countDesign(kind, collect, makers) {
  const names = wants(Object.keys(makers));
  if (!names.length) return;
  const { server, count } = await startCounting(kind, collect, ['--design', join(ROOT, 'designs', 'social.yaml')]);
  const token = tokens(server.dir);
  await fillDesign(server, restOf(server, token), SIZE);
  for (const name of names) {
    results[name] = await count(makers[name](token), 0);
    say(`${name}: ${Math.round(results[name])}`);
  }
  await server.kill();
}

const get = (path) => () => () => ({ method: 'GET', path: `/api/social${path}` });
const put = (path) => (token) => {
  const reader = `u${number(SIZE.authors)}`;
  const headers = { Authorization: `Bearer ${token({ sub: reader, roles: ['user'] })}`, 'Content-Type': 'application/json' };
  return (i) => ({ method: 'PUT', path: `/api/social${path(reader, i)}`, headers, body: '{}' });
};

await countApi('api-reads', 'on_read', ['GetItem', 'Query']);
await countApi('api-writes', undefined, ['PutItem', 'UpdateItem']);
await countDesign('reads', 'on_read', { item: get(`/posts/p${number(7)}`), list: get(`/users/u${number(1)}/posts`) });
await countDesign('writes', 'app_handle', {
  // One post, many readers; one reader, many others.
  like: (token) => (i) => {
    const liker = `u${number(SIZE.authors + SIZE.readers + i)}`;
    return { method: 'PUT', path: `/api/social/posts/p${number(7)}/likes/${liker}`, body: '{}',
      headers: { Authorization: `Bearer ${token({ sub: liker, roles: ['user'] })}`, 'Content-Type': 'application/json' } };
  },
  follow: put((reader, i) => `/users/${reader}/following/u${number(SIZE.authors + SIZE.readers + i)}`),
});

// ---------------------------------------------------------------- the table

const kept = existsSync(KEPT) ? JSON.parse(readFileSync(KEPT, 'utf8')) : {};
const worse = [];
console.log(`${'instructions per request'.padEnd(28)}${'now'.padStart(10)}${'kept'.padStart(10)}`);
for (const [name, n] of Object.entries(results)) {
  const change = kept[name] ? n / kept[name] - 1 : 0;
  if (change > TOLERANCE) worse.push(name);
  console.log(`${name.padEnd(28)}${String(Math.round(n)).padStart(10)}${String(kept[name] ?? '–').padStart(10)}${kept[name] ? `  ${(100 * change).toFixed(1)} %` : ''}`);
}
if (flags.includes('--write')) writeFileSync(KEPT, `${JSON.stringify({ ...kept, ...Object.fromEntries(Object.entries(results).map(([name, n]) => [name, Math.round(n)])) }, null, 2)}\n`);
if (flags.includes('--check') && worse.length) fail(`more than ${100 * TOLERANCE} % above what is kept: ${worse.join(', ')}`);
process.exit(0);
