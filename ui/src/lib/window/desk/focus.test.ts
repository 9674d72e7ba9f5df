// The keyboard is never nowhere: after every answer and every closed overlay it is back in the prompt.

import { fireEvent, screen } from '@testing-library/svelte';
import { tick } from 'svelte';
import { beforeEach, describe, expect, it, vi } from 'vitest';

import { openApp, promptBox } from '../../../test/app';
import { ARM_MS } from '../../session/asking/arming.svelte';
import type { PermissionRequest } from '../../bindings/api';
import { commandRequest, planRequest, questionRequest } from '../../../fake/script';

beforeEach(() => localStorage.clear());
// The find bar marks its hits by it.
vi.stubGlobal('CSS', { escape: (text: string) => text });

const inPrompt = () => expect.poll(() => document.activeElement).toBe(promptBox());
const press = (key: string, init: KeyboardEventInit = {}) =>
  fireEvent.keyDown(document.activeElement ?? document.body, { key, ...init });
const ctrl = { ctrlKey: true };
const alt = { altKey: true };

/** A window with this request, whose buttons are armed. */
async function asked(request: PermissionRequest) {
  const opened = await openApp();
  const { host, clock } = opened;
  const session = host.session('s1');
  const answers: string[] = [];
  host.command = (_id, command) => {
    if (command.type !== 'decide') return Promise.resolve();
    answers.push(command.decision.type);
    session?.patch({ requests: session.facts.requests.filter(({ id }) => id !== command.requestId) });
    return Promise.resolve();
  };
  session?.patch({ requests: [request] });
  await screen.findAllByText(request.question);
  await fireEvent.focus(window);
  await tick();
  const arm = async () => {
    clock.advance(ARM_MS);
    await tick();
  };
  return { ...opened, answers, arm };
}

const command = commandRequest('q1', 'git push');

describe('a request is answered by two keys', () => {
  it.each([
    ['a permission', command, 'a', 'allowOnce'],
    ['a permission', command, 'd', 'deny'],
    ['a question', questionRequest('q1'), 'd', 'deny'],
    ['a plan', planRequest('q1'), 'a', 'approvePlan'],
    ['a plan', planRequest('q1'), 'd', 'deny'],
  ])('%s: from the prompt and from its card', async (_name, request, key, answer) => {
    const fromPrompt = await asked(request);
    await fromPrompt.arm();
    promptBox().focus();
    await press(key, alt);
    await expect.poll(() => fromPrompt.answers).toEqual([answer]);
    await inPrompt();
    fromPrompt.host.session('s1')?.patch({ requests: [{ ...request, id: 'q2' }] });
    await expect.poll(() => document.getElementById('request-q2')).not.toBeNull();
    await fromPrompt.arm();
    await press('r', alt);
    await expect.poll(() => document.activeElement?.id).toBe('request-q2');
    await press(key, alt);
    await expect.poll(() => fromPrompt.answers).toEqual([answer, answer]);
    await inPrompt();
  });

  it.each(['a', 'd'])('Alt+%s answers nothing before it is armed, and shows the request', async (key) => {
    const { answers } = await asked(command);
    promptBox().focus();
    await press(key, alt);
    await expect.poll(() => document.activeElement?.id).toBe('request-q1');
    await press('Enter');
    expect(answers).toEqual([]);
  });

  it.each(['a', 'd'])('Alt+%s that is held answers nothing', async (key) => {
    const { answers, arm } = await asked(command);
    await arm();
    await press(key, { ...alt, repeat: true });
    expect(answers).toEqual([]);
  });

  it('answers nothing below a dialog', async () => {
    const { answers, arm } = await asked(command);
    await arm();
    await press(',', ctrl);
    await screen.findByRole('dialog', { name: 'Settings' });
    await press('a', alt);
    await expect.poll(() => document.activeElement?.id).toBe('request-q1');
    expect(screen.queryByRole('dialog', { name: 'Settings' })).toBeNull();
    expect(answers).toEqual([]);
  });

  it('denies with the reason that is being written', async () => {
    const { answers, arm, user, host } = await asked(command);
    const decide = vi.spyOn(host, 'command');
    await user.click(screen.getByRole('button', { name: 'Deny with reason…' }));
    await user.keyboard('use a branch');
    await arm();
    await press('d', alt);
    await expect.poll(() => answers).toEqual(['deny']);
    expect(JSON.stringify(decide.mock.calls)).toContain('use a branch');
    await inPrompt();
  });

  it('shows the request of another session', async () => {
    const { host } = await openApp();
    const { id } = await host.createSession('demo', false);
    host.session(id)?.patch({ requests: [command] });
    await press('r', alt);
    await expect.poll(() => document.activeElement?.id).toBe('request-q1');
  });
});

