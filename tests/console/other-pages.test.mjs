// What web pages of other origins can do to a server without keys, in a real browser: nothing. Foreign names lead to loopback
// here (--host-resolver-rules), as the names of a hostile site can.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { once } from 'node:events';
import http from 'node:http';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { clientsFor, startServer } from './harness.mjs';

const tests = join(dirname(fileURLToPath(import.meta.url)), '..');
const design = ['--design', join(tests, 'designs', 'shelves', 'shelves.yaml'), '--design', join(tests, '..', 'designs', 'social.yaml')]; // whose lists can be watched
const SECONDS = 5;

// The server of all pages but Thorpe's: one empty page, whatever it is called.
const site = http.createServer((req, res) => res.setHeader('content-type', 'text/html').end('<!doctype html><title>a page</title><body></body>'));
site.listen(0, '127.0.0.1');
await once(site, 'listening');
const sitePort = site.address().port;

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage',
    '--host-resolver-rules=MAP evil.example 127.0.0.1, MAP app.example 127.0.0.1'],
});
const server = await startServer({ data: null, args: design });
after(async () => {
  await browser.close();
  site.close();
  await server.stop();
});

async function pageAt(address) {
  const context = await browser.newContext();
  const page = await context.newPage();
  await page.goto(address);
  return page;
}

/** In the page: everything that a page can try. Tells what it could read; what it wrote, others see. */
async function tryEverything({ endpoint, who, seconds }) {
  const read = {};
  const limited = (promise) => Promise.race([promise, new Promise((resolve) => setTimeout(resolve, seconds * 1000, undefined))]);
  const attempt = async (name, path, init = {}) => {
    try {
      const response = await fetch(endpoint + path, init);
      if (response.type !== 'opaque' && response.ok) read[name] = await response.text();
    } catch { /* the browser does not let us see it */ }
  };
  const account = (suffix) => JSON.stringify({ name: `${who}-${suffix}`, password: 'correct horse' });
  const scan = JSON.stringify({ TableName: 'shelves' });
  const put = (suffix) => JSON.stringify({ TableName: 'shelves', Item: { PK: { S: `READER#${who}-${suffix}` }, SK: { S: 'READER' } } });
  const dynamo = (operation) => ({ 'content-type': 'application/x-amz-json-1.0', 'x-amz-target': `DynamoDB_20120810.${operation}` });

  await attempt('list of designs', '/api');
  await attempt('list of designs, no-cors', '/api', { mode: 'no-cors' });
  await attempt('an account', '/api/shelves/readers/ann');
  await attempt('metrics', '/metrics');
  await attempt('session', '/console/api/session', { headers: { 'x-thorpe-console': '1' } });
  await attempt('scan', '/', { method: 'POST', headers: dynamo('Scan'), body: scan });
  await attempt('put', '/', { method: 'POST', headers: dynamo('PutItem'), body: put('put') });
  await attempt('text/plain to /', '/', { method: 'POST', mode: 'no-cors', headers: { 'content-type': 'text/plain' }, body: put('plain-put') });
  await attempt('target in the query', '/?X-Amz-Target=DynamoDB_20120810.PutItem', { method: 'POST', mode: 'no-cors', body: put('query-put') });
  await attempt('sign-up', '/api/shelves/readers', { method: 'POST', headers: { 'content-type': 'application/json' }, body: account('json') });
  await attempt('sign-up, text/plain', '/api/shelves/readers', { method: 'POST', mode: 'no-cors', headers: { 'content-type': 'text/plain' }, body: account('text') });
  await attempt('sign-up, no type', '/api/shelves/readers', { method: 'POST', mode: 'no-cors', body: new Blob([account('blob')]) });
  navigator.sendBeacon(`${endpoint}/api/shelves/readers`, new Blob([account('beacon')], { type: 'text/plain' }));
  await attempt('login', '/api/shelves/login', { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ name: 'ann', password: 'correct horse' }) });
  await attempt('delete', '/api/shelves/readers/ann', { method: 'DELETE' });

  const loaded = (element) => limited(new Promise((resolve) => {
    element.onload = () => resolve('loaded');
    element.onerror = () => resolve('error');
    document.body.append(element);
  }));
  // A form that makes JSON of itself, into a frame.
  const frame = Object.assign(document.createElement('iframe'), { name: 'target' });
  document.body.append(frame);
  for (const [path, text] of [['/api/shelves/readers', account('form')], ['/', put('form-put')]]) {
    const form = Object.assign(document.createElement('form'), { action: endpoint + path, method: 'post', enctype: 'text/plain', target: 'target' });
    form.append(Object.assign(document.createElement('input'), { name: `${text.slice(0, -1)},"x":"`, value: '"}' }));
    document.body.append(form);
    const done = limited(new Promise((resolve) => { frame.onload = resolve; }));
    form.submit();
    await done;
  }
  // What is embedded shows whether it is there.
  if (await loaded(Object.assign(document.createElement('script'), { src: `${endpoint}/api` })) === 'loaded') read.script = 'loaded';
  const events = new EventSource(`${endpoint}/api/social/users/alice/posts`);
  const heard = await limited(new Promise((resolve) => {
    events.onopen = () => resolve('open');
    events.onerror = () => resolve(undefined);
  }));
  if (heard) read.events = heard;
  events.close();
  return read;
}

