// Fields of files in the console's forms: chosen, sent with progress, refused, seen, put in order, taken out, saved.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { newPage, PHONE, startConsole, startServer, until } from './harness.mjs';
import { png } from '../designs/media-world.mjs';
import { startS3 } from '../designs/fake-s3.mjs';

const GALLERY = fileURLToPath(new URL('../designs/gallery/gallery.yaml', import.meta.url));
const DOT = Buffer.from('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==', 'base64');

const app = await startConsole({ designs: [GALLERY], demo: false, tolerate: [/status of 4\d\d/, /ERR_FAILED/] });
after(() => app.close());
const { page } = app;

const dot = (name = 'dot.png') => ({ name, mimeType: 'image/png', buffer: DOT });
const button = (name) => page.getByRole('button', { name, exact: true });
const field = (name) => page.locator('.rule-field', { has: page.locator('.field-label code', { hasText: new RegExp(`^${name}$`) }) });
const chooser = (label) => page.getByLabel(label, { exact: true });
const isShown = (image) => until('the picture to be shown', () => image.evaluate((img) => img.complete && img.naturalWidth > 0));
const saved = () => page.locator('.toast', { hasText: 'Saved by the rules.' }).last().waitFor();
const rows = (name) => field(name).locator('.file-row .file-about').evaluateAll((list) => list.map((row) => row.firstChild.textContent));
const itemAddress = (pk, sk) => `#/table/Gallery/item?pk=${encodeURIComponent(pk)}&sk=${encodeURIComponent(sk)}`;
const stored = async (PK, SK) => (await app.ddb.getItem({ TableName: 'Gallery', Key: { PK: { S: PK }, SK: { S: SK } }, ConsistentRead: true })).Item;

