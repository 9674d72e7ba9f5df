import { cleanup, screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { tick } from 'svelte';
import { describe, expect, it } from 'vitest';

import type { AgentCapabilities, AgentOption, Command, PermissionMode, Session } from '../../bindings/api';
import { draw } from '../../../test/draw';
import { CAPABILITIES, emptySession } from '../../../fake/facts';
import Pickers from './Pickers.svelte';

async function pickers(facts: Partial<Session> = {}) {
  const commands: Command[] = [];
  let withoutAsking = 0;
  await draw(Pickers, {
    session: { ...emptySession('s1', 'Title'), alive: true, ...facts },
    onmode: (mode: PermissionMode) => commands.push({ type: 'setMode', mode }),
    onwithoutasking: () => (withoutAsking += 1),
    onswitch: (command: Command) => commands.push(command),
  });
  return { commands, user: userEvent.setup(), withoutAsking: () => withoutAsking };
}

async function choices(user: ReturnType<typeof userEvent.setup>, label: string) {
  await user.click(screen.getByRole('button', { name: new RegExp(label) }));
  await tick();
  const menu = within(screen.getByRole('menu'));
  return [...menu.queryAllByRole('menuitemradio'), ...menu.queryAllByRole('menuitem')];
}

describe('the choices of a session', () => {
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
    await pickers({ model, models: [{ ...known, name: 'default', label: 'Default (recommended)', resolved }] });
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
      const { commands, user } = await pickers({ ...acp, mode: 'yolo', agentOptions: [mode] });
      expect(screen.getAllByRole('button', { name: /^Permission mode/u })).toHaveLength(1);
      screen.getByRole('button', { name: 'Permission mode: All' });
      const items = await choices(user, 'Permission mode');
      await user.click(items[1] as HTMLElement);
      expect(commands).toEqual([{ type: 'setAgentOption', id: 'mode', value: 'plan' }]);
    });

    it('turns a switch over', async () => {
      const { commands, user } = await pickers({ ...acp, agentOptions: [fast] });
      const [item] = await choices(user, 'Agent settings: Fast mode');
      expect(item?.textContent).toContain('Turn off: Fast mode');
      await user.click(item as HTMLElement);
      expect(commands).toEqual([{ type: 'setAgentOption', id: 'fast', value: 'false' }]);
    });

    it('shows none for an agent that offers none', async () => {
      await pickers({ ...acp, capabilities: { ...capabilities, models: false, effort: false, thinking: false } });
      for (const name of [/^Permission mode/u, /^Agent settings/u, /^Model/u, /^Effort/u]) {
        expect(screen.queryByRole('button', { name })).toBeNull();
      }
    });
  });

  it('offers the efforts of the model, and marks the one that counts', async () => {
    const { commands, user } = await pickers();
    const items = await choices(user, 'Effort');
    expect(items.map((item) => item.textContent.trim())).toEqual(['Low', 'Medium', 'High']);
    expect(items.map((item) => item.getAttribute('aria-checked'))).toEqual(['false', 'true', 'false']);
    await user.click(items[2] as HTMLElement);
    expect(commands).toEqual([{ type: 'setEffort', effort: 'high' }]);
  });

  it('offers to stop thinking where the model can', async () => {
    const { commands, user } = await pickers({ model: 'haiku', effort: null });
    const items = await choices(user, 'Effort');
    expect(items).toHaveLength(1);
    await user.click(items[0] as HTMLElement);
    expect(commands).toEqual([{ type: 'setThinking', on: false }]);
  });

  it('does not say of an effort that none was chosen before the agent runs', async () => {
    await pickers({ alive: false, effort: null });
    expect(screen.getByRole('button', { name: /^Effort/ }).textContent).toContain('Default effort');
  });

  it('offers no effort that the agent did not tell of', async () => {
    await pickers({ models: [] });
    expect(screen.queryByRole('button', { name: /Effort/ })).toBeNull();
  });

  it.each<[string, Partial<AgentCapabilities>, RegExp]>([
    ['modes', { modes: [], withoutAsking: false }, /^Permission mode:/],
    ['models', { models: false }, /^Model:/],
    ['effort levels', { effort: false }, /^Effort:/],
  ])('offers no choice to an agent without %s', async (_, without, name) => {
    await pickers();
    expect(screen.queryByRole('button', { name })).not.toBeNull();
    cleanup();
    await pickers({ capabilities: { ...CAPABILITIES, ...without } });
    expect(screen.queryByRole('button', { name })).toBeNull();
  });

  it('offers only the modes of the agent', async () => {
    const { user } = await pickers({ capabilities: { ...CAPABILITIES, modes: ['default', 'plan'] } });
    const items = await choices(user, 'Permission mode');
    expect(items.map((item) => item.textContent.trim().split(' ')[0])).toEqual(['Ask', 'Plan']);
  });

  it('shows that permissions are skipped, whatever the agent can do', async () => {
    await pickers({ mode: 'bypassPermissions', capabilities: { ...CAPABILITIES, modes: [] } });
    expect(screen.getByRole('button', { name: /^Permission mode:/ }).textContent).toContain('Skips permissions');
  });

  it('finds the model by its full name', async () => {
    const models = emptySession('', '').models.map((model) => ({ ...model, resolved: `claude-${model.name}-5` }));
    const { user } = await pickers({ models, model: 'claude-haiku-5', effort: null });
    const items = await choices(user, 'Model');
    expect(items.map((item) => item.getAttribute('aria-checked'))).toEqual(['false', 'false', 'true']);
  });

  it('offers to start without asking only where nothing runs, and switches nothing by it', async () => {
    const offered = (items: HTMLElement[]) => items.find((item) => item.textContent.includes('Skip all permissions'));
    for (const facts of [
      { alive: true },
      { alive: false, status: { type: 'restarting', attempt: 1, at: 0 } as const },
    ]) {
      const running = await pickers(facts);
      expect(offered(await choices(running.user, 'Permission mode'))).toBeUndefined();
      cleanup();
    }
    const { commands, user, withoutAsking } = await pickers({ alive: false });
    await user.click(offered(await choices(user, 'Permission mode')) as HTMLElement);
    expect(withoutAsking()).toBe(1);
    expect(commands).toEqual([]);
  });

  it('offers to decide by itself only what can', async () => {
    const { user } = await pickers({ model: 'haiku' });
    const labels = (await choices(user, 'Permission mode')).map((item) => item.textContent);
    expect(labels.some((label) => label.includes('Automatic'))).toBe(false);
    expect(labels.some((label) => label.includes('Plan first'))).toBe(true);
  });
});
