// The other machines of the board in words: their links, and what they answered.

import type { BoardMachine, MachineAnswer, MachineSession } from '../../bindings/api';
import { plural } from '../../kit/amounts';
import { statusReason, statusWord } from '../../text/status';
import { moment } from '../../text/time';
import { time } from './rows';

/** The name of a machine that was typed: `ssh:` says nothing more. */
export const nameOf = (typed: string): string => typed.trim().replace(/^ssh:/, '');

/** The machines of the board, and those that this page asked and that did not answer. */
export function withAsked(machines: readonly BoardMachine[], asked: readonly string[]): BoardMachine[] {
  const unknown = asked.filter((name) => machines.every((machine) => machine.name !== name));
  return [...machines, ...unknown.map((name) => ({ name, link: null, seenAt: null, usedAt: null }))];
}

/** The link to a machine: “Connected”, “Reconnecting in 8 s, last seen 12 min ago”, “Not connected”. */
export function linkWord({ link, seenAt, usedAt }: BoardMachine, now: number): string {
  const seen = seenAt === null ? '' : `, last seen ${time(seenAt, now)} ago`;
  switch (link?.type) {
    case undefined:
      return usedAt === null ? 'Not connected' : `Not connected, last used ${moment(usedAt, now)}`;
    case 'connecting':
      return `Connecting…${seen}`;
    case 'waiting':
      return `${seenAt === null ? 'Not reached, next attempt' : 'Reconnecting'} in ${time(now, link.at)}${seen}`;
    case 'incompatible':
      return `Runs Deskbell ${link.version}, which this version cannot talk to`;
    default:
      return 'Connected';
  }
}

/** What runs on a connected machine is on the board already. */
export function canBeAsked({ link }: BoardMachine): boolean {
  return link?.type !== 'connected' && link?.type !== 'connecting';
}

/** “Asked 12 s ago: 2 sessions run or wait, 3 others do not.” */
export function whatRuns({ at, sessions, nIdle, nMore }: MachineAnswer, now: number): string {
  const n = sessions.length + nMore;
  const busy =
    n === 0 ? 'nothing runs or waits' : `${plural(n, 'session')} ${n === 1 ? 'runs or waits' : 'run or wait'}`;
  const idle = nIdle === 0 ? '' : `, ${nIdle} ${nIdle === 1 ? 'other does' : 'others do'} not`;
  const more = nMore === 0 ? '' : ` ${nMore} of them cannot be shown here.`;
  return `Asked ${time(at, now)} ago: ${busy} there${idle}.${more}`;
}

/** The state of a session there. A newer version has more of them. */
export const stateOf = ({ status }: MachineSession): string => (status === null ? 'Unknown' : statusWord(status));

/** What it waits for, does, or failed with. */
export function reasonOf({ status }: MachineSession): string {
  if (status?.type === 'working') return status.activity;
  return (status === null ? null : statusReason(status)) ?? '';
}

export const stopWords = (machine: string): string =>
  `Stop the agents of all sessions on ${machine}, also of those that began after it was asked? What they are doing is ` +
  'cut off, and what they ask is withdrawn. The conversations stay.';
