import { fireEvent, screen, within } from '@testing-library/svelte';
import { tick } from 'svelte';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { BoardRow } from '../../bindings/api';
import { BOARDS } from '../../../fake/board';
import { NINE, ROWS, entry, group, inEntry, openBoard, titlesOf } from '../../../test/board';
import { isRunning } from './rows';

beforeEach(() => localStorage.clear());
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

describe('the board', () => {
  it('shows every session in its group, and opens one by keys alone', async () => {
    const { host, user, focusList } = await openBoard('board-three');
    expect(['Needs you', 'Working', 'Done today'].map((name) => titlesOf(name).length)).toEqual([3, 3, 3]);
    expect(entry('Round half to even in totals').textContent).toMatch(
      /Wants to run a command.*ledger.*cargo test -p ledger totals/su,
    );
    expect(entry('Property tests for the parser').textContent).toContain('Running cargo test --workspace');
    expect(entry('Nightly export is empty').textContent).toContain('Failed: not logged in to Claude');
    expect(entry('Why is the build slow?').textContent).toContain('Two crates are built twice');
    await focusList();
    // The first key only shows where the keyboard is.
    await user.keyboard('{ArrowDown}{ArrowDown}{Enter}{End}{ArrowDown}{Enter}{Home}{ArrowUp}{Enter}');
    expect(host.shown.map(([id]) => id)).toEqual(['b1', 'b8', 'b0']);
  });

  it('has one line for each of many sessions, and three that are done', async () => {
    const { user, focusList } = await openBoard('board');
    expect(titlesOf('Done today')).toHaveLength(3);
    expect(group('Done today').getAllByRole('listitem')[0]?.textContent).toContain('Failed');
    const clean = entry('Clean the old tiles');
    expect(clean.querySelector('.request')).toBeNull();
    await focusList();
    await user.keyboard('{ArrowDown}');
    expect(entry('Publish the tide curve').querySelector('.request')).not.toBeNull();
    await user.click(screen.getByRole('button', { name: 'Show 13 more' }));
    expect(titlesOf('Done today')).toHaveLength(16);
  });

  it('has a menu with what applies', async () => {
    const { host, user, focusList } = await openBoard('board');
    let quits = 0;
    host.quit = () => Promise.resolve(void (quits += 1));
    await focusList();
    await user.click(screen.getByRole('button', { name: 'Menu' }));
    const menus = [...screen.getByRole('menu', { name: 'Menu' }).children].map((item) => item.textContent.trim());
    expect(menus).toEqual(['File', 'Go']);
    await user.keyboard('{ArrowRight}{Enter}');
    expect(quits).toBe(1);
    await focusList();
  });

  it('follows the events', async () => {
    const { host } = await openBoard('board-none');
    screen.getByText('Nothing needs you.');
    host.changeBoard(NINE.slice(0, 2));
    await vi.waitFor(() => expect(titlesOf('Needs you')).toHaveLength(2));
    expect(screen.getByText('2 need you').closest('[role="status"]')).not.toBeNull();
    expect(screen.queryByText('Nothing needs you.')).toBeNull();
    host.changeBoard(NINE.slice(6));
    await screen.findByText('Nothing needs you.');
    expect(titlesOf('Done today')).toHaveLength(3);
  });

  it('filters by what a row shows, and says that nothing matches', async () => {
    const { user, focusList } = await openBoard('board-three');
    await focusList();
    await user.keyboard('/tide');
    expect(titlesOf('Needs you')).toEqual(['Publish the preview of the tide curve']);
    expect(titlesOf('Working')).toEqual(['Newer map tiles']);
    await user.keyboard(' nothing');
    screen.getByText(/No session matches/);
    await user.keyboard('{Escape}');
    expect(titlesOf('Needs you')).toHaveLength(3);
    expect(document.activeElement?.closest('ul')).not.toBeNull();
  });
});

describe('a row keeps its place', () => {
  it('while the pointer is over the list, and for two seconds after a key', async () => {
    const { host, clock, focusList } = await openBoard('board-three');
    await focusList();
    const [first, second, ...others] = NINE as [BoardRow, BoardRow, ...BoardRow[]];
    const works = {
      ...first,
      state: 'working',
      status: { type: 'working', activity: 'Writing' },
      request: null,
    } as const;
    const list = document.querySelector('.groups') as HTMLElement;
    await fireEvent.pointerMove(list);
    host.changeBoard([second, ...others, works]);
    await vi.waitFor(() => expect(entry(first.title).textContent).toContain('Writing'));
    expect(titlesOf('Needs you')[0]).toBe(first.title);
    await fireEvent.pointerLeave(list);
    expect(titlesOf('Needs you')[0]).toBe(second.title);
    expect(titlesOf('Working').at(-1)).toBe(first.title);

    await fireEvent.keyDown(document.body, { key: 'Shift' });
    host.changeBoard([...NINE]);
    await tick();
    expect(titlesOf('Needs you')[0]).toBe(second.title);
    clock.advance(2_000);
    await tick();
    expect(titlesOf('Needs you')[0]).toBe(first.title);
  });
});

