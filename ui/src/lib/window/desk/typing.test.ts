import { fireEvent, screen } from '@testing-library/svelte';
import { tick } from 'svelte';
import { beforeEach, describe, expect, it } from 'vitest';

import { openApp, promptBox } from '../../../test/app';
import { ARM_MS } from '../../session/asking/arming.svelte';
import { commandRequest, planRequest, questionRequest } from '../../../fake/script';
import type { PermissionRequest } from '../../bindings/api';
import { numberOf } from './typing';

beforeEach(() => localStorage.clear());

const focusNowhere = () => (document.activeElement as HTMLElement | null)?.blur();
const button = (name: string) => screen.getAllByRole('button', { name })[0] as HTMLElement;

/** A window with these requests; every answer is accepted at once. */
async function asked(...requests: PermissionRequest[]) {
  const opened = await openApp('conversation');
  const session = opened.host.session('s1');
  opened.host.command = (_id, command) => {
    if (command.type !== 'decide') return Promise.resolve();
    const left = session?.facts.requests.filter(({ id }) => id !== command.requestId) ?? [];
    session?.patch({ requests: left });
    return Promise.resolve();
  };
  session?.patch({ requests });
  const [first] = requests;
  await screen.findAllByText(first?.question ?? '');
  await fireEvent.focus(window);
  await tick();
  opened.clock.advance(ARM_MS);
  await tick();
  return opened;
}

describe('after an answer by mouse', () => {
  it.each([
    ['a permission is denied', commandRequest('q1', 'git push'), ['Deny']],
    ['a permission is given', commandRequest('q1', 'git push'), ['Allow once']],
    ['a question is skipped', questionRequest('q1'), ['Skip']],
    ['a plan is sent back', planRequest('q1'), ['Keep planning']],
    ['a plan is approved', planRequest('q1'), ['Approve, ask before edits']],
  ])('the prompt has the focus when %s', async (_name, request, presses) => {
    const { user } = await asked(request);
    for (const name of presses) await user.click(button(name));
    await expect.poll(() => document.activeElement).toBe(promptBox());
    await user.keyboard('next');
    expect(promptBox().value).toBe('next');
  });

  it('the next request has the focus, and what is typed goes to the prompt', async () => {
    const { user } = await asked(commandRequest('q1', 'git push'), commandRequest('q2', 'git status'));
    await user.click(button('Deny'));
    await expect.poll(() => document.activeElement?.id).toBe('request-q2');
    await user.keyboard('wait');
    expect(document.activeElement).toBe(promptBox());
    expect(promptBox().value).toBe('wait');
  });

  it('a field that is being written in keeps the focus', async () => {
    const { host, user } = await asked(commandRequest('q1', 'git push'));
    await user.click(promptBox());
    host.session('s1')?.patch({ requests: [] });
    await expect.poll(() => screen.queryByRole('group', { name: 'Permission request' })).toBeNull();
    expect(document.activeElement).toBe(promptBox());
  });

  it('its button has the focus while it is sent, and if it was not taken', async () => {
    const { host, user } = await asked(commandRequest('q1', 'git push'));
    let refuse = () => {};
    host.command = () => new Promise((_taken, reject) => (refuse = () => reject(new Error('too late'))));
    await user.click(button('Deny'));
    expect([document.activeElement, button('Deny').ariaBusy]).toEqual([button('Deny'), 'true']);
    refuse();
    await expect.poll(() => button('Deny').ariaBusy).toBeNull();
    expect(document.activeElement).toBe(button('Deny'));
  });
});

