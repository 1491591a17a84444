// A hot partition spread over shards and read as one list; what is not a design with shards.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, freshDirectory, runToEnd, startDesign } from './harness.mjs';

const file = join(ROOT, 'tests', 'designs', 'taskboard', 'taskboard.yaml');
const app = await startDesign(file);
const ann = await app.as('ann', 'user');

/** CRC-32 as zlib and PNG have it: docs/design-language.md says that shards are made by it. */
function crc32(text) {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte;
    for (let i = 0; i < 8; i++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0);
  }
  return (crc ^ 0xffffffff) >>> 0;
}

const due = (i) => new Date(Date.UTC(2026, 0, 1) + (i * 7919 % 200) * 60_000 + i % 3).toISOString();

test('the reviewer has nothing to say, and says what is read', async () => {
  const { code, stdout } = await runToEnd(['check', file]);
  assert.equal(code, 0, stdout);
  assert.match(stdout, /0 errors, 0 warnings/);
});

test('items are spread over the shards by a hash that anybody can compute', async () => {
  await Promise.all(Array.from({ length: 60 }, (_, i) => ann.put(`/tenants/acme/tasks/t${i}`, { due: due(i), title: `task ${i}` })));
  await ann.put('/tenants/other/tasks/t0', { due: due(0) });
  const items = (await app.items()).filter((item) => item.tenant === 'acme');
  const shards = [0, 0, 0, 0];
  for (const { task, shard, GSI1PK } of items) {
    assert.equal(GSI1PK, `OPEN#acme#${crc32(task) % 4}`);
    assert.equal(shard, crc32(task) % 4, 'hash(x, n) is the same number');
    shards[shard] += 1;
  }
  assert.ok(Math.min(...shards) >= 8, `spread evenly: ${shards}`);
});

test('all shards are one list, in order, page by page', async () => {
  const wanted = Array.from({ length: 60 }, (_, i) => due(i)).sort();
  for (const limit of [1, 7, 59, 60, 100]) {
    const rows = await ann.all('/tenants/acme/open', limit);
    assert.deepEqual(rows.map((row) => row.due), wanted, `${limit} a page`);
    assert.equal(new Set(rows.map((row) => row.task)).size, 60, 'each once');
  }
  assert.deepEqual((await ann.all('/tenants/acme/last', 11)).map((row) => row.due), [...wanted].reverse());
  const [from, to] = [wanted[20], wanted[39]];
  assert.deepEqual((await ann.all(`/tenants/acme/open?from=${from}&to=${to}`, 6)).map((row) => row.due), wanted.filter((one) => one >= from && one < to));
});

test('a page goes on where it was, whatever is written in between', async () => {
  const first = (await ann.get('/tenants/acme/open?limit=10')).body;
  await ann.put('/tenants/acme/tasks/early', { due: '2025-01-01T00:00:00Z' });
  await ann.patch(`/tenants/acme/tasks/${first.items[3].task}`, { state: 'done' });
  const rest = [];
  for (let next = first.next; next;) {
    const { body } = await ann.get(`/tenants/acme/open?limit=10&after=${encodeURIComponent(next)}`);
    rest.push(...body.items);
    next = body.next;
  }
  assert.equal(rest.length, 50);
  const all = await ann.all('/tenants/acme/open', 50);
  assert.equal(all.length, 60, 'one more and one less');
  assert.equal(all[0].task, 'early');
});

test('what is done leaves its shard, and comes back to the same one', async () => {
  const before = (await app.item('TENANT#acme', 'TASK#t1')).GSI1PK;
  await ann.patch('/tenants/acme/tasks/t1', { state: 'done' });
  assert.equal((await app.item('TENANT#acme', 'TASK#t1')).GSI1PK, undefined);
  await ann.patch('/tenants/acme/tasks/t1', { state: 'open' });
  assert.equal((await app.item('TENANT#acme', 'TASK#t1')).GSI1PK, before);
});

