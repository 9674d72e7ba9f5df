// A block of a long text that is drawn in slices.

import type { CopyOf, Slice } from '../bindings/api';

/** How a block is cut. */
export interface Cut {
  /** Copies the whole block. */
  copy: CopyOf;
  /** The block began in the slice before. */
  continues: boolean;
  /** The block goes on in the next slice. */
  isContinued: boolean;
  /** The entries of a list or rows of a table that are in earlier slices. */
  nBefore: number;
  /** The entries or rows in all slices; `undefined` while the block grows. */
  size: number | undefined;
}

/** How block `i` of `n` is cut, in a slice of an item. */
export function cutOf({ item, slice }: { item: string; slice: Slice }, i: number, n: number): Cut {
  const continues = slice.continues && i === 0;
  const isContinued = slice.isContinued && i === n - 1;
  return {
    copy: { type: 'code', itemId: item, block: slice.block + i },
    continues,
    isContinued,
    nBefore: continues ? (slice.nBefore ?? 0) : 0,
    size: continues ? slice.nInFirst : isContinued ? slice.nInLast : undefined,
  };
}

/** The size of a list or table for screen readers, which see a part of it; `undefined` for a whole one. */
export function wholeSize(cut: Cut | undefined, nMore = 0): number | undefined {
  if (cut === undefined || (!cut.continues && !cut.isContinued)) return undefined;
  return cut.size === undefined ? UNKNOWN : cut.size + nMore;
}

/** The size of what grows, in ARIA. */
const UNKNOWN = -1;
