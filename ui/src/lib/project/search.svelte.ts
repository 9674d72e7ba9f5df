// The search in all sessions: its query, and the results as they arrive. A new query replaces the last search.

import type { FoundSession, SearchChange } from '../bindings/api';
import { asCommandError, type Host } from '../host/host';

/** How far the last search has come. */
export type Progress = Omit<SearchChange, 'found'>;

export class SearchState {
  query = $state('');
  /** Searches the sessions of all projects. */
  all = $state(false);
  found = $state.raw<readonly FoundSession[]>([]);
  progress = $state.raw<Progress | null>(null);
  /** Why the query is not searched: it has no word yet, or a date that is none. */
  hint = $state.raw<string | null>(null);
  /** The search failed, with the reason. */
  failure = $state.raw<string | null>(null);

  #host: Host;
  #nr = 0;
  /** The results are those of an earlier query, shown until the first ones of the new query arrive. */
  #isStale = false;
  /** The last search was for all results. */
  #toTheEnd = $state(false);

  constructor(host: Host) {
    this.#host = host;
  }

  /** A search is in progress. */
  get searching(): boolean {
    return this.progress !== null && !this.progress.isComplete;
  }

  /** The search ended after the newest results, and there are more. */
  get hasMore(): boolean {
    return this.progress !== null && this.progress.isComplete && this.progress.isCut && !this.#toTheEnd;
  }

  /** Searches for the query as it is now, and shows the newest results. */
  run(): Promise<void> {
    return this.#search(false);
  }

  /** Adds the results after those that are shown. */
  more(): Promise<void> {
    return this.#search(true);
  }

  async #search(toTheEnd: boolean): Promise<void> {
    this.#nr += 1;
    const nr = this.#nr;
    this.#toTheEnd = toTheEnd;
    this.#isStale = !toTheEnd;
    this.failure = null;
    const isEmpty = this.query.trim() === '';
    if (isEmpty) this.#reset(null);
    else this.progress = START;
    try {
      // Without a word the host prepares the search for one.
      const offset = -new Date().getTimezoneOffset();
      const hint = await this.#host.searchSessions(nr, this.query, this.all, toTheEnd, offset);
      if (isEmpty) return;
      if (nr === this.#nr && hint !== null) this.#reset(hint);
      else if (nr === this.#nr) this.hint = null;
    } catch (reason) {
      if (nr !== this.#nr) return;
      if (toTheEnd) this.progress = null;
      else this.#reset(null);
      this.failure = asCommandError(reason).message;
    }
  }

  /** The panel is open: the host prepares the search, if there is no query yet. */
  prepare(): Promise<void> {
    return this.query.trim() === '' ? this.run() : Promise.resolve();
  }

  /** Ends the search; the results stay. */
  async stop(): Promise<void> {
    try {
      await this.#host.stopSearch();
    } catch (reason) {
      this.failure = asCommandError(reason).message;
    }
  }

  /** Takes results of the search with that number. Those of an earlier one are dropped. */
  take(nr: number, { found, ...progress }: SearchChange): void {
    if (nr !== this.#nr) return;
    this.progress = progress;
    if (found.length === 0 && !progress.isComplete) return;
    const shown = new Set(this.#isStale ? [] : this.found.map(({ agentSessionId }) => agentSessionId));
    const added = found.filter(({ agentSessionId }) => !shown.has(agentSessionId));
    this.found = this.#isStale ? found : [...this.found, ...added];
    this.#isStale = false;
  }

  #reset(hint: string | null): void {
    this.found = [];
    this.progress = null;
    this.hint = hint;
    this.#isStale = false;
  }
}

const START: Progress = {
  nSearched: 0,
  nFiles: 0,
  nUnreadable: 0,
  nLeftOut: 0,
  isCut: false,
  isComplete: false,
  problem: null,
};

/** The state of a search in words, for its last line and for screen readers. */
export function progressWords(found: readonly FoundSession[], progress: Progress | null): string {
  if (progress === null) return '';
  const count = (n: number, one: string) => `${n.toLocaleString('en-GB')} ${n === 1 ? one : `${one}s`}`;
  if (!progress.isComplete) {
    return found.length === 0 ? 'Searching…' : `${count(found.length, 'session')} so far…`;
  }
  const number = count(found.length, 'session');
  const parts = [found.length === 0 ? 'No results' : progress.isCut ? `Showing the newest ${number}` : number];
  if (progress.isCut) parts.push('add a word or a date for older ones');
  if (progress.nUnreadable > 0) parts.push(`${count(progress.nUnreadable, 'file')} could not be read`);
  if (progress.nLeftOut > 0) parts.push(`${count(progress.nLeftOut, 'damaged or very long line')} not searched`);
  if (progress.problem !== null) parts.push(progress.problem);
  return parts.join(' · ');
}
