// The entity chart: kinds of items down, key attributes across.
// SPDX-License-Identifier: Apache-2.0
import { keyColumns, kindsOf, waysOf, type KeyColumn, type KeyWay, type Kind } from '../lib/design-chart';
import { about } from '../lib/design-findings';
import type { Design } from '../lib/types';
import { href } from '../router';
import { EntityBadge, entityStyle } from '../ui';
import { FindingMark } from './design-findings';
import { TemplateText } from './design-template';

/** `said`: how the partition key gets its value, whose conditions need not be said twice. */
function Ways({ ways, said }: { ways: KeyWay[]; said: KeyWay[] }) {
  if (ways.length === 0)
    return (
      <span class="dsg-absent" title="Not set: not in this index">
        –
      </span>
    );
  return (
    <>
      {ways.map((way, at) => (
        <div key={at} class="dsg-way">
          <TemplateText template={way.template} />
          {way.when && (ways.length > 1 || !said.some((one) => one.when === way.when)) && (
            <span class="dsg-when" title={way.when}>
              if {way.when}
            </span>
          )}
        </div>
      ))}
    </>
  );
}

function Row({ design, kind, columns }: { design: Design; kind: Kind; columns: KeyColumn[] }) {
  const { entity, companion } = kind;
  return (
    <tr style={entityStyle(kind.entityIndex)} class={companion ? 'dsg-companion' : undefined}>
      <th scope="row">
        {companion ? (
          <span class="dsg-companion-name" title="Written together with it">
            ↳ {kind.name}
          </span>
        ) : (
          <>
            <a href={href(['design', design.name], { entity: entity.name })}>
              <EntityBadge name={entity.name} index={kind.entityIndex} />
            </a>
            <FindingMark findings={about(design, 'entity', entity.name)} />
          </>
        )}
        {companion?.when && (
          <span class="dsg-when" title={companion.when}>
            if {companion.when}
          </span>
        )}
      </th>
      {columns.map(({ attribute, beside }) => (
        <td key={attribute}>
          <Ways ways={waysOf(kind, attribute)} said={beside ? waysOf(kind, beside) : []} />
        </td>
      ))}
    </tr>
  );
}

export function EntityChart({ design }: { design: Design }) {
  const columns = keyColumns(design);
  return (
    <div class="panel pat-scroll" tabIndex={0} role="region" aria-label="Entity chart">
      <table class="list dsg-chart">
        <thead>
          <tr>
            <th scope="col">Entity</th>
            {columns.map(({ attribute, places }) => (
              <th key={attribute} scope="col">
                <code>{attribute}</code>
                <span class="dsg-places">{places.join(', ')}</span>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {kindsOf(design).map((kind) => (
            <Row key={kind.id} design={design} kind={kind} columns={columns} />
          ))}
        </tbody>
      </table>
    </div>
  );
}
