// The menu of a window as the menu bar of the system gets it.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';

import { App } from '../../../test/parts';
import { ManualClock } from '../../../test/clock';
import { FakeHost } from '../../../fake/host';
import type { MenuItem } from '../../kit/MenuList.svelte';
import { barOf, MENUS } from './menu';
import { actionOf } from './table';

/** Every action in its place, as if all of them applied. */
const EVERY_ACTION: MenuItem[] = Object.entries(MENUS).map(([name, sections]) => ({
  id: name,
  label: name,
  items: sections.flatMap((section) =>
    section.map((id, i) => ({ id, label: actionOf(id).label, ...(i === 0 ? { separated: true } : {}) })),
  ),
}));

describe('an entry', () => {
  it('has its key if the window handles it', () => {
    const chords = barOf(
      ['palette', 'interrupt', 'next-mode', 'request', 'theme'].map((id) => ({ id, label: id })),
      true,
    ).map(({ chord }) => chord);
    // The prompt box handles Escape and Shift+Tab, and the theme has no key.
    expect(chords).toEqual(['Ctrl+K', null, null, 'Ctrl+Shift+R', null]);
  });

  it('is on unless the menu says otherwise, and keeps its choices', () => {
    const choices = [
      { id: 'theme/choice/dark', label: 'dark', checked: true },
      { id: 'theme/choice/light', label: 'light', checked: false },
    ];
    const entries = barOf([
      { id: 'stop', label: 'Stop', disabled: true, title: 'It does not run.', separated: true },
      { id: 'theme', label: 'Theme', items: choices },
    ]);
    const plain = { chord: null, enabled: true, checked: null, separated: false, items: null };
    expect(entries).toEqual([
      { ...plain, id: 'stop', label: 'Stop', enabled: false, separated: true },
      {
        ...plain,
        id: 'theme',
        label: 'Theme',
        items: [
          { ...plain, id: 'theme/choice/dark', label: 'dark', checked: true },
          { ...plain, id: 'theme/choice/light', label: 'light', checked: false },
        ],
      },
    ]);
  });
});

it('is what the tests of the menu bar have: `UPDATE_MENU=1` writes it', () => {
  const path = join(import.meta.dirname, '../../../../../src-tauri/desktop/src/menu_bar/every_action.json');
  const wanted = `${JSON.stringify(barOf(EVERY_ACTION, true), null, 1)}\n`;
  if (process.env['UPDATE_MENU'] === '1') writeFileSync(path, wanted);
  else expect(readFileSync(path, 'utf8')).toBe(wanted);
});

describe('on a system with a menu bar', () => {
  beforeEach(() => localStorage.clear());
  vi.stubGlobal('CSS', { escape: (text: string) => text });

  async function app(scene: string, problem: string | null = null) {
    const host = new FakeHost(scene);
    onTestFinished(() => host.close());
    host.hasMenuBar = true;
    host.menuBarProblem = problem;
    render(App, { host, clock: new ManualClock() });
    await screen.findByRole('main');
    if (problem === null) await expect.poll(() => host.menus.length).toBeGreaterThan(0);
    return host;
  }
  const button = () => screen.queryByRole('button', { name: 'Menu' });
  const entry = (host: FakeHost, menu: string, id: string) =>
    host.menus
      .at(-1)
      ?.find(({ label }) => label === menu)
      ?.items?.find((one) => one.id === id);

  const isDark = (host: FakeHost) =>
    entry(host, 'View', 'theme')?.items?.find(({ label }) => label === 'dark')?.checked;

  it('the bar has the menu of a project, and the window has no button for it', async () => {
    const host = await app('conversation');
    expect(host.menus.at(-1)?.map(({ label }) => label)).toEqual(Object.keys(MENUS));
    await expect.poll(button).toBeNull();
    expect(entry(host, 'Go', 'palette')).toMatchObject({ label: 'Commands and sessions', chord: 'Ctrl+K' });
    const user = userEvent.setup();
    await user.keyboard('{F10}');
    expect(screen.queryByRole('menu')).toBeNull();
  });

  it('an entry that is chosen does what it says, in this window', async () => {
    const host = await app('conversation');
    host.chooseInMenuBar('palette');
    expect(await screen.findByRole('combobox', { name: 'Search commands and sessions' })).toBeTruthy();
    host.chooseInMenuBar('theme/choice/dark');
    await expect.poll(() => isDark(host)).toBe(true);
    // Nothing happens for an entry that no longer exists.
    host.chooseInMenuBar('gone');
  });

  it('the bar follows what can be done, and is not sent again without a change', async () => {
    const host = await app('conversation');
    expect(isDark(host)).toBe(false);
    const before = host.menus.length;
    await host.setSetting('theme', 'dark');
    await expect.poll(() => isDark(host)).toBe(true);
    expect(host.menus).toHaveLength(before + 1);
    expect(new Set(host.menus.map((menu) => JSON.stringify(menu))).size).toBe(host.menus.length);
  });

  it.each([
    ['projects', 'File', 'open-folder'],
    ['board', 'Go', 'start-page'],
  ])('the bar has the menu of the page: %s', async (scene, menu, id) => {
    const host = await app(scene);
    expect(entry(host, menu, id)).toMatchObject({ enabled: true });
    await expect.poll(button).toBeNull();
    const n = host.start.done.length;
    host.chooseInMenuBar(id);
    await expect.poll(() => host.start.done.length).toBe(n + 1);
  });

  it('the window keeps its button if the bar cannot be changed, and says why', async () => {
    await app('conversation', 'The bar is gone.');
    expect(await screen.findByText(/The bar is gone/)).toBeTruthy();
    expect(button()).not.toBeNull();
  });
});
