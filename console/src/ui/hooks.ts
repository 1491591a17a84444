// What pages share: a request whose result is shown, and keys that do something.
// SPDX-License-Identifier: Apache-2.0
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';

export interface Async<T> {
  /** The last result; kept while the next one is under way. */
  value: T | undefined;
  error: Error | null;
  loading: boolean;
  reload: () => void;
}

/** Calls fn at first, when deps change and on reload(). A result that a newer call has overtaken is dropped, and its signal aborted. */
export function useAsync<T>(fn: (signal: AbortSignal) => Promise<T>, deps: unknown[]): Async<T> {
  const [state, setState] = useState<{ value: T | undefined; error: Error | null; loading: boolean }>({
    value: undefined,
    error: null,
    loading: true,
  });
  const [turn, setTurn] = useState(0);
  useEffect(() => {
    const abort = new AbortController();
    setState((old) => ({ ...old, loading: true }));
    fn(abort.signal).then(
      (value) => {
        if (!abort.signal.aborted) setState({ value, error: null, loading: false });
      },
      (error: Error) => {
        if (!abort.signal.aborted) setState((old) => ({ value: old.value, error, loading: false }));
      },
    );
    return () => abort.abort();
  }, [...deps, turn]);
  const reload = useCallback(() => setTurn((n) => n + 1), []);
  return { ...state, reload };
}

/** Calls fn again and again while the page is visible, the next time `ms` after the last one has ended. */
export function usePoll(fn: () => Promise<void> | void, ms: number, deps: unknown[] = []): void {
  const latest = useRef(fn);
  latest.current = fn;
  useEffect(() => {
    let ended = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const turn = async () => {
      if (document.visibilityState === 'visible') await latest.current();
      if (!ended) timer = setTimeout(() => void turn(), ms);
    };
    void turn();
    return () => {
      ended = true;
      clearTimeout(timer);
    };
  }, [ms, ...deps]);
}

// ---------------------------------------------------------------- keys

interface Hotkey {
  key: string;
  label: string;
  run: (event: KeyboardEvent) => void;
}

const hotkeys: Hotkey[] = [];
/** The first key of a sequence ("g"), and until when it waits for the second. */
let pending = { key: '', until: 0 };
const SEQUENCE_MS = 1_200;

/** What can be pressed at the moment, for the overlay: those with a label. */
export const currentHotkeys = (): { key: string; label: string }[] => hotkeys.filter((hotkey) => hotkey.label);

export const isMac = /Mac|iPhone|iPad/.test(navigator.platform);

const typing = (target: EventTarget | null) =>
  target instanceof HTMLElement &&
  (target.isContentEditable ||
    /^(TEXTAREA|SELECT)$/.test(target.tagName) ||
    (target instanceof HTMLInputElement && !/^(checkbox|radio|button|submit)$/.test(target.type)));

function nameOf(event: KeyboardEvent): string {
  const mod = event.ctrlKey || event.metaKey ? 'mod+' : '';
  const shift = event.shiftKey && /^[a-z]$/i.test(event.key) ? 'shift+' : '';
  return mod + (event.altKey ? 'alt+' : '') + shift + (event.key.length === 1 ? event.key.toLowerCase() : event.key);
}

document.addEventListener('keydown', (event) => {
  const name = nameOf(event);
  const modified = name.startsWith('mod+');
  if (event.defaultPrevented || event.isComposing) return;
  if (!modified && (typing(event.target) || document.querySelector('dialog[open]'))) return;
  const sequence = pending.until > Date.now() ? `${pending.key} ${name}` : '';
  pending = { key: '', until: 0 };
  const find = (wanted: string) =>
    wanted ? [...hotkeys].reverse().find((hotkey) => hotkey.key === wanted) : undefined;
  const found = find(sequence) ?? find(name);
  if (found) {
    event.preventDefault();
    found.run(event);
  } else if (hotkeys.some((hotkey) => hotkey.key.startsWith(`${name} `))) {
    pending = { key: name, until: Date.now() + SEQUENCE_MS };
  }
});

/**
 * While the component is on the page, `key` calls fn: "/", "ArrowDown", "mod+k" (Ctrl or Cmd), "shift+t", "g o" (one after the other).
 * Not while a field has the focus or a dialog is open, except with mod. The component shown last wins;
 * a weak one yields to every other. An empty label keeps it out of the `?` overlay.
 */
export function useHotkey(key: string, fn: (event: KeyboardEvent) => void, label: string, weak = false): void {
  const latest = useRef(fn);
  latest.current = fn;
  useEffect(() => {
    const hotkey = { key, label, run: (event: KeyboardEvent) => latest.current(event) };
    if (weak) hotkeys.unshift(hotkey);
    else hotkeys.push(hotkey);
    return () => {
      hotkeys.splice(hotkeys.indexOf(hotkey), 1);
    };
  }, [key, label, weak]);
}
