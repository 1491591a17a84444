// The page of a design: keys, entities, indexes, access patterns, and their findings of thorpe check.
// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { designOf } from '../lib/client';
import { about, open, sorted, tally } from '../lib/design-findings';
import type { Design, DesignIndex } from '../lib/types';
import { go, href, type Route } from '../router';
import { Badge, ErrorBox, Icon, Spinner, Tabs, format, useAsync } from '../ui';
import { AccessTable, ProcessorTable } from './design-access';
import { EntityChart } from './design-chart';
import { Diagram } from './design-diagram';
import { Entities } from './design-entity';
import { FindingList, FindingMark } from './design-findings';
import { Source } from './design-source';
import { Verify } from './design-verify';

const SECTIONS: [string, string][] = [
  ['chart', 'Entity chart'],
  ['diagram', 'Diagram'],
  ['entities', 'Entities'],
  ['access', 'Access patterns'],
  ['processors', 'Processors'],
  ['findings', 'Findings'],
  ['items', 'Items'],
];

const STREAMS: Record<string, string> = {
  NEW_AND_OLD_IMAGES: 'both images',
  NEW_IMAGE: 'new image',
  OLD_IMAGE: 'old image',
  KEYS_ONLY: 'keys only',
};

function projection(index: DesignIndex): string {
  if (index.projection === 'ALL') return 'all attributes';
  return index.projection === 'KEYS_ONLY' ? 'keys only' : `keys, ${index.include.join(', ')}`;
}

function Keys({ design }: { design: Design }) {
  const readers = (index: string | null) =>
    design.access.filter((one) => one.kind !== 'merge' && one.index === index).length;
  const row = (
    name: string,
    hash: string,
    range: string | null,
    carries: string,
    index: string | null,
    findings = about(design, 'table'),
  ) => (
    <tr key={name}>
      <th scope="row">
        <a href={href(['table', design.table], { index: index ?? undefined })}>{name}</a>{' '}
        <FindingMark findings={findings} />
      </th>
      <td>
        <code>{hash}</code>
      </td>
      <td>{range ? <code>{range}</code> : <span class="muted">none</span>}</td>
      <td>{carries}</td>
      <td class="number">{readers(index)}</td>
    </tr>
  );
  return (
    <div class="panel pat-scroll">
      <table class="list dsg-keys">
        <thead>
          <tr>
            <th scope="col">Where</th>
            <th scope="col">Partition key</th>
            <th scope="col">Sort key</th>
            <th scope="col">Carries</th>
            <th scope="col" class="number">
              Patterns
            </th>
          </tr>
        </thead>
        <tbody>
          {row('Table', design.key.hash, design.key.range, 'the items', null)}
          {design.indexes.map((index) =>
            row(index.name, index.hash, index.range, projection(index), index.name, about(design, 'index', index.name)),
          )}
        </tbody>
      </table>
    </div>
  );
}

