// One call of an access pattern: the request, the outcome, and the same as a REST request.
// SPDX-License-Identifier: Apache-2.0
import { ApiError, rest } from './client';
import { session } from './session';
import { restSnippets, shellQuote, type RestSnippets, type SnippetToken } from './snippets';
import type { AccessPattern, CallRequest, CallResult, Design, Item } from './types';

/** The caller: the operator, anonymous, or a named subject. */
export interface Who {
  mode: 'operator' | 'nobody' | 'subject';
  subject: string;
  roles: string[];
  /** By name, as typed. */
  claims: Record<string, string>;
}

export type Row = Record<string, unknown>;

export interface Outcome {
  requests: CallRequest[];
  result?: unknown;
  error?: ApiError;
  /** Problems, by parameter name. */
  wrong: Record<string, string>;
  ms: number;
}

const given = (values: Record<string, string>) =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== ''));

/** 7, true and ["a"] are what they look like; acme is a text. */
function claimOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const claimsOf = (who: Who) =>
  Object.fromEntries(Object.entries(given(who.claims)).map(([name, text]) => [name, claimOf(text)]));

function body(pattern: AccessPattern, values: Record<string, string>, who: Who): object {
  const subject = { subject: who.subject, roles: who.roles, claims: claimsOf(who) };
  const as = { operator: undefined, nobody: {}, subject }[who.mode];
  return { pattern: pattern.name, with: given(values), as, explain: true };
}

interface Problem {
  errors?: { attribute: string; detail: string }[];
  requests?: CallRequest[];
}

/** Does not throw for error replies: they are outcomes too. `values` has limit and after among them. */
export async function callPattern(
  design: Design,
  pattern: AccessPattern,
  values: Record<string, string>,
  who: Who,
): Promise<Outcome> {
  const start = performance.now();
  try {
    const reply = await rest<CallResult>(design.name, 'POST', '/call', { body: body(pattern, values, who) });
    return { ...reply.body, wrong: {}, ms: performance.now() - start };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    error.code = error.code.replace(/^urn:thorpe:/, '');
    const problem = (error.body ?? {}) as Problem;
    const wrong = Object.fromEntries((problem.errors ?? []).map(({ attribute, detail }) => [attribute, detail]));
    return { requests: problem.requests ?? [], error, wrong, ms: performance.now() - start };
  }
}

// ---------------------------------------------------------------- X

/** A list's rows, with the depth they have in a tree; null: the result is not a list of items. */
export function rowsOf(result: unknown): { row: Row; depth: number }[] | null {
  const items = (result as { items?: unknown } | null)?.items;
  if (!Array.isArray(items) || items.some((item) => typeof item !== 'object' || item === null)) return null;
  const flat = (list: Row[], depth: number): { row: Row; depth: number }[] =>
    list.flatMap((row) => {
      const { children, ...own } = row;
      return [{ row: own, depth }, ...(Array.isArray(children) ? flat(children as Row[], depth + 1) : [])];
    });
  return flat(items as Row[], 0);
}

export const nextOf = (result: unknown): string | undefined => (result as { next?: string } | null)?.next;

/** The names of all attributes, those the entity has in its order first. */
export function columnsOf(design: Design, pattern: AccessPattern, rows: Row[]): string[] {
  const entity = design.entities.find((one) => one.name === pattern.entity);
  const there = new Set(rows.flatMap((row) => Object.keys(row)));
  there.delete('@type');
  const known = (entity?.attributes ?? []).map((attribute) => attribute.name).filter((name) => there.delete(name));
  return [...known, ...there];
}

// ---------------------------------------------------------------- the same elsewhere

/** "/users/alice/posts?limit=5" below the base; null: there is no route, or a part of it is missing. */
export function pathOf(pattern: AccessPattern, values: Record<string, string>): string | null {
  if (!pattern.path) return null;
  let missing = false;
  const used = new Set<string>();
  const path = pattern.path.replace(/<([^<>:]+)(?::[^<>]*)?>/g, (_, name: string) => {
    used.add(name);
    if (!values[name]) missing = true;
    return encodeURIComponent(values[name] ?? '');
  });
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(given(values))) {
    if (used.has(name)) continue;
    if (pattern.kind === 'batch' && name === 'id') value.split(',').forEach((id) => query.append('id', id.trim()));
    else query.set(name, value);
  }
  return missing ? null : `${path}${query.size ? `?${query}` : ''}`;
}

function tokenFor(design: Design, who: Who): SnippetToken | undefined {
  if (who.mode === 'nobody') return undefined;
  if (who.mode === 'operator') return session().designs.find((one) => one.name === design.name)?.token;
  const roles = who.roles.map((role) => ` --role ${shellQuote(role)}`).join('');
  const claims = Object.entries(given(who.claims))
    .map(([name, text]) => ` --claim ${shellQuote(`${name}=${text}`)}`)
    .join('');
  return { command: `thorpe token ${design.name} --subject ${shellQuote(who.subject || 'alice')}${roles}${claims}` };
}

