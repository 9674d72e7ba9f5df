// What the reader's hand does with the view, told before the view has moved. Its place alone does not say who moved it:
// what is drawn again moves it as well.

/** Keys that move a view up. */
const UP = ['ArrowUp', 'PageUp', 'Home'];

/** Watches one log, from now until `end`. */
export class Hand {
  /** The pointer is down, on a scrollbar or in a selection: wherever the view goes, the reader takes it there. */
  holds = false;
  #watching = new AbortController();
  #touchY = 0;

  /** `onup` is called when the view is about to go up, or just went, and may be called for a move that does not come. */
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
    // The browser brings what gets the focus into sight.
    this.#on(log, 'focusin', ({ target }) => {
      if (target instanceof Element && isAbove(target, log)) onup();
    });
    this.#on(log, 'pointerdown', () => (this.holds = true));
    // A scrollbar may keep the release for itself: then the next move of the pointer tells.
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

/** Something inside the log takes the move: it is not at its own top yet. */
function movesInside(target: EventTarget | null, log: HTMLElement): boolean {
  for (let at = target instanceof Element ? target : null; at !== null && at !== log; at = at.parentElement) {
    if (at.scrollTop > 0) return true;
  }
  return false;
}

function isAbove(element: Element, log: HTMLElement): boolean {
  return element !== log && element.getBoundingClientRect().top < log.getBoundingClientRect().top;
}
