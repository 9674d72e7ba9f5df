import { fireEvent, screen } from '@testing-library/svelte';
import { tick } from 'svelte';
import { expect, it } from 'vitest';

import { draw } from '../../../test/draw';
import { code, paragraph } from '../../../test/make';
import type { Block, Slice } from '../../bindings/api';
import TextDocument from './TextDocument.svelte';

const blocks = Array.from({ length: 100 }, (_, i) => paragraph(`words ${i}`));
const SLICE = { of: 'a', nr: 1, isLast: false, block: 40, continues: true, isContinued: false };

it('changes only its last block when the text grows', async () => {
  const textOf = (n: number) => ({ type: 'text', blocks: blocks.slice(0, n), streaming: true }) as const;
  const { container, redraw } = await draw(TextDocument, { id: 'a', text: textOf(50) });
  const drawn = () => [...container.querySelectorAll('p')];
  const before = drawn();
  const changed = new Set<Node>();
  const observer = new MutationObserver((records) => records.forEach(({ target }) => changed.add(target)));
  for (const block of before.slice(0, -1))
    observer.observe(block, { subtree: true, childList: true, attributes: true });
  await redraw({ text: textOf(60) });
  await tick();
  observer.disconnect();
  expect(drawn().slice(0, before.length)).toEqual(before);
  expect([...changed]).toEqual([]);
  expect(drawn()).toHaveLength(60);
});

it('copies the whole of a code block of which it has a part', async () => {
  const text = { type: 'text' as const, blocks: [paragraph('a'), code('one')], streaming: false };
  const { host } = await draw(TextDocument, { id: 'a', text, slice: { ...SLICE, continues: false } });
  const copied: unknown[] = [];
  host.answers.copy = (_, { copy }) => {
    copied.push(copy);
    return Promise.resolve('the whole code');
  };
  await fireEvent.click(screen.getByRole('button', { name: 'Copy code' }));
  expect(copied).toEqual([{ type: 'code', itemId: 'a', block: 41 }]);
});

const list = (...words: string[]): Block => ({
  type: 'list',
  start: null,
  items: words.map((word) => ({ checked: null, blocks: [paragraph(word)] })),
});
const table = (head: string, ...words: string[]): Block => {
  const cell = (text: string) => ({ spans: text === '' ? [] : [{ type: 'text' as const, text }] });
  return { type: 'table', align: ['none'], head: [cell(head)], rows: words.map((word) => [cell(word)]) };
};
const places = (elements: HTMLElement[]) =>
  elements.map((element) => [
    element.getAttribute('aria-posinset') ?? element.getAttribute('aria-rowindex'),
    element.getAttribute('aria-setsize'),
  ]);

it('gives the entries of a cut list their places in the whole, and its size once it is known', async () => {
  const text = { type: 'text' as const, blocks: [list('a', 'b'), list('c')], streaming: true };
  const slice: Slice = { ...SLICE, isContinued: true, nBefore: 90 };
  const { redraw } = await draw(TextDocument, { id: 'a', text, slice });
  const entries = () => places(screen.getAllByRole('listitem'));
  expect(entries()).toEqual([
    ['91', '-1'],
    ['92', '-1'],
    ['1', '-1'],
  ]);
  await redraw({ slice: { ...slice, nInFirst: 92, nInLast: 7 } });
  expect(entries()).toEqual([
    ['91', '92'],
    ['92', '92'],
    ['1', '7'],
  ]);
  // A whole list says its size itself.
  await redraw({ slice: { ...slice, continues: false, isContinued: false } });
  expect(entries().flat()).toEqual(Array.from({ length: 6 }, () => null));
});

it('gives the rows of a cut table their places in the whole, and draws its head once', async () => {
  const text = (...blocks: Block[]) => ({ type: 'text' as const, blocks, streaming: false });
  const slice: Slice = { ...SLICE, continues: false, isContinued: true, nInLast: 500 };
  const { redraw } = await draw(TextDocument, { id: 'a', text: text(table('Head', 'a', 'b')), slice });
  const size = () => screen.getByRole('table').getAttribute('aria-rowcount');
  const rows = () => places(screen.getAllByRole('row')).map(([place]) => place);
  expect([size(), rows()]).toEqual(['501', ['1', '2', '3']]);
  const later: Slice = { ...SLICE, nBefore: 2, nInFirst: 500 };
  await redraw({ text: text(table('', 'c', 'd')), slice: later });
  expect(screen.queryByRole('columnheader')).toBeNull();
  expect([size(), rows()]).toEqual(['501', ['4', '5']]);
  await redraw({ text: text(table('Head', 'a')), slice: { ...later, continues: false } });
  expect([size(), rows()]).toEqual([null, [null, null]]);
});

it('has no second head for a code block that began before, and no button for the message before its end', async () => {
  const text = { type: 'text' as const, blocks: [code('two')], streaming: false };
  const { redraw } = await draw(TextDocument, { id: 'a', text, slice: SLICE });
  expect(screen.queryAllByRole('button')).toEqual([]);
  expect(screen.queryByText('text')).toBeNull();
  await redraw({ slice: { ...SLICE, isLast: true } });
  expect(screen.getByRole('button', { name: 'Copy message' })).not.toBeNull();
});
