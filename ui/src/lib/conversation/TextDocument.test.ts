import { tick } from 'svelte';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';

import { draw } from '../../test/draw';
import { paragraph } from '../../test/make';
import TextDocument from './TextDocument.svelte';

const blocks = Array.from({ length: 1_000 }, (_, i) => paragraph(`words ${i}`));

beforeEach(() => void vi.useFakeTimers({ toFake: ['requestAnimationFrame', 'cancelAnimationFrame'] }));
afterEach(() => void vi.useRealTimers());

/**
 * A long answer that arrived in one event: each paragraph is 20 pixels tall, and its end is in a 500-pixel viewport.
 */
async function answer() {
  const place = { following: true, index: 0, offset: 0 };
  const text = { type: 'text', blocks, streaming: true } as const;
  const { container } = await draw(TextDocument, { id: 'a', text, place });
  container.setAttribute('role', 'log');
  container.getBoundingClientRect = () => new DOMRect(0, 0, 500, 500);
  const article = container.querySelector('article');
  if (article === null) throw new Error('no answer');
  const n = () => article.querySelectorAll('p').length;
  const top = 500 - n() * 20;
  article.getBoundingClientRect = () => new DOMRect(0, top, 500, n() * 20);
  return { article, place, n };
}

it('keeps room for what is still to be drawn', async () => {
  const { article, n } = await answer();
  expect(n()).toBeLessThan(blocks.length);
  expect(parseFloat(article.style.marginTop)).toBeGreaterThan(1_000);
  while (vi.getTimerCount() > 0) vi.advanceTimersToNextFrame();
  await tick();
  expect(n()).toBe(blocks.length);
  expect(parseFloat(article.style.marginTop)).toBe(0);
});

it('leaves what is read where it is when the rest is drawn above', async () => {
  const { place, n } = await answer();
  const before = n();
  Object.assign(place, { following: false, offset: 7 });
  vi.advanceTimersToNextFrame();
  expect(n()).toBe(blocks.length);
  expect(place.offset).toBe(7 + (blocks.length - before) * 20);
});

it('draws a long text in chunks, and changes only the last one when the text grows', async () => {
  const textOf = (n: number) => ({ type: 'text', blocks: blocks.slice(0, n), streaming: true }) as const;
  const { container, redraw } = await draw(TextDocument, { id: 'a', text: textOf(100) });
  const drawn = () => [...(container.querySelector('article')?.children ?? [])];
  const before = drawn();
  expect(before.length).toBeGreaterThan(5);
  expect(Math.max(...before.map((chunk) => chunk.childElementCount))).toBeLessThan(20);
  const changed = new Set<Node>();
  const observer = new MutationObserver((records) => records.forEach(({ target }) => changed.add(target)));
  for (const chunk of before) observer.observe(chunk, { subtree: true, childList: true, attributes: true });
  await redraw({ text: textOf(120) });
  await tick();
  observer.disconnect();
  expect(drawn().slice(0, before.length)).toEqual(before);
  expect(before.slice(0, -1).filter((chunk) => [...changed].some((node) => chunk.contains(node)))).toEqual([]);
  expect([...changed].some((node) => before.at(-1)?.contains(node))).toBe(true);
  expect(
    drawn()
      .flatMap((chunk) => [...chunk.children])
      .map((block) => block.textContent),
  ).toEqual(Array.from({ length: 120 }, (_, i) => `words ${i}`));
});
