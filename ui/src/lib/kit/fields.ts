// Fields: elements that accept text.

/** Types of `input` that do not accept text. */
const NO_TEXT = ['button', 'checkbox', 'color', 'file', 'image', 'radio', 'range', 'reset', 'submit'];

/** Whether this element accepts text. */
export function takesText(element: Element | null): boolean {
  if (element instanceof HTMLInputElement) return !NO_TEXT.includes(element.type);
  return (
    element instanceof HTMLTextAreaElement ||
    element instanceof HTMLSelectElement ||
    (element instanceof HTMLElement && element.isContentEditable)
  );
}
