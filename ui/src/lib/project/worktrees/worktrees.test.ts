import { screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { describe, expect, it, vi } from 'vitest';

import { draw } from '../../../test/draw';
import { openApp } from '../../../test/app';
import type { Desk } from '../../window/actions/action';
import { actionOf } from '../../window/actions/table';
import { FakeHost } from '../../../fake/host';
import { ProjectState } from '../project.svelte';
import SessionList from '../sessions/SessionList.svelte';
import { suggestedName } from './names';
import NewWorktreeDialog from './NewWorktreeDialog.svelte';
import { Worktrees } from '../worktrees.svelte';
import WorktreesDialog from './WorktreesDialog.svelte';

const CSV = '/home/ines/ledger-import-csv';
const FIX = '/home/ines/ledger-fix-rounding';

const shown = (name: string) => within(screen.getByRole('dialog', { name, hidden: true }));

async function list(change: (repository: FakeHost['repository']) => void = () => {}) {
  const host = new FakeHost('empty');
  const { repository } = host;
  change(repository);
  const calls: string[] = [];
  const worktrees = new Worktrees(host);
  await draw(WorktreesDialog, {
    worktrees,
    onadd: () => calls.push('add'),
    onclose: () => calls.push('close'),
  });
  const dialog = shown('Worktrees');
  const row = async (text: string) => {
    const found = (await dialog.findAllByRole('listitem', { hidden: true })).find((one) =>
      one.textContent.includes(text),
    );
    if (found === undefined) throw new Error(`no worktree ${text}`);
    return within(found);
  };
  return { repository, worktrees, calls, dialog, row, user: userEvent.setup() };
}

describe('the list of worktrees', () => {
  it('says of each what is not committed and what is open in it', async () => {
    const { row } = await list();
    (await row('fix/rounding')).getByText('2 changed files not committed');
    (await row('fix/rounding')).getByText('2 sessions run');
    (await row('import-csv')).getByText('Everything is committed');
    (await row('release-1.4')).getByText('Changes unknown');
    (await row('ledger-spike')).getByText('No branch (commit 3f6d2c1a)');
    const main = await row('main folder');
    expect(main.queryByRole('button', { hidden: true })).toBeNull();
    (await row('old-report')).getByText('folder is gone');
  });

  it('shows folders and branches whose characters are all visible', async () => {
    const { dialog, row } = await list((repository) => {
      const first = repository.list[2]?.worktree;
      if (first === undefined) throw new Error('no worktree');
      first.path = '/home/a\u202etxt.b';
      first.branch = 'odd\u001b\u200b';
    });
    await row('/home/a\\u{202E}txt.b');
    await row('odd\\u{001B}\\u{200B}');
    const { textContent } = dialog.getByRole('list', { hidden: true });
    for (const char of ['\u001b', '\u200b', '\u202e']) expect(textContent).not.toContain(char);
  });

  it('follows what is open in them, also while it reads', async () => {
    const { repository, worktrees, row } = await list();
    (await row('import-csv')).getByRole('button', { name: 'Open', hidden: true });
    const setOpen = (hasWindow: boolean, nRunning: number) => {
      repository.list = repository.list.map((view) =>
        view.worktree.path === CSV ? { ...view, hasWindow, nRunning } : view,
      );
      worktrees.usesChanged();
    };
    // Its session starts while the list is read because of its window.
    setOpen(true, 0);
    setOpen(true, 1);
    const found = await row('import-csv');
    await found.findByText('1 session runs');
    found.getByText('window open');
    setOpen(false, 0);
    await waitFor(() => expect(found.queryByText('window open')).toBeNull());
    expect(found.queryByText('1 session runs')).toBeNull();
  });

  it('reads nothing for a change when no list is shown', async () => {
    const host = new FakeHost('empty');
    const read = vi.spyOn(host.repository, 'worktrees');
    const worktrees = new Worktrees(host);
    worktrees.usesChanged();
    const unfollow = worktrees.follow();
    await waitFor(() => expect(worktrees.list).not.toBeNull());
    unfollow();
    worktrees.usesChanged();
    expect(read).toHaveBeenCalledOnce();
  });

  it('opens one, and stays if that fails', async () => {
    const { repository, calls, row, user, dialog } = await list();
    await user.click((await row('import-csv')).getByRole('button', { name: 'Open', hidden: true }));
    expect([repository.opened, calls]).toEqual([[CSV], ['close']]);
    repository.list = repository.list.filter(({ worktree }) => worktree.path !== FIX);
    await user.click((await row('fix/rounding')).getByRole('button', { name: 'Go to window', hidden: true }));
    expect(dialog.getByRole('alert', { hidden: true }).textContent).toContain(
      'no longer a worktree of this repository',
    );
    expect(calls).toEqual(['close']);
  });

  it('removes one only after a question that names what is lost', async () => {
    const { repository, row, user, dialog } = await list((repository) => (repository.ignored = ['target/', '.env']));
    await user.click((await row('import-csv')).getByRole('button', { name: 'Remove…', hidden: true }));
    const question = shown('Remove this worktree?');
    await question.findByText('target/');
    question.getByText(/The branch import-csv stays with all its commits/);
    await user.click(question.getByRole('button', { name: 'Cancel', hidden: true }));
    expect(repository.list.some(({ worktree }) => worktree.path === CSV)).toBe(true);
    await user.click((await row('import-csv')).getByRole('button', { name: 'Remove…', hidden: true }));
    const again = shown('Remove this worktree?');
    await again.findByText('target/');
    await user.click(again.getByRole('button', { name: 'Remove worktree', hidden: true }));
    await dialog.findByText(`Removed ${CSV}. The branch import-csv is still there.`);
    expect(repository.list.some(({ worktree }) => worktree.path === CSV)).toBe(false);
  });

  it('offers no removal of what is in use or changed, and says why', async () => {
    const { repository, row, user } = await list();
    await user.click((await row('fix/rounding')).getByRole('button', { name: 'Remove…', hidden: true }));
    const refused = await screen.findByRole('dialog', { name: 'This worktree cannot be removed now', hidden: true });
    within(refused).getByText(/2 sessions run in it; stop the agent there first/);
    expect(within(refused).queryByRole('button', { name: 'Remove worktree', hidden: true })).toBeNull();
    expect(repository.list.some(({ worktree }) => worktree.path === FIX)).toBe(true);
  });

  it('loses no file that came after the question', async () => {
    const { repository, row, user } = await list();
    await user.click((await row('import-csv')).getByRole('button', { name: 'Remove…', hidden: true }));
    const question = shown('Remove this worktree?');
    await question.findByText(/stays with all its commits/);
    repository.ignored = ['.env'];
    await user.click(question.getByRole('button', { name: 'Remove worktree', hidden: true }));
    expect((await question.findByRole('alert', { hidden: true })).textContent).toContain('files that git ignores');
    expect(repository.list.some(({ worktree }) => worktree.path === CSV)).toBe(true);
  });
});

async function making(suggestion: string, change: (repository: FakeHost['repository']) => void = () => {}) {
  const host = new FakeHost('empty');
  change(host.repository);
  const calls: string[] = [];
  const worktrees = new Worktrees(host);
  await draw(NewWorktreeDialog, {
    worktrees,
    suggestion,
    base: 'main',
    asked: null,
    onclose: () => calls.push('close'),
  });
  const dialog = shown('New session in a worktree');
  const field = dialog.getByRole<HTMLInputElement>('textbox', { name: 'Branch', hidden: true });
  const create = () => dialog.getByRole<HTMLButtonElement>('button', { name: /Creat/, hidden: true });
  return { repository: host.repository, calls, dialog, field, create, user: userEvent.setup() };
}

describe('a new worktree', () => {
  it('has a suggested name that no branch has, and is opened', async () => {
    const { repository, calls, dialog, field, create, user } = await making('import-csv');
    await waitFor(() => expect(field.value).toBe('import-csv-2'));
    await dialog.findByText(/A new branch from main/);
    await user.click(create());
    expect([repository.opened, calls]).toEqual([['/home/ines/ledger-import-csv-2'], ['close']]);
  });

  it('is checked while its name is typed', async () => {
    const { repository, dialog, field, create, user } = await making('x');
    await user.clear(field);
    dialog.getByText('Enter a name for the branch.');
    expect(create().disabled).toBe(true);
    await user.type(field, 'a b');
    await dialog.findByText('“a b” cannot be the name of a branch.');
    expect([create().disabled, field.getAttribute('aria-invalid')]).toEqual([true, 'true']);
    await user.keyboard('{Enter}');
    expect(repository.opened).toEqual([]);
    await user.clear(field);
    await user.type(field, 'main');
    await dialog.findByText(/main is already checked out in/);
    await user.clear(field);
    await user.type(field, 'settlement-report');
    await dialog.findByText(/This branch exists/);
    expect(create().disabled).toBe(false);
  });

  it('that cannot be written keeps the dialog and the name', async () => {
    const detail = 'git: fatal: Permission denied';
    const { calls, dialog, field, create, user } = await making('import-pdf', (repository) => {
      repository.unwritable = { code: 'internal', message: 'Git reported an error.', detail };
    });
    await user.click(create());
    expect((await dialog.findByRole('alert', { hidden: true })).textContent).toContain(detail);
    expect([calls, field.value]).toEqual([[], 'import-pdf']);
  });
});

describe('in the window', () => {
  it('both dialogs are opened from the menu next to “New session”', async () => {
    const { host, user } = await openApp();
    const pick = async (name: RegExp) => {
      await user.click(screen.getByRole('button', { name: 'Choose an agent' }));
      await user.click(await screen.findByRole('menuitem', { name }));
    };
    await pick(/^Worktrees…/);
    const dialog = shown('Worktrees');
    await dialog.findByText('fix/rounding');
    await user.click(dialog.getByRole('button', { name: 'Close', hidden: true, description: '' }));
    await pick(/^In a worktree…/);
    const asking = shown('New session in a worktree');
    await asking.findByText(/A new branch from main/);
    await user.click(asking.getByRole('button', { name: 'Create and open', hidden: true }));
    await waitFor(() => expect(host.repository.opened).toHaveLength(1));
    expect(screen.queryByRole('dialog', { hidden: true })).toBeNull();
  });

  it('a folder without a repository says that it has none', async () => {
    const host = new FakeHost('conversation');
    const known = await host.connect();
    const checkout = { branch: null, worktreeOf: null };
    host.connect = () => Promise.resolve({ ...known, project: { ...known.project, checkout } });
    const project = await ProjectState.start(host);
    const why = 'This folder is not in a git repository.';
    const desk = { project } as unknown as Desk;
    const nothing = { row: null, item: null, file: null };
    expect(['new-in-worktree', 'worktrees'].map((id) => actionOf(id).off?.(desk, nothing))).toEqual([why, why]);
    project.project = { ...project.project, checkout: { branch: 'main', worktreeOf: null } };
    expect(project.noWorktrees).toBeNull();
  });

  it('the header of a worktree names the project that it belongs to', async () => {
    const host = new FakeHost('empty');
    const { project } = await host.connect();
    const view = { ...project, name: 'ledger-fix', checkout: { branch: 'fix', worktreeOf: 'ledger' } };
    const nothing = () => {};
    await draw(SessionList, {
      project: view,
      rows: [],
      openId: null,
      unread: new Set<string>(),
      creating: false,
      onopen: nothing,
      onremove: nothing,
      onmark: nothing,
      onexport: nothing,
      onsearchtexts: nothing,
      onnew: nothing,
      onothers: nothing,
      onsearch: nothing,
      onsettings: nothing,
    });
    expect(
      screen
        .getByTitle(/^Worktree of ledger: /)
        .textContent.replaceAll(/\s+/g, ' ')
        .trim(),
    ).toBe('ledger worktree fix');
  });
});

it('suggests short names of plain letters', () => {
  const now = new Date(2026, 10, 4);
  expect(suggestedName('Round half to even in totals, and add tests', now)).toBe('round-half-to-even-in-totals-and');
  expect(suggestedName('Überprüfe Konten: 3 Läufe', now)).toBe('uberprufe-konten-3-laufe');
  expect(suggestedName('日本語', now)).toBe('session-11-04');
  expect(suggestedName(null, now)).toBe('session-11-04');
  expect(suggestedName('x'.repeat(90), now)).toHaveLength(32);
});
