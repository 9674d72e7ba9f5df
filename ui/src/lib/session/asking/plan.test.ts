import { expect, it } from 'vitest';

import type { Block } from '../../bindings/api';
import { code, paragraph } from '../../../test/make';
import { document } from '../../../fake/markdown';
import { feedback, planLines } from './plan';

const quotes = (blocks: readonly Block[]) => planLines(blocks).map((line) => line.quote);
const item = (...blocks: Block[]) => ({ checked: null, blocks });

it('has a line for every line that was written', () => {
  const broken: Block = {
    type: 'paragraph',
    spans: [
      { type: 'text', text: 'First\nsecond ' },
      { type: 'code', text: 'a.rs' },
      { type: 'break' },
      { type: 'text', text: 'third' },
    ],
  };
  expect(quotes([broken, paragraph('Another')])).toEqual(['First', 'second `a.rs`', 'third', 'Another']);
  expect(planLines([broken, paragraph('Another')]).map((line) => line.follows)).toEqual([false, true, true, false]);
});

it('has a line for every item, however deep, and what stands under it', () => {
  const inner: Block = { type: 'list', start: null, items: [item(paragraph('deep')), item(paragraph('deeper'))] };
  const list: Block = {
    type: 'list',
    start: 3,
    items: [
      item(paragraph('one'), inner, code('cargo test', 'cargo fmt')),
      { checked: true, blocks: [paragraph('two')] },
    ],
  };
  const lines = planLines([list]);
  expect(lines.map(({ quote, depth }) => [depth, quote])).toEqual([
    [0, '3. one'],
    [1, '- deep'],
    [1, '- deeper'],
    [1, 'cargo test'],
    [1, 'cargo fmt'],
    [0, '4. [x] two'],
  ]);
  expect(lines.map((line) => line.follows)).toEqual([false, true, true, true, true, true]);
});

it('has a line for every line of code and every row of a table', () => {
  const blocks = document('```rust\nfn main() {\n\n}\n```\n\n| Month | After |\n|---|---|\n| May | 1.20 |');
  expect(quotes(blocks)).toEqual(['fn main() {', '', '}', '| Month | After |', '| May | 1.20 |']);
  const shapes = planLines(blocks).map(({ shape }) =>
    shape.type === 'code' ? [shape.starts, shape.ends] : shape.type,
  );
  expect(shapes).toEqual([[true, false], [false, false], [false, true], 'row', 'row']);
});

it('keeps what is quoted quoted, and has nothing to say about a rule', () => {
  const quote: Block = { type: 'quote', blocks: [paragraph('said\nso'), code('x')] };
  expect(quotes([quote, { type: 'rule' }])).toEqual(['> said', '> so', '> ```rust\n> x\n> ```', '']);
});

it('sends each comment under its line, in the order of the plan', () => {
  const lines = planLines([paragraph('a\nb'), code('c')]);
  const comments = new Map([
    [2, ' why c? '],
    [1, 'why b?'],
    [0, '  '],
  ]);
  expect(feedback(lines, comments, ' Smaller. ')).toBe('Smaller.\n\n> b\n\nwhy b?\n\n> c\n\nwhy c?');
  expect(feedback(lines, new Map(), '')).toBe('Keep planning; do not start yet.');
});
