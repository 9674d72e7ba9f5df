// Requests answered by key.

import { afterEach, describe, expect, it, vi } from 'vitest';

import { FakeHost } from '../../../fake/host';
import { ProjectState } from '../../project/project.svelte';
import { answer } from './requests';

afterEach(() => document.body.replaceChildren());

/** Answers a request whose button was armed now, by a key that was pressed so many milliseconds before. */
async function answered(before: number, armed = true, repeat = false): Promise<boolean> {
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
  const key = new KeyboardEvent('keydown', { key: 'a', altKey: true, repeat });
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

  it('presses nothing while it is held down', async () => {
    expect(await answered(0, true, true)).toBe(false);
  });

  it('presses nothing behind a menu, a dialog or a question', async () => {
    for (const [name, attribute, value] of [
      ['div', 'role', 'menu'],
      ['div', 'role', 'alertdialog'],
      ['dialog', 'open', ''],
    ] as const) {
      const front = document.createElement(name);
      front.setAttribute(attribute, value);
      document.body.append(front);
      expect(await answered(0)).toBe(false);
      document.body.replaceChildren();
    }
    expect(await answered(0)).toBe(true);
  });

  it('does not count if it was pressed before the button was armed, and arrives late', async () => {
    expect(await answered(300)).toBe(false);
  });
});
