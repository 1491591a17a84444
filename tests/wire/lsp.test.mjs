// `thorpe lsp`, spoken to as an editor does.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch, runToEnd, thorpeTest, until, within } from './harness.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const URI = 'file:///my/shop.yaml';
const SHOP = `design: shop
table: Shop
key: [PK, SK]
entities:
  Item:
    path: /items/<item>
    attributes:
      item: string, id
      title: string 1..100, required
    keys: {PK: ITEM#<item>, SK: ITEM}
    allow: {create, read, update: caller is user}
`;

const framed = (message) => {
  const body = typeof message === 'string' ? message : JSON.stringify({ jsonrpc: '2.0', ...message });
  return `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
};

/** An editor: what it has heard is in `heard`. */
class Editor {
  heard = [];
  #bytes = Buffer.alloc(0);
  #id = 0;

  constructor() {
    this.run = launch(['lsp'], { input: true });
    this.run.child.stdout.on('data', (data) => {
      this.#bytes = Buffer.concat([this.#bytes, data]);
      for (;;) {
        const end = this.#bytes.indexOf('\r\n\r\n');
        if (end < 0) return;
        const [, length] = /^Content-Length: (\d+)$/.exec(this.#bytes.subarray(0, end).toString());
        const body = this.#bytes.subarray(end + 4, end + 4 + Number(length));
        if (body.length < Number(length)) return;
        this.heard.push(JSON.parse(body.toString()));
        this.#bytes = this.#bytes.subarray(end + 4 + Number(length));
      }
    });
    this.run.child.stdin.on('error', () => {}); // it may have ended
  }

  write(bytes) { this.run.child.stdin.write(bytes); }
  tell(method, params) { this.write(framed({ method, params })); }
  reply(id) { return until(`the answer to ${id}`, () => this.heard.find((message) => message.id === id && !message.method)); }

  async ask(method, params) {
    const id = ++this.#id;
    this.write(framed({ id, method, params }));
    return this.reply(id);
  }

  async begin() {
    const { result } = await this.ask('initialize', { processId: null, rootUri: null, capabilities: {} });
    this.tell('initialized', {});
    return result;
  }

  open(text, uri = URI) { this.tell('textDocument/didOpen', { textDocument: { uri, languageId: 'yaml', version: 1, text } }); }
  change(text, version, uri = URI) { this.tell('textDocument/didChange', { textDocument: { uri, version }, contentChanges: [{ text }] }); }

  /** The findings of a version of a file. */
  async findings(version, uri = URI) {
    const { params } = await until(`the findings of version ${version}`, () => this.heard.find(({ method, params }) =>
      method === 'textDocument/publishDiagnostics' && params.uri === uri && params.version === version));
    return params.diagnostics;
  }

  /** Words at a place, by their labels. */
  async words(line, character, uri = URI) {
    const { result } = await this.ask('textDocument/completion', { textDocument: { uri }, position: { line, character } });
    return Object.fromEntries(result.map((item) => [item.label, item]));
  }

  async hover(line, character, uri = URI) {
    return (await this.ask('textDocument/hover', { textDocument: { uri }, position: { line, character } })).result;
  }

  async end() {
    const { result } = await this.ask('shutdown');
    assert.equal(result, null);
    this.tell('exit');
    return within(10, 'the server to end', this.run.done);
  }
}

async function withEditor(work) {
  const editor = new Editor();
  try {
    const result = await editor.begin();
    await work(editor, result);
    assert.equal(await editor.end(), 0, editor.run.stderr);
    assert.equal(editor.run.stderr, '');
  } finally {
    editor.run.child.kill('SIGKILL');
  }
}

const memory = ({ run }) => Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${run.child.pid}/status`, 'utf8'))[1]);

thorpeTest('lsp: the help says what it is', async () => {
  const { code, stdout } = await runToEnd(['lsp', '--help']);
  assert.equal(code, 0);
  assert.match(stdout, /language server/);
  assert.equal((await runToEnd(['lsp', 'x'])).code, 2);
});

