import { screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import { draw } from '../../../test/draw';
import type { CommandError, OtherAgent } from '../../bindings/api';
import { AGENTS, AGENTS_THERE, PROFILES } from '../../../fake/agents';
import type { AgentOrProfile } from '../../host/host';
import AgentsDialog from './AgentsDialog.svelte';

async function dialog(
  agents: readonly OtherAgent[] | null,
  refusal: CommandError | null = null,
  folder = '/home/ada/money',
) {
  const calls: string[] = [];
  await draw(AgentsDialog, {
    load: () => Promise.resolve(agents === null ? null : { agents: [...agents], profiles: [] }),
    profiles: PROFILES,
    folder,
    machine: null,
    onpick: (wanted: AgentOrProfile) => {
      calls.push('agent' in wanted ? wanted.agent : `profile ${wanted.profile}`);
      return Promise.resolve(refusal);
    },
    onclaude: () => calls.push('claude code'),
    onclose: () => calls.push('close'),
  });
  const shown = within(screen.getByRole('dialog', { name: 'New session with…', hidden: true }));
  const button = (name: RegExp) => shown.getByRole('button', { name, hidden: true });
  return { calls, shown, button, user: userEvent.setup() };
}

describe('the agents of a new session', () => {
  it('can be chosen where they are, and closes the dialog when there is a session', async () => {
    const { calls, shown, button, user } = await dialog(AGENTS);
    await shown.findByText('You cannot change the agent later.');
    await user.click(button(/^Gemini CLI/u));
    expect(calls).toEqual(['gemini', 'close']);
    await user.click(button(/^Claude Code/u));
    expect(calls.at(-1)).toBe('claude code');
  });

  it('say how to install them or why they cannot run, and are not started', async () => {
    const { shown } = await dialog(AGENTS);
    await shown.findByText('npm install -g opencode-ai');
    shown.getByText('Qwen Code needs Node 22 or newer, and this machine has v20.20.2.');
    for (const name of [/^Qwen/u, /^opencode/u, /^goose/u]) {
      expect(shown.queryByRole('button', { name, hidden: true })).toBeNull();
    }
    shown.getByText(/^Starts only in a folder that you trust with it. Copilot CLI runs the hooks/u);
  });

  it('say what they do not report and offer', async () => {
    const { shown, button } = await dialog(AGENTS);
    await shown.findByText('You cannot change the agent later.');
    const words = (name: RegExp) => button(name).closest('li')?.textContent ?? '';
    expect(words(/^Gemini CLI/u)).toContain('Does not report: the input of its calls, the output of commands,');
    expect(words(/^Kimi CLI/u)).not.toContain('Does not report');
    for (const agent of [/^Gemini CLI/u, /^Copilot CLI/u, /^Kimi CLI/u]) {
      expect(words(agent)).toContain('Does not offer: rewind, forks, editing a call before it runs,');
    }
    expect(words(/^Claude Code/u)).not.toContain('Does not');
  });

  it('show why there is no session, and stay', async () => {
    const message = 'Copilot CLI was not found.';
    const { calls, shown, button, user } = await dialog(AGENTS, { code: 'agentNotFound', message, detail: 'PATH' });
    await shown.findByText('You cannot change the agent later.');
    await user.click(button(/^Copilot CLI/u));
    expect(shown.getByRole('alert', { hidden: true }).textContent).toContain(message);
    expect(calls).toEqual(['copilot']);
  });

  it('are the profiles too, each with what it starts and never a value', async () => {
    const { calls, shown, button, user } = await dialog(AGENTS);
    await shown.findByText('You cannot change the agent later.');
    const words = (name: RegExp) => button(name).closest('li')?.textContent ?? '';
    expect(words(/^Work/u)).toContain('Claude Code · sets CLAUDE_CONFIG_DIR, TEAM_WORD · model opus');
    expect(words(/^Gemini at work/u)).toContain('Gemini CLI · program /opt/gemini');
    expect(words(/^Mine/u)).toContain('Runs my-agent --acp');
    expect(words(/^Mine/u)).toContain('Starts only in a folder that you trust with it.');
    expect(document.body.textContent).not.toContain('a-secret');
    await user.click(button(/^Mine/u));
    expect(calls).toEqual(['profile Mine', 'close']);
  });

  it('say which profile is the default of the project', async () => {
    const { shown, button } = await dialog(AGENTS, null, '/home/ada/office');
    await shown.findByText('You cannot change the agent later.');
    expect(button(/^Work/u).closest('li')?.textContent).toContain('The default of this project');
    expect(button(/^Claude Code/u).closest('li')?.textContent).toContain('Without a profile');
    expect(shown.queryByText('The default')).toBeNull();
  });

  it('are those of another machine for a project there', async () => {
    const calls: string[] = [];
    await draw(AgentsDialog, {
      load: () => Promise.resolve(AGENTS_THERE),
      profiles: PROFILES,
      folder: 'box:/home/ines/ledger',
      machine: 'box',
      onpick: (wanted: AgentOrProfile) => {
        calls.push(JSON.stringify(wanted));
        return Promise.resolve(null);
      },
      onclaude: () => calls.push('claude code'),
      onclose: () => {},
    });
    const shown = within(screen.getByRole('dialog', { name: 'New session with…', hidden: true }));
    await shown.findByRole('list', { name: 'Agents on box', hidden: true });
    await shown.findByText('Not found on box');
    const names = [...document.querySelectorAll('.choice .name')].map((name) => name.textContent);
    expect(names).toEqual([
      'Gemini in the lab',
      'Second account',
      'Claude Code',
      'Gemini CLI',
      'Kimi CLI',
      'Demo agent (ACP)',
    ]);
    expect(shown.queryByText('The default of this project')).toBeNull();
    await userEvent.click(shown.getByRole('button', { name: /^Second account/u, hidden: true }));
    expect(calls).toEqual(['{"profile":"Second account"}']);
  });

  it('can be searched again when they could not be read', async () => {
    const { shown, button } = await dialog(null);
    await shown.findByText('The agents could not be read.');
    expect(button(/^Search again/u).getAttribute('aria-busy')).toBeNull();
  });
});
