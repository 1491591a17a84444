// thorpe verify --design: the demo data of each design is in order; each thing that is planted in it is named, and nothing else; --repair mends
// what follows from the items.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, clientsFor, freshDirectory, runToEnd, startDesign, startServer } from './harness.mjs';

const demo = ['--demo', join(ROOT, 'designs', 'demo')];
const fileOf = (design) => join(ROOT, 'designs', `${design}.yaml`);
const now = '2026-01-15T10:30:00Z';

/** What the oracle says, as 'counter-differs USER#alice/PROFILE followers_count', sorted; 'pending …' where it is that. Notes apart. */
async function ask(...args) {
  const { code, stdout, stderr } = await runToEnd(['verify', '--json', ...args]);
  const all = stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line));
  const say = ({ kind, key = {}, attribute }) => [kind, Object.values(key).map((v) => Object.values(v)[0]).join('/'), attribute].filter(Boolean).join(' ')
    .replace(/\d{4}-\d\d-\d\dT[\d:]+Z/g, (time) => (time === now ? now : '<time>'));
  return {
    code, stderr, all,
    findings: all.filter(({ severity }) => severity !== 'note').map((f) => (f.severity === 'pending' ? 'pending ' : '') + say(f)).sort(),
    notes: all.filter(({ severity, kind }) => severity === 'note' && kind !== 'not-judged' && kind !== 'keeper-behind').map(say).sort(),
  };
}

/** Raw writes, by someone who knows nothing of the design. */
function hand(doc, TableName) {
  return {
    set: (PK, SK, name, value) => doc.update({
      TableName, Key: { PK, SK },
      UpdateExpression: value === undefined ? 'REMOVE #n' : 'SET #n = :v',
      ExpressionAttributeNames: { '#n': name },
      ...(value === undefined ? {} : { ExpressionAttributeValues: { ':v': value } }),
    }),
    put: (Item) => doc.put({ TableName, Item }),
    drop: (PK, SK) => doc.delete({ TableName, Key: { PK, SK } }),
    find: async (PK, prefix) => (await doc.query({ TableName, KeyConditionExpression: 'PK = :p AND begins_with(SK, :s)', ExpressionAttributeValues: { ':p': PK, ':s': prefix } })).Items,
  };
}

