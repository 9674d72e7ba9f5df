// Boards without the desktop app.

import type { BoardMachine, BoardRequest, BoardRow, MachineAnswer, MachineSession } from '../lib/bindings/api';
import { START } from './facts';
import { DENIED } from './far';

const MINUTE = 60_000;

/** What the rows of a scene do not have in common. */
type Facts = Partial<BoardRow> & Pick<BoardRow, 'status'>;

const STATES = { needsInput: 'needsInput', failed: 'failed', completed: 'finished' } as const;

function row(nr: number, title: string, project: string, minutes: number, facts: Facts): BoardRow {
  const { type } = facts.status;
  const state: BoardRow['state'] =
    type === 'needsInput' || type === 'failed' || type === 'completed' ? STATES[type] : 'working';
  return {
    sessionId: `b${nr}`,
    title,
    project: `/home/ines/${project}`,
    projectName: project,
    machine: null,
    profile: null,
    agent: null,
    checkout: { branch: null, worktreeOf: null },
    state,
    request: null,
    answer: null,
    needsLogin: false,
    isReached: true,
    since: START - minutes * MINUTE,
    nBackground: 0,
    otherPid: null,
    costUsd: (nr + 1) * 0.07,
    processes:
      state === 'finished' ? null : { nProcesses: 1 + (nr % 4), memoryBytes: (180 + nr * 37) << 20, cpuMs: nr * 4_300 },
    ...facts,
  };
}

/** A request of a row. */
export function boardRequest(facts: Partial<BoardRequest> & Pick<BoardRequest, 'text'>): BoardRequest {
  return {
    id: `r-${facts.text.slice(0, 12)}`,
    shown: `shown ${facts.text}`,
    kind: 'command',
    nMoreLines: 0,
    canAllow: false,
    choices: [],
    edited: null,
    askedBy: null,
    nMore: 0,
    ...facts,
  };
}

const RUN = { type: 'needsInput', what: 'Wants to run a command' } as const;
const EDIT = { type: 'needsInput', what: 'Wants to change a file' } as const;
const ASK = { type: 'needsInput', what: 'Has a question' } as const;
const works = (activity: string): Facts => ({ status: { type: 'working', activity } });
const done = (answer: string): Facts => ({ status: { type: 'completed' }, answer });

const TEST = boardRequest({ text: 'cargo test -p ledger totals -- --nocapture', canAllow: true });
const BUILD = boardRequest({
  text: [
    'npm run build -- --mode preview --outDir dist/preview \\',
    '  && node scripts/stamp.mjs --from package.json --to dist/preview/build.json \\',
    '  && node scripts/check.mjs dist/preview \\',
    '  && tar -C dist -cf preview.tar preview',
  ].join('\n'),
  canAllow: true,
});
const QUESTION = boardRequest({
  kind: 'question',
  text: 'Which rounding should the import use?',
  choices: ['Half to even', 'Half up', 'Truncate, as today'],
});
const CHANGE = boardRequest({ kind: 'edit', text: 'src/lamp/selftest.rs', edited: { added: 14, removed: 3 } });
const CLEAN = boardRequest({
  text: `find tiles -name "*.png" -mtime +90 -print0 | xargs -0 -n 50 rm --verbose -- ${'tiles/old '.repeat(14)}`,
  canAllow: true,
});
const NOT_LOGGED_IN: Facts = { status: { type: 'failed', message: 'not logged in to Claude' }, needsLogin: true };

/** Three sessions of each group. */
const NINE: readonly BoardRow[] = [
  row(0, 'Round half to even in totals', 'ledger', 6, { status: RUN, request: TEST }),
  row(1, 'Publish the preview of the tide curve', 'tide-tables', 2, { status: RUN, request: BUILD }),
  row(2, 'Import the January statements', 'ledger', 0.2, { status: ASK, request: QUESTION }),
  row(3, 'Property tests for the parser', 'ledger', 4, works('Running cargo test --workspace')),
  row(4, 'Lamp status over the radio', 'lighthouse', 0.6, works('Writing')),
  row(5, 'Newer map tiles', 'tide-tables', 11, works('Reading 14 files')),
  row(6, 'Nightly export is empty', 'ledger', 25, NOT_LOGGED_IN),
  row(7, 'Cache headers of the tile server', 'tide-tables', 0, done('All 41 tests pass; the header is set once')),
  row(8, 'Why is the build slow?', 'lighthouse', 0, done('Two crates are built twice; the lock file says why')),
];

