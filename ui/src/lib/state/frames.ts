// Runs work at most once per frame, and also while the window is hidden and draws no frames.

/** The longest delay while the window is hidden, in milliseconds. */
const HIDDEN_MS = 200;

/** Calls `work` once in the next frame, however often it is requested. */
export class FrameGate {
  #work: () => void;
  #cancel: (() => void) | null = null;

  constructor(work: () => void) {
    this.#work = work;
  }

  /** The work waits for the next frame. */
  get isAsked(): boolean {
    return this.#cancel !== null;
  }

  ask(): void {
    if (this.#cancel !== null) return;
    const run = () => {
      this.#cancel?.();
      this.#cancel = null;
      this.#work();
    };
    // A hidden window gets no frames; the first of the two wins.
    const frame = requestAnimationFrame(run);
    const timer = setTimeout(run, HIDDEN_MS);
    this.#cancel = () => {
      cancelAnimationFrame(frame);
      clearTimeout(timer);
    };
  }

  cancel(): void {
    this.#cancel?.();
    this.#cancel = null;
  }
}
