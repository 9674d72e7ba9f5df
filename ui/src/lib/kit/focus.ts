// An attachment that takes the focus as soon as its element is there.

export function focusOn(element: HTMLElement): void {
  element.focus();
}
