// A server for each test file, clients for it, and the few helpers the tests share.
//
// THORPE_ENDPOINT  test this DynamoDB endpoint instead of starting a server
// THORPE_BIN       the server to start (default: build/thorpe)
// THORPE_LOOSE     compare the names of errors only: for peers that word them differently
//
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import net from 'node:net';
import { basename } from 'node:path';
import { after, test } from 'node:test';
import { clientsFor, killAll, startServer, until, verify } from './process.mjs';

export * from './process.mjs';

export const EXTERNAL = process.env.THORPE_ENDPOINT;

/** test() for what only Thorpe itself can show: skipped when another endpoint is tested. */
export const thorpeTest = (name, body) => test(name, { skip: EXTERNAL ? 'only for Thorpe' : false }, body);

// ---------------------------------------------------------------- the server and the clients of this file

export const server = EXTERNAL ? { endpoint: EXTERNAL } : await startServer();
export const { ddb, doc, streams } = clientsFor(server.endpoint);

const tables = [];
after(async () => {
  if (EXTERNAL) {
    await Promise.all(tables.map((TableName) => ddb.deleteTable({ TableName }).catch(() => {})));
  }
  ddb.destroy();
  streams.destroy();
  if (!EXTERNAL) {
    await server.stop();
    await verify(server.data);
    killAll(); // what a failed test has left running
  }
});

// ---------------------------------------------------------------- tables

let serial = 0;
const prefix = basename(process.argv[1] ?? 'wire', '.test.mjs');

/** A name no other test uses. */
export function freshName(hint = 't') {
  serial += 1;
  return `${prefix}-${hint}-${process.pid}-${serial}`;
}

const parseKey = (text) => {
  const [AttributeName, AttributeType = 'S'] = text.split(':');
  return { AttributeName, AttributeType };
};

/**
 * The CreateTable request for a short description:
 *   { key: ['pk', 'sk:N'], gsi: { byA: { key: ['a'], project: 'ALL' } }, lsi: { byB: { key: ['pk', 'b'] } } }
 * A GSI with several attributes in one role says so: key: { hash: ['a', 'b'], range: ['c'] }.
 */
export function tableRequest({ key = ['pk'], gsi = {}, lsi = {}, ...rest } = {}) {
  const types = new Map();
  const schema = (parts) => {
    const roles = Array.isArray(parts)
      ? parts.map((text, i) => [text, i === 0 ? 'HASH' : 'RANGE'])
      : [...parts.hash.map((text) => [text, 'HASH']), ...(parts.range ?? []).map((text) => [text, 'RANGE'])];
    return roles.map(([text, KeyType]) => {
      const { AttributeName, AttributeType } = parseKey(text);
      types.set(AttributeName, AttributeType);
      return { AttributeName, KeyType };
    });
  };
  const indexes = (list) => Object.entries(list).map(([IndexName, index]) => ({
    IndexName,
    KeySchema: schema(index.key),
    Projection: Array.isArray(index.project)
      ? { ProjectionType: 'INCLUDE', NonKeyAttributes: index.project }
      : { ProjectionType: index.project ?? 'ALL' },
    ...(index.throughput ? { ProvisionedThroughput: index.throughput } : {}),
  }));
  const request = {
    TableName: freshName(),
    BillingMode: rest.ProvisionedThroughput ? undefined : 'PAY_PER_REQUEST',
    KeySchema: schema(key),
    ...(Object.keys(gsi).length ? { GlobalSecondaryIndexes: indexes(gsi) } : {}),
    ...(Object.keys(lsi).length ? { LocalSecondaryIndexes: indexes(lsi) } : {}),
    ...rest,
  };
  request.AttributeDefinitions ??= [...types].map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType }));
  return request;
}

export async function untilActive(TableName) {
  return until(`table ${TableName} and its indexes to be ACTIVE`, async () => {
    const { Table } = await ddb.describeTable({ TableName });
    const indexes = Table.GlobalSecondaryIndexes ?? [];
    return Table.TableStatus === 'ACTIVE' && indexes.every((index) => index.IndexStatus === 'ACTIVE') && Table;
  });
}

/** Creates a table (see tableRequest), waits until it is ACTIVE, and returns its name. */
export async function createTable(description) {
  const request = tableRequest(description);
  await ddb.createTable(request);
  tables.push(request.TableName);
  await untilActive(request.TableName);
  return request.TableName;
}

