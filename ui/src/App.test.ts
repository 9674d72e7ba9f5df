import { fireEvent, render, screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { tick } from 'svelte';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';

import { App } from './test/parts';
import type { Command } from './lib/bindings/api';
import { FakeHost } from './fake/host';
import { commandRequest } from './fake/script';
import { ManualClock } from './test/clock';

beforeEach(() => localStorage.clear());

async function app(scene: string) {
  const host = new FakeHost(scene);
  onTestFinished(() => host.close());
  const commands: Command[] = [];
  const carryOut = host.command.bind(host);
  host.command = (id, command) => {
    commands.push(command);
    return carryOut(id, command);
  };
  render(App, { host, clock: new ManualClock() });
  await screen.findByRole('main');
  return { host, commands, user: userEvent.setup() };
}

describe('the names that tests and screen readers go by', () => {
  it('names the log, the box, the list and the open session', async () => {
    await app('conversation');
    const log = screen.getByRole('log', { name: 'Conversation' });
    expect(log.getAttribute('aria-live')).toBe('off');
    screen.getByRole('textbox', { name: 'Prompt' });
    screen.getByRole('button', { name: 'Send' });
    screen.getByRole('button', { name: 'New session' });
    const list = screen.getByRole('navigation', { name: 'Sessions' });
    const current = within(list)
      .getAllByRole('button')
      .filter((row) => row.getAttribute('aria-current') === 'true');
    expect(current.map((row) => row.textContent)).toEqual([expect.stringContaining('Round half to even in totals')]);
  });

  it('says whose turn it is in the title and to a screen reader', async () => {
    await app('permission');
    expect(document.title).toBe('Needs input · Round half to even in totals — ledger');
    const said = screen.getAllByRole('status').map((element) => element.textContent);
    expect(said.filter((words) => words !== '')).toEqual(['Needs input: Wants to run a command']);
    screen.getByRole('group', { name: 'Permission request' });
    screen.getByRole('button', { name: 'Stop' });
  });

  it('gives every button a name', async () => {
    await app('permission');
    for (const button of screen.getAllByRole('button')) {
      const name = button.getAttribute('aria-label') ?? button.textContent.trim();
      expect(name, button.className).not.toBe('');
    }
  });
});

describe('a window', () => {
  it('takes a card away when the request was answered elsewhere', async () => {
    const { host } = await app('permission');
    host.session('s1')?.resolve('q1', { type: 'allowed', always: null });
    await vi.waitFor(() => expect(screen.queryByRole('group', { name: 'Permission request' })).toBeNull());
  });

  it('shows a request that comes', async () => {
    const { host } = await app('conversation');
    void host.session('s1')?.ask(commandRequest('q9', 'make'), 'Wants to run a command');
    await screen.findByRole('group', { name: 'Permission request' });
    expect(document.title).toMatch(/^Needs input/);
  });

  it('sends a prompt, queues the next, and lets it be changed and withdrawn', async () => {
    const { commands, user } = await app('streaming');
    const box = screen.getByRole('textbox', { name: 'Prompt' });
    await user.type(box, 'and one more{Enter}');
    expect(commands).toEqual([{ type: 'prompt', text: 'and one more', attachments: [], delivery: 'afterTurn' }]);
    const queue = await screen.findByRole('list', { name: 'Queued prompts' });
    await within(queue).findByText('and one more');
    await user.click(within(queue).getAllByRole('button', { name: 'Remove queued prompt' })[1] as HTMLElement);
    expect(commands.at(-1)).toMatchObject({ type: 'withdraw' });
    await vi.waitFor(() => expect(within(queue).queryByText('and one more')).toBeNull());
  });

  it('puts the queue in another order, and keeps the focus on what was moved', async () => {
    const { user } = await app('streaming');
    await user.type(screen.getByRole('textbox', { name: 'Prompt' }), 'and one more{Enter}');
    const queue = await screen.findByRole('list', { name: 'Queued prompts' });
    const texts = () =>
      within(queue)
        .getAllByRole('listitem')
        .map((row) => row.querySelector('.text')?.textContent);
    await vi.waitFor(() => expect(texts()).toHaveLength(2));
    const last = within(queue).getAllByRole('button', { name: 'Move up' })[1] as HTMLElement;
    await user.click(last);
    await vi.waitFor(() => expect(texts()[0]).toBe('and one more'));
    await vi.waitFor(() => expect(document.activeElement?.closest('li')?.textContent).toContain('and one more'));
  });

  it('offers to send held prompts again', async () => {
    const { commands, user } = await app('held');
    await user.click(screen.getByRole('button', { name: 'Send now' }));
    expect(commands).toEqual([{ type: 'resend', promptId: 'p-next' }]);
  });

  it('puts a refused prompt back and says why', async () => {
    const { host, user } = await app('conversation');
    const refusal = { code: 'refused', message: 'The disk is full.', detail: 'ENOSPC' };
    host.command = () => Promise.reject(refusal as unknown as Error);
    const box = screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Prompt' });
    await user.type(box, 'do it{Enter}');
    await vi.waitFor(() => expect(box.value).toBe('do it'));
    expect(screen.getByRole('alert').textContent).toContain('The prompt was not sent. The disk is full.');
    await user.click(screen.getByRole('button', { name: 'Dismiss' }));
    expect(screen.getByRole('alert').textContent).toBe('');
  });

  it('opens a tool call and shows its output', async () => {
    const { user } = await app('conversation');
    const row = screen.getByRole('button', { name: /Ran cargo test/ });
    expect(row.getAttribute('aria-expanded')).toBe('false');
    await user.click(row);
    expect(row.getAttribute('aria-expanded')).toBe('true');
    expect(screen.getByRole('group', { name: 'Output' }).textContent).toContain('4 passed; 0 failed');
  });

  it('opens another session and keeps the draft of each', async () => {
    const { user } = await app('conversation');
    const box = () => screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Prompt' });
    await user.type(box(), 'for the first');
    await user.click(screen.getByRole('button', { name: /Explain the import/ }));
    await vi.waitFor(() => expect(document.title).toContain('Explain the import'));
    expect(box().value).toBe('');
    await user.click(screen.getByRole('button', { name: /Round half to even/ }));
    await vi.waitFor(() => expect(box().value).toBe('for the first'));
  });

  it('starts a session and runs a turn in it', async () => {
    const { user } = await app('start');
    await user.type(screen.getByRole('textbox', { name: 'Prompt' }), 'Fix the totals{Enter}');
    await vi.waitFor(() => expect(document.title).toBe('Working · Fix the totals — ledger'));
    await user.click(await screen.findByRole('button', { name: 'Stop' }));
    await vi.waitFor(() => expect(screen.getByRole('log').textContent).toContain('Interrupted'));
  });

  it('goes to its empty session with Ctrl+N, whose agent starts with the first key', async () => {
    const { commands, user } = await app('conversation');
    const sessions = () => within(screen.getByRole('navigation', { name: 'Sessions' })).getAllByText('New session');
    for (let n = 0; n < 3; n += 1) await user.keyboard('{Control>}n{/Control}');
    await vi.waitFor(() => expect(sessions()).toHaveLength(1));
    expect(commands).toEqual([]);
    await user.type(screen.getByRole('textbox', { name: 'Prompt' }), 'Fix');
    expect(commands).toEqual([{ type: 'start' }]);
  });

  it('hides and shows the sessions with Ctrl+B', async () => {
    await app('conversation');
    await fireEvent.keyDown(document.body, { key: 'b', ctrlKey: true });
    expect(screen.queryByRole('navigation', { name: 'Sessions' })).toBeNull();
    await fireEvent.keyDown(document.body, { key: 'b', ctrlKey: true });
    screen.getByRole('navigation', { name: 'Sessions' });
  });

  it('is drawn larger and smaller by keys, and in the size of the settings again', async () => {
    const { host } = await app('conversation');
    for (const key of ['+', '+', '-', '0']) {
      await fireEvent.keyDown(document.body, { key, ctrlKey: true });
      await tick();
    }
    expect(host.zoomSteps).toEqual(['larger', 'larger', 'smaller', 'usual']);
  });

  it('goes through its parts with F6, and back with Shift+F6', async () => {
    const { user } = await app('streaming');
    const where = () => document.activeElement?.closest('[data-part]')?.getAttribute('data-part');
    screen.getByRole('textbox', { name: 'Prompt' }).focus();
    const passed = [];
    for (const keys of ['{F6}', '{F6}', '{F6}', '{F6}', '{Shift>}{F6}{/Shift}']) {
      await user.keyboard(keys);
      passed.push(where());
    }
    expect(passed).toEqual(['sessions', 'conversation', 'queue', 'composer', 'queue']);
  });

  it('goes to a request that waits', async () => {
    const { user } = await app('permission');
    screen.getByRole('textbox', { name: 'Prompt' }).focus();
    await user.keyboard('{F6}{F6}');
    expect(document.activeElement).toBe(screen.getByRole('group', { name: 'Permission request' }));
  });

  it('finds actions in the palette', async () => {
    const { user } = await app('conversation');
    await fireEvent.keyDown(document.body, { key: 'k', ctrlKey: true });
    await user.type(screen.getByRole('combobox', { hidden: true }), 'import pipe');
    await user.keyboard('{Enter}');
    await vi.waitFor(() => expect(document.title).toContain('Explain the import pipeline'));
  });
});

describe('without an agent', () => {
  it('lists what was tried and starts the demo agent', async () => {
    const { user } = await app('missing');
    screen.getByRole('heading', { name: 'Claude Code was not found' });
    expect(screen.getByRole('region', { name: 'Searched places' }).textContent).toContain('no program named claude');
    await user.click(screen.getByRole('button', { name: 'Try the demo agent' }));
    await screen.findByRole('textbox', { name: 'Prompt' });
    expect(screen.getByRole('log').textContent).toContain('demo agent');
  });
});

describe('an agent that cannot work', () => {
  it('says what to do above the prompt, and is checked again with the focus', async () => {
    const { host, user } = await app('ready-login');
    const obstacle = await screen.findByRole('region', { name: 'Claude Code is not ready' });
    expect(obstacle.textContent).toContain('claude auth login');
    await user.type(screen.getByRole('textbox', { name: 'Prompt' }), 'kept');
    await user.click(screen.getByRole('button', { name: 'Open terminal' }));
    expect(host.outside).toEqual(['login']);
    host.readiness = { type: 'ready' };
    await fireEvent.focus(window);
    await vi.waitFor(() => expect(screen.queryByRole('region', { name: 'Claude Code is not ready' })).toBeNull());
    expect(screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Prompt' }).value).toBe('kept');
  });

  it('has the program chosen', async () => {
    const { host, user } = await app('ready-broken');
    const obstacle = await screen.findByRole('region', { name: 'Claude Code is not ready' });
    expect(obstacle.textContent).toContain('No such file or directory');
    await user.click(screen.getByRole('button', { name: 'Choose…' }));
    expect(host.outside).toEqual(['choose']);
  });

  it('is logged in from a terminal when /login is typed', async () => {
    const { host, user } = await app('conversation');
    await user.type(screen.getByRole('textbox', { name: 'Prompt' }), '/login{Escape}{Enter}');
    const dialog = await screen.findByRole('dialog', { name: 'Log in to Claude Code', hidden: true });
    await user.click(within(dialog).getByRole('button', { name: 'Open terminal', hidden: true }));
    expect(host.outside).toEqual(['login']);
  });
});

describe('a folder that cannot be worked in', () => {
  it('says why', async () => {
    await app('bad');
    expect(screen.getByRole('main').textContent).toContain('The folder does not exist any more.');
  });
});

it('says so when there is no host', async () => {
  const host = new FakeHost();
  host.connect = () => Promise.reject(new Error('no such command'));
  render(App, { host });
  await tick();
  expect((await screen.findByRole('alert')).textContent).toBe('no such command');
});
