// The query builder's form as a DynamoDB request: names and values in placeholders, whatever is typed.
// SPDX-License-Identifier: Apache-2.0
import { allKeys, indexOf, keysOfView, type TableInfo } from './table-info';
import type { AttributeValue, Item } from './types';

export const SORT_OPERATORS = ['', '=', '<', '<=', '>', '>=', 'between', 'begins_with'] as const;
export const FILTER_OPERATORS = [
  '=',
  '<>',
  '<',
  '<=',
  '>',
  '>=',
  'between',
  'in',
  'begins_with',
  'contains',
  'not contains',
  'exists',
  'not exists',
  'size =',
  'size <',
  'size >',
  'type is',
] as const;
export const VALUE_TYPES = ['S', 'N', 'BOOL', 'NULL', 'B'] as const;
export const TYPE_CHOICES = ['S', 'N', 'B', 'BOOL', 'NULL', 'SS', 'NS', 'BS', 'L', 'M'];

export interface Filter {
  attribute: string;
  operator: string;
  type: string;
  value: string;
  /** Of between. */
  upper: string;
}

export interface QueryForm {
  operation: 'Query' | 'Scan';
  index: string;
  pk: string;
  sort: string;
  sk: string;
  sk2: string;
  filters: Filter[];
  /** Attributes, separated by commas; empty: all. */
  projection: string;
  descending: boolean;
  consistent: boolean;
  limit: string;
}

export const NEW_FILTER: Filter = { attribute: '', operator: '=', type: 'S', value: '', upper: '' };

export interface Built {
  request: Record<string, unknown>;
  /** Problems, by field ("pk", "sk", "limit", "filter 0"). */
  problems: Record<string, string>;
}

// ---------------------------------------------------------------- the address

export function formFrom(query: URLSearchParams): QueryForm {
  const get = (name: string) => query.get(name) ?? '';
  let filters: Filter[] = [];
  try {
    const list = JSON.parse(get('filters') || '[]') as Partial<Filter>[];
    if (Array.isArray(list)) filters = list.map((of) => ({ ...NEW_FILTER, ...of }));
  } catch {
    /* an address edited by hand: ignores its filters */
  }
  return {
    operation: get('op') === 'Scan' ? 'Scan' : 'Query',
    index: get('index'),
    pk: get('pk'),
    sort: get('sort'),
    sk: get('sk'),
    sk2: get('sk2'),
    filters,
    projection: get('show'),
    descending: get('order') === 'desc',
    consistent: get('consistent') === '1',
    limit: get('limit') || '50',
  };
}

export function addressOf(form: QueryForm): Record<string, string | undefined> {
  return {
    op: form.operation === 'Scan' ? 'Scan' : undefined,
    index: form.index,
    pk: form.pk,
    sort: form.sort,
    sk: form.sk,
    sk2: form.sk2,
    filters: form.filters.length ? JSON.stringify(form.filters) : undefined,
    show: form.projection,
    order: form.descending ? 'desc' : undefined,
    consistent: form.consistent ? '1' : undefined,
    limit: form.limit === '50' ? undefined : form.limit,
  };
}

// ---------------------------------------------------------------- the request

class Builder {
  names: Record<string, string> = {};
  values: Item = {};
  problems: Record<string, string> = {};

  constructor(private whole: string[]) {}

  sign(name: string): string {
    const known = Object.entries(this.names).find(([, of]) => of === name)?.[0];
    const sign = known ?? `#n${Object.keys(this.names).length}`;
    this.names[sign] = name;
    return sign;
  }

  /** "a.b[0]" is a path: each name of it in a placeholder. A key attribute, or a quoted name, is one name, including
   * its dots. */
  name(path: string): string {
    const text = path.trim();
    if (this.whole.includes(text)) return this.sign(text);
    return (text.match(/"[^"]*"[^.]*|[^.]+/g) ?? [text])
      .map((step) => {
        const [, quoted, plain = step, rest = ''] = /^(?:"([^"]*)"|(.*?))((?:\[\d+\])*)$/.exec(step) ?? [];
        return this.sign(quoted ?? plain) + rest;
      })
      .join('.');
  }