/** For each design: what is planted, what is said of it (`dangling`: also of references), and what is left after --repair. */
const worlds = {
  social: {
    table: 'SocialMediaApp',
    plant: async ({ set, put, drop }) => {
      await set('USER#alice', 'PROFILE', 'followers_count', 77);
      await set('USER#bob', 'PROFILE', 'status', 'asleep');
      await set('POST#p-first', 'METADATA', 'engagement_score', 5);
      await set('POST#p-croquet', 'METADATA', 'GSI2SK', 'x');
      await set('POST#p-croquet', 'METADATA', 'GSI3SK', '9999999999#2026'); // the time decides whether it is there, not what it is
      await set('USER#bob', 'FOLLOWING#alice', 'followed_is_popular', true);
      await drop('USERNAME#carol', 'USERNAME#carol');
      await set('EMAIL#dave@example.com', 'EMAIL#dave@example.com', 'user_id', 'erin');
      await put({ PK: 'EMAIL#gone@example.com', SK: 'EMAIL#gone@example.com', user_id: 'gone' });
      await drop('USER#alice', 'FOLLOWER#frank');
      await put({ PK: 'USER#alice', SK: 'FOLLOWER#gone', follower_id: 'gone', followed_id: 'alice', created_at: now });
      await put({ PK: 'USER#gone', SK: 'AUTH', password_hash: 'x', updated_at: now });
      await put({ PK: 'WHO', SK: 'KNOWS' });
      // A like whose writer died before the counter moved: one write that a transaction would have made two of.
      await put({ PK: 'POST#p-doors', SK: 'LIKE#alice', post_id: 'p-doors', user_id: 'alice', author_id: 'dave', created_at: now, like_type: 'like', GSI1PK: 'USER#alice', GSI1SK: `LIKE#${now}#p-doors` });
    },
    told: [
      'attribute-unfit USER#bob/PROFILE status',
      'companion-left USER#alice/FOLLOWER#gone',
      'companion-missing USER#alice/FOLLOWER#frank',
      'counter-differs POST#p-doors/METADATA likes_count',
      'counter-differs USER#alice/PROFILE followers_count',
      'credentials-left USER#gone/AUTH',
      'derived-differs POST#p-first/METADATA engagement_score',
      'guard-differs EMAIL#dave@example.com/EMAIL#dave@example.com user_id',
      'guard-left EMAIL#gone@example.com/EMAIL#gone@example.com',
      'guard-missing USERNAME#carol/USERNAME#carol username',
      'key-differs POST#p-croquet/METADATA GSI2SK',
      'key-differs POST#p-croquet/METADATA GSI3SK',
      'pending copy-differs USER#bob/FOLLOWING#alice followed_is_popular', // the keeper looks at a copy that changes
    ],
    notes: ['stranger WHO/KNOWS'],
    left: ['attribute-unfit USER#bob/PROFILE status'],
    undo: ({ set }) => set('USER#bob', 'PROFILE', 'status', 'active'),
  },
  blog: {
    table: 'thorpe-dev-blog',
    plant: async ({ set, put, drop }) => {
      await set('POST#post-dynamo', 'POST#post-dynamo', 'likeCount', 9);
      await set('POST#post-dynamo', 'POST#post-dynamo', 'title', undefined);
      await drop('LIKE#sub-davi#post-lisboa', 'LIKE');
      await put({ PK: 'LIKE#sub-gone#post-lisboa', SK: 'LIKE', entityType: 'LIKE_GUARD', createdAt: now });
      await set('CATEGORY#life', 'CHILD#food#000002', 'name', 'Food');
      await put({ // a comment that a cascade cut short has left
        PK: 'POST#gone', SK: `COMMENT#c1#${now}`, entityType: 'COMMENT', postId: 'gone', commentId: 'c1', authorId: 'sub-ana', body: 'x', isDeleted: false, replyCount: 0,
        createdAt: now, updatedAt: now, GSI1PK: 'COMMENT#c1', GSI1SK: 'POST#gone', GSI2PK: 'AUTHOR#sub-ana', GSI2SK: `COMMENT#${now}#c1`, authorName: 'Ana',
      });
      await put({ // a post of a category that is not there, though its list should have kept it
        PK: 'POST#lost', SK: 'POST#lost', entityType: 'POST', postId: 'lost', authorId: 'sub-ana', subcategoryId: 'gone', title: 't', slug: 't', status: 'PUBLISHED', publishedAt: now,
        likeCount: 0, commentCount: 0, bookmarkCount: 0, createdAt: now, updatedAt: now, GSI1PK: 'CATEGORY#gone', GSI1SK: `POST#${now}#lost`, GSI2PK: 'AUTHOR#sub-ana',
        GSI2SK: `POST#${now}#lost`, GSI3PK: 'STATUS#PUBLISHED', GSI3SK: `POST#${now}#lost`,
      });
      await set('USER#sub-ana', 'PROFILE#sub-ana', 'entityType', 'ROBOT');
    },
    told: [
      'attribute-missing POST#post-dynamo/POST#post-dynamo title',
      'companion-differs CATEGORY#life/CHILD#food#000002 name',
      'counter-differs POST#post-dynamo/POST#post-dynamo likeCount',
      'guard-left LIKE#sub-gone#post-lisboa/LIKE',
      'guard-missing LIKE#sub-davi#post-lisboa/LIKE userId',
      'misfit USER#sub-ana/PROFILE#sub-ana entityType',
      `orphan POST#gone/COMMENT#c1#${now}`,
      'pending copy-differs USER#sub-davi/BOOKMARK#post-dynamo#<time> postTitle',
      'requirement-broken POST#lost/POST#lost',
    ],
    left: ['attribute-missing POST#post-dynamo/POST#post-dynamo title', 'misfit USER#sub-ana/PROFILE#sub-ana entityType', 'requirement-broken POST#lost/POST#lost'],
    undo: async ({ set, drop }) => {
      await set('POST#post-dynamo', 'POST#post-dynamo', 'title', 'DynamoDB');
      await set('USER#sub-ana', 'PROFILE#sub-ana', 'entityType', 'USER');
      await drop('POST#lost', 'POST#lost');
    },
  },
  perfectit: {
    table: 'perfectit-main',
    plant: async ({ set, put, drop }) => {
      await set('CARD#card-shelf', 'METADATA', 'upVotes', undefined);
      await set('CARD#card-shelf', 'METADATA', 'viewCount', 5000); // an action adds to it: nobody can tell
      await set('CARD#card-floor', 'METADATA', 'instructionsEncoding', 'zip');
      await set('CARD#card-draft', 'METADATA', 'expiresAt', Math.floor(Date.now() / 1000) - 60);
      await set('CARD#card-paint', 'METADATA', 'voteScore', 3);
      await drop('CARD#card-sourdough', 'SEARCH#bread');
      await put({ PK: 'CARD#card-sourdough', SK: 'SEARCH#cake', GSI4PK: 'SEARCH#cake', GSI4SK: 'CARD#card-sourdough' });
      await drop('USERNAME#hana', 'USERNAME');
      await put({ PK: 'USER#gone', SK: 'AUTH', password_hash: 'x' });
      await put({ // a vote on a comment that is gone
        PK: 'VOTE#hana#c9', SK: 'VOTE', entityType: 'Vote', id: 'hana-c9', userId: 'hana', targetId: 'c9', targetType: 'COMMENT', voteValue: 1, cardId: 'card-shelf', commentedAt: now,
        createdAt: now, updatedAt: now, GSI1PK: 'TARGET#c9', GSI1SK: `VOTE#${now}`, GSI2PK: 'USER#hana', GSI2SK: `VOTE#${now}`, targetPK: 'CARD#card-shelf', targetSK: `COMMENT#${now}#c9`,
      });
      await put({ PK: 'METRICS#2026-01-01', SK: 'odd', entityType: 'DailyMetric', date: '2026-01-01', metric: 'odd', total: 99 }); // a processor counts there
    },
    told: [
      'companion-left CARD#card-sourdough/SEARCH#cake',
      'companion-missing CARD#card-sourdough/SEARCH#bread',
      'counter-differs CARD#card-paint/METADATA voteScore',
      'counter-differs CARD#card-shelf/METADATA upVotes',
      'credentials-left USER#gone/AUTH',
      'guard-missing USERNAME#hana/USERNAME username',
      'key-differs CARD#card-floor/METADATA instructionsEncoding',
      'orphan VOTE#hana#c9/VOTE',
      'pending key-differs CARD#card-paint/METADATA GSI5SK', // the keeper sees that the counter moved
    ],
    left: [],
    gone: [['CARD#card-draft', 'METADATA']], // it has expired: nothing is said about it
  },
  fus: {
    table: 'fus-main',
    plant: async ({ set, put, drop }) => {
      await set('USER#sub-carl', 'SITE#01JD0000000000000000000001', 'starRating', 1);
      await set('USER#sub-dora', 'SITE#01JD0000000000000000000001', 'note', 'x'.repeat(2001));
      await drop('SITE#01JD0000000000000000000003', 'TAG#reference');
      await put({ PK: 'SITE#01JD0000000000000000000003', SK: 'TAG#odd', tag: 'odd', siteId: 'SITE#01JD0000000000000000000003' });
      await put({ PK: 'USER#sub-carl', SK: 'SITE#gone', stars: 3, starRating: 3, siteId: 'SITE#gone', createdAt: now, updatedAt: now });
      await put({ PK: 'USER#sub-carl', SK: 'MEMBERSHIP#gone', userId: 'sub-carl', groupName: 'gone', addedAt: now, addedBy: 'x' });
    },
    told: [
      'attribute-unfit USER#sub-dora/SITE#01JD0000000000000000000001 note',
      'companion-left SITE#01JD0000000000000000000003/TAG#odd',
      'companion-missing SITE#01JD0000000000000000000003/TAG#reference',
      'key-differs USER#sub-carl/SITE#01JD0000000000000000000001 starRating',
      'orphan USER#sub-carl/MEMBERSHIP#gone',
      'orphan USER#sub-carl/SITE#gone',
    ],
    dangling: ['dangling USER#sub-carl/MEMBERSHIP#gone groupName', 'dangling USER#sub-carl/SITE#gone site'],
    left: ['attribute-unfit USER#sub-dora/SITE#01JD0000000000000000000001 note'],
    undo: ({ set }) => set('USER#sub-dora', 'SITE#01JD0000000000000000000001', 'note', 'short'),
  },
  wavyblog: {
    table: 'WavyBlog',
    plant: async ({ set, put, drop }) => {
      await set('POST#house-rules', 'METADATA#house-rules', 'GSI1SK', undefined);
      await drop('SLUG#my-first-post', 'SLUG#my-first-post');
      await put({ PK: 'SLUG#kept-free', SK: 'SLUG#kept-free' }); // by hand: no guard is without its PostID
      await put({ PK: 'SLUG#old', SK: 'SLUG#old', PostID: 'post_1' });
      await put({
        PK: 'USER#twin', SK: 'METADATA#twin', EntityType: 'USER', Username: 'twin', Email: 'maria@example.com', Role: 'user', CreatedAt: now, UpdatedAt: now, PasswordHash: 'x',
      });
      await put({
        PK: 'POST#left', SK: 'METADATA#left', EntityType: 'POST', PostID: 'post_2', Slug: 'left', Title: 't', AuthorID: 'gone', Category: 'travel', IsPublished: true, CreatedAt: now,
        UpdatedAt: now, GSI1PK: 'POSTS_BY_USER#gone', GSI1SK: `POST#${now}`, GSI2PK: 'POSTS_BY_CAT#travel', GSI2SK: `POST#${now}`,
      });
      await put({ PK: 'SLUG#left', SK: 'SLUG#left', PostID: 'post_2' });
    },
    told: [
      'guard-left SLUG#old/SLUG#old',
      'guard-missing SLUG#my-first-post/SLUG#my-first-post Slug',
      'key-differs POST#house-rules/METADATA#house-rules GSI1SK',
      'orphan POST#left/METADATA#left',
      'unique-clash USER#twin/METADATA#twin Email',
    ],
    notes: ['stranger SLUG#kept-free/SLUG#kept-free'],
    dangling: ['dangling POST#left/METADATA#left AuthorID'],
    left: ['unique-clash USER#twin/METADATA#twin Email'],
    undo: ({ drop }) => drop('USER#twin', 'METADATA#twin'),
  },
};

