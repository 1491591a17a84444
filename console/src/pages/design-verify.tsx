// Contradictions between items: the oracle of `thorpe verify --design`, run by the server. SPDX-License-Identifier:
// Apache-2.0
import { useState } from 'preact/hooks';
import { consoleApi } from '../lib/client';
import type { Design, Verification, VerifyFinding } from '../lib/types';
import { href } from '../router';
import { Badge, Button, ErrorBox, Icon, format, usePoll } from '../ui';

const BADGE = { difference: 'danger', pending: 'warn', note: 'accent' } as const;
const BOX = { difference: 'error', pending: 'warning', note: 'note' } as const;
const POLL_MS = 700;

function linkTo(design: Design, key: NonNullable<VerifyFinding['key']>): string {
  const text = (name: string | null) => (name === null ? undefined : Object.values(key[name] ?? {})[0]);
  return href(['table', design.table, 'item'], { pk: text(design.key.hash), sk: text(design.key.range) });
}

function Finding({ design, finding }: { design: Design; finding: VerifyFinding }) {
  const missing = finding.kind.endsWith('-missing') && finding.kind !== 'attribute-missing'; // the item is missing
  return (
    <div class={`dsg-finding dsg-finding-${BOX[finding.severity]}`} data-kind={finding.kind}>
      <Icon name={finding.severity === 'note' ? 'info' : 'warn'} />
      <div>
        <p class="dsg-finding-head">
          <Badge kind={BADGE[finding.severity]}>{finding.severity}</Badge>
          <code>{finding.kind}</code>
          {finding.entity && <b>{finding.entity}</b>}
          {finding.key && !missing && <a href={linkTo(design, finding.key)}>the item</a>}
        </p>
        <p>{finding.sentence}</p>
      </div>
    </div>
  );
}

/** "3 of 12 items", "comparing", "looking again". */
function Progress({ seen }: { seen: Verification }) {
  const what = seen.comparing
    ? 'Comparing what the items say about one another'
    : `${seen.pass! > 1 ? 'Checking findings again: ' : ''}${format.count(seen.items ?? 0)} of ${format.plural(Math.max(seen.of ?? 0, seen.items ?? 0), 'item')}`;
  return (
    <p role="status" class="dsg-verify-progress">
      <progress
        max={Math.max(seen.of ?? 0, 1)}
        value={seen.comparing ? seen.of : seen.items}
        aria-label="Items checked"
      />{' '}
      {what}
    </p>
  );
}

function Verdict({ seen }: { seen: Verification }) {
  const also = [
    seen.pending && `${format.count(seen.pending)} pending, which the keeper will see to`,
    seen.notes && format.plural(seen.notes, 'note'),
    seen.moved && `${format.count(seen.moved)} moved meanwhile`,
  ]
    .filter(Boolean)
    .join('; ');
  const when = `At ${format.time(seen.ended_at!)}, ${format.plural(seen.items ?? 0, 'item')}${also ? `; ${also}` : ''}.`;
  if (seen.state === 'failed')
    return (
      <p class="dsg-unclear">
        <Icon name="warn" /> <b>The check failed.</b> <span>{seen.why}.</span>
      </p>
    );
  if (!seen.differences)
    return (
      <p class="dsg-clear">
        <Icon name="check" /> <b>No differences.</b> <span>{when}</span>
      </p>
    );
  return (
    <p class="dsg-unclear">
      <Icon name="warn" /> <b>{format.plural(seen.differences, 'difference')}.</b>{' '}
      <span>
        {when} <code>thorpe verify --design … --repair</code> mends what follows from the items.
      </span>
    </p>
  );
}

export function Verify({ design }: { design: Design }) {
  const [seen, setSeen] = useState<Verification | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const path = `verify/${encodeURIComponent(design.name)}`;
  const take = (asked: Promise<Verification>) =>
    asked.then((found) => {
      setSeen(found);
      setError(null);
    }, setError);
  const running = seen?.state === 'running';
  usePoll(() => (seen === null || running ? take(consoleApi<Verification>(path)) : undefined), POLL_MS, [design.name]);
  const kinds = Object.entries(seen?.kinds ?? {});
  const total = kinds.reduce((sum, [, n]) => sum + n, 0);
  return (
    <>
      <p class="muted dsg-lead">
        Checks the items against the design: attributes, derived values and keys, counters, guards, companions, copies,
        and leftovers of deletions. Every item is read once; findings are checked again, because items may change
        meanwhile.
      </p>
      <p>
        <Button
          icon="check"
          busy={running}
          onClick={() => void take(consoleApi<Verification>(path, undefined, 'POST'))}
        >
          Compare the items
        </Button>
      </p>
      {error && <ErrorBox error={error} />}
      {seen && running && <Progress seen={seen} />}
      {seen && (seen.state === 'done' || seen.state === 'failed') && <Verdict seen={seen} />}
      {kinds.length > 0 && (
        <p class="dsg-verify-kinds">
          {kinds.map(([kind, n]) => (
            <Badge key={kind} kind="plain">
              {n} {kind}
            </Badge>
          ))}
        </p>
      )}
      {seen && seen.findings.length > 0 && (
        <div class="dsg-findings">
          {seen.findings.map((finding, at) => (
            <Finding key={at} design={design} finding={finding} />
          ))}
          {total > seen.findings.length && (
            <p class="muted">
              The first {format.count(seen.findings.length)} of {format.count(total)};{' '}
              <code>thorpe verify --design</code> prints all.
            </p>
          )}
        </div>
      )}
    </>
  );
}
