// The live tail of a table's stream.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ApiError, describeTable, designForTable } from '../lib/client';
import { session } from '../lib/session';
import { newestFirst, Tail, type Change, type EventName, type Start } from '../lib/tail';
import type { Design, TableDescription } from '../lib/types';
import { href, type Route } from '../router';
import { Badge, Button, CopyButton, Empty, ErrorBox, format, Input, Select, Spinner, useAsync, useHotkey } from '../ui';
import { know, RecordLine, type Known } from './streams-record';

/** The number of changes kept; the oldest are dropped. */
const KEPT = 500;
const EVERY_MS = 400;
/** With room for less, the first page is full: a round gives at least one of each shard. */
const ROOM_LEAST = 16;
/** So many at once: there is more, and it is read without a rest. */
const PAGE_FULL = 50;
const EVENTS: EventName[] = ['INSERT', 'MODIFY', 'REMOVE'];

interface Following {
  changes: Known[];
  /** All changes received, including dropped ones. */
  seen: number;
  error: Error | null;
  caughtUp: boolean;
}

const NOTHING: Following = { changes: [], seen: 0, error: null, caughtUp: false };

/** Reads the stream while not paused and the page is visible. From the beginning it stops by itself when there is a page full. */
function useTail(
  arn: string,
  start: Start,
  design: Design | null,
  order: string[],
  paused: boolean,
  turn: number,
  onFull: () => void,
): Following {
  const [state, setState] = useState<Following>(NOTHING);
  const tail = useMemo(() => new Tail(arn, start), [arn, start, turn]);
  const room = useRef(0);
  useEffect(() => {
    setState(NOTHING);
    room.current = start === 'LATEST' ? Infinity : KEPT;
  }, [tail]);
  useEffect(() => {
    if (paused) return;
    const abort = new AbortController();
    let timer: ReturnType<typeof setTimeout>;
    const add = (changes: Change[]) =>
      setState((old) => {
        const caughtUp = old.caughtUp || tail.caughtUp;
        if (changes.length === 0 && !old.error && caughtUp === old.caughtUp) return old; // nothing to render
        const all = [...changes.map((change) => know(change, design, order)), ...old.changes];
        return {
          changes: all.sort((a, b) => newestFirst(a.change, b.change)).slice(0, KEPT),
          seen: old.seen + changes.length,
          error: null,
          caughtUp,
        };
      });
    const round = async () => {
      let wait = EVERY_MS;
      if (document.visibilityState === 'visible') {
        try {
          const changes = await tail.read(abort.signal, room.current);
          if (abort.signal.aborted) return;
          add(changes);
          if (tail.caughtUp) room.current = Infinity;
          else if (start === 'TRIM_HORIZON' && (room.current -= changes.length) < ROOM_LEAST) {
            room.current = KEPT;
            onFull();
            return;
          }
          if (changes.length >= PAGE_FULL) wait = 0;
        } catch (error) {
          if (abort.signal.aborted) return;
          setState((old) => ({ ...old, error: error as Error }));
          wait = 2_000;
        }
      }
      timer = setTimeout(() => void round(), wait);
    };
    void round();
    return () => {
      abort.abort();
      clearTimeout(timer);
    };
  }, [tail, paused]);
  return state;
}

function NoStream({ table }: { table: string }) {
  const command = `aws dynamodb update-table --table-name ${table} \\
  --endpoint-url ${session().endpoint} \\
  --stream-specification \\
  StreamEnabled=true,StreamViewType=NEW_AND_OLD_IMAGES`;
  return (
    <div class="panel">
      <Empty title={`${table} has no stream`} icon="stream">
        <p>A stream keeps every change of the table for 24 hours. Turn it on with any SDK (UpdateTable):</p>
        <div class="code code-left">
          <pre>{command}</pre>
          <CopyButton text={command} />
        </div>
        <p>
          In a design: <code>stream: new and old images</code>.
        </p>
      </Empty>
    </div>
  );
}

function EventFilter({ chosen, onChange }: { chosen: EventName[]; onChange: (events: EventName[]) => void }) {
  return (
    <div class="toggles" role="group" aria-label="Events">
      {EVENTS.map((event) => {
        const on = chosen.includes(event);
        return (
          <button
            type="button"
            key={event}
            aria-pressed={on}
            onClick={() => onChange(on ? chosen.filter((other) => other !== event) : [...chosen, event])}
          >
            {event}
          </button>
        );
      })}
    </div>
  );
}

function entityOptions(design: Design) {
  return [
    { value: '', label: 'All entities' },
    ...design.entities.map(({ name }) => ({ value: name, label: name })),
    { value: '?', label: 'Not recognised' },
  ];
}

