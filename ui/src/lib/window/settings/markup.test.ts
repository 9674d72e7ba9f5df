import { describe, expect, it } from 'vitest';

import { piecesOf, withoutForm } from './markup';

describe('a description', () => {
  it('has code and emphasis, and all of its text', () => {
    expect(piecesOf('For *New session with…* and `deskbell relay --profile`.')).toEqual([
      { text: 'For ', kind: 'plain' },
      { text: 'New session with…', kind: 'emphasis' },
      { text: ' and ', kind: 'plain' },
      { text: 'deskbell relay --profile', kind: 'code' },
      { text: '.', kind: 'plain' },
    ]);
  });

  it('keeps a mark that stands alone', () => {
    expect(piecesOf('2 * 3 and ` alone')).toEqual([{ text: '2 * 3 and ` alone', kind: 'plain' }]);
    expect(piecesOf('')).toEqual([]);
  });

  it('leaves the form of an entry to the file', () => {
    expect(withoutForm('Some names. Each is `{…}`, all but the name optional.')).toBe('Some names.');
    expect(withoutForm('Some names. Each preset is `{…}`.')).toBe('Some names.');
    expect(withoutForm('Each is asked once.')).toBe('Each is asked once.');
  });
});
