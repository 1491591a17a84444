// Finds a partition: by its exact key, or by the values that go into one of the design's templates.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useRef, useState } from 'preact/hooks';
import { fieldsOf, type Shape } from '../lib/shapes';
import type { KeyNames, TemplatePart } from '../lib/types';
import { fillPrefix, fillTemplate, matchTemplate } from '../lib/templates';
import { Button, Input, Select, useHotkey } from '../ui';

export interface Wanted {
  pk: string | null;
  sk: string | null;
}

const EXACT = '';

/** The template's text with a field at each placeholder. */
function TemplateFields({
  parts,
  values,
  onValue,
  first,
}: {
  parts: TemplatePart[];
  values: Record<string, string>;
  onValue: (name: string, value: string) => void;
  first: { current: HTMLInputElement | null };
}) {
  let put = false;
  return (
    <span class="finder-template">
      {parts.map((part, at) => {
        if ('text' in part) return <code key={at}>{part.text}</code>;
        const ref = put ? undefined : first;
        put = true;
        return (
          <Input
            key={at}
            mono
            class="finder-hole"
            placeholder={part.name}
            aria-label={part.name}
            inputRef={ref}
            value={values[part.name] ?? ''}
            onInput={(value) => onValue(part.name, value)}
            size={Math.max(10, (values[part.name] ?? part.name).length)}
          />
        );
      })}
    </span>
  );
}

/** The shape a key is of, and the values in it. */
function readKey(shapes: Shape[], pk: string | null): { shape: string; values: Record<string, string> } {
  for (const shape of pk ? shapes : []) {
    const pieces = matchTemplate(shape.parts, pk!);
    if (pieces)
      return {
        shape: shape.id,
        values: Object.fromEntries(pieces.flatMap(({ name, text }) => (name ? [[name, text]] : []))),
      };
  }
  return { shape: EXACT, values: {} };
}

export function Finder({
  keys,
  prefixed,
  shapes,
  wanted,
  request,
  onFind,
}: {
  keys: KeyNames;
  /** Whether sort keys can be asked for by their beginning: numbers cannot. */ prefixed: boolean;
  shapes: Shape[];
  wanted: Wanted;
  /** A shape chosen in another component; `turn` distinguishes choices. */
  request: { shape: Shape; turn: number } | null;
  onFind: (wanted: Wanted) => void;
}) {
  const [shape, setShape] = useState(EXACT);
  const [values, setValues] = useState<Record<string, string>>({});
  const [pk, setPk] = useState('');
  const [sk, setSk] = useState('');
  const first = useRef<HTMLInputElement | null>(null);

  useEffect(() => {
    const read = readKey(shapes, wanted.pk);
    setShape(read.shape);
    setValues(read.values);
    setPk(wanted.pk ?? '');
    setSk(wanted.sk ?? '');
  }, [wanted.pk, wanted.sk, shapes]);

  const chosen = shapes.find((of) => of.id === shape) ?? null;
  const choose = (id: string, focus = true) => {
    const next = shapes.find((of) => of.id === id);
    setShape(id);
    setValues({});
    setSk('');
    if (next && fieldsOf(next).length === 0) onFind({ pk: next.template, sk: null });
    else if (focus) setTimeout(() => first.current?.focus());
  };
  useEffect(() => {
    if (request) choose(request.shape.id);
  }, [request?.turn]);
  useHotkey('/', () => first.current?.focus(), 'find a partition');

  const key = chosen ? fillTemplate(chosen.parts, (name) => values[name]) : pk || null;
  const find = (event: Event) => {
    event.preventDefault();
    onFind({ pk: key, sk: key ? sk || null : null });
  };
  const prefixes = chosen
    ? [
        ...new Set(
          chosen.residents.flatMap((of) => (of.range ? [fillPrefix(of.range.parts, (name) => values[name])] : [])),
        ),
      ].filter(Boolean)
    : [];
  return (
    <form class="finder" onSubmit={find} role="search" aria-label="Find a partition">
      {shapes.length > 0 && (
        <Select
          aria-label="Kind of partition"
          class="finder-shape"
          value={shape}
          onChange={(id) => choose(id)}
          options={[
            { value: EXACT, label: 'exact key' },
            ...shapes.map((of) => ({ value: of.id, label: of.template })),
          ]}
        />
      )}
      {chosen ? (
        <TemplateFields
          parts={chosen.parts}
          values={values}
          first={first}
          onValue={(name, value) => setValues({ ...values, [name]: value })}
        />
      ) : (
        <Input
          mono
          class="finder-pk"
          value={pk}
          onInput={setPk}
          inputRef={first}
          placeholder={`${keys.hash}, exactly`}
          aria-label="Partition key"
        />
      )}
      {keys.range && (
        <>
          <Input
            mono
            class="finder-sk"
            value={sk}
            onInput={setSk}
            list="finder-prefixes"
            placeholder={`${keys.range} ${prefixed ? 'begins with…' : '= …'}`}
            aria-label={prefixed ? 'Sort key begins with' : 'Sort key'}
          />
          <datalist id="finder-prefixes">
            {prefixes.map((prefix) => (
              <option key={prefix} value={prefix} />
            ))}
          </datalist>
        </>
      )}
      <Button kind="primary" type="submit" icon="search" disabled={!key}>
        Query
      </Button>
      {wanted.pk !== null && (
        <Button kind="ghost" onClick={() => onFind({ pk: null, sk: null })}>
          All partitions
        </Button>
      )}
    </form>
  );
}