describe('the focus is in the prompt after', () => {
  it.each([
    ['the palette', 'k', ctrl, 'Commands and sessions'],
    ['the search', 'F', { ...ctrl, shiftKey: true }, 'Search in sessions'],
    ['the help', 'F1', {}, 'Keys'],
  ])('%s closes, by key and by mouse', async (_name, key, init, name) => {
    const { user } = await openApp();
    for (const close of [
      // The browser closes a dialog by Esc.
      (dialog: HTMLDialogElement) => dialog.close(),
      (dialog: HTMLDialogElement) => user.click(dialog),
    ]) {
      await inPrompt();
      await press(key, init);
      await close(await screen.findByRole<HTMLDialogElement>('dialog', { name }));
      await expect.poll(() => screen.queryByRole('dialog', { name })).toBeNull();
      await inPrompt();
    }
  });

  it('the settings close, by key and by mouse, with the draft and the scroll position as they were', async () => {
    const { user } = await openApp();
    await inPrompt();
    await user.keyboard('half a thought');
    const log = screen.getByRole('log', { name: 'Conversation' });
    log.scrollTop = 12;
    for (const close of [
      (page: HTMLDialogElement) => page.close(),
      () => user.click(screen.getAllByRole('button', { name: /^Back to ledger/ })[0] ?? document.body),
    ]) {
      await press(',', ctrl);
      await close(await screen.findByRole<HTMLDialogElement>('dialog', { name: 'Settings' }));
      await expect.poll(() => screen.queryByRole('dialog', { name: 'Settings' })).toBeNull();
      await inPrompt();
      expect(screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Prompt' }).value).toBe('half a thought');
      expect(screen.getByRole('log', { name: 'Conversation' })).toBe(log);
      expect(log.scrollTop).toBe(12);
    }
  });

  it('a dialog of the settings closes, and only with the settings', async () => {
    const { user } = await openApp();
    await inPrompt();
    await press(',', ctrl);
    await user.click(await screen.findByRole('button', { name: 'Change keys…' }));
    (await screen.findByRole<HTMLDialogElement>('dialog', { name: 'Change keys' })).close();
    await expect.poll(() => screen.queryByRole('dialog', { name: 'Change keys' })).toBeNull();
    screen.getByRole<HTMLDialogElement>('dialog', { name: 'Settings' }).close();
    await expect.poll(() => screen.queryByRole('dialog', { name: 'Settings' })).toBeNull();
    await inPrompt();
  });

  it.each([
    ['Escape', 'Totals{Escape}', 'Totals'],
    ['Enter', 'Totals{Enter}', null],
  ])('the title was edited, by %s', async (_key, typed, absent) => {
    const { user } = await openApp();
    await press('F2');
    await expect.poll(() => document.activeElement?.getAttribute('aria-label')).toBe('Title of the session');
    await user.clear(document.activeElement as Element);
    await user.keyboard(typed);
    await inPrompt();
    if (absent !== null) expect(screen.queryByRole('heading', { name: absent })).toBeNull();
    else expect(await screen.findByRole('heading', { name: 'Totals' })).toBeTruthy();
  });

  it.each([
    ['the list of sessions', 'b', () => screen.getAllByRole('button', { name: /^New session/ })[0]],
    ['changes and tasks', 'j', () => screen.getByRole('button', { name: 'Close' })],
  ])('%s closes around it', async (_name, key, inside) => {
    await openApp();
    if (key === 'j') await press(key, ctrl);
    inside()?.focus();
    expect(document.activeElement).toBe(inside());
    await press(key, ctrl);
    await inPrompt();
  });

  it('the find bar closes, by key and by mouse', async () => {
    const { user } = await openApp();
    for (const close of [
      () => user.keyboard('{Escape}'),
      () => user.click(screen.getByRole('button', { name: 'Close' })),
    ]) {
      await press('f', ctrl);
      await screen.findByRole('textbox', { name: 'Find in the conversation' });
      await close();
      await inPrompt();
    }
  });

  it.each(['Deny with reason…', 'Edit'])('a panel of a card closes: “%s”', async (panel) => {
    const { user } = await asked(command);
    for (const close of [
      () => user.keyboard('{Escape}'),
      () => user.click(screen.getByRole('button', { name: 'Cancel' })),
    ]) {
      await user.click(screen.getByRole('button', { name: panel }));
      await expect.poll(() => document.activeElement?.tagName).toBe('TEXTAREA');
      await close();
      await inPrompt();
    }
  });

  it('a removal is confirmed or not', async () => {
    const { user, host } = await openApp();
    for (const answer of ['Cancel', 'Remove session']) {
      await user.click(screen.getByRole('button', { name: 'More' }));
      await user.click(screen.getByRole('menuitem', { name: 'Remove session' }));
      await user.click(await screen.findByRole('button', { name: answer }));
      await inPrompt();
      await expect.poll(() => host.session('s1') === undefined).toBe(answer === 'Remove session');
    }
  });
});
