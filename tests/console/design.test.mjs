// The page of a design: chart, diagram, entities and findings are what the design says, at their place.
// SPDX-License-Identifier: Apache-2.0
import { readFileSync } from 'node:fs';
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { clientsFor, startServer } from '../wire/process.mjs';
import { DESIGNS, PHONE, newPage, startConsole } from './harness.mjs';

const asWritten = join(dirname(fileURLToPath(import.meta.url)), '..', 'designs', 'as-written', 'social.yaml');

let app;
before(async () => {
  app = await startConsole({ designs: DESIGNS, demo: true });
  await app.open('#/');
});
after(() => app?.close());

const documentOf = async (endpoint, name) =>
  (await fetch(`${endpoint}/console/api/designs/${name}`, { headers: { 'x-thorpe-console': '1' } })).json();

async function visit(on, hash) {
  await on.page.evaluate((to) => { location.hash = to; }, hash);
  await on.page.locator('.dsg h1').waitFor();
}

for (const name of DESIGNS) {
  test(`${name}: chart and diagram have every entity, key attribute and index`, async () => {
    const design = await documentOf(app.endpoint, name);
    const { page } = app;
    await visit(app, `#/design/${name}`);
    await page.getByRole('heading', { level: 1, name: design.title }).waitFor();
    const chart = page.getByRole('region', { name: 'Entity chart' });
    for (const entity of design.entities) await chart.getByText(entity.name, { exact: true }).first().waitFor();
    const columns = await chart.locator('thead code').allTextContents();
    for (const index of design.indexes) for (const attribute of [index.hash, index.range]) assert.ok(!attribute || columns.includes(attribute), `${attribute} is not in the chart`);
    const diagram = page.locator('.dsg-diagram svg');
    assert.deepEqual((await diagram.locator('.dia-node').evaluateAll((nodes) => nodes.map((node) => node.dataset.entity))).sort(), design.entities.map((entity) => entity.name).sort());
    assert.deepEqual(await diagram.locator('.dia-place').evaluateAll((places) => places.map((place) => place.dataset.place)), ['Table', ...design.indexes.map((index) => index.name)]);
    for (const place of await diagram.locator('.dia-place').all()) assert.ok(await place.locator('.dia-entry').count() > 0, 'a place with nothing in it');
    // Nothing is outside of the picture, or wider than its box.
    const outside = await diagram.evaluate((svg) => {
      const frame = svg.getBoundingClientRect();
      return [...svg.querySelectorAll('text')].filter((text) => { const box = text.getBoundingClientRect(); return box.left < frame.left || box.right > frame.right || box.bottom > frame.bottom + 1; }).length;
    });
    assert.equal(outside, 0);
    const open = design.findings.filter((finding) => finding.accepted === null).length;
    if (open === 0) await page.getByText('All clear.').waitFor();
    await app.expectNoSideways();
  });

  test(`${name}: every pattern and processor is listed with its request, and leads on`, async () => {
    const design = await documentOf(app.endpoint, name);
    const { page } = app;
    await visit(app, `#/design/${name}`);
    const table = page.getByRole('region', { name: 'Access patterns', exact: true });
    const links = await table.locator('th a').evaluateAll((found) => found.map((link) => [link.textContent, decodeURIComponent(link.getAttribute('href'))]));
    assert.deepEqual(links, design.access.map((pattern) => [pattern.name, `#/design/${name}/patterns/${pattern.name}`]));
    for (const processor of design.processors) await page.getByRole('link', { name: processor.name, exact: true }).waitFor();
  });
}

