// Splitting of overlong words.

const LONGEST = 500;

/** Whether a text can have a word to split. Most texts have none, and then need no component. */
export function isLong(text: string): boolean {
  return text.length > LONGEST;
}

/**
 * Splits a text into consecutive pieces, so that no word in a piece is longer than `LONGEST`. Only blanks at which every
 * browser engine breaks a line separate words: a no-break space does not.
 */
export function pieces(text: string): string[] {
  if (!isLong(text)) return [text];
  const found: string[] = [];
  let from = 0;
  /** The beginning of the word that is looked at. Each step goes on by up to `LONGEST`, and looks at no more. */
  let word = 0;
  while (word + LONGEST < text.length) {
    const blank = lastBlank(text, word, word + LONGEST);
    if (blank >= 0) {
      word = blank + 1;
      continue;
    }
    // A pair of surrogates stays together.
    word += isLowSurrogate(text.charCodeAt(word + LONGEST)) ? LONGEST - 1 : LONGEST;
    found.push(text.slice(from, word));
    from = word;
  }
  found.push(text.slice(from));
  return found;
}

/** The last position of a blank within `[from, to]`, or -1. */
function lastBlank(text: string, from: number, to: number): number {
  for (let at = to; at >= from; at -= 1) if (isBlank(text.charCodeAt(at))) return at;
  return -1;
}

const isBlank = (code: number) => code === 0x20 || (code >= 0x09 && code <= 0x0d);
const isLowSurrogate = (code: number) => code >= 0xdc00 && code <= 0xdfff;
