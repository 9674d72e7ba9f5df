// The second pane: a session that is shown beside the open one, and its feed.

import type { CommandError, Session, SessionId } from '../bindings/api';
import { Feed } from './feed';
import { Pane } from './pane.svelte';
import type { SessionState } from './session.svelte';

export class SecondSession extends Pane {
  #feed: Feed | null = null;

  /** Shows a session, which is not the open one. */
  async show(state: SessionState): Promise<void> {
    this.#feed?.close();
    this.state = state;
    const { list, problems } = this.project;
    const callbacks = {
      onapplied: (session: Session) => list.take(session),
      onerror: (error: CommandError) => problems.report('The second session could not be read', error),
    };
    this.#feed = new Feed(this.host, state, callbacks, (...what) => this.host.subscribeSecond(...what));
    await this.#feed.load();
  }

  /** Shows no second session any more. */
  async close(): Promise<void> {
    if (this.leave() === null) return;
    await this.project.problems.attempt('The second session was not closed', () => this.host.leaveSecond());
  }

  /** As `close`, where the shell ends it itself: the session becomes the open one. Returns what was shown. */
  leave(): SessionState | null {
    const { state } = this;
    this.#feed?.close();
    this.#feed = null;
    this.state = null;
    return state;
  }

  /** Batches wait in the shell. */
  announce(sessionId: SessionId): void {
    this.#feed?.announce(sessionId);
  }

  /** Reads the session again, after an event was lost. */
  reload(): void {
    void this.#feed?.load();
  }
}
