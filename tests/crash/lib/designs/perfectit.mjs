// Clients of designs/perfectit.yaml, and a recount of its table.
// SPDX-License-Identifier: Apache-2.0
import { Recount } from './common.mjs';

const PEOPLE = ['w0', 'w1', 'w2', 'w3', 'w4'];
const NAMES = ['name0', 'name1', 'name2', 'name3', 'name4', 'name5', 'name6'];
const CATEGORIES = ['k0', 'k1', 'k2', 'k3', 'k4', 'k5']; // so many that some are empty, and can be deleted
const COLLECTIONS = ['x0', 'x1', 'x2', 'x3'];
const WORDS = ['maple', 'walnut', 'birch', 'cedar'];

const user = (id) => `user ${id}`;
const authorOf = (cardId) => cardId.split('-')[0];
const onCard = (cardId, me) => ({ under: [`card ${cardId}`, user(me)], below: [user(authorOf(cardId))] });
const onComment = (commentId, cardId, author, me) => ({ under: [`comment ${commentId}`, user(me)], below: [user(author), `card ${cardId}`, user(authorOf(cardId))] });
const inCollection = (id, cardId, me) => ({ under: [`collection ${me} ${id}`, `card ${cardId}`], below: [user(me), user(authorOf(cardId))] });
const encoded = (score) => String(score + 5_000_000_000).padStart(10, '0');

