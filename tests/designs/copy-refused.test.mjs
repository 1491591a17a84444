// `thorpe copy` that is refused, interrupted, behind, or has nothing to follow; back again; and comparing.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { copied, env, fill, fresh, plain, same, stateAt } from './copy-world.mjs';
import { freshDirectory, launch, scan, until, within } from './harness.mjs';

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
  for (const [args, words] of [[['--table', 'Things', '--follow', '--switch'], /exclude one another/], [[], /which tables/], [['--table', 'Things', '--units', '0'], /write units/]]) {
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
  assert.match(run.stderr, /does not answer.*run the same command again/s);
  // The directory of the same server is the same source.
  assert.match(await copied(0, data, to.endpoint, '--table', 'Things'), /continues an earlier copy/);
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
  assert.match(await copied(0, from.endpoint, to.endpoint, '--table', 'Things', '--switch'), /another stream than when this copy began: it starts over/);
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
  assert.match(await copied(0, from.endpoint, to.endpoint, '--table', 'Others', '--switch'), /has forgotten changes.*starts over/);
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

test('four hundred differences are looked at again together, not each for two seconds', async () => {
  const [from, to] = [await fresh(), await fresh()];
  await from.ddb.createTable(plain('Things'));
  await fill(from, 'Things', 10);
  await copied(0, from.endpoint, to.endpoint, '--table', 'Things', '--switch');
  await fill(from, 'Things', 410);
  assert.match(await copied(1, from.endpoint, to.endpoint, '--table', 'Things', '--verify'), /400 items differ/); // within half a minute
});
