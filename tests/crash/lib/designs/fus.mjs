// Clients of designs/fus.yaml, and a recount of its table.
// SPDX-License-Identifier: Apache-2.0
import { Recount } from './common.mjs';

const PEOPLE = ['u0', 'u1', 'u2', 'u3', 'u4'];
const SITES = ['s0', 's1', 's2', 's3'];
const GROUPS = ['g0', 'g1', 'g2'];
const TAGS = ['red', 'green', 'blue', 'black'];
const PERMISSIONS = ['site:write', 'site:delete', 'rating:delete', 'comment:delete', 'member:write'];

export const fus = {
  name: 'fus',
  subjects: () => [...PEOPLE.map((name) => [name, []]), ['root', ['admin']]],

  async setUp(world) {
    for (const name of GROUPS) await world.must('root', 'PUT', `/groups/${name}`, { permissions: PERMISSIONS }, [{ put: `group ${name}` }]);
  },

  flows: {
    async list(w, me) {
      const id = w.rng.pick(SITES);
      const title = w.text('title');
      await w.act(w.rng.chance(40) ? 'root' : me, 'PUT', `/sites/${id}`, { url: `https://${id}.example.com/`, title, tags: w.rng.sample(TAGS, w.rng.below(4)) },
        [{ put: `site ${id}`, value: title }]);
    },
    async edit(w, me) {
      const id = w.rng.pick(SITES);
      const title = w.text('title');
      await w.act(w.rng.chance(40) ? 'root' : me, 'PATCH', `/sites/${id}`, { title, tags: w.rng.sample(TAGS, w.rng.below(4)) }, [{ put: `site ${id}`, value: title }]);
    },
    async refresh(w) {
      const id = w.rng.pick(SITES);
      await w.act('root', 'POST', `/sites/${id}/refresh`, { scrapedContent: w.text('content') }, [{ touch: `site ${id}` }]);
    },
    async unlist(w, me) {
      const id = w.rng.pick(SITES);
      await w.act(w.rng.chance(50) ? 'root' : me, 'DELETE', `/sites/${id}`, undefined, [{ gone: `site ${id}` }]);
    },
    async rate(w, me) {
      const site = w.rng.pick(SITES);
      const stars = w.rng.between(1, 5);
      await w.act(me, 'POST', `/users/${me}/ratings/${site}/rate`, { stars, note: 'mine' }, [{ put: `rating ${site} ${me}`, value: stars, under: [`site ${site}`], may: true }]);
    },
    async rateNew(w, me) {
      const site = w.rng.pick(SITES);
      const stars = w.rng.between(1, 5);
      await w.act(me, 'PUT', `/users/${me}/ratings/${site}`, { stars }, [{ put: `rating ${site} ${me}`, value: stars, under: [`site ${site}`] }]);
    },
    async unrate(w, me) {
      const site = w.rng.pick(SITES);
      const who = w.rng.chance(70) ? me : w.rng.pick(PEOPLE); // another's: with a permission
      await w.act(me, 'DELETE', `/users/${who}/ratings/${site}`, undefined, [{ gone: `rating ${site} ${who}` }]);
    },
    async comment(w, me) {
      const site = w.rng.pick(SITES);
      const body = w.text('words');
      await w.act(me, 'POST', `/users/${me}/sites/${site}/comments`, { body }, (reply) => {
        if (!reply?.body) return [];
        const { commentId } = reply.body;
        w.remember('comment', { site, commentId, me });
        return [{ put: `comment ${me} ${site} ${commentId}`, value: body, under: [`site ${site}`] }];
      });
    },
    async reword(w) {
      const { site, commentId, me } = w.recent('comment') ?? {};
      if (!site) return;
      const body = w.text('words');
      await w.act(me, 'PATCH', `/users/${me}/sites/${site}/comments/${commentId}`, { body }, [{ put: `comment ${me} ${site} ${commentId}`, value: body, under: [`site ${site}`] }]);
    },
    async unsay(w) {
      const { site, commentId, me } = w.recent('comment') ?? {};
      if (!site) return;
      await w.act(w.rng.chance(50) ? me : w.rng.pick(PEOPLE), 'DELETE', `/users/${me}/sites/${site}/comments/${commentId}`, undefined, [{ gone: `comment ${me} ${site} ${commentId}` }]);
    },
    async group(w) {
      const name = w.rng.pick(GROUPS);
      if (w.rng.chance(30)) await w.act('root', 'DELETE', `/groups/${name}`, undefined, [{ gone: `group ${name}` }]);
      else if (w.rng.chance(60)) await w.act('root', 'PUT', `/groups/${name}`, { permissions: w.rng.sample(PERMISSIONS, 3) }, [{ put: `group ${name}` }]);
      else await w.act('root', 'PATCH', `/groups/${name}`, { permissions: w.rng.sample(PERMISSIONS, 3) }, [{ put: `group ${name}` }]);
    },
    async join(w, me) {
      const name = w.rng.pick(GROUPS);
      const who = w.rng.pick(PEOPLE);
      await w.act(w.rng.chance(70) ? 'root' : me, 'PUT', `/users/${who}/groups/${name}`, {}, [{ put: `member ${name} ${who}`, under: [`group ${name}`] }]);
    },
    async part(w, me) {
      const name = w.rng.pick(GROUPS);
      const who = w.rng.pick(PEOPLE);
      await w.act(w.rng.chance(50) ? 'root' : me, 'DELETE', `/users/${who}/groups/${name}`, undefined, [{ gone: `member ${name} ${who}` }]);
    },
  },
  weights: { list: 3, rate: 4, comment: 4, join: 3 },
  people: PEOPLE,

  recount(items) {
    const r = new Recount(items);
    const there = new Map();
    const of = (type) => items.filter((item) => item.entityType === type);
    const hasSite = (PK) => r.get(PK, 'METADATA');
    r.pairs(r.where(/^SITE#/, /^TAG#/).map((each) => `${each.siteId} ${each.SK}`), of('SITE').flatMap((site) => (site.tags ?? []).map((tag) => `${site.PK} TAG#${tag}`)), 'tags');
    for (const rating of items.filter((item) => item.starRating !== undefined)) {
      r.check(hasSite(rating.siteId), `${rating.PK} ${rating.SK} has no site`);
      r.equal([rating.starRating, rating.siteId], [rating.stars, rating.SK], `${rating.PK} ${rating.SK}`);
      there.set(`rating ${rating.SK.slice(5)} ${rating.PK.slice(5)}`, { value: rating.stars, under: [`site ${rating.SK.slice(5)}`] });
    }
    for (const comment of items.filter((item) => item.commentSk !== undefined)) {
      const [, me] = comment.PK.split('#');
      const [, site, , commentId] = comment.SK.split('#');
      r.check(hasSite(comment.siteId), `${comment.PK} ${comment.SK} has no site`);
      r.equal([comment.siteId, comment.commentSk], [`SITE#${site}`, `COMMENT#${commentId}`], `${comment.PK} ${comment.SK}`);
      there.set(`comment ${me} ${site} ${commentId}`, { value: comment.body, under: [`site ${site}`], isNamed: true });
    }
    for (const member of r.where(/^USER#/, /^MEMBERSHIP#/)) {
      r.check(r.get(`GROUP#${member.groupName}`, 'METADATA'), `${member.PK} ${member.SK} has no group`);
      there.set(`member ${member.groupName} ${member.userId}`, { under: [`group ${member.groupName}`] });
    }
    for (const site of of('SITE')) there.set(`site ${site.PK.slice(5)}`, { value: site.title });
    for (const group of of('GROUP')) there.set(`group ${group.name}`, {});
    return { r, there };
  },
};
