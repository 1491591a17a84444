// A value as coloured JSON that can be folded.
// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import { ExactNumber } from '../lib/exact-json';

/** Children shown of one list or object until more are asked for. */
const STEP = 100;
/** Deeper ones begin folded. */
const OPEN_DEPTH = 3;

function Scalar({ value }: { value: unknown }) {
  if (typeof value === 'string') return <span class="json-string">{JSON.stringify(value)}</span>;
  if (typeof value === 'number' || typeof value === 'bigint' || value instanceof ExactNumber)
    return <span class="json-number">{String(value)}</span>;
  return <span class="json-word">{String(value)}</span>;
}

function Node({ name, value, depth, last }: { name?: string; value: unknown; depth: number; last: boolean }) {
  const compound = typeof value === 'object' && value !== null && !(value instanceof ExactNumber);
  const entries = compound ? Object.entries(value as object) : [];
  const [open, setOpen] = useState(depth < OPEN_DEPTH);
  const [shown, setShown] = useState(STEP);
  const label = name !== undefined && (
    <>
      <span class="json-name">{JSON.stringify(name)}</span>:{' '}
    </>
  );
  const comma = last ? '' : ',';
  if (!compound)
    return (
      <div class="json-line">
        {label}
        <Scalar value={value} />
        {comma}
      </div>
    );

  const list = Array.isArray(value);
  const [begin, end] = list ? ['[', ']'] : ['{', '}'];
  if (entries.length === 0)
    return (
      <div class="json-line">
        {label}
        {begin}
        {end}
        {comma}
      </div>
    );
  if (!open) {
    return (
      <div class="json-line">
        {label}
        <button type="button" class="json-fold" aria-expanded={false} onClick={() => setOpen(true)}>
          {begin} {entries.length}{' '}
          {list ? (entries.length === 1 ? 'element' : 'elements') : entries.length === 1 ? 'attribute' : 'attributes'}{' '}
          {end}
        </button>
        {comma}
      </div>
    );
  }
  return (
    <div>
      <div class="json-line">
        {label}
        <button type="button" class="json-fold" aria-expanded aria-label="Fold" onClick={() => setOpen(false)}>
          {begin}
        </button>
      </div>
      <div class="json-inside">
        {entries.slice(0, shown).map(([key, child], at) => (
          <Node
            key={key}
            name={list ? undefined : key}
            value={child}
            depth={depth + 1}
            last={at === entries.length - 1}
          />
        ))}
        {entries.length > shown && (
          <button type="button" class="json-fold" onClick={() => setShown(shown + STEP)}>
            … {entries.length - shown} more
          </button>
        )}
      </div>
      <div class="json-line">
        {end}
        {comma}
      </div>
    </div>
  );
}

export function Json({ value }: { value: unknown }) {
  return (
    <div class="json">
      <Node value={value} depth={0} last />
    </div>
  );
}
