// The REST API of a design, each read beside the DynamoDB requests under it; and a like and a follow.
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
export const number = (n) => String(n).padStart(8, '0');

export function tokens(dir) {
  const key = createHmac('sha256', Buffer.from(readFileSync(join(dir, 'token-secret'), 'utf8').trim(), 'hex')).update('thorpe token\0social').digest();
  const encode = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const head = encode({ alg: 'HS256', typ: 'JWT' });
  return (claims) => {
    const signed = `${head}.${encode({ iss: 'thorpe', aud: 'social', roles: [], minted: true, exp: Math.floor(Date.now() / 1000) + 7200, ...claims })}`;
    return `${signed}.${createHmac('sha256', key).update(signed).digest('base64url')}`;
  };
}

/** A function for REST requests; `who`: a token, or claims for one. */
export const restOf = ({ port }, token) => async (method, path, body, who) => {
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
export async function fillDesign({ port }, rest, { authors, readers, others }) {
  await rest('POST', '/users', { user_id: 'u99999999', username: 'n99999999', email: 'u99999999@example.com', display_name: 'User 99999999', bio: 'Cats, croquet, curious things.', password: 'wonderland' });
  await rest('POST', '/posts', { post_id: 'p99999999', content: `Post 99999999: ${'down the rabbit hole and on '.repeat(4)}`, hashtags: [] }, { sub: 'u99999999', roles: ['user'] });
  const user = await itemAt(port, 'USER#u99999999', 'PROFILE');
  const post = await itemAt(port, 'POST#p99999999', 'METADATA');
  const made = post.created_at.S;
  const at = (n) => new Date(Date.parse(made) - (n + 1) * 60_000).toISOString().replace(/\.\d+Z$/, 'Z');
  const userOf = (n) => replaced(user, [['99999999', number(n)]]);
  const postOf = (n) => replaced(post, [['u99999999', `u${number(Math.floor(n / 20))}`], ['n99999999', `n${number(Math.floor(n / 20))}`], ['99999999', number(n)], [made, at(n % 20)]]);
  // A feed has the posts of one author, each reader's of another.
  const feedOf = (reader, n, author = reader % authors) => ({
    PK: { S: `FEED#u${number(reader)}` }, SK: { S: `${at(n)}#p${number(author * 20 + n)}` }, GSI1PK: { S: `FEED_MANAGEMENT#u${number(reader)}` }, GSI1SK: { S: at(n) },
    user_id: { S: `u${number(reader)}` }, post_id: { S: `p${number(author * 20 + n)}` }, author_id: { S: `u${number(author)}` }, author_username: { S: `n${number(author)}` },
    content_preview: { S: 'Post: down the rabbit hole and on down the rabbit hole and on' }, content_type: { S: 'text' }, created_at: { S: at(n) }, inserted_at: { S: made },
    engagement_score: { N: '0' }, is_promoted: { BOOL: false }, feed_rank: { N: '1' }, expires_at: { N: `${Math.floor(Date.parse(made) / 1000) + 30 * 86_400}` },
  });
  const count = (n, what) => Array.from({ length: n }, (_, i) => what(i));
  await putAll(port, count(authors + readers + others, userOf));
  await putAll(port, count(authors * 20, postOf));
  await putAll(port, count(readers, (reader) => count(20, (n) => feedOf(authors + reader, n))).flat());
}

// ---------------------------------------------------------------- requests

const api = (operation, body) => http('POST', '/', headersOf(operation), typeof body === 'string' ? body : JSON.stringify(body));

/** Reads, and the DynamoDB requests that each amounts to, in the order in which it makes them. */
const UNDER = {
  'a post': ['GetItem (a post)'],
  'a user\'s posts': ['Query (a user\'s posts)'],
  'a feed page': ['Query (a feed page)'],
  'the posts of a feed': ['Query (a feed page)', 'BatchGetItem (the posts of a feed)'],
};

/** What a client would send who names attributes as they are, and does not ask what it costs. */
function plain({ ExpressionAttributeNames: names = {}, ReturnConsumedCapacity: _, ...request }) {
  const expressions = Object.entries(request).filter(([name]) => name.endsWith('Expression'));
  return { ...request, ...Object.fromEntries(expressions.map(([name, text]) => [name, text.replace(/#\w+/g, (one) => names[one])])) };
}

const idsOf = ({ Item, Items, Responses }) => (Item ? [Item] : Items ?? Responses[TABLE]).map(({ post_id: id }) => id.S).sort().join();

/**
 * The requests under a read, as the server itself says (`thorpe call … --explain`): nothing is compared with what it does not do.
 * They must be those of UNDER, and the last must give the very posts that the read gives.
 */
async function under(port, rest, operator, name, [pattern, values, as]) {
  const { result, requests } = await rest('POST', '/call', { pattern, with: values, ...(as && { as: { subject: as, roles: ['user'] } }), explain: true }, operator);
  const all = requests.map(({ operation, request }) => ({ operation, text: JSON.stringify(plain(request)) }));
  const made = all.map(({ operation }) => operation).join();
  if (made !== UNDER[name].map((one) => one.split(' ')[0]).join()) throw new Error(`${name} makes other requests than are measured: ${made}`);
  const { status, text } = await call(port, all.at(-1).operation, all.at(-1).text);
  const posts = (result.items ?? [result]).map(({ post_id: id }) => id).sort().join();
  if (status !== 200 || idsOf(JSON.parse(text)) !== posts) throw new Error(`${name} does not give what the requests under it give: ${posts}; ${text.slice(0, 200)}`);
  return all;
}

/** The requests: `slot`: how many of a reader's numbers a run may use in a second. */
async function requests(port, rest, operator, token, size) {
  const readers = Array.from({ length: size.readers }, (_, i) => `u${number(size.authors + i)}`);
  const bearer = (sub) => ({ Authorization: `Bearer ${token({ sub, roles: ['user'] })}` });
  const each = (what) => ({ ranges: {}, all: readers.map(what) });
  const made = {};
  // One is explained, and stands for all: its number becomes a placeholder.
  const anyOf = async (name, ranges, pattern, values, path) => {
    const requestsUnder = await under(port, rest, operator, name, [pattern, values]);
    requestsUnder.forEach(({ operation, text }, i) => { made[UNDER[name][i]] = { ranges, all: [api(operation, text.replaceAll(number(7), '@a@@@@@@'))] }; });
    made[name] = { ranges, all: [http('GET', path, {})] };
  };
  // Each reader's is explained.
  const ofReaders = async (name, pattern, path) => {
    const byReader = [];
    for (const id of readers) byReader.push(await under(port, rest, operator, name, [pattern, { user_id: id }, id]));
    UNDER[name].forEach((one, i) => { made[one] ??= { ranges: {}, all: byReader.map((all) => api(all[i].operation, all[i].text)) }; });
    made[name] = each((id) => http('GET', path(id), bearer(id)));
  };
  await anyOf('a post', { a: [0, size.authors * 20] }, 'get Post', { post_id: `p${number(7)}` }, '/api/social/posts/p@a@@@@@@');
  await anyOf('a user\'s posts', { a: [0, size.authors] }, 'user posts', { user_id: `u${number(7)}` }, '/api/social/users/u@a@@@@@@/posts');
  await ofReaders('a feed page', 'feed', (id) => `/api/social/users/${id}/feed`);
  await ofReaders('the posts of a feed', 'feed posts', (id) => `/api/social/users/${id}/feed/posts`);
  return {
    ...made,
    'a like': { slot: 150, most: size.authors * 20, ...each((id) => http('PUT', `/api/social/posts/p@p@@@@@@/likes/${id}`, { ...bearer(id), 'Content-Type': 'application/json' }, '{}')) },
    'a follow': {
      slot: 100, first: size.authors + size.readers, most: size.authors + size.readers + size.others,
      ...each((id) => http('PUT', `/api/social/users/${id}/following/u@p@@@@@@`, { ...bearer(id), 'Content-Type': 'application/json' }, '{}')),
    },
  };
}

/** Reads must give what is counted: twenty rows of each list. */
async function check(rest, size) {
  const reader = { sub: `u${number(size.authors)}`, roles: ['user'] };
  const rows = (page) => (page.items ?? page.data ?? []).length;
  const lists = { posts: await rest('GET', `/users/u${number(7)}/posts`), feed: await rest('GET', `/users/${reader.sub}/feed`, undefined, reader), 'posts of a feed': await rest('GET', `/users/${reader.sub}/feed/posts`, undefined, reader) };
  for (const [name, page] of Object.entries(lists)) if (rows(page) !== 20) throw new Error(`${name}: ${rows(page)} rows instead of 20`);
  const post = await rest('GET', `/posts/p${number(7)}`);
  if (post.post_id !== `p${number(7)}`) throw new Error(`post 7 is ${JSON.stringify(post).slice(0, 200)}`);
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
  const all = Object.fromEntries(Object.entries(await requests(server.port, rest, operator, token, size)).map(([name, { all: texts, ranges, ...more }], i) => [name, { ...more, file: writeTemplates(`rest-${i}`, ranges, texts) }]));
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
  const wanted = Object.keys(all).filter((name) => !names || names.includes(name) || names.some((one) => UNDER[one]?.includes(name)));
  try {
    for (const name of wanted) if (!all[name].slot) await wrk(server, all[name].file, 16, 1);
    for (const n of connections) {
      // A read follows what is under it.
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
    return { rounds, seconds, under: Object.fromEntries(Object.entries(UNDER).filter(([name]) => wanted.includes(name))), results, notes };
  } finally {
    await server.stop();
  }
}
