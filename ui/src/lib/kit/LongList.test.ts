import { render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { createRawSnippet } from 'svelte';
import { expect, it } from 'vitest';

import LongList from './LongList.svelte';

const entry = createRawSnippet<[unknown, number]>((entry) => ({ render: () => `<li>${String(entry())}</li>` }));
const names = (n: number) => Array.from({ length: n }, (_, i) => `file ${i}`);
const drawn = () => screen.queryAllByText(/^file /).map((one) => one.textContent);

it('draws a short list whole', () => {
  render(LongList, { entries: names(200), entry });
  expect(drawn()).toEqual(names(200));
  expect(screen.queryByRole('button')).toBeNull();
});

it('draws the beginning of a long list, and more on request', async () => {
  const { rerender } = render(LongList, { entries: names(10_450), entry });
  const user = userEvent.setup();
  expect(drawn()).toHaveLength(200);
  await user.click(screen.getByRole('button', { name: '10,250 more: show 200' }));
  expect(drawn()).toEqual(names(400));
  // The list shrinks while the user reads it.
  await rerender({ entries: names(450), entry });
  await user.click(screen.getByRole('button', { name: '50 more: show 50' }));
  expect(drawn()).toEqual(names(450));
  expect(screen.queryByRole('button')).toBeNull();
});
