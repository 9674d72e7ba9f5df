import { expect, it } from 'vitest';

import { document } from './markdown';

it.each(['##', '#', '#####', '#hashtag', '##### too deep'])('reads “%s” as a paragraph', (source) => {
  expect(document(source)).toEqual([{ type: 'paragraph', spans: [{ type: 'text', text: source }] }]);
});

it('reads every beginning of a text', () => {
  const source =
    '# Plan\n\nSome *words*\nand more\n## Steps\n- one\n- two\n| a | b |\n|---|---|\n| 1 | 2 |\n```rust\nfn a() {}\n```';
  const whole = document(source).map(({ type }) => type);
  expect(whole).toEqual(['heading', 'paragraph', 'heading', 'list', 'table', 'code']);
  for (let end = 1; end < source.length; end += 1) {
    const blocks = document(source.slice(0, end));
    expect(blocks.length).toBeGreaterThan(0);
    expect(blocks.length).toBeLessThanOrEqual(whole.length);
  }
});
