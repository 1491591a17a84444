// designs/social.yaml: a post that nobody touches leaves the popular ones after a week, and what is old costs no reader anything.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BACKEND, NO_TTL_WITH_INDEXES, TTL_PATIENCE, startDesign, until } from './harness.mjs';
import { ago, audit, people } from './social-world.mjs';

const app = await startDesign('social');
const op = await app.operator();
const { ann } = await people(app, 'ann');
const stored = (id) => app.item(`POST#${id}`, 'METADATA');
await ann.put('/posts/young', { content: 'of today' });

test('S-A10: a post leaves the popular ones when its week is over, though nobody touches it', { skip: NO_TTL_WITH_INDEXES }, async () => {
  await op.post('/posts', { post_id: 'aging', author_id: 'ann', content: 'a week old in a moment', created_at: ago(7, BACKEND ? -20 : -3) });
  await app.settled();
  const before = await stored('aging');
  assert.equal(before.GSI3PK, 'POPULAR_POSTS');
  await until('its week is over', async () => !('GSI3PK' in await stored('aging')), TTL_PATIENCE);
  const after = await stored('aging');
  assert.equal(after.GSI2PK, before.GSI2PK, 'it stays where it was on its day');
  assert.deepEqual([after.content, after.updated_at], [before.content, before.updated_at], 'and nobody has edited it');
  assert.equal((await stored('young')).GSI3PK, 'POPULAR_POSTS');
  assert.deepEqual((await app.nobody.list('/popular')).map((each) => each.post_id), ['young']);
  await audit(app);
});

test('S-A10: of many old posts that another program put there, none is read on the way to the new ones', async () => {
  const at = ago(30);
  const item = (i) => ({
    PK: `POST#old${i}`, SK: 'METADATA', GSI1PK: 'USER#ann', GSI1SK: `POST#${at}#old${i}`, GSI2PK: `TIMELINE#${at.slice(0, 10)}`, GSI2SK: `${at}#old${i}`,
    GSI3PK: 'POPULAR_POSTS', GSI3SK: `0000000000#${at}`, post_id: `old${i}`, author_id: 'ann', author_username: 'ann', author_is_private: false, content: 'x'.repeat(500),
    content_type: 'text', created_at: at, updated_at: at, likes_count: 0, comments_count: 0, shares_count: 0, engagement_score: 0, visibility: 'public', is_deleted: false,
  });
  for (let i = 0; i < 400; i += 25) {
    await app.doc.batchWrite({ RequestItems: { [app.table]: Array.from({ length: 25 }, (_, k) => ({ PutRequest: { Item: item(i + k) } })) } });
  }
  await app.settled();
  const { Count, ConsumedCapacity } = await app.doc.query({
    TableName: app.table, IndexName: 'GSI3', KeyConditionExpression: 'GSI3PK = :p', ExpressionAttributeValues: { ':p': 'POPULAR_POSTS' }, ReturnConsumedCapacity: 'TOTAL',
  });
  assert.equal(Count, 1);
  assert.ok(ConsumedCapacity.CapacityUnits <= 1, `${ConsumedCapacity.CapacityUnits}`);
  assert.deepEqual((await app.nobody.list('/popular')).map((each) => each.post_id), ['young']);
  await app.doc.update({ // they were counted by nobody
    TableName: app.table, Key: { PK: 'USER#ann', SK: 'PROFILE' }, UpdateExpression: 'ADD posts_count :n', ExpressionAttributeValues: { ':n': 400 },
  });
  await audit(app);
});
