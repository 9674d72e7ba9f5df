// Permission rules of the fake agent, and the settings files that have them.

import type { FileRule, RuleFile, RuleFileList, RulePlace, RulesInForce } from '../lib/bindings/api';

export const RULES: RulesInForce = {
  basis: 'agent',
  rules: [
    { effect: 'allow', rule: 'Bash(cargo test *)', origin: 'session' },
    { effect: 'allow', rule: 'Bash(git status)', origin: 'local' },
    { effect: 'deny', rule: 'Read(./.env)', origin: 'user' },
    { effect: 'ask', rule: 'Bash(git push *)', origin: 'user' },
  ],
  directories: ['/home/ines/shared'],
};

/** The rules of an agent that asks about these. */
export function asking({ rules, ...rest }: RulesInForce, suspended: readonly string[]): RulesInForce {
  const isAsked = ({ effect, rule }: RulesInForce['rules'][number]) => effect === 'allow' && suspended.includes(rule);
  return { ...rest, rules: rules.map((one) => (isAsked(one) ? { ...one, effect: 'ask', origin: 'session' } : one)) };
}

const rule = (effect: FileRule['effect'], text: string): FileRule => ({ effect, rule: text, forms: [] });
const file = (origin: RuleFile['origin'], path: string, rules: FileRule[]): RuleFile => ({
  origin,
  path,
  link: null,
  rules,
  problem: null,
});

export const RULE_FILES: RuleFileList = {
  folder: 'inEffect',
  files: [
    file('local', '/home/ines/code/ledger/.claude/settings.local.json', [rule('allow', 'Bash(git status)')]),
    file('project', '/home/ines/code/ledger/.claude/settings.json', [
      rule('deny', 'WebFetch'),
      rule('allow', 'Bash(npm run *)'),
    ]),
    file('user', '/home/ines/.claude/settings.json', [rule('deny', 'Read(./.env)'), rule('ask', 'Bash(git push *)')]),
  ],
};

/** The files without a rule. */
export function withoutRule(list: RuleFileList, { path, effect, rule }: RulePlace): RuleFileList {
  const isIt = (known: FileRule) => known.effect === effect && known.rule === rule;
  const files = list.files.map((file) =>
    file.path === path ? { ...file, rules: file.rules.filter((known) => !isIt(known)) } : file,
  );
  return { ...list, files };
}
