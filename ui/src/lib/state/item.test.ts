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

describe('a text that streams', () => {
  it('draws nothing again when its beginning goes', () => {
    const item = new ItemState(text(paragraphs(0, 10), 0));
    const before = blocksOf(item);
    item.replace(text([...paragraphs(4, 9), paragraph('words 9 and more'), ...paragraphs(10, 12)], 1));
    expect(item.firstBlock).toBe(4);
    expect(blocksOf(item)).toHaveLength(8);
    blocksOf(item)
      .slice(0, 5)
      .forEach((block, i) => expect(block).toBe(before[4 + i]));
    item.replace(text(paragraphs(6, 12), 2));
    expect(item.firstBlock).toBe(6);
  });

  it('knows its blocks again behind one that is cut', () => {
    const item = new ItemState(text([...paragraphs(0, 3), code('one', 'two', 'three'), ...paragraphs(4, 9)], 0));
    const before = blocksOf(item);
    item.replace(text([code('two', 'three'), ...paragraphs(4, 10)], 1));
    expect(item.firstBlock).toBe(3);
    expect(blocksOf(item)[1]).toBe(before[4]);
  });

  it('leaves a reader who is elsewhere with what he reads', () => {
    const item = new ItemState(text(paragraphs(0, 10), 0));
    item.replace(text(paragraphs(4, 12), 1), false);
    expect(item.firstBlock).toBe(0);
    expect(blocksOf(item)).toHaveLength(10);
    item.showEnd();
    expect(item.firstBlock).toBe(4);
    expect(blocksOf(item)).toHaveLength(8);
  });
});
