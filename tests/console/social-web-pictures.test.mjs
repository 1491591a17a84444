// Pictures from a phone in the app of examples/social-web: chosen, refused, shown before and after, for longer than their addresses live.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { until } from './harness.mjs';
import { openApp, startSocial } from './social-web.mjs';

const GIF = Buffer.from('R0lGODlhAQABAIAAAP8AAP///ywAAAAAAQABAAACAkQBADs=', 'base64');
const gif = (name, size = GIF.length) => ({ name, mimeType: 'image/gif', buffer: Buffer.concat([GIF, Buffer.alloc(size - GIF.length)]) });

const server = await startSocial();
const ann = await openApp(server, { tolerate: [/ERR_INTERNET_DISCONNECTED/, /ERR_CONNECTION_RESET/] });
const { page } = ann;
await ann.signUp('ann');
after(async () => {
  await ann.close();
  await server.stop();
  process.exit();
});

const chooser = () => page.getByLabel('A picture from this device');
const isShown = (image) => until('the picture to be shown', () => image.evaluate((img) => img.complete && img.naturalWidth > 0));
const begin = async (text) => {
  await page.getByLabel('What is new?').fill(text);
  await ann.button('Add a picture').click();
};

test('a file that is refused says why at its field, and no post goes out without it', async () => {
  const refused = async (file, sentence) => {
    await chooser().setInputFiles(file);
    await page.getByText(sentence).waitFor();
    assert.equal(await chooser().getAttribute('aria-invalid'), 'true');
    assert.equal(await chooser().evaluate((input) => input.files.length), 0, 'nothing is shown as chosen');
    assert.equal(await ann.button('Post').isDisabled(), true);
    assert.equal(await page.getByText('Please correct what is marked.').count(), 0);
    await ann.expectFit();
  };
  await begin('With a picture');
  await refused({ name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('hello') }, 'note.txt is no picture that can be shown here');
  await refused({ name: 'empty.gif', mimeType: 'image/gif', buffer: Buffer.alloc(0) }, 'empty.gif is empty.');
  await refused(gif('big.gif', 6 * 1024 * 1024), 'big.gif has 6.0 MB. A picture may have 5 MB.');
  await refused({ name: 'fake.gif', mimeType: 'image/gif', buffer: Buffer.from('not what it says') }, 'This file is damaged, or is not what its name says.');
  // Whoever wants no picture any more can go on.
  await ann.button('No picture').click();
  assert.equal(await ann.button('Post').isEnabled(), true);
  await ann.button('Add a picture').click();
  await page.getByText('at most 5 MB').waitFor();
});

test('the server has the last word on a file, in words', async () => {
  const refuse = (problem) => page.route('**/posts/files/picture', (route) => route.fulfill({ status: problem.status, contentType: 'application/problem+json', body: JSON.stringify(problem) }));
  await refuse({ type: 'urn:thorpe:invalid', title: 'Invalid', status: 422, errors: [{ attribute: 'size', detail: 'at most 4000000 bytes' }] });
  await chooser().setInputFiles(gif('sea.gif'));
  await page.getByText('At most 4000000').waitFor();
  await page.unroute('**/posts/files/picture');
  await refuse({ type: 'urn:thorpe:too-many-attempts', title: 'Too many', status: 429, detail: 'your files have all the room' });
  await chooser().setInputFiles(gif('sea.gif'));
  await page.getByText('Your pictures have all the room there is').waitFor();
  await page.unroute('**/posts/files/picture');
});

test('a picture is seen before it is posted, can be taken out, and the last one chosen is posted', async () => {
  let slow;
  const held = new Promise((resolve) => { slow = resolve; });
  await page.route('**/media/social/**', async (route) => {
    if (route.request().method() === 'PUT') await held;
    await route.continue();
  });
  await chooser().setInputFiles(gif('first.gif'));
  await page.getByText('Uploading the picture…').waitFor();
  assert.equal(await ann.button('Post').isDisabled(), true, 'it waits for the picture');
  assert.equal(await ann.button('Posting…').count(), 0);
  slow();
  await isShown(page.getByRole('img', { name: 'Preview of first.gif' }));
  await page.unroute('**/media/social/**');
  await ann.expectFit();
  await ann.button('Remove first.gif').click();
  assert.equal(await page.getByRole('img', { name: /^Preview/ }).count(), 0);
  await chooser().setInputFiles(gif('first.gif')); // the same again
  await isShown(page.getByRole('img', { name: 'Preview of first.gif' }));
  await chooser().setInputFiles(gif('second.gif'));
  await isShown(page.getByRole('img', { name: 'Preview of second.gif' }));
  await ann.button('Post').click();
  const post = ann.post('With a picture');
  await isShown(post.getByRole('img'));
  const { items } = await page.evaluate(async () => {
    const { id, token } = JSON.parse(localStorage.getItem('village.session'));
    return (await fetch(`/api/social/users/${id}/posts`, { headers: { authorization: `Bearer ${token}` } })).json();
  });
  assert.equal(items[0].picture.name, 'second.gif');
});

test('a picture is still shown when its address has ended while the page was open', async () => {
  let first = true;
  const asked = [];
  await page.route('**/media/social/**', async (route) => {
    asked.push(route.request().url());
    if (first) {
      first = false;
      return route.fulfill({ status: 403, body: '' });
    }
    return route.continue();
  });
  // As it is after an hour: the reply of then has another address than the one of now.
  await page.route('**/users/*/home*', async (route) => {
    const reply = await route.fetch();
    const body = await reply.text();
    return route.fulfill({ response: reply, body: body.replaceAll(/(\/media\/social\/[^"]*)/g, '$1&old') });
  });
  await page.route('**/users/*/posts/with-authors*', async (route) => {
    const reply = await route.fetch();
    const body = await reply.text();
    return route.fulfill({ response: reply, body: body.replaceAll(/(\/media\/social\/[^"]*)/g, '$1&old') });
  });
  await page.goto('about:blank');
  await ann.visit();
  await isShown(ann.post('With a picture').getByRole('img'));
  assert.match(asked[0], /&old$/);
  assert.ok(!/&old$/.test(asked.at(-1)), 'the post was read again');
  assert.equal(await page.getByText('This picture cannot be shown.').count(), 0);
  await page.unrouteAll();
});

test('a picture that is gone leaves a note, and is asked for once more only', async () => {
  let asked = 0;
  await page.route('**/media/social/**', (route) => {
    asked += 1;
    return route.fulfill({ status: 404, body: '' });
  });
  await page.goto('about:blank');
  await ann.visit();
  await ann.post('With a picture').getByText('This picture cannot be shown.').waitFor();
  assert.ok(asked <= 2, `${asked} requests`);
  await page.unrouteAll();
});

test('a page without a network says so before anything is tried, and that it is back', async () => {
  await ann.visit();
  await ann.post('With a picture').waitFor();
  await ann.context.setOffline(true);
  await page.getByText('No connection to the server.').waitFor();
  await ann.expectFit();
  await ann.context.setOffline(false);
  await page.getByText('No connection to the server.').waitFor({ state: 'hidden', timeout: 2000 });
});

test('a name that nobody has is said so', async () => {
  await ann.visit('#/names/nobody');
  await page.getByText('There is nobody of the name @nobody.').waitFor();
});
