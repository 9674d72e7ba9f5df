// Permission rules, grouped by origin and labelled.

import type { Rule, RuleEffect, RuleOrigin, RulesInForce } from '../../bindings/api';

export interface OriginGroup {
  origin: RuleOrigin;
  title: string;
  place: string;
  rules: readonly Rule[];
}

const ORIGINS: Record<RuleOrigin, { title: string; place: string }> = {
  session: { title: 'This session', place: 'Added here, until the agent stops' },
  local: { title: 'You, in this project', place: '.claude/settings.local.json' },
  project: { title: 'Everyone in this project', place: '.claude/settings.json' },
  user: { title: 'You, in all projects', place: 'Your own settings' },
  policy: { title: 'Your organisation', place: 'Managed settings' },
  folder: {
    title: 'This folder',
    place: '.claude/settings.json and .claude/settings.local.json, as you trusted them',
  },
  arguments: { title: 'Command line', place: 'The arguments that the agent was started with' },
  other: { title: 'Other', place: 'The agent does not report the source' },
};

export const EFFECTS: Record<RuleEffect, string> = { deny: 'Denies', ask: 'Asks', allow: 'Allows' };

/** The groups, in the order in which the engine sorted the rules. */
export function byOrigin({ rules }: RulesInForce): OriginGroup[] {
  const origins = [...new Set(rules.map((rule) => rule.origin))];
  return origins.map((origin) => ({
    origin,
    ...ORIGINS[origin],
    rules: rules.filter((rule) => rule.origin === origin),
  }));
}
