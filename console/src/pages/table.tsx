// The single-table view: a table, or one of its indexes, as item collections.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { dynamo } from '../lib/client';
import { collections, itemId, windowItems } from '../lib/collections';
import { kindName, kinds, type Kind } from '../lib/recognise';
import { gathering, shapes, type Shape } from '../lib/shapes';
import { indexOf, keysOfView, tableInfo, tableKeys, typedKey, type TableInfo } from '../lib/table-info';
import { matchTemplate } from '../lib/templates';
import type { Item } from '../lib/types';
import { keyText } from '../lib/values';
import { patternsOf, patternsOfShape } from '../lib/why';
import { go, href, type Route } from '../router';
import { Button, Empty, EntityBadge, ErrorBox, Spinner, Tabs, Units, format, useAsync, useHotkey } from '../ui';
import { Finder, type Wanted } from './table-finder';
import { usePages, type Loaded, type View } from './table-load';
import { TableMap } from './table-map';
import { Collections, kindOfItem, sameKind } from './table-view';
import { WhyPanel } from './table-why';

const TABLE_TAB = '';

function viewOf(table: TableInfo | undefined, route: Route): View {
  const get = (name: string) => route.query.get(name);
  const only = get('only');
  return {
    index: table ? (indexOf(table, get('index'))?.name ?? null) : get('index'),
    pk: get('pk') || null,
    sk: get('sk') || null,
    descending: get('order') === 'desc',
    only: table?.design && only ? (kinds(table.design).find((kind) => kindName(kind) === only) ?? null) : null,
  };
}

// ---------------------------------------------------------------- head

/** What an index holds and what it is for. */
function IndexNote({ table, index }: { table: TableInfo; index: string | null }) {
  const info = indexOf(table, index);
  const patterns = table.design ? patternsOf(table.design, index) : [];
  const projection = !info
    ? null
    : info.projection === 'ALL'
      ? 'with all attributes'
      : info.projection === 'KEYS_ONLY'
        ? 'with keys alone'
        : `with keys and ${info.include.join(', ')}`;
  return (
    <p class="index-note">
      {info && (
        <>
          Items that have{' '}
          {info.range ? (
            <>
              both <code>{info.hash}</code> and <code>{info.range}</code>
            </>
          ) : (
            <code>{info.hash}</code>
          )}
          , {projection}; the others are not in {info.name}.{' '}
        </>
      )}
      {patterns.length > 0 && (
        <details class="index-patterns">
          <summary>
            {format.plural(patterns.length, 'access pattern')} {patterns.length === 1 ? 'reads' : 'read'} it
          </summary>
          <span class="index-pattern-list">
            {patterns.map((pattern) => (
              <a
                key={pattern.name}
                href={href(['design', table.design!.name, 'patterns', pattern.name])}
                title={pattern.request}
              >
                {pattern.name}
              </a>
            ))}
          </span>
        </details>
      )}
    </p>
  );
}

function Head({ table, index, onIndex }: { table: TableInfo; index: string | null; onIndex: (index: string) => void }) {
  const label = (name: string, hash: string, range: string | null) => (
    <span class="index-tab">
      <span>{name}</span>
      <code>{range ? `${hash} · ${range}` : hash}</code>
    </span>
  );
  const tabs = [
    { id: TABLE_TAB, label: label('Table', table.hash, table.range) },
    ...table.indexes.map((of) => ({ id: of.name, label: label(of.name, of.hash, of.range) })),
  ];
  return (
    <>
      <header class="page-head table-head">
        <div>
          <h1>{table.name}</h1>
          <p>
            {table.design ? (
              <>
                {table.design.title}: design <a href={href(['design', table.design.name])}>{table.design.name}</a>
              </>
            ) : (
              'A table without a design'
            )}
            , {format.plural(table.items, 'item')}, {format.bytes(table.bytes)}
          </p>
        </div>
        <span class="spread" />
        <a class="button" href={href(['table', table.name, 'query'], { index: index ?? undefined })}>
          Query builder
        </a>
        <a class="button" href={href(['table', table.name, 'item'], { new: '1' })}>
          New item
        </a>
      </header>
      <Tabs label="Table or index" tabs={tabs} selected={index ?? TABLE_TAB} onSelect={onIndex} />
    </>
  );
}

/** What can be done about the kind that is marked. */
function MarkBar({
  table,
  view,
  kind,
  loaded,
  onClear,
  open,
}: {
  table: TableInfo;
  view: View;
  kind: Kind;
  loaded: Item[];
  onClear: () => void;
  open: (view: Partial<View> & { only?: Kind | null }) => void;
}) {
  const count = loaded.filter((item) => sameKind(kindOfItem(table.design, item), kind)).length;
  const all = gathering(table.design!, kind);
  const only = sameKind(view.only, kind) && view.only;
  return (
    <div class="mark-bar" role="status">
      <EntityBadge name={kindName(kind)} index={kind.entityIndex} /> {only ? 'only these:' : 'marked:'} {count} of{' '}
      {format.plural(loaded.length, 'loaded item')}
      <span class="spread" />
      {all && (
        <Button small onClick={() => open({ index: all.index, pk: all.pk, sk: all.sk || null, only: null })}>
          All of them, in {all.index ?? 'the table'}
        </Button>
      )}
      {!only && view.pk === null && (
        <Button small onClick={() => open({ only: kind })}>
          Look for these only
        </Button>
      )}
      <Button
        small
        kind="ghost"
        onClick={() => {
          onClear();
          if (only) open({ only: null });
        }}
      >
        Clear
      </Button>
    </div>
  );
}

