// What this page has done itself, for the lists on it: they show it before the server tells them.
// SPDX-License-Identifier: Apache-2.0
import { useEffect } from 'preact/hooks';
import { type Post } from '../generated/social';

export type PostChange = { kind: 'added' | 'removed'; item: Post };

const listeners = new Set<(change: PostChange) => void>();

export function tellOfPost(change: PostChange): void {
  for (const listener of [...listeners]) listener(change);
}

export function usePostChanges(listener: (change: PostChange) => void): void {
  useEffect(() => {
    listeners.add(listener);
    return () => void listeners.delete(listener);
  });
}