thorpeTest('lsp: what is wrong is told where it stands, and is gone when it is right', () => withEditor(async (editor, { capabilities, serverInfo }) => {
  assert.equal(serverInfo.name, 'thorpe');
  assert.equal(capabilities.positionEncoding, 'utf-16');
  editor.open(SHOP.replace('required', 'requird'));
  const [wrong, ...others] = await editor.findings(1);
  assert.deepEqual(others, []);
  assert.deepEqual(wrong.range, { start: { line: 8, character: 28 }, end: { line: 8, character: 35 } });
  assert.equal(wrong.severity, 1);
  assert.equal(wrong.code, 'unknown-clause');
  assert.equal(wrong.source, 'thorpe');
  assert.match(wrong.message, /there is no clause 'requird'\n→ did you mean 'required'\?/);
  editor.change(SHOP, 2);
  assert.deepEqual(await editor.findings(2), []);
  // What a review finds, and why.
  editor.change(SHOP.replace('update: caller is user', 'update, delete: anyone'), 3);
  const [found] = await editor.findings(3);
  assert.equal(found.severity, 2);
  assert.match(found.message, /anyone may change a Item, without a login\n.*guessed.*\n→ /);
  // Closed: nothing is wrong any more.
  editor.tell('textDocument/didClose', { textDocument: { uri: URI } });
  await until('no findings', () => editor.heard.some(({ params }) => params?.uri === URI && params.version === undefined && !params.diagnostics.length));
}));

thorpeTest('lsp: columns are counted in UTF-16, lines end in any way', () => withEditor(async (editor) => {
  // 𝄞 is two units, é one; the loader counts characters, and bytes are more.
  const text = SHOP.replace('table: Shop', "title: '𝄞 é 𝄞'\ntable: Shop").replace("1..100, required", "1..100 matches '𝄞é+', requird");
  editor.open(text.replaceAll('\n', '\r\n'));
  const [bad] = await editor.findings(1);
  const line = text.split('\n').findIndex((one) => one.includes('requird'));
  const character = text.split('\n')[line].indexOf('requird'); // JavaScript counts as editors do
  assert.equal(bad.code, 'unknown-clause');
  assert.deepEqual(bad.range, { start: { line, character }, end: { line, character: character + 7 } });
  editor.change(SHOP.replace('table: Shop', "table: Shop\ntitle: '𝄞𝄞', x: y"), 2);
  const [yaml] = await editor.findings(2);
  assert.deepEqual(yaml.range.start, { line: 2, character: 13 });
  // After the pair, in its middle, far beyond the line, beyond the file.
  editor.change('title: 𝄞\nta', 3);
  await editor.findings(3);
  assert.deepEqual((await editor.words(1, 2)).table.textEdit, { range: { start: { line: 1, character: 0 }, end: { line: 1, character: 2 } }, newText: 'table: ' });
  for (const [line, character] of [[0, 8], [0, 9], [0, 10], [1, 99], [99, 0], [-1, -1], [2 ** 40, 2 ** 40]]) {
    await editor.words(line, character);
    await editor.hover(line, character);
  }
}));

thorpeTest('lsp: words and names are completed, and explained', () => withEditor(async (editor) => {
  const text = `${SHOP}access:\n  items of shelf:\n    path: /shelves/<shelf>\n    `;
  const line = text.split('\n').length - 1;
  editor.open(text);
  const words = await editor.words(line, 4);
  for (const word of ['query', 'where', 'order', 'limit', 'show']) assert.ok(words[word], word);
  assert.ok(!words.attributes);
  assert.equal(words.limit.textEdit.newText, 'limit: ');
  assert.ok(words.order.detail);
  editor.change(`${text}order: newest f`, 2);
  assert.deepEqual((await editor.words(line, 19))['newest first'].textEdit.range.start, { line, character: 11 });
  editor.change(`${text}get: It`, 3);
  assert.ok((await editor.words(line, 11)).Item);
  editor.change(`${text}get: Item(shelf)`, 4);
  assert.match((await editor.hover(line, 10)).contents.value, /Item: an entity: \/items\/<item>/);
  assert.match((await editor.hover(8, 8)).contents.value, /^title: A type and clauses/);
  assert.equal(await editor.hover(line - 1, 0), null);
  // Of a file that is not open nothing is known.
  assert.deepEqual(await editor.words(0, 0, 'file:///other.yaml'), {});
  assert.equal(await editor.hover(0, 0, 'file:///other.yaml'), null);
}));

