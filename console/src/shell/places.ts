// Every place one can go to, for the rail and the palette, and what an address is about.
// SPDX-License-Identifier: Apache-2.0
import { session } from '../lib/session';
import type { SessionDesign, Stats } from '../lib/types';
import { href, type Route } from '../router';
import type { IconName } from '../ui';

export interface Place {
  label: string;
  icon: IconName;
  href: string;
  /** What kind of thing it is, or what it belongs to. */
  about: string;
}

export const placesOf = (design: SessionDesign): Place[] => [
  { label: 'Single table', icon: 'table', href: href(['table', design.table]), about: design.title },
  { label: 'Access patterns', icon: 'pattern', href: href(['design', design.name, 'patterns']), about: design.title },
  { label: 'Design', icon: 'design', href: href(['design', design.name]), about: design.title },
  { label: 'Query', icon: 'query', href: href(['table', design.table, 'query']), about: design.title },
  { label: 'Stream', icon: 'stream', href: href(['streams', design.table]), about: design.title },
  { label: 'Processors', icon: 'processor', href: href(['processors', design.name]), about: design.title },
];

/** Where processors keep their positions: the server's own, beside a design's table. */
export const isBookkeeping = (table: string): boolean =>
  session().designs.some((design) => table === `${design.table}.thorpe`);

export function otherTables(stats: Stats | null): string[] {
  return stats?.tables.filter((table) => !table.design && !isBookkeeping(table.name)).map((table) => table.name) ?? [];
}

export const bookkeepingTables = (stats: Stats | null): string[] =>
  stats?.tables.filter((table) => isBookkeeping(table.name)).map((table) => table.name) ?? [];

/** The design that an address is about; undefined: none. */
export function designAt(route: Route): SessionDesign | undefined {
  const [kind, name] = route.path;
  const byTable = kind === 'table' || kind === 'streams';
  return session().designs.find((design) => (byTable ? design.table : design.name) === name);
}

/** The table that an address is about. */
export function tableAt(route: Route): string | undefined {
  const [kind, name] = route.path;
  return kind === 'table' || kind === 'streams' ? name : designAt(route)?.table;
}

export interface Crumb {
  label: string;
  href?: string;
  mono?: boolean;
}

/** From the overview down to the page. */
export function crumbs(route: Route): Crumb[] {
  const [kind, name, part, more] = route.path;
  if (!kind) return [{ label: 'Overview' }];
  const design = designAt(route);
  const trail: Crumb[] = [];
  if (design) trail.push({ label: design.title, href: href(['design', design.name]) });
  if (kind === 'table' && name) {
    trail.push({ label: name, href: href(['table', name]), mono: true });
    if (part === 'item') trail.push({ label: 'Item' });
    if (part === 'query') trail.push({ label: 'Query' });
  } else if (kind === 'design') {
    if (part === 'patterns') trail.push({ label: 'Access patterns', href: href(['design', name!, 'patterns']) });
    if (more) trail.push({ label: more });
    if (!part) trail.push({ label: 'Design' });
  } else if (kind === 'streams' && name) {
    if (!design) trail.push({ label: name, href: href(['table', name]), mono: true });
    trail.push({ label: 'Stream' });
  } else if (kind === 'processors') {
    trail.push({ label: 'Processors' });
  }
  return trail.length ? trail : [{ label: 'Not found' }];
}
