import { describe, expect, it } from 'vitest';

import type { DiffKind, DiffLine } from '../bindings/api';
import { diffLines } from './diffLines';

const line = (kind: DiffKind, oldLine: number | null, newLine: number | null, text: string): DiffLine => ({
  kind,
  oldLine,
  newLine,
  parts: [{ text, strong: false, style: 'plain' }],
});

describe('the lines of a hunk', () => {
  it('have the numbers that follow those of the line before', () => {
    const first = line('context', 4, 5, 'a');
    expect(diffLines({ lines: [first, '-b', '+', '  c', '+d'] })).toEqual([
      first,
      line('removed', 5, null, 'b'),
      line('added', null, 6, ''),
      line('context', 6, 7, ' c'),
      line('added', null, 8, 'd'),
    ]);
  });

  it('have no numbers if none is known', () => {
    expect(diffLines({ lines: ['-a', '+b', ' c'] })).toEqual([
      line('removed', null, null, 'a'),
      line('added', null, null, 'b'),
      line('context', null, null, 'c'),
    ]);
  });

  it('continue behind the rest of a line that was cut', () => {
    const [first, rest] = [line('added', null, 1, 'first'), line('added', null, null, 'rest')];
    expect(diffLines({ lines: [first, rest, '+next'] })[2]).toEqual(line('added', null, 2, 'next'));
  });

  it('are made once', () => {
    const hunk = { lines: ['+a'] };
    expect(diffLines(hunk)).toBe(diffLines(hunk));
  });
});
