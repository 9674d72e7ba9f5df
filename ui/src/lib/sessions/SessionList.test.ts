import { screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { tick } from 'svelte';
import { describe, expect, it } from 'vitest';

import { draw } from '../../test/draw';
import { PROJECT, stored } from '../host/fake/facts';
import { HEADING, layoutOf, TWO_LINES, visible } from './layout';
import { inOrder, rowsOf, type Row } from './rows';
import SessionList from './SessionList.svelte';

const many = (n: number) =>
  rowsOf([], inOrder(Array.from({ length: n }, (_, i) => stored(`s${i}`, `Session ${i}`, i))));

async function list(rows: readonly Row[], rest: { reading?: boolean; problem?: string; nUnreadable?: number } = {}) {
  const opened: string[] = [];
  const onopen = ({ stored: one }: Row) => void opened.push(one?.agentSessionId ?? '');
  const acts = { onopen, onnew: () => {}, onsearch: () => {}, onsettings: () => {} };
  const props = { project: PROJECT, rows, openId: null, unread: new Set<string>(), creating: false, ...acts, ...rest };
  const drawn = await draw(SessionList, props);
  const nav = screen.getByRole('navigation', { name: 'Sessions' });
  return { opened, nav, user: userEvent.setup(), drawn, buttons: () => within(nav).getAllByRole('button') };
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
    expect(buttons()[40]?.textContent).toMatch(/Session 4\d\d\d/);
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

it('has a place for each row, and draws no other', () => {
  const rows = many(1_000);
  const layout = layoutOf(
    [
      { name: 'Today', rows: rows.slice(0, 500) },
      { name: 'May', rows: rows.slice(500) },
    ],
    new Set(),
  );
  expect(layout.height).toBe(2 * HEADING + 1_000 * TWO_LINES);
  for (let top = 0; top < layout.height; top += 997) {
    const { above, parts } = visible(layout, top, 500);
    const places = parts.flatMap((part) => part.places);
    const [first, last] = [places[0], places.at(-1)];
    expect(above).toBeLessThanOrEqual(Math.max(0, top - 500));
    expect((first?.top ?? 0) - above).toBe(parts[0]?.hasHeading ? HEADING : 0);
    expect((last?.top ?? 0) + TWO_LINES).toBeGreaterThanOrEqual(Math.min(layout.height, top + 500));
    expect(places.length).toBeLessThan(60);
  }
  expect(visible(layoutOf([], new Set()), 0, 500)).toEqual({ above: 0, parts: [] });
});
