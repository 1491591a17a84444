// `thorpe schema`: takes every design there is, and refuses what an editor can see is wrong.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { freshDirectory, ROOT, runToEnd } from './harness.mjs';

const wire = createRequire(fileURLToPath(new URL('../wire/package.json', import.meta.url)));
const Ajv = wire('ajv/dist/2020').default;
const { parse } = wire('yaml');

const { code, stdout: text } = await runToEnd(['schema']);
assert.equal(code, 0);
const schema = JSON.parse(text);
// The strictness that finds slips of a schema; the other is about style.
const STRICT = { strict: true, allowMatchingProperties: true, allowUnionTypes: true, strictRequired: false };
const validate = new Ajv(STRICT).compile(schema);
/** For a part of a design: nothing is missing from it. */
const validatePart = new Ajv(STRICT).compile(JSON.parse(text, (name, value) => (['required', 'allOf'].includes(name) ? undefined : value)));

/** As an editor reads it. Words that stand alone in braces may be repeated: {a: string, required, b: text, required}. */
const read = (source) => parse(source, { uniqueKeys: false });
const explain = (check) => check.errors.map(({ instancePath, message }) => `${instancePath} ${message}`).join('\n');

function filesBelow(dir, ending) {
  return readdirSync(dir, { withFileTypes: true }).flatMap((entry) => {
    const path = join(dir, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : filesBelow(path, ending);
    return entry.name.endsWith(ending) ? [path] : [];
  });
}

test('it is a schema by its own rules, and the same each time', async () => {
  assert.equal(schema.$schema, 'https://json-schema.org/draft/2020-12/schema');
  assert.ok(new Ajv({ allowUnionTypes: true }).validateSchema(schema));
  assert.equal((await runToEnd(['schema'])).stdout, text);
  assert.equal((await runToEnd(['schema', 'social.yaml'])).code, 2);
});

test('every design of the repository fits', () => {
  const files = [...filesBelow(join(ROOT, 'designs'), '.yaml'), ...filesBelow(join(ROOT, 'tests', 'designs'), '.yaml')];
  assert.ok(files.length >= 15, `${files.length} designs`);
  for (const file of files) assert.ok(validate(read(readFileSync(file, 'utf8'))), `${relative(ROOT, file)}:\n${validate.errors && explain(validate)}`);
});

test('so does every design, and every part of one, in the documentation', () => {
  const roots = Object.keys(schema.properties);
  let designs = 0;
  let parts = 0;
  for (const file of [join(ROOT, 'README.md'), ...filesBelow(join(ROOT, 'docs'), '.md')]) {
    for (const [, block] of readFileSync(file, 'utf8').matchAll(/```yaml\n([^]*?)```/g)) {
      let value;
      try {
        value = read(block);
      } catch {
        continue; // an excerpt that is no YAML by itself
      }
      if (!value || typeof value !== 'object' || !Object.keys(value).every((name) => roots.includes(name))) continue;
      const isWhole = schema.required.every((name) => name in value);
      const check = isWhole ? validate : validatePart;
      assert.ok(check(value), `${relative(ROOT, file)}:\n${block}\n${check.errors && explain(check)}`);
      if (isWhole) designs++;
      else parts++;
    }
  }
  assert.ok(designs >= 1 && parts >= 3, `${designs} designs and ${parts} parts`);
});

const SMALL = `design: small
table: Small
key: [PK, SK]
indexes:
  GSI1:
    key: [GSI1PK, GSI1SK]
    projection: keys only
stream: new and old images
billing: on demand
entities:
  Note:
    path: /notes/<id>
    attributes:
      id: string 1..20, required, fixed
      text: text 0..500
      mood: good | bad, default good
      size: "= size(text)"
      cheers: counter
      place: {lat: 'number -90..90', name: {first: 'string 1..9', other members: anything}}
    keys:
      PK: NOTE#<id>
      SK: NOTE
    keys when mood = 'good':
      GSI1PK: GOOD
      GSI1SK: <id>
    allow:
      create, read: anyone
      update: nobody
    actions:
      cheer:
        add: {cheers: 1}
        gather: 5 s
access:
  good notes:
    path: /good
    query: GSI1
    where: {GSI1PK: GOOD}
    order: highest first
    limit: 20
    one: false
processors:
  follow:
    on: Note created, updated
    send:
      to: https://example.com/notes
traffic:
  good notes: 10 a second
`;

test('the design that the next test breaks is right', async () => {
  const file = join(freshDirectory(), 'small.yaml');
  writeFileSync(file, SMALL);
  const { code: status, stdout } = await runToEnd(['check', file]);
  assert.equal(status, 0, stdout);
  assert.ok(validate(read(SMALL)), validate.errors && explain(validate));
});

// What is broken, and how. thorpe check must refuse each as well: the schema is never the stricter one.
const WRONG = {
  'a type that is none, of a member inside a member': ['string 1..9', 'strin 1..9'],
  'a misspelt word': ['stream:', 'streem:'],
  'a missing table': ['table: Small\n', ''],
  'a name of a design with capitals': ['design: small', 'design: Small'],
  'a kind of stream that there is not': ['new and old images', 'new images'],
  'another billing': ['on demand', 'pay per request'],
  'a key with three parts': ['key: [PK, SK]', 'key: [PK, SK, TK]'],
  'an index without a key': ['    key: [GSI1PK, GSI1SK]\n', ''],
  'an entity in lower case': ['  Note:\n', '  note:\n'],
  'an entity without a path': ['    path: /notes/<id>\n', ''],
  'an entity without keys': ['    keys:\n      PK: NOTE#<id>\n      SK: NOTE\n', ''],
  'a path without a slash': ['path: /notes', 'path: notes'],
  'a type that there is not': ['text 0..500', 'varchar 0..500'],
  'an attribute with a dash': ['      text: ', '      te-xt: '],
  'a list where a type belongs': ['text: text 0..500', 'text: [text]'],
  'a verb that there is not': ['update: nobody', 'change: nobody'],
  'a word of another place': ['allow:\n', 'order: x\n    allow:\n'],
  'a misspelt word of an action': ['gather: 5 s', 'gathers: 5 s'],
  'a time without a unit': ['gather: 5 s', 'gather: 5'],
  'a unit that there is not': ['gather: 5 s', 'gather: 5 fortnights'],
  'an action with a space': ['cheer:', 'cheer up:'],
  'two ways to read': ['query: GSI1', 'query: GSI1\n    get: Note(id)'],
  'no way to read': ['    query: GSI1\n', ''],
  'an order that there is not': ['highest first', 'best first'],
  'a limit of none': ['limit: 20', 'limit: 0'],
  'a limit in words': ['limit: 20', 'limit: twenty'],
  'yes for true': ['one: false', 'one: no'],
  'a where that is a text': ['where: {GSI1PK: GOOD}', 'where: GSI1PK'],
  'a processor without an event': ['    on: Note created, updated\n', ''],
  'two effects': ['    send:', '    delete: Note(id)\n    send:'],
  'an event alone': ['on: Note created, updated', 'on: created'],
  'a rate without a time': ['10 a second', '10'],
  'a list instead of a design': [/^[^]*$/, '- design'],
};

for (const [name, [from, to]] of Object.entries(WRONG))
  test(`refuses ${name}, as thorpe check does`, async () => {
    const wrong = SMALL.replace(from, to);
    assert.notEqual(wrong, SMALL);
    assert.equal(validate(read(wrong)), false, wrong);
    const file = join(freshDirectory(), 'wrong.yaml');
    writeFileSync(file, wrong);
    assert.equal((await runToEnd(['check', file])).code, 1);
  });

test('variables fit everywhere, and YAML in braces as the loader reads it', () => {
  for (const [from, to] of [
    ['limit: 20', 'limit: ${LIMIT:-20}'],
    ['one: false', 'one: ${ONE:-false}'],
    ['gather: 5 s', 'gather: ${GATHER:-5 s}'],
    ['new and old images', '${STREAM:-off}'],
    ['design: small', 'design: ${NAME:-small}'],
    ['on: Note created, updated\n    send:\n      to: https://example.com/notes', '{on: Note created, updated, send: {to: https://example.com/notes}}'],
  ]) {
    const source = SMALL.replace(`  follow:\n    ${from}`, `  follow: ${to}`).replace(from, to);
    assert.ok(validate(read(source)), `${to}\n${validate.errors && explain(validate)}`);
  }
});

test('it tells an editor which words there are', () => {
  const words = schema.properties.entities.patternProperties['^([A-Z][A-Za-z0-9_]*|.*\\$\\{.*)$'].anyOf[0].properties;
  for (const word of ['path', 'attributes', 'keys', 'companions', 'allow', 'login']) assert.ok(word in words, word);
  assert.match(JSON.stringify(words.attributes), /timestamp ms.*kept by/);
  assert.deepEqual(schema.properties.stream.anyOf[0].enum, ['off', 'keys only', 'new image', 'old image', 'new and old images']);
});
