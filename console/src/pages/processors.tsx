// The processors of a design: how far they are, what they could not do, and stepping in.
// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { designOf, rest } from '../lib/client';
import type { Design, Processor } from '../lib/types';
import { href, type Route } from '../router';
import {
  Badge,
  Button,
  Dialog,
  Empty,
  ErrorBox,
  Field,
  format,
  Icon,
  Input,
  Spinner,
  toast,
  useAsync,
  usePoll,
} from '../ui';
import { ParkedList } from './processors-parked';

const EVERY_MS = 1_000;

const timeOf = (text: string) => new Date(text).toLocaleString('en-GB');

interface State {
  name: string;
  on?: string;
  effect: string;
  paused: boolean;
  /** Why it could not be started. */
  stands_still?: string;
  lag_seconds: number;
  /** Not for webhooks. */
  backlog?: number;
  done: number;
  retries: number;
  lost: number;
  parked: number;
  /** Of one that runs on a schedule. */
  last_run_at?: string;
  next_run_at?: string;
  running?: boolean;
  last_problem?: string;
  last_problem_at?: string;
  /** What was left as it is, by reason. */
  passed_over?: Record<string, number>;
  last_passed_over?: string;
  last_passed_over_at?: string;
}

/** Reasons, those first that someone may have to do something about. */
const PASSED_OVER: [reason: string, label: string, tone?: 'warn'][] = [
  ['unfit', 'do not fit the design', 'warn'],
  ['gone', 'item is not there', 'warn'],
  ['requirement', 'requirement not met', 'warn'],
  ['incomplete', 'lack something', 'warn'],
  ['refused', 'break a rule', 'warn'],
  ['nothing', 'nothing to remove or count'],
  ['holds', 'still hold'],
  ['there', 'there already'],
  ['when', 'by its condition'],
];

interface List {
  idle: boolean;
  processors: State[];
}

const KEEPER =
  'Keeps derived attributes, copies and counts right, carries out cascades, and cleans up after time to live.';

function Figure({
  label,
  value,
  tone,
  title,
}: {
  label: string;
  value: ComponentChildren;
  tone?: 'warn' | 'danger';
  title?: string;
}) {
  return (
    <div class={`fact${tone ? ` fact-${tone}` : ''}`} title={title}>
      <dt>{label}</dt>
      <dd class="number">{value}</dd>
    </div>
  );
}

function PassedOver({ state }: { state: State }) {
  const counts = state.passed_over ?? {};
  const shown = PASSED_OVER.filter(([reason]) => (counts[reason] ?? 0) > 0);
  if (shown.length === 0) return null;
  return (
    <details class="processor-passed muted">
      <summary>
        {format.compact(shown.reduce((sum, [reason]) => sum + (counts[reason] ?? 0), 0))} passed over
        {shown.some(([, , tone]) => tone) && (
          <>
            {' '}
            <Badge kind="warn">look</Badge>
          </>
        )}
      </summary>
      <dl class="figures">
        {shown.map(([reason, label, tone]) => (
          <Figure key={reason} label={label} value={format.compact(counts[reason] ?? 0)} tone={tone} />
        ))}
      </dl>
      {state.last_passed_over && (
        <p>
          The last one: {state.last_passed_over}{' '}
          {state.last_passed_over_at && new Date(state.last_passed_over_at).toLocaleString('en-GB')}
        </p>
      )}
    </details>
  );
}

function StateBadge({ state }: { state: State }) {
  if (state.stands_still) return <Badge kind="danger">stands still</Badge>;
  if (state.paused)
    return (
      <Badge kind="warn">
        <Icon name="pause" size={11} />
        paused
      </Badge>
    );
  if (state.parked > 0)
    return (
      <Badge kind="warn">
        <Icon name="warn" size={11} />
        needs you
      </Badge>
    );
  if (state.lag_seconds > 10) return <Badge kind="danger">behind</Badge>;
  if (state.backlog) return <Badge kind="accent">working</Badge>;
  return <Badge kind="ok">up to date</Badge>;
}

