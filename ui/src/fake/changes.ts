// Changes of the working tree in the fake host.

import type {
  Changes,
  CommitBoxState,
  CommitState,
  Committed,
  Diff,
  FileChange,
  FileDiff,
  PromptMoment,
} from '../lib/bindings/api';

export const NO_CHANGES: Changes = {
  base: { type: 'noRepository' },
  files: [],
  nMore: 0,
  nNotCompared: 0,
  problem: null,
};

/** Prompts of a session, the newest first. */
export const MOMENTS: PromptMoment[] = [
  { since: Date.UTC(2026, 9, 27, 10, 40), text: 'Say which rounding this is, in the documentation too' },
  { since: Date.UTC(2026, 9, 27, 9, 12), text: 'Round to even' },
  { since: Date.UTC(2026, 9, 26, 16, 3), text: 'Why is there one cent too much in the report of \u202ESeptember?' },
];

const file = (path: string, facts: Partial<FileChange> = {}): FileChange => ({
  path,
  oldPath: null,
  state: 'modified',
  content: 'text',
  added: 2,
  removed: 1,
  ...facts,
});

const none = { added: null, removed: null };

/** What the agent edited in a folder without git. */
export const EDITED: Changes = {
  base: { type: 'edits', sincePrompt: false },
  files: [
    file('notes/plan.md', { state: 'added', added: 12, removed: 0 }),
    file('src/money.rs'),
    file('src/old.rs', { state: 'deleted', added: 0, removed: 9 }),
    file('src/unknown.rs', { content: 'unknown', added: null, removed: null }),
  ],
  nMore: 0,
  nNotCompared: 0,
  problem: null,
};

/** One file of each kind. */
export const WORKING: Changes = {
  base: { type: 'commit', id: '9f8b1c22e04d7a61c05b2f3d6e7a8b9c0d1e2f30' },
  files: [
    file('assets/logo.png', { content: 'binary', ...none }),
    file('data/ledger.sqlite', { state: 'untracked', content: 'large', ...none }),
    file('docs/rounding.md', { state: 'added', added: 31, removed: 0 }),
    file('notes/\u202Egpj.exe', { state: 'untracked', added: 1, removed: 0 }),
    file('src/export/nightly.rs', { state: 'renamed', oldPath: 'src/nightly.rs', added: 0, removed: 0 }),
    file('src/import.rs', { state: 'conflicted', added: 9, removed: 0 }),
    file('src/money.rs'),
    file('src/old.rs', { state: 'deleted', added: 0, removed: 118 }),
    file('tests/current', { content: 'link', added: 1, removed: 1 }),
    file('vendor/decimal', { content: 'repository', ...none }),
    file('models/weights.bin', { content: 'converted', ...none }),
    file('run/control', { content: 'special', ...none }),
  ],
  nMore: 0,
  nNotCompared: 0,
  problem: null,
};

/** The repository before a commit. One file is staged, and one in another version. */
export const COMMIT_STATE: CommitState = {
  branch: 'half-even',
  head: '9f8b1c22e04d7a61c05b2f3d6e7a8b9c0d1e2f30',
  staged: ['docs/rounding.md'],
  partlyStaged: ['src/old.rs'],
  amendment: { type: 'possible', message: 'Round half to even\n\nThe bank does it that way.', programs: [] },
  programs: [],
};

export const COMMIT_BOX: CommitBoxState = { type: 'ready', repository: COMMIT_STATE, isTrusted: true };

export const COMMITTED: Committed = {
  id: '3f6d2c1a9b8e7f60514233241506172839405162',
  branch: 'half-even',
  subject: 'Round half to even',
  files: ['docs/rounding.md', 'src/money.rs', 'src/totals.rs'],
  addedByHooks: [],
  staysStaged: [],
  replacesStaged: [],
  output: '',
  problem: null,
};

export const fileOf = (path: string): FileChange => WORKING.files.find((one) => one.path === path) ?? file(path);

export function manyChanges(n: number): Changes {
  const files = Array.from({ length: n }, (_, i) => file(`src/part${i % 40}/file${i}.rs`, { added: i % 90 }));
  return { ...WORKING, files, nMore: 1_204, nNotCompared: 3 };
}

const plain = (text: string, strong = false) => ({ text, strong, style: 'plain' as const });

export const MONEY: Diff = {
  path: 'src/money.rs',
  added: 2,
  removed: 1,
  hunks: [
    {
      lines: [
        { kind: 'context', oldLine: 11, newLine: 11, parts: [plain('pub fn round(self) -> Self {')] },
        {
          kind: 'removed',
          oldLine: 12,
          newLine: null,
          parts: [plain('    Self(self.0.'), plain('round_dp', true), plain('(2))')],
        },
        {
          kind: 'added',
          oldLine: null,
          newLine: 12,
          parts: [plain('    Self(self.0.'), plain('round_dp_with_strategy', true), plain('(2, EVEN))')],
        },
        { kind: 'added', oldLine: null, newLine: 13, parts: [plain('    // \u202Eto even')] },
        { kind: 'context', oldLine: 13, newLine: 14, parts: [plain('}')] },
      ],
    },
    { lines: [{ kind: 'context', oldLine: 40, newLine: 41, parts: [plain('mod tests {')] }] },
  ],
};

const NOTES: Record<string, string> = {
  'assets/logo.png': 'A binary file: 10240 bytes before, 12288 bytes now.',
  'data/ledger.sqlite': 'This file is too large to show.',
  'src/export/nightly.rs': 'The content has not changed.',
  'vendor/decimal': 'A submodule: 1f2e3d4c before, 5b6a7988 now.',
  'run/control': 'A named pipe, a socket or a device, which is not read.',
};

export function diffOf(path: string): FileDiff {
  const note = NOTES[path] ?? null;
  const nMoreLines = path === 'src/old.rs' ? 4_100 : 0;
  return { note, diff: note === null ? { ...MONEY, path } : null, nMoreLines, version: note === null ? path : null };
}
