// Scroll gestures of the user, detected before the viewport moves. The scroll position alone does not show who moved
// it: redrawing moves it as well.

/** Keys that scroll up. */
const UP = ['ArrowUp', 'PageUp', 'Home'];

/** Observes one log until `end` is called. */
export class ScrollIntent {
  /** The pointer is down, on a scrollbar or in a selection: any scrolling comes from the user. */
  holds = false;
  #watching = new AbortController();
  #touchY = 0;

  /**
   * `onup` is called when the viewport is about to scroll up or has just done so. The scroll may still fail to happen.
   */
  constructor(log: HTMLElement, onup: () => void) {
    const up = (target: EventTarget | null) => {
      if (!movesInside(target, log)) onup();
    };
    this.#on(log, 'wheel', (event) => {
      if (event.deltaY < 0 && !event.ctrlKey && !event.defaultPrevented) up(event.target);
    });
    this.#on(log, 'keydown', (event) => {
      if (goesUp(event) && !event.defaultPrevented) up(event.target);
    });
    this.#on(log, 'touchstart', (event) => (this.#touchY = event.touches[0]?.clientY ?? 0));
    this.#on(log, 'touchmove', (event) => {
      const y = event.touches[0]?.clientY ?? 0;
      if (y > this.#touchY) up(event.target);
      this.#touchY = y;
    });
    // The browser scrolls a newly focused element into view.
    this.#on(log, 'focusin', ({ target }) => {
      if (target instanceof Element && isAbove(target, log)) onup();
    });
    this.#on(log, 'pointerdown', () => (this.holds = true));
    // A scrollbar may swallow the release; then the next move of the pointer shows it.
    for (const type of ['pointerup', 'pointercancel', 'pointermove'] as const) {
      this.#on(window, type, (event) => (this.holds &&= event.buttons !== 0 && type !== 'pointercancel'));
    }
  }

  end(): void {
    this.#watching.abort();
  }

  #on<Type extends keyof GlobalEventHandlersEventMap>(
    target: EventTarget,
    type: Type,
    heard: (event: GlobalEventHandlersEventMap[Type]) => void,
  ): void {
    const { signal } = this.#watching;
    target.addEventListener(type, heard as (event: Event) => void, { passive: true, signal });
  }
}

function goesUp({ key, target, shiftKey, altKey, ctrlKey, metaKey }: KeyboardEvent): boolean {
  if (!(target instanceof Element) || target.closest('input, textarea, select') || altKey || ctrlKey || metaKey) {
    return false;
  }
  return UP.includes(key) || (key === ' ' && shiftKey && target.closest('button, a, summary') === null);
}

/** An element inside the log will take the scroll: it is not at its own top yet. */
function movesInside(target: EventTarget | null, log: HTMLElement): boolean {
  for (let at = target instanceof Element ? target : null; at !== null && at !== log; at = at.parentElement) {
    if (at.scrollTop > 0) return true;
  }
  return false;
}

function isAbove(element: Element, log: HTMLElement): boolean {
  return element !== log && element.getBoundingClientRect().top < log.getBoundingClientRect().top;
}
