// Plan lines that can be commented on, and the comments in the form that the agent reads.

import type { Block, Cell, CodeLine, ListItem, Span } from '../../bindings/api';
import { blocksText, codeText, spansText } from '../../document/markdown';

/** The form in which a line is drawn: a block of its own, or a part of one. */
type Shape =
  | { type: 'block'; block: Block }
  | { type: 'code'; line: CodeLine; starts: boolean; ends: boolean }
  | { type: 'row'; cells: readonly Cell[]; isHead: boolean };

/** The target of one comment: a line of text or code, a list item, or a table row. */
export interface PlanLine {
  shape: Shape;
  /** The indentation: the number of enclosing lists. */
  depth: number;
  /** The line as the agent wrote it; empty if it cannot be commented on. */
  quote: string;
  /** The line continues the block before it. */
  follows: boolean;
}

export function planLines(blocks: readonly Block[], depth = 0): PlanLine[] {
  return blocks.flatMap((block) => linesOf(block, depth));
}

function linesOf(block: Block, depth: number): PlanLine[] {
  switch (block.type) {
    case 'paragraph':
      return lineSpans(block.spans).map((spans, i) => ({
        ...whole({ type: 'paragraph', spans }, depth),
        follows: i > 0,
      }));
    case 'list':
      return block.items.flatMap((item, i) => {
        const start = block.start === null ? null : block.start + i;
        const lines = itemLines(item, start, depth);
        return i === 0 ? lines : lines.map((line) => ({ ...line, follows: true }));
      });
    case 'code':
      return block.lines.map((line, i) => ({
        shape: { type: 'code', line, starts: i === 0, ends: i === block.lines.length - 1 },
        depth,
        quote: codeText([line]).trimEnd(),
        follows: i > 0,
      }));
    case 'table':
      return [block.head, ...block.rows].map((cells, i) => ({
        shape: { type: 'row', cells, isHead: i === 0 },
        depth,
        quote: `| ${cells.map((cell) => spansText(cell.spans)).join(' | ')} |`,
        follows: i > 0,
      }));
    case 'quote':
      return block.blocks.flatMap(quotedLines).map((inner, i) => {
        const line: Block = { type: 'quote', blocks: [inner] };
        return { ...whole(line, depth), follows: i > 0 };
      });
    case 'rule':
      return [{ ...whole(block, depth), quote: '' }];
    case 'heading':
    case 'footnote':
      return [whole(block, depth)];
  }
}

function whole(block: Block, depth: number): PlanLine {
  return { shape: { type: 'block', block }, depth, quote: blocksText([block]), follows: false };
}

/** The item's own text after its marker, then everything below it. */
function itemLines(item: ListItem, start: number | null, depth: number): PlanLine[] {
  const [first, ...rest] = item.blocks;
  const [words, ...more] = first === undefined ? [] : first.type === 'paragraph' ? lineSpans(first.spans) : [];
  const own: Block[] = words !== undefined ? [{ type: 'paragraph', spans: words }] : first !== undefined ? [first] : [];
  const marked: Block = { type: 'list', start, items: [{ ...item, blocks: own }] };
  const under: Block[] = [...more.map((spans): Block => ({ type: 'paragraph', spans })), ...rest];
  return [whole(marked, depth), ...planLines(under, depth + 1).map((line) => ({ ...line, follows: true }))];
}

/** Splits a quote into lines, each with its own rule on the left; code and tables in it stay whole. */
function quotedLines(block: Block): Block[] {
  if (block.type !== 'paragraph') return [block];
  return lineSpans(block.spans).map((spans) => ({ type: 'paragraph', spans }));
}

/** Splits a paragraph into the lines in which it was written. */
function lineSpans(spans: readonly Span[]): Span[][] {
  const lines: Span[][] = [[]];
  const add = (span: Span) => lines.at(-1)?.push(span);
  for (const span of spans) {
    if (span.type === 'break') lines.push([]);
    else if (span.type !== 'text') add(span);
    else {
      span.text.split('\n').forEach((text, i) => {
        if (i > 0) lines.push([]);
        if (text !== '') add({ ...span, text });
      });
    }
  }
  return lines.filter((line) => line.length > 0);
}

/** The feedback for a plan that is not approved: the message, then each comment below a quote of its line. */
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
