// Every request of the console: DynamoDB and Streams operations, the REST APIs of designs, and the console's own documents.
// SPDX-License-Identifier: Apache-2.0
import { credentials, freshDesign, learnRegion, region, session } from './session';
import { sign } from './sigv4';
import type { Design, TableDescription } from './types';

/** An error reply, with the server's message. `code` is "ConditionalCheckFailedException", or the type of a problem
 * document. */
export class ApiError extends Error {
  constructor(
    public status: number,
    public code: string,
    message: string,
    public body: unknown,
  ) {
    super(message);
    this.name = 'ApiError';
  }
}

/** On the development server "/" is the page, so DynamoDB's API has another path. */
const DYNAMO_URL = import.meta.env.DEV ? '/dynamodb' : '/';
const DESCRIPTION_KEPT_MS = 5_000;

const isStreams = (operation: string) =>
  ['ListStreams', 'DescribeStream', 'GetShardIterator', 'GetRecords'].includes(operation);

async function send(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { ...init, cache: 'no-store', credentials: 'omit', redirect: 'error' });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiError(0, 'Unreachable', 'The server does not answer.', null);
  }
}

/** A reply's document; throws an ApiError for anything except 2xx (and 304). */
async function read<T>(response: Response): Promise<T> {
  const text = await response.text();
  let body: unknown = text;
  try {
    body = text ? JSON.parse(text) : null;
  } catch {
    /* not JSON: use the text */
  }
  if (response.ok || response.status === 304) return body as T;
  const problem = (typeof body === 'object' && body ? body : {}) as Record<string, unknown>;
  const type = String(problem.__type ?? problem.type ?? problem.code ?? response.status);
  const message = [
    problem.message,
    problem.Message,
    problem.detail,
    problem.title,
    typeof body === 'string' ? body : '',
  ].find((candidate) => typeof candidate === 'string' && candidate);
  throw new ApiError(response.status, type.replace(/^.*[#/]/, ''), String(message ?? response.statusText), body);
}

/** The headers, signed if there are keys. */
function signed(method: string, path: string, headers: Record<string, string>, body: string): Record<string, string> {
  const keys = credentials();
  if (!keys) return headers;
  return { ...headers, ...sign({ method, host: location.host, path, headers, body }, keys, region()) };
}

// ---------------------------------------------------------------- DynamoDB and Streams

export async function dynamo<T>(operation: string, input: object, options: { signal?: AbortSignal } = {}): Promise<T> {
  const target = `${isStreams(operation) ? 'DynamoDBStreams_20120810' : 'DynamoDB_20120810'}.${operation}`;
  const body = JSON.stringify(input);
  const headers = signed('POST', '/', { 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': target }, body);
  return read<T>(await send(DYNAMO_URL, { method: 'POST', headers, body, signal: options.signal }));
}

/** The same, with the time it took in milliseconds. */
export async function timed<T>(operation: string, input: object): Promise<{ reply: T; ms: number }> {
  const start = performance.now();
  const reply = await dynamo<T>(operation, input);
  return { reply, ms: performance.now() - start };
}

// ---------------------------------------------------------------- designs

export interface RestOptions {
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal;
}

/** A request to a design's REST API as an operator. `path` is below its base: "/users/alice". */
export async function rest<T>(
  design: string,
  method: string,
  path: string,
  options: RestOptions = {},
): Promise<{ status: number; body: T; headers: Headers }> {
  const body = options.body === undefined ? undefined : JSON.stringify(options.body);
  const type: Record<string, string> = body === undefined ? {} : { 'content-type': 'application/json' };
  const once = async (renew: boolean) => {
    const { base, token } = await freshDesign(design, renew);
    const headers = { ...type, authorization: `Bearer ${token}`, ...options.headers };
    return send(base + path, { method, headers, body, signal: options.signal });
  };
  let response = await once(false);
  if (response.status === 401) response = await once(true); // a restarted server may have another secret
  return { status: response.status, headers: response.headers, body: await read<T>(response) };
}

/** A document of the console itself: "session", "stats", "designs/social". */
export async function consoleApi<T>(path: string, signal?: AbortSignal, method: 'GET' | 'POST' = 'GET'): Promise<T> {
  const url = `/console/api/${path}`;
  const once = () => send(url, { method, headers: signed(method, url, { 'x-thorpe-console': '1' }, ''), signal });
  let response = await once();
  if (response.status === 403 && learnRegion(response.headers.get('x-thorpe-region')) && credentials())
    response = await once();
  return read<T>(response);
}

// ---------------------------------------------------------------- cached documents

const designs = new Map<string, Promise<Design>>();
const descriptions = new Map<string, { at: number; reply: Promise<TableDescription> }>();

/** The server has restarted: drops all caches. */
export function forget(): void {
  designs.clear();
  descriptions.clear();
}

/** A design does not change while the server runs: fetched once. */
export function designOf(name: string): Promise<Design> {
  let found = designs.get(name);
  if (!found) {
    found = consoleApi<Design>(`designs/${encodeURIComponent(name)}`);
    designs.set(name, found);
    found.catch(() => designs.delete(name));
  }
  return found;
}

/** null: the table belongs to none. */
export async function designForTable(table: string): Promise<Design | null> {
  const found = session().designs.find((design) => design.table === table);
  return found ? designOf(found.name) : null;
}

export function describeTable(table: string): Promise<TableDescription> {
  const found = descriptions.get(table);
  if (found && Date.now() - found.at < DESCRIPTION_KEPT_MS) return found.reply;
  const reply = dynamo<{ Table: TableDescription }>('DescribeTable', { TableName: table }).then(
    (answer) => answer.Table,
  );
  descriptions.set(table, { at: Date.now(), reply });
  reply.catch(() => descriptions.delete(table));
  return reply;
}
