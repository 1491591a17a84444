// Light or dark: as the system has it, unless the person has chosen.
// SPDX-License-Identifier: Apache-2.0
export type Theme = 'auto' | 'light' | 'dark';

const STORED = 'thorpe.theme';
const system = matchMedia('(prefers-color-scheme: dark)');

export function chosenTheme(): Theme {
  const stored = localStorage.getItem(STORED);
  return stored === 'light' || stored === 'dark' ? stored : 'auto';
}

export function applyTheme(): void {
  const theme = chosenTheme();
  document.documentElement.dataset.theme = theme === 'auto' ? (system.matches ? 'dark' : 'light') : theme;
}

export function chooseTheme(theme: Theme): void {
  if (theme === 'auto') localStorage.removeItem(STORED);
  else localStorage.setItem(STORED, theme);
  applyTheme();
}

system.addEventListener('change', applyTheme);
