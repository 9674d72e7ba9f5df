// Runs work once the page has drawn, and also while the window is hidden and draws nothing.

/** The longest delay while the window is hidden, in milliseconds. */
const HIDDEN_MS = 200;

/** Calls `work` once what changed until now is drawn, however often it is requested. */
export class FrameGate {
  #work: () => void;
  #cancel: (() => void) | null = null;

  constructor(work: () => void) {
    this.#work = work;
  }

  /** The work waits. */
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
    // The next frame draws it. Keys and scrolling have that frame without another change.
    let frame = requestAnimationFrame(() => {
      frame = requestAnimationFrame(run);
    });
    // A hidden window gets no frames; the first of the two wins.
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
