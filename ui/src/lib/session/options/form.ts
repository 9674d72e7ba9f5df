// The form of a session's options: numbers, variables and arguments as texts.

import type { OptionField, OptionProblem, Preset, SessionOptions } from '../../bindings/api';

/** The options that are edited entry by entry. */
export type ListField = 'fallbackModels' | 'folders' | 'allowedTools' | 'disallowedTools';

export interface OptionsForm extends Record<ListField, string[]> {
  model: string;
  effort: string;
  systemPrompt: string;
  /** The system prompt replaces the agent's own. */
  replace: boolean;
  maxTurns: string;
  maxBudgetUsd: string;
  mcpConfig: string;
  receivesMessages: boolean;
  environment: string;
  arguments: string;
  hibernateMinutes: string;
  /** The text in the field of each list. It counts as the last entry, so that nothing typed is lost. */
  typed: Record<ListField, string>;
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
    fallbackModels: [...options.fallbackModels],
    effort: options.effort ?? '',
    systemPrompt: options.systemPrompt?.text ?? '',
    replace: options.systemPrompt?.replace ?? false,
    maxTurns: number(options.maxTurns),
    maxBudgetUsd: number(options.maxBudgetUsd),
    folders: [...options.folders],
    allowedTools: [...options.allowedTools],
    disallowedTools: [...options.disallowedTools],
    mcpConfig: options.mcpConfig ?? '',
    receivesMessages: options.receivesMessages,
    environment: lines(options.environment.map(({ name, value }) => `${name}=${value}`)),
    arguments: lines(options.arguments),
    hibernateMinutes: number(options.hibernateMinutes),
    typed: { fallbackModels: '', folders: '', allowedTools: '', disallowedTools: '' },
  };
}

/** The entries of a list, with the text in its field. */
function listOf(form: OptionsForm, field: ListField): string[] {
  const typed = form.typed[field].trim();
  return typed === '' ? [...form[field]] : [...form[field], typed];
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

/** What is allowed in place of a text that is not a number, as the engine words it for a number out of range. */
const ALLOWED = {
  maxTurns: 'Enter a whole number from 1 to 10,000.',
  maxBudgetUsd: 'Enter an amount from 0.01 to 100,000 US dollars, such as 2.50.',
  hibernateMinutes: 'Enter a whole number of minutes from 0 to 10,080 (a week). 0 is never.',
} as const;

/** The options in a form, and what is no number in it. */
export function optionsOf(form: OptionsForm): { options: SessionOptions; problems: OptionProblem[] } {
  const problems: OptionProblem[] = [];
  const read = (field: keyof typeof ALLOWED, value: string, isWhole = true) => {
    const read = numberOf(value, isWhole);
    if (read !== undefined) return read;
    problems.push({ field, index: null, message: ALLOWED[field] });
    return null;
  };
  const options: SessionOptions = {
    model: text(form.model),
    fallbackModels: listOf(form, 'fallbackModels'),
    effort: text(form.effort),
    systemPrompt: form.systemPrompt.trim() === '' ? null : { text: form.systemPrompt, replace: form.replace },
    maxTurns: read('maxTurns', form.maxTurns),
    maxBudgetUsd: read('maxBudgetUsd', form.maxBudgetUsd, false),
    folders: listOf(form, 'folders'),
    allowedTools: listOf(form, 'allowedTools'),
    disallowedTools: listOf(form, 'disallowedTools'),
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

/** The messages about one entry of a list. */
export function messagesAt(problems: readonly OptionProblem[], field: OptionField, index: number | null): string[] {
  return problems.filter((problem) => problem.field === field && problem.index === index).map((one) => one.message);
}

const DEFAULTS = formOf(NO_OPTIONS);

/** The values of the form that make up an option. */
const partOf = (form: OptionsForm, field: OptionField): unknown =>
  field in form.typed ? listOf(form, field as ListField) : form[field];

/** Whether an option has another value than an agent without options has. */
export function isChanged(form: OptionsForm, field: OptionField): boolean {
  return JSON.stringify(partOf(form, field)) !== JSON.stringify(partOf(DEFAULTS, field));
}

/** The form with one option as it is without a choice. */
export function withReset(form: OptionsForm, field: OptionField): OptionsForm {
  const { [field]: usual } = structuredClone(DEFAULTS);
  const typed = field in form.typed ? { ...form.typed, [field]: '' } : form.typed;
  return { ...form, [field]: usual, replace: field === 'systemPrompt' ? false : form.replace, typed };
}

/** The presets with one of them saved, in its place. A project has one default at most. */
export function withPreset(presets: readonly Preset[], saved: Preset, path: string): Preset[] {
  const isDefault = saved.projects.includes(path);
  const without = (one: Preset) => ({ ...one, projects: one.projects.filter((project) => project !== path) });
  const isNew = presets.every(({ name }) => name !== saved.name);
  const all = presets.map((one) => (one.name === saved.name ? saved : isDefault ? without(one) : one));
  return isNew ? [...all, saved] : all;
}
