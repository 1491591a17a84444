// The DynamoDB requests of a call in order, with their keys and cost. SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import { keyInWords, spotOf, type Spot } from '../lib/design-call';
import { session } from '../lib/session';
import { compactJson, snippets } from '../lib/snippets';
import type { CallRequest, Design } from '../lib/types';
import { href } from '../router';
import { Badge, Icon, Units, format } from '../ui';
import { SnippetTabs } from './patterns-snippets';

type Made = CallRequest & { error?: string };

const inMs = (us: number) => (us < 1000 ? `${us} µs` : `${(us / 1000).toFixed(1)} ms`);

function Links({ spot }: { spot: Spot | null }) {
  if (!spot) return null;
  const { table, index, pk, sk, order } = spot;
  return (
    <p class="pat-links">
      {spot.one ? (
        <a href={href(['table', table, 'item'], { pk, sk })}>
          <Icon name="table" /> Open the item
        </a>
      ) : (
        <a href={href(['table', table], { index, pk, sk, order })}>
          <Icon name="table" /> Open in the single-table view
        </a>
      )}
      {!spot.one && (
        <a href={href(['table', table, 'query'], spot.query)}>
          <Icon name="query" /> Open in the query builder
        </a>
      )}
    </p>
  );
}

function RequestBody({ design, made }: { design: Design; made: Made }) {
  const texts = snippets(made.operation, made.request, session());
  return (
    <div class="pat-request-body">
      <Links spot={spotOf(design, made.request)} />
      {made.error && (
        <p class="pat-request-error">
          <Icon name="warn" /> {made.error}
        </p>
      )}
      <SnippetTabs
        texts={[
          ['json', 'Request', compactJson(made.request)],
          ['curl', 'curl', texts.curl],
          ['aws', 'aws dynamodb', texts.aws],
          ['javascript', 'JavaScript', texts.javascript],
          ['python', 'Python', texts.python],
        ]}
      />
    </div>
  );
}

function RequestRow({
  design,
  made,
  before,
  total,
  many,
}: {
  design: Design;
  made: Made;
  before: number;
  total: number;
  many: boolean;
}) {
  const [open, setOpen] = useState(!many);
  const index = made.request.IndexName as string | undefined;
  const width = Math.max((made.us / total) * 100, 1.5);
  return (
    <li class="pat-made" data-open={open}>
      <button type="button" class="pat-made-line" aria-expanded={open} onClick={() => setOpen(!open)}>
        <Icon name={open ? 'down' : 'right'} />
        <b>{made.operation}</b>
        <Badge>{index ?? 'table'}</Badge>
        <code class="pat-made-key">{keyInWords(made.request)}</code>
        <span class="pat-made-cost">
          <span>{format.plural(made.items, 'item')}</span>
          <Units read={made.read_units} write={made.write_units || undefined} />
          <span class="number" title="time it took">
            {inMs(made.us)}
          </span>
        </span>
        {many && (
          <span class="pat-bar" aria-hidden="true">
            <span style={{ left: `${Math.min((before / total) * 100, 98.5)}%`, width: `${width}%` }} />
          </span>
        )}
      </button>
      {open && <RequestBody design={design} made={made} />}
    </li>
  );
}

/** Shown until more are asked for: a merge can make a hundred. */
const FIRST = 20;

export function Requests({ design, requests }: { design: Design; requests: Made[] }) {
  const [all, setAll] = useState(false);
  const total = Math.max(
    requests.reduce((sum, one) => sum + one.us, 0),
    1,
  );
  const shown = all ? requests : requests.slice(0, FIRST);
  let before = 0;
  if (requests.length === 0) return null;
  return (
    <section class="panel pat-requests" aria-label="DynamoDB requests">
      <div class="panel-head">
        <h2>{format.plural(requests.length, 'DynamoDB request')}</h2>
        <Units read={requests.reduce((sum, one) => sum + one.read_units, 0)} ms={total / 1000} />
      </div>
      <ol class="pat-mades">
        {shown.map((made, at) => {
          const start = before;
          before += made.us;
          return (
            <RequestRow key={at} design={design} made={made} before={start} total={total} many={requests.length > 1} />
          );
        })}
      </ol>
      {requests.length > shown.length && (
        <button type="button" class="button button-ghost" onClick={() => setAll(true)}>
          {requests.length - shown.length} more
        </button>
      )}
    </section>
  );
}
