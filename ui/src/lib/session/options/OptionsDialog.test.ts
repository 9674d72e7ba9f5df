import { screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { tick } from 'svelte';
import { describe, expect, it, vi } from 'vitest';

import { draw } from '../../../test/draw';
import type { McpServer, OptionField, Preset, Session, SessionOptions } from '../../bindings/api';
import { emptySession } from '../../../fake/facts';
import { reviewOf } from '../../../fake/options';
import { RULES } from '../../../fake/rules';
import { formOf, isChanged, messagesOf, NO_OPTIONS, optionsOf, withPreset, withReset } from './form';
import OptionsDialog from './OptionsDialog.svelte';
import { matching, modelSuggestions, toolSuggestions } from './suggestions';

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

async function dialog(
  facts: Partial<Session> = {},
  presets: Preset[] = [],
  onreview = (options: SessionOptions) => Promise.resolve(reviewOf(options)),
) {
  const set: SessionOptions[] = [];
  const saved: Preset[][] = [];
  const closed = vi.fn();
  const { clock } = await draw(OptionsDialog, {
    session: { ...emptySession('s1', 'Title'), ...facts },
    tools: ['Bash', 'Edit'],
    presets,
    hibernateMinutes: 30,
    onreview,
    onset: (options: SessionOptions) => {
      set.push(options);
      return Promise.resolve(true);
    },
    onpresets: (presets: Preset[]) => void saved.push(presets),
    onrestart: vi.fn(),
    onclose: closed,
  });
  /** The field that adds to a list; with suggestions it is a combobox. */
  const list = (name: string) => {
    const group = within(screen.getByRole('group', { name }));
    return group.queryByRole<HTMLInputElement>('combobox') ?? group.getByRole<HTMLInputElement>('textbox');
  };
  const field = (name: string) => screen.getByRole<HTMLInputElement>('textbox', { name });
  const apply = () => screen.getByRole<HTMLButtonElement>('button', { name: 'Apply' });
  /** The engine's answer to what was typed. */
  const checked = async () => {
    await tick();
    clock.advance(200);
    await tick();
  };
  return { set, saved, closed, field, list, apply, checked, user: userEvent.setup() };
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
    expect(problems).toEqual([{ field: 'maxTurns', index: null, message: 'Enter a whole number from 1 to 10,000.' }]);
  });

  it('counts what is in the field of a list as its last entry', () => {
    const form = formOf(FULL);
    const { options } = optionsOf({ ...form, typed: { ...form.typed, folders: ' /c ' } });
    expect(options.folders).toEqual(['/a b', '/c']);
  });

  it('knows which options differ from the default, and resets one', () => {
    const form = formOf(FULL);
    const fields = Object.keys(NO_OPTIONS) as OptionField[];
    expect(fields.filter((field) => isChanged(form, field))).toEqual(fields);
    expect(fields.filter((field) => isChanged(formOf(NO_OPTIONS), field))).toEqual([]);
    for (const field of fields) {
      expect(optionsOf(withReset(form, field)).options).toEqual({ ...FULL, [field]: NO_OPTIONS[field] });
    }
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
    const { list, apply, checked, user } = await dialog({ models: [] });
    await user.type(list('Allowed tools'), 'Bash');
    await checked();
    expect(await screen.findByText(/Every command runs without asking/)).toBeTruthy();
    expect(apply().disabled).toBe(false);
  });

  it('says that options wait for the next start', async () => {
    await dialog({ alive: true, optionsWait: true });
    expect(screen.getAllByRole('status')[0]?.textContent).toContain('take effect at its next start');
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

  it('adds and removes the entries of a list', async () => {
    const { set, list, apply, user } = await dialog({ options: { ...NO_OPTIONS, allowedTools: ['Read'] } });
    await user.type(list('Allowed tools'), 'Bash(git status){Enter}');
    const rows = () => within(screen.getByRole('list', { name: 'Allowed tools' })).getAllByRole('listitem');
    await vi.waitFor(() => {
      expect(rows().map((row) => row.textContent.trim())).toEqual(['Read', 'Bash(git status)']);
    });
    expect(list('Allowed tools').value).toBe('');
    expect(set).toEqual([]);
    await user.click(screen.getByRole('button', { name: 'Remove Read' }));
    expect(rows()).toHaveLength(1);
    expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Remove Bash(git status)' }));
    await user.type(list('Denied tools'), 'WebFetch');
    await user.click(apply());
    expect(set).toEqual([{ ...NO_OPTIONS, allowedTools: ['Bash(git status)'], disallowedTools: ['WebFetch'] }]);
  });

  it('keeps a refused rule in its field and says what is allowed', async () => {
    const { list, apply, user } = await dialog();
    await user.type(list('Allowed tools'), 'Bash(git');
    await user.click(screen.getByRole('button', { name: 'Add to Allowed tools' }));
    expect((await screen.findByRole('alert')).textContent).toContain('Enter one rule, such as Read');
    expect(list('Allowed tools').value).toBe('Bash(git');
    expect(list('Allowed tools').getAttribute('aria-invalid')).toBe('true');
    expect(document.activeElement).toBe(list('Allowed tools'));
    expect(screen.queryByRole('list', { name: 'Allowed tools' })).toBeNull();
    expect(apply().disabled).toBe(true);
  });

  it('leaves the focus where the user went on while an entry was checked', async () => {
    let answer: () => void = () => {};
    const slow = (options: SessionOptions) =>
      new Promise<ReturnType<typeof reviewOf>>((done) => (answer = () => done(reviewOf(options))));
    const { list, field, user } = await dialog({}, [], slow);
    await user.type(list('Allowed tools'), 'Read{Enter}');
    const check = answer;
    await user.click(field('Budget'));
    check();
    await screen.findByRole('list', { name: 'Allowed tools' });
    expect(document.activeElement).toBe(field('Budget'));
  });

  it('keeps a refused suggestion in its field', async () => {
    const presets = [{ name: 'Old', options: { ...NO_OPTIONS, allowedTools: ['Bash(git'] }, projects: [] }];
    const { list, checked, user } = await dialog({}, presets);
    await user.type(list('Allowed tools'), 'Bash(');
    await user.click(screen.getByRole('option', { name: /^Bash\(git In/ }));
    await checked();
    expect((await screen.findByRole('alert')).textContent).toContain('Enter one rule, such as Read');
    expect(list('Allowed tools').value).toBe('Bash(git');
    expect(screen.queryByRole('list', { name: 'Allowed tools' })).toBeNull();
  });

  it('shows hidden characters of an entry', async () => {
    await dialog({ options: { ...NO_OPTIONS, allowedTools: ['Re\u202Ead'] } });
    const rows = screen.getByRole('list', { name: 'Allowed tools' });
    expect(rows.textContent).toContain('\\u{202E}');
  });

  it('suggests the tools of the session, by keyboard', async () => {
    const { list, closed, user } = await dialog();
    const field = list('Denied tools');
    await user.click(field);
    const options = () => screen.queryAllByRole('option', { selected: false }).map((one) => one.textContent.trim());
    expect(screen.getByRole('listbox', { name: 'Suggestions: Denied tools' })).toBeTruthy();
    await user.keyboard('{Escape}');
    expect(screen.queryByRole('listbox')).toBeNull();
    expect(closed).not.toHaveBeenCalled();
    await user.keyboard('e{ArrowDown}');
    expect(options()).not.toContain('Bash');
    expect(document.getElementById(field.getAttribute('aria-activedescendant') ?? '')?.textContent).toContain('Edit');
    await user.keyboard('{Enter}');
    const rows = await screen.findByRole('list', { name: 'Denied tools' });
    expect(rows.textContent.trim()).toBe('Edit');
  });

  it('offers the models of the agent and another one', async () => {
    const { set, apply, user } = await dialog();
    const models = screen.getByRole<HTMLSelectElement>('combobox', { name: 'Model' });
    expect([...models.options].map(({ text }) => text)).toEqual([
      'The agent’s default',
      'Opus 5.5',
      'Haiku 5',
      'Another model…',
    ]);
    await user.selectOptions(models, 'Haiku 5');
    await user.selectOptions(models, 'Another model…');
    const name = screen.getByRole('textbox', { name: 'Name of the model' });
    expect(document.activeElement).toBe(name);
    // A known name on the way to another one.
    await user.type(name, 'opus-next');
    await user.click(apply());
    expect(set).toEqual([{ ...NO_OPTIONS, model: 'opus-next' }]);
  });

  it('marks what was changed, counts it in its section and resets it', async () => {
    const { set, apply, user } = await dialog({ options: FULL });
    expect(screen.getByRole('button', { name: 'Limits, 3 changed' })).toBeTruthy();
    const limit = screen.getByRole('group', { name: 'Max turns' });
    expect(within(limit).getByRole('img', { name: 'Changed' })).toBeTruthy();
    await user.click(within(limit).getByRole('button', { name: 'Reset to no limit: Max turns' }));
    expect(within(limit).queryByRole('img')).toBeNull();
    expect(document.activeElement).toBe(within(limit).getByRole('textbox'));
    await user.click(screen.getByRole('button', { name: 'Reset to none: Denied tools' }));
    expect(screen.getByRole('button', { name: 'Limits, 2 changed' })).toBeTruthy();
    await user.click(apply());
    expect(set).toEqual([{ ...FULL, maxTurns: null, disallowedTools: [] }]);
  });

  it('leads to a section', async () => {
    const { user } = await dialog();
    await user.click(screen.getByRole('button', { name: 'Folders and tools' }));
    expect(document.activeElement).toBe(screen.getByRole('heading', { name: 'Folders and tools' }));
  });

  it('keeps a wrong number in its field and says what is allowed', async () => {
    const { field, apply, user } = await dialog();
    await user.type(field('Budget'), 'much');
    expect(field('Budget').value).toBe('much');
    expect(field('Budget').getAttribute('aria-invalid')).toBe('true');
    expect(screen.getByRole('alert').textContent).toContain('from 0.01 to 100,000 US dollars');
    expect(screen.getByRole('status').textContent).toBe('1 value must be corrected');
    expect(apply().disabled).toBe(true);
  });

  it('saves a preset with Enter in its name, and applies nothing', async () => {
    const { set, saved, field, user } = await dialog();
    await user.type(field('Max turns'), '3');
    await user.type(field('Preset name'), 'Short{Enter}');
    expect(saved[0]?.map(({ name }) => name)).toEqual(['Short']);
    expect(set).toEqual([]);
  });
});

describe('the suggestions of options', () => {
  it('have each rule once, with the tools of servers as rules', () => {
    const facts = emptySession('s1', 'Title');
    const server: McpServer = {
      name: 'my tracker',
      status: 'connected',
      statusWord: null,
      scope: null,
      transport: null,
      target: null,
      serverInfo: null,
      error: null,
      tools: [{ name: 'find', isReadOnly: true }],
      nTools: 1,
    };
    const session: Session = { ...facts, configuration: { ...facts.configuration, servers: [server] }, rules: RULES };
    const presets = [{ name: 'a', options: FULL, projects: [] }];
    const found = (list: 'allowedTools' | 'disallowedTools') =>
      toolSuggestions(list, session, ['Read', 'Bash'], presets);
    const tools = ['Read', 'Bash', 'mcp__my_tracker', 'mcp__my_tracker__find'];
    const allowed = ['Bash(cargo test *)', 'Bash(git status)'];
    expect(found('disallowedTools').map(({ value }) => value)).toEqual([
      ...tools,
      ...allowed,
      ...['Read(./.env)', 'Bash(git push *)', 'WebFetch'],
    ]);
    // No rule that denies or asks becomes one that allows.
    expect(found('allowedTools').map(({ value }) => value)).toEqual([...tools, ...allowed]);
    expect(found('allowedTools').find(({ value }) => value === 'Bash(cargo test *)')?.note).toBe('A rule in effect');
  });

  it('are narrowed by what is typed, without the entries of the list', () => {
    const all = ['Bash', 'Bash(ls)', 'Read'].map((value) => ({ value, note: '' }));
    expect(matching(all, 'bash', ['Bash']).map(({ value }) => value)).toEqual(['Bash(ls)']);
  });

  it('leave out the default model, which has a choice of its own', () => {
    const names = modelSuggestions(emptySession('s1', 'Title').models).map(({ value }) => value);
    expect(names).toEqual(['opus', 'haiku']);
  });
});
