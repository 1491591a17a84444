// The app of examples/social-web when things go wrong: an ended token, a server that restarts, posts of an attacker.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { clientsFor, freshDirectory, until } from './harness.mjs';
import { caller, openApp, PASSWORD, startSocial } from './social-web.mjs';

let server = await startSocial({ data: freshDirectory() });
const cal = await caller(server, 'cal');
const ann = await openApp(server, { tolerate: [/ERR_CONNECTION_REFUSED/, /ERR_EMPTY_RESPONSE/, /ERR_INCOMPLETE_CHUNKED_ENCODING/, /ERR_CONNECTION_RESET/] });
await ann.signUp('ann');
await ann.find('cal');
await ann.button('Follow').click();
await ann.button('Unfollow').waitFor();
after(async () => {
  await ann.close();
  await server.stop();
  process.exit();
});

test('the page is served with a policy that lets no foreign script in', async () => {
  const page = await fetch(`${server.endpoint}/apps/social/`);
  const policy = page.headers.get('content-security-policy');
  for (const rule of ["default-src 'self'", "img-src 'self' data: https:", "object-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"]) assert.ok(policy.includes(rule), rule);
  assert.ok(!/script-src|unsafe-eval/.test(policy));
  assert.equal(page.headers.get('x-content-type-options'), 'nosniff');
});

test('what an attacker writes is text, whatever it looks like', async () => {
  const { doc, ddb, streams } = clientsFor(server.endpoint);
  const evil = '<script>document.title = "owned"</script><img src=x onerror="document.title=\'owned\'"> [x](javascript:document.title=1) javascript:alert(1) https://x.example/"onmouseover="alert(1)';
  await cal.send('PATCH', '/users/cal', { display_name: '<b onclick=alert(1)>Cal</b>', bio: evil });
  const { post_id } = await cal.send('POST', '/posts', { content: evil, hashtags: ['#<script>'] });
  await cal.send('POST', `/posts/${post_id}/comments`, { content: evil });
  // A program that goes past the rules: the REST API takes no such address.
  for (const media_urls of [['javascript:document.title="owned"', 'data:text/html,<script>1</script>', 'http://plain.example/x.png', 'not an address', 7]])
    await doc.update({ TableName: 'SocialMediaApp', Key: { PK: `POST#${post_id}`, SK: 'METADATA' }, UpdateExpression: 'SET media_urls = :m', ExpressionAttributeValues: { ':m': media_urls } });
  await doc.update({ TableName: 'SocialMediaApp', Key: { PK: 'USER#cal', SK: 'PROFILE' }, UpdateExpression: 'SET profile_image_url = :m', ExpressionAttributeValues: { ':m': 'javascript:document.title="owned"' } });

  const look = async () => {
    const bad = await ann.page.evaluate(() => [...document.querySelectorAll('#app *')].flatMap((node) => [...node.attributes]
      .filter(({ name, value }) => name.startsWith('on') || /^\s*(javascript|data|http):/i.test(value)).map(({ name, value }) => `${node.tagName} ${name}=${value}`)));
    assert.deepEqual(bad.filter((found) => !found.includes(server.endpoint)), []);
    assert.equal(await ann.page.locator('#app script').count(), 0);
    assert.equal(await ann.page.title(), 'Village');
    await ann.expectFit();
  };
  await ann.visit();
  await ann.post('<script>').waitFor();
  await look();
  assert.equal(await ann.post('<script>').locator('a[href*="x.example"]').getAttribute('href'), 'https://x.example/');
  await ann.visit(`#/posts/${post_id}`);
  await ann.comment('<script>').waitFor();
  await look();
  await ann.visit('#/people/cal');
  await ann.page.getByRole('heading', { name: '<b onclick=alert(1)>Cal</b>' }).waitFor();
  await look();
  await ann.visit('#/tags/%3Cimg%20src%3Dx%20onerror%3Dalert(1)%3E');
  await ann.page.getByText('No posts with this hashtag.').waitFor();
  await look();
  await ann.visit('#/posts/%E0%A4%A');
  await ann.page.getByText('This is gone, or it is not for you to see.').waitFor();
  ddb.destroy();
  streams.destroy();
});

