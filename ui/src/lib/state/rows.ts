// The lines of a conversation as they are drawn: one for an item, or one for a run of reads and searches.

import type { Body } from '../bindings/api';
import type { ItemState } from './item.svelte';

/** One row of the transcript. Rows are replaced, never changed: the same row is the same object. */
export type Row = { key: string; kind: 'item'; item: ItemState } | { key: string; kind: 'lookups'; items: ItemState[] };

/** Adds an item at the end of `rows`, folding it into the last one if both only look things up. */
export function appendRow(rows: Row[], item: ItemState): void {
  const last = rows.at(-1);
  if (last !== undefined && isLookup(item.body)) {
    if (last.kind === 'lookups') {
      rows[rows.length - 1] = { ...last, items: [...last.items, item] };
      return;
    }
    if (isLookup(last.item.body)) {
      rows[rows.length - 1] = { key: last.key, kind: 'lookups', items: [last.item, item] };
      return;
    }
  }
  rows.push({ key: item.id, kind: 'item', item });
}

function isLookup(body: Body): boolean {
  return body.type === 'toolCall' && (body.icon === 'read' || body.icon === 'search');
}
