// Files that texts of the agent name: which of them exist, and the one that is shown.

import { SvelteMap } from 'svelte/reactivity';

import type { FileDiff, FileText, SessionId } from '../bindings/api';
import type { Host } from '../host/host';
import type { Problems } from './problems.svelte';

/** A file of a session's folder, and the line that is wanted. */
export interface ShownFile {
  session: SessionId;
  path: string;
  line: number | null;
}

/** Paths of one question. The engine answers no longer one. */
const MOST_ASKED = 100;
/** Answers that are kept, and paths of a session that wait for one. */
const MOST_KNOWN = 5_000;
const MOST_WAITING = 2_000;

/** Worktrees that agents make in the folder. Git compares the folder without them. */
const WORKTREES = '.claude/worktrees/';

export class FileLinks {
  /** The file that the window shows. */
  shown = $state.raw<ShownFile | null>(null);
  /** By session and path: the file; `null` if there is none. */
  readonly #known = new SvelteMap<string, string | null>();
  readonly #waiting = new Map<SessionId, Set<string>>();
  #isAsking = false;

  constructor(
    private readonly host: Host,
    private readonly problems: Problems,
  ) {}

  /** The file that this path names in a session's folder; `null` if there is none, or as long as it is not known. */
  found(session: SessionId, path: string): string | null {
    return this.#known.get(keyOf(session, path)) ?? null;
  }

  /** Looks for the file, unless it was found before. */
  look(session: SessionId, path: string): void {
    if (this.found(session, path) !== null) return;
    const waiting = this.#waiting.get(session) ?? new Set();
    if (waiting.size >= MOST_WAITING) return;
    this.#waiting.set(session, waiting.add(path));
    if (this.#isAsking) return;
    this.#isAsking = true;
    // What is drawn together is asked together.
    queueMicrotask(() => void this.#ask());
  }

  show(file: ShownFile): void {
    this.shown = file;
  }

  /** Lines of the file around one of them. */
  text(path: string, line: number | null): Promise<FileText> {
    if (this.shown === null) throw new Error('No file is shown.');
    return this.host.ask(this.shown.session, { type: 'fileText', path, line });
  }

  /** The change of the file since the last commit; `null` if there is none. */
  async diff(path: string): Promise<FileDiff | null> {
    const { shown } = this;
    if (shown === null || path.startsWith(WORKTREES)) return null;
    return this.problems.read('The change was not read', () =>
      this.host.ask(shown.session, { type: 'fileDiff', path, against: 'commit' }),
    );
  }

  async #ask(): Promise<void> {
    for (let [next] = this.#waiting; next !== undefined; [next] = this.#waiting) {
      const [session, waiting] = next;
      const paths = [...waiting].slice(0, MOST_ASKED);
      for (const path of paths) waiting.delete(path);
      if (waiting.size === 0) this.#waiting.delete(session);
      try {
        const found = await this.host.ask(session, { type: 'namedFiles', paths });
        if (this.#known.size + paths.length > MOST_KNOWN) this.#known.clear();
        paths.forEach((path, i) => this.#known.set(keyOf(session, path), found[i] ?? null));
      } catch {
        // The session is gone, or its server is an older one or cannot be reached: its paths stay text until they are
        // looked for again, after the next turn.
        this.#waiting.delete(session);
      }
    }
    this.#isAsking = false;
  }
}

const keyOf = (session: SessionId, path: string) => `${session}\n${path}`;