function TailView({
  table,
  description,
  design,
  onGone,
}: {
  table: string;
  description: TableDescription;
  design: Design | null;
  onGone: () => void;
}) {
  const [start, setStart] = useState<Start>('LATEST');
  const [turn, setTurn] = useState(0);
  const [paused, setPaused] = useState(false);
  const [full, setFull] = useState(false);
  const [events, setEvents] = useState<EventName[]>(EVENTS);
  const [entity, setEntity] = useState('');
  const [text, setText] = useState('');
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const search = useRef<HTMLInputElement>(null);
  const list = useRef<HTMLUListElement>(null);
  const order = [...description.KeySchema].sort((a) => (a.KeyType === 'HASH' ? -1 : 1)).map((key) => key.AttributeName);
  const following = useTail(description.LatestStreamArn!, start, design, order, paused, turn, () => {
    setFull(true);
    setPaused(true);
  });
  // A recreated table has another stream.
  useEffect(() => {
    if (following.error instanceof ApiError && /ResourceNotFound/.test(following.error.code)) onGone();
  }, [following.error]);

  const begin = (from: Start) => {
    setStart(from);
    setTurn(turn + 1);
    setPaused(false);
    setFull(false);
    setOpen(new Set());
  };
  const pause = () => {
    setPaused(!paused);
    setFull(false);
  };
  const toggle = (id: string) => {
    const next = new Set(open);
    if (!next.delete(id)) next.add(id);
    setOpen(next);
  };
  const move = (step: number) => {
    const lines = [...(list.current?.querySelectorAll<HTMLElement>('.record-line') ?? [])];
    const at = lines.indexOf(document.activeElement as HTMLElement);
    lines[Math.max(0, Math.min(lines.length - 1, at + step))]?.focus();
  };
  useHotkey('/', () => search.current?.focus(), 'Filter by text');
  useHotkey('p', pause, 'Pause or resume the tail');
  useHotkey('Escape', () => setOpen(new Set()), '');
  useHotkey('ArrowDown', () => move(1), 'To the next change');
  useHotkey('ArrowUp', () => move(-1), 'To the previous change');

  const wanted = text.trim().toLowerCase();
  const shown = following.changes.filter(
    ({ change, entity: known, text: all }) =>
      events.includes(change.event) &&
      (!entity || (entity === '?' ? !known : known?.of === entity)) &&
      (!wanted || all.includes(wanted)),
  );
  return (
    <div class="panel">
      <div class="panel-head tail-head">
        <span class="tail-state" role="status">
          <span class={`dot ${paused ? 'dot-warn' : following.error ? 'dot-danger' : 'dot-ok dot-live'}`} />
          {paused ? 'Paused' : following.error ? 'Interrupted' : 'Live'}
        </span>
        <Button small icon={paused ? 'play' : 'pause'} onClick={pause}>
          {paused ? 'Resume' : 'Pause'}
        </Button>
        <Select
          aria-label="Where to begin"
          value={start}
          onChange={(value) => begin(value as Start)}
          class="tail-start"
          options={[
            { value: 'LATEST', label: 'From now on' },
            { value: 'TRIM_HORIZON', label: 'From the beginning' },
          ]}
        />
        <span class="spread" />
        <EventFilter chosen={events} onChange={setEvents} />
        {design && (
          <Select
            aria-label="Entity"
            value={entity}
            onChange={setEntity}
            options={entityOptions(design)}
            class="tail-entity"
          />
        )}
        <Input
          aria-label="Filter by text"
          placeholder="Filter by text"
          value={text}
          onInput={setText}
          inputRef={search}
          type="search"
          class="tail-text"
          onKeyDown={(event) => {
            if (event.key === 'Escape') {
              setText('');
              search.current?.blur();
            }
          }}
        />
      </div>
      {following.error && (
        <div class="panel-body">
          <ErrorBox error={following.error} />
        </div>
      )}
      {full && (
        <p class="tail-note">
          {format.plural(following.seen, 'change')} read, and there are more.{' '}
          <Button small onClick={pause}>
            Read on
          </Button>
          <span class="muted">The oldest changes were dropped.</span>
        </p>
      )}
      <ul class="records" ref={list} aria-label="Changes, newest first">
        {shown.map((known) => (
          <RecordLine
            key={known.change.id}
            known={known}
            table={table}
            order={order}
            open={open.has(known.change.id)}
            onToggle={() => toggle(known.change.id)}
          />
        ))}
      </ul>
      {shown.length === 0 && !following.error && (
        <Waiting following={following} start={start} onBeginning={() => begin('TRIM_HORIZON')} />
      )}
      <footer class="tail-foot muted number">
        {format.plural(shown.length, 'change')} shown
        {shown.length < following.changes.length ? ` of ${following.changes.length}` : ''}
        {following.seen > following.changes.length &&
          ` · ${format.count(following.seen)} came, the newest ${KEPT} are kept`}
      </footer>
    </div>
  );
}

function Waiting({ following, start, onBeginning }: { following: Following; start: Start; onBeginning: () => void }) {
  if (following.changes.length > 0) return <Empty title="No change fits the filter" icon="query" />;
  if (start === 'TRIM_HORIZON')
    return (
      <Empty title={following.caughtUp ? 'The stream is empty' : 'Reading…'} icon="stream">
        Nothing was changed within the last 24 hours.
      </Empty>
    );
  if (!following.caughtUp) return <Empty title="Connecting…" icon="stream" />; // what is written before that is not from now on
  return (
    <Empty title="Waiting for changes" icon="stream">
      <p>Writes to the table appear here at once.</p>
      <p>
        <Button small onClick={onBeginning}>
          Show what has happened so far
        </Button>
      </p>
    </Empty>
  );
}

export function StreamsPage({ route }: { route: Route }) {
  const table = route.path[1]!;
  const { value, error, reload } = useAsync(() => Promise.all([describeTable(table), designForTable(table)]), [table]);
  if (!value) return error ? <ErrorBox error={error} retry={reload} /> : <Spinner />;
  const [description, design] = value;
  const on = description.StreamSpecification?.StreamEnabled && description.LatestStreamArn;
  return (
    <div class="stack">
      <div class="page-head">
        <div>
          <h1>
            Stream of <span class="mono">{table}</span>
          </h1>
          <p>Every change of the table as it happens, with the old and the new item.</p>
        </div>
        <span class="spread" />
        {on && <Badge title="what each change has">{description.StreamSpecification!.StreamViewType}</Badge>}
        {design && (
          <a class="button button-plain" href={href(['processors', design.name])}>
            Processors
          </a>
        )}
      </div>
      {on ? (
        <TailView table={table} description={description} design={design} onGone={reload} />
      ) : (
        <NoStream table={table} />
      )}
    </div>
  );
}
