// Items that an SDK has written and that do not fit their design: reported and passed over; nothing waits for them.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runToEnd, startDesign, until } from './harness.mjs';
import { people } from './social-world.mjs';

// What does not fit stays as it is, and so the oracle has something to say of it.
const app = await startDesign('social', { oracle: ['key-differs', 'companion-missing', 'copy-differs', 'counter-differs', 'derived-differs', 'orphan'] });
const operator = await app.operator();
const processor = async (name) => (await operator.get(`/processors/${encodeURIComponent(name)}`)).body;

/** The sample of the document, whose post has its id in the key only. */
const sample = (id) => ({
  PK: `POST#${id}`, SK: 'METADATA', GSI1PK: 'USER#ann', GSI1SK: `POST#2026-01-27T15:30:00Z#${id}`, GSI2PK: 'TIMELINE#2026-01-27', GSI2SK: `2026-01-27T15:30:00Z#${id}`,
  GSI3PK: 'POPULAR_POSTS', GSI3SK: '1000#2026-01-27T15:30:00Z', author_id: 'ann', author_username: 'ann', content: 'Just launched!', content_type: 'text',
  created_at: '2026-01-27T15:30:00Z', updated_at: '2026-01-27T15:30:00Z', likes_count: 25, comments_count: 5, shares_count: 2, engagement_score: 1000, visibility: 'public', is_deleted: false,
});
const put = (Item) => app.doc.put({ TableName: app.table, Item });
const metric = async (name, labels) => {
  const text = await (await fetch(`${app.server.endpoint}/metrics`)).text();
  const line = text.split('\n').find((l) => l.startsWith(`${name}{`) && labels.every((label) => l.includes(label)));
  return line ? Number(line.split(' ').at(-1)) : undefined;
};

test('posts without an id and follows of keys alone stop no station, and what follows other writes goes on', async () => {
  const { ann, ben } = await people(app, 'ann', 'ben');
  await ben.put('/users/ben/following/ann');
  const before = (await ann.post('/posts', { content: 'before' })).body;
  for (let i = 0; i < 4; i++) {
    await put(sample(`raw${i}`));
    await put({ PK: `USER#raw${i}`, SK: `FOLLOWING#ann` });
    await put({ PK: `USER#raw${i}`, SK: `FOLLOWING#ann`, GSI1PK: 'USER#ann', GSI1SK: `FOLLOWER#raw${i}`, status: 'active' });
    await ann.patch('/users/ann', { bio: `writes in between ${i}` });
  }
  await ann.patch('/users/ann', { is_private: true }); // the keeper carries it into her posts
  const after = (await ann.post('/posts', { content: 'after' })).body;
  await app.settled();
  const rows = (await ben.list('/users/ben/feed')).map((row) => row.post_id);
  assert.deepEqual(rows.sort(), [before.post_id, after.post_id].sort());
  assert.equal((await app.item(`POST#${before.post_id}`, 'METADATA')).author_is_private, true);
  await app.nobody.get(`/posts/${before.post_id}`, { status: 404 });
});

test('each station tells how many it has passed over, and why', async () => {
  await app.settled();
  for (const name of ['keeper', 'deliver a post to followers', 'fill the feed of a new follower']) {
    const { passed_over, last_passed_over, last_passed_over_at, parked } = await processor(name);
    assert.ok(passed_over.unfit >= 4, `${name}: ${JSON.stringify(passed_over)}`);
    assert.match(last_passed_over, /does not fit/, name);
    assert.match(last_passed_over_at, /Z$/);
    assert.equal(parked, 0, name);
    assert.ok(await metric('thorpe_processor_passed_over_total', [`processor="${name}"`, 'reason="unfit"']) >= 4, name);
  }
  const { code, stdout } = await runToEnd(["processors", "social", "--data", app.data, "--endpoint", app.server.endpoint]);
  assert.equal(code, 0);
  assert.match(stdout, /passed over: .*\d+ that do not fit the design/);
});

test('nothing in a page fits: it is passed over all the same, also after a restart of the reading', async () => {
  for (let i = 0; i < 300; i++) await put(sample(`all${i % 7}`));
  const { cat } = await people(app, 'cat');
  await cat.post('/posts', { content: 'behind them' });
  await operator.post('/processors/keeper/replay', { from: '2020-01-01' });
  await until('the keeper to be through', async () => (await operator.get('/processors')).body.idle);
  assert.equal((await processor('keeper')).parked, 0);
});
