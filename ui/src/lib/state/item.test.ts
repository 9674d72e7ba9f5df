import { describe, expect, it } from 'vitest';

import type { Item } from '../bindings/api';
import { ItemState } from './item.svelte';

function thought(text: string): Item {
  const body = { type: 'thinking', text, streaming: true, durationMs: null } as const;
  return { id: 'a', parent: null, row: 0, nr: 0, at: 0, parts: 1, body };
}

describe('a slice of a long text', () => {
  it('belongs to the whole text', () => {
    const slice = { of: 'a', nr: 1, isLast: true, block: 7, continues: false, isContinued: false };
    const item = new ItemState({ ...thought(''), id: 'a~1', slice });
    expect([item.whole, new ItemState(thought('')).whole]).toEqual(['a', 'a']);
    item.replace({ ...thought(''), id: 'a~1', slice: { ...slice, isLast: false } });
    expect(item.slice?.isLast).toBe(false);
  });
});

describe('an item in parts', () => {
  it('stays at the part that the user chose, as long as there is one', () => {
    const item = new ItemState({ ...thought('one'), parts: 3 });
    item.showPart(2, { type: 'thinking', text: 'three', streaming: false, durationMs: null });
    item.replace({ ...thought('one'), parts: 4 });
    expect([item.part, item.drawn]).toMatchObject([2, { text: 'three' }]);
    item.replace({ ...thought('one'), parts: 2 });
    expect([item.part, item.drawn]).toMatchObject([0, { text: 'one' }]);
  });
});
