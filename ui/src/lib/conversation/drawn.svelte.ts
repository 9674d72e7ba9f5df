// Incremental drawing of a long answer. Its data arrives and goes in large steps; the page follows in small ones, a few
// blocks per frame.

import type { Block } from '../bindings/api';

/** The number of elements that one frame may add or remove, roughly: some milliseconds of work. */
const A_FRAME = 150;
/** If an update adds more elements than this, only the last of them are drawn at first: they fill any viewport. */
const AT_ONCE = 400;
/**
 * The number of elements that may still be drawn although they no longer belong to the text. It is more than goes at
 * once, and is reached only where no frames are drawn: in a hidden window.
 */
const MOST_GONE = 10_000;

/**
 * The drawn blocks of a text, from one of them to its end. Removed blocks, and blocks that arrived faster than they can
 * be drawn, change a few per frame. Both are above the viewport while the view follows the end.
 */
export class Drawn {
  /** Blocks that are still drawn but no longer belong to the text. */
  #gone = $state.raw<readonly Block[]>([]);
  /** How many of the text's blocks are not drawn yet. */
  #nWaiting = $state.raw(0);
  #blocks = $state.raw<readonly Block[]>([]);
  #from = $state.raw(0);
  #end = 0;
  /** The last update added more elements than can be drawn at once. */
  #isFlooded = false;
  #frame: number | null = null;
  #isFollowed: () => boolean;
  #ondrawn: (draw: () => void) => void;

  /**
   * `isFollowed` says whether the view follows the end, so that nothing above the viewport is being read. `ondrawn`
   * receives a function that draws all remaining blocks, and must call it. It is called when the user scrolls up.
   */
  constructor(isFollowed: () => boolean, ondrawn: (draw: () => void) => void) {
    this.#isFollowed = isFollowed;
    this.#ondrawn = ondrawn;
  }

  /** The number of the first drawn block. */
  get from(): number {
    return this.#from + this.#nWaiting - this.#gone.length;
  }

  get blocks(): readonly Block[] {
    return this.#gone.length === 0 && this.#nWaiting === 0
      ? this.#blocks
      : [...this.#gone, ...this.#blocks.slice(this.#nWaiting)];
  }

  /** The blocks that are not drawn yet. They precede the drawn ones. */
  get waiting(): readonly Block[] {
    return this.#nWaiting === 0 ? [] : this.#blocks.slice(0, this.#nWaiting);
  }

  /** Replaces the text's blocks; `from` is the number of the first. */
  update(from: number, blocks: readonly Block[]): void {
    const n = from - this.#from;
    if (n > 0 && n <= this.#blocks.length) {
      const nDrawn = Math.max(0, n - this.#nWaiting);
      this.#gone = lastOf(MOST_GONE, [...this.#gone, ...this.#blocks.slice(n - nDrawn, n)]);
      this.#nWaiting -= n - nDrawn;
    } else if (n !== 0) {
      // Another part, or an earlier one: none of the drawn blocks precedes it.
      this.#gone = [];
      this.#nWaiting = 0;
      this.#end = from;
    }
    this.#nWaiting = Math.min(this.#nWaiting, blocks.length);
    const nNew = Math.max(0, from + blocks.length - this.#end);
    [this.#from, this.#blocks, this.#end] = [from, blocks, from + blocks.length];
    if (this.#isFollowed() && sizeOf(blocks.slice(blocks.length - nNew)) > AT_ONCE) {
      this.#gone = [];
      this.#nWaiting = firstOf(AT_ONCE, blocks, blocks.length);
      this.#isFlooded = true;
    }
    this.#ask();
  }

  end(): void {
    if (this.#frame !== null) cancelAnimationFrame(this.#frame);
    this.#frame = null;
  }

  #ask(): void {
    if (this.#gone.length > 0 || this.#nWaiting > 0) this.#frame ??= requestAnimationFrame(() => this.#step());
  }

  #step(): void {
    this.#frame = null;
    if (this.#isFollowed()) {
      this.#gone = withoutFirst(A_FRAME, this.#gone);
      if (this.#gone.length === 0 && !this.#isFlooded) {
        this.#nWaiting = firstOf(A_FRAME, this.#blocks, this.#nWaiting);
      }
      this.#isFlooded = false;
      this.#ask();
    } else if (this.#nWaiting > 0) {
      // A user who scrolls up finds the whole text. Blocks to be removed stay until the text changes.
      this.#ondrawn(() => (this.#nWaiting = 0));
    }
  }
}

/** The blocks without as many at the start as reach `most` elements together; at least one, if there is one. */
function withoutFirst(most: number, blocks: readonly Block[]): readonly Block[] {
  let n = 0;
  for (let size = 0; n < blocks.length && size < most; n += 1) size += elements(blocks[n]);
  return blocks.slice(n);
}

/** The first of the blocks before `end` that reach `most` elements together; at least one, if there is one. */
function firstOf(most: number, blocks: readonly Block[], end: number): number {
  let from = end;
  for (let size = 0; from > 0 && size < most; from -= 1) size += elements(blocks[from - 1]);
  return from;
}

function lastOf(most: number, blocks: readonly Block[]): readonly Block[] {
  return blocks.slice(firstOf(most, blocks, blocks.length));
}

function sizeOf(blocks: readonly Block[]): number {
  return blocks.reduce((sum, block) => sum + elements(block), 0);
}

/** The approximate number of elements of a block. */
function elements(block: Block | undefined): number {
  switch (block?.type) {
    case 'paragraph':
    case 'heading':
      return 1 + block.spans.length;
    case 'code':
      return block.lines.reduce((sum, line) => sum + 1 + line.tokens.length, 1);
    case 'quote':
    case 'footnote':
      return block.blocks.reduce((sum, inner) => sum + elements(inner), 1);
    case 'list':
      return block.items.reduce((sum, item) => item.blocks.reduce((all, inner) => all + elements(inner), sum + 1), 1);
    case 'table':
      return [block.head, ...block.rows].reduce((sum, row) => sum + row.length, 1);
    default:
      return 1;
  }
}
