// A line of a design in colours: enough of YAML for the files people write, not a parser.
// SPDX-License-Identifier: Apache-2.0

export interface Token {
  text: string;
  kind: 'text' | 'key' | 'comment' | 'string' | 'placeholder' | 'number' | 'mark';
}

/** Where the comment begins: a # at the start or after a space, outside quotes. */
function commentAt(line: string): number {
  let quote = '';
  for (let at = 0; at < line.length; at++) {
    const c = line[at]!;
    if (quote) {
      if (c === quote) quote = '';
      continue;
    }
    if ((c === "'" || c === '"') && (at === 0 || /[\s{[,(:]/.test(line[at - 1]!))) quote = c;
    else if (c === '#' && (at === 0 || /\s/.test(line[at - 1]!))) return at;
  }
  return line.length;
}

const VALUE =
  /('(?:[^']|'')*'|"(?:[^"\\]|\\.)*")|(<[\w.:+-]+>)|(?<![\w#.-])(-?\d+(?:\.\d+)?)(?![\w#.-])|([{}[\],|]|>-?$)|([A-Za-z_@][\w@ ()-]*?)(?=: )/g;

function valueTokens(text: string): Token[] {
  const tokens: Token[] = [];
  let at = 0;
  for (const found of text.matchAll(VALUE)) {
    if (found.index! > at) tokens.push({ text: text.slice(at, found.index), kind: 'text' });
    const kind = found[1] ? 'string' : found[2] ? 'placeholder' : found[3] ? 'number' : found[4] ? 'mark' : 'key';
    tokens.push({ text: found[0], kind });
    at = found.index! + found[0].length;
  }
  if (at < text.length) tokens.push({ text: text.slice(at), kind: 'text' });
  return tokens;
}

export function tokens(line: string): Token[] {
  const end = commentAt(line);
  const code = line.slice(0, end);
  const key = /^(\s*(?:- )?)([^\s{['"<-][^:]*|'[^']*'|"[^"]*")(:)(?=\s|$)/.exec(code);
  const result: Token[] = [];
  if (key) result.push({ text: key[1]!, kind: 'text' }, { text: key[2]!, kind: 'key' }, { text: ':', kind: 'mark' });
  result.push(...valueTokens(code.slice(key?.[0].length ?? 0)));
  if (end < line.length) result.push({ text: line.slice(end), kind: 'comment' });
  return result.filter((token) => token.text);
}
