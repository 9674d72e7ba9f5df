// The rows of the board: what each says, and which are still shown.

import type { BoardRow } from '../../bindings/api';
import { count, dollars, plural } from '../../kit/amounts';

/** Finished and failed sessions are on the board for this long. The shell removes them with its next view. */
const RECENT_MS = 60 * 60_000;

/** The rows to show at this time. */
export function shown(rows: readonly BoardRow[], now: number): BoardRow[] {
  const isOver = ({ state }: BoardRow) => state === 'failed' || state === 'finished';
  return rows.filter((row) => !isOver(row) || now - row.since < RECENT_MS);
}

/** Its agent works, in the background too, or waits for the user, and Deskbell runs it. */
export function isRunning({ state, nBackground, otherPid }: BoardRow): boolean {
  if (otherPid !== null) return false;
  return state === 'working' || state === 'needsInput' || nBackground > 0;
}

/** What the session waits for, does, or failed with. Another program does not report it. */
export function reason({ status, nBackground, otherPid }: BoardRow): string {
  if (otherPid !== null) return 'In another program';
  switch (status.type) {
    case 'needsInput':
      return status.what;
    case 'failed':
      return status.message;
    case 'working':
      return status.activity;
    case 'interrupting':
      return 'Stopping';
    case 'restarting':
      return `Starting again, attempt ${status.attempt}`;
    default:
      return nBackground > 0 ? 'Background work' : '';
  }
}

/** “Work · Gemini CLI”: the profile, and the agent if it is another than Claude Code. Empty for Claude Code without one. */
export function agentWords({ profile, agent }: Pick<BoardRow, 'profile' | 'agent'>): string {
  return [profile, agent].filter((part) => part !== null).join(' · ');
}

/** “$0.18 · 412 MiB”: the money of the session so far, and the memory of its processes now. */
export function cost({ costUsd, processes }: Pick<BoardRow, 'costUsd' | 'processes'>): string {
  const memory = processes === null ? null : `${count(Math.round(processes.memoryBytes / (1 << 20)))} MiB`;
  return [costUsd > 0 ? dollars(costUsd) : null, memory].filter((part) => part !== null).join(' · ');
}

/** The same with the number and the time of the processes, for a tooltip. */
export function wholeCost({ costUsd, processes }: Pick<BoardRow, 'costUsd' | 'processes'>): string | null {
  const money = costUsd > 0 ? `${dollars(costUsd)} so far` : null;
  const running =
    processes === null
      ? null
      : `${plural(processes.nProcesses, 'process', 'processes')}, ${count(
          Math.round(processes.memoryBytes / (1 << 20)),
        )} MiB of memory, ${count(Math.floor(processes.cpuMs / 1_000))} s of CPU time`;
  const parts = [money, running].filter((part) => part !== null);
  return parts.length > 0 ? parts.join('; ') : null;
}

const WORDS = { needsInput: 'Needs input', failed: 'Failed', working: 'Working', finished: 'Finished' };

export function stateWord({ state }: BoardRow): string {
  return WORDS[state];
}

/** “12 s”, “4 min”, “1 h 4 min”: the time in the state, short enough for a column. */
export function time(since: number, now: number): string {
  const seconds = Math.max(0, Math.floor((now - since) / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** The number of sessions in each state, for the heading: “2 need input · 5 working”. */
export function summary(rows: readonly BoardRow[]): string {
  const count = (state: BoardRow['state']) => rows.filter((row) => row.state === state).length;
  const [needs, failed, working, finished] = [
    count('needsInput'),
    count('failed'),
    count('working'),
    count('finished'),
  ];
  const parts = [
    needs > 0 && `${needs} ${needs === 1 ? 'needs' : 'need'} input`,
    failed > 0 && `${failed} failed`,
    working > 0 && `${working} working`,
    finished > 0 && `${finished} finished`,
  ];
  return parts.filter((part) => part !== false).join(' · ');
}
