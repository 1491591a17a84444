// Files of items, in a directory: asked for, uploaded, taken, shown, given up, removed.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { test } from 'node:test';
import { BACKEND, ROOT, atOnce, freshDirectory, runToEnd, startDesign, until } from './harness.mjs';
import { MP4, PNG, png, filesIn, upload } from './media-world.mjs';

const file = join(ROOT, 'tests', 'designs', 'gallery', 'gallery.yaml');
const media = join(freshDirectory(), 'media');
const app = await startDesign(file, { args: ['--media', media, '--media-hold', '12', '--media-caller-most', '6'] });
const origin = app.server.endpoint;
const ann = await app.as('ann', 'user');
const bob = await app.as('bob', 'user');

const fetchFile = (shown, init) => fetch(new URL(shown.url, origin), init);
const bytesOf = async (shown) => Buffer.from(await (await fetchFile(shown)).arrayBuffer());
const gone = (id) => until(`the file ${id} to be removed`, () => !filesIn(media).includes(id), 40);

await ann.put('/people/ann', { display_name: 'Ann' });
await bob.put('/people/bob', { display_name: 'Bob' });

test('a file is asked for, uploaded, written into its item and shown', async () => {
  const bytes = png(2000);
  const { body: slot, status } = await ann.post('/people/ann/files/portrait', { type: 'image/png', size: bytes.length, name: 'Ann – at sea.png' });
  assert.equal(status, 201);
  assert.match(slot.file, /^[0-9A-HJKMNP-TV-Z]{26}$/);
  assert.deepEqual(Object.keys(slot.upload), ['method', 'url', 'headers']);
  assert.ok(Date.parse(slot.expires) > Date.now());
  await ann.patch('/people/ann', { portrait: slot.file }, { status: 422, detail: /not been uploaded/ });
  const put = await upload(origin, slot, bytes);
  assert.equal(put.status, 200, await put.text());
  const { body } = await ann.patch('/people/ann', { portrait: slot.file });
  assert.deepEqual({ ...body.portrait, url: undefined }, { file: slot.file, type: 'image/png', size: bytes.length, name: 'Ann – at sea.png', url: undefined });
  const shown = (await app.nobody.get('/people/ann')).body.portrait;
  const reply = await fetchFile(shown);
  assert.equal(reply.status, 200);
  assert.equal(reply.headers.get('content-type'), 'image/png');
  assert.equal(reply.headers.get('x-content-type-options'), 'nosniff');
  assert.match(reply.headers.get('content-security-policy'), /sandbox/);
  assert.match(reply.headers.get('cache-control'), /^private, max-age=\d+, immutable$/);
  assert.equal(reply.headers.get('content-disposition'), "inline; filename*=UTF-8''Ann%20%E2%80%93%20at%20sea.png");
  assert.deepEqual(Buffer.from(await reply.arrayBuffer()), bytes);
  // What was read can be written back, whole or as it is.
  const read = await ann.get('/people/ann');
  assert.equal((await ann.put('/people/ann', read.body, { headers: { 'if-match': read.etag } })).body.portrait.file, slot.file);
  assert.equal((await ann.patch('/people/ann', { display_name: 'Ann B.' })).body.portrait.file, slot.file);
});

