// Keys of an input method.

import { takesText } from './fields';

/**
 * Keeps a key from all handlers of the page, if an input method handles it in a field. Its default action stays. For
 * `keydown` on the window, in the capture phase: it is the only place that knows which keys compose.
 */
export function leaveToInputMethod(event: KeyboardEvent): void {
  // WebKit on macOS reports the end of a composition before the Enter that ends it: only the key code is left.
  const composes = event.isComposing || event.keyCode === 229;
  if (composes && event.target instanceof Element && takesText(event.target)) event.stopImmediatePropagation();
}
