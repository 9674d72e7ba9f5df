// Stories of the options of a session.

import type { McpServer, OptionsReview, Preset, SessionOptions } from '../lib/bindings/api';
import { emptySession, PROJECT } from '../fake/facts';
import { reviewOf } from '../fake/options';
import { NO_OPTIONS } from '../lib/session/options/form';
import OptionsDialog from '../lib/session/options/OptionsDialog.svelte';
import StartPreview from '../lib/session/options/StartPreview.svelte';
import { ignore, states, type Page } from './story';
import { tick } from 'svelte';

const CHOSEN: SessionOptions = {
  ...NO_OPTIONS,
  model: 'opus',
  systemPrompt: { text: 'Write tests first.\nAnswer in British English.', replace: false },
  maxTurns: 40,
  maxBudgetUsd: 2.5,
  folders: ['/home/ada/notes'],
  allowedTools: ['Bash(git status)', 'Bash'],
  disallowedTools: ['WebFetch'],
  mcpConfig: '/home/ada/servers.json',
  environment: [{ name: 'CI', value: '1' }],
  hibernateMinutes: 0,
};

export const PRESETS: Preset[] = [
  { name: 'Careful', options: CHOSEN, projects: [PROJECT.path] },
  { name: 'Quick', options: { ...NO_OPTIONS, model: 'haiku' }, projects: [] },
];

const session = { ...emptySession('s1', 'Round half to even in totals'), project: PROJECT.path };

const dialog = (facts: Partial<typeof session>, presets = PRESETS) => ({
  session: { ...session, ...facts },
  tools: ['Bash', 'Edit', 'Read'],
  presets,
  hibernateMinutes: 30,
  onreview: (options: SessionOptions) => Promise.resolve(reviewOf(options)),
  onset: () => Promise.resolve(true),
  onpresets: ignore,
  onrestart: ignore,
  onclose: ignore,
});

/** Types into a field that is found by its name, and leaves the focus there. */
const types =
  (label: string, text: string) =>
  async (root: HTMLElement): Promise<void> => {
    const names = [...root.querySelectorAll('label')];
    const name = names.find(({ textContent }) => textContent === label);
    const field = document.getElementById(name?.htmlFor ?? '') as HTMLInputElement;
    field.focus();
    field.value = text;
    field.dispatchEvent(new Event('input', { bubbles: true }));
    await tick();
  };

/** Opens the suggestions for the allowed tools. */
async function suggests(root: HTMLElement): Promise<void> {
  await types('Allowed tools', '')(root);
  document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowDown', bubbles: true }));
  await tick();
}

async function another(root: HTMLElement): Promise<void> {
  const select = root.querySelector<HTMLSelectElement>('select[id$="-model-field"]');
  if (select === null) throw new Error('no list of models');
  select.value = 'another';
  select.dispatchEvent(new Event('change', { bubbles: true }));
  await tick();
}

const SERVER: McpServer = {
  name: 'issue tracker',
  status: 'connected',
  statusWord: null,
  scope: 'user',
  transport: 'stdio',
  target: 'node /opt/tracker/server.js',
  serverInfo: null,
  error: null,
  tools: [
    { name: 'find', isReadOnly: true },
    { name: 'close', isReadOnly: false },
  ],
  nTools: 2,
};

const WRONG: SessionOptions = {
  ...CHOSEN,
  systemPrompt: { text: 'Only translate.', replace: true },
  allowedTools: ['Bash(git status)', 'Read files\u202E'],
  arguments: ['--dangerously-skip-permissions'],
};

const review: OptionsReview = reviewOf(CHOSEN);

export const options: Page = () => [
  ...states('OptionsDialog', OptionsDialog, {
    'without a choice': dialog({}, []),
    chosen: dialog({ options: CHOSEN, alive: true }),
    'waiting for the next start': dialog({ options: CHOSEN, alive: true, optionsWait: true }),
    'with refused values': dialog({ options: WRONG }),
    'a number is wrong': [dialog({}, []), types('Max turns', 'many')],
    'a rule is wrong': [dialog({}, []), types('Allowed tools', 'Bash(git')],
    'another model': [dialog({}, []), another],
    'without known models': dialog({ models: [] }, []),
    'not checked': { ...dialog({ options: CHOSEN }), onreview: () => Promise.resolve(null) },
    // Another field that gets the focus would close them.
    'suggestions of tools': [dialog({ configuration: { ...session.configuration, servers: [SERVER] } }, []), suggests],
  }),
  ...states('StartPreview', StartPreview, {
    complete: { review },
    checking: { review: null },
    'not possible': { review: { ...review, program: null, obstacle: 'The Claude Code CLI was not found.' } },
  }),
];
