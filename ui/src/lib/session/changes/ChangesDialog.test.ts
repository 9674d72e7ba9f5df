import { screen, within } from '@testing-library/svelte';
import { tick } from 'svelte';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';

import type { Against, FileDiff } from '../../bindings/api';
import { FakeHost } from '../../../fake/host';
import { EDITED, manyChanges, MOMENTS, WORKING } from '../../../fake/changes';
import { openHost } from '../../../test/app';

beforeEach(() => localStorage.clear());

async function app(changes = WORKING) {
  const host = new FakeHost('normal');
  host.workingChanges = changes;
  return openHost(host);
}

const page = async () => within(await screen.findByRole('dialog', { name: 'Changes', hidden: true }));

it('opens by its key, and unfolds a diff in line and side by side', async () => {
  const { user } = await app();
  await user.keyboard('{Control>}{Shift>}J{/Shift}{/Control}');
  const dialog = await page();
  await dialog.findByText(/12 files · .* since 9f8b1c22/u);
  const file = dialog.getByRole('button', { name: /^Changed: src\/money.rs/u, hidden: true });
  expect(file.getAttribute('aria-expanded')).toBe('false');
  await user.click(file);
  await dialog.findByRole('group', { name: 'Changes in src/money.rs, lines 12–13', hidden: true });
  await user.click(dialog.getByRole('checkbox', { name: 'Side by side', hidden: true }));
  await dialog.findByRole('group', { name: 'Changes in src/money.rs, lines 12–13, side by side', hidden: true });
});

it('compares with another moment', async () => {
  const { host, user } = await app();
  const asked: Against[] = [];
  host.answers.changes = (_, { against }) => {
    asked.push(against);
    return Promise.resolve({ ...WORKING, base: { type: 'noPrompt' }, files: [] });
  };
  await user.keyboard('{Control>}{Shift>}J{/Shift}{/Control}');
  const dialog = await page();
  await user.selectOptions(dialog.getByRole('combobox', { name: 'Compare with', hidden: true }), 'Last prompt');
  await dialog.findByText(/there is nothing to compare with/u);
  expect(asked.at(-1)).toBe('prompt');
  // Any earlier prompt; the last one has an entry of its own.
  const bases = dialog.getByRole('combobox', { name: 'Compare with', hidden: true });
  expect(within(bases).queryByRole('option', { name: /in the documentation too/u, hidden: true })).toBeNull();
  await user.selectOptions(bases, within(bases).getByRole('option', { name: /: Round to even$/u, hidden: true }));
  await vi.waitFor(() => expect(asked.at(-1)).toEqual({ at: MOMENTS[1]?.since }));
});

it('shows what the agent edited in a folder without git, and offers nothing that needs git', async () => {
  const { host, user } = await app(EDITED);
  const asked: Against[] = [];
  const { changes } = host.answers;
  host.answers.changes = (id, query) => {
    asked.push(query.against);
    return changes(id, query);
  };
  await user.keyboard('{Control>}{Shift>}J{/Shift}{/Control}');
  const dialog = await page();
  await dialog.findByText(/4 files · .* not in a git repository. Files that the agent edited, /u);
  await dialog.findByRole('button', { name: /^Changed: src\/money.rs/u, hidden: true });
  for (const name of [/Copy patch/u, /Revert/u]) {
    expect(dialog.queryByRole('button', { name, hidden: true })).toBeNull();
  }
  dialog.getByRole('button', { name: 'Open money.rs in editor', hidden: true });
  const bases = dialog.getByRole('combobox', { name: 'Compare with', hidden: true });
  expect(within(bases).queryByRole('option', { name: 'Last commit', hidden: true })).toBeNull();
  await user.selectOptions(bases, 'Last prompt');
  await vi.waitFor(() => expect(asked.at(-1)).toBe('prompt'));
});

it('reads, reverts and opens the files of another machine, and compares them with its prompts', async () => {
  const host = new FakeHost('far');
  host.workingChanges = WORKING;
  const { user } = await openHost(host);
  await user.keyboard('{Control>}{Shift>}J{/Shift}{/Control}');
  const dialog = await page();
  await dialog.findByText(/12 files · .* since 9f8b1c22/u);
  dialog.getByText(/These files are on box,/u);
  await user.click(dialog.getByRole('button', { name: /^Changed: src\/money.rs/u, hidden: true }));
  await dialog.findByRole('group', { name: 'Changes in src/money.rs, lines 12–13', hidden: true });
  dialog.getByRole('button', { name: 'Open money.rs in editor', hidden: true });
  dialog.getByRole('button', { name: 'Revert money.rs…', hidden: true });
  dialog.getByRole('button', { name: 'Copy patch of money.rs', hidden: true });
  expect(dialog.queryAllByRole('button', { name: /folder/iu, hidden: true })).toEqual([]);
  const bases = dialog.getByRole('combobox', { name: 'Compare with', hidden: true });
  await vi.waitFor(() => expect(within(bases).getAllByRole('option', { hidden: true })).toHaveLength(5));
  const asked = vi.spyOn(host.answers, 'changes');
  await user.selectOptions(bases, 'First prompt of the session');
  await vi.waitFor(() => expect(asked.mock.calls.at(-1)?.[1].against).toBe('session'));
});

