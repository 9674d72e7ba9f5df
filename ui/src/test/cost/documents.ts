// Classes of documents: blocks, spans, lines of code and plans, drawn at once, in steps, and changed.

import type { Block, CodeLine, Span } from '../../lib/bindings/api';
import { feedback, planLines } from '../../lib/session/asking/plan';
import { estimateBlocks } from '../../lib/session/conversation/estimate';
import { Heights } from '../../lib/session/conversation/heights';
import { markWords } from '../../lib/document/highlight';
import { drawLines } from '../../lib/document/lines';
import { blocksText, diffText } from '../../lib/document/markdown';
import { drawSpans, isPlain } from '../../lib/document/spans';
import { paragraph } from '../make';
import { list, repeat, type Class } from './inputs';

/** The engine nests no blocks deeper than this, and no spans deeper than `SPAN_DEPTH`. */
const BLOCK_DEPTH = 40;
const SPAN_DEPTH = 10;

const line = (text: string): CodeLine => ({ tokens: [{ text, style: 'plain' }] });
const nested = (depth: number, inner: Block, around: (block: Block) => Block): Block =>
  depth === 0 ? inner : nested(depth - 1, around(inner), around);
const quote = (block: Block): Block => ({ type: 'quote', blocks: [block] });
const bullet = (block: Block): Block => ({ type: 'list', start: null, items: [{ checked: null, blocks: [block] }] });
const bullets = (n: number): Block => ({
  type: 'list',
  start: 1,
  items: list(n, (i) => ({ checked: null, blocks: [paragraph(`item ${i}`)] })),
});
const cell = (text: string) => ({ spans: [{ type: 'text' as const, text }] });
const strong = (span: Span): Span => ({ type: 'strong', spans: [span] });
const link = (text: string): Span => ({
  type: 'link',
  url: 'https://a.example',
  host: 'a.example',
  spans: [{ type: 'text', text }],
});
const innermost = (depth: number, span: Span): Span => (depth === 0 ? span : innermost(depth - 1, strong(span)));

/** Documents that hurt: each has about `n` characters. */
export const DOCUMENTS: Record<string, (n: number) => Block[]> = {
  'one paragraph': (n) => [paragraph(repeat('words and ', n))],
  'one paragraph of lines': (n) => [paragraph(repeat('words\n', n))],
  paragraphs: (n) => list(n / 8, (i) => paragraph(`words ${i}`)),
  breaks: (n) => [
    { type: 'paragraph', spans: list(n / 2, (i) => (i % 2 ? { type: 'break' } : { type: 'text', text: 'a' })) },
  ],
  links: (n) => [{ type: 'paragraph', spans: list(n / 8, (i) => link(`a${i}`)) }],
  'nested spans': (n) => [
    {
      type: 'paragraph',
      spans: list(n / 40, (i) => innermost(SPAN_DEPTH, i % 2 ? link('a') : { type: 'code', text: '`' })),
    },
  ],
  'one list': (n) => [bullets(n / 8)],
  'nested lists': (n) => [nested(BLOCK_DEPTH, bullets(n / 32), bullet)],
  'nested quotes': (n) => [nested(BLOCK_DEPTH, paragraph(repeat('a\n', n / 8)), quote)],
  'code in many lines': (n) => [{ type: 'code', language: 'rust', lines: list(n / 8, (i) => line(`let a${i};`)) }],
  'code in one line': (n) => [{ type: 'code', language: null, lines: [line('f(a); '.repeat(n / 6))] }],
  'rows of a table': (n) => [
    { type: 'table', align: ['none'], head: [cell('a')], rows: list(n / 8, (i) => [cell(`${i}`), cell('b')]) },
  ],
  'columns of a table': (n) => [
    {
      type: 'table',
      align: list(n / 8, () => 'left'),
      head: list(n / 8, () => cell('a')),
      rows: [list(n / 8, () => cell('b'))],
    },
  ],
  footnotes: (n) => list(n / 8, (i) => ({ type: 'footnote', label: `${i}`, blocks: [paragraph('a')] })),
};

const of = (name: string, work: (blocks: Block[]) => unknown): Class[] =>
  Object.entries(DOCUMENTS).map(([kind, make]) => [
    `${name}: ${kind}`,
    (n) => {
      const blocks = make(n);
      return () => work(blocks);
    },
  ]);

const drawnLines = (lines: readonly CodeLine[], wrap = false) =>
  drawLines(document.createElement('code'), [], lines, wrap);
const drawnSpans = (spans: readonly Span[]) => drawSpans(document.createElement('p'), [], spans);

export const documents: readonly Class[] = [
  ...of('copied', blocksText),
  ...of('height', estimateBlocks),
  ...of('plan', (blocks) => {
    const all = planLines(blocks);
    return feedback(all, new Map(all.map((_, i) => [i, 'a comment'])), 'words');
  }),
  ...of('spans', (blocks) => blocks.every((block) => !('spans' in block) || block.spans.every(isPlain))),
  ['code: one long word', (n) => () => drawnLines([line('a'.repeat(16 * n))], true)],
  ['code: very many lines', (n) => () => drawnLines(list(n / 2, () => ({ tokens: [] })))],
  ['spans: very many', (n) => () => drawnSpans(list(n / 2, () => ({ type: 'text', text: 'a' })))],
  ['spans: one long word', (n) => () => drawnSpans([{ type: 'text', text: 'a'.repeat(16 * n) }])],
  [
    'heights: rows one after another',
    (n) => () => {
      const heights = new Heights(40);
      for (let i = 0; i < 2 * n; i += 1) {
        heights.setCount(i + 1);
        heights.estimate(i, () => 26);
        heights.measure(i, i % 50);
        heights.indexAt(heights.total - 500);
      }
    },
  ],
  [
    'heights: rows all at once, then measured from the end',
    (n) => () => {
      const heights = new Heights(40);
      heights.setCount(4 * n);
      for (let i = 4 * n - 1; i >= 0; i -= 1) heights.measure(i, i % 50);
    },
  ],
  [
    'diff: copied',
    (n) => {
      const parts = [{ text: 'a', strong: false, style: 'plain' as const }];
      const all = list(n / 4, (i) => ({ kind: 'added' as const, oldLine: null, newLine: i, parts }));
      return () => diffText({ path: 'a', added: 1, removed: 0, hunks: [{ lines: all }] });
    },
  ],
  [
    'find: a hit in every character',
    (n) => {
      const root = document.createElement('div');
      root.append('a'.repeat(n));
      return () => marked(root, 'a');
    },
  ],
  [
    'find: a hit in every element',
    (n) => {
      const root = document.createElement('div');
      for (let i = 0; i < n / 16; i += 1) root.append(document.createElement('b'), 'aa');
      return () => marked(root, 'a');
    },
  ],
];

class FakeHighlight extends Set<Range> {
  constructor(...ranges: Range[]) {
    super(ranges);
  }
}

/** Marks words with the browser's highlights, which the test environment lacks. */
function marked(root: Element, query: string): void {
  const highlights = new Map<string, unknown>();
  const given = { CSS: globalThis.CSS, Highlight: globalThis.Highlight };
  Object.assign(globalThis, { CSS: { highlights }, Highlight: FakeHighlight });
  try {
    markWords(root, query, []);
  } finally {
    Object.assign(globalThis, given);
  }
}
