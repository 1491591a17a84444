// A field of files: chosen, sent with progress, seen, put in order, taken out.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { problemOf } from '../lib/entity-form';
import { fileRule, filesOf, mostFiles, previewOf, unfit, uploadFile, type FileValue } from '../lib/files';
import type { ApiError } from '../lib/client';
import type { Attribute } from '../lib/types';
import { Button, format } from '../ui';

/** Pictures that were chosen on this page, by the id of their file: the server shows a file only as part of an item. */
const previews = new Map<string, string>();

interface OneProps {
  file: FileValue;
  label: string;
  error?: string;
  place: { at: number; of: number };
  onMove: (to: number) => void;
  onRemove: () => void;
}

function OneFile({ file, label, error, place, onMove, onRemove }: OneProps) {
  const [broken, setBroken] = useState(false);
  const source = previews.get(file.file) ?? (file.type.startsWith('image/') ? file.url : undefined);
  const name = file.name ?? file.file;
  return (
    <li class="file-row" aria-label={label}>
      {source && !broken ? (
        <img class="file-picture" src={source} alt={`Preview of ${name}`} onError={() => setBroken(true)} />
      ) : (
        <span class="file-picture file-kind" aria-hidden="true">
          {file.type.split('/')[1]?.slice(0, 4) ?? 'file'}
        </span>
      )}
      <span class="file-about">
        {file.url ? (
          <a href={file.url} target="_blank" rel="noopener noreferrer">
            {name}
          </a>
        ) : (
          name
        )}
        <span class="muted">
          {file.type}, {format.bytes(Number(file.size))}
          {!file.url && ', not saved yet'}
        </span>
      </span>
      {place.of > 1 && (
        <>
          <Button small aria-label={`Move ${label} up`} disabled={place.at === 0} onClick={() => onMove(place.at - 1)}>
            ↑
          </Button>
          <Button
            small
            aria-label={`Move ${label} down`}
            disabled={place.at === place.of - 1}
            onClick={() => onMove(place.at + 1)}
          >
            ↓
          </Button>
        </>
      )}
      <Button small aria-label={`Remove ${label}`} onClick={onRemove}>
        Remove
      </Button>
      {error && (
        <span class="field-error" role="alert">
          {error}
        </span>
      )}
    </li>
  );
}

const CHOOSER = 'input[type=file]';

interface Sending {
  name: string;
  /** 0 to 1 */
  part: number;
}

export interface FilesProps {
  shape: Attribute;
  text: string;
  errors: Record<string, string>;
  design: string;
  /** Where to ask for uploads; null: a part of the item's address is missing. */
  path: string | null;
  onText: (text: string) => void;
  /** True while files are on their way: what is saved meanwhile would lack them. */
  onSending: (isSending: boolean) => void;
}

export function FilesControl({ shape, text, errors, design, path, onText, onSending }: FilesProps) {
  const rule = fileRule(shape)!;
  const isList = !shape.file;
  const files = filesOf(text);
  const room = mostFiles(shape) - files.length;
  const [sending, setSending] = useState<Sending | null>(null);
  const [wrong, setWrong] = useState<string[]>([]);
  const box = useRef<HTMLDivElement>(null);
  /** What is focused next: what had the focus has moved or gone. */
  const focus = useRef<string>();
  const stop = useRef<AbortController>();
  // Fields are typed in while a file is sent: it joins what is there when it has arrived.
  const latest = useRef({ text, onText });
  latest.current = { text, onText };
  useEffect(() => () => stop.current?.abort(), []);
  useLayoutEffect(() => {
    if (focus.current) box.current?.querySelector<HTMLElement>(focus.current)?.focus();
    focus.current = undefined;
  });

  const put = (next: FileValue[]) => {
    const none = isList && shape.flags.includes('required') ? '[]' : '';
    const value = next.length === 0 ? none : JSON.stringify(isList ? next : next[0]);
    latest.current.text = value;
    latest.current.onText(value);
  };
  const take = async (file: File, signal: AbortSignal) => {
    const reason = unfit(rule, file);
    if (reason) throw new Error(reason);
    setSending({ name: file.name, part: 0 });
    const [sent, preview] = await Promise.all([
      uploadFile({
        design,
        path: `${path}/files/${encodeURIComponent(shape.name)}`,
        file,
        onProgress: (part) => setSending({ name: file.name, part }),
        signal,
      }),
      previewOf(file),
    ]);
    if (signal.aborted) return;
    if (preview) previews.set(sent.file, preview);
    put(isList ? [...filesOf(latest.current.text), sent] : [sent]);
  };
  const choose = async (chosen: File[]) => {
    if (chosen.length === 0) return;
    stop.current = new AbortController();
    const { signal } = stop.current;
    const found: string[] = [];
    setWrong([]);
    onSending(true);
    for (const file of chosen.slice(0, isList ? room : 1)) {
      if (signal.aborted) break;
      try {
        await take(file, signal);
      } catch (error) {
        if (error instanceof DOMException && error.name === 'AbortError') continue;
        const problem = problemOf(error as ApiError);
        found.push(problem.fields[shape.name] ? `${file.name}: ${problem.fields[shape.name]}` : problem.message);
      }
    }
    const left = isList ? chosen.length - room : 0;
    if (left > 0)
      found.push(`${left} of ${chosen.length} files were left out: ${shape.name} takes ${mostFiles(shape)}.`);
    onSending(false);
    if (document.activeElement === document.body) focus.current = CHOOSER;
    setSending(null);
    setWrong(found);
  };
  const move = (from: number, to: number) => {
    const next = files.filter((_, k) => k !== from);
    next.splice(to, 0, files[from]!);
    focus.current = `li:nth-child(${to + 1}) button:not(:disabled)`;
    put(next);
  };
  const remove = (at: number) => {
    focus.current = CHOOSER;
    put(files.filter((_, k) => k !== at));
  };
  return (
    <div class="files" ref={box}>
      {files.length > 0 && (
        <ul>
          {files.map((file, i) => {
            const label = isList ? `${shape.name}[${i}]` : shape.name;
            return (
              <OneFile
                key={file.file}
                file={file}
                label={label}
                error={isList ? errors[label] : undefined}
                place={{ at: i, of: isList ? files.length : 1 }}
                onMove={(to) => move(i, to)}
                onRemove={() => remove(i)}
              />
            );
          })}
        </ul>
      )}
      {sending ? (
        <div class="file-sending">
          <progress aria-label={`Uploading ${sending.name}`} value={sending.part} max={1} />
          <span class="muted" role="status">
            Uploading {sending.name}: {Math.floor(sending.part * 100)} %
          </span>
          <Button small onClick={() => stop.current?.abort()}>
            Stop
          </Button>
        </div>
      ) : (
        (!isList || room > 0) && (
          <input
            type="file"
            class="input"
            aria-label={`${isList ? 'Add to' : files.length ? 'Replace' : 'Choose'} ${shape.name}`}
            accept={rule.types.length ? rule.types.join(',') : undefined}
            multiple={isList && room > 1}
            disabled={path === null}
            onChange={(event) => {
              const input = event.currentTarget;
              const chosen = [...(input.files ?? [])];
              input.value = ''; // so that the same file may be chosen again
              void choose(chosen);
            }}
          />
        )
      )}
      {!isList && files.length > 0 && !sending && <span class="field-hint">Another file takes its place.</span>}
      {path === null && <span class="field-hint">First fill in the fields of the item's address.</span>}
      {wrong.map((sentence) => (
        <span key={sentence} class="field-error" role="alert">
          {sentence}
        </span>
      ))}
    </div>
  );
}
