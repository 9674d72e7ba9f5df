// What is drawn of a long answer. Data comes and goes at once; the page follows it a little a frame.

import type { Block } from '../bindings/api';

/** Elements that may come or go with one frame, roughly: some milliseconds of work. */
const A_FRAME = 150;
/** If more than so many come at once, only the last of them are drawn at first: they fill any view. */
const AT_ONCE = 400;

/**
 * The blocks that are drawn of a text, from one of them to its end. Those that no longer belong to it leave by and by, and
 * those that came faster than they can be drawn come by and by, both above the view of whoever follows the end.
 */
export class Drawn {
  /** What is drawn and no longer belongs to the text. */
  #gone = $state.raw<readonly Block[]>([]);
  /** How many of the text's blocks are still to come. */
  #nWaiting = $state.raw(0);
  #blocks = $state.raw<readonly Block[]>([]);
  #from = $state.raw(0);
  #end = 0;
  /** More came since the last frame than can be drawn at once. */
  #isFlooded = false;
  #frame: number | null = null;
  #isFollowed: () => boolean;
  #ondrawn: (draw: () => void) => void;

  /**
   * `isFollowed`: nobody reads what is above the view. `ondrawn` is to call what draws all the rest, for whoever reads on
   * above it.
   */
  constructor(isFollowed: () => boolean, ondrawn: (draw: () => void) => void) {
    this.#isFollowed = isFollowed;
    this.#ondrawn = ondrawn;
  }

  /** The number of the first block that is drawn. */
  get from(): number {
    return this.#from + this.#nWaiting - this.#gone.length;
  }

  get blocks(): readonly Block[] {
    return this.#gone.length === 0 && this.#nWaiting === 0
      ? this.#blocks
      : [...this.#gone, ...this.#blocks.slice(this.#nWaiting)];
  }

  /** The blocks that are still to come, before those that are drawn. */
  get waiting(): readonly Block[] {
    return this.#nWaiting === 0 ? [] : this.#blocks.slice(0, this.#nWaiting);
  }

  /** The text has these blocks now, the first of which is number `from`. */
  update(from: number, blocks: readonly Block[]): void {
    const n = from - this.#from;
    if (n > 0 && n <= this.#blocks.length) {
      const nDrawn = Math.max(0, n - this.#nWaiting);
      this.#gone = [...this.#gone, ...this.#blocks.slice(n - nDrawn, n)];
      this.#nWaiting -= n - nDrawn;
    } else if (n !== 0) {
      // Another part, or an earlier one: nothing of what was drawn is before it.
      this.#gone = [];
      this.#nWaiting = 0;
      this.#end = from;
    }
    this.#nWaiting = Math.min(this.#nWaiting, blocks.length);
    const nNew = Math.max(0, from + blocks.length - this.#end);
    [this.#from, this.#blocks, this.#end] = [from, blocks, from + blocks.length];
    if (this.#isFollowed() && sizeOf(blocks.slice(blocks.length - nNew)) > AT_ONCE) {
      this.#gone = [];
      this.#nWaiting = blocks.length - this.#last(AT_ONCE, blocks);
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
      this.#gone = this.#gone.slice(this.#first(A_FRAME, this.#gone));
      if (this.#gone.length === 0 && !this.#isFlooded) this.#nWaiting -= this.#last(A_FRAME, this.waiting);
      this.#isFlooded = false;
      this.#ask();
    } else if (this.#nWaiting > 0) {
      // Whoever reads finds all of it there. What should have gone stays until the text changes.
      this.#ondrawn(() => (this.#nWaiting = 0));
    }
  }

  /** How many of the first blocks have so many elements; one at least. */
  #first(most: number, blocks: readonly Block[]): number {
    let n = 0;
    for (let size = 0; n < blocks.length && size < most; n += 1) size += elements(blocks[n]);
    return n;
  }

  /** The same, of the last ones. */
  #last(most: number, blocks: readonly Block[]): number {
    return this.#first(most, blocks.toReversed());
  }
}

function sizeOf(blocks: readonly Block[]): number {
  return blocks.reduce((sum, block) => sum + elements(block), 0);
}

/** How many elements a block has, roughly. */
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