describe('a row that is done', () => {
  it('is cleared by mouse and by key, and comes back by “Undo”', async () => {
    const { host, user, clock, focusList } = await openBoard('board-three');
    const cleared = vi.spyOn(host, 'clearBoardRows');
    await user.click(inEntry('Why is the build slow?').getByRole('button', { name: 'Clear' }));
    await screen.findByText('Cleared 1 row');
    expect(titlesOf('Done today')).toHaveLength(2);
    await user.click(screen.getByRole('button', { name: 'Undo' }));
    clock.advance(10_000);
    await vi.waitFor(() => expect(titlesOf('Done today')).toHaveLength(3));
    expect(screen.queryByRole('button', { name: 'Undo' })).toBeNull();

    await focusList();
    await user.keyboard('{End}{Delete}');
    await vi.waitFor(() => expect(titlesOf('Done today')).toHaveLength(2));
    // What waits or works is not cleared.
    await user.keyboard('{Home}{Delete}');
    expect(titlesOf('Needs you')).toHaveLength(3);
    clock.advance(4_000);
    await vi.waitFor(() => expect(screen.queryByText('Cleared 1 row')).toBeNull());

    await user.click(screen.getByRole('button', { name: 'Clear all' }));
    await screen.findByText('Cleared 2 rows');
    expect(cleared.mock.calls.map(([ids]) => ids)).toEqual([['b8'], ['b8'], ['b6', 'b7']]);
    expect(screen.queryByRole('list', { name: 'Done today' })).toBeNull();
  });

  it('is cleared by a key only where the keyboard is shown, once for each press', async () => {
    const { user, focusList } = await openBoard('board-done');
    await focusList();
    await user.keyboard('{Delete}');
    expect(titlesOf('Done today')).toHaveLength(3);
    expect(document.querySelectorAll('.marked')).toHaveLength(1);
    await user.keyboard('{Delete}');
    await vi.waitFor(() => expect(titlesOf('Done today')).toHaveLength(2));
    await focusList();
    await fireEvent.keyDown(document.activeElement as Element, { key: 'Delete', repeat: true });
    expect(titlesOf('Done today')).toHaveLength(2);
  });

  it('that was not cleared stays, with the reason', async () => {
    const { host, user } = await openBoard('board-three');
    host.clearBoardRows = () => Promise.reject({ code: 'internal', message: 'The disk is full.', detail: null });
    await user.click(screen.getByRole('button', { name: 'Clear all' }));
    await screen.findByText(/The rows were not cleared/);
    expect(titlesOf('Done today')).toHaveLength(3);
  });
});

describe('“Stop all” of the board', () => {
  it('asks first, with “Cancel” focused, and stops what ran when it asked', async () => {
    const { host, user } = await openBoard('board');
    const n = ROWS.filter(isRunning).length;
    await user.click(screen.getByRole('button', { name: 'Stop all…' }));
    const question = within(screen.getByRole('alertdialog', { name: 'Stop all sessions' }));
    expect(document.activeElement).toBe(question.getByRole('button', { name: 'Cancel' }));
    question.getByText(new RegExp(`^Stop the agents of ${n} sessions, in all projects\\?`));
    await user.keyboard('{Enter}');
    expect(screen.queryByRole('alertdialog')).toBeNull();
    await user.click(screen.getByRole('button', { name: 'Stop all…' }));
    await user.keyboard('{Escape}');
    expect(screen.queryByRole('alertdialog')).toBeNull();
    expect(host.stopped).toEqual([]);
    await user.click(screen.getByRole('button', { name: 'Stop all…' }));
    host.changeBoard(ROWS.slice(0, 1));
    await user.click(screen.getByRole('button', { name: `Stop ${n} sessions` }));
    expect(host.stopped).toEqual(ROWS.filter(isRunning).map(({ sessionId }) => sessionId));
  });

  it('leaves the keys to its question', async () => {
    const { host, user, focusList } = await openBoard('board-three');
    host.changeBoard(NINE.slice(3));
    await vi.waitFor(() => expect(screen.queryByRole('list', { name: 'Needs you' })).toBeNull());
    await focusList();
    // The first key only shows where the keyboard is.
    await user.keyboard('{Alt>}s{/Alt}');
    expect(host.stopped).toEqual([]);
    screen.getByRole('button', { name: 'Stop all…' }).focus();
    await user.keyboard('{Enter}{Alt>}s{/Alt}');
    expect(host.stopped).toEqual([]);
    await user.keyboard('{Escape}');
    await focusList();
    await user.keyboard('{Home}{Alt>}s{/Alt}');
    expect(host.stopped).toEqual(['b3']);
  });

  it('is not offered when nothing runs, and a failure is shown', async () => {
    const { host, user } = await openBoard('board-one');
    host.stopBoardSessions = () =>
      Promise.reject({ code: 'internal', message: '1 of 1 sessions were not stopped.', detail: null });
    await user.click(screen.getByRole('button', { name: 'Stop all…' }));
    await user.click(screen.getByRole('button', { name: 'Stop 1 session' }));
    await screen.findByText(/Not every session was stopped/);
    host.changeBoard([]);
    await vi.waitFor(() => expect(screen.queryByRole('button', { name: 'Stop all…' })).toBeNull());
  });
});

