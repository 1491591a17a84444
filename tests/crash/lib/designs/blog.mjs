// Clients of designs/blog.yaml, and a recount of its table.
// SPDX-License-Identifier: Apache-2.0
import { Recount } from './common.mjs';

const AUTHORS = ['au0', 'au1', 'au2'];
const PEOPLE = [...AUTHORS, 're0', 're1', 're2'];
const SUBCATEGORIES = ['s0', 's1', 's2', 's3', 's4', 's5']; // so many that some are empty, and can be deleted
const MAINS = ['m0', 'm1'];

const user = (sub) => `user ${sub}`;
const authorOf = (postId) => postId.split('-')[0];
/** What a like or bookmark goes with; a comment loses its words with its author, by a processor. */
const reaction = (postId, me) => ({ under: [`post ${postId}`, user(me)], below: [user(authorOf(postId))] });
const said = (postId, me) => ({ under: [`post ${postId}`], below: [user(authorOf(postId)), user(me)] });

export const blog = {
  name: 'blog',
  subjects: () => [...PEOPLE.map((sub) => [sub, AUTHORS.includes(sub) ? ['author'] : ['reader']]), ['root', ['admin']]],

  async setUp(world) {
    for (const id of MAINS) await world.must('root', 'PUT', `/categories/${id}`, { name: id }, [{ put: `category ${id}` }]);
    for (const id of SUBCATEGORIES) await world.must('root', 'PUT', `/categories/${id}`, { name: id, parentId: 'm0' }, [{ put: `category ${id}` }]);
  },

  flows: {
    async signUp(w, me) {
      const displayName = w.text('name');
      await w.act(me, 'PUT', `/users/${me}`, { displayName, email: `${me}@example.com` }, [{ put: user(me), value: displayName }]);
    },
    async visit(w, me) { await w.act(me, 'POST', `/users/${me}/visit`, {}, [{ touch: user(me), may: true }]); },
    async rename(w, me) {
      const displayName = w.text('name');
      await w.act(me, 'PATCH', `/users/${me}`, { displayName }, [{ put: user(me), value: displayName }]);
    },
    async leave(w, me) { if (w.rng.chance(50)) await w.act(me, 'DELETE', `/users/${me}`, undefined, [{ gone: user(me) }]); },
    async write(w, me) {
      const author = AUTHORS.includes(me) ? me : w.rng.pick(AUTHORS);
      const postId = `${author}-${w.rng.below(3)}`;
      const title = w.text('title');
      const put = [{ put: `post ${postId}`, value: title, under: [user(author)] }];
      await w.act(author, 'PUT', `/posts/${postId}`, { title, subcategoryId: w.rng.pick(SUBCATEGORIES), content: title }, put);
      await w.act(author, 'POST', `/posts/${postId}/publish`, {}, [{ touch: `post ${postId}`, under: [user(author)] }]);
    },
    async edit(w) {
      const postId = w.pickPost(AUTHORS);
      const title = w.text('title');
      await w.act(authorOf(postId), 'PATCH', `/posts/${postId}`, { title, ...(w.rng.chance(30) && { subcategoryId: w.rng.pick(SUBCATEGORIES) }) },
        [{ put: `post ${postId}`, value: title, under: [user(authorOf(postId))] }]);
    },
    async state(w) {
      const postId = w.pickPost(AUTHORS);
      await w.act(authorOf(postId), 'POST', `/posts/${postId}/${w.rng.pick(['publish', 'publish', 'unpublish', 'archive'])}`, {},
        [{ touch: `post ${postId}`, under: [user(authorOf(postId))] }]);
    },
    async remove(w) {
      const postId = w.pickPost(AUTHORS);
      await w.act(w.rng.chance(30) ? 'root' : authorOf(postId), 'DELETE', `/posts/${postId}`, undefined, [{ gone: `post ${postId}` }]);
    },
    async like(w, me) {
      const postId = w.pickPost(AUTHORS);
      await w.act(me, 'PUT', `/posts/${postId}/likes/${me}`, {}, [{ put: `like ${postId} ${me}`, ...reaction(postId, me) }]);
    },
    async unlike(w, me) {
      const postId = w.pickPost(AUTHORS);
      await w.act(me, 'DELETE', `/posts/${postId}/likes/${me}`, undefined, [{ gone: `like ${postId} ${me}` }]);
    },
    async bookmark(w, me) {
      const postId = w.pickPost(AUTHORS);
      await w.act(me, 'PUT', `/users/${me}/bookmarks/${postId}`, {}, [{ put: `bookmark ${postId} ${me}`, ...reaction(postId, me) }]);
    },
    async unmark(w, me) {
      const postId = w.pickPost(AUTHORS);
      await w.act(me, 'DELETE', `/users/${me}/bookmarks/${postId}`, undefined, [{ gone: `bookmark ${postId} ${me}` }]);
    },
    async comment(w, me) {
      const parent = w.rng.chance(40) ? w.recent('comment') : undefined;
      const postId = parent?.postId ?? w.pickPost(AUTHORS);
      const body = w.text('words');
      await w.act(me, 'POST', `/posts/${postId}/comments`, { body, ...(parent && { parentId: parent.commentId }) }, (reply) => {
        if (!reply?.body) return [];
        const { commentId } = reply.body;
        w.remember('comment', { postId, commentId, me });
        return [{ put: `comment ${postId} ${commentId}`, value: body, ...said(postId, me) }];
      });
    },
    async reword(w) {
      const comment = w.recent('comment');
      if (!comment) return;
      const body = w.text('words');
      await w.act(comment.me, 'PATCH', `/posts/${comment.postId}/comments/${comment.commentId}`, { body },
        [{ put: `comment ${comment.postId} ${comment.commentId}`, value: body, ...said(comment.postId, comment.me) }]);
    },
    async unsay(w) {
      const comment = w.recent('comment');
      if (!comment) return;
      await w.act(w.rng.chance(20) ? 'root' : comment.me, 'DELETE', `/posts/${comment.postId}/comments/${comment.commentId}`, undefined,
        [{ gone: `comment ${comment.postId} ${comment.commentId}` }]);
    },
    async readNotifications(w, me) { await w.act(me, 'POST', `/users/${me}/notifications/unread/read`, {}, []); },
    async clearNotification(w, me) {
      const reply = await w.act(me, 'GET', `/users/${me}/notifications?limit=3`, undefined, []);
      const first = reply?.body?.items?.[0];
      if (first) await w.act(me, 'DELETE', `/users/${me}/notifications/${first.notificationId}`, undefined, []);
    },
    async category(w) {
      const id = w.rng.pick(SUBCATEGORIES);
      const body = { name: w.text('name'), order: w.rng.below(20), parentId: w.rng.pick(MAINS) };
      if (w.rng.chance(40)) await w.act('root', 'DELETE', `/categories/${id}`, undefined, [{ gone: `category ${id}` }]);
      else if (w.rng.chance(60)) await w.act('root', 'PUT', `/categories/${id}`, body, [{ put: `category ${id}` }]);
      else await w.act('root', 'PATCH', `/categories/${id}`, { order: body.order, parentId: body.parentId }, [{ put: `category ${id}` }]);
    },
  },
  weights: { signUp: 2, write: 3, like: 4, unlike: 3, bookmark: 2, comment: 5, remove: 1, leave: 1, category: 1 },
  people: PEOPLE,

  recount(items) {
    const r = new Recount(items);
    const there = new Map();
    const of = (...types) => items.filter((item) => types.includes(item.entityType));
    const posts = of('POST');
    const comments = of('COMMENT', 'REPLY');
    const hasUser = (sub) => r.get(`USER#${sub}`, `PROFILE#${sub}`);
    const postOf = (postId) => r.get(`POST#${postId}`, `POST#${postId}`);
    const atPost = ({ postId }) => `POST#${postId} POST#${postId}`;

    r.counter(posts, 'likeCount', of('LIKE'), atPost);
    r.counter(posts, 'bookmarkCount', of('BOOKMARK'), atPost);
    r.counter(posts, 'commentCount', comments.filter((each) => !each.isDeleted), atPost);
    const commentKey = new Map(comments.map((each) => [`${each.postId} ${each.commentId}`, `${each.PK} ${each.SK}`]));
    r.counter(comments, 'replyCount', comments.filter((each) => each.parentId && !each.isDeleted), (each) => commentKey.get(`${each.postId} ${each.parentId}`));
    r.counter(of('USER'), 'unreadNotifications', of('NOTIFICATION').filter((each) => !each.isRead), ({ userId }) => `USER#${userId} PROFILE#${userId}`);

    r.pairs(of('LIKE_GUARD').map((each) => `${each.PK} ${each.createdAt}`), of('LIKE').map((each) => `LIKE#${each.userId}#${each.postId} ${each.createdAt}`), 'likes and guards');
    r.pairs(of('BOOKMARK_GUARD').map((each) => `${each.PK} ${each.createdAt}`), of('BOOKMARK').map((each) => `BOOKMARK#${each.userId}#${each.postId} ${each.createdAt}`), 'bookmarks and guards');
    r.pairs(of('CATEGORY_CHILD').map((each) => `${each.PK} ${each.SK} ${each.name}`),
      of('CATEGORY').filter((each) => each.parentId).map((each) => `CATEGORY#${each.parentId} CHILD#${each.categoryId}#${String(each.order).padStart(6, '0')} ${each.name}`), 'links of categories');

    for (const like of of('LIKE', 'BOOKMARK')) {
      r.check(postOf(like.postId), `${like.PK} ${like.SK} has no post`);
      r.check(hasUser(like.userId), `${like.PK} ${like.SK} has no user`);
    }
    for (const mark of of('BOOKMARK')) {
      const post = postOf(mark.postId);
      r.equal(mark.postTitle, post?.status === 'PUBLISHED' ? post.title : undefined, `the title in ${mark.PK} ${mark.SK}`);
    }
    for (const each of comments) {
      r.check(postOf(each.postId), `${each.PK} ${each.SK} has no post`);
      r.check(!each.parentId || commentKey.has(`${each.postId} ${each.parentId}`), `${each.PK} ${each.SK} has no parent`);
      r.check(!each.isDeleted || each.body === '', `${each.PK} ${each.SK} is deleted and has words`);
      r.equal(each.authorName, hasUser(each.authorId)?.displayName, `the author's name in ${each.PK} ${each.SK}`);
    }
    for (const post of posts) {
      const { postId, authorId, subcategoryId, status, publishedAt } = post;
      r.check(hasUser(authorId), `${post.PK} has no author`);
      if (status === 'PUBLISHED') r.check(r.get(`CATEGORY#${subcategoryId}`, `CATEGORY#${subcategoryId}`), `${post.PK} has no category`);
      r.equal(post.GSI1PK, status === 'PUBLISHED' ? `CATEGORY#${subcategoryId}` : undefined, `GSI1PK of ${post.PK}`);
      r.equal(post.GSI3SK, `POST#${status === 'DRAFT' ? post.createdAt : publishedAt}#${postId}`, `GSI3SK of ${post.PK}`);
    }
    for (const each of of('NOTIFICATION')) r.check(hasUser(each.userId), `${each.PK} ${each.SK} has no user`);
    r.unique(of('NOTIFICATION').map((each) => `${each.userId} ${each.notificationId}`), 'notifications');
    for (const each of of('CATEGORY')) r.check(!each.parentId || r.get(`CATEGORY#${each.parentId}`, `CATEGORY#${each.parentId}`), `${each.PK} has no parent`);

    for (const each of of('USER')) there.set(user(each.cognitoSub), { value: each.displayName });
    for (const each of posts) there.set(`post ${each.postId}`, { value: each.title, under: [user(each.authorId)] });
    for (const each of of('LIKE')) there.set(`like ${each.postId} ${each.userId}`, reaction(each.postId, each.userId));
    for (const each of of('BOOKMARK')) there.set(`bookmark ${each.postId} ${each.userId}`, reaction(each.postId, each.userId));
    for (const each of of('CATEGORY')) there.set(`category ${each.categoryId}`, {});
    for (const each of comments) {
      if (!each.isDeleted) there.set(`comment ${each.postId} ${each.commentId}`, { value: each.body, ...said(each.postId, each.authorId), isNamed: true });
    }
    return { r, there };
  },
};
