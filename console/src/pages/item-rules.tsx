// An entity through the rules of its design: a form of its attributes, its actions as buttons, problems at their fields.
// SPDX-License-Identifier: Apache-2.0
import { useState } from 'preact/hooks';
import { rest, type ApiError } from '../lib/client';
import { useDraft } from '../lib/drafts';
import {
  fieldText,
  fieldValue,
  fieldsOfEntity,
  patchOf,
  problemOf,
  restPath,
  type FormField,
  type Problem,
} from '../lib/entity-form';
import { filesOf, newFilesPath } from '../lib/files';
import { parseTemplate } from '../lib/templates';
import { FilesControl } from './item-files';
import { NamedItems } from './item-named';
import { StructureControl } from './item-structure';
import { JsonError } from '../lib/values';
import type { Design, Entity, Item } from '../lib/types';
import { Badge, Button, Dialog, Empty, ErrorBox, Field, Input, Select, Spinner, toast, useAsync } from '../ui';

type Texts = Record<string, string>;
type Values = (name: string) => string | undefined;

/** How a form's files are sent. */
interface Uploads {
  design: string;
  /** Of the item, or of the collection of one that will be made; null: a part of it is missing. */
  path: string | null;
  onSending: (isSending: boolean) => void;
}

/** Whether files are on their way, of any field of a form. */
function useSending(): { isSending: boolean; onSending: (isSending: boolean) => void } {
  const [count, setCount] = useState(0);
  return { isSending: count > 0, onSending: (isSending) => setCount((n) => n + (isSending ? 1 : -1)) };
}

// ---------------------------------------------------------------- fields

/** Files are their names. */
const inWords = (field: FormField, text: string): string =>
  field.kind === 'files'
    ? filesOf(text)
        .map(({ name, file }) => name ?? file)
        .join(', ')
    : text;

interface ControlProps {
  field: FormField;
  text: string;
  /** Of its parts, by path. */
  errors: Record<string, string>;
  uploads: Uploads;
  onText: (text: string) => void;
}

function Control({ field, text, errors, uploads, onText }: ControlProps) {
  if (field.kind === 'files' && field.shape && !field.kept)
    return <FilesControl shape={field.shape} {...{ text, errors, onText }} {...uploads} />;
  if (field.kept)
    return <Input value={inWords(field, text)} onInput={() => {}} readOnly class="kept" mono={field.kind === 'json'} />;
  if (field.kind === 'choice')
    return <Select value={text} onChange={onText} options={[{ value: '', label: '(absent)' }, ...field.choices]} />;
  if (field.kind === 'structure' && field.shape)
    return <StructureControl shape={field.shape} text={text} errors={errors} onText={onText} />;
  if (field.kind === 'text' || field.kind === 'json') {
    return (
      <textarea
        class={`input${field.kind === 'json' ? ' mono' : ''}`}
        rows={Math.min(8, Math.max(2, text.split('\n').length, Math.ceil(text.length / 80)))}
        value={text}
        spellcheck={field.kind === 'text'}
        onInput={(event) => onText(event.currentTarget.value)}
      />
    );
  }
  return (
    <Input
      value={text}
      onInput={onText}
      inputMode={field.kind === 'number' ? 'decimal' : undefined}
      type={/password/i.test(field.name) ? 'password' : 'text'}
    />
  );
}

function FieldRow({
  design,
  values,
  field,
  text,
  changed,
  error,
  errors,
  uploads,
  onText,
}: {
  design: Design;
  /** Of the whole item, as it is in the form. */
  values: Values;
  field: FormField;
  text: string;
  changed: boolean;
  error?: string;
  errors?: Record<string, string>;
  uploads: Uploads;
  onText: (text: string) => void;
}) {
  const notes = field.flags.filter(
    (flag) => !['required', 'fixed', 'counter', 'derived', 'copy', 'touched', 'last writer'].includes(flag),
  );
  return (
    <div class={changed ? 'rule-field rule-changed' : 'rule-field'}>
      <Field
        label={
          <>
            <code>{field.name}</code>{' '}
            <span class="rule-type">
              {field.type}
              {notes.length ? `, ${notes.join(', ')}` : ''}
            </span>
          </>
        }
        required={field.flags.includes('required')}
        error={error}
        hint={field.kept ?? undefined}
        group={(field.kind === 'structure' || field.kind === 'files') && !field.kept}
      >
        <Control field={field} text={text} errors={errors ?? {}} uploads={uploads} onText={onText} />
      </Field>
      {field.refers && <NamedItems design={design} field={field} text={text} values={values} />}
    </div>
  );
}

