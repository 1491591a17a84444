// Our session with the server: the keys of the signed-in operator, the server's session document, and fresh tokens
// for the REST APIs. SPDX-License-Identifier: Apache-2.0
import { ApiError, consoleApi } from './client';
import type { Credentials } from './sigv4';
import type { Session, SessionDesign } from './types';

const STORED_KEYS = 'thorpe.keys';
/** Tokens are renewed when they expire sooner than this. */
const RENEW_BEFORE_MS = 60_000;

let current: Session | null = null;
let keys: Credentials | null = readKeys();
let renewing: Promise<Session> | null = null;

function readKeys(): Credentials | null {
  try {
    const stored = sessionStorage.getItem(STORED_KEYS);
    return stored ? (JSON.parse(stored) as Credentials) : null;
  } catch {
    return null;
  }
}

/** What requests are signed with; null: they are not. */
export const credentials = (): Credentials | null => keys;

/** The server's region, from its refusal: a signature must name it, and there is no session before a signature. */
let told: string | null = null;

/** The region requests are signed for. */
export const region = (): string => current?.region ?? told ?? 'us-east-1';

/** True: requests were signed for another region so far. */
export function learnRegion(there: string | null): boolean {
  const other = there !== null && there !== region();
  if (other) {
    told = there;
    if (current) current = { ...current, region: there };
  }
  return other;
}

/** The session document. There is one once load() has succeeded, which is before any page is shown. */
export function session(): Session {
  if (!current) throw new Error('not signed in');
  return current;
}

/** Loads the session; fails with an ApiError for which needsKeys() is true if the server requires keys. */
export function load(): Promise<Session> {
  renewing ??= consoleApi<Session>('session')
    .then((found) => (current = found))
    .finally(() => {
      renewing = null;
    });
  return renewing;
}

export const needsKeys = (error: unknown): boolean =>
  error instanceof ApiError &&
  (error.status === 401 ||
    error.status === 403 ||
    /MissingAuthenticationToken|UnrecognizedClient|InvalidSignature|IncompleteSignature/.test(error.code));

/** Tries the keys; keeps them for this browser tab if the server takes them. */
export async function signIn(given: Credentials): Promise<Session> {
  keys = given;
  try {
    const found = await load();
    sessionStorage.setItem(STORED_KEYS, JSON.stringify(given));
    return found;
  } catch (error) {
    keys = null;
    throw error;
  }
}

export function signOut(): void {
  keys = null;
  current = null;
  try {
    sessionStorage.removeItem(STORED_KEYS);
  } catch {
    /* nothing was kept */
  }
  location.reload();
}

/** The design as the session has it, with a token that lives long enough for a request; a new one if `renew`. */
export async function freshDesign(name: string, renew = false): Promise<SessionDesign> {
  const find = () => session().designs.find((design) => design.name === name);
  let design = find();
  if (design && (renew || design.expires_at - Date.now() < RENEW_BEFORE_MS)) {
    await load();
    design = find();
  }
  if (!design) throw new ApiError(404, 'NoSuchDesign', `This server has no design ${name}.`, null);
  return design;
}
