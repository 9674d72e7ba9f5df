import { render, screen, waitFor, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { tick } from 'svelte';
import { describe, expect, it, vi } from 'vitest';

import type { BackgroundTask, TaskOutput } from '../../bindings/api';
import { outputLine } from '../../../fake/markdown';
import { ManualClock } from '../../../test/clock';
import Harness from '../../../test/Harness.svelte';
import BackgroundList from './BackgroundList.svelte';

const TASK: BackgroundTask = {
  id: 'b1',
  itemId: null,
  kind: 'command',
  description: 'npm run dev',
  startedAt: Date.now(),
  tokens: null,
  nToolUses: null,
  activity: null,
  hasOutput: true,
  isStopping: false,
};

function output(texts: string[], isCut = false): TaskOutput {
  return { lines: texts.map((text) => outputLine(text)), isCut };
}

function list(load: (taskId: string) => Promise<TaskOutput | null>, tasks = [TASK]) {
  const clock = new ManualClock();
  const inner = { tasks, total: tasks.length, onstop: () => {}, load };
  render(Harness, { component: BackgroundList, inner, clock } as never);
  const passes = async (ms: number) => {
    clock.advance(ms);
    await tick();
  };
  return { user: userEvent.setup(), passes };
}

const pane = () => screen.getByRole('group', { name: 'Output so far' });
const button = () => screen.getByRole('button', { name: 'Output npm run dev' });

describe('the output of a task in the background', () => {
  it('is read while it is open, once a second, and not before or after', async () => {
    const texts = ['one'];
    const load = vi.fn(() => Promise.resolve(output([...texts])));
    const { user, passes } = list(load);
    expect(load).not.toHaveBeenCalled();
    await user.click(button());
    expect(button().getAttribute('aria-expanded')).toBe('true');
    await waitFor(() => expect(pane().textContent).toContain('one'));
    texts.push('two');
    await passes(1_000);
    await waitFor(() => expect(pane().textContent).toContain('two'));
    await user.click(button());
    expect(screen.queryByRole('group')).toBeNull();
    const nCalls = load.mock.calls.length;
    await passes(5_000);
    expect(load).toHaveBeenCalledTimes(nCalls);
    expect(load).toHaveBeenCalledWith('b1');
  });

  it('is not asked for again before the answer', async () => {
    const load = vi.fn(() => new Promise<TaskOutput>(() => {}));
    const { user, passes } = list(load);
    await user.click(button());
    await passes(10_000);
    expect(load).toHaveBeenCalledTimes(1);
  });

  it.each([
    [() => Promise.resolve(output([])), 'Nothing was written yet.'],
    [() => Promise.resolve(null), 'There is no output to show.'],
    [() => Promise.resolve(output(['the end'], true)), 'Only the end is shown.'],
    [
      () => Promise.reject({ code: 'refused', message: 'The output could not be read.', detail: 'it is a link' }),
      'The output could not be read. (it is a link)',
    ],
  ])('says what there is to show', async (load: () => Promise<TaskOutput | null>, words) => {
    const { user } = list(load);
    await user.click(button());
    await within(pane()).findByText(words);
  });

  it('stays where the user reads, and follows the end otherwise', async () => {
    const { user, passes } = list(() => Promise.resolve(output(['line'])));
    await user.click(button());
    await waitFor(() => expect(pane().textContent).toContain('line'));
    Object.defineProperties(pane(), { scrollHeight: { value: 900 }, clientHeight: { value: 100 } });
    await passes(1_000);
    await waitFor(() => expect(pane().scrollTop).toBe(900));
    pane().scrollTop = 300;
    pane().dispatchEvent(new Event('scroll'));
    await passes(2_000);
    expect(pane().scrollTop).toBe(300);
  });

  it('says that a task is a monitor', () => {
    const monitor: BackgroundTask = { ...TASK, kind: 'monitor', description: '' };
    list(() => Promise.resolve(null), [monitor, { ...TASK, id: 'b2' }]);
    screen.getByText('A monitor');
    expect(screen.getAllByText(/^Monitor · /u)).toHaveLength(1);
  });

  it('is offered only where there is one', () => {
    list(() => Promise.resolve(null), [{ ...TASK, hasOutput: false }]);
    expect(screen.queryByRole('button', { name: /Output/u })).toBeNull();
  });
});
