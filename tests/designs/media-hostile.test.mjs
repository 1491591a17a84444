// Hostile clients of uploads: the same address again and again, for ever, and what comes after a refused one.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { ROOT, freshDirectory, startDesign, until } from './harness.mjs';
import { filesIn, png, upload, uploadsIn } from './media-world.mjs';

const file = join(ROOT, 'tests', 'designs', 'gallery', 'gallery.yaml');
const media = join(freshDirectory(), 'media');
const app = await startDesign(file, { args: ['--media', media, '--media-hold', '24'] });
const origin = app.server.endpoint;
const ann = await app.as('ann', 'user');

await ann.put('/people/ann', { display_name: 'Ann' });

const ask = async (size) => (await ann.post('/people/ann/files/portrait', { type: 'image/png', size })).body;
const gone = (id, seconds = 60) => until(`the file ${id} to be removed`, () => !filesIn(media).includes(id), seconds);

/** A connection that has sent the head of an upload; what it has received is in `got`. */
function begin(slot, size, more = '') {
  const url = new URL(slot.upload.url, origin);
  const socket = connect(Number(url.port), url.hostname);
  const state = { socket, got: '', ended: false };
  socket.on('data', (bytes) => { state.got += bytes.toString('latin1'); });
  socket.on('error', () => {}).on('close', () => { state.ended = true; });
  socket.write(`PUT ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\nContent-Type: image/png\r\n${size === undefined ? 'Transfer-Encoding: chunked' : `Content-Length: ${size}`}\r\n${more}\r\n`);
  return state;
}

test('bytes that are sent again to the address of a file that is gone are removed as well, and count until then', async () => {
  const slot = await ask(100);
  assert.equal((await upload(origin, slot, png(100))).status, 200);
  await ann.patch('/people/ann', { portrait: slot.file });
  await ann.patch('/people/ann', { portrait: null });
  await gone(slot.file, 20);
  const bytes = async () => (await app.doc.get({ TableName: `${app.table}.thorpe`, Key: { PK: 'FILES#BY#user ann', SK: '-' }, ConsistentRead: true })).Item?.bytes ?? 0;
  assert.equal((await upload(origin, slot, png(100))).status, 200);
  assert.ok(await bytes() >= 4096);
  await ann.patch('/people/ann', { portrait: slot.file }, { status: 422 });
  await gone(slot.file);
  await until('the room to be free again', async () => await bytes() === 0, 20);
  assert.equal((await upload(origin, slot, png(100))).status, 403);
});

test('an upload ends when its address does, however slowly it goes on', async () => {
  const slot = await ask(1_000_000);
  const state = begin(slot, 1_000_000);
  state.socket.write(png(8));
  const timer = setInterval(() => { if (!state.ended) state.socket.write(Buffer.alloc(4000)); }, 500);
  await until('the upload to be refused', () => /^HTTP\/1\.1 403 /.test(state.got), 60);
  clearInterval(timer);
  state.socket.destroy();
  assert.ok(Date.now() >= Date.parse(slot.expires) - 1000);
  await until('its bytes to be gone', () => uploadsIn(media).length === 0);
});

test('one address is not used by many at once', async () => {
  const slot = await ask(100_000);
  const states = Array.from({ length: 8 }, () => begin(slot, 100_000));
  states.forEach(({ socket }) => socket.write(png(50_000)));
  await until('most to be refused', () => states.filter(({ got }) => /^HTTP\/1\.1 503 /.test(got)).length === 6);
  assert.equal(uploadsIn(media).length, 2);
  states.forEach(({ socket }) => socket.destroy());
  await until('their bytes to be gone', () => uploadsIn(media).length === 0);
  assert.equal((await upload(origin, slot, png(100_000))).status, 200);
});

test('what follows a refused upload on its connection is not taken for a request', async () => {
  const inner = `GET /api/gallery/people/ann HTTP/1.1\r\nHost: x\r\n\r\n`;
  const replies = ({ got }) => got.match(/HTTP\/1\.1 \d+/g) ?? [];
  const slot = await ask(1000);
  const taken = { ...slot, upload: { ...slot.upload, url: slot.upload.url.replace(/sign=./, 'sign=') } };
  const unsigned = begin(taken, inner.length, 'Expect: 100-continue\r\n');
  const long = begin(slot, 2000);
  const chunked = begin(slot);
  unsigned.socket.write(inner);
  long.socket.write(inner + inner);
  chunked.socket.write(`3e8\r\n`);
  chunked.socket.write(png(1000));
  chunked.socket.write(`\r\n${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n${inner}`);
  const all = [unsigned, long, chunked];
  await until('all to be answered', () => all.every((state) => replies(state).length));
  all.forEach(({ socket }) => socket.end());
  await until('the connections to end', () => all.every(({ ended }) => ended));
  assert.deepEqual(all.map(replies), [['HTTP/1.1 403'], ['HTTP/1.1 413'], ['HTTP/1.1 413']]);
  // After one that was complete, the next request is one.
  const good = begin(slot, 1000, 'Expect: 100-continue\r\n');
  await until('the server to want the bytes', () => good.got.startsWith('HTTP/1.1 100 '));
  good.socket.write(Buffer.concat([png(1000), Buffer.from(`GET /readyz HTTP/1.1\r\nHost: ${new URL(origin).host}\r\n\r\n`)]));
  await until('two replies', () => replies(good).length === 3);
  assert.deepEqual(replies(good), ['HTTP/1.1 100', 'HTTP/1.1 200', 'HTTP/1.1 200']);
  good.socket.destroy();
});

test('one write takes no more files than fit into its transaction, and looks at no more', async () => {
  const many = join(freshDirectory(), 'gallery.yaml');
  writeFileSync(many, readFileSync(file, 'utf8').replace('up to 4 MB 0..3', 'up to 4 MB'));
  const other = await startDesign(many, { args: ['--media', join(freshDirectory(), 'media')], oracle: false });
  const dan = await other.as('dan', 'user');
  await dan.put('/people/dan', { display_name: 'Dan' });
  const { album } = (await dan.post('/people/dan/albums', { title: 'Many' })).body;
  const ids = [];
  for (let i = 0; i < 60; i += 1) {
    const slot = (await dan.post('/people/dan/albums/files/pictures', { type: 'image/png', size: 8 })).body;
    if (i < 40) assert.equal((await upload(other.server.endpoint, slot, png(8))).status, 200);
    ids.push(slot.file);
  }
  await dan.patch(`/people/dan/albums/${album}`, { pictures: ids }, { status: 422, detail: /at most 40 files/ });
  assert.equal((await dan.patch(`/people/dan/albums/${album}`, { pictures: ids.slice(0, 40) })).body.pictures.length, 40);
});
