// Window states by name: `?scene=permission`.

import type {
  Body,
  MarkedSession,
  PermissionRequest,
  ProjectView,
  QueuedPrompt,
  Session,
  SettingsView,
  StoredSession,
} from '../lib/bindings/api';
import { emptySession, listed, PROJECT, SETTINGS, START, stored, SURVIVORS } from './facts';
import * as script from './script';
import { FakeSession } from './session';
import { BOARDS } from './board';
import { FAR } from './far';
import { STARTS } from './start';
import { TRUST } from './trust';

export interface Scene {
  project: ProjectView;
  settings: SettingsView;
  sessions: FakeSession[];
  /** The agent's own store. */
  stored?: StoredSession[];
  /** The pinned and archived sessions. */
  marks?: MarkedSession[];
}

const OPEN = 's1';

/** The other sessions in the list. */
function others(): FakeSession[] {
  return [
    listed('s2', 'Explain the import pipeline', { type: 'completed' }, 12),
    listed('s3', 'Upgrade sqlx to 0.9', { type: 'needsInput', what: 'Wants to run a command' }, 31),
    listed('s4', 'Property tests for the parser', { type: 'idle' }, 24 * 60),
    listed('s5', 'Nightly export is empty', { type: 'failed', message: 'The API answered 529' }, 25 * 60),
    listed('s6', 'Why is the build slow?', { type: 'idle' }, 26 * 60),
    listed('s7', 'First look at the repository', { type: 'idle' }, 3 * 24 * 60),
  ].map((session) => new FakeSession(session));
}

function opened(facts: Partial<Session>, bodies: Body[]): FakeSession {
  const session = new FakeSession({
    ...emptySession(OPEN, 'Round half to even in totals'),
    alive: true,
    usage: { contextTokens: 68_000, contextWindow: 200_000, costUsd: 0.42, outputTokens: 9_800, byModel: [] },
    ...facts,
  });
  for (const body of bodies) session.add(body);
  return session;
}

const STORY = () => [
  script.prompt(script.ASKED),
  script.thinking(6_000),
  script.search('round'),
  ...['src/money.rs', 'src/report.rs', 'src/import.rs', 'tests/totals.rs', 'docs/report-0412.md'].map(script.read),
  script.text(script.FOUND),
  script.todos(2),
  script.edit(),
  script.ran('cargo test -p ledger totals', script.TEST_OUTPUT),
];

const HIDDEN = 'cargo test -p ledger totals && touch target/debug/.fingerprint/l\u0435dger-\u202e*';

/** A misleading command, with the engine's notices about it. */
const MISLEADING: PermissionRequest = {
  ...script.commandRequest('q1', HIDDEN),
  plain: null,
  notices: [
    { kind: 'direction', words: '1 hidden character changes the direction of the text: \\u{202E}' },
    { kind: 'lookAlike', words: '1 character looks like another: \u0435 \\u{0435} like “e”' },
  ],
};

const QUEUE: QueuedPrompt[] = [
  {
    id: 'p-next',
    text: 'then run the whole suite and update the changelog',
    nImages: 0,
    nDocuments: 0,
    held: false,
    cutOff: false,
    sendsAt: null,
    delivery: 'afterTurn',
  },
];

const DAY = 24 * 60;

/** A store with sessions of other programs; `n` of them are finished ones of earlier days. */
function history(n: number): StoredSession[] {
  const terminal = { live: { pid: 48_902, activity: 'working' as const }, branch: 'import-csv' };
  const titles = ['Trace the slow query', 'Remove the old exporter', 'Document the ledger format', 'Bump dependencies'];
  return [
    stored('t1', 'Import the bank’s CSV files', 3, terminal),
    stored('t2', 'Why do two tests fail on Windows?', 95, {
      state: { type: 'interrupted' },
      branch: 'fix/windows-paths',
    }),
    stored('t3', 'Sketch the settlement report', DAY, { model: 'claude-haiku-5-20260101', branch: null }),
    stored('t4', 'Rename Account to Ledger everywhere', 3 * DAY, {
      state: { type: 'failed', message: 'API Error: 529 overloaded' },
    }),
    ...Array.from({ length: n }, (_, i) =>
      stored(`t${i + 5}`, `${titles[i % titles.length]}, part ${Math.floor(i / 4) + 1}`, (9 + 280 * (i / n)) * DAY),
    ),
  ];
}

