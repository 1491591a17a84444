// `thorpe copy` of data that is in use: writers, kills, faults, and what processors make of it afterwards.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { byKey, chance, copied, env, fill, fresh, plain, same, social, stateAt, writers } from './copy-world.mjs';
import { BACKEND, freshDirectory, launch, runToEnd, scan, startDesign, until, within } from './harness.mjs';
import { people } from './social-world.mjs';

const SEED = Number(process.env.COPY_SEED ?? Date.now() % 1e6);
const skip = BACKEND ? 'copies from the directories of servers that have their tables' : false;

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

test('a directory becomes another, with secret, stream and TTL; a server that has it is named instead', { skip }, async () => {
  const app = await startDesign('social');
  const { ann, ben } = await people(app, 'ann', 'ben');
  await ben.put('/users/ben/following/ann');
  await ann.post('/posts', { content: 'Hello' });
  await app.settled();
  const to = freshDirectory();
  assert.match(await copied(1, app.data, to, '--design', social), /in use by another process.*--from http:\/\/127\.0\.0\.1/s);
  await app.server.stop();
  const nowhere = join(to, 'below');
  assert.match(await copied(0, app.data, nowhere, '--design', social, '--dry-run'), /about \d+ items.*the table is made at/s);
  assert.match(await copied(1, app.data, nowhere, '--design', social, '--verify'), /there is no table/);
  assert.ok(!existsSync(nowhere), 'looking makes nothing');
  assert.match(await copied(0, app.data, to, '--design', social), /done\. \d+ items/);
  assert.equal(readFileSync(join(to, 'token-secret'), 'utf8'), readFileSync(join(app.data, 'token-secret'), 'utf8'));
  for (const where of [app.data, to]) {
    const { code, stdout, stderr } = await runToEnd(['verify', '--design', social, '--data', where]);
    assert.equal(code, 0, stdout + stderr);
  }
  assert.match(await copied(0, app.data, to, '--design', social, '--verify'), /the same on both sides/);
  assert.match(await copied(1, app.data, to, '--design', social), /was switched to/);
});

test('a design that is in use moves: nothing is delivered or told twice, what was under way is done, a token still holds', { skip }, async () => {
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

test('the switch waits for the processors of the source: what they have not done is refused, settled, or dropped', { skip }, async () => {
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
  assert.match(await copied(3, app.data, to, '--design', social), /have not processed all changes \(.*deliver a post to followers.*--settle/s);
  const said = await copied(0, app.data, to, '--design', social, '--settle');
  assert.match(said, /on the changes left at/);
  assert.match(said, /done\. /);
  const there = await fresh({ data: to });
  const rows = (await scan(there.doc, app.table)).filter(({ PK }) => PK === 'FEED#ben');
  assert.deepEqual(rows.map((row) => row.post_id), [post_id]);
});

test('a server that has the design at the target already does nothing because of the copy, and goes on after the switch', { skip }, async () => {
  const [app, there] = [await startDesign('social'), await startDesign('social')];
  const { ann, ben } = await people(app, 'ann', 'ben');
  await ben.put('/users/ben/following/ann');
  for (let i = 0; i < 10; i += 1) await ann.post('/posts', { content: `Post ${i}` });
  await copied(3, app.server.endpoint, there.server.endpoint, '--design', social);
  await ann.post('/posts', { content: 'Meanwhile' });
  await app.settled();
  await copied(0, app.server.endpoint, there.server.endpoint, '--design', social, '--switch');
  const before = (await app.items()).sort(byKey);
  assert.deepEqual((await there.items()).sort(byKey), before);
  const { body: { post_id } } = await (await there.as('ann')).post('/posts', { content: 'At the new place' });
  const rows = await until('the new post to be delivered', async () => {
    const found = (await there.items()).filter((row) => row.PK === 'FEED#ben');
    return found.some((row) => row.post_id === post_id) && found;
  });
  assert.equal(rows.length, 12);
});
