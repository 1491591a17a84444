// The picture of a single table: a partition key beside all items that share it, attribute names above each run of one entity.
// SPDX-License-Identifier: Apache-2.0
import { Component } from 'preact';
import { columns, itemId, prefixKind, runs, type Collection } from '../lib/collections';
import { explain, isHidden, kindName, kindOf, recognise, type Kind, type Recognised } from '../lib/recognise';
import { references } from '../lib/references';
import { allKeys, indexesOf, isExpired, keyQuery, keysOfView, tableKeys, type TableInfo } from '../lib/table-info';
import { matchTemplate, prefixOf } from '../lib/templates';
import type { AttributeValue, Design, Item } from '../lib/types';
import { keyText, show, typeOf } from '../lib/values';
import { href } from '../router';
import { Badge, EntityBadge, entityStyle, format } from '../ui';
import { KeyView, MaybeLink, TemplateView } from './table-key';

const CELL_CHARACTERS = 160;
const MOST_COLUMNS = 40;

const known = new WeakMap<Item, Recognised | null>();

/** As recognise(), once for each item. */
export function recognised(design: Design | null, item: Item): Recognised | null {
  if (!design) return null;
  let found = known.get(item);
  if (found === undefined) known.set(item, (found = recognise(design, item)));
  return found;
}

export const kindOfItem = (design: Design | null, item: Item): Kind | null => {
  const found = recognised(design, item);
  return found && kindOf(design!, found);
};

export const sameKind = (a: Kind | null, b: Kind | null): boolean =>
  a?.entity === b?.entity && a?.companion === b?.companion;

/** Where an item is in the table itself, with its partition around it. */
export const itemPlace = (table: TableInfo, key: Item): string => {
  const { pk, sk } = keyQuery(table, key);
  return href(['table', table.name], { pk, at: sk });
};

/** Where an item is in an index. */
export function indexPlace(table: TableInfo, item: Item, index: string | null): string {
  if (!index) return itemPlace(table, item);
  const { hash } = keysOfView(table, index);
  return href(['table', table.name], { index, pk: keyText(item[hash]) ?? '', at: itemId(item, tableKeys(table)) });
}

function referenceLinks(table: TableInfo, item: Item): (name: string) => string | undefined {
  const list = table.design ? references(table.design, item, recognised(table.design, item)) : [];
  return (name) => {
    const found = list.find((reference) => reference.attribute === name);
    return found && itemPlace(table, found.key);
  };
}

// ---------------------------------------------------------------- cells

function Value({ value, to }: { value: AttributeValue | undefined; to?: string }) {
  if (!value) return null;
  const text = show(value);
  const short = text.length > CELL_CHARACTERS ? `${text.slice(0, CELL_CHARACTERS)}…` : text;
  const type = typeOf(value);
  const title = `${text.length > 600 ? `${text.slice(0, 600)}…` : text}`;
  return (
    <span class={`value value-${type.toLowerCase()}`} title={title}>
      <MaybeLink to={to} title={`${title}: go to it`}>
        {short === '' ? '“”' : short}
      </MaybeLink>
    </span>
  );
}

/** The other places an item is at. */
function Also({ table, item, index }: { table: TableInfo; item: Item; index: string | null }) {
  const others = indexesOf(table, item).filter((of) => of.name !== index);
  return (
    <td class="also">
      {index && (
        <a href={itemPlace(table, item)} title="The item in the table" onClick={(event) => event.stopPropagation()}>
          table
        </a>
      )}
      {others.map((of) => (
        <a
          key={of.name}
          href={indexPlace(table, item, of.name)}
          title={`Also in ${of.name}: ${of.hash} = ${keyText(item[of.hash])}`}
          onClick={(event) => event.stopPropagation()}
        >
          {of.name}
        </a>
      ))}
    </td>
  );
}

interface RowProps {
  table: TableInfo;
  index: string | null;
  item: Item;
  kind: Kind | null;
  names: string[];
  selected: boolean;
  dimmed: boolean;
  focusable: boolean;
  onSelect: (item: Item) => void;
}