it('compares what the agent edited on another machine without git with its own copies there', async () => {
  const host = new FakeHost('far');
  host.workingChanges = EDITED;
  const { user } = await openHost(host);
  const asked = vi.spyOn(host.answers, 'changes');
  await user.keyboard('{Control>}{Shift>}J{/Shift}{/Control}');
  const dialog = await page();
  await dialog.findByText(/4 files · .* not in a git repository. Files that the agent edited, /u);
  dialog.getByText(/, and are read there\.$/u);
  expect(dialog.queryAllByRole('button', { name: /revert|patch|folder/iu, hidden: true })).toEqual([]);
  expect(dialog.getAllByRole('button', { name: /in editor$/u, hidden: true })).not.toEqual([]);
  await user.selectOptions(dialog.getByRole('combobox', { name: 'Compare with', hidden: true }), 'Last prompt');
  await vi.waitFor(() => expect(asked.mock.calls.at(-1)?.[1].against).toBe('prompt'));
});

it('says why another machine lists no changes, and keeps those that it listed', async () => {
  const host = new FakeHost('far');
  const listed = host.answers.changes;
  host.answers.changes = () => Promise.reject({ code: 'refused', message: 'It is too old.', detail: null });
  const { user } = await openHost(host);
  await user.keyboard('{Control>}{Shift>}J{/Shift}{/Control}');
  const dialog = await page();
  await dialog.findByText('It is too old.');
  const refused = host.answers.changes;
  host.answers.changes = listed;
  host.workingChanges = WORKING;
  window.dispatchEvent(new Event('focus'));
  await dialog.findByText(/12 files/u);
  host.answers.changes = vi.fn(refused);
  window.dispatchEvent(new Event('focus'));
  await vi.waitFor(() => expect(host.answers.changes).toHaveBeenCalled());
  await tick();
  dialog.getByText(/12 files/u);
});

it('shows no list of the last commit for a prompt that another machine cannot compare with', async () => {
  const host = new FakeHost('far');
  host.workingChanges = WORKING;
  const refused = { code: 'refused', message: 'It is too old.', detail: null };
  const listed = host.answers.changes;
  host.answers.changes = (id, query) => (query.against === 'commit' ? listed(id, query) : Promise.reject(refused));
  host.answers.promptMoments = () => Promise.reject(refused);
  const { user } = await openHost(host);
  await user.keyboard('{Control>}{Shift>}J{/Shift}{/Control}');
  const dialog = await page();
  await dialog.findByText(/12 files/u);
  const bases = dialog.getByRole('combobox', { name: 'Compare with', hidden: true });
  expect(within(bases).getAllByRole('option', { hidden: true })).toHaveLength(3);
  await user.selectOptions(bases, 'First prompt of the session');
  await dialog.findByText('It is too old.');
  expect(dialog.queryByText(/12 files/u)).toBeNull();
  await user.selectOptions(bases, 'Last commit');
  await dialog.findByText(/12 files/u);
});

it('draws a part of ten thousand files', async () => {
  const { user } = await app(manyChanges(10_000));
  await user.keyboard('{Control>}{Shift>}J{/Shift}{/Control}');
  const dialog = await page();
  await dialog.findByText(/1,204 more files changed/u);
  // Roles and names of so many elements take seconds.
  expect(document.querySelectorAll('li[data-file]')).toHaveLength(200);
  dialog.getByText('9,800 more: show 200');
});

it('is read again when the window gets the focus, and never while nothing happens', async () => {
  const { host } = await app();
  let nRead = 0;
  host.answers.changes = () => {
    nRead += 1;
    return Promise.resolve(WORKING);
  };
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  window.dispatchEvent(new Event('focus'));
  await vi.advanceTimersByTimeAsync(60_000);
  const before = nRead;
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(nRead).toBe(before);
  window.dispatchEvent(new Event('focus'));
  expect(nRead).toBe(before + 1);
});

