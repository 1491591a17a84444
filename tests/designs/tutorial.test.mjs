// docs/tutorial.md, done as it says: its YAML written, its diffs applied, its commands run, their output compared.
//
//   TUTORIAL=write scripts/wire.sh ../designs/tutorial.test.mjs    puts what the commands print into the page
//
// A ```yaml block is the design; a ```diff block changes it; a ```sh block is run in one shell after the other, with the
// variables and functions of those before it; the ```text or ```json block right after one is what it prints. Times, and
// what takes as long as it takes, may differ.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { BIN, ROOT, freshDirectory, startServer } from './harness.mjs';

const page = join(ROOT, 'docs', 'tutorial.md');
const run = promisify(execFile);
const PATIENCE = process.env.TUTORIAL === 'write' ? 4 : 40; // times a command that only reads is asked again

/** The page in pieces: prose as it is, and blocks with their language. */
function pieces(text) {
  const list = [];
  let block = null;
  for (const line of text.split('\n')) {
    const fence = /^```(\w*)$/.exec(line);
    if (fence && !block) list.push(block = { kind: fence[1], lines: [] });
    else if (fence) block = null;
    else if (block) block.lines.push(line);
    else if (list.at(-1)?.kind === undefined && list.length) list.at(-1).lines.push(line);
    else list.push({ lines: [line] });
  }
  return list;
}

/** The text with one place changed: lines with ' ' and '-' must be there, together and once. */
function applied(text, diff) {
  const before = diff.filter((line) => !line.startsWith('+')).map((line) => `${line.slice(1)}\n`).join('');
  const after = diff.filter((line) => !line.startsWith('-')).map((line) => `${line.slice(1)}\n`).join('');
  assert.equal(text.split(before).length, 2, `the page changes a place that is not there, or there twice:\n${diff.join('\n')}`);
  return text.replace(before, () => after);
}

/** What may differ from run to run. */
const masked = (text) => text
  .replaceAll(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g, 'TIME')
  .replaceAll(/"next":"[^"]*"/g, '"next":"CURSOR"')
  .replaceAll(/\d+(\.\d+)? (µs|ms)/g, 'SOON');

test('the tutorial can be followed, and prints what it says', async (t) => {
  const dir = freshDirectory();
  const bin = join(dir, 'bin');
  mkdirSync(bin);
  symlinkSync(BIN, join(bin, 'thorpe'));
  if (process.env.THORPE_AWS) symlinkSync(process.env.THORPE_AWS, join(bin, 'aws'));
  const env = { PATH: `${bin}:${process.env.PATH}`, HOME: dir, LC_ALL: 'C.UTF-8' };
  const list = pieces(readFileSync(page, 'utf8'));
  let design, server, session = '';
  t.after(() => server?.kill());

  /** Runs a block after all that was set before; resolves to what it prints. */
  async function shell(script) {
    const here = script.replaceAll('http://127.0.0.1:8000', server?.endpoint ?? 'http://127.0.0.1:8000')
      .replaceAll(/thorpe (call|processors) [^|\n]*/g, (command) => `${command.trimEnd()} --endpoint ${server.endpoint} `);
    const { stdout, stderr } = await run('bash', ['-c', `${session}\n{\n${here}\n} 2>&1\n`], { cwd: dir, env }).catch((failed) => failed);
    session += script.split('\n').filter((line) => /^(\w+=|export |\w+\(\))/.test(line)).join('\n')
      .replaceAll('http://127.0.0.1:8000', server?.endpoint ?? '') + '\n';
    return (stdout + stderr).replaceAll(server?.endpoint ?? '\0', 'http://127.0.0.1:8000');
  }

  for (let i = 0; i < list.length; i++) {
    const { kind, lines } = list[i];
    const text = `${lines.join('\n')}\n`;
    if (kind === 'yaml' || kind === 'diff') {
      design = kind === 'yaml' ? text : applied(design, lines);
      writeFileSync(join(dir, 'books.yaml'), design);
    } else if (kind === 'sh' && lines[0].startsWith('thorpe serve')) {
      assert.equal(text, 'thorpe serve --data books-data --design books.yaml\n');
      await server?.stop();
      const listen = server ? `127.0.0.1:${server.port}` : '127.0.0.1:0';
      server = await startServer({ data: join(dir, 'books-data'), listen, args: ['--design', join(dir, 'books.yaml')] });
    } else if (kind === 'sh') {
      const writes = /--json|-X /.test(text);
      let printed = await shell(text);
      const expected = ['text', 'json'].includes(list[i + 2]?.kind) && list[i + 1].lines.join('') === '' ? list[i + 2] : null;
      const same = () => expected && masked(printed) === masked(`${expected.lines.join('\n')}\n`);
      for (let tries = 0; expected && !writes && !same() && tries < PATIENCE; tries++) { // a processor may not have seen it yet
        await new Promise((resolve) => setTimeout(resolve, 250));
        printed = await shell(text);
      }
      if (process.env.TUTORIAL === 'write' && expected) expected.lines = printed.trimEnd().split('\n');
      else if (expected) assert.equal(masked(printed), masked(`${expected.lines.join('\n')}\n`), `after\n${text}`);
      else assert.equal(printed, '', `nothing is shown after\n${text}`);
    }
  }
  await server.stop();
  if (process.env.TUTORIAL === 'write') {
    writeFileSync(page, list.map(({ kind, lines }) => (kind === undefined ? lines : [`\`\`\`${kind}`, ...lines, '```']).join('\n')).join('\n'));
  }
});