test('one shard is read alone, by its number or by what is in it', async () => {
  const shard = crc32('t1') % 4;
  const rows = await ann.all(`/tenants/acme/open/${shard}`, 5);
  assert.ok(rows.some((row) => row.task === 't1') && rows.every((row) => row.shard === shard));
  assert.deepEqual((await ann.all('/tenants/acme/like/t1', 5)).map((row) => row.task), rows.map((row) => row.task));
  assert.deepEqual(await ann.list('/tenants/acme/open/4'), []);
});

test('another number of shards: verify finds the keys that were written before, and repairs them', async () => {
  const path = join(freshDirectory(), 'taskboard.yaml');
  writeFileSync(path, readFileSync(file, 'utf8').replaceAll('shard 4>', 'shard 5>'));
  const app = await startDesign(file, { check: false });
  const ann = await app.as('ann', 'user');
  await Promise.all(Array.from({ length: 20 }, (_, i) => ann.put(`/tenants/acme/tasks/t${i}`, { due: due(i) })));
  await app.settled();
  const verify = (...more) => runToEnd(['verify', '--design', path, '--endpoint', app.server.endpoint, ...more]);
  assert.match((await verify()).stdout, /key-differs/);
  await verify('--repair', '--yes');
  assert.doesNotMatch((await verify()).stdout, /key-differs/);
  for (const { task, GSI1PK } of await app.items()) assert.equal(GSI1PK, `OPEN#acme#${crc32(task) % 5}`);
});

test('docs/design-language.md: the design with shards', async () => {
  const text = readFileSync(join(ROOT, 'docs', 'design-language.md'), 'utf8');
  const path = join(freshDirectory(), 'tasks.yaml');
  writeFileSync(path, /### Shards.*?```yaml\n(.*?)```/s.exec(text)[1]);
  assert.match((await runToEnd(['check', path])).stdout, /0 errors, 0 warnings/);
  const app = await startDesign(path);
  const ann = await app.as('ann', 'user');
  for (const day of [3, 1, 2]) await ann.put(`/tenants/acme/tasks/t${day}`, { due: `2026-01-0${day}T00:00:00Z` });
  assert.deepEqual((await ann.all('/tenants/acme/open', 2)).map((row) => row.task), ['t1', 't2', 't3']);
  await ann.patch('/tenants/acme/tasks/t2', { done: true });
  assert.deepEqual((await ann.all('/tenants/acme/open', 1)).map((row) => row.task), ['t1', 't3']);
});

test('readers and writers that do not agree on the number are found when the design is checked', async () => {
  const good = readFileSync(file, 'utf8');
  const check = async (...edits) => {
    const path = join(freshDirectory(), 'taskboard.yaml');
    writeFileSync(path, edits.reduce((text, [from, to]) => {
      assert.ok(text.includes(from), from);
      return text.replace(from, to);
    }, good));
    const { stdout, stderr } = await runToEnd(['check', path]);
    return stdout + stderr;
  };
  assert.match(await check(['for: n in shards', 'for: n in 0..2']), /runs for 0\.\.2, and Task has shards 0\.\.3 \[shards-differ\]/);
  assert.match(await check(['<task:shard 4>}', '<task:shard 5>}']), /asks for one of 5 shards, and Task has 4 \[shards-differ\]/);
  assert.match(await check(['GSI1PK: OPEN#<tenant>#<task:shard 4>', 'GSI1PK: OPEN#<tenant>#<state>']), /reads no key with shards/);
  assert.match(await check(['    keys when', '    companions: [{PK: "X#<task>", SK: X, GSI1PK: "OPEN#<tenant>#<task:shard 3>", GSI1SK: <due>}]\n    keys when']),
    /different numbers of shards, and items would be missing/);
  assert.match(await check(['<task:shard 4>\n', '<task:shard 1>\n']), /not a number of shards from 2 to 1000/);
  assert.match(await check(['with: {from: timestamp ms, to: timestamp ms}\n    order: oldest first\n  open tasks:', 'with: {from: timestamp, to: timestamp ms}\n    order: oldest first\n  open tasks:']),
    /'from' has whole seconds, and 'due' of Task has milliseconds \[units-differ\]/);
});
