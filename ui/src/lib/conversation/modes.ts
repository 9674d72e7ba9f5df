// What of an agent can be switched, in words: its permission modes, and how hard its model tries.

import type { Model, Session } from '../bindings/api';

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

/** The mode that is chosen before a process starts, and never later. */
export const BYPASS = 'bypassPermissions';

/** The modes that Shift+Tab goes through. */
const CYCLE = ['default', 'acceptEdits', 'plan'];

export function modeLabel(id: string): string {
  if (id === BYPASS) return 'Asks nothing';
  return MODES.find((mode) => mode.id === id)?.label ?? id;
}

export function nextMode(id: string): string {
  return CYCLE[(CYCLE.indexOf(id) + 1) % CYCLE.length] ?? 'default';
}

/** The model that works: by its short name, or by the full one that the agent reports once a turn began. */
export function currentModel({ model, models }: Session): Model | undefined {
  const name = model ?? 'default';
  return models.find((known) => known.name === name) ?? models.find((known) => known.resolved === name);
}

/** The modes that can be switched to now: what its model cannot do is not offered. */
export function offeredModes(session: Session): Mode[] {
  const canDecide = currentModel(session)?.canDecide ?? false;
  return MODES.filter((mode) => mode.id !== 'auto' || canDecide || session.mode === 'auto');
}

const EFFORTS: Record<string, string> = {
  low: 'Low',
  medium: 'Medium',
  high: 'High',
  xhigh: 'Very high',
  max: 'Highest',
};

export function effortLabel(level: string): string {
  return EFFORTS[level] ?? level;
}
