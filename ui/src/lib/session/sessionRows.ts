// The rows of the session list: Deskbell's sessions and those in the agent's store, one row for each conversation.

import type { LiveProcess, Session, SessionMark, StoredSession, Status } from '../bindings/api';
import { statusMark, statusReason } from '../text/status';
import { periods } from '../text/time';
import { backgroundWords } from '../text/tools';

/** A session of Deskbell, a conversation in the agent's store, or both. */
export type Row =
  | { readonly session: Session; readonly stored: StoredSession | null }
  | { readonly session: null; readonly stored: StoredSession };

/** The id of the session, or the agent's id of a conversation that is no session of Deskbell yet. */
export const rowId = (row: Row): string => (row.session === null ? row.stored.agentSessionId : row.session.id);

export const rowTitle = (row: Row): string => (row.session === null ? row.stored.title : row.session.title);

/** The mark of a row. A session that was marked before its agent had an id is marked by its own. */
export function markOf({ session, stored }: Row, marks: ReadonlyMap<string, SessionMark>): SessionMark | null {
  const agentId = session?.agentSessionId ?? stored?.agentSessionId ?? '';
  return marks.get(agentId) ?? marks.get(session?.id ?? '') ?? null;
}

/** The process of another program that has the conversation open. */
export function elsewhere({ session, stored }: Row): LiveProcess | null {
  return session?.alive ? null : (stored?.live ?? null);
}

/**
 * The status to show. Deskbell does not know how a conversation ended that was continued elsewhere or before the app
 * was started; the agent's store does.
 */
export function rowStatus(row: Row): Status {
  const { session, stored } = row;
  const other = elsewhere(row);
  if (other?.activity === 'working') return { type: 'working', activity: '' };
  if (other?.activity === 'needsInput') return { type: 'needsInput', what: '' };
  if (session !== null && (session.status.type !== 'idle' || stored === null)) return session.status;
  switch (stored?.state.type) {
    case 'completed':
      return { type: 'completed' };
    case 'failed':
      return { type: 'failed', message: stored.state.message };
    case 'interrupted':
      return { type: other === null ? 'interrupted' : 'idle' };
    default:
      return { type: 'idle' };
  }
}

/** The state of a row in words, if it is more than its mark says. */
export function rowReason(row: Row): string | null {
  const other = elsewhere(row);
  if (other !== null) {
    const what = { working: 'Working', needsInput: 'Needs input', open: 'Open' }[other.activity];
    return `${what} in another program`;
  }
  return statusReason(rowStatus(row));
}

/** The words of the row's second line before its branch. A failure that was seen is said by its mark alone. */
export function rowWords(row: Row, unread: boolean): string | null {
  const reason = statusMark(rowStatus(row)) === 'failed' && !unread ? null : rowReason(row);
  const nBackground = row.session?.nBackground ?? 0;
  return reason ?? (nBackground > 0 ? backgroundWords(nBackground) : null);
}

/** The profile, and the agent's name if it is another than Claude Code. */
export function otherAgent({ session, stored }: Row): string | null {
  const facts = [
    session === null ? stored.profile : session.profile,
    session === null ? stored.agent : session.agent === 'acp' ? session.agentName : null,
  ];
  return facts.filter((fact) => fact !== null).join(' · ') || null;
}

/** The branch of a row, unless it is the project's. */
export function otherBranch({ stored }: Row, current: string | null): string | null {
  const branch = stored?.branch ?? null;
  return branch === current ? null : branch;
}

/** Whether a row has details below its title. */
export function hasDetails(row: Row, unread: boolean, branch: string | null): boolean {
  return [rowWords(row, unread), otherAgent(row), otherBranch(row, branch)].some((fact) => fact !== null);
}

/** A turn runs or waits for the user, here or in another program. */
function isActive(row: Row): boolean {
  const mark = statusMark(rowStatus(row));
  return mark === 'working' || mark === 'waiting' || mark === 'background' || elsewhere(row) !== null;
}

/**
 * The time by which a row is sorted. A session with a running turn is sorted by the start of that turn: if every event
 * moved it, two running sessions would swap places all the time.
 */