it('is listed in the side panel, which opens the page at a file', async () => {
  const { user } = await app();
  await user.keyboard('{Control>}J{/Control}');
  const side = within(await screen.findByRole('complementary', { name: 'Changes and tasks' }));
  await side.findByText('12');
  await user.click(side.getByRole('button', { name: /^Changed: money.rs/u }));
  const dialog = await page();
  await dialog.findByRole('group', { name: 'Changes in src/money.rs, lines 12–13', hidden: true });
  expect(dialog.getAllByRole('button', { expanded: true, hidden: true })).toHaveLength(1);
});

it('collects comments by keyboard and mouse, keeps them, and puts them into the prompt box', async () => {
  const { user } = await app();
  await user.keyboard('{Control>}{Shift>}J{/Shift}{/Control}');
  const dialog = await page();
  await user.click(await dialog.findByRole('button', { name: /^Changed: src\/money.rs/u, hidden: true }));
  const lines = await dialog.findByRole('listbox', { name: 'Lines of src/money.rs, lines 12–13', hidden: true });
  lines.focus();
  await user.keyboard('{ArrowDown}{ArrowDown}{Shift>}{ArrowDown}{/Shift}');
  expect(within(lines).getAllByRole('option', { selected: true, hidden: true })).toHaveLength(2);
  await user.keyboard('{Enter}Which strategy?{Enter}');
  expect(document.activeElement).toBe(lines);
  // Esc first leaves the lines, and does not close the page.
  await user.keyboard('{Escape}');
  expect(within(lines).queryAllByRole('option', { selected: true, hidden: true })).toHaveLength(0);

  const numbers = [...lines.querySelectorAll('.gutter')] as [Element, Element, Element, Element, Element];
  await user.pointer([{ keys: '[MouseLeft>]', target: numbers[3] }, { target: numbers[4] }, { keys: '[/MouseLeft]' }]);
  await user.keyboard('Explain this.{Shift>}{Enter}{/Shift}In a line.');
  await user.click(dialog.getByRole('button', { name: 'Done', hidden: true }));
  expect(document.activeElement).toBe(lines);
  // One that gets no text is dropped.
  await user.pointer({ keys: '[MouseLeft]', target: numbers[0] });
  await user.keyboard('{Escape}');
  await dialog.findByText('2 comments · kept until sent');

  await user.click(dialog.getByRole('button', { name: 'Close', hidden: true }));
  await user.keyboard('{Control>}{Shift>}J{/Shift}{/Control}');
  await user.click((await page()).getByRole('button', { name: 'Add to prompt', hidden: true }));
  const box = await screen.findByRole<HTMLTextAreaElement>('textbox', { name: 'Prompt' });
  expect(box.value).toContain('`src/money.rs`, line 12:\n```diff\n-    Self(self.0.round_dp(2))\n+');
  expect(box.value).toContain('`src/money.rs`, lines 13–14:');
  expect(box.value).toContain('Explain this.\nIn a line.');
  expect(screen.queryByRole('dialog', { name: 'Changes', hidden: true })).toBeNull();
});

it('keeps the chosen lines when the same changes are read again', async () => {
  const { host, user } = await app();
  await user.keyboard('{Control>}{Shift>}J{/Shift}{/Control}');
  const dialog = await page();
  await user.click(await dialog.findByRole('button', { name: /^Changed: src\/money.rs/u, hidden: true }));
  const lines = await dialog.findByRole('listbox', { name: 'Lines of src/money.rs, lines 12–13', hidden: true });
  const numbers = [...lines.querySelectorAll('.gutter')] as [Element, Element, Element, Element];
  await user.pointer({ keys: '[MouseLeft>]', target: numbers[2] });

  const read = host.answers.fileDiff;
  const again: Promise<FileDiff>[] = [];
  host.answers.fileDiff = (session, query) => {
    const diff = read(session, query).then((one) => structuredClone(one));
    if (query.path === 'src/money.rs') again.push(diff);
    return diff;
  };
  window.dispatchEvent(new Event('focus'));
  await vi.waitFor(() => expect(again).not.toHaveLength(0));
  await Promise.all(again);
  await tick();
  await user.pointer([{ target: numbers[3] }, { keys: '[/MouseLeft]' }]);
  await dialog.findByRole('button', { name: 'Done', hidden: true });
});

