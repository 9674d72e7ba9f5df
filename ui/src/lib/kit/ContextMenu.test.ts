import { fireEvent, render, screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';

import { App } from '../../test/parts';
import { FakeHost } from '../../fake/host';

beforeEach(() => {
  localStorage.clear();
  getSelection()?.removeAllRanges();
});

async function app() {
  const host = new FakeHost('conversation');
  onTestFinished(() => host.close());
  host.writeClipboard = vi.fn(() => Promise.resolve());
  render(App, { host });
  await screen.findByRole('main');
  return host;
}

/** Whether the browser's menu opens. */
const opens = (element: Element) => fireEvent.contextMenu(element);

function select(element: Element): string {
  getSelection()?.selectAllChildren(element);
  return getSelection()?.toString() ?? '';
}

it('is not that of the browser, except in a field', async () => {
  await app();
  const box = screen.getByRole('textbox', { name: 'Prompt' });
  for (const element of [document.body, screen.getByRole('log'), screen.getByRole('button', { name: 'Send' })]) {
    expect(await opens(element)).toBe(false);
  }
  expect(screen.queryByRole('menu')).toBeNull();
  expect(await opens(box)).toBe(true);
});

it('copies what is selected, and gives the focus back', async () => {
  const host = await app();
  const box = screen.getByRole('textbox', { name: 'Prompt' });
  box.focus();
  const [answer] = screen.getAllByRole('article');
  const text = select(answer as Element);
  expect(text).not.toBe('');
  await opens(answer as Element);
  const item = await screen.findByRole('menuitem', { name: 'Copy' });
  await expect.poll(() => document.activeElement).toBe(item);
  await userEvent.setup().click(item);
  expect(host.writeClipboard).toHaveBeenCalledExactlyOnceWith(text);
  expect(screen.queryByRole('menu')).toBeNull();
  expect(document.activeElement).toBe(box);
});

it('closes by Escape and by a click elsewhere, and copies nothing then', async () => {
  const host = await app();
  const answer = screen.getAllByRole('article')[0]?.querySelector('[data-item]');
  for (const leave of [
    () => fireEvent.keyDown(screen.getByRole('menuitem', { name: 'Copy' }), { key: 'Escape' }),
    () => fireEvent.pointerDown(document.body),
  ]) {
    select(answer as Element);
    await opens(answer as Element);
    await screen.findByRole('menu', { name: 'Message' });
    await leave();
    await expect.poll(() => screen.queryByRole('menu')).toBeNull();
  }
  expect(host.writeClipboard).not.toHaveBeenCalled();
});

describe('by key', () => {
  const row = () => document.querySelector<HTMLElement>('li[data-session] button') as HTMLElement;

  it.each(['{ContextMenu}', '{Shift>}{F10}{/Shift}'])('opens at the focused element by %s', async (keys) => {
    await app();
    const user = userEvent.setup();
    row().getBoundingClientRect = () => new DOMRect(40, 60, 100, 20);
    row().focus();
    await user.keyboard(keys);
    const menu = screen.getByRole('menu', { name: 'Session' });
    expect([menu.parentElement?.style.left, menu.parentElement?.style.top]).toEqual(['40px', '80px']);
    expect(document.activeElement?.textContent).toContain('Rename');
    await user.keyboard('{End}');
    expect(document.activeElement?.textContent).toContain('Remove session');
    await user.keyboard('{ArrowDown}');
    expect(document.activeElement?.textContent).toContain('Rename');
    await user.keyboard('{Escape}');
    expect(screen.queryByRole('menu')).toBeNull();
    expect(document.activeElement).toBe(row());
  });

  it('is that of the last message where the conversation has the focus', async () => {
    await app();
    screen.getByRole('log').focus();
    await userEvent.setup().keyboard('{ContextMenu}');
    screen.getByRole('menu', { name: 'Message' });
    await userEvent.setup().keyboard('{Tab}');
    expect(screen.queryByRole('menu')).toBeNull();
    expect(document.activeElement).toBe(screen.getByRole('log'));
  });

  it('is left to the browser in a field', async () => {
    await app();
    const box = screen.getByRole('textbox', { name: 'Prompt' });
    for (const key of ['ContextMenu', 'F10']) {
      expect(await fireEvent.keyDown(box, { key, shiftKey: key === 'F10' })).toBe(true);
    }
    expect(screen.queryByRole('menu')).toBeNull();
  });
});

it('stays inside the window', async () => {
  await app();
  const rect = vi.spyOn(HTMLElement.prototype, 'getBoundingClientRect').mockReturnValue(new DOMRect(0, 0, 220, 300));
  onTestFinished(() => rect.mockRestore());
  const row = document.querySelector('li[data-session]') as Element;
  await fireEvent.contextMenu(row, { clientX: innerWidth - 5, clientY: innerHeight - 5 });
  const { left, top } = (screen.getByRole('menu').parentElement as HTMLElement).style;
  expect([left, top]).toEqual([`${innerWidth - 220}px`, `${innerHeight - 300}px`]);
});

it('copies the words of a dialog, above the dialog', async () => {
  const host = await app();
  const user = userEvent.setup();
  await user.keyboard('{F1}');
  const dialog = await screen.findByRole('dialog', { name: 'Keys' });
  const heading = within(dialog).getByRole('heading', { name: 'Keys' });
  const text = select(heading);
  await opens(heading);
  expect(dialog.contains(screen.getByRole('menu'))).toBe(true);
  await user.click(screen.getByRole('menuitem', { name: 'Copy' }));
  expect(host.writeClipboard).toHaveBeenCalledExactlyOnceWith(text);
});

it('closes when what it is of is gone', async () => {
  const host = await app();
  const row = [...document.querySelectorAll('li[data-session]')].at(-1) as HTMLElement;
  await fireEvent.contextMenu(row);
  screen.getByRole('menu', { name: 'Session' });
  await host.removeSession(row.dataset['session'] ?? '');
  await expect.poll(() => screen.queryByRole('menu')).toBeNull();
});
