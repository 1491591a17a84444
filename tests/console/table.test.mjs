// The single-table view: what is recognised, how it is grouped and sorted, and where one can go from there.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { PHONE, startConsole, until } from './harness.mjs';
import { loadModule } from './modules.mjs';

const app = await startConsole();
after(() => app.close());
const { page, ddb } = app;

const rows = () => page.locator('tr[data-row]');
const rowKeys = () => rows().evaluateAll((list) => list.map((row) => row.dataset.row));
const keyOf = (item, names = ['PK', 'SK']) => JSON.stringify(names.map((name) => item[name] ?? null));
const settled = (count) => until(`${count} rows`, async () => (await rows().count()) === count);
const panel = () => page.getByRole('complementary', { name: 'Why is this here' });
const document = async (path) => (await fetch(`${app.endpoint}/console/api/${path}`, { headers: { 'x-thorpe-console': '1' } })).json();

async function createTable(TableName, { range = null, indexes = [], types = {} } = {}) {
  const names = [...new Set(['pk', ...(range ? [range] : []), ...indexes.flatMap(({ keys }) => keys)])];
  const schema = ([hash, sort]) => [{ AttributeName: hash, KeyType: 'HASH' }, ...(sort ? [{ AttributeName: sort, KeyType: 'RANGE' }] : [])];
  await ddb.createTable({
    TableName, BillingMode: 'PAY_PER_REQUEST', KeySchema: schema(['pk', range]),
    AttributeDefinitions: names.map((name) => ({ AttributeName: name, AttributeType: types[name] ?? 'S' })),
    ...(indexes.length ? { GlobalSecondaryIndexes: indexes.map(({ name, keys }) => ({ IndexName: name, KeySchema: schema(keys), Projection: { ProjectionType: 'ALL' } })) } : {}),
  });
}

// ---------------------------------------------------------------- recognition

test('every item of the five tables is recognised, and each reference leads into the table', async () => {
  const { recognise, kindName } = await loadModule('lib/recognise.ts');
  const { references } = await loadModule('lib/references.ts');
  const { designs } = await document('session');
  assert.equal(designs.length, 5);
  for (const { name, table } of designs) {
    const design = await document(`designs/${name}`);
    const { Items } = await ddb.scan({ TableName: table });
    assert.ok(Items.length > 20, `${table} has its demo data`);
    const found = new Set();
    for (const item of Items) {
      const recognised = recognise(design, item);
      assert.ok(recognised, `${table}: ${keyOf(item)} is recognised`);
      found.add(kindName(recognised));
      // The pieces of a key, put together, are the key.
      for (const { attribute, parts } of recognised.keys) assert.equal(parts.map(({ text }) => text).join(''), item[attribute].S);
      for (const { key } of references(design, item, recognised)) assert.equal(typeof key.PK.S, 'string');
    }
    if (name === 'social') for (const kind of ['User email guard', 'User username guard', 'Follow mirror', 'Post tag']) assert.ok(found.has(kind), kind);
    for (const entity of design.entities.filter(({ internal }) => !internal).slice(0, 2)) assert.ok(found.has(entity.name), `${table} has a ${entity.name}`);
  }
});

test('an item is the entity whose templates say most; what fits none is nobody’s', async () => {
  const { recognise, explainKey } = await loadModule('lib/recognise.ts');
  const social = await document('designs/social');
  const fus = await document('designs/fus');
  const blog = await document('designs/blog');
  const name = (design, PK, SK, more = {}) => {
    const found = recognise(design, { PK: { S: PK }, SK: { S: SK }, ...more });
    return found && [found.entity.name, found.companion ? found.companion.unique ?? 'companion' : null];
  };
  assert.deepEqual(name(social, 'USER#a', 'PROFILE'), ['User', null]);
  assert.deepEqual(name(social, 'USER#a', 'FOLLOWER#b'), ['Follow', 'companion']);
  assert.deepEqual(name(social, 'EMAIL#a@b.c', 'EMAIL#a@b.c'), ['User', 'email']);
  assert.equal(name(social, 'EMAIL#a@b.c', 'EMAIL#x@b.c'), null, 'one placeholder, two values');
  assert.equal(name(social, 'USER#a#b', 'PROFILE'), null, 'no value holds a #');
  assert.equal(name(social, 'USER#', 'PROFILE'), null, 'nor is it empty');
  assert.equal(name(social, 'USER#a', 'SOMETHING'), null, 'both keys count');
  assert.deepEqual(name(fus, 'USER#u', 'SITE#s'), ['Rating', null]);
  assert.deepEqual(name(fus, 'USER#u', 'SITE#s#COMMENT#c'), ['Comment', null]);
  const reply = { PK: { S: 'POST#p' }, SK: { S: 'COMMENT#root#me#2026-01-01T00:00:00Z' } };
  assert.equal(explainKey(blog, reply, 'SK').template, 'COMMENT#<parentId>#<commentId>#<createdAt>');
  assert.deepEqual(explainKey(blog, reply, 'SK').parts.filter((part) => part.name).map((part) => [part.name, part.text]),
    [['parentId', 'root'], ['commentId', 'me'], ['createdAt', '2026-01-01T00:00:00Z']]);
});

