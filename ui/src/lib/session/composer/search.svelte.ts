// File search for mentions: runs one query at a time, and always the latest one last.

import type { FoundFiles } from '../../bindings/api';

export class FileSearch {
  /** The matching files; `null` while no mention is typed or no result is known. */
  found = $state.raw<FoundFiles | null>(null);
  /** Why there is no list, as a sentence. */
  problem = $state.raw<string | null>(null);
  #ask: (query: string) => Promise<FoundFiles | string | null>;
  #wanted: string | null = null;
  #answered: string | null = null;
  #asking = false;

  /** `ask` resolves to a sentence if there is no list, or to `null` if that was reported elsewhere. */
  constructor(ask: (query: string) => Promise<FoundFiles | string | null>) {
    this.#ask = ask;
  }

  /** Sets the query; `null` ends the search. The previous result stays until the new one arrives. */
  look(query: string | null): void {
    this.#wanted = query;
    if (query === null) {
      [this.found, this.problem] = [null, null];
      this.#answered = null;
    } else if (query !== this.#answered && !this.#asking) {
      void this.#go();
    }
  }

  async #go(): Promise<void> {
    this.#asking = true;
    try {
      while (this.#wanted !== null && this.#wanted !== this.#answered) {
        const query = this.#wanted;
        const found = await this.#ask(query);
        // The search was ended in the meantime.
        if (this.#wanted === null) break;
        this.#answered = query;
        [this.found, this.problem] = typeof found === 'string' ? [null, found] : [found, null];
      }
    } finally {
      this.#asking = false;
    }
  }
}
