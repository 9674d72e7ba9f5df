import { expect, it } from 'vitest';

import { Heights } from './heights';

function list(count: number, guess = 10): Heights {
  const heights = new Heights(guess);
  heights.setCount(count);
  return heights;
}

it('guesses what was not measured, and corrects it', () => {
  const heights = list(10, 20);
  expect(heights.total).toBe(200);
  expect(heights.measure(3, 50)).toBe(true);
  expect(heights.measure(3, 50)).toBe(false);
  expect([3, 4, 10].map((i) => heights.offset(i))).toEqual([60, 110, 230]);
});

it('finds the row at a place', () => {
  const heights = list(100);
  heights.measure(2, 100);
  expect([-5, 0, 9, 10, 25, 119, 120, 5000].map((y) => heights.indexAt(y))).toEqual([0, 0, 0, 1, 2, 2, 3, 99]);
});

it('keeps what was measured over an estimate, and an estimate over another', () => {
  const heights = list(3);
  heights.measure(0, 33);
  heights.estimate(0, () => 5);
  heights.estimate(1, () => 6);
  heights.estimate(1, () => 7);
  expect([1, 2, 3].map((i) => heights.offset(i))).toEqual([33, 39, 49]);
});

it('is the sum of its rows however they come, go and change', () => {
  const heights = list(0);
  let rows: number[] = [];
  let seed = 7;
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  for (let turn = 0; turn < 400; turn += 1) {
    if (random(5) === 0) {
      const [at, by] = [random(rows.length + 1), random(9) - 4];
      heights.move(at, by);
      if (at < rows.length) rows.splice(at, Math.max(0, -by), ...Array<number>(Math.max(0, by)).fill(10));
    } else if (random(3) === 0) {
      const count = Math.max(0, rows.length + random(40) - 15);
      heights.setCount(count);
      rows = Array.from({ length: count }, (_, i) => rows[i] ?? 10);
    } else if (rows.length > 0) {
      const [index, height] = [random(rows.length), 1 + random(90)];
      heights.measure(index, height);
      rows[index] = height;
    }
    const sums = rows.reduce<number[]>((known, height) => [...known, (known.at(-1) ?? 0) + height], [0]);
    expect(sums.map((_, i) => heights.offset(i))).toEqual(sums);
    const y = random((sums.at(-1) ?? 0) + 1);
    const index = heights.indexAt(y);
    if (y < (sums.at(-1) ?? 0)) expect([(sums[index] ?? 0) <= y, y < (sums[index + 1] ?? 0)]).toEqual([true, true]);
  }
});

it('costs the logarithm of its length', () => {
  const heights = list(1_000_000);
  for (let i = 0; i < 100_000; i += 1) heights.measure((i * 7919) % 1_000_000, 11);
  expect(heights.indexAt(heights.total / 2)).toBeGreaterThan(400_000);
});