test('templates are matched as the server matches them: formats, runs, the last literal', async () => {
  const { matchTemplate, parseTemplate, fillTemplate } = await loadModule('lib/templates.ts');
  const values = (template, key) => matchTemplate(parseTemplate(template), key)?.filter((piece) => piece.name).map((piece) => piece.text) ?? null;
  assert.deepEqual(values('TIMELINE#<created_at:date>', 'TIMELINE#2026-02-28'), ['2026-02-28']);
  assert.equal(values('TIMELINE#<created_at:date>', 'TIMELINE#2026-02-30'), null);
  assert.deepEqual(values('M#<at:month>', 'M#2026-12'), ['2026-12']);
  assert.equal(values('M#<at:month>', 'M#2026-13'), null);
  assert.deepEqual(values('SCORE#<score:+10>#<id>', 'SCORE#5000000012#c'), ['5000000012', 'c']);
  assert.equal(values('SCORE#<score:+10>#<id>', 'SCORE#500000001#c'), null);
  assert.equal(values('SORT#<order:06>', 'SORT#00001x'), null);
  assert.deepEqual(values('<at:date><id>', '2026-01-01x1'), ['2026-01-01', 'x1']);
  assert.deepEqual(values('<metric>', 'a#b'), ['a#b'], 'without a # of its own a template takes anything');
  assert.deepEqual(values('<a>-END', 'x-END-END'), ['x-END']);
  assert.equal(values('PROFILE', 'PROFILES'), null);
  const fill = (template, given) => fillTemplate(parseTemplate(template), (name) => given[name]);
  assert.equal(fill('S#<n:+10>', { n: '-3' }), 'S#4999999997');
  assert.equal(fill('S#<n:06>', { n: '42' }), 'S#000042');
  assert.equal(fill('S#<n:06>', { n: '-1' }), null);
  assert.equal(fill('T#<t:slug>', { t: 'Crème Brûlée!' }), 'T#creme-brulee');
  assert.equal(fill('U#<a>', {}), null);
});

// ---------------------------------------------------------------- the picture

test('a partition’s rows are in the order of a Query, its key shown with its template', async () => {
  await app.open('#/table/SocialMediaApp?pk=USER%23alice');
  const { Items } = await ddb.query({ TableName: 'SocialMediaApp', KeyConditionExpression: 'PK = :a', ExpressionAttributeValues: { ':a': { S: 'USER#alice' } } });
  await settled(Items.length);
  assert.deepEqual(await rowKeys(), Items.map((item) => keyOf(item)));
  const header = page.locator('[data-partition="USER#alice"] .partition');
  assert.equal(await header.locator('.key-value').innerText(), 'alice');
  assert.equal(await header.locator('.key-caption').innerText(), 'user_id');
  await header.getByText(`${Items.length} items`).waitFor();
  await header.getByText('1 User', { exact: true }).waitFor();
  const profile = page.locator('table.run', { has: page.getByText('PROFILE', { exact: true }) }).first();
  assert.match(await profile.locator('thead').innerText(), /User\s*SK\s*PROFILE/);
  assert.ok((await profile.locator('thead th').allInnerTexts()).includes('display_name'));
});

test('a table is a block for each partition, as a Scan brings them', async () => {
  await app.open('#/table/WavyBlog');
  const { Items } = await ddb.scan({ TableName: 'WavyBlog' });
  await settled(Items.length);
  assert.deepEqual(await rowKeys(), Items.map((item) => keyOf(item)));
  assert.deepEqual(await page.locator('.collection').evaluateAll((list) => list.map((one) => one.dataset.partition)), [...new Set(Items.map((item) => item.PK.S))]);
  await app.expectText('That was all.');
});

