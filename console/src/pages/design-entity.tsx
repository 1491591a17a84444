// Entities in detail: attributes, keys, rules, actions, and the routes with the request that each becomes.
// SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { about } from '../lib/design-findings';
import type { Attribute, Design, Entity } from '../lib/types';
import { href } from '../router';
import { Badge, Button, EntityBadge, Icon, entityStyle, format } from '../ui';
import { FindingList, FindingMark } from './design-findings';
import { TemplateText } from './design-template';

const LOUD = new Set(['required', 'id', 'unique', 'hidden', 'private']);

function AttributeRow({ attribute }: { attribute: Attribute }) {
  return (
    <tr>
      <th scope="row">
        <code>{attribute.name}</code>
      </th>
      <td>
        {attribute.choices ? (
          <span class="dsg-choices">
            {attribute.choices.map((choice) => (
              <code key={choice}>{choice}</code>
            ))}
          </span>
        ) : (
          attribute.type
        )}
      </td>
      <td>
        <span class="dsg-flags">
          {attribute.flags.map((flag) => (
            <Badge key={flag} kind={LOUD.has(flag) ? 'accent' : 'plain'}>
              {flag}
            </Badge>
          ))}
        </span>
      </td>
      <td>{attribute.from && <code class="dsg-from">{attribute.from}</code>}</td>
    </tr>
  );
}

function Part({ title, children }: { title: string; children: ComponentChildren }) {
  return (
    <div class="dsg-part">
      <h4>{title}</h4>
      {children}
    </div>
  );
}

/** Each key attribute with its template and the condition in full. */
function Keys({ entity }: { entity: Entity }) {
  return (
    <dl class="dsg-rules dsg-entity-keys">
      {entity.keys.map((rule, at) => (
        <div key={at}>
          <dt>
            <code>{rule.attribute}</code>
          </dt>
          <dd>
            <TemplateText template={rule.template} />
            {rule.when && (
              <span class="muted">
                {' '}
                if <code>{rule.when}</code>
              </span>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Routes({ entity }: { entity: Entity }) {
  return (
    <ul class="dsg-routes">
      {entity.routes.map((route) => (
        <li key={route.method + route.path}>
          <span class={`dsg-method dsg-method-${route.method.toLowerCase()}`}>{route.method}</span>
          <code>
            <TemplateText template={route.path} />
          </code>
          <span class="muted">{route.does}</span>
          <span class="dsg-becomes">
            <TemplateText template={route.request} />
          </span>
        </li>
      ))}
    </ul>
  );
}

function Rules({ entity }: { entity: Entity }) {
  const rules = Object.entries(entity.allow);
  if (rules.length === 0) return <p class="muted">Operators only.</p>;
  return (
    <dl class="dsg-rules">
      {rules.map(([verb, rule]) => (
        <div key={verb}>
          <dt>{verb}</dt>
          <dd>
            <code>{rule}</code>
          </dd>
        </div>
      ))}
    </dl>
  );
}

function Details({ design, entity }: { design: Design; entity: Entity }) {
  return (
    <div class="dsg-entity-body">
      <FindingList design={design} findings={about(design, 'entity', entity.name)} compact />
      <Part title="Attributes">
        <div class="pat-scroll">
          <table class="list dsg-attributes">
            <tbody>
              {entity.attributes.map((one) => (
                <AttributeRow key={one.name} attribute={one} />
              ))}
            </tbody>
          </table>
        </div>
      </Part>
      <Part title="Keys">
        <Keys entity={entity} />
      </Part>
      <div class="dsg-columns">
        <Part title="Who may">
          <Rules entity={entity} />
        </Part>
        <Part title="Counts, actions, deleting">
          <ul class="dsg-plain">
            {entity.counts.map((count) => (
              <li key={count}>
                counts on <code>{count}</code>
              </li>
            ))}
            {entity.also.map((rule) => (
              <li key={rule}>
                also <code>{rule}</code>
              </li>
            ))}
            {entity.actions.map((action) => (
              <li key={action.name}>
                <b>{action.name}</b>
                {action.input.length > 0 && <> ({action.input.join(', ')})</>}
                {action.when && (
                  <span class="muted">
                    {' '}
                    when <code>{action.when}</code>
                  </span>
                )}
              </li>
            ))}
            <li>
              <b>delete</b> {entity.deletes}
            </li>
            {entity.renames && (
              <li>
                <b>rename</b> {entity.renames}
              </li>
            )}
            {entity.version && (
              <li>
                version in <code>{entity.version}</code>
              </li>
            )}
          </ul>
        </Part>
      </div>
      {entity.routes.length > 0 && (
        <Part title="Routes, and the request each becomes">
          <Routes entity={entity} />
        </Part>
      )}
    </div>
  );
}

function Card({
  design,
  entity,
  at,
  open,
  onToggle,
}: {
  design: Design;
  entity: Entity;
  at: number;
  open: boolean;
  onToggle: () => void;
}) {
  const own = design.access.filter((one) => one.entity === entity.name).length;
  return (
    <section class="panel dsg-entity" id={`dsg-entity-${entity.name}`} style={entityStyle(at)} data-open={open}>
      <button type="button" class="dsg-entity-head" aria-expanded={open} onClick={onToggle}>
        <Icon name={open ? 'down' : 'right'} />
        <EntityBadge name={entity.name} index={at} />
        <code class="dsg-entity-path">
          <TemplateText template={entity.path} />
        </code>
        {entity.internal && <Badge title="Written by companions and processors only">internal</Badge>}
        <FindingMark findings={about(design, 'entity', entity.name)} />
        <span class="muted dsg-entity-numbers">
          {format.plural(entity.attributes.length, 'attribute')} · {format.plural(own, 'pattern')}
        </span>
      </button>
      {open && <Details design={design} entity={entity} />}
      {open && (
        <p class="dsg-entity-foot">
          <a href={href(['design', design.name], { line: String(entity.line) })}>Line {entity.line} of the source</a>
        </p>
      )}
    </section>
  );
}

export function Entities({ design, chosen }: { design: Design; chosen: string | null }) {
  const [open, setOpen] = useState<Set<string>>(() => new Set());
  const [seen, setSeen] = useState<string | null>(null);
  if (chosen !== seen) {
    // the address named another one
    setSeen(chosen);
    if (chosen) setOpen((old) => new Set([...old, chosen]));
  }
  const toggle = (name: string) =>
    setOpen((old) => {
      const now = new Set(old);
      if (!now.delete(name)) now.add(name);
      return now;
    });
  const all = open.size === design.entities.length;
  return (
    <>
      <div class="dsg-tools">
        <Button
          small
          kind="ghost"
          onClick={() => setOpen(new Set(all ? [] : design.entities.map((entity) => entity.name)))}
        >
          {all ? 'Fold all' : 'Unfold all'}
        </Button>
      </div>
      {design.entities.map((entity, at) => (
        <Card
          key={entity.name}
          design={design}
          entity={entity}
          at={at}
          open={open.has(entity.name)}
          onToggle={() => toggle(entity.name)}
        />
      ))}
    </>
  );
}
