import { expect, it } from 'vitest';

import { Heights } from './heights';

const rows = (n: number, from = 0) => Array.from({ length: n }, (_, i) => ({ key: `r${i + from}` }));

it('estimates what was not measured, and corrects it', () => {
  const heights = new Heights(() => 20);
  heights.setRows(rows(10));
  expect(heights.total).toBe(200);
  expect(heights.measure('r3', 50)).toBe(true);
  expect(heights.measure('r3', 50)).toBe(false);
  expect([3, 4, 10].map((i) => heights.offset(i))).toEqual([60, 110, 230]);
});

it('finds the row at a place', () => {
  const heights = new Heights(() => 10);
  heights.setRows(rows(100));
  heights.measure('r2', 100);
  expect([-5, 0, 9, 10, 25, 119, 120, 5000].map((y) => heights.indexAt(y))).toEqual([0, 0, 0, 1, 2, 2, 3, 99]);
});

it('knows rows by their key when others come before them', () => {
  const heights = new Heights(() => 10);
  const before = rows(3);
  heights.setRows(before);
  heights.measure('r1', 33);
  heights.setRows([{ key: 'new' }, ...before]);
  expect(heights.indexOf('r1')).toBe(2);
  expect(heights.offset(3)).toBe(10 + 10 + 33);
});

it('asks only for new estimates when rows come at the end', () => {
  let asked = 0;
  const heights = new Heights(() => {
    asked += 1;
    return 10;
  });
  const many = rows(10_000);
  heights.setRows(many);
  expect(heights.total).toBe(100_000);
  asked = 0;
  heights.setRows([...many, ...rows(5, 10_000)]);
  heights.measure('r9999', 20);
  expect(heights.total).toBe(100_060);
  expect(asked).toBeLessThanOrEqual(6);
});

it('has a first row even when empty', () => {
  const heights = new Heights(() => 10);
  expect([heights.indexAt(50), heights.total]).toEqual([0, 0]);
});
