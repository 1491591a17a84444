// A request as text to paste: curl, the aws cli, JavaScript, Python. It must run, whatever the values contain.
// SPDX-License-Identifier: Apache-2.0
import type { AttributeValue, Item } from './types';

export interface SnippetContext {
  endpoint: string;
  region: string;
  /** 'none': the server wants no keys, but SDKs insist on some, so that any are given. */
  auth: 'none' | 'keys';
}

export interface Snippets {
  curl: string;
  aws: string;
  javascript: string;
  python: string;
}

export interface RestSnippets {
  curl: string;
  javascript: string;
  python: string;
}

/** The token itself, or the command that makes one. */
export type SnippetToken = string | { command: string };

const STREAMS = new Set(['ListStreams', 'DescribeStream', 'GetShardIterator', 'GetRecords']);
/** What the document client of lib-dynamodb has a command for. */
const DOCUMENT = new Set([
  'GetItem',
  'PutItem',
  'UpdateItem',
  'DeleteItem',
  'Query',
  'Scan',
  'BatchGetItem',
  'BatchWriteItem',
  'TransactGetItems',
  'TransactWriteItems',
]);
/** The main member of a reply. */
const RESULT: Record<string, string> = {
  GetItem: 'Item',
  Query: 'Items',
  Scan: 'Items',
  BatchGetItem: 'Responses',
  TransactGetItems: 'Responses',
};

// ---------------------------------------------------------------- quoting

/** One word of a shell, whatever is in it. */
export function shellQuote(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/** A piece of program text among values that are to be printed. */
class Code {
  constructor(readonly text: string) {}
}

interface Dialect {
  string(text: string): string;
  key(name: string): string;
  constant(value: boolean | null): string;
}

function jsString(text: string): string {
  const inner = JSON.stringify(text).slice(1, -1);
  return text.includes("'") ? `"${inner}"` : `'${inner.replaceAll('\\"', '"')}'`;
}

const JAVASCRIPT: Dialect = {
  string: jsString,
  // A literal's __proto__ would be its prototype, unless it is computed.
  key: (name) => (name === '__proto__' ? "['__proto__']" : /^[A-Za-z_$][\w$]*$/.test(name) ? name : jsString(name)),
  constant: String,
};

const PYTHON: Dialect = {
  string: (text) => JSON.stringify(text),
  key: (name) => JSON.stringify(name),
  constant: (value) => (value === null ? 'None' : value ? 'True' : 'False'),
};

const WIDTH = 88;

/** A value as a literal: on one line where it fits. */
function print(value: unknown, dialect: Dialect, indent = ''): string {
  if (value instanceof Code) return value.text;
  if (typeof value === 'string') return dialect.string(value);
  if (typeof value === 'number') return String(value);
  if (value === null || typeof value === 'boolean') return dialect.constant(value);
  const deeper = `${indent}  `;
  const list = Array.isArray(value);
  const inner = (at: string): string[] =>
    list
      ? value.map((one) => print(one, dialect, at))
      : Object.entries(value as object)
          .filter(([, one]) => one !== undefined)
          .map(([name, one]) => `${dialect.key(name)}: ${print(one, dialect, at)}`);
  const short = inner(indent).join(', ');
  const [open, close] = list ? ['[', ']'] : ['{', '}'];
  if (!short) return open + close;
  if (short.length + indent.length < WIDTH && !short.includes('\n'))
    return list ? `[${short}]` : dialect === JAVASCRIPT ? `{ ${short} }` : `{${short}}`;
  return `${open}\n${inner(deeper)
    .map((line) => `${deeper}${line},\n`)
    .join('')}${indent}${close}`;
}

const block = (indent: string, open: string, close: string, members: string[]): string =>
  members.length
    ? `${open}\n${members.map((member) => `${indent}  ${member}`).join(',\n')}\n${indent}${close}`
    : open + close;

/** JSON that keeps small things on one line. */
export function compactJson(value: unknown, indent = ''): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value);
  const deeper = `${indent}  `;
  const list = Array.isArray(value);
  const inner = (at: string) =>
    list
      ? value.map((one) => compactJson(one, at))
      : Object.entries(value)
          .filter(([, one]) => one !== undefined)
          .map(([name, one]) => `${JSON.stringify(name)}: ${compactJson(one, at)}`);
  const [open, close] = list ? ['[', ']'] : ['{', '}'];
  const short = inner('').join(', ');
  if (short.length + indent.length < WIDTH && !short.includes('\n') && indent) return open + short + close;
  return block(indent, open!, close!, inner(deeper));
}

