import { cleanup, screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { tick } from 'svelte';
import { describe, expect, it, vi } from 'vitest';

import type { Session } from '../../bindings/api';
import { draw } from '../../../test/draw';
import { emptySession } from '../../../fake/facts';
import Header from './Header.svelte';

async function header(facts: Partial<Session> = {}) {
  const nothing = () => {};
  const { clock, host, project } = await draw(Header, {
    session: { ...emptySession('s1', 'Title'), alive: true, ...facts },
    hasSide: false,
    ontogglesessions: nothing,
    ontoggleside: nothing,
    onrename: nothing,
    oncontext: nothing,
    acts: [],
    onact: nothing,
  });
  return { clock, host, project, user: userEvent.setup() };
}

describe('the head of a conversation', () => {
  it('names another agent, and says what that one does not report', async () => {
    const lacks = { reports: ['cost', 'exit codes'], offers: ['rewind'] };
    const { user } = await header({ agent: 'acp', agentName: 'Gemini CLI', agentVersion: '0.61.0', lacks });
    await user.click(screen.getByRole('button', { name: 'Agent: Gemini CLI' }));
    const shown = within(screen.getByRole('dialog', { name: 'Gemini CLI', hidden: true }));
    shown.getByText(/^Version 0\.61\.0\./u);
    const lists = shown.getAllByRole('list', { hidden: true });
    const words = lists.map((list) => [...list.querySelectorAll('li')].map(({ textContent }) => textContent));
    expect(words).toEqual([['cost', 'exit codes'], ['rewind']]);
    await user.click(shown.getByRole('button', { name: /^Close/u, hidden: true }));
    expect(screen.queryByRole('dialog', { hidden: true })).toBeNull();
  });

  it('names the profile, so that two accounts differ', async () => {
    await header({ profile: 'Work' });
    expect(screen.getByTitle('The profile of this session').textContent).toBe('Work');
    cleanup();
    await header();
    expect(screen.queryByTitle('The profile of this session')).toBeNull();
  });

  it('leads from the mark of a restricted agent to the page that decides about it', async () => {
    const { project, user } = await header({ restricted: true });
    expect(project.trust.folderShown).toBe(false);
    await user.click(screen.getByRole('button', { name: 'Restricted: folder trust' }));
    expect(project.trust.folderShown).toBe(true);
  });

  it.each([
    [{ type: 'here' }, null],
    [{ type: 'connected' }, 'Keeps running'],
    [{ type: 'connecting' }, 'Reconnecting'],
    [{ type: 'waiting', attempt: 3, at: 0 }, 'Reconnecting'],
    [{ type: 'incompatible', version: '9.0.0' }, 'Runs in Deskbell 9.0.0'],
  ] as [Session['link'], string | null][])('shows the link %j as %s', async (link, words) => {
    await header({ link });
    expect(screen.queryByRole('status')?.textContent ?? null).toBe(words);
  });

  it('counts down to the next attempt, and announces none of it', async () => {
    const { clock } = await header({ link: { type: 'waiting', attempt: 3, at: 1_008_000 } });
    const status = screen.getByRole('status');
    const shown = () => status.parentElement?.textContent;
    expect(shown()).toBe('Reconnecting in 8 s');
    clock.advance(5_000);
    await tick();
    expect(shown()).toBe('Reconnecting in 3 s');
    expect(status.textContent).toBe('Reconnecting');
  });

  it('reconnects now while it waits for the next attempt, and only then', async () => {
    const { host, user } = await header({ link: { type: 'waiting', attempt: 3, at: 1_008_000 } });
    const tried = vi.spyOn(host, 'retryLink').mockResolvedValue();
    await user.click(screen.getByRole('button', { name: 'Reconnect now' }));
    expect(tried).toHaveBeenCalledExactlyOnceWith('s1');
    const others: Session['link'][] = [
      { type: 'here' },
      { type: 'connected' },
      { type: 'connecting' },
      { type: 'incompatible', version: '9.0.0' },
    ];
    for (const link of others) {
      cleanup();
      await header({ link });
      expect(screen.queryByRole('button', { name: 'Reconnect now' })).toBeNull();
    }
  });

  it('marks the demo agent, and no other', async () => {
    await header({ agent: 'demo' });
    expect(screen.getByText('Demo')).toBeTruthy();
    cleanup();
    await header({ agent: 'claude' });
    expect(screen.queryByText('Demo')).toBeNull();
  });
});
