// The number of lines of a title in the session list, without drawing it: the list may have ten thousand rows.

/** The size of a title, in CSS pixels. */
const SIZE = 12.5;

/** The width of characters, as parts of the size. Measured in Inter. */
const NARROW = 0.33;
const USUAL = 0.57;
const CAPITAL = 0.68;
const WIDE = 0.88;
const FULL = 1.05;

/** A longer title has two lines in the widest list. */
const MOST_CHARACTERS = 120;

function widthOf(character: string): number {
  if ((character.codePointAt(0) ?? 0) >= 0x1100) return FULL;
  if (/[ijlftrI.,:;'’|!()[\]`\s]/u.test(character)) return NARROW;
  if (/[mwMW@%—]/u.test(character)) return WIDE;
  return /\p{Lu}/u.test(character) ? CAPITAL : USUAL;
}

const widths = new Map<string, number>();
const MOST_WIDTHS = 20_000;

/** The estimated width of a title in CSS pixels. Text widths are remembered: all rows are laid out at each change. */
function titleWidth(title: string): number {
  const known = widths.get(title);
  if (known !== undefined) return known;
  const characters = [...title.slice(0, MOST_CHARACTERS)];
  const width = SIZE * characters.reduce((sum, character) => sum + widthOf(character), 0);
  if (widths.size >= MOST_WIDTHS) widths.clear();
  widths.set(title, width);
  return width;
}

/** One line or two: the title is cut after that. `room` is the width of a line, in CSS pixels. */
export const titleLines = (title: string, room: number): 1 | 2 => (titleWidth(title) > room ? 2 : 1);
