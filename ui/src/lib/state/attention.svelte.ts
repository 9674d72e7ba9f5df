// Is the person at this window? And what time is it? Both are passed in, so that tests decide.

/** The time, and a call after some of it. */
export interface Clock {
  now(): number;
  /** Calls back after `ms`; the returned function takes that back. */
  after(ms: number, call: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  after: (ms, call) => {
    const timer = setTimeout(call, ms);
    return () => clearTimeout(timer);
  },
};

/** Whether the window has the focus. */
export class Attention {
  focused = $state(document.hasFocus());

  /** Follows the window; returns what stops it. */
  watch(target: Window = window): () => void {
    const gained = () => (this.focused = true);
    const lost = () => (this.focused = false);
    target.addEventListener('focus', gained);
    target.addEventListener('blur', lost);
    return () => {
      target.removeEventListener('focus', gained);
      target.removeEventListener('blur', lost);
    };
  }
}
