// Takes the pictures of docs/images: node tests/console/screenshots.mjs [name...]
// They show the five designs with their demo data, at the address `make run` has (where it is free). pngquant makes them smaller, if it is installed.
// SPDX-License-Identifier: Apache-2.0
import { spawnSync } from 'node:child_process';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DEMO, freshDirectory, newPage, PHONE, startConsole, startServer, until } from './harness.mjs';
import { openApp, startSocial } from './social-web.mjs';

const TABLE = 'SocialMediaApp';
const images = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'docs', 'images');
const asked = process.argv.slice(2);
const wanted = (name) => asked.length === 0 || asked.includes(name);
const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

const isFree = (port) => new Promise((resolve) => {
  const probe = createServer().once('error', () => resolve(false)).once('listening', () => probe.close(() => resolve(true)));
  probe.listen(port, '127.0.0.1');
});

const app = await startConsole({ data: freshDirectory(), listen: (await isFree(8000)) ? '127.0.0.1:8000' : undefined });
const session = await (await fetch(`${app.endpoint}/console/api/session`, { headers: { 'x-thorpe-console': '1' } })).json();
const { token } = session.designs.find(({ name }) => name === 'social');
mkdirSync(images, { recursive: true });

/** A page for one picture, and the picture. `look` brings the page to where it should be. */
async function picture(name, look, { address = app.endpoint, ...more } = {}) {
  if (!wanted(name)) return;
  const on = await newPage(address, { scale: 2, storage: { 'thorpe.connect.hidden': '1' }, ...more });
  await look(on, on.page);
  await on.page.mouse.move(0, 0);
  await on.page.evaluate(() => document.fonts.ready);
  const file = join(images, `${name}.png`);
  writeFileSync(file, await on.page.screenshot());
  await on.close();
  spawnSync('pngquant', ['--force', '--ext', '.png', '--quality', '80-98', '--strip', file]); // not there: as it is
  console.log(`${name}.png  ${Math.round(statSync(file).size / 1024)} KB`);
}

/** One request to the social network, by an operator. */
async function social(method, path, body = {}) {
  const reply = await fetch(`${app.endpoint}/api/social${path}`, {
    method, headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' }, body: JSON.stringify(body),
  });
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`);
}

// ---------------------------------------------------------------- traffic

/** Reads and writes of all tables, in waves, until told to end; what is written is what was there. */
function makeTraffic() {
  let going = true;
  const waves = session.designs.map(async ({ table }, nth) => {
    const { Items } = await app.doc.scan({ TableName: table });
    for (let turn = 0; going; turn++) {
      const swell = (period) => 0.55 + 0.45 * Math.sin((turn / period) * 2 * Math.PI + nth * 1.7);
      const some = (n) => Array.from({ length: Math.round(n) }, () => Items[Math.floor(Math.random() * Items.length)]);
      await Promise.all([
        ...some((9 - nth) * swell(90)).map(({ PK }) => app.doc.query({
          TableName: table, KeyConditionExpression: 'PK = :p', ExpressionAttributeValues: { ':p': PK }, Limit: 5,
        })),
        ...some((3 - nth / 2) * swell(55) * Math.random()).map((Item) => app.doc.put({ TableName: table, Item })),
      ]);
      await pause(200);
    }
  });
  return async () => { going = false; await Promise.all(waves); };
}

// ---------------------------------------------------------------- the pictures

// Takes a minute; what is written is what was there, so the others can be taken meanwhile.
const overview = picture('overview', async (on, page) => {
  let heard = 0;
  page.on('response', (response) => { heard += /api\/stats$/.test(response.url()); });
  const end = makeTraffic();
  await on.open('#/');
  await until('a minute of rates', () => heard > 62, 90);
  await end();
});

/** Here the panel stands beside the table. */
const WIDE = { viewport: { width: 1600, height: 1070 }, scale: 1.5 };

async function singleTable(on, page) {
  await on.open(`#/table/${TABLE}?pk=USER%23alice&at=FOLLOWING%23bob`);
  await page.getByRole('complementary', { name: 'Why is this here' }).waitFor();
  await page.locator('tr.row-selected').waitFor();
  await page.getByRole('button', { name: 'Load again' }).click(); // the first request is that of a browser that starts
  await page.locator('.table-foot').getByText('1 Query').waitFor();
  await pause(300); // the row is brought into view
  await page.evaluate(() => scrollTo(0, 0));
}
await picture('single-table', singleTable, WIDE);
await picture('single-table-dark', singleTable, { ...WIDE, dark: true });
await picture('phone', async (on, page) => {
  await on.open(`#/table/${TABLE}?pk=USER%23alice`);
  await page.locator('tr[data-row]').first().waitFor();
  await page.locator('.collection').evaluate((collection) => scrollTo(0, collection.getBoundingClientRect().top - 58));
}, { viewport: PHONE });

await picture('index', async (on, page) => {
  await on.open(`#/table/${TABLE}?index=GSI1&pk=USER%23alice`);
  await page.locator('tr[data-row]').first().waitFor();
});

