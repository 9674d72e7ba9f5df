// The lines of an agent that a window has read: they grow at their end, and the first ones are dropped.

import type { RawLine, RawLines } from '../../bindings/api';

/** Lines that a window keeps: all that the engine keeps, and as many again. */
const MOST = 1_100;

export class LineLog {
  lines = $state.raw<readonly RawLine[]>([]);
  /** The counts of the last answer; `null` before the first one. */
  counts = $state.raw<Pick<RawLines, 'nUnknown' | 'nUnreadable'> | null>(null);
  /** How many lines are missing before or between those that are here. */
  nMissing = $state(0);
  #last = 0;

  /** Reads what is new. */
  async read(load: (after: number) => Promise<RawLines>): Promise<void> {
    let answer: RawLines;
    do {
      answer = await load(this.#last);
      this.#add(answer);
    } while (answer.hasMore);
  }

  #add({ lines, last, nUnknown, nUnreadable, nDropped }: RawLines): void {
    // The process that has the session was restarted, and counts from 1 again.
    if (last < this.#last) this.#clear();
    this.counts = { nUnknown, nUnreadable };
    this.#last = last;
    if (lines.length === 0) return;
    const all = [...this.lines, ...lines];
    this.lines = all.slice(-MOST);
    this.nMissing += nDropped + all.length - this.lines.length;
  }

  #clear(): void {
    this.lines = [];
    this.nMissing = 0;
  }
}
