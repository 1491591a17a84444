// The frame of the console: signing in, getting around by keyboard, themes, narrow windows.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { DEMO, designFile, freshDirectory, PHONE, startConsole, startServer, until } from './harness.mjs';

const app = await startConsole({ storage: { 'thorpe.connect.hidden': '1' } });
after(() => app.close());

test('the console is where the server says it is, and a browser at / is sent there', async () => {
  const away = { redirect: 'manual' };
  const bare = await fetch(`${app.endpoint}/console`, away);
  assert.equal(new URL(bare.headers.get('location'), app.endpoint).pathname, '/console/');
  const root = await fetch(`${app.endpoint}/`, { ...away, headers: { accept: 'text/html' } });
  assert.equal(new URL(root.headers.get('location'), app.endpoint).pathname, '/console/');
});

test('the rail has every design, and what belongs to the one that is open', async () => {
  const { page } = app;
  await app.open('#/processors/social');
  const rail = page.getByRole('navigation', { name: 'Tables and designs' });
  for (const title of ['Blog API', 'fus site catalogue', 'PerfectIt', 'Social media app', 'WavyBlog']) await rail.getByText(title).waitFor();
  assert.equal(await rail.locator('[aria-current="page"]').innerText(), 'Processors');
  await rail.getByRole('link', { name: 'Stream' }).click();
  await app.expectHash(/^#\/streams\/SocialMediaApp$/);
  await page.waitForFunction(() => document.title === 'Stream · Social media app · Thorpe'); // the address changes first
});

test('a table without a design is listed below them', async () => {
  const { page, ddb } = app;
  await ddb.createTable({
    TableName: 'plain', KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }], AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }], BillingMode: 'PAY_PER_REQUEST',
  });
  await app.open();
  await page.locator('.rail').getByRole('link', { name: 'plain' }).click();
  await app.expectHash(/^#\/table\/plain$/);
});

