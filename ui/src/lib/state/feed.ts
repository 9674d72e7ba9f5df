// The event feed of one session: applies batches to its state once per frame and in order, acknowledges them, and loads
// a new snapshot after a gap.

import type { Batch, CommandError, Session, SessionId, Viewport } from '../bindings/api';
import { asCommandError, type Host } from '../host/host';
import { FrameGate } from './frames';
import type { SessionState } from './session.svelte';

/**
 * The number of batches per acknowledgement. The shell keeps at most four batches in flight, and each acknowledgement
 * costs a call.
 */
const ACKNOWLEDGE_EVERY = 2;

export interface FeedCallbacks {
  /** The session's facts may have changed. */
  onapplied(session: Session): void;
  /** The session could not be read. */
  onerror(error: CommandError): void;
}

/** The feed of one open session. Batches of other sessions are dropped: they belong to a session that the user left. */
export class Feed {
  readonly state: SessionState;
  #host: Host;
  readonly #subscribe: Host['subscribe'];
  #callbacks: FeedCallbacks;
  #waiting: Batch[] = [];
  #loading = false;
  /** The user has unfolded or folded an item since the snapshot that is being loaded was requested. */
  #isStale = false;
  #closed = false;
  #unacknowledged = 0;
  #frame = new FrameGate(() => this.#drain());

  /** `subscribe` gets the snapshot; by default that of the open session. */
  constructor(
    host: Host,
    state: SessionState,
    callbacks: FeedCallbacks,
    subscribe: Host['subscribe'] = (...what) => host.subscribe(...what),
  ) {
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

  /** Requests a snapshot. Batches that arrive before it wait. */
  async load(): Promise<void> {
    if (this.#loading || this.#closed) return;
    this.#loading = true;
    try {
      const snapshot = await this.#subscribe(this.sessionId, this.state.wantAgain(), this.state.unfolded);
      if (this.#closed) return;
      this.state.load(snapshot);
      this.#callbacks.onapplied(this.state.session);
    } catch (reason) {
      if (this.#closed) return;
      this.#callbacks.onerror(asCommandError(reason));
      // The earlier subscription goes on: the shell sends no more batches until those that waited are acknowledged.
      this.#isStale = false;
    } finally {
      this.#loading = false;
    }
    this.#frame.ask();
    if (this.#isStale) this.state.onunfold();
  }

  receive(batch: Batch): void {
    if (this.#closed || batch.sessionId !== this.sessionId) return;
    this.#waiting.push(batch);
    if (!this.#loading) this.#frame.ask();
  }

  /** Requests other rows; they arrive with a batch. */
  async #show(show: Viewport): Promise<void> {
    // The snapshot being loaded covers the request.
    if (this.#loading || this.#closed) return;
    try {
      await this.#host.showRows(this.sessionId, show);
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
    this.#frame.cancel();
    this.#waiting = [];
  }

  #drain(): void {
    if (this.#loading || this.#closed) return;
    const batches = this.#waiting;
    this.#waiting = [];
    if (batches.length === 0) {
      // No batch arrived in this frame: acknowledge the rest.
      this.#acknowledge();
      return;
    }
    for (const [i, batch] of batches.entries()) {
      const applied = this.state.apply(batch);
      if (applied === 'gap') {
        this.#waiting = batches.slice(i + 1).concat(this.#waiting);
        // Skipped batches count as received. Otherwise the shell would wait for them forever.
        this.#unacknowledged = 0;
        this.#send(batch.seq);
        void this.load();
        return;
      }
      this.#unacknowledged += 1;
    }
    this.#callbacks.onapplied(this.state.session);
    if (this.#unacknowledged >= ACKNOWLEDGE_EVERY) this.#acknowledge();
    else this.#frame.ask();
  }

  #acknowledge(): void {
    if (this.#unacknowledged === 0) return;
    this.#unacknowledged = 0;
    this.#send(this.state.seq);
  }

  #send(seq: number): void {
    this.#host.acknowledge(this.sessionId, seq).catch((reason: unknown) => {
      if (!this.#closed) this.#callbacks.onerror(asCommandError(reason));
    });
  }
}
