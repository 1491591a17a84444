// Access patterns in the console: each has a form, runs with what is filled in, shows its requests; what is copied runs elsewhere.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { DESIGNS, PHONE, startConsole } from './harness.mjs';
import { paste, tools } from './snippets.mjs';

let app, can;
before(async () => {
  can = await tools();
  app = await startConsole({ designs: DESIGNS, demo: true, tolerate: [/status of 4\d\d/] });
  await app.open('#/');
});
after(() => app?.close());

const header = { headers: { 'x-thorpe-console': '1' } };
const documentOf = async (path) => (await fetch(`${app.endpoint}/console/api/${path}`, header)).json();
const operator = async (design) => (await documentOf('session')).designs.find(({ name }) => name === design).token;
const addressOf = (design, pattern) => `#/design/${design}/patterns/${encodeURIComponent(pattern)}`;

/** To a pattern, when its form has its examples. */
async function visit(page, design, pattern) {
  await page.evaluate((hash) => { location.hash = hash; }, addressOf(design, pattern));
  await page.getByRole('heading', { level: 1, name: pattern, exact: true }).waitFor();
  await page.locator('form[data-ready="true"]').waitFor();
}

const press = (page) => page.getByRole('button', { name: 'Run', exact: true }).click();
const result = (page) => page.getByRole('region', { name: 'Result' });
const requests = (page) => page.getByRole('region', { name: 'DynamoDB requests' });

// ---------------------------------------------------------------- forms

for (const name of DESIGNS) {
  test(`${name}: every pattern with a path has its form, and runs with what is filled in`, async () => {
    const { access } = await documentOf(`designs/${name}`);
    const { page } = app;
    const found = [];
    for (const pattern of access.filter(({ path }) => path)) {
      await visit(page, name, pattern.name);
      for (const parameter of pattern.params) await page.getByLabel(parameter.name).first().waitFor();
      await press(page);
      await result(page).waitFor();
      assert.equal(await result(page).locator('.error-box').count(), 0, `${name}, ${pattern.name}: ${await result(page).textContent()}`);
      assert.ok(await requests(page).locator('li').count() > 0, `${pattern.name} shows no request`);
      const made = await requests(page).textContent();
      assert.match(made, /(GetItem|Query|BatchGetItem)/);
      assert.match(made, /[\d.]+ RCU/);
      assert.match(made, /\d (µs|ms)/);
      found.push(await result(page).locator('tbody tr').count() > 0 || /count/.test(await result(page).textContent()));
    }
    const some = found.filter(Boolean).length;
    assert.ok(some >= found.length * 0.75, `only ${some} of ${found.length} patterns show anything`);
  });
}

test('a value that cannot be one is told at its field, in the server\'s words', async () => {
  const { page } = app;
  await visit(page, 'social', 'timeline');
  await page.getByLabel('date').fill('someday');
  await press(page);
  await page.locator('.field-error', { hasText: 'must be a date' }).waitFor();
  await page.locator('.error-box', { hasText: 'date' }).first().waitFor();
});

test('an example that arrives late does not land in the field that is being typed in', async () => {
  const { page } = app;
  let release;
  const released = new Promise((resolve) => { release = resolve; });
  const isScan = (request) => request.headers()['x-amz-target']?.endsWith('.Scan');
  await page.route('**/*', async (route) => {
    if (isScan(route.request())) await released;
    await route.continue();
  });
  await page.evaluate((hash) => { location.hash = hash; }, addressOf('social', 'likes of post'));
  await page.locator('form[data-ready="false"]').waitFor();
  await page.getByLabel('post_id').focus();
  release();
  await page.locator('form[data-ready="true"]').waitFor();
  await page.keyboard.type('p-tea');
  assert.equal(await page.getByLabel('post_id').inputValue(), 'p-tea');
  await page.unroute('**/*');
});

test('who is asking decides what is seen', async () => {
  const { page } = app;
  await visit(page, 'social', 'user posts');
  await page.getByLabel('user_id').fill('bob');
  await press(page);
  await page.getByText('p-secret').first().waitFor();
  await page.getByLabel('Who is asking').selectOption('nobody');
  await press(page);
  await page.getByText('p-secret').first().waitFor({ state: 'hidden' });
  await page.getByText('p-ride').first().waitFor();
  await page.getByLabel('Who is asking').selectOption('subject');
  await page.getByLabel('caller').fill('bob');
  await press(page);
  await page.getByText('p-secret').first().waitFor();
});

