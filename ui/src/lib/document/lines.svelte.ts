// The chosen lines of a diff: one row or a range of rows, with the mouse on the line numbers or with the keyboard.

import { latinKey } from '../kit/keys';

export class LineSelection {
  #anchor = $state.raw<number | null>(null);
  #head = $state.raw<number | null>(null);
  #isDragging = false;
  #nRows: () => number;
  #onchosen: (from: number, to: number) => void;

  /** `onchosen` gets the first and the last row when the user wants to comment on them. */
  constructor(nRows: () => number, onchosen: (from: number, to: number) => void) {
    this.#nRows = nRows;
    this.#onchosen = onchosen;
  }

  /** The row that the keys move. */
  get head(): number | null {
    return this.#head;
  }

  has(row: number): boolean {
    if (this.#anchor === null || this.#head === null) return false;
    return row >= Math.min(this.#anchor, this.#head) && row <= Math.max(this.#anchor, this.#head);
  }

  choose(row: number, extend = false): void {
    if (!extend || this.#anchor === null) this.#anchor = row;
    this.#head = row;
  }

  clear(): void {
    this.#anchor = null;
    this.#head = null;
    this.#isDragging = false;
  }

  onkeydown = (event: KeyboardEvent & { currentTarget: HTMLElement }): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === 'Escape') {
      // Esc closes the dialog only when no line is chosen.
      if (this.#head === null) return;
      this.clear();
    } else if (event.key === 'Enter' || latinKey(event) === 'c') {
      if (this.#head === null) return;
      this.#finish();
    } else if (!this.#move(event.key, event.shiftKey)) {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    event.currentTarget.querySelector(`[data-row="${this.#head}"]`)?.scrollIntoView?.({ block: 'nearest' });
  };

  onpointerdown = (event: PointerEvent & { currentTarget: HTMLElement }): void => {
    const row = rowAt(event.target);
    if (event.button !== 0 || row === null) return;
    this.choose(row, event.shiftKey);
    if (!isNumber(event.target)) return;
    // The numbers choose lines; the text can be selected to be copied.
    event.preventDefault();
    // After the comment, the keys go on from here.
    event.currentTarget.focus({ preventScroll: true });
    this.#isDragging = true;
    const end = new AbortController();
    const drop = (isReleased: boolean) => () => {
      end.abort();
      this.#drop(isReleased);
    };
    window.addEventListener('pointerup', drop(true), { signal: end.signal });
    // The system took the pointer, for example to scroll by touch: the user has not chosen these lines.
    window.addEventListener('pointercancel', drop(false), { signal: end.signal });
  };

  onpointerover = (event: PointerEvent): void => {
    const row = rowAt(event.target);
    if (this.#isDragging && row !== null) this.choose(row, true);
  };

  #drop(isReleased: boolean): void {
    if (!this.#isDragging) return;
    this.#isDragging = false;
    if (isReleased) this.#finish();
    else this.clear();
  }

  #finish(): void {
    if (this.#anchor === null || this.#head === null) return;
    this.#onchosen(Math.min(this.#anchor, this.#head), Math.max(this.#anchor, this.#head));
  }

  #move(key: string, extend: boolean): boolean {
    const last = this.#nRows() - 1;
    const from = this.#head;
    const targets: Record<string, number> = {
      ArrowDown: from === null ? 0 : from + 1,
      ArrowUp: from === null ? last : from - 1,
      Home: 0,
      End: last,
    };
    const to = targets[key];
    if (to === undefined || last < 0) return false;
    this.choose(Math.min(Math.max(to, 0), last), extend);
    return true;
  }
}

/** The number of the first row of each part, by the lengths of the parts. */
export function startsOf(lengths: readonly number[]): number[] {
  let next = 0;
  return lengths.map((length) => (next += length) - length);
}

function rowAt(target: EventTarget | null): number | null {
  const row = target instanceof Element ? target.closest<HTMLElement>('[data-row]')?.dataset['row'] : undefined;
  return row === undefined ? null : Number(row);
}

const isNumber = (target: EventTarget | null) => target instanceof Element && target.closest('[data-number]') !== null;
