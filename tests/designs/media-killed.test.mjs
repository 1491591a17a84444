// Files of items on a server that is killed: before, while and after an item takes them or gives them up.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, freshDirectory, runToEnd, startServer, until } from './harness.mjs';
import { killable } from './killable.mjs';
import { filesIn, png, upload, uploadsIn } from './media-world.mjs';

const file = join(ROOT, 'tests', 'designs', 'gallery', 'gallery.yaml');

test('a kill at each step loses no file and leaves none', async (t) => {
  const data = freshDirectory();
  const media = join(data, 'media');
  const place = killable(t, file, data, ['--media-hold', '12']);
  let run = await place.start();
  let ann = await run.as('--subject', 'ann', '--role', 'user');
  const again = async () => {
    run = await place.killAndStart(run);
    ann = await run.as('--subject', 'ann', '--role', 'user');
  };
  const slotFor = async (attribute, size = 100) => (await ann.post(`/people/ann${attribute}`, { type: 'image/png', size })).body;
  const gone = (id) => until(`the file ${id} to be removed`, () => !filesIn(media).includes(id), 40);
  await ann.put('/people/ann', { display_name: 'Ann' });

  // Between the slot and the upload, and between the upload and the item.
  const bytes = png(100);
  const slot = await slotFor('/files/portrait');
  await again();
  assert.equal((await upload(run.server.endpoint, slot, bytes)).status, 200, 'the address is as good as before');
  await again();
  await ann.patch('/people/ann', { portrait: slot.file });

  // Right after the item was written: the file is its own.
  await again();
  const { portrait } = (await ann.get('/people/ann')).body;
  assert.deepEqual(Buffer.from(await (await fetch(new URL(portrait.url, run.server.endpoint))).arrayBuffer()), bytes);

  // While bytes arrive.
  const half = await slotFor('/files/portrait', 500_000);
  const url = new URL(half.upload.url, run.server.endpoint);
  const socket = connect(Number(url.port), url.hostname).on('error', () => {});
  socket.write(`PUT ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\nContent-Type: image/png\r\nContent-Length: 500000\r\n\r\n`);
  socket.write(png(100_000));
  await until('the upload to have begun', () => uploadsIn(media).length === 1);
  await again();
  socket.destroy();
  assert.ok(!filesIn(media).includes(half.file), 'half a file is none');
  await ann.patch('/people/ann', { portrait: half.file }, { status: 422 });
  const whole = png(500_000);
  assert.equal((await upload(run.server.endpoint, half, whole)).status, 200, 'it can be sent again');

  // Right after the file was replaced, and after its item was deleted with what hangs below it.
  await ann.patch('/people/ann', { portrait: half.file });
  await again();
  await gone(slot.file);
  assert.ok(filesIn(media).includes(half.file));
  const below = await slotFor('/albums/files/pictures');
  await upload(run.server.endpoint, below, png(100));
  await ann.post('/people/ann/albums', { title: 'Below', pictures: [below.file] });
  const unused = await slotFor('/files/portrait');
  await upload(run.server.endpoint, unused, png(100));
  await ann.delete('/people/ann');
  await again();
  await gone(half.file);
  await gone(below.file);
  await gone(unused.file);
  assert.deepEqual(filesIn(media), []);
  await place.end(run);
});

test('a server in memory has its files in a directory that ends with it', async (t) => {
  const temporary = freshDirectory();
  const secret = join(freshDirectory(), 'secret');
  const server = await startServer({ data: null, args: ['--in-memory', '--design', file, '--secret-file', secret], env: { TMPDIR: temporary } });
  t.after(() => server.child.kill('SIGKILL'));
  const { stdout } = await runToEnd(['token', 'gallery', '--secret-file', secret, '--subject', 'ann']);
  const ask = async (path, body, method = 'POST') => (await fetch(`${server.endpoint}/api/gallery${path}`, {
    method, headers: { authorization: `Bearer ${stdout.trim()}`, 'content-type': 'application/json' }, body: JSON.stringify(body) })).json();
  const slot = await ask('/cards/files/picture', { type: 'image/png', size: 100 });
  assert.equal((await upload(server.endpoint, slot, png(100))).status, 200);
  const card = await ask('/cards', { name: 'one', picture: slot.file });
  assert.equal(card.picture.size, 100, JSON.stringify(card));
  const [directory] = readdirSync(temporary).filter((name) => name.startsWith('thorpe-media-'));
  assert.deepEqual(filesIn(join(temporary, directory)), [slot.file]);
  await server.stop();
  assert.ok(!existsSync(join(temporary, directory)));
});
