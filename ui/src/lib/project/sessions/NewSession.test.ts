import { screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { tick } from 'svelte';
import { describe, expect, it } from 'vitest';

import type { AgentKind } from '../../bindings/api';
import { draw } from '../../../test/draw';
import { emptySession, PROJECT } from '../../../fake/facts';
import NewSession from './NewSession.svelte';
import SessionRow from './SessionRow.svelte';

async function form() {
  const begun: [AgentKind | null, boolean][] = [];
  const onnew = (agent: AgentKind | null, withoutAsking = false) => begun.push([agent, withoutAsking]);
  await draw(NewSession, { agent: PROJECT.agent, creating: false, onnew, onothers: () => begun.push([null, false]) });
  const user = userEvent.setup();
  const warn = async () => {
    await user.click(screen.getByRole('button', { name: 'Choose an agent' }));
    await tick();
    await user.click(screen.getByRole('menuitem', { name: /Skip all permissions/ }));
    await tick();
  };
  return { begun, user, warn };
}

const button = (name: string) => screen.getByRole<HTMLButtonElement>('button', { name, hidden: true });

describe('a new session', () => {
  it('asks, unless a person confirms that it shall not', async () => {
    const { begun, user, warn } = await form();
    await user.click(screen.getByRole('button', { name: 'New session' }));
    expect(begun).toEqual([[null, false]]);
    await warn();
    expect(begun).toHaveLength(1);
    expect(button('Skip all permissions').disabled).toBe(true);
    await user.click(screen.getByRole('checkbox', { hidden: true }));
    await user.click(button('Skip all permissions'));
    expect(begun).toEqual([
      [null, false],
      [null, true],
    ]);
  });

  it('is not begun when the warning is put away, and warns anew each time', async () => {
    const { begun, user, warn } = await form();
    await warn();
    await user.click(screen.getByRole('checkbox', { hidden: true }));
    await user.click(button('Cancel'));
    expect(begun).toEqual([]);
    await warn();
    expect(screen.getByRole<HTMLInputElement>('checkbox', { hidden: true }).checked).toBe(false);
  });

  it('says in the list that it asks nothing for as long as its agent lives', async () => {
    const facts = { ...emptySession('s1', 'Title'), mode: 'bypassPermissions' };
    const row = { open: false, unread: false, now: Date.now(), chosen: null, onclick: () => {} };
    const { redraw } = await draw(SessionRow, { row: { session: { ...facts, alive: true }, stored: null }, ...row });
    expect(screen.getByRole('button').textContent).toContain('Skips permissions');
    await redraw({ row: { session: { ...facts, alive: false }, stored: null } });
    expect(screen.getByRole('button').textContent).not.toContain('Skips permissions');
  });
});
