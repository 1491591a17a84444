// The query builder: a Query or Scan of any table and index, seen as a request while it is put together, then run.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { timed } from '../lib/client';
import { EMPTY_WINDOW, append, columns, itemId, windowItems, type Window } from '../lib/collections';
import { addressOf, buildRequest, formFrom, type QueryForm } from '../lib/query-request';
import { kindName } from '../lib/recognise';
import { session } from '../lib/session';
import { compactJson, snippets, type Snippets } from '../lib/snippets';
import { allKeys, keyQuery, keysOfView, tableInfo, tableKeys, type TableInfo } from '../lib/table-info';
import type { Item } from '../lib/types';
import { formatItem, show } from '../lib/values';
import { href, replace, type Route } from '../router';
import {
  Button,
  CopyButton,
  Empty,
  EntityBadge,
  ErrorBox,
  Json,
  Kbd,
  Spinner,
  Tabs,
  Units,
  format,
  useAsync,
  useHotkey,
} from '../ui';
import { QueryFields } from './query-form';
import { recognised } from './table-view';

interface Reply {
  Items?: Item[];
  Count?: number;
  ScannedCount?: number;
  LastEvaluatedKey?: Item;
  ConsumedCapacity?: { CapacityUnits?: number };
}

interface Result {
  window: Window;
  count: number;
  scanned: number;
  units: number;
  ms: number;
  pages: number;
  operation: string;
  request: Record<string, unknown>;
}

/** With a filter, one click reads on until it has found as many as the limit says, but so many pages at most. */
const MOST_PAGES = 200;

const LANGUAGES: { id: keyof Snippets; label: string }[] = [
  { id: 'curl', label: 'curl' },
  { id: 'aws', label: 'aws cli' },
  { id: 'javascript', label: 'JavaScript' },
  { id: 'python', label: 'Python' },
];

// ---------------------------------------------------------------- the request

function RequestView({ operation, request }: { operation: string; request: Record<string, unknown> }) {
  const [tab, setTab] = useState('request');
  const text =
    tab === 'request' ? compactJson(request) : snippets(operation, request, session())[tab as keyof Snippets];
  return (
    <section class="panel query-request" aria-label="The request">
      <Tabs
        label="Request as"
        tabs={[{ id: 'request', label: `${operation} request` }, ...LANGUAGES]}
        selected={tab}
        onSelect={setTab}
      />
      <div class="code">
        <pre>{text}</pre>
        <CopyButton text={text} />
      </div>
    </section>
  );
}

// ---------------------------------------------------------------- what came

