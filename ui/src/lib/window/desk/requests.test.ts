// Requests answered by key.

import { afterEach, describe, expect, it, vi } from 'vitest';

import { FakeHost } from '../../../fake/host';
import { ProjectState } from '../../project/project.svelte';
import { answer } from './requests';

afterEach(() => document.body.replaceChildren());

/** Answers a request whose button was armed now, by a key that was pressed so many milliseconds before. */
async function answered(before: number, armed = true): Promise<boolean> {
  const host = new FakeHost('empty');
  const project = await ProjectState.start(host);
  const card = document.createElement('div');
  const button = document.createElement('button');
  card.id = 'request-r1';
  card.append(button);
  document.body.append(card);
  const armedAt = performance.now();
  Object.assign(button.dataset, { answer: 'allow', armed: String(armed), armedAt: String(armedAt) });
  const onclick = vi.fn();
  button.addEventListener('click', onclick);
  button.focus();
  const key = new KeyboardEvent('keydown', { key: 'a', altKey: true });
  Object.defineProperty(key, 'timeStamp', { value: armedAt - before });
  answer(project, 'allow', vi.fn(), key);
  host.close();
  return onclick.mock.calls.length > 0;
}

describe('the key that allows', () => {
  it('presses the button', async () => {
    expect(await answered(0)).toBe(true);
  });

  it('presses nothing that is not armed', async () => {
    expect(await answered(0, false)).toBe(false);
  });

  it('does not count if it was pressed before the button was armed, and arrives late', async () => {
    expect(await answered(300)).toBe(false);
  });
});
