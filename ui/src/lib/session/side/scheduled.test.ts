import { expect, it } from 'vitest';

import type { ScheduledTurn } from '../../bindings/api';
import { scheduledName, scheduledTimes } from './scheduled';

const JOB: ScheduledTurn = {
  id: '2838e6a7',
  itemId: null,
  kind: 'job',
  times: 'Every minute',
  prompt: '',
  nextAt: null,
  repeats: true,
};
const WAKE_UP: ScheduledTurn = { ...JOB, kind: 'wakeUp', times: '', repeats: false };

it('names a scheduled turn by its prompt, or by its kind', () => {
  expect(scheduledName({ ...JOB, prompt: 'look at the build' })).toBe('look at the build');
  expect([JOB, { ...JOB, repeats: false }, WAKE_UP].map(scheduledName)).toEqual([
    'A repeated job',
    'A job that runs once',
    'A wake-up',
  ]);
});

it('says when a scheduled turn begins', () => {
  expect(scheduledTimes(JOB, 1_000)).toBe('Every minute');
  expect(scheduledTimes({ ...JOB, nextAt: 13_000 }, 1_000)).toBe('Every minute · in 12 s');
  expect(scheduledTimes({ ...JOB, repeats: false, nextAt: 13_000 }, 1_000)).toBe('in 12 s');
  expect(scheduledTimes({ ...WAKE_UP, nextAt: 91_000 }, 1_000)).toBe('in 1 min 30 s');
  expect(scheduledTimes({ ...WAKE_UP, nextAt: 1_000 }, 1_000)).toBe('due');
});
