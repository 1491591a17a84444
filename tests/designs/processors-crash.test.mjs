// Killing the server in the middle of a fan-out: whatever had been done stays done, the rest follows, and nothing happens twice.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, scan, until } from './harness.mjs';
import { killable } from './killable.mjs';

const FOLLOWERS = Number(process.env.THORPE_FOLLOWERS ?? 2000);
const KILLS = Number(process.env.THORPE_KILLS ?? 3);

async function putAll(doc, items) {
  for (let at = 0; at < items.length; at += 25) {
    const RequestItems = { Fanout: items.slice(at, at + 25).map((Item) => ({ PutRequest: { Item } })) };
    const { UnprocessedItems } = await doc.batchWrite({ RequestItems });
    assert.deepEqual(UnprocessedItems ?? {}, {});
  }
}

const followers = Array.from({ length: FOLLOWERS }, (_, i) => `f${`${i}`.padStart(4, '0')}`);

/** Positions inside a change: what says that a fan-out is going on. */
const halfway = async (doc) => (await scan(doc, 'Fanout.thorpe')).filter(({ PK, progress }) => PK.startsWith('POSITION#') && progress);

test('a post reaches every feed exactly once though the server is killed again and again', async (t) => {
  const place = killable(t, join(ROOT, 'tests/designs/fanout/fanout.yaml'));
  let run = await place.start();
  await putAll(run.doc, followers.flatMap((id) => [
    { PK: `USER#${id}`, SK: 'PROFILE', user_id: id, deliveries: 0 },
    { PK: `USER#${id}`, SK: 'FOLLOWING#ann', user_id: id, followed_id: 'ann', GSI1PK: 'USER#ann', GSI1SK: `FOLLOWER#${id}` },
  ]));
  let posts = 0;
  for (let kill = 0; kill < KILLS; kill++) {
    const post = () => run.operator.put(`/posts/p${posts += 1}`, { author_id: 'ann' });
    await post();
    await until('a fan-out to be going on', async () => {
      if ((await halfway(run.doc)).length) return true;
      if ((await run.operator.get('/processors')).body.idle) await post(); // it was over before anyone looked
      return false;
    }, 60);
    run = await place.killAndStart(run);
  }
  await until('everything to be delivered', async () => (await run.operator.get('/processors')).body.idle, 120);
  const items = await scan(run.doc, 'Fanout');
  const feeds = {};
  for (const { PK, SK } of items) if (PK.startsWith('FEED#')) (feeds[PK] ??= []).push(SK);
  const expected = Array.from({ length: posts }, (_, i) => `POST#p${i + 1}`).sort();
  for (const id of followers) assert.deepEqual(feeds[`FEED#${id}`]?.sort(), expected, id);
  assert.equal(Object.keys(feeds).length, FOLLOWERS);
  const wrong = items.filter(({ SK, deliveries }) => SK === 'PROFILE' && deliveries !== posts);
  assert.deepEqual(wrong, []);
  await place.end(run);
});
