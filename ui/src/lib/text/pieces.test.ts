import { describe, expect, it } from 'vitest';

import { pieces } from './pieces';

describe('long words', () => {
  it('are broken, and nothing else is', () => {
    const prose = 'a word and another '.repeat(200);
    expect(pieces(prose)).toEqual([prose]);
    const word = '😀x'.repeat(1000);
    const parts = pieces(`${prose}${word} end`);
    expect(parts.join('')).toBe(`${prose}${word} end`);
    expect(parts.length).toBe(4);
    expect(parts.every((part) => !/\p{Cs}/u.test(part))).toBe(true);
  });
});
