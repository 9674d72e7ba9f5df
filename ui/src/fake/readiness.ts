// States of an agent before its first session, by the name of their scene.

import type {
  AgentView,
  Checkup,
  PermissionChannel,
  Readiness,
  ReadinessState,
  ReportLine,
  Tried,
} from '../lib/bindings/api';
import { PROJECT } from './facts';

const TRIED: Tried[] = [
  { place: '/usr/bin/claude', problem: 'does not exist' },
  { place: '/home/ines/.local/bin/claude', problem: 'does not exist' },
];

/** The obstacles, by the name of their scene: `?scene=ready-broken`. */
export const OBSTACLES = {
  'ready-missing': {
    type: 'missing',
    install: [
      { label: 'Terminal', command: 'curl -fsSL https://claude.ai/install.sh | bash' },
      { label: 'npm', command: 'npm install -g @anthropic-ai/claude-code' },
      { label: 'npm, no root', command: 'npm install -g --prefix ~/.local @anthropic-ai/claude-code' },
    ],
  },
  'ready-broken': {
    type: 'broken',
    problem: 'It ended with exit code 127.\nenv: ‘node’: No such file or directory',
  },
  'ready-other': { type: 'notClaude', answer: 'true (GNU coreutils) 9.7' },
  'ready-old': { type: 'tooOld', oldest: '2.1.197', update: { label: 'Update', command: 'claude update' } },
  'ready-login': { type: 'notLoggedIn' },
} satisfies Record<string, ReadinessState>;

/** The state in a scene: ready, if it has no other. */
export function stateOf(scene: string, agent: AgentView): ReadinessState {
  if (agent.type === 'missing') return OBSTACLES['ready-missing'];
  return (OBSTACLES as Record<string, ReadinessState>)[scene] ?? { type: 'ready' };
}

/** The result of a check that found this state. */
export function readiness(state: ReadinessState, agent: AgentView = PROJECT.agent): Readiness {
  const found = agent.type === 'found' ? agent : PROJECT.agent;
  const missing: AgentView = agent.type === 'missing' ? agent : { type: 'missing', tried: TRIED };
  const versions: Partial<Record<ReadinessState['type'], string>> = {
    ready: '2.1.329',
    tooOld: '1.0.88',
    notLoggedIn: '2.1.329',
  };
  return {
    agent: state.type === 'missing' ? missing : found,
    version: versions[state.type] ?? null,
    login: { label: 'Log in', command: 'claude auth login' },
    state,
  };
}

const CHANNELS: Record<PermissionChannel['type'], string> = {
  asks: 'asks before acting',
  neverAsks: 'ACTS WITHOUT ASKING: do not use this version',
  unknown: 'the test has no result',
};

const OTHER_AGENTS: ReportLine[] = [
  {
    name: 'opencode',
    value: [
      '1.18.33, /home/user/.local/bin/opencode',
      'runtime: Node 20 or newer',
      'login: it began a session without asking for one',
      'asks: if its own configuration says so; Deskbell cannot check that; tried in an empty home: IT ACTED WITHOUT ASKING',
      'starts only in folders that you trust: opencode runs the plugins and MCP servers of a folder, and a folder can send its key elsewhere.',
      'ports: it listens on 127.0.0.1:40961; password-protected: Deskbell sets a random OPENCODE_SERVER_PASSWORD for each start',
      'writes into an empty home: .config/opencode (1 file), .local/share/opencode (4 files)',
      'Deskbell was tested with 1.18.33',
    ].join('\n'),
    health: 'plain',
  },
  { name: 'Not installed', value: 'Copilot CLI, Codex, Gemini CLI, Qwen Code, goose', health: 'plain' },
];

/** An agent on a Node that is too old for it. */
export const BROKEN_AGENT: ReportLine = {
  name: 'Qwen Code',
  value: 'cannot run here: Qwen Code needs Node 22 or newer, and this machine has v20.20.2.\n/home/user/.npm/bin/qwen',
  health: 'bad',
};

/** The doctor's result for a test with this outcome. */
export function checkup(
  channel: PermissionChannel,
  agent: AgentView = PROJECT.agent,
  otherAgents: ReportLine[] = OTHER_AGENTS,
): Checkup {
  const good = channel.type === 'asks' ? 'good' : 'bad';
  const lines: ReportLine[] = [
    { name: 'Deskbell', value: '0.1.0 on linux x86_64', health: 'plain' },
    { name: 'Agent', value: '/usr/bin/claude (PATH)', health: 'plain' },
    { name: 'Version', value: '2.1.329', health: 'plain' },
    { name: 'Ready', value: 'yes', health: 'good' },
    { name: 'Permission', value: CHANNELS[channel.type], health: good },
    { name: 'Can', value: 'models, effort, thinking off, images, background work, cost', health: 'plain' },
    ...otherAgents,
    { name: 'Notifications', value: 'dunst 1.12', health: 'good' },
    { name: 'Tray', value: 'none; Deskbell works without one', health: 'plain' },
    { name: 'Display', value: 'X11 (:0) on sway', health: 'plain' },
    { name: 'GPU', value: 'windows are drawn with a GPU', health: 'plain' },
    { name: 'Data', value: '/home/user/.local/share/deskbell', health: 'plain' },
    { name: 'Log', value: '/home/user/.local/share/deskbell/log', health: 'plain' },
  ];
  const report = lines.map(({ name, value }) => `${name.padEnd(15)}${value}\n`).join('');
  return { agent, version: '2.1.329', channel, ready: true, lines, report };
}
