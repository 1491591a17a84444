// The app of examples/social-web and its sessions: renewed without a word, shared by tabs, ended here and everywhere, a
// lost password; and what lists show of other people, with one request each.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, test } from 'node:test';
import { until } from './harness.mjs';
import { caller, openApp, PASSWORD, SMALL_PHONE, startSocial } from './social-web.mjs';

const sent = [];
const hook = createServer((request, reply) => {
  let text = '';
  request.on('data', (part) => { text += part; });
  request.on('end', () => {
    sent.push(JSON.parse(text));
    reply.writeHead(204).end();
  });
}).listen(0, '127.0.0.1');
await new Promise((resolve) => hook.once('listening', resolve));
const server = await startSocial({ env: { SOCIAL_MAIL: `http://127.0.0.1:${hook.address().port}/mail` } });
const ann = await openApp(server);
const cal = await caller(server, 'cal');
await ann.signUp('ann');
after(async () => {
  await ann.close();
  await server.stop();
  hook.close();
  process.exit();
});

const stored = (page) => page.evaluate(() => JSON.parse(localStorage.getItem('village.session')));
const me = async (token) => (await fetch(`${server.endpoint}/api/social/me`, { headers: { authorization: `Bearer ${token}` } })).status;
const endToken = (page) => page.evaluate(() => {
  const kept = JSON.parse(localStorage.getItem('village.session'));
  localStorage.setItem('village.session', JSON.stringify({ ...kept, token: 'ended' }));
});

test('a token that has ended is renewed, and nobody is asked', async () => {
  const { page } = ann;
  await ann.write('Before the night');
  const { renewal, id } = await stored(page);
  await endToken(page);
  await page.reload();
  await ann.post('Before the night').waitFor();
  await ann.write('The morning after');
  await ann.post('The morning after').waitFor();
  assert.equal(await page.getByRole('dialog').count(), 0);
  const now = await stored(page);
  assert.equal(now.id, id);
  assert.notEqual(now.renewal, renewal);
  assert.equal(await me(now.token), 200);
});

test('two tabs share a session: each renews with what the other was given, and a logout is for both', async () => {
  const { page, context } = ann;
  const second = await context.newPage();
  await second.setViewportSize(SMALL_PHONE);
  await second.goto(`${server.endpoint}/apps/social/#/`);
  await second.getByRole('article', { name: /^Post by/ }).first().waitFor();
  // Both tokens have ended; both tabs know the same renewal token.
  await endToken(page);
  await Promise.all([page.reload(), second.reload()]);
  for (const tab of [page, second]) {
    await tab.getByRole('article', { name: /^Post by/ }).first().waitFor();
    assert.equal(await tab.getByRole('dialog').count(), 0);
  }
  const before = await stored(page);
  assert.equal(await me(before.token), 200);

  await ann.visit('#/settings');
  await ann.expectFit();
  await ann.button('Log out').click();
  await page.getByRole('link', { name: 'Look around' }).waitFor();
  await second.getByRole('link', { name: 'Look around' }).waitFor();
  assert.equal(await stored(page), null);
  assert.equal(await me(before.token), 401, 'the server knows');
  await second.close();
  await ann.logIn('ann');
  await ann.page.getByRole('form', { name: 'New post' }).waitFor();
});

test('logging out everywhere ends other devices, too', async () => {
  const other = await openApp(server);
  await other.logIn('ann');
  await other.page.getByRole('form', { name: 'New post' }).waitFor();
  await ann.visit('#/settings');
  await ann.button('Log out everywhere').click();
  await ann.expectFit();
  await ann.page.getByRole('dialog').getByRole('button', { name: 'Log out everywhere' }).click();
  await ann.page.getByRole('link', { name: 'Look around' }).waitFor();
  await other.write('Still here');
  const dialog = other.page.getByRole('dialog', { name: 'Please log in again' });
  await dialog.waitFor();
  await dialog.getByLabel('Password').fill(PASSWORD);
  await dialog.getByRole('button', { name: 'Go on' }).click();
  await dialog.waitFor({ state: 'hidden' }); // what was begun goes on
  await other.post('Still here').waitFor();
  await other.close();
});

test('a password is changed where one is logged in, and that page goes on', async () => {
  await ann.logIn('ann');
  await ann.page.getByRole('form', { name: 'New post' }).waitFor();
  const before = await stored(ann.page);
  await ann.visit('#/settings');
  await ann.page.getByLabel('Password now').fill('wrong horse');
  await ann.page.getByLabel('New password').fill('battery staple');
  await ann.button('Change the password').click();
  await until('a sentence about it', async () => (await ann.page.getByRole('region', { name: 'Security' }).locator('.problem, .field-wrong').count()) > 0);
  await ann.page.getByLabel('Password now').fill(PASSWORD);
  await ann.button('Change the password').click();
  await ann.page.getByText('Your password is changed.').waitFor();
  const now = await stored(ann.page);
  assert.deepEqual([await me(before.token), await me(now.token)], [401, 200]);
  assert.ok(now.renewal);
  await ann.visit();
  await ann.write('With another password');
  await ann.post('With another password').waitFor();
  assert.equal(await ann.page.getByRole('dialog').count(), 0);
});

