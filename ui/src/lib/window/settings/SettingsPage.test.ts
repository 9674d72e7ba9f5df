import { fireEvent, screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it, vi } from 'vitest';

import { PROFILES } from '../../../fake/agents';
import { PROJECT, SETTINGS } from '../../../fake/facts';
import { draw } from '../../../test/draw';
import type { CommandError, JsonValue, Preset, Profile, Settings } from '../../bindings/api';
import SettingsPage from './SettingsPage.svelte';
import { withSetting } from './values';

/** The page over a file that takes all values, or says why it does not. */
async function page(settings: Settings = SETTINGS.settings, refusal: CommandError | null = null) {
  let view = { ...SETTINGS, settings };
  const saved: [string, JsonValue][] = [];
  const onset = vi.fn(async (key: string, value: JsonValue) => {
    saved.push([key, value]);
    if (refusal === null) await change({ settings: withSetting(view.settings, key, value) });
    return refusal;
  });
  const profiles: [string | null, Profile | null][] = [];
  const done = { closed: 0 };
  const props = {
    view,
    agent: PROJECT.agent,
    appVersion: '0.1.0',
    project: 'ledger',
    trust: null,
    ontrust: () => {},
    oncheck: () => Promise.resolve(null),
    ondoctor: () => {},
    onset,
    onpresets: (_: Preset[]) => Promise.resolve(null),
    folder: PROJECT.path,
    onprofile: (was: string | null, profile: Profile | null) => {
      profiles.push([was, profile]);
      return Promise.resolve(null);
    },
    onkeys: () => {},
    ontest: () => Promise.resolve([]),
    onfile: () => {},
    onclose: () => (done.closed += 1),
  };
  const drawn = await draw(SettingsPage, props);
  const change = async (changes: Partial<typeof view>) => {
    view = { ...view, ...changes };
    await drawn.redraw({ view });
  };
  const user = userEvent.setup();
  const press = (key: string, init = {}) =>
    fireEvent.keyDown(document.activeElement ?? document.body, { key, ...init });
  return { saved, profiles, done, change, user, press, undo: () => press('z', { ctrlKey: true }) };
}

const rowOf = (name: string) => screen.getByRole('group', { name });
const field = (name: string) => screen.getByRole<HTMLInputElement>('textbox', { name });
const size = () => screen.getByRole<HTMLInputElement>('spinbutton', { name: 'Text size' });
const section = (name: string) =>
  within(screen.getByRole('navigation', { name: 'Sections' })).getByRole('button', { name: new RegExp(`^${name}`) });