test('an index leaves out what has not its keys', async () => {
  await app.open('#/table/SocialMediaApp');
  await page.getByRole('tab', { name: 'GSI1' }).click();
  await page.getByRole('searchbox').or(page.getByLabel('Kind of partition')).first().selectOption({ label: 'USER#<user_id>' });
  await page.getByLabel('user_id', { exact: true }).fill('erin');
  await page.keyboard.press('Enter');
  await app.expectHash(/index=GSI1/);
  const query = (extra) => ddb.query({ TableName: 'SocialMediaApp', ...extra });
  const { Items } = await query({ IndexName: 'GSI1', KeyConditionExpression: 'GSI1PK = :a', ExpressionAttributeValues: { ':a': { S: 'USER#erin' } } });
  await settled(Items.length);
  assert.deepEqual(await rowKeys(), Items.map((item) => keyOf(item)));
  // alice's request to follow erin waits: it is an item, and in no index.
  const { Item } = await ddb.getItem({ TableName: 'SocialMediaApp', Key: { PK: { S: 'USER#alice' }, SK: { S: 'FOLLOWING#erin' } } });
  assert.equal(Item.status.S, 'pending');
  assert.ok(!(await rowKeys()).includes(keyOf(Item)));
  assert.deepEqual((await page.locator('table.run thead').first().locator('th').allInnerTexts()).slice(2, 4), ['PK', 'SK'], 'the table’s keys come first');
});

test('a reference in a key leads to the item it names', async () => {
  await app.open('#/table/SocialMediaApp?pk=USER%23alice');
  await page.locator('th.sort').getByRole('link', { name: 'carol' }).first().click();
  await app.expectHash(/pk=USER%23carol&at=PROFILE/);
  await page.locator('tr.row-selected', { hasText: 'PROFILE' }).waitFor();
  await panel().getByText('A User with user_id carol.').waitFor();
  await page.goBack();
  await page.locator('[data-partition="USER#alice"]').waitFor();
});

