// The commit box of the changes page: the choice of files and parts, the message, and the run of a commit.

import type {
  CommandError,
  CommitBoxState,
  CommitFile,
  CommitRequest,
  CommitState,
  Committed,
  FileChange,
  HunkPlace,
  UndoneCommit,
  WindowEvent,
} from '../bindings/api';
import { asCommandError } from '../host/host';
import { plural } from '../kit/amounts';
import { plainPath } from '../text/reveal';
import type { SessionChanges } from './changes.svelte';

const KEY = 'deskbell.commit.';

/** Characters of the end of the output that are kept. */
const MOST_OUTPUT = 16_000;

/** Maximum number of files that are named in the outcome. */
const MOST_NAMED = 3;

export interface CommitHost {
  state: () => Promise<CommitBoxState>;
  commit: (request: CommitRequest, withoutPrograms: boolean) => Promise<Committed>;
  stop: () => Promise<void>;
  undo: () => Promise<UndoneCommit>;
  /** The list of changes is another one now. */
  changed: () => void;
}

/** The chosen parts of a file, as its diff with this version has them. */
interface ChosenParts {
  version: string;
  hunks: readonly HunkPlace[];
}

/** The text that outlives the window. */
interface KeptText {
  message: string;
  /** The message that the user had before amending. */
  aside: string | null;
  signoff: boolean;
}

const EMPTY: KeptText = { message: '', aside: null, signoff: false };

export class CommitBox {
  /** The state of the box; `null` until it is known. */
  view = $state.raw<CommitBoxState | null>(null);
  /** The end of the output of git and its hooks. */
  output = $state.raw('');
  /** The reason why the last commit was not made or not undone. */
  failure = $state.raw<CommandError | null>(null);
  /** The outcome of the last action. */
  said = $state.raw<string | null>(null);
  /** The last commit of this box, which can be undone. */
  committed = $state.raw<Committed | null>(null);
  /** Leaves out hooks and signing. */
  withoutPrograms = $state(false);
  #isCommitting = $state.raw(false);
  #isUndoing = $state.raw(false);
  #text = $state.raw<KeptText>(EMPTY);
  #chosen = $state.raw<ReadonlyMap<string, boolean | ChosenParts>>(new Map());
  /** The text of the last commit of this box. */
  #last: KeptText = EMPTY;
  #host: CommitHost;
  #key: string;
  #storage: Storage;
  #nr = 0;

  constructor(host: CommitHost, key: string, storage: Storage) {
    this.#host = host;
    this.#key = KEY + key;
    this.#storage = storage;
    this.#text = read(storage.getItem(this.#key));
  }

  /** The repository before the commit; `null` if it is not known, or if no commit can be made. */
  get repository(): CommitState | null {
    return this.view?.type === 'ready' ? this.view.repository : null;
  }

