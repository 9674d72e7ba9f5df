// The parts in which a text of a request is drawn.

import { isolates, RIGHT_TO_LEFT } from './direction';
import type { Piece } from '../text/reveal';

/** A run of text, or a character in it that looks like another one. */
interface Run {
  readonly kind: 'text' | 'lookalike';
  readonly text: string;
}

/**
 * A piece of the text; the beginning of an option, up to its first letter; or a run of letters that are written from
 * right to left. No line breaks in an option: the two halves of “--” would look like other arguments.
 */
export type Part =
  | Piece
  | { readonly kind: 'option'; readonly text: string }
  | { readonly kind: 'isolated'; readonly runs: readonly Run[] };

const OPTION = /((?<!\S)-+[^\s-])/u;

export function partsOf(pieces: readonly Piece[]): readonly Part[] {
  const parts: Part[] = [];
  /** The runs of the part that is last, if it is isolated. */
  let runs: Run[] | null = null;
  const isolate = (run: Run) => {
    if (runs === null) {
      runs = [];
      parts.push({ kind: 'isolated', runs });
    }
    runs.push(run);
  };
  const push = (part: Part) => {
    runs = null;
    parts.push(part);
  };
  for (const piece of pieces) {
    if (piece.kind === 'lookalike' && RIGHT_TO_LEFT.test(piece.text)) isolate({ kind: 'lookalike', text: piece.text });
    else if (piece.kind !== 'text') push(piece);
    else {
      for (const [i, text] of isolates(piece.text).entries()) {
        if (i % 2 === 1) isolate({ kind: 'text', text });
        else {
          for (const [j, part] of text.split(OPTION).entries()) {
            if (part !== '') push({ kind: j % 2 === 1 ? 'option' : 'text', text: part });
          }
        }
      }
    }
  }
  return parts;
}
