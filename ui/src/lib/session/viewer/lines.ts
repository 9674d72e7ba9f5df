// Lines of a file as the viewer draws and searches them.

import type { DiffLine, FileText } from '../../bindings/api';

/** A line with its number. It is drawn like an unchanged line of a diff. */
export type NumberedLine = DiffLine & { newLine: number };

export function linesOf({ first, lines }: FileText): NumberedLine[] {
  return lines.map(({ tokens }, i) => ({
    kind: 'context',
    oldLine: null,
    newLine: first + i,
    parts: tokens.map(({ text, style }) => ({ text, style, strong: false })),
  }));
}

/** The numbers of the lines that have these words. */
export function linesWith(lines: readonly NumberedLine[], query: string): number[] {
  const wanted = query.toLowerCase();
  if (wanted.trim() === '') return [];
  const has = ({ parts }: NumberedLine) =>
    parts
      .map(({ text }) => text)
      .join('')
      .toLowerCase()
      .includes(wanted);
  return lines.filter(has).map(({ newLine }) => newLine);
}