test('a page at a time, and the address keeps what was asked', async () => {
  const { page } = app;
  await visit(page, 'social', 'user posts');
  await page.getByLabel('user_id').fill('bob');
  await page.getByLabel('Limit').fill('1');
  await press(page);
  await page.getByRole('heading', { name: '1 item', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Next page' }).click();
  await page.getByRole('heading', { name: '2 items', exact: true }).waitFor();
  await app.expectHash(/user_id=bob&limit=1/);
  await page.reload();
  await page.getByLabel('user_id').waitFor();
  assert.equal(await page.getByLabel('user_id').inputValue(), 'bob');
});

test('the search finds by name, id, path and index; the keyboard goes through the list', async () => {
  const { page } = app;
  await visit(page, 'social', 'feed');
  await page.locator('h1').click();
  await page.keyboard.press('/');
  await page.keyboard.type('S-A23 username');
  assert.deepEqual(await page.locator('.pat-link-name').allTextContents(), ['user by username']);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { level: 1, name: 'user by username' }).waitFor();
  await page.getByLabel('Search the access patterns').fill('');
});

test('requests lead to the partition they read, and to the query builder', async () => {
  const { page } = app;
  await visit(page, 'social', 'user posts');
  await page.getByLabel('user_id').fill('bob');
  await press(page);
  const link = (name) => requests(page).getByRole('link', { name });
  assert.equal(await link(/single-table view/).getAttribute('href'), '#/table/SocialMediaApp?index=GSI1&pk=USER%23bob&sk=POST%23&order=desc');
  assert.equal(await link(/query builder/).getAttribute('href'), '#/table/SocialMediaApp/query?index=GSI1&pk=USER%23bob&sort=begins_with&sk=POST%23&order=desc&limit=21');
  await link(/single-table view/).click();
  await page.getByText('USER#bob').first().waitFor();
  await page.getByText('p-ride').first().waitFor();
});

test('a watched list tells what is written', async () => {
  const { page } = app;
  await visit(page, 'social', 'user posts');
  await page.getByLabel('user_id').fill('bob');
  await page.getByRole('switch', { name: 'Watch' }).click();
  const events = page.getByRole('region', { name: 'Events' });
  await events.getByText('live', { exact: true }).waitFor();
  const reply = await fetch(`${app.endpoint}/api/social/posts/p-ride`, {
    method: 'PATCH', headers: { authorization: `Bearer ${await operator('social')}`, 'content-type': 'application/json' }, body: '{"content": "told to who watches"}',
  });
  assert.equal(reply.status, 200);
  await events.getByText('changed', { exact: true }).waitFor();
  await events.getByText('told to who watches').first().waitFor();
  await page.getByRole('switch', { name: 'Watch' }).click();
  await events.waitFor({ state: 'hidden' });
});

test('on a phone: the list, then the pattern, and nothing sideways', async () => {
  const phone = await app.newPage({ viewport: PHONE });
  await phone.open('#/design/social/patterns');
  await phone.expectText('user posts');
  await phone.expectNoSideways();
  await phone.page.getByRole('link', { name: /user posts/ }).first().click();
  await phone.page.locator('form[data-ready="true"]').waitFor();
  await press(phone.page);
  await result(phone.page).waitFor();
  await phone.expectNoSideways();
  await phone.page.getByRole('link', { name: 'All access patterns' }).click();
  await phone.page.getByLabel('Search the access patterns').waitFor();
});

// ---------------------------------------------------------------- what is copied

/** The text of a tab, as it is copied. */
async function copied(section, tab) {
  await section.getByRole('tab', { name: tab, exact: true }).click();
  await section.getByRole('button', { name: 'Copy', exact: true }).or(section.getByRole('button', { name: 'Copied', exact: true })).first().click();
  return app.clipboard();
}

const ids = (items) => items.map((item) => item.post_id?.S ?? item.post_id);

test('a request that is copied gives the same items from curl, aws, JavaScript and Python', async () => {
  const { page } = app;
  await visit(page, 'social', 'user posts');
  await page.getByLabel('user_id').fill('bob');
  await press(page);
  await result(page).waitFor();
  const shown = await result(page).locator('tbody tr td:nth-child(2)').allTextContents();
  assert.ok(shown.length > 1);
  const run = async (language, tab, itemsOf) => assert.deepEqual(ids(itemsOf(await paste(language, await copied(requests(page), tab)))), shown, tab);
  await run('curl', 'curl', ({ Items }) => Items);
  if (can.aws) await run('aws', 'aws dynamodb', ({ Items }) => Items);
  await run('javascript', 'JavaScript', (items) => items);
  if (can.boto3) await run('python', 'Python', (items) => items);
});

test('a REST call that is copied gives the same items', async () => {
  const { page } = app;
  await visit(page, 'social', 'user posts');
  await page.getByLabel('user_id').fill('bob');
  await press(page);
  await result(page).waitFor();
  const shown = await result(page).locator('tbody tr td:nth-child(2)').allTextContents();
  const section = page.getByRole('region', { name: 'As a REST call' });
  assert.ok(!(await section.textContent()).includes(await operator('social')), 'the token is shown');
  for (const [language, tab] of [['curl', 'curl'], ['javascript', 'fetch'], ['python', 'Python']]) {
    if (language === 'python' && !can.requests) continue;
    assert.deepEqual(ids((await paste(language, await copied(section, tab))).items), shown, tab);
  }
});
