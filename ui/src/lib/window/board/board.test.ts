import { fireEvent, render, screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';

import { App } from '../../../test/parts';
import type { BoardRow } from '../../bindings/api';
import { FakeHost } from '../../../fake/host';
import { BOARDS, machinesOf } from '../../../fake/board';
import { START } from '../../../fake/facts';
import { QUESTIONS, SSH_HOSTS } from '../../../fake/far';
import { ManualClock } from '../../../test/clock';
import { linkWord, whatRuns } from './machineWords';
import { cost, isRunning, reason, shown, summary, time, wholeCost } from './rows';

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

describe('the other machines', () => {
  const section = () => within(screen.getByRole('region', { name: 'Other machines' }));
  const ask = (machine: string) => section().getByRole('button', { name: `List sessions on ${machine}` });

  it('are there with the state of each link, and are asked only if the user wants it', async () => {
    const { host } = await board('board-machines');
    const asked = vi.spyOn(host, 'machineSessions');
    expect(screen.getByRole('region', { name: 'Other machines' }).textContent).toMatch(
      /connects to no machine\s+by\s+itself/,
    );
    expect(machinesOf('board-machines').map((machine) => linkWord(machine, START))).toEqual([
      'Connected',
      expect.stringMatching(/^Not connected, last used /),
      'Connecting…',
      'Not connected',
      'Runs Deskbell 0.0.9, which this version cannot talk to',
      'Reconnecting in 8 s, last seen 12 min ago',
    ]);
    const never = {
      name: 'x',
      link: { type: 'waiting', attempt: 2, at: START + 1000 },
      seenAt: null,
      usedAt: null,
    } as const;
    expect(linkWord(never, START)).toBe('Not reached, next attempt in 1 s');
    expect(screen.getAllByText('on box')).toHaveLength(1);
    // What runs where it is connected is in the list of sessions.
    expect(
      section()
        .getAllByRole('button', { name: /^List sessions on/ })
        .map((button) => button.ariaLabel),
    ).toEqual(['build-server', 'down', 'old-box', 'shop.example'].map((name) => `List sessions on ${name}`));
    expect(asked).not.toHaveBeenCalled();
  });

  it('list what runs there, and open one of the sessions by keyboard', async () => {
    const { host, user } = await board('board-machines');
    ask('build-server').focus();
    await user.keyboard('{Enter}');
    await section().findByText('Asked 0 s ago: 2 sessions run or wait there, 3 others do not.');
    expect(document.activeElement).toBe(ask('build-server'));
    const list = within(section().getByRole('list', { name: 'Sessions on build-server' }));
    const rows = list.getAllByRole('button').map((row) => row.textContent.replace(/\s+/g, ' ').trim());
    expect(rows[0]).toMatch(/^Needs input Move the importer.*Wants to run a command.*ledger.*\$1\.42 · 311 MiB/);
    expect(rows[1]).toMatch(/^Working.*Running cargo test.*902 MiB/);
    await user.keyboard('{Tab}{Enter}');
    expect(host.start.done).toEqual(['open there1 in build-server:/home/ines/code/ledger']);
  });

  it('show what another version or another program says as text', async () => {
    const { user } = await board('board-machines');
    await user.click(ask('old-box'));
    await section().findByText('Asked 0 s ago: 4 sessions run or wait there. 1 of them cannot be shown here.');
    const list = within(section().getByRole('list', { name: 'Sessions on old-box' }));
    const rows = list.getAllByRole('button').map((row) => row.textContent.replace(/\s+/g, ' ').trim());
    expect(rows[2]).toMatch(/^Unknown Night\\u\{202E\}\\u\{200B\}/);
    section().getByText('server 0.0.8: it does not answer');
  });

  it('are stopped after a question, and are asked again', async () => {
    const { host, user } = await board('board-machines');
    await user.click(ask('build-server'));
    const stop = () => section().findByRole('button', { name: 'Stop all on build-server…' });
    await user.click(await stop());
    const question = within(section().getByRole('alertdialog', { name: 'Stop all on build-server' }));
    expect(document.activeElement).toBe(question.getByRole('button', { name: 'Cancel' }));
    await user.keyboard('{Escape}');
    expect(section().queryByRole('alertdialog')).toBeNull();
    await vi.waitFor(() => expect(document.activeElement).toBe(ask('build-server')));
    expect(host.start.done).toEqual([]);
    const listed = vi.spyOn(host, 'machineSessions');
    await user.click(await stop());
    await user.click(section().getByRole('button', { name: 'Stop all' }));
    await vi.waitFor(() => expect(listed).toHaveBeenCalledWith('build-server'));
    expect(host.start.done).toEqual(['stop build-server']);
  });

  it('say why they cannot be reached, and are asked once at a time', async () => {
    const { host, user } = await board('board-machines');
    await user.click(ask('down'));
    const said = await section().findByRole('alert');
    expect(said.textContent).toMatch(/box cannot be reached\..*Permission denied/s);
    const listed = vi.spyOn(host, 'machineSessions').mockReturnValue(new Promise(() => {}));
    await user.click(ask('down'));
    await section().findByText(/^Connecting to down\./);
    expect(section().queryByRole('alert')).toBeNull();
    await user.click(ask('down'));
    expect(listed).toHaveBeenCalledTimes(1);
    expect(ask('down').ariaDisabled).toBe('true');
  });

  it('ask through ssh in this window, and the keys of the list leave the answer alone', async () => {
    const { host, user } = await board('board-machines');
    host.askForConnection(QUESTIONS.password);
    const question = within(await screen.findByRole('alertdialog', { name: 'Connect to box' }));
    const field = question.getByLabelText('Answer');
    await user.type(field, 'secret{Home}{ArrowUp}');
    expect(document.activeElement).toBe(field);
    await user.keyboard('{Enter}');
    expect(host.answered).toEqual([['q1', 'secret']]);
    expect(screen.queryByRole('alertdialog')).toBeNull();
  });

  it('can be one that is not listed, typed or chosen, also on a board without machines', async () => {
    const { host, user } = await board('board');
    const another = () => screen.getByRole('button', { name: 'Another machine…' });
    expect(screen.queryByRole('region', { name: 'Other machines' })).toBeNull();
    await user.click(another());
    const form = () => within(screen.getByRole('form', { name: 'List sessions on another machine' }));
    expect(document.activeElement).toBe(form().getByLabelText('Machine'));
    await user.keyboard('{Escape}');
    expect(screen.queryByRole('region', { name: 'Other machines' })).toBeNull();
    await vi.waitFor(() => expect(document.activeElement).toBe(another()));

    const listed = vi.spyOn(host, 'machineSessions');
    await user.keyboard('{Enter}');
    await user.keyboard(' ssh:build-server {Enter}');
    expect(listed.mock.calls).toEqual([['build-server']]);
    await section().findByText(/^Asked .*: 2 sessions run or wait there/);
    expect(document.activeElement).toBe(ask('build-server'));
    expect(screen.queryByRole('form')).toBeNull();

    // One that does not answer says why, and can be asked again.
    await user.click(another());
    await user.click(await form().findByRole('button', { name: SSH_HOSTS[0] as string }));
    await user.click(another());
    await user.type(form().getByLabelText('Machine'), 'down{Enter}');
    await section().findByRole('alert');
    expect(ask('down').ariaBusy).toBeNull();
    expect(listed.mock.calls).toEqual([['build-server'], [SSH_HOSTS[0]], ['down']]);
  });

  it('say how many sessions there are', () => {
    const answer = { at: START, sessions: [], nIdle: 0, nMore: 0, problem: null };
    expect(whatRuns(answer, START + 5_000)).toBe('Asked 5 s ago: nothing runs or waits there.');
    expect(whatRuns({ ...answer, nIdle: 1 }, START)).toBe(
      'Asked 0 s ago: nothing runs or waits there, 1 other does not.',
    );
    expect(whatRuns({ ...answer, nMore: 1 }, START)).toMatch(
      /^Asked 0 s ago: 1 session runs or waits there\. 1 of them/,
    );
  });
});
