import { cleanup, screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { tick } from 'svelte';
import { describe, expect, it, vi } from 'vitest';

import type { AgentCapabilities, AgentOption, Command, PermissionMode, Session } from '../bindings/api';
import { draw } from '../../test/draw';
import { CAPABILITIES, emptySession } from '../host/fake/facts';
import Header from './Header.svelte';

async function header(facts: Partial<Session> = {}) {
  const commands: Command[] = [];
  const nothing = () => {};
  let withoutAsking = 0;
  const { clock, host, project } = await draw(Header, {
    session: { ...emptySession('s1', 'Title'), alive: true, ...facts },
    hasSide: false,
    ontogglesessions: nothing,
    ontoggleside: nothing,
    onmodel: (model: string) => commands.push({ type: 'setModel', model }),
    onmode: (mode: PermissionMode) => commands.push({ type: 'setMode', mode }),
    onwithoutasking: () => (withoutAsking += 1),
    onswitch: (command: Command) => commands.push(command),
    onrename: nothing,
    oncontext: nothing,
    acts: [],
    onact: nothing,
  });
  return { clock, commands, host, project, user: userEvent.setup(), withoutAsking: () => withoutAsking };
}

async function choices(user: ReturnType<typeof userEvent.setup>, label: string) {
  await user.click(screen.getByRole('button', { name: new RegExp(label) }));
  await tick();
  const menu = within(screen.getByRole('menu'));
  return [...menu.queryAllByRole('menuitemradio'), ...menu.queryAllByRole('menuitem')];
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

  it.each([
    ['default', 'claude-opus-5-5', 'Opus 5.5'],
    [null, 'claude-opus-5-5', 'Opus 5.5'],
    ['claude-opus-5-5', 'claude-opus-5-5', 'Opus 5.5'],
    ['default', 'claude-sonnet-4-5-20250929[1m]', 'Sonnet 4.5 (1M)'],
    ['default', 'claude-haiku-5', 'Haiku 5'],
    ['default', 'vendor.model-x', 'Default (recommended)'],
    ['default', null, 'Default (recommended)'],
    ['claude-fable-6-20270101', 'claude-opus-5-5', 'Fable 6'],
    ['a-model-of-ours', 'claude-opus-5-5', 'a-model-of-ours'],
  ])('names the model %s, in full %s, as “%s”', async (model, resolved, label) => {
    const known = { description: '', effortLevels: [], canStopThinking: false, canDecide: true };
    await header({ model, models: [{ ...known, name: 'default', label: 'Default (recommended)', resolved }] });
    expect(screen.getByRole('button', { name: /^Model:/ }).textContent.trim()).toBe(`Model: ${label}`);
  });

  describe('settings that an agent offers itself', () => {
    const choice = (id: string, name: string) => ({ id, name, description: '' });
    const mode: AgentOption = {
      id: 'mode',
      name: 'Mode',
      description: '',
      kind: 'mode',
      value: 'yolo',
      choices: [choice('default', 'Ask'), choice('plan', 'Plan'), choice('yolo', 'All')],
    };
    const fast: AgentOption = {
      id: 'fast',
      name: 'Fast mode',
      description: '',
      kind: 'switch',
      value: 'true',
      choices: [],
    };
    const capabilities = { ...CAPABILITIES, modes: [], withoutAsking: false };
    const acp: Partial<Session> = { agent: 'acp', capabilities };

    it('shows the mode in force in the agent’s words, and sends the one that is picked', async () => {
      const { commands, user } = await header({ ...acp, mode: 'yolo', agentOptions: [mode] });
      expect(screen.getAllByRole('button', { name: /^Permission mode/u })).toHaveLength(1);
      screen.getByRole('button', { name: 'Permission mode: All' });
      const items = await choices(user, 'Permission mode');
      await user.click(items[1] as HTMLElement);
      expect(commands).toEqual([{ type: 'setAgentOption', id: 'mode', value: 'plan' }]);
    });

    it('turns a switch over', async () => {
      const { commands, user } = await header({ ...acp, agentOptions: [fast] });
      const [item] = await choices(user, 'Agent settings: Fast mode');
      expect(item?.textContent).toContain('Turn off: Fast mode');
      await user.click(item as HTMLElement);
      expect(commands).toEqual([{ type: 'setAgentOption', id: 'fast', value: 'false' }]);
    });

    it('shows none for an agent that offers none', async () => {
      await header({ ...acp, capabilities: { ...capabilities, models: false, effort: false, thinking: false } });
      for (const name of [/^Permission mode/u, /^Agent settings/u, /^Model/u, /^Effort/u, /Context/u]) {
        expect(screen.queryByRole('button', { name })).toBeNull();
      }
    });
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

  it('offers the efforts of the model, and marks the one that counts', async () => {
    const { commands, user } = await header();
    const items = await choices(user, 'Effort');
    expect(items.map((item) => item.textContent.trim())).toEqual(['Low', 'Medium', 'High']);
    expect(items.map((item) => item.getAttribute('aria-checked'))).toEqual(['false', 'true', 'false']);
    await user.click(items[2] as HTMLElement);
    expect(commands).toEqual([{ type: 'setEffort', effort: 'high' }]);
  });

  it('offers to stop thinking where the model can', async () => {
    const { commands, user } = await header({ model: 'haiku', effort: null });
    const items = await choices(user, 'Effort');
    expect(items).toHaveLength(1);
    await user.click(items[0] as HTMLElement);
    expect(commands).toEqual([{ type: 'setThinking', on: false }]);
  });

  it('does not say of an effort that none was chosen before the agent runs', async () => {
    await header({ alive: false, effort: null });
    expect(screen.getByRole('button', { name: /^Effort/ }).textContent).toContain('Default effort');
  });

  it('offers no effort that the agent did not tell of', async () => {
    await header({ models: [] });
    expect(screen.queryByRole('button', { name: /Effort/ })).toBeNull();
  });

  it.each<[string, Partial<AgentCapabilities>, RegExp]>([
    ['modes', { modes: [], withoutAsking: false }, /^Permission mode:/],
    ['models', { models: false }, /^Model:/],
    ['effort levels', { effort: false }, /^Effort:/],
  ])('offers no choice to an agent without %s', async (_, without, name) => {
    await header();
    expect(screen.queryByRole('button', { name })).not.toBeNull();
    cleanup();
    await header({ capabilities: { ...CAPABILITIES, ...without } });
    expect(screen.queryByRole('button', { name })).toBeNull();
    expect(screen.queryByRole('button', { name: 'More' })).not.toBeNull();
  });

  it('offers only the modes of the agent', async () => {
    const { user } = await header({ capabilities: { ...CAPABILITIES, modes: ['default', 'plan'] } });
    const items = await choices(user, 'Permission mode');
    expect(items.map((item) => item.textContent.trim().split(' ')[0])).toEqual(['Ask', 'Plan']);
  });

  it('shows that permissions are skipped, whatever the agent can do', async () => {
    await header({ mode: 'bypassPermissions', capabilities: { ...CAPABILITIES, modes: [] } });
    expect(screen.getByRole('button', { name: /^Permission mode:/ }).textContent).toContain('Skips permissions');
  });

  it('finds the model by its full name', async () => {
    const models = emptySession('', '').models.map((model) => ({ ...model, resolved: `claude-${model.name}-5` }));
    const { user } = await header({ models, model: 'claude-haiku-5', effort: null });
    const items = await choices(user, 'Model');
    expect(items.map((item) => item.getAttribute('aria-checked'))).toEqual(['false', 'false', 'true']);
  });

  it('offers to start without asking only where nothing runs, and switches nothing by it', async () => {
    const offered = (items: HTMLElement[]) => items.find((item) => item.textContent.includes('Skip all permissions'));
    for (const facts of [
      { alive: true },
      { alive: false, status: { type: 'restarting', attempt: 1, at: 0 } as const },
    ]) {
      const running = await header(facts);
      expect(offered(await choices(running.user, 'Permission mode'))).toBeUndefined();
      cleanup();
    }
    const { commands, user, withoutAsking } = await header({ alive: false });
    await user.click(offered(await choices(user, 'Permission mode')) as HTMLElement);
    expect(withoutAsking()).toBe(1);
    expect(commands).toEqual([]);
  });

  it('offers to decide by itself only what can', async () => {
    const { user } = await header({ model: 'haiku' });
    const labels = (await choices(user, 'Permission mode')).map((item) => item.textContent);
    expect(labels.some((label) => label.includes('Automatic'))).toBe(false);
    expect(labels.some((label) => label.includes('Plan first'))).toBe(true);
  });
});
