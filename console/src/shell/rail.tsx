// The list at the left: designs with what belongs to them, then the tables without a design.
// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import { session } from '../lib/session';
import { useStats } from '../lib/stats';
import type { SessionDesign } from '../lib/types';
import { href, type Route } from '../router';
import { format, Icon, type IconName } from '../ui';
import { Mark } from '../ui/mark';
import { designAt, otherTables, placesOf, tableAt } from './places';

/** The address without its query, to mark the current entry. */
const here = (route: Route) => href(route.path);

function RailLink({
  to,
  icon,
  label,
  mono,
  current,
  note,
}: {
  to: string;
  icon: IconName;
  label: string;
  mono?: boolean;
  current: boolean;
  note?: string;
}) {
  return (
    <a class="rail-link" href={to} aria-current={current ? 'page' : undefined}>
      <Icon name={icon} />
      <span class={`rail-label${mono ? ' mono' : ''}`}>{label}</span>
      {note && <span class="rail-note">{note}</span>}
    </a>
  );
}

/** Which of a design's places an address is at: the item page belongs to the single table, one pattern to the patterns. */
function placeAt(route: Route): string {
  const [kind, name, part] = route.path;
  if (kind === 'table' && part === 'item') return href(['table', name!]);
  if (kind === 'design' && part) return href(['design', name!, part]);
  return here(route);
}

function Group({
  design,
  route,
  open,
  onToggle,
}: {
  design: SessionDesign;
  route: Route;
  open: boolean;
  onToggle: () => void;
}) {
  const { stats } = useStats();
  const items = stats?.tables.find((table) => table.name === design.table)?.items;
  const parked = stats?.processors.reduce((sum, p) => sum + (p.design === design.name ? p.parked : 0), 0) ?? 0;
  const current = placeAt(route);
  return (
    <li class="rail-group">
      <button type="button" class="rail-toggle" aria-expanded={open} onClick={onToggle}>
        <Icon name={open ? 'down' : 'right'} size={12} />
        <span class="rail-label">{design.title}</span>
        {parked > 0 && <span class="dot dot-warn" title={`${format.plural(parked, 'parked change')}`} />}
        {items !== undefined && <span class="rail-note number">{format.compact(items)}</span>}
      </button>
      {open && (
        <ul>
          {placesOf(design).map((place) => (
            <li key={place.href}>
              <RailLink
                to={place.href}
                icon={place.icon}
                label={place.label}
                current={place.href === current}
                note={place.icon === 'processor' && parked > 0 ? `${parked} parked` : undefined}
              />
            </li>
          ))}
        </ul>
      )}
    </li>
  );
}

function PlainTables({ title, names, route }: { title: string; names: string[]; route: Route }) {
  const { stats } = useStats();
  if (names.length === 0) return null;
  const items = (name: string) => stats?.tables.find((table) => table.name === name)?.items ?? 0;
  return (
    <>
      <h2 class="rail-title">{title}</h2>
      <ul>
        {names.map((name) => (
          <li key={name}>
            <RailLink
              to={href(['table', name])}
              icon="table"
              label={name}
              mono
              current={tableAt(route) === name}
              note={format.compact(items(name))}
            />
          </li>
        ))}
      </ul>
    </>
  );
}

export function Rail({ route }: { route: Route }) {
  const { stats } = useStats();
  const { designs, version } = session();
  const active = designAt(route);
  const [toggled, setToggled] = useState<Record<string, boolean>>({});
  const isOpen = (design: SessionDesign) =>
    toggled[design.name] ??
    (design === active || designs.length <= 2 || (route.path.length === 0 && design === designs[0]));
  return (
    <nav class="rail" aria-label="Tables and designs">
      <a class="rail-brand" href="#/">
        <Mark />
        <span>Thorpe</span>
        <span class="rail-note">{version}</span>
      </a>
      <ul>
        <li>
          <RailLink to="#/" icon="overview" label="Overview" current={route.path.length === 0} />
        </li>
      </ul>
      {designs.length > 0 && <h2 class="rail-title">Designs</h2>}
      <ul>
        {designs.map((design) => (
          <Group
            key={design.name}
            design={design}
            route={route}
            open={isOpen(design)}
            onToggle={() => setToggled({ ...toggled, [design.name]: !isOpen(design) })}
          />
        ))}
      </ul>
      <PlainTables title={designs.length ? 'Other tables' : 'Tables'} names={otherTables(stats)} route={route} />
    </nav>
  );
}