test('a row says why it is there: what it is, its templates, its indexes and who reads it', async () => {
  await app.open('#/table/SocialMediaApp?pk=USER%23alice');
  await rows().filter({ hasText: 'FOLLOWING#bob' }).locator('th').click({ position: { x: 5, y: 5 } });
  await panel().getByText('A Follow with follower_id alice and followed_id bob.').waitFor();
  const text = await panel().innerText();
  assert.match(text, /USER#<follower_id>/);
  assert.match(text, /In GSI1[\s\S]*FOLLOWER#<follower_id>/);
  assert.match(text, /followers/);
  assert.match(text, /Counted in User\(followed_id\)\.followers_count/);
  await page.keyboard.press('Escape');
  await panel().waitFor({ state: 'hidden' });
});

test('an entity can be marked, and looked for alone', async () => {
  await app.open('#/table/SocialMediaApp');
  await rows().first().waitFor();
  await page.getByRole('button', { name: /^Comment COMMENT/ }).first().click();
  await until('others stand back', async () => (await page.locator('tr.row-dimmed').count()) > 0);
  await page.getByRole('button', { name: 'Look for these only' }).click();
  await app.expectHash(/only=Comment/);
  await until('comments only', async () => (await rows().count()) > 0 && (await page.locator('tr.row-dimmed').count()) === 0);
  const { Items } = await ddb.scan({ TableName: 'SocialMediaApp' });
  const comments = Items.filter((item) => item.PK.S.startsWith('POST#') && item.SK.S.startsWith('COMMENT#'));
  assert.deepEqual((await rowKeys()).sort(), comments.map((item) => keyOf(item)).sort());
});

test('all of an entity that an index gathers in one partition can be asked for at once', async () => {
  await app.open('#/table/WavyBlog');
  await rows().first().waitFor();
  await page.getByRole('button', { name: /^Category METADATA/ }).click();
  await page.getByRole('button', { name: 'All of them, in GSI3' }).click();
  await app.expectHash(/index=GSI3&pk=CATEGORY/);
  await settled(4);
});

test('a partition is found by its exact key and the beginning of its sort key', async () => {
  await app.open('#/table/SocialMediaApp');
  await rows().first().waitFor();
  await page.locator('main').focus();
  await page.keyboard.press('/');
  await page.keyboard.type('POST#p-tea');
  await page.getByLabel('Sort key begins with').fill('LIKE#');
  await page.keyboard.press('Enter');
  await app.expectHash(/pk=POST%23p-tea&sk=LIKE%23/);
  await until('likes only', async () => (await rowKeys()).length > 0 && (await rowKeys()).every((key) => key.includes('LIKE#')));
  await page.getByRole('button', { name: 'All partitions' }).click();
  await until('more than likes', async () => (await page.locator('.collection').count()) > 3);
});

test('rows are walked by arrow keys; Enter asks why, Esc closes', async () => {
  await app.open('#/table/WavyBlog');
  await rows().nth(3).waitFor();
  await page.locator('main').focus();
  const focused = () => page.evaluate(() => document.activeElement.dataset?.row ?? null);
  const keys = await rowKeys();
  await page.keyboard.press('ArrowDown');
  assert.equal(await focused(), keys[0]);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('ArrowUp');
  assert.equal(await focused(), keys[1]);
  await page.keyboard.press('Enter');
  await panel().waitFor();
  assert.equal(await page.locator('tr.row-selected').getAttribute('data-row'), keys[1]);
  await page.keyboard.press('ArrowDown');
  await until('the panel follows', async () => (await page.locator('tr.row-selected').getAttribute('data-row')) === keys[2]);
  await page.keyboard.press('Escape');
  await panel().waitFor({ state: 'hidden' });
});

test('an item that no entity has keys for is shown as unrecognised', async () => {
  const item = { PK: { S: 'ODD#1' }, SK: { S: 'ODD' } };
  await ddb.putItem({ TableName: 'WavyBlog', Item: item });
  await app.open('#/table/WavyBlog?pk=ODD%231');
  await page.locator('.run-name', { hasText: 'unrecognised' }).waitFor();
  await ddb.deleteItem({ TableName: 'WavyBlog', Key: item });
});

// ---------------------------------------------------------------- tables without a design

test('a table without a design is grouped too, and sorted as numbers sort', async () => {
  await createTable('numbers', { range: 'at', types: { at: 'N' }, indexes: [{ name: 'byKind', keys: ['kind', 'at'] }] });
  const numbers = ['-5', '99999999999999999999999999999999999998', '10', '9', '0.5', '-0.25', '1E+40', '99999999999999999999999999999999999999'];
  for (const at of numbers) await ddb.putItem({ TableName: 'numbers', Item: { pk: { S: 'a' }, at: { N: at }, tags: { SS: ['x', 'y'] }, data: { B: Buffer.from('hello') }, ...(at === '10' ? { kind: { S: 'k' } } : {}) } });
  await ddb.putItem({ TableName: 'numbers', Item: { pk: { S: 'b' }, at: { N: '1' }, done: { BOOL: true } } });
  await app.open('#/table/numbers');
  await settled(numbers.length + 1);
  const { Items } = await ddb.query({ TableName: 'numbers', KeyConditionExpression: 'pk = :a', ExpressionAttributeValues: { ':a': { S: 'a' } } });
  const shown = await page.locator('[data-partition="a"] th.sort .key').allInnerTexts();
  assert.deepEqual(shown, Items.map((item) => item.at.N));
  await app.expectText('A table without a design');
  assert.equal(await page.locator('.map').count(), 0);
  await page.getByText('5 bytes').first().waitFor();
  await page.getByRole('tab', { name: 'byKind' }).click();
  await settled(1);
});

test('strings sort by their bytes, not as JavaScript compares them', async () => {
  const { compareKeys } = await loadModule('lib/values.ts');
  const texts = ['a', 'b', 'é', 'ﬀ', '\u{1F600}', 'aa', '', '\uffff', '\u{10ffff}'];
  const byBytes = [...texts].sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
  assert.deepEqual([...texts].sort((a, b) => compareKeys({ S: a }, { S: b })), byBytes);
  const binary = [[0], [255], [127, 1], [128], []].map((bytes) => ({ B: Buffer.from(bytes).toString('base64') }));
  assert.deepEqual([...binary].sort(compareKeys), [...binary].sort((a, b) => Buffer.compare(Buffer.from(a.B, 'base64'), Buffer.from(b.B, 'base64'))));
});

test('what has outlived its time to live is marked', async () => {
  await createTable('leases', { range: 'sk' });
  const past = Math.floor(Date.now() / 1000) - 60;
  for (const [sk, ends] of [['old', past], ['new', past + 3600]])
    await ddb.putItem({ TableName: 'leases', Item: { pk: { S: 'a' }, sk: { S: sk }, ends: { N: `${ends}` } } });
  // The server deletes what has expired within a second; so it is only told to the page that `ends` is the time to live.
  await page.route((url) => url.pathname === '/', async (route) => {
    if (!/DescribeTimeToLive/.test(route.request().headers()['x-amz-target'] ?? '')) return route.continue();
    return route.fulfill({ json: { TimeToLiveDescription: { TimeToLiveStatus: 'ENABLED', AttributeName: 'ends' } } });
  });
  await app.open('#/table/leases');
  await settled(2);
  assert.deepEqual(await page.locator('tr.row-expired th.sort .key').allInnerTexts(), ['old']);
  await page.unroute((url) => url.pathname === '/').catch(() => {});
  await page.unrouteAll();
});

test('the map says which access patterns a kind of partition is for', async () => {
  await app.open('#/table/SocialMediaApp?index=GSI2');
  const box = (title) => page.locator('.map-shape').filter({ has: page.getByRole('button', { name: title, exact: true }) });
  await box('TIMELINE#<created_at:date>').getByRole('link', { name: 'timeline', exact: true }).waitFor();
  await page.getByRole('tab', { name: /Table/ }).click();
  const post = box('POST#<post_id>');
  await post.getByRole('link', { name: 'comments of post', exact: true }).waitFor();
  await post.getByText(/and \d+ more/).waitFor();
  await box('USERNAME#<username>').getByRole('link', { name: 'user by username' }).click();
  await app.expectHash(/^#\/design\/social\/patterns\/user%20by%20username/);
});

test('a hundred thousand items: pages come at once, and the browser never has more than 500', async () => {
  await createTable('many', { range: 'sk' });
  const put = (from) => ddb.batchWriteItem({ RequestItems: { many: Array.from({ length: 25 }, (_, i) => {
    const n = from + i;
    return { PutRequest: { Item: { pk: { S: n < 50_000 ? 'HOT' : `P#${n % 5000}` }, sk: { S: `I#${String(n).padStart(6, '0')}` }, text: { S: `item ${n}` } } } };
  }) } });
  for (let at = 0; at < 100_000; at += 500) await Promise.all(Array.from({ length: 20 }, (_, i) => put(at + i * 25)));
  const start = Date.now();
  await app.open('#/table/many?pk=HOT');
  await settled(50);
  assert.ok(Date.now() - start < 8_000, `the first page took ${Date.now() - start} ms`);
  const first = (await rowKeys())[0];
  for (let page_ = 2; page_ <= 12; page_++) {
    const before = (await rowKeys()).at(-1);
    await page.getByRole('button', { name: 'More items' }).click();
    await until(`page ${page_}`, async () => (await rowKeys()).at(-1) !== before);
    assert.ok((await rows().count()) <= 500);
  }
  assert.equal((await rowKeys()).at(-1), JSON.stringify([{ S: 'HOT' }, { S: 'I#000599' }]));
  assert.equal((await rowKeys())[0], JSON.stringify([{ S: 'HOT' }, { S: 'I#000100' }]), 'the oldest pages were let go');
  for (const expected of ['I#000050', 'I#000000']) {
    await page.getByRole('button', { name: 'Earlier items' }).click();
    await until('an earlier page', async () => (await rowKeys())[0] === JSON.stringify([{ S: 'HOT' }, { S: expected }]));
  }
  assert.equal((await rowKeys())[0], first);
  assert.ok((await page.evaluate(() => document.querySelectorAll('*').length)) < 20_000);
  await app.open('#/table/many');
  await settled(50);
});

test('on a phone nothing is wider than the screen', async () => {
  const phone = await app.newPage({ viewport: PHONE });
  for (const hash of ['#/table/SocialMediaApp', '#/table/SocialMediaApp?index=GSI1&pk=USER%23alice', '#/table/SocialMediaApp?pk=USER%23alice&at=PROFILE']) {
    await phone.open(hash);
    await phone.page.locator('tr[data-row]').first().waitFor();
    await phone.expectNoSideways();
  }
  await phone.page.getByRole('complementary', { name: 'Why is this here' }).waitFor();
});
