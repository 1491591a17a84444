// The data and the requests: one text for every contestant, with placeholders (load/template.h says which there are).
// SPDX-License-Identifier: Apache-2.0
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SCRATCH } from './run.mjs';

export const TABLE = 'Bench';
export const POSTS = 20; // of each user
export const ITEMS_EACH = POSTS + 1; // posts and a profile

// Whoever does not check signatures still wants to see one.
const AUTHORIZATION = `AWS4-HMAC-SHA256 Credential=bench/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host;x-amz-date;x-amz-target, Signature=${'0'.repeat(64)}`;

export const CREATE_TABLE = {
  TableName: TABLE,
  BillingMode: 'PAY_PER_REQUEST',
  AttributeDefinitions: ['PK', 'SK', 'GSI1PK', 'GSI1SK'].map((AttributeName) => ({ AttributeName, AttributeType: 'S' })),
  KeySchema: [{ AttributeName: 'PK', KeyType: 'HASH' }, { AttributeName: 'SK', KeyType: 'RANGE' }],
  GlobalSecondaryIndexes: [{
    IndexName: 'GSI1',
    KeySchema: [{ AttributeName: 'GSI1PK', KeyType: 'HASH' }, { AttributeName: 'GSI1SK', KeyType: 'RANGE' }],
    Projection: { ProjectionType: 'ALL' },
  }],
  StreamSpecification: { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' },
};

/** Eight letters of noise in a placeholder's place; the same as put_noise() of load/template.c. */
function noise(seed, k) {
  let x = (Math.imul(seed, 2654435761) + Math.imul(k, 2246822519)) >>> 0;
  x = Math.imul(x ^ (x >>> 15), 2246822519) >>> 0;
  x = Math.imul(x ^ (x >>> 13), 3266489917) >>> 0;
  x = (x ^ (x >>> 16)) >>> 0;
  let text = '';
  for (let i = 0; i < 8; i += 1) {
    text += 'abcdefghijklmnopqrstuvwxyz012345'[x & 31];
    x = ((x >>> 4) | (x << 28)) >>> 0;
  }
  return text;
}

const hole = (letter) => `@${letter}@@@@@@`;
const S = (text) => ({ S: text });
const two = (n) => String(n).padStart(2, '0');

/** Text with its placeholders filled in: letters from `numbers`, noise from `seed`. */
export function fill(text, numbers, seed = 0) {
  let k = 0;
  return text.replace(/@([a-z])@@@@@@/g, (_, letter) => {
    if (letter !== 'r') return String(numbers[letter]).padStart(8, '0');
    k += 1;
    return noise(seed, k - 1);
  });
}

// ---------------------------------------------------------------- items

const keyOf = (letter, n, prefix = '') => ({ PK: S(`POST#${prefix}${hole(letter)}-${two(n)}`), SK: S('METADATA') });

function post(letter, n, { id = `${hole(letter)}-${two(n)}`, prefix = '', author = hole(letter), sort } = {}) {
  const at = `2026-01-${two(n + 1)}T12:00:00Z`;
  return {
    ...keyOf(letter, n, prefix),
    GSI1PK: S(`USER#${author}`),
    GSI1SK: S(sort ?? `POST#${at}#${id}`),
    post_id: S(`${prefix}${id}`),
    author_id: S(author),
    author_username: S(`user${author}`),
    content: S(`${hole('r')} ${hole('r')} is what I saw on day ${two(n)} beside ${hole('r')} and ${hole('r')}, and ${hole('r')} ${hole('r')} came later, which ${hole('r')} told ${hole('r')}.`),
    content_type: S('text'),
    created_at: S(at),
    updated_at: S(at),
    likes_count: { N: '0' },
    comments_count: { N: '0' },
    visibility: S('public'),
    is_deleted: { BOOL: false },
    hashtags: { L: [S('tea'), S(`day${two(n)}`)] },
  };
}

const profile = (letter) => ({
  PK: S(`USER#${hole(letter)}`), SK: S('PROFILE'), user_id: S(hole(letter)), username: S(`user${hole(letter)}`), display_name: S(`User ${hole('r')}`),
  bio: S(`${hole('r')} ${hole('r')}`), created_at: S('2026-01-01T12:00:00Z'), followers_count: { N: '0' }, following_count: { N: '0' }, status: S('active'),
});

const sizeOfValue = (v) => {
  if (v.S !== undefined) return v.S.length;
  if (v.N !== undefined) return Math.ceil(v.N.length / 2) + 1;
  if (v.L) return 3 + v.L.reduce((sum, one) => sum + 1 + sizeOfValue(one), 0);
  return 1;
};
/** DynamoDB's size of an item. */
export const sizeOf = (item) => Object.entries(item).reduce((sum, [name, value]) => sum + name.length + sizeOfValue(value), 0);
export const POST_BYTES = sizeOf(post('a', 0));
export const BYTES_EACH = POSTS * POST_BYTES + sizeOf(profile('a'));

const numbers = (n) => Array.from({ length: n }, (_, i) => i);
const puts = (items) => ({ RequestItems: { [TABLE]: items.map((Item) => ({ PutRequest: { Item } })) } });

/** Loading: everything of user s. */
export const LOAD = puts([...numbers(POSTS).map((n) => post('s', n)), profile('s')]);
/** Loading: twenty more posts in one partition of the index, which is far larger than the others. */
export const LOAD_BIG = puts(numbers(POSTS).map((n) => post('s', n, { prefix: 'big-', author: 'big', sort: `POST#${hole('s')}#${two(n)}` })));

// ---------------------------------------------------------------- operations

const update = (key, what, condition) => ({
  TableName: TABLE, Key: key, UpdateExpression: `ADD ${what} :one`, ExpressionAttributeValues: { ':one': { N: '1' } }, ...(condition && { ConditionExpression: condition }),
});
const profileKey = (letter) => ({ PK: S(`USER#${hole(letter)}`), SK: S('PROFILE') });

/** Alice follows Bob: the edge, its mirror and two counters. */
const follow = () => {
  const edge = { follower_id: S(hole('a')), followed_id: S(hole('u')), created_at: S('2026-01-01T12:00:00Z') };
  return { TransactItems: [
    { Put: { TableName: TABLE, ConditionExpression: 'attribute_not_exists(PK)',
      Item: { PK: S(`USER#${hole('a')}`), SK: S(`FOLLOWING#${hole('u')}`), GSI1PK: S(`FOLLOWED#${hole('u')}`), GSI1SK: S(`FOLLOWER#${hole('a')}`), ...edge, status: S('active') } } },
    { Put: { TableName: TABLE, Item: { PK: S(`FOLLOWED#${hole('u')}`), SK: S(`FOLLOWER#${hole('a')}`), ...edge } } },
    { Update: update(profileKey('a'), 'following_count', 'attribute_exists(PK)') },
    { Update: update(profileKey('b'), 'followers_count', 'attribute_exists(PK)') },
  ] };
};

const queryOf = (condition, values, more) => ({
  TableName: TABLE, IndexName: 'GSI1', KeyConditionExpression: condition, ExpressionAttributeValues: values, ScanIndexForward: false, Limit: POSTS, ...more,
});

// Five letters, each with a fifth of the users: a batch never names an item twice.
const FIFTHS = ['a', 'b', 'c', 'd', 'e'];
const fifths = (each, what) => FIFTHS.flatMap((letter) => numbers(POSTS).slice(0, each).map((n) => what(letter, n)));

/**
 * The operations: `bodies` are DynamoDB's documents with placeholders, `reads` those that nginx can send the answer of.
 * One body for each post of a user, so that every item is asked for.
 */
export const OPERATIONS = {
  GetItem: { operation: 'GetItem', reads: true, bodies: numbers(POSTS).map((n) => ({ TableName: TABLE, Key: keyOf('a', n) })) },
  Query: {
    operation: 'Query', reads: true,
    bodies: [queryOf('GSI1PK = :u AND begins_with(GSI1SK, :p)', { ':u': S(`USER#${hole('a')}`), ':p': S('POST#') })],
  },
  BatchGetItem: { operation: 'BatchGetItem', reads: true, bodies: [{ RequestItems: { [TABLE]: { Keys: fifths(POSTS, keyOf) } } }] },
  PutItem: { operation: 'PutItem', bodies: numbers(POSTS).map((n) => ({ TableName: TABLE, Item: post('a', n) })) },
  UpdateItem: { operation: 'UpdateItem', bodies: numbers(POSTS).map((n) => update(keyOf('a', n), 'likes_count')) },
  BatchWriteItem: { operation: 'BatchWriteItem', bodies: [puts(fifths(5, (letter, n) => post(letter, n)))] },
  Follow: { operation: 'TransactWriteItems', bodies: [follow()] },
  QueryBig: {
    operation: 'Query',
    bodies: [queryOf('GSI1PK = :u AND GSI1SK < :s', { ':u': S('USER#big'), ':s': S(`POST#${hole('a')}`) })],
  },
};

// ---------------------------------------------------------------- as HTTP, as files

export const headersOf = (operation) => ({
  Authorization: AUTHORIZATION, 'X-Amz-Date': '20260101T000000Z', 'X-Amz-Target': `DynamoDB_20120810.${operation}`, 'Content-Type': 'application/x-amz-json-1.0',
});

export function http(method, path, headers, body = '') {
  const lines = Object.entries({ Host: '127.0.0.1', ...headers, ...(body || method !== 'GET' ? { 'Content-Length': Buffer.byteLength(body) } : {}) });
  return `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`;
}

/** Writes a template file; returns its path. */
export function writeTemplates(name, ranges, requests) {
  const dir = join(SCRATCH, 'requests');
  mkdirSync(dir, { recursive: true });
  const path = join(dir, name);
  const line = Object.entries(ranges).map(([letter, [low, high]]) => `${letter}=${low}-${high}`).join(' ');
  writeFileSync(path, `${line}\n${requests.join('\n%%%%\n')}`);
  return path;
}

export const apiRequests = ({ operation, bodies }) => bodies.map((body) => http('POST', '/', headersOf(operation), JSON.stringify(body)));

/** Which users each letter of an operation stands for. */
export function rangesOf(name, users) {
  if (name === 'BatchGetItem' || name === 'BatchWriteItem') {
    return Object.fromEntries(FIFTHS.map((letter, i) => [letter, [Math.floor((users * i) / 5), Math.floor((users * (i + 1)) / 5)]]));
  }
  const half = Math.floor(users / 2);
  return name === 'Follow' ? { a: [0, half], b: [half, users] } : { a: [0, users] };
}

/** The template file of an operation over so many users. */
export const operationFile = (name, users) => writeTemplates(`${name}-${users}`, rangesOf(name, users), apiRequests(OPERATIONS[name]));
