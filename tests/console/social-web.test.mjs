// The app of examples/social-web as people use it: two of them, each with a phone.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { until } from './harness.mjs';
import { caller, openApp, startSocial } from './social-web.mjs';

const server = await startSocial();
const ann = await openApp(server);
const ben = await openApp(server, { dark: true });
after(async () => {
  await Promise.all([ann.close(), ben.close()]);
  await server.stop();
  process.exit();
});

test('a wrong form says what is wrong, where it is wrong', async () => {
  const { page } = ann;
  await ann.visit('#/signup');
  await page.getByLabel('User name', { exact: true }).fill('x');
  await page.getByLabel('E-mail address').fill('ann@example.org');
  await page.getByLabel('Password').fill('short');
  await page.getByRole('button', { name: 'Sign up' }).click();
  await page.getByText('Between 3 and 30 characters.').waitFor();
  await page.getByText('8 to 72 characters.').waitFor();
  assert.equal(await page.getByLabel('User name', { exact: true }).getAttribute('aria-invalid'), 'true');
  await ann.expectFit();
});

test('two people sign up, and a name is taken once', async () => {
  await Promise.all([ann.signUp('ann'), ben.signUp('ben')]);
  await ann.expectFit();
  await ben.expectFit();
  const third = await openApp(server);
  await third.visit('#/signup');
  await third.page.getByLabel('User name', { exact: true }).fill('Ann');
  await third.page.getByLabel('E-mail address').fill('other@example.org');
  await third.page.getByLabel('Password').fill('correct horse');
  await third.page.getByRole('button', { name: 'Sign up' }).click();
  await third.page.getByText('This user name is taken.').waitFor();
  await third.logIn('ann', 'wrong horse');
  await third.page.getByText('The name or the password is wrong.').waitFor();
  await third.close();
});

test('what one writes, a follower sees at once, picture and all, and is told', async () => {
  await ben.find('ann');
  await ben.expectFit();
  await ben.button('Follow').click();
  await ben.button('Unfollow').waitFor();
  await ben.visit();
  await ben.page.getByText('Nothing here yet.').waitFor();

  // From the device: it is uploaded when it is chosen, and shown from this server.
  await ann.page.getByLabel('What is new?').fill('My own picture');
  await ann.button('Add a picture').click();
  await ann.page.getByLabel('A picture from this device').setInputFiles({ name: 'dot.gif', mimeType: 'image/gif', buffer: Buffer.from('R0lGODlhAQABAIAAAP8AAP///ywAAAAAAQABAAACAkQBADs=', 'base64') });
  await ann.page.getByText('dot.gif is uploaded.').waitFor();
  await ann.expectFit();
  await ann.page.getByRole('button', { name: 'Post', exact: true }).click();
  const uploaded = ben.post('My own picture').getByRole('img', { name: 'Picture posted by ann' });
  await until('the uploaded picture to be there', () => uploaded.evaluate((img) => img.complete && img.naturalWidth > 0));
  await ann.post('My own picture').getByRole('button', { name: 'Delete this post' }).click();
  await ann.page.getByRole('button', { name: 'Delete', exact: true }).click();
  await ann.page.getByText('The post is deleted.').waitFor();

  await ann.write('Hello #World, I am @ann', 'https://pictures.example/hill.svg');
  await ann.post('Hello').waitFor();
  assert.equal(await ann.page.getByLabel('What is new?').inputValue(), '');

  const seen = ben.post('Hello #World');
  await seen.waitFor();
  const picture = seen.getByRole('img', { name: 'Picture posted by ann' });
  await until('the picture to be there', () => picture.evaluate((img) => img.complete && img.naturalWidth > 0));
  assert.equal(await seen.getByRole('link', { name: '#World' }).getAttribute('href'), '#/tags/World');
  await ben.page.getByRole('link', { name: 'Notifications, 1 new' }).waitFor();
  await ben.expectFit();

  await seen.getByRole('link', { name: '#World' }).click();
  await ben.page.getByRole('heading', { name: '#World' }).waitFor();
  await ben.post('Hello').waitFor();

  await ben.page.getByRole('link', { name: 'Notifications, 1 new' }).click();
  await ben.page.getByText('has posted').waitFor();
  await ben.expectFit();
  await ben.page.getByRole('link', { name: /has posted/ }).click();
  await ben.page.getByRole('region', { name: 'Comments' }).waitFor();
  await ben.page.getByRole('link', { name: 'Notifications', exact: true }).waitFor();
});