test('downloads: ranges, ETags, HEAD, and addresses that nobody has signed', async () => {
  const shown = (await ann.get('/people/ann')).body.portrait;
  const bytes = await bytesOf(shown);
  const part = async (range, headers = {}) => {
    const reply = await fetchFile(shown, { headers: { range, ...headers } });
    return [reply.status, reply.headers.get('content-range'), Buffer.from(await reply.arrayBuffer())];
  };
  assert.deepEqual(await part('bytes=0-7'), [206, `bytes 0-7/${bytes.length}`, PNG]);
  assert.deepEqual(await part('bytes=1990-'), [206, `bytes 1990-1999/${bytes.length}`, bytes.subarray(1990)]);
  assert.deepEqual(await part('bytes=-10'), [206, `bytes 1990-1999/${bytes.length}`, bytes.subarray(1990)]);
  assert.deepEqual(await part('bytes=10-99999'), [206, `bytes 10-1999/${bytes.length}`, bytes.subarray(10)]);
  for (const all of ['bytes=0-1,5-6', 'bytes=9-1', 'lines=1-2', 'bytes=x-', 'bytes=--1', 'bytes=99999999999999999999-'])
    assert.deepEqual(await part(all), [200, null, bytes], all);
  assert.equal((await part('bytes=2000-'))[0], 416);
  assert.equal((await part('bytes=-0'))[0], 416);
  assert.equal((await part('bytes=0-7', { 'if-range': '"other"' }))[0], 200);
  const etag = (await fetchFile(shown)).headers.get('etag');
  assert.equal((await part('bytes=0-7', { 'if-range': etag }))[0], 206);
  assert.equal((await fetchFile(shown, { headers: { 'if-none-match': etag } })).status, 304);
  const head = await fetchFile(shown, { method: 'HEAD' });
  assert.deepEqual([head.status, head.headers.get('content-length'), head.headers.get('accept-ranges')], [200, '2000', 'bytes']);
  const url = new URL(shown.url, origin);
  for (const [name, value] of [['until', '99999999999'], ['type', 'text/html'], ['size', '1'], ['name', 'x'], ['sign', 'x'], ['sign', '']]) {
    const other = new URL(url);
    other.searchParams.set(name, value);
    assert.equal((await fetch(other)).status, 403, name);
  }
  assert.equal((await fetch(url, { method: 'PUT', body: 'x', headers: { 'content-type': 'image/png' } })).status, 403, 'to read is not to write');
  for (const path of ['/media/gallery/..%2f..%2fsecret', '/media/gallery/../../secret', '/media/', '/media/other/x', '/media/gallery', '/media/gallery/%00'])
    assert.ok([403, 404].includes((await fetch(origin + path + url.search)).status), path);
});

test('limits are those of the attribute, and of what was asked for', async () => {
  const ask = (body, expect = { status: 422 }) => ann.post('/people/ann/files/portrait', body, expect);
  await ask({ type: 'image/gif', size: 10 }, { status: 422, attribute: undefined });
  await ask({ type: 'text/html', size: 10 });
  await ask({ type: 'image/png', size: 1024 * 1024 + 1 });
  await ask({ type: 'image/png', size: 0 });
  await ask({ type: 'image/png', size: -1 });
  await ask({ type: 'image/png', size: 1.5 });
  await ask({ type: 'image/png', size: '10' });
  await ask({ type: 'image/png' });
  await ask({ size: 10 });
  await ask({ type: 'png', size: 10 });
  await ask({ type: 'image/png\r\nx: y', size: 10 });
  await ask({ type: 'image/png', size: 10, name: 'a/b' });
  await ask({ type: 'image/png', size: 10, name: 'a\nb' });
  await ask({ type: 'image/png', size: 10, name: 'x'.repeat(201) });
  await ask({ type: 'image/png', size: 10, path: '/etc' });
  const slot = (await ann.post('/people/ann/files/portrait', { type: 'IMAGE/PNG', size: 100 })).body;
  const send = async (bytes, headers) => (await upload(origin, slot, bytes, headers)).status;
  assert.equal(await send(png(101)), 413);
  assert.equal(await send(png(99)), 400);
  assert.equal(await send(png(100), { 'content-type': 'image/jpeg' }), 415);
  assert.equal(await send(png(100), { 'content-encoding': 'gzip' }), 415);
  assert.equal(await send(Buffer.from(`<html><script>alert(1)</script>${'x'.repeat(69)}`)), 415, 'the first bytes are not those of a PNG');
  assert.equal(await send(png(100)), 200);
  assert.equal(await send(png(100)), 412, 'once');
  assert.ok(filesIn(media).includes(slot.file));
  await gone(slot.file); // no item takes it
});

test('a body in chunks is taken as it comes, up to what was asked for', async () => {
  const chunked = (slot, pieces) => new Promise((resolve, reject) => {
    const q = request(new URL(slot.upload.url, origin), { method: 'PUT', headers: { ...slot.upload.headers, 'transfer-encoding': 'chunked' } }, (reply) => {
      reply.resume();
      resolve(reply.statusCode);
    });
    q.on('error', reject);
    for (const piece of pieces) q.write(piece);
    q.end();
  });
  const bytes = png(300_000);
  const asked = async (size) => (await ann.post('/people/ann/files/portrait', { type: 'image/png', size })).body;
  const slot = await asked(300_000);
  assert.equal(await chunked(slot, [bytes.subarray(0, 1), bytes.subarray(1, 100_000), bytes.subarray(100_000)]), 200);
  assert.deepEqual(readFileSync(join(media, 'gallery', slot.file.slice(-2), slot.file)), bytes);
  assert.equal(await chunked(await asked(200_000), [bytes.subarray(0, 150_000)]), 400, 'too short');
  assert.equal(await chunked(await asked(200_000), [bytes]).catch(() => 413), 413, 'too long');
});

