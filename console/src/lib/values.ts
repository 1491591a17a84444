// Attribute values: in plain JSON, in DynamoDB's, and in a few words. No way between them loses a digit of a number.
// SPDX-License-Identifier: Apache-2.0
import { ExactNumber, JsonError, formatJson, isObject, parseJson } from './exact-json';
import type { AttributeValue, Item } from './types';

export { ExactNumber, JsonError, formatJson, parseJson } from './exact-json';

export type TypeName = 'S' | 'N' | 'B' | 'BOOL' | 'NULL' | 'SS' | 'NS' | 'BS' | 'L' | 'M';
export type Form = 'plain' | 'dynamo';

export const typeNames: Record<TypeName, string> = {
  S: 'string',
  N: 'number',
  B: 'binary',
  BOOL: 'boolean',
  NULL: 'null',
  SS: 'string set',
  NS: 'number set',
  BS: 'binary set',
  L: 'list',
  M: 'map',
};

export function typeOf(value: AttributeValue): TypeName {
  return Object.keys(value)[0] as TypeName;
}

/** The content, of any type. */
function inside(value: AttributeValue): unknown {
  return Object.values(value)[0];
}

// ---------------------------------------------------------------- plain

// A type that JSON lacks is an object with one member that begins with '$'; a map that looks like that is wrapped in
// $map.
const MARKS = ['$binary', '$set', '$map', '$number'];
const JSON_NUMBER = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/;

function plainNumber(digits: string): unknown {
  if (!JSON_NUMBER.test(digits)) return { $number: digits };
  return String(Number(digits)) === digits ? Number(digits) : new ExactNumber(digits);
}

export function toPlain(value: AttributeValue): unknown {
  if ('S' in value) return value.S;
  if ('N' in value) return plainNumber(value.N);
  if ('BOOL' in value) return value.BOOL;
  if ('NULL' in value) return null;
  if ('B' in value) return { $binary: value.B };
  if ('SS' in value) return { $set: value.SS };
  if ('NS' in value) return { $set: value.NS.map(plainNumber) };
  if ('BS' in value) return { $set: value.BS.map((b) => ({ $binary: b })) };
  if ('L' in value) return value.L.map(toPlain);
  const names = Object.keys(value.M);
  const plain = plainItem(value.M);
  return names.length === 1 && MARKS.includes(names[0]!) ? { $map: plain } : plain;
}

export function plainItem(item: Item): Record<string, unknown> {
  return Object.fromEntries(Object.entries(item).map(([name, value]) => [name, toPlain(value)]));
}

function setFrom(members: unknown, path: string): AttributeValue {
  if (!Array.isArray(members) || members.length === 0) throw new JsonError(`${path}: a set has at least one member`);
  const values = members.map((member, i) => fromPlain(member, `${path}[${i}]`));
  for (const type of ['S', 'N', 'B'] as const)
    if (values.every((value) => type in value))
      return { [`${type}S`]: values.map(inside) } as unknown as AttributeValue;
  throw new JsonError(`${path}: the members of a set are all strings, all numbers or all binaries`);
}

function fromMark(mark: string, content: unknown, path: string): AttributeValue {
  if (mark === '$set') return setFrom(content, path);
  if (mark === '$map') {
    if (!isObject(content)) throw new JsonError(`${path}: $map holds an object`);
    return { M: itemFromPlain(content, path) };
  }
  if (typeof content !== 'string') throw new JsonError(`${path}: ${mark} holds a string`);
  if (mark === '$number') return { N: content };
  if (!isBase64(content)) throw new JsonError(`${path}: $binary holds base64`);
  return { B: content };
}

export function fromPlain(plain: unknown, path = 'value'): AttributeValue {
  if (plain === null) return { NULL: true };
  if (typeof plain === 'string') return { S: plain };
  if (typeof plain === 'boolean') return { BOOL: plain };
  if (typeof plain === 'number') return { N: String(plain) };
  if (plain instanceof ExactNumber) return { N: plain.digits };
  if (Array.isArray(plain)) return { L: plain.map((element, i) => fromPlain(element, `${path}[${i}]`)) };
  if (!isObject(plain)) throw new JsonError(`${path}: there is no such value in DynamoDB`);
  const names = Object.keys(plain);
  if (names.length === 1 && MARKS.includes(names[0]!)) return fromMark(names[0]!, plain[names[0]!], path);
  return { M: itemFromPlain(plain, path) };
}

export function itemFromPlain(plain: Record<string, unknown>, path = ''): Item {
  return Object.fromEntries(
    Object.entries(plain).map(([name, value]) => [name, fromPlain(value, path ? `${path}.${name}` : name)]),
  );
}

// ---------------------------------------------------------------- DynamoDB JSON

function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}

/** Refuses invalid DynamoDB JSON, with the position; accepts a bare number under N. */
function checkValue(value: unknown, path: string): AttributeValue {
  const names = isObject(value) ? Object.keys(value) : [];
  if (!isObject(value) || names.length !== 1 || !(names[0]! in typeNames))
    throw new JsonError(`${path}: one of ${Object.keys(typeNames).join(', ')}, as in {"S": "text"}`);
  const type = names[0] as TypeName;
  const content = value[type];
  const wrong = () => new JsonError(`${path}: this is not a ${typeNames[type]}`);
  const digits = (of: unknown) => (typeof of === 'number' || of instanceof ExactNumber ? String(of) : of);
  switch (type) {
    case 'S':
      if (typeof content !== 'string') throw wrong();
      return { S: content };
    case 'N': {
      const n = digits(content);
      if (typeof n !== 'string') throw wrong();
      return { N: n };
    }
    case 'B':
      if (typeof content !== 'string' || !isBase64(content)) throw wrong();
      return { B: content };
    case 'BOOL':
      if (typeof content !== 'boolean') throw wrong();
      return { BOOL: content };
    case 'NULL':
      if (content !== true) throw wrong();
      return { NULL: true };
    case 'L':
      if (!Array.isArray(content)) throw wrong();
      return { L: content.map((of, i) => checkValue(of, `${path}[${i}]`)) };
    case 'M':
      if (!isObject(content)) throw wrong();
      return { M: checkItem(content, path) };
    default: {
      const members = Array.isArray(content) ? content.map(type === 'NS' ? digits : (of) => of) : [];
      if (members.length === 0 || members.some((of) => typeof of !== 'string')) throw wrong();
      return { [type]: members } as unknown as AttributeValue;
    }
  }
}