for (const [design, world] of Object.entries(worlds))
  test(`${design}: what is planted in the demo data is named, and nothing else; what follows from the items is mended`, async () => {
    const data = freshDirectory();
    const place = ['--design', fileOf(design), '--data', data];
    const byHand = async (work) => {
      const server = await startServer({ data });
      const { ddb, doc } = clientsFor(server.endpoint);
      await work(hand(doc, world.table));
      ddb.destroy();
      await server.stop();
    };
    let app = await startDesign(design, { data, args: demo, check: false });
    await app.settled();
    const running = await ask('--design', fileOf(design), '--endpoint', app.server.endpoint);
    assert.deepEqual([running.findings, running.notes, running.code], [[], [], 0], running.stderr);
    await app.server.stop();
    const clean = await ask(...place);
    assert.deepEqual([clean.findings, clean.notes, clean.code], [[], [], 0], clean.stderr);

    await byHand(world.plant);
    const told = await ask(...place);
    assert.deepEqual(told.findings, [...world.told].sort(), told.stderr);
    assert.deepEqual(told.notes, [...(world.notes ?? []), ...(world.dangling ?? [])].sort());
    assert.equal(told.code, 1);
    for (const { sentence } of told.all) assert.match(sentence, /^\S.*[^.]$/);

    const shown = await ask(...place, '--repair'); // says what it would do, and does nothing
    assert.deepEqual(shown.findings, told.findings);
    assert.ok(shown.all.some(({ mend }) => mend));
    assert.match(shown.stderr, /nothing was changed; --yes does it/);
    const repaired = await ask(...place, '--repair', '--yes');
    assert.equal(repaired.code, world.left.length ? 1 : 0, repaired.stderr);
    const after = await ask(...place);
    assert.deepEqual(after.findings.filter((line) => !line.startsWith('pending ')), world.left);
    assert.deepEqual(after.notes, world.notes ?? []);

    if (world.undo) await byHand(world.undo);
    app = await startDesign(design, { data }); // the keeper sees to what was pending; the end of the test asks the oracle
    await app.settled();
    for (const [PK, SK] of world.gone ?? []) assert.equal(await app.item(PK, SK), undefined);
  });

