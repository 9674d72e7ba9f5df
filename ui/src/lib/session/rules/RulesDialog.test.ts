import { screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it, vi } from 'vitest';

import type { RuleFile, RuleFileList, RulePlace, RulesInForce, Session } from '../../bindings/api';
import { draw } from '../../../test/draw';
import { emptySession } from '../../../fake/facts';
import { asking, RULE_FILES, RULES, withoutRule } from '../../../fake/rules';
import RulesDialog from './RulesDialog.svelte';

const LOCAL = RULE_FILES.files[0] as RuleFile;
const NO_FILES: RuleFileList = { ...RULE_FILES, files: [] };

interface Facts extends Partial<Session> {
  machine?: string | null;
}

/** The dialog of a session, whose files lose and regain rules. */
async function dialog(rules: RulesInForce | null, { machine = null, ...facts }: Facts = {}, files = NO_FILES) {
  const onask = vi.fn();
  const session = { ...emptySession('s1', 'Title'), alive: true, rules, ...facts };
  let now = files;
  const onread = vi.fn(() => Promise.resolve<RuleFileList | null>(now));
  const onremove = vi.fn((place: RulePlace) => {
    now = withoutRule(now, place);
    return Promise.resolve<number | null>(7);
  });
  const onrestore = vi.fn(() => {
    now = files;
    return Promise.resolve(true);
  });
  const onsuspend = vi.fn(() => Promise.resolve(true));
  const acts = { onask, onread, onremove, onrestore, onsuspend };
  const { redraw } = await draw(RulesDialog, { session, machine, ...acts, onclose: () => {} });
  /** The agent lists other rules. */
  const list = (rules: RulesInForce) => redraw({ session: { ...session, rules } });
  return { ...acts, list, user: userEvent.setup() };
}

const regions = () => screen.getAllByRole('region', { hidden: true });
const heads = () => regions().map((region) => region.querySelector('h3')?.textContent);
const removes = () => screen.queryAllByRole('button', { name: /^Remove /, hidden: true });
const button = (name: string) => screen.getByRole('button', { name, hidden: true });

describe('the rules in force', () => {
  it('are asked for anew, and shown exactly with where they come from', async () => {
    const { onask } = await dialog(RULES);
    expect(onask).toHaveBeenCalledOnce();
    expect(heads()).toEqual([
      'This session Added here, until the agent stops',
      'You, in this project .claude/settings.local.json',
      'You, in all projects Your own settings',
      'Additional folders The agent may work there too',
    ]);
    const mine = within(regions()[2] as HTMLElement).getAllByRole('listitem', { hidden: true });
    expect(mine.map((item) => item.textContent?.trim())).toEqual(['Denies Read(./.env)', 'Asks Bash(git push *)']);
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
    const { onask } = await dialog(RULES, { alive: false });
    expect(onask).not.toHaveBeenCalled();
    expect(screen.queryAllByRole('region', { hidden: true })).toEqual([]);
  });
});

