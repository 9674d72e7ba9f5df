// Labels and choices for what can be switched in an agent: its permission mode, model and effort.

import type { AgentOption, Command, Model, PermissionMode, Session } from '../bindings/api';

export interface Mode {
  id: PermissionMode;
  label: string;
  description: string;
}

export const MODES: readonly Mode[] = [
  { id: 'default', label: 'Ask first', description: 'Asks before it changes or runs anything' },
  { id: 'acceptEdits', label: 'Accept edits', description: 'Edits files without asking; asks before it runs commands' },
  { id: 'plan', label: 'Plan first', description: 'Reads and plans; changes nothing until you approve' },
  { id: 'auto', label: 'Automatic', description: 'Decides by itself what is safe to do without asking' },
  {
    id: 'dontAsk',
    label: 'Deny unless allowed',
    description: 'Does what rules allow and denies the rest without asking',
  },
];

/** The bypass mode. It can be chosen only before a process starts. */
export const BYPASS = 'bypassPermissions';

/** The modes that Shift+Tab cycles through. */
const CYCLE: readonly PermissionMode[] = ['default', 'acceptEdits', 'plan'];

export function modeLabel(id: string): string {
  if (id === BYPASS) return 'Skips permissions';
  return MODES.find((mode) => mode.id === id)?.label ?? id;
}

/** Returns the mode with this name, if the user can switch to it. */
export function knownMode(id: string): PermissionMode | undefined {
  return MODES.find((mode) => mode.id === id)?.id;
}

/** Returns the mode that Shift+Tab switches to; `undefined` if the agent has no other one of these. */
export function nextMode({ mode: id, capabilities }: Session): PermissionMode | undefined {
  const cycle = CYCLE.filter((mode) => capabilities.modes.includes(mode));
  const mode = knownMode(id);
  const at = mode === undefined ? -1 : cycle.indexOf(mode);
  const next = cycle[(at + 1) % cycle.length];
  return next === mode ? undefined : next;
}

/** The current model, found by its short name or by the full name that the agent reports once a turn has begun. */
export function currentModel({ model, models }: Session): Model | undefined {
  const name = model ?? 'default';
  return models.find((known) => known.name === name) ?? models.find((known) => known.resolved === name);
}

/** Full model names such as `claude-opus-5-5` or `claude-sonnet-4-5-20250929[1m]`. */
const FULL_NAME = /^claude-([a-z]+)-(\d+(?:-\d{1,2})*)(?:-\d{8})?(\[1m\])?$/;

/** “Opus 5.5” for `claude-opus-5-5`; `null` for a name of another form. */
function shortName(full: string): string | null {
  const [, family = '', version = '', isLong] = FULL_NAME.exec(full) ?? [];
  if (family === '') return null;
  const name = `${family.charAt(0).toUpperCase()}${family.slice(1)} ${version.replaceAll('-', '.')}`;
  return isLong === undefined ? name : `${name} (1M)`;
}

/**
 * The current model's label for the header. The agent calls one model “Default (recommended)”, which names no model, so
 * the full name is preferred.
 */
export function modelLabel(session: Session): string {
  const model = currentModel(session);
  const full = model?.resolved ?? session.model;
  return (full === null ? null : shortName(full)) ?? model?.label ?? full ?? 'Default model';
}

/**
 * The modes of the agent that the user can switch to now. `auto` is offered only if the model supports it or it is the
 * current mode.
 */
export function offeredModes(session: Session): Mode[] {
  const canDecide = currentModel(session)?.canDecide ?? false;
  const known = MODES.filter((mode) => session.capabilities.modes.includes(mode.id));
  return known.filter((mode) => mode.id !== 'auto' || canDecide || session.mode === 'auto');
}

const EFFORTS: Record<string, string> = {
  low: 'Low',
  medium: 'Medium',
  high: 'High',
  xhigh: 'Very high',
  max: 'Maximum',
};

export function effortLabel(level: string): string {
  return EFFORTS[level] ?? level;
}

/** A choice among the values of a setting that the agent offers itself, with the command that makes it. */
export interface OptionChoice {
  id: string;
  label: string;
  description: string;
  checked: boolean;
  command: Command;
}

/** The values of a setting of the agent: its choices, or on and off for a switch. */
export function optionChoices({ id, kind, value, choices }: AgentOption): OptionChoice[] {
  const switched = [
    { id: 'true', name: 'On', description: '' },
    { id: 'false', name: 'Off', description: '' },
  ];
  return (kind === 'switch' ? switched : choices).map((choice) => ({
    id: choice.id,
    label: choice.name,
    description: choice.description,
    checked: choice.id === value,
    command: { type: 'setAgentOption', id, value: choice.id },
  }));
}

/** The label of the value in force. */
export function optionLabel(option: AgentOption): string {
  return optionChoices(option).find(({ checked }) => checked)?.label ?? option.value;
}