/** Asks since when, and says what a replay does before it does it. */
function ReplayDialog({
  state,
  onClose,
  onReplay,
}: {
  state: State;
  onClose: () => void;
  onReplay: (from: string) => Promise<void>;
}) {
  const local = new Date(Date.now() - 3_600_000);
  local.setMinutes(local.getMinutes() - local.getTimezoneOffset());
  const [from, setFrom] = useState(local.toISOString().slice(0, 16));
  const [error, setError] = useState<Error | null>(null);
  const [busy, setBusy] = useState(false);
  const run = () => {
    setBusy(true);
    onReplay(new Date(from).toISOString().replace(/\.\d+Z$/, 'Z')).catch((problem: Error) => {
      setError(problem);
      setBusy(false);
    });
  };
  return (
    <Dialog
      title={`Replay “${state.name}”`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" icon="replay" busy={busy} disabled={!from} onClick={run}>
            Replay
          </Button>
        </>
      }
    >
      <div class="stack">
        <p>
          It goes back (or ahead) to a time: every change since then that the stream still has (24 hours) is done again.
        </p>
        <p class="muted">
          Puts, updates and deletions come out the same. What it <b>counts</b> is counted again, and webhooks are sent
          again.
        </p>
        <Field label="Since (your time)">
          <Input type="datetime-local" value={from} onInput={setFrom} required />
        </Field>
        {error && <ErrorBox error={error} />}
      </div>
    </Dialog>
  );
}

function ProcessorCard({
  design,
  state,
  described,
  onAct,
}: {
  design: Design;
  state: State;
  described: Processor | undefined;
  onAct: (what: string, body?: object) => Promise<void>;
}) {
  const [replaying, setReplaying] = useState(false);
  const [busy, setBusy] = useState(false);
  const [turn, setTurn] = useState(0);
  const toggle = () => {
    setBusy(true);
    void onAct(state.paused ? 'resume' : 'pause')
      .catch((error: Error) => toast(error.message, 'danger'))
      .finally(() => setBusy(false));
  };
  const runNow = () => {
    setBusy(true);
    void onAct('run')
      .then(() => toast(`“${state.name}” runs now.`, 'ok'))
      .catch((error: Error) => toast(error.message, 'danger'))
      .finally(() => setBusy(false));
  };
  const index = (name: string) => design.entities.findIndex((entity) => entity.name === name);
  return (
    <article class="processor" aria-label={state.name}>
      <div class="processor-top">
        <div class="processor-what">
          <div class="processor-title">
            <h2>{state.name}</h2>
            <StateBadge state={state} />
          </div>
          <p class="muted">
            {state.name === 'keeper' && !described ? (
              KEEPER
            ) : (
              <>
                {state.next_run_at ? 'Runs' : 'On'} {state.on ?? described?.entity}: {described?.does ?? state.effect}
              </>
            )}
          </p>
          {state.next_run_at && (
            <p class="muted">
              {state.running ? 'Running now' : `Last run ${state.last_run_at ? timeOf(state.last_run_at) : 'never'}`},
              next {timeOf(state.next_run_at)}
            </p>
          )}
          {described?.when && (
            <details class="muted">
              <summary>under a condition</summary>
              <code>{described.when}</code>
            </details>
          )}
        </div>
        <dl class="figures">
          <Figure
            label="Lag"
            value={format.duration(state.lag_seconds * 1000)}
            tone={state.lag_seconds > 10 ? 'danger' : undefined}
            title="age of the oldest unprocessed change"
          />
          <Figure
            label="Backlog"
            value={state.backlog === undefined ? '–' : format.count(state.backlog)}
            title="changes known to be waiting"
          />
          <Figure label="Done" value={format.compact(state.done)} title="since the server started" />
          <Figure label="Retries" value={format.compact(state.retries)} tone={state.retries ? 'warn' : undefined} />
          {state.lost > 0 && (
            <Figure
              label="Lost"
              value={format.count(state.lost)}
              tone="danger"
              title="times the next changes had been trimmed from the stream"
            />
          )}
          <Figure
            label="Parked"
            value={format.count(state.parked)}
            tone={state.parked ? 'warn' : undefined}
            title="failed changes that wait for an operator"
          />
        </dl>
        <div class="processor-buttons">
          <Button small icon={state.paused ? 'play' : 'pause'} busy={busy} onClick={toggle}>
            {state.paused ? 'Resume' : 'Pause'}
          </Button>
          {state.next_run_at ? (
            <Button small icon="play" busy={busy} disabled={state.paused} onClick={runNow}>
              Run now
            </Button>
          ) : (
            <Button small icon="replay" onClick={() => setReplaying(true)}>
              Replay
            </Button>
          )}
        </div>
      </div>
      {state.last_problem && (
        <p class="processor-problem">
          <Icon name="warn" size={14} />
          <span>
            {state.last_problem}{' '}
            <span class="muted">
              {state.last_problem_at && new Date(state.last_problem_at).toLocaleString('en-GB')}
            </span>
          </span>
        </p>
      )}
      <PassedOver state={state} />
      {state.parked > 0 && (
        <section class="processor-parked">
          <h3>Parked changes</h3>
          <ParkedList
            design={design.name}
            processor={state.name}
            version={state.parked + turn / 1e6}
            entityIndex={index}
            onChange={() => setTurn(turn + 1)}
          />
        </section>
      )}
      {replaying && (
        <ReplayDialog
          state={state}
          onClose={() => setReplaying(false)}
          onReplay={async (from) => {
            await onAct('replay', { from });
            setReplaying(false);
            toast(`“${state.name}” goes over everything since ${new Date(from).toLocaleString('en-GB')}.`, 'ok');
          }}
        />
      )}
    </article>
  );
}

