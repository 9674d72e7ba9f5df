import { describe, expect, it } from 'vitest';

import { complete, mentionAt, withMentions } from './mention';

describe('a file that is being named', () => {
  it.each([
    ['@', { start: 0, query: '' }],
    ['see @src/ma', { start: 4, query: 'src/ma' }],
    ['(@a', { start: 1, query: 'a' }],
    ['line\n@b', { start: 5, query: 'b' }],
    ['@"my fi', { start: 0, query: 'my fi' }],
  ])('is found in “%s”', (text, mention) => expect(mentionAt(text, text.length)).toEqual(mention));

  it.each(['', 'ann@example.org', '@a b', '@"a" ', 'a@', '@"a\nb'])('is not found in “%s”', (text) =>
    expect(mentionAt(text, text.length)).toBeNull(),
  );

  it('is looked for before the cursor alone', () => {
    expect(mentionAt('@abc', 2)).toEqual({ start: 0, query: 'a' });
    expect(mentionAt('@abc', 0)).toBeNull();
  });
});

describe('a name that is chosen', () => {
  const put = (text: string, path: string, cursor = text.length) => {
    const mention = mentionAt(text, cursor);
    if (mention === null) throw new Error('nothing is named');
    const done = complete(text, cursor, mention, path);
    return `${done.text.slice(0, done.cursor)}|${done.text.slice(done.cursor)}`;
  };

  it('is written out, with a space behind it', () => {
    expect(put('see @ma', 'src/main.rs')).toBe('see @src/main.rs |');
    expect(put('see @ma now', 'src/main.rs', 7)).toBe('see @src/main.rs |now');
  });

  it('goes on if it is a folder', () => {
    expect(put('@sr', 'src/')).toBe('@src/|');
    expect(put('@sr', 'my src/')).toBe('@"my src/|"');
    expect(put('@"my src/a"', 'my src/a.rs', 10)).toBe('@"my src/a.rs" |');
  });

  it('is quoted if it has spaces', () => expect(put('@"my f', 'my file.txt')).toBe('@"my file.txt" |'));
});

describe('names that were dropped', () => {
  it('come to the end', () => {
    expect(withMentions('', ['a.rs', 'b c.rs'])).toBe('@a.rs @"b c.rs" ');
    expect(withMentions('look at', ['a.rs'])).toBe('look at @a.rs ');
  });
});