describe('the settings', () => {
  it('are saved at once, by switch, choice, step and list', async () => {
    const { saved, user } = await page();
    await user.click(screen.getByRole('switch', { name: 'Tray icon' }));
    await user.click(screen.getByRole('radio', { name: 'Dark' }));
    await user.click(screen.getByRole('radio', { name: 'Rose' }));
    await user.click(screen.getByRole('radio', { name: 'Compact' }));
    await user.click(screen.getByRole('button', { name: 'More: Text size' }));
    await user.selectOptions(screen.getByRole('combobox', { name: 'Permission mode' }), 'Plan first');
    await user.click(screen.getByRole('switch', { name: 'Sound: Fails' }));
    await user.selectOptions(screen.getByRole('combobox', { name: 'Urgency: Needs you' }), 'Critical');
    expect(saved).toEqual([
      ['tray', false],
      ['theme', 'dark'],
      ['accent', 'rose'],
      ['density', 'compact'],
      ['fonts.size', 15],
      ['agent.mode', 'plan'],
      ['bell.failed.sound', true],
      ['bell.needsYou.urgency', 'critical'],
    ]);
    expect(screen.queryByRole('button', { name: /^Apply/ })).toBeNull();
  });

  it('take a typed value by Enter or when the field is left, and once', async () => {
    const { saved, user } = await page();
    await user.type(field('Model'), ' opus {Enter}');
    await user.tab();
    expect(saved).toEqual([['agent.model', 'opus']]);
    await user.clear(field('Model'));
    await user.tab();
    expect(saved.at(-1)).toEqual(['agent.model', null]);
    await user.type(field('Run a command: Needs you'), "ntfy publish 'my desk'");
    expect(screen.getByText('my desk', { selector: 'code' })).toBeTruthy();
    await user.tab();
    expect(saved.at(-1)).toEqual(['bell.needsYou.command', { program: 'ntfy', args: ['publish', 'my desk'] }]);
    expect(saved).toHaveLength(3);
  });

  it('step by key and within the limits', async () => {
    const { saved, user, press } = await page(withSetting(SETTINGS.settings, 'zoom', 195));
    screen.getByRole('spinbutton', { name: 'Zoom' }).focus();
    await press('ArrowUp');
    await press('ArrowDown');
    await user.click(screen.getByRole('button', { name: 'Less: Text size' }));
    expect(saved).toEqual([
      ['zoom', 200],
      ['zoom', 190],
      ['fonts.size', 13],
    ]);
  });

  it('keep a wrong value in its field, and say what is allowed', async () => {
    const { saved, user, done } = await page();
    await user.clear(size());
    await user.type(size(), '900{Enter}');
    expect(size().value).toBe('900');
    expect(size().getAttribute('aria-invalid')).toBe('true');
    expect(screen.getByRole('alert').textContent).toBe('A whole number from 10 to 24.');
    await user.type(field('Editor'), "kitty 'vim");
    await user.tab();
    expect(within(rowOf('Editor')).getByRole('alert').textContent).toBe('A quote is not closed.');
    expect(saved).toEqual([]);
    await user.click(size());
    await user.keyboard('{Escape}');
    expect(size().value).toBe('14 px');
    expect(within(rowOf('Text size')).queryByRole('alert')).toBeNull();
    expect(done.closed).toBe(0);
  });

  it('show the value in use after a refusal, and the reason', async () => {
    const refusal: CommandError = { code: 'refused', message: 'You did not confirm the change.', detail: null };
    const { saved, user } = await page(SETTINGS.settings, refusal);
    const tray = screen.getByRole<HTMLInputElement>('switch', { name: 'Tray icon' });
    await user.click(tray);
    expect(tray.checked).toBe(true);
    expect(within(rowOf('Tray icon')).getByRole('alert').textContent).toBe('You did not confirm the change.');
    await user.type(field('Editor'), 'vi{Enter}');
    await user.tab();
    // Leaving the field does not ask again.
    expect(saved.filter(([key]) => key === 'editor')).toHaveLength(1);
    expect(field('Editor').value).toBe('vi');
  });

  it('are marked, counted and reset if they were changed', async () => {
    const changed = withSetting(withSetting(SETTINGS.settings, 'fonts.size', 16), 'bell.needsYou.sound', true);
    const { saved, user, press } = await page(withSetting(changed, 'bell.needsYou.on', false));
    expect(section('Appearance').getAttribute('aria-label')).toBe('Appearance, 1 changed');
    expect(section('Notifications').getAttribute('aria-label')).toBe('Notifications, 2 changed');
    expect(section('Keyboard').getAttribute('aria-label')).toBe('Keyboard');
    await user.click(screen.getByRole('button', { name: 'Reset to 14 px: Text size' }));
    expect(size().value).toBe('14 px');
    // The button is gone, and the focus is on the control.
    await expect.poll(() => document.activeElement).toBe(size());
    expect(within(rowOf('Text size')).queryByRole('img', { name: 'Changed' })).toBeNull();
    screen.getByRole('switch', { name: 'Notify: Needs you' }).focus();
    await press('Delete');
    await user.click(screen.getByRole('button', { name: 'Reset 1: Needs you' }));
    await expect.poll(() => document.activeElement).toBe(screen.getByRole('switch', { name: 'Notify: Needs you' }));
    expect(saved).toEqual([
      ['fonts.size', 14],
      ['bell.needsYou.on', true],
      ['bell.needsYou.sound', false],
    ]);
    expect(section('Notifications').getAttribute('aria-label')).toBe('Notifications');
  });

  it('are undone one by one, also a reset of several and a profile', async () => {
    const changed = withSetting(withSetting(SETTINGS.settings, 'bell.failed.on', false), 'bell.failed.sound', true);
    const { saved, profiles, user, undo } = await page(withSetting(changed, 'agent.profiles', PROFILES as never));
    await user.click(screen.getByRole('radio', { name: 'Dark' }));
    await user.click(screen.getByRole('button', { name: 'Reset 2: Fails' }));
    await user.click(screen.getByRole('button', { name: 'Remove Work…' }));
    await user.click(screen.getByRole('button', { name: 'Remove profile' }));
    saved.length = 0;
    await undo();
    await expect.poll(() => screen.getByText('Undone: Profiles')).toBeTruthy();
    expect(profiles.at(-1)).toEqual([null, PROFILES.find(({ name }) => name === 'Work')]);
    await undo();
    await expect.poll(() => screen.getByText('Undone: Fails')).toBeTruthy();
    await undo();
    await expect.poll(() => screen.getByText('Undone: Theme')).toBeTruthy();
    expect(saved).toEqual([
      ['bell.failed.on', false],
      ['bell.failed.sound', true],
      ['theme', 'system'],
    ]);
    await undo();
    await expect.poll(() => screen.getByText('Nothing to undo')).toBeTruthy();
  });

  it('leave Ctrl+Z to a field in which something is typed', async () => {
    const { saved, user, undo } = await page();
    await user.click(screen.getByRole('radio', { name: 'Dark' }));
    await user.type(field('Model'), 'op');
    await undo();
    expect(saved).toEqual([['theme', 'dark']]);
    await user.keyboard('{Escape}');
    await undo();
    await expect.poll(() => saved.at(-1)).toEqual(['theme', 'system']);
  });

  it('are searched by typing, with the matches marked', async () => {
    const { user, press } = await page();
    section('Asking').focus();
    await user.keyboard('t');
    const box = screen.getByRole<HTMLInputElement>('searchbox', { name: 'Search settings' });
    expect(document.activeElement).toBe(box);
    await user.clear(box);
    await user.type(box, 'sound fail');
    expect(screen.getAllByRole('heading', { level: 2 }).map((heading) => heading.textContent)).toEqual([
      'Notifications',
    ]);
    expect([...document.querySelectorAll('mark')].map((mark) => mark.textContent)).toEqual(['Sound', 'Fail']);
    await user.clear(box);
    await user.type(box, 'wombat');
    expect(screen.getByText(/No setting matches “wombat”/)).toBeTruthy();
    await user.click(screen.getByRole('button', { name: 'Clear' }));
    expect(document.activeElement).toBe(box);
    expect(screen.getAllByRole('heading', { level: 2 })).toHaveLength(8);
    size().focus();
    await press('f', { ctrlKey: true });
    expect(document.activeElement).toBe(box);
  });

  it('have sections that the arrows move through', async () => {
    const { user } = await page();
    await user.click(section('Appearance'));
    await user.keyboard('{ArrowDown}{ArrowDown}');
    expect(document.activeElement).toBe(section('Notifications'));
    expect(section('Notifications').getAttribute('aria-current')).toBe('true');
  });

  it('cannot be changed while the file is broken', async () => {
    const { change, saved, user } = await page();
    const problem = {
      line: 14,
      column: 3,
      message: 'Expected comma. Until it is corrected, the last good settings stay.',
    };
    await change({ problems: [problem], isBroken: true });
    expect(screen.getByRole('region', { name: 'Settings file' }).textContent).toContain('Line 14, column 3');
    await user.click(screen.getByRole('switch', { name: 'Tray icon' }));
    expect(saved).toEqual([]);
    await change({ problems: [], isBroken: false });
    await user.click(screen.getByRole('switch', { name: 'Tray icon' }));
    expect(saved).toEqual([['tray', false]]);
  });
});
