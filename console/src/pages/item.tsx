// One item: shows, changes or deletes it, through the design's rules or as stored. Also creates one.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from 'preact/hooks';
import { getItem } from '../lib/item-write';
import { explain, kindName, kindOf } from '../lib/recognise';
import { keyOfEntity, valuesOf } from '../lib/references';
import { isExpired, keyQuery, tableInfo, tableKeys, typedKey, type TableInfo } from '../lib/table-info';
import type { Entity, Item } from '../lib/types';
import { go, href, type Route } from '../router';
import { Badge, Empty, EntityBadge, ErrorBox, Field, Select, Spinner, Tabs, useAsync } from '../ui';
import { RawEditor } from './item-raw';
import { RulesCreator, RulesEditor, creatable } from './item-rules';
import { KeyView } from './table-key';
import { itemPlace, recognised } from './table-view';

const MODES = [
  { id: 'rules', label: 'Through the design’s rules' },
  { id: 'raw', label: 'Raw item' },
];

/** By the rules unless the address says otherwise. */
function modeOf(route: Route, rules: boolean): string {
  return rules && route.query.get('mode') !== 'raw' ? 'rules' : 'raw';
}

function setMode(route: Route, mode: string): void {
  const query = Object.fromEntries(route.query);
  go(href(route.path, { ...query, mode: mode === 'raw' ? 'raw' : undefined }));
}

// ---------------------------------------------------------------- one that is there

function ItemHead({ table, item }: { table: TableInfo; item: Item }) {
  const found = recognised(table.design, item);
  const kind = found && kindOf(table.design!, found);
  return (
    <header class="page-head item-head">
      <div class="item-keys">
        <div class="row">
          <h1 class="item-kind">
            <EntityBadge
              name={found ? kindName(found) : table.design ? 'unrecognised' : 'item'}
              index={found ? found.entityIndex : -1}
            />
          </h1>
          {isExpired(table, item) && <Badge kind="warn">expired</Badge>}
          <a href={itemPlace(table, item)}>where it is in {table.name}</a>
        </div>
        <dl class="item-key-list">
          {tableKeys(table).map((name) => (
            <div key={name}>
              <dt>
                <code>{name}</code>
              </dt>
              <dd>
                <KeyView value={item[name]!} parts={kind && explain(kind, item, name)} captions />
              </dd>
            </div>
          ))}
        </dl>
      </div>
    </header>
  );
}

function whyNoRules(table: TableInfo, item: Item): string | null {
  const found = recognised(table.design, item);
  if (!table.design) return null;
  if (!found) return 'No entity of the design has keys like these, so there are no rules for it.';
  if (found.companion) return `This goes with a ${found.entity.name} and is written by its rules; change that instead.`;
  return found.entity.routes.length === 0
    ? `${found.entity.name} is internal: only the design itself writes it.`
    : null;
}

function Existing({ route, table }: { route: Route; table: TableInfo }) {
  const pk = route.query.get('pk') ?? '';
  const sk = route.query.get('sk') ?? '';
  const key: Item = {
    [table.hash]: typedKey(table, table.hash, pk),
    ...(table.range ? { [table.range]: typedKey(table, table.range, sk) } : {}),
  };
  const loaded = useAsync(() => getItem(table.name, key), [table.name, pk, sk]);
  const [newer, setNewer] = useState<Item | null>(null);
  useEffect(() => setNewer(null), [loaded.value]);
  if (loaded.error) return <ErrorBox error={loaded.error} retry={loaded.reload} />;
  if (loaded.loading && !loaded.value) return <Spinner />;
  const item = newer ?? loaded.value;
  if (!item) {
    return (
      <Empty title="There is no such item">
        <code>
          {table.hash} = {pk}
          {table.range ? `, ${table.range} = ${sk}` : ''}
        </code>
        <br />
        <a href={href(['table', table.name], { pk })}>To the partition</a>
      </Empty>
    );
  }
  const found = recognised(table.design, item);
  const reason = whyNoRules(table, item);
  const rules = !!found && !reason;
  const mode = modeOf(route, rules);
  const written = (gone: boolean) => (gone ? go(href(['table', table.name], { pk })) : loaded.reload());
  return (
    <>
      <ItemHead table={table} item={item} />
      {rules && <Tabs label="How to change it" tabs={MODES} selected={mode} onSelect={(to) => setMode(route, to)} />}
      <div class="item-body">
        {reason && <p class="notice">{reason}</p>}
        {mode === 'rules' ? (
          <RulesEditor
            key={`${pk} ${sk}`}
            design={table.design!}
            entity={found!.entity}
            item={item}
            onWritten={written}
            values={valuesOf(table.design!, item, kindOf(table.design!, found!))}
          />
        ) : (
          <RawEditor
            key={`${pk} ${sk}`}
            table={table}
            loaded={item}
            warn={!!table.design}
            onSaved={(saved) => {
              if (saved) setNewer(saved);
              else loaded.reload();
            }}
          />
        )}
      </div>
    </>
  );
}

// ---------------------------------------------------------------- a new one

function New({ route, table }: { route: Route; table: TableInfo }) {
  const entities = table.design ? creatable(table.design) : [];
  const mode = modeOf(route, entities.length > 0);
  const chosen: Entity | undefined =
    entities.find((entity) => entity.name === route.query.get('entity')) ?? entities[0];
  const created = (body: Record<string, unknown>) => {
    const text = (name: string) => (body[name] === undefined || body[name] === null ? undefined : String(body[name]));
    const key = keyOfEntity(table.design!, chosen!, text);
    const { pk, sk } = key ? keyQuery(table, key) : {};
    go(
      pk && (sk || !table.range)
        ? href(['table', table.name, 'item'], { pk, sk })
        : href(['table', table.name], { pk }),
    );
  };
  return (
    <>
      <header class="page-head">
        <h1>New item in {table.name}</h1>
      </header>
      {entities.length > 0 && (
        <Tabs label="How to create it" tabs={MODES} selected={mode} onSelect={(to) => setMode(route, to)} />
      )}
      <div class="item-body">
        {mode === 'rules' ? (
          <div class="stack">
            <Field label="Entity">
              <Select
                value={chosen!.name}
                options={entities.map((entity) => entity.name)}
                onChange={(entity) => go(href(route.path, { new: '1', entity }))}
              />
            </Field>
            <RulesCreator key={chosen!.name} design={table.design!} entity={chosen!} onCreated={created} />
          </div>
        ) : (
          <RawEditor table={table} loaded={null} warn={!!table.design} onSaved={() => {}} />
        )}
      </div>
    </>
  );
}

export function ItemPage({ route }: { route: Route }) {
  const name = route.path[1]!;
  const table = useAsync(() => tableInfo(name), [name]);
  if (table.error) return <ErrorBox error={table.error} retry={table.reload} />;
  if (!table.value) return <Spinner />;
  return (
    <div class="item-page">
      {route.query.get('new') ? (
        <New route={route} table={table.value} />
      ) : (
        <Existing route={route} table={table.value} />
      )}
    </div>
  );
}
