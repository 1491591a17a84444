// A design that runs, and callers of its REST API.
//
//   const app = await startDesign('social');
//   const alice = await app.as('alice');                 // a token for development: any subject, any roles
//   const { body } = await alice.post('/posts', { content: 'hello' });          // fails unless 2xx
//   await alice.post('/posts', {}, { status: 422, type: 'invalid' });           // must be that problem
//   await app.items()                                    // every item of the table, as DynamoDB has it
//
// The title of a test begins with the ids of the access patterns it shows: test('S-A02: …'), which docs/access-patterns.md is made of.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import { startLocal } from '../dynamodb-local/local.mjs';
import { clientsFor, designFile, freshDirectory, runToEnd, startServer, until, verify } from '../wire/process.mjs';

export * from '../wire/process.mjs';

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

/** Where tables are: nothing (in the server that is tested), 'thorpe' (in another one), 'dynamodb-local', or an endpoint of DynamoDB's API. */
export const BACKEND = process.env.THORPE_BACKEND;
const FAULT = process.env.THORPE_FAULT; // of that other one: docs/faults.md
const PATIENCE_MS = 30_000;
/** How long to wait for time to live, in seconds. DynamoDB Local looks at twenty items of all its tables in ten seconds, and cannot be told
 * otherwise: that is why each file of tests has one of its own. */
export const TTL_PATIENCE = BACKEND && BACKEND !== 'thorpe' ? 300 : 30;
/** Of a table with an index DynamoDB Local 3.3 never removes what has expired once an expired item is missing from that index. */
export const NO_TTL_WITH_INDEXES = BACKEND === 'dynamodb-local' ? 'DynamoDB Local removes nothing where an expired item is missing from an index' : false;

/** How late the database shows writes. Readers wait so long after the last one, and some more, as a busy machine is later than it was told
 * to be; the runtime's own reads do not. */
const LAG_MS = Math.max(0, ...[...(FAULT ?? '').matchAll(/(?:index|read)-lag=(\d+)(ms|s)/g)].map(([, n, unit]) => n * (unit === 's' ? 1000 : 1)));
let written = 0; // when the last write of this file ended
/** Something has been written by others than callers: processors, an SDK. */
export const noteWrite = () => { written = Date.now(); };
export async function eventually() {
  const wait = LAG_MS && written + LAG_MS + 250 - Date.now();
  if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
}

/** fetch for clients of another make: reads wait until the database shows what they wrote. */
export async function fetchEventually(url, init) {
  const reads = (init?.method ?? 'GET') === 'GET';
  if (reads) await eventually();
  const reply = await fetch(url, init);
  if (!reads) noteWrite();
  return reply;
}

/** What a request did to the database; the same twice in a row is a batch of which a part was throttled. */
export const operations = (requests) => requests.map(({ operation }) => operation).filter((name, i, all) => !FAULT || name !== all[i - 1]);

/** 503, and 409 while the first request with a key is being done, say when to come again. A 503 that does not is a fault. */
function mayBeRepeated({ status, headers, body }, key) {
  if (status === 503) {
    assert.ok(headers.get('retry-after') > 0, `503 without Retry-After: ${JSON.stringify(body)}`);
    assert.equal(body?.type, 'urn:thorpe:busy');
  }
  return (status === 503 && (key || !body.outcome)) || (status === 409 && headers.get('retry-after') > 0);
}

/** Someone who calls: nobody, a subject, or an operator. */
export class Caller {
  constructor(base, token) {
    this.base = base;
    this.token = token;
  }

  /**
   * One request; resolves to { status, body, headers, etag, location } whatever the status. With the table elsewhere it does as
   * docs/rest-api.md tells clients to: what may be repeated is. At a database that fails now and then every write has an Idempotency-Key
   * for that. (At DynamoDB Local these keys would stand in the way of time to live, which looks at a few items in ten seconds.)
   */
  async request(method, path, { body, headers = {}, raw, busy } = {}) {
    const ask = (more) => this.once(method, path, { body, headers: { ...more, ...headers }, raw });
    if (!BACKEND) return ask({});
    const reads = method === 'GET' || method === 'HEAD' || path === '/call';
    const key = reads || !FAULT ? undefined : { 'idempotency-key': randomUUID() };
    const deadline = Date.now() + PATIENCE_MS;
    if (reads && !path.startsWith('/processors')) await eventually();
    for (;;) {
      const reply = await ask(key ?? {});
      if (!reads) noteWrite();
      if (!mayBeRepeated(reply, reads || key) || busy || Date.now() > deadline) return reply;
      await new Promise((resolve) => setTimeout(resolve, Number(reply.headers.get('retry-after')) * 1000));
    }
  }

