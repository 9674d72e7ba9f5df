// Permission rules of the fake agent.

import type { RulesInForce } from '../lib/bindings/api';

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
