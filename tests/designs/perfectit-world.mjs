// What the tests of designs/perfectit.yaml share: people, categories, and an audit of the whole table: every key, every counter, every word.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { gunzipSync } from 'node:zlib';
import { Caller, until } from './harness.mjs';

export const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
export const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/;
/** A timestamp so many hours before now. */
export const ago = (hours) => `${new Date(Date.now() - hours * 36e5).toISOString().slice(0, 19)}Z`;
export const of = (name) => (items) => items.map((item) => item[name]);
export const ids = of('cardId');
export const inflate = (bytes) => JSON.parse(gunzipSync(bytes).toString());
/** −3 → 4999999997: as numbers sort among texts. */
export const encoded = (score) => String(score + 5_000_000_000).padStart(10, '0');

const KEYS = ['PK', 'SK', ...[1, 2, 3, 4, 5].flatMap((n) => [`GSI${n}PK`, `GSI${n}SK`])];

const request = Caller.prototype.request;
Caller.prototype.request = async function listen(method, path, options) {
  const reply = await request.call(this, method, path, options);
  const text = JSON.stringify(reply.body) ?? '';
  if (!path.startsWith('/call') && !path.startsWith('/openapi')) {
    for (const name of ['password_hash', '$2b$', ...KEYS.map((key) => `"${key}":`)]) assert.ok(!text.includes(name), `${method} ${path} tells ${name}: ${text}`);
  }
  return reply;
};

/** Profiles without a password, made by an operator; gives callers by name. */
export async function people(app, ...names) {
  const operator = await app.operator();
  await Promise.all(names.map((name) => operator.post('/users', { userId: name, username: name })));
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await app.as(name)])));
}

/** A card that was published then, with that many votes. */
export const published = (operator, cardId, authorId, category, publishedAt, more = {}) =>
  operator.post('/cards', { cardId, authorId, category, title: `About ${cardId}`, status: 'PUBLISHED', publishedAt, createdAt: publishedAt, ...more });

/** Every item but those that processors make of the others, at a time of their own. */
export const things = async (app) => (await app.items()).filter(({ entityType }) => !['Controversy', 'DailyMetric', 'Notification'].includes(entityType));

// ---------------------------------------------------------------- the audit

const keysOf = (item) => Object.fromEntries(KEYS.filter((key) => key in item).map((key) => [key, item[key]]));
const sum = (list, by) => list.reduce((total, each) => total + by(each), 0);

function auditCard(card, of_) {
  const { cardId: id, authorId, createdAt, publishedAt, status } = card;
  assert.ok(id && authorId && status && TIME.test(createdAt), `a ghost: ${JSON.stringify(card)}`);
  assert.deepEqual(keysOf(card), {
    PK: `CARD#${id}`, SK: 'METADATA', GSI2PK: `USER#${authorId}`, GSI2SK: `CREATED#${createdAt}`,
    ...(status === 'PUBLISHED' && {
      GSI1PK: `CAT#${card.category}`, GSI1SK: `CREATED#${publishedAt}`, GSI3PK: `DATE#${publishedAt.slice(0, 10)}`, GSI3SK: `CREATED#${publishedAt}#${id}`,
      GSI5PK: 'VOTETYPE#CARD', GSI5SK: `SCORE#${encoded(card.voteScore)}#${id}`,
    }),
  });
  assert.equal(card.id, id);
  assert.equal('expiresAt' in card, status === 'DRAFT', `${id} is ${status}`); // P8
  const votes = of_('Vote').filter((vote) => vote.targetType === 'CARD' && vote.targetId === id);
  assert.deepEqual(
    { voteScore: card.voteScore, upVotes: card.upVotes, downVotes: card.downVotes, commentCount: card.commentCount },
    {
      voteScore: sum(votes, (vote) => vote.voteValue), upVotes: votes.filter((vote) => vote.voteValue === 1).length,
      downVotes: votes.filter((vote) => vote.voteValue === -1).length, commentCount: of_('Comment').filter((comment) => comment.cardId === id).length,
    },
    `the counts of ${id}`,
  );
}

function auditVote(vote, cards, comments) {
  const { userId, targetId, createdAt } = vote;
  assert.deepEqual(keysOf(vote), {
    PK: `VOTE#${userId}#${targetId}`, SK: 'VOTE', GSI1PK: `TARGET#${targetId}`, GSI1SK: `VOTE#${createdAt}`, GSI2PK: `USER#${userId}`, GSI2SK: `VOTE#${createdAt}`,
  });
  assert.ok([1, -1].includes(vote.voteValue));
  const target = vote.targetType === 'CARD' ? cards.get(targetId) : comments.get(targetId);
  assert.ok(target, `${userId} has voted on nothing: ${targetId}`);
  assert.deepEqual([vote.targetPK, vote.targetSK], [target.PK, target.SK]); // P5
}

