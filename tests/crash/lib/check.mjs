// What must be true of a database that was killed and opened again.
// SPDX-License-Identifier: Apache-2.0
import { ServiceError, canonical, keyOf } from './client.mjs';
import { ACCOUNTS, OPENING_BALANCE } from './tables.mjs';
import { checkHistory, checkStream } from './check-streams.mjs';

const PATIENCE_MS = 20_000;
const EXPIRY_SLACK_S = 5;

async function until(what, condition) {
  const deadline = Date.now() + PATIENCE_MS;
  for (;;) {
    const result = await condition();
    if (result) return result;
    if (Date.now() > deadline) throw new Error(`waited ${PATIENCE_MS / 1000} s for ${what}`);
    await new Promise((resume) => { setTimeout(resume, 10); });
  }
}

const keyNames = (schema) => schema.map((part) => part.AttributeName);

// ---------------------------------------------------------------- indexes

/** What an index must hold of these items. */
function implied(table, index, items) {
  const keys = [...keyNames(table.KeySchema), ...keyNames(index.KeySchema)];
  const { ProjectionType, NonKeyAttributes = [] } = index.Projection;
  const names = new Set([...keys, ...NonKeyAttributes]);
  return items
    .filter((item) => keyNames(index.KeySchema).every((name) => item[name]))
    .map((item) => (ProjectionType === 'ALL' ? item
      : Object.fromEntries(Object.entries(item).filter(([name]) => names.has(name)))));
}

function compareSets(model, what, found, expected) {
  const wanted = new Map(expected.map((item) => [canonical(item), item]));
  for (const item of found) {
    const text = canonical(item);
    if (!wanted.delete(text)) model.violated(`${what} has ${text.slice(0, 300)}, which it should not`);
  }
  for (const text of wanted.keys()) model.violated(`${what} lacks ${text.slice(0, 300)}`);
}

/** One partition, in order. */
async function checkQuery(client, model, table, index, entries, rng) {
  const [hash, range] = keyNames(index.KeySchema);
  if (entries.length === 0) return;
  const value = rng.pick(entries)[hash];
  const what = `Query of ${table.TableName}.${index.IndexName}`;
  const items = [];
  let ExclusiveStartKey;
  do {
    const page = await client.call('Query', {
      TableName: table.TableName,
      IndexName: index.IndexName,
      KeyConditionExpression: '#h = :h',
      ExpressionAttributeNames: { '#h': hash },
      ExpressionAttributeValues: { ':h': value },
      Limit: 50,
      ExclusiveStartKey,
    });
    items.push(...page.Items);
    ExclusiveStartKey = page.LastEvaluatedKey;
  } while (ExclusiveStartKey);
  compareSets(model, what, items, entries.filter((item) => canonical(item[hash]) === canonical(value)));
  for (let i = 1; range && i < items.length; i++) {
    if (Number(items[i - 1][range].N) > Number(items[i][range].N)) model.violated(`${what} is not in order`);
  }
}

async function checkIndexes(client, model, table, items, rng) {
  for (const index of [...(table.GlobalSecondaryIndexes ?? []), ...(table.LocalSecondaryIndexes ?? [])]) {
    const what = `index ${table.TableName}.${index.IndexName}`;
    const expected = implied(table, index, items);
    const found = await client.scan(table.TableName, index.IndexName);
    compareSets(model, what, found, expected);
    if (index.ItemCount !== expected.length) {
      model.violated(`${what} has an ItemCount of ${index.ItemCount}, it holds ${expected.length}`);
    }
    await checkQuery(client, model, table, index, expected, rng);
  }
}

/** The description once every index is ACTIVE: a backfill that was interrupted comes to its end. */
function settled(client, name) {
  return until(`the indexes of ${name} to be ACTIVE`, async () => {
    const table = await client.describe(name);
    return (table.GlobalSecondaryIndexes ?? []).every((index) => index.IndexStatus === 'ACTIVE') && table;
  });
}

// ---------------------------------------------------------------- tables

/** A table that nobody changes any more. */
async function checkTable(client, model, name, rng) {
  const table = await settled(client, name);
  const items = await client.scan(name);
  if (table.ItemCount !== items.length) {
    model.violated(`table ${name} has an ItemCount of ${table.ItemCount}, it holds ${items.length}`);
  }
  await checkIndexes(client, model, table, items, rng);
  const byKey = new Map(items.map((item) => [canonical(keyOf(table, item)), item]));
  if (byKey.size !== items.length) model.violated(`Scan of ${name} gave an item twice`);
  return { table, items, byKey };
}

async function checkPresence(client, model, name, state, isThere) {
  const there = await isThere();
  if (there !== state.there && there !== state.next) {
    model.violated(`${name} is ${there ? '' : 'not '}there, although the opposite was acknowledged`);
  }
  state.there = there;
  state.next = undefined;
}

async function checkPresences(client, model) {
  for (const [name, state] of Object.entries(model.indexes)) {
    await checkPresence(client, model, `the index ${name}.live`, state, async () => {
      const { GlobalSecondaryIndexes = [] } = await client.describe(name);
      return GlobalSecondaryIndexes.some((index) => index.IndexName === 'live');
    });
  }
  await checkPresence(client, model, 'the table tmp', model.tmp, async () => {
    const { TableNames } = await client.call('ListTables', {});
    return TableNames.includes('tmp');
  });
}

// ---------------------------------------------------------------- transfers and counters

