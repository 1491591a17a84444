// `thorpe copy`: between directories, servers and back, in use, killed anywhere, refused, and what processors make of it afterwards.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { copyFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { ROOT, clientsFor, freshDirectory, killAll, launch, runToEnd, scan, startDesign, startServer, until, within } from './harness.mjs';
import { people } from './social-world.mjs';

const social = join(ROOT, 'designs', 'social.yaml');
const env = { AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret', AWS_REGION: 'us-east-1' };
const SEED = Number(process.env.COPY_SEED ?? Date.now() % 1e6);
const servers = [];
after(async () => {
  for (const server of servers) if (server.child.exitCode === null && !server.child.killed) await server.stop();
  killAll();
});

/** Numbers that are the same for the same seed. */
function chance(seed) {
  let state = seed >>> 0;
  return (n) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * n);
  };
}

async function fresh({ args = [], data = null } = {}) {
  const server = await startServer({ data, args });
  servers.push(server);
  const clients = clientsFor(server.endpoint, { maxAttempts: args.length ? 12 : 3 });
  after(() => { clients.ddb.destroy(); clients.streams.destroy(); });
  return { ...server, ...clients };
}

const copy = (from, to, ...args) => runToEnd(['copy', '--from', from, '--to', to, ...args], { env });
/** A copy that must end with this status. */
async function copied(status, from, to, ...args) {
  const run = await copy(from, to, ...args);
  assert.equal(run.code, status, `thorpe copy ${args.join(' ')} ended with ${run.code}:\n${run.stdout}${run.stderr}`);
  return run.stdout + run.stderr;
}

const byKey = (a, b) => (JSON.stringify([a.PK, a.SK]) < JSON.stringify([b.PK, b.SK]) ? -1 : 1);
async function same(a, b, TableName) {
  const [left, right] = await Promise.all([a, b].map(async ({ doc }) => (await scan(doc, TableName)).sort(byKey)));
  assert.deepEqual(right, left);
  return left.length;
}