const WORKING = [
  'Running cargo test --workspace',
  'Writing',
  'Reading 14 files',
  'Editing src/reader/mod.rs',
  'Thinking',
  'Subagent: Finnish, 3 of 9',
  'Running npm test -- moon',
  'Waiting for its timer, 14:00',
  'Writing',
];
const TITLES = [
  'Split the statement reader',
  'Fog signal timing',
  'Translate the harbour names',
  'Moon phase off by one day',
  'Dark theme of the charts',
];
const PROJECTS = ['ledger', 'tide-tables', 'lighthouse', 'exporter'];
const title = (nr: number): string => TITLES[nr % TITLES.length] as string;
const project = (nr: number): string => PROJECTS[(nr * 3) % PROJECTS.length] as string;

/** Thirty sessions: five wait, nine work, sixteen are done. */
const THIRTY: readonly BoardRow[] = [
  row(0, 'Publish the tide curve', 'tide-tables', 21, { status: RUN, request: BUILD }),
  row(1, 'Round half to even in totals', 'ledger', 9, { status: RUN, request: TEST }),
  row(2, 'Import the January statements', 'ledger', 6, { status: ASK, request: { ...QUESTION, choices: [] } }),
  row(3, 'Shorter lamp self-test', 'lighthouse', 2, { status: EDIT, request: CHANGE }),
  row(4, 'Clean the old tiles', 'tide-tables', 0.2, { status: RUN, request: CLEAN }),
  ...WORKING.map((activity, i) => row(5 + i, title(i), project(i), 17 - i, works(activity))),
  row(14, 'Nightly export is empty', 'ledger', 25, NOT_LOGGED_IN),
  ...Array.from({ length: 15 }, (_, i) => row(15 + i, title(i + 2), project(i), 0, done('All 41 tests pass'))),
];

/** `n` rows, some of each state. */
function many(n: number): BoardRow[] {
  const step = Math.max(1, Math.floor(THIRTY.length / n));
  return THIRTY.filter((_, i) => i % step === 0).slice(0, n);
}

/** Requests and answers whose texts pretend to be others, or are very long. */
const HOSTILE: readonly BoardRow[] = [
  row(0, 'A command with a hidden character', 'ledger', 4, {
    status: RUN,
    request: boardRequest({ text: 'echo safe \u202e; rm -rf ~' }),
  }),
  row(1, 'A command with letters that look like others', 'ledger', 3, {
    status: RUN,
    request: boardRequest({ text: 'n\u0440m install \u200bleft-pad', askedBy: 'Asked by a subagent', nMore: 2 }),
  }),
  row(2, 'A very long command', 'ledger', 2, {
    status: RUN,
    request: boardRequest({ text: Array.from({ length: 14 }, () => 'echo one').join('\n'), nMoreLines: 9_000 }),
  }),
  row(3, `Long ${'long '.repeat(60)}`, 'a-project-with-a-name-that-is-too-long-for-its-column', 2, {
    status: { type: 'needsInput', what: 'Wants to use clock: Time (get_now)' },
    request: boardRequest({ kind: 'other', text: '{\n  "zone": "\u200bUTC"\n}' }),
  }),
  row(4, 'A plan', 'ledger', 1, {
    status: { type: 'needsInput', what: 'Proposes a plan' },
    request: boardRequest({ kind: 'plan', text: '' }),
  }),
  row(5, 'What runs has a hidden character too', 'ledger', 1, works('Running echo \u202esafe')),
  row(6, 'A long answer', 'ledger', 0, done(`It works ${'and works '.repeat(20)}`)),
];

/** The same rows, with some that the agent in a terminal has open. */
function withTerminals(rows: readonly BoardRow[]): BoardRow[] {
  return rows.map((row, i) => (i % 3 === 1 && row.state !== 'failed' ? { ...row, otherPid: 4100 + i } : row));
}

