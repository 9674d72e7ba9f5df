import { render, screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';

import { App } from '../../../test/parts';
import { FakeHost } from '../../../fake/host';
import { ManualClock } from '../../../test/clock';

beforeEach(() => localStorage.clear());

async function page(scene = 'projects') {
  const host = new FakeHost(scene);
  onTestFinished(() => host.close());
  render(App, { host, clock: new ManualClock() });
  await screen.findByRole('main');
  return { host, done: host.start.done, user: userEvent.setup() };
}

const box = () => screen.getByRole('textbox', { name: 'Filter projects' });
const names = () => screen.queryAllByRole('listitem').map((row) => row.querySelector('.name')?.textContent);

describe('the start page', () => {
  it('lists the projects with what happens in them', async () => {
    await page();
    expect(names()[0]).toBe('ledger');
    const row = (name: string) =>
      within(screen.getByRole('list', { name: 'Projects' }))
        .getByText(name)
        .closest('li');
    expect(row('ledger')?.textContent).toContain('Needs input');
    expect(row('tide-tables')?.textContent).toContain('2 working');
    expect(row('prototype')?.textContent).toContain('Missing');
    expect(row('measurements')?.textContent).toContain('Not responding');
    expect(row('lighthouse')?.textContent).toContain('~/code');
  });

  it('asks where a missing folder is now, and no other', async () => {
    const { user, done } = await page();
    await user.click(screen.getByRole('button', { name: 'Where is prototype now?' }));
    expect(done).toEqual(['move /home/ines/old/prototype']);
    expect(screen.getAllByRole('button', { name: /^Where is/ })).toHaveLength(1);
  });

  it('opens what is typed, by keys alone', async () => {
    const { user, done } = await page();
    expect(document.activeElement).toBe(box());
    await user.keyboard('code light');
    expect(names()).toEqual(['lighthouse']);
    await user.keyboard('{Enter}');
    expect(done).toEqual(['open /home/ines/code/lighthouse']);
    await user.keyboard('{Escape}');
    expect(names()).toHaveLength(8);
    await user.keyboard('{ArrowDown}{ArrowDown}{Enter}');
    expect(done.at(-1)).toBe('open /home/ines/code/tide-tables');
    await user.keyboard('zz');
    expect(document.activeElement).toBe(box());
    expect((box() as HTMLInputElement).value).toBe('zz');
    await screen.findByText('No project matches');
    await user.keyboard('{Enter}');
    expect(done).toHaveLength(2);
  });

  it('has a menu with what applies, also by the keys that the user chose', async () => {
    const { host, done, user } = await page();
    await user.keyboard('{F10}{ArrowRight}');
    const items = [...screen.getByRole('menu', { name: 'File' }).querySelectorAll('[role=menuitem]')];
    expect(items.map((item) => item.querySelector('.label')?.textContent)).toEqual([
      'Open folder…',
      'Open on another machine…',
      'Quit Deskbell',
    ]);
    await user.keyboard('{Enter}');
    expect(done.at(-1)).toBe('choose');
    expect(document.activeElement).toBe(box());
    await host.setSetting('keys', [{ action: 'board', key: 'Alt+B' }]);
    await user.keyboard('{Alt>}b{/Alt}');
    expect(done.at(-1)).toBe('board');
  });

  it('goes back to the filter above the first row, and stays at the last', async () => {
    const { user } = await page();
    await user.keyboard('{ArrowDown}{ArrowUp}');
    expect(document.activeElement).toBe(box());
    await user.keyboard('{ArrowDown>9/}');
    expect(document.activeElement?.textContent).toContain('measurements');
  });

  it('opens, pins and removes by mouse', async () => {
    const { user, done } = await page();
    await user.click(screen.getByText('lighthouse'));
    expect(done).toEqual(['open /home/ines/code/lighthouse']);
    await user.click(screen.getByRole('button', { name: 'Pin exporter' }));
    expect(names().slice(0, 2)).toEqual(['ledger', 'exporter']);
    await user.click(screen.getByRole('button', { name: 'Remove prototype from the list' }));
    expect(names()).not.toContain('prototype');
    await user.click(screen.getByRole('button', { name: 'Clear the list' }));
    expect(names()).toEqual(['ledger', 'exporter']);
    expect(screen.queryByRole('button', { name: 'Clear the list' })).toBeNull();
    await user.click(screen.getByRole('button', { name: 'Unpin ledger' }));
    screen.getByRole('button', { name: 'Clear the list' });
  });

  it('removes with Delete, and the focus stays in the list', async () => {
    const { user } = await page();
    await user.keyboard('{ArrowDown>2/}{Delete}');
    expect(names()).not.toContain('tide-tables');
    expect(document.activeElement?.textContent).toContain('lighthouse');
    for (let n = 0; n < 7; n++) await user.keyboard('{Delete}');
    expect(names()).toEqual([]);
    expect(document.activeElement?.textContent).toContain('Open folder');
  });

  it('says why a project was not opened', async () => {
    const { user } = await page();
    await user.click(screen.getByText('prototype'));
    expect((await screen.findByRole('alert')).textContent).toContain('prototype does not exist');
  });

  it('shows a problem of the shell once, and again when it happens again', async () => {
    const { host, user } = await page('projects-problem');
    expect(screen.getByRole('alert').textContent).toContain('does not exist');
    await user.click(screen.getByRole('button', { name: 'Dismiss' }));
    const { view } = host.start;
    host.start.show({ ...view });
    expect(screen.getByRole('alert').textContent).toBe('');
    host.start.show({ ...view, problem: null });
    host.start.show(view);
    await screen.findByText(/does not exist/);
  });

  it('asks before the home folder, and Cancel is the default', async () => {
    const { user, done } = await page('projects-home');
    screen.getByRole('alertdialog', { name: 'Open your home folder as a project?' });
    await user.keyboard('{Enter}');
    expect(done).toEqual(['cancel']);
    expect(screen.queryByRole('alertdialog')).toBeNull();
    expect(document.activeElement).toBe(box());
  });

  it('has the chooser by key and by button, and the demo', async () => {
    const { user, done } = await page('projects-none');
    await user.keyboard('{Control>}o{/Control}');
    await user.click(screen.getByRole('button', { name: /Open folder/ }));
    await user.click(screen.getByRole('button', { name: 'Try the demo' }));
    expect(done).toEqual(['choose', 'choose', 'demo']);
  });

  it('says where to drop a folder', async () => {
    const { host } = await page();
    host.start.emit({ type: 'dragging', at: { x: 0.5, y: 0.5 } });
    await screen.findByText('Drop a folder to open it');
    host.start.emit({ type: 'dragging', at: null });
    await expect.poll(() => screen.queryByText('Drop a folder to open it')).toBeNull();
  });
});

describe("a project's window", () => {
  it('opens a folder by key, and recent projects from the palette', async () => {
    const { user, done } = await page('conversation');
    await user.keyboard('{Control>}o{/Control}');
    expect(done).toEqual(['choose']);
    await user.keyboard('{Control>}k{/Control}');
    await user.keyboard('open recent tide');
    await screen.findByText('Open recent: tide-tables');
    await user.keyboard('{Enter}');
    expect(done.at(-1)).toBe('open /home/ines/code/tide-tables');
    await user.keyboard('{Control>}k{/Control}start page{Enter}');
    expect(done.at(-1)).toBe('start page');
  });

  it('keeps the prompt of a second start as a draft, and sends nothing', async () => {
    const { host, user } = await page('conversation');
    const prompt = () => screen.getByRole('textbox', { name: 'Prompt' }) as HTMLTextAreaElement;
    await user.type(prompt(), 'mine');
    host.nameDraft('of a second start');
    await expect.poll(() => prompt().value).toBe('mine\nof a second start');
    expect(await host.takeDraft()).toBeNull();
    expect(screen.getByRole('log').textContent).not.toContain('of a second start');
  });

  it('offers another folder where its own cannot be used', async () => {
    const { user, done } = await page('bad');
    await user.click(screen.getByRole('button', { name: 'Open another folder…' }));
    expect(done).toEqual(['choose']);
  });

  it('lists neither itself nor missing projects', async () => {
    const { user } = await page('conversation');
    await user.keyboard('{Control>}k{/Control}open recent');
    await screen.findByText('Open recent: tide-tables');
    expect(screen.queryByText('Open recent: ledger')).toBeNull();
    expect(screen.queryByText('Open recent: prototype')).toBeNull();
  });
});
