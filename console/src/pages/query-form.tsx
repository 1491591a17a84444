// The form of the query builder.
// SPDX-License-Identifier: Apache-2.0
import {
  FILTER_OPERATORS,
  NEW_FILTER,
  SORT_OPERATORS,
  TYPE_CHOICES,
  VALUE_TYPES,
  type Built,
  type Filter,
  type QueryForm,
} from '../lib/query-request';
import { indexOf, keysOfView, type TableInfo } from '../lib/table-info';
import { typeNames, type TypeName } from '../lib/values';
import { Button, Checkbox, Field, IconButton, Input, Select } from '../ui';

interface FormProps {
  table: TableInfo;
  form: QueryForm;
  problems: Built['problems'];
  /** Whether problems are to be shown: not before somebody has tried. */
  tried: boolean;
  onForm: (form: QueryForm) => void;
}

const typeWord = (type: string | undefined) => typeNames[(type ?? 'S') as TypeName];

function KeyFields({ table, form, problems, tried, onForm }: FormProps) {
  const { hash, range } = keysOfView(table, form.index);
  const wrong = (field: string) => (tried ? problems[field] : undefined);
  const number = range && table.types[range] === 'N';
  const operators = SORT_OPERATORS.filter((operator) => operator !== 'begins_with' || !number);
  return (
    <div class="query-keys">
      <Field
        label={
          <>
            <code>{hash}</code> is exactly (a {typeWord(table.types[hash])})
          </>
        }
        required
        error={wrong('pk')}
      >
        <Input mono value={form.pk} onInput={(pk) => onForm({ ...form, pk })} aria-label="Partition key value" />
      </Field>
      {range && (
        <div class="query-sort">
          <Field
            label={
              <>
                <code>{range}</code> (a {typeWord(table.types[range])})
              </>
            }
          >
            <Select
              value={form.sort}
              onChange={(sort) => onForm({ ...form, sort })}
              aria-label="Sort key condition"
              options={operators.map((value) => ({ value, label: value === '' ? 'any' : value }))}
            />
          </Field>
          {form.sort && (
            <Field label={form.sort === 'between' ? 'from' : 'value'} error={wrong('sk')}>
              <Input mono value={form.sk} onInput={(sk) => onForm({ ...form, sk })} aria-label="Sort key value" />
            </Field>
          )}
          {form.sort === 'between' && (
            <Field label="to" error={wrong('sk2')}>
              <Input
                mono
                value={form.sk2}
                onInput={(sk2) => onForm({ ...form, sk2 })}
                aria-label="Sort key upper value"
              />
            </Field>
          )}
        </div>
      )}
    </div>
  );
}

function FilterRow({
  filter,
  error,
  names,
  onFilter,
  onRemove,
}: {
  filter: Filter;
  error?: string;
  names: string;
  onFilter: (filter: Filter) => void;
  onRemove: () => void;
}) {
  const change = (part: Partial<Filter>) => onFilter({ ...filter, ...part });
  const size = filter.operator.startsWith('size');
  const valued = !['exists', 'not exists'].includes(filter.operator);
  return (
    <div class="query-filter">
      <Input
        mono
        value={filter.attribute}
        onInput={(attribute) => change({ attribute })}
        placeholder="attribute"
        aria-label="Filter attribute"
        list={names}
      />
      <Select
        value={filter.operator}
        onChange={(operator) => change({ operator })}
        options={[...FILTER_OPERATORS]}
        aria-label="Filter operator"
      />
      {filter.operator === 'type is' && (
        <Select
          value={filter.value || 'S'}
          onChange={(value) => change({ value })}
          aria-label="Attribute type"
          options={TYPE_CHOICES.map((value) => ({ value, label: typeWord(value) }))}
        />
      )}
      {valued && filter.operator !== 'type is' && !size && (
        <Select
          value={filter.type}
          onChange={(type) => change({ type })}
          aria-label="Value type"
          options={VALUE_TYPES.map((value) => ({ value, label: typeWord(value) }))}
        />
      )}
      {valued && filter.operator !== 'type is' && filter.type === 'BOOL' && !size && (
        <Select
          value={filter.value || 'true'}
          onChange={(value) => change({ value })}
          options={['true', 'false']}
          aria-label="Filter value"
        />
      )}
      {valued && filter.operator !== 'type is' && (size || !['BOOL', 'NULL'].includes(filter.type)) && (
        <Input
          mono
          value={filter.value}
          onInput={(value) => change({ value })}
          placeholder={filter.operator === 'in' ? 'a, b, c' : 'value'}
          aria-label="Filter value"
        />
      )}
      {filter.operator === 'between' && (
        <Input
          mono
          value={filter.upper}
          onInput={(upper) => change({ upper })}
          placeholder="to"
          aria-label="Filter upper value"
        />
      )}
      <IconButton icon="close" label="Remove this filter" onClick={onRemove} />
      {error && (
        <span class="field-error" role="alert">
          {error}
        </span>
      )}
    </div>
  );
}

