// An attachment that focuses its element as soon as it is mounted.

export function focusOn(element: HTMLElement): void {
  element.focus();
}
