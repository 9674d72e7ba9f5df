import { describe, expect, it } from 'vitest';

import { escapeOf, flagged, isLookalike, oddityOf, reveal, warnings, type Piece } from './reveal';

/** The pieces as one line: escapes in angle brackets, marks as they are drawn. */
function drawn(source: string): string {
  const show = (piece: Piece) => {
    switch (piece.kind) {
      case 'text':
        return piece.text;
      case 'escape':
        return `<${piece.text}>`;
      case 'lookalike':
        return `[${piece.text}]`;
      case 'blanks':
        return '·'.repeat(piece.count);
      case 'tab':
        return '⇥';
      case 'newline':
        return '↵';
    }
  };
  return reveal(source).pieces.map(show).join('');
}

describe('what is written out', () => {
  it.each([
    ['plain text', 'cargo test -p x', 'cargo test -p x'],
    ['letters of other scripts', 'größe שמש 你好 🙂', 'größe שמש 你好 🙂'],
    ['a right-to-left override', 'a\u202eb', 'a<\\u{202E}>b'],
    ['isolates and marks', '\u2066\u2069\u200e\u200f\u061c', '<\\u{2066}><\\u{2069}><\\u{200E}><\\u{200F}><\\u{061C}>'],
    ['zero width', 'r\u200bm\u200c\u200d\ufeff', 'r<\\u{200B}>m<\\u{200C}><\\u{200D}><\\u{FEFF}>'],
    ['tags', '\u{E0041}\u{E007F}', '<\\u{E0041}><\\u{E007F}>'],
    ['variation selectors', '\ufe0f\u{E0100}', '<\\u{FE0F}><\\u{E0100}>'],
    ['controls', '\u0000\u001b[31m\u007f\u0085', '<\\u{0000}><\\u{001B}>[31m<\\u{007F}><\\u{0085}>'],
    ['a carriage return', 'a\rb', 'a<\\u{000D}>b'],
    [
      'odd blanks',
      'a\u00a0b\u3000c\u2028d\u2800e\u3164',
      'a<\\u{00A0}>b<\\u{3000}>c<\\u{2028}>d<\\u{2800}>e<\\u{3164}>',
    ],
    ['soft hyphens and joiners', 'a\u00adb\u034f', 'a<\\u{00AD}>b<\\u{034F}>'],
    ['private and unassigned', '\ue000\u{10FFFF}\u0378', '<\\u{E000}><\\u{10FFFF}><\\u{0378}>'],
    ['marks that go on any letter', 'e\u0301a\u0337', 'e<\\u{0301}>a<\\u{0337}>'],
    ['marks that a script is written with', 'שָׁ नि', 'שָׁ नि'],
    ['half of a pair', 'a\ud83d', 'a<\\u{D83D}>'],
  ])('%s', (_what, source, expected) => {
    expect(drawn(source)).toBe(expected);
  });
});

it('marks what looks like something else, where it stands', () => {
  const pieces = reveal('c\u0430t').pieces;
  expect(pieces).toEqual([
    { kind: 'text', text: 'c' },
    { kind: 'lookalike', text: '\u0430' },
    { kind: 'text', text: 't' },
  ]);
});

it('knows what looks like a sign of ASCII', () => {
  for (const char of '\u0430\u03bf\uff0f\u{1d41a}\u2215\u2019') expect(isLookalike(char), escapeOf(char)).toBe(true);
  for (const char of 'azAZ09~!äöüßéñø→日あ한שжה🙂\u{10FFFF}') expect(isLookalike(char), char).toBe(false);
});

it('leaves the blanks of a line of code as they are', () => {
  const line = '\t  c\u0430t\u202e  # x';
  expect(flagged(line, true)).toEqual([
    { kind: 'text', text: '\t  c' },
    { kind: 'lookalike', text: '\u0430' },
    { kind: 'text', text: 't' },
    { kind: 'escape', text: '\\u{202E}', oddity: 'direction' },
    { kind: 'text', text: '  # x' },
  ]);
  expect(flagged(line, false).map((piece) => piece.kind)).toEqual(['text', 'escape', 'text']);
});

describe('blanks', () => {
  it.each([
    ['one between words stays a blank', 'a b', 'a b'],
    ['two or more are counted', 'a  b   c', 'a··b···c'],
    ['at the end of a line even one is shown', 'a \nb ', 'a·↵b·'],
    ['indentation', '\n    x\n\ty', '↵····x↵⇥y'],
  ])('%s', (_what, source, expected) => {
    expect(drawn(source)).toBe(expected);
  });
});

it('loses nothing: every code point is shown once', () => {
  const source = Array.from({ length: 0x3100 }, (_, i) => String.fromCodePoint(i)).join('');
  const { pieces, nCodePoints } = reveal(source);
  const shown = pieces
    .map((piece) => {
      if (piece.kind === 'text' || piece.kind === 'lookalike') return piece.text;
      if (piece.kind === 'blanks') return ' '.repeat(piece.count);
      if (piece.kind === 'tab') return '\t';
      if (piece.kind === 'newline') return '\n';
      return String.fromCodePoint(parseInt(piece.text.slice(3, -1), 16));
    })
    .join('');
  expect(shown).toBe(source);
  expect(nCodePoints).toBe(0x3100);
});

it('counts, and says what it means', () => {
  const { oddities, nLines } = reveal('a\u202eb\u202cc\u200b\n');
  expect(oddities).toEqual({ direction: 2, invisible: 1 });
  expect(nLines).toBe(2);
  expect(warnings(oddities)).toEqual(['2 hidden characters change the direction of the text', '1 invisible character']);
  expect(warnings(reveal('c\u0430t').oddities)).toEqual(['1 character looks like another']);
});

it('finds nothing odd in what can be read', () => {
  for (const char of 'azAZ09~!äß→“”…é€日') expect(oddityOf(char)).toBeNull();
});