export function QueryFields({ table, form, problems, tried, onForm, known }: FormProps & { known: string[] }) {
  const index = indexOf(table, form.index);
  const setFilter = (at: number, filter: Filter | null) =>
    onForm({ ...form, filters: form.filters.flatMap((of, i) => (i !== at ? [of] : filter ? [filter] : [])) });
  const indexes = [
    { value: '', label: `the table (${table.range ? `${table.hash}, ${table.range}` : table.hash})` },
    ...table.indexes.map((of) => ({
      value: of.name,
      label: `${of.name} (${of.range ? `${of.hash}, ${of.range}` : of.hash})`,
    })),
  ];
  return (
    <>
      <div class="query-top">
        <Field label="Operation">
          <Select
            value={form.operation}
            onChange={(operation) => onForm({ ...form, operation: operation as QueryForm['operation'] })}
            options={['Query', 'Scan']}
          />
        </Field>
        <Field label="On">
          <Select
            aria-label="Table or index"
            value={form.index}
            onChange={(to) => onForm({ ...form, index: to, sort: '', sk: '', sk2: '' })}
            options={indexes}
          />
        </Field>
      </div>
      {form.operation === 'Query' && (
        <KeyFields table={table} form={form} problems={problems} tried={tried} onForm={onForm} />
      )}
      <datalist id="query-names">
        {known.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <fieldset class="query-filters">
        <legend>Filter</legend>
        {form.filters.map((filter, at) => (
          <FilterRow
            key={at}
            filter={filter}
            names="query-names"
            error={tried ? problems[`filter ${at}`] : undefined}
            onFilter={(of) => setFilter(at, of)}
            onRemove={() => setFilter(at, null)}
          />
        ))}
        <Button
          small
          kind="ghost"
          icon="plus"
          onClick={() => onForm({ ...form, filters: [...form.filters, NEW_FILTER] })}
        >
          Add a filter
        </Button>
        {form.filters.length > 0 && (
          <span class="muted query-hint">Filters are applied after the read: they save no capacity.</span>
        )}
      </fieldset>
      <div class="query-top">
        <Field label="Attributes" hint="separated by commas; empty: all">
          <Input
            mono
            value={form.projection}
            onInput={(projection) => onForm({ ...form, projection })}
            list="query-names"
          />
        </Field>
        <Field label="Limit" error={tried ? problems.limit : undefined}>
          <Input value={form.limit} inputMode="numeric" onInput={(limit) => onForm({ ...form, limit })} />
        </Field>
      </div>
      <div class="row">
        {form.operation === 'Query' && (
          <Checkbox checked={form.descending} onChange={(descending) => onForm({ ...form, descending })}>
            descending
          </Checkbox>
        )}
        {(!index || index.local) && (
          <Checkbox checked={form.consistent} onChange={(consistent) => onForm({ ...form, consistent })}>
            consistent read
          </Checkbox>
        )}
      </div>
    </>
  );
}
