import { describe, expect, it } from 'vitest';

import type { StoredSession } from '../bindings/api';
import { session } from '../../test/make';
import { stored as facts } from '../../fake/facts';
import {
  archivedRows,
  elsewhere,
  fits,
  groupRows,
  hasDetails,
  inOrder,
  markOf,
  otherBranch,
  otherAgent,
  rowId,
  rowReason,
  rowsOf,
  rowStatus,
  wordsOf,
  type Row,
} from './sessionRows';

const HOUR = 3_600_000;
const noon = new Date(2026, 4, 13, 12).getTime();
const own = (id: string, hoursAgo: number, rest: Parameters<typeof session>[0] = {}) =>
  session({ id, changedAt: noon - hoursAgo * HOUR, ...rest });
const stored = (id: string, hoursAgo: number, rest: Partial<StoredSession> = {}) =>
  facts(id, `title of ${id}`, 0, { changedAt: noon - hoursAgo * HOUR, ...rest });
const live = (activity: 'working' | 'needsInput' | 'open', pid = 7) => ({ live: { pid, activity } });

const names = (groups: ReturnType<typeof groupRows>) => groups.map(({ name, rows }) => [name, ...rows.map(rowId)]);

describe('the rows', () => {
  it('are one for each conversation, newest first', () => {
    const sessions = [own('mine', 2, { agentSessionId: 'a' }), own('new', 0)];
    const rows = rowsOf(sessions, inOrder([stored('c', 9), stored('a', 1), stored('b', 0.5)]));
    expect(rows.map(rowId)).toEqual(['new', 'b', 'mine', 'c']);
    expect(rows[2]?.stored?.agentSessionId).toBe('a');
  });

  it('let two working sessions keep their places whatever happens in them', () => {
    const order = (a: number, b: number) => {
      const sessions = [own('first', a, { turnStartedAt: noon - 5 }), own('second', b, { turnStartedAt: noon - 4 })];
      return rowsOf(sessions, []).map(rowId);
    };
    expect(order(0.1, 0.2)).toEqual(['second', 'first']);
    expect(order(0.2, 0.1)).toEqual(['second', 'first']);
    const programs = (a: number, b: number) =>
      names(
        groupRows(rowsOf([], inOrder([stored('a', a, live('working', 1)), stored('b', b, live('open', 2))])), noon),
      );
    expect(programs(1, 2)).toEqual(programs(2, 1));
  });

  it('are grouped by day, week and month, and those at work are first', () => {
    const ages = [3, 20, 60, 24 * 20, 24 * 40, 24 * 200];
    const rows = rowsOf(
      [own('asks', 50, { status: { type: 'needsInput', what: '' } })],
      inOrder([...ages.map((age) => stored(`${age}`, age)), stored('terminal', 100, live('open'))]),
    );
    expect(names(groupRows(rows, noon))).toEqual([
      ['Active', 'asks', 'terminal'],
      ['Today', '3'],
      ['Yesterday', '20'],
      ['This week', '60'],
      ['April', '480', '960'],
      ['October 2025', '4800'],
    ]);
  });

  it('are last if their agent does not report a time', () => {
    const unknown = facts('unknown', 'Tidal tables', 0, { agent: 'Codex', changedAt: 0 });
    const rows = rowsOf([], inOrder([unknown, stored('old', 24 * 200)]));
    expect(names(groupRows(rows, noon))).toEqual([
      ['October 2025', 'old'],
      ['Time unknown', 'unknown'],
    ]);
    expect(rows.filter((row) => fits(row, wordsOf('TIDAL codex'))).map(rowId)).toEqual(['unknown']);
  });
});

describe('marks', () => {
  const ids = (rows: readonly Row[]) => rows.map(rowId);
  const marks = new Map([
    ['a', 'pinned'],
    ['b', 'archived'],
    ['m', 'pinned'],
    ['c', 'archived'],
  ] as const);
  const rows: Row[] = [
    { session: null, stored: stored('a', 9) },
    { session: null, stored: stored('b', 2) },
    { session: null, stored: stored('c', 1, live('working')) },
    { session: own('m', 1, { agentSessionId: null }), stored: null },
    { session: null, stored: stored('d', 1) },
  ];

  it('put pinned rows first and take archived ones out, unless they work', () => {
    const groups = groupRows(rows, noon, marks);
    expect(groups.map((group) => [group.name, ...ids(group.rows)])).toEqual([
      ['Pinned', 'a', 'm'],
      ['Active', 'c'],
      ['Today', 'd'],
    ]);
    expect(ids(archivedRows(rows, marks))).toEqual(['b']);
  });

  it('belong to the agent’s id, or to the session’s own', () => {
    const session = own('m', 1, { agentSessionId: 'a' });
    expect(markOf({ session, stored: null }, new Map([['a', 'archived'] as const]))).toBe('archived');
    expect(markOf({ session, stored: null }, new Map([['m', 'pinned'] as const]))).toBe('pinned');
    expect(markOf({ session, stored: null }, new Map())).toBeNull();
  });
});

