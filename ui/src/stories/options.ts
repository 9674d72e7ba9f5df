// Stories of the options of a session.

import type { OptionsReview, Preset, SessionOptions } from '../lib/bindings/api';
import { emptySession, PROJECT } from '../fake/facts';
import { reviewOf } from '../fake/options';
import { NO_OPTIONS } from '../lib/session/options/form';
import OptionsDialog from '../lib/session/options/OptionsDialog.svelte';
import StartPreview from '../lib/session/options/StartPreview.svelte';
import { ignore, states, type Page } from './story';

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
  presets,
  hibernateMinutes: 30,
  onreview: (options: SessionOptions) => Promise.resolve(reviewOf(options)),
  onset: () => Promise.resolve(true),
  onpresets: ignore,
  onrestart: ignore,
  onclose: ignore,
});

const review: OptionsReview = reviewOf(CHOSEN);

export const options: Page = () => [
  ...states('OptionsDialog', OptionsDialog, {
    'without a choice': dialog({}, []),
    chosen: dialog({ options: CHOSEN, alive: true }),
    'waiting for the next start': dialog({ options: CHOSEN, alive: true, optionsWait: true }),
    'with a refused argument': dialog({ options: { ...CHOSEN, arguments: ['--dangerously-skip-permissions'] } }),
    'not checked': { ...dialog({ options: CHOSEN }), onreview: () => Promise.resolve(null) },
  }),
  ...states('StartPreview', StartPreview, {
    complete: { review },
    checking: { review: null },
    'not possible': { review: { ...review, program: null, obstacle: 'The Claude Code CLI was not found.' } },
  }),
];
