import { render, screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';

import { App } from '../../../test/parts';
import type { SearchChange } from '../../bindings/api';
import { FakeHost } from '../../../fake/host';
import { SEARCHED } from '../../../fake/search';
import { ManualClock } from '../../../test/clock';
import { draw } from '../../../test/draw';
import { progressWords, SearchState } from '../search.svelte';
import SearchPanel from './SearchPanel.svelte';

beforeEach(() => localStorage.clear());

const change = (facts: Partial<SearchChange> = {}): SearchChange => ({
  found: [],
  nSearched: 0,
  nFiles: 9,
  nUnreadable: 0,
  nLeftOut: 0,
  isCut: false,
  isComplete: false,
  problem: null,
  ...facts,
});

/** A host whose searches are answered by hand. */
function state() {
  const host = new FakeHost('conversation');
  onTestFinished(() => host.close());
  const asked: [number, string, boolean, boolean][] = [];
  host.searchSessions = (nr, query, all, toTheEnd) => {
    asked.push([nr, query, all, toTheEnd]);
    return Promise.resolve(query === 'before:x' ? '“x” is not a date.' : null);
  };
  return { asked, host, search: new SearchState(host) };
}

describe('a search', () => {
  it('keeps the last results until the first new ones come, and drops late ones', async () => {
    const { asked, search } = state();
    search.query = 'te';
    await search.run();
    search.take(1, change({ found: SEARCHED.slice(0, 1) }));
    search.take(1, change({ found: SEARCHED.slice(1, 2) }));
    expect(search.found).toHaveLength(2);
    search.query = 'test';
    await search.run();
    expect(asked.map(([nr, query]) => [nr, query])).toEqual([
      [1, 'te'],
      [2, 'test'],
    ]);
    search.take(1, change({ found: [...SEARCHED] }));
    expect(search.found).toHaveLength(2);
    expect(search.searching).toBe(true);
    search.take(2, change({ found: SEARCHED.slice(2) }));
    expect(search.found).toEqual(SEARCHED.slice(2));
    search.take(2, change({ isComplete: true }));
    expect(search.found).toEqual(SEARCHED.slice(2));
    expect(search.searching).toBe(false);
  });

  it('shows nothing when nothing is found, or when there is nothing to search for', async () => {
    const { asked, search } = state();
    search.query = 'a';
    await search.run();
    search.take(1, change({ found: [...SEARCHED] }));
    await search.run();
    search.take(2, change({ isComplete: true }));
    expect(search.found).toEqual([]);
    search.query = 'before:x';
    await search.run();
    expect([search.hint, search.progress]).toEqual(['“x” is not a date.', null]);
    search.query = ' ';
    await search.run();
    expect([search.hint, search.progress]).toEqual([null, null]);
    expect(asked.at(-1)).toEqual([4, ' ', false, false]);
  });

  it('adds the results after the newest ones without a change of those', async () => {
    const { asked, host, search } = state();
    search.query = 'a';
    await search.run();
    search.take(1, change({ found: SEARCHED.slice(0, 2), isCut: true, isComplete: true }));
    expect(search.hasMore).toBe(true);
    const shown = search.found;
    await search.more();
    expect([asked.at(-1), search.hasMore, search.searching, search.found]).toEqual([
      [2, 'a', false, true],
      false,
      true,
      shown,
    ]);
    search.take(2, change({ found: SEARCHED.slice(0, 1) }));
    expect(search.found).toEqual(shown);
    search.take(2, change({ found: SEARCHED.slice(1), isCut: true, isComplete: true }));
    expect([search.found, search.hasMore]).toEqual([SEARCHED, false]);
    search.query = 'ab';
    await search.run();
    search.take(3, change({ found: SEARCHED.slice(2), isComplete: true }));
    expect(search.found).toEqual(SEARCHED.slice(2));
    search.take(3, change({ isCut: true, isComplete: true }));
    host.searchSessions = () => Promise.reject(new Error('no disk'));
    await search.more();
    expect([search.failure, search.found]).toEqual(['no disk', SEARCHED.slice(2)]);
  });

  it('is prepared by the host when the panel opens without a query', async () => {
    const { asked, search } = state();
    await search.prepare();
    expect([asked, search.searching]).toEqual([[[1, '', false, false]], false]);
    search.query = 'a';
    await search.run();
    await search.prepare();
    expect(asked).toHaveLength(2);
  });

  it('says that it failed', async () => {
    const { host, search } = state();
    host.searchSessions = () => Promise.reject(new Error('no disk'));
    search.query = 'a';
    await search.run();
    expect([search.failure, search.searching]).toEqual(['no disk', false]);
  });

  it('says how far it has come', () => {
    expect(progressWords([], change())).toBe('Searching…');
    expect(progressWords(SEARCHED.slice(0, 1), change())).toBe('1 session so far…');
    expect(progressWords([], change({ isComplete: true }))).toBe('No results');
    const end = change({ isComplete: true, isCut: true, nUnreadable: 1, nLeftOut: 2, problem: 'gone' });
    expect(progressWords(SEARCHED, end)).toBe(
      'Showing the newest 3 sessions · add a word or a date for older ones · 1 file could not be read · 2 damaged or very long lines not searched · gone',
    );
  });
});

describe('the search panel', () => {
  async function panel() {
    const host = new FakeHost('conversation');
    onTestFinished(() => host.close());
    render(App, { host, clock: new ManualClock() });
    await screen.findByRole('main');
    const user = userEvent.setup();
    await user.keyboard('{Control>}{Shift>}f{/Shift}{/Control}');
    return { host, user, box: await screen.findByRole('combobox', { name: 'Search in sessions' }) };
  }
  const options = () => screen.queryAllByRole('option').map((option) => option.textContent.trim());

  it('finds, marks and opens by keys alone', async () => {
    const { host, user, box } = await panel();
    expect(document.activeElement).toBe(box);
    await user.keyboard('test');
    expect(options()).toHaveLength(3);
    expect(document.querySelector('mark')?.textContent).toBe('test');
    expect(box.getAttribute('aria-activedescendant')).toBe(screen.getAllByRole('option')[0]?.id);
    await user.keyboard('{ArrowDown}{ArrowDown}{ArrowDown}{ArrowUp}');
    expect(
      screen.getAllByRole('option').map((option) => option.ariaSelected ?? option.getAttribute('aria-selected')),
    ).toEqual(['false', 'true', 'false']);
    screen.getByRole('group', { name: 'Import the bank’s CSV files' });
    await user.keyboard('{Enter}');
    expect(host.shown).toEqual([['s1', 'i1']]);
    expect(screen.queryByRole('combobox')).toBeNull();
  });

  it('shows more results by key or click, and marks the first of them', async () => {
    const { user, box } = await panel();
    await user.keyboard('line');
    expect(options()).toHaveLength(26);
    expect(options().at(-1)).toBe('Show more results');
    screen.getByText('Showing the newest 25 sessions · add a word or a date for older ones');
    await user.keyboard('{ArrowDown>60/}');
    expect(box.getAttribute('aria-activedescendant')).toBe(screen.getAllByRole('option').at(-1)?.id);
    await user.keyboard('{Enter}');
    expect(options()).toHaveLength(50);
    expect(options()).not.toContain('Show more results');
    expect(screen.getAllByRole('option')[25]?.getAttribute('aria-selected')).toBe('true');
    screen.getByText('50 sessions');
    await user.keyboard('s');
    await user.click(screen.getByRole('option', { name: 'Show more results' }));
    expect(options()).toHaveLength(50);
    expect(document.activeElement).toBe(box);
  });

  it('searches all projects if wanted, and keeps its query', async () => {
    const { user } = await panel();
    await user.keyboard('nightly');
    expect(screen.getByText('No results').getAttribute('role')).toBe('status');
    await user.click(screen.getByRole('checkbox', { name: 'All projects' }));
    const group = screen.getByRole('group', { name: 'Nightly export is empty, exporter' });
    expect(within(group).getAllByRole('option')).toHaveLength(1);
  });

  it('says which session is open in another window, and goes there', async () => {
    const { asked, host, search } = state();
    search.query = 'test';
    await search.run();
    expect(asked).toHaveLength(1);
    search.take(1, change({ found: SEARCHED.slice(0, 1).map((one) => ({ ...one, inOtherWindow: true })) }));
    const onopen = vi.fn();
    await draw(SearchPanel, { search, now: 0, onopen, onclose: () => host.close() });
    const group = screen.getByRole('group', { name: /, open in another window$/u, hidden: true });
    within(group).getByText('Go to its window');
    await userEvent.setup().click(within(group).getAllByRole('option', { hidden: true })[0] as HTMLElement);
    expect(onopen).toHaveBeenCalledOnce();
  });
});