function Facts({ design }: { design: Design }) {
  const facts: [string, ComponentChildren][] = [
    [
      'Table',
      <a href={href(['table', design.table])}>
        <code>{design.table}</code>
      </a>,
    ],
    ['Entities', format.count(design.entities.length)],
    ['Indexes', format.count(design.indexes.length)],
    ['Access patterns', <a href={href(['design', design.name, 'patterns'])}>{format.count(design.access.length)}</a>],
    ['Time to live', design.ttl ? <code>{design.ttl}</code> : 'none'],
    [
      'Stream',
      design.stream ? <a href={href(['streams', design.table])}>{STREAMS[design.stream] ?? design.stream}</a> : 'off',
    ],
  ];
  return (
    <dl class="facts">
      {facts.map(([name, value]) => (
        <div class="fact" key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

function Verdict({ design }: { design: Design }) {
  const todo = open(design.findings);
  const accepted = design.findings.length - todo.length;
  const also = accepted ? ` ${format.plural(accepted, 'finding')} accepted, each with a reason.` : '';
  if (todo.length === 0)
    return (
      <p class="dsg-clear">
        <Icon name="check" /> <b>All clear.</b>{' '}
        <span>
          <code>thorpe check</code> has nothing to say against this design.{also}
        </span>
      </p>
    );
  return (
    <p class="dsg-unclear">
      <Icon name="warn" /> <b>{tally(design.findings)}.</b>{' '}
      <span>
        By <code>thorpe check</code>, below at their place.{also}
      </span>
    </p>
  );
}

const toSection = (id: string) =>
  document.getElementById(`dsg-${id}`)?.scrollIntoView({ behavior: 'smooth', block: 'start' });

function Document({ design, entity }: { design: Design; entity: string | null }) {
  const sections = SECTIONS.filter(
    ([id]) => (id !== 'processors' || design.processors.length) && (id !== 'findings' || design.findings.length),
  );
  return (
    <>
      <nav class="dsg-nav" aria-label="Sections">
        {sections.map(([id, title]) => (
          <button type="button" key={id} onClick={() => toSection(id)}>
            {title}
          </button>
        ))}
      </nav>
      <Facts design={design} />
      <Verdict design={design} />
      <Keys design={design} />
      <section id="dsg-chart">
        <h2>Entity chart</h2>
        <p class="muted dsg-lead">
          What each kind of item writes into the key attributes: text that is always there, and in colour what comes
          from the item. Kinds with the same partition key live in one partition. A condition says when the key is
          written; without it the item is not in that index.
        </p>
        <EntityChart design={design} />
      </section>
      <section id="dsg-diagram">
        <h2>Which entity is in which index</h2>
        <Diagram design={design} />
      </section>
      <section id="dsg-entities">
        <h2>Entities</h2>
        <Entities design={design} chosen={entity} />
      </section>
      <section id="dsg-access">
        <h2>Access patterns</h2>
        <AccessTable design={design} />
      </section>
      {design.processors.length > 0 && (
        <section id="dsg-processors">
          <h2>Processors</h2>
          <ProcessorTable design={design} />
        </section>
      )}
      {design.findings.length > 0 && (
        <section id="dsg-findings">
          <h2>Findings</h2>
          <FindingList design={design} findings={sorted(design.findings)} />
        </section>
      )}
      <section id="dsg-items" aria-label="Items">
        <h2>Items</h2>
        <Verify design={design} />
      </section>
    </>
  );
}

export function DesignPage({ route }: { route: Route }) {
  const name = route.path[1]!;
  const { value: design, error, reload } = useAsync(() => designOf(name), [name]);
  const line = Number(route.query.get('line')) || null;
  const view = line !== null || route.query.get('view') === 'source' ? 'source' : 'document';
  const entity = route.query.get('entity');
  const todo = useMemo(() => (design ? open(design.findings).length : 0), [design]);
  useEffect(() => {
    if (design && entity) document.getElementById(`dsg-entity-${entity}`)?.scrollIntoView({ block: 'start' });
  }, [design, entity]);
  useEffect(() => {
    if (line === null && !entity) scrollTo({ top: 0 });
  }, [view]);
  if (error) return <ErrorBox error={error} retry={reload} />;
  if (!design) return <Spinner />;
  return (
    <div class="dsg">
      <header class="page-head dsg-head">
        <div>
          <h1>{design.title}</h1>
          <p>
            Design <code>{design.name}</code> · {format.plural(design.entities.length, 'kind')} of items in one table,{' '}
            {format.plural(design.access.length, 'access pattern')}
          </p>
        </div>
        <Tabs
          label="View"
          selected={view}
          onSelect={(id) => go(href(['design', name], id === 'source' ? { view: 'source' } : {}))}
          tabs={[
            { id: 'document', label: 'Design' },
            { id: 'source', label: <>Source {todo > 0 && <Badge kind="warn">{todo}</Badge>}</> },
          ]}
        />
      </header>
      {view === 'source' ? <Source design={design} line={line} /> : <Document design={design} entity={entity} />}
    </div>
  );
}
