// Rows of the transcript: one item, a slice of a long text, a run of reads and searches, or a run of changes to the task
// list.

import type { ItemState } from './item.svelte';

/**
 * One row of the transcript. Rows are immutable: a changed row is a new object, an unchanged row stays the same one.
 */
export type Row =
  | { key: string; index: number; kind: 'item'; item: ItemState }
  | { key: string; index: number; kind: 'lookups' | 'tasks'; items: ItemState[] };

/** The row's items in the main thread. */
export function itemsOf(row: Row): readonly ItemState[] {
  return row.kind === 'item' ? [row.item] : row.items;
}

/** How many calls the row is inside of. */
export function depthOf(row: Row): number {
  return row.kind === 'item' ? row.item.depth : 0;
}

/** The row without one of its items; `undefined` if it has no other. */
export function withoutItem(row: Row, item: ItemState): Row | undefined {
  const [first, ...others] = itemsOf(row).filter((other) => other !== item);
  if (first === undefined) return undefined;
  if (others.length === 0 || row.kind === 'item') return { key: first.id, index: row.index, kind: 'item', item: first };
  return { ...row, key: first.id, items: [first, ...others] };
}

/** Returns the row with one more item. The engine puts several items into a row only if they are of the same kind. */
export function withItem(row: Row | undefined, item: ItemState, index: number): Row {
  if (row === undefined) return { key: item.id, index, kind: 'item', item };
  const kind = item.body.type === 'toolCall' && item.body.icon === 'todo' ? 'tasks' : 'lookups';
  return { key: row.key, index, kind, items: [...itemsOf(row), item] };
}

/** Rows that are read as one: the slices of a text, or any other row alone. */
export interface RowGroup {
  key: string;
  /** What the rows are together; `null` for a row that needs no name. */
  label: 'Answer' | 'Thought' | 'Your prompt' | 'Tool call' | 'Note' | 'Message of another session' | null;
  /** The rows are of an item that may get more of them. */
  isText: boolean;
  rows: readonly Row[];
}

/** Puts adjacent slices of one item together. */
export function grouped(rows: readonly Row[]): readonly RowGroup[] {
  const groups: (RowGroup & { rows: Row[] })[] = [];
  for (const row of rows) {
    const key = row.kind === 'item' ? row.item.whole : row.key;
    const last = groups.at(-1);
    if (last?.isText === true && last.key === key) last.rows.push(row);
    else groups.push({ key, label: labelOf(row), isText: isText(row), rows: [row] });
  }
  return groups;
}

function isText(row: Row): boolean {
  if (row.kind !== 'item') return false;
  return row.item.slice !== undefined || ['text', 'prompt', 'message', 'thinking'].includes(row.item.body.type);
}

/** Any other item in one row names itself. */
function labelOf(row: Row): RowGroup['label'] {
  if (row.kind !== 'item') return null;
  const { body, slice } = row.item;
  if (body.type === 'text') return 'Answer';
  if (slice === undefined) return null;
  if (body.type === 'toolCall') return 'Tool call';
  if (body.type === 'notice') return 'Note';
  if (body.type === 'message') return 'Message of another session';
  return body.type === 'prompt' ? 'Your prompt' : 'Thought';
}

/** Whether the row is a text that is being written. */
export function isStreaming(row: Row): boolean {
  return row.kind === 'item' && row.item.body.type === 'text' && row.item.body.streaming;
}

/** Rows that were added before row `at`, or taken away from there on if `by` is negative. */
export interface Move {
  at: number;
  by: number;
}

/** The moves that give the rows `before` the numbers that they have in `after`, one after the other. */
export function movesBetween(before: readonly Row[], after: readonly Row[]): readonly Move[] {
  const now = new Map(after.map(({ key, index }) => [key, index]));
  const moves: Move[] = [];
  let moved = 0;
  for (const { key, index } of before) {
    const by = (now.get(key) ?? index + moved) - index - moved;
    if (by !== 0) moves.push({ at: index + moved + Math.min(0, by), by });
    moved += by;
  }
  return moves;
}
