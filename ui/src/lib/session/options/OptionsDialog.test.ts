import { screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { tick } from 'svelte';
import { describe, expect, it, vi } from 'vitest';

import { draw } from '../../../test/draw';
import type { Preset, Session, SessionOptions } from '../../bindings/api';
import { emptySession } from '../../../fake/facts';
import { reviewOf } from '../../../fake/options';
import { formOf, messagesOf, NO_OPTIONS, optionsOf, withPreset } from './form';
import OptionsDialog from './OptionsDialog.svelte';

const FULL: SessionOptions = {
  model: 'opus',
  fallbackModels: ['sonnet', 'haiku'],
  effort: 'high',
  systemPrompt: { text: 'Be brief.\nBe kind.', replace: true },
  maxTurns: 12,
  maxBudgetUsd: 2.5,
  folders: ['/a b'],
  allowedTools: ['Bash(git status)', 'Read'],
  disallowedTools: ['WebFetch'],
  mcpConfig: '/m.json',
  receivesMessages: true,
  environment: [{ name: 'A', value: 'x=y' }],
  arguments: ['--debug'],
  hibernateMinutes: 0,
};

async function dialog(facts: Partial<Session> = {}, presets: Preset[] = []) {
  const set: SessionOptions[] = [];
  const saved: Preset[][] = [];
  const closed = vi.fn();
  const { clock } = await draw(OptionsDialog, {
    session: { ...emptySession('s1', 'Title'), ...facts },
    presets,
    hibernateMinutes: 30,
    onreview: (options: SessionOptions) => Promise.resolve(reviewOf(options)),
    onset: (options: SessionOptions) => {
      set.push(options);
      return Promise.resolve(true);
    },
    onpresets: (presets: Preset[]) => void saved.push(presets),
    onrestart: vi.fn(),
    onclose: closed,
  });
  const field = (name: string) => screen.getByRole<HTMLInputElement>('textbox', { name });
  const apply = () => screen.getByRole<HTMLButtonElement>('button', { name: 'Apply' });
  /** The engine's answer to what was typed. */
  const checked = async () => {
    await tick();
    clock.advance(200);
    await tick();
  };
  return { set, saved, closed, field, apply, checked, user: userEvent.setup() };
}

/** Its dashes are an element, which no line break parts. */
const argument = (text: string) =>
  within(screen.getByRole('list', { name: 'Program and arguments' })).findByText(
    (_, element) => element?.tagName === 'CODE' && element.textContent === text,
  );

describe('the form of options', () => {
  it('keeps every option', () => {
    expect(optionsOf(formOf(FULL))).toEqual({ options: FULL, problems: [] });
    expect(optionsOf(formOf(NO_OPTIONS))).toEqual({ options: NO_OPTIONS, problems: [] });
  });

  it.each(['x', '1.5', '-1', '1e3', '١'])('refuses %s as a number of turns', (maxTurns) => {
    const { problems } = optionsOf({ ...formOf(NO_OPTIONS), maxTurns });
    expect(problems).toEqual([{ field: 'maxTurns', index: null, message: 'Enter a whole number.' }]);
  });

  it('names the entry of a list that is refused', () => {
    const problems = [{ field: 'folders' as const, index: 0, message: 'The folder does not exist.' }];
    expect(messagesOf(problems, 'folders', FULL)).toEqual(['/a b: The folder does not exist.']);
    expect(messagesOf(problems, 'model', FULL)).toEqual([]);
  });

  it('leaves one default to a project', () => {
    const preset = (name: string, projects: string[]) => ({ name, options: NO_OPTIONS, projects });
    const presets = withPreset([preset('b', ['/p', '/q'])], preset('a', ['/p']), '/p');
    expect(presets).toEqual([preset('b', ['/q']), preset('a', ['/p'])]);
  });
});

describe('the dialog of options', () => {
  it('shows what the agent will be started with, as it is typed, and applies it', async () => {
    const { set, closed, field, apply, checked, user } = await dialog();
    expect(apply().disabled).toBe(true);
    await user.type(field('System prompt'), 'Be brief.');
    await user.type(field('Max turns'), '7');
    await checked();
    expect(await argument('--max-turns=7')).toBeTruthy();
    expect(await argument('--append-system-prompt=Be brief.')).toBeTruthy();
    await user.click(apply());
    expect(set).toEqual([{ ...NO_OPTIONS, systemPrompt: { text: 'Be brief.', replace: false }, maxTurns: 7 }]);
    await tick();
    expect(closed).toHaveBeenCalled();
  });

  it('is applied with Enter in a field', async () => {
    const { set, field, user } = await dialog();
    await user.type(field('Max turns'), '3{Enter}');
    expect(set.map((options) => options.maxTurns)).toEqual([3]);
  });

  it('says beside the field what is refused, and applies nothing', async () => {
    const { set, field, apply, checked, user } = await dialog();
    await user.type(field('Arguments'), '--dangerously-skip-permissions');
    await checked();
    const problem = await screen.findByRole('alert');
    expect(problem.textContent).toContain('--dangerously-skip-permissions is not possible');
    expect(apply().disabled).toBe(true);
    await user.type(field('Max turns'), '3{Enter}');
    expect(set).toEqual([]);
  });

  it('warns about a broad rule', async () => {
    const { field, apply, checked, user } = await dialog();
    await user.type(field('Allowed tools'), 'Bash');
    await checked();
    expect(await screen.findByText(/Every command runs without asking/)).toBeTruthy();
    expect(apply().disabled).toBe(false);
  });

  it('says that options wait for the next start', async () => {
    await dialog({ alive: true, optionsWait: true });
    expect(screen.getByRole('status').textContent).toContain('take effect at its next start');
  });

  it('loads, saves and removes presets', async () => {
    const session = emptySession('s1', 'Title');
    const presets = [{ name: 'Careful', options: FULL, projects: [session.project] }];
    const { saved, field, user } = await dialog({}, presets);
    await user.selectOptions(screen.getByRole('combobox', { name: 'Preset' }), 'Careful');
    expect(field('Max turns').value).toBe('12');
    expect(screen.getByRole<HTMLInputElement>('checkbox', { name: /New sessions/ }).checked).toBe(true);
    await user.clear(field('Max turns'));
    await user.clear(field('Preset name'));
    await user.type(field('Preset name'), 'Careful 2');
    await user.click(screen.getByRole('button', { name: 'Save preset' }));
    expect(saved[0]?.map(({ name, projects }) => [name, projects])).toEqual([
      ['Careful', []],
      ['Careful 2', [session.project]],
    ]);
    expect(saved[0]?.[1]?.options).toEqual({ ...FULL, maxTurns: null });
    await user.selectOptions(screen.getByRole('combobox', { name: 'Preset' }), 'Careful');
    await user.click(screen.getByRole('button', { name: 'Remove preset' }));
    expect(saved[1]).toEqual([]);
  });
});