/** By its path, or by name if it has none. */
export function asRest(
  design: Design,
  pattern: AccessPattern,
  values: Record<string, string>,
  who: Who,
): { snippets: RestSnippets; token: string } | null {
  const base = `${session().endpoint.replace(/\/$/, '')}/api/${design.name}`;
  const path = pathOf(pattern, values);
  if (pattern.path && path === null) return null;
  const token = path === null ? tokenFor(design, { ...who, mode: 'operator' }) : tokenFor(design, who);
  return {
    snippets:
      path === null
        ? restSnippets('POST', `${base}/call`, body(pattern, values, who), token)
        : restSnippets('GET', base + path, undefined, token),
    token: typeof token === 'string' ? token : '',
  };
}

// ---------------------------------------------------------------- where its requests lead

interface KeyRequest {
  TableName?: string;
  IndexName?: string;
  Key?: Item;
  KeyConditionExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Item;
}

/** "PK = USER#alice and SK begins with POST#": a request's key, with names and values in place. */
export function keyInWords(request: Record<string, unknown>): string {
  const {
    Key,
    KeyConditionExpression,
    ExpressionAttributeNames: names = {},
    ExpressionAttributeValues: values = {},
  } = request as KeyRequest;
  const text = (value: unknown) => String(Object.values(value as object)[0]);
  if (Key)
    return Object.entries(Key)
      .map(([name, value]) => `${name} = ${text(value)}`)
      .join(' and ');
  const items = (request as { RequestItems?: Record<string, { Keys?: unknown[] }> }).RequestItems;
  if (items)
    return Object.values(items)
      .map((one) => `${one.Keys?.length ?? 0} keys`)
      .join(', ');
  return (KeyConditionExpression ?? '')
    .replace(/begins_with\(([^,]+), ([^)]+)\)/g, '$1 begins with $2')
    .replace(/ AND /g, ' and ')
    .replace(/#\w+/g, (name) => names[name] ?? name)
    .replace(/:\w+/g, (name) => (values[name] ? text(values[name]) : name));
}

/** Where the single-table view shows what a request reads; null: it reads items of several partitions. */
export interface Spot {
  table: string;
  index?: string;
  pk: string;
  /** The sort key of an item; for a query, the prefix of sort keys, if any. */
  sk?: string;
  one: boolean;
  order?: 'desc';
  /** The query builder's address for the same request. */
  query: Record<string, string | undefined>;
}

const textOf = (value: Item[string] | undefined) => (value ? String(Object.values(value)[0]) : undefined);

/** The condition on the sort key: its operator, and one value or two. */
function sortCondition(
  condition: string,
  isRange: (token: string) => boolean,
  value: (token: string) => string | undefined,
): { sort?: string; sk?: string; sk2?: string } {
  for (const [, begins, prefix, between, low, high, left, operator, right] of condition.matchAll(
    /begins_with\((#?\w+), (:\w+)\)|(#?\w+) BETWEEN (:\w+) AND (:\w+)|(#?\w+) (=|<=|>=|<|>) (:\w+)/gi,
  )) {
    if (!isRange((begins ?? between ?? left)!)) continue;
    if (begins) return { sort: 'begins_with', sk: value(prefix!) };
    if (between) return { sort: 'between', sk: value(low!), sk2: value(high!) };
    return { sort: operator, sk: value(right!) };
  }
  return {};
}

export function spotOf(design: Design, request: Record<string, unknown>): Spot | null {
  const {
    TableName: table = design.table,
    IndexName: index,
    Key,
    KeyConditionExpression: condition = '',
    ...rest
  } = request as KeyRequest;
  const name = (token: string) => rest.ExpressionAttributeNames?.[token] ?? token;
  const value = (token: string) => textOf(rest.ExpressionAttributeValues?.[token]);
  const { hash, range } = design.indexes.find((one) => one.name === index) ?? design.key;
  if (Key)
    return { table, pk: textOf(Key[hash]) ?? '', sk: range ? textOf(Key[range]) : undefined, one: true, query: {} };
  const equal = [...condition.matchAll(/(#?\w+) = (:\w+)/g)].find(([, left]) => name(left!) === hash);
  const pk = equal && value(equal[2]!);
  if (pk === undefined) return null;
  const sorted = sortCondition(condition, (token) => name(token) === range, value);
  const order = request.ScanIndexForward === false ? 'desc' : undefined;
  const limit = typeof request.Limit === 'number' ? String(request.Limit) : undefined;
  return {
    table,
    index,
    pk,
    sk: sorted.sort === 'begins_with' ? sorted.sk : undefined,
    one: false,
    order,
    query: { index, pk, ...sorted, order, limit, consistent: request.ConsistentRead === true ? '1' : undefined },
  };
}
