// Brings one session's batches into its state: once per frame, in order, acknowledged, with a new snapshot after a gap.

import type { Batch, CommandError, Session, SessionId, Show } from '../bindings/api';
import { asCommandError, type Host } from '../host/host';
import { FrameGate } from './frames';
import type { SessionState } from './session.svelte';

/** The shell sends no more than four batches ahead, and each acknowledgement costs a call: so every second one. */
const ACKNOWLEDGE_EVERY = 2;

export interface FeedCallbacks {
  /** The session's facts may have changed. */
  onapplied(session: Session): void;
  /** The session could not be read. */
  onerror(error: CommandError): void;
}

/** The stream of one open session. Batches of other sessions are dropped: they belong to a session that was left. */
export class Feed {
  readonly state: SessionState;
  #host: Host;
  #callbacks: FeedCallbacks;
  #waiting: Batch[] = [];
  #loading = false;
  #closed = false;
  #unacknowledged = 0;
  #frame = new FrameGate(() => this.#drain());

  constructor(host: Host, state: SessionState, callbacks: FeedCallbacks) {
    this.#host = host;
    this.state = state;
    this.#callbacks = callbacks;
    state.onshow = (show) => void this.#show(show);
  }

  get sessionId(): SessionId {
    return this.state.id;
  }

  /** Asks for a snapshot; batches that come before it wait. */
  async load(): Promise<void> {
    if (this.#loading || this.#closed) return;
    this.#loading = true;
    try {
      const snapshot = await this.#host.snapshot(this.sessionId, this.state.wantAgain());
      if (this.#closed) return;
      this.state.load(snapshot);
      this.#callbacks.onapplied(this.state.session);
    } catch (reason) {
      if (!this.#closed) this.#callbacks.onerror(asCommandError(reason));
      return;
    } finally {
      this.#loading = false;
    }
    this.#frame.ask();
  }

  receive(batch: Batch): void {
    if (this.#closed || batch.sessionId !== this.sessionId) return;
    this.#waiting.push(batch);
    if (!this.#loading) this.#frame.ask();
  }

  /** Asks for other rows; they come with a batch. */
  async #show(show: Show): Promise<void> {
    // A snapshot that is on its way asks for them too.
    if (this.#loading || this.#closed) return;
    try {
      await this.#host.showRows(this.sessionId, show);
    } catch (reason) {
      if (this.#closed) return;
      this.state.unwant();
      this.#callbacks.onerror(asCommandError(reason));
    }
  }

  close(): void {
    this.#closed = true;
    this.state.onshow = () => {};
    this.#frame.cancel();
    this.#waiting = [];
  }

  #drain(): void {
    if (this.#loading || this.#closed) return;
    const batches = this.#waiting;
    this.#waiting = [];
    if (batches.length === 0) {
      // A quiet frame: the rest may be acknowledged too.
      this.#acknowledge();
      return;
    }
    for (const [i, batch] of batches.entries()) {
      const applied = this.state.apply(batch);
      if (applied === 'gap') {
        this.#waiting = batches.slice(i + 1).concat(this.#waiting);
        // What is skipped counts as seen, or the shell would wait for it for ever.
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