  value(of: AttributeValue): string {
    const sign = `:v${Object.keys(this.values).length}`;
    this.values[sign] = of;
    return sign;
  }

  typed(type: string, text: string, field: string): AttributeValue {
    const value = text.trim();
    if (type === 'N') {
      if (!/^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/.test(value))
        this.problems[field] = value ? 'this is not a number' : 'a number is needed';
      return { N: value };
    }
    if (type === 'BOOL') return { BOOL: value !== 'false' };
    if (type === 'NULL') return { NULL: true };
    if (type === 'B') {
      if (!/^[A-Za-z0-9+/]+={0,2}$/.test(value) || value.length % 4) this.problems[field] = 'base64 is needed';
      return { B: value };
    }
    return { S: text };
  }
}

function keyCondition(table: TableInfo, form: QueryForm, b: Builder): string {
  const { hash, range } = keysOfView(table, form.index);
  const typed = (name: string, text: string, field: string) => {
    if (text === '') b.problems[field] = 'a value is needed';
    return b.value(b.typed(table.types[name] ?? 'S', text, field));
  };
  const parts = [`${b.name(hash)} = ${typed(hash, form.pk, 'pk')}`];
  if (range && form.sort) {
    const sort = b.name(range);
    const first = typed(range, form.sk, 'sk');
    if (form.sort === 'between') parts.push(`${sort} BETWEEN ${first} AND ${typed(range, form.sk2, 'sk2')}`);
    else parts.push(form.sort === 'begins_with' ? `begins_with(${sort}, ${first})` : `${sort} ${form.sort} ${first}`);
  }
  return parts.join(' AND ');
}

function filterExpression(filter: Filter, field: string, b: Builder): string {
  const name = b.name(filter.attribute);
  const typed = (text: string) => b.value(b.typed(filter.type, text, field));
  switch (filter.operator) {
    case 'exists':
      return `attribute_exists(${name})`;
    case 'not exists':
      return `attribute_not_exists(${name})`;
    case 'begins_with':
      return `begins_with(${name}, ${typed(filter.value)})`;
    case 'contains':
      return `contains(${name}, ${typed(filter.value)})`;
    case 'not contains':
      return `NOT contains(${name}, ${typed(filter.value)})`;
    case 'between':
      return `${name} BETWEEN ${typed(filter.value)} AND ${typed(filter.upper)}`;
    case 'in':
      return `${name} IN (${filter.value
        .split(',')
        .map((part) => typed(part.trim()))
        .join(', ')})`;
    case 'type is':
      return `attribute_type(${name}, ${b.value({ S: filter.value || 'S' })})`;
    case 'size =':
    case 'size <':
    case 'size >':
      return `size(${name}) ${filter.operator.slice(5)} ${b.value(b.typed('N', filter.value, field))}`;
    default:
      return `${name} ${filter.operator} ${typed(filter.value)}`;
  }
}

export function buildRequest(table: TableInfo, form: QueryForm): Built {
  const b = new Builder(allKeys(table));
  const request: Record<string, unknown> = { TableName: table.name };
  const index = indexOf(table, form.index);
  if (index) request.IndexName = index.name;
  if (form.operation === 'Query') request.KeyConditionExpression = keyCondition(table, form, b);
  const filters = form.filters.flatMap((filter, i) =>
    filter.attribute.trim() ? [filterExpression(filter, `filter ${i}`, b)] : [],
  );
  if (filters.length) request.FilterExpression = filters.join(' AND ');
  const shown = form.projection
    .split(',')
    .map((name) => name.trim())
    .filter(Boolean);
  if (shown.length) request.ProjectionExpression = [...new Set(shown)].map((name) => b.name(name)).join(', ');
  if (Object.keys(b.names).length) request.ExpressionAttributeNames = b.names;
  if (Object.keys(b.values).length) request.ExpressionAttributeValues = b.values;
  if (form.operation === 'Query' && form.descending) request.ScanIndexForward = false;
  if (form.consistent && !(index && !index.local)) request.ConsistentRead = true;
  if (!/^\d+$/.test(form.limit) || Number(form.limit) < 1 || Number(form.limit) > 100)
    b.problems.limit = 'from 1 to 100';
  else request.Limit = Number(form.limit);
  return { request, problems: b.problems };
}
