// Files of items in a bucket: the same steps as in a directory, but clients send the bytes to the bucket.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { BACKEND, ROOT, atOnce, freshDirectory, runToEnd, startDesign, startServer, until } from './harness.mjs';
import { startS3 } from './fake-s3.mjs';
import { png, upload } from './media-world.mjs';

const file = join(ROOT, 'tests', 'designs', 'gallery', 'gallery.yaml');
const keys = { AKIDEXAMPLE: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
// A server whose table is elsewhere has keys for that, which the harness makes.
const s3 = await startS3({ bucket: 'pictures', keys: (id) => keys[id] ?? (BACKEND && 'secret') });
const env = { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: keys.AKIDEXAMPLE, AWS_REGION: 'us-east-1' };
const args = ['--media', 's3://pictures/of/people', '--media-endpoint', s3.endpoint, '--media-hold', '8'];
const app = await startDesign(file, { args, env: BACKEND ? undefined : env });
after(() => s3.stop());
const origin = app.server.endpoint;
const ann = await app.as('ann', 'user');
const bob = await app.as('bob', 'user');
const gone = (id) => until(`the file ${id} to be removed`, () => ![...s3.objects.keys()].some((key) => key.endsWith(id)), 30);

await ann.put('/people/ann', { display_name: 'Ann' });
await bob.put('/people/bob', { display_name: 'Bob' });

const ask = async (size = 1000, type = 'image/png') => (await ann.post('/people/ann/files/portrait', { type, size, name: 'me & you.png' })).body;

test('a client uploads to the bucket, with the type and length that were asked for, once', async () => {
  const bytes = png(1000);
  const slot = await ask();
  assert.ok(slot.upload.url.startsWith(`${s3.endpoint}/pictures/of/people/gallery/${slot.file}?X-Amz-Algorithm=AWS4-HMAC-SHA256&`));
  assert.match(slot.upload.url, /X-Amz-SignedHeaders=content-length%3Bcontent-type%3Bhost%3Bif-none-match/);
  await ann.patch('/people/ann', { portrait: slot.file }, { status: 422, detail: /not been uploaded/ });
  assert.equal((await upload(origin, slot, png(999))).status, 403, 'another length');
  assert.equal((await upload(origin, slot, bytes, { 'content-type': 'text/html' })).status, 403, 'another type');
  assert.equal((await upload(origin, slot, bytes, { 'if-none-match': '"x"' })).status, 403, 'in any case');
  assert.equal((await upload(origin, slot, bytes)).status, 200);
  assert.equal((await upload(origin, slot, png(1000))).status, 412, 'a file does not change');
  const { portrait } = (await ann.patch('/people/ann', { portrait: slot.file })).body;
  assert.deepEqual([portrait.file, portrait.type, portrait.size, portrait.name], [slot.file, 'image/png', 1000, 'me & you.png']);
  const reply = await fetch((await app.nobody.get('/people/ann')).body.portrait.url);
  assert.equal(reply.status, 200);
  assert.equal(reply.headers.get('content-type'), 'image/png');
  assert.equal(reply.headers.get('content-disposition'), "inline; filename*=UTF-8''me%20%26%20you.png");
  assert.deepEqual(Buffer.from(await reply.arrayBuffer()), bytes);
  assert.equal((await fetch(portrait.url.replace(slot.file, slot.file.replace(/.$/, 'X')))).status, 403, 'of this file only');
  assert.equal((await fetch(portrait.url, { method: 'DELETE' })).status, 403, 'to read only');
});

test('what is in the bucket is looked at before an item takes it', async () => {
  const slot = await ask(60);
  assert.equal((await upload(origin, slot, Buffer.alloc(60, 'x'))).status, 200);
  await ann.patch('/people/ann', { portrait: slot.file }, { status: 422, detail: /does not begin as files of its type do/ });
  const other = await ask(60);
  s3.objects.set(`of/people/gallery/${other.file}`, { type: 'image/png', bytes: png(61) }); // by somebody with the bucket's keys
  await ann.patch('/people/ann', { portrait: other.file }, { status: 422, detail: /another length/ });
  await bob.patch('/people/bob', { portrait: slot.file }, { status: 422 });
  s3.fails = 2; // then it answers
  const third = await ask(60);
  assert.equal((await upload(origin, third, png(60))).status, 503);
  assert.equal((await upload(origin, third, png(60))).status, 503);
  assert.equal((await upload(origin, third, png(60))).status, 200);
  s3.fails = 2;
  await ann.patch('/people/ann', { portrait: third.file });
  s3.fails = 0;
  await gone(slot.file);
});

test('what its item no longer has goes from the bucket, also while the bucket is out of order', async () => {
  const before = (await ann.get('/people/ann')).body.portrait.file;
  s3.fails = 20;
  await ann.patch('/people/ann', { portrait: null });
  await app.settled();
  await until('the bucket to have refused', () => s3.fails < 18, 30);
  assert.ok(s3.objects.has(`of/people/gallery/${before}`));
  s3.fails = 0;
  await gone(before);
});

test('three servers of one table, one bucket', { skip: BACKEND ? 'has servers of its own' : false }, async (t) => {
  const data = freshDirectory();
  const table = await startServer({ data });
  t.after(() => table.child.kill('SIGKILL'));
  const secret = join(data, 'token-secret');
  const servers = [];
  for (let i = 0; i < 3; i += 1) servers.push(await startServer({ data: null, args: ['--backend', table.endpoint, '--design', file, '--secret-file', secret, ...args], env }));
  t.after(() => servers.forEach(({ child }) => child.kill('SIGKILL')));
  const { stdout } = await runToEnd(['token', 'gallery', '--secret-file', secret, '--subject', 'ann', '--role', 'user']);
  const at = servers.map(({ endpoint }) => Object.assign(Object.create(Object.getPrototypeOf(ann)), { base: `${endpoint}/api/gallery`, token: stdout.trim() }));
  const busy = async (start) => {
    for (;;) {
      const reply = await start();
      if (reply.status !== 503) return reply;
      await new Promise((resolve) => setTimeout(resolve, 1000));
    }
  };
  assert.equal((await busy(() => at[0].request('PUT', '/people/ann', { body: { display_name: 'Ann' } }))).status, 201);
  const slot = (await busy(() => at[0].request('POST', '/cards/files/picture', { body: { type: 'image/png', size: 60 } }))).body;
  assert.equal((await upload(origin, slot, png(60))).status, 200);
  const tries = await atOnce(['a', 'b', 'c', 'd', 'e', 'f'].map((name, i) => () => busy(() => at[i % 3].request('POST', '/cards', { body: { name, picture: slot.file } }))));
  assert.deepEqual(tries, { 201: 1, 422: 5 });
  const names = [];
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f']) if ((await busy(() => at[1].request('GET', `/cards/${name}`))).status === 200) names.push(name);
  const { picture } = (await busy(() => at[2].request('GET', `/cards/${names[0]}`))).body;
  assert.equal((await fetch(picture.url)).status, 200);
  const unused = (await busy(() => at[1].request('POST', '/cards/files/picture', { body: { type: 'image/png', size: 60 } }))).body;
  assert.equal((await upload(origin, unused, png(60))).status, 200);
  await gone(unused.file);
  assert.ok(s3.objects.has(`of/people/gallery/${slot.file}`), 'and no other');
  assert.equal((await busy(() => at[2].request('DELETE', `/cards/${names[0]}`))).status, 204);
  await gone(slot.file);
  for (const { child } of servers) child.kill('SIGTERM');
});

test('a table elsewhere needs to be told where its files are', async () => {
  if (!BACKEND) {
    const server = await startServer({ data: null, args: ['--backend', app.server.endpoint, '--design', file, '--secret-file', join(app.data, 'token-secret')], env });
    const told = await Object.assign(Object.create(Object.getPrototypeOf(ann)), { base: `${server.endpoint}/api/gallery`, token: ann.token })
      .request('POST', '/cards/files/picture', { body: { type: 'image/png', size: 60 } });
    assert.deepEqual([told.status, told.body.detail], [503, 'this server has not been told where files are kept']);
    await server.stop();
  }
  for (const [where, why] of [['s3://x', /is not s3:\/\/bucket/], ['s3://pictures/../x', /is not s3:\/\/bucket/], ['s3://Pic tures', /is not s3:\/\/bucket/], ['/proc/nothing', /cannot make the directory/]]) {
    const told = await runToEnd(['serve', '--listen', '127.0.0.1:0', '--in-memory', '--design', file, '--media', where], { env });
    assert.equal(told.code, 1, where);
    assert.match(told.stderr, why);
  }
});
