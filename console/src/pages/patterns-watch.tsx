// A list that is watched: its events as they arrive.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from 'preact/hooks';
import { watch, type WatchEvent } from '../lib/design-watch';
import type { AccessPattern, Design } from '../lib/types';
import { Badge, EntityBadge, ErrorBox, IconButton, Json, format, type BadgeKind } from '../ui';

const KEPT = 100;
const KINDS: Record<string, BadgeKind> = { added: 'ok', changed: 'accent', removed: 'danger' };

type Seen = WatchEvent & { at: number; number: number };

function Event({ design, pattern, seen }: { design: Design; pattern: AccessPattern; seen: Seen }) {
  const name = (seen.data as { '@type'?: string } | null)?.['@type'] ?? pattern.entity;
  return (
    <li class="pat-event">
      <span class="muted number">{format.time(seen.at)}</span>
      <Badge kind={KINDS[seen.event] ?? 'plain'}>{seen.event}</Badge>
      {KINDS[seen.event] && (
        <EntityBadge name={name ?? 'item'} index={design.entities.findIndex((one) => one.name === name)} />
      )}
      {KINDS[seen.event] && (
        <details>
          <summary>{summary(seen.data)}</summary>
          <Json value={seen.data} />
        </details>
      )}
    </li>
  );
}

/** The first words of an item. */
function summary(data: unknown): string {
  const texts = Object.entries((data ?? {}) as object)
    .filter(([name, value]) => typeof value === 'string' && name !== '@type')
    .map(([, value]) => value as string);
  const text = texts.join(' · ');
  return text.length > 110 ? `${text.slice(0, 110)}…` : text || 'item';
}

export function WatchPanel({
  design,
  pattern,
  path,
  as,
  onClose,
}: {
  design: Design;
  pattern: AccessPattern;
  path: string;
  as: 'operator' | 'nobody';
  onClose: () => void;
}) {
  const [events, setEvents] = useState<Seen[]>([]);
  const [state, setState] = useState<'connecting' | 'live' | 'ended'>('connecting');
  const [error, setError] = useState<Error | null>(null);
  useEffect(() => {
    const abort = new AbortController();
    let number = 0;
    const tell = (event: WatchEvent) => {
      if (event.event === 'ready') setState('live');
      else setEvents((old) => [{ ...event, at: Date.now(), number: number++ }, ...old].slice(0, KEPT));
    };
    watch(design.name, path, as, abort.signal, tell).then(
      () => {
        if (!abort.signal.aborted) setState('ended');
      },
      (problem: Error) => {
        if (!abort.signal.aborted) {
          setError(problem);
          setState('ended');
        }
      },
    );
    return () => abort.abort();
  }, []);
  const words = { connecting: 'connecting…', live: 'live', ended: 'ended' }[state];
  return (
    <section class="panel pat-watch" aria-label="Events" aria-live="polite">
      <div class="panel-head">
        <h2>
          <span class={`dot ${state === 'live' ? 'dot-ok dot-live' : state === 'ended' ? 'dot-danger' : 'dot-warn'}`} />{' '}
          Watching <code>{path}</code> <span class="muted">{words}</span>
        </h2>
        <IconButton icon="close" label="Stop watching" onClick={onClose} />
      </div>
      {error && (
        <div class="panel-body">
          <ErrorBox error={error} />
        </div>
      )}
      {!error && events.length === 0 && (
        <p class="muted pat-quiet">No changes yet. Write to this list, and the change appears here.</p>
      )}
      <ol class="pat-events">
        {events.map((seen) => (
          <Event key={seen.number} design={design} pattern={pattern} seen={seen} />
        ))}
      </ol>
    </section>
  );
}
