// The focus: an attachment that moves it to an element as soon as that is mounted, and the options of a key that moves it.

export function focusOn(element: HTMLElement): void {
  element.focus();
}

/** WebKit shows no ring for a focus that a script moves after a click, unless it is asked for. */
export const BY_KEY: FocusOptions = { focusVisible: true };