test('a like is shown at once, counted once, and can be taken back', async () => {
  await ben.visit();
  const like = ben.post('Hello').getByRole('button', { name: /^Like/ });
  await like.click();
  assert.equal(await like.getAttribute('aria-pressed'), 'true'); // no answer was waited for
  await until('the like to be counted', async () => {
    const { items } = await (await fetch(`${server.endpoint}/api/social/popular`)).json();
    return items[0].likes_count === 1;
  });
  await ben.page.reload();
  await ben.page.locator('.action-on').waitFor();
  assert.match(await like.getAttribute('aria-label'), /^Like, 1 person likes/);
  await like.click();
  await until('the like to be gone', async () => {
    const { items } = await (await fetch(`${server.endpoint}/api/social/popular`)).json();
    return items[0].likes_count === 0;
  });
});

test('a like that the server refuses is taken back, with a reason', async () => {
  await ben.page.route('**/likes/*', (route) => route.fulfill({
    status: 409, contentType: 'application/problem+json', body: '{"type":"urn:thorpe:conflict","title":"Conflict","status":409,"detail":"this post is asleep"}',
  }));
  const like = ben.post('Hello').getByRole('button', { name: /^Like/ });
  await like.click();
  await ben.page.getByText('This post is asleep.').waitFor();
  assert.equal(await like.getAttribute('aria-pressed'), 'false');
  assert.match(await like.getAttribute('aria-label'), /^Like, 0/);
  await ben.button('Close this message').click();
  await ben.page.getByText('This post is asleep.').waitFor({ state: 'hidden' });
  await ben.page.unroute('**/likes/*');
});

test('many clicks on a like end as the last one says', async () => {
  const like = ben.post('Hello').getByRole('button', { name: /^Like/ });
  for (let i = 0; i < 5; i++) await like.click();
  await until('one like', async () => {
    const { items } = await (await fetch(`${server.endpoint}/api/social/popular`)).json();
    return items[0].likes_count === 1;
  });
  assert.equal(await like.getAttribute('aria-pressed'), 'true');
});

test('comments and replies arrive on the page of another reader', async () => {
  await ann.post('Hello').getByRole('link', { name: /^Comments/ }).click();
  await ann.page.getByText('No comments yet.').waitFor();
  await ben.post('Hello').getByRole('link', { name: /^Comments/ }).click();
  await ben.page.getByLabel('Write a comment').fill('Welcome!');
  await ben.button('Comment').click();
  const comment = ann.comment('Welcome!');
  await comment.waitFor();
  await comment.getByRole('button', { name: 'Reply' }).click();
  await until('the reply to have the focus', () => ann.page.getByLabel('Reply to ben').evaluate((field) => field === document.activeElement));
  await ann.page.getByLabel('Reply to ben').fill('Thank you');
  await ann.page.getByRole('article', { name: 'Comment by ben' }).getByRole('button', { name: 'Reply', exact: true }).last().click();
  await ben.comment('Thank you').waitFor();
  await ben.expectFit();

  await ann.comment('Welcome!').getByRole('button', { name: 'Delete' }).click();
  await ann.page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await ben.page.getByText('This comment was deleted.').waitFor();
  await ben.comment('Thank you').waitFor();
});

test('a private account: a request, its approval, and only then the posts', async () => {
  const eve = await openApp(server);
  await eve.signUp('eve', { isPrivate: true });
  await eve.write('For my followers');
  await ben.find('eve');
  await ben.page.getByText('No posts for you to see.').waitFor();
  await ben.button('Ask to follow').click();
  await ben.page.getByText('Your request waits').waitFor();

  await eve.page.getByRole('link', { name: 'Notifications, 1 new' }).click();
  await eve.page.getByText('asks to follow you').waitFor();
  await eve.expectFit();
  await eve.button('Approve ben').click();
  await eve.page.getByText('ben follows you now.').waitFor();
  await eve.page.getByRole('link', { name: 'Notifications', exact: true }).waitFor(); // answered: no news any more

  await ben.visit();
  await ben.post('For my followers').waitFor();
  await ben.find('eve');
  await ben.button('Unfollow').click();
  await ben.button('Ask to follow').waitFor();
  await eve.close();
});

test('a block hides each from the other, and can be ended', async () => {
  await ann.find('ben');
  await ann.button('Block').click();
  await ann.page.getByRole('dialog').getByRole('button', { name: 'Block' }).click();
  await ann.button('Unblock').waitFor();
  await ann.expectFit();
  await ben.visit('#/discover');
  await ben.page.getByLabel('Find a person by user name').fill('ann');
  await ben.button('Find').click();
  await ben.page.getByText('There is nobody of this name.').waitFor();
  await until('the feed to be empty', async () => {
    await ben.visit();
    await ben.page.reload();
    return ben.page.getByText('Nothing here yet.').waitFor({ timeout: 1000 }).then(() => true, () => false);
  });

  await ann.visit('#/settings');
  await ann.button('Unblock').click();
  await ann.page.getByText('You have blocked nobody.').waitFor();
  await ann.expectFit();
  await ben.find('ann');
  await ben.button('Follow').waitFor();
});

