// The overview: what is on the server, what happens there now, how to connect to it.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { clientsFor, startConsole, until } from './harness.mjs';

const app = await startConsole();
after(() => app.close());

const card = (title) => app.page.getByRole('article', { name: title });

test('each design has a card with as many items as its table has', async () => {
  const { ddb } = app;
  const titles = { 'Blog API': 'thorpe-dev-blog', 'fus site catalogue': 'fus-main', PerfectIt: 'perfectit-main', 'Social media app': 'SocialMediaApp', WavyBlog: 'WavyBlog' };
  await app.open();
  for (const [title, TableName] of Object.entries(titles)) {
    const { Table } = await ddb.describeTable({ TableName });
    assert.ok(Table.ItemCount > 0);
    await card(title).getByText(`${Table.ItemCount} items`).waitFor();
    await card(title).getByText(`${Table.GlobalSecondaryIndexes.length} indexes`).waitFor();
    await card(title).getByText(/processors? running/).waitFor();
    await card(title).getByText(/stream lag/).waitFor();
  }
});

test('what is written is counted at once, and rates follow', async () => {
  const { doc, page } = app;
  await app.open();
  const social = card('Social media app');
  await social.getByText('0 writes/s').waitFor();
  const before = Number(/(\d+) items/.exec(await social.innerText())[1]);
  let writing = true;
  const writer = (async () => {
    for (let n = 0; writing; n++) {
      await doc.put({ TableName: 'SocialMediaApp', Item: { PK: `NEW#${n % 5}`, SK: 'x', n } });
      await doc.get({ TableName: 'SocialMediaApp', Key: { PK: `NEW#${n % 5}`, SK: 'x' } });
    }
  })();
  try {
    await social.getByText(`${before + 5} items`).waitFor();
    await until('both rates to be seen', async () => /[1-9][\d.,K]* reads\/s[^]*[1-9][\d.,K]* writes\/s/.test(await social.innerText()));
    await until('the lines to have moved', () => social.locator('.sparkline-second polyline').getAttribute('points')
      .then((points) => new Set(points?.split(' ').map((point) => point.split(',')[1])).size > 1));
  } finally {
    writing = false;
    await writer;
  }
  await social.getByText('0 writes/s').waitFor();
  assert.equal(await page.getByRole('article', { name: 'WavyBlog' }).getByText('0 writes/s').count(), 1);
});

test('it says how the server is', async () => {
  const { page } = app;
  await app.open();
  const facts = page.locator('.facts').first();
  await facts.getByText('ok').waitFor();
  const text = await facts.innerText();
  assert.match(text, /Version\s+\d+\.\d+/);
  assert.match(text, /Durability\s+memory/);
  assert.match(text, /Memory\s+[\d.]+ MB/);
  assert.match(text, /Region\s+us-east-1/);
});

test('nothing is asked of the server while nobody looks', async () => {
  const { page } = app;
  await app.open();
  await page.waitForResponse(/api\/stats/);
  await page.evaluate(() => {
    Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  });
  await page.waitForResponse(/api\/stats/, { timeout: 300 }).catch(() => {}); // one may have been under way
  await assert.rejects(page.waitForRequest(/api\/stats/, { timeout: 2_500 }), /Timeout/);
  await page.evaluate(() => {
    Object.defineProperty(document, 'visibilityState', { value: 'visible', configurable: true });
    document.dispatchEvent(new Event('visibilitychange'));
  });
  await page.waitForResponse(/api\/stats/);
});

test('a first visit is shown how to point an SDK here; it can be put away and brought back', async () => {
  const visitor = await app.newPage({});
  const { page } = visitor;
  await visitor.open();
  const panel = page.getByRole('region', { name: 'Point an SDK at this server' });
  for (const [language, sign] of [['JavaScript', /new DynamoDB\(/], ['Python', /boto3/], ['aws cli', /list-tables/], ['Java', /endpointOverride/], ['Go', /BaseEndpoint/]]) {
    await panel.getByRole('tab', { name: language, exact: true }).click();
    await panel.locator('.code').getByRole('button', { name: 'Copy' }).click();
    await panel.locator('.code').getByRole('button', { name: 'Copied' }).waitFor();
    const copied = await visitor.clipboard();
    assert.match(copied, sign);
    assert.ok(copied.includes(app.endpoint), `${language} is pointed at ${app.endpoint}`);
    assert.match(copied, /us-east-1/);
  }
  await panel.getByRole('button', { name: 'Hide this panel' }).click();
  await panel.waitFor({ state: 'hidden' });
  await page.reload();
  await page.getByRole('button', { name: 'How to connect' }).click();
  await panel.waitFor();
  await panel.getByRole('link', { name: /See the single table/ }).click();
  await visitor.expectHash(/^#\/table\/thorpe-dev-blog$/);
  await visitor.close();
});

test('the JavaScript it shows works as it is', async () => {
  const visitor = await app.newPage({});
  await visitor.open();
  const code = await visitor.page.locator('.connect pre').innerText();
  const [, endpoint] = /endpoint: '(.*)'/.exec(code);
  const [, region] = /region: '(.*)'/.exec(code);
  const { ddb } = clientsFor(endpoint, { region, credentials: { accessKeyId: 'any', secretAccessKey: 'any' } });
  assert.ok((await ddb.listTables({})).TableNames.includes('SocialMediaApp'));
  ddb.destroy();
  await visitor.close();
});

test('paused processors are seen on the card', async () => {
  const { page } = app;
  await app.open('#/processors/wavyblog');
  await page.getByRole('article', { name: 'keeper' }).getByRole('button', { name: 'Pause' }).click();
  await app.open();
  await card('WavyBlog').getByText('1 paused').waitFor();
});
