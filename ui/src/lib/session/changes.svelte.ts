// The changes of the open session's working tree: their list, each file's diff, and what the user does with them.

import type { Against, Changes, FileDiff, PromptMoment, SessionId } from '../bindings/api';
import { asCommandError, type Host } from '../host/host';
import type { Problems } from './problems.svelte';
import type { ChangeActs } from './changeActs.svelte';
import type { CommitBox } from './commitBox.svelte';
import type { CommitProposal } from './commitProposal.svelte';
import { WorkingChanges } from './workingTree.svelte';

export class SessionChanges {
  readonly working = new WorkingChanges((against) => this.#list(against));
  /** The actions on the changes, once the page of changes was shown: they are loaded with it. */
  acts: ChangeActs | null = null;
  /** The commit box, once the page of changes was shown. */
  commit: CommitBox | null = null;
  /** The proposal of a commit message, once the page of changes was shown. */
  proposal: CommitProposal | null = null;

  /** `openId` returns the open session, `isFar` whether the project is on another machine. */
  constructor(
    readonly host: Host,
    private readonly problems: Problems,
    private readonly openId: () => SessionId | null,
    private readonly isFar: () => boolean,
    /** The path of the project, by which the message of a commit is kept. */
    readonly project: string,
  ) {}

  /** The change of a file; `null` if it could not be read, which is reported. */
  async diff(path: string): Promise<FileDiff | null> {
    const id = this.openId();
    if (id === null) return null;
    return this.problems.read('The change was not read', () =>
      this.host.ask(id, { type: 'fileDiff', path, against: this.working.against }),
    );
  }

  /** The prompts with whose working tree the present one can be compared, the newest first. */
  async promptMoments(): Promise<readonly PromptMoment[]> {
    const id = this.openId();
    if (id === null) return [];
    // It is asked after each list. Why another machine does not answer is shown in place of the list.
    const read = () => this.host.ask(id, { type: 'promptMoments' });
    if (this.isFar()) return read().catch(() => []);
    return (await this.problems.read('The earlier prompts were not read', read)) ?? [];
  }

  /** The changed files; `null` without an open session, or if they could not be read. */
  async #list(against: Against): Promise<Changes | null> {
    const id = this.openId();
    if (id === null) return null;
    if (this.isFar()) return this.#listFar(id, against);
    return this.problems.read('The changes were not read', () => this.host.ask(id, { type: 'changes', against }));
  }

  /**
   * The changed files on another machine; `null` if they were read before and cannot be now. They are read after each
   * turn, so the list says why the machine does not answer, instead of a report each time. A list of another base is never
   * kept.
   */
  async #listFar(id: SessionId, against: Against): Promise<Changes | null> {
    try {
      return await this.host.ask(id, { type: 'changes', against });
    } catch (reason) {
      if (this.working.isKnown && this.working.isOfBase) return null;
      const problem = asCommandError(reason).message;
      const base = { type: 'noRepository' } as const;
      return { base, files: [], nMore: 0, nNotCompared: 0, problem };
    }
  }

  /** The id of the open session. */
  get sessionId(): SessionId {
    const id = this.openId();
    if (id === null) throw new Error('No session is open.');
    return id;
  }
}