function moment({ session, stored }: Row): number {
  if (session === null) return stored.changedAt;
  return session.turnStartedAt ?? Math.max(session.changedAt, stored?.changedAt ?? 0);
}

/** The time of a row's last change; 0 if its agent does not report it. */
export const rowTime = ({ session, stored }: Row): number => Math.max(session?.changedAt ?? 0, stored?.changedAt ?? 0);

export function inOrder(stored: Iterable<StoredSession>): StoredSession[] {
  return [...stored].sort((a, b) => b.changedAt - a.changedAt);
}

/**
 * The rows, newest first. `stored` is in that order already: there may be many thousands, and a session changes often.
 */
export function rowsOf(sessions: readonly Session[], stored: readonly StoredSession[]): Row[] {
  const ids = new Set(sessions.map((session) => session.agentSessionId));
  const others = new Map<string, StoredSession>();
  const rest: Row[] = [];
  for (const one of stored) {
    if (ids.has(one.agentSessionId)) others.set(one.agentSessionId, one);
    else rest.push({ session: null, stored: one });
  }
  const own = sessions.map((session): Row => {
    const { agentSessionId } = session;
    return { session, stored: agentSessionId === null ? null : (others.get(agentSessionId) ?? null) };
  });
  own.sort((a, b) => moment(b) - moment(a));
  const rows: Row[] = [];
  let next = 0;
  for (const row of rest) {
    for (let one = own[next]; one !== undefined && moment(one) >= moment(row); one = own[next]) {
      rows.push(one);
      next += 1;
    }
    rows.push(row);
  }
  return [...rows, ...own.slice(next)];
}

/**
 * Whether every word of the query is in the title, the prompts, the branch, or the name of the profile or of another
 * agent; like `deskbell sessions list`.
 */
export function fits(row: Row, words: readonly string[]): boolean {
  if (words.length === 0) return true;
  const { stored } = row;
  const texts = [rowTitle(row), stored?.firstPrompt, stored?.lastPrompt, stored?.branch, otherAgent(row)];
  const lower = texts.filter((text) => typeof text === 'string').map((text) => text.toLowerCase());
  return words.every((word) => lower.some((text) => text.includes(word)));
}

export const wordsOf = (query: string): string[] => query.toLowerCase().split(/\s+/).filter(Boolean);

export interface Group {
  name: string;
  rows: Row[];
}

const NO_MARKS: ReadonlyMap<string, SessionMark> = new Map();

/** The rows by day, pinned ones first, then those that work or wait. Archived ones are in no group. */
export function groupRows(rows: readonly Row[], now: number, marks = NO_MARKS): Group[] {
  const active: Row[] = [];
  const pinned: Row[] = [];
  const groups: Group[] = [];
  const period = periods(now);
  for (const row of rows) {
    const mark = marks.size === 0 ? null : markOf(row, marks);
    if (mark === 'pinned') pinned.push(row);
    else if (isActive(row)) active.push(row);
    if (mark !== null || isActive(row)) continue;
    const name = rowTime(row) === 0 ? 'Time unknown' : period(rowTime(row));
    const last = groups.at(-1);
    if (last?.name === name) last.rows.push(row);
    else groups.push({ name, rows: [row] });
  }
  // A working program writes all the time: its rows keep the order in which the programs were started.
  const pid = (row: Row) => elsewhere(row)?.pid ?? Infinity;
  if (active.some((row) => elsewhere(row) !== null)) active.sort((a, b) => (pid(a) === pid(b) ? 0 : pid(b) - pid(a)));
  const first = [
    { name: 'Pinned', rows: pinned },
    { name: 'Active', rows: active },
  ];
  return [...first.filter((group) => group.rows.length > 0), ...groups];
}

/** The archived rows, without those that work or wait: these are in the list. */
export function archivedRows(rows: readonly Row[], marks: ReadonlyMap<string, SessionMark>): Row[] {
  return marks.size === 0 ? [] : rows.filter((row) => markOf(row, marks) === 'archived' && !isActive(row));
}
