// The worktrees of the project's repository: their list, a new one, and the removal of one.

import type { CommandError, NamedDraft, WorktreePlan, WorktreeRemoval, WorktreeView } from '../bindings/api';
import { asCommandError, type Host } from '../host/host';

type WorktreesHost = Pick<
  Host,
  'worktrees' | 'planWorktree' | 'addWorktree' | 'openWorktree' | 'reviewWorktree' | 'removeWorktree'
>;

/** A worktree that the user is asked about before it is removed. */
export interface AskedRemoval {
  path: string;
  /** What would be lost, or why nothing is removed; `null` until it is known. */
  review: WorktreeRemoval | null;
  problem: CommandError | null;
}

/** The result of the check of a branch name. */
export interface CheckedName {
  branch: string;
  plan: WorktreePlan | null;
  problem: CommandError | null;
}

/** How many names with a number are tried. */
const MOST_TRIED = 9;

export class Worktrees {
  /** The main one first; `null` until they were read. */
  list = $state.raw<readonly WorktreeView[] | null>(null);
  isReading = $state.raw(false);
  /** Why they were not read. */
  problem = $state.raw<CommandError | null>(null);
  /** Why the last one was not opened or created. */
  refused = $state.raw<CommandError | null>(null);
  /** A worktree is being opened, created or removed. */
  isBusy = $state.raw(false);
  asked = $state.raw<AskedRemoval | null>(null);
  /** The outcome of the last removal. */
  said = $state.raw<string | null>(null);
  /** The last name that was checked. */
  checked = $state.raw<CheckedName | null>(null);
  #isFollowed = false;
  /** Something changed after the list was asked for. */
  #isOutdated = false;
  #wanted: string | null = null;
  #host: WorktreesHost;

  constructor(host: WorktreesHost) {
    this.#host = host;
  }

  /** Reads them for a list that is shown, now and after each change, until the returned function is called. */
  follow(): () => void {
    this.reset();
    this.#isFollowed = true;
    void this.read();
    return () => {
      this.#isFollowed = false;
    };
  }

  /** A window or an agent came or went in one of them. */
  usesChanged(): void {
    if (this.#isFollowed) void this.read();
  }

  async read(): Promise<void> {
    // What is being read may be older than the reason to read again.
    this.#isOutdated = true;
    if (this.isReading) return;
    this.isReading = true;
    while (this.#isOutdated) {
      this.#isOutdated = false;
      try {
        this.list = await this.#host.worktrees();
        this.problem = null;
      } catch (reason) {
        this.problem = asCommandError(reason);
      }
    }
    this.isReading = false;
  }

  /** Opens a worktree in its own window. Returns whether that worked. */
  open(path: string): Promise<boolean> {
    return this.#act(() => this.#host.openWorktree(path));
  }

  /** Begins to ask whether a worktree is to be removed. */
  async ask(path: string): Promise<void> {
    const asked: AskedRemoval = { path, review: null, problem: null };
    this.said = null;
    this.asked = asked;
    const found = await this.#host.reviewWorktree(path).then(
      (review) => ({ ...asked, review }),
      (reason: unknown) => ({ ...asked, problem: asCommandError(reason) }),
    );
    // The user may have closed the question, and asked about another one.
    if (this.asked === asked) this.asked = found;
  }

  /** Removes the worktree that the user was asked about. */
  async confirm(): Promise<void> {
    const { asked } = this;
    if (asked?.review == null || this.isBusy) return;
    const { worktree, ignored } = asked.review;
    this.isBusy = true;
    try {
      // Files that were not shown are not lost.
      await this.#host.removeWorktree(asked.path, ignored.length > 0);
      const kept = worktree.branch === null ? '' : ` The branch ${worktree.branch} is still there.`;
      this.said = `Removed ${worktree.path}.${kept}`;
      this.asked = null;
    } catch (reason) {
      this.asked = { ...asked, problem: asCommandError(reason) };
    }
    this.isBusy = false;
    await this.read();
  }

  /** Checks a name as the user types. Only the last one counts. */
  async check(branch: string): Promise<void> {
    this.#wanted = branch;
    const checked = await this.#plan(branch);
    if (this.#wanted === branch) this.checked = checked;
  }

  /** Returns this name, or the first one with a number that no branch has. */
  async suggest(name: string): Promise<string> {
    for (let nr = 1; nr <= MOST_TRIED; nr++) {
      const branch = nr === 1 ? name : `${name}-${nr}`;
      const checked = await this.#plan(branch);
      const isTaken = checked.plan === null ? checked.problem?.code === 'badCommand' : !checked.plan.isNew;
      if (!isTaken) return branch;
    }
    return name;
  }

  /** Creates a worktree and opens it in its own window, with a draft there. Returns whether that worked. */
  add(branch: string, draft: NamedDraft | null): Promise<boolean> {
    return this.#act(() => this.#host.addWorktree(branch, draft));
  }

  /** Forgets what earlier dialogs showed. */
  reset(): void {
    this.#wanted = null;
    this.checked = null;
    this.problem = null;
    this.refused = null;
    this.said = null;
    this.asked = null;
  }

  #plan(branch: string): Promise<CheckedName> {
    return this.#host.planWorktree(branch).then(
      (plan) => ({ branch, plan, problem: null }),
      (reason: unknown) => ({ branch, plan: null, problem: asCommandError(reason) }),
    );
  }

  async #act(act: () => Promise<void>): Promise<boolean> {
    if (this.isBusy) return false;
    this.isBusy = true;
    this.refused = null;
    try {
      await act();
    } catch (reason) {
      this.refused = asCommandError(reason);
    }
    this.isBusy = false;
    return this.refused === null;
  }
}
