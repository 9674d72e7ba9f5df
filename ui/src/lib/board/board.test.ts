import { fireEvent, render, screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';

import App from '../../App.svelte';
import type { BoardRow } from '../bindings/api';
import { FakeHost } from '../host/fake';
import { BOARDS, machinesOf } from '../host/fake/board';
import { START } from '../host/fake/facts';
import { ManualClock } from '../../test/clock';
import { cost, isRunning, linkWord, reason, shown, summary, time, wholeCost } from './rows';

beforeEach(() => localStorage.clear());

const ROWS = BOARDS['board'] ?? [];
const names = () => screen.queryAllByRole('listitem').map((row) => row.textContent);

async function board(scene: string) {
  const host = new FakeHost(scene);
  onTestFinished(() => host.close());
  render(App, { host, clock: new ManualClock() });
  await screen.findByRole('main');
  return { host, user: userEvent.setup() };
}

describe('the board', () => {
  it('shows every session, and opens one by keys alone', async () => {
    const { host, user } = await board('board');
    expect(names()).toHaveLength(30);
    expect(names()[0]).toMatch(/Needs input.*Round half to even in totals.*Wants to run a command.*ledger/);
    await vi.waitFor(() => expect(document.activeElement?.textContent).toContain('Needs input'));
    await user.keyboard('{ArrowDown}{ArrowDown}{Enter}{End}{ArrowDown}{Enter}{Home}{ArrowUp}{Enter}');
    expect(host.shown.map(([id]) => id)).toEqual(['b2', 'b29', 'b0']);
  });

  it('has a menu with what applies', async () => {
    const { host, user } = await board('board');
    let quits = 0;
    host.quit = () => Promise.resolve(void (quits += 1));
    await vi.waitFor(() => expect(document.activeElement?.textContent).toContain('Needs input'));
    await user.click(screen.getByRole('button', { name: 'Menu' }));
    const menus = [...screen.getByRole('menu', { name: 'Menu' }).children].map((item) => item.textContent.trim());
    expect(menus).toEqual(['File', 'Go']);
    await user.keyboard('{ArrowRight}{Enter}');
    expect(quits).toBe(1);
    expect(document.activeElement?.textContent).toContain('Needs input');
  });

  it('follows the events', async () => {
    const { host } = await board('board-none');
    screen.getByText(/Nothing works or waits for you/);
    host.changeBoard(ROWS.slice(0, 2));
    await vi.waitFor(() => expect(names()).toHaveLength(2));
    expect(screen.getByText('2 need input').getAttribute('role')).toBe('status');
  });
});

describe('“Stop all” of the board', () => {
  it('asks first, with “Cancel” focused, and stops what ran when it asked', async () => {
    const { host, user } = await board('board');
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

  it('is not offered when nothing runs, and a failure is shown', async () => {
    const { host, user } = await board('board-one');
    host.stopBoardSessions = () =>
      Promise.reject({ code: 'internal', message: '1 of 1 sessions were not stopped.', detail: null });
    await user.click(screen.getByRole('button', { name: 'Stop all…' }));
    await user.click(screen.getByRole('button', { name: 'Stop 1 session' }));
    await screen.findByText(/Not every session was stopped/);
    host.changeBoard([]);
    await vi.waitFor(() => expect(screen.queryByRole('button', { name: 'Stop all…' })).toBeNull());
  });
});

describe('a row', () => {
  const row = (facts: Partial<BoardRow>): BoardRow => ({ ...(ROWS[0] as BoardRow), ...facts });

  it('says why it is there', () => {
    expect(reason(row({ status: { type: 'completed' }, nBackground: 1 }))).toBe('Background work');
    expect(reason(row({ status: { type: 'completed' } }))).toBe('');
    expect(reason(row({ status: { type: 'working', activity: 'Writing' } }))).toBe('Writing');
    expect(reason(row({ status: { type: 'interrupting' } }))).toBe('Stopping');
    expect(reason(row({ status: { type: 'restarting', attempt: 2, at: 0 } }))).toBe('Starting again, attempt 2');
  });

  it('says what it costs, as far as that is known', () => {
    const processes = { nProcesses: 3, memoryBytes: 412 << 20, cpuMs: 12_900 };
    const both = row({ costUsd: 0.184, processes });
    expect([cost(both), wholeCost(both)]).toEqual([
      '$0.18 · 412 MiB',
      '$0.18 so far; 3 processes, 412 MiB of memory, 12 s of CPU time',
    ]);
    const one = row({ costUsd: 0, processes: { ...processes, nProcesses: 1 } });
    expect([cost(one), wholeCost(one)]).toEqual(['412 MiB', '1 process, 412 MiB of memory, 12 s of CPU time']);
    const over = row({ costUsd: 0.001, processes: null });
    expect([cost(over), wholeCost(over)]).toEqual(['< $0.01', '< $0.01 so far']);
    const unknown = row({ costUsd: 0, processes: null });
    expect([cost(unknown), wholeCost(unknown)]).toEqual(['', null]);
  });

  it('says for how long', () => {
    expect([time(START, START + 59_999), time(START, START + 60_000), time(START + 9, START)]).toEqual([
      '59 s',
      '1 min',
      '0 s',
    ]);
    expect(time(START, START + 3_840_000)).toBe('1 h 4 min');
  });

  it('leaves after an hour if its turn is over', () => {
    const rows = [row({}), row({ state: 'finished' }), row({ state: 'failed' })].map((one) => ({
      ...one,
      since: START,
    }));
    expect(shown(rows, START + 3_599_999)).toHaveLength(3);
    expect(shown(rows, START + 3_600_000)).toHaveLength(1);
    expect(summary(rows)).toBe('1 needs input · 1 failed · 1 finished');
  });
});

describe('a conversation that another program has open', () => {
  const ROWS = BOARDS['board-terminals'] ?? [];

  it('says so, opens like a session, and is not stopped', async () => {
    const { host, user } = await board('board-terminals');
    const other = ROWS.findIndex(({ otherPid, state }) => otherPid !== null && state === 'working');
    expect(names()[other]).toMatch(/Working.*In another program/);
    await user.click(within(screen.getAllByRole('listitem')[other] as HTMLElement).getByRole('button'));
    expect(host.shown.map(([id]) => id)).toEqual([ROWS[other]?.sessionId]);
    const own = ROWS.filter(({ otherPid, state }) => otherPid === null && /needsInput|working/.test(state));
    await user.click(screen.getByRole('button', { name: 'Stop all…' }));
    await user.click(screen.getByRole('button', { name: `Stop ${own.length} sessions` }));
    expect(host.stopped).toEqual(own.map(({ sessionId }) => sessionId));
  });
});

describe('a session in a worktree', () => {
  it('names the repository and the branch, and has the folder as its tooltip', async () => {
    await board('board-worktrees');
    const [first, second] = screen.getAllByRole('listitem');
    expect(first?.textContent).toMatch(/ledger\s+worktree of ledger, branch\s+fix\/totals$/);
    expect(within(first as HTMLElement).getByTitle('/home/ines/ledger-fix-totals')).toBeTruthy();
    expect(second?.textContent).not.toMatch(/worktree|main/);
  });
});

describe('a session of a profile or of another agent', () => {
  it('has both names next to its project', async () => {
    await board('board-profiles');
    const texts = screen.getAllByRole('listitem').map((item) => item.textContent.trim());
    expect(texts[0]).toMatch(/ledger\s+Work$/u);
    expect(texts[1]).toMatch(/exporter$/u);
    expect(texts[2]).toMatch(/too long for its column · Gemini CLI$/u);
    expect(texts[3]).toMatch(/\S\s+Codex$/u);
  });
});

describe('the context menu of a row', () => {
  it('opens the session, or copies its title or the path of its project', async () => {
    const { host, user } = await board('board');
    host.writeClipboard = vi.fn(() => Promise.resolve());
    const first = () => within(screen.getAllByRole('listitem')[0] as HTMLElement).getByRole('button');
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
    const { host, user } = await board('board');
    await vi.waitFor(() => expect(document.activeElement?.textContent).toContain('Needs input'));
    const row = document.activeElement;
    await user.keyboard('{Shift>}{F10}{/Shift}{ArrowDown}{Escape}');
    expect(document.activeElement).toBe(row);
    await user.keyboard('{ContextMenu}{Enter}');
    expect(host.shown.map(([id]) => id)).toEqual(['b0']);
  });
});

it('has each machine with the state of its link, and says that it connects to none', async () => {
  await board('board-machines');
  const section = screen.getByRole('region', { name: 'Other machines' });
  expect(section.textContent).toMatch(/connects to no machine by itself/);
  expect(machinesOf('board-machines').map((machine) => linkWord(machine, START))).toEqual([
    'Connected',
    'Connecting…',
    'Runs Deskbell 0.0.9, which this version cannot talk to',
    'Reconnecting in 8 s, last seen 12 min ago',
  ]);
  const never = { name: 'x', link: { type: 'waiting', attempt: 2, at: START + 1000 }, seenAt: null } as const;
  expect(linkWord(never, START)).toBe('Not reached, next attempt in 1 s');
  expect(screen.getAllByText('on box')).toHaveLength(2);
});
