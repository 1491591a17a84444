// Controls: buttons, fields, tabs. SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren, JSX, Ref } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { Icon, type IconName } from './icons';
import { toast } from './toast';

type ButtonProps = Omit<JSX.HTMLAttributes<HTMLButtonElement>, 'icon'> & {
  kind?: 'primary' | 'plain' | 'danger' | 'ghost';
  small?: boolean;
  icon?: IconName;
  busy?: boolean;
  type?: 'button' | 'submit';
  disabled?: boolean;
};

export function Button({ kind = 'plain', small, icon, busy, children, class: extra, disabled, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      disabled={disabled || busy}
      aria-busy={busy}
      class={`button button-${kind}${small ? ' button-small' : ''} ${extra ?? ''}`}
    >
      {busy ? <Spinner small /> : icon && <Icon name={icon} />}
      {children}
    </button>
  );
}

/** A button that is an icon only; the label is read out, and shown on hovering. */
export function IconButton({
  icon,
  label,
  class: extra,
  ...rest
}: Omit<JSX.HTMLAttributes<HTMLButtonElement>, 'icon' | 'label'> & {
  icon: IconName;
  label: string;
  disabled?: boolean;
}) {
  return (
    <button type="button" {...rest} class={`icon-button ${extra ?? ''}`} aria-label={label} title={label}>
      <Icon name={icon} />
    </button>
  );
}

/** The clipboard is missing on plain http beyond localhost; the old way still works there. */
async function copy(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const area = document.createElement('textarea');
  area.value = text;
  area.style.position = 'fixed';
  (document.querySelector('dialog[open]') ?? document.body).append(area);
  area.select();
  const done = document.execCommand('copy');
  area.remove();
  if (!done) throw new Error('refused');
}

/** Copies the text; with a label it is a button with words, without an icon only. */
export function CopyButton({ text, label }: { text: string | (() => string); label?: string }) {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const timer = setTimeout(() => setCopied(false), 1_500);
    return () => clearTimeout(timer);
  }, [copied]);
  useEffect(() => setCopied(false), [typeof text === 'string' ? text : '']);
  const run = () =>
    copy(typeof text === 'string' ? text : text()).then(
      () => setCopied(true),
      () => toast('The browser does not let the console copy.', 'danger'),
    );
  const icon = copied ? 'check' : 'copy';
  if (!label)
    return <IconButton icon={icon} label={copied ? 'Copied' : 'Copy'} class={copied ? 'copied' : ''} onClick={run} />;
  return (
    <Button small kind="ghost" icon={icon} class={copied ? 'copied' : ''} onClick={run}>
      {copied ? 'Copied' : label}
    </Button>
  );
}

export interface Tab {
  id: string;
  label: ComponentChildren;
}

/** A row of tabs; the left and right arrow keys move along it. The caller renders the content. */
export function Tabs({
  tabs,
  selected,
  onSelect,
  label,
}: {
  tabs: Tab[];
  selected: string;
  onSelect: (id: string) => void;
  label?: string;
}) {
  const row = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent) => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (!step) return;
    event.preventDefault();
    const at = (tabs.findIndex((tab) => tab.id === selected) + step + tabs.length) % tabs.length;
    onSelect(tabs[at]!.id);
    (row.current?.children[at] as HTMLElement | undefined)?.focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} ref={row} onKeyDown={move}>
      {tabs.map((tab) => (
        <button
          type="button"
          role="tab"
          key={tab.id}
          aria-selected={tab.id === selected}
          tabIndex={tab.id === selected ? 0 : -1}
          onClick={() => onSelect(tab.id)}
        >
          {tab.label}
        </button>
      ))}
    </div>
  );
}

/** A label with its field below it: the child gets the label by being inside. */
export function Field({
  label,
  hint,
  error,
  required,
  group,
  children,
}: {
  label: ComponentChildren;
  hint?: ComponentChildren;
  error?: string | null;
  required?: boolean;
  /** It has several controls, with labels of their own. */
  group?: boolean;
  children: ComponentChildren;
}) {
  const Box = group ? 'div' : 'label';
  return (
    <Box class={`field${error ? ' field-wrong' : ''}`}>
      <span class="field-label">
        {label}
        {required && (
          <span class="field-required" title="required">
            {' '}
            *
          </span>
        )}
      </span>
      {children}
      {error ? (
        <span class="field-error" role="alert">
          {error}
        </span>
      ) : (
        hint && <span class="field-hint">{hint}</span>
      )}
    </Box>
  );
}

type InputProps = Omit<JSX.InputHTMLAttributes<HTMLInputElement>, 'onInput'> & {
  value: string;
  onInput: (value: string) => void;
  mono?: boolean;
  inputRef?: Ref<HTMLInputElement>;
};

export function Input({ onInput, mono, class: extra, inputRef, ...rest }: InputProps) {
  return (
    <input
      type="text"
      autoComplete="off"
      autoCapitalize="off"
      spellcheck={false}
      {...rest}
      ref={inputRef}
      class={`input${mono ? ' mono' : ''} ${extra ?? ''}`}
      onInput={(event) => onInput(event.currentTarget.value)}
    />
  );
}

type Option = string | { value: string; label: string };

export function Select({
  value,
  onChange,
  options,
  class: extra,
  ...rest
}: Omit<JSX.SelectHTMLAttributes<HTMLSelectElement>, 'onChange'> & {
  value: string;
  onChange: (value: string) => void;
  options: Option[];
}) {
  return (
    <select
      {...rest}
      class={`input select ${extra ?? ''}`}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    >
      {options.map((option) => {
        const { value: v, label } = typeof option === 'string' ? { value: option, label: option } : option;
        return (
          <option key={v} value={v} selected={v === value}>
            {label}
          </option>
        );
      })}
    </select>
  );
}

/** On or off, with its words. */
export function Checkbox({
  checked,
  onChange,
  children,
}: {
  checked: boolean;
  onChange: (checked: boolean) => void;
  children: ComponentChildren;
}) {
  const id = useId();
  return (
    <span class="checkbox">
      <input type="checkbox" id={id} checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
      <label for={id}>{children}</label>
    </span>
  );
}

export function Spinner({ small, label = 'Loading' }: { small?: boolean; label?: string }) {
  return <span class={`spinner${small ? ' spinner-small' : ''}`} role="status" aria-label={label} />;
}

/** A key, or several: "g o", "mod+k". */
export function Kbd({ children }: { children: string }) {
  const mac = /Mac|iPhone|iPad/.test(navigator.platform);
  const names: Record<string, string> = {
    mod: mac ? '⌘' : 'Ctrl',
    shift: mac ? '⇧' : 'Shift',
    ArrowUp: '↑',
    ArrowDown: '↓',
    ArrowLeft: '←',
    ArrowRight: '→',
    Escape: 'Esc',
    Enter: '↵',
  };
  return (
    <span class="kbds">
      {children.split(/[ +]/).map((key, at) => (
        <kbd key={at}>{names[key] ?? (children.includes('+') && key.length === 1 ? key.toUpperCase() : key)}</kbd>
      ))}
    </span>
  );
}