test('who may ask for an upload is who may write the item', async () => {
  const png100 = { type: 'image/png', size: 100 };
  await bob.post('/people/ann/files/portrait', png100, { status: 403, type: 'forbidden' });
  await app.nobody.post('/people/ann/files/portrait', png100, { status: 401 });
  await app.nobody.post('/cards/files/picture', png100, { status: 401 });
  await ann.post('/people/ann/files/nothing', png100, { status: 404 });
  await ann.post('/people/ann/albums/nothing/files/cover', png100, { status: 201 });
  await ann.post('/cards/files/picture', png100);
  const slot = (await ann.post('/people/ann/files/portrait', png100)).body;
  assert.equal((await upload(origin, slot, png(100))).status, 200);
  const refused = /is not one that you have uploaded/;
  await bob.patch('/people/bob', { portrait: slot.file }, { status: 422, detail: refused });
  await bob.patch('/people/bob', { portrait: '01JD0000000000000000000000' }, { status: 422, detail: refused });
  await ann.post('/cards', { name: 'c', picture: slot.file }, { status: 422, detail: refused }); // of another attribute
  await ann.post('/people/ann/albums', { title: 'x', pictures: [slot.file] }, { status: 422, detail: refused });
  for (const no of [5, true, 'x', '../../etc/passwd', {}, { file: 7 }, [slot.file]])
    await ann.patch('/people/ann', { portrait: no }, { status: 422 });
  const { body } = await ann.patch('/people/ann', { portrait: { file: slot.file, type: 'text/html', size: 1, url: 'https://example.com' } });
  assert.deepEqual([body.portrait.type, body.portrait.size], ['image/png', 100], 'what the client says of it does not count');
});

test('an item that gives up a file leaves nothing behind', async () => {
  const give = async (where, attribute, type, bytes) => {
    const slot = (await ann.post(`${where}/files/${attribute}`, { type, size: bytes.length })).body;
    assert.equal((await upload(origin, slot, bytes)).status, 200);
    return slot.file;
  };
  const portrait = async () => (await ann.get('/people/ann')).body.portrait;
  const first = await portrait();
  const second = await give('/people/ann', 'portrait', 'image/png', png(500));
  await ann.patch('/people/ann', { portrait: second });
  await gone(first.file);
  assert.equal((await fetchFile(first)).status, 404);
  await ann.patch('/people/ann', { portrait: first.file }, { status: 422 }); // what is gone never comes back
  await ann.patch('/people/ann', { portrait: null });
  await gone(second);

  // Several files, of which some stay.
  const [a, b, c, d] = [await give('/people/ann/albums', 'pictures', 'image/png', png(100)), await give('/people/ann/albums', 'pictures', 'video/mp4', Buffer.concat([MP4, Buffer.alloc(100)])),
    await give('/people/ann/albums', 'pictures', 'image/png', png(100)), await give('/people/ann/albums', 'pictures', 'image/png', png(100))];
  await ann.post('/people/ann/albums', { title: 'Sea', pictures: [a, a] }, { status: 422, detail: /twice/ });
  await ann.post('/people/ann/albums', { title: 'Sea', pictures: [a, b, c, d] }, { status: 422, detail: /0 to 3|at most 3/ });
  const made = (await ann.post('/people/ann/albums', { title: 'Sea', pictures: [a, b] })).body;
  assert.deepEqual(made.pictures.map(({ file: id }) => id), [a, b]);
  const path = `/people/ann/albums/${made.album}`;
  await ann.post('/people/ann/albums', { title: 'Again', pictures: [a] }, { status: 422 });
  assert.deepEqual((await ann.patch(path, { pictures: [c, { ...made.pictures[1] }] })).body.pictures.map(({ file: id }) => id), [c, b]);
  await gone(a);
  for (const shown of (await app.nobody.get(path)).body.pictures) assert.equal((await fetchFile(shown)).status, 200);
  const cover = await give(path, 'cover', 'image/png', png(64));
  assert.equal((await ann.post(`${path}/set-cover`, { cover })).body.cover.file, cover);
  await ann.patch(path, { cover }, { status: 422 }); // managed
  await ann.post(`${path}/without-pictures`);
  await gone(b);
  await gone(c);

  // With its item, with the item it hangs below, by an SDK, and as the database expires it.
  await ann.delete(path);
  await gone(cover);
  const below = await give('/people/ann/albums', 'pictures', 'image/png', png(100));
  const child = (await ann.post('/people/ann/albums', { title: 'Below', pictures: [below] })).body.album;
  const bySdk = await give('/people/ann/albums', 'pictures', 'image/png', png(100));
  const other = (await ann.post('/people/ann/albums', { title: 'Sdk', pictures: [bySdk] })).body.album;
  await app.doc.delete({ TableName: app.table, Key: { PK: 'PERSON#ann', SK: `ALBUM#${other}` } });
  await gone(bySdk);
  const expired = await give('/people/ann/albums', 'pictures', 'image/png', png(100));
  await ann.post('/people/ann/albums', { title: 'Soon', pictures: [expired], expires_at: Math.floor(Date.now() / 1000) + 1 });
  await ann.delete('/people/ann');
  await gone(below);
  await gone(expired);
  assert.ok(child);
  await until('ann to be gone', async () => (await ann.request('GET', '/people/ann/albums')).body.items.length === 0);
  await ann.put('/people/ann', { display_name: 'Ann' });
});

