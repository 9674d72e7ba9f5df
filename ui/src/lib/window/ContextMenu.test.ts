import { fireEvent, render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';

import App from '../../App.svelte';
import { FakeHost } from '../host/fake';

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
  const [answer] = screen.getAllByRole('article');
  for (const leave of [
    () => fireEvent.keyDown(screen.getByRole('menuitem', { name: 'Copy' }), { key: 'Escape' }),
    () => fireEvent.pointerDown(document.body),
  ]) {
    select(answer as Element);
    await opens(answer as Element);
    await screen.findByRole('menu', { name: 'Selected text' });
    await leave();
    await expect.poll(() => screen.queryByRole('menu')).toBeNull();
  }
  expect(host.writeClipboard).not.toHaveBeenCalled();
});
