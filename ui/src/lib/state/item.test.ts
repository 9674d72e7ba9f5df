import { describe, expect, it } from 'vitest';

import type { Item } from '../bindings/api';
import { ItemState } from './item.svelte';

function thought(text: string, part: number): Item {
  const body = { type: 'thinking', text, streaming: true, durationMs: null } as const;
  return { id: 'a', parent: null, row: 0, nr: 0, at: 0, parts: part + 2, part, body };
}

const drawn = (item: ItemState) => (item.drawn.type === 'thinking' ? item.drawn.text : null);

describe('a long thought that streams', () => {
  it('moves on with a reader who follows it', () => {
    const item = new ItemState(thought('one two', 1));
    item.replace(thought('two three', 2));
    expect([drawn(item), item.firstPart]).toEqual(['two three', 2]);
  });

  it('leaves a reader who is elsewhere with what he reads, until he goes to the end', () => {
    const item = new ItemState(thought('one two', 1));
    item.replace(thought('two three', 2), false);
    expect([drawn(item), item.firstPart]).toEqual(['one two', 1]);
    item.showEnd();
    expect([drawn(item), item.firstPart]).toEqual(['two three', 2]);
  });
});

describe('a slice of a long text', () => {
  it('belongs to the whole text', () => {
    const slice = { of: 'a', nr: 1, isLast: true, block: 7, continues: false, isContinued: false };
    const item = new ItemState({ ...thought('', 0), id: 'a~1', slice });
    expect([item.whole, new ItemState(thought('', 0)).whole]).toEqual(['a', 'a']);
    item.replace({ ...thought('', 0), id: 'a~1', slice: { ...slice, isLast: false } });
    expect(item.slice?.isLast).toBe(false);
  });
});
