// What lives where: the shapes of partition keys of a table or index, and the entities under each. Legend, filter and finder in one.
// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import type { Kind } from '../lib/recognise';
import type { Resident, Shape } from '../lib/shapes';
import type { AccessPattern } from '../lib/types';
import { href } from '../router';
import { entityStyle } from '../ui';
import { Dot, TemplateView } from './table-key';

/** So many are named in a box; the others are counted. */
const NAMED_PATTERNS = 3;
const STORED_FOLD = 'thorpe.map-folded';

function readFold(): boolean {
  const small = innerWidth < 700;
  try {
    return (localStorage.getItem(STORED_FOLD) ?? (small ? '1' : '0')) === '1';
  } catch {
    return small;
  }
}

function ResidentLine({
  resident,
  marked,
  onMark,
}: {
  resident: Resident;
  marked: boolean;
  onMark: (kind: Kind) => void;
}) {
  const { kind, range, when, name } = resident;
  const { companion } = kind;
  const what = companion?.unique
    ? `, which keeps ${companion.unique} unique`
    : companion?.each
      ? `, one for each ${companion.each}`
      : '';
  return (
    <li>
      <button
        type="button"
        class="map-resident"
        style={entityStyle(kind.entityIndex)}
        aria-pressed={marked}
        onClick={() => onMark(kind)}
        title={`${name}${what}${when ? `, while ${when}` : ''}. Click to mark them.`}
      >
        <Dot index={kind.entityIndex} hollow={!!kind.companion} />
        <span class="map-name">{name}</span>
        {range && <TemplateView parts={range.parts} />}
        {when && (
          <span class="map-when" title={`Only while ${when}`}>
            if
          </span>
        )}
      </button>
    </li>
  );
}

/** Why these items are together: the patterns that read them at once, those of these items alone first. */
function ReadBy({ design, patterns: all }: { design: string; patterns: AccessPattern[] }) {
  const showsOthers = (pattern: AccessPattern) => Number(pattern.request.includes('; shows '));
  const patterns = [...all].sort((a, b) => showsOthers(a) - showsOthers(b));
  const named = patterns.length > NAMED_PATTERNS + 1 ? patterns.slice(0, NAMED_PATTERNS) : patterns;
  if (patterns.length === 0) return null;
  return (
    <p class="map-why">
      for{' '}
      {named.map((pattern, at) => (
        <>
          {at > 0 && ', '}
          <a key={pattern.name} href={href(['design', design, 'patterns', pattern.name])} title={pattern.request}>
            {pattern.name}
          </a>
        </>
      ))}
      {named.length < patterns.length && (
        <span
          title={patterns
            .slice(named.length)
            .map((pattern) => pattern.name)
            .join(', ')}
        >
          {' '}
          and {patterns.length - named.length} more
        </span>
      )}
    </p>
  );
}

export function TableMap({
  shapes,
  patternsOf,
  design,
  marked,
  onMark,
  onShape,
  chosen,
  hashName,
  rangeName,
}: {
  shapes: Shape[];
  marked: Kind | null;
  onMark: (kind: Kind) => void;
  onShape: (shape: Shape) => void;
  chosen: string | null;
  hashName: string;
  rangeName: string | null;
  design: string;
  /** The access patterns that ask for such a partition. */
  patternsOf: (shape: Shape) => AccessPattern[];
}) {
  const [folded, setFolded] = useState(readFold);
  const fold = () => {
    setFolded(!folded);
    try {
      localStorage.setItem(STORED_FOLD, folded ? '0' : '1');
    } catch {
      /* it is only a preference */
    }
  };
  return (
    <section class="map" aria-label="What lives where">
      <header class="map-head">
        <button type="button" class="map-fold" aria-expanded={!folded} onClick={fold}>
          <span class="map-arrow" aria-hidden="true">
            ▸
          </span>
          What lives in a partition
        </button>
        {!folded && (
          <span class="muted">
            One box for each kind of partition (<code>{hashName}</code>), in it what its items are
            {rangeName && (
              <>
                , by <code>{rangeName}</code>
              </>
            )}
            , and the access patterns it is for.
          </span>
        )}
      </header>
      {!folded && (
        <div class="map-shapes">
          {shapes.map((shape) => (
            <div class={`map-shape${chosen === shape.id ? ' map-chosen' : ''}`} key={shape.id}>
              <button
                type="button"
                class="map-title"
                onClick={() => onShape(shape)}
                title="Find one of these partitions"
              >
                <TemplateView parts={shape.parts} />
              </button>
              <ul>
                {shape.residents.map((resident, at) => (
                  <ResidentLine
                    key={at}
                    resident={resident}
                    onMark={onMark}
                    marked={marked?.entity === resident.kind.entity && marked.companion === resident.kind.companion}
                  />
                ))}
              </ul>
              <ReadBy design={design} patterns={patternsOf(shape)} />
            </div>
          ))}
        </div>
      )}
    </section>
  );
}
