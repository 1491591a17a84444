// Program text in several languages, one at a time, to copy.
// SPDX-License-Identifier: Apache-2.0
import { useId, useState } from 'preact/hooks';
import { CopyButton, Tabs } from '../ui';

/** The language people chose last is the one they get next. */
let preferred = 'curl';

export interface SnippetProps {
  /** [id, label, text] */
  texts: [string, string, string][];
  /** A secret that is copied but not shown. */
  hide?: string;
  title?: string;
}

const short = (secret: string) => `${secret.slice(0, 8)}…`;

export function SnippetTabs({ texts, hide, title }: SnippetProps) {
  const [chosen, setChosen] = useState(preferred);
  const id = useId();
  const [selected, , text] = texts.find(([name]) => name === chosen) ?? texts[0]!;
  const choose = (name: string) => {
    preferred = name;
    setChosen(name);
  };
  return (
    <div class="pat-snippets">
      <div class="pat-snippets-head">
        {title && <h2>{title}</h2>}
        <Tabs
          label={title ?? 'As program text'}
          tabs={texts.map(([name, label]) => ({ id: name, label }))}
          selected={selected}
          onSelect={choose}
        />
        <CopyButton text={text} label="Copy" />
      </div>
      <pre class="pat-code" id={id} tabIndex={0} data-language={selected}>
        <code>{hide ? text.replaceAll(hide, short(hide)) : text}</code>
      </pre>
    </div>
  );
}

export function SnippetPanel(props: SnippetProps) {
  return (
    <section class="panel" aria-label={props.title}>
      <SnippetTabs {...props} />
    </section>
  );
}