// ---------------------------------------------------------------- attribute values, where a request has them

type Each = (value: AttributeValue) => unknown;

const mapItem = (item: unknown, each: Each): unknown =>
  Object.fromEntries(Object.entries(item as Item).map(([name, value]) => [name, each(value)]));

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A condition of the old kind: {ComparisonOperator, AttributeValueList} or {Value}. */
function mapCondition(condition: unknown, each: Each): unknown {
  if (!isObject(condition)) return condition;
  const result: Record<string, unknown> = { ...condition };
  if (condition.Value) result.Value = each(condition.Value as AttributeValue);
  if (condition.AttributeValueList)
    result.AttributeValueList = (condition.AttributeValueList as AttributeValue[]).map(each);
  return result;
}

function mapMember(name: string, value: unknown, each: Each): unknown {
  switch (name) {
    case 'Key':
    case 'Item':
    case 'ExclusiveStartKey':
    case 'ExpressionAttributeValues':
      return isObject(value) ? mapItem(value, each) : value;
    case 'Keys':
      return (value as Item[]).map((key) => mapItem(key, each));
    case 'KeyConditions':
    case 'QueryFilter':
    case 'ScanFilter':
    case 'Expected':
    case 'AttributeUpdates':
      return Object.fromEntries(
        Object.entries(value as object).map(([key, condition]) => [key, mapCondition(condition, each)]),
      );
    case 'RequestItems': // by table, whose name may be anything
      return Object.fromEntries(Object.entries(value as object).map(([table, asked]) => [table, mapAny(asked, each)]));
    case 'TransactItems':
    case 'Get':
    case 'Put':
    case 'Update':
    case 'Delete':
    case 'ConditionCheck':
    case 'PutRequest':
    case 'DeleteRequest':
      return mapAny(value, each);
    default:
      return value;
  }
}

function mapAny(value: unknown, each: Each): unknown {
  if (Array.isArray(value)) return value.map((one) => mapAny(one, each));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, mapMember(name, member, each)]));
}

const bytesInJs = (base64: string): Code => new Code(`Buffer.from(${jsString(base64)}, 'base64')`);
const bytesInPython = (base64: string): Code => new Code(`base64.b64decode(${JSON.stringify(base64)})`);

const isSafe = (digits: string): boolean => {
  const number = Number(digits);
  return Number.isFinite(number) && Math.abs(number) <= Number.MAX_SAFE_INTEGER && String(number) === digits;
};
const numberInJs = (digits: string): Code =>
  new Code(isSafe(digits) ? digits : `NumberValue.from(${jsString(digits)})`);
const setOf = (values: unknown[]): Code => new Code(`new Set(${print(values, JAVASCRIPT)})`);

/** As the document client takes it. */
function native(value: AttributeValue): unknown {
  if ('S' in value) return value.S;
  if ('N' in value) return numberInJs(value.N);
  if ('B' in value) return bytesInJs(value.B);
  if ('BOOL' in value) return value.BOOL;
  if ('NULL' in value) return null;
  if ('SS' in value) return setOf(value.SS);
  if ('NS' in value) return setOf(value.NS.map(numberInJs));
  if ('BS' in value) return setOf(value.BS.map(bytesInJs));
  if ('L' in value) return value.L.map(native);
  return mapItem(value.M, native);
}

/** As boto3's client takes it: the same, with bytes for binary. */
function forPython(value: AttributeValue): unknown {
  if ('B' in value) return { B: bytesInPython(value.B) };
  if ('BS' in value) return { BS: value.BS.map(bytesInPython) };
  if ('L' in value) return { L: value.L.map(forPython) };
  if ('M' in value) return { M: mapItem(value.M, forPython) };
  return value;
}

// ---------------------------------------------------------------- the four of DynamoDB

