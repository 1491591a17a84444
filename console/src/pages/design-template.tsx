// A template, or text with templates: placeholders are strong, literals are not. SPDX-License-Identifier: Apache-2.0
import { Fragment } from 'preact';
import { parseTemplate } from '../lib/templates';

/** Text that may be broken where a segment ends. */
function Breakable({ text }: { text: string }) {
  return (
    <>
      {text.split(/(?<=[#/])/).map((piece, at) => (
        <Fragment key={at}>
          {at > 0 && <wbr />}
          {piece}
        </Fragment>
      ))}
    </>
  );
}

export function TemplateText({ template }: { template: string }) {
  return (
    <span class="dsg-template">
      {parseTemplate(template).map((part, at) =>
        'text' in part ? (
          <span key={at} class="dsg-literal">
            <Breakable text={part.text} />
            {/[#/]$/.test(part.text) && <wbr />}
          </span>
        ) : (
          <span key={at} class="dsg-placeholder">
            &lt;{part.name}
            {part.format && <span class="dsg-format">:{part.format}</span>}&gt;
          </span>
        ),
      )}
    </span>
  );
}
