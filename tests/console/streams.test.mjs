// The live tail of a stream, and the processors that follow it.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { freshDirectory, PHONE, startConsole, until } from './harness.mjs';

/** A receiver of webhooks that refuses until told otherwise. */
const receiver = { status: 410, got: [] };
receiver.server = createServer((request, reply) => {
  receiver.got.push(request.url);
  request.resume().on('end', () => reply.writeHead(receiver.status).end());
});
await new Promise((resolve) => { receiver.server.listen(0, '127.0.0.1', resolve); });

const orders = join(freshDirectory(), 'orders.yaml');
writeFileSync(orders, `
design: orders
title: Orders, told to others
table: Orders
key: [PK, SK]
stream: new and old images
entities:
  Order:
    path: /orders/<id>
    attributes:
      id: string
      state: open | paid | shipped, default open
      note: string
    keys: {PK: ORDER#<id>, SK: ORDER}
    allow: {create: anyone, read: anyone, update: anyone, delete: anyone}
processors:
  tell the shop:
    on: Order created, updated, deleted
    send: {to: 'http://127.0.0.1:${receiver.server.address().port}/in'}
`);

const app = await startConsole({ designs: ['social', orders], tolerate: [/status of 503/, /503 .*\/retry$/] });
after(async () => {
  receiver.server.close();
  await app.close();
});
const { page, doc, ddb } = app;

const records = page.locator('.record');
const record = (text) => records.filter({ hasText: text });

async function plainTable(TableName, more = {}) {
  await ddb.createTable({
    TableName, KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }], AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }], BillingMode: 'PAY_PER_REQUEST', ...more,
  });
}
const withStream = (StreamViewType) => ({ StreamSpecification: { StreamEnabled: true, StreamViewType } });

/** Whatever is written after this is seen. */
async function follow(table) {
  await app.open(`#/streams/${table}`);
  await page.getByText('Waiting for changes').waitFor();
  await page.waitForResponse((response) => response.request().headers()['x-amz-target']?.endsWith('GetRecords'));
}