  /** The same, asked once. */
  async once(method, path, { body, headers, raw }) {
    const reply = await fetch(this.base + path, {
      method,
      headers: {
        ...(this.token ? { authorization: `Bearer ${this.token}` } : {}),
        ...(body !== undefined ? { 'content-type': 'application/json' } : {}),
        ...headers,
      },
      body: raw ?? (body === undefined ? undefined : JSON.stringify(body)),
    });
    const text = await reply.text();
    let parsed;
    try {
      parsed = text ? JSON.parse(text) : undefined;
    } catch {
      parsed = text;
    }
    return { status: reply.status, body: parsed, headers: reply.headers, etag: reply.headers.get('etag'), location: reply.headers.get('location') };
  }

  /** The same, which must give 2xx, or the status (and problem type) that `expect` names. */
  async call(method, path, body, expect = {}) {
    const reply = await this.request(method, path, { body, headers: expect.headers, busy: expect.status === 503 });
    const told = `${method} ${path} gave ${reply.status}: ${JSON.stringify(reply.body)}`;
    if (expect.status) assert.equal(reply.status, expect.status, told);
    else assert.ok(reply.status >= 200 && reply.status < 300, told);
    if (expect.type) {
      assert.equal(reply.body?.type, `urn:thorpe:${expect.type}`, told);
      assert.match(reply.headers.get('content-type'), /^application\/problem\+json/);
      assert.equal(reply.body.status, reply.status);
    }
    if (expect.attribute) assert.equal(reply.body.attribute, expect.attribute, told);
    if (expect.detail) assert.match(reply.body.detail, expect.detail);
    return reply;
  }

  get(path, expect) { return this.call('GET', path, undefined, expect); }
  post(path, body, expect) { return this.call('POST', path, body ?? {}, expect); }
  put(path, body, expect) { return this.call('PUT', path, body ?? {}, expect); }
  patch(path, body, expect) { return this.call('PATCH', path, body, expect); }
  delete(path, expect) { return this.call('DELETE', path, undefined, expect); }

  /** The items of a list, first page only. */
  async list(path, expect) { return (await this.get(path, expect)).body.items; }

  /** All items of a list, page by page of `limit`; pages before the last must be full. */
  async all(path, limit = 3) {
    const items = [];
    let next;
    do {
      const query = `${path.includes('?') ? '&' : '?'}limit=${limit}${next ? `&after=${encodeURIComponent(next)}` : ''}`;
      const { body } = await this.get(path + query);
      items.push(...body.items);
      if (body.next) assert.equal(body.items.length, limit, `a page of ${path} is not full and yet there is a next one`);
      next = body.next;
    } while (next);
    return items;
  }
}


/** The tables at an endpoint, which go with the last one who uses them: many expired items make DynamoDB Local slow at removing any. */
const tablesAt = (endpoint, credentials) => ({
  endpoint,
  stop: async () => {},
  child: { kill() {} },
  remove: async (names) => {
    const { ddb } = clientsFor(endpoint, { credentials, maxAttempts: 3 });
    for (const TableName of names) await ddb.deleteTable({ TableName });
    ddb.destroy();
  },
});

/** This file's DynamoDB Local; it ends with the process. */
let local;
const localEndpoint = () => (local ??= startLocal());

/** The server that has the tables of a directory goes on when the one in front of it ends. */
const tableServers = new Map();
async function tableServer(data, env, credentials) {
  const started = async () => (BACKEND === 'thorpe' ? startServer({ data, env, args: FAULT ? ['--fault', FAULT] : [] })
    : tablesAt(BACKEND === 'dynamodb-local' ? await localEndpoint() : BACKEND, credentials));
  const known = tableServers.get(data) ?? { ...await started(), users: 0 };
  tableServers.set(data, known);
  known.users += 1;
  return known;
}

/** The server of a design, and where its table is; both are the same unless THORPE_BACKEND says otherwise. */
async function startServers(data, args, env) {
  if (!BACKEND) {
    const server = await startServer({ data, args, env });
    return { server, table: server };
  }
  // DynamoDB Local has tables for each access key: one for each directory, as a server of its own would have.
  const key = `key${process.pid}x${data.replace(/[^a-zA-Z0-9]/g, '')}`;
  const credentials = { accessKeyId: key, secretAccessKey: 'secret' };
  const table = await tableServer(data, env, credentials);
  const server = await startServer({
    data: null,
    args: ['--backend', table.endpoint, '--secret-file', join(data, 'token-secret'), ...args],
    env: { AWS_ACCESS_KEY_ID: key, AWS_SECRET_ACCESS_KEY: 'secret', ...env },
  });
  return { server, table, credentials };
}

/** For the part of a test that looks at what the application did. */
const withoutFaults = (next, { commandName }) => async (args) => {
  args.request.headers['x-thorpe-fault'] = 'none';
  const reply = await next(args);
  if (/^(Put|Update|Delete|BatchWrite|TransactWrite)Item/.test(commandName)) noteWrite();
  return reply;
};