it('sends comments as a prompt, and keeps those of a refused one', async () => {
  const { host, user } = await app();
  await user.keyboard('{Control>}{Shift>}J{/Shift}{/Control}');
  const dialog = await page();
  await user.click(dialog.getByRole('checkbox', { name: 'Side by side', hidden: true }));
  await user.click(await dialog.findByRole('button', { name: /^Changed: src\/money.rs/u, hidden: true }));
  (await dialog.findByRole('grid', { name: 'Lines of src/money.rs, lines 12–13', hidden: true })).focus();
  await user.keyboard('{End}{Enter}Test it.{Enter}');
  const sent: string[] = [];
  let isAccepted = false;
  host.command = (_, command) => {
    if (command.type === 'prompt') sent.push(command.text);
    return isAccepted ? Promise.resolve() : Promise.reject(new Error('refused'));
  };
  const send = dialog.getByRole('button', { name: 'Send comments', hidden: true });
  await user.click(send);
  await dialog.findByText('1 comment · kept until sent');
  isAccepted = true;
  await user.click(send);
  await vi.waitFor(() => expect(dialog.queryByRole('button', { name: 'Send comments', hidden: true })).toBeNull());
  expect(sent).toHaveLength(2);
  expect(sent[1]).toContain('`src/money.rs`, line 14:\n```diff\n }\n```\nTest it.');
});

it('comments on nothing when the pointer is taken away, and offers an emptied comment again', async () => {
  const { user } = await app();
  await user.keyboard('{Control>}{Shift>}J{/Shift}{/Control}');
  const dialog = await page();
  await user.click(await dialog.findByRole('button', { name: /^Changed: src\/money.rs/u, hidden: true }));
  const lines = await dialog.findByRole('listbox', { name: 'Lines of src/money.rs, lines 12–13', hidden: true });
  const numbers = [...lines.querySelectorAll('.gutter')] as [Element, Element];
  await user.pointer({ keys: '[MouseLeft>]', target: numbers[0] });
  window.dispatchEvent(new Event('pointercancel'));
  await user.pointer({ keys: '[/MouseLeft]', target: numbers[1] });
  expect(dialog.queryByRole('textbox', { name: /^Comment on/u, hidden: true })).toBeNull();
  expect(within(lines).queryAllByRole('option', { selected: true, hidden: true })).toHaveLength(0);

  lines.focus();
  await user.keyboard('{Home}{Enter}Why?{Enter}');
  await user.click(dialog.getByRole('button', { name: /^Edit the comment/u, hidden: true }));
  await user.clear(dialog.getByRole('textbox', { name: /^Comment on/u, hidden: true }));
  await user.keyboard('{Enter}');
  await dialog.findByText(/^Removed the comment on money.rs/u);
  await user.click(dialog.getByRole('button', { name: 'Undo', hidden: true }));
  await dialog.findByText('Why?');
});

it('copies patches, and reverts a file and a part of it after a question', async () => {
  const { host, user } = await app();
  const copied: string[] = [];
  host.writeClipboard = async (text) => void copied.push(await text);
  const reverts = vi.spyOn(host, 'revertChange');
  await user.keyboard('{Control>}{Shift>}J{/Shift}{/Control}');
  const dialog = await page();
  await user.click(await dialog.findByRole('button', { name: 'Copy patch', hidden: true }));
  await dialog.findByText('Copied a patch of 11 files. assets/logo.png: a binary file is left out of the patch.');
  await user.click(dialog.getByRole('button', { name: 'Copy patch of money.rs', hidden: true }));
  await dialog.findByText('Copied a patch of 1 file.');
  expect(copied[1]).toBe('diff --git a/src/money.rs b/src/money.rs\n');

  await user.click(dialog.getByRole('button', { name: /^Changed: src\/money.rs/u, hidden: true }));
  const revert = await dialog.findByRole('button', { name: 'Revert lines 12–13 of money.rs…', hidden: true });
  // It is before its lines, and those of the other part, in which nothing changed, are after them.
  const [first, second] = dialog.getAllByRole('listbox', { name: /^Lines of src\/money.rs/u, hidden: true });
  expect(revert.compareDocumentPosition(first as Node)).toBe(Node.DOCUMENT_POSITION_FOLLOWING);
  const next = dialog.getByRole('button', { name: 'Comment on line 41 of money.rs', hidden: true });
  expect(first?.compareDocumentPosition(next)).toBe(Node.DOCUMENT_POSITION_FOLLOWING);
  expect(next.compareDocumentPosition(second as Node)).toBe(Node.DOCUMENT_POSITION_FOLLOWING);
  expect(dialog.queryByRole('button', { name: 'Revert line 41 of money.rs…', hidden: true })).toBeNull();
  await user.click(revert);
  const ask = within(await screen.findByRole('dialog', { name: 'Revert a part of money.rs?', hidden: true }));
  expect(reverts).not.toHaveBeenCalled();
  await user.click(ask.getByRole('button', { name: 'Revert this part', hidden: true }));
  await dialog.findByText('Reverted src/money.rs.');
  const hunk = { oldStart: 11, nOld: 3, newStart: 11, nNew: 4 };
  const change = { path: 'src/money.rs', oldPath: null, version: 'src/money.rs', hunk };
  expect(reverts.mock.calls[0]?.[2]).toEqual(change);

  await user.click(dialog.getByRole('button', { name: 'Revert money.rs…', hidden: true }));
  const again = within(await screen.findByRole('dialog', { name: 'Revert money.rs?', hidden: true }));
  again.getByRole('group', { name: 'Changes in src/money.rs', hidden: true });
  await user.click(again.getByRole('button', { name: 'Revert file', hidden: true }));
  await dialog.findByText(/^11 files · /u);
  await user.click(dialog.getByRole('button', { name: 'Undo revert', hidden: true }));
  await dialog.findByText(/^12 files · /u);
  expect(dialog.queryByRole('button', { name: 'Undo revert', hidden: true })).toBeNull();
  await expect.poll(() => document.activeElement?.textContent).toBe('Brought the change of src/money.rs back.');
});

