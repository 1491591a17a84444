// Fifty thousand followers, made from a few that came by the API: their items are copied under other names, so that they are what the
// API writes, and the counters of those they follow are set to what they will be.
// SPDX-License-Identifier: Apache-2.0
import { ServiceError } from '../client.mjs';

const BATCH = 25;
const AT_ONCE = 8;
export const fan = (i) => `fan${String(i).padStart(7, '0')}`;

async function writeBatch(client, TableName, items) {
  let rest = items.map((Item) => ({ PutRequest: { Item } }));
  for (let tries = 0; rest.length; tries += 1) {
    try {
      const { UnprocessedItems } = await client.call('BatchWriteItem', { RequestItems: { [TableName]: rest } });
      rest = UnprocessedItems?.[TableName] ?? [];
    } catch (error) {
      if (tries > 100 || (error instanceof ServiceError && error.status < 500 && !/Throttl|Throughput/.test(error.name))) throw error;
    }
  }
}

/** From the items of the first fans, those of all others: fan i is as fan i % examples. */
export async function copyFans(client, TableName, examples, count) {
  const all = await client.scan(TableName);
  const models = Array.from({ length: examples }, (_, k) => JSON.stringify(all.filter((item) => JSON.stringify([item.PK, item.SK]).includes(fan(k)))));
  const made = (i) => JSON.parse(models[i % examples].replaceAll(fan(i % examples), fan(i)));
  let next = examples;
  let written = 0;
  const worker = async () => {
    let batch = [];
    while (next < count) {
      batch.push(...made(next));
      next += 1;
      while (batch.length >= BATCH) {
        await writeBatch(client, TableName, batch.splice(0, BATCH));
        written += BATCH;
      }
    }
    written += batch.length;
    if (batch.length) await writeBatch(client, TableName, batch);
    batch = [];
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return written;
}

/** What others will count to, before they do. */
export async function setNumbers(client, TableName, Key, numbers) {
  const names = Object.keys(numbers);
  await client.call('UpdateItem', {
    TableName, Key,
    UpdateExpression: `SET ${names.map((_, i) => `#n${i} = :v${i}`).join(', ')}`,
    ExpressionAttributeNames: Object.fromEntries(names.map((name, i) => [`#n${i}`, name])),
    ExpressionAttributeValues: Object.fromEntries(names.map((name, i) => [`:v${i}`, typeof numbers[name] === 'boolean' ? { BOOL: numbers[name] } : { N: String(numbers[name]) }])),
  });
}
