// A second session, which is shown beside the open one: its state and its feed.

import type { CommandError, RequestId, Session, SessionId } from '../bindings/api';
import type { Host } from '../host/host';
import { CardsInSight } from './cards';
import { Feed } from './feed';
import type { Problems } from './problems.svelte';
import type { ProjectState } from './project.svelte';
import type { SessionState } from './session.svelte';
import { SessionActions } from './sessionActions';

export class SecondSession {
  /** The session; `null` if none is shown. */
  state = $state.raw<SessionState | null>(null);
  /** Its permission cards that the user can see. */
  readonly cards: CardsInSight;
  #feed: Feed | null = null;

  constructor(
    private readonly host: Host,
    private readonly problems: Problems,
    private readonly onapplied: (session: Session) => void,
    oncards: (session: SessionId, requests: RequestId[]) => void,
  ) {
    this.cards = new CardsInSight(() => this.state?.id ?? null, oncards);
  }

  /** Shows a session, which is not the open one. */
  async show(state: SessionState): Promise<void> {
    this.#feed?.close();
    this.state = state;
    const callbacks = {
      onapplied: this.onapplied,
      onerror: (error: CommandError) => this.problems.report('The second session could not be read', error),
    };
    this.#feed = new Feed(this.host, state, callbacks, (...what) => this.host.subscribeSecond(...what));
    await this.#feed.load();
  }

  /** Shows no session beside the open one any more. */
  async close(): Promise<void> {
    if (this.leave() === null) return;
    await this.problems.attempt('The second session was not closed', () => this.host.leaveSecond());
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

/** The project as the parts of another session than the open one use it: for them, that session is the open one. */
export function secondOf(project: ProjectState, open: () => SessionState): ProjectState {
  const own: Record<string, unknown> = {
    forkSession: (before: string | null, id = open().id) => project.forkSession(before, id),
    cards: project.second.cards,
  };
  const scoped: ProjectState = new Proxy(project, {
    get(target, name) {
      if (name === 'open') return open();
      if (typeof name === 'string' && name in own) return own[name];
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      const ofSession = Object.hasOwn(SessionActions.prototype, name);
      return (...given: unknown[]): unknown => Reflect.apply(value, ofSession ? scoped : target, given);
    },
  });
  return scoped;
}
