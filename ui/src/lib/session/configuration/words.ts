// Words of the page of what is configured.

import type { Configuration, ConfigurationPart, McpServer, McpStatus } from '../../bindings/api';

const STATUSES: Record<McpStatus, string> = {
  connected: 'Connected',
  failed: 'Failed',
  needsAuth: 'Needs a login',
  pending: 'Connecting…',
  disabled: 'Off',
  other: 'Unknown state',
};

export function statusOf({ status, statusWord }: McpServer): string {
  return status === 'other' && statusWord !== null ? statusWord : STATUSES[status];
}

/** Scopes of servers and sources of settings, as the agent names them. */
const PLACES: Record<string, string> = {
  project: 'This project',
  projectSettings: 'This project',
  local: 'You, in this project',
  localSettings: 'You, in this project',
  user: 'You, in all projects',
  userSettings: 'You, in all projects',
  policySettings: 'Your organisation',
  enterprise: 'Your organisation',
  flagSettings: 'Trusted settings, loaded by Deskbell',
  'Startup settings (--settings option)': 'Trusted settings, loaded by Deskbell',
  dynamic: 'Trusted settings or session options',
  plugin: 'A plugin',
  claudeai: 'Your account',
  'built-in': 'Built in',
};

/** The agent's own word where it is none of these. */
export function placeOf(source: string | null): string | null {
  if (source === null || source === '') return null;
  return Object.hasOwn(PLACES, source) ? (PLACES[source] ?? source) : source;
}

/** Why a part is not there yet, or old; `null` if neither. */
export function noteOf({ pending, problems }: Configuration, part: ConfigurationPart, known: boolean): string | null {
  const problem = problems.find((one) => one.part === part);
  if (problem !== undefined) return known ? `${problem.text} This is its last answer.` : problem.text;
  if (pending.includes(part) && !known) return 'Asking the agent…';
  return known ? null : 'Not reported yet.';
}