describe('rules by file', () => {
  it('stand under the path of their file, also while no agent runs', async () => {
    await dialog(null, { alive: false }, RULE_FILES);
    await expect.poll(() => heads()).toHaveLength(3);
    expect(heads()[1]).toBe('Everyone in this project /home/ines/code/ledger/.claude/settings.json');
    expect(regions()[1]?.textContent).toContain('changes it for everyone');
    expect(removes()).toHaveLength(5);
  });

  it('are removed with an undo that puts them back', async () => {
    const { onremove, onrestore, onask, user } = await dialog(RULES, {}, RULE_FILES);
    await expect.poll(() => removes()).toHaveLength(6);
    await user.click(button('Remove Bash(git status)'));
    expect(onremove).toHaveBeenCalledWith({
      path: '/home/ines/code/ledger/.claude/settings.local.json',
      effect: 'allow',
      rule: 'Bash(git status)',
    });
    await expect.poll(() => screen.queryByText(/^Removed:/)?.textContent).toBe('Removed: Bash(git status)');
    expect(onask).toHaveBeenCalledTimes(2);
    // The button with the focus is gone, and the keyboard goes on at the undo.
    expect(document.activeElement).toBe(button('Undo'));
    expect(screen.getByText(/also asks about narrower rules/)).toBeTruthy();
    await user.keyboard('{Enter}');
    expect(onrestore).toHaveBeenCalledWith(7);
    await expect.poll(() => screen.queryByText(/^Removed:/)).toBeNull();
    expect(removes()).toHaveLength(6);
    await expect.poll(() => document.activeElement).toBe(button('Remove Bash(git status)'));
  });

  it('are removed one at a time, and the button says so', async () => {
    const { onremove, user } = await dialog(RULES, {}, RULE_FILES);
    await expect.poll(() => removes()).toHaveLength(6);
    let resolve: (number: number) => void = () => {};
    onremove.mockReturnValue(new Promise((done) => (resolve = done)));
    await user.click(button('Remove Bash(git status)'));
    await user.click(button('Remove WebFetch'));
    expect(onremove).toHaveBeenCalledOnce();
    expect(removes().every((one) => one.getAttribute('aria-busy') === 'true')).toBe(true);
    resolve(8);
    await expect.poll(() => document.activeElement?.textContent).toBe('Undo');
    expect(removes().some((one) => one.hasAttribute('aria-busy'))).toBe(false);
  });

  it('show every character of what was removed', async () => {
    const rule = { effect: 'allow', rule: 'Bash(ls\u202e)', forms: [] } as const;
    const files = { ...RULE_FILES, files: [{ ...LOCAL, rules: [{ ...rule, forms: [] }] }] };
    const { user } = await dialog({ ...RULES, rules: [], directories: [] }, {}, files);
    await expect.poll(() => removes()).toHaveLength(1);
    await user.click(removes()[0] as HTMLElement);
    await expect.poll(() => screen.queryByText(/^Removed:/)?.textContent).toContain('202E');
  });

  it('stay where the removal failed', async () => {
    const { onremove, user } = await dialog(RULES, {}, RULE_FILES);
    await expect.poll(() => removes()).toHaveLength(6);
    await user.click(button('Remove Bash(git status)'));
    await expect.poll(() => document.activeElement?.textContent).toBe('Undo');
    onremove.mockResolvedValue(null);
    await user.click(button('Remove Read(./.env)'));
    await expect.poll(() => button('Remove Read(./.env)').hasAttribute('aria-busy')).toBe(false);
    expect(screen.queryByText(/^Removed:/)?.textContent).toBe('Removed: Bash(git status)');
    expect(removes()).toHaveLength(5);
    expect(document.activeElement).toBe(button('Remove Read(./.env)'));
  });

  it('of a folder that is not in effect offer nothing and say why', async () => {
    await dialog({ ...RULES, rules: [] }, { restricted: true }, { ...RULE_FILES, folder: 'restricted' });
    await expect.poll(() => heads()).toHaveLength(4);
    expect(regions()[0]?.textContent).toContain('Not in effect');
    expect(removes().map((one) => one.getAttribute('aria-label'))).toEqual([
      'Remove Read(./.env)',
      'Remove Bash(git push *)',
    ]);
  });

  it('are matched with the forms of the copy, and what is in no file keeps its origin', async () => {
    const rule = { effect: 'allow', rule: 'Read(/src/**)', forms: ['Read(//home/ines/code/ledger/src/**)'] } as const;
    const files = { ...RULE_FILES, files: [{ ...LOCAL, rules: [{ ...rule, forms: [...rule.forms] }] }] };
    const listed = (text: string) => ({ effect: 'allow', rule: text, origin: 'folder' }) as const;
    await dialog({ ...RULES, rules: [listed(rule.forms[0]), listed('Bash(old)')], directories: [] }, {}, files);
    await expect.poll(() => heads()).toHaveLength(2);
    expect(regions()[0]?.textContent).not.toContain('Not in effect');
    expect(heads()[1]).toContain('as you trusted them');
    expect(removes()).toHaveLength(1);
  });

  it.each(['kept', 'undecided'] as const)(
    'of a folder that is %s leave what its agent has in effect',
    async (folder) => {
      const copied = { effect: 'allow', rule: 'Bash(git status)', origin: 'folder' } as const;
      await dialog({ ...RULES, rules: [copied], directories: [] }, {}, { ...RULE_FILES, folder });
      await expect.poll(() => heads()).toHaveLength(4);
      expect(regions()[0]?.textContent).toContain('Not in effect');
      expect(heads()[3]).toContain('as you trusted them');
      expect(regions()[3]?.textContent).toContain('Bash(git status)');
      expect(regions()[3]?.textContent).not.toContain('Not in effect');
    },
  );

  it('that the agent does not list yet are marked', async () => {
    await dialog({ ...RULES, rules: [] }, {}, RULE_FILES);
    await expect.poll(() => heads()).toHaveLength(4);
    expect(regions()[0]?.textContent).toContain('Not in effect yet');
  });

  it('say why a file was not read, and why policy and arguments are fixed', async () => {
    const files = { ...RULE_FILES, files: [{ ...LOCAL, rules: [], problem: 'line 2, column 3: expected a value' }] };
    const fixed = (['policy', 'arguments'] as const).map((origin) => ({
      effect: 'allow' as const,
      rule: 'Read',
      origin,
    }));
    await dialog({ ...RULES, rules: fixed }, {}, files);
    await expect.poll(() => regions()[0]?.textContent).toContain('line 2, column 3: expected a value');
    expect(screen.getByText(/Only your organisation/)).toBeTruthy();
    expect(screen.getByText(/in the session options/)).toBeTruthy();
    expect(removes()).toEqual([]);
  });
});

