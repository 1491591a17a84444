// The palette: type some letters of a table, design, access pattern or page, and go there.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { designOf } from '../lib/client';
import { session } from '../lib/session';
import { useStats } from '../lib/stats';
import type { Design } from '../lib/types';
import { go, href } from '../router';
import { Dialog, Icon, useAsync } from '../ui';
import { bookkeepingTables, otherTables, placesOf, type Place } from './places';

const SHOWN = 40;

/** How well the letters fit: all words must occur; at the beginning of a word they count more. Negative: not at all. */
export function score(place: Place, typed: string): number {
  const text = `${place.label} ${place.about}`.toLowerCase();
  let sum = 0;
  for (const word of typed.toLowerCase().split(/\s+/).filter(Boolean)) {
    const at = text.indexOf(word);
    if (at < 0) return -1;
    sum += (at === 0 ? 4 : /[\s_-]/.test(text[at - 1]!) ? 2 : 1) + (at < place.label.length ? 1 : 0);
  }
  return sum;
}

function allPlaces(designs: Design[], tables: string[]): Place[] {
  return [
    { label: 'Overview', icon: 'overview', href: '#/', about: 'page' },
    ...session().designs.flatMap(placesOf),
    ...designs.flatMap((design) =>
      design.access.map((pattern): Place => ({
        label: pattern.name,
        icon: 'pattern',
        href: href(['design', design.name, 'patterns', pattern.name]),
        about: `${design.title} · access pattern`,
      })),
    ),
    ...designs.map((design): Place => ({
      label: design.table,
      icon: 'table',
      href: href(['table', design.table]),
      about: `${design.title} · table`,
    })),
    ...tables.flatMap((table): Place[] => [
      { label: table, icon: 'table', href: href(['table', table]), about: 'table' },
      { label: `${table} stream`, icon: 'stream', href: href(['streams', table]), about: 'table' },
    ]),
  ];
}

/** `near`: the title of the design one is at; what belongs to it comes first among equals. */
export function Palette({ near, onClose }: { near?: string; onClose: () => void }) {
  const { stats } = useStats();
  const { value: designs } = useAsync(() => Promise.all(session().designs.map((design) => designOf(design.name))), []);
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const list = useRef<HTMLUListElement>(null);
  const tables = [...otherTables(stats), ...bookkeepingTables(stats)];
  const found = useMemo(
    () =>
      allPlaces(designs ?? [], tables)
        .map((place) => ({ place, fit: score(place, typed) }))
        .filter(({ fit }) => fit >= 0)
        .map(({ place, fit }) => ({ place, fit: fit + (near && place.about.startsWith(near) ? 0.5 : 0) }))
        .sort((a, b) => b.fit - a.fit)
        .slice(0, SHOWN)
        .map(({ place }) => place),
    [designs, tables.join(), typed],
  );
  const chosen = Math.min(at, found.length - 1);

  useEffect(() => {
    list.current?.children[chosen]?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  const open = (place: Place | undefined) => {
    if (!place) return;
    onClose();
    go(place.href);
  };
  const keys = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step) setAt((chosen + step + found.length) % Math.max(1, found.length));
    else if (event.key === 'Enter') open(found[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Go to" onClose={onClose} bare>
      <div class="palette-field">
        <Icon name="search" />
        <input
          class="palette-input"
          value={typed}
          placeholder="Go to a table, design or access pattern"
          aria-label="Go to"
          autoFocus
          role="combobox"
          aria-expanded
          aria-controls="palette-list"
          aria-activedescendant={`palette-${chosen}`}
          autoComplete="off"
          spellcheck={false}
          onInput={(event) => {
            setTyped(event.currentTarget.value);
            setAt(0);
          }}
          onKeyDown={keys}
        />
      </div>
      <ul class="palette-list" id="palette-list" role="listbox" ref={list}>
        {found.map((place, i) => (
          <li
            key={place.href + place.label}
            id={`palette-${i}`}
            role="option"
            aria-selected={i === chosen}
            onMouseMove={() => setAt(i)}
            onClick={() => open(place)}
          >
            <Icon name={place.icon} />
            <span class="palette-label">{place.label}</span>
            <span class="palette-about">{place.about}</span>
          </li>
        ))}
      </ul>
      {found.length === 0 && <p class="palette-none">No match.</p>}
    </Dialog>
  );
}