const { ddb } = clientsFor(server.endpoint);
const contents = async () => (await ddb.scan({ TableName: 'shelves' })).Items.map(({ PK, SK }) => `${PK.S} ${SK.S}`).sort();
const signUp = (endpoint, name) => fetch(`${endpoint}/api/shelves/readers`, {
  method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ name, password: 'correct horse' }),
});
assert.equal((await signUp(server.endpoint, 'ann')).status, 201);

test('a page of a foreign site reads nothing and writes nothing', async () => {
  const before = await contents();
  for (const endpoint of [server.endpoint, server.endpoint.replace('127.0.0.1', 'localhost')]) {
    const page = await pageAt(`http://evil.example:${sitePort}/`);
    const read = await page.evaluate(tryEverything, { endpoint, who: 'eve', seconds: SECONDS });
    assert.deepEqual(read, {}, `read from ${endpoint}`);
    await page.context().close();
  }
  assert.deepEqual(await contents(), before, 'written');
});

test('nor does a frame without an origin', async () => {
  const before = await contents();
  const page = await pageAt(`http://localhost:${sitePort}/`); // a page that may, with something in it that may not
  await page.setContent(`<iframe sandbox="allow-scripts allow-forms" src="http://localhost:${sitePort}/"></iframe>`);
  const frame = await (await page.waitForSelector('iframe')).contentFrame();
  await frame.waitForLoadState();
  assert.equal(await frame.evaluate(() => self.origin), 'null');
  assert.deepEqual(await frame.evaluate(tryEverything, { endpoint: server.endpoint, who: 'nobody', seconds: SECONDS }), {});
  await page.context().close();
  assert.deepEqual(await contents(), before, 'written');
});

test('nor does a foreign name that has come to lead to the server itself (DNS rebinding)', async () => {
  const before = await contents();
  const endpoint = server.endpoint.replace('127.0.0.1', 'evil.example');
  for (const path of ['/healthz', '/console/', '/api']) {
    const page = await pageAt(endpoint + path); // its own origin from here on
    assert.deepEqual(await page.evaluate(tryEverything, { endpoint, who: 'mallory', seconds: SECONDS }), {}, path);
    assert.match(await page.innerText('body'), /answers only as localhost/);
    await page.context().close();
  }
  assert.deepEqual(await contents(), before, 'written');
});

test('a link on a foreign page leads to the console', async () => {
  const page = await pageAt(`http://evil.example:${sitePort}/`);
  await page.evaluate((href) => {
    document.body.append(Object.assign(document.createElement('a'), { href, textContent: 'console' }));
  }, `${server.endpoint}/`);
  await page.getByText('console').click();
  await page.waitForURL(/\/console\//);
  await page.getByText('Shelves').first().waitFor();
  await page.context().close();
});

test('a page of this machine reads, writes and watches', async () => {
  for (const [who, origin] of [['near', `http://localhost:${sitePort}`], ['number', `http://127.0.0.1:${sitePort}`]]) {
    const page = await pageAt(`${origin}/`);
    const read = await page.evaluate(tryEverything, { endpoint: server.endpoint, who, seconds: SECONDS });
    for (const name of ['list of designs', 'an account', 'metrics', 'scan', 'put', 'sign-up', 'login', 'events']) assert.ok(name in read, `${origin}: ${name}`);
    assert.ok(!('session' in read), 'the console is for its own page');
    const written = await contents();
    for (const suffix of ['put', 'json']) assert.ok(written.includes(`READER#${who}-${suffix} READER`), `${origin}: ${suffix}`);
    await page.context().close();
  }
});

test('a page of an origin of --cors does, too, and sees the headers it needs; others still do not', async () => {
  const origin = `http://app.example:${sitePort}`;
  const open = await startServer({ data: null, args: [...design, '--cors', origin] });
  try {
    assert.equal((await signUp(open.endpoint, 'ann')).status, 201);
    const page = await pageAt(`${origin}/`);
    const read = await page.evaluate(tryEverything, { endpoint: open.endpoint, who: 'app', seconds: SECONDS });
    for (const name of ['list of designs', 'an account', 'scan', 'put', 'sign-up', 'login', 'events']) assert.ok(name in read, name);
    const seen = await page.evaluate(async (endpoint) => {
      const { token } = await (await fetch(`${endpoint}/api/shelves/login`, {
        method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"name":"ann","password":"correct horse"}',
      })).json();
      const made = await fetch(`${endpoint}/api/shelves/readers/ann/books`, {
        method: 'POST', headers: { 'content-type': 'application/json', authorization: `Bearer ${token}`, 'idempotency-key': 'once' }, body: '{"title":"x"}',
      });
      const book = await fetch(endpoint + made.headers.get('location'));
      const changed = await fetch(endpoint + made.headers.get('location'), {
        method: 'PATCH', body: '{"title":"y"}',
        headers: { 'content-type': 'application/merge-patch+json', authorization: `Bearer ${token}`, 'if-match': book.headers.get('etag') },
      });
      return [made.status, book.status, changed.status];
    }, open.endpoint);
    assert.deepEqual(seen, [201, 200, 200]);
    await page.context().close();
    const other = await pageAt(`http://evil.example:${sitePort}/`);
    assert.deepEqual(await other.evaluate(tryEverything, { endpoint: open.endpoint, who: 'eve', seconds: SECONDS }), {});
    await other.context().close();
  } finally {
    await open.stop();
  }
});
