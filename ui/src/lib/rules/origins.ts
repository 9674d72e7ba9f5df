// Permission rules, grouped by origin and labelled.

import type { Rule, RuleEffect, RuleOrigin, RulesInForce } from '../bindings/api';

export interface OriginGroup {
  origin: RuleOrigin;
  title: string;
  place: string;
  rules: readonly Rule[];
}

const ORIGINS: Record<RuleOrigin, { title: string; place: string }> = {
  session: { title: 'This session', place: 'Given here, gone when the agent ends' },
  local: { title: 'This project, for me', place: '.claude/settings.local.json' },
  project: { title: 'This project, for everyone', place: '.claude/settings.json' },
  user: { title: 'Everywhere', place: 'Your own settings' },
  policy: { title: 'The organisation', place: 'Managed settings' },
  arguments: { title: 'The command line', place: 'How the agent was started' },
  other: { title: 'Elsewhere', place: 'The agent does not say where' },
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
