// Clients of designs/social.yaml, and a recount of its table.
//
// An account that is deleted leaves its name taken, so each place of the roster has a new account after that. Tokens of
// the old one are still used now and then: nothing may come of it.
// SPDX-License-Identifier: Apache-2.0
import { Recount, groupBy } from './common.mjs';

const PLACES = 6;
const generations = Array(PLACES).fill(0);
const account = (place, generation = generations[place]) => `p${place}x${generation}`;
const EMAILS = Array.from({ length: PLACES + 2 }, (_, i) => `e${i}@example.com`);
const VISIBILITIES = ['public', 'public', 'followers', 'private'];

const user = (id) => `user ${id}`;
const edge = (a, b) => `edge ${a} ${b}`;
const authorOf = (postId) => postId.split('-')[0];
const isLive = ({ status }) => status === 'active' || status === 'muted';
const pickOther = (w, me) => w.rng.pick(Array.from({ length: PLACES }, (_, i) => account(i)).filter((id) => id !== me));

export const social = {
  name: 'social',
  subjects: () => [['root', ['admin']]],
  get people() { return generations.map((_, place) => account(place)); },

  async setUp(world) {
    for (const [place, id] of this.people.entries()) {
      await world.must('operator', 'POST', '/users', { user_id: id, username: id, email: EMAILS[place] }, [{ put: user(id) }]);
    }
  },

  flows: {
    async signUp(w, me) {
      await w.act('operator', 'POST', '/users', { user_id: me, username: me, email: w.rng.pick(EMAILS) }, [{ put: user(me) }]);
    },
    async profile(w, me) { await w.act(me, 'PATCH', `/users/${me}`, { is_private: w.rng.chance(30), bio: w.text('bio') }, [{ touch: user(me) }]); },
    async leave(w, me) {
      if (!w.rng.chance(8)) return;
      const place = Number(/^p(\d+)x/.exec(me)[1]);
      const reply = await w.act(me, 'DELETE', `/users/${me}`, undefined, [{ gone: user(me) }]);
      if (reply?.status === 204 && account(place) === me) generations[place] += 1;
    },
    async post(w, me) {
      const post_id = `${me}-${w.serial()}`;
      const content = w.text('words');
      const reply = await w.act(me, 'POST', '/posts', { post_id, content, visibility: w.rng.pick(VISIBILITIES), hashtags: w.rng.sample(['#one', '#two', '#three'], w.rng.below(3)) },
        [{ put: `post ${post_id}`, value: content, under: [user(me)] }]);
      if (!reply || reply.status === 201) w.remember('post', { post_id });
    },
    async edit(w) {
      const { post_id } = w.recent('post') ?? {};
      if (!post_id) return;
      const content = w.text('words');
      await w.act(authorOf(post_id), 'PATCH', `/posts/${post_id}`, { content, visibility: w.rng.pick(VISIBILITIES) },
        [{ put: `post ${post_id}`, value: content, under: [user(authorOf(post_id))] }]);
    },
    async unpost(w) {
      const { post_id } = w.recent('post') ?? {};
      if (post_id) await w.act(authorOf(post_id), 'DELETE', `/posts/${post_id}`, undefined, [{ gone: `post ${post_id}` }]);
    },
    async follow(w, me) {
      const other = pickOther(w, me);
      await w.act(me, 'PUT', `/users/${me}/following/${other}`, {}, [{ put: edge(me, other), under: [user(me), user(other)] }]);
    },
    async unfollow(w, me) {
      const other = pickOther(w, me);
      const [from, to] = w.rng.chance(70) ? [me, other] : [other, me]; // or: a block, a request or a follower taken away
      await w.act(me, 'DELETE', `/users/${from}/following/${to}`, undefined, [{ gone: edge(from, to) }]);
    },
    async block(w, me) {
      const other = pickOther(w, me);
      await w.act(me, 'POST', `/users/${other}/following/${me}/block`, {}, [
        { put: edge(other, me), under: [user(me), user(other)], may: true }, { maybe: edge(me, other) }, // a processor ends the other direction
      ]);
    },
    async edgeState(w, me) {
      const other = pickOther(w, me);
      const what = w.rng.pick(['mute', 'unmute', 'approve']);
      const [from, to] = what === 'approve' ? [other, me] : [me, other];
      await w.act(me, 'POST', `/users/${from}/following/${to}/${what}`, {}, [{ touch: edge(from, to), under: [user(me), user(other)] }]);
    },
    async like(w, me) {
      const { post_id } = w.recent('post') ?? {};
      const kind = w.rng.pick(['likes', 'shares']);
      if (post_id) await w.act(me, 'PUT', `/posts/${post_id}/${kind}/${me}`, {}, [{ put: `${kind} ${post_id} ${me}`, under: [user(me)] }]);
    },
    async unlike(w, me) {
      const { post_id } = w.recent('post') ?? {};
      const kind = w.rng.pick(['likes', 'shares']);
      if (post_id) await w.act(me, 'DELETE', `/posts/${post_id}/${kind}/${me}`, undefined, [{ gone: `${kind} ${post_id} ${me}` }]);
    },
    async comment(w, me) {
      const parent = w.rng.chance(40) ? w.recent('comment') : undefined;
      const post_id = parent?.post_id ?? w.recent('post')?.post_id;
      if (!post_id) return;
      const content = w.text('words');
      await w.act(me, 'POST', `/posts/${post_id}/comments`, { content, ...(parent && { parent_comment_id: parent.comment_id }) }, (reply) => {
        if (!reply?.body) return [];
        const { comment_id } = reply.body;
        w.remember('comment', { post_id, comment_id, me });
        return [{ put: `comment ${comment_id}`, value: content, under: [user(me)] }];
      });
    },
    async uncomment(w) {
      const { post_id, comment_id, me } = w.recent('comment') ?? {};
      if (post_id) await w.act(w.rng.chance(20) ? 'root' : me, 'DELETE', `/posts/${post_id}/comments/${comment_id}`, undefined, [{ gone: `comment ${comment_id}` }]);
    },
    async likeComment(w, me) {
      const { post_id, comment_id } = w.recent('comment') ?? {};
      if (!post_id) return;
      const key = `commentLike ${comment_id} ${me}`;
      if (w.rng.chance(60)) await w.act(me, 'PUT', `/comments/${comment_id}/likes/${me}`, { post_id }, [{ put: key, under: [user(me)] }]);
      else await w.act(me, 'DELETE', `/comments/${comment_id}/likes/${me}`, undefined, [{ gone: key }]);
    },
    async readNotification(w, me) {
      const reply = await w.act(me, 'GET', `/users/${me}/notifications?limit=2`, undefined, []);
      const first = reply?.body?.items?.[0];
      if (first) await w.act(me, w.rng.chance(50) ? 'DELETE' : 'GET', `/users/${me}/notifications/${first.created_at}/${first.notification_id}`, undefined, []);
    },
  },
  weights: { signUp: 3, post: 4, follow: 6, like: 4, comment: 3, unfollow: 2 },

  recount(items) {
    const r = new Recount(items);
    const there = new Map();
    const users = r.where(/^USER#/, /^PROFILE$/);
    const posts = r.where(/^POST#/, /^METADATA$/);
    const edges = r.where(/^USER#/, /^FOLLOWING#/);
    const comments = r.where(/^POST#/, /^COMMENT#/);
    const likes = r.where(/^POST#/, /^LIKE#/);
    const shares = r.where(/^POST#/, /^SHARE#/);
    const commentLikes = r.where(/^COMMENT#/, /^LIKE#/);
    const profile = (id) => r.get(`USER#${id}`, 'PROFILE');
    const isGone = (id) => (profile(id)?.status ?? 'deleted') === 'deleted';
    const edgeOf = (a, b) => r.get(`USER#${a}`, `FOLLOWING#${b}`);
    const atPost = ({ PK }) => `${PK} METADATA`;
    const of = (id) => `USER#${id} PROFILE`;

    const alive = users.filter(({ status }) => status !== 'deleted');
    r.counter(alive, 'following_count', edges.filter(isLive), ({ follower_id }) => of(follower_id));
    r.counter(alive, 'followers_count', edges.filter(isLive), ({ followed_id }) => of(followed_id));
    r.counter(alive, 'posts_count', posts.filter(({ is_deleted }) => !is_deleted), ({ author_id }) => of(author_id));
    r.counter(posts, 'likes_count', likes, atPost);
    r.counter(posts, 'shares_count', shares, atPost);
    r.counter(posts, 'comments_count', comments.filter(({ is_deleted }) => !is_deleted), atPost);
    r.counter(comments, 'replies_count', comments.filter((each) => each.parent_comment_id && !each.is_deleted), (each) => `${each.PK} COMMENT#${each.parent_comment_id}`);
    r.counter(comments, 'likes_count', commentLikes, (each) => `POST#${each.post_id} COMMENT#${each.comment_id}`);

    r.pairs(r.where(/^USERNAME#/, /./).map((each) => `${each.PK} ${each.user_id}`), users.map((each) => `USERNAME#${each.username} ${each.user_id}`), 'names and guards');
    r.pairs(r.where(/^EMAIL#/, /./).map((each) => `${each.PK} ${each.user_id}`), alive.map((each) => `EMAIL#${each.email} ${each.user_id}`), 'addresses and guards');
    r.pairs(r.where(/^USER#/, /^FOLLOWER#/).map((each) => `${each.follower_id} ${each.followed_id}`), edges.filter(isLive).map((each) => `${each.follower_id} ${each.followed_id}`), 'edges and mirrors');
    r.pairs(r.where(/^USER#/, /^BLOCKED#/).map((each) => `${each.follower_id} ${each.followed_id}`), edges.filter(({ status }) => status === 'blocked').map((each) => `${each.follower_id} ${each.followed_id}`), 'blocks');
    r.pairs(r.where(/^USER#/, /^REQUEST#/).map((each) => `${each.follower_id} ${each.followed_id}`), edges.filter(({ status }) => status === 'pending').map((each) => `${each.follower_id} ${each.followed_id}`), 'requests');
    r.pairs(r.where(/^POST#/, /^HASHTAG#/).map((each) => `${each.PK} ${each.SK}`),
      posts.filter((each) => !each.is_deleted && each.visibility === 'public' && each.author_is_private === false).flatMap((each) => (each.hashtags ?? []).map((tag) => `${each.PK} HASHTAG#${tag.slice(1)}`)), 'hashtags');

    for (const each of edges) {
      r.check(!isGone(each.follower_id) && !isGone(each.followed_id), `${each.PK} ${each.SK} has no user`);
      const back = edgeOf(each.followed_id, each.follower_id);
      r.check(each.status !== 'blocked' || !back || back.status === 'blocked', `${each.follower_id} is blocked by ${each.followed_id}, who still follows: ${back?.status}`);
    }
    for (const each of posts) {
      r.equal(each.engagement_score, each.likes_count * 20 + each.comments_count * 60 + each.shares_count * 100, `the score of ${each.PK}`);
      r.check(each.is_deleted || !isGone(each.author_id), `${each.PK} has no author`);
      r.check(each.is_deleted || each.author_is_private === profile(each.author_id)?.is_private, `${each.PK} and its author disagree on is_private`);
    }
    for (const each of [...likes, ...shares, ...comments]) {
      r.check(r.get(each.PK, 'METADATA'), `${each.PK} ${each.SK} has no post`);
      r.check(!isGone(each.user_id) || each.is_deleted, `${each.PK} ${each.SK} has no user`);
    }
    for (const each of commentLikes) {
      r.check(r.get(`POST#${each.post_id}`, `COMMENT#${each.comment_id}`), `${each.PK} ${each.SK} has no comment`);
      r.check(!isGone(each.user_id), `${each.PK} ${each.SK} has no user`);
    }

    const rows = r.where(/^FEED#/, /./);
    r.unique(rows.map((row) => `${row.user_id} ${row.post_id}`), 'feed rows');
    const delivered = new Set(rows.map((row) => `${row.user_id} ${row.post_id}`));
    const isShown = (post) => post && !post.is_deleted && post.visibility !== 'private';
    for (const row of rows) {
      r.check(isShown(r.get(`POST#${row.post_id}`, 'METADATA')), `${row.PK} ${row.SK} is of a post that is not to be seen`);
      r.check(isLive(edgeOf(row.user_id, row.author_id) ?? {}), `${row.PK} ${row.SK} is of an author who is not followed`);
    }
    const shown = groupBy(posts.filter(isShown), (each) => each.author_id);
    for (const { follower_id, followed_id } of edges.filter(({ status }) => status === 'active')) {
      if (profile(followed_id)?.is_popular) continue; // pulled when a feed is read
      for (const post of shown.get(followed_id) ?? []) {
        r.check(delivered.has(`${follower_id} ${post.post_id}`), `the feed of ${follower_id} lacks ${post.post_id}`);
      }
    }
    const notifications = r.where(/^USER#/, /^NOTIFICATION#/);
    r.unique(notifications.map((each) => `${each.user_id} ${each.type} ${each.notification_id} ${each.created_at}`), 'notifications');
    for (const each of notifications) {
      const isOfPost = each.type === 'new_post';
      const about = isOfPost ? edgeOf(each.user_id, each.actor_id) : edgeOf(each.actor_id, each.user_id);
      r.check(about && (isOfPost ? isLive(about) : about.status !== 'blocked'), `${each.PK} ${each.SK} tells of an edge that is ${about?.status ?? 'not there'}`);
    }

    for (const each of alive) there.set(user(each.user_id), {});
    for (const each of edges) there.set(edge(each.follower_id, each.followed_id), { under: [user(each.follower_id), user(each.followed_id)] });
    for (const each of posts) if (!each.is_deleted) there.set(`post ${each.post_id}`, { value: each.content, under: [user(each.author_id)] });
    for (const each of likes) there.set(`likes ${each.post_id} ${each.user_id}`, { under: [user(each.user_id)] });
    for (const each of shares) there.set(`shares ${each.post_id} ${each.user_id}`, { under: [user(each.user_id)] });
    for (const each of commentLikes) there.set(`commentLike ${each.comment_id} ${each.user_id}`, { under: [user(each.user_id)] });
    for (const each of comments) if (!each.is_deleted) there.set(`comment ${each.comment_id}`, { value: each.content, under: [user(each.user_id)], isNamed: true });
    return { r, there };
  },
};
