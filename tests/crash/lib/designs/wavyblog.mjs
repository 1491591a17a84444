// Clients of designs/wavyblog.yaml, and a recount of its table.
// SPDX-License-Identifier: Apache-2.0
import { Recount } from './common.mjs';

const PEOPLE = ['ann', 'bob', 'cem', 'dan', 'eve'];
const EMAILS = ['e0@example.com', 'e1@example.com', 'e2@example.com', 'e3@example.com', 'e4@example.com', 'e5@example.com'];
const CATEGORIES = ['c0', 'c1', 'c2', 'c3', 'c4', 'c5', 'c6']; // so many that some are empty, and can be deleted
const SLUGS = Array.from({ length: 10 }, (_, i) => `slug${i}`);

const user = (name) => `user ${name}`;
const post = (slug) => `post ${slug}`;

export const wavyblog = {
  name: 'wavyblog',
  subjects: () => [...PEOPLE.map((name) => [name, ['user']]), ['root', ['admin']]],

  async setUp(world) {
    for (const slug of CATEGORIES) await world.must('root', 'PUT', `/categories/${slug}`, { Name: slug }, [{ put: `category ${slug}` }]);
  },

  flows: {
    async signUp(w, me) { // by an operator: no password, whose hash would take most of the time
      const Email = w.rng.pick(EMAILS);
      await w.act('operator', 'POST', '/users', { Username: me, Email }, [{ put: user(me), value: Email }]);
    },
    async email(w, me) {
      const Email = w.rng.pick(EMAILS);
      await w.act(me, 'PATCH', `/users/${me}`, { Email }, [{ put: user(me), value: Email }]);
    },
    async leave(w, me) { if (w.rng.chance(60)) await w.act(me, 'DELETE', `/users/${me}`, undefined, [{ gone: user(me) }]); },
    async write(w, me) {
      const Slug = w.rng.pick(SLUGS);
      const Title = w.text('title');
      await w.act(me, 'POST', '/posts', { Slug, Title, Category: w.rng.pick(CATEGORIES), IsPublished: w.rng.chance(70) },
        [{ put: post(Slug), value: Title, under: [user(me)] }]);
    },
    async edit(w, me) {
      const Slug = w.rng.pick(SLUGS);
      const Title = w.text('title');
      await w.act(me, 'PATCH', `/posts/${Slug}`, { Title }, [{ put: post(Slug), value: Title, under: [user(me)] }]);
    },
    async refile(w, me) {
      const Slug = w.rng.pick(SLUGS);
      await w.act(me, 'PATCH', `/posts/${Slug}`, { Category: w.rng.pick(CATEGORIES) }, [{ touch: post(Slug), under: [user(me)] }]);
    },
    async move(w, me) { // with a title of its own, or its value would be the one at the old address
      const [from, to] = w.rng.sample(SLUGS, 2);
      const Title = w.text('title');
      await w.act(me, 'PATCH', `/posts/${from}`, { Slug: to, Title }, 
        [{ gone: post(from) }, { put: post(to), value: Title, under: [user(me)], creates: true }]);
    },
    async state(w, me) {
      const Slug = w.rng.pick(SLUGS);
      await w.act(me, 'POST', `/posts/${Slug}/${w.rng.pick(['publish', 'unpublish'])}`, {}, [{ touch: post(Slug), under: [user(me)] }]);
    },
    async remove(w, me) {
      const Slug = w.rng.pick(SLUGS);
      await w.act(w.rng.chance(30) ? 'root' : me, 'DELETE', `/posts/${Slug}`, undefined, [{ gone: post(Slug) }]);
    },
    async category(w) {
      const slug = w.rng.pick(CATEGORIES);
      if (w.rng.chance(65)) await w.act('root', 'DELETE', `/categories/${slug}`, undefined, [{ gone: `category ${slug}` }]);
      else await w.act('root', 'PUT', `/categories/${slug}`, { Name: slug }, [{ put: `category ${slug}` }]);
    },
  },
  weights: { signUp: 3, write: 6, move: 3, category: 2 },
  people: PEOPLE,

  recount(items) {
    const r = new Recount(items);
    const there = new Map();
    const of = (type) => items.filter((item) => item.EntityType === type);
    r.pairs(r.where(/^USEREMAIL#/, /^USEREMAIL#/).map((each) => `${each.PK} ${each.Username}`), of('USER').map((each) => `USEREMAIL#${each.Email} ${each.Username}`), 'emails and guards');
    r.pairs(r.where(/^SLUG#/, /^SLUG#/).map((each) => `${each.PK} ${each.PostID}`), of('POST').map((each) => `SLUG#${each.Slug} ${each.PostID}`), 'slugs and guards');
    for (const [type, id] of [['USER', 'UserID'], ['POST', 'PostID'], ['CATEGORY', 'CategoryID']]) r.unique(of(type).map((each) => each[id]), id);
    for (const each of of('POST')) {
      r.check(r.get(`USER#${each.AuthorID}`, `METADATA#${each.AuthorID}`), `${each.PK} has no author`);
      r.check(r.get(`CATEGORY#${each.Category}`, `METADATA#${each.Category}`), `${each.PK} has no category`);
      r.equal([each.PK, each.GSI1PK, each.GSI2PK, each.GSI1SK], [`POST#${each.Slug}`, `POSTS_BY_USER#${each.AuthorID}`, `POSTS_BY_CAT#${each.Category}`, `POST#${each.CreatedAt}`], `keys of ${each.PK}`);
      there.set(post(each.Slug), { value: each.Title, under: [user(each.AuthorID)] });
    }
    for (const each of of('USER')) there.set(user(each.Username), { value: each.Email });
    for (const each of of('CATEGORY')) there.set(`category ${each.Slug}`, {});
    return { r, there };
  },
};
