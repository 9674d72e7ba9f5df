// The form of a session's options: lists as lines, numbers as texts.

import type { OptionField, OptionProblem, Preset, SessionOptions } from '../../bindings/api';

export interface OptionsForm {
  model: string;
  fallbackModels: string;
  effort: string;
  systemPrompt: string;
  /** The system prompt replaces the agent's own. */
  replace: boolean;
  maxTurns: string;
  maxBudgetUsd: string;
  folders: string;
  allowedTools: string;
  disallowedTools: string;
  mcpConfig: string;
  receivesMessages: boolean;
  environment: string;
  arguments: string;
  hibernateMinutes: string;
}

/** The options without a choice. */
export const NO_OPTIONS: SessionOptions = {
  model: null,
  fallbackModels: [],
  effort: null,
  systemPrompt: null,
  maxTurns: null,
  maxBudgetUsd: null,
  folders: [],
  allowedTools: [],
  disallowedTools: [],
  mcpConfig: null,
  receivesMessages: false,
  environment: [],
  arguments: [],
  hibernateMinutes: null,
};

const lines = (list: readonly string[]) => list.join('\n');
const number = (value: number | null) => (value === null ? '' : String(value));

export function formOf(options: SessionOptions): OptionsForm {
  return {
    model: options.model ?? '',
    fallbackModels: lines(options.fallbackModels),
    effort: options.effort ?? '',
    systemPrompt: options.systemPrompt?.text ?? '',
    replace: options.systemPrompt?.replace ?? false,
    maxTurns: number(options.maxTurns),
    maxBudgetUsd: number(options.maxBudgetUsd),
    folders: lines(options.folders),
    allowedTools: lines(options.allowedTools),
    disallowedTools: lines(options.disallowedTools),
    mcpConfig: options.mcpConfig ?? '',
    receivesMessages: options.receivesMessages,
    environment: lines(options.environment.map(({ name, value }) => `${name}=${value}`)),
    arguments: lines(options.arguments),
    hibernateMinutes: number(options.hibernateMinutes),
  };
}

/** The entries of a list: each line that is not empty, without the spaces around it. */
function entries(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

const text = (value: string) => (value.trim() === '' ? null : value.trim());

/** A number of the form, or why it is none. */
function numberOf(value: string, isWhole: boolean): number | null | undefined {
  const trimmed = value.trim();
  if (trimmed === '') return null;
  const form = isWhole ? /^\d{1,9}$/ : /^\d{1,9}(\.\d{1,9})?$/;
  return form.test(trimmed) ? Number(trimmed) : undefined;
}

/** The options in a form, and what is no number in it. */
export function optionsOf(form: OptionsForm): { options: SessionOptions; problems: OptionProblem[] } {
  const problems: OptionProblem[] = [];
  const read = (field: OptionField, value: string, isWhole = true) => {
    const read = numberOf(value, isWhole);
    if (read !== undefined) return read;
    problems.push({
      field,
      index: null,
      message: isWhole ? 'Enter a whole number.' : 'Enter an amount, such as 2.50.',
    });
    return null;
  };
  const options: SessionOptions = {
    model: text(form.model),
    fallbackModels: entries(form.fallbackModels),
    effort: text(form.effort),
    systemPrompt: form.systemPrompt.trim() === '' ? null : { text: form.systemPrompt, replace: form.replace },
    maxTurns: read('maxTurns', form.maxTurns),
    maxBudgetUsd: read('maxBudgetUsd', form.maxBudgetUsd, false),
    folders: entries(form.folders),
    allowedTools: entries(form.allowedTools),
    disallowedTools: entries(form.disallowedTools),
    mcpConfig: text(form.mcpConfig),
    receivesMessages: form.receivesMessages,
    environment: entries(form.environment).map((line) => {
      const at = line.indexOf('=');
      return at === -1 ? { name: line, value: '' } : { name: line.slice(0, at), value: line.slice(at + 1) };
    }),
    arguments: entries(form.arguments),
    hibernateMinutes: read('hibernateMinutes', form.hibernateMinutes),
  };
  return { options, problems };
}

/** The messages about a field, each with the entry that it is about. */
export function messagesOf(problems: readonly OptionProblem[], field: OptionField, options: SessionOptions): string[] {
  return problems
    .filter((problem) => problem.field === field)
    .map(({ index, message }) => {
      const list = options[field];
      const entry: unknown = index !== null && Array.isArray(list) ? list[index] : undefined;
      // An environment variable's message names it; an entry of another list is a text.
      return typeof entry === 'string' && !message.startsWith(entry) ? `${entry}: ${message}` : message;
    });
}

/** The presets with one of them saved, in its place. A project has one default at most. */
export function withPreset(presets: readonly Preset[], saved: Preset, path: string): Preset[] {
  const isDefault = saved.projects.includes(path);
  const without = (one: Preset) => ({ ...one, projects: one.projects.filter((project) => project !== path) });
  const isNew = presets.every(({ name }) => name !== saved.name);
  const all = presets.map((one) => (one.name === saved.name ? saved : isDefault ? without(one) : one));
  return isNew ? [...all, saved] : all;
}