function RowView({ table, index, item, kind, names, selected, dimmed, focusable, onSelect }: RowProps) {
  const { range } = keysOfView(table, index);
  const link = referenceLinks(table, item);
  const expired = isExpired(table, item);
  const state = `${selected ? ' row-selected' : ''}${dimmed ? ' row-dimmed' : ''}${expired ? ' row-expired' : ''}`;
  return (
    <tr
      class={`row-item${state}`}
      data-row={itemId(item, tableKeys(table))}
      tabIndex={focusable ? 0 : -1}
      aria-current={selected}
      onClick={() => onSelect(item)}
    >
      {range && (
        <th scope="row" class="sort">
          <KeyView value={item[range]!} parts={kind && explain(kind, item, range)} link={link} />
          {expired && (
            <Badge kind="warn" title={`Its time to live (${table.ttl}) has passed; it will be deleted`}>
              expired
            </Badge>
          )}
        </th>
      )}
      <Also table={table} item={item} index={index} />
      {names.map((name) => {
        const value = item[name];
        const hidden = kind && isHidden(kind, name);
        const parts =
          value && kind && kind.rules.some((rule) => rule.attribute === name) ? explain(kind, item, name) : null;
        return (
          <td key={name} data-name={name} class={value ? '' : 'absent'}>
            {value && hidden ? (
              <span class="muted" title="Hidden by the design: no API shows it. Open the item to see it raw.">
                hidden
              </span>
            ) : value && parts ? (
              <KeyView value={value} parts={parts} link={link} />
            ) : (
              <Value value={value} to={link(name)} />
            )}
          </td>
        );
      })}
    </tr>
  );
}

/** A row is drawn again only when something about it has changed: there may be hundreds. */
class Row extends Component<RowProps> {
  shouldComponentUpdate(next: RowProps): boolean {
    const now = this.props;
    return (
      next.item !== now.item ||
      next.selected !== now.selected ||
      next.dimmed !== now.dimmed ||
      next.focusable !== now.focusable ||
      next.kind !== now.kind ||
      next.table !== now.table ||
      next.index !== now.index ||
      next.names.join() !== now.names.join()
    );
  }

  render(props: RowProps) {
    return <RowView {...props} />;
  }
}

// ---------------------------------------------------------------- runs

/** The columns of a run: first the entity's other attributes, then those in its keys, then keys of indexes. */
function runColumns(table: TableInfo, index: string | null, items: Item[], kind: Kind | null): string[] {
  const view = keysOfView(table, index);
  const shown = [view.hash, view.range ?? ''];
  const keys = allKeys(table);
  const own = kind?.entity.attributes.map((attribute) => attribute.name).filter((name) => !keys.includes(name)) ?? [];
  const inKeys = new Set(kind?.entity.params ?? []);
  const first = [...(index ? tableKeys(table) : []), ...own.filter((name) => !inKeys.has(name))];
  const computed =
    kind?.rules.map((rule) => rule.attribute).filter((name) => !keys.includes(name) && !own.includes(name)) ?? [];
  const last = [
    ...own.filter((name) => inKeys.has(name)),
    ...computed,
    ...keys.filter((name) => !first.includes(name)),
  ];
  return columns(items, first, [...new Set(last)], shown).slice(0, MOST_COLUMNS);
}

function SortTemplate({ kind, items, range }: { kind: Kind | null; items: Item[]; range: string }) {
  const found = kind && items[0] ? explain(kind, items[0], range) : null;
  const rule = found && kind!.rules.find((of) => of.attribute === range && of.template === found.template);
  return rule ? (
    <>
      <span class="run-key">{range}</span> <TemplateView parts={rule.parts} />
    </>
  ) : (
    <span class="run-key">{range}</span>
  );
}

export interface ViewProps {
  table: TableInfo;
  index: string | null;
  /** The selected row; null: none. */
  selected: string | null;
  /** The one row that Tab reaches. */
  focusable: string | null;
  marked: Kind | null;
  onSelect: (item: Item) => void;
}

