// The beginning of a long answer, on its way out: what goes at once as data leaves the page a little a frame.

import type { Block } from '../bindings/api';

/** Elements that may leave with one frame, roughly: some milliseconds of work. */
const A_FRAME = 400;

/** The blocks of a text that are drawn, by number: those it has, and before them some that it had. */
export class Leaving {
  #gone = $state.raw<readonly Block[]>([]);
  #blocks: readonly Block[] = [];
  #from = 0;
  #frame: number | null = null;
  #mayLeave: () => boolean;

  /** `mayLeave`: what is drawn above the view may change, since nobody reads there. */
  constructor(mayLeave: () => boolean) {
    this.#mayLeave = mayLeave;
  }

  /** What is drawn before the text's own blocks. */
  get gone(): readonly Block[] {
    return this.#gone;
  }

  /** The text begins with block `from` now. */
  update(from: number, blocks: readonly Block[]): void {
    const n = from - this.#from;
    if (n > 0 && n <= this.#blocks.length) this.#gone = [...this.#gone, ...this.#blocks.slice(0, n)];
    // Another part, or an earlier one: nothing of what was drawn is before it.
    else if (n !== 0) this.#gone = [];
    this.#from = from;
    this.#blocks = blocks;
    if (this.#gone.length > 0) this.#frame ??= requestAnimationFrame(() => this.#leave());
  }

  end(): void {
    if (this.#frame !== null) cancelAnimationFrame(this.#frame);
    this.#frame = null;
  }

  #leave(): void {
    this.#frame = null;
    // Whoever reads goes on reading: the next change of the text asks again.
    if (!this.#mayLeave()) return;
    let n = 0;
    for (let size = 0; n < this.#gone.length && size < A_FRAME; n += 1) size += elements(this.#gone[n]);
    this.#gone = this.#gone.slice(n);
    if (this.#gone.length > 0) this.#frame = requestAnimationFrame(() => this.#leave());
  }
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