test('what an entity is in is lit while it has the focus, and said in words', async () => {
  const { page } = app;
  await visit(app, '#/design/social');
  const node = page.locator('.dia-node[data-entity="Follow"]');
  await node.focus();
  assert.equal(await page.locator('.dia-entry[data-lit="true"]').count(), 6); // the table, its mirror, a block's and a request's, GSI1, GSI2
  assert.match(await node.getAttribute('aria-label'), /the table as USER#<follower_id> \/ FOLLOWING#<followed_id>.*GSI2 as FOLLOW_GRAPH/s);
  await page.keyboard.press('Enter');
  await page.locator('#dsg-entity-Follow').getByText('Who may').waitFor();
});

test('an entity shows its attributes, rules, actions and routes', async () => {
  const { page } = app;
  await visit(app, '#/design/social?entity=User');
  const card = page.locator('#dsg-entity-User');
  for (const text of ['followers_count', 'caller is admin', 'suspend', 'sets status to', 'TransactWriteItems: Put']) await card.getByText(text).first().waitFor();
});

test('a line can be linked to', async () => {
  const { page } = app;
  const lines = readFileSync(new URL('../../designs/social.yaml', import.meta.url), 'utf8').split('\n');
  const number = lines.findIndex((text) => /^ *Post:/.test(text)) + 1;
  assert.ok(number > 100, 'far down, so that it has to be scrolled to');
  await visit(app, `#/design/social?line=${number}`);
  const line = page.locator('.src-current');
  assert.match(await line.textContent(), new RegExp(`^${number}\\s*Post:`));
  assert.ok(await line.evaluate((element) => { const box = element.getBoundingClientRect(); return box.top > 0 && box.bottom < innerHeight; }), 'the line is not in view');
});

test('on a phone: the matrix instead of the diagram, and nothing sideways', async () => {
  const phone = await app.newPage({ viewport: PHONE });
  for (const name of DESIGNS) {
    await phone.open(`#/design/${name}`);
    await phone.page.locator('.dsg-matrix').waitFor();
    await phone.page.locator('.dsg-diagram').waitFor({ state: 'hidden' });
    await phone.expectNoSideways();
    await phone.open(`#/design/${name}?view=source`);
    await phone.page.locator('.src-line').first().waitFor();
    await phone.expectNoSideways();
  }
});

test('findings of a design with defects stand at their line, their entity and their pattern', async () => {
  const server = await startServer({ data: null, args: ['--design', asWritten, '--allow-check-errors'] });
  const other = await newPage(server.endpoint);
  try {
    const name = 'social';
    const design = await documentOf(server.endpoint, name);
    const open = design.findings.filter((finding) => finding.accepted === null);
    assert.ok(open.length > 5);
    await other.open(`#/design/${name}?view=source`);
    await other.page.locator('.src-line').first().waitFor();
    for (const finding of design.findings)
      assert.ok(await other.page.locator(`.src-finding[data-under="${finding.line}"] [data-rule="${finding.rule}"]`).count() > 0, `${finding.rule} is not under line ${finding.line}`);
    await other.open(`#/design/${name}/patterns/timeline`);
    await other.page.locator('.pat-head [data-rule="shows-unpublished"]').waitFor();
    await other.open(`#/design/${name}?entity=Post`);
    await other.page.locator('#dsg-entity-Post [data-rule="number-in-key"]').waitFor();
    await other.expectNoText('All clear.');
    await other.page.locator('.dsg-unclear').getByText(/\d+ errors/).waitFor();
  } finally {
    await other.close();
    await server.stop();
  }
});

test('the items are compared when asked, and what is wrong with them leads to them', async () => {
  const { page } = app;
  const { ddb, doc } = clientsFor(app.endpoint);
  await doc.update({ TableName: 'SocialMediaApp', Key: { PK: 'USER#alice', SK: 'PROFILE' }, UpdateExpression: 'SET followers_count = :n', ExpressionAttributeValues: { ':n': 77 } });
  await doc.delete({ TableName: 'SocialMediaApp', Key: { PK: 'USERNAME#bob', SK: 'USERNAME#bob' } });
  ddb.destroy();
  await visit(app, '#/design/social');
  const section = page.getByRole('region', { name: 'Items' });
  await section.getByRole('button', { name: 'Compare the items' }).click();
  await section.getByText('2 differences.').waitFor();
  await section.getByText('User alice has followers_count = 77, but the recount is 4').waitFor();
  const counter = section.locator('[data-kind="counter-differs"]');
  assert.equal(decodeURIComponent(await counter.getByRole('link', { name: 'the item' }).getAttribute('href')), '#/table/SocialMediaApp/item?pk=USER#alice&sk=PROFILE');
  await section.getByText('1 guard-missing').waitFor();
  assert.equal(await section.locator('[data-kind="guard-missing"] a').count(), 0, 'there is nothing to go to');
  await app.expectNoSideways();
  await page.reload();
  await section.getByText('2 differences.').waitFor(); // what was found is kept
  await visit(app, '#/design/fus');
  await page.getByRole('region', { name: 'Items' }).getByRole('button', { name: 'Compare the items' }).click();
  await page.getByRole('region', { name: 'Items' }).getByText('No differences.').waitFor();
  const other = await fetch(`${app.endpoint}/console/api/verify/social`, { method: 'POST' });
  assert.equal(other.status, 403, 'only the console begins one');
  assert.equal((await fetch(`${app.endpoint}/console/api/verify/nothing`, { headers: { 'x-thorpe-console': '1' } })).status, 404);
});
