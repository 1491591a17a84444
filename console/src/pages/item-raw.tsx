// One item as stored: plain JSON or DynamoDB's, written back only if it has not changed. SPDX-License-Identifier:
// Apache-2.0
import { useState } from 'preact/hooks';
import { ApiError } from '../lib/client';
import { keyOf } from '../lib/collections';
import { useDraft } from '../lib/drafts';
import { Conflict, createItem, deleteItem, replaceItem } from '../lib/item-write';
import { keyQuery, tableKeys, type TableInfo } from '../lib/table-info';
import type { Item } from '../lib/types';
import { formatItem, parseItem, sameItem, type Form } from '../lib/values';
import { go, href } from '../router';
import { Button, CopyButton, Dialog, ErrorBox, Tabs, toast } from '../ui';

interface Draft {
  text: string;
  form: Form;
}

const FORMS = [
  { id: 'plain', label: 'Plain JSON' },
  { id: 'dynamo', label: 'DynamoDB JSON' },
];

/** The item of a text, or the text's error. */
function read(text: string, form: Form): { item: Item | null; error: string | null } {
  try {
    return { item: parseItem(text, form), error: null };
  } catch (error) {
    return { item: null, error: (error as Error).message };
  }
}

/** `onMine` null: a deletion, so there is no input to save. */
function ConflictBox({
  mine,
  theirs,
  onTheirs,
  onMine,
}: {
  mine: Item;
  theirs: Item | undefined;
  onTheirs: () => void;
  onMine: (() => void) | null;
}) {
  const names = [...new Set([...Object.keys(mine), ...Object.keys(theirs ?? {})])].sort();
  const text = (item: Item | undefined, name: string) =>
    item?.[name]
      ? formatItem({ [name]: item[name]! }, 'plain')
          .split('\n')
          .slice(1, -1)
          .join('\n')
          .trim()
      : '(absent)';
  const different = names.filter((name) => text(mine, name) !== text(theirs, name));
  return (
    <section class="conflict" role="alert">
      <h3>{theirs ? 'This item has changed since you loaded it' : 'This item has been deleted since you loaded it'}</h3>
      {theirs && (
        <table>
          <thead>
            <tr>
              <th scope="col">As it is now</th>
              <th scope="col">{onMine ? 'As you would save it' : 'As you loaded it'}</th>
            </tr>
          </thead>
          <tbody>
            {different.map((name) => (
              <tr key={name}>
                <td>
                  <code>{text(theirs, name)}</code>
                </td>
                <td>
                  <code>{text(mine, name)}</code>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <div class="row">
        {theirs && <Button onClick={onTheirs}>Load the current version</Button>}
        {onMine && (
          <Button kind="danger" onClick={onMine}>
            {theirs ? 'Overwrite it with mine' : 'Put it back'}
          </Button>
        )}
      </div>
    </section>
  );
}

export function RawEditor({
  table,
  loaded,
  warn,
  onSaved,
}: {
  table: TableInfo;
  /** null: a new item. */ loaded: Item | null;
  warn: boolean;
  onSaved: (item: Item | null) => void;
}) {
  const keys = tableKeys(table);
  const draftId = `${table.name} ${loaded ? JSON.stringify(keyOf(loaded, keys)) : 'new'} raw`;
  const { draft, found, set } = useDraft<Draft>(draftId);
  const [form, setForm] = useState<Form>(draft?.form ?? 'plain');
  const [conflict, setConflict] = useState<{ theirs: Item | undefined; deleting: boolean } | null>(null);
  const [error, setError] = useState<Error | null>(null);
  const [busy, setBusy] = useState(false);
  const [deleting, setDeleting] = useState(false);

  const empty: Item = Object.fromEntries(
    keys.map((name) => [name, table.types[name] === 'N' ? { N: '0' } : { S: '' }]),
  );
  const shownForm = draft?.form ?? form;
  const text = draft?.text ?? formatItem(loaded ?? empty, shownForm);
  const { item, error: wrong } = read(text, shownForm);
  const moved = !!loaded && !!item && !sameItem(keyOf(item, keys), keyOf(loaded, keys));
  const dirty = draft !== null && !(item && loaded && sameItem(item, loaded));

  const change = (next: string) => {
    setError(null);
    set({ text: next, form: shownForm });
  };
  const switchTo = (to: Form) => {
    if (to === shownForm || !item) return;
    setForm(to);
    if (draft) set({ text: formatItem(item, to), form: to });
  };
  const attempt = async (write: () => Promise<unknown>, then: () => void, deleting = false) => {
    setBusy(true);
    setError(null);
    try {
      await write();
      setConflict(null);
      set(null);
      then();
    } catch (caught) {
      if (caught instanceof Conflict) setConflict({ theirs: caught.theirs, deleting });
      else setError(caught as Error);
    }
    setBusy(false);
  };
  const saved = (of: Item) => {
    toast('Saved.', 'ok');
    onSaved(of);
    if (!loaded || moved) go(href(['table', table.name, 'item'], keyQuery(table, of)));
  };
  const save = (before: Item | null | undefined = loaded) => {
    if (!item) return;
    void attempt(
      () => (before && !moved ? replaceItem(table.name, keys, before, item) : createItem(table.name, keys, item)),
      () => saved(item),
    );
  };
  const remove = () =>
    void attempt(
      () => deleteItem(table.name, keys, loaded!),
      () => {
        toast('Deleted.', 'ok');
        go(href(['table', table.name], { pk: keyQuery(table, loaded!).pk }));
      },
      true,
    );
  return (
    <div class="stack">
      {warn && (
        <p class="notice notice-warn">
          This writes the item with PutItem, past the rules of the design: guards, counters, copies and index keys are
          not kept right for you.
        </p>
      )}
      {found && (
        <p class="notice">
          These are changes you had not saved.{' '}
          <Button small onClick={() => set(null)}>
            Discard them
          </Button>
        </p>
      )}
      {conflict && item && (
        <ConflictBox
          mine={conflict.deleting ? loaded! : item}
          theirs={conflict.theirs}
          onTheirs={() => {
            set(null);
            setConflict(null);
            onSaved(conflict.theirs ?? null);
          }}
          onMine={
            conflict.deleting
              ? null
              : () => {
                  if (conflict.theirs) onSaved(conflict.theirs);
                  save(conflict.theirs ?? null);
                }
          }
        />
      )}
      {error && (
        <ErrorBox
          error={
            error instanceof ApiError && /ConditionalCheckFailed/.test(error.code)
              ? new Error('There is an item of this key already.')
              : error
          }
        />
      )}
      <section class="panel editor">
        <header class="panel-head">
          <Tabs label="Form" tabs={FORMS} selected={shownForm} onSelect={(to) => switchTo(to as Form)} />
          <span class="spread" />
          <CopyButton text={text} />
        </header>
        <textarea
          class="editor-text mono"
          spellcheck={false}
          aria-label="Item as JSON"
          aria-invalid={!!wrong}
          value={text}
          rows={Math.min(40, Math.max(12, text.split('\n').length + 1))}
          onInput={(event) => change(event.currentTarget.value)}
          onKeyDown={(event) => {
            if ((event.ctrlKey || event.metaKey) && event.key === 's') {
              event.preventDefault();
              if (dirty && item) save();
            }
          }}
        />
        <p class={`editor-state${wrong ? ' editor-wrong' : ''}`} role="status">
          {wrong ??
            (moved
              ? 'The key is another: this would be a new item.'
              : dirty
                ? 'Changed, not saved.'
                : shownForm === 'plain'
                  ? 'Numbers keep all their digits; sets are {"$set": […]}, binaries {"$binary": "base64"}.'
                  : 'As DynamoDB has it.')}
        </p>
      </section>
      <div class="row">
        <Button kind="primary" disabled={!item || (!!loaded && !dirty)} busy={busy} onClick={() => save()}>
          {!loaded ? 'Put the item' : moved ? 'Save as a new item' : 'Save the raw item'}
        </Button>
        {draft && loaded && (
          <Button
            onClick={() => {
              set(null);
              setError(null);
              setConflict(null);
            }}
          >
            Discard changes
          </Button>
        )}
        <span class="spread" />
        {loaded && (
          <Button kind="danger" icon="trash" onClick={() => setDeleting(true)}>
            Delete the raw item
          </Button>
        )}
      </div>
      {deleting && (
        <Dialog
          title="Delete this item?"
          onClose={() => setDeleting(false)}
          actions={
            <>
              <Button onClick={() => setDeleting(false)}>Keep it</Button>
              <Button
                kind="danger"
                onClick={() => {
                  setDeleting(false);
                  remove();
                }}
              >
                Delete
              </Button>
            </>
          }
        >
          <p>
            {warn
              ? 'The item alone is deleted, with DeleteItem: what the design keeps beside it stays as it is.'
              : 'It is deleted with DeleteItem.'}
          </p>
        </Dialog>
      )}
    </div>
  );
}
