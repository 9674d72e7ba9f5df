import { expect, it } from 'vitest';

import { uniqueKeys } from './uniqueKeys';

const keys = (...ids: string[]) => uniqueKeys(ids, (id) => id);

it('keeps ids that differ, and numbers those that are equal', () => {
  expect(keys('a', 'b')).toEqual(['a', 'b']);
  expect(keys('a', 'a', 'b', 'a')).toEqual(['a', 'a#1', 'b', 'a#2']);
});

it('gives no key twice, whatever the ids look like', () => {
  const made = keys('a', 'a', 'a#1', 'a#1', 'a', '');
  expect(new Set(made).size).toBe(made.length);
});

it('costs linear time for equal ids', () => {
  expect(new Set(uniqueKeys(Array<string>(200_000).fill('same'), (id) => id)).size).toBe(200_000);
});
