// The contestants: each is started on a free port, filled with the same items, asked the same, and stopped.
// SPDX-License-Identifier: Apache-2.0
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { cpus } from 'node:os';
import { localArguments, localDirectory } from '../../tests/dynamodb-local/local.mjs';
import { ROOT, THORPE, complete, freePort, freshPath, kill, remove, start, stop, tool, until } from './run.mjs';
import { CREATE_TABLE, LOAD, OPERATIONS, TABLE, fill, headersOf } from './templates.mjs';

const MODULES = join(ROOT, 'bench', 'node_modules');

/** One DynamoDB request; returns status, headers and text. */
export async function call(port, operation, body) {
  const reply = await fetch(`http://127.0.0.1:${port}/`, {
    method: 'POST', headers: headersOf(operation), body: typeof body === 'string' ? body : JSON.stringify(body), signal: AbortSignal.timeout(60_000),
  });
  return { status: reply.status, headers: reply.headers, text: await reply.text() };
}

async function demand(port, operation, body) {
  const { status, text } = await call(port, operation, body);
  if (status !== 200) throw new Error(`${operation}: ${status} ${text.slice(0, 200)}`);
  return JSON.parse(text);
}

const answers = async (port) => {
  try {
    return (await call(port, 'ListTables', '{}')).status === 200;
  } catch {
    return false;
  }
};

async function started(name, run, port, seconds = 60) {
  const begin = performance.now();
  await until(`${name} to answer`, async () => {
    if (run.ended !== undefined) throw new Error(`${name} ended with ${run.ended}: ${run.stderr.trim().slice(-300)}`);
    return answers(port);
  }, { seconds, every: 2 });
  return performance.now() - begin;
}

const server = (name, run, port, more = {}) => ({ name, run, port, stop: () => stop(run), kill: () => kill(run), ...more });

// ---------------------------------------------------------------- Thorpe

/** startMs: from the start of the process to the line that says where it listens. `within`: a command that runs it, such as valgrind. */
export async function startThorpe({ name = 'thorpe', dir = freshPath('thorpe'), args = [], within = [] } = {}) {
  const begin = performance.now();
  const [command, ...before] = [...within, THORPE];
  const run = start(command, [...before, 'serve', '--listen', '127.0.0.1:0', '--data', dir, ...args]);
  let startMs;
  const port = await new Promise((found, failed) => {
    run.child.stderr.on('data', () => {
      const line = /https?:\/\/[\d.]+:(\d+)/.exec(run.stderr);
      if (!line) return;
      startMs ??= performance.now() - begin;
      found(Number(line[1]));
    });
    setTimeout(() => failed(new Error('thorpe did not say in five minutes where it listens')), 300_000).unref();
    run.done.then((how) => failed(new Error(`thorpe ended with ${how}: ${run.stderr.trim().slice(-300)}`)));
  });
  if (!await answers(port)) throw new Error('thorpe says that it listens and does not answer');
  return server(name, run, port, { dir, startMs });
}

// ---------------------------------------------------------------- its peers

export const hasDynalite = () => existsSync(join(MODULES, 'dynalite', 'cli.js'));

/** In memory, which is its default and its fastest: no file to write, nothing to compact. */
export async function startDynalite() {
  const port = await freePort();
  const run = start(process.execPath, [join(MODULES, 'dynalite', 'cli.js'), '--port', `${port}`, '--createTableMs', '0', '--updateTableMs', '0', '--deleteTableMs', '0']);
  return server('dynalite', run, port, { startMs: await started('dynalite', run, port) });
}

export const hasLocal = () => localDirectory() !== undefined && tool('java') !== undefined;

export async function startLocal() {
  const port = await freePort();
  const run = start(tool('java'), localArguments(port));
  const startMs = await started('DynamoDB Local', run, port, 120);
  return server('local', run, port, { startMs, version: /Version:\s*(\S+)/.exec(run.stdout)?.[1] });
}

// ---------------------------------------------------------------- nginx

export const hasNginx = () => tool('nginx') !== undefined;

// A word of nginx's configuration has at most 4096 bytes.
const WORD = 3500;
function nginxText(name, text) {
  const words = [];
  for (let at = 0; at < text.length; at += WORD) words.push(text.slice(at, at + WORD));
  return {
    maps: words.map((word, i) => `map "" $${name}${i}_ { default '${word}'; }`).join('\n'),
    value: words.map((_, i) => `$${name}${i}_`).join(''),
  };
}