function curl(operation: string, request: object, { endpoint, region, auth }: SnippetContext): string {
  const target = `${STREAMS.has(operation) ? 'DynamoDBStreams_20120810' : 'DynamoDB_20120810'}.${operation}`;
  return [
    `curl -s ${shellQuote(`${endpoint.replace(/\/$/, '')}/`)}`,
    ...(auth === 'keys'
      ? [`--aws-sigv4 ${shellQuote(`aws:amz:${region}:dynamodb`)} --user "$AWS_ACCESS_KEY_ID:$AWS_SECRET_ACCESS_KEY"`]
      : []),
    `-H 'Content-Type: application/x-amz-json-1.0'`,
    `-H ${shellQuote(`X-Amz-Target: ${target}`)}`,
    `--data-binary ${shellQuote(compactJson(request))}`,
  ].join(' \\\n  ');
}

/** KeyConditionExpression → key-condition-expression, SSESpecification → sse-specification. */
export function kebab(name: string): string {
  return name
    .replace(/([A-Z]+)([A-Z][a-z])/g, '$1-$2')
    .replace(/([a-z\d])([A-Z])/g, '$1-$2')
    .toLowerCase();
}

function awsOption(name: string, value: unknown): string {
  const option = `--${kebab(name)}`;
  if (value === true) return option;
  if (value === false) return `--no-${kebab(name)}`;
  const text = isObject(value) || Array.isArray(value) ? compactJson(value) : String(value);
  return text.startsWith('-') ? shellQuote(`${option}=${text}`) : `${option} ${shellQuote(text)}`;
}

function aws(operation: string, request: object, { endpoint, region, auth }: SnippetContext): string {
  const members = Object.entries(request).filter(([, value]) => value !== undefined);
  // aws would read a file of that name, or the page at that address.
  const asFile = members.some(([, value]) => typeof value === 'string' && /^(fileb?|https?):\/\//.test(value));
  // Left alone it asks for page after page.
  const pages =
    (operation === 'Query' || operation === 'Scan') &&
    !members.some(([name]) => name === 'Limit' || name === 'ExclusiveStartKey');
  return [
    `${auth === 'none' ? 'AWS_ACCESS_KEY_ID=local AWS_SECRET_ACCESS_KEY=local ' : ''}aws ${STREAMS.has(operation) ? 'dynamodbstreams' : 'dynamodb'} ${kebab(operation)}`,
    `--endpoint-url ${shellQuote(endpoint)} --region ${shellQuote(region)}`,
    ...(asFile
      ? [`--cli-input-json ${shellQuote(compactJson(request))}`]
      : members.map(([name, value]) => awsOption(name, value))),
    ...(pages ? ['--no-paginate'] : []),
  ].join(' \\\n  ');
}

function clientInJs({ endpoint, region, auth }: SnippetContext): string {
  return print(
    {
      endpoint,
      region,
      ...(auth === 'none' ? { credentials: { accessKeyId: 'local', secretAccessKey: 'local' } } : {}),
    },
    JAVASCRIPT,
  );
}

function javascript(operation: string, request: object, context: SnippetContext): string {
  const result = RESULT[operation];
  const show = `console.dir(${result ? `reply.${result}` : 'reply'}, { depth: null });`;
  if (!DOCUMENT.has(operation)) {
    const [module, client] = STREAMS.has(operation)
      ? ['@aws-sdk/client-dynamodb-streams', 'DynamoDBStreamsClient']
      : ['@aws-sdk/client-dynamodb', 'DynamoDBClient'];
    return `// npm install ${module}; a file that ends in .mjs
import { ${client}, ${operation}Command } from '${module}';

const client = new ${client}(${clientInJs(context)});
const reply = await client.send(new ${operation}Command(${print(request, JAVASCRIPT)}));
${show}
`;
  }
  const command = `${operation
    .replace(/^(Get|Put|Update|Delete)Item$/, '$1')
    .replace(/^(Batch\w+)Item$/, '$1')
    .replace(/^(Transact\w+)Items$/, '$1')}Command`;
  const literal = print(mapAny(request, native), JAVASCRIPT);
  return `// npm install @aws-sdk/client-dynamodb @aws-sdk/lib-dynamodb; a file that ends in .mjs
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamoDBDocumentClient, ${command}${literal.includes('NumberValue.from(') ? ', NumberValue' : ''} } from '@aws-sdk/lib-dynamodb';

const client = DynamoDBDocumentClient.from(new DynamoDBClient(${clientInJs(context)}));
const reply = await client.send(new ${command}(${literal}));
${show}
`;
}

function python(operation: string, request: object, { endpoint, region, auth }: SnippetContext): string {
  const literal = mapAny(request, forPython) as Record<string, unknown>;
  const args = Object.entries(literal)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `    ${name}=${print(value, PYTHON, '    ')},\n`)
    .join('');
  const keys = auth === 'none' ? ',\n    aws_access_key_id="local", aws_secret_access_key="local"' : '';
  const result = RESULT[operation];
  return `# pip install boto3
${args.includes('base64.b64decode(') ? 'import base64\n' : ''}import json
import boto3

client = boto3.client(
    "${STREAMS.has(operation) ? 'dynamodbstreams' : 'dynamodb'}", endpoint_url=${PYTHON.string(endpoint)}, region_name=${PYTHON.string(region)}${keys})
reply = client.${kebab(operation).replaceAll('-', '_')}(
${args})
print(json.dumps(${result ? `reply.get("${result}")` : 'reply'}, indent=2, ensure_ascii=False, default=repr))
`;
}

