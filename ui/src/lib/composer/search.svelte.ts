// Asks for the files that fit what is typed: one question at a time, and the last one always.

import type { FoundFiles } from '../bindings/api';

export class FileSearch {
  /** What fits; `null` while nothing is named or nothing is known yet. */
  found = $state.raw<FoundFiles | null>(null);
  #ask: (query: string) => Promise<FoundFiles | null>;
  #wanted: string | null = null;
  #answered: string | null = null;
  #asking = false;

  constructor(ask: (query: string) => Promise<FoundFiles | null>) {
    this.#ask = ask;
  }

  /** Looks for a name; `null` stops looking. What was found before stays until the answer is there. */
  look(query: string | null): void {
    this.#wanted = query;
    if (query === null) {
      this.found = null;
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
        // Given up meanwhile: there is nothing to show any more.
        if (this.#wanted === null) break;
        this.#answered = query;
        this.found = found;
      }
    } finally {
      this.#asking = false;
    }
  }
}
