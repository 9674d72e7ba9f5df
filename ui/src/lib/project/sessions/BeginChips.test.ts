import { screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, it } from 'vitest';

import { openApp, promptBox } from '../../../test/app';

beforeEach(() => localStorage.clear());

/** A window with a session that has no prompt yet. */
async function emptySession() {
  const { host } = await openApp('empty');
  host.session('s1')?.patch({ isEmpty: true });
  await screen.findByRole('button', { name: /^Agent:/ });
  return userEvent.setup();
}

const agent = () => screen.getByRole('button', { name: /^Agent:/ });

it('an empty session begins with another agent, and keeps what was written', async () => {
  const user = await emptySession();
  await user.type(promptBox(), 'Round the totals');
  expect(agent().textContent).toContain('Claude Code');
  await user.click(agent());
  await user.click(screen.getByRole('menuitemradio', { name: /^Demo agent/ }));
  await expect.poll(() => agent().textContent).toContain('Demo agent');
  await expect.poll(() => promptBox().value).toBe('Round the totals');
});

it('a prompt that was written goes to the window of a new worktree', async () => {
  const user = await emptySession();
  await user.type(promptBox(), 'Round the totals');
  await user.click(screen.getByRole('button', { name: 'Worktree…' }));
  const dialog = await screen.findByRole('dialog', { name: 'New session in a worktree' });
  expect(dialog.textContent).toContain('The prompt waits there in a new session.');
});

it('a session with a prompt has no choice of agent or worktree', async () => {
  await openApp('conversation');
  await screen.findByRole('button', { name: /^Model:/ });
  expect(screen.queryByRole('button', { name: /^Agent:/ })).toBeNull();
  expect(screen.queryByRole('button', { name: 'Worktree…' })).toBeNull();
});
