import { expect, it } from 'vitest';

import { ZOOMS, zoomed, zoomStep } from './zoom';

it('goes from the least to the most and back, and stays there', () => {
  const passed = [50];
  ZOOMS.forEach(() => passed.push(zoomed(passed.at(-1) ?? 0, 'larger')));
  expect(passed).toEqual([...ZOOMS, 200]);
  ZOOMS.forEach(() => passed.push(zoomed(passed.at(-1) ?? 0, 'smaller')));
  expect(passed.at(-1)).toBe(50);
  expect([zoomed(120, 'larger'), zoomed(120, 'smaller'), zoomed(175, 'usual')]).toEqual([125, 110, 100]);
});

it('takes the keys of any keyboard, and no others', () => {
  const step = (key: string, more: KeyboardEventInit = {}) =>
    zoomStep(new KeyboardEvent('keydown', { key, ctrlKey: true, ...more }));
  expect([step('+'), step('=', { shiftKey: true }), step('-'), step('_', { shiftKey: true }), step('0')]).toEqual([
    'larger',
    'larger',
    'smaller',
    'smaller',
    'usual',
  ]);
  expect([step('+', { ctrlKey: false }), step('-', { altKey: true }), step('1')]).toEqual([null, null, null]);
});
