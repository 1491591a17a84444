// The REST API of a design, each read beside the DynamoDB request under it; and a like and a follow.
// SPDX-License-Identifier: Apache-2.0
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT, THORPE, complete, say, until } from '../lib/run.mjs';
import { summary, wrk } from '../lib/measure.mjs';
import { calmly } from '../lib/steal.mjs';
import { call, startThorpe } from '../lib/servers.mjs';
import { headersOf, http, writeTemplates } from '../lib/templates.mjs';

const TABLE = 'SocialMediaApp';
/** Authors have twenty posts each; readers like, follow and have a feed of twenty rows; the others have no posts, so following them fills no feed. */
const SIZE = { authors: 1000, readers: 200, others: 8000 };
const number = (n) => String(n).padStart(8, '0');

function tokens(dir) {
  const key = createHmac('sha256', Buffer.from(readFileSync(join(dir, 'token-secret'), 'utf8').trim(), 'hex')).update('thorpe token\0social').digest();
  const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const head = encode({ alg: 'HS256', typ: 'JWT' });
  return (claims) => {
    const signed = `${head}.${encode({ iss: 'thorpe', aud: 'social', roles: [], exp: Math.floor(Date.now() / 1000) + 7200, ...claims })}`;
    return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
  };
}

/** A function for REST requests; `who`: a token, or claims for one. */
const restOf = ({ port }, token) => async (method, path, body, who) => {
  const reply = await fetch(`http://127.0.0.1:${port}/api/social${path}`, {
    method, headers: { 'content-type': 'application/json', ...(who && { authorization: `Bearer ${typeof who === 'string' ? who : token(who)}` }) }, body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(30_000),
  });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text.slice(0, 200)}`);
  return text ? JSON.parse(text) : undefined;
};

// ---------------------------------------------------------------- data

const replaced = (value, pairs) => JSON.parse(pairs.reduce((text, [from, to]) => text.split(from).join(to), JSON.stringify(value)));

async function itemAt(port, PK, SK) {
  const { text } = await call(port, 'GetItem', { TableName: TABLE, Key: { PK: { S: PK }, SK: { S: SK } } });
  const { Item } = JSON.parse(text);
  if (!Item) throw new Error(`there is no item ${PK}, ${SK}`);
  return Item;
}

async function putAll(port, items) {
  const batches = [];
  for (let at = 0; at < items.length; at += 25) batches.push(items.slice(at, at + 25));
  await Promise.all(Array.from({ length: 8 }, async () => {
    for (let batch = batches.pop(); batch; batch = batches.pop()) {
      const { status, text } = await call(port, 'BatchWriteItem', { RequestItems: { [TABLE]: batch.map((Item) => ({ PutRequest: { Item } })) } });
      if (status !== 200) throw new Error(`BatchWriteItem: ${status} ${text.slice(0, 200)}`);
    }
  }));
}

/** One user, post and feed row are made by the API; all others are written like them. */
async function fillDesign({ port }, rest, { authors, readers, others }) {
  await rest('POST', '/users', { user_id: 'u99999999', username: 'n99999999', email: 'u99999999@example.com', display_name: 'User 99999999', bio: 'Cats, croquet, curious things.', password: 'wonderland' });
  await rest('POST', '/posts', { post_id: 'p99999999', content: `Post 99999999: ${'down the rabbit hole and on '.repeat(4)}`, hashtags: [] }, { sub: 'u99999999', roles: ['user'] });
  const user = await itemAt(port, 'USER#u99999999', 'PROFILE');
  const post = await itemAt(port, 'POST#p99999999', 'METADATA');
  const made = post.created_at.S;
  const at = (n) => new Date(Date.parse(made) - (n + 1) * 60_000).toISOString().replace(/\.\d+Z$/, 'Z');
  const userOf = (n) => replaced(user, [['99999999', number(n)]]);
  const postOf = (n) => replaced(post, [['u99999999', `u${number(Math.floor(n / 20))}`], ['n99999999', `n${number(Math.floor(n / 20))}`], ['99999999', number(n)], [made, at(n % 20)]]);
  const feedOf = (reader, n) => ({
    PK: { S: `FEED#u${number(reader)}` }, SK: { S: `${at(n)}#p${number(n)}` }, GSI1PK: { S: `FEED_MANAGEMENT#u${number(reader)}` }, GSI1SK: { S: at(n) },
    user_id: { S: `u${number(reader)}` }, post_id: { S: `p${number(n)}` }, author_id: { S: 'u00000000' }, author_username: { S: 'n00000000' },
    content_preview: { S: 'Post: down the rabbit hole and on down the rabbit hole and on' }, content_type: { S: 'text' }, created_at: { S: at(n) }, inserted_at: { S: made },
    engagement_score: { N: '0' }, is_promoted: { BOOL: false }, feed_rank: { N: '1' }, expires_at: { N: `${Math.floor(Date.parse(made) / 1000) + 30 * 86_400}` },
  });
  const count = (n, what) => Array.from({ length: n }, (_, i) => what(i));
  await putAll(port, count(authors + readers + others, userOf));
  await putAll(port, count(authors * 20, postOf));
  await putAll(port, count(readers, (reader) => count(20, (n) => feedOf(authors + reader, n))).flat());
}

// ---------------------------------------------------------------- requests

const api = (operation, body) => http('POST', '/', headersOf(operation), JSON.stringify(body));

