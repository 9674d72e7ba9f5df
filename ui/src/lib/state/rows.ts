// The lines of a conversation as they are drawn: one for an item, or one for a run of reads and searches.

import type { ItemState } from './item.svelte';

/** One row of the transcript. Rows are replaced, never changed: the same row is the same object. */
export type Row =
  | { key: string; index: number; kind: 'item'; item: ItemState }
  | { key: string; index: number; kind: 'lookups'; items: ItemState[] };

/** The items of the main thread in a row. */
export function itemsOf(row: Row): readonly ItemState[] {
  return row.kind === 'item' ? [row.item] : row.items;
}

/** The row with one more item in it: the shell puts several into a row only if all of them look things up. */
export function withItem(row: Row | undefined, item: ItemState, index: number): Row {
  if (row === undefined) return { key: item.id, index, kind: 'item', item };
  return { key: row.key, index, kind: 'lookups', items: [...itemsOf(row), item] };
}
