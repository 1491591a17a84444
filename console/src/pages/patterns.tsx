// The access patterns of a design: what an application asks of it, each to be tried out.
// SPDX-License-Identifier: Apache-2.0
import { useMemo, useRef, useState } from 'preact/hooks';
import { designOf } from '../lib/client';
import type { AccessPattern, Design } from '../lib/types';
import { href, type Route } from '../router';
import { Badge, Empty, ErrorBox, Icon, Input, Spinner, entityStyle, useAsync, useHotkey } from '../ui';
import { PatternDetail } from './patterns-detail';

interface Group {
  name: string;
  /** In design.entities; -1: several kinds. */
  index: number;
  patterns: AccessPattern[];
}

/** By what they return, in the order of the entities. */
function groupsOf(design: Design, patterns: AccessPattern[]): Group[] {
  const groups = design.entities.map((entity, index) => ({
    name: entity.name,
    index,
    patterns: patterns.filter((one) => one.entity === entity.name),
  }));
  const others = patterns.filter((one) => !design.entities.some((entity) => entity.name === one.entity));
  return [...groups, { name: 'Several kinds', index: -1, patterns: others }].filter(
    (group) => group.patterns.length > 0,
  );
}

function matches(pattern: AccessPattern, words: string[]): boolean {
  const text = [pattern.name, ...pattern.ids, pattern.path, pattern.entity, pattern.index ?? 'table', pattern.request]
    .join(' ')
    .toLowerCase();
  return words.every((word) => text.includes(word));
}

function PatternLink({ design, pattern, current }: { design: Design; pattern: AccessPattern; current: boolean }) {
  return (
    <a
      class="pat-link"
      href={href(['design', design.name, 'patterns', pattern.name])}
      aria-current={current ? 'page' : undefined}
    >
      <span class="pat-link-name">
        {pattern.name}
        {!pattern.path && <Badge title="For processors and other patterns: it has no route">internal</Badge>}
      </span>
      <span class="pat-link-path">{pattern.path ?? pattern.request}</span>
      <span class="pat-link-marks">
        {pattern.ids.map((id) => (
          <span key={id} class="pat-id">
            {id}
          </span>
        ))}
        <span class="pat-index">{pattern.index ?? (pattern.kind === 'merge' ? 'merge' : 'table')}</span>
      </span>
    </a>
  );
}

/** The arrow keys go from link to link. */
function moveFocus(event: KeyboardEvent, list: HTMLElement | null): void {
  const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
  const links = [...(list?.querySelectorAll<HTMLElement>('.pat-link') ?? [])];
  if (!step || links.length === 0) return;
  event.preventDefault();
  const at = links.indexOf(document.activeElement as HTMLElement);
  links[Math.min(Math.max(at + step, 0), links.length - 1)]!.focus();
}

function PatternList({ design, current }: { design: Design; current: AccessPattern | undefined }) {
  const [search, setSearch] = useState('');
  const field = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLElement>(null);
  useHotkey('/', () => field.current?.focus(), 'Search the access patterns');
  const groups = useMemo(
    () =>
      groupsOf(
        design,
        design.access.filter((one) => matches(one, search.toLowerCase().split(/\s+/).filter(Boolean))),
      ),
    [design, search],
  );
  return (
    <nav class="pat-list" aria-label="Access patterns" ref={list} onKeyDown={(event) => moveFocus(event, list.current)}>
      <h2 class="visually-hidden">Access patterns of {design.title}</h2>
      <div class="pat-search">
        <Icon name="search" />
        <Input
          value={search}
          onInput={setSearch}
          inputRef={field}
          type="search"
          placeholder={`Search ${design.access.length} patterns`}
          aria-label="Search the access patterns"
        />
      </div>
      {groups.length === 0 && <p class="muted pat-none">No pattern has all of these words.</p>}
      {groups.map((group) => (
        <section key={group.name} style={entityStyle(group.index < 0 ? 11 : group.index)} class="pat-group">
          <h3>
            <span class="pat-swatch" />
            {group.name}
            <span class="muted">{group.patterns.length}</span>
          </h3>
          {group.patterns.map((pattern) => (
            <PatternLink key={pattern.name} design={design} pattern={pattern} current={pattern === current} />
          ))}
        </section>
      ))}
    </nav>
  );
}

export function PatternsPage({ route }: { route: Route }) {
  const name = route.path[1]!;
  const wanted = route.path[3];
  const { value: design, error, reload } = useAsync(() => designOf(name), [name]);
  if (error) return <ErrorBox error={error} retry={reload} />;
  if (!design) return <Spinner />;
  const current =
    wanted === undefined ? undefined : design.access.find((one) => one.name === wanted || one.ids.includes(wanted));
  const shown =
    current ??
    (wanted === undefined
      ? (design.access.find((one) => one.path && one.kind === 'query') ?? design.access[0])
      : undefined);
  return (
    <div class="pat" data-chosen={wanted !== undefined}>
      <PatternList design={design} current={shown} />
      <div class="pat-detail">
        <a class="pat-back" href={href(['design', name, 'patterns'])}>
          <Icon name="left" /> All access patterns
        </a>
        {shown ? (
          <PatternDetail key={shown.name} design={design} pattern={shown} route={route} />
        ) : (
          <Empty title={`${design.title} has no access pattern ${wanted}`}>
            <a href={href(['design', name, 'patterns'])}>All of them</a>
          </Empty>
        )}
      </div>
    </div>
  );
}
