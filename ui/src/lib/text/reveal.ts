// Revealed text: code points that are invisible, or that change how the rest is read, become escapes.

import { LOOKALIKES } from '../bindings/lookalikes';

/** The reason why a character is escaped. */
export type Oddity = 'direction' | 'invisible' | 'control' | 'blank' | 'combining' | 'broken';

export type Piece =
  | { kind: 'text'; text: string }
  | { kind: 'escape'; text: string; oddity: Oddity }
  /** A character that looks like another one: shown as it is, and marked. */
  | { kind: 'lookalike'; text: string }
  /** Blanks that are hard to count: two or more, or at the end of a line. */
  | { kind: 'blanks'; count: number }
  | { kind: 'tab' }
  | { kind: 'newline' };

export interface Revealed {
  pieces: Piece[];
  nCodePoints: number;
  nLines: number;
  /** How many characters of each kind were escaped or marked. */
  oddities: Partial<Record<Oddity | 'lookalike', number>>;
}

const DIRECTION = /^[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]$/u;
const INVISIBLE = /^[\p{Cf}\p{Default_Ignorable_Code_Point}\u{FE00}-\u{FE0F}\u{E0000}-\u{E0FFF}\p{Co}\p{Cn}]$/u;
const CONTROL = /^\p{Cc}$/u;
/** Every blank except the plain one, and the letters that look like a blank. */
const BLANK = /^[\p{Zs}\p{Zl}\p{Zp}\u115F\u1160\u2800\u3164\uFFA0]$/u;
/** Marks that combine with any letter. The marks of a particular script stay with their letters. */
const COMBINING = /^(?=\p{M})\p{Script=Inherited}$/u;
const BROKEN = /^\p{Cs}$/u;

/** The oddity of one code point, or `null`. `reveal` handles tabs, line feeds and plain blanks itself. */
export function oddityOf(char: string): Oddity | null {
  if (char >= ' ' && char <= '~') return null;
  if (DIRECTION.test(char)) return 'direction';
  if (BLANK.test(char)) return 'blank';
  if (CONTROL.test(char)) return 'control';
  if (BROKEN.test(char)) return 'broken';
  if (INVISIBLE.test(char)) return 'invisible';
  if (COMBINING.test(char)) return 'combining';
  return null;
}

/** `\u{202E}`. */
export function escapeOf(char: string): string {
  return `\\u{${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}}`;
}

/** Whether the character looks like an ASCII character that it is not, by the engine's table. */
export function isLookalike(char: string): boolean {
  const code = char.codePointAt(0) ?? 0;
  if (code < 0x80) return false;
  let low = 0;
  let high = LOOKALIKES.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((LOOKALIKES[middle]?.[1] ?? 0) < code) low = middle + 1;
    else high = middle;
  }
  return (LOOKALIKES[low]?.[0] ?? Infinity) <= code;
}

/** The escape or mark for a character, or `null` if it is drawn as it is. */
function flag(char: string): Extract<Piece, { kind: 'escape' | 'lookalike' }> | null {
  const oddity = oddityOf(char);
  if (oddity !== null) return { kind: 'escape', text: escapeOf(char), oddity };
  return isLookalike(char) ? { kind: 'lookalike', text: char } : null;
}

/** One line as pieces, with its blanks unchanged, for code in columns. */
export function flagged(line: string, lookalikes: boolean): Piece[] {
  const pieces: Piece[] = [];
  for (const char of line) {
    const odd = char === '\t' ? null : flag(char);
    const last = pieces.at(-1);
    if (odd?.kind === 'escape' || (odd !== null && lookalikes)) pieces.push(odd);
    else if (last?.kind === 'text') last.text += char;
    else pieces.push({ kind: 'text', text: char });
  }
  return pieces;
}

export function reveal(source: string): Revealed {
  const revealed: Revealed = { pieces: [], nCodePoints: 0, nLines: 1, oddities: {} };
  const { pieces, oddities } = revealed;
  let text = '';
  let blanks = 0;
  const endText = () => {
    if (text !== '') pieces.push({ kind: 'text', text });
    text = '';
  };
  const endBlanks = (lineEnds: boolean) => {
    if (blanks >= 2 || (blanks > 0 && lineEnds)) {
      endText();
      pieces.push({ kind: 'blanks', count: blanks });
    } else {
      text += ' '.repeat(blanks);
    }
    blanks = 0;
  };
  for (const char of source) {
    revealed.nCodePoints += 1;
    if (char === ' ') {
      blanks += 1;
      continue;
    }
    endBlanks(char === '\n');
    if (char === '\n' || char === '\t') {
      endText();
      pieces.push({ kind: char === '\n' ? 'newline' : 'tab' });
      if (char === '\n') revealed.nLines += 1;
      continue;
    }
    const odd = flag(char);
    if (odd === null) {
      text += char;
      continue;
    }
    endText();
    pieces.push(odd);
    const oddity = odd.kind === 'escape' ? odd.oddity : 'lookalike';
    oddities[oddity] = (oddities[oddity] ?? 0) + 1;
  }
  endBlanks(true);
  endText();
  return revealed;
}

const MEANING: Record<Oddity | 'lookalike', [one: string, many: string]> = {
  direction: [
    'hidden character changes the direction of the text',
    'hidden characters change the direction of the text',
  ],
  invisible: ['invisible character', 'invisible characters'],
  control: ['control character', 'control characters'],
  blank: ['unusual space', 'unusual spaces'],
  combining: ['combining mark on another character', 'combining marks on other characters'],
  broken: ['broken character', 'broken characters'],
  lookalike: ['character looks like another', 'characters look like others'],
};

/** One sentence for each kind of oddity: “1 hidden character changes the direction of the text”. */
export function warnings(oddities: Revealed['oddities']): string[] {
  return (Object.keys(MEANING) as (keyof typeof MEANING)[]).flatMap((oddity) => {
    const n = oddities[oddity];
    return n === undefined ? [] : [`${n} ${MEANING[oddity][n === 1 ? 0 : 1]}`];
  });
}

/** A path, or another text of one line, without characters that are invisible or that change how the rest is read. */
export function plainPath(path: string): string {
  return Array.from(path, (char) => (oddityOf(char) === null ? char : escapeOf(char))).join('');
}
