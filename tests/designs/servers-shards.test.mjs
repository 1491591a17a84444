// Shards that end while a processor is paused: the others go on in the children, and it goes on where it was, in order.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Caller, ROOT, clientsFor, runToEnd, startServer, until } from './harness.mjs';

const DESIGN = `${ROOT}/tests/designs/fanout/fanout.yaml`;
const PAUSED = 'deliver a post';
const FANS = 5;

const database = await startServer({ data: null, args: ['--fault', 'split-shards=3s'] });
const { ddb, doc, streams } = clientsFor(database.endpoint, { maxAttempts: 10 });
const start = () => startServer({ data: null, args: ['--design', DESIGN, '--backend', database.endpoint] });
const servers = [await start(), await start()];

after(async () => {
  ddb.destroy();
  streams.destroy();
  for (const { child } of [...servers, database]) child.kill('SIGKILL');
});

const token = (await runToEnd(['token', DESIGN, '--backend', database.endpoint, '--operator'])).stdout.trim();
const at = (n) => new Caller(`${servers[n].endpoint}/api/fanout`, token);
const fans = Array.from({ length: FANS }, (_, i) => `fan${i}`);
for (const fan of ['ann', ...fans]) await at(0).put(`/users/${fan}`, {});
for (const fan of fans) await at(0).put(`/users/${fan}/following/ann`, {});

const posts = [];
async function publish(n) {
  for (let i = 0; i < n; i += 1) {
    posts.push(`post${posts.length}`);
    await at(posts.length % 2).put(`/posts/${posts.at(-1)}`, { author_id: 'ann' });
  }
}
const shards = async () => {
  const { Table } = await ddb.describeTable({ TableName: 'Fanout' });
  return (await streams.describeStream({ StreamArn: Table.LatestStreamArn })).StreamDescription.Shards;
};
/** Until all shards of now have ended. */
async function split() {
  const open = (all) => all.filter(({ SequenceNumberRange: range }) => !range.EndingSequenceNumber).map(({ ShardId }) => ShardId);
  const before = open(await shards());
  await until('the shards to end', async () => !open(await shards()).some((id) => before.includes(id)));
}
const counted = async () => Promise.all(fans.map(async (fan) => (await at(0).get(`/users/${fan}`)).body.deliveries));
const delivered = async () => Promise.all(fans.map(async (fan) => (await doc.query({
  TableName: 'Fanout', KeyConditionExpression: 'PK = :p', ExpressionAttributeValues: { ':p': `FEED#${fan}` }, ConsistentRead: true,
})).Items.map(({ post_id: id }) => id).sort()));
const processor = async (n, name) => (await at(n).get(`/processors/${encodeURIComponent(name)}`)).body;
const control = (n, what, body) => at(n).post(`/processors/${encodeURIComponent(PAUSED)}/${what}`, body);
const idle = (n) => until('all servers to be through', async () => (await at(n).get('/processors?wait=20')).body.idle, 60);

test('a processor that is paused holds no other, through splits and the death of a server', async () => {
  await publish(2);
  await idle(0);
  await control(0, 'pause');
  await until('both to know', async () => (await processor(1, PAUSED)).paused);
  for (let round = 0; round < 3; round += 1) {
    await publish(4);
    await split();
    if (round === 1) {
      await servers[1].kill();
      servers[1] = await start();
    }
  }
  await publish(2);
  await until('the other processor to be through', async () => (await counted()).every((n) => n === posts.length), 60);
  await idle(0); // which is not waited for
  assert.deepEqual(await counted(), fans.map(() => posts.length));
  assert.deepEqual(await delivered(), fans.map(() => ['post0', 'post1']));
});

test('it is seen what waits for it, at whichever server', async () => {
  for (const n of [0, 1]) {
    const waits = await until(`server ${n} to know what waits`, async () => {
      const { paused, backlog, lag_seconds: lag } = await processor(n, PAUSED);
      return backlog > 0 && { paused, lag };
    });
    assert.ok(waits.paused && waits.lag > 0, JSON.stringify(waits));
    const { backlog, lag_seconds: lag } = await processor(n, 'count deliveries');
    assert.deepEqual([backlog, lag], [0, 0]);
  }
  const metrics = await (await fetch(`${servers[0].endpoint}/metrics`)).text();
  assert.match(metrics, /^thorpe_processor_lost_total\{[^}]*\} 0$/m);
});

test('it goes on with what each shard had, once', async () => {
  await control(1, 'resume');
  await idle(0);
  assert.deepEqual(await delivered(), fans.map(() => [...posts].sort()));
  assert.deepEqual(await counted(), fans.map(() => posts.length));
  await publish(2);
  await idle(1);
  assert.deepEqual(await delivered(), fans.map(() => [...posts].sort()));
});

test('a replay goes back into shards that have ended, whichever server reads them', async () => {
  const { Items } = await doc.scan({ TableName: 'Fanout', ConsistentRead: true });
  for (const { PK, SK } of Items.filter((item) => item.PK.startsWith('FEED#'))) await doc.delete({ TableName: 'Fanout', Key: { PK, SK } });
  await control(0, 'replay', { from: '2020-01-01' });
  await idle(1);
  assert.deepEqual(await delivered(), fans.map(() => [...posts].sort()));
  await idle(0);
  assert.deepEqual(await counted(), fans.map(() => posts.length));
});