test('a post that is deleted leaves the lists of others', async () => {
  await ben.button('Follow').click();
  await ben.button('Unfollow').waitFor();
  await ben.visit();
  await ben.post('Hello').waitFor();
  await ann.visit();
  await ann.post('Hello').getByRole('button', { name: 'Delete this post' }).click();
  await ann.page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await ann.page.getByText('The post is deleted.').waitFor();
  await ann.post('Hello').waitFor({ state: 'hidden' });
  await ben.post('Hello').waitFor({ state: 'hidden' });
});

test('the profile can be changed, and a reader without an account may look around', async () => {
  await ann.visit('#/settings');
  await ann.page.getByLabel('Name', { exact: true }).fill('Ann of Green Gables');
  await ann.page.getByLabel('About you').fill('Trees, mostly.');
  await ann.page.getByLabel('Address of your picture').fill('https://pictures.example/ann.svg');
  await ann.button('Save').click();
  await ann.page.getByRole('heading', { name: 'Ann of Green Gables' }).waitFor();
  await ann.visit();
  await ann.write('For all the world');

  const reader = await openApp(server, { viewport: { width: 1280, height: 800 } });
  await reader.visit('#/discover');
  await reader.post('For all the world').waitFor();
  await reader.expectFit();
  await reader.post('For all the world').getByRole('button', { name: /^Like/ }).click();
  await reader.page.getByRole('heading', { name: 'Log in' }).waitFor();
  await reader.close();
});

test('a page that is not seen holds no connection, and has caught up when it is', async () => {
  const seen = (hidden) => ben.page.evaluate((value) => {
    Object.defineProperty(document, 'hidden', { value, configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  }, hidden);
  const watchers = async () => Number(/^thorpe_watchers (\d+)$/m.exec(await (await fetch(`${server.endpoint}/metrics`)).text())[1]);
  await ben.visit();
  await ben.post('For all the world').waitFor();
  const before = await watchers();
  await seen(true);
  await until('two lists less to be watched', async () => (await watchers()) === before - 2);
  await ann.write('While ben is away');
  await ann.post('While ben is away').waitFor();
  await seen(false);
  await ben.post('While ben is away').waitFor();
  assert.equal(await watchers(), before);
});

test('a post whose answer was lost is posted once, however often the button is pressed', async () => {
  const lose = async (route) => {
    await route.fetch();
    await route.abort('connectionreset');
  };
  const lonely = await openApp(server, { tolerate: [/ERR_CONNECTION_RESET/] });
  await lonely.signUp('lonely');
  await lonely.page.route('**/api/social/posts', lose);
  await lonely.write('Is anybody there');
  await lonely.page.getByText('may or may not have been saved').waitFor();
  await lonely.page.unroute('**/api/social/posts', lose);
  await lonely.button('Post').click();
  await until('the text to be sent', async () => (await lonely.page.getByLabel('What is new?').inputValue()) === '');
  await lonely.page.reload();
  await lonely.post('Is anybody there').waitFor();
  assert.equal(await lonely.post('Is anybody there').count(), 1);
  await lonely.close();
});

test('it works by keyboard alone', async () => {
  const { page } = ann;
  await ann.visit();
  await page.reload();
  await ann.post('For all the world').waitFor();
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Skip to the page');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'main');
  await page.keyboard.press('Tab');
  await page.keyboard.type('Typed');
  for (let i = 0; i < 3; i++) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await ann.post('Typed').waitFor();
  await ann.post('Typed').getByRole('button', { name: 'Delete this post' }).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'hidden' });
  await ann.post('Typed').waitFor();
});

test('a long feed comes page by page, and new posts do not move what is being read', async () => {
  const cal = await caller(server, 'cal');
  for (let i = 0; i < 25; i++) await cal.send('POST', '/posts', { content: `number ${i} of many` });
  await ben.find('cal');
  await ben.post('number 24').waitFor();
  assert.equal(await ben.post('of many').count(), 20);
  await ben.button('Show more').click();
  await ben.post('number 0 of').waitFor();
  assert.equal(await ben.post('of many').count(), 25);
  await ben.post('number 0 of').scrollIntoViewIfNeeded();
  await cal.send('POST', '/posts', { content: 'number 25 of many' });
  await ben.button('1 new post').click();
  await ben.post('number 25').waitFor();
  assert.equal(await ben.page.evaluate(() => scrollY), 0);
  await ben.expectFit();
});
