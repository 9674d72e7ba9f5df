// When an answer that allows something may be given: after it has stood still before a person's eyes for a while.

import type { Attention, Clock } from '../state/attention.svelte';

/** A button counts as seen when this much of it is. */
const MOSTLY = 0.9;

/** Longer than a click that was meant for something else. */
export const ARM_MS = 700;

/**
 * Armed once the button has been in sight, in a focused window, with nothing moving it, for `ARM_MS`. Losing the focus
 * disarms it, so the click that brings the window to the front never allows anything.
 */
export class Arming {
  armed = $state(false);
  /** Is the button in sight? Set by `watchSight`. */
  inSight = $state(true);
  #pressedArmed = false;

  /** `moved` reads whatever may put another button under the pointer; made while a component is set up. */
  constructor(clock: Clock, attention: Attention, moved: () => unknown) {
    $effect(() => {
      moved();
      this.armed = false;
      if (!attention.focused || !this.inSight) return;
      return clock.after(ARM_MS, () => (this.armed = true));
    });
  }

  /** An attachment for the button: follows whether it can be seen. */
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

  /** May this click allow something? A press that began before the button was armed may not. */
  accepts(click: MouseEvent): boolean {
    const byPointer = click.detail > 0;
    return this.armed && (!byPointer || this.#pressedArmed);
  }
}

/** Enter is what people hit while typing; it never allows. Space, on the focused button, does. */
export function ignoreEnter(event: KeyboardEvent): void {
  if (event.key === 'Enter') event.preventDefault();
}
