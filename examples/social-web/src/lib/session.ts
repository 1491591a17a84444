// The caller: the client with its tokens, logging in and out, and what happens when a session ends.
//
// Tokens are kept in localStorage, so that all tabs are the same person and a reload asks for nothing. A token lives for
// minutes and is renewed without a word; the session ends after thirty days without a visit, or by logging out. A
// renewal token is good for one renewal, so tabs renew one after the other, each with the last one of all (Web Locks).
// SPDX-License-Identifier: Apache-2.0
import { SocialClient, type User } from '../generated/social';
import { Cell } from './cell';

export interface Session {
  id: string;
  username: string;
}

const STORED = 'village.session';

/** The person who is logged in. */
export const session = new Cell<Session | undefined>(undefined);
/** The profile of the person who is logged in, as last seen. */
export const profile = new Cell<User | undefined>(undefined);
/** False while requests get no answer. */
export const online = new Cell(true);
/** A session has ended: the page asks for the password, and answers with a new token, or with nothing to log out. */
export const reentry = new Cell<((token: string | undefined) => void) | undefined>(undefined);

// Relative to the page: it works below any prefix that a proxy adds.
const baseUrl = new URL('../../api/social', location.href.replace(/[?#].*$/, '')).href;

const PROBE_MS = 3000;

/** Asks until the server answers: what the page shows then is true, also where nothing else asks. */
async function probe(): Promise<void> {
  while (!online.value) {
    await new Promise((resolve) => setTimeout(resolve, PROBE_MS));
    if (!online.value && !document.hidden) await watchedFetch(`${baseUrl}/`).catch(() => undefined);
  }
}

online.listen(() => {
  if (!online.value) void probe();
});

// The browser knows sooner than a request whether there is a network at all; whether the server answers, it does not.
addEventListener('offline', () => {
  online.value = false;
});
addEventListener('online', () => void watchedFetch(`${baseUrl}/`).catch(() => undefined));

/** As fetch(), and notes whether the server answers. A live list that is out of reach shows here, too. */
async function watchedFetch(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  try {
    const reply = await fetch(input, init);
    online.value = reply.status !== 502 && reply.status !== 504;
    return reply;
  } catch (error) {
    if (!init?.signal?.aborted) online.value = false;
    throw error;
  }
}

interface Stored extends Session {
  token: string;
  renewal?: string;
}

function readStored(): Stored | undefined {
  try {
    const found = JSON.parse(localStorage.getItem(STORED) ?? 'null') as Partial<Stored> | null;
    return found?.token && found.id && found.username ? (found as Stored) : undefined;
  } catch {
    return undefined;
  }
}

function store(token: string | undefined, renewal: string | undefined): void {
  const { value } = session;
  if (token && value) localStorage.setItem(STORED, JSON.stringify({ ...value, token, ...(renewal && { renewal }) }));
  else if (!token) localStorage.removeItem(STORED);
}

/** What carries a renewal token: with the last one that any tab was given. */
async function sendRenewal(url: string, init: RequestInit): Promise<Response> {
  const body = JSON.parse(String(init.body)) as { renewal?: string };
  const last = readStored();
  const headers = new Headers(init.headers);
  if (body.renewal && last?.renewal && last.renewal !== body.renewal && last.id === session.value?.id) {
    body.renewal = last.renewal;
    headers.set('idempotency-key', `${headers.get('idempotency-key') ?? ''}-${last.renewal.slice(-12)}`);
  }
  const reply = await watchedFetch(url, { ...init, headers, body: JSON.stringify(body) });
  if (reply.ok && url.endsWith('/renew')) {
    const { token, renewal } = (await reply.clone().json()) as Stored;
    store(token, renewal); // before another tab has its turn
  }
  return reply;
}

async function send(input: RequestInfo | URL, init?: RequestInit): Promise<Response> {
  const url = String(input);
  if (!init?.body || !/\/(renew|logout)$/.test(url)) return watchedFetch(input, init);
  const locks = navigator.locks as LockManager | undefined; // pages have them only with https or on localhost
  return locks ? await locks.request(STORED, () => sendRenewal(url, init)) : sendRenewal(url, init);
}

const stored = readStored();
/** While this page logs in with a password that it has just changed: the token after it. */
let changing: Promise<string | undefined> | undefined;

export const api = new SocialClient({
  baseUrl,
  ...(stored && { token: stored.token }),
  ...(stored?.renewal && { renewal: stored.renewal }),
  fetch: send,
  onToken: store,
  onUnauthenticated: () =>
    changing?.catch(() => undefined) ??
    (session.value ? new Promise((resolve) => (reentry.value = resolve)) : Promise.resolve(undefined)),
});

if (stored) session.value = { id: stored.id, username: stored.username };

// Another tab has logged in or out: this one is the same person.
addEventListener('storage', (event) => {
  if ((event.key === STORED || event.key === null) && readStored()?.id !== session.value?.id) location.reload();
});

/** Reads the profile of the person who is logged in. */
export async function loadProfile(): Promise<void> {
  const { value } = session;
  if (value) profile.value = await api.getUser({ user_id: value.id });
}

export async function logIn(name: string, password: string): Promise<void> {
  const reply = await api.login({ name: name.trim(), password });
  profile.value = reply.user;
  session.value = { id: reply.subject, username: reply.user?.username ?? name };
  store(reply.token, reply.renewal);
}

/** A session for the same person, after the last one has ended. */
export async function logInAgain(password: string): Promise<string | undefined> {
  const { value } = session;
  if (!value) return undefined;
  const { token } = await api.login({ name: value.username, password });
  reentry.value?.(token);
  reentry.value = undefined;
  return token;
}

function forget(): void {
  session.value = undefined;
  profile.value = undefined;
  const answer = reentry.value;
  reentry.value = undefined;
  api.$transport.token = undefined;
  answer?.(undefined);
  location.hash = '#/';
}

/** Ends the session here, whether or not the server can be reached. */
export async function logOut(): Promise<void> {
  const ended = reentry.value ? Promise.resolve() : api.logout();
  await ended.catch(() => undefined);
  forget();
}

/** Ends all sessions of the account; fails if they have not ended. */
export async function logOutEverywhere(): Promise<void> {
  await api.logout({ everywhere: true });
  forget();
}

/** A new password ends all sessions; this page goes on with a new one. */
export async function changePassword(before: string, password: string): Promise<void> {
  const { value } = session;
  if (!value) return;
  await api.updateUser({ user_id: value.id }, { password, current_password: before });
  changing = logInAgain(password).finally(() => {
    changing = undefined;
  });
  await changing;
}
