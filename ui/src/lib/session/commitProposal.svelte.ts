// A proposed commit message: a side question to the session's agent about the chosen changes.

import type {
  Command,
  CommitFile,
  FileChange,
  HunkPlace,
  Patch,
  Session,
  SessionId,
  SideOutcome,
} from '../bindings/api';
import { asCommandError } from '../host/host';
import type { SessionChanges } from './changes.svelte';
import type { CommitBox } from './commitBox.svelte';
import { noSideQuestions } from './sideQuestions';

/** Maximum number of files that are listed, and of those whose changes are sent. */
const MOST_LISTED = 100;
const MOST_SENT = 20;
/** Maximum number of characters of the changes, and of the text that was written so far. */
const MOST_CHANGES = 24_000;
const MOST_WRITTEN = 2_000;

export interface ProposalHost {
  /** The session whose agent is asked; `null` without one. */
  session: () => Session | null;
  /** Another program has its conversation open. */
  isWatching: () => boolean;
  /** The changes of a file since the last commit. Rejects as the host. */
  patch: (session: SessionId, path: string) => Promise<Patch>;
  /** Rejects as the host. */
  command: (session: SessionId, command: Command) => Promise<void>;
}

export class CommitProposal {
  /** Why the last question has no message. */
  failure = $state.raw<string | null>(null);
  #asked = $state.raw<{ session: SessionId; id: string } | null>(null);
  #isPreparing = $state.raw(false);
  #host: ProposalHost;
  #nr = 0;

  constructor(host: ProposalHost) {
    this.#host = host;
  }

