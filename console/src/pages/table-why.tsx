// "Why is this here": one item in words, beside the table.
// SPDX-License-Identifier: Apache-2.0
import { isHidden, kindName, type KeyParts, type Recognised } from '../lib/recognise';
import { references } from '../lib/references';
import { indexesOf, isExpired, keyQuery, tableKeys, type TableInfo } from '../lib/table-info';
import { parseTemplate } from '../lib/templates';
import type { AccessPattern, Item } from '../lib/types';
import { formatItem, keyText, plainItem } from '../lib/values';
import { patternValues, why, type Place } from '../lib/why';
import { href } from '../router';
import { Badge, CopyButton, EntityBadge, IconButton, Json } from '../ui';
import { KeyView, TemplateView } from './table-key';
import { indexPlace, itemPlace, recognised } from './table-view';

/** To the pattern, filled in so that it finds this item. */
function PatternLink({
  design,
  pattern,
  item,
  index,
}: {
  design: string;
  pattern: AccessPattern;
  item: Item;
  index: string | null;
}) {
  return (
    <a
      href={href(['design', design, 'patterns', pattern.name], patternValues(pattern, item, index))}
      title={pattern.request}
    >
      {pattern.name}
    </a>
  );
}

function KeyLine({ item, keys }: { item: Item; keys: KeyParts }) {
  return (
    <div class="why-key">
      <code>{keys.attribute}</code>
      <KeyView value={item[keys.attribute]!} parts={keys} />
      <span class="why-template">
        = <TemplateView parts={parseTemplate(keys.template)} />
      </span>
    </div>
  );
}

function PlaceView({ table, item, place }: { table: TableInfo; item: Item; place: Place }) {
  const when = place.keys.find((of) => of.when)?.when;
  return (
    <section class="why-place">
      <h4>
        <a href={indexPlace(table, item, place.index)}>{place.index ? `In ${place.index}` : 'In the table'}</a>
      </h4>
      {place.keys.map((keys) => (
        <KeyLine key={keys.attribute} item={item} keys={keys} />
      ))}
      {place.index && when && (
        <p class="why-note">
          It is in this index only while <code>{when}</code>.
        </p>
      )}
      {place.patterns.length > 0 ? (
        <p class="why-note">
          so that{' '}
          {place.patterns.map((pattern, at) => (
            <span key={pattern.name}>
              {at > 0 && (at === place.patterns.length - 1 ? ' and ' : ', ')}
              <PatternLink design={table.design!.name} pattern={pattern} item={item} index={place.index} />
            </span>
          ))}{' '}
          can find it here.
        </p>
      ) : (
        <p class="why-note">
          {place.index ? 'No access pattern of the design looks for it here.' : 'It is read by its key.'}
        </p>
      )}
    </section>
  );
}

function Explained({ table, item }: { table: TableInfo; item: Item }) {
  const design = table.design!;
  const found = recognised(design, item);
  if (!found) {
    return (
      <p class="why-sentence">
        No entity of the design <b>{design.name}</b> has keys like these: it was written by something other than the
        design's rules, or the design has changed since.
      </p>
    );
  }
  const { sentence, places, notes } = why(design, item, found);
  const links = references(design, item, found);
  return (
    <>
      <p class="why-sentence">{sentence}</p>
      {places.map((place) => (
        <PlaceView key={place.index ?? ''} table={table} item={item} place={place} />
      ))}
      {places.length === 1 && table.indexes.length > 0 && (
        <p class="why-note">It is in no index: it has none of their keys.</p>
      )}
      {links.length > 0 && (
        <section>
          <h4>It names</h4>
          <ul class="why-links">
            {links.map((of) => (
              <li key={of.attribute}>
                <code>{of.attribute}</code>{' '}
                <a href={itemPlace(table, of.key)}>
                  {of.entity} {of.value}
                </a>
              </li>
            ))}
          </ul>
        </section>
      )}
      {notes.length > 0 && (
        <section>
          <h4>What goes with it</h4>
          <ul class="why-notes">
            {notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

function Undesigned({ table, item }: { table: TableInfo; item: Item }) {
  return (
    <>
      {tableKeys(table).map((name) => (
        <div class="why-key" key={name}>
          <code>{name}</code>
          <span class="key key-plain">{keyText(item[name])}</span>
        </div>
      ))}
      <p class="why-note">
        {indexesOf(table, item).length ? (
          <>
            It is also in{' '}
            {indexesOf(table, item).map((index) => (
              <a key={index.name} href={indexPlace(table, item, index.name)}>
                {index.name}{' '}
              </a>
            ))}
          </>
        ) : table.indexes.length ? (
          'It is in none of the indexes: it has none of their keys.'
        ) : (
          'The table has no indexes.'
        )}
      </p>
    </>
  );
}

function withoutHidden(item: Item, found: Recognised | null): Item {
  return Object.fromEntries(
    Object.entries(item).map(([name, value]) => [name, found && isHidden(found, name) ? { S: '(hidden)' } : value]),
  );
}

export function WhyPanel({
  table,
  item,
  index,
  onClose,
}: {
  table: TableInfo;
  item: Item;
  index: string | null;
  onClose: () => void;
}) {
  const found = recognised(table.design, item);
  return (
    <aside class="why panel" aria-label="Why is this here">
      <header class="why-head">
        <EntityBadge
          name={found ? kindName(found) : table.design ? 'unrecognised' : 'item'}
          index={found ? found.entityIndex : -1}
        />
        {isExpired(table, item) && <Badge kind="warn">expired</Badge>}
        <span class="spread" />
        <a class="button button-small" href={href(['table', table.name, 'item'], keyQuery(table, item))}>
          Open
        </a>
        <CopyButton text={() => formatItem(item, 'plain')} />
        <IconButton icon="close" label="Close" onClick={onClose} />
      </header>
      <div class="why-body">
        <h3>Why is this here?</h3>
        {table.design ? <Explained table={table} item={item} /> : <Undesigned table={table} item={item} />}
        <section>
          <h4>The item{index ? `, as ${index} has it` : ''}</h4>
          <Json value={plainItem(withoutHidden(item, found))} />
        </section>
      </div>
    </aside>
  );
}