const { designs: [{ token }] } = await (await fetch(`${app.endpoint}/console/api/session`, { headers: { 'x-thorpe-console': '1' } })).json();
const rest = async (method, path, body) => {
  const reply = await fetch(`${app.endpoint}/api/gallery${path}`, { method, headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' }, body: JSON.stringify(body) });
  assert.ok(reply.ok, `${method} ${path}: ${reply.status} ${await reply.clone().text()}`);
  return reply.status === 204 ? undefined : reply.json();
};
await rest('PUT', '/people/ann', { display_name: 'Ann' });
await rest('PUT', '/people/ann/albums/sea', { title: 'The sea' });

/** Holds what is sent, until it is let go. */
async function holdUploads() {
  let letGo;
  const held = new Promise((resolve) => { letGo = resolve; });
  await page.route('**/media/**', async (route) => {
    if (route.request().method() === 'PUT') await held;
    await route.continue().catch(() => undefined); // it was stopped
  });
  return async () => {
    letGo();
    await page.unroute('**/media/**');
  };
}

test('the document of a design says what files an attribute takes', async () => {
  const reply = await fetch(`${app.endpoint}/console/api/designs/gallery`, { headers: { 'x-thorpe-console': '1' } });
  const { entities } = await reply.json();
  const of = (entity, name) => entities.find((one) => one.name === entity).attributes.find((one) => one.name === name);
  assert.deepEqual(of('Person', 'portrait').file, { types: ['image/jpeg', 'image/png', 'image/webp'], most: 1048576 });
  assert.deepEqual(of('Album', 'notes').file, { types: [], most: 1048576 });
  assert.deepEqual(of('Album', 'pictures').each.file, { types: ['image/*', 'video/mp4'], most: 4194304 });
  assert.equal(of('Person', 'display_name').file, undefined);
});

test('a new item is made with its picture', async () => {
  await app.open('#/table/Gallery/item?new=1&entity=Card');
  await button('Create by the rules').click();
  await field('picture').getByRole('alert').waitFor(); // it is required
  await field('name').getByRole('textbox').fill('rook');
  await field('owner').getByRole('textbox').fill('ann');
  assert.equal(await chooser('Choose picture').getAttribute('accept'), 'image/png');
  await chooser('Choose picture').setInputFiles(dot('rook.png'));
  await isShown(field('picture').getByRole('img', { name: 'Preview of rook.png' }));
  await field('picture').getByText('not saved yet').waitFor();
  await app.expectReadable();
  await button('Create by the rules').click();
  await app.expectHash(/item\?pk=CARD/);
  const { picture } = await stored('CARD#rook', 'CARD');
  assert.deepEqual([picture.M.name.S, picture.M.size.N, picture.M.type.S], ['rook.png', String(DOT.length), 'image/png']);
  await isShown(field('picture').getByRole('img'));
});

test('a file that does not fit is refused at its field, before or after it was sent', async () => {
  await app.open(itemAddress('PERSON#ann', 'PROFILE'));
  const refused = async (file, sentence) => {
    await chooser('Choose portrait').setInputFiles(file);
    await field('portrait').getByRole('alert').filter({ hasText: sentence }).waitFor();
    assert.equal(await button('Save by the rules').isDisabled(), true, 'nothing has changed');
  };
  await refused({ name: 'a.txt', mimeType: 'text/plain', buffer: Buffer.from('x') }, 'a.txt is text/plain; this takes image/jpeg, image/png, image/webp.');
  await refused({ name: 'big.png', mimeType: 'image/png', buffer: png(2 * 2 ** 20) }, 'big.png has 2 MB; this takes at most 1 MB.');
  await refused({ name: 'none.png', mimeType: 'image/png', buffer: Buffer.alloc(0) }, 'none.png is empty.');
  await refused({ name: 'fake.png', mimeType: 'image/png', buffer: Buffer.from('no picture at all') }, 'The file does not begin as files of its type do.');
  await page.route('**/files/portrait', (route) => route.fulfill({
    status: 422, contentType: 'application/problem+json', body: JSON.stringify({ type: 'urn:thorpe:invalid', status: 422, detail: 'portrait: no', errors: [{ attribute: 'portrait', detail: 'a file of another kind' }] }),
  }));
  await refused(dot(), 'dot.png: a file of another kind');
  await page.unroute('**/files/portrait');
  await page.route('**/media/**', (route) => route.abort());
  await refused(dot(), 'The file was not uploaded: the connection was lost.');
  await page.unroute('**/media/**');
});

test('while a file is sent the form can be filled in, but not saved', async () => {
  await app.open(itemAddress('PERSON#ann', 'PROFILE'));
  const letGo = await holdUploads();
  await chooser('Choose portrait').setInputFiles(dot('ann.png'));
  await page.getByRole('progressbar', { name: 'Uploading ann.png' }).waitFor();
  await field('display_name').getByRole('textbox').fill('Ann of the sea');
  assert.equal(await button('Save by the rules').isDisabled(), true);
  await letGo();
  await isShown(field('portrait').getByRole('img', { name: 'Preview of ann.png' }));
  assert.equal(await field('display_name').getByRole('textbox').inputValue(), 'Ann of the sea');
  await button('Save by the rules').click();
  await saved();
  const { portrait, display_name } = await stored('PERSON#ann', 'PROFILE');
  assert.deepEqual([portrait.M.name.S, display_name.S], ['ann.png', 'Ann of the sea']);
});

test('an upload is stopped, and leaves nothing', async () => {
  await app.open(itemAddress('PERSON#ann', 'PROFILE'));
  const letGo = await holdUploads();
  await chooser('Replace portrait').setInputFiles(dot('other.png'));
  await button('Stop').click();
  await chooser('Replace portrait').waitFor();
  assert.deepEqual(await rows('portrait'), ['ann.png']);
  assert.equal(await field('portrait').getByRole('alert').count(), 0);
  assert.equal(await button('Save by the rules').isDisabled(), true);
  await letGo();
});

test('a file is replaced, and removed', async () => {
  await app.open(itemAddress('PERSON#ann', 'PROFILE'));
  await isShown(field('portrait').getByRole('img', { name: 'Preview of ann.png' })); // from the server
  const link = await field('portrait').getByRole('link', { name: 'ann.png' }).getAttribute('href');
  assert.deepEqual(Buffer.from(await (await fetch(new URL(link, app.endpoint))).arrayBuffer()), DOT);
  await chooser('Replace portrait').setInputFiles(dot('new.png'));
  await button('Save by the rules').click();
  await saved();
  assert.equal((await stored('PERSON#ann', 'PROFILE')).portrait.M.name.S, 'new.png');
  await field('portrait').getByRole('link', { name: 'new.png' }).waitFor();
  await button('Remove portrait').click();
  await button('Save by the rules').click();
  await until('the portrait to be gone', async () => !(await stored('PERSON#ann', 'PROFILE')).portrait);
});

test('a list takes several at once, as many as it may, in the order one wants', async () => {
  await app.open(itemAddress('PERSON#ann', 'ALBUM#sea'));
  await chooser('Add to pictures').setInputFiles(['1.png', '2.png', '3.png', '4.png'].map(dot));
  await field('pictures').getByRole('alert').filter({ hasText: '1 of 4 files were left out: pictures takes 3.' }).waitFor();
  assert.deepEqual(await rows('pictures'), ['1.png', '2.png', '3.png']);
  assert.equal(await chooser('Add to pictures').count(), 0, 'it is full');
  await button('Move pictures[2] up').click();
  await button('Remove pictures[0]').click();
  assert.deepEqual(await rows('pictures'), ['3.png', '2.png']);
  await button('Move pictures[0] down').press('Enter');
  await until('the focus to go with what was moved', () => page.evaluate(() => document.activeElement.ariaLabel === 'Move pictures[1] up'));
  await page.keyboard.press('Enter');
  await button('Save by the rules').click();
  await saved();
  const names = async () => (await stored('PERSON#ann', 'ALBUM#sea')).pictures?.L.map(({ M }) => M.name.S);
  assert.deepEqual(await names(), ['3.png', '2.png']);
  // What is there keeps its place beside what is new.
  await field('pictures').getByRole('link', { name: '3.png' }).waitFor();
  await chooser('Add to pictures').setInputFiles(dot('5.png'));
  await isShown(field('pictures').getByRole('img', { name: 'Preview of 5.png' }));
  await button('Save by the rules').click();
  await until('three', async () => (await names()).length === 3);
  assert.deepEqual(await names(), ['3.png', '2.png', '5.png']);
});

test('one bad file of several is named, and the others are taken', async () => {
  await rest('PUT', '/people/ann/albums/mixed', { title: 'Mixed' });
  await app.open(itemAddress('PERSON#ann', 'ALBUM#mixed'));
  await chooser('Add to pictures').setInputFiles([dot('good.png'), { name: 'bad.txt', mimeType: 'text/plain', buffer: Buffer.from('x') }, dot('too.png')]);
  await field('pictures').getByRole('alert').filter({ hasText: 'bad.txt is text/plain' }).waitFor();
  assert.deepEqual(await rows('pictures'), ['good.png', 'too.png']);
  // What the server says of one of them is said at that one.
  await page.route('**/albums/mixed', (route) => (route.request().method() === 'PATCH' ? route.fulfill({
    status: 422, contentType: 'application/problem+json', body: JSON.stringify({ type: 'urn:thorpe:invalid', status: 422, detail: 'no', errors: [{ attribute: 'pictures', detail: 'element 2: this file has not been uploaded' }] }),
  }) : route.continue()));
  await button('Save by the rules').click();
  await page.getByRole('listitem', { name: 'pictures[1]' }).getByRole('alert').filter({ hasText: 'this file has not been uploaded' }).waitFor();
  await page.unroute('**/albums/mixed');
  await button('Save by the rules').click();
  await saved();
});

test('a new item of a collection below another needs its address first', async () => {
  await app.open('#/table/Gallery/item?new=1&entity=Album');
  assert.equal(await chooser('Choose notes').isDisabled(), true);
  await page.getByText('First fill in the fields of the item').first().waitFor();
  await field('person').getByRole('textbox').fill('ann');
  await field('title').getByRole('textbox').fill('With notes');
  await chooser('Choose notes').setInputFiles({ name: 'notes', mimeType: '', buffer: Buffer.from('any bytes') });
  await field('notes').getByText('not saved yet').waitFor();
  await button('Create by the rules').click();
  await app.expectHash(/item\?pk=PERSON/);
  await field('notes').getByRole('link', { name: 'notes' }).waitFor();
});

test('an action takes a file', async () => {
  await app.open(itemAddress('PERSON#ann', 'ALBUM#sea'));
  await button('set-cover').click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Choose cover').setInputFiles(dot('cover.png'));
  await dialog.getByRole('img', { name: 'Preview of cover.png' }).waitFor();
  await dialog.getByRole('button', { name: 'set-cover' }).click();
  await until('the cover', async () => (await stored('PERSON#ann', 'ALBUM#sea')).cover?.M.name.S === 'cover.png');
});

test('it fits a phone, in the dark, and works by keyboard', async () => {
  const phone = await app.newPage({ viewport: PHONE, dark: true });
  await phone.open(itemAddress('PERSON#ann', 'ALBUM#sea'));
  await phone.page.getByRole('img', { name: 'Preview of 3.png' }).waitFor();
  await phone.expectNoSideways();
  await phone.expectReadable();
  const remove = phone.page.getByRole('button', { name: 'Remove pictures[1]', exact: true });
  await remove.focus();
  await phone.page.keyboard.press('Enter');
  const add = phone.page.getByLabel('Add to pictures', { exact: true });
  await until('the focus to stay in the field', () => add.evaluate((input) => input === document.activeElement));
  if (process.env.THORPE_SHOTS) await phone.page.screenshot({ path: join(process.env.THORPE_SHOTS, 'console-files.png'), fullPage: true });
});

test('files of a bucket are sent to it: the policy of the page names it, and nothing else', async () => {
  const keys = { AKIDEXAMPLE: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' };
  const s3 = await startS3({ bucket: 'pictures', keys });
  const server = await startServer({
    args: ['--design', GALLERY, '--media', 's3://pictures', '--media-endpoint', s3.endpoint],
    env: { AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE', AWS_SECRET_ACCESS_KEY: keys.AKIDEXAMPLE, AWS_REGION: 'us-east-1' },
  });
  const policy = (await fetch(`${server.endpoint}/console/`)).headers.get('content-security-policy');
  assert.ok(policy.includes(`img-src 'self' data: ${s3.endpoint};`) && policy.includes(`connect-src 'self' ${s3.endpoint};`), policy);
  const on = await newPage(server.endpoint);
  // The bucket allows the page's origin, as docs/aws.md says; this one has no rules of its own.
  const allowed = { 'access-control-allow-origin': server.endpoint, 'access-control-allow-methods': 'PUT', 'access-control-allow-headers': '*' };
  await on.page.route(`${s3.endpoint}/**`, async (route) => {
    if (route.request().method() === 'OPTIONS') return route.fulfill({ status: 204, headers: allowed });
    const reply = await route.fetch();
    return route.fulfill({ response: reply, headers: { ...reply.headers(), ...allowed } });
  });
  await on.open('#/table/Gallery/item?new=1&entity=Card');
  const of = (name) => on.page.locator('.rule-field', { has: on.page.locator('.field-label code', { hasText: new RegExp(`^${name}$`) }) });
  await of('name').getByRole('textbox').fill('bishop');
  await of('owner').getByRole('textbox').fill('ann');
  await on.page.getByLabel('Choose picture').setInputFiles(dot('bishop.png'));
  await of('picture').getByText('not saved yet').waitFor();
  assert.equal(s3.objects.size, 1);
  await on.page.getByRole('button', { name: 'Create by the rules' }).click();
  await on.expectHash(/item\?pk=CARD/);
  await isShown(of('picture').getByRole('img'));
  await on.close();
  await server.stop();
  await s3.stop();
});