  /** The programs that the commit would run. */
  get programs(): readonly string[] {
    return (this.amend ? this.#amendable?.programs : this.repository?.programs) ?? [];
  }

  get isTrusted(): boolean {
    return this.view?.type === 'ready' && this.view.isTrusted;
  }

  get message(): string {
    return this.#text.message;
  }

  set message(message: string) {
    this.#keep({ ...this.#text, message });
  }

  get signoff(): boolean {
    return this.#text.signoff;
  }

  set signoff(signoff: boolean) {
    this.#keep({ ...this.#text, signoff });
  }

  get amend(): boolean {
    return this.#text.aside !== null && this.#amendable !== null;
  }

  /** The last commit is replaced, and its message is edited. The message before it comes back when this is turned off. */
  set amend(amend: boolean) {
    const { message, aside } = this.#text;
    if (amend) this.#keep({ ...this.#text, message: this.#amendable?.message ?? '', aside: message });
    else this.#keep({ ...this.#text, message: aside ?? message, aside: null });
  }

  /** A commit is being made, by this page or by the one before a reload. */
  get isRunning(): boolean {
    return this.#isCommitting || this.view?.type === 'running';
  }

  get isBusy(): boolean {
    return this.isRunning || this.#isUndoing;
  }

  /** Whether the whole file, a part of it or nothing of it is chosen. A staged file is chosen at first. */
  choiceOf(path: string): 'all' | 'parts' | 'none' {
    const choice = this.#choice(path);
    if (typeof choice !== 'boolean') return 'parts';
    return choice ? 'all' : 'none';
  }

  isStagedPartly(path: string): boolean {
    return this.repository?.partlyStaged.includes(path) ?? false;
  }

  choose(paths: readonly string[], isChosen: boolean): void {
    const chosen = new Map(this.#chosen);
    for (const path of paths) chosen.set(path, isChosen);
    this.#chosen = chosen;
  }

  isPartChosen(path: string, version: string, place: HunkPlace): boolean {
    const choice = this.#choice(path);
    if (typeof choice === 'boolean') return choice;
    return choice.version === version && choice.hunks.some((one) => isSame(one, place));
  }

  /** Chooses a part of a file, or not. `all` are the parts of the file; `isWhole` if they are its whole change. */
  choosePart(path: string, version: string, place: HunkPlace, all: readonly HunkPlace[], isWhole: boolean): void {
    const isChosen = !this.isPartChosen(path, version, place);
    const hunks = all.filter((one) => (isSame(one, place) ? isChosen : this.isPartChosen(path, version, one)));
    const isAll = isWhole && hunks.length === all.length;
    this.#chosen = new Map(this.#chosen).set(path, isAll || (hunks.length > 0 && { version, hunks }));
  }

  /** The diff of a file has this version now. Parts of another version are no longer chosen, because they may differ. */
  seen(path: string, version: string | null): void {
    const choice = this.#chosen.get(path);
    if (typeof choice !== 'object' || choice.version === version) return;
    this.choose([path], false);
    this.said = `${plainPath(path)} has changed. Choose its parts again.`;
  }

  /** The chosen files of this list, as a commit takes them. */
  filesOf(files: readonly FileChange[]): CommitFile[] {
    return files.filter(canBeCommitted).flatMap(({ path }) => {
      const choice = this.#choice(path);
      if (choice === false) return [];
      const { version, hunks } = choice === true ? { version: null, hunks: null } : choice;
      return [{ path, version, hunks: hunks === null ? null : [...hunks] }];
    });
  }

  /** The commands that a commit runs, one per line. */
  get commands(): string {
    const add = 'git update-index --add --remove -z --stdin';
    if (this.withoutPrograms || (!this.isTrusted && this.programs.length === 0)) {
      return [add, 'git commit-tree', 'git update-ref HEAD'].join('\n');
    }
    const commit = ['git commit --quiet', this.amend && '--amend', this.signoff && '--signoff', '--file=-'];
    return `${add}\n${commit.filter(Boolean).join(' ')}`;
  }

  /** Why these files cannot be committed now, as a sentence. */
  obstacle(files: readonly FileChange[]): string | null {
    if (this.isRunning) return 'A commit is being made.';
    if (this.repository === null) return 'Reading the repository…';
    if (!this.amend && this.filesOf(files).length === 0) return 'Choose a file first.';
    return this.message.trim() === '' ? 'Write a message first.' : null;
  }

  /** Reads the state of the repository again. */
  async refresh(): Promise<void> {
    // The end of the commit reads it.
    if (this.#isCommitting) return;
    const nr = ++this.#nr;
    try {
      const view = await this.#host.state();
      if (nr === this.#nr) this.view = view;
    } catch (reason) {
      const problem = asCommandError(reason);
      if (nr === this.#nr) this.view = { type: 'refused', problem };
    }
  }

  async commit(files: readonly FileChange[]): Promise<void> {
    const state = this.repository;
    const obstacle = this.#isUndoing ? 'The last commit is being undone.' : this.obstacle(files);
    this.said = obstacle;
    if (obstacle !== null || state === null) return;
    const [amend, text] = [this.amend, this.#text];
    const { message, signoff } = text;
    const request = { files: { only: this.filesOf(files) }, message, signoff, amend, head: state.head };
    [this.failure, this.committed, this.output] = [null, null, ''];
    this.#isCommitting = true;
    // A state that is still being read would show this commit as one of another page.
    this.#nr += 1;
    try {
      const made = await this.#host.commit(request, this.withoutPrograms);
      this.committed = made;
      this.said = committedWords(made, state.partlyStaged);
      this.#last = text;
      this.#chosen = new Map();
      // What was written while the hooks ran stays.
      const now = this.#text.message;
      this.#keep({ ...this.#text, message: now === message ? (text.aside ?? '') : now, aside: null });
    } catch (reason) {
      this.failure = asCommandError(reason);
    }
    this.#isCommitting = false;
    this.#host.changed();
    await this.refresh();
  }

  async stop(): Promise<void> {
    try {
      await this.#host.stop();
    } catch (reason) {
      this.failure = asCommandError(reason);
    }
  }

  async undo(): Promise<void> {
    if (this.isBusy) return;
    [this.failure, this.said] = [null, null];
    this.#isUndoing = true;
    try {
      await this.#host.undo();
      this.committed = null;
      this.said = 'The commit is undone. Its changes are staged.';
      if (this.message.trim() === '') this.#keep({ ...this.#last, aside: null });
    } catch (reason) {
      this.failure = asCommandError(reason);
    }
    this.#isUndoing = false;
    this.#host.changed();
    await this.refresh();
  }

  hear(event: WindowEvent): void {
    if (event.type === 'commitOutput') this.output = (this.output + event.text).slice(-MOST_OUTPUT);
    if (event.type !== 'commitEnded' || this.#isCommitting) return;
    // The page that began this commit was reloaded.
    this.#host.changed();
    void this.refresh();
  }

  get #amendable() {
    const amendment = this.repository?.amendment;
    return amendment?.type === 'possible' ? amendment : null;
  }

  #choice(path: string): boolean | ChosenParts {
    return this.#chosen.get(path) ?? this.repository?.staged.includes(path) ?? false;
  }

  #keep(text: KeptText): void {
    this.#text = text;
    try {
      this.#storage.setItem(this.#key, JSON.stringify(text));
    } catch {
      // As for the draft of a prompt: with full storage the message lives only as long as the window.
    }
  }
}

/** The commit box of a project, which keeps its choice while the page of changes is closed. */
export function commitBoxOf(changes: SessionChanges): CommitBox {
  const { host, project, working } = changes;
  const commits: CommitHost = {
    state: () => host.commitState(),
    commit: (request, withoutPrograms) => host.commit(request, withoutPrograms),
    stop: () => host.stopCommit(),
    undo: () => host.undoCommit(),
    changed: () => void working.refresh(),
  };
  return (changes.commit ??= new CommitBox(commits, project, localStorage));
}

/** Why a file cannot be committed; `null` if it can be. */
export function notCommittable({ state, content }: FileChange): string | null {
  if (state === 'conflicted') return 'Resolve the conflict in this file first.';
  if (content === 'special') return 'This is not a file, so git cannot keep it.';
  if (content === 'repository' && state === 'untracked') return 'Add this repository as a submodule first.';
  return null;
}

export const canBeCommitted = (file: FileChange): boolean => notCommittable(file) === null;

const ESCAPE = String.fromCharCode(27);
/** A code of a terminal, such as one for a colour. */
const CODE = new RegExp(`${ESCAPE}\\[[0-9;?]*[ -/]*[@-~]`, 'g');

/** Output of programs without codes of a terminal, and with what is invisible in it. */
export function plainOutput(text: string): string {
  const lines = text.replace(CODE, '').replaceAll('\r\n', '\n').split('\n');
  return lines.map((line) => line.split('\t').map(plainPath).join('\t')).join('\n');
}

function committedWords(made: Committed, partlyStaged: readonly string[]): string {
  const files = `Committed ${plural(made.files.length, 'file')} on ${plainPath(made.branch)}.`;
  const added = made.addedByHooks.length === 0 ? [] : [`A hook added ${namesOf(made.addedByHooks)}.`];
  const replaced = made.replacesStaged.filter((path) => partlyStaged.includes(path));
  const lost = replaced.length === 0 ? [] : [`The other staged version of ${namesOf(replaced)} was replaced.`];
  return [files, ...added, ...lost, ...(made.problem === null ? [] : [made.problem])].join(' ');
}

function namesOf(paths: readonly string[]): string {
  const first = paths.slice(0, MOST_NAMED).map(plainPath).join(', ');
  const nMore = paths.length - MOST_NAMED;
  return nMore > 0 ? `${first} and ${nMore} more` : first;
}

const isSame = (one: HunkPlace, other: HunkPlace): boolean =>
  one.oldStart === other.oldStart &&
  one.nOld === other.nOld &&
  one.newStart === other.newStart &&
  one.nNew === other.nNew;

function read(stored: string | null): KeptText {
  if (stored === null) return EMPTY;
  try {
    const text = JSON.parse(stored) as Partial<KeptText> | null;
    const aside = typeof text?.aside === 'string' ? text.aside : null;
    if (typeof text?.message !== 'string') return EMPTY;
    return { message: text.message, aside, signoff: text.signoff === true };
  } catch {
    return EMPTY;
  }
}
