import { render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import type { PermissionChannel } from '../../bindings/api';
import { checkup } from '../../../fake/readiness';
import Doctor from './Doctor.svelte';

async function said(channel: PermissionChannel): Promise<string> {
  render(Doctor, { oncheck: () => Promise.resolve(checkup(channel)) });
  await userEvent.setup().click(screen.getByRole('button', { name: 'Test permissions' }));
  return screen.getByRole('status').textContent.trim();
}

describe('the doctor', () => {
  it('says that the agent asks', async () => {
    expect(await said({ type: 'asks' })).toBe('Claude Code 2.1.329 asks before acting.');
  });

  it('warns of an agent that does not', async () => {
    expect(await said({ type: 'neverAsks' })).toBe('Claude Code 2.1.329 acts without asking. Do not use this version.');
  });

  it('says why it does not know', async () => {
    expect(await said({ type: 'unknown', reason: 'The agent exited: oops' })).toBe(
      'The test has no result: The agent exited: oops',
    );
  });
});
