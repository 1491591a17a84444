// The caller: the client with its token, logging in and out, and what happens when a token ends.
//
// The token is kept in sessionStorage: a reload keeps it, closing the tab forgets it, and two tabs can be two people.
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
/** A token has ended: the page asks for the password, and answers with a new token, or with nothing to log out. */
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
}

function readStored(): Stored | undefined {
  try {
    const stored = JSON.parse(sessionStorage.getItem(STORED) ?? 'null') as Partial<Stored> | null;
    return stored?.token && stored.id && stored.username ? (stored as Stored) : undefined;
  } catch {
    return undefined;
  }
}

const stored = readStored();

export const api = new SocialClient({
  baseUrl,
  ...(stored && { token: stored.token }),
  fetch: watchedFetch,
  onToken: store,
  onUnauthenticated: () =>
    session.value ? new Promise((resolve) => (reentry.value = resolve)) : Promise.resolve(undefined),
});

function store(token: string | undefined): void {
  const { value } = session;
  if (token && value) sessionStorage.setItem(STORED, JSON.stringify({ ...value, token }));
  else sessionStorage.removeItem(STORED);
}

if (stored) session.value = { id: stored.id, username: stored.username };

/** Reads the profile of the person who is logged in. */
export async function loadProfile(): Promise<void> {
  const { value } = session;
  if (value) profile.value = await api.getUser({ user_id: value.id });
}

export async function logIn(name: string, password: string): Promise<void> {
  const reply = await api.login({ name: name.trim(), password });
  profile.value = reply.user;
  session.value = { id: reply.subject, username: reply.user?.username ?? name };
  store(reply.token);
}

/** Another token for the same person, after the last one has ended. */
export async function logInAgain(password: string): Promise<void> {
  const { value } = session;
  if (!value) return;
  const reply = await api.login({ name: value.username, password });
  reentry.value?.(reply.token);
  reentry.value = undefined;
}

export function logOut(): void {
  session.value = undefined;
  profile.value = undefined;
  const answer = reentry.value;
  reentry.value = undefined;
  api.$transport.token = undefined;
  answer?.(undefined);
  location.hash = '#/';
}
