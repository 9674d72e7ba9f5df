// Keys of an input method: in a field they reach no handler of the page.

import { fireEvent } from '@testing-library/svelte';
import { beforeEach, describe, expect, it } from 'vitest';

import { openApp, promptBox } from '../../test/app';

beforeEach(() => localStorage.clear());

const COMPOSING = [
  ['while it composes', { isComposing: true }],
  ['that ends a composition on macOS', { keyCode: 229 }],
] as const;

describe.each(COMPOSING)('an Enter %s', (_name, composing) => {
  it('sends no prompt', async () => {
    const { user, host } = await openApp('conversation');
    const sent: string[] = [];
    host.command = (_id, command) => {
      if (command.type === 'prompt') sent.push(command.text);
      return Promise.resolve();
    };
    await user.type(promptBox(), 'にほん');
    await fireEvent.keyDown(promptBox(), { key: 'Enter', ...composing });
    expect(sent).toEqual([]);
    await fireEvent.keyDown(promptBox(), { key: 'Enter' });
    await expect.poll(() => sent).toEqual(['にほん']);
  });

  it('chooses nothing in the palette, and Escape does not close it', async () => {
    await openApp('conversation');
    const palette = () => document.querySelector<HTMLInputElement>('dialog[open] input');
    await fireEvent.keyDown(promptBox(), { key: 'k', ctrlKey: true });
    await expect.poll(palette).not.toBeNull();
    const box = palette() as HTMLInputElement;
    box.focus();
    await fireEvent.keyDown(box, { key: 'Enter', ...composing });
    await fireEvent.keyDown(box, { key: 'Escape', ...composing });
    expect(palette()).toBe(box);
    await fireEvent.keyDown(box, { key: 'Enter' });
    await expect.poll(palette).toBeNull();
  });
});
