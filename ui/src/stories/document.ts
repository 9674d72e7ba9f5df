// Stories of documents with every kind of block and span, and of file changes.

import { tick } from 'svelte';

import type { Block, Span } from '../lib/bindings/api';
import TextDocument from '../lib/session/conversation/TextDocument.svelte';
import Blocks from '../lib/document/Blocks.svelte';
import DiffView from '../lib/document/DiffView.svelte';
import { diffLines } from '../lib/document/diffLines';
import { document as parsed } from '../fake/markdown';
import * as script from '../fake/script';
import Slices from './Slices.svelte';
import { ignore, states, type Page, type Play } from './story';

const looked: Play = async () => {
  for (let i = 0; i < 5; i++) await tick();
};

const text = (words: string): Span => ({ type: 'text', text: words });
const paragraph = (...spans: Span[]): Block => ({ type: 'paragraph', spans });

const RUNS: Block[] = [
  paragraph(
    text('Plain, '),
    { type: 'emphasis', spans: [text('stressed')] },
    text(', '),
    { type: 'strong', spans: [text('strong')] },
    text(', '),
    { type: 'strike', spans: [text('taken back')] },
    text(', '),
    { type: 'code', text: 'Money::round' },
    text(', '),
    { type: 'raw', text: '<marquee>' },
    text(' and a note'),
    { type: 'footnoteRef', label: '1' },
    text('.'),
    { type: 'break' },
    text('On a line of its own.'),
  ),
  paragraph(
    { type: 'link', url: 'https://docs.rs/', host: 'docs.rs', spans: [text('The notes')] },
    text(', '),
    { type: 'link', url: 'https://10.0.0.7/', host: '10.0.0.7', spans: [text('docs.rs')] },
    text(', '),
    { type: 'link', url: 'javascript:0', host: '', spans: [text('a link that leads nowhere')] },
    text(', '),
    { type: 'image', url: 'https://docs.rs/round.png', host: 'docs.rs', alt: 'a picture' },
    text(', '),
    { type: 'image', url: 'round.png', host: null, alt: '' },
    text(', '),
    ...(['emphasis', 'strong', 'strike'] as const).map((type): Span => ({
      type,
      spans: [{ type: 'link', url: 'https://docs.rs/', host: 'docs.rs', spans: [text(`${type} `)] }],
    })),
  ),
  { type: 'quote', blocks: [paragraph(text('Half to even, says the report.'))] },
  {
    type: 'list',
    start: null,
    items: [true, false].map((checked) => ({ checked, blocks: [paragraph(text(checked ? 'Change it' : 'Test it'))] })),
  },
  { type: 'rule' },
  { type: 'footnote', label: '1', blocks: [paragraph(text('Of April.'))] },
];

/** Files of the folder, and names of none. */
const file = (path: string, line: number | null, destination: string | null, ...spans: Span[]): Span => ({
  type: 'file',
  path,
  line,
  destination,
  spans,
});
const NAMED: Block[] = [
  paragraph(
    text('It is in '),
    file('src/money.rs', 7, null, { type: 'code', text: 'src/money.rs:7' }),
    text(', '),
    file('src/a b.rs', null, 'src/a%20b.rs', text('a name with a space')),
    text(' and '),
    file('src/gone.rs', 3, 'src/gone.rs#L3', text('a file that is gone')),
    text('.'),
  ),
];

const WIDE = parsed(`# A first heading

### A third heading

\`\`\`
${'a line of code that is longer than any window is wide; '.repeat(5)}
\`\`\`

| A | table | with | more | columns | than | a | narrow | window | has | room | for |
|---|---|---|---|---|---|---|---|---|---|---|---|
| January | 1,204.55 | 1,204.54 | January | 1,204.55 | 1,204.54 | January | 1,204.55 | 1,204.54 | x | y | z |
`);

