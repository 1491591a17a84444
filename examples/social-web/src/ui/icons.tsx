// Icons, drawn here: nothing is loaded.
// SPDX-License-Identifier: Apache-2.0
const PATHS = {
  home: 'M4 11l8-7 8 7v9h-5v-6H9v6H4z',
  discover: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l4 4',
  write: 'M4 20l1-5L16 4l4 4L9 19zM14 6l4 4',
  bell: 'M6 16V11a6 6 0 0 1 12 0v5l2 2H4zM10 20a2 2 0 0 0 4 0',
  person: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM4 20c1-4 4-6 8-6s7 2 8 6',
  heart: 'M12 20S4 15 4 9a4 4 0 0 1 8-1 4 4 0 0 1 8 1c0 6-8 11-8 11z',
  comment: 'M4 5h16v11H12l-5 4v-4H4z',
  lock: 'M6 11h12v9H6zM8 11V8a4 4 0 0 1 8 0v3',
  check: 'M5 13l5 5L19 7',
  trash: 'M5 7h14M9 7V4h6v3M7 7l1 13h8l1-13',
  close: 'M6 6l12 12M18 6L6 18',
  picture: 'M4 5h16v14H4zM4 16l5-5 4 4 2-2 5 4M15 9h.01',
};

export function Icon({ name, filled }: { name: keyof typeof PATHS; filled?: boolean }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
      <path
        d={PATHS[name]}
        fill={filled ? 'currentColor' : 'none'}
        stroke="currentColor"
        stroke-width="1.8"
        stroke-linecap="round"
        stroke-linejoin="round"
      />
    </svg>
  );
}