const SCENES: Record<string, () => FakeSession | null> = {
  empty: () => opened({ status: { type: 'idle' }, alive: false, usage: emptySession('', '').usage }, []),
  start: () => null,
  conversation: () =>
    opened({ status: { type: 'completed' } }, [...STORY(), script.text(script.EXPLAINED), script.turnEnd()]),
  streaming: () =>
    opened(
      {
        status: { type: 'working', activity: 'Writing' },
        turnStartedAt: START - 34_000,
        takesIntoTurn: true,
        queue: QUEUE,
      },
      [...STORY(), script.text(script.STREAMING, true)],
    ),
  silent: () => {
    const session = opened(
      { status: { type: 'working', activity: 'Running cargo test' }, turnStartedAt: START - 62_000 },
      STORY().slice(0, 9),
    );
    session.lastEventAt = START - 48_000;
    return session;
  },
  limit: () =>
    opened({ status: { type: 'failed', message: 'The rate limit is reached' } }, [
      ...STORY().slice(0, 9),
      {
        type: 'notice',
        level: 'error',
        text: 'The rate limit is reached',
        detail: null,
        untilAt: START + 95 * 60_000,
      },
      {
        type: 'turnEnd',
        outcome: { type: 'rateLimited' },
        words: 'The rate limit is reached',
        promptIds: [],
        durationMs: 2_000,
        outputTokens: 0,
        costUsd: 0,
        tokens: null,
        timing: { spawnMs: null, firstLineMs: null, firstTextMs: null },
      },
    ]),
  bypass: () => opened({ status: { type: 'completed' }, mode: 'bypassPermissions' }, [...STORY(), script.turnEnd()]),
  unasked: () =>
    opened(
      {
        status: { type: 'completed' },
        missedPrompt: {
          kind: 'unasked',
          words: 'The agent ran a command without asking.',
          subject: 'cargo test -p ledger totals',
        },
      },
      [...STORY(), script.turnEnd()],
    ),
  permission: () =>
    opened(
      {
        status: { type: 'needsInput', what: 'Wants to run a command' },
        turnStartedAt: START - 34_000,
        queue: QUEUE,
        requests: [MISLEADING],
      },
      STORY(),
    ),
  edit: () =>
    opened(
      { status: { type: 'needsInput', what: 'Wants to change a file' }, requests: [script.editRequest('q1')] },
      STORY().slice(0, 9),
    ),
  fetch: () =>
    opened(
      { status: { type: 'needsInput', what: 'Wants to access the network' }, requests: [script.fetchRequest('q1')] },
      STORY(),
    ),
  other: () =>
    opened(
      { status: { type: 'needsInput', what: 'Wants to use ledger: post' }, requests: [script.otherRequest('q1')] },
      STORY(),
    ),
  two: () =>
    opened(
      {
        status: { type: 'needsInput', what: 'Wants to run a command' },
        requests: [
          script.commandRequest('q1', 'git status'),
          script.commandRequest('q2', 'for f in *; do\n\techo  "$f" \ndone'),
        ],
      },
      STORY(),
    ),
  question: () =>
    opened(
      { status: { type: 'needsInput', what: 'Has a question' }, requests: [script.questionRequest('q1')] },
      STORY(),
    ),
  plan: () =>
    opened(
      { status: { type: 'needsInput', what: 'Proposes a plan' }, mode: 'plan', requests: [script.planRequest('q1')] },
      STORY().slice(0, 9),
    ),
  noplan: () =>
    opened(
      {
        status: { type: 'needsInput', what: 'Proposes a plan' },
        mode: 'plan',
        requests: [{ ...script.planRequest('q1'), kind: { type: 'plan', blocks: [] } }],
      },
      STORY().slice(0, 9),
    ),
  error: () =>
    opened({ status: { type: 'failed', message: 'The API answered 529: overloaded' } }, [
      ...STORY(),
      script.ran('cargo test', ['error: could not compile `ledger`'], { state: 'failed', note: 'exit code 101' }),
      {
        type: 'notice',
        level: 'warning',
        text: 'The agent wrote a line that could not be read.',
        detail: '{"type":"assist',
        untilAt: null,
      },
      {
        type: 'turnEnd',
        outcome: { type: 'apiError', status: 529 },
        words: 'The API answered 529: overloaded',
        promptIds: [],
        durationMs: 31_000,
        outputTokens: 0,
        costUsd: 0,
        tokens: null,
        timing: { spawnMs: null, firstLineMs: null, firstTextMs: null },
      },
    ]),
  held: () =>
    opened(
      {
        status: { type: 'stopped' },
        alive: false,
        queue: QUEUE.map((prompt) => ({ ...prompt, held: true })),
      },
      STORY(),
    ),
  long: () => {
    const turns = Array.from({ length: 1_000 }, (_, i) => [
      script.prompt(`${i + 1}. ${script.ASKED}`),
      ...STORY().slice(1),
      script.turnEnd(),
    ]);
    return opened({ status: { type: 'completed' } }, turns.flat());
  },
};

