// What an access pattern gave: rows with the kind of item they are, or JSON; what it cost.
// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import { columnsOf, rowsOf, type Outcome, type Row } from '../lib/design-call';
import { fillTemplate } from '../lib/templates';
import type { AccessPattern, Design } from '../lib/types';
import { href } from '../router';
import { Button, Empty, EntityBadge, ErrorBox, Json, Tabs, Units, format } from '../ui';

/** The address of the item a row shows; undefined: its key does not follow from what is shown. */
export function itemAddress(design: Design, entityName: string | null, row: Row): string | undefined {
  const entity = design.entities.find((one) => one.name === entityName);
  const key = (attribute: string | null) => {
    const rules = entity?.keys.filter((rule) => rule.attribute === attribute) ?? [];
    if (rules.length !== 1) return null;
    return fillTemplate(rules[0]!.parts, (name) =>
      row[name] === undefined || row[name] === null ? undefined : String(row[name]),
    );
  };
  const pk = key(design.key.hash),
    sk = key(design.key.range);
  if (!pk || (design.key.range && !sk)) return undefined;
  return href(['table', design.table, 'item'], { pk, sk: sk ?? undefined });
}

/** A file as a read shows it. */
interface FileShown {
  file: string;
  type: string;
  name?: string;
  url: string;
}

const isFile = (value: unknown): value is FileShown => {
  const { file, type, url } = (value ?? {}) as Record<string, unknown>;
  return (
    typeof file === 'string' && typeof type === 'string' && typeof url === 'string' && /^(\/media|https:\/)\//.test(url)
  );
};

/** Pictures of this server are shown; others would tell theirs who looks. */
function FileCell({ file }: { file: FileShown }) {
  return (
    <a href={file.url} target="_blank" rel="noreferrer">
      {file.type.startsWith('image/') && file.url.startsWith('/') && <img class="pat-file" src={file.url} alt="" />}
      {file.name ?? file.file}
    </a>
  );
}

function Cell({ value }: { value: unknown }) {
  if (value === undefined) return <span class="pat-absent">·</span>;
  if (value === null || typeof value === 'boolean') return <span class="json-word">{String(value)}</span>;
  if (typeof value === 'number') return <span class="json-number">{value}</span>;
  if (isFile(value)) return <FileCell file={value} />;
  if (Array.isArray(value) && value.length > 0 && value.every(isFile))
    return (
      <>
        {value.map((one) => (
          <FileCell key={one.file} file={one} />
        ))}
      </>
    );
  if (Array.isArray(value) && value.every((one) => typeof one === 'string')) return <>{value.join(', ')}</>;
  if (typeof value === 'object') return <>{JSON.stringify(value)}</>;
  return <>{String(value)}</>;
}

const titleOf = (value: unknown) => (typeof value === 'string' && value.length > 28 ? value : undefined);

function Rows({
  design,
  pattern,
  rows,
}: {
  design: Design;
  pattern: AccessPattern;
  rows: { row: Row; depth: number }[];
}) {
  const columns = columnsOf(
    design,
    pattern,
    rows.map(({ row }) => row),
  );
  return (
    <div class="pat-scroll" tabIndex={0} role="region" aria-label="Items">
      <table class="list pat-rows">
        <thead>
          <tr>
            <th scope="col">Item</th>
            {columns.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ row, depth }, at) => {
            const name = (row['@type'] as string | undefined) ?? pattern.entity;
            const address = itemAddress(design, name, row);
            const badge = (
              <EntityBadge name={name ?? 'item'} index={design.entities.findIndex((one) => one.name === name)} />
            );
            return (
              <tr key={at}>
                <td style={{ paddingLeft: depth ? `${12 + depth * 18}px` : undefined }}>
                  {address ? (
                    <a href={address} title="Open the item">
                      {badge}
                    </a>
                  ) : (
                    badge
                  )}
                </td>
                {columns.map((column) => (
                  <td key={column} title={titleOf(row[column])}>
                    <div class="pat-cell">
                      <Cell value={row[column]} />
                    </div>
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

function Body({
  design,
  pattern,
  results,
  as,
}: {
  design: Design;
  pattern: AccessPattern;
  results: unknown[];
  as: string;
}) {
  const lists = results.map(rowsOf);
  const first = results[0];
  if (as === 'json')
    return (
      <div class="pat-json">
        <Json value={results.length === 1 ? first : results} />
      </div>
    );
  if (lists.every((list) => list !== null)) {
    const rows = lists.flatMap((list) => list!);
    if (rows.length === 0) return <Empty title="No items">No item matches, or the caller may not see any.</Empty>;
    return <Rows design={design} pattern={pattern} rows={rows} />;
  }
  if (pattern.entity && typeof first === 'object' && first !== null && !('items' in first) && !('count' in first))
    return <Rows design={design} pattern={pattern} rows={[{ row: first as Row, depth: 0 }]} />;
  return (
    <div class="pat-json">
      <Json value={first} />
    </div>
  );
}

export function Result({
  design,
  pattern,
  outcomes,
  busy,
  onMore,
}: {
  design: Design;
  pattern: AccessPattern;
  outcomes: Outcome[];
  busy: boolean;
  onMore?: () => void;
}) {
  const [as, setAs] = useState('rows');
  const last = outcomes[outcomes.length - 1]!;
  const results = outcomes.filter((outcome) => !outcome.error).map((outcome) => outcome.result);
  const requests = outcomes.flatMap((outcome) => outcome.requests);
  const count = results.reduce<number>((sum, result) => sum + (rowsOf(result)?.length ?? 0), 0);
  const isList = results.length > 0 && results.every((result) => rowsOf(result) !== null);
  return (
    <section class="panel pat-result" aria-label="Result">
      <div class="panel-head">
        <h2>{last.error ? 'Refused' : isList ? format.plural(count, 'item') : 'Result'}</h2>
        <Units
          read={requests.reduce((sum, one) => sum + one.read_units, 0)}
          ms={requests.reduce((sum, one) => sum + one.us, 0) / 1000}
        />
        {results.length > 0 && (
          <Tabs
            label="Show as"
            tabs={[
              { id: 'rows', label: 'Rows' },
              { id: 'json', label: 'JSON' },
            ]}
            selected={as}
            onSelect={setAs}
          />
        )}
      </div>
      {last.error && (
        <div class="panel-body">
          <ErrorBox error={last.error} />
        </div>
      )}
      {results.length > 0 && <Body design={design} pattern={pattern} results={results} as={as} />}
      {onMore && (
        <div class="pat-more">
          <Button onClick={onMore} busy={busy} small>
            Next page
          </Button>
        </div>
      )}
    </section>
  );
}
