import { describe, expect, it } from 'vitest';

import type { Block, Item } from '../bindings/api';
import { code, paragraph } from '../../test/make';
import { ItemState } from './item.svelte';

const paragraphs = (from: number, to: number): Block[] =>
  Array.from({ length: to - from }, (_, i) => paragraph(`words ${from + i}`));

function text(blocks: Block[], part: number): Item {
  const body = { type: 'text', blocks, streaming: true } as const;
  return { id: 'a', parent: null, row: 0, nr: 0, at: 0, parts: part + 2, part, body };
}

function blocksOf({ drawn }: ItemState): readonly Block[] {
  return drawn.type === 'text' ? drawn.blocks : [];
}

const gone = (part: number, blocks: number, lines = 0, cut: Block | null = null) =>
  ({ type: 'beginningGone', itemId: 'a', part, parts: part + 2, gone: { blocks, lines, cut } }) as const;

describe('a text that streams', () => {
  it('draws nothing again when its beginning goes', () => {
    const item = new ItemState(text(paragraphs(0, 10), 0));
    const before = blocksOf(item);
    item.dropBeginning(gone(1, 4));
    expect([item.firstBlock, item.firstPart, item.parts]).toEqual([4, 1, 3]);
    expect(blocksOf(item)).toEqual(before.slice(4));
    blocksOf(item).forEach((block, i) => expect(block).toBe(before[4 + i]));
    item.dropBeginning(gone(2, 2));
    expect(item.firstBlock).toBe(6);
  });

  it('keeps the lines of code that are left', () => {
    const item = new ItemState(text([...paragraphs(0, 3), code('one', 'two', 'three')], 0));
    const before = blocksOf(item)[3];
    item.dropBeginning(gone(1, 3, 1));
    const [left] = blocksOf(item);
    if (before?.type !== 'code' || left?.type !== 'code') throw new Error('not code');
    expect(left.lines).toHaveLength(2);
    left.lines.forEach((line, i) => expect(line).toBe(before.lines[1 + i]));
  });

  it('is left with a block that is cut elsewhere', () => {
    const item = new ItemState(text(paragraphs(0, 10), 0));
    const before = blocksOf(item);
    item.dropBeginning(gone(1, 4, 0, paragraph('4')));
    expect(blocksOf(item)).toEqual([paragraph('4'), ...before.slice(5)]);
    expect(blocksOf(item)[1]).toBe(before[5]);
  });

  it('leaves a reader who is elsewhere with what he reads', () => {
    const item = new ItemState(text(paragraphs(0, 10), 0));
    item.dropBeginning(gone(1, 4), false);
    expect(item.firstBlock).toBe(0);
    expect(blocksOf(item)).toHaveLength(10);
    item.showEnd();
    expect(item.firstBlock).toBe(4);
    expect(blocksOf(item)).toHaveLength(6);
  });

  it('stays with him when it is told anew', () => {
    const item = new ItemState(text(paragraphs(0, 10), 0));
    item.replace(text(paragraphs(4, 12), 1), false);
    expect(blocksOf(item)).toHaveLength(10);
    item.showEnd();
    expect(blocksOf(item)).toHaveLength(8);
  });
});
