// The parts of a context window: their shares, colours and words.

import type { ContextCategory, ContextReport } from '../../bindings/api';
import { count } from '../../kit/amounts';

/** A category with its share of the window and its colour in the picture. */
export interface ContextPart extends ContextCategory {
  share: number;
  colour: string;
}

/** Colours that differ in both themes. After the last one they repeat. */
const COLOURS = ['picture', 'code-function', 'code-string', 'code-keyword', 'code-type', 'code-number'];

export function partsOf(report: ContextReport): ContextPart[] {
  let used = 0;
  return report.categories.map((category) => ({
    ...category,
    share: category.tokens / report.windowTokens,
    colour: category.kind === 'used' ? `var(--${COLOURS[used++ % COLOURS.length] ?? ''})` : 'transparent',
  }));
}

/** “< 0.1 %”, “1.2 %”, “34 %”. */
export function percentOf(share: number): string {
  const percent = 100 * share;
  if (percent === 0) return '0 %';
  if (percent < 0.1) return '< 0.1 %';
  return percent < 9.95 ? `${percent.toFixed(1)} %` : `${Math.round(percent)} %`;
}

/** The picture in words. */
export function inWords(parts: readonly ContextPart[]): string {
  return parts.map(({ name, tokens, share }) => `${name}: ${count(tokens)} tokens, ${percentOf(share)}`).join('. ');
}