const plain = (TableName, more = {}) => ({
  TableName,
  AttributeDefinitions: ['PK', 'SK', 'G'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
  KeySchema: [{ AttributeName: 'PK', KeyType: 'HASH' }, { AttributeName: 'SK', KeyType: 'RANGE' }],
  GlobalSecondaryIndexes: [{ IndexName: 'byG', KeySchema: [{ AttributeName: 'G', KeyType: 'HASH' }], Projection: { ProjectionType: 'KEYS_ONLY' } }],
  BillingMode: 'PAY_PER_REQUEST',
  StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
  ...more,
});

/** Writes at random until it is told to end: gives how many writes there were. */
function writers(at, TableName, seed, count = 4, keys = 150) {
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

const fill = async (at, TableName, n) => {
  for (let i = 0; i < n; i += 25) {
    await at.doc.batchWrite({ RequestItems: { [TableName]: Array.from({ length: Math.min(25, n - i) }, (_, k) => ({
      PutRequest: { Item: { PK: `F${i + k}`, SK: 'f', n: i + k, bytes: new Uint8Array([1, 2, k]), list: [{ deep: [null, true, ''] }], zero: 1e-120 } } })) } });
  }
};

/** The state of a copy, beside its table. */
const stateAt = async (to, table) => (await to.doc.get({ TableName: `${table}.thorpe`, Key: { PK: 'COPY', SK: 'state' }, ConsistentRead: true })).Item;

test(`writers, kills of the copy, faults at the target and splits at the source: both tables are the same in the end (COPY_SEED=${SEED})`, async () => {
  const from = await fresh({ args: ['--fault', 'split-shards=2s'] });
  const to = await fresh({ args: ['--fault', `throttle=5%,error-after=2%,drop-after=2%,seed=${SEED}`] });
  const draw = chance(SEED);
  await from.ddb.createTable(plain('Things'));
  await fill(from, 'Things', 600);
  const load = writers(from, 'Things', SEED);
  const where = ['copy', '--from', from.endpoint, '--to', to.endpoint, '--table', 'Things', '--parallel', '4', '--patience', '30'];
  for (let i = 0; i < 5; i += 1) {
    const run = launch([...where, '--follow', ...(i < 2 ? ['--units', '300'] : [])], { env });
    await Promise.race([run.done, new Promise((resolve) => setTimeout(resolve, 200 + draw(i < 2 ? 1500 : 3500)))]);
    assert.equal(run.child.exitCode, null, `the copy ended by itself: ${run.stdout}${run.stderr}`);
    run.child.kill('SIGKILL');
    await run.done;
    // So that the next one need not look whether this one lives: another test does that.
    if (i % 2) await to.doc.update({ TableName: 'Things.thorpe', Key: { PK: 'COPY', SK: 'state' }, UpdateExpression: 'SET #o = :none', ConditionExpression: 'attribute_exists(PK)', ExpressionAttributeNames: { '#o': 'owner' }, ExpressionAttributeValues: { ':none': '' } }).catch(() => {});
  }
  assert.ok(await load.end() > 100);
  const run = launch([...where, '--switch'], { env });
  assert.equal(await within(60, 'the switch', run.done), 0, run.stdout + run.stderr);
  assert.ok(await same(from, to, 'Things') > 600);
  const { Table } = await to.ddb.describeTable({ TableName: 'Things' });
  assert.equal(Table.StreamSpecification?.StreamViewType, 'NEW_AND_OLD_IMAGES');
  assert.deepEqual(Table.GlobalSecondaryIndexes.map(({ IndexName }) => IndexName), ['byG']);
});

test('a directory becomes another, with secret, stream and TTL; a server that has it is named instead', async () => {
  const app = await startDesign('social');
  const { ann, ben } = await people(app, 'ann', 'ben');
  await ben.put('/users/ben/following/ann');
  await ann.post('/posts', { content: 'Hello' });
  await app.settled();
  const to = freshDirectory();
  assert.match(await copied(1, app.data, to, '--design', social), /in use by another process.*--from http:\/\/127\.0\.0\.1/s);
  await app.server.stop();
  assert.match(await copied(0, app.data, to, '--design', social, '--dry-run'), /about \d+ items.*the table is made at/s);
  assert.match(await copied(0, app.data, to, '--design', social), /done\. \d+ items/);
  assert.equal(readFileSync(join(to, 'token-secret'), 'utf8'), readFileSync(join(app.data, 'token-secret'), 'utf8'));
  for (const where of [app.data, to]) {
    const { code, stdout, stderr } = await runToEnd(['verify', '--design', social, '--data', where]);
    assert.equal(code, 0, stdout + stderr);
  }
  assert.match(await copied(0, app.data, to, '--design', social, '--verify'), /the same on both sides/);
  assert.match(await copied(1, app.data, to, '--design', social), /was switched to/);
});

test('a design that is in use moves: nothing is delivered or told twice, what was under way is done, a token still holds', async () => {
  const app = await startDesign('social');
  const callers = await people(app, 'ann', 'ben', 'cat');
  await callers.ben.put('/users/ben/following/ann');
  await callers.cat.put('/users/cat/following/ann');
  const data = freshDirectory();
  const to = await fresh({ data });
  let ends = false, posts = 0;
  const load = (async () => {
    while (!ends) {
      const { body } = await callers.ann.post('/posts', { content: `Post ${posts += 1}` });
      if (posts % 3 === 0) await callers.ben.post(`/posts/${body.post_id}/likes`, {}).catch(() => {});
      if (posts % 5 === 0) await callers.ann.delete(`/posts/${body.post_id}`);
    }
  })();
  const follow = launch(['copy', '--from', app.server.endpoint, '--to', to.endpoint, '--design', social, '--follow'], { env });
  const begun = await until('the copy to follow', async () => (await stateAt(to, app.table).catch(() => null))?.phase === 'following' && posts);
  await until('some more posts', () => posts > begun + 20);
  // No processor is to see copied items: there is no stream to see them in.
  assert.ok(!(await to.ddb.describeTable({ TableName: app.table })).Table.StreamSpecification?.StreamEnabled);
  ends = true;
  await load;
  follow.child.kill('SIGINT');
  assert.equal(await within(10, 'the copy to stop', follow.done), 3, follow.stderr);
  const began = Date.now();
  await copied(0, app.server.endpoint, to.endpoint, '--design', social, '--switch', '--secret-file', join(app.data, 'token-secret'));
  const took = Date.now() - began;
  assert.ok(took < 20_000, `the switch took ${took} ms`);
  const before = await app.items();
  assert.deepEqual((await scan(to.doc, app.table)).sort(byKey), before.sort(byKey));
  assert.equal((await scan(to.doc, `${app.table}.thorpe`)).filter(({ PK }) => /^(POSITION|LEASE|ENDED)/.test(PK)).length, 0);
  await to.stop();
  copyFileSync(join(app.data, 'token-secret'), join(data, 'token-secret')); // a server's own tables: its secret is a file
  const moved = await startDesign('social', { data });
  await moved.settled();
  assert.deepEqual((await scan(moved.doc, moved.table)).sort(byKey), before, 'nothing happens because of the copy');
  const ann = moved.withToken(callers.ann.token);
  const { body: { post_id } } = await ann.post('/posts', { content: 'At the new place' });
  await moved.settled();
  const now = await scan(moved.doc, moved.table);
  for (const id of ['ben', 'cat']) {
    const rows = (kind) => now.filter(({ PK }) => PK === `FEED#${id}`).filter((row) => !kind || row.post_id === kind);
    assert.equal(rows(post_id).length, 1);
    assert.equal(rows().length, before.filter(({ PK }) => PK === `FEED#${id}`).length + 1);
    const told = (items) => items.filter(({ PK, SK }) => PK === `USER#${id}` && SK.startsWith('NOTIFICATION#')).length;
    assert.equal(told(now), told(before) + 1, 'one more notification, of the new post');
  }
});

test('back again: the old place is replaced, and what went on at the new one is there', async () => {
  const [a, b] = [await fresh(), await fresh()];
  await a.ddb.createTable(plain('Things'));
  await fill(a, 'Things', 60);
  await copied(0, a.endpoint, b.endpoint, '--table', 'Things', '--switch');
  await b.doc.delete({ TableName: 'Things', Key: { PK: 'F1', SK: 'f' } });
  await b.doc.put({ TableName: 'Things', Item: { PK: 'new', SK: 'f' } });
  const refused = await copied(1, b.endpoint, a.endpoint, '--table', 'Things', '--switch');
  assert.match(refused, /has items already: nothing was changed\. --replace/);
  assert.match(await copied(3, b.endpoint, a.endpoint, '--table', 'Things', '--switch', '--replace'), /--yes replaces/);
  assert.equal((await scan(a.doc, 'Things')).length, 60);
  await copied(0, b.endpoint, a.endpoint, '--table', 'Things', '--switch', '--replace', '--yes');
  assert.equal(await same(b, a, 'Things'), 60);
});

test('a target of another shape, of another source, and a source that is not there are refused, and nothing is changed', async () => {
  const [from, to] = [await fresh(), await fresh()];
  await from.ddb.createTable(plain('Things'));
  await from.ddb.createTable(plain('Others'));
  await fill(from, 'Things', 30);
  await to.ddb.createTable(plain('Things', { GlobalSecondaryIndexes: undefined, AttributeDefinitions: plain('Things').AttributeDefinitions.slice(0, 2) }));
  assert.match(await copied(1, from.endpoint, to.endpoint, '--table', 'Things'), /cannot take the items: it has no index byG/);
  await to.ddb.createTable({ ...plain('Others'), KeySchema: [{ AttributeName: 'PK', KeyType: 'HASH' }], AttributeDefinitions: plain('Others').AttributeDefinitions.filter(({ AttributeName }) => AttributeName !== 'SK') });
  assert.match(await copied(1, from.endpoint, to.endpoint, '--table', 'Others'), /its key is another one/);
  assert.match(await copied(1, from.endpoint, to.endpoint, '--table', 'Nowhere'), /there is no table Nowhere/);
  assert.match(await copied(1, join(from.endpoint.replace('http://', '/tmp/nothing-')), to.endpoint, '--table', 'Things'), /there is no database in/);
  assert.match(await copied(1, 'https://x.example/?a=b', to.endpoint, '--table', 'Things'), /neither|query|address/);
  for (const [args, words] of [[['--table', 'Things', '--follow', '--switch'], /take one/], [[], /which tables/], [['--table', 'Things', '--units', '0'], /write units/]]) {
    assert.match(await copied(2, from.endpoint, to.endpoint, ...args), words);
  }
  assert.match(await copied(2, freshDirectory(), to.endpoint, '--table', 'Things', '--follow'), /--follow is for a running server/);
  assert.deepEqual((await to.ddb.listTables({})).TableNames, ['Others', 'Things']);
  await to.ddb.deleteTable({ TableName: 'Things' });
  await copied(3, from.endpoint, to.endpoint, '--table', 'Things');
  const other = await fresh();
  await other.ddb.createTable(plain('Things'));
  assert.match(await copied(1, other.endpoint, to.endpoint, '--table', 'Things'), /is a copy of another table/);
  assert.equal((await scan(to.doc, 'Things')).length, 30);
});

test('a source that goes away in the middle is waited for, then told; and a server that comes back is gone on with', async () => {
  const data = freshDirectory();
  let from = await fresh({ data });
  const to = await fresh();
  await from.ddb.createTable(plain('Things'));
  await fill(from, 'Things', 400);
  const run = launch(['copy', '--from', from.endpoint, '--to', to.endpoint, '--table', 'Things', '--units', '100', '--patience', '1'], { env });
  await until('some items to be there', async () => (await scan(to.doc, 'Things').catch(() => [])).length > 20);
  await from.kill();
  assert.equal(await within(60, 'the copy to give up', run.done), 1, run.stderr);
  assert.match(run.stderr, /does not answer.*the same command goes on from there/s);
  // The directory of the same server is the same source.
  assert.match(await copied(0, data, to.endpoint, '--table', 'Things'), /goes on with a copy that was begun/);
  from = await fresh({ data });
  assert.equal(await same(from, to, 'Things'), 400);
});

test('of two copies at once one goes on, and a copy that was replaced ends', async () => {
  const [from, to] = [await fresh(), await fresh()];
  await from.ddb.createTable(plain('Things'));
  await fill(from, 'Things', 50);
  const args = ['copy', '--from', from.endpoint, '--to', to.endpoint, '--table', 'Things'];
  const first = launch([...args, '--follow'], { env });
  await until('the first to follow', async () => (await stateAt(to, 'Things').catch(() => null))?.phase === 'following');
  assert.match(await copied(1, from.endpoint, to.endpoint, '--table', 'Things'), /another copy of Things to .* is running/);
  first.child.kill('SIGSTOP'); // as if its machine slept
  assert.match(await copied(3, from.endpoint, to.endpoint, '--table', 'Things'), /caught up/);
  first.child.kill('SIGCONT');
  assert.equal(await within(20, 'the first to end', first.done), 1);
  assert.match(first.stderr, /another copy has taken over/);
});

test('what a stream has forgotten begins again, and removes what the source no longer has', async () => {
  const [from, to] = [await fresh(), await fresh()];
  await from.ddb.createTable(plain('Things'));
  await fill(from, 'Things', 40);
  await copied(3, from.endpoint, to.endpoint, '--table', 'Things');
  // As if the copy had stood still for a day, and the stream no longer had this.
  await from.ddb.updateTable({ TableName: 'Things', StreamSpecification: { StreamEnabled: false } });
  await from.doc.delete({ TableName: 'Things', Key: { PK: 'F3', SK: 'f' } });
  await from.doc.put({ TableName: 'Things', Item: { PK: 'F4', SK: 'f', changed: true } });
  await from.ddb.updateTable({ TableName: 'Things', StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_IMAGE' } });
  assert.match(await copied(0, from.endpoint, to.endpoint, '--table', 'Things', '--switch'), /another stream than when this copy began: it begins again/);
  assert.equal(await same(from, to, 'Things'), 39);

  await from.ddb.createTable(plain('Others'));
  await from.doc.put({ TableName: 'Others', Item: { PK: 'a', SK: 'a' } });
  await copied(3, from.endpoint, to.endpoint, '--table', 'Others');
  const state = await stateAt(to, 'Others');
  for (const shard of Object.values(state.shards)) {
    shard.reached -= 25 * 3600e3;
    delete shard.sequence;
  }
  await to.doc.put({ TableName: 'Others.thorpe', Item: state });
  await to.doc.put({ TableName: 'Others', Item: { PK: 'gone', SK: 'long ago' } });
  assert.match(await copied(0, from.endpoint, to.endpoint, '--table', 'Others', '--switch'), /has forgotten changes.*begins again/);
  assert.equal(await same(from, to, 'Others'), 1);
});

test('a source without a stream, with keys alone in it, and one that gets a stream', async () => {
  const [from, to] = [await fresh(), await fresh()];
  await from.ddb.createTable(plain('Streamless', { StreamSpecification: undefined }));
  await from.ddb.updateTimeToLive({ TableName: 'Streamless', TimeToLiveSpecification: { Enabled: true, AttributeName: 'ends' } });
  await fill(from, 'Streamless', 30);
  assert.match(await copied(1, from.endpoint, to.endpoint, '--table', 'Streamless', '--follow'), /has no stream.*--enable-stream/);
  assert.match(await copied(0, from.endpoint, to.endpoint, '--table', 'Streamless'), /no stream: what changes there while this runs may be missed/);
  assert.equal(await same(from, to, 'Streamless'), 30);
  assert.equal((await to.ddb.describeTimeToLive({ TableName: 'Streamless' })).TimeToLiveDescription.AttributeName, 'ends');

  await from.ddb.createTable(plain('KeysOnly', { StreamSpecification: { StreamEnabled: true, StreamViewType: 'KEYS_ONLY' } }));
  await fill(from, 'KeysOnly', 30);
  await copied(3, from.endpoint, to.endpoint, '--table', 'KeysOnly');
  await from.doc.update({ TableName: 'KeysOnly', Key: { PK: 'F1', SK: 'f' }, UpdateExpression: 'SET n = :n', ExpressionAttributeValues: { ':n': -1 } });
  await from.doc.delete({ TableName: 'KeysOnly', Key: { PK: 'F2', SK: 'f' } });
  await copied(0, from.endpoint, to.endpoint, '--table', 'KeysOnly', '--switch');
  assert.equal(await same(from, to, 'KeysOnly'), 29);

  await from.ddb.createTable(plain('Enabled', { StreamSpecification: undefined }));
  await copied(3, from.endpoint, to.endpoint, '--table', 'Enabled', '--enable-stream');
  await from.doc.put({ TableName: 'Enabled', Item: { PK: 'later', SK: 'f' } });
  await copied(0, from.endpoint, to.endpoint, '--table', 'Enabled', '--switch');
  assert.equal(await same(from, to, 'Enabled'), 1);
});

test('what differs is told by key', async () => {
  const [from, to] = [await fresh(), await fresh()];
  await from.ddb.createTable(plain('Things'));
  await fill(from, 'Things', 40);
  await copied(0, from.endpoint, to.endpoint, '--table', 'Things', '--switch');
  await to.doc.put({ TableName: 'Things', Item: { PK: 'F1', SK: 'f', n: 'other' } });
  await to.doc.delete({ TableName: 'Things', Key: { PK: 'F2', SK: 'f' } });
  await to.doc.put({ TableName: 'Things', Item: { PK: 'F999', SK: 'f' } });
  await to.doc.put({ TableName: 'Things', Item: { PK: 'F998', SK: 'f' } });
  const said = await copied(1, from.endpoint, to.endpoint, '--table', 'Things', '--verify');
  assert.match(said, /Things: differs: \{"PK":\{"S":"F1"\},"SK":\{"S":"f"\}\}/);
  assert.match(said, /Things: missing: \{"PK":\{"S":"F2"\}/);
  assert.match(said, /Things: extra: \{"PK":\{"S":"F999"\}/);
  assert.match(said, /4 items differ/);
});

test('the switch waits for the processors of the source: what they have not done is refused, settled, or dropped', async () => {
  const app = await startDesign('social', { oracle: false });
  const deliver = 'deliver a post to followers';
  const { ann, ben } = await people(app, 'ann', 'ben');
  await ben.put('/users/ben/following/ann');
  await app.settled();
  const operator = await app.operator();
  await operator.post(`/processors/${encodeURIComponent(deliver)}/pause`);
  const { body: { post_id } } = await ann.post('/posts', { content: 'Not delivered yet' });
  const key = { TableName: `${app.table}.thorpe`, Key: { PK: 'PROCESSOR', SK: deliver } };
  assert.ok((await app.doc.get(key)).Item.paused);
  await app.doc.delete(key); // resumed, though this server does not know
  await app.server.kill();
  const to = freshDirectory();
  assert.match(await copied(3, app.data, to, '--design', social), /have not seen \(.*deliver a post to followers.*--settle/s);
  const said = await copied(0, app.data, to, '--design', social, '--settle');
  assert.match(said, /do what is left to do/);
  assert.match(said, /done\. /);
  const there = await fresh({ data: to });
  const rows = (await scan(there.doc, app.table)).filter(({ PK }) => PK === 'FEED#ben');
  assert.deepEqual(rows.map((row) => row.post_id), [post_id]);
});
