// What a field of an item names: a link to each item, or that there is none. SPDX-License-Identifier: Apache-2.0
import { useEffect, useState } from 'preact/hooks';
import type { FormField } from '../lib/entity-form';
import { getItem } from '../lib/item-write';
import { namedBy, type Reference, type Values } from '../lib/references';
import type { Design } from '../lib/types';
import { keyText } from '../lib/values';
import { href } from '../router';
import { useAsync } from '../ui';

const MOST = 20;
const PAUSE_MS = 300;

function Named({ design, named }: { design: Design; named: Reference }) {
  const { hash, range } = design.key;
  const pk = keyText(named.key[hash]) ?? '';
  const sk = range ? keyText(named.key[range]) : undefined;
  const whole = !range || sk;
  const found = useAsync(
    async () => (whole ? !!(await getItem(design.table, named.key)) : true),
    [design.table, pk, sk ?? ''],
  );
  const name = `${named.entity} ${named.value}`;
  if (found.value === false) return <span class="named-none">there is no {name}</span>;
  return (
    <a href={href(whole ? ['table', design.table, 'item'] : ['table', design.table], { pk, sk: sk ?? undefined })}>
      {name}
    </a>
  );
}

/** Looks the items up when the typing pauses. */
export function NamedItems({
  design,
  field,
  text,
  values,
}: {
  design: Design;
  field: FormField;
  text: string;
  values: Values;
}) {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  const list = namedBy(design, field, settled, values).slice(0, MOST);
  if (!list.length) return null;
  return (
    <p class="rule-named" aria-live="polite">
      {list.map((named, i) => (
        <span key={named.value}>
          {i ? ', ' : ''}
          <Named design={design} named={named} />
        </span>
      ))}
    </p>
  );
}
