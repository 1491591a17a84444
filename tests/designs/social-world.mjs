// What the tests of designs/social.yaml share: people, times, and an audit of the whole table: every key, every counter, every copy.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { Caller } from './harness.mjs';

export const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;
export const ULID = /^[0-9A-HJKMNP-TV-Z]{26}$/;

/** A timestamp so many days (and seconds) before now. */
export const ago = (days, seconds = 0) => `${new Date(Date.now() - days * 864e5 - seconds * 1e3).toISOString().slice(0, 19)}Z`;
export const epoch = (time) => Date.parse(time) / 1000;

/** Profiles without a password, made by an operator; gives callers by name. */
export async function people(app, ...names) {
  const operator = await app.operator();
  await Promise.all(names.map((name) => operator.post('/users', { user_id: name, username: name, email: `${name}@example.com` })));
  return Object.fromEntries(await Promise.all(names.map(async (name) => [name, await app.as(name)])));
}

// ---------------------------------------------------------------- what is never told

const KEYS = ['PK', 'SK', 'GSI1PK', 'GSI1SK', 'GSI2PK', 'GSI2SK', 'GSI3PK', 'GSI3SK'];
let listened = 0;

const request = Caller.prototype.request;
Caller.prototype.request = async function listen(method, path, options) {
  const reply = await request.call(this, method, path, options);
  const text = JSON.stringify(reply.body) ?? '';
  if (!path.startsWith('/call') && !path.startsWith('/openapi')) {
    listened += 1;
    for (const name of ['password_hash', 'blocks_count', 'has_blocks', '$2b$', ...KEYS.map((key) => `"${key}":`)]) {
      assert.ok(!text.includes(name), `${method} ${path} tells ${name}: ${text}`);
    }
  }
  return reply;
};

/** How many replies have been searched for keys and hashes so far; each that had one has failed its test. */
export const replies = () => listened;

// ---------------------------------------------------------------- the audit

