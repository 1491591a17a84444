// The form of an access pattern: its parameters, the limit, and the caller.
// SPDX-License-Identifier: Apache-2.0
import type { Who } from '../lib/design-call';
import type { Examples } from '../lib/design-examples';
import type { AccessPattern, Design, Parameter } from '../lib/types';
import { Button, Field, Icon, Input, Kbd, Select } from '../ui';

interface FormProps {
  design: Design;
  pattern: AccessPattern;
  values: Record<string, string>;
  who: Who;
  /** By parameter. */
  wrong: Record<string, string>;
  busy: boolean;
  /** Examples are being looked for. */
  preparing: boolean;
  example: Examples | undefined;
  onValues: (values: Record<string, string>) => void;
  onWho: (who: Who) => void;
  onRun: () => void;
  /** Absent: this cannot be watched. */
  watch?: { on: boolean; set: (on: boolean) => void } | false | '' | null;
}

const PLACEHOLDERS: [RegExp, string][] = [
  [/^date/, '2026-01-15'],
  [/^timestamp/, '2026-01-15T10:30:00Z'],
  [/^(integer|number)/, '1'],
];

function ParameterField({
  parameter,
  value,
  error,
  onInput,
}: {
  parameter: Parameter;
  value: string;
  error?: string;
  onInput: (value: string) => void;
}) {
  const required = parameter.required || parameter.in === 'path';
  const placeholder = PLACEHOLDERS.find(([type]) => type.test(parameter.type))?.[1] ?? (required ? '' : 'not given');
  const label = (
    <>
      <code>{parameter.name}</code> <span class="pat-type">{parameter.type}</span>
    </>
  );
  const choices = parameter.choices ?? (parameter.type === 'boolean' ? ['true', 'false'] : undefined);
  return (
    <Field label={label} required={required} error={error}>
      {choices ? (
        <Select
          value={value}
          onChange={onInput}
          options={[...(required ? [] : [{ value: '', label: 'not given' }]), ...choices]}
        />
      ) : (
        <Input
          value={value}
          onInput={onInput}
          mono
          name={parameter.name}
          placeholder={placeholder}
          required={required}
          aria-invalid={error ? true : undefined}
        />
      )}
    </Field>
  );
}

function WhoFields({ design, who, onWho }: { design: Design; who: Who; onWho: (who: Who) => void }) {
  const toggle = (role: string) =>
    onWho({ ...who, roles: who.roles.includes(role) ? who.roles.filter((one) => one !== role) : [...who.roles, role] });
  return (
    <>
      <Field label="Who is asking">
        <Select
          value={who.mode}
          onChange={(mode) => onWho({ ...who, mode: mode as Who['mode'] })}
          options={[
            { value: 'operator', label: 'the operator: sees all' },
            { value: 'nobody', label: 'anonymous' },
            { value: 'subject', label: 'a user…' },
          ]}
        />
      </Field>
      {who.mode === 'subject' && (
        <Field
          label={
            <>
              as <code>caller</code>
            </>
          }
        >
          <Input value={who.subject} mono onInput={(subject) => onWho({ ...who, subject })} placeholder="alice" />
        </Field>
      )}
      {who.mode === 'subject' && design.roles.length > 0 && (
        <fieldset class="pat-roles">
          <legend>Roles</legend>
          {design.roles.map((role) => (
            <button
              type="button"
              key={role}
              class="pat-role"
              aria-pressed={who.roles.includes(role)}
              onClick={() => toggle(role)}
            >
              {role}
            </button>
          ))}
        </fieldset>
      )}
      {who.mode === 'subject' &&
        design.claims.map((claim) => (
          <Field
            key={claim}
            label={
              <>
                <code>caller.{claim}</code>
              </>
            }
          >
            <Input
              value={who.claims[claim] ?? ''}
              mono
              onInput={(text) => onWho({ ...who, claims: { ...who.claims, [claim]: text } })}
            />
          </Field>
        ))}
    </>
  );
}

export function PatternForm(props: FormProps) {
  const { design, pattern, values, who, wrong, busy, preparing, example, onValues, onWho, onRun, watch } = props;
  const set = (name: string) => (value: string) => onValues({ ...values, [name]: value });
  const isExample =
    example && pattern.params.some((one) => example.values[one.name] && example.values[one.name] === values[one.name]);
  return (
    <form
      class="panel pat-form"
      data-ready={!preparing}
      aria-label={`Run ${pattern.name}`}
      onSubmit={(event) => {
        event.preventDefault();
        onRun();
      }}
      noValidate
    >
      <div class="pat-fields">
        {pattern.params.map((parameter) => (
          <ParameterField
            key={parameter.name}
            parameter={parameter}
            value={values[parameter.name] ?? ''}
            error={wrong[parameter.name]}
            onInput={set(parameter.name)}
          />
        ))}
        <WhoFields design={design} who={who} onWho={onWho} />
        {pattern.list && (
          <Field label="Limit" error={wrong.limit}>
            <Input
              value={values.limit ?? ''}
              onInput={set('limit')}
              inputMode="numeric"
              name="limit"
              placeholder="as designed"
              class="pat-limit"
            />
          </Field>
        )}
      </div>
      <div class="pat-actions">
        <Button kind="primary" type="submit" icon="play" busy={busy}>
          Run
        </Button>
        {watch && (
          <button
            type="button"
            role="switch"
            aria-checked={watch.on}
            class="pat-switch"
            onClick={() => watch.set(!watch.on)}
          >
            <span class="pat-switch-knob" />
            Watch
          </button>
        )}
        <span class="pat-hint muted">
          {preparing ? (
            'Looking for an example in the data…'
          ) : isExample ? (
            <>
              <Icon name="info" /> Filled in from an item of the table.
            </>
          ) : null}
        </span>
        <span class="pat-keys">
          <Kbd>mod+Enter</Kbd>
        </span>
      </div>
    </form>
  );
}
