import { expect, it } from 'vitest';

import { call, paragraph, prompt, text } from '../../test/make';
import { edit, ran } from '../host/fake/script';
import { ItemState } from '../state/item.svelte';
import { findItems } from './find';

const items = [
  prompt('Fix the TOTALS'),
  text('t', paragraph('They are rounded')),
  { ...call('e', 'edit'), body: edit() },
  { ...call('c', 'command'), body: ran('cargo test', ['4 passed']) },
].map((item) => new ItemState(item));

it('finds words wherever they stand, and says what must be unfolded', () => {
  expect(findItems(items, 'totals')).toEqual([
    { id: 'Fix the TOTALS', inside: false },
    { id: 'e', inside: true },
  ]);
  expect(findItems(items, 'Cargo Test')).toEqual([{ id: 'c', inside: false }]);
  expect(findItems(items, '4 PASSED')).toEqual([{ id: 'c', inside: true }]);
});

it('finds nothing for nothing', () => {
  expect(findItems(items, ' ')).toEqual([]);
  expect(findItems(items, 'nowhere')).toEqual([]);
});

it('sees what an item says by now', () => {
  const item = new ItemState(text('t', paragraph('one')));
  expect(findItems([item], 'two')).toEqual([]);
  item.replaceTail(1, [paragraph('two')]);
  expect(findItems([item], 'two')).toEqual([{ id: 't', inside: false }]);
});