const [hunk] = script.DIFF.hunks;
const HIDDEN = {
  ...script.DIFF,
  hunks:
    hunk === undefined
      ? []
      : [
          hunk,
          {
            lines: diffLines(hunk).map((line) => ({
              ...line,
              parts: [{ text: 'l\u0435dger\u202e', strong: false, style: 'plain' as const }],
            })),
          },
        ],
};

const RIGHT_TO_LEFT = {
  ...script.DIFF,
  hunks: script.DIFF.hunks.map((one) => ({
    lines: diffLines(one).map((line) => ({
      ...line,
      parts: [{ text: 'names = ["אחת", "שתיים"]  # שמות', strong: false, style: 'plain' as const }],
    })),
  })),
};

/** More blocks than two chunks have, and mostly small ones: the test of lists draws it again for each list in it. */
const LONG = [
  ...parsed('A short paragraph.\n\n'.repeat(15)),
  ...RUNS.slice(0, 4),
  ...parsed('- One item\n\nText.\n\n'.repeat(8)),
];

const CUT = parsed(
  `The rounding:\n\n\`\`\`rust\n${'let total = money.round(2);\n'.repeat(8)}\`\`\`\n\nIt is half to even.\n\n1. One\n2. Two\n3. Three\n4. Four\n`,
);
const TABLE = parsed(`| Month | Debit | Credit |\n|---|--:|--:|\n${'| January | 1,204.55 | 1,204.54 |\n'.repeat(6)}`);
const codeOf = (from: number, end: number): Block[] =>
  CUT.flatMap((block) => (block.type === 'code' ? [{ ...block, lines: block.lines.slice(from, end) }] : []));
const listOf = (from: number, end: number): Block[] =>
  CUT.flatMap((block) =>
    block.type === 'list' ? [{ ...block, start: 1 + from, items: block.items.slice(from, end) }] : [],
  );
const tableOf = (from: number, end: number): Block[] =>
  TABLE.flatMap((block) => {
    if (block.type !== 'table') return [];
    const head = from === 0 ? block.head : block.head.map(() => ({ spans: [] }));
    return [{ ...block, head, rows: block.rows.slice(from, end) }];
  });

export const document: Page = () => [
  ...states('Blocks', Blocks, {
    'every kind of run': { blocks: RUNS },
    'files of the folder, and one that is gone': [{ blocks: NAMED }, looked],
    'wider than the window': { blocks: WIDE },
    streaming: { blocks: parsed(script.STREAMING), caret: true },
  }),
  ...states('TextDocument', TextDocument, {
    whole: { id: 'a', text: { type: 'text', blocks: LONG, streaming: false } },
    streaming: { id: 'a', text: { type: 'text', blocks: LONG.slice(0, 20), streaming: true } },
  }),
  ...states('Slices', Slices, {
    'between blocks': { slices: [LONG.slice(0, 3), LONG.slice(3, 6)] },
    'in code': {
      slices: [
        [...CUT.slice(0, 1), ...codeOf(0, 4)],
        [...codeOf(4, 8), ...CUT.slice(2, 3)],
      ],
      cut: true,
    },
    'in a list': { slices: [[...CUT.slice(2, 3), ...listOf(0, 2)], listOf(2, 4)], cut: true, nBefore: 2, size: 4 },
    'in a list that grows': { slices: [listOf(0, 2), listOf(2, 4)], cut: true, nBefore: 2 },
    'in a table': { slices: [tableOf(0, 3), tableOf(3, 6)], cut: true, nBefore: 3, size: 6 },
  }),
  ...states('DiffView', DiffView, {
    'of two parts': { diff: { ...HIDDEN, hunks: [...script.DIFF.hunks, ...script.DIFF.hunks] } },
    'of two parts, with comments': {
      diff: { ...HIDDEN, hunks: [...script.DIFF.hunks, ...script.DIFF.hunks] },
      oncomment: ignore,
    },
    'with characters that deceive': { diff: HIDDEN, asked: true },
    'with letters from right to left': { diff: RIGHT_TO_LEFT },
  }),
];