/** nginx that answers with what Thorpe answered: `samples` has for each operation headers and text. Each has a port of its own. */
export async function startNginx(samples) {
  const dir = freshPath('nginx');
  mkdirSync(dir);
  const ports = {};
  const blocks = [];
  const maps = [];
  for (const [name, { headers, text }] of Object.entries(samples)) {
    ports[name] = await freePort();
    const { maps: words, value } = nginxText(name.toLowerCase(), text);
    const more = ['x-amzn-requestid', 'x-amz-crc32'].filter((header) => headers.get(header)).map((header) => `add_header ${header} '${headers.get(header)}';`);
    maps.push(words);
    blocks.push(`server { listen 127.0.0.1:${ports[name]} reuseport backlog=1024; default_type ${headers.get('content-type')}; location / { ${more.join(' ')} return 200 "${value}"; } }`);
  }
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${dir}/${kind};`).join(' ');
  writeFileSync(join(dir, 'nginx.conf'), `daemon off; worker_processes ${cpus().length}; pid ${dir}/pid; error_log stderr warn;
events { worker_connections 2048; multi_accept on; }
http { access_log off; server_tokens off; keepalive_requests 1000000000; keepalive_timeout 3600; tcp_nodelay on; client_max_body_size 0; ${temporary}
${maps.join('\n')}
${blocks.join('\n')}
}
`);
  const run = start(tool('nginx'), ['-p', dir, '-c', join(dir, 'nginx.conf'), '-e', 'stderr']);
  const first = Object.values(ports)[0];
  await until('nginx to answer', async () => {
    if (run.ended !== undefined) throw new Error(`nginx ended with ${run.ended}: ${run.stderr.trim().slice(-300)}`);
    return answers(first);
  });
  // Its workers are other processes than the one that can be frozen; they use no time while nobody asks.
  return { name: 'nginx', ports, on: (name) => ({ run, port: ports[name] }), stop: async () => { await stop(run); remove(dir); } };
}

// ---------------------------------------------------------------- data

/** Creates the table and puts everything of so many users into it. */
export async function fillServer({ port }, users) {
  await demand(port, 'CreateTable', CREATE_TABLE);
  await until('the table to be active', async () => (await demand(port, 'DescribeTable', { TableName: TABLE })).Table.TableStatus === 'ACTIVE', { every: 20 });
  const text = JSON.stringify(LOAD);
  let next = 0;
  await Promise.all(Array.from({ length: 8 }, async () => {
    while (next < users) {
      const s = next;
      next += 1;
      let request = fill(text, { s }, s);
      do {
        const { UnprocessedItems = {} } = await demand(port, 'BatchWriteItem', request);
        request = Object.keys(UnprocessedItems).length ? JSON.stringify({ RequestItems: UnprocessedItems }) : undefined;
      } while (request);
    }
  }));
}

const SAMPLE = { a: 7, b: 13, c: 25, d: 33, e: 41 }; // users 7 to 41: one of each fifth, when there are 50

const byKey = (items) => [...items].sort((x, y) => (x.PK.S < y.PK.S ? -1 : 1));
const sortedObject = (value) => (Array.isArray(value) ? value.map(sortedObject)
  : value && typeof value === 'object' ? Object.fromEntries(Object.keys(value).sort().map((key) => [key, sortedObject(value[key])])) : value);

/** What a read gives, in a form that two servers can be compared by. */
function essence(name, text) {
  const reply = JSON.parse(text);
  if (name === 'BatchGetItem') return sortedObject(byKey(reply.Responses[TABLE]));
  return sortedObject(reply.Item ?? { items: reply.Items, count: reply.Count, scanned: reply.ScannedCount, last: reply.LastEvaluatedKey !== undefined });
}

/** One answer to each read of the benchmark. */
export async function samplesOf({ port }) {
  const samples = {};
  for (const [name, { operation, reads, bodies }] of Object.entries(OPERATIONS)) {
    if (!reads) continue;
    const reply = await call(port, operation, fill(JSON.stringify(bodies.at(3) ?? bodies[0]), SAMPLE));
    if (reply.status !== 200) throw new Error(`${name}: ${reply.status} ${reply.text.slice(0, 200)}`);
    samples[name] = { ...reply, essence: JSON.stringify(essence(name, reply.text)) };
  }
  return samples;
}

/** Writes once of each kind on a user of its own, and returns what is there then. */
export async function writesOf({ port }, user, operations) {
  const numbers = { ...SAMPLE, a: user, u: 99_999_999 };
  for (const name of operations) {
    const { operation, bodies } = OPERATIONS[name];
    await demand(port, operation, fill(JSON.stringify(bodies[0]), numbers, 77));
  }
  const keys = [{ PK: `POST#${String(user).padStart(8, '0')}-00`, SK: 'METADATA' }, { PK: `USER#${String(user).padStart(8, '0')}`, SK: 'PROFILE' }];
  const found = [];
  for (const { PK, SK } of keys) found.push((await demand(port, 'GetItem', { TableName: TABLE, Key: { PK: { S: PK }, SK: { S: SK } }, ConsistentRead: true })).Item);
  return JSON.stringify(sortedObject(found));
}
