// Documents as bounded rows, for measurements: a row is one top-level block, or a slice of one that is too long.

import type { Block, CodeLine } from '../../lib/bindings/api';

/** The maximum number of elements of a row. A paragraph cannot be sliced: its next slice would begin a new line. */
const MOST = 100;

/** A change of a streamed document, as the engine makes it (`src-tauri/document/examples/changes.rs`). */
export type Change = { at: number } & (
  { keep: number; blocks: readonly Block[] } | { keepLines: number; lines: readonly CodeLine[] }
);

/** The blocks after a change. */
export function changed(blocks: readonly Block[], change: Change): readonly Block[] {
  if ('keep' in change) return [...blocks.slice(0, change.keep), ...change.blocks];
  const last = blocks.at(-1);
  if (last?.type !== 'code') throw new Error('only code grows by lines');
  return [...blocks.slice(0, -1), { ...last, lines: [...last.lines.slice(0, change.keepLines), ...change.lines] }];
}

/** The number of elements of a block, roughly. */
export function elements(block: Block): number {
  const all = (blocks: readonly Block[]) => blocks.reduce((sum, inner) => sum + elements(inner), 1);
  switch (block.type) {
    case 'paragraph':
    case 'heading':
      return 1 + block.spans.length;
    case 'code':
      return block.lines.reduce((sum, line) => sum + 1 + line.tokens.length, 1);
    case 'quote':
    case 'footnote':
      return all(block.blocks);
    case 'list':
      return block.items.reduce((sum, item) => sum + all(item.blocks), 1);
    case 'table':
      return [block.head, ...block.rows].reduce((sum, row) => sum + 1 + row.length, 1);
    case 'rule':
      return 1;
  }
}

/** The rows of a block. A slice of a list continues its numbers; each slice of a table has the head. */
export function slices(block: Block): readonly Block[] {
  if (elements(block) <= MOST) return [block];
  switch (block.type) {
    case 'code':
      return groups(block.lines, (line) => 1 + line.tokens.length).map((lines) => ({ ...block, lines }));
    case 'table':
      return groups(block.rows, (row) => 1 + row.length).map((rows) => ({ ...block, rows }));
    case 'quote':
    case 'footnote':
      return groups(block.blocks.flatMap(slices), elements).map((blocks) => ({ ...block, blocks }));
    case 'list': {
      const items = block.items.map((item, nr) => ({ item, nr }));
      // An item that is too long continues in an item of the same number.
      const pieces = items.flatMap(({ item, nr }) =>
        groups(item.blocks.flatMap(slices), elements).map((blocks) => ({ item: { ...item, blocks }, nr })),
      );
      return groups(pieces, ({ item }) => item.blocks.reduce((sum, inner) => sum + elements(inner), 1)).map(
        (some): Block => ({
          ...block,
          start: block.start === null ? null : block.start + (some[0]?.nr ?? 0),
          items: some.map(({ item }) => item),
        }),
      );
    }
    default:
      return [block];
  }
}

/** Consecutive entries in groups of at most `MOST` elements; an entry that is longer is a group of its own. */
function groups<Entry>(entries: readonly Entry[], size: (entry: Entry) => number): Entry[][] {
  const all: Entry[][] = [];
  let left = 0;
  for (const entry of entries) {
    const group = all.at(-1);
    left -= size(entry);
    if (group !== undefined && left >= 0) group.push(entry);
    else {
      all.push([entry]);
      left = MOST - size(entry);
    }
  }
  return all.length === 0 ? [[]] : all;
}

/** The changes of a document as changes of its rows. */
export interface RowCounts {
  changes: number;
  /** The last row changed. */
  grew: number;
  added: number;
  /** A row that was not the last one changed. */
  resettled: number;
  removed: number;
  /** A row kept its content and got another number. */
  renumbered: number;
  /** The length of all changes as JSON: as blocks, as sent today, and as rows. */
  sentAsBlocks: number;
  sentAsRows: number;
  rows: number;
  /** The largest row. */
  elements: number;
}

/** Counts what the changes of a streamed document do to its rows. */
export function countRows(changes: readonly Change[]): RowCounts {
  const counts: RowCounts = {
    ...{ changes: changes.length, grew: 0, added: 0, resettled: 0, removed: 0, renumbered: 0 },
    ...{ sentAsBlocks: 0, sentAsRows: 0, rows: 0, elements: 0 },
  };
  let blocks: readonly Block[] = [];
  /** The rows of each block, as JSON. */
  let before: readonly (readonly string[])[] = [];
  for (const change of changes) {
    blocks = changed(blocks, change);
    const kept = 'keep' in change ? change.keep : blocks.length - 1;
    const after = [...before.slice(0, kept), ...blocks.slice(kept).map((block) => slices(block).map(json))];
    count(counts, before.slice(kept).flat(), after.slice(kept).flat());
    counts.sentAsBlocks += json('keep' in change ? change.blocks : change.lines).length;
    before = after;
  }
  const rows = blocks.flatMap(slices);
  counts.rows = rows.length;
  counts.elements = Math.max(0, ...rows.map(elements));
  return counts;
}

const json = (value: unknown) => JSON.stringify(value);

function count(counts: RowCounts, before: readonly string[], after: readonly string[]): void {
  for (const [nr, row] of after.entries()) {
    if (row === before[nr]) continue;
    counts.sentAsRows += row.length;
    if (nr >= before.length) counts.added += 1;
    else if (before.includes(row)) counts.renumbered += 1;
    else if (nr === before.length - 1) counts.grew += 1;
    else counts.resettled += 1;
  }
  counts.removed += Math.max(0, before.length - after.length);
}
