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
