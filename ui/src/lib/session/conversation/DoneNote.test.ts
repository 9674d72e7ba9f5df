// The note of a completed action disappears by itself, but not while the user reads it.

import { fireEvent, screen } from '@testing-library/svelte';
import { expect, it, vi } from 'vitest';

import { draw } from '../../../test/draw';
import DoneNote from './DoneNote.svelte';

const SHOWN_MS = 10_000;

it('goes by itself', async () => {
  const onclose = vi.fn();
  const { clock } = await draw(DoneNote, { done: { text: 'Copied the link', undo: null }, onclose });
  clock.advance(SHOWN_MS - 1);
  expect(onclose).not.toHaveBeenCalled();
  clock.advance(1);
  expect(onclose).toHaveBeenCalledOnce();
});

it('stays while the pointer is on it', async () => {
  const onclose = vi.fn();
  const { clock, container } = await draw(DoneNote, { done: { text: 'Copied the link', undo: null }, onclose });
  const note = container.querySelector('[aria-live]') as HTMLElement;
  await fireEvent.pointerEnter(note);
  clock.advance(SHOWN_MS * 2);
  expect(onclose).not.toHaveBeenCalled();
  await fireEvent.pointerLeave(note);
  clock.advance(SHOWN_MS);
  expect(onclose).toHaveBeenCalledOnce();
});

it('offers an undo, which ends it', async () => {
  const [onclose, undo] = [vi.fn(), vi.fn()];
  await draw(DoneNote, { done: { text: 'Saved: Bash(ls) — you, in this project', undo }, onclose });
  await fireEvent.click(screen.getByRole('button', { name: 'Undo' }));
  expect(undo).toHaveBeenCalledOnce();
  expect(onclose).toHaveBeenCalledOnce();
});
