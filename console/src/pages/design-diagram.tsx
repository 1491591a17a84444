// The diagram of a design: which entity is in which index, and which share a partition there. The chart says the same in words.
// SPDX-License-Identifier: Apache-2.0
import { useMemo, useState } from 'preact/hooks';
import { kindsOf, placesOf, whereabouts, collectionsOf } from '../lib/design-chart';
import {
  BOX,
  HEAD,
  NODE,
  NODE_HEIGHT,
  ROW,
  layout,
  type EntryBox,
  type Link,
  type PlaceBox,
} from '../lib/design-diagram';
import { parseTemplate } from '../lib/templates';
import type { Design } from '../lib/types';
import { go, href } from '../router';
import { EntityBadge, entityStyle } from '../ui';

/** Characters that fit; the tooltip has the rest. */
const FITS = 46,
  FITS_BESIDE = 36;

function SvgTemplate({ template, fits = FITS }: { template: string; fits?: number }) {
  let left = fits;
  return (
    <>
      {parseTemplate(template).map((part, at) => {
        const text = 'text' in part ? part.text : `<${part.name}${part.format ? `:${part.format}` : ''}>`;
        const shown = text.length <= left ? text : left > 0 ? `${text.slice(0, Math.max(left - 1, 0))}…` : '';
        left -= text.length;
        return (
          shown && (
            <tspan key={at} class={'text' in part ? 'dia-literal' : 'dia-placeholder'}>
              {shown}
            </tspan>
          )
        );
      })}
    </>
  );
}

function EntryRow({
  box,
  x,
  lit,
  onLight,
}: {
  box: EntryBox;
  x: number;
  lit: boolean | null;
  onLight: (name: string | null) => void;
}) {
  const { kind, hash, range, when } = box.entry;
  const text = range?.template ?? hash.template;
  const label = kind.companion ? `${kind.entity.name}: ${kind.name}` : kind.name;
  return (
    <g
      class="dia-entry"
      data-lit={lit}
      style={entityStyle(kind.entityIndex)}
      onMouseEnter={() => onLight(kind.entity.name)}
      onMouseLeave={() => onLight(null)}
    >
      <title>{`${label}: ${hash.template}${range ? ` / ${range.template}` : ''}${when ? `, when ${when}` : ''}`}</title>
      <rect x={x + 8} y={box.y} width={BOX - 16} height={ROW - 2} rx="4" class="dia-entry-ground" />
      {kind.companion ? (
        <circle cx={x + 20} cy={box.y + ROW / 2 - 1} r="3" class="dia-ring" />
      ) : (
        <circle cx={x + 20} cy={box.y + ROW / 2 - 1} r="4" class="dia-dot" />
      )}
      <text x={x + 32} y={box.y + 13.5} class="dia-template">
        <SvgTemplate template={text} fits={when ? FITS_BESIDE : FITS} />
      </text>
      {when && (
        <text x={x + BOX - 16} y={box.y + 13.5} text-anchor="end" class="dia-when">
          sometimes
        </text>
      )}
    </g>
  );
}

function Box({ box, lit, onLight }: { box: PlaceBox; lit: string | null; onLight: (name: string | null) => void }) {
  return (
    <g class="dia-place" data-place={box.title}>
      <rect x={box.x + 0.5} y={box.y + 0.5} width={BOX - 1} height={box.height - 1} rx="9" class="dia-box" />
      <text x={box.x + 14} y={box.y + 22} class="dia-title">
        {box.title}
      </text>
      <text x={box.x + BOX - 14} y={box.y + 22} text-anchor="end" class="dia-keys">
        {box.keys}
      </text>
      <line x1={box.x} x2={box.x + BOX} y1={box.y + HEAD} y2={box.y + HEAD} class="dia-rule" />
      {box.collections.map((collection, at) => (
        <g key={at}>
          <text x={box.x + 14} y={collection.y + 17} class="dia-partition">
            <SvgTemplate template={collection.template} />
          </text>
          {collection.entries.map((entry, k) => (
            <EntryRow
              key={k}
              box={entry}
              x={box.x}
              lit={lit === null ? null : lit === entry.entry.kind.entity.name}
              onLight={onLight}
            />
          ))}
        </g>
      ))}
    </g>
  );
}

