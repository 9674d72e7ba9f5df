// Arming of buttons that allow something: they work only after they have been visible and unmoved for a while.

import type { Attention, Clock } from '../state/attention.svelte';

/** The fraction of a button that must be in view for it to count as visible. */
const MOSTLY = 0.9;

/** How long a button must have been visible, in milliseconds: longer than a misdirected click takes. */
export const ARM_MS = 700;

/**
 * Armed once the button has been visible in a focused window, without moving, for `ARM_MS`. Losing the focus disarms
 * it, so the click that brings the window to the front never allows anything.
 */
export class Arming {
  armed = $state(false);
  /** Whether the button is visible. Set by `watchSight`. */
  inSight = $state(true);
  #pressedArmed = false;

  /**
   * `moved` reads every value whose change may put another button under the pointer. Create it during component setup.
   */
  constructor(clock: Clock, attention: Attention, moved: () => unknown) {
    $effect(() => {
      moved();
      this.armed = false;
      if (!attention.focused || !this.inSight) return;
      return clock.after(ARM_MS, () => (this.armed = true));
    });
  }

  /** An attachment for the button that tracks whether it is visible. */
  watchSight = (element: Element) => {
    if (!('IntersectionObserver' in window)) return;
    this.inSight = false;
    const observer = new IntersectionObserver(
      (entries) => (this.inSight = (entries.at(-1)?.intersectionRatio ?? 0) >= MOSTLY),
      { threshold: MOSTLY },
    );
    observer.observe(element);
    return () => observer.disconnect();
  };

  pressed = () => {
    this.#pressedArmed = this.armed;
  };

  /** Whether this click may allow something. A press that began before the button was armed may not. */
  accepts(click: MouseEvent): boolean {
    const byPointer = click.detail > 0;
    return this.armed && (!byPointer || this.#pressedArmed);
  }
}

/** Enter is easily hit while typing, so it never allows. Space on the focused button does. */
export function ignoreEnter(event: KeyboardEvent): void {
  if (event.key === 'Enter') event.preventDefault();
}
