// The lines of a hunk with their numbers. Plain lines with consecutive numbers are strings in the host's data.

import type { DiffKind, DiffLine, Hunk } from '../bindings/api';

const KIND: Readonly<Record<string, DiffKind>> = { '+': 'added', '-': 'removed', ' ': 'context' };

const known = new WeakMap<Hunk, readonly DiffLine[]>();

/** The lines of a hunk. Its data must not change afterwards. */
export function diffLines(hunk: Hunk): readonly DiffLine[] {
  let lines = known.get(hunk);
  if (lines === undefined) {
    lines = numbered(hunk.lines);
    known.set(hunk, lines);
  }
  return lines;
}

function numbered(lines: readonly (string | DiffLine)[]): DiffLine[] {
  let oldLine: number | null = null;
  let newLine: number | null = null;
  return lines.map((one) => {
    let line = one;
    if (typeof line === 'string') {
      const kind = KIND[line.charAt(0)] ?? 'context';
      line = {
        kind,
        oldLine: kind === 'added' ? null : oldLine,
        newLine: kind === 'removed' ? null : newLine,
        parts: [{ text: line.slice(1), strong: false, style: 'plain' }],
      };
    }
    if (line.oldLine !== null) oldLine = line.oldLine + 1;
    if (line.newLine !== null) newLine = line.newLine + 1;
    return line;
  });
}
