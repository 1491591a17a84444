// PerfectIt: what its processors make of the stream: notifications, the list of what people disagree about, numbers of a day.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startDesign, until } from './harness.mjs';
import { ago, audit, encoded, ids, people, published } from './perfectit-world.mjs';

const app = await startDesign('perfectit');
const operator = await app.operator();
const admin = await app.as('boss', 'admin');
const { gus, hana, ivo } = await people(app, 'gus', 'hana', 'ivo');
await operator.post('/categories', { categoryId: 'wood', name: 'Wood' });
for (const id of ['shelf', 'table']) await published(operator, id, 'gus', 'wood', ago(5));

const inbox = (name, caller) => caller.list(`/users/${name}/notifications`);
const notified = (name, caller, n) => until(`${name} to have ${n} notifications`, async () => (await inbox(name, caller)).length === n);
let comment;

test('P-A26, P-A30, P-A31: an author is told of comments and votes of others, once', async () => {
  comment = (await hana.post('/cards/shelf/comments', { body: 'Nice' })).body;
  await notified('gus', gus, 1);
  const [told] = await inbox('gus', gus);
  assert.deepEqual([told.type, told.actorId, told.cardId, told.notificationId, told.isRead], ['COMMENT', 'hana', 'shelf', comment.commentId, false]);
  assert.ok(await app.item('USER#gus', `NOTIFICATION#${comment.createdAt}#${comment.commentId}`)); // R4
  await ivo.put('/votes/ivo/shelf', { voteValue: -1 });
  await gus.put('/votes/gus/shelf', { voteValue: 1 }); // nobody is told of what he did himself
  await gus.post('/cards/shelf/comments', { body: 'Thanks' });
  await gus.put(`/votes/gus/${comment.commentId}`, { targetType: 'COMMENT', cardId: 'shelf', commentedAt: comment.createdAt, voteValue: 1 });
  await notified('hana', hana, 1); // the last of these, so the others are done
  await notified('gus', gus, 2);
  assert.deepEqual((await inbox('gus', gus)).map((each) => [each.type, each.actorId]).sort(), [['COMMENT', 'hana'], ['VOTE', 'ivo']]);
  assert.deepEqual((await inbox('hana', hana)).map((each) => [each.type, each.actorId, each.cardId]), [['VOTE', 'gus', 'shelf']]);
  await audit(app);
});

test('P-A16, P-A11: what people disagree about, as they vote', async () => {
  const place = async (id) => (await app.item(`CARD#${id}`, 'CONTROVERSY'))?.GSI5SK;
  await until('one up and one down to count as one', async () => (await place('shelf')) === `SCORE#${encoded(1)}#shelf`); // R3: the lesser of the two
  await hana.put('/votes/hana/table', { voteValue: 1 });
  await app.settled();
  assert.deepEqual(ids(await app.nobody.list('/controversial')), ['shelf'], 'of the table nobody thinks otherwise');
  await ivo.put('/votes/ivo/table', { voteValue: -1 });
  await until('the table to be there', async () => (await place('table')) === `SCORE#${encoded(1)}#table`);
  await ivo.delete('/votes/ivo/table');
  await until('the table to be off the list', async () => (await place('table')) === undefined);
  await ivo.put('/votes/ivo/table', { voteValue: -1 });
  await until('the table to be there again', async () => (await place('table')) === `SCORE#${encoded(1)}#table`);
  assert.deepEqual(ids(await app.nobody.list('/controversial')).sort(), ['shelf', 'table']);
  await gus.post('/cards/shelf/archive');
  await until('an archived card to be off the list', async () => (await place('shelf')) === undefined);
  await gus.post('/cards/shelf/restore');
  await until('a restored card to be on it', async () => (await place('shelf')) === `SCORE#${encoded(1)}#shelf`);
  await gus.post('/cards/shelf/archive');
  await until('an archived card to be off the list', async () => (await place('shelf')) === undefined);
  await gus.delete('/cards/table');
  await until('a deleted card to be off the list', async () => (await place('table')) === undefined);
  assert.deepEqual(await app.nobody.list('/controversial'), []);
});

test('P-A14: the numbers of a day are those of what happened', async () => {
  await gus.post('/cards', { cardId: 'new', title: 'New', category: 'wood' });
  await gus.post('/cards/new/publish');
  // by the day of each: the test may run over midnight
  const days = [ago(24), ago(0)].map((time) => time.slice(0, 10));
  const totals = async () => {
    const all = {};
    for (const day of days) for (const { metric, total } of await admin.list(`/metrics/${day}`)) all[metric] = (all[metric] ?? 0) + total;
    return all;
  };
  const expected = { signups: 3, cards: 1, comments: 2, votes: 6 };
  await until('the numbers to be there', async () => JSON.stringify(Object.entries(await totals()).sort()) === JSON.stringify(Object.entries(expected).sort()));
});
