// The part of the agent's store that the project's windows have listed, kept for the next start of the app.

import type { StoredSession } from '../bindings/api';

const KEY = 'deskbell.seen:';

export class SeenStore {
  /** The time of the last change that an earlier window listed; `null` if there was none. */
  readonly #before: number | null;
  #until: number;

  constructor(private readonly path: string) {
    const kept = Number(localStorage.getItem(KEY + path) ?? Number.NaN);
    this.#before = Number.isFinite(kept) ? kept : null;
    this.#until = this.#before ?? 0;
  }

  /** Whether a turn ended since the session was listed last. At the first start of all nothing is news. */
  isNews(before: StoredSession | undefined, { changedAt, state }: StoredSession): boolean {
    const isEnd = state.type === 'completed' || state.type === 'failed';
    const since = before?.changedAt ?? this.#before;
    return isEnd && since !== null && since < changedAt;
  }

  /** These sessions are listed now. */
  note(changed: readonly StoredSession[]): void {
    const last = changed.reduce((last, { changedAt }) => Math.max(last, changedAt), this.#until);
    if (last === this.#until) return;
    this.#until = last;
    try {
      localStorage.setItem(KEY + this.path, String(last));
    } catch {
      // As for a draft's text: with full storage it is known only as long as the window.
    }
  }
}
