import { render, screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { tick } from 'svelte';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';

import { App } from '../../../test/parts';
import { ManualClock } from '../../../test/clock';
import { draw } from '../../../test/draw';
import type { Command, RewindPreview } from '../../bindings/api';
import { FakeHost } from '../../../fake/host';
import { preview } from '../../../fake/rewind';
import type { FakeSession } from '../../../fake/session';
import RewindDialog from './RewindDialog.svelte';
import { restored } from './words';

beforeEach(() => localStorage.clear());

const radio = (name: string) => screen.getByRole<HTMLInputElement>('radio', { name, hidden: true });
const confirm = () => screen.getByRole<HTMLButtonElement>('button', { name: 'Rewind', hidden: true });

async function dialog(facts: Partial<RewindPreview> | null) {
  const onrewind = vi.fn();
  const shown = facts === null ? null : { ...preview('p', 'Fix it'), ...facts };
  const drawn = await draw(RewindDialog, { preview: shown, problem: null, busy: false, onrewind, onclose: () => {} });
  return { onrewind, redraw: drawn.redraw, text: () => drawn.container.textContent };
}

describe('the dialog', () => {
  it('shows what would change in each file, and sends the choice', async () => {
    const { onrewind, text } = await dialog({});
    const user = userEvent.setup();
    expect(radio('Files and conversation').checked).toBe(true);
    expect(text()).toContain('6 files');
    expect(text()).toContain('And 2 more files.');
    expect(text()).toContain('Not a text');
    expect(text()).toContain('Outside the project’s folder.');
    expect(text()).toContain('The undo cannot restore this file.');
    expect(screen.getAllByRole('group', { name: /^Changes in/, hidden: true })).toHaveLength(2);
    for (const [name, wish] of [
      ['Files and conversation', [true, true]],
      ['Files only', [true, false]],
      ['Conversation only', [false, true]],
    ] as const) {
      await user.click(radio(name));
      await user.click(confirm());
      expect(onrewind).toHaveBeenLastCalledWith(...wish);
    }
    expect(text(), 'of files nothing changes').not.toContain('6 files');
  });

  it('offers what is possible, and says why the rest is not', async () => {
    const { onrewind, text } = await dialog({ files: [], nMore: 0, filesProblem: 'No file checkpoint found.' });
    expect(text()).toContain('No file checkpoint found.');
    expect([radio('Files and conversation').disabled, radio('Files only').disabled]).toEqual([true, true]);
    await userEvent.setup().click(confirm());
    expect(onrewind).toHaveBeenLastCalledWith(false, true);
  });

  it('keeps its choice and the focus while the rewind is being carried out', async () => {
    const { onrewind, redraw } = await dialog({});
    const user = userEvent.setup();
    await user.click(confirm());
    await redraw({ busy: true });
    expect(document.activeElement).toBe(confirm());
    await user.click(confirm());
    expect(onrewind).toHaveBeenCalledTimes(1);
    const chosen = radio('Files and conversation');
    chosen.focus();
    expect(document.activeElement).toBe(chosen);
    await user.click(radio('Files only'));
    expect([chosen.checked, radio('Files only').checked]).toEqual([true, false]);
  });

  it('cannot be confirmed before the agent has answered, or if nothing is possible', async () => {
    await dialog(null);
    expect(confirm().disabled).toBe(true);
    expect(screen.getByRole('status', { hidden: true }).textContent).toContain('Asking the agent');
    document.body.replaceChildren();
    await dialog({ filesProblem: 'None.', conversationProblem: 'Not stored.' });
    expect(confirm().disabled).toBe(true);
  });
});

it('says what an undo restores', () => {
  const undo = { at: 0, prompt: '' };
  expect(restored({ ...undo, nFiles: 0, conversation: true })).toBe('the conversation');
  expect(restored({ ...undo, nFiles: 1, conversation: false })).toBe('1 file');
  expect(restored({ ...undo, nFiles: 3, conversation: true })).toBe('3 files and the conversation');
});

describe('in the window', () => {
  async function app() {
    const fake = new FakeHost('conversation');
    onTestFinished(() => fake.close());
    const commands: Command[] = [];
    const host = new Proxy(fake, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return (...given: unknown[]): unknown => {
          if (name === 'command') commands.push(given[1] as Command);
          return Reflect.apply(value, target, given);
        };
      },
    });
    render(App, { host, clock: new ManualClock() });
    await screen.findByRole('main');
    const session = fake.session('s1') as FakeSession;
    session.patch({ agentSessionId: 'a1', status: { type: 'completed' }, nBackground: 0, background: [] });
    await tick();
    return { commands, session, user: userEvent.setup() };
  }

  const box = () => screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Prompt' });

  it('goes back, returns the prompt’s text, and asks before an undo overwrites what is newer', async () => {
    const { commands, session, user } = await app();
    const last = session.items.findLast(({ body }) => body.type === 'prompt');
    const text = last?.body.type === 'prompt' ? last.body.text : '';
    const place = document.querySelector(`[data-item="${last?.id}"]`) as HTMLElement;
    await user.pointer({ target: place, keys: '[MouseRight]' });
    await user.click(within(await screen.findByRole('menu')).getByRole('menuitem', { name: 'Rewind to here…' }));
    const shown = within(await screen.findByRole('dialog', { name: 'Rewind to before this prompt' }));
    await user.click(await shown.findByRole('button', { name: 'Rewind' }));
    await expect.poll(() => screen.queryByRole('dialog')).toBeNull();
    expect(box().value).toBe(text);
    await expect.poll(() => document.activeElement === box()).toBe(true);
    expect(document.querySelector(`[data-item="${last?.id}"]`)).toBeNull();

    await user.click(await screen.findByRole('button', { name: 'Undo' }));
    const asked = within(await screen.findByRole('dialog', { name: 'Overwrite newer changes?' }));
    expect(asked.getByText('src/money.rs')).toBeTruthy();
    await user.click(asked.getByRole('button', { name: 'Overwrite and undo' }));
    await expect.poll(() => screen.queryByRole('button', { name: 'Undo' })).toBeNull();
    expect(commands).toContainEqual({ type: 'rewind', promptId: last?.id, files: true, conversation: true });
    expect(commands.slice(-2)).toEqual([
      { type: 'undoRewind', overwrite: false },
      { type: 'undoRewind', overwrite: true },
    ]);
  });

  it('says in the dialog why a rewind failed, and changes nothing', async () => {
    const { session, user } = await app();
    const last = session.items.findLast(({ body }) => body.type === 'prompt');
    const place = document.querySelector(`[data-item="${last?.id}"]`) as HTMLElement;
    await user.pointer({ target: place, keys: '[MouseRight]' });
    await user.click(within(await screen.findByRole('menu')).getByRole('menuitem', { name: 'Rewind to here…' }));
    const shown = within(await screen.findByRole('dialog', { name: 'Rewind to before this prompt' }));
    const error = { code: 'refused' as const, message: 'The disk is full.', detail: null };
    session.emit({ type: 'commandFailed', error });
    await shown.findByText('The disk is full.');
    expect(box().value).toBe('');
  });
});