/** Scenes with an agent that cannot work; all its states are stories. */
const NOT_READY = ['ready-broken', 'ready-login'];

/** The names of all scenes. */
export const sceneNames = [
  ...Object.keys(SCENES),
  'missing',
  'bad',
  'far',
  'far-connecting',
  'far-failed',
  'far-lost',
  'orphans',
  'history',
  'history-open',
  'history-many',
  ...NOT_READY,
  ...Object.keys(TRUST),
  ...Object.keys(STARTS),
  ...Object.keys(BOARDS),
];

export function scene(name: string): Scene {
  if (name === 'missing') {
    const tried = [
      { place: 'DESKBELL_AGENT', problem: 'not set' },
      { place: 'PATH', problem: 'no program named claude' },
      { place: '/home/ines/.local/bin/claude', problem: 'no such file' },
      { place: '/usr/local/bin/claude', problem: 'no such file' },
    ];
    return {
      project: { ...PROJECT, agent: { type: 'missing', tried } },
      settings: SETTINGS,
      sessions: [],
    };
  }
  if (name === 'bad') {
    const problem = {
      code: 'badProject' as const,
      message: 'The folder does not exist any more.',
      detail: 'stat /home/ines/ledger: No such file or directory (os error 2)',
    };
    return { project: { ...PROJECT, problem }, settings: SETTINGS, sessions: [] };
  }
  if (name === 'far-connecting')
    return { project: { ...PROJECT, ...FAR.connecting }, settings: SETTINGS, sessions: [] };
  if (name === 'far-failed') return { project: { ...PROJECT, ...FAR.failed }, settings: SETTINGS, sessions: [] };
  if (name === 'far' || name === 'far-lost') {
    const lost: Partial<Session> = {
      status: { type: 'working', activity: 'Running cargo test' },
      turnStartedAt: START - 34_000,
      link: { type: 'waiting', attempt: 4, at: START + 8_000 },
    };
    const up: Partial<Session> = { status: { type: 'completed' }, link: { type: 'connected' } };
    const session = opened(name === 'far' ? up : lost, STORY());
    return { project: { ...PROJECT, ...FAR.reached, open: OPEN }, settings: SETTINGS, sessions: [session] };
  }
  if (NOT_READY.includes(name)) return { project: PROJECT, settings: SETTINGS, sessions: [] };
  const trust = TRUST[name];
  if (trust !== undefined) {
    const sessions = trust.state === 'changed' ? others() : [];
    return { project: { ...PROJECT, trust }, settings: SETTINGS, sessions };
  }
  if (name.startsWith('history')) {
    const past = history(name === 'history-many' ? 9_996 : 40);
    const { agentSessionId, title, changedAt } = past[name === 'history-open' ? 0 : 1] as StoredSession;
    const facts = { ...emptySession(agentSessionId, title), agentSessionId, changedAt };
    const session = new FakeSession(facts);
    for (const body of STORY()) session.add(body);
    const project = { ...PROJECT, open: agentSessionId };
    return { project, settings: SETTINGS, sessions: [session, ...others()], stored: past };
  }
  const session = (SCENES[name] ?? SCENES['conversation'])?.() ?? null;
  const orphans = name === 'orphans' ? SURVIVORS : [];
  return {
    project: { ...PROJECT, orphans, open: session === null ? null : OPEN },
    settings: SETTINGS,
    sessions: session === null ? others() : [session, ...others()],
  };
}