test('an item that moves takes its file along, and only one item gets it', async () => {
  const slot = (await ann.post('/cards/files/picture', { type: 'image/png', size: 100 })).body;
  await upload(origin, slot, png(100));
  const tries = await atOnce(['one', 'two', 'three', 'four'].map((name) => () => ann.request('POST', '/cards', { body: { name, picture: slot.file } })));
  assert.deepEqual(tries, { 201: 1, 422: 3 });
  const names = [];
  for (const name of ['one', 'two', 'three', 'four']) if ((await ann.request('GET', `/cards/${name}`)).status === 200) names.push(name);
  assert.equal(names.length, 1);
  await ann.patch(`/cards/${names[0]}`, { name: 'moved' });
  await app.settled();
  const { picture } = (await ann.get('/cards/moved')).body;
  assert.equal((await fetchFile(picture)).status, 200);
  await ann.patch('/cards/moved', { picture: null }, { status: 422 }); // required
  await ann.patch('/cards/moved', { name: 'again' });
  await app.settled();
  assert.equal((await fetchFile(picture)).status, 200);
  await ann.delete('/cards/again');
  await gone(slot.file);
});

test('two writes at once: no file is lost that an item has, and none stays that it has not', async () => {
  const give = async () => {
    const slot = (await bob.post('/people/bob/files/portrait', { type: 'image/png', size: 60 })).body;
    await upload(origin, slot, png(60));
    return slot.file;
  };
  for (let round = 0; round < 3; round += 1) {
    const [x, y, z] = [await give(), await give(), await give()];
    await atOnce([x, y, z].map((portrait) => () => bob.request('PATCH', '/people/bob', { body: { portrait } })));
    const { portrait } = (await bob.get('/people/bob')).body;
    for (const id of [x, y, z]) if (id !== portrait.file) await gone(id);
    assert.equal((await fetchFile(portrait)).status, 200);
  }
});

test('each caller has a share, and uploads that no item takes give it back', async () => {
  const cid = await app.as('cid', 'user');
  await cid.put('/people/cid', { display_name: 'Cid' });
  const big = { type: 'image/png', size: 1024 * 1024 };
  for (let i = 0; i < 6; i += 1) await cid.post('/people/cid/files/portrait', big);
  await cid.post('/people/cid/files/portrait', big, { status: 429, type: 'too-many-attempts' });
  await ann.post('/people/ann/files/portrait', big, {}); // another one's
  await until('the share to be free again', async () => (await cid.request('POST', '/people/cid/files/portrait', { body: big })).status === 201, 40);
});

