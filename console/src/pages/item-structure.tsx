// A structured value as a form: rows of a list, named entries of a map, members with their types.
// SPDX-License-Identifier: Apache-2.0
import { useLayoutEffect, useRef } from 'preact/hooks';
import { JsonError, formatJson, isObject, parseJson } from '../lib/exact-json';
import { hasShape, isNumber } from '../lib/entity-form';
import type { Attribute } from '../lib/types';
import { Button, Field, Input, Select } from '../ui';

interface PartProps {
  shape: Attribute;
  /** undefined: absent */
  value: unknown;
  /** lines[0].sku: for its label and its error. */
  path: string;
  errors: Record<string, string>;
  onValue: (value: unknown) => void;
}

const isRows = (shape: Attribute) => /^(list|set)\b/.test(shape.type);
const empty = (shape: Attribute): unknown => (isRows(shape) ? [] : hasShape(shape) ? {} : '');
const shown = (value: unknown) =>
  value === undefined || value === null ? '' : typeof value === 'string' ? value : formatJson(value);

function Scalar({ shape, value, path, onValue }: PartProps) {
  const choices = shape.choices ?? (shape.type === 'boolean' ? ['true', 'false'] : undefined);
  const set = (text: string) => onValue(text === '' ? undefined : text);
  if (/^(list|set|map)/.test(shape.type)) {
    // of scalars, or of anything
    const read = (text: string) => {
      try {
        onValue(text === '' ? undefined : parseJson(text));
      } catch (error) {
        if (!(error instanceof JsonError)) throw error;
        onValue(text);
      }
    };
    return <Input value={shown(value)} onInput={read} mono aria-label={path} placeholder="JSON" />;
  }
  if (choices)
    return (
      <Select
        value={shown(value)}
        onChange={set}
        options={[{ value: '', label: '(absent)' }, ...choices]}
        aria-label={path}
      />
    );
  if (shape.type === 'text')
    return (
      <textarea
        class="input"
        rows={Math.min(8, Math.max(2, shown(value).split('\n').length))}
        value={shown(value)}
        onInput={(event) => set(event.currentTarget.value)}
        aria-label={path}
      />
    );
  return (
    <Input
      value={shown(value)}
      onInput={set}
      inputMode={isNumber(shape.type) ? 'decimal' : undefined}
      aria-label={path}
    />
  );
}

/** A member, or the only part of a row that is no structure. */
function Part(props: PartProps) {
  const { shape, value, path, onValue } = props;
  if (!hasShape(shape)) return <Scalar {...props} />;
  if (value === undefined && !shape.flags.includes('required'))
    return (
      <Button small onClick={() => onValue(empty(shape))}>
        Add {path}
      </Button>
    );
  return <Structure {...props} />;
}

function Members({ shape, value, path, errors, onValue }: PartProps) {
  const members = isObject(value) ? value : {};
  const set = (name: string) => (next: unknown) => {
    const { [name]: _, ...rest } = members;
    onValue(next === undefined ? rest : { ...rest, [name]: next });
  };
  return (
    <div class="structure-members">
      {shape.members!.map((member) => (
        <Field
          key={member.name}
          label={
            <>
              <code>{member.name}</code> <span class="rule-type">{member.type}</span>
            </>
          }
          required={member.flags.includes('required')}
          group={hasShape(member)}
          error={errors[`${path}.${member.name}`]}
        >
          <Part
            shape={member}
            value={members[member.name]}
            path={`${path}.${member.name}`}
            errors={errors}
            onValue={set(member.name)}
          />
        </Field>
      ))}
    </div>
  );
}

