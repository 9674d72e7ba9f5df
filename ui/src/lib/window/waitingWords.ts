// The words of the notice about sessions of other projects that wait.

import type { WaitingSession } from '../bindings/api';

/** “ledger waits”, “3 sessions of ledger wait”, “ledger and 2 other projects wait”. */
export function waitingWords(waiting: readonly WaitingSession[]): string {
  const names = [...new Set(waiting.map(({ project }) => project))];
  const [first = '', ...others] = names;
  if (others.length === 1) return `${first} and ${others[0]} wait`;
  if (others.length > 1) return `${first} and ${others.length} other projects wait`;
  return waiting.length === 1 ? `${first} waits` : `${waiting.length} sessions of ${first} wait`;
}
