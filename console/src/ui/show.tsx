// Display elements: badges, notices, numbers, small charts.
// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { ApiError } from '../lib/client';
import { useStats } from '../lib/stats';
import { Icon, type IconName } from './icons';
import { units } from './format';

export type BadgeKind = 'plain' | 'accent' | 'ok' | 'warn' | 'danger';

export function Badge({
  kind = 'plain',
  children,
  title,
}: {
  kind?: BadgeKind;
  children: ComponentChildren;
  title?: string;
}) {
  return (
    <span class={`badge badge-${kind}`} title={title}>
      {children}
    </span>
  );
}

export const ENTITY_HUES = 12;

/** The colours of an entity, as a style: --entity (text and lines) and --entity-soft (background). */
export function entityStyle(index: number): JSX.CSSProperties {
  const hue = ((index % ENTITY_HUES) + ENTITY_HUES) % ENTITY_HUES;
  return { '--entity': `var(--entity-${hue})`, '--entity-soft': `var(--entity-${hue}-soft)` } as JSX.CSSProperties;
}

/** An entity's name in its colour; index is its place in design.entities, negative: none of them. */
export function EntityBadge({ name, index }: { name: string; index: number }) {
  if (index < 0) return <span class="entity entity-none">{name}</span>;
  return (
    <span class="entity" style={entityStyle(index)}>
      {name}
    </span>
  );
}

export function Empty({
  title,
  icon = 'info',
  children,
}: {
  title: string;
  icon?: IconName;
  children?: ComponentChildren;
}) {
  return (
    <div class="empty">
      <Icon name={icon} size={24} />
      <h3>{title}</h3>
      {children && <div class="empty-text">{children}</div>}
    </div>
  );
}

const unreachable = (error: unknown) => error instanceof ApiError && error.code === 'Unreachable';

/** Retries as soon as the server replies at all. */
function RetryWhenBack({ retry }: { retry: () => void }) {
  const live = useStats();
  const first = useRef(live);
  const back = live !== first.current && !unreachable(live.error);
  useEffect(() => {
    if (back) retry();
  }, [back]);
  return null;
}

/** An error, with the server's message. `retry` repeats a read (never a write) when the server is back. */
export function ErrorBox({ error, retry }: { error: unknown; retry?: () => void }) {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof ApiError && /[A-Za-z]/.test(error.code) ? error.code : '';
  return (
    <div class="error-box" role="alert">
      <Icon name="warn" />
      <div>
        {code && <strong class="error-code">{code}</strong>}
        <div>{message}</div>
      </div>
      {retry && (
        <button type="button" class="button button-plain button-small" onClick={retry}>
          Try again
        </button>
      )}
      {retry && unreachable(error) && <RetryWhenBack retry={retry} />}
    </div>
  );
}

/** Capacity units and time of a request. */
export function Units({ read, write, ms }: { read?: number; write?: number; ms?: number }) {
  return (
    <span class="units">
      {read !== undefined && (
        <span title="read capacity units">
          <b>{units(read)}</b> RCU
        </span>
      )}
      {write !== undefined && (
        <span title="write capacity units">
          <b>{units(write)}</b> WCU
        </span>
      )}
      {ms !== undefined && (
        <span title="time it took">
          <b>{ms < 10 ? ms.toFixed(1) : Math.round(ms)}</b> ms
        </span>
      )}
    </span>
  );
}

/** A line over the last minute, newest at the right; scaled to `max` or to its own highest. */
export function Sparkline({
  values,
  length,
  max,
  label,
  tone = 'accent',
}: {
  values: number[];
  length: number;
  max?: number;
  label: string;
  tone?: 'accent' | 'second';
}) {
  const width = 96;
  const height = 24;
  const top = Math.max(max ?? 0, ...values, 1);
  const x = (at: number) => width - ((values.length - 1 - at) / (length - 1)) * width;
  const y = (value: number) => height - 1.5 - (value / top) * (height - 4);
  const points = values.map((value, at) => `${x(at).toFixed(1)},${y(value).toFixed(1)}`);
  const first = values.length ? x(0).toFixed(1) : '0';
  return (
    <svg
      class={`sparkline sparkline-${tone}${values.some(Boolean) ? '' : ' sparkline-still'}`}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <line x1="0" y1={height - 1.5} x2={width} y2={height - 1.5} class="sparkline-base" />
      {points.length > 1 && <polygon points={`${first},${height} ${points.join(' ')} ${width},${height}`} />}
      {points.length > 1 && <polyline points={points.join(' ')} />}
    </svg>
  );
}
