import { fireEvent, screen } from '@testing-library/svelte';
import { createRawSnippet, tick } from 'svelte';
import { describe, expect, it } from 'vitest';

import { draw } from '../../test/draw';
import { at, batch, prompt, session, snapshot } from '../../test/make';
import { SessionState } from '../state/session.svelte';
import Transcript from './Transcript.svelte';

const VIEW = 500;
const ROW = 42;
const nothing = createRawSnippet(() => ({ render: () => '<i></i>' }));

/** A log of `n` rows in a view of 500 pixels, measured as if each row were 42 pixels tall. */
async function transcript(n: number) {
  const state = new SessionState(session());
  state.load(
    snapshot(
      n,
      Array.from({ length: n }, (_, i) => at(i, prompt(`p${i}`))),
    ),
  );
  const drawn = await draw(Transcript, { session: state, footer: nothing, empty: nothing });
  const log = screen.getByRole('log');
  let height = n * ROW;
  Object.defineProperty(log, 'clientHeight', { get: () => VIEW });
  Object.defineProperty(log, 'scrollHeight', { get: () => height });
  const scroll = async (top: number) => {
    log.scrollTop = top;
    await fireEvent.scroll(log);
    await tick();
  };
  const add = async () => {
    const { seq } = state;
    height += ROW;
    const total = state.held.total + 1;
    const item = at(total - 1, prompt(`p${seq}`));
    state.apply(batch(seq, [{ type: 'itemAdded', item }], seq + 1, { ...state.held, end: total, total }));
    await tick();
  };
  await scroll(height - VIEW);
  return { ...drawn, state, log, scroll, add, end: () => height - VIEW };
}

const button = () => screen.queryByRole('button', { name: /new|Latest/ });

describe('a transcript', () => {
  it('follows its end while the reader is there', async () => {
    const { log, add, end } = await transcript(20);
    await add();
    expect(log.scrollTop).toBe(end());
    expect(button()).toBeNull();
  });

  it('stays put once the reader has gone up, and counts what is new', async () => {
    const { log, scroll, add, end } = await transcript(20);
    await scroll(end() - 100);
    const top = log.scrollTop;
    await add();
    await add();
    expect(log.scrollTop).toBe(top);
    expect(button()?.textContent).toContain('2 new');
  });

  it('goes back to the end with the button, and follows again', async () => {
    const { log, scroll, add, end } = await transcript(20);
    await scroll(0);
    await fireEvent.click(button() as HTMLElement);
    expect(log.scrollTop).toBe(end());
    await add();
    expect(log.scrollTop).toBe(end());
    expect(button()).toBeNull();
  });

  it('follows again when the reader scrolls back to the end', async () => {
    const { scroll, add, end, log } = await transcript(20);
    await scroll(end() - 200);
    await scroll(end() - 10);
    await add();
    expect(log.scrollTop).toBe(end());
  });

  it('draws a part of a long one only', async () => {
    const { log, scroll } = await transcript(10_000);
    const drawn = () => log.querySelectorAll('.row').length;
    expect(drawn()).toBeLessThan(150);
    await scroll(5_000 * ROW);
    expect(drawn()).toBeLessThan(150);
    expect(log.textContent).not.toContain('p9999');
  });
});