test('a change shows up with its entity, its keys and what is different', async () => {
  await follow('SocialMediaApp');
  const { Items } = await doc.query({ TableName: 'SocialMediaApp', KeyConditionExpression: 'PK = :p', ExpressionAttributeValues: { ':p': 'USER#alice' } });
  const Item = Items.find(({ username, email }) => username && email);
  assert.ok(Item, 'alice is in the demo data');
  await doc.put({ TableName: 'SocialMediaApp', Item: { ...Item, bio: 'Down the rabbit hole', settings: { colour: 'red', size: 1 } } });
  await record('USER#alice').filter({ hasText: 'MODIFY' }).getByText('User', { exact: true }).waitFor();
  await doc.put({ TableName: 'SocialMediaApp', Item: { ...Item, bio: 'Through the looking glass', settings: { colour: 'blue', size: 1, flat: true } } });
  const second = record('settings.colour');
  await second.locator('.record-line').click();
  const row = (name) => second.locator(`[data-path="${name}"]`);
  const mark = async (name) => (await row(name).getAttribute('class')).match(/diff-(same|added|removed|changed)/)[1];
  await row('bio').waitFor();
  assert.equal(await mark('bio'), 'changed');
  assert.match(await row('bio').locator('.diff-old').innerText(), /Down the rabbit hole/);
  assert.match(await row('bio').locator('.diff-new').innerText(), /Through the looking glass/);
  assert.equal(await mark('settings.colour'), 'changed');
  assert.equal(await mark('settings.flat'), 'added');
  assert.equal(await row('settings.size').count(), 0, 'what stayed the same is folded away');
  await second.getByRole('button', { name: /stayed the same/ }).click();
  assert.equal(await mark('settings.size'), 'same');
  await second.getByRole('link', { name: 'Look at the item' }).click();
  await app.expectHash(/^#\/table\/SocialMediaApp\/item\?pk=USER%23alice&sk=/);
});

test('events, entities and text narrow the tail', async () => {
  await plainTable('filtered', withStream('NEW_AND_OLD_IMAGES'));
  await follow('filtered');
  await doc.put({ TableName: 'filtered', Item: { id: 'first', word: 'apple' } });
  await doc.put({ TableName: 'filtered', Item: { id: 'second', word: 'pear' } });
  await doc.delete({ TableName: 'filtered', Key: { id: 'first' } });
  await until('three changes', async () => await records.count() === 3);
  assert.match(await records.first().innerText(), /REMOVE/, 'the newest is on top');

  await page.getByRole('button', { name: 'INSERT', exact: true }).click();
  await until('the removal alone', async () => await records.count() === 1);
  await page.getByRole('button', { name: 'INSERT', exact: true }).click();
  await page.keyboard.press('/');
  await page.keyboard.type('PEAR');
  await until('the pear alone', async () => await records.count() === 1 && /second/.test(await records.innerText()));
  await page.keyboard.press('Escape');
  await until('all of them again', async () => await records.count() === 3);

  await app.open('#/streams/SocialMediaApp');
  await page.getByRole('button', { name: 'Show what has happened so far' }).click();
  await until('the demo data', async () => await records.count() > 50);
  await page.getByLabel('Entity').selectOption('Follow');
  await until('follows only', async () => (await records.count()) > 0
    && (await records.locator('.entity').allInnerTexts()).every((name) => name.startsWith('Follow')));
});

test('paused, it stands still; resumed, it goes on where it was', async () => {
  await plainTable('paused', withStream('NEW_AND_OLD_IMAGES'));
  await follow('paused');
  await page.keyboard.press('p');
  await page.locator('.tail-state').getByText('Paused').waitFor();
  await doc.put({ TableName: 'paused', Item: { id: 'meanwhile' } });
  await assert.rejects(record('meanwhile').waitFor({ timeout: 1_500 }), /Timeout/);
  await page.getByRole('button', { name: 'Resume' }).click();
  await record('meanwhile').waitFor();
});

test('it keeps 500 changes, and from the beginning reads no more than that unasked', async () => {
  await plainTable('many', withStream('KEYS_ONLY'));
  for (let n = 0; n < 800; n += 25) {
    await doc.batchWrite({ RequestItems: { many: Array.from({ length: 25 }, (_, i) => ({ PutRequest: { Item: { id: `n${n + i}` } } })) } });
  }
  await app.open('#/streams/many');
  await page.getByLabel('Where to begin').selectOption('From the beginning');
  await page.getByText(/changes read, and there are more/).waitFor();
  assert.ok(await records.count() > 450 && await records.count() <= 500, `${await records.count()} are shown`);
  await page.getByRole('button', { name: 'Read on' }).click();
  await page.getByText('800 came, the newest 500 are kept').waitFor();
  assert.equal(await records.count(), 500);
  await records.first().locator('.record-line').click();
  await page.getByText('This stream has the keys only').waitFor();
});

test('what its time to live has removed is told from what somebody has', async () => {
  await plainTable('mortal', withStream('NEW_AND_OLD_IMAGES'));
  await ddb.updateTimeToLive({ TableName: 'mortal', TimeToLiveSpecification: { Enabled: true, AttributeName: 'expires' } });
  await follow('mortal');
  await doc.put({ TableName: 'mortal', Item: { id: 'byhand' } });
  await doc.put({ TableName: 'mortal', Item: { id: 'bytime', expires: Math.floor(Date.now() / 1000) } });
  await doc.delete({ TableName: 'mortal', Key: { id: 'byhand' } });
  await record('bytime').filter({ hasText: 'REMOVE' }).getByText('expired (TTL)').waitFor();
  await record('byhand').filter({ hasText: 'REMOVE' }).waitFor();
  assert.equal(await record('byhand').getByText('expired (TTL)').count(), 0);
});

test('a table without a stream says how to turn one on', async () => {
  await plainTable('silent');
  await app.open('#/streams/silent');
  await page.getByText('silent has no stream').waitFor();
  await page.getByText(/update-table --table-name silent/).waitFor();
});

test('the changes can be walked through with the arrow keys', async () => {
  await app.open('#/streams/SocialMediaApp');
  await page.getByRole('button', { name: 'Show what has happened so far' }).click();
  await records.nth(3).waitFor();
  await page.locator('main').focus();
  for (const key of ['ArrowDown', 'ArrowDown', 'ArrowDown', 'ArrowUp', 'Enter']) await page.keyboard.press(key);
  await records.nth(1).locator('.record-body').waitFor();
});

test('on a phone the two images are one below the other', async () => {
  const phone = await app.newPage({ viewport: PHONE });
  await phone.open('#/streams/SocialMediaApp');
  await phone.page.getByRole('button', { name: 'Show what has happened so far' }).click();
  await phone.page.locator('.record-line').first().click();
  const old = await phone.page.locator('.diff-old').first().boundingBox();
  const fresh = await phone.page.locator('.diff-new').first().boundingBox();
  assert.ok(fresh.y >= old.y + old.height - 1 && Math.abs(fresh.x - old.x) < 2);
  await phone.expectNoSideways();
  await phone.close();
});

// ---------------------------------------------------------------- processors

const processor = (name) => page.getByRole('article', { name, exact: true });

test('what a processor passed over is told by reason', async () => {
  const name = 'deliver a post to followers';
  await doc.put({ TableName: 'SocialMediaApp', Item: { PK: 'POST#raw', SK: 'METADATA', content: 'without an id' } });
  await app.open('#/processors/social');
  await processor(name).locator('summary', { hasText: 'passed over' }).click();
  await processor(name).getByText('do not fit the design').waitFor();
  await processor(name).getByText(/POST#raw, METADATA does not fit Post: it has no post_id/).waitFor();
});

test('a processor is paused and goes on, and says how far behind it is', async () => {
  const name = 'tell followers of a post';
  await app.open('#/processors/social');
  await processor(name).getByText('up to date').waitFor();
  await processor(name).getByText('puts Notification').waitFor();
  await processor(name).getByRole('button', { name: 'Pause' }).click();
  await processor(name).getByText('paused').waitFor();
  await processor(name).getByRole('button', { name: 'Resume' }).click();
  await processor(name).getByText('up to date').waitFor();
});

test('a replay says what it does before it does it', async () => {
  const name = 'tell followers of a post';
  const done = async () => Number(/Done\s+(\d+)/.exec(await processor(name).innerText())[1]);
  await app.open('#/processors/social');
  await processor(name).waitFor();
  const before = await done();
  assert.ok(before > 0);
  await processor(name).getByRole('button', { name: 'Replay' }).click();
  const dialog = page.getByRole('dialog', { name: /Replay/ });
  await dialog.getByText(/is done again/).waitFor();
  await dialog.getByRole('button', { name: 'Cancel' }).click();
  await dialog.waitFor({ state: 'hidden' });
  await processor(name).getByRole('button', { name: 'Replay' }).click();
  await dialog.getByRole('button', { name: 'Replay' }).click();
  await until('it to have done them again', async () => await done() >= 2 * before);
});

test('parked changes are listed with their reason; they are retried and dropped', async () => {
  const order = (id) => fetch(`${app.endpoint}/api/orders/orders`, {
    method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ id, state: 'paid' }),
  });
  assert.equal((await order('one')).status, 201);
  assert.equal((await order('two')).status, 201);
  await app.open('#/processors/orders');
  const shop = processor('tell the shop');
  const parked = shop.getByRole('list', { name: /Parked changes/ }).getByRole('listitem');
  await until('two to be parked', async () => await parked.count() === 2);
  await parked.first().getByText(/answered 410/).waitFor();
  await parked.first().getByRole('button', { expanded: false }).click();
  await parked.first().getByText('"one"').waitFor();

  await parked.first().getByRole('button', { name: 'Retry' }).click();
  await app.expectText(/It failed again/);
  receiver.status = 204;
  const sent = receiver.got.length;
  await parked.first().getByRole('button', { name: 'Retry' }).click();
  await until('one to be left', async () => await parked.count() === 1);
  assert.equal(receiver.got.length, sent + 1);

  await parked.first().getByRole('button', { name: 'Drop' }).click();
  const dialog = page.getByRole('dialog', { name: 'Drop this change?' });
  await dialog.getByText(/cannot be taken back/).waitFor();
  await dialog.getByRole('button', { name: 'Drop it' }).click();
  await shop.getByText('up to date').waitFor();
  assert.equal(receiver.got.length, sent + 1, 'what was dropped is not sent');
});