test('what no item has taken in time is refused before it is removed', async () => {
  const slot = (await ann.post('/people/ann/files/portrait', { type: 'image/png', size: 60 })).body;
  assert.equal((await upload(origin, slot, png(60))).status, 200);
  await until('the time to be over', () => Date.now() > Date.parse(slot.expires) + 1000, 20);
  await ann.patch('/people/ann', { portrait: slot.file }, { status: 422 });
  const late = (await ann.post('/people/ann/files/portrait', { type: 'image/png', size: 60 })).body;
  await until('the time to be over', () => Date.now() > Date.parse(late.expires) + 1000, 20);
  assert.equal((await upload(origin, late, png(60))).status, 403);
  await gone(slot.file);
});

test('a stranger’s page, HTML and SVG: nothing that was uploaded runs', async () => {
  const { body: made } = await ann.post('/people/ann/albums', { title: 'Notes' });
  const path = `/people/ann/albums/${made.album}`;
  for (const [type, text] of [['text/html', '<script>alert(1)</script>'], ['image/svg+xml', '<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>']]) {
    const slot = (await ann.post(`${path}/files/notes`, { type, size: text.length, name: 'a"b\'.html' })).body;
    assert.equal((await upload(origin, slot, text)).status, 200);
    const { body } = await ann.patch(path, { notes: slot.file });
    const reply = await fetchFile(body.notes);
    assert.equal(reply.headers.get('content-security-policy'), "default-src 'none'; sandbox");
    assert.equal(reply.headers.get('x-content-type-options'), 'nosniff');
    assert.equal(reply.headers.get('content-disposition'), "attachment; filename*=UTF-8''a%22b%27.html");
  }
  assert.ok(!('notes' in (await app.nobody.get(path)).body), 'private');
  assert.ok('notes' in (await ann.get(path)).body);
});

test('a client that sends nothing more, or goes, leaves no bytes', async () => {
  const slot = (await ann.post('/people/ann/files/portrait', { type: 'image/png', size: 1_000_000 })).body;
  const url = new URL(slot.upload.url, origin);
  const socket = connect(Number(url.port), url.hostname);
  socket.write(`PUT ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\nContent-Type: image/png\r\nContent-Length: 1000000\r\n\r\n`);
  socket.write(png(50_000));
  const uploads = () => readdirSync(join(media, '.uploads'));
  await until('the upload to have begun', () => uploads().length === 1);
  socket.destroy();
  await until('its bytes to be gone', () => uploads().length === 0);
  assert.ok(!filesIn(media).includes(slot.file));
});

test('the oracle tells a file whose item no longer has it, and an item whose file is another’s', { skip: BACKEND ? 'reads a directory' : false }, async () => {
  const data = freshDirectory();
  const other = await startDesign(file, { data, oracle: false, check: false });
  const dan = await other.as('dan', 'user');
  const slot = async (name) => {
    const { body } = await dan.post('/cards/files/picture', { type: 'image/png', size: 60 });
    await upload(other.server.endpoint, body, png(60));
    await dan.post('/cards', { name, picture: body.file });
    return body.file;
  };
  const [first, second] = [await slot('one'), await slot('two')];
  await other.settled();
  // By hand, where no keeper sees it: the record of one file is of an item that is not there, the other one is in two items.
  const beside = `${other.table}.thorpe`;
  await other.doc.update({ TableName: beside, Key: { PK: `FILE#${first}`, SK: '-' }, UpdateExpression: 'SET #i = :k', ExpressionAttributeNames: { '#i': 'item' }, ExpressionAttributeValues: { ':k': { PK: 'CARD#gone', SK: 'CARD' } } });
  const { Item } = await other.doc.get({ TableName: other.table, Key: { PK: 'CARD#two', SK: 'CARD' } });
  await other.doc.put({ TableName: other.table, Item: { ...Item, PK: 'CARD#three', name: 'three' } });
  await other.settled();
  await other.server.stop();
  const verify = async (...more) => (await runToEnd(['verify', '--design', file, '--data', data, '--json', ...more])).stdout.split('\n').filter(Boolean).map((line) => JSON.parse(line));
  const found = (await verify()).filter(({ severity }) => severity === 'difference').map(({ kind, key, found: { S } }) => [kind, key.PK.S, S]).sort();
  assert.deepEqual(found, [['file-foreign', 'CARD#one', first], ['file-foreign', 'CARD#three', second], ['file-left', 'CARD#gone', first]]);
  await verify('--repair', '--yes');
  assert.deepEqual((await verify()).map(({ kind }) => kind), ['file-foreign', 'file-foreign'], 'what is left is repaired; the rest needs a person');
});
