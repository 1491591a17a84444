// Instructions for a request, counted by callgrind: the same on a busy machine as on an idle one.
//
//   node bench/instructions.mjs             counts, and prints them beside those of bench/instructions.json
//   node bench/instructions.mjs --write     and keeps them there
//   node bench/instructions.mjs --check     and fails where one is more than TOLERANCE above what is kept (make test)
//   node bench/instructions.mjs like follow only these
//
// Each figure is what N requests took after as many before them, divided by N. Reads count on the event loop, from the
// bytes read to the bytes written. Writes of a design count from app_handle() to its end without the writer's turn: who has
// that turn, the worker or the writer's thread, depends on how busy the machine is. "…, the writer's turn" is that of
// DynamoDB's writes; PutItem and UpdateItem are all that the threads of the process do, the least of ROUNDS counts, because
// whatever else happens meanwhile only adds. The kernel does not count. "follow, functions" is how many functions a PUT of a
// follow calls, those of libraries included, without the writer's turn; what is called in it and elsewhere is shared out by how often
// each of its callers calls it. RocksDB's are a third, and vary with the shape of its memtables. With the turn: when it is the worker's.
//
// What RocksDB does varies by some per cent, since chance decides how its memtables are linked. So the second column is
// compared: without what RocksDB does, which is the same in every run but for two thousandths. Only figures of the same compiler and libraries are compared. BENCH_BUILD: the build to count.
// SPDX-License-Identifier: Apache-2.0
import { existsSync, readFileSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { ROOT, SCRATCH, THORPE, complete, output, pause, say, tool, until } from './lib/run.mjs';
import { fillServer, startThorpe } from './lib/servers.mjs';
import { OPERATIONS, fill, headersOf } from './lib/templates.mjs';
import { fillDesign, number, restOf, tokens } from './parts/rest.mjs';

const KEPT = join(ROOT, 'bench', 'instructions.json');
const TOLERANCE = 0.02;
const N = 100;
const ROUNDS = 3;
const USERS = 10;
const SIZE = { authors: 4, readers: 2, others: 2 * N + 20 };

const flags = process.argv.slice(2).filter((arg) => arg.startsWith('--'));
const chosen = process.argv.slice(2).filter((arg) => !arg.startsWith('--'));
const fail = (text) => { console.error(`bench: ${text}`); process.exit(1); };
if (!existsSync(THORPE)) fail(`${THORPE} has not been built`);
if (!tool('valgrind')) fail('valgrind is not installed');
const skip = (text) => { console.log(`instructions: not compared: ${text}`); process.exit(0); };
try {
  await complete('valgrind', ['--tool=none', '-q', THORPE, '--version'], 120);
} catch (error) {
  if (flags.includes('--check')) skip(`valgrind cannot run this machine's instructions (${error.message.split('\n')[0]})`);
  fail(error.message);
}

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

/** The calls of a dump: { caller, callee, calls, cost }, cost with all that they led to. */
function callsOf(text) {
  const calls = [];
  let caller, callee, next;
  for (const line of text.split('\n')) {
    if (next) {
      next.cost = Number(line.split(' ')[1]);
      calls.push(next);
      next = undefined;
    } else if (line.startsWith('fn=')) caller = line.slice(3);
    else if (line.startsWith('cfn=')) callee = line.slice(4);
    else if (line.startsWith('calls=')) next = { caller, callee, calls: Number(line.slice(6).split(' ')[0]) };
  }
  return calls;
}

/** Function → the share of its calls that come from `root`, by what calls it. */
function sharesOf(calls, root) {
  const shares = new Map([[root, 1]]);
  const callers = Map.groupBy ? Map.groupBy(calls, (one) => one.callee) : calls.reduce((map, one) => map.set(one.callee, [...(map.get(one.callee) ?? []), one]), new Map());
  for (let i = 0; i < 200; i += 1) { // functions call one another in circles
    for (const [callee, from] of callers) {
      if (callee === root) continue;
      const all = from.reduce((n, one) => n + one.calls, 0);
      shares.set(callee, from.reduce((n, one) => n + one.calls * (shares.get(one.caller) ?? 0), 0) / all);
    }
  }
  return (name) => shares.get(name) ?? 0;
}

/** Of a dump: instructions, those without RocksDB's, functions called; all without what `but` leads to, and functions with it. */
function tally(text, but) {
  const calls = callsOf(text);
  const share = but ? sharesOf(calls, but) : () => 0;
  const sum = (list, what) => list.reduce((n, one) => n + what(one), 0);
  const all = Number(/^totals: (\d+)/m.exec(text)?.[1] ?? 0) - sum(calls.filter((one) => one.callee === but), (one) => one.cost);
  const rocksdb = calls.filter((one) => one.callee.startsWith('rocksdb_') && !one.caller.startsWith('rocksdb_'));
  return [all, all - sum(rocksdb, (one) => one.cost * (1 - share(one.caller))), sum(calls, (one) => one.calls * (1 - share(one.caller))), sum(calls, (one) => one.calls)];
}

// `collect`: functions at whose beginning and end counting goes on or off; of the threads that run the first of them. None:
// all that every thread does. Nothing is counted before the first request, which makes filling the server ten times as fast.
// `but`: a function that is left out with all it leads to. Not by turning counting off in it: what is called there, and elsewhere too,
// would count all the same.
async function startCounting(name, collect, { args = [], but } = {}) {
  const out = join(SCRATCH, `callgrind-${name}`);
  const server = await startThorpe({ args: ['--threads', '1', ...args],
    within: ['valgrind', '--tool=callgrind', '--instr-atstart=no', '--compress-strings=no', `--callgrind-out-file=${out}`,
      ...(collect.length ? ['--separate-threads=yes'] : []), ...collect.map((one) => `--toggle-collect=${one}*`)] });
  const control = (what) => complete('callgrind_control', [what, String(server.run.child.pid)], 300);
  const dumps = () => readdirSync(SCRATCH).filter((file) => file.startsWith(`callgrind-${name}.`));
  const ran = (text) => !collect.length || new RegExp(`^fn=${collect[0]}$`, 'm').test(text);
  let instrumented = false;

  const round = async (make, from) => {
    const before = new Set(dumps());
    await control('--zero');
    for (let i = from; i < from + N; i += 1) await ask(server.port, make(i));
    await control('--dump');
    await until('the dump', () => dumps().length > before.size, { seconds: 120, every: 50 });
    await pause(200);
    const texts = dumps().filter((file) => !before.has(file)).map((file) => readFileSync(join(SCRATCH, file), 'utf8')).filter(ran);
    dumps().forEach((file) => rmSync(join(SCRATCH, file)));
    return texts.map((text) => tally(text, but)).reduce((x, y) => x.map((n, i) => n + y[i]), [0, 0, 0, 0]).map((n) => n / N);
  };
  const count = async (make) => {
    if (!instrumented) await control('--instr=on');
    instrumented = true;
    for (let i = 0; i < N; i += 1) await ask(server.port, make(i));
    const rounds = [];
    for (let i = 1; i <= (collect.length ? 1 : ROUNDS); i += 1) rounds.push(await round(make, i * N));
    return rounds.reduce((x, y) => (y[0] < x[0] ? y : x));
  };
  return { server, count };
}

const results = {};
const wants = (names) => names.filter((name) => !chosen.length || chosen.includes(name));

async function countEach(names, { server, count }, make, { suffix, whole } = {}) {
  for (const name of names) {
    const [all, own, calls, allCalls] = await count(make(name));
    const as = name + (suffix ?? '');
    results[as] = { all, own: whole ? undefined : own };
    if (name === 'follow') results['follow, functions'] = { all: calls };
    if (name === 'follow') results['follow, functions with the turn'] = { all: allCalls };
    say(`${as}: ${Math.round(all)}`);
  }
  await server.kill();
}

async function countApi(kind, collect, all, options) {
  const names = wants(all);
  if (!names.length) return;
  const counting = await startCounting(kind, collect);
  await fillServer(counting.server, USERS);
  await countEach(names, counting, api, options);
}

async function countDesign(kind, collect, makers, but) {
  const names = wants(Object.keys(makers));
  if (!names.length) return;
  const counting = await startCounting(kind, collect, { args: ['--design', join(ROOT, 'designs', 'social.yaml')], but });
  const token = tokens(counting.server.dir);
  await fillDesign(counting.server, restOf(counting.server, token), SIZE);
  await countEach(names, counting, (name) => makers[name](token));
}

const get = (path) => () => () => ({ method: 'GET', path: `/api/social${path}` });
const put = (path) => (token) => {
  const reader = `u${number(SIZE.authors)}`;
  const headers = { Authorization: `Bearer ${token({ sub: reader, roles: ['user'] })}`, 'Content-Type': 'application/json' };
  return (i) => ({ method: 'PUT', path: `/api/social${path(reader, i)}`, headers, body: '{}' });
};

await countApi('api-reads', ['on_read'], ['GetItem', 'Query']);
await countApi('api-writes', [], ['PutItem', 'UpdateItem'], { whole: true });
await countApi('api-turns', ['run_batch'], ['PutItem', 'UpdateItem'], { suffix: ', the writer\'s turn' });
await countDesign('reads', ['on_read'], { item: get(`/posts/p${number(7)}`), list: get(`/users/u${number(1)}/posts`) });
await countDesign('writes', ['app_handle'], {
  // One post, many readers; one reader, many others.
  like: (token) => (i) => {
    const liker = `u${number(SIZE.authors + SIZE.readers + i)}`;
    return { method: 'PUT', path: `/api/social/posts/p${number(7)}/likes/${liker}`, body: '{}',
      headers: { Authorization: `Bearer ${token({ sub: liker, roles: ['user'] })}`, 'Content-Type': 'application/json' } };
  },
  follow: put((reader, i) => `/users/${reader}/following/u${number(SIZE.authors + SIZE.readers + i)}`),
}, 'run_batch');

// ---------------------------------------------------------------- the table

/** What the figures depend on beside our code. */
function madeWith() {
  const linked = output('ldd', THORPE) ?? '';
  const libraries = ['rocksdb', 'stdc++', 'crypto', 'uv', 'c'].map((name) => linked.split('\n').map((line) => line.trim().split(' => ')[1]?.split(' ')[0])
    .find((path) => path?.includes(`/lib${name}.so`))).filter(Boolean).map((path) => realpathSync(path).split('/').at(-1));
  const comment = /GCC: \([^)]*\) [\d.]+|clang version [\d.]+/.exec(output('readelf', '-p', '.comment', THORPE) ?? '')?.[0] ?? 'an unknown compiler';
  return [process.arch, comment, (output('ldd', '--version') ?? '').split('\n')[0].split(' ').at(-1), ...libraries].join(', ');
}

