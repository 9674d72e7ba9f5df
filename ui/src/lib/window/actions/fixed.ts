// Keys that belong to one part of the window and are no actions of the table: those of the prompt box and of lists.

export interface FixedKey {
  /** As in the table of actions; alternatives are separated by blanks. */
  readonly keys: string;
  readonly words: string;
}

export const FIXED_KEYS: readonly FixedKey[] = [
  { keys: 'Enter', words: 'Send after this turn' },
  { keys: 'Shift+Enter', words: 'Line break' },
  { keys: 'Ctrl+Enter', words: 'Send into the running turn' },
  { keys: 'Ctrl+Shift+Enter', words: 'End the turn and send now' },
  { keys: 'ArrowUp ArrowDown', words: 'Earlier and later prompts, in an empty prompt box' },
  { keys: 'Ctrl+Shift+V', words: 'Paste a long text into the prompt box, not as an attachment' },
  { keys: 'Backspace', words: 'Go to the attachments, at the start of the prompt box' },
  { keys: '1', words: 'Choose the first answer in the card of a question; 2 the second, and so on' },
  { keys: 'Alt+1', words: 'Open the first session of the list; Alt+2 the second, up to Alt+9' },
  { keys: '/', words: 'Complete a command' },
  { keys: '@', words: 'Complete a file of the project' },
];