export const perfectit = {
  name: 'perfectit',
  subjects: () => [...PEOPLE.map((name) => [name, ['user']]), ['root', ['admin']]],

  async setUp(world) {
    for (const id of CATEGORIES) await world.must('root', 'PUT', `/categories/${id}`, { name: id }, [{ put: `category ${id}` }]);
  },

  flows: {
    async signUp(w, me) { // by an operator: no password, whose hash would take most of the time
      const username = w.rng.pick(NAMES);
      await w.act('operator', 'PUT', `/users/${me}`, { username }, [{ put: user(me), value: username }]);
    },
    async rename(w, me) {
      const username = w.rng.pick(NAMES);
      await w.act(me, 'PATCH', `/users/${me}`, { username }, [{ put: user(me), value: username }]);
    },
    async leave(w, me) { if (w.rng.chance(35)) await w.act(me, 'DELETE', `/users/${me}`, undefined, [{ gone: user(me) }]); },
    async make(w, me) {
      const cardId = `${me}-${w.rng.below(3)}`;
      const title = `${w.rng.pick(WORDS)} ${w.text('t')}`;
      await w.act(me, 'PUT', `/cards/${cardId}`, { title, category: w.rng.pick(CATEGORIES), tags: w.rng.sample(WORDS, 2) },
        [{ put: `card ${cardId}`, value: title, under: [user(me)] }]);
      await w.act(me, 'POST', `/cards/${cardId}/publish`, {}, [{ touch: `card ${cardId}`, under: [user(me)] }]);
    },
    async edit(w) {
      const cardId = w.pickPost(PEOPLE);
      const title = `${w.rng.pick(WORDS)} ${w.text('t')}`;
      await w.act(authorOf(cardId), 'PATCH', `/cards/${cardId}`, { title, category: w.rng.pick(CATEGORIES) }, [{ put: `card ${cardId}`, value: title, under: [user(authorOf(cardId))] }]);
    },
    async state(w) {
      const cardId = w.pickPost(PEOPLE);
      await w.act(authorOf(cardId), 'POST', `/cards/${cardId}/${w.rng.pick(['publish', 'publish', 'archive', 'restore', 'restore'])}`, {}, [{ touch: `card ${cardId}`, under: [user(authorOf(cardId))] }]);
    },
    async view(w, me) { await w.act(me, 'POST', `/cards/${w.pickPost(PEOPLE)}/view`, {}, []); },
    async remove(w) {
      const cardId = w.pickPost(PEOPLE);
      await w.act(w.rng.chance(30) ? 'root' : authorOf(cardId), 'DELETE', `/cards/${cardId}`, undefined, [{ gone: `card ${cardId}` }]);
    },
    async vote(w, me) {
      const cardId = w.pickPost(PEOPLE);
      const voteValue = w.rng.pick([1, -1]);
      const effect = [{ put: `vote ${me} ${cardId}`, value: voteValue, ...onCard(cardId, me) }];
      await w.act(me, w.rng.chance(70) ? 'PUT' : 'PATCH', `/votes/${me}/${cardId}`, { voteValue }, effect);
    },
    async unvote(w, me) {
      const targetId = w.rng.chance(70) ? w.pickPost(PEOPLE) : w.recent('comment')?.commentId;
      if (targetId) await w.act(me, 'DELETE', `/votes/${me}/${targetId}`, undefined, [{ gone: `vote ${me} ${targetId}` }]);
    },
    async comment(w, me) {
      const cardId = w.pickPost(PEOPLE);
      const body = w.text('words');
      await w.act(me, 'POST', `/cards/${cardId}/comments`, { body }, (reply) => {
        if (!reply?.body) return [];
        const { commentId, createdAt } = reply.body;
        w.remember('comment', { cardId, commentId, createdAt, me });
        return [{ put: `comment ${commentId}`, value: body, ...onCard(cardId, me) }];
      });
    },
    async uncomment(w) {
      const { cardId, commentId, createdAt, me } = w.recent('comment') ?? {};
      if (!cardId) return;
      await w.act(w.rng.chance(40) ? authorOf(cardId) : me, 'DELETE', `/cards/${cardId}/comments/${createdAt}/${commentId}`, undefined, [{ gone: `comment ${commentId}` }]);
    },
    async voteComment(w, me) {
      const { cardId, commentId, createdAt, me: author } = w.recent('comment') ?? {};
      if (!cardId) return;
      const voteValue = w.rng.pick([1, -1]);
      await w.act(me, 'PUT', `/votes/${me}/${commentId}`, { voteValue, targetType: 'COMMENT', cardId, commentedAt: createdAt },
        [{ put: `vote ${me} ${commentId}`, value: voteValue, ...onComment(commentId, cardId, author, me) }]);
    },
    async collect(w, me) {
      const id = w.rng.pick(COLLECTIONS);
      const what = w.rng.below(10);
      if (what < 4) await w.act(me, 'PUT', `/users/${me}/collections/${id}`, { name: w.text('name') }, [{ put: `collection ${me} ${id}`, under: [user(me)] }]);
      else if (what < 5) await w.act(me, 'DELETE', `/users/${me}/collections/${id}`, undefined, [{ gone: `collection ${me} ${id}` }]);
      else {
        const cardId = w.pickPost(PEOPLE);
        const key = `row ${id} ${cardId} ${me}`;
        if (what < 9) await w.act(me, 'PUT', `/collections/${id}/cards/${cardId}`, { position: w.rng.below(20) }, [{ put: key, ...inCollection(id, cardId, me) }]);
        else await w.act(me, 'DELETE', `/collections/${id}/cards/${cardId}`, undefined, [{ gone: key }]);
      }
    },
    async category(w) {
      const id = w.rng.pick(CATEGORIES);
      if (w.rng.chance(35)) await w.act('root', 'DELETE', `/categories/${id}`, undefined, [{ gone: `category ${id}` }]);
      else await w.act('root', 'PUT', `/categories/${id}`, { name: id, sortOrder: w.rng.below(20) }, [{ put: `category ${id}` }]);
    },
  },
  weights: { signUp: 2, make: 7, vote: 9, comment: 4, voteComment: 2, collect: 4 },
  people: PEOPLE,

  recount(items, ledger) {
    const r = new Recount(items);
    const there = new Map();
    const of = (type) => items.filter((item) => item.entityType === type);
    const cards = of('PerfectionCard');
    const votes = of('Vote');
    const hasUser = (id) => r.get(`USER#${id}`, 'PROFILE');
    const cardOf = (cardId) => r.get(`CARD#${cardId}`, 'METADATA');
    const atTarget = (vote) => `${vote.targetPK} ${vote.targetSK}`;

    r.counter(cards, 'voteScore', votes, atTarget, ({ voteValue }) => voteValue);
    r.counter(cards, 'upVotes', votes.filter(({ voteValue }) => voteValue === 1), atTarget);
    r.counter(cards, 'downVotes', votes.filter(({ voteValue }) => voteValue === -1), atTarget);
    r.counter(cards, 'commentCount', of('Comment'), ({ PK }) => `${PK} METADATA`);
    r.counter(of('Comment'), 'voteScore', votes, atTarget, ({ voteValue }) => voteValue);
    r.counter(of('Collection'), 'cardCount', of('CardInCollection'), (row) => `USER#${row.userId} COLLECTION#${row.collectionId}`);

    r.pairs(r.where(/^USERNAME#/, /./).map((each) => `${each.PK} ${each.userId}`), of('User').map((each) => `USERNAME#${each.username} ${each.userId}`), 'names and guards');
    r.pairs(r.where(/^COLLECTIONID#/, /./).map((each) => `${each.PK} ${each.userId}`), of('Collection').map((each) => `COLLECTIONID#${each.collectionId} ${each.userId}`), 'collections and guards');
    const words = (card) => [...new Set([...card.title.toLowerCase().split(/[^a-z0-9]+/), ...(card.tags ?? [])])].filter(Boolean);
    r.pairs(r.where(/^CARD#/, /^SEARCH#/).map((each) => `${each.PK} ${each.SK}`),
      cards.filter(({ status }) => status === 'PUBLISHED').flatMap((card) => words(card).map((word) => `${card.PK} SEARCH#${word}`)), 'words');
    const isDisputed = (card) => card.status === 'PUBLISHED' && card.upVotes > 0 && card.downVotes > 0;
    r.pairs(of('Controversy').map((each) => `${each.PK} ${each.disagreement}`), cards.filter(isDisputed).map((card) => `${card.PK} ${Math.min(card.upVotes, card.downVotes)}`), 'controversies');

    for (const card of cards) {
      r.check(hasUser(card.authorId), `${card.PK} has no author`);
      r.check(card.status !== 'PUBLISHED' || r.get(`CAT#${card.category}`, 'METADATA'), `${card.PK} has no category`);
      r.equal(card.GSI5SK, card.status === 'PUBLISHED' ? `SCORE#${encoded(card.voteScore)}#${card.cardId}` : undefined, `GSI5SK of ${card.PK}`);
    }
    for (const vote of votes) {
      r.check(r.get(vote.targetPK, vote.targetSK), `${vote.PK} has no target`);
      r.check(hasUser(vote.userId), `${vote.PK} has no user`);
    }
    for (const each of of('Comment')) {
      r.check(cardOf(each.cardId), `${each.PK} ${each.SK} has no card`);
      r.check(hasUser(each.authorId), `${each.PK} ${each.SK} has no user`);
    }
    for (const row of of('CardInCollection')) {
      const card = cardOf(row.cardId);
      r.check(card, `${row.PK} ${row.SK} has no card`);
      r.check(r.get(`USER#${row.userId}`, `COLLECTION#${row.collectionId}`), `${row.PK} ${row.SK} has no collection`);
      r.equal(row.title, card?.status === 'PUBLISHED' ? card.title : undefined, `the title in ${row.PK} ${row.SK}`);
    }
    for (const each of of('Collection')) r.check(hasUser(each.userId), `${each.PK} ${each.SK} has no user`);
    for (const each of of('Notification')) r.check(hasUser(each.userId), `${each.PK} ${each.SK} has no user`);
    r.unique(of('Notification').map((each) => `${each.userId} ${each.notificationId} ${each.createdAt}`), 'notifications');

    // Counted by processors, and yet each once: those acknowledged, and no more than those in doubt besides.
    for (const [metric, kind] of [['signups', 'user'], ['comments', 'comment'], ['votes', 'vote']]) {
      const total = of('DailyMetric').filter(({ SK }) => SK === metric).reduce((sum, each) => sum + each.total, 0);
      const made = ledger.created[kind] ?? 0;
      r.check(total >= made && total <= made + ledger.inDoubt, `${metric}: ${total} were counted, ${made} acknowledged, ${ledger.inDoubt} requests of all kinds are in doubt`);
    }

    for (const each of of('User')) there.set(user(each.userId), { value: each.username });
    for (const each of cards) there.set(`card ${each.cardId}`, { value: each.title, under: [user(each.authorId)] });
    for (const each of of('Category')) there.set(`category ${each.categoryId}`, {});
    const authors = new Map(of('Comment').map((each) => [each.commentId, each.authorId]));
    for (const each of of('Comment')) there.set(`comment ${each.commentId}`, { value: each.body, ...onCard(each.cardId, each.authorId), isNamed: true });
    for (const each of votes) {
      const { targetType, targetId, cardId, userId } = each;
      const place = targetType === 'CARD' ? onCard(targetId, userId) : onComment(targetId, cardId, authors.get(targetId), userId);
      there.set(`vote ${userId} ${targetId}`, { value: each.voteValue, ...place });
    }
    for (const each of of('Collection')) there.set(`collection ${each.userId} ${each.collectionId}`, { under: [user(each.userId)] });
    for (const each of of('CardInCollection')) {
      there.set(`row ${each.collectionId} ${each.cardId} ${each.userId}`, inCollection(each.collectionId, each.cardId, each.userId));
    }
    return { r, there };
  },
};