/** The same request for other clients. */
export function snippets(operation: string, request: object, context: SnippetContext): Snippets {
  return {
    curl: curl(operation, request, context),
    aws: aws(operation, request, context),
    javascript: javascript(operation, request, context),
    python: python(operation, request, context),
  };
}

// ---------------------------------------------------------------- REST

/** A call of a design's REST API. Where a token has to be made first, curl makes it, and programs take it from TOKEN. */
export function restSnippets(method: string, url: string, body?: unknown, token?: SnippetToken): RestSnippets {
  const made = typeof token === 'object' ? token.command : undefined;
  const bearer = typeof token === 'string' ? `Bearer ${token}` : undefined;
  return {
    curl: [
      `curl -s ${method === 'GET' ? '' : `-X ${method} `}${shellQuote(url)}`,
      ...(bearer ? [`-H ${shellQuote(`Authorization: ${bearer}`)}`] : []),
      ...(made ? [`-H "Authorization: Bearer $(${made})"`] : []),
      ...(body === undefined
        ? []
        : [`-H 'Content-Type: application/json'`, `--data-binary ${shellQuote(compactJson(body))}`]),
    ].join(' \\\n  '),
    javascript: restInJs(method, url, body, bearer, made),
    python: restInPython(method, url, body, bearer, made),
  };
}

function restInJs(method: string, url: string, body: unknown, bearer?: string, made?: string): string {
  const headers: Record<string, unknown> = {};
  if (bearer) headers.Authorization = bearer;
  if (made) headers.Authorization = new Code('`Bearer ${process.env.TOKEN}`');
  if (body !== undefined) headers['Content-Type'] = 'application/json';
  const options: Record<string, unknown> = {};
  if (method !== 'GET') options.method = method;
  if (Object.keys(headers).length) options.headers = headers;
  if (body !== undefined) options.body = new Code(`JSON.stringify(${print(body, JAVASCRIPT, '  ')})`);
  const second = Object.keys(options).length ? `, ${print(options, JAVASCRIPT)}` : '';
  return `// A file that ends in .mjs${made ? `; TOKEN=$(${made})` : ''}
const reply = await fetch(${jsString(url)}${second});
if (!reply.ok) throw new Error(await reply.text());
console.dir(await reply.json(), { depth: null });
`;
}

function restInPython(method: string, url: string, body: unknown, bearer?: string, made?: string): string {
  const args = [`    ${PYTHON.string(url)},\n`];
  const authorization = bearer ? PYTHON.string(bearer) : made ? 'f"Bearer {os.environ[\'TOKEN\']}"' : undefined;
  if (authorization) args.push(`    headers={"Authorization": ${authorization}},\n`);
  if (body !== undefined) args.push(`    json=${print(body, PYTHON, '    ')},\n`);
  return `# pip install requests${made ? `; TOKEN=$(${made})` : ''}
import json
${made ? 'import os\n' : ''}import requests

reply = requests.${method.toLowerCase()}(
${args.join('')})
reply.raise_for_status()
print(json.dumps(reply.json(), indent=2, ensure_ascii=False))
`;
}