/** Puts plain objects, marshalled by the document client. */
export async function putAll(TableName, items) {
  for (let i = 0; i < items.length; i += 25) {
    let requests = items.slice(i, i + 25).map((Item) => ({ PutRequest: { Item } }));
    while (requests?.length) {
      const { UnprocessedItems } = await doc.batchWrite({ RequestItems: { [TableName]: requests } });
      requests = UnprocessedItems?.[TableName];
    }
  }
}

// ---------------------------------------------------------------- assertions

/** The call must fail with this error; `message` is the whole text or a pattern. Returns the error. */
export async function rejects(promise, name, message) {
  let error;
  try {
    await promise;
  } catch (caught) {
    error = caught;
  }
  assert.ok(error, `expected ${name}, but the call succeeded`);
  if (error.name !== name) assert.fail(`expected ${name}, got ${error.name}: ${error.message}`);
  if (process.env.THORPE_LOOSE) return error;
  if (message instanceof RegExp) assert.match(error.message, message);
  else if (message !== undefined) assert.equal(error.message, message);
  return error;
}

/** A ValidationException with this text. */
export const invalid = (promise, message) => rejects(promise, 'ValidationException', message);

/** The items of a reply, without the order that a Scan or a batch does not promise. */
export const sorted = (items, ...by) => [...items].sort((a, b) => {
  for (const name of by) {
    const x = JSON.stringify(a[name]);
    const y = JSON.stringify(b[name]);
    if (x !== y) return x < y ? -1 : 1;
  }
  return 0;
});

// ---------------------------------------------------------------- below the SDK

const unsignedHeaders = {
  'content-type': 'application/x-amz-json-1.0',
  authorization: 'AWS4-HMAC-SHA256 Credential=fakeMyKeyId/20260101/us-east-1/dynamodb/aws4_request, '
    + 'SignedHeaders=host;x-amz-date;x-amz-target, Signature=0000000000000000000000000000000000000000000000000000000000000000',
  'x-amz-date': '20260101T000000Z',
};

export const target = (operation) => ({ ...unsignedHeaders, 'x-amz-target': `DynamoDB_20120810.${operation}` });

/** One HTTP request as given; `body` may be a string, a Buffer or an object to be written as JSON. */
export function request({ method = 'POST', path = '/', headers = {}, body, agent, endpoint = server.endpoint }) {
  const { hostname, port } = new URL(endpoint);
  const payload = body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body);
  return new Promise((resolve, reject) => {
    const req = http.request({ method, host: hostname, port, path, headers, agent: agent ?? false }, (res) => {
      const chunks = [];
      res.on('data', (chunk) => chunks.push(chunk));
      res.on('error', reject);
      res.on('end', () => {
        const bytes = Buffer.concat(chunks);
        resolve({
          status: res.statusCode,
          headers: res.headers,
          bytes,
          get text() { return bytes.toString(); },
          get json() { return JSON.parse(bytes.toString()); },
        });
      });
    });
    req.on('error', reject);
    req.end(payload);
  });
}

/** One DynamoDB operation with the body exactly as given. */
export const call = (operation, body, options = {}) =>
  request({ ...options, body, headers: { ...target(operation), ...options.headers } });

/** The error's name in a raw reply, without its namespace. */
export const errorName = (reply) => reply.json.__type.split('#').pop();

/** A bare TCP connection that collects what the server sends. */
export async function connect(endpoint = server.endpoint) {
  const { hostname, port } = new URL(endpoint);
  const socket = net.connect(Number(port), hostname);
  const wire = { socket, received: Buffer.alloc(0), closed: false };
  socket.on('data', (data) => { wire.received = Buffer.concat([wire.received, data]); });
  socket.on('error', () => {});
  socket.on('close', () => { wire.closed = true; });
  await once(socket, 'connect');
  wire.text = () => wire.received.toString('latin1');
  wire.send = (data) => socket.write(data);
  wire.count = (pattern) => (wire.text().match(pattern) ?? []).length;
  wire.close = () => socket.destroy();
  return wire;
}

/** The bytes of an HTTP request for one operation. */
export function requestBytes(operation, body, extra = {}) {
  const payload = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const headers = { host: 'localhost', ...target(operation), 'content-length': payload.length, ...extra };
  const head = Object.entries(headers)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('');
  return Buffer.concat([Buffer.from(`POST / HTTP/1.1\r\n${head}\r\n`), payload]);
}