test('a lost password: a link by mail sets another one, once', async () => {
  const { page } = ann;
  await ann.visit('#/settings');
  await ann.button('Log out').click();
  await page.getByRole('link', { name: 'Log in' }).first().click();
  await page.getByRole('link', { name: 'I have lost my password' }).click();
  await ann.expectFit();
  await page.getByLabel('User name or e-mail address').fill('nobody-of-this-name');
  await ann.button('Send the link').click();
  await page.getByText('is on its way').waitFor();
  await ann.expectFit();
  await ann.visit('#/lost-password');
  await page.reload();
  await page.getByLabel('User name or e-mail address').fill('ann@example.org');
  await ann.button('Send the link').click();
  await page.getByText('is on its way').waitFor();
  const { token, to } = await until('a mail', () => sent.find(({ event }) => event === 'reset'));
  assert.equal(to, 'ann@example.org');
  assert.equal(sent.length, 1, 'nobody else gets one');

  const link = `#/password/${encodeURIComponent(token)}`;
  await ann.visit(link);
  await page.getByLabel('New password').fill('short');
  await ann.button('Set it').click();
  await page.getByText('8 to 72 characters.').waitFor();
  await ann.expectFit();
  await page.getByLabel('New password').fill('a third password');
  await ann.button('Set it').click();
  await page.getByRole('heading', { name: 'Log in' }).waitFor();
  await ann.visit(link);
  await page.reload();
  await page.getByLabel('New password').fill('a fourth password');
  await ann.button('Set it').click();
  await page.getByText('This link has been used already').waitFor();
  await ann.logIn('ann', 'a third password');
  await page.getByRole('form', { name: 'New post' }).waitFor();
});

test('a list says how its authors are called and what the reader likes, with one request', async () => {
  await cal.send('PATCH', '/users/cal', { display_name: 'Calamity Jane', profile_image_url: 'https://pictures.example/cal.svg' });
  const ids = [];
  for (let i = 0; i < 12; i++) ids.push((await cal.send('POST', '/posts', { content: `ride ${i}` })).post_id);
  const { id } = await stored(ann.page);
  const token = (await stored(ann.page)).token;
  const put = async (path) => assert.ok((await fetch(`${server.endpoint}/api/social${path}`, { method: 'PUT', headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' }, body: '{}' })).ok);
  await put(`/posts/${ids[3]}/likes/${id}`);
  await put(`/users/${id}/following/cal`);

  const asked = [];
  ann.page.on('request', (request) => { if (request.method() === 'GET' && request.headers().accept === 'application/json') asked.push(request.url().replace(/^.*\/api\/social/, '').replace(/\?.*/, '')); });
  await ann.visit('#/people/cal');
  await ann.post('ride 3').locator('.action-on').waitFor();
  assert.equal(await ann.page.locator('.action-on').count(), 1);
  await ann.post('ride 11').getByRole('link', { name: 'Calamity Jane', exact: true }).waitFor();
  await ann.post('ride 11').getByText('@cal').waitFor();
  await until('the picture of the author', () => ann.post('ride 11').locator('.avatar img').evaluate((img) => img.complete && img.naturalWidth > 0));
  await ann.button('Unfollow').waitFor();
  await ann.expectFit();
  const extra = asked.filter((path) => !/\/notifications$/.test(path) && path !== `/users/${id}`);
  assert.deepEqual([...extra].sort(), ['/users/cal/posts/with-authors', '/users/cal/with-relation']);

  // An event has no name with it: the page asks for the post, once.
  await cal.send('POST', '/posts', { content: 'ride 12' });
  await ann.post('ride 12').getByText('@cal').waitFor();

  // Comments, and lists of people.
  await cal.send('POST', `/posts/${ids[0]}/comments`, { content: 'yee-haw' });
  await ann.visit(`#/posts/${ids[0]}`);
  await ann.page.getByRole('article', { name: 'Comment by Calamity Jane' }).waitFor();
  await ann.expectFit();
  await ann.visit(`#/people/${id}/following`);
  await ann.page.getByRole('link', { name: /Calamity Jane @cal/ }).waitFor();
  await ann.expectFit();

  // A commenter who is new to the page comes with an event.
  const dan = await caller(server, 'dan');
  await dan.send('PATCH', '/users/dan', { display_name: 'Desperate Dan' });
  await ann.visit(`#/posts/${ids[1]}`);
  await ann.page.getByText('No comments yet.').waitFor();
  await dan.send('POST', `/posts/${ids[1]}/comments`, { content: 'cow pie' });
  await ann.page.getByRole('article', { name: 'Comment by Desperate Dan' }).waitFor();
});