describe('a conversation that another program has open', () => {
  const ROWS = BOARDS['board-terminals'] ?? [];

  it('says so, opens like a session, and is not stopped', async () => {
    const { host, user } = await openBoard('board-terminals');
    const other = ROWS.find(({ otherPid, state }) => otherPid !== null && state === 'working') as BoardRow;
    const item = document.querySelector(`[data-session="${other.sessionId}"]`)?.closest('li') as HTMLElement;
    expect(item.textContent).toContain('In another program');
    expect(within(item).getAllByRole('button')).toHaveLength(1);
    await user.click(within(item).getByRole('button'));
    expect(host.shown.map(([id]) => id)).toEqual([other.sessionId]);
    const own = ROWS.filter(({ otherPid, state }) => otherPid === null && /needsInput|working/.test(state));
    await user.click(screen.getByRole('button', { name: 'Stop all…' }));
    await user.click(screen.getByRole('button', { name: `Stop ${own.length} sessions` }));
    expect([...host.stopped].sort()).toEqual(own.map(({ sessionId }) => sessionId).sort());
  });
});

const items = () => [...document.querySelectorAll<HTMLElement>('.groups li')];

describe('a session in a worktree', () => {
  it('names the repository and the branch, and has the folder as its tooltip', async () => {
    await openBoard('board-worktrees');
    const [first, second] = items();
    expect(first?.textContent).toMatch(/tide-tables\s+worktree of tide-tables, branch\s+fix\/totals/);
    expect(within(first as HTMLElement).getByTitle('/home/ines/tide-tables-fix-totals')).toBeTruthy();
    expect(second?.textContent).not.toMatch(/worktree|main/);
  });
});

describe('a session of a profile or of another agent', () => {
  it('has both names next to its project', async () => {
    await openBoard('board-profiles');
    const texts = items().map((item) => item.querySelector('.where')?.textContent.trim());
    expect(texts[0]).toMatch(/tide-tables\s+Work$/u);
    expect(texts[1]).toMatch(/^\S+$/u);
    expect(texts[2]).toMatch(/too long for its column · Gemini CLI$/u);
    expect(texts[3]).toMatch(/\S\s+Codex$/u);
  });
});

describe('the context menu of a row', () => {
  it('opens the session, or copies its title or the path of its project', async () => {
    const { host, user } = await openBoard('board');
    host.writeClipboard = vi.fn(() => Promise.resolve());
    const first = () => document.querySelector('[data-session="b0"]') as HTMLElement;
    for (const name of ['Open session', 'Copy title', 'Copy path of the project']) {
      await fireEvent.contextMenu(first());
      const menu = within(await screen.findByRole('menu', { name: 'Session' }));
      await user.click(menu.getByRole('menuitem', { name }));
      expect(screen.queryByRole('menu')).toBeNull();
    }
    expect(host.shown.map(([id]) => id)).toEqual(['b0']);
    expect(vi.mocked(host.writeClipboard).mock.calls).toEqual([[ROWS[0]?.title], [ROWS[0]?.project]]);
  });

  it('is opened and used by keys, which do not move the list', async () => {
    const { host, user, focusList } = await openBoard('board');
    await focusList();
    const row = document.activeElement;
    await user.keyboard('{Shift>}{F10}{/Shift}{ArrowDown}{Escape}');
    expect(document.activeElement).toBe(row);
    await user.keyboard('{ContextMenu}{Enter}');
    expect(host.shown.map(([id]) => id)).toEqual(['b0']);
  });
});