/** Every item of a table, plain, whatever still follows. */
export async function scan(doc, TableName) {
  const items = [];
  let ExclusiveStartKey;
  do {
    const page = await doc.scan({ TableName, ExclusiveStartKey, ConsistentRead: true });
    items.push(...page.Items);
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
  return items;
}

/** Serves one design (by name, or a file) from a fresh directory. */
export async function startDesign(design, { args = [], env, data = freshDirectory(), check = true, oracle = check } = {}) {
  const file = existsSync(design) ? design : designFile(design);
  const name = file.replace(/.*\//, '').replace(/\.yaml$/, '');
  const { server, table: tables, credentials } = await startServers(data, ['--design', file, ...args], env);
  const { ddb, doc, streams } = clientsFor(tables.endpoint, credentials ? { credentials, maxAttempts: BACKEND === 'thorpe' ? 1 : 3 } : {}); // DynamoDB Local closes idle connections
  if (FAULT) for (const client of [ddb, streams]) client.middlewareStack.add(withoutFaults, { step: 'build' });
  const base = `${server.endpoint}/api/${name}`;
  noteWrite(); // demo data
  const { TableNames: [table] } = await ddb.listTables({});
  const tokens = new Map();
  const token = async (flags) => {
    const key = flags.join(' ');
    if (!tokens.has(key)) {
      const { code, stdout, stderr } = await runToEnd(['token', name, '--data', data, ...flags]);
      assert.equal(code, 0, stderr);
      tokens.set(key, stdout.trim());
    }
    return tokens.get(key);
  };
  const app = {
    server, base, name, table, ddb, doc, streams, data,
    nobody: new Caller(base),
    as: async (subject, ...roles) => new Caller(base, await token(['--subject', subject, ...roles.flatMap((role) => ['--role', role])])),
    operator: async () => new Caller(base, await token(['--operator'])),
    withToken: (text) => new Caller(base, text),
    /** Logs in with a name and a password. */
    login: async (by, password) => {
      const { body } = await app.nobody.post('/login', { name: by, password });
      return new Caller(base, body.token);
    },
    /** Waits until the processors and the keeper are through with everything that has been written. */
    settled: async () => {
      const operator = await app.operator();
      let told;
      await until('the processors to be idle', async () => (told = (await operator.get('/processors?wait=10')).body).idle, BACKEND ? 120 : 40).catch((error) => {
        const busy = told.processors.filter(({ backlog, problem }) => backlog || problem);
        throw new Error(`${error.message}: ${JSON.stringify(busy)}`);
      });
      noteWrite(); // what followed may be a moment old
    },
    /** Every item of the table, plain, when nothing follows any more. */
    items: async () => {
      await app.settled();
      return scan(doc, table);
    },
    /** What the oracle finds now, of any severity. */
    findings: async () => {
      const { stdout } = await runToEnd(['verify', '--design', file, '--endpoint', tables.endpoint, '--json'],
        { env: credentials ? { AWS_ACCESS_KEY_ID: credentials.accessKeyId, AWS_SECRET_ACCESS_KEY: 'secret', ...env } : env });
      return stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line));
    },
    /** One item by the key of the table, or undefined; when nothing follows any more. */
    item: async (PK, SK) => (await app.settled(), await doc.get({ TableName: table, Key: { PK, SK }, ConsistentRead: true })).Item,
  };
  after(async () => {
    ddb.destroy();
    streams.destroy();
    try {
      if (server.child.signalCode !== 'SIGKILL') await server.stop(); // a test may have killed it
      if (tables !== server && --tables.users > 0) return; // another one is still at its tables
      if (tables !== server) await tables.stop();
      if (check && tables.data) await verify(data);
      if (oracle) await consult(tables.data ? ['--data', data] : ['--endpoint', tables.endpoint], file,
        credentials ? { AWS_ACCESS_KEY_ID: credentials.accessKeyId, AWS_SECRET_ACCESS_KEY: 'secret', ...env } : env, oracle);
    } finally {
      server.child.kill('SIGKILL'); // this one only: a file may have several
      if (!tables.users) tables.child.kill('SIGKILL');
      if (!tables.users) await tables.remove?.([table, `${table}.thorpe`]);
    }
  });
  return app;
}

/** The oracle has nothing to say of the items that a test leaves; or, with a list of kinds, nothing else. */
async function consult(where, file, env, but) {
  const { code, stdout, stderr } = await runToEnd(['verify', '--design', file, ...where, '--json'], { env });
  const findings = stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line));
  const wrong = findings.filter(({ kind, severity }) => severity === 'difference' && !(Array.isArray(but) && but.includes(kind)));
  assert.deepEqual(wrong.map(({ kind, sentence }) => `${kind}: ${sentence}`), [], 'the oracle finds differences');
  assert.ok(code === 0 || findings.length > 0, stderr);
}

/** Runs them all at once; gives how many ended with each status. */
export async function atOnce(requests) {
  const replies = await Promise.all(requests.map((start) => start()));
  const statuses = {};
  for (const { status } of replies) statuses[status] = (statuses[status] ?? 0) + 1;
  return statuses;
}
