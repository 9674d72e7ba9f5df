import { describe, expect, it } from 'vitest';

import type { Item } from '../bindings/api';
import { ItemState } from './item.svelte';

function thought(text: string): Item {
  const body = { type: 'thinking', text, streaming: true, durationMs: null } as const;
  return { id: 'a', parent: null, row: 0, nr: 0, at: 0, body };
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