describe('what is typed outside of any field', () => {
  it.each(['Settings', 'New session', 'Send'])('goes to the prompt from “%s”', async (name) => {
    const { user } = await openApp('conversation');
    screen
      .getAllByRole('button')
      .find((one) => one.textContent.startsWith(name))
      ?.focus();
    await user.keyboard('hello');
    expect(promptBox().value).toBe('hello');
  });

  it('goes to the prompt from nowhere, from its first character on', async () => {
    const { user } = await openApp('conversation');
    focusNowhere();
    expect(document.activeElement).toBe(document.body);
    await user.keyboard('Ähm, 1 {{€}');
    expect(promptBox().value).toBe('Ähm, 1 {€}');
  });

  it('goes to the prompt of a window without a session', async () => {
    const { user } = await openApp('start');
    focusNowhere();
    await user.keyboard('begin');
    expect(promptBox().value).toBe('begin');
  });

  it.each([
    ['a dead key', { key: 'Dead' }],
    ['an input method', { key: 'Process', keyCode: 229 }],
    ['AltGr', { key: '@', ctrlKey: true, altKey: true, modifierAltGraph: true }],
    ['pasting', { key: 'v', ctrlKey: true }],
  ])('begins in the prompt by %s, whose own effect stays', async (_name, key) => {
    await openApp('conversation');
    focusNowhere();
    const isUnhandled = await fireEvent.keyDown(document.body, key);
    expect(document.activeElement).toBe(promptBox());
    expect(isUnhandled).toBe(true);
  });

  it.each([
    ['a chord', { key: 'x', ctrlKey: true }],
    ['Alt', { key: 'x', altKey: true }],
    ['Tab', { key: 'Tab' }],
    ['Shift', { key: 'Shift' }],
    ['an arrow', { key: 'ArrowDown' }],
  ])('is not %s', async (_name, key) => {
    await openApp('conversation');
    focusNowhere();
    await fireEvent.keyDown(document.body, key);
    expect(document.activeElement).toBe(document.body);
  });

  it('stays in a field, a menu and a dialog', async () => {
    const { user } = await openApp('conversation');
    await user.click(screen.getByRole('button', { name: /^Model:/ }));
    await user.keyboard('x');
    expect(document.activeElement?.role ?? document.activeElement?.getAttribute('role')).toContain('menuitem');
    await user.keyboard('{Escape}');
    await fireEvent.keyDown(document.body, { key: ',', ctrlKey: true });
    await tick();
    screen.getByRole('button', { name: 'Open settings.json' }).focus();
    await user.keyboard('x');
    expect(promptBox().value).toBe('');
    expect(screen.getByRole<HTMLInputElement>('searchbox', { name: 'Search settings' }).value).toBe('x');
  });

  it('does not take the blank from a button', async () => {
    const { user } = await openApp('conversation');
    const search = screen.getByRole('button', { name: 'Commands' });
    search.focus();
    await user.keyboard(' ');
    expect(screen.getByRole('combobox', { name: 'Search commands and sessions' })).toBeTruthy();
    expect(promptBox().value).toBe('');
  });
});

it('Alt and a digit open the session of the list with that number, unless a dialog is shown', async () => {
  await openApp('conversation');
  const list = screen.getByRole('navigation', { name: 'Sessions' });
  const title = (nr: number) => list.querySelector(`[data-nr="${nr - 1}"] .title`)?.textContent ?? '';
  const shown = () => list.querySelector('[aria-current] .title')?.textContent;
  const press = (key: string, code: string) => fireEvent.keyDown(document.body, { key, code, altKey: true });
  const [third, fourth] = [title(3), title(4)];
  await press('3', 'Digit3');
  await expect.poll(shown).toBe(third);
  // A layout that writes digits only with Shift.
  await press("'", 'Digit4');
  await expect.poll(shown).toBe(fourth);
  await fireEvent.keyDown(document.body, { key: 'k', ctrlKey: true });
  await press('3', 'Digit3');
  expect(shown()).toBe(fourth);
});

it('Alt and a digit open what the filter has left', async () => {
  const { user } = await openApp('conversation');
  const list = screen.getByRole('navigation', { name: 'Sessions' });
  const titles = () => [...list.querySelectorAll('[data-nr] .title')].map((title) => title.textContent);
  const all = titles();
  const word = all[3]?.split(' ').at(-1) ?? '';
  await user.type(screen.getByRole('searchbox', { name: 'Filter sessions' }), word);
  await expect.poll(() => titles().length).toBeLessThan(all.length);
  const [first] = titles();
  expect(first).not.toBe(all[0]);
  await fireEvent.keyDown(document.body, { key: '1', code: 'Digit1', altKey: true });
  await expect.poll(() => list.querySelector('[aria-current] .title')?.textContent).toBe(first);
});

it('Alt and a digit are left to a dialog, to AltGr, and on macOS to a field', async () => {
  await openApp('conversation');
  const key = new KeyboardEvent('keydown', { key: '3', code: 'Digit3', altKey: true });
  expect([numberOf(key, promptBox(), false), numberOf(key, document.body, true)]).toEqual([3, 3]);
  expect(numberOf(key, promptBox(), true)).toBeNull();
  const writes = new KeyboardEvent('keydown', { key: '3', code: 'Digit3', altKey: true, modifierAltGraph: true });
  expect(numberOf(writes, document.body, false)).toBeNull();
  const dialog = document.body.appendChild(document.createElement('dialog'));
  dialog.open = true;
  expect(numberOf(key, document.body, false)).toBeNull();
  dialog.remove();
});
