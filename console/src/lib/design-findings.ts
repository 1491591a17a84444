// The findings of `thorpe check`, by subject. SPDX-License-Identifier: Apache-2.0
import type { Design, Finding } from './types';

export type SubjectKind = 'table' | 'index' | 'entity' | 'access' | 'processor';

const RANK: Record<Finding['severity'], number> = { error: 0, warning: 1, note: 2 };

/** Open findings first, accepted ones last. */
export function sorted(findings: Finding[]): Finding[] {
  return [...findings].sort(
    (a, b) =>
      Number(a.accepted !== null) - Number(b.accepted !== null) ||
      RANK[a.severity] - RANK[b.severity] ||
      a.line - b.line,
  );
}

export const open = (findings: Finding[]): Finding[] => findings.filter((finding) => finding.accepted === null);

/** Whether a finding is about this subject; no name: the table. */
export function isAbout(design: Design, finding: Finding, kind: SubjectKind, name: string): boolean {
  const subject = finding.subject;
  if (kind === 'table') return subject === null || subject === 'table' || subject === design.table;
  return subject === name || subject === `${kind} ${name}`;
}

export const about = (design: Design, kind: SubjectKind, name = ''): Finding[] =>
  sorted(design.findings.filter((finding) => isAbout(design, finding, kind, name)));

export function byLine(findings: Finding[]): Map<number, Finding[]> {
  const lines = new Map<number, Finding[]>();
  for (const finding of sorted(findings)) lines.set(finding.line, [...(lines.get(finding.line) ?? []), finding]);
  return lines;
}

/** "2 errors, 1 warning"; empty: none. */
export function tally(findings: Finding[]): string {
  const words = { error: 'error', warning: 'warning', note: 'note' } as const;
  return (Object.keys(words) as Finding['severity'][])
    .flatMap((severity) => {
      const n = open(findings).filter((finding) => finding.severity === severity).length;
      return n ? [`${n} ${words[severity]}${n === 1 ? '' : 's'}`] : [];
    })
    .join(', ');
}
