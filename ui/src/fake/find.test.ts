import { expect, it } from 'vitest';

import { at, call, paragraph, prompt, text } from '../test/make';
import { find } from './find';
import { edit, ran } from './script';

const items = [
  at(0, prompt('Fix the TOTALS')),
  at(1, text('t', paragraph('They are rounded'))),
  at(2, { ...call('e', 'edit'), body: edit() }),
  at(3, { ...call('c', 'command'), body: ran('cargo test', ['4 passed']) }),
];

it('finds words wherever they stand, and says what must be unfolded', () => {
  expect(find(items, 'totals', 0).hit).toEqual({ index: 0, itemId: 'Fix the TOTALS', row: 0, inside: false, part: 0 });
  expect(find(items, 'totals', null)).toEqual({
    count: 2,
    hit: { index: 1, itemId: 'e', row: 2, inside: true, part: 0 },
  });
  expect(find(items, 'Cargo Test', null).hit).toMatchObject({ itemId: 'c', inside: false });
  expect(find(items, '4 PASSED', null).hit).toMatchObject({ itemId: 'c', inside: true });
});

it('goes around at both ends', () => {
  expect(find(items, 'totals', 2).hit?.index).toBe(0);
  expect(find(items, 'totals', -1).hit?.index).toBe(1);
});

it('finds nothing for nothing', () => {
  expect(find(items, ' ', null)).toEqual({ count: 0, hit: null });
  expect(find(items, 'nowhere', 3)).toEqual({ count: 0, hit: null });
});
