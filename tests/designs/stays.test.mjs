// A companion with `unique` for each element of a list: stays that never have a night in common.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, freshDirectory, runToEnd, startDesign } from './harness.mjs';

const [, yaml] = /```yaml\n(design: stays\n.*?)```/s.exec(readFileSync(join(ROOT, 'docs', 'design-language.md'), 'utf8'));
const written = (change = (text) => text) => {
  const path = join(freshDirectory(), 'stays.yaml');
  writeFileSync(path, change(yaml));
  return path;
};
const file = written();
const app = await startDesign(file);
const ann = await app.as('ann', 'user');
const night = (n) => `2026-12-0${n}`;
const stay = (room, ...nights) => ({ room, nights: nights.map(night) });

test('the reviewer finds no error', async () => {
  assert.match((await runToEnd(['check', file])).stdout, /0 errors/);
});

test('two stays have no night in common, and the refusal says which', async () => {
  await ann.put('/stays/a', stay('r1', 1, 2, 3));
  await ann.put('/stays/other-room', stay('r2', 1, 2, 3));
  const { body } = await ann.put('/stays/b', stay('r1', 3, 4), { status: 409 });
  assert.deepEqual([body.detail, body.attribute], [`nights '${night(3)}' is taken`, 'nights']);
  await ann.put('/stays/b', stay('r1', 4, 5));
});

test('a stay that is changed keeps its nights, and gives the others up', async () => {
  await ann.put('/stays/c', stay('r3', 1, 2, 3));
  await ann.put('/stays/d', stay('r3', 5));
  await ann.patch('/stays/c', stay('r3', 2, 3, 4));
  await ann.patch('/stays/c', stay('r3', 3, 4, 5), { status: 409 });
  assert.deepEqual((await ann.list('/rooms/r3/nights')).map((row) => [row.night, row.stay]), [[night(2), 'c'], [night(3), 'c'], [night(4), 'c'], [night(5), 'd']]);
  await ann.patch('/stays/d', { cancelled: true });
  await ann.patch('/stays/c', stay('r3', 3, 4, 5));
  await ann.patch('/stays/d', { cancelled: false }, { status: 409 });
  await ann.delete('/stays/c');
  await ann.patch('/stays/d', { cancelled: false });
});

test('of structures the refusal says what is in the element', async () => {
  const rooms = await startDesign(written((text) => text
    .replace('entities:', 'types:\n  Night: {night: "string, required", bed: integer}\nentities:')
    .replace("nights: set of string 1..28 matches '[0-9]{4}-[0-9]{2}-[0-9]{2}', required", 'nights: list of Night 1..28, required')
    .replace('SK: NIGHT#<night>, stay: <stay>, night: <night>', 'SK: NIGHT#<night.night>, stay: <stay>')));
  const bob = await rooms.as('bob', 'user');
  await bob.put('/stays/a', { room: 'r1', nights: [{ night: night(1) }, { night: night(2), bed: 1 }] });
  const { body } = await bob.put('/stays/b', { room: 'r1', nights: [{ night: night(3) }, { night: night(2), bed: 2 }] }, { status: 409 });
  assert.match(body.detail, /^nights '(2 2026-12-02|2026-12-02 2)' is taken$/);
});

test('what one request would write twice is named as an item, and a part that names itself is not named again', async () => {
  const file = join(freshDirectory(), 'pairs.yaml');
  writeFileSync(file, `
design: pairs
title: Pairs
table: pairs
key: [PK, SK]
callers: {roles: [user]}
entities:
  Note:
    path: /notes/<note>
    attributes: {note: slug, taken: "boolean, default false", by: string}
    keys: {PK: NOTE#<note>, SK: NOTE}
    allow: {create, update, read: anyone}
  List:
    path: /lists/<list>
    attributes: {list: slug, names: list of slug 0..9, held: list of slug 0..9}
    keys: {PK: LIST#<list>, SK: LIST}
    requires:
      - {for: name in held, Note(name) if taken = false: it is taken}
    also:
      - {on: created, for: name in names, put: Note, with: {note: name}}
      - {on: created, for: name in held, update: Note(name), with: {by: list}}
    allow: {create, read: anyone}
`);
  const pairs = await startDesign(file);
  const eva = await pairs.as('eva', 'user');
  assert.equal((await eva.put('/lists/a', { names: ['x', 'x'] }, { status: 422 })).body.detail, 'this would write Note x twice');
  await eva.put('/notes/y', { taken: true });
  assert.equal((await eva.put('/lists/b', { held: ['y'] }, { status: 409 })).body.detail, 'Note y: it is taken');
});
