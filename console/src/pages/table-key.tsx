// A key with its template made visible: literals are pale, values are strong. SPDX-License-Identifier: Apache-2.0
import type { ComponentChildren } from 'preact';
import type { KeyParts } from '../lib/recognise';
import type { AttributeValue, TemplatePart } from '../lib/types';
import { show } from '../lib/values';

/** `link`: where the value of a placeholder leads. */
export function KeyView({
  value,
  parts,
  link,
  captions,
}: {
  value: AttributeValue;
  parts: KeyParts | null;
  link?: (name: string) => string | undefined;
  captions?: boolean;
}) {
  if (!parts) return <span class="key key-plain">{show(value)}</span>;
  return (
    <span class={captions ? 'key key-captions' : 'key'}>
      {parts.parts.map(({ text, name, format }, at) => {
        if (!name)
          return (
            <span class="key-literal" key={at}>
              {text}
            </span>
          );
        const to = link?.(name);
        const title = format ? `${name}, as ${format}` : name;
        const inner = (
          <span class="key-value" title={title}>
            {text}
          </span>
        );
        return (
          <span class="key-piece" key={at}>
            {to ? (
              <a href={to} title={`${title}: go to it`} onClick={(event) => event.stopPropagation()}>
                {inner}
              </a>
            ) : (
              inner
            )}
            {captions && (
              <span class="key-caption" aria-hidden="true">
                {name}
              </span>
            )}
          </span>
        );
      })}
    </span>
  );
}

/** USER#<user_id>, with the placeholder standing out. */
export function TemplateView({ parts }: { parts: TemplatePart[] }) {
  return (
    <span class="template">
      {parts.map((part, at) =>
        'text' in part ? (
          <span key={at}>{part.text}</span>
        ) : (
          <span class="template-hole" key={at}>{`<${part.name}${part.format ? `:${part.format}` : ''}>`}</span>
        ),
      )}
    </span>
  );
}

export function Dot({ index, hollow }: { index: number; hollow?: boolean }) {
  return (
    <span
      class={hollow ? 'entity-dot entity-dot-hollow' : 'entity-dot'}
      style={`--entity: var(--entity-${index % 12})`}
      aria-hidden="true"
    />
  );
}

/** Words with a link among them where there is an address. */
export function MaybeLink({ to, children, title }: { to?: string; children: ComponentChildren; title?: string }) {
  return to ? (
    <a href={to} title={title} onClick={(event) => event.stopPropagation()}>
      {children}
    </a>
  ) : (
    <>{children}</>
  );
}
