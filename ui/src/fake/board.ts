// Boards without the desktop app.

import type { BoardMachine, BoardRow, MachineAnswer, MachineSession, Status } from '../lib/bindings/api';
import { START } from './facts';
import { DENIED } from './far';

const MINUTE = 60_000;

function row(nr: number, title: string, project: string, status: Status, minutes: number): BoardRow {
  const STATES = { needsInput: 'needsInput', failed: 'failed', completed: 'finished' } as const;
  const { type } = status;
  const state: BoardRow['state'] =
    type === 'needsInput' || type === 'failed' || type === 'completed' ? STATES[type] : 'working';
  const since = START - minutes * MINUTE;
  const path = `/home/ines/${project}`;
  return {
    sessionId: `b${nr}`,
    title,
    project: path,
    projectName: project,
    machine: null,
    profile: null,
    agent: null,
    checkout: { branch: null, worktreeOf: null },
    state,
    status,
    since,
    nBackground: 0,
    otherPid: null,
    costUsd: nr * 0.07,
    processes:
      state === 'finished' ? null : { nProcesses: 1 + (nr % 4), memoryBytes: (180 + nr * 37) << 20, cpuMs: nr * 4_300 },
  };
}

const TITLES = [
  'Round half to even in totals',
  'Import the bank’s CSV files',
  'Why do two tests fail?',
  'Sketch the report',
];
const PROJECTS = ['ledger', 'tide-tables', 'lighthouse', 'exporter'];

const STATUSES: readonly Status[] = [
  { type: 'needsInput', what: 'Wants to run a command' },
  { type: 'failed', message: 'The API answered 529, which means that it is overloaded' },
  { type: 'working', activity: 'Running cargo test' },
  { type: 'completed' },
];

/** `n` rows in the order of the board, some of each state. */
function many(n: number): BoardRow[] {
  return Array.from({ length: n }, (_, i) => {
    const status = STATUSES[Math.floor((i * STATUSES.length) / n)] as Status;
    return row(i, TITLES[i % 4] as string, PROJECTS[(i * 3) % 4] as string, status, 2 + i);
  });
}

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
  board: many(30),
  'board-terminals': withTerminals(many(12)),
  'board-profiles': withProfiles(many(12)),
  'board-worktrees': withWorktrees(many(12)),
  'board-machines': many(6).map((row, i) =>
    i % 3 === 0 ? { ...row, machine: i === 0 ? 'box' : 'old-box', ...(i === 0 ? {} : { processes: null }) } : row,
  ),
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
