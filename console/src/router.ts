// Addresses behind the "#": #/table/social?pk=USER%23alice. The browser's back and forward work as everywhere.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from 'preact/hooks';

export interface Route {
  /** Decoded: ["table", "social"]; empty: the overview. */
  path: string[];
  query: URLSearchParams;
}

const decode = (part: string) => {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
};

export function parse(hash: string): Route {
  const text = hash.replace(/^#?\/?/, '');
  const at = text.indexOf('?');
  const path = at < 0 ? text : text.slice(0, at);
  return {
    path: path.split('/').filter(Boolean).map(decode),
    query: new URLSearchParams(at < 0 ? '' : text.slice(at + 1)),
  };
}

/** "#/table/social?pk=…"; what is undefined or empty is left out. */
export function href(path: string[], query: Record<string, string | undefined> = {}): string {
  const pairs = Object.entries(query).filter(([, value]) => value !== undefined && value !== '') as [string, string][];
  const search = new URLSearchParams(pairs).toString();
  return `#/${path.map(encodeURIComponent).join('/')}${search ? `?${search}` : ''}`;
}

export function go(to: string): void {
  location.hash = to.replace(/^#/, '');
}

/** As go(), without a step in the history: for what a form has in its address while it is being filled in. */
export function replace(to: string): void {
  history.replaceState(null, '', to);
  dispatchEvent(new HashChangeEvent('hashchange'));
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => parse(location.hash));
  useEffect(() => {
    const changed = () => setRoute(parse(location.hash));
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  return route;
}
