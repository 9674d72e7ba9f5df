import { screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, it } from 'vitest';

import { draw } from '../../../test/draw';
import type { BellTest as Result } from '../../bindings/api';
import BellTest from './BellTest.svelte';

const result = (event: string, isAccepted: boolean): Result => ({ event, isAccepted });

it.each<[string, Result[], string]>([
  [
    'all',
    [result('needsYou', true), result('failed', true), result('finished', true)],
    'The desktop accepted “Needs you”, “Fails”, “Finishes”.',
  ],
  [
    'some',
    [result('finished', false), result('needsYou', true)],
    'The desktop accepted “Needs you”, and not “Finishes”.',
  ],
  ['none', [result('failed', false)], 'The desktop did not accept “Fails”. Its notifications may be off.'],
  ['nothing to send', [], 'Nothing was sent: no event has a notification.'],
])('the test says what the desktop accepted: %s', async (_name, results, words) => {
  let answer: (results: Result[]) => void = () => {};
  const ontest = () => new Promise<Result[]>((resolve) => (answer = resolve));
  await draw(BellTest, { ontest });
  const user = userEvent.setup();
  await user.click(screen.getByRole('button', { name: 'Send a test' }));
  const button = screen.getByRole('button', { name: 'Sending…' });
  expect(button.getAttribute('aria-disabled')).toBe('true');
  expect(document.activeElement).toBe(button);
  expect(screen.getByRole('status').textContent).toBe('');
  answer(results);
  await expect.poll(() => screen.getByRole('status').textContent).toBe(words);
  expect(screen.getByRole('button', { name: 'Send a test' }).getAttribute('aria-disabled')).toBeNull();
});
