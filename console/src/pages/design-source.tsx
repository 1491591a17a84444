// The file of a design: with line numbers, light colours, and each finding under its line.
// SPDX-License-Identifier: Apache-2.0
import { useEffect, useMemo } from 'preact/hooks';
import { byLine } from '../lib/design-findings';
import { tokens } from '../lib/design-yaml';
import type { Design, Finding } from '../lib/types';
import { href } from '../router';
import { CopyButton } from '../ui';
import { FindingBox } from './design-findings';

function Line({
  design,
  text,
  number,
  current,
  findings,
}: {
  design: Design;
  text: string;
  number: number;
  current: boolean;
  findings: Finding[];
}) {
  return (
    <>
      <div class={`src-line${current ? ' src-current' : ''}`} id={`line-${number}`} data-line={number}>
        <a
          class="src-number"
          href={href(['design', design.name], { line: String(number) })}
          aria-label={`Line ${number}`}
        >
          {number}
        </a>
        <code class="src-text">
          {tokens(text).map((token, at) =>
            token.kind === 'text' ? (
              token.text
            ) : (
              <span key={at} class={`src-t-${token.kind}`}>
                {token.text}
              </span>
            ),
          )}
          {'\n'}
        </code>
      </div>
      {findings.map((finding, at) => (
        <div class="src-finding" key={at} data-under={number}>
          <FindingBox design={design} finding={finding} place={false} />
        </div>
      ))}
    </>
  );
}

export function Source({ design, line }: { design: Design; line: number | null }) {
  const lines = useMemo(() => design.source.replace(/\n$/, '').split('\n'), [design]);
  const found = useMemo(() => byLine(design.findings), [design]);
  useEffect(() => {
    if (line) document.getElementById(`line-${line}`)?.scrollIntoView({ block: 'center' });
  }, [line]);
  return (
    <section class="panel src" aria-label={`Source of ${design.name}`}>
      <div class="panel-head">
        <h2>
          <code>{design.file.replace(/^.*\//, '')}</code> <span class="muted">{lines.length} lines</span>
        </h2>
        <CopyButton text={design.source} label="Copy" />
      </div>
      <div class="src-lines" tabIndex={0} role="region" aria-label="Lines">
        {lines.map((text, at) => (
          <Line
            key={at}
            design={design}
            text={text}
            number={at + 1}
            current={line === at + 1}
            findings={found.get(at + 1) ?? []}
          />
        ))}
      </div>
    </section>
  );
}