const file = existsSync(KEPT) ? JSON.parse(readFileSync(KEPT, 'utf8')) : {};
const kept = file.counts ?? {};
const worse = [];
const shown = (n) => String(n === undefined ? '–' : Math.round(n)).padStart(12);
console.log(`${'instructions per request'.padEnd(32)}${'all'.padStart(12)}${'compared'.padStart(12)}${'kept'.padStart(12)}`);
for (const [name, { all, own }] of Object.entries(results)) {
  const change = own && kept[name]?.own ? own / kept[name].own - 1 : undefined;
  if (change > TOLERANCE) worse.push(name);
  console.log(`${name.padEnd(32)}${shown(all)}${shown(own)}${shown(kept[name]?.own)}${change === undefined ? '' : `  ${(100 * change).toFixed(1)} %`}`);
}
if (flags.includes('--write')) {
  const rounded = Object.entries(results).map(([name, { all, own }]) => [name, { all: Math.round(all), own: own && Math.round(own) }]);
  writeFileSync(KEPT, `${JSON.stringify({ with: madeWith(), counts: { ...kept, ...Object.fromEntries(rounded) } }, null, 2)}\n`);
}
if (flags.includes('--check')) {
  if (file.with !== madeWith()) skip(`they were kept with ${file.with}, and this is ${madeWith()}`);
  if (worse.length) fail(`more than ${100 * TOLERANCE} % above what is kept: ${worse.join(', ')}`);
  console.log(`instructions: ${Object.keys(results).length} figures, none more than ${100 * TOLERANCE} % above what is kept`);
}
process.exit(0);
