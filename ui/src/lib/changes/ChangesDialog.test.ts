import { render, screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { beforeEach, expect, it, onTestFinished, vi } from 'vitest';

import App from '../../App.svelte';
import { FakeHost } from '../host/fake';
import { manyChanges, WORKING } from '../host/fake/changes';
import { ManualClock } from '../../test/clock';

beforeEach(() => localStorage.clear());

async function app(changes = WORKING) {
  const host = new FakeHost('normal');
  onTestFinished(() => host.close());
  host.workingChanges = changes;
  render(App, { host, clock: new ManualClock() });
  await screen.findByRole('main');
  return { host, user: userEvent.setup() };
}

const page = async () => within(await screen.findByRole('dialog', { name: 'Changes', hidden: true }));

it('opens by its key, and unfolds a diff in line and side by side', async () => {
  const { user } = await app();
  await user.keyboard('{Control>}{Shift>}J{/Shift}{/Control}');
  const dialog = await page();
  await dialog.findByText(/Compared with commit 9f8b1c22: 12 files/u);
  const file = dialog.getByRole('button', { name: /^Changed: src\/money.rs/u, hidden: true });
  expect(file.getAttribute('aria-expanded')).toBe('false');
  await user.click(file);
  await dialog.findByRole('group', { name: 'Changes in src/money.rs', hidden: true });
  await user.click(dialog.getByRole('checkbox', { name: 'Side by side', hidden: true }));
  await dialog.findByRole('group', { name: 'Changes in src/money.rs, side by side', hidden: true });
});

it('compares with another moment', async () => {
  const { host, user } = await app();
  const asked: string[] = [];
  host.changes = (_, against) => {
    asked.push(against);
    return Promise.resolve({ ...WORKING, base: { type: 'noPrompt' }, files: [] });
  };
  await user.keyboard('{Control>}{Shift>}J{/Shift}{/Control}');
  const dialog = await page();
  await user.selectOptions(dialog.getByRole('combobox', { name: 'Compare with', hidden: true }), 'Last prompt');
  await dialog.findByText(/there is nothing to compare with/u);
  expect(asked.at(-1)).toBe('prompt');
});

it('draws a part of ten thousand files', async () => {
  const { user } = await app(manyChanges(10_000));
  await user.keyboard('{Control>}{Shift>}J{/Shift}{/Control}');
  const dialog = await page();
  await dialog.findByText(/1,204 more files changed/u);
  expect(dialog.getAllByRole('listitem', { hidden: true }).length).toBeLessThan(300);
  dialog.getByRole('button', { name: '9,800 more: show 200', hidden: true });
});

it('is read again when the window gets the focus, and never while nothing happens', async () => {
  const { host } = await app();
  let nRead = 0;
  host.changes = () => {
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
  await dialog.findByRole('group', { name: 'Changes in src/money.rs', hidden: true });
  expect(dialog.getAllByRole('button', { expanded: true, hidden: true })).toHaveLength(1);
});

it('collects comments by keyboard and mouse, keeps them, and puts them into the prompt box', async () => {
  const { user } = await app();
  await user.keyboard('{Control>}{Shift>}J{/Shift}{/Control}');
  const dialog = await page();
  await user.click(await dialog.findByRole('button', { name: /^Changed: src\/money.rs/u, hidden: true }));
  const lines = await dialog.findByRole('listbox', { name: 'Lines of src/money.rs', hidden: true });
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
  // One that gets no text is dropped.
  await user.pointer({ keys: '[MouseLeft]', target: numbers[0] });
  await user.keyboard('{Escape}');
  await dialog.findByText('2 comments, kept until they are sent');

  await user.click(dialog.getByRole('button', { name: 'Close', hidden: true }));
  await user.keyboard('{Control>}{Shift>}J{/Shift}{/Control}');
  await user.click((await page()).getByRole('button', { name: 'Add to prompt', hidden: true }));
  const box = await screen.findByRole<HTMLTextAreaElement>('textbox', { name: 'Prompt' });
  expect(box.value).toContain('`src/money.rs`, line 12:\n```diff\n-    Self(self.0.round_dp(2))\n+');
  expect(box.value).toContain('`src/money.rs`, lines 13–14:');
  expect(box.value).toContain('Explain this.\nIn a line.');
  expect(screen.queryByRole('dialog', { name: 'Changes', hidden: true })).toBeNull();
});

it('sends comments as a prompt, and keeps those of a refused one', async () => {
  const { host, user } = await app();
  await user.keyboard('{Control>}{Shift>}J{/Shift}{/Control}');
  const dialog = await page();
  await user.click(dialog.getByRole('checkbox', { name: 'Side by side', hidden: true }));
  await user.click(await dialog.findByRole('button', { name: /^Changed: src\/money.rs/u, hidden: true }));
  (await dialog.findByRole('grid', { name: 'Lines of src/money.rs', hidden: true })).focus();
  await user.keyboard('{End}{Enter}Test it.{Enter}');
  const sent: string[] = [];
  let isAccepted = false;
  host.command = (_, command) => {
    if (command.type === 'prompt') sent.push(command.text);
    return isAccepted ? Promise.resolve() : Promise.reject(new Error('refused'));
  };
  const send = dialog.getByRole('button', { name: 'Send comments', hidden: true });
  await user.click(send);
  await dialog.findByText('1 comment, kept until they are sent');
  isAccepted = true;
  await user.click(send);
  await vi.waitFor(() => expect(dialog.queryByRole('button', { name: 'Send comments', hidden: true })).toBeNull());
  expect(sent).toHaveLength(2);
  expect(sent[1]).toContain('`src/money.rs`, line 41:\n```diff\n mod tests {\n```\nTest it.');
});