function checkItem(value: Record<string, unknown>, path = ''): Item {
  return Object.fromEntries(
    Object.entries(value).map(([name, of]) => [name, checkValue(of, path ? `${path}.${name}` : name)]),
  );
}

// ---------------------------------------------------------------- text

export function formatItem(item: Item, form: Form): string {
  return formatJson(form === 'plain' ? plainItem(item) : item);
}

/** Throws a JsonError that says where. */
export function parseItem(text: string, form: Form): Item {
  const value = parseJson(text);
  if (!isObject(value)) throw new JsonError('An item is an object: { … }');
  return form === 'plain' ? itemFromPlain(value) : checkItem(value);
}

/** In a few words, for a cell of a table. */
export function show(value: AttributeValue): string {
  if ('S' in value) return value.S;
  if ('N' in value) return value.N;
  if ('BOOL' in value) return String(value.BOOL);
  if ('NULL' in value) return 'null';
  if ('B' in value) return `${byteCount(value.B)} bytes`;
  if ('BS' in value) return `{${value.BS.length} binaries}`;
  if ('SS' in value) return `{${value.SS.join(', ')}}`;
  if ('NS' in value) return `{${value.NS.join(', ')}}`;
  if ('L' in value) return value.L.length > 8 ? `[${value.L.length} elements]` : `[${value.L.map(show).join(', ')}]`;
  const names = Object.keys(value.M);
  return names.length > 4
    ? `{${names.length} members}`
    : `{${names.map((name) => `${name}: ${show(value.M[name]!)}`).join(', ')}}`;
}

function byteCount(base64: string): number {
  return (base64.length / 4) * 3 - (base64.endsWith('==') ? 2 : base64.endsWith('=') ? 1 : 0);
}

// ---------------------------------------------------------------- keys, order, equality

/** A key's value as text (an address, an input field); null: it is none. */
export function keyText(value: AttributeValue | undefined): string | null {
  if (!value) return null;
  return 'S' in value ? value.S : 'N' in value ? value.N : 'B' in value ? value.B : null;
}

export function keyValue(text: string, type: 'S' | 'N' | 'B'): AttributeValue {
  return { [type]: text } as unknown as AttributeValue;
}

interface Decimal {
  sign: number;
  exponent: number;
  digits: string;
}

/** 0.00120 is 12E-4: its exponent counts from before its first digit, so that it compares first. */
function decimal(text: string): Decimal {
  const [, minus, whole = '', fraction = '', power = '0'] =
    /^\s*([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?/.exec(text) ?? [];
  const all = whole + fraction;
  const digits = all.replace(/^0+/, '').replace(/0+$/, '');
  const leading = all.length - all.replace(/^0+/, '').length;
  if (!digits) return { sign: 0, exponent: 0, digits: '' };
  return { sign: minus === '-' ? -1 : 1, exponent: Number(power) + whole.length - leading, digits };
}

function compareNumbers(a: string, b: string): number {
  const x = decimal(a),
    y = decimal(b);
  if (x.sign !== y.sign) return x.sign - y.sign;
  const size = x.exponent - y.exponent || (x.digits < y.digits ? -1 : x.digits > y.digits ? 1 : 0);
  return x.sign * size;
}

/** By UTF-8 bytes, as the database does: that is by code points, which UTF-16 units are not. */
function compareText(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  let i = 0;
  while (i < end && a.charCodeAt(i) === b.charCodeAt(i)) i++;
  if (i === end) return a.length - b.length;
  const surrogate = (code: number) => (code >= 0xd800 && code < 0xe000 ? code + 0x10000 : code);
  return surrogate(a.charCodeAt(i)) - surrogate(b.charCodeAt(i));
}

/** As the database orders the values of one key attribute. */
export function compareKeys(a: AttributeValue, b: AttributeValue): number {
  if ('N' in a && 'N' in b) return compareNumbers(a.N, b.N);
  if ('B' in a && 'B' in b) return compareText(atob(a.B), atob(b.B));
  return compareText(keyText(a) ?? '', keyText(b) ?? '');
}

export function sameValue(a: AttributeValue | undefined, b: AttributeValue | undefined): boolean {
  return canonical(a) === canonical(b);
}

export function sameItem(a: Item, b: Item): boolean {
  return canonical({ M: a }) === canonical({ M: b });
}

/** One text for equal values: members of maps and sets have no order. */
function canonical(value: AttributeValue | undefined): string {
  if (!value) return '';
  if ('M' in value)
    return `M{${Object.keys(value.M)
      .sort()
      .map((name) => `${JSON.stringify(name)}:${canonical(value.M[name])}`)
      .join()}}`;
  if ('L' in value) return `L[${value.L.map(canonical).join()}]`;
  const content = inside(value);
  return typeOf(value) + JSON.stringify(Array.isArray(content) ? [...content].sort() : content);
}
