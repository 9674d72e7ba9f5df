import { screen, within } from '@testing-library/svelte';
import { describe, expect, it, vi } from 'vitest';

import type { RulesInForce, Session } from '../../bindings/api';
import { draw } from '../../../test/draw';
import { emptySession } from '../../../fake/facts';
import { RULES } from '../../../fake/rules';
import RulesDialog from './RulesDialog.svelte';

async function dialog(rules: RulesInForce | null, facts: Partial<Session> = {}) {
  const onask = vi.fn();
  const session = { ...emptySession('s1', 'Title'), alive: true, rules, ...facts };
  await draw(RulesDialog, { session, onask, onclose: () => {} });
  return onask;
}

const regions = () => screen.getAllByRole('region', { hidden: true });

describe('the rules in force', () => {
  it('are asked for anew, and shown exactly with where they come from', async () => {
    const onask = await dialog(RULES);
    expect(onask).toHaveBeenCalledOnce();
    expect(regions().map((region) => region.querySelector('h3')?.textContent)).toEqual([
      'This session Added here, until the agent stops',
      'You, in this project .claude/settings.local.json',
      'You, in all projects Your own settings',
      'Additional folders The agent may work there too',
    ]);
    const mine = within(regions()[2] as HTMLElement).getAllByRole('listitem', { hidden: true });
    expect(mine.map((item) => item.textContent)).toEqual(['Denies Read(./.env)', 'Asks Bash(git push *)']);
  });

  it('show every character of a rule', async () => {
    const rule = { effect: 'allow', rule: 'Bash(ls\u202e)', origin: 'user' } as const;
    await dialog({ ...RULES, rules: [rule], directories: [] });
    expect(regions()[0]?.textContent).not.toContain('\u202e');
    expect(regions()[0]?.textContent).toContain('202E');
  });

  it('say what they rest on when the agent does not list them', async () => {
    await dialog({ basis: 'settings', rules: [], directories: [] }, { restricted: true });
    expect(screen.getByText(/does not report which rules are in effect/)).toBeTruthy();
    expect(screen.getByText(/settings are not loaded/)).toBeTruthy();
    expect(screen.getByText(/permission mode alone decides/)).toBeTruthy();
  });

  it('are not claimed for an agent that does not run', async () => {
    const onask = await dialog(RULES, { alive: false });
    expect(onask).not.toHaveBeenCalled();
    expect(screen.queryAllByRole('region', { hidden: true })).toEqual([]);
  });
});
