import { fireEvent, render, screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { tick } from 'svelte';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';

import { App } from '../../../test/parts';
import type { BoardRow } from '../../bindings/api';
import { FakeHost } from '../../../fake/host';
import { boardRequest, BOARDS, machinesOf } from '../../../fake/board';
import { START } from '../../../fake/facts';
import { QUESTIONS, SSH_HOSTS } from '../../../fake/far';
import { ManualClock } from '../../../test/clock';
import { ARM_MS } from '../../session/asking/arming.svelte';
import { linkWord, whatRuns } from './machineWords';
import { allOf, cost, costWithMemory, counts, grouped, isRunning, matches, reason, time, wholeCost } from './rows';

beforeEach(() => localStorage.clear());
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

const ROWS = BOARDS['board'] ?? [];
const NINE = BOARDS['board-three'] ?? [];
const group = (name: string) => within(screen.getByRole('list', { name }));
const titlesOf = (name: string) =>
  group(name)
    .getAllByRole('listitem')
    .map((item) => item.querySelector('.title')?.textContent);
const entry = (title: string) => screen.getByText(title).closest('li') as HTMLElement;
const inEntry = (title: string) => within(entry(title));

async function board(scene: string) {
  const host = new FakeHost(scene);
  onTestFinished(() => host.close());
  const clock = new ManualClock();
  vi.spyOn(document, 'hasFocus').mockReturnValue(true);
  render(App, { host, clock });
  await screen.findByRole('main');
  const focusList = () => vi.waitFor(() => expect(document.activeElement?.closest('main')).not.toBeNull());
  const arm = async () => {
    await focusList();
    clock.advance(ARM_MS);
    await tick();
  };
  return { host, clock, arm, focusList, user: userEvent.setup() };
}

describe('the board', () => {
  it('shows every session in its group, and opens one by keys alone', async () => {
    const { host, user, focusList } = await board('board-three');
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
    const { user, focusList } = await board('board');
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
    const { host, user, focusList } = await board('board');
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
    const { host } = await board('board-none');
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
    const { user, focusList } = await board('board-three');
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
    const { host, clock, focusList } = await board('board-three');
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

describe('a request on the board', () => {
  it('is allowed by mouse once it was there for 700 ms', async () => {
    const { host, user, clock, arm } = await board('board-three');
    const allow = () => inEntry('Round half to even in totals').getByRole('button', { name: /^Allow once/ });
    await user.click(allow());
    expect(host.boardAnswers).toEqual([]);
    await arm();
    // The texts change each second; no button moves by that.
    clock.advance(5_000);
    await tick();
    await user.click(allow());
    expect(host.boardAnswers).toEqual([['r-cargo test -', { type: 'allowOnce' }]]);
    expect(entry('Round half to even in totals').textContent).toContain('Working');
  });

  it('is answered by keys in the row that has the keyboard', async () => {
    const { host, user, arm, focusList } = await board('board-three');
    await focusList();
    await user.keyboard('{ArrowDown}{Alt>}a{/Alt}');
    expect(host.boardAnswers).toEqual([]);
    await arm();
    await user.keyboard('{Alt>}a{/Alt}');
    expect(host.boardAnswers).toEqual([['r-cargo test -', { type: 'allowOnce' }]]);
    await user.keyboard('{ArrowDown}');
    await arm();
    await user.keyboard('{Alt>}d{/Alt}{ArrowDown}');
    await arm();
    await user.keyboard('2');
    expect(host.boardAnswers.slice(1).map(([, answer]) => answer)).toEqual([
      { type: 'deny' },
      { type: 'choose', choice: 1 },
    ]);
    await user.keyboard('{ArrowDown}{Alt>}s{/Alt}');
    expect(host.stopped).toEqual(['b3']);
  });

  it('that is not plain, not whole, a plan or a file is only reviewed or denied', async () => {
    const { host, user, arm } = await board('board-hostile');
    await arm();
    for (const item of group('Needs you').getAllByRole('listitem')) {
      expect(within(item).queryByRole('button', { name: /Allow once/ })).toBeNull();
      expect(within(item).getByRole('button', { name: 'Deny' })).not.toBeNull();
    }
    expect(entry('A command with a hidden character').querySelector('.request')?.textContent).toContain('\\u{202E}');
    expect(entry('A very long command').textContent).toContain('+ 9,000 lines');
    await user.click(inEntry('A command with a hidden character').getByRole('button', { name: 'Review' }));
    expect(host.shown.map(([id]) => id)).toEqual(['b0']);
  });

  it('that was answered in the window meanwhile is not answered again, and the board says so', async () => {
    const { host, user, arm } = await board('board-three');
    await inEntry('Round half to even in totals').findByRole('button', { name: /^Allow once/ });
    await arm();
    host.answerBoardRequest = () => Promise.reject({ code: 'noSuchRequest', message: 'It is over.', detail: null });
    await user.click(inEntry('Round half to even in totals').getByRole('button', { name: /^Allow once/ }));
    expect(await screen.findAllByText('It is over.')).toHaveLength(1);
    expect(screen.queryByRole('alert')?.textContent ?? '').toBe('');
  });

  it('that takes the place of another one is armed again', async () => {
    const { host, user, arm } = await board('board-three');
    const allow = () => inEntry('Round half to even in totals').findByRole('button', { name: /^Allow once/ });
    await allow();
    await arm();
    const other = boardRequest({ text: 'rm -rf dist', canAllow: true });
    host.changeBoard(NINE.map((row, i) => (i === 0 ? { ...row, request: other } : row)));
    await vi.waitFor(() => expect(entry('Round half to even in totals').textContent).toContain('rm -rf dist'));
    await user.click(await allow());
    expect(host.boardAnswers).toEqual([]);
    await arm();
    await user.click(await allow());
    expect(host.boardAnswers).toEqual([['r-rm -rf dist', { type: 'allowOnce' }]]);
  });

  it('of a machine that is not reached has no buttons', async () => {
    const { host } = await board('board-three');
    host.changeBoard(NINE.map((row) => ({ ...row, isReached: false })));
    await vi.waitFor(() =>
      expect(screen.queryAllByRole('button', { name: /Deny|Allow once|Review|Stop$/ })).toEqual([]),
    );
  });

  it('is not answered by a key that is held down', async () => {
    const { host, user, arm } = await board('board-three');
    await arm();
    await user.keyboard('{ArrowDown}');
    await arm();
    const held = (key: string) =>
      fireEvent.keyDown(document.activeElement as Element, { key, altKey: true, repeat: true });
    await held('a');
    await held('d');
    expect(host.boardAnswers).toEqual([]);
    await user.keyboard('{Alt>}a{/Alt}');
    expect(host.boardAnswers).toHaveLength(1);
    // Nor is a card opened.
    host.changeBoard([...(BOARDS['board-hostile'] ?? [])]);
    await screen.findByText('A plan');
    await arm();
    await user.keyboard('{Home}');
    await held('a');
    expect(host.shown).toEqual([]);
    await user.keyboard('{Alt>}a{/Alt}');
    expect(host.shown).toHaveLength(1);
  });

  it('is not answered by a key while a question or a menu is open', async () => {
    const { host, user, arm, focusList } = await board('board-three');
    await focusList();
    await user.keyboard('{ArrowDown}');
    screen.getByRole('button', { name: 'Stop all…' }).focus();
    await user.keyboard('{Enter}');
    await arm();
    await user.keyboard('{Alt>}a{/Alt}');
    screen.getByText('Close the menu or the question first.');
    await user.keyboard('{Escape}');
    await arm();
    const allow = inEntry('Round half to even in totals').getByRole('button', { name: /^Allow once/ });
    await user.keyboard('{ContextMenu}');
    expect(allow.dataset['armed']).toBe('true');
    await user.keyboard('{Alt>}a{/Alt}');
    expect(host.boardAnswers).toEqual([]);
    await user.keyboard('{Escape}');
    await user.keyboard('{Alt>}a{/Alt}');
    expect(host.boardAnswers).toHaveLength(1);
  });

  it('is allowed only while all of its text is drawn', async () => {
    const nLines = (element: Element) => (element.classList.contains('text') ? 4 : 1);
    vi.spyOn(Element.prototype, 'scrollHeight', 'get').mockImplementation(function (this: Element) {
      return 20 * nLines(this);
    });
    vi.spyOn(Element.prototype, 'clientHeight', 'get').mockImplementation(function (this: Element) {
      return 20 * (this.classList.contains('whole') ? 4 : Math.min(2, nLines(this)));
    });
    const { host, user, arm, focusList } = await board('board-three');
    const title = 'Publish the preview of the tide curve';
    await focusList();
    const allow = () => inEntry(title).queryByRole('button', { name: /^Allow once/ });
    expect(allow()).toBeNull();
    inEntry(title).getByRole('button', { name: 'Review' });
    await user.keyboard('{ArrowDown}{ArrowDown} ');
    await vi.waitFor(() => expect(allow()).not.toBeNull());
    await arm();
    await user.click(allow() as HTMLElement);
    expect(host.boardAnswers).toHaveLength(1);
  });

  it('is allowed only while all of its text is in view', async () => {
    const watched: { element: Element; tell: (ratio: number) => void }[] = [];
    class Observer {
      constructor(private readonly call: (entries: { intersectionRatio: number }[]) => void) {}
      observe(element: Element) {
        const tell = (intersectionRatio: number) => this.call([{ intersectionRatio }]);
        watched.push({ element, tell });
        tell(1);
      }
      disconnect() {}
    }
    vi.stubGlobal('IntersectionObserver', Observer);
    const { arm } = await board('board-three');
    await arm();
    const one = () => inEntry('Publish the preview of the tide curve');
    const see = async (ratio: number) => {
      watched
        .filter(({ element }) => element.contains(one().getByText(/npm run build/)))
        .at(-1)
        ?.tell(ratio);
      await tick();
    };
    one().getByRole('button', { name: /^Allow once/ });
    await see(0.5);
    expect(one().queryByRole('button', { name: /^Allow once/ })).toBeNull();
    one().getByRole('button', { name: 'Review' });
    await see(1);
    one().getByRole('button', { name: /^Allow once/ });
    // The choices of a question are shown, but not armed.
    const choice = () => inEntry('Import the January statements').getByRole('button', { name: 'Half up' });
    await arm();
    expect(choice().dataset['armed']).toBe('true');
    const question = watched.filter(({ element }) => element.textContent.includes('Which rounding')).at(-1);
    question?.tell(0.9);
    await tick();
    expect(choice().dataset['armed']).toBe('false');
  });

  it('is not shown whole any more when another one takes its place', async () => {
    const { host, user, focusList } = await board('board-three');
    await focusList();
    await user.keyboard('{ArrowDown} ');
    const isOpen = () => entry('Round half to even in totals').querySelector('.text.whole') !== null;
    expect(isOpen()).toBe(true);
    const other = boardRequest({ text: 'rm -rf dist', canAllow: true });
    host.changeBoard(NINE.map((row, i) => (i === 0 ? { ...row, request: other } : row)));
    await vi.waitFor(() => expect(isOpen()).toBe(false));
  });

  it('of a subagent says so, or is only reviewed', async () => {
    const { host } = await board('board-three');
    const asked = (rows: readonly BoardRow[]) =>
      rows.map((row) => (row.request === null ? row : { ...row, request: { ...row.request, askedBy: 'By Explore' } }));
    host.changeBoard(asked(NINE));
    const one = () => inEntry('Round half to even in totals');
    await vi.waitFor(() => expect(one().getByText('By Explore')).not.toBeNull());
    one().getByRole('button', { name: /^Allow once/ });
    host.changeBoard(asked(ROWS));
    await vi.waitFor(() => expect(one().queryByText('By Explore')).toBeNull());
    expect(one().queryByRole('button', { name: /^Allow once/ })).toBeNull();
    one().getByRole('button', { name: 'Review' });
  });

  it('with choices shows their numbers, and in a row of one line opens its card', async () => {
    const { host, user } = await board('board-three');
    const one = () => entry('Import the January statements');
    expect([...one().querySelectorAll('.choices kbd')].map((key) => key.textContent)).toEqual(['1', '2', '3']);
    expect(inEntry('Import the January statements').queryByRole('button', { name: 'Answer…' })).toBeNull();
    const question = NINE[2]?.request ?? null;
    host.changeBoard(ROWS.map((row, i) => (i === 2 ? { ...row, request: question } : row)));
    await vi.waitFor(() => expect(one().querySelector('.choices')).toBeNull());
    await user.click(inEntry('Import the January statements').getByRole('button', { name: 'Answer…' }));
    expect(host.shown.map(([id]) => id)).toEqual(['b2']);
  });

  it('is sent once, and stays busy until the row changes', async () => {
    const { host, user, arm } = await board('board-three');
    const given = vi.fn(() => Promise.resolve());
    host.answerBoardRequest = given;
    const allow = () => inEntry('Round half to even in totals').getByRole('button', { name: /^Allow once/ });
    await arm();
    await user.dblClick(allow());
    await user.keyboard('{Alt>}a{/Alt}');
    expect(given).toHaveBeenCalledTimes(1);
    expect(allow().ariaBusy).toBe('true');
    const other = boardRequest({ text: 'cargo doc', canAllow: true });
    host.changeBoard(NINE.map((row, i) => (i === 0 ? { ...row, request: other } : row)));
    await vi.waitFor(() => expect(allow().ariaBusy).toBeNull());
    await arm();
    await user.click(allow());
    expect(given).toHaveBeenCalledTimes(2);
  });

  it('that was refused for another reason can be answered again', async () => {
    const { host, user, arm } = await board('board-three');
    const given = vi.fn(() => Promise.reject({ code: 'internal', message: 'The disk is full.', detail: null }));
    host.answerBoardRequest = given;
    const allow = () => inEntry('Round half to even in totals').getByRole('button', { name: /^Allow once/ });
    await arm();
    await user.click(allow());
    await screen.findByText(/The request was not answered/);
    await arm();
    await user.click(allow());
    expect(given).toHaveBeenCalledTimes(2);
  });

  it('is found by its key behind a filter, and among rows that keep their places', async () => {
    const { host, user, focusList } = await board('board-three');
    await focusList();
    const isMarked = () => entry('Round half to even in totals').querySelector('.marked') !== null;
    await user.keyboard('/newer{Alt>}a{/Alt}');
    await vi.waitFor(() => expect(isMarked()).toBe(true));
    expect(screen.queryByText('Nothing is waiting.')).toBeNull();
    expect(titlesOf('Working')).toHaveLength(3);

    host.changeBoard(NINE.slice(6));
    await screen.findByText('Nothing needs you.');
    await fireEvent.pointerMove(document.querySelector('.groups') as HTMLElement);
    host.changeBoard([...NINE]);
    await tick();
    expect(screen.queryByRole('list', { name: 'Needs you' })).toBeNull();
    await user.keyboard('{Alt>}a{/Alt}');
    await vi.waitFor(() => expect(isMarked()).toBe(true));
    expect(host.boardAnswers).toEqual([]);
  });

  it('is not answered by a key if nothing waits', async () => {
    const { user } = await board('board-done');
    await user.keyboard('{Alt>}a{/Alt}');
    screen.getByText('Nothing is waiting.');
  });
});

describe('a row that is done', () => {
  it('is cleared by mouse and by key, and comes back by “Undo”', async () => {
    const { host, user, clock, focusList } = await board('board-three');
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
    const { user, focusList } = await board('board-done');
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
    const { host, user } = await board('board-three');
    host.clearBoardRows = () => Promise.reject({ code: 'internal', message: 'The disk is full.', detail: null });
    await user.click(screen.getByRole('button', { name: 'Clear all' }));
    await screen.findByText(/The rows were not cleared/);
    expect(titlesOf('Done today')).toHaveLength(3);
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

  it('leaves the keys to its question', async () => {
    const { host, user, focusList } = await board('board-three');
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
    expect(reason(row({ status: { type: 'failed', message: 'no network' } }))).toBe('Failed: no network');
  });

  it('says what it costs, as far as that is known', () => {
    const processes = { nProcesses: 3, memoryBytes: 412 << 20, cpuMs: 12_900 };
    const both = row({ costUsd: 0.184, processes });
    expect([cost(both), costWithMemory(both), wholeCost(both)]).toEqual([
      '$0.18',
      '$0.18 · 412 MiB',
      '$0.18 so far; 3 processes, 412 MiB of memory, 12 s of CPU time',
    ]);
    const one = row({ costUsd: 0, processes: { ...processes, nProcesses: 1 } });
    expect([costWithMemory(one), wholeCost(one)]).toEqual([
      '412 MiB',
      '1 process, 412 MiB of memory, 12 s of CPU time',
    ]);
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

  it('is not shown from midnight on if its turn is done, and stays if it failed', () => {
    const noon = new Date(2026, 10, 3, 12).getTime();
    const over = (state: BoardRow['state']) => row({ state, since: noon });
    const rows = [over('needsInput'), over('failed'), over('finished')];
    const evening = grouped(rows, new Date(2026, 10, 3, 23, 59).getTime());
    expect(counts(evening).map(({ words }) => words)).toEqual(['1 needs you', '2 done today']);
    expect(allOf(grouped(rows, new Date(2026, 10, 4).getTime()))).toEqual(rows.slice(0, 2));
  });

  it('is found by its project, title, machine and texts', () => {
    const one = row({ machine: 'buildbox', request: boardRequest({ text: 'cargo test' }) });
    for (const words of ['', 'TIDE', 'publish curve', 'buildbox', 'cargo', 'wants to run']) {
      expect(matches(one, words)).toBe(true);
    }
    expect(matches(one, 'publish ledger')).toBe(false);
  });
});

describe('a conversation that another program has open', () => {
  const ROWS = BOARDS['board-terminals'] ?? [];

  it('says so, opens like a session, and is not stopped', async () => {
    const { host, user } = await board('board-terminals');
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
    await board('board-worktrees');
    const [first, second] = items();
    expect(first?.textContent).toMatch(/tide-tables\s+worktree of tide-tables, branch\s+fix\/totals/);
    expect(within(first as HTMLElement).getByTitle('/home/ines/tide-tables-fix-totals')).toBeTruthy();
    expect(second?.textContent).not.toMatch(/worktree|main/);
  });
});

describe('a session of a profile or of another agent', () => {
  it('has both names next to its project', async () => {
    await board('board-profiles');
    const texts = items().map((item) => item.querySelector('.where')?.textContent.trim());
    expect(texts[0]).toMatch(/tide-tables\s+Work$/u);
    expect(texts[1]).toMatch(/^\S+$/u);
    expect(texts[2]).toMatch(/too long for its column · Gemini CLI$/u);
    expect(texts[3]).toMatch(/\S\s+Codex$/u);
  });
});

describe('the context menu of a row', () => {
  it('opens the session, or copies its title or the path of its project', async () => {
    const { host, user } = await board('board');
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
    const { host, user, focusList } = await board('board');
    await focusList();
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

  const machines = async () => {
    const opened = await board('board-machines');
    await opened.user.click(section().getByRole('button', { name: 'Other machines' }));
    return opened;
  };

  it('are one line at the foot until the user opens it', async () => {
    const { user } = await board('board-machines');
    const links = section()
      .getAllByRole('listitem')
      .map((item) => item.textContent.replace(/\s+/gu, ' ').trim());
    expect(links[0]).toBe('box Connected · 1 session');
    expect(links[3]).toBe('down Not connected');
    expect(section().queryByRole('button', { name: /^List sessions/ })).toBeNull();
    const all = section().getByRole('button', { name: 'Other machines' });
    await user.click(all);
    expect(all.ariaExpanded).toBe('true');
    expect(ask('down')).not.toBeNull();
    await user.click(all);
    expect(section().queryByRole('list', { name: 'Machines' })).toBeNull();
  });

  it('are there with the state of each link, and are asked only if the user wants it', async () => {
    const { host } = await machines();
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
    const { host, user } = await machines();
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
    const { user } = await machines();
    await user.click(ask('old-box'));
    await section().findByText('Asked 0 s ago: 4 sessions run or wait there. 1 of them cannot be shown here.');
    const list = within(section().getByRole('list', { name: 'Sessions on old-box' }));
    const rows = list.getAllByRole('button').map((row) => row.textContent.replace(/\s+/g, ' ').trim());
    expect(rows[2]).toMatch(/^Unknown Night\\u\{202E\}\\u\{200B\}/);
    section().getByText('server 0.0.8: it does not answer');
  });

  it('are stopped after a question, and are asked again', async () => {
    const { host, user } = await machines();
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
    const { host, user } = await machines();
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
    const { host, user } = await machines();
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
    const another = () => screen.getByRole('button', { name: 'Add a machine…' });
    expect(section().queryByRole('list')).toBeNull();
    await user.click(another());
    const form = () => within(screen.getByRole('form', { name: 'List sessions on another machine' }));
    expect(document.activeElement).toBe(form().getByLabelText('Machine'));
    await user.keyboard('{Escape}');
    expect(section().queryByRole('list')).toBeNull();
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