/** The values of changed fields; unreadable input becomes a problem at its field. */
function readFields(fields: FormField[], texts: Texts): { body: Record<string, unknown>; problem: Problem | null } {
  const body: Record<string, unknown> = {};
  const wrong: Record<string, string> = {};
  for (const field of fields) {
    if (!(field.name in texts)) continue;
    try {
      body[field.name] = fieldValue(field, texts[field.name]!);
    } catch (error) {
      if (!(error instanceof JsonError)) throw error;
      wrong[field.name] = error.message;
    }
  }
  return {
    body,
    problem: Object.keys(wrong).length ? { message: 'Some fields cannot be read.', fields: wrong } : null,
  };
}

function ProblemBox({ problem, shown }: { problem: Problem | null; shown: string[] }) {
  if (!problem) return null;
  const other = Object.entries(problem.fields).filter(([name]) => !shown.includes(name.split(/[.[]/)[0]!));
  return (
    <div class="error-box" role="alert">
      <div>
        {problem.message}
        {other.map(([name, detail]) => (
          <div key={name}>
            <code>{name}</code>: {detail}
          </div>
        ))}
      </div>
    </div>
  );
}

/** Fields the server requires that the entity does not list, such as a password. */
const asked = (problem: Problem | null, fields: FormField[]): FormField[] =>
  Object.keys(problem?.fields ?? {})
    .filter((name) => !fields.some((field) => field.name === name) && /^[A-Za-z_]\w*$/.test(name))
    .map((name) => ({ name, kind: 'line', type: 'string', choices: [], flags: ['required'], kept: null }));

// ---------------------------------------------------------------- actions

function ActionDialog({
  design,
  values,
  entity,
  action,
  path,
  onClose,
  onRun,
}: {
  design: Design;
  values: Values;
  entity: Entity;
  action: Entity['actions'][number];
  /** Of the item. */
  path: string;
  onClose: () => void;
  onRun: (body: Record<string, unknown>) => Promise<Problem | null>;
}) {
  const fields = fieldsOfEntity(entity, true)
    .filter((field) => action.input.includes(field.name))
    .map((field): FormField => {
      const index = {
        name: field.name,
        kind: 'number',
        type: 'number of an element, from 0',
        choices: [],
        flags: [],
      } as const;
      return action.removes_at?.includes(field.name)
        ? { ...index, choices: [], flags: [], kept: null }
        : { ...field, kept: null };
    });
  const [texts, setTexts] = useState<Texts>({});
  const [problem, setProblem] = useState<Problem | null>(null);
  const [busy, setBusy] = useState(false);
  const { isSending, onSending } = useSending();
  const run = async () => {
    const { body, problem: wrong } = readFields(fields, texts);
    if (wrong) {
      setProblem(wrong);
      return;
    }
    setBusy(true);
    setProblem(await onRun(body));
    setBusy(false);
  };
  return (
    <Dialog
      title={`${entity.name}: ${action.name}`}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" busy={busy} disabled={isSending} onClick={() => void run()}>
            {action.name}
          </Button>
        </>
      }
    >
      <div class="stack">
        {action.when && (
          <p class="muted">
            Possible while <code>{action.when}</code>.
          </p>
        )}
        <ProblemBox problem={problem} shown={fields.map((field) => field.name)} />
        {fields.map((field) => (
          <FieldRow
            key={field.name}
            design={design}
            values={(name) => texts[name] || values(name)}
            field={field}
            text={texts[field.name] ?? ''}
            changed={false}
            error={problem?.fields[field.name]}
            errors={problem?.fields}
            uploads={{ design: design.name, path, onSending }}
            onText={(text) => setTexts((now) => ({ ...now, [field.name]: text }))}
          />
        ))}
      </div>
    </Dialog>
  );
}

// ---------------------------------------------------------------- an item that is there

interface EditorProps {
  design: Design;
  entity: Entity;
  item: Item;
  values: Values;
  /** After a write; `gone`: it was deleted. */
  onWritten: (gone: boolean) => void;
}

