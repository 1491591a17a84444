// Buttons, fields, notices: the small parts of all pages.
// SPDX-License-Identifier: Apache-2.0
import { type ComponentChildren, type JSX } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { fieldErrors, sentenceOf } from '../lib/errors';
import { PICTURE_MOST_MB, uploadSentence } from '../lib/uploads';
import { pictureUrl } from '../lib/text';

/** While `run` is on its way the button is busy, and does not start it twice. */
export function useAction(): { busy: boolean; error: unknown; act: (run: () => Promise<void>) => Promise<boolean> } {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const running = useRef(false);
  const act = async (run: () => Promise<void>) => {
    if (running.current) return false;
    running.current = true;
    setBusy(true);
    setError(undefined);
    try {
      await run();
      return true;
    } catch (failed) {
      setError(failed);
      return false;
    } finally {
      running.current = false;
      setBusy(false);
    }
  };
  return { busy, error, act };
}

/**
 * A key for one thing to write. Whoever presses the button again after an answer was lost sends the same key, so it is
 * written once; a changed text is another thing.
 */
export function useWriteKey(...parts: unknown[]): { idempotencyKey: string } {
  const about = JSON.stringify(parts);
  const last = useRef({ about: '', idempotencyKey: '' });
  if (last.current.about !== about)
    last.current = { about, idempotencyKey: `${Date.now().toString(36)}-${Math.random().toString(36).slice(2)}` };
  return { idempotencyKey: last.current.idempotencyKey };
}

interface FieldProps {
  label: string;
  name: string;
  value: string;
  onValue: (value: string) => void;
  error?: unknown;
  hint?: string;
  rows?: number;
  input?: JSX.InputHTMLAttributes<HTMLInputElement>;
  maxLength?: number;
}

export function Field({ label, name, value, onValue, error, hint, rows, input, maxLength }: FieldProps) {
  const id = useId();
  const wrong = fieldErrors(error)[name];
  const about = wrong ? `${id}-wrong` : hint ? `${id}-hint` : undefined;
  const shared = {
    id,
    name,
    value,
    class: 'input',
    maxLength,
    'aria-invalid': wrong ? true : undefined,
    'aria-describedby': about,
    onInput: (event: Event) => onValue((event.currentTarget as HTMLInputElement).value),
  };
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {rows ? <textarea rows={rows} {...shared} /> : <input {...input} {...shared} />}
      {wrong ? (
        <p class="field-wrong" id={`${id}-wrong`}>
          {wrong}
        </p>
      ) : (
        hint && (
          <p class="field-hint" id={`${id}-hint`}>
            {hint}
          </p>
        )
      )}
    </div>
  );
}

/** A file that has been uploaded, and is not part of an item yet. */
export interface Upload {
  /** What to write into the item. */
  id: string;
  name: string;
  /** A data: URL of its bytes. */
  preview: string;
}

interface FileFieldProps {
  label: string;
  /** Media types, separated by commas. */
  accept: string;
  file: Upload | undefined;
  busy: boolean;
  error: unknown;
  onFile: (file: File) => void;
  onRemove: () => void;
}

/** A picture, which is uploaded as soon as it is chosen. */
export function FileField({ label, accept, file, busy, error, onFile, onRemove }: FileFieldProps) {
  const id = useId();
  const wrong = error !== undefined;
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        class="input"
        type="file"
        accept={accept}
        disabled={busy}
        aria-invalid={wrong ? true : undefined}
        aria-describedby={`${id}-about`}
        onChange={(event) => {
          const input = event.currentTarget;
          const chosen = input.files?.[0];
          if (chosen) onFile(chosen);
          input.value = ''; // what is refused is not shown as chosen, and may be chosen again
        }}
      />
      <p class={wrong ? 'field-wrong' : 'field-hint'} id={`${id}-about`} role="status">
        {wrong
          ? uploadSentence(error)
          : busy
            ? 'Uploading the picture…'
            : file
              ? `${file.name} is uploaded.`
              : `JPEG, PNG, WebP or GIF, at most ${PICTURE_MOST_MB} MB.`}
      </p>
      {file && (
        <div class="preview">
          <img class="picture" src={file.preview} alt={`Preview of ${file.name}`} />
          <button type="button" class="button" onClick={onRemove} aria-label={`Remove ${file.name}`}>
            Remove
          </button>
        </div>
      )}
    </div>
  );
}

export function Problem({ error, retry }: { error: unknown; retry?: () => void }) {
  if (error === undefined) return null;
  return (
    <div class="problem" role="alert">
      <p>{sentenceOf(error)}</p>
      {retry && (
        <button type="button" class="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  );
}

export function Loading() {
  return (
    <p class="quiet" role="status">
      Loading…
    </p>
  );
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <div class="empty">{children}</div>;
}

export function More({ list }: { list: { hasMore: boolean; loadMore: () => Promise<void> } }) {
  const { busy, act } = useAction();
  if (!list.hasMore) return null;
  return (
    <button type="button" class="button more" disabled={busy} onClick={() => void act(list.loadMore)}>
      {busy ? 'Loading…' : 'Show more'}
    </button>
  );
}

/** The picture of a person, or the first letter of the name. */
export function Avatar({ name, url, large }: { name: string; url?: string | undefined; large?: boolean }) {
  const [broken, setBroken] = useState(false);
  const picture = pictureUrl(url);
  const hue = [...name].reduce((hash, letter) => (hash * 31 + letter.charCodeAt(0)) % 997, 7) % 6;
  return (
    <span class={`avatar avatar-${hue} ${large ? 'avatar-large' : ''}`} aria-hidden="true">
      {picture && !broken ? <img src={picture} alt="" onError={() => setBroken(true)} /> : name.charAt(0).toUpperCase()}
    </span>
  );
}

interface DialogProps {
  title: string;
  onClose: () => void;
  children: ComponentChildren;
}

export function Dialog({ title, onClose, children }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    ref.current?.showModal();
  }, []);
  return (
    <dialog
      ref={ref}
      class="dialog"
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <h2 id={id}>{title}</h2>
      {children}
    </dialog>
  );
}

interface ConfirmProps {
  title: string;
  children: ComponentChildren;
  action: string;
  run: () => Promise<void>;
  onClose: () => void;
}

export function Confirm({ title, children, action, run, onClose }: ConfirmProps) {
  const { busy, error, act } = useAction();
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{children}</p>
      <Problem error={error} />
      <div class="row row-end">
        <button type="button" class="button" onClick={onClose}>
          Cancel
        </button>
        <button
          type="button"
          class="button button-danger"
          disabled={busy}
          onClick={() => void act(run).then((done) => done && onClose())}
        >
          {action}
        </button>
      </div>
    </Dialog>
  );
}
