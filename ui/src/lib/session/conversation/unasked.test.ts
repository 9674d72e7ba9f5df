// Starting the agent of an existing session with permission checks off.

import { render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { expect, it, onTestFinished, vi } from 'vitest';

import { App } from '../../../test/parts';
import { ManualClock } from '../../../test/clock';
import { FakeHost } from '../../../fake/host';

async function chosen(scene: string) {
  const host = new FakeHost(scene);
  onTestFinished(() => host.close());
  render(App, { host, clock: new ManualClock() });
  await screen.findByRole('main');
  const user = userEvent.setup();
  await user.click(screen.getByRole('button', { name: /^Permission mode/ }));
  await user.click(await screen.findByRole('menuitem', { name: /Skip all permissions/ }));
  const start = await screen.findByRole<HTMLButtonElement>('button', { name: 'Skip all permissions' });
  return { host, user, start };
}

const mode = () => screen.getByRole('button', { name: /^Permission mode/ }).textContent;

it('takes a confirmation, and is shown for as long as the process lives', async () => {
  const { host, user, start } = await chosen('held');
  expect(start.disabled).toBe(true);
  expect(host.session('s1')?.facts.mode, 'nothing is switched by the menu alone').toBe('default');
  await user.click(screen.getByRole('checkbox', { name: /I understand/ }));
  await user.click(start);
  await vi.waitFor(() => expect(mode()).toContain('Skips permissions'));
  expect(host.session('s1')?.facts).toMatchObject({ mode: 'bypassPermissions', alive: true });
  await user.click(screen.getByRole('button', { name: /^Permission mode/ }));
  expect(screen.queryByRole('menuitem', { name: /Skip all permissions/ })).toBeNull();
});

it('is told when the agent was started meanwhile, and asks as before', async () => {
  const { host, user, start } = await chosen('held');
  host.session('s1')?.patch({ alive: true });
  await user.click(screen.getByRole('checkbox', { name: /I understand/ }));
  await user.click(start);
  expect((await screen.findByText(/The agent was not started/)).closest('p')?.textContent).toContain('Stop it first');
  expect(mode()).toContain('Ask first');
});
