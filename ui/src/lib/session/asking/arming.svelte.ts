// Arming of buttons that allow something: they work only after they have been visible and unmoved for a while.

import type { Attention, Clock } from '../../kit/attention.svelte';

/** The fraction of a button that must be in view for it to count as visible. */
const MOSTLY = 0.9;

/** How long a button must have been visible, in milliseconds: longer than a misdirected click takes. */
export const ARM_MS = 700;

/** The longest delay of an event that is believed, in milliseconds: a display may have a clock of its own. */
const LONGEST_DELAY_MS = 30_000;

/**
 * Whether the user made this event before that time, in milliseconds of `performance.now`. A busy page gets events late:
 * a click on what was there before a request may arrive when the request has long been drawn.
 */
function isFromBefore(event: Event, time: number): boolean {
  const delay = performance.now() - event.timeStamp;
  return delay >= 0 && delay < LONGEST_DELAY_MS && event.timeStamp < time;
}

/**
 * Armed once the button has been visible in a focused window, without moving, for `ARM_MS`. Losing the focus disarms
 * it, so the click that brings the window to the front never allows anything.
 */
export class Arming {
  armed = $state(false);
  /** The time of the last arming, in milliseconds of `performance.now`. */
  armedAt = $state(0);
  /** Whether the button is visible. Set by `watchSight`. */
  inSight = $state(true);
  /** Whether the press that is under way was made when the button was armed; `null` if none is. */
  #pressedArmed: boolean | null = null;

  /**
   * `moved` reads every value whose change may put another button under the pointer. Create it during component setup.
   */
  constructor(clock: Clock, attention: Attention, moved: () => unknown) {
    $effect(() => {
      moved();
      this.armed = false;
      if (!attention.focused || !this.inSight) return;
      return clock.after(ARM_MS, () => {
        this.armedAt = performance.now();
        this.armed = true;
      });
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

  /** Takes a press of the pointer or of the space bar. */
  pressed = (press: Event) => {
    this.#pressedArmed = this.armed && !isFromBefore(press, this.armedAt);
  };

  /**
   * Whether this click may allow something. A press that was made before the button was armed may not. A click without
   * a press comes from a key of an action, or from assistive technology.
   */
  accepts(click: MouseEvent): boolean {
    const byPointer = click.detail > 0;
    const pressedArmed = this.#pressedArmed ?? !byPointer;
    this.#pressedArmed = null;
    return this.armed && pressedArmed;
  }
}

/** What has the keyboard in place of a request: a dialog, an open menu, a question of the window itself. */
const IN_FRONT = 'dialog[open], [data-context-menu], [role="menu"], [role="alertdialog"]';

/** Whether something is in front of the requests. No key answers one then. */
export const isCovered = (): boolean => document.querySelector(IN_FRONT) !== null;

/**
 * Presses the button of an answer by this key, if the button was armed when the key was pressed and nothing is in front of
 * it. A key that is held down presses nothing more. Returns whether the button was pressed.
 */
export function pressArmed(button: HTMLElement | null | undefined, key: KeyboardEvent | null): boolean {
  if (button?.dataset['armed'] !== 'true' || isCovered()) return false;
  if (key !== null && (key.repeat || isFromBefore(key, Number(button.dataset['armedAt'])))) return false;
  button.click();
  return true;
}

/** Enter is easily hit while typing, so it never allows. Space on the focused button does. */
export function ignoreEnter(event: KeyboardEvent): void {
  if (event.key === 'Enter') event.preventDefault();
}