/** The same rows, with some of them in worktrees. */
function withWorktrees(rows: readonly BoardRow[]): BoardRow[] {
  return rows.map((row, i) => {
    if (i % 3 !== 0) return { ...row, checkout: { branch: 'main', worktreeOf: null } };
    const branch = ['fix/totals', 'a-branch-with-a-name-that-is-too-long-for-its-column'][(i / 3) % 2] as string;
    const folder = `${row.projectName}-${branch.replace('/', '-')}`;
    const checkout = { branch, worktreeOf: row.projectName };
    return { ...row, project: `/home/ines/${folder}`, projectName: folder, checkout };
  });
}

/** The same rows, of two accounts and of another agent. */
function withProfiles(rows: readonly BoardRow[]): BoardRow[] {
  const AGENTS = [
    { profile: 'Work', agent: null },
    { profile: null, agent: null },
    { profile: 'A profile with a name that is too long for its column', agent: 'Gemini CLI' },
    { profile: null, agent: 'Codex' },
  ];
  return rows.map((row, i) => ({ ...row, ...AGENTS[i % AGENTS.length] }));
}

/** The boards by the name of their scene. */
export const BOARDS: Record<string, readonly BoardRow[]> = {
  'board-none': [],
  'board-one': many(1),
  'board-three': NINE,
  'board-done': NINE.slice(6),
  'board-hostile': HOSTILE,
  board: THIRTY,
  'board-terminals': withTerminals(many(12)),
  'board-profiles': withProfiles(many(12)),
  'board-worktrees': withWorktrees(many(12)),
  'board-machines': NINE.slice(0, 6).map((row, i) => {
    if (i % 3 !== 0) return row;
    return i === 0
      ? { ...row, machine: 'box' }
      : { ...row, machine: 'shop.example', processes: null, isReached: false };
  }),
};

/** The machines of a board. `board-machines` has one for each state of a link. */
export function machinesOf(name: string): BoardMachine[] {
  if (name !== 'board-machines') return [];
  return [
    { name: 'box', link: { type: 'connected' }, seenAt: START, usedAt: START },
    { name: 'build-server', link: null, seenAt: null, usedAt: START - 50 * 60 * MINUTE },
    { name: 'docker:web', link: { type: 'connecting' }, seenAt: null, usedAt: START },
    { name: 'down', link: null, seenAt: null, usedAt: null },
    { name: 'old-box', link: { type: 'incompatible', version: '0.0.9' }, seenAt: null, usedAt: START },
    {
      name: 'shop.example',
      link: { type: 'waiting', attempt: 4, at: START + 8_000 },
      seenAt: START - 12 * MINUTE,
      usedAt: START,
    },
  ];
}

/** What a machine answers; `shop.example` has nothing that runs, `old-box` has odd ones, and `down` cannot be reached. */
export function answerOf(machine: string): Promise<MachineAnswer> {
  if (machine === 'down') return Promise.reject(DENIED);
  const answer: MachineAnswer = { at: START, sessions: [], nIdle: 0, nMore: 0, problem: null };
  const folder = '/home/ines/code';
  const sessions: MachineSession[] = [
    {
      sessionId: 'there1',
      title: 'Move the importer to the new parser',
      project: `${folder}/ledger`,
      status: { type: 'needsInput', what: 'Wants to run a command' },
      costUsd: 1.42,
      processes: { nProcesses: 2, memoryBytes: 311 << 20, cpuMs: 61_000 },
    },
    {
      sessionId: 'there2',
      title: 'Run the nightly comparison',
      project: `${folder}/tide-tables`,
      status: { type: 'working', activity: 'Running cargo test' },
      costUsd: 0,
      processes: { nProcesses: 9, memoryBytes: 902 << 20, cpuMs: 804_000 },
    },
    { sessionId: 'there3', title: 'Of a newer version', project: folder, status: null, costUsd: 0.2, processes: null },
  ];
  if (machine === 'build-server') return Promise.resolve({ ...answer, sessions: sessions.slice(0, 2), nIdle: 3 });
  if (machine !== 'old-box') return Promise.resolve(answer);
  const hostile = sessions.map((session) => ({ ...session, title: `Night\u202e\u200b ${'long '.repeat(60)}` }));
  return Promise.resolve({ ...answer, sessions: hostile, nMore: 1, problem: 'server 0.0.8: it does not answer' });
}
