import { expect, it } from 'vitest';

import { session } from '../../test/make';
import { groupSessions, inOrder } from './groups';

const HOUR = 3_600_000;
const noon = new Date(2026, 4, 13, 12).getTime();
const at = (id: string, hoursAgo: number, turnStartedAt: number | null = null) =>
  session({ id, changedAt: noon - hoursAgo * HOUR, turnStartedAt });

it('groups by day, newest first, without empty groups', () => {
  const groups = groupSessions([at('old', 100), at('morning', 3), at('now', 0)], noon);
  expect(groups.map(({ name, sessions }) => [name, ...sessions.map(({ id }) => id)])).toEqual([
    ['Today', 'now', 'morning'],
    ['Earlier', 'old'],
  ]);
});

it('lets two working sessions keep their places whatever happens in them', () => {
  const order = (a: number, b: number) =>
    inOrder([at('first', a, noon - 5 * HOUR), at('second', b, noon - 4 * HOUR)]).map(({ id }) => id);
  expect(order(0.1, 0.2)).toEqual(['second', 'first']);
  expect(order(0.2, 0.1)).toEqual(['second', 'first']);
});
