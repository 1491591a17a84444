// JSON that keeps every digit of a number: JavaScript's own has seventeen, DynamoDB's numbers thirty-eight.
// SPDX-License-Identifier: Apache-2.0

const rawJson = (JSON as { rawJSON?: (text: string) => unknown }).rawJSON;

/** A number that JavaScript's cannot hold as it is written. */
export class ExactNumber {
  constructor(readonly digits: string) {}
  toString(): string {
    return this.digits;
  }
  /** For JSON.stringify(): as it is where the browser can, else text rather than another number. */
  toJSON(): unknown {
    return rawJson?.(this.digits) ?? this.digits;
  }
}

/** An error in typed text; `line` counts from 1. */
export class JsonError extends Error {
  constructor(
    message: string,
    readonly line?: number,
    readonly column?: number,
  ) {
    super(line === undefined ? message : `Line ${line}, column ${column}: ${message}`);
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof ExactNumber);
}

const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const SPACE = /[ \t\r\n]*/y;

class Reader {
  at = 0;
  constructor(readonly text: string) {}

  fail(message: string): never {
    const before = this.text.slice(0, this.at).split('\n');
    throw new JsonError(message, before.length, before[before.length - 1]!.length + 1);
  }

  match(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (!found) return null;
    this.at += found[0].length;
    return found[0];
  }

  /** Skips spaces, and `sign` if it comes next. */
  take(sign: string): boolean {
    this.match(SPACE);
    if (!this.text.startsWith(sign, this.at)) return false;
    this.at += sign.length;
    return true;
  }

  string(): string {
    this.match(SPACE);
    const found = this.match(STRING);
    if (found === null)
      this.fail(
        this.text[this.at] === '"'
          ? 'this string does not end, or has a character that needs a \\'
          : 'a name in quotes is expected',
      );
    return JSON.parse(found) as string;
  }

  number(): unknown {
    const digits = this.match(NUMBER);
    if (digits === null)
      this.fail(
        this.at >= this.text.length
          ? 'the text ends here, in the middle of a value'
          : `this is not a value: ${this.text.slice(this.at, this.at + 12)}`,
      );
    return String(Number(digits)) === digits ? Number(digits) : new ExactNumber(digits);
  }

  list(depth: number): unknown[] {
    const list: unknown[] = [];
    if (this.take(']')) return list;
    do list.push(this.value(depth));
    while (this.take(','));
    if (!this.take(']')) this.fail('a , or a ] is expected');
    return list;
  }

  object(depth: number): Record<string, unknown> {
    const object: Record<string, unknown> = {};
    if (this.take('}')) return object;
    do {
      this.match(SPACE);
      const start = this.at;
      const name = this.string();
      if (Object.prototype.hasOwnProperty.call(object, name)) {
        this.at = start;
        this.fail(`"${name}" is there twice`);
      }
      if (!this.take(':')) this.fail('a : is expected');
      Object.defineProperty(object, name, {
        value: this.value(depth),
        enumerable: true,
        configurable: true,
        writable: true,
      });
    } while (this.take(','));
    if (!this.take('}')) this.fail('a , or a } is expected');
    return object;
  }

  value(depth = 0): unknown {
    if (depth > 100) this.fail('this is nested too deeply');
    if (this.take('{')) return this.object(depth + 1);
    if (this.take('[')) return this.list(depth + 1);
    if (this.take('true')) return true;
    if (this.take('false')) return false;
    if (this.take('null')) return null;
    return this.text[this.at] === '"' ? this.string() : this.number();
  }
}

export function parseJson(text: string): unknown {
  const reader = new Reader(text);
  const value = reader.value();
  reader.match(SPACE);
  if (reader.at < text.length) reader.fail('the value ended before this');
  return value;
}

/** Indented; short values stay on one line. */
export function formatJson(value: unknown, indent = ''): string {
  const scalar = formatScalar(value);
  if (scalar !== null) return scalar;
  const deeper = `${indent}  `;
  const list = Array.isArray(value);
  const members = list
    ? value.map((element) => formatJson(element, deeper))
    : Object.entries(value as object).map(([name, of]) => `${JSON.stringify(name)}: ${formatJson(of, deeper)}`);
  const [open, close] = list ? '[]' : '{}';
  const line = members.join(', ');
  if (indent && line.length + indent.length < 90 && !line.includes('\n')) return `${open}${line}${close}`;
  return members.length ? `${open}\n${deeper}${members.join(`,\n${deeper}`)}\n${indent}${close}` : `${open}${close}`;
}

function formatScalar(value: unknown): string | null {
  if (value instanceof ExactNumber) return value.digits;
  return value === null || typeof value !== 'object' ? (JSON.stringify(value) ?? 'null') : null;
}
