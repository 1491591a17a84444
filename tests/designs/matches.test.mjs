// Texts with a pattern, in attributes and in rules; and functions of terms.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, freshDirectory, runToEnd, startDesign } from './harness.mjs';

const file = join(ROOT, 'tests', 'designs', 'parcels', 'parcels.yaml');
const app = await startDesign(file);
const ann = await app.as('ann', 'user');
const clerk = await app.as('bob-clerk', 'user');
const operator = await app.operator();

test('the reviewer has nothing to say', async () => {
  const { code, stdout } = await runToEnd(['check', file]);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /0 errors, 0 warnings/);
});

test('a text matches its pattern as a whole', async () => {
  await ann.put('/parcels/GB1234', { postcode: 'sw1a 1AA', marks: ['fragile', '#12'] });
  for (const code of ['GB123', 'GB1234567', 'gb1234', 'xGB1234', 'GB1234x', 'GB1234%0A']) await ann.put(`/parcels/${code}`, {}, { status: 422 });
  await ann.put('/parcels/GB12345', { postcode: 'nowhere' }, { status: 422, detail: /postcode: a text that matches \(\?i\)\[a-z\]/ });
  const { body } = await ann.put('/parcels/GB12345', { marks: ['fragile', 'FRAGILE', '#1234'] }, { status: 422 });
  assert.match(JSON.stringify(body), /a text that matches \[a-z\]\+/);
  await ann.patch('/parcels/GB1234', { postcode: 'X' }, { status: 422 });
  await operator.patch('/parcels/GB1234', { postcode: 'X' }, { status: 422 });
  await ann.patch('/parcels/GB1234', { postcode: null });
  await ann.patch('/parcels/GB1234', { postcode: '' }, { status: 422 });
});

test('a pattern that never ends for a hostile text is given up, at once', async () => {
  const begun = Date.now();
  const hostile = 'a'.repeat(60) + '!';
  await ann.patch('/parcels/GB1234', { note: hostile }, { status: 422, detail: /note: a text that can be compared with its pattern: this one takes too long/ });
  await ann.patch('/parcels/GB1234', { note: 'x'.repeat(300_000) + '!' }, { status: 422 });
  await Promise.all(Array.from({ length: 20 }, () => ann.patch('/parcels/GB1234', { note: hostile }, { status: 422 })));
  assert.ok(Date.now() - begun < 10_000, `${Date.now() - begun} ms`);
  await ann.patch('/parcels/GB1234', { note: 'handle with care' });
});

test('rules and derived attributes ask, too', async () => {
  await ann.patch('/parcels/GB1234', { note: 'a BoMb' }, { status: 422, detail: /this cannot be sent/ });
  assert.equal((await ann.get('/parcels/GB1234')).body.domestic, true);
  await ann.put('/parcels/DE1234');
  assert.equal((await ann.get('/parcels/DE1234')).body.domestic, false);
  const xavier = await app.as('xavier', 'user');
  await xavier.get('/parcels/GB1234');
  await xavier.get('/parcels/DE1234', { status: 404 });
  await ann.post('/parcels/GB1234/stamp', {}, { status: 403 });
  assert.equal((await clerk.post('/parcels/GB1234/stamp')).body.grams, 1);
});

test('functions of numbers, texts and lists', async () => {
  const { body } = await ann.put('/parcels/FR123456', { postcode: 'Ab1 2cD', marks: ['heavy', '#7'], latitude: 57.64911, longitude: 10.40744, grams: 1001 });
  const { place, stamps, lane, row, label, tail, newest, plain, title, domestic } = body;
  assert.deepEqual({ place, stamps, lane, row, label, tail, newest, plain, title, domestic },
    { place: 'u4pruy', stamps: 5, lane, row: 0, label: 'heavy + #7', tail: '3456', newest: '#7', plain: 'ab12cd', title: 'FR123456 (1001 g)', domestic: false });
  assert.ok(Number.isInteger(lane) && lane >= 0 && lane < 8);
  const bare = (await ann.put('/parcels/FR1234')).body;
  assert.equal(bare.place, undefined, 'of absent values there is none');
  assert.equal(bare.label, undefined);
});

test('OpenAPI has the pattern where JavaScript reads it alike', async () => {
  const { code, postcode, marks } = (await ann.get('/openapi.json')).body.components.schemas.Parcel.properties;
  assert.equal(code.pattern, '^(?:[A-Z]{2}[0-9]{4,6})$');
  assert.ok(new RegExp(code.pattern, 'u').test('GB1234'));
  assert.equal(marks.items.pattern, '^(?:[a-z]+|#[0-9]{1,3})$');
  assert.equal(postcode.pattern, undefined);
  assert.match(postcode.description, /PCRE2 pattern/);
});

test('docs/design-language.md: attributes with patterns', async () => {
  const lines = /### Patterns.*?```yaml\n(.*?)```/s.exec(readFileSync(join(ROOT, 'docs', 'design-language.md'), 'utf8'))[1];
  const path = join(freshDirectory(), 'parcels.yaml');
  writeFileSync(path, `design: parcels\ntitle: P\ntable: parcels\nkey: [PK, SK]\nentities:\n  Parcel:\n    path: /parcels/<code>\n`
    + `    attributes:\n${lines}    keys: {PK: P#<code>, SK: P}\n    allow: {create, read: anyone}\n`);
  const { stdout } = await runToEnd(['check', path]);
  assert.match(stdout, /0 errors/, stdout);
});

test('verify tells of stored texts that do not match', async () => {
  const path = join(freshDirectory(), 'parcels.yaml');
  writeFileSync(path, readFileSync(file, 'utf8').replace("note: text 0..350000 matches '(\\w+\\s?)*'", "note: text 0..350000 matches 'x*'"));
  const { stdout } = await runToEnd(['verify', '--design', path, '--endpoint', app.server.endpoint]);
  assert.match(stdout, /attribute-unfit.*\n?.*note/s, stdout);
});
