// Row height estimates for the scrollbar. A measurement replaces the estimate as soon as the row is drawn.

import type { Block, Body, Span } from '../../bindings/api';
import type { Row } from '../rows';

/** A line of text, in pixels. */
export const LINE = 23;
const CODE_LINE = 19.5;
/** The space above a row or a block of it, in pixels. */
export const GAP = 12;
const CHARS_PER_LINE = 92;

export function estimateRow(row: Row): number {
  if (row.kind !== 'item') return 26;
  const { body, slice, open } = row.item;
  const isSlice = slice !== undefined && slice.nr > 0;
  switch (body.type) {
    case 'prompt':
    case 'message':
      return (isSlice ? 0 : 42) + LINE * lines(body.text);
    case 'thinking':
      return (isSlice ? 0 : 26) + (isSlice || open ? LINE * lines(body.text) : 0);
    case 'text':
      return GAP + estimateBlocks(body.blocks);
    case 'turnEnd':
      return 44;
    case 'notice':
      return isSlice ? CODE_LINE * lines(body.detail ?? '') : 26;
    case 'toolCall':
      return isSlice ? CODE_LINE * inputLines(body.detail) : 26;
  }
}

function inputLines(detail: Extract<Body, { type: 'toolCall' }>['detail']): number {
  if (detail.type === 'command') return lines(detail.command);
  if (detail.type === 'json') return lines(detail.input);
  const diff = detail.type === 'notebook' ? detail.diff : detail.type === 'edit' ? detail : null;
  return diff?.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0) ?? 1;
}

export function estimateBlocks(blocks: readonly Block[]): number {
  return blocks.reduce((sum, block) => sum + estimateBlock(block), 0);
}

function estimateBlock(block: Block): number {
  switch (block.type) {
    case 'paragraph':
    case 'heading':
      return GAP + LINE * Math.ceil((length(block.spans) + 1) / CHARS_PER_LINE);
    case 'code':
      return GAP + 46 + CODE_LINE * block.lines.length;
    case 'quote':
    case 'footnote':
      return estimateBlocks(block.blocks);
    case 'list':
      return (
        GAP + block.items.reduce((sum, item) => sum + item.blocks.reduce((s, b) => s + estimateBlock(b) - 8, 0), 0)
      );
    case 'table':
      return GAP + 30 * (block.rows.length + 1);
    case 'rule':
      return 33;
  }
}

function length(spans: readonly Span[]): number {
  return spans.reduce((sum, span) => {
    if ('text' in span) return sum + span.text.length;
    return 'spans' in span ? sum + length(span.spans) : sum + 4;
  }, 0);
}

function lines(text: string): number {
  return text.split('\n').reduce((sum, line) => sum + Math.ceil((line.length + 1) / CHARS_PER_LINE), 0);
}
