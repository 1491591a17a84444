// The icons: 16 by 16, strokes in the colour of the text around them.
// SPDX-License-Identifier: Apache-2.0
const PATHS = {
  overview: 'M2.5 2.5h4.5v5h-4.5zM9 2.5h4.5v3H9zM9 7.5h4.5v6H9zM2.5 9.5h4.5v4h-4.5z',
  table: 'M2.5 3h11v10h-11zM2.5 6.5h11M6.5 6.5v6.5M2.5 9.75h11',
  design: 'M8 1.8 13.5 5v6L8 14.2 2.5 11V5zM2.7 5.1 8 8.2l5.3-3.1M8 8.2v5.8',
  stream:
    'M1.5 5c2 0 2-1.5 4.3-1.5S8.5 5 10.5 5s2-1.5 4-1.500M1.5 8.500c2 0 2-1.5 4.3-1.500s2.7 1.5 4.7 1.5 2-1.5 4-1.500M1.5 12c2 0 2-1.5 4.3-1.500S8.5 12 10.5 12s2-1.5 4-1.5',
  processor:
    'M8 5.700a2.3 2.3 0 1 0 0 4.6 2.3 2.3 0 0 0 0-4.600zM8 1.800v1.900M8 12.300v1.900M1.8 8h1.900M12.3 8h1.900M3.6 3.6 5 5M11 11l1.4 1.400M3.6 12.4 5 11M11 5l1.4-1.4',
  pattern: 'M2.5 4h7M2.5 8h5M2.5 12h7M11 6l3 2.5-3 2.5',
  query: 'M2 3h12l-4.7 5.500v4.700l-2.6-1.300V8.500z',
  search: 'M7 2.500a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9zM10.3 10.300l3.2 3.2',
  copy: 'M5.5 5.500h8v8h-8zM3.5 10.500h-1v-8h8v1',
  check: 'M3 8.5 6.5 12 13 4.5',
  close: 'M3.5 3.500l9 9M12.5 3.500l-9 9',
  menu: 'M2.5 4.500h11M2.5 8h11M2.5 11.500h11',
  sun: 'M8 5.200a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.600zM8 1.500v1.300M8 13.200v1.300M1.5 8h1.300M13.2 8h1.300M3.4 3.400l.9.9M11.7 11.700l.9.9M3.4 12.600l.9-.9M11.7 4.300l.9-.9',
  moon: 'M13.5 9.500A6 6 0 0 1 6.5 2.500a5.8 5.8 0 1 0 7 7z',
  auto: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 2v12M8 5h3.800M8 8h5.800M8 11h3.8',
  play: 'M4.5 2.800v10.400L13 8z',
  pause: 'M5 3v10M11 3v10',
  replay: 'M2.5 8a5.5 5.5 0 1 0 1.7-4M2.5 2v3h3',
  edit: 'M10.5 2.800l2.7 2.7-7.5 7.5-3.2.5.5-3.200z',
  trash: 'M2.5 4.500h11M6 4.500v-2h4v2M4 4.500l.7 9h6.600l.7-9M6.7 7v4M9.3 7v4',
  plus: 'M8 3v10M3 8h10',
  right: 'M6 3.5 10.5 8 6 12.5',
  down: 'M3.5 6 8 10.5 12.5 6',
  left: 'M10 3.5 5.5 8 10 12.5',
  link: 'M6 3.500H3v9.500h9.500v-3M9 2.500h4.500V7M13.5 2.5 7.5 8.5',
  warn: 'M8 2.3 14.3 13.300H1.700zM8 6.500v3M8 11.200v.4',
  info: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 7.300v3.700M8 5v.4',
  key: 'M5.2 7.200a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM7.4 8l6-5.500M11 4.800l1.8 1.9',
  signout: 'M6.5 2.500h-4v11h4M10 5l3 3-3 3M13 8H6',
  keyboard: 'M1.5 4h13v8h-13zM4 6.500h.6M6.7 6.500h.6M9.4 6.500h.6M4.5 9.500h7M11.8 6.500h.4',
  refresh: 'M13.5 8a5.5 5.5 0 1 1-1.7-4M13.5 2v3h-3',
  clock: 'M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2zM8 4.700V8l2.3 1.7',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      class="icon"
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.4"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