const live = (edge) => ['active', 'muted'].includes(edge.status);
const keysOf = (item) => Object.fromEntries(KEYS.filter((key) => key in item).map((key) => [key, item[key]]));
const slug = (tag) => tag.replace(/^#/, '').toLowerCase();

const kinds = [
  ['profile', /^USER#/, /^PROFILE$/], ['auth', /^USER#/, /^AUTH$/], ['edge', /^USER#/, /^FOLLOWING#/], ['mirror', /^USER#/, /^FOLLOWER#/],
  ['block', /^USER#/, /^BLOCKED#/], ['request', /^USER#/, /^REQUEST#/],
  ['notification', /^USER#/, /^NOTIFICATION#/], ['username', /^USERNAME#/, /^USERNAME#/], ['email', /^EMAIL#/, /^EMAIL#/],
  ['post', /^POST#/, /^METADATA$/], ['like', /^POST#/, /^LIKE#/], ['comment', /^POST#/, /^COMMENT#/], ['share', /^POST#/, /^SHARE#/],
  ['popularPlace', /^POST#/, /^POPULAR$/],
  ['hashtag', /^POST#/, /^HASHTAG#/], ['commentLike', /^COMMENT#/, /^LIKE#/], ['feed', /^FEED#/, /^\d{4}-/],
];

function sorted(items) {
  const all = Object.fromEntries(kinds.map(([kind]) => [kind, []]));
  for (const item of items) {
    const found = kinds.find(([, pk, sk]) => pk.test(item.PK) && sk.test(item.SK));
    assert.ok(found, `nobody knows this item: ${JSON.stringify(item)}`);
    all[found[0]].push(item);
  }
  return all;
}

const byKey = (list, of) => new Map(list.map((each) => [of(each), each]));
const byPlace = (list) => [...list].sort((a, b) => (a.PK + a.SK < b.PK + b.SK ? -1 : 1));
const tally = (list, of) => list.reduce((map, each) => map.set(of(each), (map.get(of(each)) ?? 0) + 1), new Map());

function auditPeople(all) {
  const names = byKey(all.username, (guard) => guard.user_id);
  const emails = byKey(all.email, (guard) => guard.user_id);
  const following = tally(all.edge.filter(live), (edge) => edge.follower_id);
  const followers = tally(all.edge.filter(live), (edge) => edge.followed_id);
  const posts = tally(all.post.filter((post) => !post.is_deleted), (post) => post.author_id);
  const blocks = tally(all.edge.filter((edge) => edge.status === 'blocked').flatMap((edge) => [edge.follower_id, edge.followed_id]), (id) => id);
  for (const user of all.profile) {
    const id = user.user_id;
    const gone = user.status === 'deleted'; // and its address is free
    assert.ok(id && user.username && (gone ? !user.email : user.email) && user.status && TIME.test(user.created_at), `a ghost: ${JSON.stringify(user)}`);
    assert.deepEqual(keysOf(user), { PK: `USER#${id}`, SK: 'PROFILE', GSI1PK: `USER#${id}`, GSI1SK: 'PROFILE' });
    assert.deepEqual(names.get(id), { PK: `USERNAME#${user.username}`, SK: `USERNAME#${user.username}`, user_id: id });
    assert.deepEqual(emails.get(id), gone ? undefined : { PK: `EMAIL#${user.email}`, SK: `EMAIL#${user.email}`, user_id: id });
    assert.deepEqual(
      { posts: user.posts_count, following: user.following_count, followers: user.followers_count, blocks: user.blocks_count },
      { posts: posts.get(id) ?? 0, following: following.get(id) ?? 0, followers: followers.get(id) ?? 0, blocks: blocks.get(id) ?? 0 },
      `the counts of ${id}`,
    );
    assert.equal(user.is_popular, user.followers_count > 10000);
  }
  assert.equal(all.username.length, all.profile.length);
  assert.equal(all.email.length, all.profile.filter((user) => user.status !== 'deleted').length);
}

function auditEdges(all) {
  const users = byKey(all.profile, (user) => user.user_id);
  const mirrors = byKey(all.mirror, (mirror) => `${mirror.follower_id}>${mirror.followed_id}`);
  for (const edge of all.edge) {
    const { follower_id: a, followed_id: b, created_at: at } = edge;
    assert.deepEqual(keysOf(edge), {
      PK: `USER#${a}`, SK: `FOLLOWING#${b}`,
      ...(live(edge) && { GSI1PK: `USER#${b}`, GSI1SK: `FOLLOWER#${a}`, GSI2PK: 'FOLLOW_GRAPH', GSI2SK: `${at}#${a}#${b}` }),
    });
    assert.equal(edge.follower_username, users.get(a).username);
    assert.equal(edge.followed_username, users.get(b).username);
    assert.equal(edge.followed_is_popular, users.get(b).is_popular);
    const mirror = { PK: `USER#${b}`, SK: `FOLLOWER#${a}`, follower_id: a, followed_id: b, created_at: at };
    assert.deepEqual(mirrors.get(`${a}>${b}`), live(edge) ? mirror : undefined);
    assert.equal(edge.state, edge.status === 'muted' ? 'active' : edge.status);
  }
  assert.equal(all.mirror.length, all.edge.filter(live).length);
  const of = (status) => all.edge.filter((edge) => edge.status === status);
  assert.deepEqual(byPlace(all.block), byPlace(of('blocked').map(({ follower_id, follower_username, followed_id }) => (
    { PK: `USER#${followed_id}`, SK: `BLOCKED#${follower_id}`, follower_id, follower_username, followed_id }))));
  assert.deepEqual(byPlace(all.request), byPlace(of('pending').map(({ follower_id, follower_username, followed_id, created_at }) => (
    { PK: `USER#${followed_id}`, SK: `REQUEST#${created_at}#${follower_id}`, follower_id, follower_username, followed_id, created_at }))));
}

function auditPosts(all) {
  const users = byKey(all.profile, (user) => user.user_id);
  const likes = tally(all.like, (like) => like.PK);
  const shares = tally(all.share, (share) => share.PK);
  const comments = tally(all.comment.filter((comment) => !comment.is_deleted), (comment) => comment.PK);
  const tags = new Set();
  for (const post of all.post) {
    const { post_id: id, author_id: author, created_at: at } = post;
    assert.deepEqual(
      { likes: post.likes_count, comments: post.comments_count, shares: post.shares_count },
      { likes: likes.get(post.PK) ?? 0, comments: comments.get(post.PK) ?? 0, shares: shares.get(post.PK) ?? 0 },
      `the counts of ${id}`,
    );
    assert.equal(post.engagement_score, 20 * post.likes_count + 60 * post.comments_count + 100 * post.shares_count, `the score of ${id}`);
    assert.equal(post.author_username, users.get(author).username);
    // A deleted post is not found by 'user posts', which keeps this; nor is it shown.
    if (!post.is_deleted) assert.equal(post.author_is_private, users.get(author).is_private, `whether ${id} is of a private account`);
    const open = !post.is_deleted && post.visibility === 'public' && !post.author_is_private;
    // Older than a week: it may have been younger when it was last written.
    const popular = open && (epoch(at) > Date.now() / 1000 - 7 * 86400 || 'GSI3PK' in post);
    assert.deepEqual(keysOf(post), {
      PK: `POST#${id}`, SK: 'METADATA',
      ...(!post.is_deleted && { GSI1PK: `USER#${author}`, GSI1SK: `POST#${at}#${id}` }),
      ...(open && { GSI2PK: `TIMELINE#${at.slice(0, 10)}`, GSI2SK: `${at}#${id}` }),
      ...(popular && { GSI3PK: 'POPULAR_POSTS', GSI3SK: `${String(post.engagement_score).padStart(10, '0')}#${at}` }),
    });
    for (const tag of open ? post.hashtags ?? [] : []) tags.add(`POST#${id}|HASHTAG#${slug(tag)}`);
  }
  const posts = byKey(all.post, (post) => post.PK);
  for (const tag of all.hashtag) {
    const { post_id: id, created_at: at } = posts.get(tag.PK);
    const name = tag.SK;
    assert.deepEqual(tag, { PK: `POST#${id}`, SK: name, GSI3PK: name, GSI3SK: `${at}#${id}`, post_id: id });
  }
  assert.deepEqual(all.hashtag.map((tag) => `${tag.PK}|${tag.SK}`).sort(), [...tags].sort());
}

function auditReactions(all) {
  const posts = byKey(all.post, (post) => post.post_id);
  const users = byKey(all.profile, (user) => user.user_id);
  for (const like of all.like) {
    const { post_id: post, user_id: user, created_at: at } = like;
    assert.deepEqual(keysOf(like), { PK: `POST#${post}`, SK: `LIKE#${user}`, GSI1PK: `USER#${user}`, GSI1SK: `LIKE#${at}#${post}` });
    assert.equal(like.author_id, posts.get(post).author_id);
  }
  for (const share of all.share) {
    const { post_id: post, user_id: user, created_at: at } = share;
    assert.deepEqual(keysOf(share), { PK: `POST#${post}`, SK: `SHARE#${user}`, GSI1PK: `USER#${user}`, GSI1SK: `SHARE#${at}#${post}` });
  }
  const replies_ = tally(all.comment.filter((each) => each.parent_comment_id && !each.is_deleted), (each) => each.parent_comment_id);
  const liked = tally(all.commentLike, (like) => like.comment_id);
  for (const comment of all.comment) {
    const { comment_id: id, post_id: post, user_id: user, created_at: at, parent_comment_id: parent } = comment;
    assert.ok(posts.has(post), `${id} is a comment of nothing`);
    assert.deepEqual(keysOf(comment), {
      PK: `POST#${post}`, SK: `COMMENT#${id}`, GSI1PK: `USER#${user}`, GSI1SK: `COMMENT#${at}#${id}`, GSI2PK: `COMMENT#${id}`, GSI2SK: 'METADATA',
      ...(parent && { GSI3PK: `COMMENT#${parent}`, GSI3SK: `REPLY#${at}#${id}` }),
    });
    assert.equal(comment.username, users.get(user).username);
    assert.equal(comment.replies_count, replies_.get(id) ?? 0, `the replies of ${id}`);
    assert.equal(comment.likes_count, liked.get(id) ?? 0, `the likes of ${id}`);
  }
  for (const like of all.commentLike) {
    const { comment_id: comment, user_id: user, created_at: at } = like;
    assert.deepEqual(keysOf(like), { PK: `COMMENT#${comment}`, SK: `LIKE#${user}`, GSI1PK: `USER#${user}`, GSI1SK: `COMMENT_LIKE#${at}#${comment}` });
  }
}

function auditRows(all) {
  for (const row of all.feed) {
    const { user_id: user, post_id: post, created_at: at } = row;
    assert.deepEqual(keysOf(row), { PK: `FEED#${user}`, SK: `${at}#${post}`, GSI1PK: `FEED_MANAGEMENT#${user}`, GSI1SK: at });
    assert.equal(row.expires_at, epoch(at) + 30 * 86400);
  }
  for (const row of all.notification) {
    assert.deepEqual(keysOf(row), { PK: `USER#${row.user_id}`, SK: `NOTIFICATION#${row.created_at}#${row.notification_id}` });
    assert.equal(row.expires_at, epoch(row.created_at) + 30 * 86400);
  }
}

/** Everything in the table follows from everything else in it; gives the items by kind. */
export async function audit(app) {
  const all = sorted(await app.items());
  auditPeople(all);
  auditEdges(all);
  auditPosts(all);
  auditReactions(all);
  auditRows(all);
  return all;
}