function RunView({
  table,
  index,
  items,
  kind,
  selected,
  focusable,
  marked,
  onSelect,
}: ViewProps & { items: Item[]; kind: Kind | null }) {
  const { range } = keysOfView(table, index);
  const names = runColumns(table, index, items, kind);
  const keys = allKeys(table);
  const style = kind ? entityStyle(kind.entityIndex) : undefined;
  return (
    <table class={`run${kind?.companion ? ' run-companion' : ''}${kind ? '' : ' run-unknown'}`} style={style}>
      <thead>
        <tr>
          {range && (
            <th class="sort" scope="col">
              <span class="run-name">{kind ? kindName(kind) : table.design ? 'unrecognised' : ''}</span>
              <SortTemplate kind={kind} items={items} range={range} />
            </th>
          )}
          <th class="also" scope="col">
            <span>{range ? 'also in' : kind ? kindName(kind) : 'also in'}</span>
          </th>
          {names.map((name) => (
            <th key={name} scope="col" class={keys.includes(name) ? 'column-key' : ''}>
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {items.map((item) => {
          const id = itemId(item, tableKeys(table));
          return (
            <Row
              key={id}
              table={table}
              index={index}
              item={item}
              kind={kind}
              names={names}
              selected={selected === id}
              focusable={focusable === id}
              dimmed={!!marked && !sameKind(marked, kind)}
              onSelect={onSelect}
            />
          );
        })}
      </tbody>
    </table>
  );
}

// ---------------------------------------------------------------- collections

/** The indexes (null: the table) whose partitions can have this key. */
function samePartition(table: TableInfo, index: string | null, hash: AttributeValue): (string | null)[] {
  const text = keyText(hash);
  if (!table.design || text === null) return [];
  const rulesOf = (name: string) =>
    table.design!.entities.flatMap((entity) =>
      [...entity.keys, ...entity.companions.flatMap((of) => of.keys)].filter((rule) => rule.attribute === name),
    );
  return [null, ...table.indexes.map((of) => of.name)].filter(
    (name) =>
      name !== index &&
      rulesOf(keysOfView(table, name).hash).some(
        (rule) => prefixOf(rule.parts) && matchTemplate(rule.parts, text) !== null,
      ),
  );
}

function Census({ table, items }: { table: TableInfo; items: Item[] }) {
  const counts = new Map<string, { count: number; index: number }>();
  for (const item of items) {
    const found = recognised(table.design, item);
    const name = found ? kindName(found) : 'unrecognised';
    counts.set(name, { count: (counts.get(name)?.count ?? 0) + 1, index: found ? found.entityIndex : -1 });
  }
  if (!table.design) return null;
  return (
    <span class="census">
      {[...counts].map(([name, { count, index }]) => (
        <EntityBadge key={name} name={`${count} ${name}`} index={index} />
      ))}
    </span>
  );
}

interface CollectionProps extends ViewProps {
  collection: Collection;
  /** Whether more of it may follow on the next page, or came before. */
  partial: boolean;
  single: boolean;
}

function CollectionView({ collection, partial, single, ...props }: CollectionProps) {
  const { table, index } = props;
  const view = keysOfView(table, index);
  const first = collection.items[0]!;
  const kind = kindOfItem(table.design, first);
  const pk = keyText(collection.hash) ?? '';
  const list = table.design
    ? runs(collection.items, (item) => kindOfItem(table.design, item))
    : runs(collection.items, (item) => prefixKind(item, view)).map((run) => ({ ...run, kind: null }));
  return (
    <section class="collection" aria-label={`Partition ${pk}`} data-partition={pk}>
      <header class="partition">
        <div class="partition-inner">
          <div class="partition-top">
            <span class="partition-label">{view.hash}</span>
            <span class="partition-links">
              {!single && (
                <a href={href(['table', table.name], { index: index ?? undefined, pk })} title="Only this partition">
                  only this
                </a>
              )}
              {samePartition(table, index, collection.hash).map((name) => (
                <a
                  key={name}
                  href={href(['table', table.name], { index: name ?? undefined, pk })}
                  title={`The same key as a partition of ${name ?? 'the table'}`}
                >
                  in {name ?? 'the table'}
                </a>
              ))}
            </span>
          </div>
          <KeyView
            value={collection.hash}
            parts={kind && explain(kind, first, view.hash)}
            link={referenceLinks(table, first)}
            captions
          />
          {(collection.items.length > 1 || partial) && (
            <>
              <span class="partition-count">
                {format.plural(collection.items.length, 'item')}
                {partial ? ', and more' : ''}
              </span>
              <Census table={table} items={collection.items} />
            </>
          )}
        </div>
      </header>
      <div class="runs">
        {list.map((run, at) => (
          <RunView key={at} {...props} items={run.items} kind={run.kind} />
        ))}
      </div>
    </section>
  );
}

export function Collections({
  list,
  first,
  last,
  single,
  ...props
}: ViewProps & { list: Collection[]; first: boolean; last: boolean; single: boolean }) {
  return (
    <div class="collections">
      {list.map((collection, at) => (
        <CollectionView
          key={collection.id}
          {...props}
          collection={collection}
          single={single}
          partial={(at === list.length - 1 && !last) || (at === 0 && !first)}
        />
      ))}
    </div>
  );
}
