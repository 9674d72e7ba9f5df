// Stories of the worktrees of a project.

import { tick } from 'svelte';

import type { CommandError } from '../lib/bindings/api';
import { FakeHost } from '../fake/host';
import { worktree } from '../fake/worktrees';
import NewWorktreeDialog from '../lib/project/worktrees/NewWorktreeDialog.svelte';
import RemoveWorktree from '../lib/project/worktrees/RemoveWorktree.svelte';
import { Worktrees, type AskedRemoval } from '../lib/project/worktrees.svelte';
import WorktreesDialog from '../lib/project/worktrees/WorktreesDialog.svelte';
import { ignore, press, states, write, type Page } from './story';
import type { Asked } from '../lib/project/askAnother';

const failure = (message: string, detail: string | null = null): CommandError => ({
  code: 'internal',
  message,
  detail,
});

const NO_GIT = failure('Git was not found on this computer. Install it to use worktrees.');
const UNWRITABLE = failure(
  'Git reported an error.',
  "git: fatal: could not create leading directories of '/home/ines/ledger-import-pdf/.git': Permission denied",
);

/** The worktrees of a repository that was changed. */
function of(change: (repository: FakeHost['repository']) => void = ignore): Worktrees {
  const host = new FakeHost('conversation');
  change(host.repository);
  return new Worktrees(host);
}

const listed = (change?: (repository: FakeHost['repository']) => void) => ({
  worktrees: of(change),
  onadd: ignore,
  onclose: ignore,
});

const making = (suggestion: string, change?: (repository: FakeHost['repository']) => void) => ({
  worktrees: of(change),
  suggestion,
  base: 'main',
  asked: null as Asked | null,
  onclose: ignore,
});

const ASKED: Asked = { draft: { text: 'Round half to even.', asked: { type: 'other', id: 'codex' } }, nFiles: 2 };

const asking = (asked: Partial<AskedRemoval>, busy = false) => ({
  asked: { path: '/home/ines/ledger-import-csv', review: null, problem: null, ...asked },
  busy,
  onremove: ignore,
  onclose: ignore,
});

const review = (kept: string | null, ignored: string[] = [], branch: string | null = 'import-csv') => ({
  review: { worktree: worktree('import-csv', { branch }), kept, ignored, nMoreIgnored: ignored.length > 1 ? 12 : 0 },
});

const settled = async () => {
  for (let i = 0; i < 20; i++) await Promise.resolve();
  await tick();
};

export const worktrees: Page = () => [
  ...states('WorktreesDialog', WorktreesDialog, {
    'in every state': [listed(), settled],
    'only the main one': [listed((repository) => (repository.list = repository.list.slice(0, 1))), settled],
    reading: listed((repository) => (repository.worktrees = () => new Promise(ignore))),
    'without git': [listed((repository) => (repository.problem = NO_GIT)), settled],
    'one that is gone': [
      listed((repository) => (repository.open = () => Promise.reject(failure('The folder no longer exists.')))),
      async (root) => {
        await settled();
        await press(root, 'Go to window');
        await settled();
      },
    ],
    'after one was removed': [
      listed(),
      async (root) => {
        await settled();
        const rows = [...root.querySelectorAll('li')];
        await press(rows.find((row) => row.textContent.includes('import-csv')) ?? root, 'Remove');
        await settled();
        await press(root, 'Remove worktree');
        await settled();
      },
    ],
    'asks about one': [
      listed(),
      async (root) => {
        await settled();
        await press(root, 'Remove');
        await settled();
      },
    ],
  }),
  ...states('NewWorktreeDialog', NewWorktreeDialog, {
    'a new branch': [making('import-pdf'), settled],
    'with a prompt for another agent': [{ ...making('import-pdf'), asked: ASKED }, settled],
    'a branch that exists': [
      making('import-pdf'),
      async (root) => {
        await settled();
        await write(root, 'settlement-report');
        await new Promise((done) => setTimeout(done, 250));
        await settled();
      },
    ],
    'from a commit': [{ ...making('import-pdf'), base: null }, settled],
    'a wrong name': [making('a b'), settled],
    'no name': [making('import-pdf'), (root) => write(root, ' ')],
    checking: making('import-pdf', (repository) => (repository.plan = () => new Promise(ignore))),
    'with details of an error': [
      making('import-pdf', (repository) => (repository.problem = { ...UNWRITABLE, message: 'Git reported an error.' })),
      settled,
    ],
    'in a folder that cannot be written to': [
      making('import-pdf', (repository) => (repository.unwritable = UNWRITABLE)),
      async (root) => {
        await settled();
        await press(root, 'Create and open');
        await settled();
      },
    ],
    'being created': [
      making('import-pdf', (repository) => (repository.add = () => new Promise(ignore))),
      async (root) => {
        await settled();
        await press(root, 'Create and open');
      },
    ],
  }),
  ...states('RemoveWorktree', RemoveWorktree, {
    checking: asking({}),
    'loses nothing': asking(review(null)),
    'loses ignored files': asking(review(null, ['target/', '.env'])),
    'without a branch': asking(review(null, [], null)),
    'kept for its changes': asking(review('it has changes that are not committed: src/money.rs, src/totals.rs')),
    'kept for its sessions': asking(review('2 sessions run in it; stop the agent there first')),
    'kept for its window': asking(review('its window is open; close the window first')),
    'in progress': asking(review(null), true),
    failed: asking({ ...review(null), problem: failure('Git reported an error.', 'git: fatal: Permission denied') }),
    'not checked': asking({ problem: NO_GIT }),
  }),
];
