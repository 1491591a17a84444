// What the tests of `thorpe copy` share: servers, writers at random, and comparing tables.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after } from 'node:test';
import { ROOT, clientsFor, killAll, runToEnd, scan, startServer } from './harness.mjs';

export const social = join(ROOT, 'designs', 'social.yaml');
export const env = { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret', AWS_REGION: 'us-east-1' };
const servers = [];
after(async () => {
  for (const server of servers) if (server.child.exitCode === null && !server.child.killed) await server.stop();
  killAll();
});

/** Numbers that are the same for the same seed. */
export function chance(seed) {
  let state = seed >>> 0;
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

export async function fresh({ args = [], data = null } = {}) {
  const server = await startServer({ data, args });
  servers.push(server);
  const clients = clientsFor(server.endpoint, { maxAttempts: args.length ? 12 : 3 });
  after(() => { clients.ddb.destroy(); clients.streams.destroy(); });
  return { ...server, ...clients };
}

export const copy = (from, to, ...args) => runToEnd(['copy', '--from', from, '--to', to, ...args], { env });
/** A copy that must end with this status. */
export async function copied(status, from, to, ...args) {
  const run = await copy(from, to, ...args);
  assert.equal(run.code, status, `thorpe copy ${args.join(' ')} ended with ${run.code}:\n${run.stdout}${run.stderr}`);
  return run.stdout + run.stderr;
}

export const byKey = (a, b) => (JSON.stringify([a.PK, a.SK]) < JSON.stringify([b.PK, b.SK]) ? -1 : 1);
export async function same(a, b, TableName) {
  const [left, right] = await Promise.all([a, b].map(async ({ doc }) => (await scan(doc, TableName)).sort(byKey)));
  assert.deepEqual(right, left);
  return left.length;
}

export const plain = (TableName, more = {}) => ({
  TableName,
  AttributeDefinitions: ['PK', 'SK', 'G'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
  KeySchema: [{ AttributeName: 'PK', KeyType: 'HASH' }, { AttributeName: 'SK', KeyType: 'RANGE' }],
  GlobalSecondaryIndexes: [{ IndexName: 'byG', KeySchema: [{ AttributeName: 'G', KeyType: 'HASH' }], Projection: { ProjectionType: 'KEYS_ONLY' } }],
  BillingMode: 'PAY_PER_REQUEST',
  StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
  ...more,
});

/** Writes at random until it is told to end: gives how many writes there were. */
export function writers(at, TableName, seed, count = 4, keys = 150) {
  let ends = false, done = 0;
  const one = async (draw) => {
    while (!ends) {
      const Key = { PK: `P${draw(keys)}`, SK: `S${draw(3)}` };
      const what = draw(10);
      if (what < 2) await at.doc.delete({ TableName, Key });
      else if (what < 5) {
        await at.doc.update({ TableName, Key, UpdateExpression: 'ADD n :one SET G = :g', ExpressionAttributeValues: { ':one': 1, ':g': `g${draw(5)}` } });
      } else if (what < 6) {
        await at.doc.transactWrite({ TransactItems: [0, 1].map((i) => ({ Put: { TableName, Item: { PK: Key.PK, SK: `T${i}`, both: draw(1e6) } } })) });
      } else await at.doc.put({ TableName, Item: { ...Key, text: 'x'.repeat(draw(draw(20) ? 60 : 20000)), n: draw(1000), set: new Set([draw(9), 10 + draw(9)]) } });
      done += 1;
    }
  };
  const all = Array.from({ length: count }, (_, i) => one(chance(seed + i)));
  return { end: async () => { ends = true; await Promise.all(all); return done; }, count: () => done };
}

export const fill = async (at, TableName, n) => {
  for (let i = 0; i < n; i += 25) {
    await at.doc.batchWrite({ RequestItems: { [TableName]: Array.from({ length: Math.min(25, n - i) }, (_, k) => ({
      PutRequest: { Item: { PK: `F${i + k}`, SK: 'f', n: i + k, bytes: new Uint8Array([1, 2, k]), list: [{ deep: [null, true, ''] }], zero: 1e-120 } } })) } });
  }
};

/** The state of a copy, beside its table. */
export const stateAt = async (to, table) => (await to.doc.get({ TableName: `${table}.thorpe`, Key: { PK: 'COPY', SK: 'state' }, ConsistentRead: true })).Item;
