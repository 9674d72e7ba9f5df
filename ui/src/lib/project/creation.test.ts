import { fireEvent, screen } from '@testing-library/svelte';
import { tick } from 'svelte';
import { describe, expect, it, vi } from 'vitest';

import { openApp, promptBox } from '../../test/app';

const newSession = () => fireEvent.keyDown(document.activeElement ?? document.body, { key: 'n', ctrlKey: true });

/** Such a window that creates a session, with a text in the open session's draft. */
async function openSlowly() {
  const app = await opened();
  promptBox().focus();
  await app.user.keyboard('for the old one');
  await newSession();
  return app;
}

/** A window whose new sessions are created only when `late` is resolved. */
async function opened(scene?: string) {
  localStorage.clear();
  const app = await openApp(scene);
  const create = app.host.createSession.bind(app.host);
  const late = { resolve: () => {}, reject: (_reason: unknown) => {} };
  const released = new Promise<void>((resolve, reject) => Object.assign(late, { resolve, reject }));
  app.host.createSession = async (...args) => {
    await released;
    return create(...args);
  };
  return { ...app, late };
}

describe('what is typed before a new session is open', () => {
  it('is the draft of the new session, and the old one keeps its own', async () => {
    const { user, late } = await openSlowly();
    await user.keyboard('for the ');
    expect(promptBox().value).toBe('for the ');
    late.resolve();
    await expect.poll(() => document.title).toContain('New session');
    await user.keyboard('new one');
    expect(promptBox().value).toBe('for the new one');
    expect(localStorage.getItem('deskbell.draft.s1')).toBe('for the old one');
  });

  it('is sent to the new session', async () => {
    const { host, user, late } = await openSlowly();
    const command = vi.spyOn(host, 'command');
    await user.keyboard('Go on{Enter}');
    expect(command).not.toHaveBeenCalled();
    late.resolve();
    const sent = () => command.mock.calls.filter(([, { type }]) => type === 'prompt');
    await expect.poll(() => sent().map(([id]) => id)).toEqual(['s-new-1']);
    expect(localStorage.getItem('deskbell.draft.s1')).toBe('for the old one');
  });

  it('opens a side question of the new session', async () => {
    const { host, user, late } = await openSlowly();
    const command = vi.spyOn(host, 'command');
    await user.keyboard('/btw where is it?{Escape}{Enter}');
    await tick();
    expect(screen.queryByRole('region', { name: 'Side questions' })).toBeNull();
    late.resolve();
    const field = await screen.findByRole<HTMLTextAreaElement>('textbox', { name: 'Side question' });
    await expect.poll(() => field.value).toBe('where is it?');
    await expect.poll(() => document.activeElement).toBe(field);
    await user.keyboard('{Enter}');
    const asked = () => command.mock.calls.filter(([, { type }]) => type === 'askSide').map(([id]) => id);
    await expect.poll(asked).toEqual(['s-new-1']);
  });

  it.each([
    ['the page without a session', async () => {}],
    ['that page, while a session is being created', newSession],
  ])('opens a side question of the new session from %s', async (_name, begin) => {
    const { host, user, late } = await opened('start');
    const command = vi.spyOn(host, 'command');
    promptBox().focus();
    await begin();
    await user.keyboard('/btw where is it?{Escape}{Enter}');
    late.resolve();
    const field = await screen.findByRole<HTMLTextAreaElement>('textbox', { name: 'Side question' });
    expect(field.value).toBe('where is it?');
    await expect.poll(() => document.activeElement).toBe(field);
    expect(promptBox().value).toBe('');
    expect(command.mock.calls.map(([, { type }]) => type)).not.toContain('prompt');
  });

  it('is kept for the next one if none was created, also when it was sent', async () => {
    const { user, late } = await openSlowly();
    await user.keyboard('Go on{Enter}');
    late.reject({ code: 'internal', message: 'The disk is full.', detail: null });
    await expect.poll(() => localStorage.getItem('deskbell.draft.new:/home/ines/ledger')).toBe('Go on');
    expect(promptBox().value).toBe('for the old one');
  });

  it('is sent in order from the page without a session', async () => {
    const { host, user, late } = await opened('start');
    const command = vi.spyOn(host, 'command');
    promptBox().focus();
    await newSession();
    await user.keyboard('First{Enter}Second{Enter}');
    expect(promptBox().value).toBe('');
    late.resolve();
    const sent = () => command.mock.calls.flatMap(([id, sent]) => (sent.type === 'prompt' ? [[id, sent.text]] : []));
    await expect.poll(sent).toEqual([
      ['s-new-1', 'First'],
      ['s-new-1', 'Second'],
    ]);
    expect(promptBox().value).toBe('');
  });
});