export function RulesEditor({ design, entity, item, values, onWritten }: EditorProps) {
  const path = restPath(entity.path_parts, values);
  const current = useAsync(async () => {
    if (!path) return null;
    const { body, headers } = await rest<Record<string, unknown>>(design.name, 'GET', path);
    return { body, etag: headers.get('etag') };
  }, [path, item]);
  const { draft, found, set } = useDraft<Texts>(`${design.name} ${path} rules`);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [changedBy, setChangedBy] = useState(false);
  const [busy, setBusy] = useState(false);
  const { isSending, onSending } = useSending();
  const [asking, setAsking] = useState<Entity['actions'][number] | 'delete' | null>(null);

  if (!path)
    return (
      <Empty title="Its address is unknown">
        This item lacks a part of <code>{entity.path}</code>.
      </Empty>
    );
  if (current.error && !current.value) return <ErrorBox error={current.error} retry={current.reload} />;
  if (!current.value) return <Spinner />;
  const { body, etag } = current.value;
  const fields = fieldsOfEntity(entity, false);
  const texts = draft ?? {};
  const original = (field: FormField) => fieldText(field, body, item);

  const send = async (method: string, to: string, content?: unknown): Promise<Problem | null> => {
    setBusy(true);
    setProblem(null);
    setChangedBy(false);
    try {
      await rest(design.name, method, to, { body: content, headers: etag ? { 'if-match': etag } : {} });
      set(null);
      return null;
    } catch (error) {
      if ((error as ApiError).status === 412) setChangedBy(true);
      return problemOf(error as ApiError);
    } finally {
      setBusy(false);
    }
  };
  const done = (what: string, gone = false) => {
    toast(what, 'ok');
    onWritten(gone);
  };
  const save = async () => {
    const { body: changes, problem: wrong } = readFields(fields, texts);
    const patch = Object.fromEntries(
      Object.entries(changes).map(([name, value]) => [name, patchOf(body[name], value)]),
    );
    const failed = wrong ?? (await send('PATCH', path, patch));
    setProblem(failed);
    if (!failed) done('Saved by the rules.');
  };
  const act = async (action: Entity['actions'][number], content: Record<string, unknown>): Promise<Problem | null> => {
    const failed = await send('POST', `${path}/${action.name}`, content);
    if (!failed) {
      setAsking(null);
      done(`Done: ${action.name}.`);
    }
    return failed;
  };
  const remove = async () => {
    setAsking(null);
    const failed = await send('DELETE', path);
    setProblem(failed);
    if (!failed) done('Deleted, as the design says.', /^deletes/.test(entity.deletes));
  };
  const write = (name: string, text: string) => {
    const field = fields.find((of) => of.name === name);
    const next = { ...texts, [name]: text };
    if (field && original(field) === text) delete next[name];
    set(Object.keys(next).length ? next : null);
  };
  return (
    <div class="stack">
      {found && draft && (
        <p class="notice">
          These are changes you had not saved.{' '}
          <Button small onClick={() => set(null)}>
            Discard them
          </Button>
        </p>
      )}
      {changedBy && (
        <section class="conflict" role="alert">
          <h3>This {entity.name} has changed since you loaded it</h3>
          <table>
            <thead>
              <tr>
                <th scope="col">Attribute</th>
                <th scope="col">As you loaded it</th>
                <th scope="col">As you would save it</th>
              </tr>
            </thead>
            <tbody>
              {fields
                .filter((field) => field.name in texts)
                .map((field) => (
                  <tr key={field.name}>
                    <td>
                      <code>{field.name}</code>
                    </td>
                    <td>{inWords(field, original(field))}</td>
                    <td>{inWords(field, texts[field.name]!)}</td>
                  </tr>
                ))}
            </tbody>
          </table>
          <div class="row">
            <Button
              onClick={() => {
                setChangedBy(false);
                setProblem(null);
                onWritten(false);
              }}
            >
              Load the current version, keep my input
            </Button>
            <Button
              onClick={() => {
                setChangedBy(false);
                setProblem(null);
                set(null);
                onWritten(false);
              }}
            >
              Load it, drop what I typed
            </Button>
          </div>
        </section>
      )}
      {!changedBy && <ProblemBox problem={problem} shown={fields.map((field) => field.name)} />}
      {entity.actions.length > 0 && (
        <div class="row rule-actions">
          <span class="muted">Actions</span>
          {entity.actions.map((action) => (
            <Button
              key={action.name}
              small
              disabled={busy}
              title={action.when ? `Possible while ${action.when}` : undefined}
              onClick={() => (action.input.length ? setAsking(action) : void act(action, {}).then(setProblem))}
            >
              {action.name}
            </Button>
          ))}
        </div>
      )}
      <form
        class="panel panel-body rule-form"
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        {fields.map((field) => (
          <FieldRow
            key={field.name}
            design={design}
            values={(name) => texts[name] || values(name)}
            field={field}
            text={texts[field.name] ?? original(field)}
            changed={field.name in texts}
            error={problem?.fields[field.name]}
            errors={problem?.fields}
            uploads={{ design: design.name, path, onSending }}
            onText={(text) => write(field.name, text)}
          />
        ))}
        <div class="row rule-buttons">
          <Button kind="primary" type="submit" disabled={!draft || isSending} busy={busy}>
            Save by the rules
          </Button>
          {draft && (
            <Button
              onClick={() => {
                set(null);
                setProblem(null);
              }}
            >
              Discard changes
            </Button>
          )}
          {draft && <span class="muted">Changed: {Object.keys(texts).join(', ')}</span>}
          <span class="spread" />
          <Button kind="danger" icon="trash" onClick={() => setAsking('delete')}>
            Delete
          </Button>
        </div>
      </form>
      {asking === 'delete' && (
        <Dialog
          title={`Delete this ${entity.name}?`}
          onClose={() => setAsking(null)}
          actions={
            <>
              <Button onClick={() => setAsking(null)}>Keep it</Button>
              <Button kind="danger" onClick={() => void remove()}>
                Delete
              </Button>
            </>
          }
        >
          <p>The design says what that does: {entity.deletes}.</p>
        </Dialog>
      )}
      {asking && asking !== 'delete' && (
        <ActionDialog
          design={design}
          values={values}
          entity={entity}
          action={asking}
          path={path}
          onClose={() => setAsking(null)}
          onRun={(content) => act(asking, content)}
        />
      )}
    </div>
  );
}

