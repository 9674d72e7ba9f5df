// Agents that a made-up computer has.

import type { MachineAgents, OtherAgent, Profile } from '../lib/bindings/api';
import { NO_PROFILE } from '../lib/window/settings/profileForm';

/** What no agent offers that speaks this protocol. */
const OFFERS = ['rewind', 'forks', 'editing a call before it runs', 'reasons for a denial'];

const npm = (name: string) => ({ label: 'npm', command: `npm install -g ${name}` });

export const AGENTS: readonly OtherAgent[] = [
  {
    id: 'copilot',
    name: 'Copilot CLI',
    state: { type: 'found', program: '/home/ines/.npm-global/bin/copilot', version: '1.0.102' },
    trustedOnly: 'Copilot CLI runs the hooks of a folder, and nothing turns them off.',
    untested: false,
    lacks: { reports: ['cost'], offers: [...OFFERS] },
  },
  {
    id: 'gemini',
    name: 'Gemini CLI',
    state: { type: 'found', program: '/home/ines/.npm-global/bin/gemini', version: '0.61.0' },
    trustedOnly: null,
    untested: false,
    lacks: {
      reports: [
        'the input of its calls',
        'the output of commands',
        'exit codes',
        'how full its context is',
        'tokens',
        'cost',
      ],
      offers: [...OFFERS],
    },
  },
  {
    id: 'qwen',
    name: 'Qwen Code',
    state: {
      type: 'broken',
      program: '/home/ines/.npm-global/bin/qwen',
      problem: 'Qwen Code needs Node 22 or newer, and this machine has v20.20.2.',
    },
    trustedOnly: null,
    untested: false,
    lacks: { reports: ['how full its context is', 'cost'], offers: ['“always allow”', ...OFFERS] },
  },
  {
    id: 'opencode',
    name: 'opencode',
    state: { type: 'missing', install: npm('opencode-ai') },
    trustedOnly: 'opencode runs the plugins and MCP servers of a folder, and a folder can send its key elsewhere.',
    untested: false,
    lacks: { reports: [], offers: [...OFFERS] },
  },
  {
    id: 'kimi',
    name: 'Kimi CLI',
    state: { type: 'found', program: '/home/ines/.local/bin/kimi', version: null },
    trustedOnly: 'Deskbell does not know what this agent runs in a folder.',
    untested: true,
    lacks: { reports: [], offers: [...OFFERS] },
  },
  {
    id: 'goose',
    name: 'goose',
    state: { type: 'missing', install: null },
    trustedOnly: 'Deskbell does not know what this agent runs in a folder.',
    untested: true,
    lacks: { reports: [], offers: [...OFFERS] },
  },
  {
    id: 'demo-acp',
    name: 'Demo agent (ACP)',
    state: { type: 'builtIn' },
    trustedOnly: null,
    untested: false,
    lacks: { reports: ['exit codes', 'how full its context is', 'tokens', 'cost'], offers: [...OFFERS] },
  },
];

/** Profiles of the settings: another account, another program, and an agent that Deskbell does not know. */
export const PROFILES: readonly Profile[] = [
  {
    ...NO_PROFILE,
    name: 'Work',
    environment: [
      { name: 'CLAUDE_CONFIG_DIR', value: '/home/ada/.claude-work' },
      { name: 'TEAM_WORD', value: 'a-secret' },
    ],
    model: 'opus',
    projects: ['/home/ada/office'],
  },
  { ...NO_PROFILE, name: 'Gemini at work', agent: 'gemini', program: '/opt/gemini', effort: 'high' },
  { ...NO_PROFILE, name: 'Mine', command: { program: 'my-agent', args: ['--acp'] } },
];

/** What a made-up machine has on which a project is. */
export const AGENTS_THERE: MachineAgents = {
  agents: AGENTS.filter(({ id }) => id !== 'copilot'),
  profiles: [
    { ...NO_PROFILE, name: 'Gemini in the lab', agent: 'gemini', projects: ['/home/ines/ledger'] },
    { ...NO_PROFILE, name: 'Second account', environment: [{ name: 'CLAUDE_CONFIG_DIR', value: '' }] },
  ],
};
