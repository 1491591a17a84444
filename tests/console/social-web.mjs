// The app of examples/social-web in a browser: a server with it, people who use it on their phones.
// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { designFile, newPage, startServer } from './harness.mjs';

const dist = join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'examples', 'social-web', 'dist');

export const PASSWORD = 'correct horse';
export const SMALL_PHONE = { width: 360, height: 740 };
/** What Chromium logs for replies that the app expects: a relation that is not there, a refused form. */
const EXPECTED = [/the server responded with a status of 4\d\d/];
const PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><rect width="40" height="30" fill="#9cc"/></svg>';

export function startSocial(options = {}) {
  assert.ok(existsSync(join(dist, 'index.html')), 'examples/social-web is not built: run scripts/social-web.sh');
  return startServer({ data: null, ...options, args: ['--design', designFile('social'), '--app', `social=${dist}`, ...(options.args ?? [])] });
}

/** The browser of one person. Pictures of pictures.example exist; others do not. */
export async function openApp(server, { tolerate = [], ...options } = {}) {
  const on = await newPage(server.endpoint, { viewport: SMALL_PHONE, tolerate: [...EXPECTED, ...tolerate], ...options });
  const { page } = on;
  await page.route('https://pictures.example/**', (route) => route.fulfill({ contentType: 'image/svg+xml', body: PICTURE }));
  const visit = async (hash = '#/') => {
    await page.goto(`${server.endpoint}/apps/social/${hash}`);
    await page.locator('main').waitFor();
  };
  return {
    ...on,
    visit,
    button: (name) => page.getByRole('button', { name, exact: true }),
    post: (text) => page.getByRole('article', { name: /^Post by/ }).filter({ hasText: text }),
    comment: (text) => page.getByRole('article', { name: /^Comment by/ }).filter({ hasText: text }),
    async signUp(name, { isPrivate = false } = {}) {
      await visit('#/signup');
      await page.getByLabel('User name', { exact: true }).fill(name);
      await page.getByLabel('E-mail address').fill(`${name}@example.org`);
      await page.getByLabel('Password').fill(PASSWORD);
      if (isPrivate) await page.getByLabel(/Private account/).check();
      await page.getByRole('button', { name: 'Sign up' }).click();
      await page.getByRole('form', { name: 'New post' }).waitFor();
    },
    async logIn(name, password = PASSWORD) {
      await visit('#/login');
      await page.getByLabel('User name or e-mail address').fill(name);
      await page.getByLabel('Password').fill(password);
      await page.getByRole('button', { name: 'Log in', exact: true }).click();
    },
    async write(text, picture) {
      await page.getByLabel('What is new?').fill(text);
      if (picture) {
        await page.getByRole('button', { name: 'Add a picture' }).click();
        await page.getByLabel('Address of a picture').fill(picture);
      }
      await page.getByRole('button', { name: 'Post', exact: true }).click();
    },
    /** The profile of a person, found by name. */
    async find(name) {
      await visit('#/discover');
      await page.getByLabel('Find a person by user name').fill(name);
      await page.getByRole('button', { name: 'Find' }).click();
      await page.getByRole('region', { name: 'Profile' }).getByText(`@${name}`).waitFor();
    },
    /** What every page must be: readable, and no wider than a phone. */
    async expectFit() {
      await on.expectNoSideways();
      await on.expectReadable();
    },
  };
}

/** REST as a person: what another program or another page does meanwhile. */
export async function caller(server, name) {
  const send = async (method, path, body, token) => {
    const reply = await fetch(`${server.endpoint}/api/social${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
      body: body && JSON.stringify(body),
    });
    const text = await reply.text();
    assert.ok(reply.ok, `${method} ${path}: ${reply.status} ${text}`);
    return text ? JSON.parse(text) : undefined;
  };
  let { token } = await send('POST', '/login', { name, password: PASSWORD }).catch(() => ({}));
  if (!token) {
    await send('POST', '/users', { user_id: name, username: name, email: `${name}@example.org`, password: PASSWORD });
    ({ token } = await send('POST', '/login', { name, password: PASSWORD }));
  }
  return { token, send: (method, path, body) => send(method, path, body, token) };
}
