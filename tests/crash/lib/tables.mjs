// The tables of the load, and what stands in them before it starts.
//
//   items   owned by workers, key by key: LSI, sparse GSIs, a stream; the index `live` comes and goes
//   bulk    many items, so that the backfill of its index `live` takes a while
//   left,   accounts between which transfers go, with a receipt each: what the receipts say must be
//   right   what the accounts hold
//   ttl     items that expire
//   tmp     made and deleted again and again
// SPDX-License-Identifier: Apache-2.0

export const BULK_ITEMS = 1500;
export const ACCOUNTS = 8;
export const OPENING_BALANCE = 1000;

const hash = (AttributeName) => ({ AttributeName, KeyType: 'HASH' });
const range = (AttributeName) => ({ AttributeName, KeyType: 'RANGE' });
const attributes = (types) => Object.entries(types)
  .map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType }));
const stream = { StreamEnabled: true, StreamViewType: 'NEW_AND_OLD_IMAGES' };

const definitions = [
  {
    TableName: 'items',
    KeySchema: [hash('pk'), range('sk')],
    AttributeDefinitions: attributes({ pk: 'S', sk: 'N', a: 'N', g: 'S', h: 'N', k: 'S' }),
    LocalSecondaryIndexes: [
      { IndexName: 'byA', KeySchema: [hash('pk'), range('a')], Projection: { ProjectionType: 'ALL' } },
    ],
    GlobalSecondaryIndexes: [
      { IndexName: 'byG', KeySchema: [hash('g'), range('h')], Projection: { ProjectionType: 'ALL' } },
      { IndexName: 'byK', KeySchema: [hash('k')], Projection: { ProjectionType: 'KEYS_ONLY' } },
    ],
    StreamSpecification: stream,
  },
  {
    TableName: 'bulk',
    KeySchema: [hash('pk')],
    AttributeDefinitions: attributes({ pk: 'S' }),
    StreamSpecification: stream,
  },
  {
    TableName: 'left',
    KeySchema: [hash('pk')],
    AttributeDefinitions: attributes({ pk: 'S' }),
    StreamSpecification: stream,
  },
  { TableName: 'right', KeySchema: [hash('pk')], AttributeDefinitions: attributes({ pk: 'S' }) },
  {
    TableName: 'ttl',
    KeySchema: [hash('pk')],
    AttributeDefinitions: attributes({ pk: 'S', exp: 'N', v: 'N' }),
    GlobalSecondaryIndexes: [
      { IndexName: 'byV', KeySchema: [hash('v'), range('exp')], Projection: { ProjectionType: 'ALL' } },
    ],
    StreamSpecification: stream,
  },
];

/** The index that workers create and delete on a live table. */
export const liveIndex = {
  items: {
    AttributeDefinitions: attributes({ c: 'S', n: 'N' }),
    Create: {
      IndexName: 'live',
      KeySchema: [hash('c'), range('n')],
      Projection: { ProjectionType: 'INCLUDE', NonKeyAttributes: ['v'] },
    },
  },
  bulk: {
    AttributeDefinitions: attributes({ c: 'S', d: 'N' }),
    Create: { IndexName: 'live', KeySchema: [hash('c'), range('d')], Projection: { ProjectionType: 'ALL' } },
  },
};

export const tmpTable = {
  TableName: 'tmp',
  KeySchema: [hash('pk')],
  AttributeDefinitions: attributes({ pk: 'S' }),
  BillingMode: 'PAY_PER_REQUEST',
};

async function fill(client, table, items) {
  for (let i = 0; i < items.length; i += 25) {
    await client.call('BatchWriteItem', {
      RequestItems: { [table]: items.slice(i, i + 25).map((Item) => ({ PutRequest: { Item } })) },
    });
  }
}

/** Makes everything in an empty database, and tells the model. */
export async function setUp(client, model, rng) {
  for (const definition of definitions) {
    await client.call('CreateTable', { ...definition, BillingMode: 'PAY_PER_REQUEST' });
  }
  await client.call('UpdateTimeToLive', {
    TableName: 'ttl',
    TimeToLiveSpecification: { Enabled: true, AttributeName: 'exp' },
  });
  for (const side of ['left', 'right']) {
    await fill(client, side, Array.from({ length: ACCOUNTS }, (_, i) => ({
      pk: { S: `account#${i}` }, balance: { N: String(OPENING_BALANCE) },
    })));
  }
  const bulk = Array.from({ length: BULK_ITEMS }, (_, i) => ({
    pk: { S: `bulk#${i}` }, v: { N: String(model.nextValue()) }, d: { N: String(i) },
    ...(rng.chance(80) ? { c: { S: `c${i % 7}` } } : {}),
  }));
  await fill(client, 'bulk', bulk);
  for (const item of bulk) model.begin('bulk', { pk: item.pk }, item);
}
