// Short messages at the edge of the page.
// SPDX-License-Identifier: Apache-2.0
import { Cell } from './cell';

export interface Toast {
  id: number;
  text: string;
  kind: 'done' | 'wrong';
}

const SHOWN_MS = 6000;

export const toasts = new Cell<Toast[]>([]);
let count = 0;

export function say(text: string, kind: Toast['kind'] = 'done'): void {
  const id = ++count;
  toasts.value = [...toasts.value.filter((toast) => toast.text !== text), { id, text, kind }];
  setTimeout(() => dismiss(id), SHOWN_MS);
}

export function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}
