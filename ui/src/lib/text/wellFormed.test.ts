import { describe, expect, it } from 'vitest';

import { wellFormed, wellFormedValue } from './wellFormed';

describe('a half of a character', () => {
  it.each([
    ['half \ud83d end', 'half \ufffd end'],
    ['half \ude00 end', 'half \ufffd end'],
    ['x \ude00\ud83d y', 'x \ufffd\ufffd y'],
    ['whole 😀, a\0b, a\uffff', 'whole 😀, a\0b, a\uffff'],
  ])('is replaced: %j', (text, expected) => {
    expect(wellFormed(text)).toBe(expected);
  });

  it('is replaced wherever it is in a command', () => {
    const command = { type: 'prompt', text: '\ud83d', attachments: [{ name: 'a\ude00', data: null }], count: 2 };
    expect(wellFormedValue(command)).toEqual({
      type: 'prompt',
      text: '\ufffd',
      attachments: [{ name: 'a\ufffd', data: null }],
      count: 2,
    });
  });
});
