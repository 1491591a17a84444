// Writes one item, unless it has changed since it was read. SPDX-License-Identifier: Apache-2.0
import { ApiError, dynamo } from './client';
import { keyOf } from './collections';
import type { Item } from './types';
import { sameItem } from './values';

/** An expression has at most 4 KB; with more attributes than this, the preceding read compares them. */
const COMPARED_ATTRIBUTES = 150;

/** The item has changed. `theirs` undefined: it was deleted. */
export class Conflict extends Error {
  constructor(readonly theirs: Item | undefined) {
    super('It has changed since it was loaded.');
  }
}

export async function getItem(table: string, key: Item): Promise<Item | undefined> {
  return (await dynamo<{ Item?: Item }>('GetItem', { TableName: table, Key: key, ConsistentRead: true })).Item;
}

/** Every old attribute is unchanged, and every added one was absent. */
function unchanged(before: Item, after: Item): Record<string, unknown> {
  const names: Record<string, string> = {};
  const values: Item = {};
  const parts: string[] = [];
  Object.entries(before)
    .slice(0, COMPARED_ATTRIBUTES)
    .forEach(([name, value], i) => {
      names[`#b${i}`] = name;
      values[`:b${i}`] = value;
      parts.push(`#b${i} = :b${i}`);
    });
  Object.keys(after)
    .filter((name) => !(name in before))
    .slice(0, COMPARED_ATTRIBUTES / 3)
    .forEach((name, i) => {
      names[`#n${i}`] = name;
      parts.push(`attribute_not_exists(#n${i})`);
    });
  return {
    ConditionExpression: parts.join(' AND '),
    ExpressionAttributeNames: names,
    ExpressionAttributeValues: values,
  };
}

const isConditionFailure = (error: unknown) => error instanceof ApiError && /ConditionalCheckFailed/.test(error.code);

/** First checks what a condition cannot express (that nothing was added). */
async function guarded<T>(table: string, keys: string[], before: Item, write: () => Promise<T>): Promise<T> {
  const key = keyOf(before, keys);
  const now = await getItem(table, key);
  if (!now || !sameItem(now, before)) throw new Conflict(now);
  try {
    return await write();
  } catch (error) {
    if (!isConditionFailure(error)) throw error;
    throw new Conflict(await getItem(table, key));
  }
}

export function replaceItem(table: string, keys: string[], before: Item, after: Item): Promise<unknown> {
  return guarded(table, keys, before, () =>
    dynamo('PutItem', { TableName: table, Item: after, ...unchanged(before, after) }),
  );
}

export function deleteItem(table: string, keys: string[], before: Item): Promise<unknown> {
  return guarded(table, keys, before, () =>
    dynamo('DeleteItem', { TableName: table, Key: keyOf(before, keys), ...unchanged(before, before) }),
  );
}

/** Refused (with ConditionalCheckFailedException) when there is an item of this key. */
export function createItem(table: string, keys: string[], item: Item): Promise<unknown> {
  return dynamo('PutItem', {
    TableName: table,
    Item: item,
    ConditionExpression: 'attribute_not_exists(#k)',
    ExpressionAttributeNames: { '#k': keys[0]! },
  });
}
