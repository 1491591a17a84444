// Unsaved input: kept while the tab is open, so that leaving the page loses nothing. SPDX-License-Identifier:
// Apache-2.0
import { useEffect, useState } from 'preact/hooks';

const PREFIX = 'thorpe.draft.';

function read<T>(id: string): T | null {
  try {
    const text = sessionStorage.getItem(PREFIX + id);
    return text === null ? null : (JSON.parse(text) as T);
  } catch {
    return null;
  }
}

function write(id: string, draft: unknown): void {
  try {
    if (draft === null) sessionStorage.removeItem(PREFIX + id);
    else sessionStorage.setItem(PREFIX + id, JSON.stringify(draft));
  } catch {
    /* full, or forbidden: beforeunload still asks */
  }
}

export interface DraftState<T> {
  draft: T | null;
  /** Whether it existed when the page was opened. */
  found: boolean;
  set: (draft: T | null) => void;
}

/** null: no unsaved input. Otherwise the browser asks before closing the tab. */
export function useDraft<T>(id: string): DraftState<T> {
  const [state, setState] = useState(() => ({ id, draft: read<T>(id), found: read<T>(id) !== null }));
  const current = state.id === id ? state : { id, draft: read<T>(id), found: read<T>(id) !== null };
  useEffect(() => {
    if (state.id !== id) setState(current);
  }, [id]);
  useEffect(() => {
    if (current.draft === null) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, [current.draft === null]);
  const set = (draft: T | null) => {
    write(id, draft);
    setState({ id, draft, found: false });
  };
  return { draft: current.draft, found: current.found, set };
}
