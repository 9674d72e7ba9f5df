import { fireEvent, screen } from '@testing-library/svelte';
import { tick } from 'svelte';
import { afterEach, expect, it, vi } from 'vitest';

import { draw } from '../../../test/draw';
import type { KeyBinding } from '../../bindings/api';
import { chooseKeys } from './chosen.svelte';
import KeysDialog from './KeysDialog.svelte';

afterEach(() => chooseKeys([]));

async function dialog(bindings: KeyBinding[] = []) {
  chooseKeys(bindings);
  const onset = vi.fn<(bindings: KeyBinding[]) => void>();
  await draw(KeysDialog, { bindings, onset, onclose: () => {} });
  return onset;
}

const button = (name: string) => screen.getByRole('button', { name, hidden: true });
const waits = () => screen.queryByText('Press the new key. Esc cancels.');

async function click(name: string) {
  await fireEvent.click(button(name));
  await tick();
}

async function press(key: string, modifiers: KeyboardEventInit = {}) {
  await fireEvent.keyDown(waits() ?? document.body, { key, ...modifiers });
  await tick();
}

it('takes the next key for an action', async () => {
  const onset = await dialog([{ action: 'doctor', key: 'F2' }]);
  await click('Change New session');
  expect(document.activeElement).toBe(waits());
  await press('Control', { ctrlKey: true });
  expect(onset).not.toHaveBeenCalled();
  await press('n', { ctrlKey: true, altKey: true });
  expect(onset).toHaveBeenCalledExactlyOnceWith([
    { action: 'doctor', key: 'F2' },
    { action: 'new', key: 'Ctrl+Alt+N' },
  ]);
  expect(waits()).toBeNull();
});

it('asks before it takes the key of another action', async () => {
  const onset = await dialog([{ action: 'doctor', key: 'ctrl+f2' }]);
  await click('Change New session');
  await press('F2', { ctrlKey: true });
  expect(screen.getByText('“Doctor” has Ctrl+F2. Use it here instead?')).toBeTruthy();
  expect(onset).not.toHaveBeenCalled();
  await click('Use it here');
  expect(onset).toHaveBeenCalledExactlyOnceWith([{ action: 'new', key: 'Ctrl+F2' }]);
});

it('is left with Esc and with Cancel, and nothing has changed', async () => {
  const onset = await dialog();
  for (const leave of [() => press('Escape'), () => click('Cancel')]) {
    await click('Change New session');
    await leave();
    expect(waits()).toBeNull();
  }
  expect(onset).not.toHaveBeenCalled();
});

it('takes the keys of an action away, and gives the usual ones back', async () => {
  const onset = await dialog([{ action: 'doctor', key: 'F2' }]);
  await click('Change New session');
  await click('No key');
  expect(onset).toHaveBeenLastCalledWith([
    { action: 'doctor', key: 'F2' },
    { action: 'new', key: null },
  ]);
  await click('Reset Doctor');
  expect(onset).toHaveBeenLastCalledWith([]);
});

it('offers no key that belongs to one element, and says which bindings have no effect', async () => {
  await dialog([
    { action: 'interrupt', key: 'F2' },
    { action: 'wombat', key: 'F3' },
  ]);
  expect(screen.queryByRole('button', { name: 'Change Stop this turn', hidden: true })).toBeNull();
  expect(screen.getAllByText(/which is no action whose key can be changed/)).toHaveLength(2);
});
