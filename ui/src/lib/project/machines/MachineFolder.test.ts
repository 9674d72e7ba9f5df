import { render, screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';

import { App } from '../../../test/parts';
import { FakeHost } from '../../../fake/host';
import { ManualClock } from '../../../test/clock';

beforeEach(() => localStorage.clear());

async function page(scene: string) {
  const host = new FakeHost(scene);
  onTestFinished(() => host.close());
  render(App, { host, clock: new ManualClock() });
  await screen.findByRole('main');
  return { host, user: userEvent.setup() };
}

async function form() {
  const { host, user } = await page('projects');
  await user.click(screen.getByRole('button', { name: 'Open on another machine…' }));
  const machine = screen.getByRole('textbox', { name: 'Machine' });
  return { host, user, machine, folder: screen.getByRole('textbox', { name: 'Folder on that machine' }) };
}

describe('the form for another machine', () => {
  it('opens a folder that was found by looking around there', async () => {
    const { host, user, machine, folder } = await form();
    expect(document.activeElement).toBe(machine);
    await user.click(await screen.findByRole('button', { name: 'box' }));
    await user.click(screen.getByRole('button', { name: 'Browse' }));
    const there = await screen.findByRole('group', { name: 'Folders there' });
    await user.click(within(there).getByRole('button', { name: 'code' }));
    await user.click(await within(there).findByRole('button', { name: 'lighthouse' }));
    await expect.poll(() => (folder as HTMLInputElement).value).toBe('/home/ines/code/lighthouse');
    await user.click(screen.getByRole('button', { name: 'Open' }));
    await expect.poll(() => host.start.done).toEqual(['open box:/home/ines/code/lighthouse']);
    expect(screen.queryByRole('textbox', { name: 'Machine' })).toBeNull();
  });

  it('shows what ssh said, and tries again', async () => {
    const { host, user, machine } = await form();
    await user.type(machine, 'down{Enter}');
    const problem = (await screen.findByText('box cannot be reached.')).closest('[role=alert]');
    expect(problem?.textContent).toContain('Permission denied (publickey,password).');
    expect(problem?.textContent).toContain('“ssh box” in a terminal shows whether');
    const folders = vi.spyOn(host, 'farFolders');
    await user.click(screen.getByRole('button', { name: 'Try again' }));
    expect(folders).toHaveBeenCalledWith('down', '');
    await screen.findByText('box cannot be reached.');
    expect(host.start.done).toEqual([]);
  });

  it('opens nothing once it is closed', async () => {
    const { host, user, machine } = await form();
    let answer: () => void = () => {};
    vi.spyOn(host, 'farFolders').mockImplementation(
      () =>
        new Promise((resolve) => {
          answer = () => resolve({ path: '/srv', parent: '/', folders: [], isCut: false });
        }),
    );
    await user.type(machine, 'box{Enter}');
    await screen.findByText(/Connecting to box/);
    await user.click(screen.getByRole('button', { name: 'Cancel' }));
    answer();
    await Promise.resolve();
    expect(host.start.done).toEqual([]);
    expect(document.activeElement).toBe(screen.getByRole('button', { name: 'Open on another machine…' }));
  });

  it('shows a hostile name with every character visible', async () => {
    const { user, machine } = await form();
    await user.type(machine, 'box');
    await user.click(screen.getByRole('button', { name: 'Browse' }));
    const there = await screen.findByRole('group', { name: 'Folders there' });
    expect(there.textContent).not.toContain('\u202e');
  });
});

describe('the window of a project on another machine', () => {
  it('asks nothing that would read files of this computer', async () => {
    const asked = ['checkReadiness', 'worktrees'] as const;
    const host = new FakeHost('far');
    onTestFinished(() => host.close());
    const calls = asked.map((name) => vi.spyOn(host, name));
    const user = userEvent.setup();
    render(App, { host, clock: new ManualClock() });
    const box = await screen.findByRole('textbox', { name: /prompt/i });
    await user.type(box, 'look at @src');
    for (const call of calls) expect(call).not.toHaveBeenCalled();
  });

  it('searches the sessions of its machine', async () => {
    const host = new FakeHost('far');
    onTestFinished(() => host.close());
    const search = vi.spyOn(host, 'searchSessions');
    const user = userEvent.setup();
    render(App, { host, clock: new ManualClock() });
    await screen.findByRole('main');
    await user.keyboard('{Control>}{Shift>}f{/Shift}{/Control}');
    await user.type(await screen.findByRole('combobox', { name: 'Search in sessions' }), 'money');
    await vi.waitFor(() => expect(search.mock.calls.at(-1)?.[1]).toBe('money'));
  });

  it('lists the files of its machine, or says in their place why there are none', async () => {
    const host = new FakeHost('far');
    onTestFinished(() => host.close());
    const user = userEvent.setup();
    render(App, { host, clock: new ManualClock() });
    await user.type(await screen.findByRole('textbox', { name: /prompt/i }), 'look at @lib');
    expect((await screen.findAllByRole('option')).length).toBeGreaterThan(0);
    vi.spyOn(host, 'findFiles').mockRejectedValue({ code: 'refused', message: 'It is too old.', detail: null });
    await user.keyboard('.');
    await screen.findByText('It is too old.');
    expect(screen.queryAllByRole('option')).toEqual([]);
  });

  it('waits for the machine, and says why it was not reached', async () => {
    await page('far-connecting');
    screen.getByRole('heading', { name: 'Connecting to box…' });
  });

  it('connects again', async () => {
    const { user } = await page('far-failed');
    screen.getByText('box cannot be reached.');
    await user.click(screen.getByRole('button', { name: 'Connect again' }));
    await screen.findByRole('heading', { name: 'Connecting to box…' });
  });
});
