import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import type { Block } from '../bindings/api';
import { paragraph } from '../../test/make';
import { Drawn } from './drawn.svelte';

const blocks = Array.from({ length: 2_000 }, (_, i) => paragraph(`words ${i}`));
const now = (draw: () => void) => draw();

/** A text whose `blocks` arrived in small steps, so that all of them are drawn. */
function grown(isFollowed: () => boolean, ondrawn = now): Drawn {
  const drawn = new Drawn(isFollowed, ondrawn);
  for (let end = 100; end <= 1_000; end += 100) drawn.update(0, blocks.slice(0, end));
  expect(drawn.blocks).toEqual(blocks.slice(0, 1_000));
  return drawn;
}

/** Expects the drawn blocks to be a contiguous run of the text's blocks. */
function expectRun(drawn: Drawn, of: readonly Block[] = blocks) {
  expect(drawn.blocks).toEqual(of.slice(drawn.from, drawn.from + drawn.blocks.length));
}

/** Runs frames until no work is left; returns their number. */
function frames(each: () => void): number {
  let n = 0;
  for (; vi.getTimerCount() > 0 && n < 1_000; n += 1) {
    vi.advanceTimersToNextFrame();
    each();
  }
  return n;
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['requestAnimationFrame', 'cancelAnimationFrame'] }));
afterEach(() => void vi.useRealTimers());

it('lets the beginning of a text go over several frames', () => {
  const drawn = grown(() => true);
  drawn.update(900, blocks.slice(900, 1_000));
  expect([drawn.from, drawn.blocks.length]).toEqual([0, 1_000]);
  expect(frames(() => expectRun(drawn))).toBeGreaterThan(3);
  expect([drawn.from, drawn.blocks.length]).toEqual([900, 100]);
});

it('draws the last of what comes at once, and the rest over several frames', () => {
  const drawn = grown(() => true);
  drawn.update(0, blocks);
  expect(drawn.blocks.length).toBeLessThan(500);
  expect(drawn.blocks.at(-1)).toBe(blocks.at(-1));
  expect(drawn.waiting.length + drawn.blocks.length).toBe(2_000);
  expect(frames(() => expectRun(drawn))).toBeGreaterThan(3);
  expect(drawn.blocks).toEqual(blocks);
});

it('draws what went before it came nowhere', () => {
  const drawn = new Drawn(() => true, now);
  drawn.update(0, blocks);
  const first = drawn.from;
  drawn.update(first - 10, blocks.slice(first - 10));
  expect([drawn.from, drawn.waiting.length]).toEqual([first, 10]);
  drawn.update(first + 10, blocks.slice(first + 10));
  expect([drawn.from, drawn.waiting.length]).toEqual([first, 0]);
  frames(() => expectRun(drawn));
  expect([drawn.from, drawn.blocks.length]).toEqual([first + 10, 2_000 - first - 10]);
});

it('takes nothing from whoever reads, and goes on when he is back', () => {
  let isFollowed = false;
  const drawn = grown(() => isFollowed);
  drawn.update(10, blocks.slice(10, 1_000));
  expect(frames(() => {})).toBe(1);
  expect(drawn.from).toBe(0);
  isFollowed = true;
  drawn.update(10, blocks.slice(10, 990));
  frames(() => {});
  expect(drawn.from).toBe(10);
});

it('draws all that is missing as soon as somebody reads, and everything that comes', () => {
  let isFollowed = true;
  let asked = 0;
  const drawn = new Drawn(
    () => isFollowed,
    (draw) => {
      asked += 1;
      draw();
    },
  );
  drawn.update(0, blocks);
  isFollowed = false;
  expect(frames(() => {})).toBe(1);
  expect([asked, drawn.blocks.length]).toEqual([1, 2_000]);
  drawn.update(0, [...blocks, ...blocks]);
  expect(drawn.blocks.length).toBe(4_000);
});

it('comes to rest when a text becomes shorter than what was to come', () => {
  for (const left of [10, 0]) {
    const drawn = new Drawn(() => true, now);
    drawn.update(0, blocks);
    drawn.update(0, blocks.slice(0, left));
    expect(frames(() => expectRun(drawn))).toBeLessThan(10);
    expect([drawn.from, drawn.blocks.length]).toEqual([0, left]);
  }
});

it('keeps nothing of another part, and stops with its component', () => {
  const drawn = grown(() => true);
  drawn.update(999, blocks.slice(999, 1_000));
  drawn.update(0, blocks.slice(0, 10));
  expect([drawn.from, drawn.blocks.length]).toEqual([0, 10]);
  drawn.update(5, blocks.slice(5, 10));
  drawn.end();
  expect(vi.getTimerCount()).toBe(0);
});

it('keeps a bounded part of a beginning that is gone while a hidden window draws no frames', () => {
  const drawn = new Drawn(() => true, now);
  const long = Array.from({ length: 20_000 }, (_, i) => paragraph(`words ${i}`));
  for (let end = 100; end <= long.length; end += 100)
    drawn.update(Math.max(0, end - 200), long.slice(Math.max(0, end - 200), end));
  expect(drawn.blocks.length).toBeLessThan(6_000);
  expectRun(drawn, long);
});
