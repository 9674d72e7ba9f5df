import { expect, it } from 'vitest';

import { matching } from './actions';

const actions = ['New session', 'Show or hide the sessions', 'Settings'].map((label) => ({
  id: label,
  label,
  run: () => {},
}));
const labels = (query: string) => matching(actions, query).map(({ label }) => label);

it('offers everything before anything is typed', () => {
  expect(labels(' ')).toHaveLength(3);
});

it('wants every word, anywhere, and leads with what begins so', () => {
  expect(labels('se')).toEqual(['Settings', 'New session', 'Show or hide the sessions']);
  expect(labels('SESSION hide')).toEqual(['Show or hide the sessions']);
  expect(labels('nothing')).toEqual([]);
});
