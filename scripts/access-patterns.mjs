// docs/access-patterns.md: each id of the five designs, its route, its DynamoDB requests, and the tests that show it.
//
//   node scripts/access-patterns.mjs          compare; ends with 1 when the page is not what it should be
//   node scripts/access-patterns.mjs --write  write the page
//
// The routes and requests are what `thorpe doc` says of designs/*.yaml; a test shows the ids that its title begins with.
// SPDX-License-Identifier: Apache-2.0
import { execFileSync } from 'node:child_process';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..');
const bin = process.env.THORPE_BIN ?? join(root, 'build', 'thorpe');
const page = join(root, 'docs', 'access-patterns.md');

const HOW_MANY = { W: 27, B: 32, F: 27, S: 35, P: 35 };

function services() {
  const files = readdirSync(join(root, 'designs')).filter((name) => name.endsWith('.yaml')).sort();
  return JSON.parse(execFileSync(bin, ['doc', '--json', ...files.map((name) => join('designs', name))], { cwd: root, encoding: 'utf8' }));
}

/** id → [{ file, title }] */
function tests() {
  const shown = new Map();
  const dir = join(root, 'tests', 'designs');
  for (const file of readdirSync(dir).filter((name) => name.endsWith('.test.mjs')).sort()) {
    const text = readFileSync(join(dir, file), 'utf8');
    for (const [, , title] of text.matchAll(/\btest\(\s*(['"`])((?:\\.|(?!\1).)*)\1/g)) {
      const [, ids] = /^((?:[A-Z]-A\d\d(?:, )?)+):/.exec(title) ?? [];
      for (const id of ids?.split(', ') ?? []) {
        if (!shown.has(id)) shown.set(id, []);
        shown.get(id).push({ file, title: title.slice(ids.length + 2).replaceAll('\\', '') });
      }
    }
  }
  return shown;
}

function make() {
  const all = services();
  const shown = tests();
  const problems = [];
  for (const [prefix, count] of Object.entries(HOW_MANY)) {
    for (let i = 1; i <= count; i += 1) {
      const id = `${prefix}-A${String(i).padStart(2, '0')}`;
      if (!all.some((service) => service.id === id)) problems.push(`${id}: no design serves it`);
      if (!shown.has(id)) problems.push(`${id}: no test's title begins with it`);
    }
  }
  for (const id of shown.keys()) if (!all.some((service) => service.id === id)) problems.push(`${id}: a test shows it, but no design has it`);
  for (const { id, request } of all) if (/\bscan\b/i.test(request.replaceAll('ScanIndexForward', ''))) problems.push(`${id}: scans`);

  const cell = (text) => text.replaceAll('|', '\\|');
  const lines = [
    '# Access patterns',
    '',
    'Every access pattern of the five designs: its route under `/api/<design>`, the DynamoDB requests it makes, and the tests that show it. None scans.',
    'Made by `node scripts/access-patterns.mjs --write` from `designs/*.yaml` and the titles of `tests/designs/*.test.mjs`, and compared in `make test`. To see',
    'the requests of one as they are sent: `thorpe call social "user posts" user_id=alice --explain`.',
  ];
  for (const design of new Set(all.map((service) => service.design))) {
    lines.push('', `## ${design}`, '', '| id | pattern | route | requests | shown by |', '|---|---|---|---|---|');
    let last;
    for (const service of all.filter((each) => each.design === design)) {
      const { id, name, method, path, request } = service;
      const by = id === last ? '″' : (shown.get(id) ?? []).map(({ file, title }) => `[${cell(title)}](../tests/designs/${file})`).join('; ');
      lines.push(`| ${id} | ${cell(name)} | ${method ? `\`${method} ${path}\`` : '(none: for the runtime)'} | \`${cell(request)}\` | ${by} |`);
      last = id;
    }
  }
  return { text: `${lines.join('\n')}\n`, problems };
}

const { text, problems } = make();
for (const problem of problems) console.error(problem);
if (process.argv.includes('--write')) {
  writeFileSync(page, text);
} else {
  let current = '';
  try {
    current = readFileSync(page, 'utf8');
  } catch { /* not there: it differs */ }
  if (current !== text) {
    problems.push('differs');
    console.error('docs/access-patterns.md is not what the designs and tests say; node scripts/access-patterns.mjs --write');
  }
}
process.exit(problems.length ? 1 : 0);
