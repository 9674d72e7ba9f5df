// Splitting of overlong words.

const LONGEST = 500;
const TOO_LONG = new RegExp(`\\S{${String(LONGEST)}}(?=\\S)`, 'gu');

/** Splits a text into consecutive pieces, so that no word in a piece is longer than `LONGEST`. */
export function pieces(text: string): string[] {
  if (text.length <= LONGEST) return [text];
  const found: string[] = [];
  let from = 0;
  for (const word of text.matchAll(TOO_LONG)) {
    const end = word.index + word[0].length;
    found.push(text.slice(from, end));
    from = end;
  }
  found.push(text.slice(from));
  return found;
}
