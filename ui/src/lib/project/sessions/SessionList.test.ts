import { screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { tick } from 'svelte';
import { describe, expect, it } from 'vitest';

import type { SessionMark } from '../../bindings/api';
import { draw } from '../../../test/draw';
import { PROJECT, stored } from '../../../fake/facts';
import { HEADING, layoutOf, ONE_LINE, visible } from './layout';
import { inOrder, rowsOf, type Row } from '../../session/sessionRows';
import SessionList from './SessionList.svelte';
import { titleLines } from './titleLines';

const many = (n: number) =>
  rowsOf([], inOrder(Array.from({ length: n }, (_, i) => stored(`s${i}`, `Session ${i}`, i))));

interface Rest {
  reading?: boolean;
  problem?: string;
  nUnreadable?: number;
  marks?: ReadonlyMap<string, SessionMark>;
}

async function list(rows: readonly Row[], rest: Rest = {}) {
  const opened: string[] = [];
  const onopen = ({ stored: one }: Row) => void opened.push(one?.agentSessionId ?? '');
  const asked: string[][] = [];
  const onremove = (rows: readonly Row[]) => void asked.push(rows.map(({ stored: one }) => one?.agentSessionId ?? ''));
  const done: string[] = [];
  const ids = (rows: readonly Row[]) => rows.map(({ stored: one }) => one?.agentSessionId ?? '').join(' ');
  const acts = {
    onopen,
    onremove,
    onmark: (rows: readonly Row[], mark: string | null) => void done.push(`${mark ?? 'no mark'}: ${ids(rows)}`),
    onexport: (rows: readonly Row[]) => void done.push(`export: ${ids(rows)}`),
    onnew: () => {},
    onothers: () => {},
    onsearch: () => {},
    onsearchtexts: (words: string) => void done.push(`search: ${words}`),
    onsettings: () => {},
  };
  const props = { project: PROJECT, rows, openId: null, unread: new Set<string>(), creating: false, ...acts, ...rest };
  const drawn = await draw(SessionList, props);
  const nav = screen.getByRole('navigation', { name: 'Sessions' });
  return {
    opened,
    asked,
    done,
    nav,
    user: userEvent.setup(),
    drawn,
    buttons: () => within(nav).getAllByRole('button'),
  };
}

const filter = () => screen.getByRole('searchbox', { name: 'Filter sessions' });

describe('a list of ten thousand sessions', () => {
  it('draws those near the visible part, and says how many there are', async () => {
    const { buttons, nav } = await list(many(10_000));
    expect(buttons().length).toBeLessThan(60);
    const first = within(nav).getAllByRole('listitem')[0];
    expect(Number(first?.getAttribute('aria-setsize'))).toBeGreaterThan(100);
    expect(first?.getAttribute('aria-posinset')).toBe('1');
    Object.defineProperty(nav, 'scrollTop', { value: 200_000, configurable: true });
    nav.dispatchEvent(new Event('scroll'));
    await tick();
    expect(buttons().length).toBeLessThan(80);
    expect(buttons()[40]?.textContent).toMatch(/Session 7\d\d\d/);
  });

  it('is filtered as one types, and its first session opened by Enter', async () => {
    const { user, buttons, opened, drawn } = await list(many(10_000));
    await user.type(filter(), 'session 1234');
    expect(buttons()).toHaveLength(1);
    expect(drawn.container.querySelector('[aria-live]')?.textContent).toBe('1 session');
    await user.keyboard('{Enter}');
    expect(opened).toEqual(['s1234']);
    await user.keyboard('{Escape}');
    expect(buttons().length).toBeGreaterThan(10);
  });

  it('is walked through by the arrow keys', async () => {
    const { user } = await list(many(10_000));
    const focused = () => document.activeElement?.closest('[data-nr]')?.getAttribute('data-nr');
    await user.click(filter());
    await user.keyboard('{ArrowDown}');
    expect(focused()).toBe('0');
    await user.keyboard('{ArrowDown}{ArrowDown}{ArrowUp}');
    expect(focused()).toBe('1');
    await user.keyboard('{Home}{ArrowUp}');
    expect(focused()).toBe('0');
  });
});

describe('a list', () => {
  it('says that nothing fits, that it is being read, and what could not be', async () => {
    const { drawn, user, nav } = await list([], { reading: true, nUnreadable: 2 });
    expect(nav.textContent).toContain('Reading sessions…');
    expect(nav.textContent).toContain('2 session files could not be read');
    await drawn.redraw({ reading: false, nUnreadable: 0, problem: '/x is a file' });
    expect(nav.textContent).toContain('No sessions yet');
    expect(nav.textContent).toContain('/x is a file');
    await user.type(filter(), 'x');
    expect(nav.textContent).toContain('No session matches');
  });
});

describe('a title', () => {
  it('has two lines where one is too short for it, and its row is as high', () => {
    const long = 'Round half to even in totals, with the cases of report 0412';
    const rows = rowsOf([], [stored('a', long, 0), stored('b', 'Why is the build slow?', 1)]);
    const heights = (width: number) =>
      layoutOf([{ name: 'Today', rows }], new Set(), { width, branch: 'main' }).places.map(({ height }) => height);
    expect(heights(264)).toEqual([ONE_LINE + 17, ONE_LINE]);
    expect(heights(600)).toEqual([ONE_LINE, ONE_LINE]);
  });

  it('is estimated by its characters', () => {
    expect(titleLines('illicit', 40)).toBe(1);
    expect(titleLines('MAMMOTH', 40)).toBe(2);
    expect(titleLines('漢字漢字', 40)).toBe(2);
  });
});

it('offers to search all texts for what no title has', async () => {
  const { user, done } = await list(many(3));
  await user.type(filter(), ' quarterly report ');
  await user.click(screen.getByRole('button', { name: 'Search all texts' }));
  await user.type(filter(), '{Enter}');
  expect(done).toEqual(['search: quarterly report', 'search: quarterly report']);
});

describe('below the pointer', () => {
  const at = (...ids: string[]) =>
    rowsOf(
      [],
      ids.map((id, i) => stored(id, `Session ${id}`, 100 - i)),
    );
  const titles = (nav: HTMLElement) =>
    [...nav.querySelectorAll('.title')].map(({ textContent }) => textContent.slice(-1));

  it('no row moves, and each shows what it is now', async () => {
    const { drawn, nav, user } = await list(at('a', 'b', 'c'));
    const row = within(nav).getByText('Session c');
    await user.pointer({ target: row });
    const [c, d, a] = [stored('c', 'Renamed c', 300), stored('d', 'Session d', 200), stored('a', 'Session a', 100)];
    await drawn.redraw({ rows: rowsOf([], [c, d, a]) });
    expect(titles(nav)).toEqual(['a', 'c']);
    within(nav).getByText('Renamed c');
    await user.unhover(row);
    await user.pointer({ target: document.body });
    await tick();
    expect(titles(nav)).toEqual(['c', 'd', 'a']);
  });

  it.each(['a key is pressed', 'it rests'])('rows move again when %s', async (when) => {
    const { drawn, nav, user } = await list(at('a', 'b'));
    await user.pointer({ target: within(nav).getByText('Session b') });
    await drawn.redraw({ rows: at('b', 'a') });
    expect(titles(nav)).toEqual(['a', 'b']);
    if (when === 'it rests') drawn.clock.advance(3_000);
    else await user.keyboard('{Shift}');
    await tick();
    expect(titles(nav)).toEqual(['b', 'a']);
  });
});

it('has a place for each row, and draws no other', () => {
  const rows = many(1_000);
  const layout = layoutOf(
    [
      { name: 'Today', rows: rows.slice(0, 500) },
      { name: 'May', rows: rows.slice(500) },
    ],
    new Set(),
    { width: 264, branch: 'main' },
  );
  expect(layout.height).toBe(2 * HEADING + 1_000 * ONE_LINE);
  for (let top = 0; top < layout.height; top += 997) {
    const { above, parts } = visible(layout, top, 500);
    const places = parts.flatMap((part) => part.places);
    const [first, last] = [places[0], places.at(-1)];
    expect(above).toBeLessThanOrEqual(Math.max(0, top - 500));
    expect((first?.top ?? 0) - above).toBe(parts[0]?.hasHeading ? HEADING : 0);
    expect((last?.top ?? 0) + ONE_LINE).toBeGreaterThanOrEqual(Math.min(layout.height, top + 500));
    expect(places.length).toBeLessThan(70);
  }
  expect(visible(layoutOf([], new Set(), { width: 264, branch: null }), 0, 500)).toEqual({ above: 0, parts: [] });
});

describe('several sessions', () => {
  const selected = () =>
    within(screen.getByRole('navigation', { name: 'Sessions' }))
      .queryAllByRole('button', { pressed: true })
      .map((row) => row.closest('[data-session]')?.getAttribute('data-session'));

  it('are selected by mouse and removed together', async () => {
    const { user, buttons, asked, opened } = await list(many(6));
    const [first, , third, , fifth] = buttons() as [HTMLElement, HTMLElement, HTMLElement, HTMLElement, HTMLElement];
    await user.keyboard('{Control>}');
    await user.click(first);
    await user.click(third);
    await user.keyboard('{/Control}');
    expect(selected()).toEqual(['s0', 's2']);
    await user.click(screen.getByRole('button', { name: 'Remove…' }));
    expect(asked).toEqual([['s0', 's2']]);
    await user.keyboard('{Shift>}');
    await user.click(fifth);
    await user.keyboard('{/Shift}');
    expect(selected()).toEqual(['s2', 's3', 's4']);
    const said = screen.getByText('3 sessions selected', { selector: '[aria-live]' });
    await user.click(screen.getByRole('button', { name: 'Clear the selection' }));
    expect(selected()).toEqual([]);
    expect([said.textContent, document.activeElement?.closest('[data-session]')?.getAttribute('data-session')]).toEqual(
      ['', 's2'],
    );
    expect(opened).toEqual([]);
    await user.click(first);
    expect(opened).toEqual(['s0']);
  });

  it('are pinned, archived and exported together, and lose their marks the same way', async () => {
    const { user, buttons, done, drawn } = await list(many(4));
    const [first, second] = buttons() as [HTMLElement, HTMLElement];
    await user.keyboard('{Control>}');
    await user.click(first);
    await user.click(second);
    await user.keyboard('{/Control}');
    for (const name of ['Pin', 'Archive', 'Export as Markdown…'])
      await user.click(screen.getByRole('button', { name }));
    expect(done).toEqual(['pinned: s0 s1', 'archived: s0 s1', 'export: s0 s1']);
    await drawn.redraw({
      marks: new Map([
        ['s0', 'pinned'],
        ['s1', 'pinned'],
      ] as const),
    });
    await user.click(screen.getByRole('button', { name: 'Unpin' }));
    expect(done.at(-1)).toBe('no mark: s0 s1');
  });

  it('are selected and removed by keyboard', async () => {
    const { user, asked } = await list(many(6));
    await user.click(filter());
    await user.keyboard('{ArrowDown}{ArrowDown}{Shift>}{ArrowDown}{ArrowDown}{ArrowUp}{/Shift}');
    expect(selected()).toEqual(['s1', 's2']);
    await user.keyboard('{ArrowDown}{ArrowDown}{Control>} {/Control}');
    expect(selected()).toEqual(['s1', 's2', 's4']);
    await user.keyboard('{Delete}');
    await user.keyboard('{Control>}a{/Control}');
    expect(selected()).toHaveLength(6);
    await user.keyboard('{Escape}');
    expect(selected()).toEqual([]);
    await user.keyboard('{Delete}');
    expect(asked).toEqual([['s1', 's2', 's4'], ['s4']]);
  });

  it('that a filter hides are not removed with the others', async () => {
    const { user, asked } = await list(many(6));
    await user.click(filter());
    await user.keyboard('{ArrowDown}{Control>}a{/Control}');
    await user.type(filter(), 'Session 3');
    await user.click(screen.getByRole('button', { name: 'Remove…' }));
    expect(asked).toEqual([['s3']]);
  });
});
