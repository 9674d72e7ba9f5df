// The rows of the board: their groups and order, and their texts.

import type { BoardRow } from '../../bindings/api';
import { count, dollars, plural } from '../../kit/amounts';
import { moment } from '../../text/time';

/** With more sessions than this, each row has one line. */
export const MOST_TALL = 12;

/** The sessions of *Done today* that a board with rows of one line shows at first. */
export const FIRST_DONE = 3;

/** The groups of the board, in their order. */
export const GROUPS = ['needs', 'working', 'done'] as const;
export type GroupName = (typeof GROUPS)[number];
export type Groups = Readonly<Record<GroupName, readonly BoardRow[]>>;

/** What just happened on the board. */
export interface BoardNote {
  words: string;
  /** Takes it back; `null` if there is nothing to take back. */
  undo: (() => void) | null;
}

export const GROUP_TITLES: Readonly<Record<GroupName, string>> = {
  needs: 'Needs you',
  working: 'Working',
  done: 'Done today',
};

const GROUP_OF: Readonly<Record<BoardRow['state'], GroupName>> = {
  needsInput: 'needs',
  working: 'working',
  failed: 'done',
  finished: 'done',
};

export const groupOf = ({ state }: BoardRow): GroupName => GROUP_OF[state];

/** The rows in their groups, in the order of the engine. What finished before today is left out; failures stay. */
export function grouped(rows: readonly BoardRow[], now: number): Groups {
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  const isShown = ({ state, since }: BoardRow) => state !== 'finished' || since >= midnight;
  const shown = rows.filter(isShown);
  const of = (name: GroupName) => shown.filter((row) => groupOf(row) === name);
  return { needs: of('needs'), working: of('working'), done: of('done') };
}

export const allOf = (groups: Groups): BoardRow[] => GROUPS.flatMap((name) => groups[name]);

/** Whether the row has these words in its project, its title, its machine or what it says. */
export function matches(row: BoardRow, filter: string): boolean {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const { title, project, checkout, machine, answer, request } = row;
  const texts = [title, project, checkout.worktreeOf, checkout.branch, machine, answer, request?.text, reason(row)];
  const text = [...texts, agentWords(row)].join('\n').toLowerCase();
  return words.every((word) => text.includes(word));
}

/** It is over, and the user can remove its row. Not the row of a conversation that another program has open. */
export const isClearable = (row: BoardRow): boolean => groupOf(row) === 'done' && row.otherPid === null;

/** The rows that match, at their places. */
export function filtered(groups: Groups, filter: string): Groups {
  const of = (name: GroupName) => groups[name].filter((row) => matches(row, filter));
  return filter.trim() === '' ? groups : { needs: of('needs'), working: of('working'), done: of('done') };
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
      return `Failed: ${status.message}`;
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

/** “$0.18”: the money of the session so far; empty if nothing is known. */
export const cost = ({ costUsd }: Pick<BoardRow, 'costUsd'>): string => (costUsd > 0 ? dollars(costUsd) : '');

/** “$0.18 · 412 MiB”: the money, and the memory of its processes now. */
export function costWithMemory(session: Pick<BoardRow, 'costUsd' | 'processes'>): string {
  const { processes } = session;
  const memory = processes === null ? '' : `${count(Math.round(processes.memoryBytes / (1 << 20)))} MiB`;
  return [cost(session), memory].filter((part) => part !== '').join(' · ');
}

/** The money, and what its processes use now, for a tooltip. */
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

/** “12 s”, “4 min”, “1 h 4 min”: the time in the state, short enough for a column. */
export function time(since: number, now: number): string {
  const seconds = Math.max(0, Math.floor((now - since) / 1000));
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** The time of a row: how long it has waited or worked, or when it was done. */
export function timeOf(row: BoardRow, now: number): string {
  return groupOf(row) === 'done' ? moment(row.since, now) : time(row.since, now);
}

/** The number of sessions in each group, for the heading: “2 need you”, “5 working”. */
export function counts(groups: Groups): { name: GroupName; words: string }[] {
  const { needs, working, done } = groups;
  const words = {
    needs: `${count(needs.length)} ${needs.length === 1 ? 'needs' : 'need'} you`,
    working: `${count(working.length)} working`,
    done: `${count(done.length)} done today`,
  };
  return GROUPS.filter((name) => groups[name].length > 0).map((name) => ({ name, words: words[name] }));
}
