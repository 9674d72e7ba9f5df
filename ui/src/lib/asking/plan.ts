// A plan as lines that can be commented on, and the comments as the agent reads them.

import type { Block } from '../bindings/api';
import { blocksText } from '../document/markdown';

/** What one comment is about: a block of the plan, or one item of a list. */
export interface PlanLine {
  block: Block;
  /** As the agent wrote it. */
  quote: string;
  /** It is an item under another one of the same list. */
  follows: boolean;
}

export function planLines(blocks: readonly Block[]): PlanLine[] {
  return blocks.flatMap<PlanLine>((block) => {
    if (block.type !== 'list') return [{ block, quote: blocksText([block]), follows: false }];
    return block.items.map((item, i) => {
      const start = block.start === null ? null : block.start + i;
      const line: Block = { ...block, start, items: [item] };
      return { block: line, quote: blocksText([line]), follows: i > 0 };
    });
  });
}

/** What goes back with a plan that is not approved: the words, then each comment under the lines it is about. */
export function feedback(lines: readonly PlanLine[], comments: ReadonlyMap<number, string>, words: string): string {
  const remarks = lines.flatMap(({ quote }, i) => {
    const comment = comments.get(i)?.trim() ?? '';
    return comment === '' ? [] : [`${quoted(quote)}\n\n${comment}`];
  });
  const parts = [words.trim(), ...remarks].filter((part) => part !== '');
  return parts.length === 0 ? 'Keep planning; do not start yet.' : parts.join('\n\n');
}

function quoted(text: string): string {
  return text
    .split('\n')
    .map((line) => `> ${line}`.trimEnd())
    .join('\n');
}