function Rows({ shape, value, path, errors, onValue }: PartProps) {
  const rows = Array.isArray(value) ? (value as unknown[]) : [];
  const each = shape.each!;
  const alone = !hasShape(each); // its field has the row's name
  const ordered = shape.type.startsWith('list') && rows.length > 1;
  const list = useRef<HTMLDivElement>(null);
  /** What is moved keeps the focus, so that it can be moved on. */
  const focus = useRef<string>();
  useLayoutEffect(() => {
    if (focus.current) list.current?.querySelector<HTMLElement>(focus.current)?.focus();
    focus.current = undefined;
  });
  const move = (from: number, to: number, button: string) => {
    const next = rows.filter((_, k) => k !== from);
    next.splice(to, 0, rows[from]);
    const edge = to === 0 || to === rows.length - 1;
    focus.current = `:scope > :nth-child(${to + 1}) > ${edge ? '[data-move]:not(:disabled)' : `[data-move=${button}]`}`;
    onValue(next);
  };
  const add = () => {
    focus.current = `:scope > :nth-child(${rows.length + 1}) :is(input, select, textarea)`;
    onValue([...rows, empty(each)]);
  };
  return (
    <div class="structure" ref={list}>
      {rows.map((row, i) => (
        <div class="structure-row" key={i} {...(alone ? {} : { role: 'group', 'aria-label': `${path}[${i}]` })}>
          <Structure
            shape={each}
            value={row}
            path={`${path}[${i}]`}
            errors={errors}
            onValue={(next) => onValue(rows.map((old, k) => (k === i ? (next ?? '') : old)))}
          />
          {ordered && (
            <>
              <Button
                small
                data-move="up"
                aria-label={`Move ${path}[${i}] up`}
                title={`Move ${path}[${i}] up`}
                disabled={i === 0}
                onClick={() => move(i, i - 1, 'up')}
              >
                ↑
              </Button>
              <Button
                small
                data-move="down"
                aria-label={`Move ${path}[${i}] down`}
                title={`Move ${path}[${i}] down`}
                disabled={i === rows.length - 1}
                onClick={() => move(i, i + 1, 'down')}
              >
                ↓
              </Button>
            </>
          )}
          <Button
            small
            title={`Remove ${path}[${i}]`}
            aria-label={alone ? `Remove ${path}[${i}]` : undefined}
            onClick={() => onValue(rows.filter((_, k) => k !== i))}
          >
            Remove
          </Button>
          {alone && errors[`${path}[${i}]`] && (
            <span class="field-error" role="alert">
              {errors[`${path}[${i}]`]}
            </span>
          )}
        </div>
      ))}
      <Button small onClick={add}>
        Add to {path}
      </Button>
    </div>
  );
}

function Entries({ shape, value, path, errors, onValue }: PartProps) {
  const entries = isObject(value) ? Object.entries(value) : [];
  const each = shape.each!;
  const put = (list: [string, unknown][]) => onValue(Object.fromEntries(list));
  const free = () => {
    let name = 'new';
    for (let n = 2; entries.some(([taken]) => taken === name); n++) name = `new ${n}`;
    return name;
  };
  return (
    <div class="structure">
      {entries.map(([name, entry], i) => (
        <div class="structure-row" key={i} role="group" aria-label={`${path}.${name}`}>
          <Field label="Name" error={errors[`${path}.${name}`]}>
            <Input
              value={name}
              onInput={(next) =>
                !entries.some(([taken], k) => k !== i && taken === next) &&
                put(entries.map((old, k) => (k === i ? [next, entry] : old)))
              }
              mono
              aria-label={`Name of ${path}.${name}`}
            />
          </Field>
          <Structure
            shape={each}
            value={entry}
            path={`${path}.${name}`}
            errors={errors}
            onValue={(next) => put(entries.map((old, k) => (k === i ? [name, next ?? ''] : old)))}
          />
          <Button small title={`Remove ${path}.${name}`} onClick={() => put(entries.filter((_, k) => k !== i))}>
            Remove
          </Button>
        </div>
      ))}
      <Button small onClick={() => put([...entries, [free(), empty(each)]])}>
        Add to {path}
      </Button>
    </div>
  );
}

function Structure(props: PartProps) {
  const { shape } = props;
  if (shape.members) return <Members {...props} />;
  if (!shape.each) return <Scalar {...props} />;
  return isRows(shape) ? <Rows {...props} /> : <Entries {...props} />;
}

/** The field's text is JSON, in which typed numbers are still texts: fieldValue() reads them. */
export function StructureControl({
  shape,
  text,
  errors,
  onText,
}: {
  shape: Attribute;
  text: string;
  errors: Record<string, string>;
  onText: (text: string) => void;
}) {
  const value = text === '' ? undefined : parseJson(text);
  const clear = value !== undefined && !shape.flags.includes('required');
  return (
    <div class="structure">
      <Part
        shape={shape}
        value={value}
        path={shape.name}
        errors={errors}
        onValue={(next) => onText(next === undefined ? '' : formatJson(next))}
      />
      {clear && (
        <Button small title={`Remove ${shape.name}`} onClick={() => onText('')}>
          Remove all
        </Button>
      )}
    </div>
  );
}
