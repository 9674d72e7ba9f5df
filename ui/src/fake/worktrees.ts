// The worktrees of a made-up repository.

import type {
  CommandError,
  NamedDraft,
  Worktree,
  WorktreePlan,
  WorktreeRemoval,
  WorktreeView,
} from '../lib/bindings/api';

const ROOT = '/home/ines/ledger';

export function worktree(branch: string, facts: Partial<Worktree> = {}): Worktree {
  return {
    path: `${ROOT}-${branch.replaceAll('/', '-')}`,
    branch,
    commit: '3f6d2c1a9b8e7f60514233241506172839405162',
    isMain: false,
    isCurrent: false,
    isLocked: false,
    isMissing: false,
    nChanged: 0,
    ...facts,
  };
}

const view = (worktree: Worktree, hasWindow = false, nRunning = 0): WorktreeView => ({ worktree, hasWindow, nRunning });

/** A worktree in each state. */
const WORKTREES: readonly WorktreeView[] = [
  view(worktree('main', { path: ROOT, isMain: true, isCurrent: true, nChanged: 3 }), true, 1),
  view(worktree('fix/rounding', { nChanged: 2 }), true, 2),
  view(worktree('import-csv')),
  view(worktree('release-1.4', { isLocked: true, nChanged: null })),
  view(worktree('spike', { branch: null })),
  view(worktree('old-report', { isMissing: true, nChanged: null })),
];

/** The branches without a worktree. */
const BRANCHES = ['settlement-report'];

export class FakeWorktrees {
  list: WorktreeView[] = structuredClone([...WORKTREES]);
  /** Files that git ignores, in every worktree. */
  ignored: string[] = [];
  /** Rejects every call with this error. */
  problem: CommandError | null = null;
  /** Why no worktree can be created, although its name is good. */
  unwritable: CommandError | null = null;
  /** The folders that were opened. */
  readonly opened: string[] = [];
  /** The drafts that their windows were given. */
  readonly drafts: NamedDraft[] = [];

  worktrees(): Promise<WorktreeView[]> {
    return this.problem === null ? Promise.resolve(structuredClone(this.list)) : rejected(this.problem);
  }

  plan(branch: string): Promise<WorktreePlan> {
    if (this.problem !== null) return rejected(this.problem);
    const path = `${ROOT}-${branch.replaceAll('/', '-')}`;
    const other = this.list.find(({ worktree }) => worktree.branch === branch)?.worktree;
    if (!/^[\w.][\w./-]*$/.test(branch) || branch.includes('..'))
      return refuse(`“${branch}” cannot be the name of a branch.`);
    if (other !== undefined) {
      return refuse(`The branch ${branch} is already checked out in ${other.path}. Choose another name.`);
    }
    if (this.list.some(({ worktree }) => worktree.path === path)) {
      return refuse(`The folder ${path} exists already. Choose another name.`);
    }
    return Promise.resolve({ path, isNew: !BRANCHES.includes(branch) });
  }

  async add(branch: string, draft: NamedDraft | null): Promise<void> {
    const { path } = await this.plan(branch);
    if (this.unwritable !== null) return rejected(this.unwritable);
    if (draft !== null) this.drafts.push(draft);
    this.list.push(view(worktree(branch), true));
    this.opened.push(path);
  }

  open(path: string): Promise<void> {
    const found = this.list.find(({ worktree }) => worktree.path === path);
    if (found === undefined) return refuse(`${path} is no longer a worktree of this repository.`);
    this.opened.push(path);
    return Promise.resolve();
  }

  review(path: string): Promise<WorktreeRemoval> {
    const found = this.list.find(({ worktree }) => worktree.path === path);
    if (found === undefined) return refuse(`${path} is no longer a worktree of this repository.`);
    const { worktree, nRunning, hasWindow } = found;
    const kept = [
      nRunning > 0 ? `${nRunning} sessions run in it; stop the agent there first` : null,
      hasWindow ? 'its window is open; close the window first' : null,
      worktree.isLocked ? 'it is locked; git worktree unlock frees it' : null,
      worktree.isMissing ? 'its folder is gone; git worktree prune forgets it' : null,
      (worktree.nChanged ?? 0) > 0 ? 'it has changes that are not committed: src/money.rs, src/totals.rs' : null,
    ].find((reason) => reason !== null);
    return Promise.resolve({ worktree, kept: kept ?? null, ignored: [...this.ignored], nMoreIgnored: 0 });
  }

  async remove(path: string, withIgnored: boolean): Promise<void> {
    const { kept, ignored } = await this.review(path);
    const why = kept ?? (ignored.length > 0 && !withIgnored ? 'it has files that git ignores' : null);
    if (why !== null) return refuse(`${path} was not removed: ${why}.`);
    this.list = this.list.filter(({ worktree }) => worktree.path !== path);
  }
}

function refuse<T>(message: string): Promise<T> {
  return rejected({ code: 'badCommand', message, detail: null });
}

function rejected<T>(error: CommandError): Promise<T> {
  return Promise.reject(error);
}
