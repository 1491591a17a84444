// A value that several parts of the page show: they are drawn again when it changes.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from 'preact/hooks';

export class Cell<T> {
  private readonly listeners = new Set<() => void>();

  constructor(private current: T) {}

  get value(): T {
    return this.current;
  }
  set value(next: T) {
    if (next === this.current) return;
    this.current = next;
    for (const listener of [...this.listeners]) listener();
  }
  listen(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

export function useCell<T>(cell: Cell<T>): T {
  const [, draw] = useState(0);
  const shown = cell.value;
  useEffect(() => {
    const again = () => draw((n) => n + 1);
    if (cell.value !== shown) again(); // it changed between drawing and listening
    return cell.listen(again);
  }, [cell]);
  return shown;
}
