// Choosing the options of a question by number keys.

import { on } from 'svelte/events';

import { takesText } from '../../kit/fields';

/** The last option that has a number key. */
export const LAST_NUMBER = 9;

/** The number that a key means: the digit that it writes, or the one that is printed on it. */
function numberOf(event: KeyboardEvent): number | null {
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  const printed = event.shiftKey ? undefined : /^(?:Digit|Numpad)([1-9])$/.exec(event.code)?.[1];
  const digit = /^[1-9]$/.exec(event.key)?.[0] ?? printed;
  return digit === undefined ? null : Number(digit);
}

/** An attachment for a card: calls `choose` for a number key that is pressed in it, outside of a text field. */
export const byNumber = (choose: (number: number) => void) => (card: Element) =>
  on(card as HTMLElement, 'keydown', (event) => {
    const number = numberOf(event);
    if (number === null || event.defaultPrevented || takesText(document.activeElement)) return;
    // It is not typed into the prompt either.
    event.preventDefault();
    choose(number);
  });
