// The event feed of one session: takes the batches that wait for it, each after the last one was drawn, applies them to
// its state, and loads a new snapshot after a gap.

import type { CommandError, Session, SessionId, Viewport } from '../bindings/api';
import { asCommandError, type Host } from '../host/host';
import { FrameGate } from './frames';
import type { SessionState } from './session.svelte';

export interface FeedCallbacks {
  /** The session's facts may have changed. */
  onapplied(session: Session): void;
  /** The session could not be read. */
  onerror(error: CommandError): void;
}

/** The feed of one open session. */
export class Feed {
  readonly state: SessionState;
  #host: Host;
  readonly #subscribe: Host['subscribe'];
  #callbacks: FeedCallbacks;
  /** Batches may wait in the shell. */
  #isReady = false;
  /** The batch that was asked for, until it is applied. */
  #taking: Promise<void> | null = null;
  #loading = false;
  /** The user has unfolded or folded an item since the snapshot that is being loaded was requested. */
  #isStale = false;
  #closed = false;
  #drawn = new FrameGate(() => this.#take());

  /** `subscribe` gets the snapshot. */
  constructor(host: Host, state: SessionState, callbacks: FeedCallbacks, subscribe: Host['subscribe']) {
    this.#host = host;
    this.#subscribe = subscribe;
    this.state = state;
    this.#callbacks = callbacks;
    state.onshow = (show) => void this.#show(show);
    state.onunfold = () => {
      this.#isStale = this.#loading;
      void this.load();
    };
  }

  get sessionId(): SessionId {
    return this.state.id;
  }

  /** Requests a snapshot. No batch is taken before it has arrived. */
  async load(): Promise<void> {
    if (this.#loading || this.#closed) return;
    this.#loading = true;
    // It belongs to the earlier subscription.
    if (this.#taking !== null) await this.#taking;
    try {
      const snapshot = await this.#subscribe(this.sessionId, this.state.wantAgain(), this.state.unfolded);
      if (this.#closed) return;
      this.state.load(snapshot);
      this.#callbacks.onapplied(this.state.session);
    } catch (reason) {
      if (this.#closed) return;
      this.#callbacks.onerror(asCommandError(reason));
      // The earlier subscription goes on.
      this.#isStale = false;
    } finally {
      this.#loading = false;
    }
    this.#isReady = this.state.loaded;
    this.#take();
    if (this.#isStale) this.state.onunfold();
  }

  /** Batches wait in the shell. An announcement for another session belongs to one that the user left. */
  announce(sessionId: SessionId): void {
    if (sessionId !== this.sessionId) return;
    this.#isReady = true;
    this.#take();
  }

  /** Requests other rows; they arrive with a batch. */
  async #show(show: Viewport): Promise<void> {
    // The snapshot being loaded covers the request.
    if (this.#loading || this.#closed) return;
    try {
      await this.#host.showRows(this.sessionId, show);
      // Who scrolls does not wait for what streams.
      this.#drawn.cancel();
      this.#isReady = true;
      this.#take();
    } catch (reason) {
      if (this.#closed) return;
      this.state.cancelRequest();
      this.#callbacks.onerror(asCommandError(reason));
    }
  }

  close(): void {
    this.#closed = true;
    this.state.onshow = () => {};
    this.state.onunfold = () => {};
    this.#drawn.cancel();
  }

  /** Takes what waits, unless the last batch is not drawn yet: then it is taken after that. */
  #take(): void {
    if (!this.#isReady || this.#loading || this.#closed || this.#taking !== null || this.#drawn.isAsked) return;
    this.#isReady = false;
    this.#taking = this.#takeOne().finally(() => {
      this.#taking = null;
      this.#take();
    });
  }

  async #takeOne(): Promise<void> {
    try {
      const batch = await this.#host.nextBatch(this.sessionId, this.state.seq);
      if (batch === null || this.#closed) return;
      const applied = this.state.apply(batch);
      if (applied === 'gap') {
        void this.load();
        return;
      }
      // The shell announces nothing before it was asked in vain.
      this.#isReady = true;
      this.#drawn.ask();
      this.#callbacks.onapplied(this.state.session);
    } catch (reason) {
      if (!this.#closed) this.#callbacks.onerror(asCommandError(reason));
    }
  }
}
