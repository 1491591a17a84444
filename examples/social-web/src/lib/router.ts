// Addresses of pages: #/people/ann, #/posts/p-tea.
// SPDX-License-Identifier: Apache-2.0
import { Cell, useCell } from './cell';

function parse(): string[] {
  return location.hash
    .replace(/^#\/?/, '')
    .split('/')
    .filter(Boolean)
    .map((part) => {
      try {
        return decodeURIComponent(part);
      } catch {
        return part;
      }
    });
}

const place = new Cell(parse());
addEventListener('hashchange', () => {
  place.value = parse();
});

export const usePlace = (): string[] => useCell(place);
export const to = (...parts: string[]): string => `#/${parts.map(encodeURIComponent).join('/')}`;
export const go = (...parts: string[]): void => {
  location.hash = to(...parts);
};
