// Break opportunities in overlong words, for imperative drawing.

import { pieces } from './pieces';

/** The text as nodes to append, with break opportunities in words that are longer than a line. */
export function breakable(text: string): (Node | string)[] {
  return pieces(text).flatMap((piece, i) => (i === 0 ? [piece] : [document.createElement('wbr'), piece]));
}
