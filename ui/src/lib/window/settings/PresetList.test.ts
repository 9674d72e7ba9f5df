import { screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import { draw } from '../../../test/draw';
import type { Preset } from '../../bindings/api';
import { NO_OPTIONS } from '../../session/options/form';
import PresetList from './PresetList.svelte';
import { nameProblem, optionWords } from './presets';

const CAREFUL: Preset = {
  name: 'Careful',
  options: { ...NO_OPTIONS, model: 'opus', maxTurns: 1, disallowedTools: ['WebFetch', 'Bash'] },
  projects: ['/home/ada/money', '/home/ada/notes'],
};
const QUICK: Preset = { name: 'Quick', options: NO_OPTIONS, projects: [] };

/** A list whose changes are in effect, as after the settings file was read again. */
async function list(presets: Preset[]) {
  const saved: Preset[][] = [];
  const onpresets = (changed: Preset[]) => {
    saved.push(changed);
    void drawn.redraw({ presets: changed });
  };
  const drawn = await draw(PresetList, { presets, onpresets });
  return { saved, user: userEvent.setup(), button: (name: string) => screen.findByRole('button', { name }) };
}

describe('the presets on the settings page', () => {
  it('are renamed, and never to an empty or a used name', async () => {
    const { saved, user, button } = await list([CAREFUL, QUICK]);
    await user.click(await button('Rename Careful…'));
    const box = await screen.findByRole('textbox', { name: 'New name of Careful' });
    expect(document.activeElement).toBe(box);
    await user.clear(box);
    expect(await button('Rename')).toHaveProperty('disabled', true);
    await user.type(box, ' Quick {Enter}');
    screen.getByText('There is a preset “Quick” already.');
    expect(saved).toEqual([]);
    await user.type(box, 'ly{Enter}');
    expect(saved).toEqual([[{ ...CAREFUL, name: 'Quick ly' }, QUICK]]);
    expect(document.activeElement).toBe(await button('Rename Quick ly…'));
    await user.click(await button('Rename Quick…'));
    await user.keyboard('x{Escape}');
    expect(screen.queryByRole('textbox')).toBeNull();
    expect(saved).toHaveLength(1);
  });

  it('are removed, and return to their place', async () => {
    const { saved, user, button } = await list([CAREFUL, QUICK]);
    await user.click(await button('Remove Careful'));
    expect(saved.at(-1)).toEqual([QUICK]);
    expect(document.activeElement).toBe(await button('Undo'));
    await user.keyboard('{Enter}');
    expect(saved.at(-1)).toEqual([CAREFUL, QUICK]);
    expect(screen.queryByRole('button', { name: 'Undo' })).toBeNull();
  });

  it('are no longer the default of a project', async () => {
    const { saved, user, button } = await list([QUICK, CAREFUL]);
    await user.click(await button('Remove default: Careful in /home/ada/money'));
    expect(saved).toEqual([[QUICK, { ...CAREFUL, projects: ['/home/ada/notes'] }]]);
  });

  it('say what they change', async () => {
    await list([CAREFUL, QUICK]);
    screen.getByText('Model opus, at most 1 turn, 2 denied tools');
    screen.getByText('The agent’s defaults');
    const all = optionWords({
      model: 'opus',
      fallbackModels: ['a', 'b'],
      effort: 'high',
      systemPrompt: { text: 'x', replace: true },
      maxTurns: 2,
      maxBudgetUsd: 2.5,
      folders: ['/a'],
      allowedTools: ['Read'],
      disallowedTools: ['Bash'],
      mcpConfig: '/m.json',
      receivesMessages: true,
      environment: [{ name: 'A', value: 'secret' }],
      arguments: ['--debug'],
      hibernateMinutes: 0,
    });
    expect(all).toBe(
      'Model opus, 2 fallback models, effort high, another system prompt, at most 2 turns, at most $2.5, ' +
        '1 more folder, 1 allowed tool, 1 denied tool, MCP servers, receives messages of other sessions, ' +
        '1 variable, 1 argument, never hibernates',
    );
    expect(optionWords({ ...NO_OPTIONS, hibernateMinutes: 5 })).toBe('Hibernates after 5 minutes');
    expect(nameProblem([QUICK], 0, 'Quick')).toBeNull();
  });

  it('say where one is saved if there is none', async () => {
    await list([]);
    screen.getByText('None. Save one in the options of a session.');
  });
});
