// Chunks of a long document, so that growth at its end does not cost a comparison of all earlier blocks.

import type { Block } from '../bindings/api';

/** The number of blocks in a chunk. */
const SIZE = 16;

/** Consecutive blocks of a document. */
export interface Chunk {
  /** The number of the first block. */
  readonly from: number;
  readonly blocks: readonly Block[];
  /** This is the last chunk and more blocks may follow. All other chunks depend only on their own blocks. */
  readonly grows: boolean;
}

/** Splits a document that begins with block `from` into chunks. Unchanged chunks of `before` are reused. */
export function chunked(
  blocks: readonly Block[],
  from: number,
  isGrowing: boolean,
  before: readonly Chunk[],
): readonly Chunk[] {
  const known = new Map(before.map((chunk) => [chunk.from, chunk]));
  const chunks: Chunk[] = [];
  let at = 0;
  while (at < blocks.length) {
    const end = Math.min(blocks.length, at + SIZE - ((from + at) % SIZE));
    const chunk = { from: from + at, blocks: blocks.slice(at, end), grows: isGrowing && end === blocks.length };
    const same = known.get(chunk.from);
    chunks.push(same !== undefined && isSame(same, chunk) ? same : chunk);
    at = end;
  }
  return chunks;
}

/** A key that stays the same when blocks at the beginning of the chunk are removed. */
export function chunkKey({ from }: Chunk): number {
  return Math.floor(from / SIZE);
}

function isSame(a: Chunk, b: Chunk): boolean {
  return (
    a.grows === b.grows && a.blocks.length === b.blocks.length && a.blocks.every((block, i) => block === b.blocks[i])
  );
}
