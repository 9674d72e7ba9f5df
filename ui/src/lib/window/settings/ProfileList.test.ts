import { screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';

import { draw } from '../../../test/draw';
import type { CommandError, Profile } from '../../bindings/api';
import { PROFILES } from '../../../fake/agents';
import ProfileList from './ProfileList.svelte';
import { editsOf, formOf, NO_PROFILE, profileOf } from './profileForm';

const [WORK, , MINE] = PROFILES as readonly [Profile, Profile, Profile];
const REFUSED: CommandError = {
  code: 'internal',
  message: 'This setting has no such value.',
  detail: '“agent.profiles”: profile “Home”: “program” must be an absolute path.',
};

/** A list whose changes are in effect, as after the settings file was read again. */
async function list(profiles: readonly Profile[]) {
  const saved: [string | null, Profile | null][] = [];
  const state = { now: profiles, refusal: null as CommandError | null };
  const show = async (changed: readonly Profile[]) => {
    state.now = changed;
    await drawn.redraw({ profiles: changed });
  };
  const onprofile = async (was: string | null, profile: Profile | null) => {
    if (state.refusal !== null) return state.refusal;
    saved.push([was, profile]);
    const changed = state.now.flatMap((one) => (one.name !== was ? [one] : profile === null ? [] : [profile]));
    await show(was === null && profile !== null ? [...changed, profile] : changed);
    return null;
  };
  const drawn = await draw(ProfileList, { profiles, folder: '/home/ada/till', onprofile });
  return {
    saved,
    state,
    show,
    user: userEvent.setup(),
    button: (name: string) => screen.findByRole('button', { name }),
    box: (name: string) => screen.findByRole('textbox', { name }),
  };
}

describe('a profile on the settings page', () => {
  it('is added with the keyboard only', async () => {
    const { saved, user, button } = await list([]);
    (await button('Add profile…')).focus();
    await user.keyboard('{Enter}');
    // The name, the agent, the program, then the variables.
    await user.keyboard('Home{Tab}{Tab}/opt/claude{Tab}{Enter}');
    await user.keyboard('CLAUDE_CONFIG_DIR{Tab}/home/ada/.claude-home{Tab}{Tab}{Tab}{Tab}opus{Tab}high{Tab}{Tab}');
    await user.keyboard('/home/ada/till{Tab}');
    expect(document.activeElement).toBe(await button('Cancel'));
    await user.keyboard('{Tab}{Enter}');
    expect(saved).toEqual([
      [
        null,
        {
          ...NO_PROFILE,
          name: 'Home',
          program: '/opt/claude',
          environment: [{ name: 'CLAUDE_CONFIG_DIR', value: '/home/ada/.claude-home' }],
          model: 'opus',
          effort: 'high',
          projects: ['/home/ada/till'],
        },
      ],
    ]);
    expect(document.activeElement).toBe(await button('Edit Home…'));
  });

  it('is edited with the mouse only, and only what was changed is', async () => {
    const { saved, show, user, button } = await list([WORK, MINE]);
    await user.click(await button('Edit Work…'));
    await user.selectOptions(await screen.findByRole('combobox', { name: 'Permission mode' }), 'plan');
    await user.click(await button('Remove variable 2'));
    await user.click(await button('Add this project'));
    expect(screen.queryByRole('button', { name: 'Add this project' })).toBeNull();
    // The file is changed meanwhile: the profile has another model and another place.
    await show([MINE, { ...WORK, model: 'haiku' }]);
    screen.getByText(/settings.json has other values/);
    await user.click(await button('Save profile'));
    expect(saved).toEqual([
      [
        'Work',
        {
          ...WORK,
          model: 'haiku',
          mode: 'plan',
          environment: WORK.environment.slice(0, 1),
          projects: ['/home/ada/office', '/home/ada/till'],
        },
      ],
    ]);
  });

  it('keeps what was typed if it is refused, and shows what the check of the file says', async () => {
    const { saved, state, user, button, box } = await list([WORK]);
    state.refusal = REFUSED;
    await user.click(await button('Edit Work…'));
    await user.clear(await box('Name'));
    await user.type(await box('Name'), 'Home');
    await user.click(await button('Save profile'));
    expect((await screen.findByRole('alert')).textContent).toContain(REFUSED.detail);
    expect(await box('Name')).toHaveProperty('value', 'Home');
    // Esc closes no form with changes.
    await user.keyboard('{Escape}');
    screen.getByText('Save your changes, or cancel them.');
    state.refusal = null;
    await user.click(await button('Save profile'));
    expect(saved).toEqual([['Work', { ...WORK, name: 'Home' }]]);
    expect(document.activeElement).toBe(await button('Edit Home…'));
    await user.click(await button('Edit Home…'));
    await user.keyboard('{Escape}');
    expect(screen.queryByRole('form')).toBeNull();
  });

  it('keeps what was typed if the file has the profile no longer', async () => {
    const { show, user, button, box } = await list([WORK]);
    await user.click(await button('Edit Work…'));
    await user.type(await box('Model'), '-4');
    await show([]);
    expect(await box('Model')).toHaveProperty('value', 'opus-4');
  });

  it('is removed after a question', async () => {
    const { saved, state, user, button } = await list([WORK, MINE]);
    await user.click(await button('Remove Work…'));
    expect(document.activeElement).toBe(await button('Keep'));
    await user.keyboard('{Enter}');
    expect(document.activeElement).toBe(await button('Remove Work…'));
    await user.keyboard('{Enter}');
    state.refusal = REFUSED;
    await user.click(await button('Remove profile'));
    screen.getByRole('alert');
    state.refusal = null;
    await user.click(await button('Remove profile'));
    expect(saved).toEqual([['Work', null]]);
    expect(document.activeElement).toBe(await button('Add profile…'));
  });

  it('shows no value of a variable before the user asks for it', async () => {
    const { user, button, box } = await list([WORK]);
    await user.click(await button('Edit Work…'));
    expect(screen.queryByDisplayValue('a-secret')?.getAttribute('type')).toBe('password');
    await user.click(await screen.findByRole('checkbox', { name: 'Show values' }));
    expect(await box('Value of variable 2')).toHaveProperty('value', 'a-secret');
  });

  it('has another agent by its command', async () => {
    const { saved, user, button, box } = await list([WORK]);
    await user.click(await button('Edit Work…'));
    await user.selectOptions(await screen.findByRole('combobox', { name: 'Agent' }), 'Another agent, by its command');
    expect(screen.queryByRole('combobox', { name: 'Permission mode' })).toBeNull();
    await user.type(await box('Program of the command'), 'my-agent');
    await user.type(await box('Arguments'), '--acp');
    await user.click(await button('Save profile'));
    expect(saved).toEqual([['Work', { ...WORK, command: { program: 'my-agent', args: ['--acp'] } }]]);
  });
});

describe('the form of a profile', () => {
  it('changes nothing by itself', () => {
    const odd: Profile = {
      ...WORK,
      agent: 'later',
      projects: ['/a ', '/b'],
      environment: [{ name: 'A', value: ' x ' }],
    };
    for (const profile of [...PROFILES, odd]) expect(editsOf(profile, formOf(profile))).toEqual({});
    expect(profileOf({ ...formOf(MINE), environment: [{ name: ' ', value: '' }] }).environment).toEqual([]);
    expect(editsOf(odd, { ...formOf(odd), model: '' })).toEqual({ model: null });
  });
});
