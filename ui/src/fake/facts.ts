// Facts of a made-up project.

import type {
  AgentCapabilities,
  AgentKind,
  Model,
  ProjectView,
  Session,
  SettingsView,
  Status,
  StoredSession,
  OrphanProcess,
  UnreadFile,
} from '../lib/bindings/api';
import { DEFAULT_SETTINGS } from '../lib/bindings/settings';
import { NO_OPTIONS } from '../lib/session/options/form';
import { NO_CONFIGURATION } from './configuration';
import { NO_CONTEXT, NO_LIMITS } from './context';
import { NO_REWIND } from './rewind';

export const START = Date.now();
const MINUTE = 60_000;

export const SETTINGS: SettingsView = {
  settings: { ...DEFAULT_SETTINGS, asking: 'card' },
  path: '/home/ines/.config/deskbell/settings.json',
  problems: [],
  isBroken: false,
  systemDates: 'en-GB',
};

export const PROJECT: ProjectView = {
  path: '/home/ines/ledger',
  name: 'ledger',
  machine: null,
  checkout: { branch: 'main', worktreeOf: null },
  keepRunning: null,
  sessions: [],
  open: null,
  agent: { type: 'found', kind: 'claude', program: '/usr/bin/claude', source: 'PATH' },
  problem: null,
  trust: null,
  agentTrust: null,
  agentRefusals: 0,
  startRefused: false,
  hasDraft: false,
  orphans: [],
  unreadFiles: [],
  appVersion: '0.1.0',
};

function model(name: string, label: string, description: string): Model {
  const effortLevels = ['low', 'medium', 'high'];
  return { name, label, description, resolved: null, effortLevels, canStopThinking: false, canDecide: true };
}

/** What Claude Code can do. */
export const CAPABILITIES: AgentCapabilities = {
  modes: ['default', 'acceptEdits', 'plan', 'dontAsk', 'auto'],
  withoutAsking: true,
  models: true,
  effort: true,
  thinking: true,
  images: true,
  documents: true,
  promptsIntoTurn: true,
  fork: false,
  rewind: true,
  hooks: true,
  backgroundTasks: true,
  editedInput: true,
  denialReasons: true,
  rules: 'saved',
  cost: true,
  context: true,
  sideQuestions: true,
};

export function emptySession(id: string, title: string, agent: AgentKind = 'claude'): Session {
  return {
    id,
    title,
    project: PROJECT.path,
    agent,
    agentName: agent === 'demo' ? 'Demo agent' : 'Claude Code',
    agentId: null,
    profile: null,
    lacks: { reports: [], offers: [] },
    login: null,
    agentSessionId: null,
    status: { type: 'idle' },
    isEmpty: title === 'New session',
    hasPromptTitle: false,
    alive: false,
    pid: null,
    agentVersion: '2.1.329',
    capabilities: CAPABILITIES,
    agentOptions: [],
    model: 'opus',
    mode: 'default',
    effort: 'medium',
    thinking: true,
    options: NO_OPTIONS,
    optionsWait: false,
    rules: null,
    missedPrompt: null,
    models: [
      model('default', 'Default', 'What the agent recommends'),
      model('opus', 'Opus 5.5', 'Most capable'),
      { ...model('haiku', 'Haiku 5', 'Fastest'), effortLevels: [], canStopThinking: true, canDecide: false },
    ],
    commands: [
      { name: 'clear', description: 'Start over with an empty context', argumentHint: '' },
      { name: 'compact', description: 'Shorten the conversation to a summary', argumentHint: '[instructions]' },
      { name: 'cost', description: 'Viewport what this session cost', argumentHint: '' },
      { name: 'review', description: 'Review the changes of a branch', argumentHint: '[branch]' },
    ],
    queue: [],
    takesIntoTurn: false,
    requests: [],
    context: NO_CONTEXT,
    configuration: NO_CONFIGURATION,
    limits: NO_LIMITS,
    rewind: NO_REWIND,
    sideQuestions: [],
    usage: { contextTokens: 0, contextWindow: 200_000, costUsd: 0, outputTokens: 0, byModel: [] },
    createdAt: Date.now(),
    changedAt: Date.now(),
    turnStartedAt: null,
    nBackground: 0,
    background: [],
    scheduled: [],
    restricted: false,
    link: { type: 'here' },
    olderServer: null,
  };
}

/** A session for the list: its title, its status, and how many minutes ago that changed. */
export function listed(id: string, title: string, status: Status, minutesAgo: number): Session {
  return { ...emptySession(id, title), status, changedAt: START - minutesAgo * MINUTE };
}

/** A conversation in the agent's store. */
export function stored(
  id: string,
  title: string,
  minutesAgo: number,
  facts: Partial<StoredSession> = {},
): StoredSession {
  return {
    agentSessionId: id,
    title,
    firstPrompt: title,
    lastPrompt: title,
    branch: 'main',
    model: 'claude-opus-5-5',
    changedAt: START - minutesAgo * MINUTE,
    state: { type: 'completed' },
    live: null,
    profile: null,
    agent: null,
    ...facts,
  };
}

/** Files that the engine could not read. */
export const UNREAD_FILES: UnreadFile[] = [
  {
    kind: 'places',
    path: '/home/ines/.local/share/deskbell/windows.json',
    problem: 'it is a folder, not a file',
    movedTo: '/home/ines/.local/share/deskbell/windows.json.unreadable',
  },
  {
    kind: 'session',
    path: '/home/ines/.local/share/deskbell/sessions/7d1f.json',
    problem: 'it is a named pipe, not a file',
    movedTo: '/home/ines/.local/share/deskbell/sessions/7d1f.json.unreadable',
  },
  {
    kind: 'branch',
    path: '/home/ines/ledger/.git/HEAD',
    problem: 'it is a named pipe, not a file',
    movedTo: null,
  },
];

export const SURVIVORS: OrphanProcess[] = [
  {
    pid: 48_213,
    command: 'npm run dev -- --port 5173',
    folder: '/home/ines/ledger/web',
    startedAt: START - 52 * MINUTE,
  },
  { pid: 48_377, command: 'sleep 600', folder: '/home/ines/ledger', startedAt: START - 49 * MINUTE },
];

/** Files that can be mentioned in a prompt. */
export const PROJECT_FILES = [
  'Cargo.toml',
  'README.md',
  'src/',
  'tests/',
  'src/lib.rs',
  'src/main.rs',
  'src/money.rs',
  'src/report.rs',
  'tests/totals.rs',
];
