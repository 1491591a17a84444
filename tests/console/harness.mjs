// A server with designs and demo data, and its console in a browser. Whatever the page complains about fails the test.
//
// THORPE_BIN        the server (default: build/thorpe)
// CHROMIUM          the browser (default: /usr/bin/chromium)
// THORPE_CONSOLE    test the console at this address (of the development server) instead of the one in the binary
// THORPE_SHOTS      a directory for pictures of what is on the page when a test fails
//
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';
import { clientsFor, freshDirectory, killAll, startServer, until, within } from '../wire/process.mjs';

export { clientsFor, freshDirectory, startServer, until, within };

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
export const DESIGNS = ['blog', 'fus', 'perfectit', 'social', 'wavyblog'];
export const designFile = (name) => (name.includes('/') ? name : join(root, 'designs', `${name}.yaml`));
export const DEMO = join(root, 'designs', 'demo');
export const PHONE = { width: 390, height: 844 };
const PATIENCE_MS = 15_000;

/** Where the browser is. One a test file; it ends with it. */
let browser;
async function theBrowser() {
  browser ??= chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  });
  return browser;
}

/** What a page must not do: errors, failed requests, violations of its Content-Security-Policy. */
function watch(page, complaints, tolerated) {
  const complain = (text) => { if (!tolerated.some((pattern) => pattern.test(text))) complaints.push(text); };
  page.on('pageerror', (error) => complain(`error: ${error.stack ?? error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' || /Content.Security.Policy/i.test(message.text())) complain(`console: ${message.text()}`);
  });
  page.on('requestfailed', (request) => {
    const reason = request.failure()?.errorText;
    if (reason !== 'net::ERR_ABORTED') complain(`request: ${request.url()} ${reason}`); // aborted: by a page that was left
  });
  page.on('response', (response) => {
    if (response.status() >= 500) complain(`response: ${response.status()} ${response.url()}`);
  });
}

/** In the page: texts with less contrast than 4.5:1 (3:1 where they are large). */
function findFaintText() {
  const canvas = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true });
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = (top, below) => [0, 1, 2].map((i) => top[i] * top[3] + below[i] * (1 - top[3])).concat(1);
  const behind = (element) => {
    if (!element) return rgba(getComputedStyle(document.documentElement).colorScheme.includes('dark') ? 'black' : 'white');
    const own = rgba(getComputedStyle(element).backgroundColor);
    return own[3] === 1 ? own : over(own, behind(element.parentElement));
  };
  const light = (color) => {
    const [r, g, b] = color.map((c) => (c / 255 <= 0.04045 ? c / 255 / 12.92 : ((c / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const faint = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || element.closest(':disabled, script, noscript, option, svg') || !element.checkVisibility({ visibilityProperty: true })) continue;
    const style = getComputedStyle(element);
    const ground = behind(element);
    const [a, b] = [light(over(rgba(style.color), ground)), light(ground)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5)) faint.push(`${ratio.toFixed(2)}:1 ${element.className || element.tagName} "${node.data.trim().slice(0, 40)}"`);
  }
  return [...new Set(faint)];
}

/** A page of a browser that has been nowhere yet. */
export async function newPage(address, { viewport = { width: 1280, height: 800 }, scale = 1, dark = false, tolerate = [], storage = {} } = {}) {
  const context = await (await theBrowser()).newContext({
    viewport, deviceScaleFactor: scale, colorScheme: dark ? 'dark' : 'light', reducedMotion: 'reduce', permissions: ['clipboard-read', 'clipboard-write'],
  });
  await context.addInitScript((given) => {
    if (location.href === 'about:blank') return; // has no storage
    for (const [key, value] of Object.entries(given)) localStorage.setItem(key, value);
  }, storage);
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE_MS);
  const complaints = [];
  watch(page, complaints, tolerate);
  return {
    page,
    context,
    complaints,
    /** Goes to an address of the console, such as "#/table/social", as if it had not been there before. */
    async open(hash = '#/') {
      await page.goto('about:blank');
      await page.goto(`${address}/console/${hash}`);
      await page.waitForSelector('main');
    },
    expectText: (text) => page.getByText(text).first().waitFor(),
    expectNoText: (text) => page.getByText(text).first().waitFor({ state: 'hidden' }),
    expectHash: (pattern) => page.waitForURL((url) => pattern.test(url.hash)),
    /** Whether something is wider than the window. */
    async expectNoSideways() {
      const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      assert.equal(wide, 0, `the page is ${wide} px wider than the window`);
    },
    /** Whether all text that is seen stands out from what is behind it, as WCAG AA asks. */
    async expectReadable() {
      const faint = await page.evaluate(findFaintText);
      assert.deepEqual(faint, [], 'text with too little contrast');
    },
    async clipboard() {
      return page.evaluate(() => navigator.clipboard.readText());
    },
    /** Ends the page; it must have had nothing to complain about. */
    async close() {
      await context.close();
      assert.deepEqual(complaints, [], 'the page complained');
    },
  };
}

/**
 * A server, clients for it and a page of its console.
 *   designs  names of designs/, or files; [] for none
 *   demo     whether their demo data is loaded
 *   args     more for `thorpe serve`; listen: where, if not at a free port
 * The rest is for newPage().
 */
export async function startConsole({ designs = DESIGNS, demo = true, args = [], data = null, listen, ...pageOptions } = {}) {
  const server = await startServer({
    data,
    listen,
    args: [...designs.flatMap((name) => ['--design', designFile(name)]), ...(demo && designs.length ? ['--demo', DEMO] : []), ...args],
  });
  const address = process.env.THORPE_CONSOLE ?? server.endpoint;
  const clients = clientsFor(server.endpoint);
  const first = await newPage(address, pageOptions);
  const pages = [first];
  return {
    server,
    endpoint: server.endpoint,
    ...clients,
    ...first,
    async newPage(options) {
      const next = await newPage(address, options);
      pages.push(next);
      return next;
    },
    /** Ends it all, and says what pages had to complain about. */
    async close() {
      const complaints = pages.flatMap(({ complaints: found }) => found);
      if (process.env.THORPE_SHOTS) {
        writeFileSync(join(process.env.THORPE_SHOTS, `last-${process.pid}.png`), await first.page.screenshot().catch(() => ''));
      }
      await Promise.all(pages.map(({ context }) => context.close()));
      await (await theBrowser()).close();
      clients.ddb.destroy();
      clients.streams.destroy();
      await server.stop();
      killAll();
      assert.deepEqual(complaints, [], 'the page complained');
    },
  };
}