test('two keys go to a page: g and a letter', async () => {
  const { page } = app;
  await app.open('#/streams/WavyBlog');
  for (const [key, hash] of [['p', /^#\/processors\/wavyblog$/], ['d', /^#\/design\/wavyblog$/], ['a', /^#\/design\/wavyblog\/patterns$/],
    ['t', /^#\/table\/WavyBlog$/], ['q', /^#\/table\/WavyBlog\/query$/], ['s', /^#\/streams\/WavyBlog$/], ['o', /^#\/$/]]) {
    await page.locator('main').focus();
    await page.keyboard.press('g');
    await page.keyboard.press(key);
    await app.expectHash(hash);
  }
});

test('? shows the keys of the page, Esc closes them', async () => {
  const { page } = app;
  await app.open('#/streams/WavyBlog');
  await page.getByText('Waiting for changes').waitFor();
  await page.keyboard.press('?');
  const keys = page.getByRole('dialog', { name: 'Keys' });
  await keys.getByText('Pause or resume the tail').waitFor();
  await page.keyboard.press('Escape');
  await keys.waitFor({ state: 'hidden' });
});

test('the palette finds tables, designs and access patterns, by keyboard alone', async () => {
  const { page } = app;
  await app.open();
  await page.keyboard.press('Control+k');
  const palette = page.getByRole('dialog', { name: 'Go to' });
  await palette.getByRole('option', { name: /access pattern/ }).first().waitFor();
  await page.keyboard.type('posts by hashtag');
  await page.keyboard.press('Enter');
  await app.expectHash(/^#\/design\/social\/patterns\/posts%20by%20hashtag$/);

  await page.keyboard.press('Control+k');
  await palette.getByRole('option').first().waitFor();
  await page.keyboard.type('perfectit');
  await palette.getByRole('option', { name: /^Single table PerfectIt/ }).waitFor();
  const second = await palette.getByRole('option').nth(1).innerText();
  await page.keyboard.press('ArrowDown');
  assert.equal(await palette.getByRole('option', { selected: true }).innerText(), second);
  await page.keyboard.press('Escape');
  await palette.waitFor({ state: 'hidden' });
});

test('everything can be reached with Tab, and the focus is seen', async () => {
  const { page } = app;
  await app.open();
  await page.getByRole('heading', { name: 'Designs', level: 2 }).first().waitFor();
  const reached = new Set();
  for (let i = 0; i < 60; i++) {
    await page.keyboard.press('Tab');
    const at = await page.evaluate(() => {
      const element = document.activeElement;
      if (element === document.body) return { name: '' }; // around the end
      const { outlineStyle, outlineWidth } = getComputedStyle(element);
      return { name: (element.getAttribute('aria-label') ?? element.textContent).trim(), seen: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 };
    });
    if (at.name) assert.ok(at.seen, `the focus is not seen on "${at.name}"`);
    reached.add(at.name);
  }
  for (const name of ['To the content', 'Overview', 'Go to a table, design or access pattern', 'Theme: as the system', 'How to connect', 'WavyBlog']) {
    assert.ok([...reached].some((found) => found.includes(name)), `Tab does not reach "${name}": ${[...reached].join(' | ')}`);
  }
});

test('the theme follows the system until one is chosen, and the choice is kept', async () => {
  const { page } = app;
  const theme = () => page.evaluate(() => document.documentElement.dataset.theme);
  await app.open();
  assert.equal(await theme(), 'light');
  await page.emulateMedia({ colorScheme: 'dark' });
  await until('it to be dark', async () => await theme() === 'dark');
  await page.getByRole('button', { name: 'Theme: as the system' }).click();
  assert.equal(await theme(), 'light');
  await page.getByRole('button', { name: 'Theme: light' }).click();
  await page.reload();
  await page.getByRole('button', { name: 'Theme: dark' }).click();
  await until('the system to be followed again', async () => await theme() === 'dark');
  await page.emulateMedia({ colorScheme: 'light' });
  await until('it to be light', async () => await theme() === 'light');
});

test('the tokens of a session are renewed before they end', async () => {
  const { page: visitor, open, close } = await app.newPage({});
  await open('#/processors/social');
  await visitor.getByText('up to date').first().waitFor();
  const used = new Set();
  visitor.on('request', (request) => used.add(request.headers().authorization));
  const renewed = visitor.waitForResponse(/console\/api\/session/);
  await visitor.clock.setFixedTime(Date.now() + 59.5 * 60_000);
  const { designs } = await (await renewed).json();
  const { token } = designs.find(({ name }) => name === 'social');
  await until('the new token to be used', () => used.has(`Bearer ${token}`));
  await close();
});

for (const dark of [false, true]) {
  test(`text stands out from what is behind it (${dark ? 'dark' : 'light'})`, async () => {
    const other = await app.newPage({ dark });
    await other.open();
    await other.page.getByText(/processors running/).first().waitFor();
    await other.expectReadable();
    await other.open('#/processors/social');
    await other.page.getByText('up to date').first().waitFor();
    await other.expectReadable();
    await other.open('#/streams/SocialMediaApp');
    await other.page.getByLabel('Where to begin').selectOption('From the beginning');
    await other.page.locator('.record-line').first().click();
    await other.expectReadable();
    await other.close();
  });
}

test('on a phone nothing is wider than the window, and the rail is a drawer', async () => {
  const phone = await app.newPage({ viewport: PHONE });
  const { page } = phone;
  for (const hash of ['#/', '#/streams/SocialMediaApp', '#/processors/perfectit', '#/table/SocialMediaApp', '#/design/social', '#/design/social/patterns', '#/table/WavyBlog/query']) {
    await phone.open(hash);
    await page.locator('main h1:visible, main h2:visible').first().waitFor();
    await page.locator('main .spinner').first().waitFor({ state: 'hidden' });
    await phone.expectNoSideways();
  }
  await page.getByRole('button', { name: 'Tables and designs' }).click();
  const drawer = page.getByRole('dialog', { name: 'Tables and designs' });
  await drawer.getByText('PerfectIt').click();
  await drawer.getByRole('link', { name: 'Processors' }).first().click();
  await phone.expectHash(/^#\/processors\//);
  await drawer.waitFor({ state: 'hidden' });
  await phone.close();
});

test('an address that names nothing says so, and a server that is gone too', async () => {
  await app.open('#/nonsense/here');
  await app.expectText('There is no such page');
  const lonely = await startConsole({ designs: ['wavyblog'], tolerate: [/./] });
  await lonely.open();
  await lonely.page.getByText('WavyBlog').first().waitFor();
  await lonely.server.kill();
  await lonely.expectText('The server does not answer.');
  await lonely.context.close();
});

test('a server that was started anew is found again, with tokens that are new', async () => {
  const lonely = await startConsole({ designs: ['wavyblog'], tolerate: [/./] });
  const { page } = lonely;
  await lonely.open('#/processors/wavyblog');
  await page.getByText('up to date').first().waitFor();
  await lonely.server.kill();
  await lonely.expectText('The server does not answer.');
  const again = await startServer({ data: null, listen: `127.0.0.1:${lonely.server.port}`, args: ['--design', designFile('wavyblog')] });
  await lonely.expectNoText('The server does not answer.');
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('paused').first().waitFor();
  await lonely.context.close();
  await again.stop();
});

test('what a server that was away could not tell is there by itself when it is back', async () => {
  const lonely = await startConsole({ designs: ['wavyblog'], tolerate: [/./] });
  const { page } = lonely;
  const tail = await lonely.newPage({ tolerate: [/./] });
  await tail.open('#/streams/WavyBlog');
  await tail.expectText('Waiting for changes');
  await lonely.open('#/table/WavyBlog');
  await page.locator('tr[data-row]').first().waitFor();
  await lonely.server.kill();
  await page.getByRole('tab', { name: /GSI1/ }).click();
  await page.getByRole('alert').getByText('The server does not answer.').waitFor();
  await tail.expectText('Interrupted');
  const again = await startServer({ data: null, listen: `127.0.0.1:${lonely.server.port}`, args: ['--design', designFile('wavyblog'), '--demo', DEMO] });
  await page.locator('tr[data-row]').first().waitFor();
  await tail.expectText('Waiting for changes'); // of a table made anew, whose stream has another name
  await lonely.ddb.putItem({ TableName: 'WavyBlog', Item: { PK: { S: 'new' }, SK: { S: 'one' } } });
  await tail.page.locator('.record-line').first().waitFor();
  await Promise.all([lonely.context.close(), tail.context.close()]);
  await again.stop();
});

test('where the server has keys the console wants one, and signs everything with it', async () => {
  const keys = join(freshDirectory(), 'keys');
  writeFileSync(keys, 'OPERATOR much/secret+here\n', { mode: 0o600 });
  // Signatures name the server's region, which the console learns before it has signed anything.
  const locked = await startConsole({ designs: ['wavyblog'], args: ['--keys', keys, '--region', 'eu-north-1'], tolerate: [/status of 40[0-3]/] });
  const { page } = locked;
  try {
    await locked.open('#/streams/WavyBlog');
    await page.getByText('This server has keys').waitFor();
    const enter = async (key, secret) => {
      await page.getByLabel('Access key').fill(key);
      await page.getByLabel('Secret').fill(secret);
      await page.keyboard.press('Enter');
    };
    await enter('OPERATOR', 'wrong');
    await page.getByRole('alert').getByText(/signature/i).first().waitFor();
    await enter('NOBODY', 'much/secret+here');
    await page.getByRole('alert').getByText(/security token|UnrecognizedClient/i).first().waitFor();
    await enter('OPERATOR', 'much/secret+here');

    await locked.expectHash(/^#\/streams\/WavyBlog$/);
    await page.getByText('Waiting for changes').waitFor();
    assert.equal(await page.evaluate(() => Object.keys(localStorage).some((key) => localStorage[key].includes('much/secret'))), false);

    await page.reload();
    await page.getByText('Waiting for changes').waitFor();
    await locked.open('#/processors/wavyblog');
    await page.getByText('up to date').first().waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByText('This server has keys').waitFor();

    await enter('OPERATOR', 'much/secret+here');
    await page.getByText('up to date').first().waitFor();
    await page.route(/console\/api\/stats/, (route) => route.fulfill({ status: 400, json: { __type: 'UnrecognizedClientException', message: 'The key is gone.' } }));
    await page.getByRole('status').getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('This server has keys').waitFor();
  } finally {
    await locked.context.close();
    await locked.server.stop();
  }
});