it('says why a revert is refused, and reverts nothing that cannot be read', async () => {
  const { host, user } = await app();
  await user.keyboard('{Control>}{Shift>}J{/Shift}{/Control}');
  const dialog = await page();
  await user.click(await dialog.findByRole('button', { name: 'Revert decimal…', hidden: true }));
  await dialog.findByText('A submodule: 1f2e3d4c before, 5b6a7988 now.');
  const message = 'The file has changed since it was shown.';
  const error = { code: 'changedSince', message, detail: null, files: ['src/money.rs'] };

  host.revertChange = () => Promise.reject(error);
  await user.click(dialog.getByRole('button', { name: 'Revert money.rs…', hidden: true }));
  const ask = within(await screen.findByRole('dialog', { name: 'Revert money.rs?', hidden: true }));
  await user.click(ask.getByRole('button', { name: 'Revert file', hidden: true }));
  await dialog.findByText('Nothing was reverted: The file has changed since it was shown. src/money.rs');
  expect(dialog.queryByRole('button', { name: 'Undo revert', hidden: true })).toBeNull();
});

it('opens a file in the editor, at its first change once that is known', async () => {
  const { host, user } = await app();
  await user.keyboard('{Control>}{Shift>}J{/Shift}{/Control}');
  const dialog = await page();
  const edit = await dialog.findByRole('button', { name: 'Open money.rs in editor', hidden: true });
  await user.click(edit);
  await user.click(dialog.getByRole('button', { name: /^Changed: src\/money.rs/u, hidden: true }));
  await dialog.findByRole('listbox', { name: 'Lines of src/money.rs, lines 12–13', hidden: true });
  await user.click(edit);
  expect(host.edited).toEqual([
    ['src/money.rs', null],
    ['src/money.rs', 12],
  ]);
  // A deleted file cannot be opened.
  expect(dialog.queryByRole('button', { name: 'Open old.rs in editor', hidden: true })).toBeNull();
});

it('comments on a part and opens it in the editor with the buttons beside it', async () => {
  const { host, user } = await app();
  await user.keyboard('{Control>}{Shift>}J{/Shift}{/Control}');
  const dialog = await page();
  await user.click(await dialog.findByRole('button', { name: /^Changed: src\/money.rs/u, hidden: true }));
  await user.click(
    await dialog.findByRole('button', { name: 'Open in editor at lines 12–13 of money.rs', hidden: true }),
  );
  expect(host.edited).toEqual([['src/money.rs', 12]]);
  await user.click(dialog.getByRole('button', { name: 'Comment on lines 12–13 of money.rs', hidden: true }));
  await user.keyboard('The whole part.{Enter}');
  await dialog.findByText('1 comment · kept until sent');
  await user.click(dialog.getByRole('button', { name: 'Add to prompt', hidden: true }));
  const box = await screen.findByRole<HTMLTextAreaElement>('textbox', { name: 'Prompt' });
  expect(box.value).toContain('`src/money.rs`, lines 11–14:');
});

it('reports that no editor was found', async () => {
  const { host, user } = await app();
  host.openInEditor = () => Promise.reject({ code: 'badCommand', message: 'No editor was found.', detail: null });
  await user.keyboard('{Control>}{Shift>}J{/Shift}{/Control}');
  const dialog = await page();
  await user.click(await dialog.findByRole('button', { name: 'Open money.rs in editor', hidden: true }));
  await screen.findByText(/The file was not opened/u);
  await screen.findByText(/No editor was found\./u);
});