test('what others do meanwhile is no finding, and what is wrong is found in the midst of it', async () => {
  const app = await startDesign('social', { oracle: ['counter-differs'] });
  const operator = await app.operator();
  await Promise.all(['ann', 'bob', 'cid'].map((id) => operator.post('/users', { user_id: id, username: id, email: `${id}@x.org` })));
  const ann = await app.as('ann');
  let stop = false;
  const busy = async (who) => {
    const caller = await app.as(who);
    while (!stop) {
      const { body } = await caller.post('/posts', { content: 'x', hashtags: ['a'] });
      await caller.put(`/posts/${body.post_id}/likes/${who}`, {});
      await caller.delete(`/posts/${body.post_id}`);
    }
  };
  const work = ['bob', 'cid'].map(busy);
  await ann.post('/posts', { content: 'y' });
  const quiet = await ask('--design', fileOf('social'), '--endpoint', app.server.endpoint);
  assert.deepEqual([quiet.findings.filter((line) => !line.startsWith('pending ')), quiet.code], [[], 0], quiet.stderr);
  await hand(app.doc, app.table).set('USER#ann', 'PROFILE', 'posts_count', 9);
  const found = await ask('--design', fileOf('social'), '--endpoint', app.server.endpoint);
  assert.ok(found.findings.includes('counter-differs USER#ann/PROFILE posts_count'), JSON.stringify(found.findings));
  assert.equal(found.code, 1);
  const repaired = await ask('--design', fileOf('social'), '--endpoint', app.server.endpoint, '--repair', '--yes');
  assert.equal((await ann.get('/users/ann')).body.posts_count, 1, repaired.stderr);
  stop = true;
  await Promise.all(work);
});

