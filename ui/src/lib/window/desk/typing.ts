// Typing outside a field goes to the prompt.

import { takesText } from '../../kit/fields';
import { isMac, latinKey } from '../../kit/keys';

/** Elements that handle keys themselves: lists of choices, and everything inside a dialog. */
const OWN_KEYS = '[role=menu], [role=listbox], [role=combobox], dialog';

/**
 * Whether this key should move the focus to the prompt. The focus has to move during the key press, and the key has to
 * keep its default action: then the browser inserts the character into the prompt, or begins to compose there.
 */
export function goesToPrompt(event: KeyboardEvent, focused: Element | null): boolean {
  if (event.defaultPrevented || !writes(event)) return false;
  if (document.querySelector('dialog[open]') !== null) return false;
  if (takesText(focused) || focused?.closest(OWN_KEYS) != null) return false;
  // Space presses a focused button and scrolls a focused pane.
  return event.key !== ' ' || focused === null || focused === document.body;
}

function writes(event: KeyboardEvent): boolean {
  const hasAltGraph = event.getModifierState('AltGraph');
  if ((event.ctrlKey || event.metaKey || event.altKey) && !hasAltGraph) return isPaste(event);
  const composes = event.key === 'Dead' || event.key === 'Process' || event.keyCode === 229;
  return composes || [...event.key].length === 1;
}

function isPaste(event: KeyboardEvent): boolean {
  return (event.ctrlKey || event.metaKey) && !event.altKey && latinKey(event).toLowerCase() === 'v';
}

/**
 * The digit of Alt+1 to Alt+9, which opens a session of the list; `null` for other keys. On macOS, Alt and a digit write a
 * character, such as the brackets of a German keyboard.
 */
export function numberOf(event: KeyboardEvent, focused: Element | null, mac = isMac): number | null {
  if (!event.altKey || event.ctrlKey || event.metaKey || event.shiftKey || event.repeat) return null;
  if (event.getModifierState('AltGraph') || (mac && takesText(focused))) return null;
  if (document.querySelector('dialog[open]') !== null) return null;
  // Some layouts write digits only with Shift.
  const digit = /^Digit([1-9])$/.exec(event.code)?.[1] ?? /^[1-9]$/.exec(event.key)?.[0];
  return digit === undefined ? null : Number(digit);
}
