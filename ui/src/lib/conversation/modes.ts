// The permission modes, in words.

export interface Mode {
  id: string;
  label: string;
  description: string;
}

export const MODES: readonly Mode[] = [
  { id: 'default', label: 'Ask first', description: 'Asks before it changes or runs anything' },
  { id: 'acceptEdits', label: 'Accept edits', description: 'Edits files unasked; asks before it runs commands' },
  { id: 'plan', label: 'Plan first', description: 'Reads and plans; changes nothing until you approve' },
  { id: 'auto', label: 'Automatic', description: 'Decides by itself what is safe to do unasked' },
  { id: 'dontAsk', label: 'Never ask', description: 'Does what rules allow and denies the rest without asking' },
];

/** The modes that Shift+Tab goes through. */
const CYCLE = ['default', 'acceptEdits', 'plan'];

export function modeLabel(id: string): string {
  return MODES.find((mode) => mode.id === id)?.label ?? id;
}

export function nextMode(id: string): string {
  return CYCLE[(CYCLE.indexOf(id) + 1) % CYCLE.length] ?? 'default';
}
