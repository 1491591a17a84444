// A blog with people, categories and posts in it, for the tests of this design.
// SPDX-License-Identifier: Apache-2.0
import { startDesign } from './harness.mjs';

export const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
export const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/;
export const ids = (items, name = 'postId') => items.map((item) => item[name]);

/** Ana is an admin, Bruno and Clara write, Davi and Elisa read; tech has the subcategories backend and cloud, life has food. */
export async function startBlog(options) {
  const app = await startDesign('blog', options);
  const operator = await app.operator();
  const [ana, bruno, clara, davi, elisa] = await Promise.all([
    app.as('sub-ana', 'admin'), app.as('sub-bruno', 'author'), app.as('sub-clara', 'author'), app.as('sub-davi', 'reader'), app.as('sub-elisa', 'reader'),
  ]);
  /** A post that was published then, and not now. */
  const published = (postId, authorId, subcategoryId, publishedAt, more = {}) =>
    operator.post('/posts', { postId, authorId, subcategoryId, title: `About ${postId}`, content: 'words', status: 'PUBLISHED', publishedAt, createdAt: publishedAt, ...more });
  return { app, operator, ana, bruno, clara, davi, elisa, published };
}

export async function fillBlog({ operator, ana }) {
  for (const [name, role] of [['Ana', 'admin'], ['Bruno', 'author'], ['Clara', 'author'], ['Davi', 'reader'], ['Elisa', 'reader']]) {
    const lower = name.toLowerCase();
    await operator.post('/users', { cognitoSub: `sub-${lower}`, role, displayName: name, email: `${lower}@example.com` });
  }
  for (const [categoryId, order, parentId] of [['tech', 2], ['life', 10], ['backend', 10, 'tech'], ['cloud', 2, 'tech'], ['food', 1, 'life']]) {
    await ana.post('/categories', { categoryId, order, parentId, name: `The ${categoryId}` });
  }
}

/** Every counter of every post, comment and profile against a count of what it counts. */
export function recount(items) {
  const wrong = [];
  const of = (...types) => items.filter((item) => types.includes(item.entityType));
  const check = (item, name, count) => { if (item[name] !== count) wrong.push(`${item.PK} ${item.SK}: ${name} is ${item[name]} and not ${count}`); };
  for (const post of of('POST')) {
    const mine = (...types) => of(...types).filter((item) => item.postId === post.postId);
    check(post, 'likeCount', mine('LIKE').length);
    check(post, 'bookmarkCount', mine('BOOKMARK').length);
    check(post, 'commentCount', mine('COMMENT', 'REPLY').filter((comment) => !comment.isDeleted).length);
  }
  for (const comment of of('COMMENT', 'REPLY')) {
    check(comment, 'replyCount', of('REPLY').filter((reply) => reply.parentId === comment.commentId && !reply.isDeleted).length);
  }
  for (const user of of('USER')) {
    check(user, 'unreadNotifications', of('NOTIFICATION').filter((each) => each.userId === user.cognitoSub && !each.isRead).length);
  }
  const pairs = (type, guard, key) => {
    const have = of(type).map((item) => `${type}#${item.userId}#${item.postId}`).sort();
    const guards = of(guard).map((item) => item.PK).sort();
    if (JSON.stringify(have) !== JSON.stringify(guards)) wrong.push(`${key}: ${have} against ${guards}`);
  };
  pairs('LIKE', 'LIKE_GUARD', 'likes and guards');
  pairs('BOOKMARK', 'BOOKMARK_GUARD', 'bookmarks and guards');
  const links = of('CATEGORY').filter((item) => item.parentId).map((item) => `CATEGORY#${item.parentId} CHILD#${item.categoryId}#${String(item.order).padStart(6, '0')}`).sort();
  const children = of('CATEGORY_CHILD').map((item) => `${item.PK} ${item.SK}`).sort();
  if (JSON.stringify(links) !== JSON.stringify(children)) wrong.push(`links: ${links} against ${children}`);
  return wrong;
}
