// One change of a stream: a line, and when opened its old and new image side by side.
// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import { diff, type DiffRow } from '../lib/diff';
import { kindName, recognise } from '../lib/recognise';
import type { Change } from '../lib/tail';
import type { AttributeValue, Design } from '../lib/types';
import { formatJson, keyText, show, toPlain } from '../lib/values';
import { href } from '../router';
import { Badge, Button, EntityBadge, format, Icon } from '../ui';

const KIND = { INSERT: 'ok', MODIFY: 'accent', REMOVE: 'danger' } as const;

export interface Known {
  change: Change;
  /** null: not an entity of the design, or no design. */
  entity: { name: string; of: string; index: number } | null;
  /** What a modification made different. */
  changed: DiffRow[];
  /** For the text filter, in lower case. */
  text: string;
}

/** What the list and its filters need of a change, computed once. */
export function know(change: Change, design: Design | null, order: string[]): Known {
  const image = change.new ?? change.old;
  const found = design && image ? recognise(design, image) : null;
  return {
    change,
    entity: found && { name: kindName(found), of: found.entity.name, index: found.entityIndex },
    changed:
      change.event === 'MODIFY' && change.old && change.new
        ? diff(change.old, change.new, order).filter((row) => row.mark !== 'same')
        : [],
    text: JSON.stringify([change.keys, change.old, change.new]).toLowerCase(),
  };
}

const keysOf = (change: Change, order: string[]) =>
  order.filter((name) => change.keys[name]).map((name) => keyText(change.keys[name]) ?? '');

/** "likes 3 → 4, title changed": the first few attributes that a modification changed. */
function Summary({ rows }: { rows: DiffRow[] }) {
  if (rows.length === 0) return null;
  const text = (value: AttributeValue | undefined) => (value ? show(value) : '–');
  const isShort = ({ old, new: now }: DiffRow) => text(old).length <= 24 && text(now).length <= 24;
  return (
    <span class="record-summary">
      {rows.slice(0, 2).map((row) => (
        <span key={row.path.join('.')}>
          <span class="muted">{row.path.join('.')}</span>{' '}
          {isShort(row) ? `${text(row.old)} → ${text(row.new)}` : 'changed'}
        </span>
      ))}
      {rows.length > 2 && <span class="muted">+{rows.length - 2}</span>}
    </span>
  );
}

function Value({ value }: { value: AttributeValue | undefined }) {
  if (!value) return <span class="muted">–</span>;
  return <span class="diff-value">{formatJson(toPlain(value))}</span>;
}

function DiffLine({ row, keys }: { row: DiffRow; keys: string[] }) {
  const isKey = row.path.length === 1 && keys.includes(row.path[0]!);
  return (
    <div class={`diff-row diff-${row.mark}`} role="row" data-path={row.path.join('.')}>
      <div class="diff-name" role="rowheader">
        {row.path.length > 1 && <span class="muted">{row.path.slice(0, -1).join('.')}.</span>}
        {row.path[row.path.length - 1]}
        {isKey && <Icon name="key" size={12} />}
        {row.mark !== 'same' && <span class="diff-mark">{row.mark}</span>}
      </div>
      <div class="diff-old" role="cell" data-side="old">
        <Value value={row.old} />
      </div>
      <div class="diff-new" role="cell" data-side="new">
        <Value value={row.new} />
      </div>
    </div>
  );
}

function Images({ change, order }: { change: Change; order: string[] }) {
  const [all, setAll] = useState(change.event !== 'MODIFY');
  if (!change.old && !change.new) {
    return (
      <p class="muted">
        This stream has the keys only. <code>NEW_AND_OLD_IMAGES</code> would show what changed.
      </p>
    );
  }
  const half = change.event === 'MODIFY' && !(change.old && change.new);
  const rows = half
    ? diff(change.old ?? change.new!, change.old ?? change.new!, order)
    : diff(change.old ?? {}, change.new ?? {}, order);
  const telling = rows.filter((row) => row.mark !== 'same' || order.includes(row.path[0]!));
  const same = rows.length - telling.length;
  const shown = all || half ? rows : telling;
  return (
    <>
      {half && <p class="muted">This stream has one image only: {change.old ? 'the old one' : 'the new one'}.</p>}
      <div class="diff" role="table" aria-label="Old and new image">
        <div class="diff-row diff-head" role="row">
          <div role="columnheader">Attribute</div>
          <div role="columnheader">Old image</div>
          <div role="columnheader">New image</div>
        </div>
        {shown.map((row) => (
          <DiffLine key={row.path.join('\0')} row={row} keys={order} />
        ))}
      </div>
      {!half && same > 0 && change.event === 'MODIFY' && (
        <Button small kind="ghost" onClick={() => setAll(!all)}>
          {all ? 'Show only what changed' : `Show what stayed the same, too (${same})`}
        </Button>
      )}
    </>
  );
}

export function RecordLine({
  known: { change, entity, changed },
  table,
  order,
  open,
  onToggle,
}: {
  known: Known;
  table: string;
  order: string[];
  open: boolean;
  onToggle: () => void;
}) {
  const [hash, range] = order;
  const address = href(['table', table, 'item'], {
    pk: hash && (keyText(change.keys[hash]) ?? undefined),
    sk: range && (keyText(change.keys[range]) ?? undefined),
  });
  return (
    <li class={`record${open ? ' record-open' : ''}`}>
      <button type="button" class="record-line" aria-expanded={open} onClick={onToggle}>
        <Icon name={open ? 'down' : 'right'} size={12} />
        <time class="number muted" dateTime={new Date(change.at).toISOString()}>
          {format.time(change.at)}
        </time>
        <span class="record-event">
          <Badge kind={KIND[change.event]}>{change.event}</Badge>
        </span>
        <span class="record-entity">
          {entity && <EntityBadge name={entity.name} index={entity.index} />}
          {change.expired && (
            <Badge kind="warn" title="removed by its time to live">
              <Icon name="clock" size={11} />
              expired (TTL)
            </Badge>
          )}
        </span>
        <span class="record-keys mono">
          {keysOf(change, order).map((text, at) => (
            <span key={at}>{text}</span>
          ))}
        </span>
        <Summary rows={changed} />
      </button>
      {open && (
        <div class="record-body">
          <Images change={change} order={order} />
          <p class="record-foot muted">
            {change.event !== 'REMOVE' && <a href={address}>Look at the item</a>}
            {change.expired && <span>Removed by the server: its time to live has ended.</span>}
            <span>
              Sequence <span class="mono">{change.id}</span>
            </span>
          </p>
        </div>
      )}
    </li>
  );
}
