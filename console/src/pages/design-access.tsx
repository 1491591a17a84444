// The access patterns and processors of a design as tables.
// SPDX-License-Identifier: Apache-2.0
import { about } from '../lib/design-findings';
import type { AccessPattern, Design } from '../lib/types';
import { href } from '../router';
import { Badge, EntityBadge } from '../ui';
import { FindingList, FindingMark } from './design-findings';
import { TemplateText } from './design-template';

function entityAt(design: Design, name: string | null): number {
  return design.entities.findIndex((entity) => entity.name === name);
}

function AccessRow({ design, pattern }: { design: Design; pattern: AccessPattern }) {
  const findings = about(design, 'access', pattern.name);
  return (
    <>
      <tr>
        <th scope="row">
          <a href={href(['design', design.name, 'patterns', pattern.name])}>{pattern.name}</a>{' '}
          <FindingMark findings={findings} />
        </th>
        <td>
          {pattern.ids.map((id) => (
            <span key={id} class="pat-id">
              {id}
            </span>
          ))}
        </td>
        <td>
          {pattern.entity ? (
            <EntityBadge name={pattern.entity} index={entityAt(design, pattern.entity)} />
          ) : (
            <span class="muted">several</span>
          )}
        </td>
        <td>
          {pattern.path ? (
            <code>
              <TemplateText template={pattern.path} />
            </code>
          ) : (
            <Badge>internal</Badge>
          )}
        </td>
        <td class="dsg-becomes">
          <TemplateText template={pattern.request} />
        </td>
      </tr>
      {findings.length > 0 && (
        <tr class="dsg-finding-row">
          <td colSpan={5}>
            <FindingList design={design} findings={findings} compact />
          </td>
        </tr>
      )}
    </>
  );
}

export function AccessTable({ design }: { design: Design }) {
  return (
    <div class="panel pat-scroll" tabIndex={0} role="region" aria-label="Access patterns">
      <table class="list dsg-access">
        <thead>
          <tr>
            <th scope="col">Pattern</th>
            <th scope="col">Id</th>
            <th scope="col">Gives</th>
            <th scope="col">Path</th>
            <th scope="col">Request</th>
          </tr>
        </thead>
        <tbody>
          {design.access.map((pattern) => (
            <AccessRow key={pattern.name} design={design} pattern={pattern} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

export function ProcessorTable({ design }: { design: Design }) {
  return (
    <div class="panel pat-scroll" tabIndex={0} role="region" aria-label="Processors">
      <table class="list dsg-access">
        <thead>
          <tr>
            <th scope="col">Processor</th>
            <th scope="col">On</th>
            <th scope="col">Does</th>
            <th scope="col">When</th>
          </tr>
        </thead>
        <tbody>
          {design.processors.map((processor) => (
            <tr key={processor.name}>
              <th scope="row">
                <a href={href(['processors', design.name])}>{processor.name}</a>{' '}
                <FindingMark findings={about(design, 'processor', processor.name)} />
              </th>
              <td class="nowrap">
                {processor.every ? (
                  `every ${processor.every}`
                ) : (
                  <>
                    <EntityBadge name={processor.entity} index={entityAt(design, processor.entity)} />{' '}
                    {processor.events.join(', ')}
                  </>
                )}
              </td>
              <td>{processor.does}</td>
              <td class="dsg-becomes">{processor.when}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
