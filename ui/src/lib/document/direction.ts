// The direction of a block, by its first letter. The page's own `dir="auto"` looks through an element again with each
// child that is added, so that a paragraph of many links takes quadratic time.

import type { Block, Span } from '../bindings/api';

export type Direction = 'ltr' | 'rtl';

/** Letters that are written from right to left. */
export const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;
/**
 * A run of letters and digits that are written from right to left, for a pattern: the blocks that Unicode keeps for such
 * scripts.
 */
const RIGHT_TO_LEFT_RUN = String.raw`[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]+`;
const RUN = new RegExp(`(${RIGHT_TO_LEFT_RUN})`, 'u');

/**
 * The text in parts; every second one is such a run. Drawn as an element of its own, it can be read, and what is around it
 * stays in the order of the text.
 */
export const isolates = (text: string): readonly string[] => text.split(RUN);

const LETTER = /\p{Letter}/u;

/** How many characters of a text, and how many spans or blocks of a list, are looked at for a letter. */
const MOST_LOOKED_AT = 256;

/** `undefined` without a letter: then the direction around it applies. */
export function directionOfSpans(spans: readonly Span[]): Direction | undefined {
  return firstOf(spans, (span) => {
    if (span.type === 'text') return directionOf(span.text);
    return 'spans' in span ? directionOfSpans(span.spans) : undefined;
  });
}

export function directionOfBlocks(blocks: readonly Block[]): Direction | undefined {
  return firstOf(blocks, (block) => {
    if ('spans' in block) return directionOfSpans(block.spans);
    if (block.type === 'list') return firstOf(block.items, (item) => directionOfBlocks(item.blocks));
    return 'blocks' in block ? directionOfBlocks(block.blocks) : undefined;
  });
}

/** The direction of a text; `undefined` without a letter. */
export function directionOf(text: string): Direction | undefined {
  const letter = LETTER.exec(text.slice(0, MOST_LOOKED_AT))?.[0];
  if (letter === undefined) return undefined;
  return RIGHT_TO_LEFT.test(letter) ? 'rtl' : 'ltr';
}

function firstOf<Part>(
  parts: readonly Part[],
  direction: (part: Part) => Direction | undefined,
): Direction | undefined {
  for (const part of parts.slice(0, MOST_LOOKED_AT)) {
    const found = direction(part);
    if (found !== undefined) return found;
  }
  return undefined;
}
