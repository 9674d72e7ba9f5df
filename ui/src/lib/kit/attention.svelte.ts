// The window's focus and the current time. Both are injected, so that tests control them.

/** A clock with timers. */
export interface Clock {
  now(): number;
  /** Calls `call` after `ms` milliseconds; the returned function cancels that. */
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

  /** Observes the window's focus; the returned function stops that. */
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

/**
 * Marks the document while the window has no focus. Nothing turns in it then (`StatusMark`, `ToolState`): twenty windows
 * with a working agent each would keep two processor cores busy with drawing.
 */
export function followAttention(attention: Attention): void {
  $effect(() => attention.watch());
  $effect(() => void document.documentElement.toggleAttribute('data-behind', !attention.focused));
}
