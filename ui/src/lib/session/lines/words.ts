// The words of an agent's lines.

import type { RawLine } from '../../bindings/api';
import { count, plural } from '../../kit/amounts';

const DIRECTIONS: Record<RawLine['direction'], string> = {
  start: 'Start',
  toAgent: 'To the agent',
  fromAgent: 'From the agent',
  stderr: 'Error output',
};

const KINDS: Record<RawLine['kind'], string> = { known: '', unknown: 'Unknown kind', unreadable: 'Unreadable' };

const two = (n: number, digits = 2) => String(n).padStart(digits, '0');

/** “16:40:03.157”. */
function time(at: number): string {
  const date = new Date(at);
  const clock = [date.getHours(), date.getMinutes(), date.getSeconds()].map((n) => two(n)).join(':');
  return `${clock}.${two(date.getMilliseconds(), 3)}`;
}

/** “16:40:03.157 · From the agent · Unknown kind”. */
export function factsOf({ at, direction, kind }: RawLine): string {
  return [time(at), DIRECTIONS[direction], KINDS[kind]].filter((word) => word !== '').join(' · ');
}

/** “… 1,340,000 bytes more, which were not kept”; empty for a whole line. */
export function restOf({ nCut }: RawLine): string {
  return nCut === 0 ? '' : `… ${plural(nCut, 'byte')} more, not kept`;
}

/** “2 lines of an unknown kind and 1 unreadable line since this session was opened.” */
export function countsOf({ nUnknown, nUnreadable }: { nUnknown: number; nUnreadable: number }): string {
  if (nUnknown + nUnreadable === 0) return 'Deskbell knows the kind of every line since this session was opened.';
  const unknown = `${plural(nUnknown, 'line')} of an unknown kind`;
  return `${unknown} and ${plural(nUnreadable, 'unreadable line')} since this session was opened.`;
}

export const missingOf = (n: number) => `${count(n)} ${n === 1 ? 'line is' : 'lines are'} no longer kept.`;

/** A line in a file or a message. */
export function copyOf(line: RawLine): string {
  return [`[${factsOf(line)}] ${line.text}`, restOf(line)].filter((part) => part !== '').join(' ');
}
