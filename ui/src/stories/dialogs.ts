// Stories of dialogs, drawn in the page instead of above it.

import type { Checkup } from '../lib/bindings/api';
import { emptySession, PREFERENCES, PROJECT } from '../lib/host/fake/facts';
import { RULES } from '../lib/host/fake/rules';
import { TRUST } from '../lib/host/fake/trust';
import Palette from '../lib/palette/Palette.svelte';
import RulesDialog from '../lib/rules/RulesDialog.svelte';
import ConfirmRemove from '../lib/sessions/ConfirmRemove.svelte';
import WithoutAsking from '../lib/sessions/WithoutAsking.svelte';
import Doctor from '../lib/settings/Doctor.svelte';
import SettingsDialog from '../lib/settings/SettingsDialog.svelte';
import { ignore, press, states, write, type Page } from './story';

const session = { ...emptySession('s1', 'Round half to even in totals'), alive: true };
const rules = (facts: Partial<typeof session>) => ({
  session: { ...session, ...facts },
  onask: ignore,
  onclose: ignore,
});

const actions = [
  { id: 'new', label: 'New session', key: 'Ctrl+N', run: ignore },
  { id: 'session', label: 'Explain the import pipeline', detail: 'Session', run: ignore },
];

const checkup = (channel: Checkup['channel']) => () =>
  Promise.resolve({ agent: PROJECT.agent, version: '2.1.329', channel });

const check = (root: HTMLElement) => press(root, 'Test permissions');

const settings = {
  preferences: PREFERENCES,
  agent: PROJECT.agent,
  appVersion: '0.1.0',
  trust: TRUST['trust'] ?? null,
  ontrust: ignore,
  oncheck: checkup({ type: 'asks' }),
  onchange: ignore,
  onclose: ignore,
};

export const dialogs: Page = () => [
  ...states('Palette', Palette, {
    all: { actions, onclose: ignore },
    'nothing fits': [{ actions, onclose: ignore }, (root) => write(root, 'wombat')],
  }),
  ...states('ConfirmRemove', ConfirmRemove, { asks: { session, onconfirm: ignore, onclose: ignore } }),
  ...states('WithoutAsking', WithoutAsking, {
    asks: { title: 'Start this agent without permission checks?', onconfirm: ignore, onclose: ignore },
  }),
];

export const rulesInForce: Page = () => [
  ...states('RulesDialog', RulesDialog, {
    'in force': rules({ rules: RULES }),
    'asking the agent': rules({}),
    'a restricted agent without rules': rules({ restricted: true, rules: { ...RULES, rules: [], directories: [] } }),
    'of a version that does not list them': rules({ rules: { ...RULES, basis: 'settings' } }),
    'the agent does not run': rules({ alive: false, mode: 'bypassPermissions' }),
  }),
];

export const settingsOf: Page = () => [
  ...states('SettingsDialog', SettingsDialog, {
    all: settings,
    'without an agent': { ...settings, agent: { type: 'missing', tried: [] }, trust: null },
  }),
  ...states('Doctor', Doctor, {
    asks: [{ oncheck: checkup({ type: 'asks' }) }, check],
    'never asks': [{ oncheck: checkup({ type: 'neverAsks' }) }, check],
    'not known': [{ oncheck: checkup({ type: 'unknown', reason: 'it did not start' }) }, check],
    checking: [{ oncheck: () => new Promise<Checkup>(ignore) }, check],
  }),
];
