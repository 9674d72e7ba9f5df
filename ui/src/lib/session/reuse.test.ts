import { expect, it } from 'vitest';

import { reuse } from './reuse';

it('gives back the old value when nothing differs', () => {
  const before = { a: [1, { b: null }], c: 'x' };
  expect(reuse(before, structuredClone(before))).toBe(before);
});

it('shares the parts that are equal', () => {
  const before = { same: [1, 2], other: { x: 1 } };
  const after = reuse(before, { same: [1, 2], other: { x: 2 } });
  expect(after).toEqual({ same: [1, 2], other: { x: 2 } });
  expect(after.same).toBe(before.same);
});

it('sees keys that went and items that came', () => {
  expect(reuse<Record<string, number>>({ a: 1, b: 2 }, { a: 1 })).toEqual({ a: 1 });
  expect(reuse<number[]>([1], [1, 2])).toEqual([1, 2]);
  expect(reuse<unknown>([1], { 0: 1 })).toEqual({ 0: 1 });
  expect(reuse<unknown>({ a: undefined }, { b: undefined })).toEqual({ b: undefined });
});