  /** Why no message can be proposed, as a sentence. */
  obstacle(box: CommitBox, files: readonly FileChange[]): string | null {
    const none = noSideQuestions(this.#host.session(), this.#host.isWatching());
    return none ?? (box.filesOf(files).length === 0 ? 'Choose the files of the commit first.' : null);
  }

  /** What became of the question; `null` without one in this session. */
  get outcome(): SideOutcome | null {
    const session = this.#host.session();
    const asked = this.#asked;
    if (asked === null || session?.id !== asked.session) return null;
    return session.sideQuestions.find(({ id }) => id === asked.id)?.outcome ?? { type: 'waiting', retry: null };
  }

  get isWaiting(): boolean {
    return this.#isPreparing || this.outcome?.type === 'waiting';
  }

  async ask(box: CommitBox, files: readonly FileChange[]): Promise<void> {
    const session = this.#host.session();
    if (session === null || this.isWaiting || this.obstacle(box, files) !== null) return;
    const nr = ++this.#nr;
    [this.failure, this.#asked, this.#isPreparing] = [null, null, true];
    try {
      const question = await this.#question(session.id, box, files);
      // It was cancelled.
      if (nr !== this.#nr) return;
      const id = crypto.randomUUID();
      await this.#host.command(session.id, { type: 'askSide', id, question, purpose: 'commitMessage' });
      if (nr === this.#nr) this.#asked = { session: session.id, id };
      else await this.#host.command(session.id, { type: 'cancelSide', id });
    } catch (reason) {
      if (nr === this.#nr) this.failure = asCommandError(reason).message;
    }
    if (nr === this.#nr) this.#isPreparing = false;
  }

  async cancel(): Promise<void> {
    const asked = this.#asked;
    const isWaiting = this.outcome?.type === 'waiting';
    this.#nr += 1;
    [this.#asked, this.#isPreparing] = [null, false];
    if (asked === null || !isWaiting) return;
    try {
      await this.#host.command(asked.session, { type: 'cancelSide', id: asked.id });
    } catch (reason) {
      this.failure = asCommandError(reason).message;
    }
  }

  /** Ends a question that is over. Returns the message; `null` if there is none, which `failure` explains. */
  end(outcome: SideOutcome): string | null {
    if (outcome.type === 'waiting') return null;
    this.#asked = null;
    const message = outcome.type === 'answered' ? messageIn(outcome.text) : '';
    if (message !== '') return message;
    this.failure = outcome.type === 'failed' ? outcome.message : 'The answer has no message.';
    return null;
  }

  async #question(session: SessionId, box: CommitBox, files: readonly FileChange[]): Promise<string> {
    const chosen = box.filesOf(files);
    const list = chosen.slice(0, MOST_LISTED).map(({ path }) =>
      line(
        files.find((file) => file.path === path),
        path,
      ),
    );
    const nMore = chosen.length - list.length;
    if (nMore > 0) list.push(`and ${nMore} more`);
    const patches = await Promise.all(
      chosen
        .slice(0, MOST_SENT)
        .map(async (file) => chosenPart((await this.#host.patch(session, file.path)).text, file)),
    );
    const changes = patches.join('');
    const isWhole = changes.length <= MOST_CHANGES && chosen.length <= MOST_SENT;
    const written = box.message.trim().slice(0, MOST_WRITTEN);
    return [
      'Write the message of a git commit that has the changes below. Answer with the message alone: a subject of at ' +
        'most 72 characters in the imperative and, only if it helps, an empty line and a short body that says why. No ' +
        'code fence, no quotes, no list of files, no remark about this question.',
      ...(box.amend ? ['It replaces the last commit, whose message the user sees and may have edited.'] : []),
      ...(written === '' ? [] : [`The user has written this so far:\n${written}`]),
      `Files:\n${list.join('\n')}`,
      `Changes${isWhole ? '' : ' (only their beginning)'}:\n${changes.slice(0, MOST_CHANGES)}`,
    ].join('\n\n');
  }
}

/** The proposals of a project, which go on while the page of changes is closed. */
export function proposalOf(
  changes: SessionChanges,
  session: ProposalHost['session'],
  isWatching: ProposalHost['isWatching'],
): CommitProposal {
  const { host } = changes;
  return (changes.proposal ??= new CommitProposal({
    session,
    isWatching,
    patch: (id, path) => host.ask(id, { type: 'patch', path, against: 'commit' }),
    command: (id, command) => host.command(id, command),
  }));
}

function line(file: FileChange | undefined, path: string): string {
  const counts = file == null || file.added === null ? '' : ` (+${file.added} -${file.removed ?? 0})`;
  return `${file?.state ?? 'modified'} ${path}${counts}`;
}

/** The chosen parts of a file's patch: all of it, or the hunks with these places. */
export function chosenPart(patch: string, { hunks }: Pick<CommitFile, 'hunks'>): string {
  if (hunks === null) return patch;
  const [head = '', ...parts] = patch.split(/^(?=@@ )/m);
  return head + parts.filter((part) => hunks.some((hunk) => isAt(part, hunk))).join('');
}

function isAt(part: string, { oldStart, nOld, newStart, nNew }: HunkPlace): boolean {
  const places = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(part);
  if (places === null) return false;
  const [, old = '', nOlder = '1', now = '', nNewer = '1'] = places;
  return [old, nOlder, now, nNewer].map(Number).join() === [oldStart, nOld, newStart, nNew].join();
}

const QUOTES: Record<string, string> = { '"': '"', "'": "'", '“': '”', '`': '`' };

/**
 * The commit message in an answer: without the code fence, the label or the quotes that models put around it, and without
 * spaces at the ends of lines. A text with one fence is that fence's content.
 */
export function messageIn(answer: string): string {
  const fences = [...answer.matchAll(/^(`{3,})[^\n`]*\n([^]*?)\n?^\1[ \t]*$/gm)];
  let text = (fences.length === 1 ? (fences[0]?.[2] ?? '') : answer).trim();
  text = text.replace(/^(?:\*\*)?(?:commit message|message)(?:\*\*)?:(?:\*\*)?\s*/i, '');
  const end = QUOTES[text[0] ?? ''];
  const inside = text.slice(1, -1);
  if (end !== undefined && text.length > 2 && text.endsWith(end) && !inside.includes(end)) text = inside;
  return text
    .split('\n')
    .map((one) => one.trimEnd())
    .join('\n')
    .trim();
}