thorpeTest('lsp: bytes may come in any pieces, and several messages in one', async () => {
  const editor = new Editor();
  const all = framed({ id: 'a', method: 'initialize', params: {} })
    + framed({ method: 'textDocument/didOpen', params: { textDocument: { uri: URI, version: 7, text: 'design: é𝄞' } } }).replace('Content-Length', 'Content-Type: application/vscode-jsonrpc; charset=utf-8\r\ncontent-length')
    + framed({ id: 'b', method: 'textDocument/hover', params: { textDocument: { uri: URI }, position: { line: 0, character: 1 } } });
  for (const byte of Buffer.from(all)) {
    editor.write(Buffer.from([byte]));
    if (byte === 10 || byte > 127) await new Promise((resolve) => setTimeout(resolve, 1));
  }
  assert.equal((await editor.reply('a')).result.serverInfo.name, 'thorpe');
  assert.match((await editor.reply('b')).result.contents.value, /^design: /);
  assert.ok((await editor.findings(7)).length);
  // One write, three messages; lines that end in LF alone.
  editor.write([4, 5, 6].map((id) => framed({ id, method: 'textDocument/hover', params: {} }).replaceAll('\r\n', '\n')).join(''));
  for (const id of [4, 5, 6]) assert.equal((await editor.reply(id)).result, null);
  assert.equal(await editor.end(), 0);
});

thorpeTest('lsp: messages that make no sense are refused, and the next one is answered', () => withEditor(async (editor) => {
  const errors = () => editor.heard.filter(({ error }) => error).map(({ id, error }) => [id, error.code]);
  editor.write(framed('{"jsonrpc": "2.0", "id": 1, '));
  editor.write(framed('[]'));
  editor.write(framed('"hello"'));
  editor.write(framed('{}'));
  editor.write(framed(''));
  editor.write(framed({ id: 91, method: 'textDocument/rename', params: {} }));
  editor.write(framed({ id: 92, method: 'initialize', params: {} }));
  editor.write(framed({ id: 93, method: 'exit' }));
  editor.write(framed({ id: 94, result: {} })); // an answer to what was not asked
  editor.write(framed({ method: '$/setTrace', params: { value: 'off' } }));
  editor.write(framed({ method: 'textDocument/didOpen', params: { textDocument: { uri: 3, text: [] } } }));
  editor.write(framed({ method: 'textDocument/didOpen' }));
  editor.write(framed({ method: 'textDocument/didChange', params: { textDocument: { uri: 'file:///not/open' }, contentChanges: [{ text: 'x' }] } }));
  editor.write(framed({ method: 'textDocument/didChange', params: { textDocument: { uri: URI }, contentChanges: [] } }));
  editor.write(framed({ method: 'textDocument/didClose', params: { textDocument: { uri: 'file:///not/open' } } }));
  editor.write(framed({ id: 95, method: 'textDocument/completion', params: { textDocument: 'x', position: [] } }));
  assert.deepEqual((await editor.reply(95)).result, []);
  assert.deepEqual(errors(), [[null, -32700], [null, -32600], [null, -32600], [null, -32600], [null, -32700], [91, -32601], [92, -32600], [93, -32601]]);
  // Texts of all kinds.
  for (const [i, text] of ['', '\n', '\u0000', '\t', '{', '- '.repeat(3000), '[{'.repeat(3000), 'a: '.repeat(3000), '😀'.repeat(500), `design: ${'x'.repeat(70_000)}`, '\ufeffdesign: x'].entries()) {
    editor.open(text, `file:///odd/${i}`);
    await editor.findings(1, `file:///odd/${i}`);
    await editor.words(0, text.length, `file:///odd/${i}`);
    await editor.hover(0, 1, `file:///odd/${i}`);
  }
  // Larger than a design may be.
  editor.open(`# ${'x'.repeat(1 << 20)}\n${SHOP}`, 'file:///large');
  assert.match((await editor.findings(1, 'file:///large'))[0].message, /1 MiB/);
}));