// ---------------------------------------------------------------- foot

function Foot({ pages, view, loaded }: { pages: Loaded; view: View; loaded: number }) {
  const { window, totals, loading } = pages;
  return (
    <footer class="table-foot">
      {window.next ? (
        <Button onClick={pages.more} busy={loading}>
          {view.only && loaded === 0 ? 'Keep looking' : 'More items'}
        </Button>
      ) : (
        !loading &&
        loaded > 0 && (
          <span class="muted">{view.pk === null ? 'That was all.' : 'That was all of this partition.'}</span>
        )
      )}
      <span class="muted number">
        {format.plural(loaded, 'item')} here
        {totals.scanned > loaded ? `, ${format.count(totals.scanned)} read` : ''},{' '}
        {format.plural(totals.requests, view.pk === null ? 'Scan' : 'Query', view.pk === null ? 'Scans' : 'Queries')}
      </span>
      <Units read={totals.units} ms={totals.ms} />
    </footer>
  );
}

// ---------------------------------------------------------------- page

/** The item named by `at`, when it is not on the page that was loaded. */
function useNamed(
  table: TableInfo | undefined,
  view: View,
  at: string | null,
  there: Item | undefined,
  loading: boolean,
): Item | undefined {
  const wanted = !!table && !!at && !there && !loading && view.pk !== null && !view.index;
  const found = useAsync(async () => {
    if (!wanted || !table.range) return undefined;
    const key = {
      [table.hash]: typedKey(table, table.hash, view.pk!),
      [table.range]: typedKey(table, table.range, at),
    };
    return (await dynamo<{ Item?: Item }>('GetItem', { TableName: table.name, Key: key })).Item;
  }, [wanted, at, view.pk]);
  return wanted ? found.value : undefined;
}

/** Moves the focus along the rows. */
function moveFocus(step: number): HTMLElement | null {
  const rows = [...document.querySelectorAll<HTMLElement>('tr[data-row]')];
  const at = rows.findIndex((row) => row === document.activeElement || row.contains(document.activeElement));
  const next =
    rows[
      at < 0
        ? (rows.findIndex((row) => row.tabIndex === 0) + rows.length) % rows.length
        : Math.min(rows.length - 1, Math.max(0, at + step))
    ];
  next?.focus({ preventScroll: false });
  next?.scrollIntoView({ block: 'nearest' });
  return next ?? null;
}

