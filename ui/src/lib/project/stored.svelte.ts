// The sessions in the agent's own store, as the store reports them.

import type { SessionMark, StoredChange, StoredSession } from '../bindings/api';
import { reuse } from '../session/reuse';
import { SeenStore } from '../session/seen';
import { inOrder } from '../session/sessionRows';

/** A stored session whose turn ended since it was listed last, and what was listed then. */
export interface StoredNews {
  readonly session: StoredSession;
  readonly before: StoredSession | undefined;
}

export class StoredSessions {
  /** The sessions, by the agent's id. */
  all = $state.raw<ReadonlyMap<string, StoredSession>>(new Map());
  /** What is known about the store itself. */
  store = $state.raw<Pick<StoredChange, 'isComplete' | 'nUnreadable' | 'problem'>>({
    isComplete: false,
    nUnreadable: 0,
    problem: null,
  });
  /** The sessions that the user pinned or archived, by the agent's id or their own. */
  marks = $state.raw<ReadonlyMap<string, SessionMark>>(new Map());
  readonly inOrder = $derived(inOrder(this.all.values()));
  /** The part of the store that this window, or an earlier one of the project, has listed. */
  readonly #seen: SeenStore;

  constructor(project: string) {
    this.#seen = new SeenStore(project);
  }

  /** Applies a change of the store. Returns the sessions whose turn ended since they were listed last. */
  take({ changed, removed, ...store }: StoredChange): readonly StoredNews[] {
    this.store = reuse(this.store, store);
    if (changed.length === 0 && removed.length === 0) return [];
    const all = new Map(this.all);
    const news: StoredNews[] = [];
    removed.forEach((id) => all.delete(id));
    for (const session of changed) {
      const before = all.get(session.agentSessionId);
      all.set(session.agentSessionId, session);
      if (this.#seen.isNews(before, session)) news.push({ session, before });
    }
    this.#seen.note(changed);
    this.all = all;
    return news;
  }

  /** All sessions are listed. */
  complete(): void {
    this.store = { ...this.store, isComplete: true };
  }
}
