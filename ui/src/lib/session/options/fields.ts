// The options of a session: their sections, texts and kinds of controls.

import type { OptionField } from '../../bindings/api';
import type { ListField } from './form';

interface OptionSection {
  id: string;
  title: string;
  help: string;
  fields: readonly OptionField[];
}

export const SECTIONS: readonly OptionSection[] = [
  {
    id: 'model',
    title: 'Model and effort',
    help: 'Which model answers. Model and effort change at once.',
    fields: ['model', 'fallbackModels', 'effort'],
  },
  {
    id: 'prompt',
    title: 'Instructions',
    help: 'What the model reads before your prompts.',
    fields: ['systemPrompt'],
  },
  {
    id: 'limits',
    title: 'Limits',
    help: 'When the agent stops by itself. Hibernation changes at once.',
    fields: ['maxTurns', 'maxBudgetUsd', 'hibernateMinutes'],
  },
  {
    id: 'tools',
    title: 'Folders and tools',
    help: 'Where the agent works, and which tools run without asking or never run.',
    fields: ['folders', 'allowedTools', 'disallowedTools', 'mcpConfig'],
  },
  {
    id: 'messages',
    title: 'Other sessions',
    help: 'Whether agents of your other sessions can write to this one.',
    fields: ['receivesMessages'],
  },
  {
    id: 'more',
    title: 'Environment and arguments',
    help: 'For the agent’s process and everything that it runs.',
    fields: ['environment', 'arguments'],
  },
];

interface OptionWords {
  label: string;
  help: string;
  /** What the option is reset to. That of hibernation is a setting. */
  usual: string;
}

export const WORDS: Readonly<Record<OptionField, OptionWords>> = {
  model: { label: 'Model', help: 'Answers your prompts.', usual: 'the agent’s default' },
  fallbackModels: {
    label: 'Fallback models',
    help: 'Used in this order when the model is overloaded.',
    usual: 'none',
  },
  effort: {
    label: 'Effort',
    help: 'How long the model thinks, for models that have it.',
    usual: 'the agent’s default',
  },
  systemPrompt: { label: 'System prompt', help: 'Appended to the agent’s own system prompt.', usual: 'none' },
  maxTurns: { label: 'Max turns', help: 'The most turns of the model for one prompt.', usual: 'no limit' },
  maxBudgetUsd: {
    label: 'Budget',
    help: 'In US dollars, for one start of the agent. The last reply can exceed it.',
    usual: 'no limit',
  },
  hibernateMinutes: {
    label: 'Hibernate after',
    help: 'Idle minutes until the agent’s process ends; the session continues with the next prompt. 0 is never.',
    usual: 'the setting',
  },
  folders: {
    label: 'More folders',
    help: 'The agent works there too, and reads there without asking.',
    usual: 'none',
  },
  allowedTools: {
    label: 'Allowed tools',
    help: 'These run without asking, exactly as the rules say.',
    usual: 'none',
  },
  disallowedTools: {
    label: 'Denied tools',
    help: 'These never run. A tool without parentheses is not offered to the model.',
    usual: 'none',
  },
  mcpConfig: {
    label: 'MCP config',
    help: 'A JSON file with MCP servers, outside of the project. They start with the agent.',
    usual: 'none',
  },
  receivesMessages: {
    label: 'Receive messages of your other sessions',
    help: 'A message begins a turn, which costs money, under this session’s permissions. Never in a folder that is opened restricted.',
    usual: 'off',
  },
  environment: { label: 'Environment', help: 'Variables, one in each line.', usual: 'none' },
  arguments: { label: 'Arguments', help: 'More arguments, from a fixed list, one in each line.', usual: 'none' },
};

/** Options that are chosen from what the agent offers, with the words for another value. */
export const OFFERED = {
  model: { another: 'Another model…', name: 'Name of the model' },
  effort: { another: 'Another level…', name: 'Name of the effort level' },
};

/** Options of one line, with their placeholders. That of hibernation is a setting. */
export const LINES = { maxTurns: 'No limit', maxBudgetUsd: 'No limit', hibernateMinutes: '', mcpConfig: 'No file' };

/** Options of several lines, with their placeholders. */
export const TEXTS = { systemPrompt: '', environment: 'NAME=value', arguments: '--no-chrome' };

/** Options that are edited entry by entry, with their placeholders. */
export const LISTS: Readonly<Record<ListField, string>> = {
  fallbackModels: 'sonnet',
  folders: '/home/me/notes',
  allowedTools: 'Bash(git status)',
  disallowedTools: 'WebFetch',
};

const isOf =
  <Field extends OptionField>(fields: Readonly<Record<Field, unknown>>) =>
  (field: OptionField): field is Field =>
    field in fields;

export const isOffered = isOf(OFFERED);
export const isLine = isOf(LINES);
export const isText = isOf(TEXTS);
export const isList = isOf(LISTS);
