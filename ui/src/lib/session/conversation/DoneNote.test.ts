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
  const [onclose, undo, onfocuslost] = [vi.fn(), vi.fn(), vi.fn()];
  const done = { text: 'Saved: Bash(ls) — you, in this project', undo };
  const { redraw, clock } = await draw(DoneNote, { done, onclose, onfocuslost });
  const button = screen.getByRole('button', { name: 'Undo' });
  button.focus();
  await fireEvent.click(button);
  expect(undo).toHaveBeenCalledOnce();
  expect(onclose).toHaveBeenCalledOnce();
  expect(onfocuslost).toHaveBeenCalledOnce();
  // The next one goes by itself.
  await redraw({ done: { ...done } });
  clock.advance(SHOWN_MS);
  expect(onclose).toHaveBeenCalledTimes(2);
});

it('writes out what is invisible, and leaves other letters as they are', async () => {
  const text = 'Saved: Bash(ls\u202e) — you, in this project';
  await draw(DoneNote, { done: { text, undo: null }, onclose: vi.fn() });
  const note = screen.getByText(/^Saved/).closest('p');
  expect(note?.textContent).toBe('Saved: Bash(ls\\u{202E}) — you, in this project');
});