test('what cannot be looked at is told, and flags that make no sense are refused', async () => {
  const data = freshDirectory();
  const social = fileOf('social');
  const server = await startServer({ data });
  const held = await ask('--design', social, '--data', data);
  assert.equal(held.code, 1);
  assert.match(held.stderr, /in use|another process/i);
  const none = await ask('--design', social, '--endpoint', server.endpoint);
  assert.match(none.stderr, /social: there is no table SocialMediaApp/);
  await server.stop();
  assert.match((await ask('--design', social, '--endpoint', 'http://127.0.0.1:9')).stderr, /social: /);
  assert.equal((await ask('--repair')).code, 2);
  assert.equal((await ask('--design', social, '--endpoint', 'http://x', '--data', data)).code, 2);
  assert.match((await ask('--design', '/nowhere.yaml')).stderr, /nowhere/);
  const { stdout } = await runToEnd(['verify', '--help']);
  assert.doesNotMatch(stdout, /all counters/);
});

test('an endpoint that refuses the credentials is told with what to do about it', async () => {
  const dir = freshDirectory();
  writeFileSync(join(dir, 'keys'), 'AKIDEXAMPLE right-secret\n', { mode: 0o600 });
  const server = await startServer({ data: null, args: ['--keys', join(dir, 'keys')] });
  const told = async (env) => runToEnd(['verify', '--design', fileOf('fus'), '--endpoint', server.endpoint], { env });
  for (const [env, words] of [
    [{ AWS_ACCESS_KEY_ID: 'AKIDNOBODY', AWS_SECRET_ACCESS_KEY: 'right-secret' }, /does not know the access key/],
    [{ AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'wrong' }, /the secret is not that of the access key/],
  ]) {
    const { code, stderr } = await told(env);
    assert.equal(code, 1);
    assert.match(stderr, words);
  }
  assert.match((await told({ AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: 'right-secret' })).stderr, /there is no table/);
  await server.stop();
});
