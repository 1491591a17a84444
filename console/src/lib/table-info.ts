// A table as the pages see it: its keys, their types, its indexes, its time to live, and the design it belongs to.
// SPDX-License-Identifier: Apache-2.0
import { describeTable, designForTable, dynamo } from './client';
import { keyList } from './recognise';
import type { AttributeValue, Design, IndexDescription, Item, KeyNames, TableDescription } from './types';
import { keyText, keyValue } from './values';

export interface IndexInfo extends KeyNames {
  name: string;
  local: boolean;
  projection: 'ALL' | 'KEYS_ONLY' | 'INCLUDE';
  include: string[];
  items: number;
  /** "CREATING" until it is ready. */
  status: string;
}

export interface TableInfo extends KeyNames {
  name: string;
  items: number;
  bytes: number;
  indexes: IndexInfo[];
  types: Record<string, 'S' | 'N' | 'B'>;
  ttl: string | null;
  design: Design | null;
}

function keysOf(schema: TableDescription['KeySchema']): KeyNames {
  const name = (type: string) => schema.find((key) => key.KeyType === type)?.AttributeName;
  return { hash: name('HASH')!, range: name('RANGE') ?? null };
}

function indexInfo(of: IndexDescription, local: boolean): IndexInfo {
  return {
    name: of.IndexName,
    local,
    ...keysOf(of.KeySchema),
    projection: of.Projection.ProjectionType,
    include: of.Projection.NonKeyAttributes ?? [],
    items: of.ItemCount,
    status: of.IndexStatus ?? 'ACTIVE',
  };
}

async function ttlOf(table: string): Promise<string | null> {
  const reply = await dynamo<{ TimeToLiveDescription?: { TimeToLiveStatus?: string; AttributeName?: string } }>(
    'DescribeTimeToLive',
    { TableName: table },
  );
  const found = reply.TimeToLiveDescription;
  return found?.TimeToLiveStatus === 'ENABLED' ? (found.AttributeName ?? null) : null;
}

export async function tableInfo(name: string): Promise<TableInfo> {
  const [table, design, ttl] = await Promise.all([describeTable(name), designForTable(name), ttlOf(name)]);
  return {
    name,
    ...keysOf(table.KeySchema),
    items: table.ItemCount,
    bytes: table.TableSizeBytes,
    ttl,
    design,
    indexes: [
      ...(table.GlobalSecondaryIndexes ?? []).map((of) => indexInfo(of, false)),
      ...(table.LocalSecondaryIndexes ?? []).map((of) => indexInfo(of, true)),
    ].sort((a, b) => (a.name < b.name ? -1 : 1)),
    types: Object.fromEntries(table.AttributeDefinitions.map((of) => [of.AttributeName, of.AttributeType])),
  };
}

export const indexOf = (table: TableInfo, name: string | null | undefined): IndexInfo | null =>
  table.indexes.find((index) => index.name === name) ?? null;

/** Of an index, or of the table. */
export const keysOfView = (table: TableInfo, index: string | null): KeyNames => indexOf(table, index) ?? table;

export const tableKeys = (table: TableInfo): string[] => keyList(table);

/** Every attribute that is a key somewhere. */
export const allKeys = (table: TableInfo): string[] => [
  ...new Set([...keyList(table), ...table.indexes.flatMap((index) => keyList(index))]),
];

export const typedKey = (table: TableInfo, attribute: string, text: string): AttributeValue =>
  keyValue(text, table.types[attribute] ?? 'S');

export function isExpired(table: TableInfo, item: Item): boolean {
  const value = table.ttl ? item[table.ttl] : undefined;
  return !!value && 'N' in value && Number(value.N) > 0 && Number(value.N) * 1000 < Date.now();
}

/** The query part of an address that leads to one item, or (with only a hash) to a partition. */
export function keyQuery(table: TableInfo, item: Item): { pk?: string; sk?: string } {
  return {
    pk: keyText(item[table.hash]) ?? undefined,
    sk: table.range ? (keyText(item[table.range]) ?? undefined) : undefined,
  };
}

/** The indexes an item is in: it has all of their keys, of the right type. */
export function indexesOf(table: TableInfo, item: Item): IndexInfo[] {
  return table.indexes.filter((index) =>
    keyList(index).every((name) => {
      const value = item[name];
      return value !== undefined && (table.types[name] ?? 'S') in value;
    }),
  );
}
