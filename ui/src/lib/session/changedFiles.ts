// Words for the changed files of a working tree, and the lines of their diffs side by side.

import type { Changes, Diff, DiffLine, FileChange, FileContent, FileState } from '../bindings/api';
import { diffLines } from '../document/diffLines';
import { count, plural } from '../kit/amounts';
import { plainPath } from '../text/reveal';
import { moment } from '../text/time';

export const STATE: Record<FileState, { letter: string; word: string }> = {
  added: { letter: 'A', word: 'Added' },
  untracked: { letter: '?', word: 'New, not added to git' },
  modified: { letter: 'M', word: 'Changed' },
  deleted: { letter: 'D', word: 'Deleted' },
  renamed: { letter: 'R', word: 'Renamed' },
  conflicted: { letter: 'U', word: 'In conflict' },
};

/** Stands for the counts of a file that has none. */
export const CONTENT: Record<FileContent, string> = {
  text: 'not counted',
  link: 'link',
  binary: 'binary',
  large: 'too large',
  repository: 'repository',
  special: 'not a file',
  converted: 'converted by git',
  unknown: 'not compared',
};

/** “src/” and “main.rs”. */
export function splitPath(path: string): [folder: string, name: string] {
  const slash = path.replace(/\/$/, '').lastIndexOf('/') + 1;
  return [plainPath(path.slice(0, slash)), plainPath(path.slice(slash))];
}

/** The number of changed files and lines since the base, or why nothing is compared. */
export function comparisonWords({ base, files, problem }: Changes, now: number, isKnown: boolean): string {
  const sum = files.length > 0 ? sumWords(files) : isKnown ? 'No changes' : null;
  switch (base.type) {
    case 'commit':
      return `${sum ?? 'Changes'} since ${base.id.slice(0, 8)}`;
    case 'noCommit':
      return sentences(sum, 'There is no commit yet, so every file is new.');
    case 'prompt':
      return `${sum ?? 'Changes'} since ${moment(base.since, now)}`;
    case 'noPrompt':
      return 'No prompt was sent in this session since Deskbell started, so there is nothing to compare with.';
    case 'edits':
      return sentences(
        sum,
        problem ?? 'This folder is not in a git repository.',
        `Files that the agent edited, without changes by its commands, compared with its copies from ${base.sincePrompt ? 'the last prompt' : 'before its first edit'}.`,
      );
    case 'noRepository':
      return problem ?? 'This folder is not in a git repository.';
  }
}

function sentences(sum: string | null, ...rest: string[]): string {
  return [...(sum === null ? [] : [`${sum}.`]), ...rest].join(' ');
}

/** What the list lacks, as sentences. */
export function missingWords({ base, problem, nMore, nNotCompared }: Changes): string[] {
  const isSaid = base.type === 'noRepository' || base.type === 'edits';
  const all = problem === null || isSaid ? [] : [problem];
  if (nMore > 0) all.push(`${plural(nMore, 'more file')} changed and ${nMore === 1 ? 'is' : 'are'} not listed.`);
  if (nNotCompared > 0) all.push(`${plural(nNotCompared, 'file was', 'files were')} too large or too many to compare.`);
  return all;
}

/** “3 files · +120 −4”. */
export function sumWords(files: readonly FileChange[]): string {
  const added = files.reduce((sum, file) => sum + (file.added ?? 0), 0);
  const removed = files.reduce((sum, file) => sum + (file.removed ?? 0), 0);
  return `${plural(files.length, 'file')} · +${count(added)} −${count(removed)}`;
}

export interface Pair {
  old: DiffLine | null;
  new: DiffLine | null;
}

/** The lines of each hunk in pairs: what was removed is next to what was added in its place. */
export function sideBySide(diff: Diff): Pair[][] {
  return diff.hunks.map((hunk) => {
    const pairs: Pair[] = [];
    let removed: DiffLine[] = [];
    let added: DiffLine[] = [];
    const flush = () => {
      for (let i = 0; i < Math.max(removed.length, added.length); i++) {
        pairs.push({ old: removed[i] ?? null, new: added[i] ?? null });
      }
      [removed, added] = [[], []];
    };
    for (const line of diffLines(hunk)) {
      if (line.kind === 'removed') {
        if (added.length > 0) flush();
        removed.push(line);
      } else if (line.kind === 'added') added.push(line);
      else {
        flush();
        pairs.push({ old: line, new: line });
      }
    }
    flush();
    return pairs;
  });
}

/** The lines of these pairs as a diff has them: before each context line what was removed, then what was added. */
export function linesOf(pairs: readonly Pair[]): DiffLine[] {
  const lines: DiffLine[] = [];
  let added: DiffLine[] = [];
  for (const pair of pairs) {
    if (pair.old !== null && pair.old === pair.new) {
      lines.push(...added, pair.old);
      added = [];
    } else {
      if (pair.old !== null) lines.push(pair.old);
      if (pair.new !== null) added.push(pair.new);
    }
  }
  return [...lines, ...added];
}
