// The window of the board in a test, with the fake host and a clock that the test moves.

import { render, screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { tick } from 'svelte';
import { expect, onTestFinished, vi } from 'vitest';

import { BOARDS } from '../fake/board';
import { FakeHost } from '../fake/host';
import { ARM_MS } from '../lib/session/asking/arming.svelte';
import { ManualClock } from './clock';
import { App } from './parts';

/** The rows of the small scene, and of the one with three in each group. */
export const ROWS = BOARDS['board'] ?? [];
export const NINE = BOARDS['board-three'] ?? [];

export const group = (name: string) => within(screen.getByRole('list', { name }));
export const titlesOf = (name: string) =>
  group(name)
    .getAllByRole('listitem')
    .map((item) => item.querySelector('.title')?.textContent);
export const entry = (title: string) => screen.getByText(title).closest('li') as HTMLElement;
export const inEntry = (title: string) => within(entry(title));

/** Opens the board of a scene. `arm` waits until its buttons can be pressed. */
export async function openBoard(scene: string) {
  const host = new FakeHost(scene);
  onTestFinished(() => host.close());
  const clock = new ManualClock();
  vi.spyOn(document, 'hasFocus').mockReturnValue(true);
  render(App, { host, clock });
  await screen.findByRole('main');
  const focusList = () => vi.waitFor(() => expect(document.activeElement?.closest('main')).not.toBeNull());
  const arm = async () => {
    await focusList();
    clock.advance(ARM_MS);
    await tick();
  };
  return { host, clock, arm, focusList, user: userEvent.setup() };
}
