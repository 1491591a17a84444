// What lives where: the shapes of partition keys of a table or index, and the entities under each. Legend, filter and finder in one.
// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import type { Kind } from '../lib/recognise';
import type { Resident, Shape } from '../lib/shapes';
import { entityStyle } from '../ui';
import { Dot, TemplateView } from './table-key';

const STORED_FOLD = 'thorpe.map-folded';

function readFold(): boolean {
  const small = innerWidth < 700;
  try { return (localStorage.getItem(STORED_FOLD) ?? (small ? '1' : '0')) === '1'; } catch { return small; }
}

function ResidentLine({ resident, marked, onMark }: { resident: Resident; marked: boolean; onMark: (kind: Kind) => void }) {
  const { kind, range, when, name } = resident;
  const { companion } = kind;
  const what = companion?.unique ? `, which keeps ${companion.unique} unique` : companion?.each ? `, one for each ${companion.each}` : '';
  return (
    <li>
      <button type="button" class="map-resident" style={entityStyle(kind.entityIndex)} aria-pressed={marked} onClick={() => onMark(kind)}
        title={`${name}${what}${when ? `, while ${when}` : ''}. Click to mark them.`}>
        <Dot index={kind.entityIndex} hollow={!!kind.companion} />
        <span class="map-name">{name}</span>
        {range && <TemplateView parts={range.parts} />}
        {when && <span class="map-when" title={`Only while ${when}`}>if</span>}
      </button>
    </li>
  );
}

export function TableMap({ shapes, marked, onMark, onShape, chosen, hashName, rangeName }: {
  shapes: Shape[]; marked: Kind | null; onMark: (kind: Kind) => void; onShape: (shape: Shape) => void; chosen: string | null;
  hashName: string; rangeName: string | null;
}) {
  const [folded, setFolded] = useState(readFold);
  const fold = () => {
    setFolded(!folded);
    try { localStorage.setItem(STORED_FOLD, folded ? '0' : '1'); } catch { /* it is only a preference */ }
  };
  return (
    <section class="map" aria-label="What lives where">
      <header class="map-head">
        <button type="button" class="map-fold" aria-expanded={!folded} onClick={fold}>
          <span class="map-arrow" aria-hidden="true">▸</span>What lives in a partition
        </button>
        {!folded && <span class="muted">One box for each kind of partition (<code>{hashName}</code>), and in it what its items are{rangeName && <>, by <code>{rangeName}</code></>}.</span>}
      </header>
      {!folded && (
        <div class="map-shapes">
          {shapes.map((shape) => (
            <div class={`map-shape${chosen === shape.id ? ' map-chosen' : ''}`} key={shape.id}>
              <button type="button" class="map-title" onClick={() => onShape(shape)} title="Look for one of these partitions"><TemplateView parts={shape.parts} /></button>
              <ul>
                {shape.residents.map((resident, at) => (
                  <ResidentLine key={at} resident={resident} onMark={onMark}
                    marked={marked?.entity === resident.kind.entity && marked.companion === resident.kind.companion} />
                ))}
              </ul>
            </div>
          ))}
        </div>
      )}
    </section>
  );
}