thorpeTest('lsp: before it is asked to begin and after it was asked to end it answers nothing', async () => {
  const editor = new Editor();
  editor.tell('textDocument/didOpen', { textDocument: { uri: URI, version: 1, text: SHOP } });
  assert.equal((await editor.ask('textDocument/hover', {})).error.code, -32002);
  await editor.begin();
  await editor.ask('shutdown');
  assert.equal((await editor.ask('textDocument/hover', {})).error.code, -32600);
  editor.tell('exit');
  assert.equal(await within(10, 'the server to end', editor.run.done), 0);
  assert.ok(!editor.heard.some(({ method }) => method), 'no findings');
});

thorpeTest('lsp: it ends with the editor, and says whether that was in order', async () => {
  const rude = new Editor();
  await rude.begin();
  rude.tell('exit');
  assert.equal(await within(10, 'the server to end', rude.run.done), 1);
  const gone = new Editor();
  await gone.begin();
  gone.run.child.stdin.end();
  assert.equal(await within(10, 'the server to end', gone.run.done), 1);
  for (const bytes of ['hello\r\n\r\n', 'Content-Length: x\r\n\r\n', 'Content-Length: 99999999999999999999\r\n\r\n', 'Content-Length: -1\r\n\r\n', 'x'.repeat(10_000)]) {
    const lost = new Editor();
    lost.write(bytes);
    assert.equal(await within(10, 'the server to end', lost.run.done), 1);
    assert.match(lost.run.stderr, /Content-Length|headers/);
  }
});

thorpeTest('lsp: what is cancelled before it is answered is not answered', () => withEditor(async (editor) => {
  editor.open(SHOP);
  editor.write([
    framed({ id: 501, method: 'textDocument/completion', params: { textDocument: { uri: URI }, position: { line: 0, character: 0 } } }),
    framed({ id: 'five', method: 'textDocument/hover', params: { textDocument: { uri: URI }, position: { line: 0, character: 0 } } }),
    framed({ id: 502, method: 'textDocument/hover', params: { textDocument: { uri: URI }, position: { line: 0, character: 0 } } }),
    framed({ method: '$/cancelRequest', params: { id: 501 } }),
    framed({ method: '$/cancelRequest', params: { id: 'five' } }),
    framed({ method: '$/cancelRequest', params: { id: 12345 } }),
    framed({ method: '$/cancelRequest' }),
  ].join(''));
  assert.equal((await editor.reply(501)).error.code, -32800);
  assert.equal((await editor.reply('five')).error.code, -32800);
  assert.match((await editor.reply(502)).result.contents.value, /^design/);
}));

thorpeTest('lsp: of many changes at once the last one is checked; ten thousand take no memory', () => withEditor(async (editor) => {
  editor.open(SHOP);
  await editor.findings(1);
  // At once: most of them are passed over.
  let burst = '';
  for (let version = 2; version < 2000; version++) burst += framed({ method: 'textDocument/didChange', params: { textDocument: { uri: URI, version }, contentChanges: [{ text: `${SHOP}# ${version}\n` }] } });
  editor.write(burst);
  await editor.findings(1999);
  assert.ok(editor.heard.length < 1500, `${editor.heard.length} messages`);
  const after = memory(editor);
  for (let version = 2000; version < 12_000; version++) {
    editor.change(version % 2 ? SHOP.replace('string', `strng${version}`) : `${SHOP}access:\n`, version);
    if (version % 50 === 49) {
      await editor.findings(version);
      await editor.words(8, 20);
      editor.heard.length = 0;
    }
  }
  const grown = memory(editor) - after;
  assert.ok(grown < 4096, `${grown} KiB more`);
}));