// ---------------------------------------------------------------- a new one

export const creatable = (design: Design): Entity[] =>
  design.entities.filter((entity) => entity.routes.some((route) => route.does === 'create'));

export function RulesCreator({
  design,
  entity,
  onCreated,
}: {
  design: Design;
  entity: Entity;
  onCreated: (body: Record<string, unknown>) => void;
}) {
  const { draft, set } = useDraft<Texts>(`${design.name} new ${entity.name}`);
  const [problem, setProblem] = useState<Problem | null>(null);
  const [extra, setExtra] = useState<FormField[]>([]);
  const [busy, setBusy] = useState(false);
  const { isSending, onSending } = useSending();
  const route = entity.routes.find((of) => of.does === 'create')!;
  const fields = [...fieldsOfEntity(entity, true).filter((field) => !field.kept), ...extra];
  const texts = draft ?? {};
  const needed = (name: string) => parseTemplate(route.path).some((part) => 'name' in part && part.name === name);

  const create = async () => {
    const given: Texts = Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''));
    const { body, problem: wrong } = readFields(fields, given);
    const path = restPath(parseTemplate(route.path), (name) => given[name]);
    if (wrong) {
      setProblem(wrong);
      return;
    }
    if (!path) {
      const missing = fields.filter((field) => needed(field.name) && !given[field.name]);
      setProblem({
        message: `The address ${route.path} needs a value for each of its parts.`,
        fields: Object.fromEntries(missing.map((field) => [field.name, 'needed'])),
      });
      return;
    }
    setBusy(true);
    try {
      const reply = await rest<Record<string, unknown>>(design.name, route.method, path, { body });
      set(null);
      toast(`Created by the rules.`, 'ok');
      onCreated({ ...body, ...reply.body });
    } catch (error) {
      const found = problemOf(error as ApiError);
      setProblem(found);
      setExtra((old) => [...old, ...asked(found, fields)]);
    }
    setBusy(false);
  };
  return (
    <form
      class="panel panel-body rule-form"
      onSubmit={(event) => {
        event.preventDefault();
        void create();
      }}
    >
      <p class="muted">
        <Badge>{route.method}</Badge> <code>{route.path}</code>: {route.request}
      </p>
      <ProblemBox problem={problem} shown={fields.map((field) => field.name)} />
      {fields.map((field) => (
        <FieldRow
          key={field.name}
          design={design}
          values={(name) => texts[name]}
          field={field}
          text={texts[field.name] ?? ''}
          changed={!!texts[field.name]}
          error={problem?.fields[field.name]}
          errors={problem?.fields}
          uploads={{
            design: design.name,
            path: newFilesPath(entity, (name) => texts[name]),
            onSending,
          }}
          onText={(text) => set({ ...texts, [field.name]: text })}
        />
      ))}
      <div class="row rule-buttons">
        <Button kind="primary" type="submit" disabled={isSending} busy={busy}>
          Create by the rules
        </Button>
        {draft && (
          <Button
            onClick={() => {
              set(null);
              setProblem(null);
            }}
          >
            Discard
          </Button>
        )}
      </div>
    </form>
  );
}
