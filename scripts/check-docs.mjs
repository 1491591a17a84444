// Checks README.md, CONTRIBUTING.md and docs/: width of lines, links, plain words.
//
//   node scripts/check-docs.mjs [file…]      prints file:line: finding; exits with 1 if there are any
//
// Lines: tables, pictures, addresses and blocks of output may be wider. Links: to files and headings of this repository.
// Words: those that name a person where a thing is meant; CONTRIBUTING.md has no list, this is it.
// SPDX-License-Identifier: Apache-2.0
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const WIDEST = 120;
const WIDEST_CODE = 160;
const WORDS = /\b(he|his|him|himself|whoever|somebody)\b/i;
const GENERATED = ['docs/access-patterns.md']; // from the titles of tests

const root = join(dirname(fileURLToPath(import.meta.url)), '..');

function pagesIn(dir) {
  return readdirSync(join(root, dir)).flatMap((name) => {
    const path = join(dir, name);
    if (statSync(join(root, path)).isDirectory()) return pagesIn(path);
    return name.endsWith('.md') ? [path] : [];
  });
}

/** The page's lines, each with the language of the block it is in (undefined: prose). */
function linesOf(page) {
  let block;
  return readFileSync(join(root, page), 'utf8').split('\n').map((text, i) => {
    const fence = /^ *```(\w*)/.exec(text);
    if (fence) {
      block = block === undefined ? fence[1] : undefined;
      return { text, number: i + 1, fence: true };
    }
    return { text, number: i + 1, block };
  });
}

/** As GitHub makes them: lower case, without punctuation, spaces to hyphens, repeated ones numbered. */
function anchorsOf(page) {
  const seen = new Map();
  return linesOf(page).filter((l) => l.block === undefined && !l.fence && /^#+ /.test(l.text)).map(({ text }) => {
    const name = text.replace(/^#+ /, '').trim().toLowerCase().replaceAll(/[^\p{L}\p{N}\s_-]/gu, '').replaceAll(' ', '-');
    const times = seen.get(name) ?? 0;
    seen.set(name, times + 1);
    return times ? `${name}-${times}` : name;
  });
}

function checkWidth(line) {
  const width = [...line.text].length;
  const isWide = /^ *\||^ *<|!\[/.test(line.text) || /^\S+$/.test(line.text.trim());
  if (line.block === undefined) return width < WIDEST || isWide ? [] : [`${width} columns, and ${WIDEST - 1} are the most`];
  const isOutput = ['', 'text', 'json', 'http'].includes(line.block);
  return width < WIDEST_CODE || isOutput ? [] : [`${width} columns of code, and ${WIDEST_CODE - 1} are the most`];
}

function checkWords(line) {
  const found = line.block === undefined && WORDS.exec(line.text.replaceAll(/`[^`]*`/g, ''));
  return found ? [`'${found[0]}': say which caller, client or thread`] : [];
}

function checkLinks(page, line) {
  if (line.block !== undefined) return [];
  const text = line.text.replaceAll(/`[^`]*`/g, (code) => '`'.repeat(code.length));
  const targets = [...text.matchAll(/\]\(([^)\s]+)\)|(?:src|srcset|href)="([^"]+)"/g)].map((m) => m[1] ?? m[2]);
  return targets.flatMap((target) => {
    if (/^(https?|mailto):/.test(target)) return [];
    const [file, anchor] = target.split('#');
    const path = file ? normalize(join(dirname(page), file)) : page;
    if (!existsSync(join(root, path))) return [`leads to ${path}, which is not there`];
    if (anchor && path.endsWith('.md') && !anchorsOf(path).includes(anchor)) return [`leads to #${anchor}, which ${path} has not`];
    return [];
  });
}

const asked = process.argv.slice(2).map((path) => relative(root, path));
const pages = asked.length ? asked : ['README.md', 'CONTRIBUTING.md', ...pagesIn('docs')];
let wrong = 0;

for (const page of pages) {
  for (const line of linesOf(page)) {
    const findings = [...checkLinks(page, line), ...(GENERATED.includes(page) ? [] : [...checkWidth(line), ...checkWords(line)])];
    for (const finding of findings) console.log(`${page}:${line.number}: ${finding}`);
    wrong += findings.length;
  }
}
console.log(`docs: ${pages.length} pages, ${wrong} finding${wrong === 1 ? '' : 's'}`);
process.exit(wrong ? 1 : 0);
