// The sessions of a project: Deskbell's own and those in the agent's store, and which of them have news for the user.

import { SvelteSet } from 'svelte/reactivity';

import type { Session, SessionId } from '../bindings/api';
import { reuse } from '../session/reuse';
import { isOver, isTurnRunning } from '../text/status';
import { rowsOf, type Row } from '../session/sessionRows';
import type { StoredNews, StoredSessions } from './stored.svelte';

export class SessionList {
  /** Deskbell's own sessions. */
  all = $state.raw<readonly Session[]>([]);
  /** The rows of the list, newest first. */
  readonly rows: readonly Row[] = $derived.by(() => rowsOf(this.all, this.stored.inOrder));
  /** Sessions whose turn ended since the user last opened them. */
  readonly unread = new SvelteSet<SessionId>();

  /** `isShown`: the user sees that session. */
  constructor(
    private readonly stored: StoredSessions,
    private readonly isShown: (id: SessionId) => boolean,
  ) {}

  find(id: SessionId): Session | undefined {
    return this.all.find((session) => session.id === id);
  }

  /** Adds a session, or takes its newer facts. */
  take(session: Session): void {
    const index = this.all.findIndex((known) => known.id === session.id);
    const before = this.all[index];
    if (before === undefined) {
      this.all = [session, ...this.all];
      return;
    }
    const after = reuse(before, session);
    // A session that streams has the same facts after most batches: the list is not made again for each of them.
    if (after === before) return;
    if (isTurnRunning(before.status) && isOver(session.status) && !this.isShown(session.id)) {
      this.unread.add(session.id);
    }
    this.all = this.all.with(index, after);
  }

  /** Takes the list of the shell. */
  takeAll(sessions: readonly Session[]): void {
    this.all = reuse(this.all, sessions);
  }

  remove(id: SessionId): void {
    this.all = this.all.filter((session) => session.id !== id);
    this.unread.delete(id);
  }

  /** A turn ended in another program. The end of a turn that ran here is reported by its session. */
  markUnread({ session: { agentSessionId, live }, before }: StoredNews): void {
    const own = this.all.find((session) => session.agentSessionId === agentSessionId);
    if (own === undefined) {
      this.unread.add(agentSessionId);
      return;
    }
    const other = live ?? before?.live;
    if (!own.alive && other != null && !this.isShown(own.id)) this.unread.add(own.id);
  }
}