function ResultTable({ table, items, index }: { table: TableInfo; items: Item[]; index: string }) {
  const view = keysOfView(table, index);
  const first = [...new Set([view.hash, view.range ?? '', ...tableKeys(table)])];
  const names = columns(
    items,
    first,
    allKeys(table).filter((name) => !first.includes(name)),
    [],
  ).slice(0, 40);
  const complete = (item: Item) => tableKeys(table).every((name) => item[name]);
  return (
    <div class="query-table" tabIndex={0} aria-label="Items">
      <table>
        <thead>
          <tr>
            <th scope="col">{table.design ? 'entity' : 'item'}</th>
            {names.map((name) => (
              <th scope="col" key={name}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {items.map((item, at) => {
            const found = complete(item) ? recognised(table.design, item) : null;
            return (
              <tr key={complete(item) ? itemId(item, tableKeys(table)) : at}>
                <td>
                  {complete(item) ? (
                    <a href={href(['table', table.name, 'item'], keyQuery(table, item))} aria-label="Open the item">
                      {found ? <EntityBadge name={kindName(found)} index={found.entityIndex} /> : 'open'}
                    </a>
                  ) : null}
                </td>
                {names.map((name) => (
                  <td
                    key={name}
                    class={first.includes(name) ? 'mono' : ''}
                    title={item[name] ? show(item[name]!).slice(0, 600) : undefined}
                  >
                    {item[name] && show(item[name]!).slice(0, 160)}
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}

function ResultView({
  table,
  form,
  result,
  busy,
  onMore,
  onStop,
}: {
  table: TableInfo;
  form: QueryForm;
  result: Result;
  busy: boolean;
  onMore: () => void;
  onStop: () => void;
}) {
  const [tab, setTab] = useState('table');
  const items = windowItems(result.window);
  return (
    <section class="panel query-result" aria-label="Result">
      <header class="panel-head">
        <Tabs
          label="Items as"
          tabs={[
            { id: 'table', label: 'Table' },
            { id: 'json', label: 'JSON' },
            { id: 'dynamo', label: 'DynamoDB JSON' },
          ]}
          selected={tab}
          onSelect={setTab}
        />
        <span class="spread" />
        <span class="muted number" role="status">
          {format.plural(result.count, 'item')} of {format.count(result.scanned)} read,{' '}
          {format.plural(result.pages, 'page')}
        </span>
        <Units read={result.units} ms={result.ms} />
        <CopyButton
          text={() => `[${items.map((item) => formatItem(item, tab === 'dynamo' ? 'dynamo' : 'plain')).join(',\n')}]`}
        />
      </header>
      {items.length === 0 ? (
        <Empty title={busy ? 'Looking…' : result.window.next ? 'None found so far' : 'Nothing was found'} />
      ) : tab === 'table' ? (
        <ResultTable table={table} items={items} index={form.index} />
      ) : tab === 'json' ? (
        <div class="panel-body">
          <ItemTexts items={items} />
        </div>
      ) : (
        <div class="panel-body">
          <Json value={items} />
        </div>
      )}
      <footer class="query-foot">
        {busy && result.request.FilterExpression !== undefined ? (
          <Button onClick={onStop}>Stop</Button>
        ) : result.window.next ? (
          <Button onClick={onMore} busy={busy}>
            {items.length === 0 ? 'Keep looking' : 'Next page'}
          </Button>
        ) : (
          <span class="muted">That was all.</span>
        )}
        {result.window.before.length > 0 && <span class="muted">Earlier pages were dropped.</span>}
      </footer>
    </section>
  );
}

/** As text, so that numbers keep their digits. */
function ItemTexts({ items }: { items: Item[] }) {
  return <pre class="query-json">{items.map((item) => formatItem(item, 'plain')).join('\n')}</pre>;
}

// ---------------------------------------------------------------- page

/** A result with one page more. */
async function nextPage(last: Result): Promise<Result> {
  const start = last.window.next;
  const { reply, ms } = await timed<Reply>(last.operation, {
    ...last.request,
    ReturnConsumedCapacity: 'TOTAL',
    ...(start ? { ExclusiveStartKey: start } : {}),
  });
  return {
    ...last,
    window: append(last.window, { start, items: reply.Items ?? [] }, reply.LastEvaluatedKey ?? null),
    count: last.count + (reply.Count ?? 0),
    scanned: last.scanned + (reply.ScannedCount ?? 0),
    units: last.units + (reply.ConsumedCapacity?.CapacityUnits ?? 0),
    ms: last.ms + ms,
    pages: last.pages + 1,
  };
}

function Builder({ route, table }: { route: Route; table: TableInfo }) {
  const [form, setForm] = useState(() => formFrom(route.query));
  const [tried, setTried] = useState(false);
  const [result, setResult] = useState<Result | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const [busy, setBusy] = useState(false);
  const turn = useRef(0);
  const { request, problems } = useMemo(() => buildRequest(table, form), [table, form]);
  const known = useMemo(
    () => [
      ...new Set([
        ...allKeys(table),
        ...(table.design?.entities.flatMap((entity) => entity.attributes.map((of) => of.name)) ?? []),
      ]),
    ],
    [table],
  );
  const own = useRef(route.query.toString());

  const change = (next: QueryForm) => {
    setForm(next);
    const to = href(route.path, addressOf(next));
    own.current = to.split('?')[1] ?? '';
    replace(to);
  };
  // Back and forward, and links to this page, bring another form.
  const given = route.query.toString();
  useEffect(() => {
    if (given !== own.current) {
      own.current = given;
      setForm(formFrom(route.query));
    }
  }, [given]);

  const run = async (more: boolean) => {
    setTried(true);
    if (Object.keys(problems).length) return;
    const mine = ++turn.current;
    const from = more && result ? result : null;
    const operation = from ? from.operation : form.operation;
    const base = from ? from.request : request;
    setBusy(true);
    setError(null);
    let last = from ?? {
      window: EMPTY_WINDOW,
      count: 0,
      scanned: 0,
      units: 0,
      ms: 0,
      pages: 0,
      operation,
      request: base,
    };
    const enough = () =>
      !base.FilterExpression ||
      last.count - (from?.count ?? 0) >= Number(base.Limit) ||
      last.pages - (from?.pages ?? 0) >= MOST_PAGES;
    try {
      do {
        last = await nextPage(last);
        if (mine !== turn.current) return;
        setResult(last);
      } while (last.window.next && !enough());
    } catch (caught) {
      if (mine === turn.current) {
        setError(caught as Error);
        if (last.pages === 0) setResult(null);
      }
    }
    if (mine === turn.current) setBusy(false);
  };
  const stop = () => {
    turn.current++;
    setBusy(false);
  };
  useEffect(
    () => () => {
      turn.current++;
    },
    [],
  ); // a page that was left reads no further
  useHotkey('mod+Enter', () => void run(false), 'run the query');
  return (
    <div class="query-page">
      <header class="page-head">
        <div>
          <h1>Query {table.name}</h1>
          <p>
            Key conditions, filters and a projection, as DynamoDB has them.{' '}
            <a href={href(['table', table.name])}>To the single-table view</a>
          </p>
        </div>
      </header>
      <div class="query-grid">
        <form
          class="panel panel-body stack"
          aria-label="Query"
          onSubmit={(event) => {
            event.preventDefault();
            void run(false);
          }}
        >
          <QueryFields table={table} form={form} problems={problems} tried={tried} onForm={change} known={known} />
          <div class="row">
            <Button kind="primary" type="submit" icon="play" busy={busy}>
              Run
            </Button>
            {busy && request.FilterExpression !== undefined && <Button onClick={stop}>Stop</Button>}
            <Kbd>mod+Enter</Kbd>
          </div>
        </form>
        <RequestView operation={form.operation} request={request} />
      </div>
      {error && <ErrorBox error={error} retry={() => void run(result !== null)} />}
      {result && (
        <ResultView table={table} form={form} result={result} busy={busy} onMore={() => void run(true)} onStop={stop} />
      )}
    </div>
  );
}

export function QueryPage({ route }: { route: Route }) {
  const name = route.path[1]!;
  const table = useAsync(() => tableInfo(name), [name]);
  if (table.error) return <ErrorBox error={table.error} retry={table.reload} />;
  return table.value ? <Builder route={route} table={table.value} /> : <Spinner />;
}