/** A card's place in the list by votes, and the copies of its title, come after it. */
const settled = (app) => until('what follows a change to have followed', async () => {
  const items = await app.items();
  const titles = new Map(items.filter((item) => item.SK === 'METADATA').map((item) => [item.PK, item.status === 'PUBLISHED' ? item.title : undefined]));
  return items.every((item) => (item.GSI5PK !== 'VOTETYPE#CARD' || item.GSI5SK === `SCORE#${encoded(item.voteScore)}#${item.cardId}`)
    && (item.entityType !== 'CardInCollection' || item.title === titles.get(item.GSI1PK)));
});

/** Everything in the table follows from everything else in it; gives the items. */
export async function audit(app) {
  await settled(app);
  const items = await app.items();
  const of_ = (type) => items.filter((item) => item.entityType === type);
  const by = (type, name) => new Map(of_(type).map((item) => [item[name], item]));
  const cards = by('PerfectionCard', 'cardId');
  const comments = by('Comment', 'commentId');
  for (const card of cards.values()) auditCard(card, of_);
  for (const vote of of_('Vote')) auditVote(vote, cards, comments);
  for (const comment of of_('Comment')) {
    const { cardId, commentId, authorId, createdAt } = comment;
    assert.ok(cards.has(cardId), `a comment of nothing: ${commentId}`);
    assert.deepEqual(keysOf(comment), { PK: `CARD#${cardId}`, SK: `COMMENT#${createdAt}#${commentId}`, GSI1PK: `USER#${authorId}`, GSI1SK: `COMMENT#${createdAt}` });
    const votes = of_('Vote').filter((vote) => vote.targetType === 'COMMENT' && vote.targetSK === comment.SK && vote.targetPK === comment.PK);
    assert.equal(comment.voteScore, sum(votes, (vote) => vote.voteValue), `the votes of ${commentId}`);
  }
  const collections = by('Collection', 'collectionId');
  for (const row of of_('CardInCollection')) {
    const { collectionId, cardId } = row;
    assert.deepEqual(keysOf(row), {
      PK: `COLLECTION#${collectionId}`, SK: `CARD#${cardId}`, GSI1PK: `CARD#${cardId}`, GSI1SK: `COLLECTION#${collectionId}`,
      GSI2PK: `COLLECTION#${collectionId}`, GSI2SK: `POSITION#${String(row.position).padStart(6, '0')}#${row.addedAt}#${cardId}`,
    });
    assert.equal(row.userId, collections.get(collectionId)?.userId, `${cardId} in ${collectionId}`);
    assert.equal(row.title, cards.get(cardId)?.status === 'PUBLISHED' ? cards.get(cardId).title : undefined, `the title of ${cardId} in ${collectionId}`);
  }
  for (const { userId, collectionId, cardCount, ...item } of collections.values()) {
    assert.deepEqual(keysOf(item), { PK: `USER#${userId}`, SK: `COLLECTION#${collectionId}`, GSI1PK: `COLLECTION#${collectionId}`, GSI1SK: 'METADATA' });
    assert.equal(cardCount, of_('CardInCollection').filter((row) => row.collectionId === collectionId).length, `the cards of ${collectionId}`);
  }
  for (const token of items.filter((item) => item.SK.startsWith('SEARCH#'))) { // P3
    assert.deepEqual(token, { PK: token.PK, SK: token.SK, GSI4PK: token.SK, GSI4SK: token.PK });
    assert.equal(cards.get(token.PK.slice(5))?.status, 'PUBLISHED', `${token.PK} ${token.SK}`);
  }
  const guards = (prefix, SK) => items.filter((item) => item.PK.startsWith(prefix) && item.SK === SK).map((item) => `${item.PK.slice(prefix.length)} ${item.userId}`).sort();
  assert.deepEqual(guards('USERNAME#', 'USERNAME'), of_('User').map((user) => `${user.username} ${user.userId}`).sort()); // P12
  assert.deepEqual(guards('COLLECTIONID#', 'COLLECTIONID'), of_('Collection').map((each) => `${each.collectionId} ${each.userId}`).sort());
  return items;
}
