import { fireEvent, screen, within } from '@testing-library/svelte';
import { tick } from 'svelte';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { BoardRow } from '../../bindings/api';
import { boardRequest, BOARDS } from '../../../fake/board';
import { NINE, ROWS, entry, group, inEntry, openBoard, titlesOf } from '../../../test/board';

beforeEach(() => localStorage.clear());
afterEach(() => {
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

describe('a request on the board', () => {
  it('is allowed by mouse once it was there for 700 ms', async () => {
    const { host, user, clock, arm } = await openBoard('board-three');
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
    const { host, user, arm, focusList } = await openBoard('board-three');
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
    const { host, user, arm } = await openBoard('board-hostile');
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
    const { host, user, arm } = await openBoard('board-three');
    await inEntry('Round half to even in totals').findByRole('button', { name: /^Allow once/ });
    await arm();
    host.answerBoardRequest = () => Promise.reject({ code: 'noSuchRequest', message: 'It is over.', detail: null });
    await user.click(inEntry('Round half to even in totals').getByRole('button', { name: /^Allow once/ }));
    expect(await screen.findAllByText('It is over.')).toHaveLength(1);
    expect(screen.queryByRole('alert')?.textContent ?? '').toBe('');
  });

  it('that takes the place of another one is armed again', async () => {
    const { host, user, arm } = await openBoard('board-three');
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
    const { host } = await openBoard('board-three');
    host.changeBoard(NINE.map((row) => ({ ...row, isReached: false })));
    await vi.waitFor(() =>
      expect(screen.queryAllByRole('button', { name: /Deny|Allow once|Review|Stop$/ })).toEqual([]),
    );
  });

  it('is not answered by a key that is held down', async () => {
    const { host, user, arm } = await openBoard('board-three');
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
    const { host, user, arm, focusList } = await openBoard('board-three');
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
    const { host, user, arm, focusList } = await openBoard('board-three');
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
    const { arm } = await openBoard('board-three');
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
    const { host, user, focusList } = await openBoard('board-three');
    await focusList();
    await user.keyboard('{ArrowDown} ');
    const isOpen = () => entry('Round half to even in totals').querySelector('.text.whole') !== null;
    expect(isOpen()).toBe(true);
    const other = boardRequest({ text: 'rm -rf dist', canAllow: true });
    host.changeBoard(NINE.map((row, i) => (i === 0 ? { ...row, request: other } : row)));
    await vi.waitFor(() => expect(isOpen()).toBe(false));
  });

  it('of a subagent says so, or is only reviewed', async () => {
    const { host } = await openBoard('board-three');
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
    const { host, user } = await openBoard('board-three');
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
    const { host, user, arm } = await openBoard('board-three');
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
    const { host, user, arm } = await openBoard('board-three');
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
    const { host, user, focusList } = await openBoard('board-three');
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
    const { user } = await openBoard('board-done');
    await user.keyboard('{Alt>}a{/Alt}');
    screen.getByText('Nothing is waiting.');
  });
});
