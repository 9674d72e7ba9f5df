// Findings by severity.

import type { Finding, Severity } from '../../bindings/api';

export interface Group {
  severity: Severity;
  heading: string;
  findings: readonly Finding[];
}

const HEADINGS: [Severity, string][] = [
  ['runs', 'Runs programs as you'],
  ['redirects', 'Sends your key or your data elsewhere'],
  ['allows', 'Lets the agent do more without asking'],
  ['changes', 'Changes something else'],
];

/** The groups that are not empty, most dangerous first. */
export function bySeverity(findings: readonly Finding[]): Group[] {
  return HEADINGS.map(([severity, heading]) => ({
    severity,
    heading,
    findings: findings.filter((finding) => finding.severity === severity),
  })).filter((group) => group.findings.length > 0);
}
