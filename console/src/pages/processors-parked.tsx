// The parked changes of a processor: why each was given up, and doing it again or dropping it.
// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import { rest } from '../lib/client';
import { Badge, Button, Dialog, EntityBadge, ErrorBox, Icon, Json, Spinner, toast, useAsync } from '../ui';

interface Parked {
  sequence: string;
  reason: string;
  tries: number;
  parked_at: string;
  changed_at: string;
  event: string;
  entity?: string;
  key: unknown;
  old?: unknown;
  new?: unknown;
}

interface ParkedPage {
  items: Parked[];
  next?: string;
}

const PAGE = 20;

function ParkedChange({
  parked,
  entityIndex,
  onRetry,
  onDrop,
  busy,
}: {
  parked: Parked;
  entityIndex: number;
  onRetry: () => void;
  onDrop: () => void;
  busy: boolean;
}) {
  const [open, setOpen] = useState(false);
  return (
    <li class="parked">
      <div class="parked-head">
        <button type="button" class="parked-toggle" aria-expanded={open} onClick={() => setOpen(!open)}>
          <Icon name={open ? 'down' : 'right'} size={12} />
          {parked.entity && <EntityBadge name={parked.entity} index={entityIndex} />}
          <span>{parked.event}</span>
          <span class="muted number">{new Date(parked.changed_at).toLocaleString('en-GB')}</span>
          <Badge>
            {parked.tries} {parked.tries === 1 ? 'try' : 'tries'}
          </Badge>
        </button>
        <Button small icon="replay" busy={busy} onClick={onRetry}>
          Retry
        </Button>
        <Button small kind="danger" disabled={busy} onClick={onDrop}>
          Drop
        </Button>
      </div>
      <p class="parked-reason">{parked.reason}</p>
      {open && (
        <div class="parked-images">
          {'old' in parked && (
            <div>
              <h4>Old image</h4>
              <Json value={parked.old} />
            </div>
          )}
          {'new' in parked && (
            <div>
              <h4>New image</h4>
              <Json value={parked.new} />
            </div>
          )}
          {!('old' in parked) && !('new' in parked) && (
            <div>
              <h4>Key</h4>
              <Json value={parked.key} />
            </div>
          )}
        </div>
      )}
    </li>
  );
}

/** `version` changes when the number of parked changes does: then the list is read again. */
export function ParkedList({
  design,
  processor,
  version,
  entityIndex,
  onChange,
}: {
  design: string;
  processor: string;
  version: number;
  entityIndex: (name: string) => number;
  onChange: () => void;
}) {
  const base = `/processors/${encodeURIComponent(processor)}/parked`;
  const [pages, setPages] = useState(1);
  const [busy, setBusy] = useState('');
  const [dropping, setDropping] = useState<Parked | null>(null);
  const { value, error, reload } = useAsync(
    async (signal) => {
      const items: Parked[] = [];
      let next: string | undefined;
      for (let page = 0; page < pages; page++) {
        const after: string = next ? `&after=${encodeURIComponent(next)}` : '';
        const { body } = await rest<ParkedPage>(design, 'GET', `${base}?limit=${PAGE}${after}`, { signal });
        items.push(...body.items);
        next = body.next;
        if (!next) break;
      }
      return { items, more: next !== undefined };
    },
    [design, processor, version, pages],
  );

  const act = async (parked: Parked, what: 'retry' | 'drop') => {
    setBusy(parked.sequence);
    try {
      await rest(design, 'POST', `${base}/${encodeURIComponent(parked.sequence)}/${what}`);
      toast(what === 'retry' ? 'Done again, this time with success.' : 'Dropped.', 'ok');
    } catch (problem) {
      toast(`${what === 'retry' ? 'It failed again' : 'Not dropped'}: ${(problem as Error).message}`, 'danger');
    }
    setBusy('');
    reload();
    onChange();
  };

  if (error) return <ErrorBox error={error} retry={reload} />;
  if (!value) return <Spinner />;
  return (
    <>
      <ul class="parked-list" aria-label={`Parked changes of ${processor}`}>
        {value.items.map((parked) => (
          <ParkedChange
            key={parked.sequence}
            parked={parked}
            entityIndex={parked.entity ? entityIndex(parked.entity) : -1}
            busy={busy === parked.sequence}
            onRetry={() => void act(parked, 'retry')}
            onDrop={() => setDropping(parked)}
          />
        ))}
      </ul>
      {value.more && (
        <Button small onClick={() => setPages(pages + 1)}>
          More
        </Button>
      )}
      {dropping && (
        <Dialog
          title="Drop this change?"
          onClose={() => setDropping(null)}
          actions={
            <>
              <Button onClick={() => setDropping(null)}>Keep it</Button>
              <Button
                kind="danger"
                onClick={() => {
                  void act(dropping, 'drop');
                  setDropping(null);
                }}
              >
                Drop it
              </Button>
            </>
          }
        >
          <p>
            “{processor}” will never do it: what it would have written is not written. It cannot be taken back, except
            by a replay from the time of the change.
          </p>
        </Dialog>
      )}
    </>
  );
}