function Processors({ design }: { design: Design }) {
  const [list, setList] = useState<List | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const read = () =>
    rest<List>(design.name, 'GET', '/processors').then(
      ({ body }) => {
        setList(body);
        setError(null);
      },
      (problem: Error) => setError(problem),
    );
  usePoll(read, EVERY_MS, [design.name]);
  if (!list) return error ? <ErrorBox error={error} retry={() => void read()} /> : <Spinner />;
  const act =
    (state: State) =>
    async (what: string, body: object = {}) => {
      await rest(design.name, 'POST', `/processors/${encodeURIComponent(state.name)}/${what}`, { body });
      await read();
    };
  // What needs someone comes first; the keeper, which nobody wrote, last.
  const weight = (state: State) => (state.parked ? 0 : state.paused ? 1 : state.name === 'keeper' ? 3 : 2);
  const ordered = [...list.processors].sort((a, b) => weight(a) - weight(b));
  return (
    <div class="stack processors">
      <div class="page-head">
        <div>
          <h1>Processors of {design.title}</h1>
          <p>
            They follow the stream of{' '}
            <a class="mono" href={href(['streams', design.table])}>
              {design.table}
            </a>{' '}
            and write what follows from each change: in order for each item, exactly once.
          </p>
        </div>
        <span class="spread" />
        <Badge kind={list.idle ? 'ok' : 'accent'} title="idle: everything written so far has been processed">
          {list.idle ? 'all done' : 'working'}
        </Badge>
      </div>
      {error && <ErrorBox error={error} />}
      {ordered.length === 0 && (
        <div class="panel">
          <Empty title="This design has no processors" icon="processor" />
        </div>
      )}
      {ordered.length > 0 && (
        <div class="panel">
          {ordered.map((state) => (
            <ProcessorCard
              key={state.name}
              design={design}
              state={state}
              described={design.processors.find((p) => p.name === state.name)}
              onAct={act(state)}
            />
          ))}
        </div>
      )}
    </div>
  );
}

export function ProcessorsPage({ route }: { route: Route }) {
  const name = route.path[1]!;
  const { value: design, error, reload } = useAsync(() => designOf(name), [name]);
  if (!design) return error ? <ErrorBox error={error} retry={reload} /> : <Spinner />;
  return <Processors design={design} />;
}