/** The requests: `under` names the DynamoDB request that a read amounts to; `slot`: how many of a reader's numbers a run may use in a second. */
function requests(token, size) {
  const each = (what) => Array.from({ length: size.readers }, (_, i) => what(`u${number(size.authors + i)}`));
  const bearer = (sub) => ({ Authorization: `Bearer ${token({ sub, roles: ['user'] })}` });
  const authors = { a: [0, size.authors] };
  const posts = { a: [0, size.authors * 20] };
  const query = (more) => ({ TableName: TABLE, ScanIndexForward: false, ...more });
  const since = `${new Date(Date.now() - 30 * 86_400_000).toISOString().slice(0, 19)}Z`;
  return {
    'GetItem (a post)': { ranges: posts, all: [api('GetItem', { TableName: TABLE, Key: { PK: { S: 'POST#p@a@@@@@@' }, SK: { S: 'METADATA' } } })] },
    'a post': { under: 'GetItem (a post)', ranges: posts, all: [http('GET', '/api/social/posts/p@a@@@@@@', {})] },
    'Query (a user\'s posts)': {
      ranges: authors,
      all: [api('Query', query({ IndexName: 'GSI1', Limit: 20, KeyConditionExpression: 'GSI1PK = :u AND begins_with(GSI1SK, :p)', ExpressionAttributeValues: { ':u': { S: 'USER#u@a@@@@@@' }, ':p': { S: 'POST#' } } }))],
    },
    'a user\'s posts': { under: 'Query (a user\'s posts)', ranges: authors, all: [http('GET', '/api/social/users/u@a@@@@@@/posts', {})] },
    'Query (a feed page)': {
      ranges: {},
      all: each((id) => api('Query', query({ Limit: 20, KeyConditionExpression: 'PK = :u AND SK >= :s', ExpressionAttributeValues: { ':u': { S: `FEED#${id}` }, ':s': { S: since } } }))),
    },
    'a feed page': { under: 'Query (a feed page)', ranges: {}, all: each((id) => http('GET', `/api/social/users/${id}/feed`, bearer(id))) },
    'a like': { slot: 150, most: size.authors * 20, ranges: {}, all: each((id) => http('PUT', `/api/social/posts/p@p@@@@@@/likes/${id}`, { ...bearer(id), 'Content-Type': 'application/json' }, '{}')) },
    'a follow': {
      slot: 100, first: size.authors + size.readers, most: size.authors + size.readers + size.others, ranges: {},
      all: each((id) => http('PUT', `/api/social/users/${id}/following/u@p@@@@@@`, { ...bearer(id), 'Content-Type': 'application/json' }, '{}')),
    },
  };
}

/** Reads must give what is counted: twenty rows of each list. */
async function check(rest, size) {
  const reader = { sub: `u${number(size.authors)}`, roles: ['user'] };
  const rows = (page) => (page.items ?? page.data ?? []).length;
  const [posts, feed, post] = [await rest('GET', `/users/u${number(7)}/posts`), await rest('GET', `/users/${reader.sub}/feed`, undefined, reader), await rest('GET', `/posts/p${number(7)}`)];
  if (rows(posts) !== 20 || rows(feed) !== 20 || post.post_id !== `p${number(7)}`) throw new Error(`a list has ${rows(posts)} posts, a feed ${rows(feed)} rows`);
}

// ---------------------------------------------------------------- measuring

const show = (n) => (n === undefined ? '–' : Math.round(n).toLocaleString('en'));

async function startDesign(size) {
  const server = await startThorpe({ args: ['--design', join(ROOT, 'designs', 'social.yaml')] });
  const token = tokens(server.dir);
  const rest = restOf(server, token);
  await fillDesign(server, rest, size);
  await check(rest, size);
  const operator = (await complete(THORPE, ['token', 'social', '--data', server.dir, '--operator'])).stdout.trim();
  const idle = () => until('the processors to be idle', async () => (await rest('GET', '/processors', undefined, operator)).idle, { seconds: 120, every: 50 });
  await idle();
  const all = Object.fromEntries(Object.entries(requests(token, size)).map(([name, { all: texts, ranges, ...more }], i) => [name, { ...more, file: writeTemplates(`rest-${i}`, ranges, texts) }]));
  return { server, all, idle };
}

export async function rest({ connections = [1, 64, 256], rounds = 3, seconds = 2, names, size = SIZE, title = 'rest' } = {}) {
  const notes = [];
  const { server, all, idle } = await startDesign(size);
  const used = {};
  const results = {};
  // A write can be made once only: each run goes on with numbers not used yet.
  const startOf = (name) => {
    const { first = 0, most } = all[name];
    const slot = all[name].slot * seconds;
    if (!slot) return 0;
    used[name] = used[name] === undefined ? first : used[name] + slot;
    if (used[name] + slot > most) throw new Error('there is nothing left to write');
    return used[name];
  };
  const wanted = Object.keys(all).filter((name) => !names || names.includes(name) || names.some((one) => all[one].under === name));
  try {
    for (const name of wanted) if (!all[name].slot) await wrk(server, all[name].file, 16, 1);
    for (const n of connections) {
      // A read and what is under it follow each other directly.
      for (let round = 0; round < rounds; round += 1) {
        for (const name of wanted) {
          try {
            ((results[name] ??= {})[n] ??= [])[round] = await calmly(async () => {
              if (all[name].slot) await idle();
              return wrk(server, all[name].file, n, seconds, startOf(name));
            });
          } catch (error) {
            ((results[name] ??= {})[n] ??= [])[round] = { failed: error.message };
            notes.push(`${name}, ${n} connections: ${error.message}`);
            say(notes.at(-1));
          }
        }
        await idle();
      }
      say(`${title}, ${n} connection${n > 1 ? 's' : ''}: ${wanted.map((name) => `${name} ${show(summary(results[name][n])?.rate)}`).join(', ')} a second`);
    }
    return { rounds, seconds, under: Object.fromEntries(wanted.filter((name) => all[name].under).map((name) => [name, all[name].under])), results, notes };
  } finally {
    await server.stop();
  }
}