describe('a row', () => {
  it('names the profile and the other agent', () => {
    const named = (facts: Parameters<typeof session>[0]) => otherAgent({ session: session(facts), stored: null });
    expect(named({})).toBeNull();
    expect(named({ profile: 'Work' })).toBe('Work');
    expect(named({ profile: 'Work', agent: 'acp', agentName: 'Gemini CLI' })).toBe('Work · Gemini CLI');
    expect(named({ agent: 'acp', agentName: 'Gemini CLI' })).toBe('Gemini CLI');
    const other = stored('a', 1, { profile: 'Work' });
    expect(otherAgent({ session: null, stored: other })).toBe('Work');
    expect(otherAgent({ session: session({}), stored: other })).toBeNull();
    const listed = stored('a', 1, { agent: 'Codex', profile: 'Work' });
    expect(otherAgent({ session: null, stored: listed })).toBe('Work · Codex');
    expect(hasDetails({ session: null, stored: { ...listed, branch: null, model: null } }, false, null)).toBe(true);
  });

  const status = (row: Row) => [rowStatus(row).type, rowReason(row)];

  it('says for good that a session was interrupted, until it is continued', () => {
    const cut = stored('a', 1, { state: { type: 'interrupted' } });
    expect(status({ session: null, stored: cut })).toEqual(['interrupted', 'Interrupted']);
    const mine = own('m', 1, { agentSessionId: 'a' });
    expect(status({ session: mine, stored: cut })).toEqual(['interrupted', 'Interrupted']);
    const here = { ...mine, alive: true, status: { type: 'interrupted' } } as const;
    expect(status({ session: here, stored: null })).toEqual(['interrupted', 'Interrupted']);
    expect(status({ session: { ...mine, status: { type: 'stopped' } }, stored: cut })).toEqual(['stopped', null]);
    const working = { ...mine, alive: true, status: { type: 'working', activity: '' } } as const;
    expect(status({ session: working, stored: cut })).toEqual(['working', null]);
    expect(status({ session: mine, stored: stored('a', 0) })).toEqual(['completed', null]);
  });

  it('says that another program has it open, except this one', () => {
    const cut = stored('a', 1, { ...live('working'), state: { type: 'interrupted' } });
    expect(status({ session: null, stored: cut })).toEqual(['working', 'Working in another program']);
    const waits = stored('a', 1, live('needsInput'));
    expect(status({ session: null, stored: waits })).toEqual(['needsInput', 'Needs input in another program']);
    const idle = stored('a', 1, { ...live('open'), state: { type: 'interrupted' } });
    expect(status({ session: null, stored: idle })).toEqual(['idle', 'Open in another program']);
    expect(elsewhere({ session: own('m', 1, { alive: true, agentSessionId: 'a' }), stored: idle })).toBeNull();
  });

  it('names its branch unless the project has it', () => {
    const row: Row = { session: null, stored: stored('a', 1, { branch: 'main', model: 'claude-opus-5-5' }) };
    expect([otherBranch(row, 'main'), hasDetails(row, false, 'main')]).toEqual([null, false]);
    expect([otherBranch(row, 'fix'), hasDetails(row, false, 'fix')]).toEqual(['main', true]);
    expect(otherBranch({ session: session({}), stored: null }, null)).toBeNull();
  });

  it('is found by all words of its title, prompts, branch, profile and agent', () => {
    const rest = {
      title: 'Round totals',
      firstPrompt: 'Why is the SUM off?',
      lastPrompt: null,
      branch: 'fix/rounding',
    };
    const row: Row = { session: null, stored: stored('a', 1, rest) };
    const found = (query: string) => fits(row, wordsOf(query));
    expect(['', '  ', 'round', 'sum totals', 'FIX/ROUND why'].map(found)).toEqual([true, true, true, true, true]);
    expect(['rounds', 'sum none', 'opus'].map(found)).toEqual([false, false, false]);
    const other: Row = { session: null, stored: stored('a', 1, { ...rest, profile: 'Work', agent: 'Codex' }) };
    expect(['work', 'codex round', 'work codex', 'home'].map((query) => fits(other, wordsOf(query)))).toEqual([
      true,
      true,
      true,
      false,
    ]);
    const live: Row = { session: session({ profile: 'Work' }), stored: null };
    expect(fits(live, ['work'])).toBe(true);
  });
});
