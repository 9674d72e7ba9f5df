// The words of the notice about sessions of other projects that wait.

/** `waiting` has the name of the project of each session. “ledger waits”, “3 sessions of ledger wait”, “ledger and 2 other projects wait”. */
export function waitingWords(waiting: readonly string[]): string {
  const names = [...new Set(waiting)];
  const [first = '', ...others] = names;
  if (others.length === 1) return `${first} and ${others[0]} wait`;
  if (others.length > 1) return `${first} and ${others.length} other projects wait`;
  return waiting.length === 1 ? `${first} waits` : `${waiting.length} sessions of ${first} wait`;
}
