// Text as it is, code point by code point: what cannot be seen, or changes how the rest is read, is written out.

/** Why a character is written out. */
export type Oddity = 'direction' | 'invisible' | 'control' | 'blank' | 'combining' | 'broken';

export type Piece =
  | { kind: 'text'; text: string }
  | { kind: 'escape'; text: string; oddity: Oddity }
  /** A letter or sign that looks like another: it stays, and is marked. */
  | { kind: 'lookalike'; text: string }
  /** Blanks that would be hard to count: two or more, or at the end of a line. */
  | { kind: 'blanks'; count: number }
  | { kind: 'tab' }
  | { kind: 'newline' };

export interface Revealed {
  pieces: Piece[];
  nCodePoints: number;
  nLines: number;
  /** How many of each were written out. */
  oddities: Partial<Record<Oddity, number>>;
  /** The first escape, to show what they look like. */
  firstEscape: string | null;
}

const DIRECTION = /^[\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069]$/u;
const INVISIBLE = /^[\p{Cf}\p{Default_Ignorable_Code_Point}\u{FE00}-\u{FE0F}\u{E0000}-\u{E0FFF}\p{Co}\p{Cn}]$/u;
const CONTROL = /^\p{Cc}$/u;
/** Every blank but the plain one; and the letters that are drawn as one. */
const BLANK = /^[\p{Zs}\p{Zl}\p{Zp}\u115F\u1160\u2800\u3164\uFFA0]$/u;
/** Marks that go on any letter; those of a script that is written with marks stay with their letters. */
const COMBINING = /^(?=\p{M})\p{Script=Inherited}$/u;
const BROKEN = /^\p{Cs}$/u;

/** What is odd about one code point, if anything. Tabs, line feeds and plain blanks are told apart by `reveal`. */
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

/** `lookalikes` are characters that look like others, as the engine names them. */
export function reveal(source: string, lookalikes: ReadonlySet<string> = new Set()): Revealed {
  const revealed: Revealed = { pieces: [], nCodePoints: 0, nLines: 1, oddities: {}, firstEscape: null };
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
    const oddity = oddityOf(char);
    if (oddity === null && !lookalikes.has(char)) {
      text += char;
      continue;
    }
    endText();
    if (oddity === null) {
      pieces.push({ kind: 'lookalike', text: char });
      continue;
    }
    const escape = escapeOf(char);
    pieces.push({ kind: 'escape', text: escape, oddity });
    oddities[oddity] = (oddities[oddity] ?? 0) + 1;
    revealed.firstEscape ??= escape;
  }
  endBlanks(true);
  endText();
  return revealed;
}

const MEANING: Record<Oddity, [one: string, many: string]> = {
  direction: [
    'hidden character changes the direction of the text',
    'hidden characters change the direction of the text',
  ],
  invisible: ['character cannot be seen', 'characters cannot be seen'],
  control: ['control character', 'control characters'],
  blank: ['unusual blank', 'unusual blanks'],
  combining: ['mark stands on another character', 'marks stand on other characters'],
  broken: ['broken character', 'broken characters'],
};

/** One sentence for each kind of oddity: “1 hidden character changes the direction of the text”. */
export function warnings(oddities: Revealed['oddities']): string[] {
  return (Object.keys(MEANING) as Oddity[]).flatMap((oddity) => {
    const n = oddities[oddity];
    return n === undefined ? [] : [`${n} ${MEANING[oddity][n === 1 ? 0 : 1]}`];
  });
}
