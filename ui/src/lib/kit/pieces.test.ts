import { describe, expect, it } from 'vitest';

import { pieces } from './pieces';

describe('long words', () => {
  it('end at blanks that break a line in every browser, and at no others', () => {
    expect(pieces(`${'a'.repeat(499)}\n${'b'.repeat(500)}\t${'c'.repeat(500)}`).length).toBe(1);
    expect(pieces('a\u{a0}'.repeat(500)).length).toBe(2);
  });

  it('are broken, and nothing else is', () => {
    const prose = 'a word and another '.repeat(200);
    expect(pieces(prose)).toEqual([prose]);
    const word = '😀x'.repeat(1000);
    const parts = pieces(`${prose}${word} end`);
    expect(parts.join('')).toBe(`${prose}${word} end`);
    const words = parts.flatMap((part) => part.split(' ').map((word) => word.length));
    expect(Math.max(...words)).toBe(500);
    expect(parts.length).toBe(7);
    expect(parts.every((part) => !/\p{Cs}/u.test(part))).toBe(true);
  });
});
