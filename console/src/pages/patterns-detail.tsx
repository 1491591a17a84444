// One access pattern: a form, its result, its requests, and the same to paste into other clients.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from 'preact/hooks';
import { asRest, callPattern, nextOf, pathOf, type Outcome, type Who } from '../lib/design-call';
import { examplesFor } from '../lib/design-examples';
import { about } from '../lib/design-findings';
import type { AccessPattern, Design } from '../lib/types';
import { href, replace, type Route } from '../router';
import { Badge, EntityBadge, ErrorBox, Icon, useAsync, useHotkey } from '../ui';
import { FindingList } from './design-findings';
import { TemplateText } from './design-template';
import { PatternForm } from './patterns-form';
import { Requests } from './patterns-requests';
import { Result } from './patterns-result';
import { SnippetPanel } from './patterns-snippets';
import { WatchPanel } from './patterns-watch';

function Head({ design, pattern }: { design: Design; pattern: AccessPattern }) {
  const index = design.entities.findIndex((entity) => entity.name === pattern.entity);
  return (
    <header class="pat-head">
      <div class="pat-title">
        <h1>{pattern.name}</h1>
        {pattern.ids.map((id) => (
          <span key={id} class="pat-id" title="Its id in the list of requirements">
            {id}
          </span>
        ))}
        {pattern.entity && <EntityBadge name={pattern.entity} index={index} />}
        {pattern.operators_only && <Badge kind="warn">operators only</Badge>}
        <a class="pat-line" href={href(['design', design.name], { line: String(pattern.line) })}>
          line {pattern.line}
        </a>
      </div>
      {pattern.path && (
        <p class="pat-path">
          <span class="dsg-method dsg-method-get">GET</span>{' '}
          <code>
            /api/{design.name}
            <TemplateText template={pattern.path} />
          </code>
        </p>
      )}
      <p class="pat-request">
        <Icon name="query" />
        <span>
          {pattern.request.split(' · ').map((part, at) => (
            <span key={at} class="pat-request-part">
              <TemplateText template={part} />
            </span>
          ))}
        </span>
      </p>
      <FindingList design={design} findings={about(design, 'access', pattern.name)} compact />
    </header>
  );
}

/** Values from the address; the rest comes from the data. */
function fromAddress(pattern: AccessPattern, route: Route): Record<string, string> {
  const names = [...pattern.params.map((parameter) => parameter.name), 'limit'];
  return Object.fromEntries(
    names.flatMap((name) => (route.query.get(name) === null ? [] : [[name, route.query.get(name)!]])),
  );
}

export function PatternDetail({ design, pattern, route }: { design: Design; pattern: AccessPattern; route: Route }) {
  const [values, setValues] = useState<Record<string, string>>(() => fromAddress(pattern, route));
  const [who, setWho] = useState<Who>({ mode: 'operator', subject: '', roles: [], claims: {} });
  const [outcomes, setOutcomes] = useState<Outcome[]>([]);
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState<Error | null>(null);
  const [watching, setWatching] = useState(false);
  const results = useRef<HTMLDivElement>(null);
  const examples = useAsync((signal) => examplesFor(design, pattern, signal), []);
  // Only once the examples are in the fields is the form ready: before, they could land in the middle of typing.
  const [ready, setReady] = useState(false);
  useEffect(() => {
    if (examples.loading) return;
    const found = examples.value;
    if (found) {
      const focused = document.activeElement?.getAttribute('name');
      const { [focused ?? '']: _, ...others } = found.values;
      setValues((old) => ({ ...others, ...old }));
      if (found.subject) setWho({ mode: 'subject', subject: found.subject, roles: [], claims: {} });
    }
    setReady(true);
  }, [examples.value, examples.loading]);

  const run = async (after?: string) => {
    setBusy(true);
    setFailed(null);
    const asked = after ? { ...values, after } : values;
    try {
      const outcome = await callPattern(design, pattern, asked, who);
      setOutcomes((old) => (after ? [...old, outcome] : [outcome]));
      replace(href(['design', design.name, 'patterns', pattern.name], values));
    } catch (error) {
      setFailed(error as Error);
    } finally {
      setBusy(false);
    }
  };
  useHotkey('mod+Enter', () => void run(), 'Run the access pattern');
  const last = outcomes[outcomes.length - 1];
  const path = pathOf(pattern, { ...values, limit: '' });
  const elsewhere = asRest(design, pattern, values, who);
  return (
    <article class="pat-article">
      <Head design={design} pattern={pattern} />
      <PatternForm
        design={design}
        pattern={pattern}
        values={values}
        who={who}
        wrong={last?.wrong ?? {}}
        busy={busy}
        preparing={!ready}
        example={examples.value}
        onValues={setValues}
        onWho={setWho}
        onRun={() => void run()}
        watch={pattern.list && pattern.path && who.mode !== 'subject' ? { on: watching, set: setWatching } : undefined}
      />
      {failed && <ErrorBox error={failed} />}
      {watching && path && who.mode !== 'subject' && (
        <WatchPanel
          key={`${path} ${who.mode}`}
          design={design}
          pattern={pattern}
          path={path}
          as={who.mode}
          onClose={() => setWatching(false)}
        />
      )}
      <div ref={results} class="pat-outcome">
        {outcomes.length > 0 && (
          <Result
            design={design}
            pattern={pattern}
            outcomes={outcomes}
            busy={busy}
            onMore={nextOf(last?.result) ? () => void run(nextOf(last?.result)) : undefined}
          />
        )}
        {last && <Requests design={design} requests={outcomes.flatMap((outcome) => outcome.requests)} />}
      </div>
      {elsewhere && (
        <SnippetPanel
          title={pattern.path ? 'As a REST call' : 'By its name, over REST'}
          hide={elsewhere.token}
          texts={[
            ['curl', 'curl', elsewhere.snippets.curl],
            ['javascript', 'fetch', elsewhere.snippets.javascript],
            ['python', 'Python', elsewhere.snippets.python],
          ]}
        />
      )}
    </article>
  );
}
