// Words that no line can hold, for what is drawn by hand.

import { pieces } from './pieces';

/** The text as what to append: with places to break in words that are longer than any line. */
export function breakable(text: string): (Node | string)[] {
  return pieces(text).flatMap((piece, i) => (i === 0 ? [piece] : [document.createElement('wbr'), piece]));
}
