import { screen, within } from '@testing-library/svelte';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';

import { FakeHost } from '../../../fake/host';
import { openApp, promptBox } from '../../../test/app';

beforeEach(() => localStorage.clear());

const commands = (spied: { mock: { calls: unknown[][] } }) => spied.mock.calls.map(([id, command]) => [id, command]);

describe('choices on the page without a session', () => {
  it('begin a session with the model, in two clicks, and keep what was written', async () => {
    const { host, user } = await openApp('start');
    const command = vi.spyOn(host, 'command');
    vi.spyOn(host, 'subscribe');
    await user.click(promptBox());
    await user.keyboard('Round the totals');
    await user.click(await screen.findByRole('button', { name: /^Model:/u }));
    await user.click(within(screen.getByRole('menu')).getByRole('menuitemradio', { name: /^Haiku 5/u }));
    await expect.poll(() => commands(command)).toContainEqual(['s-new-1', { type: 'setModel', model: 'haiku' }]);
    // Before the session is shown, and so before a prompt can be sent to it.
    const shown = vi.mocked(host.subscribe).mock;
    expect(command.mock.invocationCallOrder[0]).toBeLessThan(shown.invocationCallOrder[0] ?? 0);
    expect(promptBox().value).toBe('Round the totals');
    expect(document.activeElement).toBe(promptBox());
    await user.keyboard('{Enter}');
    const prompt = { type: 'prompt', text: 'Round the totals', attachments: [], delivery: 'afterTurn' };
    await expect.poll(() => commands(command)).toContainEqual(['s-new-1', prompt]);
  });

  it('are those of Ctrl+Shift+M', async () => {
    const { host, user } = await openApp('start');
    const command = vi.spyOn(host, 'command');
    await screen.findByRole('button', { name: /^Model:/u });
    await user.keyboard('{Control>}{Shift>}m{/Shift}{/Control}');
    const palette = within(await screen.findByRole('dialog', { name: 'Commands and sessions' }));
    await user.click(await palette.findByRole('option', { name: /Haiku 5/u }));
    await expect.poll(() => commands(command)).toContainEqual(['s-new-1', { type: 'setModel', model: 'haiku' }]);
  });

  it('begin a session with the next mode by Shift+Tab', async () => {
    const { host, user } = await openApp('start');
    const command = vi.spyOn(host, 'command');
    await screen.findByRole('button', { name: /^Permission mode:/u });
    await user.click(promptBox());
    await user.keyboard('{Shift>}{Tab}{/Shift}');
    await expect.poll(() => commands(command)).toContainEqual(['s-new-1', { type: 'setMode', mode: 'acceptEdits' }]);
  });

  it('are not shown where they are not known', async () => {
    const planned = vi.spyOn(FakeHost.prototype, 'plannedSession').mockResolvedValue(null);
    onTestFinished(() => planned.mockRestore());
    const { user } = await openApp('start');
    await expect.poll(() => planned.mock.calls.length).toBeGreaterThan(0);
    expect(screen.queryByRole('button', { name: /^Model:/u })).toBeNull();
    await user.keyboard('{Control>}{Shift>}m{/Shift}{/Control}');
    expect((await screen.findByText(/is not available/u)).closest('[role=alert]')?.textContent).toContain(
      'No session is open.',
    );
  });
});
