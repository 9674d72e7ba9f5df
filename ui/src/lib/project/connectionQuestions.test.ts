import { render, screen } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';

import { App } from '../../test/parts';
import { FakeHost } from '../../fake/host';
import { QUESTIONS } from '../../fake/far';
import { ManualClock } from '../../test/clock';

beforeEach(() => localStorage.clear());

async function page(scene: string) {
  const host = new FakeHost(scene);
  onTestFinished(() => host.close());
  render(App, { host, clock: new ManualClock() });
  await screen.findAllByRole('heading');
  await Promise.resolve();
  return { host, user: userEvent.setup() };
}

describe.each(['far-connecting', 'far', 'far-failed', 'projects'])('a question of a connection in “%s”', (scene) => {
  it('is answered with a hidden text, which the page does not keep', async () => {
    const { host, user } = await page(scene);
    host.askForConnection(QUESTIONS.password);
    const field = await screen.findByLabelText<HTMLInputElement>('Answer', { selector: 'input' });
    expect(field.type).toBe('password');
    await expect.poll(() => document.activeElement).toBe(field);
    await user.keyboard('hunter2{Enter}');
    expect(host.answered).toEqual([['q1', 'hunter2']]);
    expect(field.value).toBe('');
    expect(screen.queryByLabelText('Answer', { selector: 'input' })).toBeNull();
  });

  it('is withdrawn when ssh needs no answer', async () => {
    const { host } = await page(scene);
    host.askForConnection(QUESTIONS.touch);
    await screen.findByText(/Touch the key/);
    host.endQuestion('q1');
    await expect.poll(() => screen.queryByText(/Touch the key/)).toBeNull();
    expect(host.answered).toEqual([]);
  });
});

describe('a question of a connection', () => {
  it('shows a host key whole, and Enter says no', async () => {
    const { host, user } = await page('far-connecting');
    host.askForConnection(QUESTIONS.hostKey);
    await screen.findByRole('heading', { name: 'Is this really box?' });
    expect(screen.getAllByText(QUESTIONS.hostKey.fingerprint, { exact: false }).length).toBeGreaterThan(0);
    await expect.poll(() => document.activeElement?.textContent).toBe('No');
    await user.keyboard('{Enter}');
    expect(host.answered).toEqual([['q1', 'no']]);
  });

  it('accepts a host key only by its button', async () => {
    const { host, user } = await page('far-connecting');
    host.askForConnection(QUESTIONS.hostKey);
    await user.click(await screen.findByRole('button', { name: 'Yes, this is box' }));
    expect(host.answered).toEqual([['q1', 'yes']]);
  });

  it('ends the connection when it is cancelled', async () => {
    const { host, user } = await page('far-connecting');
    host.askForConnection(QUESTIONS.password);
    await user.type(await screen.findByLabelText('Answer'), 'hunter2');
    await user.click(screen.getByRole('button', { name: 'Cancel' }));
    expect(host.answered).toEqual([['q1', null]]);
  });

  it('shows every character, and is asked one after the other', async () => {
    const { host, user } = await page('far-connecting');
    host.askForConnection(QUESTIONS.hostile);
    host.askForConnection({ ...QUESTIONS.again, id: 'q2' });
    await screen.findByText(/Asked by your ssh or by box/);
    expect(document.body.textContent).toContain('\\u{202E}');
    for (const odd of ['\u202e', '\u001b', '\u200b']) expect(document.body.textContent).not.toContain(odd);
    await user.keyboard('a{Enter}');
    await screen.findByText(/The last answer was not accepted/);
    await user.keyboard('b{Enter}');
    expect(host.answered).toEqual([
      ['q1', 'a'],
      ['q2', 'b'],
    ]);
  });
});
