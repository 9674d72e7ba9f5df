// Buttons whose work is under way.

import type { MouseEventHandler } from 'svelte/elements';

type OnClick = MouseEventHandler<HTMLButtonElement> | null | undefined;

/**
 * The attributes of a button while its work is under way, or that of another one which excludes it: clicks and keys do
 * nothing, and screen readers say that it is unavailable. It keeps the focus. With `disabled` it would lose it, and
 * keys would go nowhere.
 */
export function whileBusy(isBusy: boolean, onclick: OnClick) {
  return isBusy ? { 'aria-disabled': true, 'aria-busy': true, onclick: ignore } : { onclick };
}

/** Also keeps the button from submitting its form. */
function ignore(event: MouseEvent): void {
  event.preventDefault();
  event.stopPropagation();
}