await picture('item', async (on, page) => {
  await on.open(`#/table/${TABLE}/item?pk=USER%23alice&sk=PROFILE`);
  await page.locator('.rule-field').first().waitFor();
});

await picture('query', async (on, page) => {
  const label = (name) => page.getByLabel(name, { exact: true });
  await on.open(`#/table/${TABLE}/query?index=GSI1`);
  await label('Partition key value').fill('USER#alice');
  await label('Sort key condition').selectOption('begins_with');
  await label('Sort key value').fill('POST#');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  await page.getByRole('region', { name: 'Result' }).locator('tbody tr').first().waitFor();
});

await picture('pattern', async (on, page) => {
  await on.open(`#/design/social/patterns/${encodeURIComponent('user posts')}`);
  await page.locator('form[data-ready="true"]').waitFor();
  await page.getByLabel('user_id').fill('alice');
  await page.getByRole('button', { name: 'Run', exact: true }).click();
  const requests = page.getByRole('region', { name: 'DynamoDB requests' });
  await requests.locator('li').first().waitFor();
  await requests.getByRole('tab', { name: 'Request' }).click();
  await page.evaluate(() => scrollTo(0, 0));
});

await picture('design', async (on, page) => {
  await on.open('#/design/social');
  await page.locator('.dsg-diagram svg').waitFor();
  await page.locator('#dsg-diagram').evaluate((section) => section.scrollIntoView());
}, { viewport: { width: 1280, height: 880 } });

await picture('processors', async (on, page) => {
  await on.open('#/processors/social');
  await page.locator('.processor').first().waitFor();
});

if (wanted('signin')) {
  const keys = join(freshDirectory(), 'keys.txt');
  writeFileSync(keys, 'operator some-secret\n', { mode: 0o600 });
  const locked = await startServer({ data: null, args: ['--keys', keys] });
  await picture('signin', async (on, page) => {
    await on.open('#/');
    await page.getByLabel('Access key').fill('operator');
    await page.getByLabel('Secret').fill('some-secret');
  }, { address: locked.endpoint, tolerate: [/status of 40\d/] });
  await locked.stop();
}

// ---------------------------------------------------------------- the app

const TREE = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 240"><rect width="400" height="240" fill="#bfe0ee"/><circle cx="320" cy="60" r="28" fill="#ffd873"/>
<path d="M0 190q100-60 200-20t200-30v100H0z" fill="#7fb77e"/><rect x="150" y="120" width="16" height="70" fill="#7a5230"/><circle cx="158" cy="105" r="46" fill="#3f8f5b"/></svg>`;

/** A picture of the app, with a person of the demo data. */
async function appPicture(name, who, look, options) {
  if (!wanted(name)) return;
  const server = await startSocial({ args: ['--demo', DEMO] });
  const on = await openApp(server, { viewport: PHONE, scale: 2, ...options });
  await on.page.route('https://example.com/**', (route) => route.fulfill({ contentType: 'image/svg+xml', body: TREE }));
  await on.logIn(who, 'wonderland');
  await on.page.getByRole('article').first().waitFor();
  await look(on, on.page);
  await on.page.mouse.move(0, 0);
  const file = join(images, `${name}.png`);
  writeFileSync(file, await on.page.screenshot());
  await on.close();
  await server.stop();
  spawnSync('pngquant', ['--force', '--ext', '.png', '--quality', '80-98', '--strip', file]);
  console.log(`${name}.png  ${Math.round(statSync(file).size / 1024)} KB`);
}

await appPicture('app-home', 'bob', async (on, page) => {
  await on.post('Sunrise').getByRole('img', { name: 'Picture posted by carol' }).scrollIntoViewIfNeeded();
  await page.evaluate(() => document.activeElement.blur());
  await on.post('80 km').evaluate((post) => scrollTo(0, post.offsetTop - 12));
  await pause(300);
});
await appPicture('app-post-dark', 'carol', async (on, page) => {
  await on.visit('#/posts/p-tea');
  await on.comment('biscuits').waitFor();
  await page.evaluate(() => document.activeElement.blur());
}, { dark: true });
await appPicture('app-notices', 'erin', async (on, page) => {
  await on.visit('#/notifications');
  await page.getByRole('button', { name: 'Approve alice' }).waitFor();
  await page.evaluate(() => document.activeElement.blur());
});

await overview;
await picture('stream', async (on, page) => {
  await on.open(`#/streams/${TABLE}`);
  await page.getByText('Waiting for changes').waitFor();
  await page.waitForResponse((response) => response.request().headers()['x-amz-target']?.endsWith('GetRecords'));
  await social('PUT', '/users/alice/following/dave');
  await social('POST', '/posts/p-landing/comments', { user_id: 'frank', comment_id: 'c-7', content: 'Show-off.' });
  await social('PUT', '/posts/p-landing/likes/alice', { like_type: 'love' });
  const record = page.locator('.record').filter({ hasText: 'MODIFY' }).filter({ hasText: 'engagement_score' }).first();
  await record.locator('.record-line').click();
});

await app.close();
