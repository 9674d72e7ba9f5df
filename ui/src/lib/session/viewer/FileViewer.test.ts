import { screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { tick } from 'svelte';
import { describe, expect, it, vi } from 'vitest';

import type { Span } from '../../bindings/api';
import { draw } from '../../../test/draw';
import Blocks from '../../document/Blocks.svelte';
import { diffOf } from '../../../fake/changes';
import { FILES, NO_FILE } from '../../../fake/files';
import FileViewer from './FileViewer.svelte';

// Where hits are marked, the page has no other use for it.
vi.stubGlobal('CSS', { escape: (text: string) => text });

const settled = async () => {
  for (let i = 0; i < 5; i++) await tick();
};

async function viewer(path: string, line: number | null, isChanged = true) {
  const given = {
    path,
    line,
    load: vi.fn(() => {
      const text = FILES.get(path);
      const refused = { code: 'refused', message: NO_FILE, detail: null };
      return text === undefined ? Promise.reject(refused as unknown as Error) : Promise.resolve(text);
    }),
    loadDiff: () => Promise.resolve(isChanged ? diffOf(path) : null),
    onedit: vi.fn(),
    onclose: vi.fn(),
  };
  await draw(FileViewer, given);
  await settled();
  return given;
}

const current = () => document.querySelector('[aria-current="location"]')?.textContent;

describe('a file', () => {
  it('is shown at its line, with the numbers of its lines', async () => {
    await viewer('src/money.rs', 7);
    expect(screen.getByRole('dialog', { name: 'src/money.rs' })).not.toBeNull();
    expect(current()).toMatch(/^\s*7\s*pub fn round/);
    expect(document.querySelectorAll('[data-line]')).toHaveLength(FILES.get('src/money.rs')?.nLines ?? 0);
    expect(document.querySelector('.keyword')?.textContent).toBe('use');
  });

  it('shows hidden characters', async () => {
    await viewer('src/a b.rs', null);
    expect(screen.getByText('\\u{202E}')).not.toBeNull();
  });

  it('is searched from its line on, by key', async () => {
    const user = userEvent.setup();
    await viewer('src/money.rs', 7);
    await user.keyboard('{Control>}f{/Control}');
    const field = screen.getByRole('textbox', { name: 'Find in this file' });
    expect(document.activeElement).toBe(field);
    await user.keyboard('money');
    await settled();
    const said = () => screen.getAllByRole('status').map(({ textContent }) => textContent);
    expect(said()).toContain('1 of 3 lines');
    await user.keyboard('{Enter}');
    await settled();
    expect(said()).toContain('2 of 3 lines');
    await user.keyboard('{Shift>}{Enter}{Enter}{/Shift}');
    await settled();
    expect(said()).toContain('3 of 3 lines');
    await user.clear(field);
    await user.keyboard('nowhere');
    await settled();
    expect(said()).toContain('No results');
  });

  it('shows its change since the last commit, if there is one', async () => {
    const user = userEvent.setup();
    await viewer('src/money.rs', 7);
    await user.click(screen.getByRole('button', { name: 'Changes since the last commit' }));
    expect(screen.getByRole('group', { name: 'Changes in src/money.rs' })).not.toBeNull();
  });

  it('without a change has only its lines, and is opened in the editor at its line', async () => {
    const user = userEvent.setup();
    const { onedit } = await viewer('src/money.rs', 7, false);
    expect(screen.queryByRole('button', { name: 'Changes since the last commit' })).toBeNull();
    await user.click(screen.getByRole('button', { name: 'Open in editor' }));
    expect(onedit).toHaveBeenCalledWith('src/money.rs', 7);
  });

  it('that is long is shown in parts', async () => {
    const user = userEvent.setup();
    const { load } = await viewer('src/long.rs', 2_810, false);
    expect(screen.getByText('Lines 2,801 to 2,840 of 5,000 are shown and searched.')).not.toBeNull();
    expect(screen.getByText('2 long lines cut at 2,000 bytes.')).not.toBeNull();
    await user.click(screen.getByRole('button', { name: 'Earlier lines' }));
    expect(load).toHaveBeenLastCalledWith('src/long.rs', 2_800);
    await user.click(screen.getByRole('button', { name: 'Later lines' }));
    expect(load).toHaveBeenLastCalledWith('src/long.rs', 2_841);
  });

  it('that is gone says so', async () => {
    await viewer('src/gone.rs', 3);
    expect(screen.getByRole('alert').textContent).toBe(NO_FILE);
  });
});

describe('a path in a text', () => {
  const named = (path: string, line: number | null = null, destination: string | null = null): Span => ({
    type: 'file',
    path,
    line,
    destination,
    spans: [{ type: 'text', text: `the file ${path}` }],
  });
  const text = (...spans: Span[]) => ({ blocks: [{ type: 'paragraph' as const, spans }] });
  const scene = { scene: 'conversation' };

  it('is a link only if the session has the file', async () => {
    await draw(Blocks, text(named('src/money.rs', 7, 'src/money.rs#L7'), named('../x', null, '../x')), scene);
    await settled();
    expect(screen.getAllByRole('link').map(({ textContent }) => textContent)).toEqual(['the file src/money.rs']);
    expect(document.body.textContent).toContain('the file ../x ../x');
  });

  it('shows the file at a click and at Enter, and with Ctrl opens the editor', async () => {
    const user = userEvent.setup();
    const { project, host } = await draw(Blocks, text(named('src/money.rs', 7)), scene);
    const edited = vi.spyOn(host, 'openInEditor');
    await settled();
    const link = within(document.body).getByRole('link');
    await user.click(link);
    const session = project.open?.id;
    expect(project.fileLinks.shown).toEqual({ session, path: 'src/money.rs', line: 7 });
    project.fileLinks.shown = null;
    link.focus();
    await user.keyboard('{Enter}');
    expect(project.fileLinks.shown).not.toBeNull();
    project.fileLinks.shown = null;
    await user.keyboard('{Control>}');
    await user.click(link);
    await user.keyboard('{/Control}');
    expect(project.fileLinks.shown).toBeNull();
    expect(edited).toHaveBeenCalledWith('src/money.rs', 7);
  });

  it('is asked for with others, 100 at a time, and once', async () => {
    const many = Array.from({ length: 250 }, (_, i) => named(`src/${i}.rs`));
    const { host, project } = await draw(Blocks, text(), scene);
    const asked = vi.spyOn(host.answers, 'namedFiles');
    for (const span of many) if (span.type === 'file') project.fileLinks.look('s', span.path);
    project.fileLinks.look('s', 'src/money.rs');
    for (let i = 0; i < 20; i++) await tick();
    expect(asked.mock.calls.map(([, { paths }]) => paths.length)).toEqual([100, 100, 51]);
    project.fileLinks.look('s', 'src/money.rs');
    await settled();
    expect(asked).toHaveBeenCalledTimes(3);
  });

  it('stays text if its server does not know', async () => {
    const { host, project } = await draw(Blocks, text(), scene);
    vi.spyOn(host.answers, 'namedFiles').mockRejectedValue({
      code: 'badCommand',
      message: 'It is too old.',
      detail: null,
    });
    project.fileLinks.look('s', 'src/money.rs');
    await settled();
    expect(project.fileLinks.found('s', 'src/money.rs')).toBeNull();
    expect(project.problems.list).toEqual([]);
  });
});
