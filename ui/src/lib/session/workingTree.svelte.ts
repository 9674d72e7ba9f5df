// The changed files of the working tree, read again when something may have changed them.

import type { Against, Changes } from '../bindings/api';

export class WorkingChanges {
  /** The last list; `null` before the first. */
  view = $state.raw<Changes | null>(null);
  against = $state.raw<Against>('commit');
  isReading = $state.raw(false);
  /** Counts the lists: the diffs that are shown are as old as theirs. */
  nr = $state.raw(0);
  #isWanted = false;
  #of = 0;
  #viewOf = 0;
  #load: (against: Against) => Promise<Changes | null>;

  /** `load` resolves to `null` if the list could not be read, which is reported, or if there is nothing to read. */
  constructor(load: (against: Against) => Promise<Changes | null>) {
    this.#load = load;
  }

  /** Whether the list says more than what the agent's own edits say. */
  get isKnown(): boolean {
    const type = this.view?.base.type;
    return type !== undefined && type !== 'noRepository' && type !== 'edits';
  }

  /** Whether the list is of the session that is shown, and of the base that was chosen last. */
  get isOfBase(): boolean {
    return this.#viewOf === this.#of;
  }

  /** Reads the list again. One reading runs at a time; what is asked for meanwhile is one more. */
  async refresh(): Promise<void> {
    this.#isWanted = true;
    if (this.isReading) return;
    this.isReading = true;
    while (this.#isWanted) {
      this.#isWanted = false;
      const of = this.#of;
      const view = await this.#load(this.against);
      if (view === null || of !== this.#of) continue;
      this.view = view;
      this.#viewOf = of;
      this.nr += 1;
    }
    this.isReading = false;
  }

  choose(against: Against): Promise<void> {
    if (nameOf(against) === nameOf(this.against)) return Promise.resolve();
    this.against = against;
    return this.#changed();
  }

  /** Another session is shown. */
  reset(): Promise<void> {
    this.view = null;
    this.against = 'commit';
    return this.#changed();
  }

  #changed(): Promise<void> {
    this.#of += 1;
    return this.refresh();
  }
}

/** Names a state to compare with, for a list of them. */
export const nameOf = (against: Against): string => (typeof against === 'string' ? against : `at ${against.at}`);