export function TablePage({ route }: { route: Route }) {
  const name = route.path[1]!;
  const info = useAsync(() => tableInfo(name), [name]);
  const table = info.value;
  const view = viewOf(table, route);
  const pages = usePages(table, view);
  const [selected, setSelected] = useState<string | null>(null);
  const [marked, setMarked] = useState<Kind | null>(null);
  const [request, setRequest] = useState<{ shape: Shape; turn: number } | null>(null);
  const at = route.query.get('at');
  const opened = useRef<string | null>(null);

  const items = useMemo(() => windowItems(pages.window), [pages.window]);
  const list = useMemo(
    () => (table ? collections(items, keysOfView(table, view.index), tableKeys(table), view.descending) : []),
    [items, table, view.index, view.descending],
  );
  const map = useMemo(() => (table?.design ? shapes(table.design, view.index) : []), [table, view.index]);

  const idOf = (item: Item) => itemId(item, table ? tableKeys(table) : []);
  // `at` is a sort key in the table, a whole key in an index, where several rows can share theirs.
  const isNamed = (item: Item) =>
    view.index
      ? idOf(item) === at
      : keyText(item[table!.hash]) === view.pk && !!table!.range && keyText(item[table!.range]) === at;
  const named = table && at ? items.find(isNamed) : undefined;
  const elsewhere = useNamed(table, view, at, named, pages.loading);
  const target = named ?? elsewhere;
  const place = `${view.index} ${view.pk} ${at}`;
  useEffect(() => {
    if (!target || opened.current === place) return;
    opened.current = place;
    setSelected(idOf(target));
    setTimeout(() => document.querySelector('tr.row-selected')?.scrollIntoView({ block: 'center' }));
  }, [target, place]);
  useEffect(() => {
    if (opened.current !== place) setSelected(null);
  }, [view.index, view.pk, view.sk, at]);

  const shown =
    selected === null
      ? undefined
      : (items.find((item) => idOf(item) === selected) ?? (target && idOf(target) === selected ? target : undefined));
  const move = (step: number) => {
    const row = moveFocus(step);
    if (row && selected !== null) setSelected(row.dataset.row!);
  };
  useHotkey('ArrowDown', () => move(1), 'next item');
  useHotkey('ArrowUp', () => move(-1), 'previous item');
  useHotkey(
    'Enter',
    (event) => {
      const row = (document.activeElement as HTMLElement | null)?.dataset?.row;
      if (row) setSelected(row);
      else if (event.target instanceof HTMLElement) event.target.click();
    },
    'why is this item here',
  );
  useHotkey('Escape', () => setSelected(null), 'close the panel');
  useHotkey('m', () => pages.more(), 'more items');

  if (info.error && !table) return <ErrorBox error={info.error} retry={info.reload} />;
  if (!table)
    return (
      <div class="table-wait">
        <Spinner />
      </div>
    );

  const address = (next: Partial<View>) => {
    const to = { ...view, ...next };
    return href(['table', table.name], {
      index: to.index ?? undefined,
      pk: to.pk ?? undefined,
      sk: to.sk ?? undefined,
      only: to.pk === null && to.only ? kindName(to.only) : undefined,
      order: to.descending ? 'desc' : undefined,
    });
  };
  const open = (next: Partial<View>) => go(address(next));
  const keys = keysOfView(table, view.index);
  const find = ({ pk, sk }: Wanted) => open({ pk, sk, only: null, descending: pk === null ? false : view.descending });
  const focusable = selected ?? (list[0]?.items[0] ? idOf(list[0].items[0]) : null);
  const mark = (kind: Kind) => setMarked(marked && sameKind(marked, kind) ? null : kind);
  const shownKind = marked ?? view.only;
  return (
    <div class={`table-page${shown ? ' table-with-panel' : ''}`}>
      <div class="table-main">
        <Head
          table={table}
          index={view.index}
          onIndex={(index) => {
            setMarked(null);
            open({ index: index || null, pk: null, sk: null, only: null });
          }}
        />
        <IndexNote table={table} index={view.index} />
        {map.length > 0 && (
          <TableMap
            shapes={map}
            design={table.design!.name}
            patternsOf={(shape) => patternsOfShape(table.design!, view.index, keys.hash, shape.id)}
            marked={shownKind}
            onMark={mark}
            chosen={view.pk === null ? null : (map.find((shape) => matchTemplate(shape.parts, view.pk!))?.id ?? null)}
            hashName={keys.hash}
            rangeName={keys.range}
            onShape={(shape) => setRequest({ shape, turn: (request?.turn ?? 0) + 1 })}
          />
        )}
        <div class="table-tools">
          <Finder
            keys={keys}
            prefixed={!keys.range || table.types[keys.range] === 'S'}
            shapes={map}
            wanted={view}
            request={request}
            onFind={find}
          />
          {view.pk !== null && keys.range && (
            <Button small kind="ghost" onClick={() => open({ descending: !view.descending })}>
              {view.descending ? '↓ descending' : '↑ ascending'}
            </Button>
          )}
          <Button small kind="ghost" icon="refresh" onClick={pages.reload} aria-label="Load again" title="Load again" />
        </div>
        {shownKind && table.design && (
          <MarkBar
            table={table}
            view={view}
            kind={shownKind}
            loaded={items}
            onClear={() => setMarked(null)}
            open={open}
          />
        )}
        {pages.error && <ErrorBox error={pages.error} retry={pages.reload} />}
        {pages.window.before.length > 0 && (
          <div class="table-earlier">
            <span class="muted">Earlier items were dropped to keep the page fast.</span>
            <Button small onClick={pages.earlier} busy={pages.loading}>
              Earlier items
            </Button>
            <Button small kind="ghost" onClick={pages.reload}>
              From the beginning
            </Button>
          </div>
        )}
        {pages.loading && items.length === 0 && (
          <div class="table-wait">
            <Spinner />
          </div>
        )}
        <Collections
          table={table}
          index={view.index}
          list={list}
          first={pages.window.before.length === 0}
          last={!pages.window.next}
          single={view.pk !== null}
          selected={shown ? selected : null}
          focusable={focusable}
          marked={shownKind}
          onSelect={(item) => setSelected(idOf(item))}
        />
        {!pages.loading && !pages.error && items.length === 0 && (
          <Empty
            title={
              view.pk !== null
                ? 'Nothing is in this partition'
                : view.only
                  ? 'None found so far'
                  : view.index
                    ? `${view.index} is empty`
                    : 'The table is empty'
            }
          >
            {view.pk !== null ? (
              <>
                No item {view.index ? `of ${view.index} ` : ''}has{' '}
                <code>
                  {keys.hash} = {view.pk}
                </code>
                {view.sk && (
                  <>
                    {' '}
                    and a <code>{keys.range}</code> that begins with <code>{view.sk}</code>
                  </>
                )}
                .
              </>
            ) : view.index ? (
              'No item has its keys.'
            ) : null}
          </Empty>
        )}
        <Foot pages={pages} view={view} loaded={items.length} />
      </div>
      {shown && <WhyPanel table={table} item={shown} index={view.index} onClose={() => setSelected(null)} />}
    </div>
  );
}
