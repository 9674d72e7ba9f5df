// A long document in chunks, so that what grows at its end costs no look at all that is before.

import type { Block } from '../bindings/api';

/** Blocks in a chunk. */
const SIZE = 16;

/** Some blocks of a document that follow each other. */
export interface Chunk {
  /** The number of its first block. */
  readonly from: number;
  readonly blocks: readonly Block[];
  /** It is the last, and more is to come. What is drawn of the others depends on nothing but themselves. */
  readonly grows: boolean;
}

/**
 * The chunks of a document that begins with block `from` and may be growing: those of `before` wherever they are still
 * the same.
 */
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

/** What a chunk keeps when blocks at its beginning go. */
export function chunkKey({ from }: Chunk): number {
  return Math.floor(from / SIZE);
}

function isSame(a: Chunk, b: Chunk): boolean {
  return (
    a.grows === b.grows && a.blocks.length === b.blocks.length && a.blocks.every((block, i) => block === b.blocks[i])
  );
}
