// Findings of `thorpe check`, where they belong.
// SPDX-License-Identifier: Apache-2.0
import { open, tally } from '../lib/design-findings';
import type { Design, Finding } from '../lib/types';
import { href } from '../router';
import { Badge, Icon } from '../ui';

const KIND = { error: 'danger', warning: 'warn', note: 'accent' } as const;

export function FindingBox({ design, finding, place = true }: { design: Design; finding: Finding; place?: boolean }) {
  const accepted = finding.accepted !== null;
  return (
    <div
      class={`dsg-finding dsg-finding-${finding.severity}${accepted ? ' dsg-finding-accepted' : ''}`}
      data-rule={finding.rule}
    >
      <Icon name={accepted ? 'check' : finding.severity === 'note' ? 'info' : 'warn'} />
      <div>
        <p class="dsg-finding-head">
          <Badge kind={accepted ? 'plain' : KIND[finding.severity]}>{accepted ? 'accepted' : finding.severity}</Badge>
          <code>{finding.rule}</code>
          {place && finding.subject && <b>{finding.subject}</b>}
          {place && <a href={href(['design', design.name], { line: String(finding.line) })}>line {finding.line}</a>}
        </p>
        <p>{finding.message}</p>
        {accepted ? (
          <p class="dsg-repair">Accepted: {finding.accepted}</p>
        ) : (
          finding.repair && <p class="dsg-repair">{finding.repair}</p>
        )}
      </div>
    </div>
  );
}

/** Open findings; accepted ones are collapsed. */
export function FindingList({ design, findings, compact }: { design: Design; findings: Finding[]; compact?: boolean }) {
  const todo = open(findings);
  const accepted = findings.filter((finding) => finding.accepted !== null);
  if (findings.length === 0) return null;
  return (
    <div class="dsg-findings">
      {todo.map((finding, at) => (
        <FindingBox key={at} design={design} finding={finding} place={!compact} />
      ))}
      {accepted.length > 0 && (
        <details class="dsg-accepted">
          <summary>
            {accepted.length} accepted {accepted.length === 1 ? 'finding' : 'findings'}
          </summary>
          {accepted.map((finding, at) => (
            <FindingBox key={at} design={design} finding={finding} place={!compact} />
          ))}
        </details>
      )}
    </div>
  );
}

/** A mark next to a name: its number of open findings. */
export function FindingMark({ findings }: { findings: Finding[] }) {
  const text = tally(findings);
  if (!text) return null;
  const worst = open(findings).some((finding) => finding.severity === 'error')
    ? 'danger'
    : open(findings).some((finding) => finding.severity === 'warning')
      ? 'warn'
      : 'accent';
  return (
    <Badge kind={worst} title="Findings of thorpe check">
      {text}
    </Badge>
  );
}