/** A transfer without an answer, asked for again under its token, happens once in all. */
async function repeatTransfers(client, model) {
  for (const [id, request] of model.unknownReceipts) {
    if (!request.ClientRequestToken) continue;
    try {
      await client.call('TransactWriteItems', request);
      model.receipts.set(id, request);
    } catch (error) {
      if (!(error instanceof ServiceError) || error.name !== 'TransactionCanceledException') throw error;
    }
  }
}

function checkReceipts(model, left, right, strict) {
  const receipts = right.filter((item) => item.pk.S.startsWith('receipt#'));
  const balances = new Map();
  const add = (name, amount) => balances.set(name, (balances.get(name) ?? OPENING_BALANCE) + amount);
  const seen = new Set();

  for (const receipt of receipts) {
    seen.add(Number(receipt.pk.S.slice(8)));
    add(receipt.from.S, -Number(receipt.amount.N));
    add(receipt.to.S, Number(receipt.amount.N));
  }
  for (const [side, items] of [['left', left], ['right', right]]) {
    for (let i = 0; i < ACCOUNTS; i++) {
      const balance = Number(items.find((item) => item.pk.S === `account#${i}`)?.balance.N);
      const due = balances.get(`${side} ${i}`) ?? OPENING_BALANCE;
      if (balance !== due) model.violated(`account ${side} ${i} holds ${balance}, its receipts say ${due}`);
    }
  }
  for (const id of strict ? model.receipts.keys() : []) {
    if (!seen.has(id)) model.violated(`the acknowledged transfer ${id} is lost`);
  }
  for (const id of seen) {
    if (!model.receipts.has(id) && !model.unknownReceipts.has(id)) model.violated(`nobody asked for transfer ${id}`);
  }
  model.receipts = new Map([...seen].map((id) => [id, true]));
  model.unknownReceipts = new Map();
}

function checkCounter(model, left, strict) {
  const hits = Number(left.find((item) => item.pk.S === 'counter')?.hits.N ?? 0);
  const { acked, unknown } = model.counter;
  if (hits > acked + unknown || (strict && hits < acked)) {
    model.violated(`the counter is ${hits}; ${acked} were acknowledged, ${unknown} in flight`);
  }
  model.counter = { acked: hits, unknown: 0 };
}

// ---------------------------------------------------------------- TTL

/** Items go by themselves here, so everything is read until two looks agree. */
async function readExpiring(client) {
  return until('the table ttl to rest', async () => {
    const table = await client.describe('ttl');
    const items = await client.scan('ttl');
    const entries = await client.scan('ttl', 'byV');
    const shards = await client.records(table.LatestStreamArn);
    const due = Math.floor(Date.now() / 1000) - EXPIRY_SLACK_S;
    const overdue = items.some((item) => Number(item.exp.N) < due);
    const after = await client.describe('ttl');
    return !overdue && after.ItemCount === table.ItemCount && items.length === table.ItemCount
      && canonical(await client.scan('ttl')) === canonical(items) && { table, items, entries, shards };
  });
}

function settleExpiring(model, items, strict) {
  const found = new Map(items.map((item) => [item.pk.S, item]));
  const now = Math.floor(Date.now() / 1000);

  for (const [pk, entry] of model.expiring) {
    const item = found.get(pk);
    const may = [entry.now, entry.next].filter((state) => state !== undefined);
    const isRight = item
      ? may.some((state) => canonical(state) === canonical(item))
      : may.some((state) => state === null || Number(state.exp.N) <= now);
    if (strict && !isRight) {
      model.violated(`${pk} is ${canonical(item ?? null)}, it may be ${may.map(canonical).join(' or ')}`);
    }
    if (item) model.expiring.set(pk, { now: item, next: undefined });
    else model.expiring.delete(pk);
  }
}

async function checkExpiring(client, model, strict) {
  const { table, items, entries, shards } = await readExpiring(client);
  const [byV] = table.GlobalSecondaryIndexes;

  compareSets(model, 'index ttl.byV', entries, implied(table, byV, items));
  settleExpiring(model, items, strict);
  checkStream(model, table, shards, items);
  for (const record of shards.flat().filter((candidate) => candidate.eventName === 'REMOVE')) {
    const expired = Number(record.dynamodb.OldImage.exp.N);
    if (record.userIdentity?.PrincipalId !== 'dynamodb.amazonaws.com' || record.userIdentity.Type !== 'Service') {
      model.violated(`an expiry is not marked as the service's: ${canonical(record)}`);
    }
    if (record.dynamodb.ApproximateCreationDateTime < expired) {
      model.violated(`an item went before it expired: ${canonical(record)}`);
    }
  }
}

// ---------------------------------------------------------------- everything

/** Compares the database with the model, which then goes on from what is there. Not `strict`: the
 *  last moments may be lost, but everything must agree with itself. */
export async function checkAll(client, model, rng, { strict = true } = {}) {
  await checkPresences(client, model);
  if (strict) await repeatTransfers(client, model);
  const tables = {};
  for (const name of ['items', 'bulk', 'left', 'right']) tables[name] = await checkTable(client, model, name, rng);

  const found = (cell) => tables[cell.table].byKey.get(canonical(cell.key)) ?? null;
  if (strict) model.settle(found);
  else model.adopt(found);
  checkReceipts(model, tables.left.items, tables.right.items, strict);
  checkCounter(model, tables.left.items, strict);

  const values = new Map();
  for (const name of ['items', 'bulk', 'left']) {
    const { table, items } = tables[name];
    const shards = await client.records(table.LatestStreamArn);
    const byKey = checkStream(model, table, shards, items);
    if (name !== 'left') checkHistory(model, name, byKey, values, strict);
  }
  await checkExpiring(client, model, strict);
}
