// The undo history of text fields: its keys, and edits by the program that stay in it.
//
// `execCommand` is deprecated and without a successor: no other call of the page reaches the history of a field.

import { latinKey } from './keys';

/** WebKitGTK (2.50) inserts each line in some 4 ms. A longer text is put into the field at once, without history. */
const MOST_LINES = 60;

/** Steps of fields that are gone are passed over, as they change nothing: at most so many of them for one key. */
const MOST_STEPS = 200;

type Field = HTMLInputElement | HTMLTextAreaElement;

/**
 * Gives a field another text, in one step that the user can undo. The cursor ends behind what changed. Returns `false` if
 * the field has the text, but its history no longer fits it: a redo would then insert words twice.
 */
export function rewrite(field: HTMLTextAreaElement, text: string): boolean {
  const { value } = field;
  const most = Math.min(value.length, text.length);
  let start = 0;
  while (start < most && value[start] === text[start]) start += 1;
  let end = 0;
  while (end < most - start && value.at(-1 - end) === text.at(-1 - end)) end += 1;
  const inserted = text.slice(start, text.length - end);
  const isShort = inserted.split('\n', MOST_LINES + 1).length <= MOST_LINES;
  if (isShort && canEdit()) {
    const focused = document.activeElement;
    field.focus({ preventScroll: true });
    field.setSelectionRange(start, value.length - end);
    // The field of a page below a dialog cannot have the focus.
    if (document.activeElement === field) {
      if (inserted === '') document.execCommand('delete');
      else document.execCommand('insertText', false, inserted);
      if (focused instanceof HTMLElement && focused !== field) focused.focus({ preventScroll: true });
    }
  }
  if (field.value === text) return true;
  field.value = text;
  return !canEdit();
}

/** Whether the page has a history of edits at all. jsdom has none. */
const canEdit = () => typeof document.execCommand === 'function';

/** Undoes or redoes the last edit of the field with the focus, by the keys that WebKitGTK binds to nothing. */
export function onHistoryKey(event: KeyboardEvent): void {
  if (!/linux/i.test(navigator.userAgent) || event.defaultPrevented) return;
  if (!event.ctrlKey || event.altKey || event.metaKey || latinKey(event).toLowerCase() !== 'z') return;
  const field = document.activeElement;
  if (!(field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement)) return;
  event.preventDefault();
  if (event.shiftKey) step(field, 'redo', 'undo');
  else step(field, 'undo', 'redo');
}

/** WebKit has one history for all fields of a page. A step of another field is taken back. */
function step(field: Field, command: 'undo' | 'redo', opposite: 'undo' | 'redo'): void {
  let changed: EventTarget | null = null;
  const note = ({ target }: Event) => (changed = target);
  document.addEventListener('input', note, true);
  for (let n = 0; n < MOST_STEPS && changed === null && document.queryCommandEnabled(command); n += 1) {
    document.execCommand(command);
  }
  if (changed !== null && changed !== field) {
    document.execCommand(opposite);
    field.focus();
  }
  document.removeEventListener('input', note, true);
}
