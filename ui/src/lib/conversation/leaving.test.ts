import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { paragraph } from '../../test/make';
import { Leaving } from './leaving.svelte';

const blocks = Array.from({ length: 1_000 }, (_, i) => paragraph(`words ${i}`));

beforeEach(() => void vi.useFakeTimers({ toFake: ['requestAnimationFrame', 'cancelAnimationFrame'] }));
afterEach(() => void vi.useRealTimers());

it('lets the beginning of a text go over several frames, in order', () => {
  const leaving = new Leaving(() => true);
  leaving.update(0, blocks);
  leaving.update(900, blocks.slice(900));
  expect(leaving.gone).toEqual(blocks.slice(0, 900));
  let frames = 0;
  for (let before = 900; leaving.gone.length > 0; before = leaving.gone.length) {
    vi.advanceTimersToNextFrame();
    frames += 1;
    expect(leaving.gone.length).toBeLessThan(before);
    expect(leaving.gone.at(-1)).toBe(leaving.gone.length === 0 ? undefined : blocks[899]);
  }
  expect(frames).toBeGreaterThan(3);
  expect(vi.getTimerCount()).toBe(0);
});

it('takes nothing from whoever reads, and goes on when he is back', () => {
  let mayLeave = false;
  const leaving = new Leaving(() => mayLeave);
  leaving.update(0, blocks);
  leaving.update(10, blocks.slice(10));
  vi.advanceTimersToNextFrame();
  expect(leaving.gone).toHaveLength(10);
  expect(vi.getTimerCount()).toBe(0);
  mayLeave = true;
  leaving.update(10, blocks.slice(10, 500));
  vi.advanceTimersToNextFrame();
  expect(leaving.gone).toHaveLength(0);
});

it('keeps nothing of another part, and stops with its component', () => {
  const leaving = new Leaving(() => true);
  leaving.update(0, blocks);
  leaving.update(999, blocks.slice(999));
  leaving.update(0, blocks.slice(0, 10));
  expect(leaving.gone).toHaveLength(0);
  leaving.update(5, blocks.slice(5, 10));
  leaving.end();
  expect(vi.getTimerCount()).toBe(0);
});