test('a picture must have an address with https, and one that is not there leaves a note', async () => {
  await ann.visit();
  await ann.page.getByLabel('What is new?').fill('A picture');
  await ann.button('Add a picture').click();
  await ann.page.getByLabel('Address of a picture').fill('javascript:alert(1)');
  await ann.page.getByText('The address of a picture begins with https://').waitFor();
  assert.equal(await ann.button('Post').isDisabled(), true);
  await ann.page.route('https://gone.example/**', (route) => route.fulfill({ status: 404, body: '' }));
  await ann.page.getByLabel('Address of a picture').fill('https://gone.example/x.png');
  await ann.button('Post').click();
  await ann.post('A picture').getByText('This picture cannot be shown.').waitFor();
});

test('a session that has ended asks for the password, and what was begun goes on', async () => {
  await ann.visit();
  await ann.page.evaluate(() => {
    const stored = JSON.parse(localStorage.getItem('village.session'));
    localStorage.setItem('village.session', JSON.stringify({ ...stored, token: 'ended', renewal: 'ended' }));
  });
  await ann.page.reload();
  const dialog = ann.page.getByRole('dialog', { name: 'Please log in again' });
  await dialog.waitFor();
  await ann.expectFit();
  await dialog.getByLabel('Password').fill('wrong horse');
  await dialog.getByRole('button', { name: 'Go on' }).click();
  await dialog.getByText('The name or the password is wrong.').waitFor();
  await dialog.getByLabel('Password').fill(PASSWORD);
  await dialog.getByRole('button', { name: 'Go on' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await ann.post('A picture').waitFor();

  // In the middle of a post: the server forgets the token because the password has changed elsewhere.
  const { user_id } = await (await fetch(`${server.endpoint}/api/social/usernames/ann`)).json();
  const elsewhere = await caller(server, 'ann');
  await elsewhere.send('PATCH', `/users/${user_id}`, { password: 'another horse', current_password: PASSWORD });
  await dialog.waitFor(); // the live lists ended, and asked for a token
  await dialog.getByLabel('Password').fill('another horse');
  await dialog.getByRole('button', { name: 'Go on' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await ann.write('Written after the change');
  await ann.post('Written after the change').waitFor();
});

test('whoever does not log in again is logged out, and sees the welcome', async () => {
  const other = await openApp(server);
  await other.logIn('cal');
  await other.page.getByRole('form', { name: 'New post' }).waitFor();
  await other.page.evaluate(() => {
    const stored = JSON.parse(localStorage.getItem('village.session'));
    localStorage.setItem('village.session', JSON.stringify({ ...stored, token: 'ended', renewal: 'ended' }));
  });
  await other.page.reload();
  await other.page.getByRole('dialog').getByRole('button', { name: 'Log out' }).click();
  await other.page.getByRole('link', { name: 'Look around' }).waitFor();
  assert.equal(await other.page.evaluate(() => localStorage.length), 0);
  await other.close();
});

test('a server that restarts while the feed is open: the page says so, and misses nothing', async () => {
  await ann.visit();
  await ann.post('Written after').waitFor();
  const { data, endpoint } = server;
  await server.kill();
  await ann.page.getByText('No connection to the server.').waitFor();
  await ann.expectFit();
  const like = ann.post('<script>').getByRole('button', { name: /^Like/ });
  await like.click();
  assert.equal(await like.getAttribute('aria-pressed'), 'true');
  await ann.page.evaluate(() => scrollTo(0, 0)); // further down, new posts wait for a click
  server = await startSocial({ data, listen: new URL(endpoint).host });
  await cal.send('POST', '/posts', { content: 'Back again' });
  await ann.post('Back again').waitFor({ timeout: 40_000 });
  await ann.page.getByText('No connection to the server.').waitFor({ state: 'hidden' });
  // The like was repeated until it arrived, or taken back with a reason: the page and the server agree.
  await until('the page and the server to agree', async () => {
    const { items } = await cal.send('GET', '/users/cal/posts');
    const { likes_count } = items.find(({ content }) => content.startsWith('<script>'));
    return (await like.getAttribute('aria-pressed')) === String(likes_count === 1);
  });
});
