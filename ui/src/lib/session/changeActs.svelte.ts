// Actions on changed files: copying them as a patch, reverting them, and undoing that.

import type { CommandError, Diff, DiffLine, FileChange, HunkPlace, Patch, Reverted } from '../bindings/api';
import { diffLines } from '../document/diffLines';
import { asCommandError, type RevertedChange } from '../host/host';
import { plural } from '../kit/amounts';
import type { SessionChanges } from './changes.svelte';
import { placeOf } from './comments.svelte';
import { plainPath } from '../text/reveal';

export interface ActsHost {
  /** Returns the changes of a file, or of all, as a patch. */
  patch: (path: string | null) => Promise<Patch>;
  copy: (text: Promise<string>) => Promise<void>;
  revert: (change: RevertedChange) => Promise<Reverted>;
  undo: (at: number) => Promise<void>;
  /** The files have changed. */
  changed: () => void;
}

/** A revert that the user is asked about. */
export interface AskedRevert {
  file: FileChange;
  change: RevertedChange;
  /** The part that is reverted, or the change of the whole file; `null` if it cannot be shown. */
  diff: Diff | null;
}

/** Maximum number of files that are named as left out of a patch. */
const MOST_NAMED = 5;

export class ChangeActs {
  /** The outcome of the last action. */
  said = $state.raw<string | null>(null);
  /** The last revert, which can be undone. */
  reverted = $state.raw<Reverted | null>(null);
  asked = $state.raw<AskedRevert | null>(null);
  isBusy = $state.raw(false);
  #host: ActsHost;

  constructor(host: ActsHost) {
    this.#host = host;
  }

  /** Copies the change of a file, or of all, for `git apply`. */
  copyPatch(path: string | null): Promise<void> {
    return this.#act('Nothing was copied', async () => {
      const patch = this.#host.patch(path);
      await this.#host.copy(patch.then(({ text }) => text));
      const { nFiles, leftOut } = await patch;
      const more = leftOut.length - MOST_NAMED;
      const named = leftOut.slice(0, MOST_NAMED).map(plainPath).join(' ');
      const rest = more > 0 ? ` ${plural(more, 'more problem')}.` : '';
      this.said = `Copied a patch of ${plural(nFiles, 'file')}.${leftOut.length > 0 ? ` ${named}${rest}` : ''}`;
    });
  }

  /** Carries out the revert that was asked about. */
  async confirm(): Promise<void> {
    const asked = this.asked;
    if (asked === null) return;
    await this.#act('Nothing was reverted', async () => {
      this.reverted = await this.#host.revert(asked.change);
      this.said = `Reverted ${this.reverted.files.map(plainPath).join(' and ')}.`;
    });
    this.asked = null;
    this.#host.changed();
  }

  async undo(): Promise<void> {
    const reverted = this.reverted;
    if (reverted === null) return;
    await this.#act('Nothing was undone', async () => {
      await this.#host.undo(reverted.at);
      this.reverted = null;
      this.said = `Brought the change of ${reverted.files.map(plainPath).join(' and ')} back.`;
    });
    this.#host.changed();
  }

  /** Another session or another comparison is shown. */
  reset(): void {
    [this.said, this.asked] = [null, null];
  }

  async #act(what: string, act: () => Promise<void>): Promise<void> {
    if (this.isBusy) return;
    this.isBusy = true;
    this.said = null;
    try {
      await act();
    } catch (reason) {
      this.said = `${what}: ${wordsOf(asCommandError(reason))}`;
    }
    this.isBusy = false;
  }
}

/** The actions on the changes of a session, which keep the last revert while the page of changes is closed. */
export function actsOf(changes: SessionChanges): ChangeActs {
  const { host, working } = changes;
  return (changes.acts ??= new ChangeActs({
    patch: (path) => host.ask(changes.sessionId, { type: 'patch', path, against: working.against }),
    copy: (text) => host.writeClipboard(text),
    revert: (change) => host.revertChange(changes.sessionId, working.against, change),
    undo: (at) => host.undoRevert(at),
    changed: () => void working.refresh(),
  }));
}

function wordsOf(error: CommandError): string {
  const files = error.code === 'changedSince' ? error.files : [];
  const details = [...files, error.detail].filter((detail) => detail !== null);
  return [error.message, ...details.map(plainPath)].join(' ');
}

/** A part of a diff. */
export interface Part {
  place: HunkPlace;
  /** No line is missing, so it can be reverted. */
  isWhole: boolean;
  /** “lines 12–13” */
  words: string;
  diff: Diff;
}

/** The hunks of a diff. With `isCut`, the last one lacks lines. */
export function partsOf(diff: Diff, isCut: boolean): Part[] {
  return diff.hunks.map((hunk, at) => {
    const lines = diffLines(hunk);
    const changed = lines.filter(({ kind }) => kind !== 'context');
    const isLast = at === diff.hunks.length - 1;
    const count = (kind: DiffLine['kind']) => changed.filter((line) => line.kind === kind).length;
    const numbers = (of: (line: DiffLine) => number | null) => lines.flatMap((line) => of(line) ?? []);
    const [old, now] = [numbers((line) => line.oldLine), numbers((line) => line.newLine)];
    return {
      place: { oldStart: old[0] ?? 0, nOld: old.length, newStart: now[0] ?? 0, nNew: now.length },
      isWhole: changed.length > 0 && !(isCut && isLast),
      words: placeOf(changed.length > 0 ? changed : lines),
      diff: { path: diff.path, added: count('added'), removed: count('removed'), hunks: [hunk] },
    };
  });
}

/** The line of the new file at which a diff's first change is; `null` without one. */
export function firstChange(diff: Diff): number | null {
  const lines = diff.hunks.flatMap(diffLines);
  const at = lines.findIndex(({ kind }) => kind !== 'context');
  if (at < 0) return null;
  // What was removed is before the next line that is left, or after the last one.
  const next = lines.slice(at).find(({ newLine }) => newLine !== null) ?? lines.slice(0, at).at(-1);
  return next?.newLine ?? null;
}