function Path({ link, lit }: { link: Link; lit: boolean | null }) {
  const [x1, y1] = link.from,
    [x2, y2] = link.to;
  const bend = (x2 - x1) * 0.5;
  return (
    <path
      d={`M${x1} ${y1} C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`}
      class={`dia-link${link.companion ? ' dia-link-companion' : ''}`}
      data-lit={lit}
      style={entityStyle(link.index)}
    />
  );
}

/** For screen readers and narrow screens: places across, kinds down. */
function Matrix({ design }: { design: Design }) {
  const places = placesOf(design);
  const inside = places.map(
    (place) =>
      new Set(collectionsOf(design, place).flatMap((one) => one.entries.map((entry) => entry.kind.entity.name))),
  );
  return (
    <table class="list dsg-matrix">
      <thead>
        <tr>
          <th scope="col">Entity</th>
          {places.map((place) => (
            <th key={place.index} scope="col">
              <span>{place.index ?? 'Table'}</span>
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {design.entities.map((entity, at) => (
          <tr key={entity.name} style={entityStyle(at)}>
            <th scope="row">
              <EntityBadge name={entity.name} index={at} />
            </th>
            {inside.map((names, k) => (
              <td key={k}>
                {names.has(entity.name) ? (
                  <span class="dsg-in" role="img" aria-label="is in it" />
                ) : (
                  <span class="dsg-absent" aria-label="is not">
                    ·
                  </span>
                )}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

export function Diagram({ design }: { design: Design }) {
  const plan = useMemo(() => layout(design), [design]);
  const [lit, setLit] = useState<string | null>(null);
  const words = (name: string) =>
    kindsOf(design)
      .filter((kind) => kind.entity.name === name)
      .flatMap((kind) =>
        whereabouts(design, kind).map((where) => (kind.companion ? `its ${kind.name} in ${where}` : where)),
      )
      .join('; ');
  const open = (name: string) => go(href(['design', design.name], { entity: name }));
  return (
    <>
      <p class="muted dsg-lead dsg-diagram-lead">
        Each entity in the middle, the table to its left, indexes to its right. Below a partition key stand the sort
        keys of what shares the partition; ◦ marks items that are written along with an entity. Point at one, or use
        Tab, to follow it.
      </p>
      <div class="panel dsg-diagram">
        <svg
          viewBox={`-1 -1 ${plan.width + 2} ${plan.height + 2}`}
          role="group"
          data-lit={lit !== null}
          aria-label={`Diagram of ${design.title}: ${plan.nodes.length} entities, the table and ${design.indexes.length} indexes`}
        >
          <g aria-hidden="true">
            {plan.links.map((link, at) => (
              <Path key={at} link={link} lit={lit === null ? null : lit === link.entity} />
            ))}
          </g>
          <g aria-hidden="true">
            {plan.places.map((box) => (
              <Box key={box.title} box={box} lit={lit} onLight={setLit} />
            ))}
          </g>
          {plan.nodes.map((node) => (
            <g
              key={node.name}
              class="dia-node"
              role="link"
              tabIndex={0}
              data-entity={node.name}
              data-lit={lit === null ? null : lit === node.name}
              style={entityStyle(node.index)}
              aria-label={`${node.name}: ${words(node.name)}`}
              onMouseEnter={() => setLit(node.name)}
              onMouseLeave={() => setLit(null)}
              onFocus={() => setLit(node.name)}
              onBlur={() => setLit(null)}
              onClick={() => open(node.name)}
              onKeyDown={(event) => {
                if (event.key === 'Enter') open(node.name);
              }}
            >
              <rect x={node.x} y={node.y} width={NODE} height={NODE_HEIGHT} rx="8" />
              <text x={node.x + NODE / 2} y={node.y + 19.5} text-anchor="middle">
                {node.name}
              </text>
            </g>
          ))}
        </svg>
      </div>
      <div class="panel pat-scroll dsg-matrix-frame">
        <Matrix design={design} />
      </div>
    </>
  );
}
