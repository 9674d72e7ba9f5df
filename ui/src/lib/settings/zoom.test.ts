import { expect, it } from 'vitest';

import { ZOOMS, zoomed } from './zoom';

it('goes from the least to the most and back, and stays there', () => {
  const passed = [50];
  ZOOMS.forEach(() => passed.push(zoomed(passed.at(-1) ?? 0, 'larger')));
  expect(passed).toEqual([...ZOOMS, 200]);
  ZOOMS.forEach(() => passed.push(zoomed(passed.at(-1) ?? 0, 'smaller')));
  expect(passed.at(-1)).toBe(50);
  expect([zoomed(120, 'larger'), zoomed(120, 'smaller'), zoomed(175, 'usual')]).toEqual([125, 110, 100]);
});