describe('a rule of the session', () => {
  it('is taken back by the agent, and given again', async () => {
    const { onsuspend, onremove, list, user } = await dialog(RULES);
    await user.click(button('Remove Bash(cargo test *)'));
    expect(onsuspend).toHaveBeenCalledWith('Bash(cargo test *)', true);
    expect(onremove).not.toHaveBeenCalled();
    // The agent has not confirmed it, and may refuse.
    await expect.poll(() => removes()[0]?.hasAttribute('aria-busy')).toBe(false);
    expect(screen.queryByText(/^Removed:/)).toBeNull();
    await list(asking(RULES, ['Bash(cargo test *)']));
    expect(screen.getByText(/^Removed:/).textContent).toBe('Removed: Bash(cargo test *)');
    await expect.poll(() => document.activeElement?.textContent).toBe('Undo');
    await user.click(await screen.findByRole('button', { name: 'Undo', hidden: true }));
    expect(onsuspend).toHaveBeenLastCalledWith('Bash(cargo test *)', false);
    await expect.poll(() => document.activeElement?.tagName).toBe('DIALOG');
  });

  it('that asks was taken back already', async () => {
    await dialog({ ...RULES, rules: [{ effect: 'ask', rule: 'Bash(cargo test *)', origin: 'session' }] });
    expect(removes()).toEqual([]);
  });
});

it('of another agent are shown, and nothing can be removed', async () => {
  const { onread } = await dialog(RULES, { agent: 'acp' }, RULE_FILES);
  expect(onread).not.toHaveBeenCalled();
  expect(regions()).toHaveLength(4);
  expect(removes()).toEqual([]);
});

it('reads no files of another machine, and says how they are changed', async () => {
  const { onread } = await dialog(RULES, { machine: 'buildbox' }, RULE_FILES);
  expect(onread).not.toHaveBeenCalled();
  expect(screen.getByText(/files of these rules are on buildbox/)).toBeTruthy();
});
