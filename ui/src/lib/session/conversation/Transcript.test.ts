import { fireEvent, screen } from '@testing-library/svelte';
import { createRawSnippet, tick } from 'svelte';
import { describe, expect, it, vi } from 'vitest';

import type { Body } from '../../bindings/api';
import { draw } from '../../../test/draw';
import { at, batch, paragraph, prompt, session, snapshot, text } from '../../../test/make';
import { tool, whole } from '../../../fake/script';
import { SessionState } from '../session.svelte';
import Transcript from './Transcript.svelte';

const VIEW = 500;
const ROW = 42;
const nothing = createRawSnippet(() => ({ render: () => '<i></i>' }));

/** A log of `n` rows in a 500-pixel viewport; every row measures 42 pixels. */
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
  const resize = (by: number) => (height += by);
  await scroll(height - VIEW);
  return { ...drawn, state, log, scroll, add, resize, end: () => height - VIEW };
}

/** A prompt, and an answer in slices that is still written. */
async function answers(nSlices: number) {
  const state = new SessionState(session());
  const slices = Array.from({ length: nSlices }, (_, nr) => {
    const isLast = nr + 1 === nSlices;
    const slice = { of: 'a', nr, isLast, block: nr, continues: false, isContinued: false };
    const item = at(nr + 1, { ...text(`a~${nr}`, paragraph(`words ${nr}`)), slice });
    return { ...item, body: { type: 'text' as const, blocks: [paragraph(`words ${nr}`)], streaming: isLast } };
  });
  state.load(snapshot(0, [at(0, prompt('p')), ...slices]));
  await draw(Transcript, { session: state, footer: nothing, empty: nothing });
  return { state, log: screen.getByRole('log') };
}

/** A long prompt or thought in slices, and a prompt below it. `n` of its slices are rows. */
async function longText(body: Body, n: number) {
  const state = new SessionState(session());
  const item = (nr: number, nSlices: number) => {
    const slice = { of: 't', nr, isLast: nr + 1 === nSlices, block: 0, continues: nr > 0, isContinued: true };
    return { ...at(nr, prompt(nr === 0 ? 't' : `t~${nr}`)), slice, body };
  };
  const slices = Array.from({ length: n }, (_, nr) => item(nr, Math.max(2, n)));
  state.load(snapshot(0, [...slices, at(n, prompt('p'))]));
  let shown: ReturnType<typeof Transcript> | undefined;
  // A component is a function that returns what the component exports.
  const Caught: typeof Transcript = (...drawn) => (shown = Transcript(...drawn));
  await draw(Caught, { session: state, footer: nothing, empty: nothing });
  return { state, item, show: shown, log: screen.getByRole('log') };
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

  it.each([
    ['the wheel', (log: HTMLElement) => fireEvent.wheel(log, { deltaY: -100 })],
    ['a key', (log: HTMLElement) => fireEvent.keyDown(log, { key: 'PageUp' })],
    ['the scrollbar', (log: HTMLElement) => fireEvent.pointerDown(log)],
  ])('leaves its end by %s, even if something comes before the view has moved', async (_name, move) => {
    const { log, add, end } = await transcript(20);
    await move(log);
    // The browser moves the viewport; the scroll event follows later.
    log.scrollTop = end() - 100;
    const top = log.scrollTop;
    await add();
    await add();
    expect(log.scrollTop).toBe(top);
    await fireEvent.scroll(log);
    await add();
    expect(log.scrollTop).toBe(top);
    expect(button()?.textContent).toContain('new');
  });

  it('leaves its end by a wheel that is told of once the view has moved', async () => {
    const { log, add, end } = await transcript(20);
    log.scrollTop = end() - 100;
    const top = log.scrollTop;
    await fireEvent.wheel(log, { deltaY: -100 });
    expect(button()?.textContent).toContain('Latest');
    await add();
    expect(log.scrollTop).toBe(top);
  });

  it('follows on if nothing came of a move of the wheel', async () => {
    const { log, add, end } = await transcript(20);
    await fireEvent.wheel(log, { deltaY: -1 });
    expect(button()).toBeNull();
    await add();
    await vi.waitFor(() => expect(log.scrollTop).toBe(end()), { timeout: 10_000 });
    await add();
    expect(log.scrollTop).toBe(end());
  });

  it('follows on while the wheel turns what is inside of it', async () => {
    const { log, add, end } = await transcript(20);
    const row = log.querySelector('.row') as HTMLElement;
    row.scrollTop = 10;
    await fireEvent.wheel(row, { deltaY: -100 });
    await add();
    expect(log.scrollTop).toBe(end());
  });

  it('follows on when what is drawn again shrinks and grows between two looks', async () => {
    const { log, add, resize, end } = await transcript(20);
    resize(-200);
    log.scrollTop = end();
    resize(300);
    await fireEvent.scroll(log);
    await add();
    expect(log.scrollTop).toBe(end());
    expect(button()).toBeNull();
  });

  it('lets the pointer go with its button', async () => {
    const { log, add, resize, end } = await transcript(20);
    await fireEvent.pointerDown(log);
    await fireEvent.pointerMove(window, { buttons: 0 });
    resize(-200);
    log.scrollTop = end();
    resize(300);
    await add();
    expect(log.scrollTop).toBe(end());
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

  it('counts as new only what came since it was drawn', async () => {
    const state = new SessionState(session());
    state.load(
      snapshot(
        9,
        Array.from({ length: 90 }, (_, i) => at(i, prompt(`q${i}`))),
      ),
    );
    state.place = { following: false, index: 3, offset: 0 };
    await draw(Transcript, { session: state, footer: nothing, empty: nothing });
    expect(button()?.textContent.trim()).toBe('Latest');
  });

  it('reads the slices of a long answer as one', async () => {
    const { log } = await answers(4);
    const articles = screen.getAllByRole('article', { name: 'Answer' });
    expect(articles.map((article) => article.querySelectorAll('.row').length)).toEqual([4]);
    expect(log.querySelectorAll('.row')).toHaveLength(5);
    expect(articles[0]?.getAttribute('aria-busy')).toBe('true');
  });

  it.each([
    ['a long prompt', 'Your prompt', { type: 'prompt', text: 'words', nImages: 1, nDocuments: 0, state: 'held' }],
    [
      'a long message',
      'Message of another session',
      { type: 'message', sender: { name: 'docs', agentSessionId: 'a', folder: '/p' }, text: 'words' },
    ],
    ['a long thought', 'Thought', { type: 'thinking', text: 'words', streaming: false, durationMs: 2000 }],
  ] as const)('reads the slices of %s as one', async (_name, label, body) => {
    const { state, log } = await longText(body, 3);
    const [article, ...others] = screen.getAllByRole('article', { name: label });
    expect([article?.querySelectorAll('.row').length, others.length]).toEqual([3, 0]);
    const [first] = state.rows;
    if (body.type === 'thinking' && first?.kind === 'item') {
      expect(log.textContent).not.toContain('words');
      expect(screen.getByRole('button', { name: 'Thought for 2 s' }).getAttribute('aria-expanded')).toBe('false');
      state.unfold(first.item, true);
      await tick();
    }
    expect(log.textContent.match(/words/g)).toHaveLength(3);
    expect(screen.queryAllByText('1 image')).toHaveLength(body.type === 'prompt' ? 1 : 0);
  });

  it.each([
    ['Tool call', tool('command', 'Ran', 'it', { type: 'command', command: 'words', output: whole([]) })],
    ['Note', { type: 'notice', level: 'info', text: 'a note', detail: 'words', untilAt: null }],
  ] as [string, Body][])('draws the slices of a long one as one, once it is unfolded: %s', async (label, body) => {
    const { state, log } = await longText(body, 3);
    const [article] = screen.getAllByRole('article', { name: label });
    expect(article?.querySelectorAll('.row').length).toBe(3);
    expect(log.textContent.match(/words/g)?.length ?? 0).toBe(label === 'Note' ? 1 : 0);
    const [first] = state.rows;
    const onunfold = vi.fn();
    state.onunfold = onunfold;
    if (first?.kind === 'item') state.unfold(first.item, true);
    await tick();
    expect(log.textContent.match(/words/g)).toHaveLength(3);
    expect(onunfold).toHaveBeenCalledOnce();
    // The head of the call and its buttons are there once, and so is what it says of its output.
    expect(screen.queryAllByRole('button', { name: 'Copy command' })).toHaveLength(label === 'Note' ? 0 : 1);
    expect(screen.queryAllByText('No output')).toHaveLength(label === 'Note' ? 0 : 1);
  });

  it('unfolds a long thought to show the slice with a hit', async () => {
    const thought = { type: 'thinking', text: 'words', streaming: false, durationMs: 2000 } as const;
    const { state, show, item } = await longText(thought, 1);
    const onunfold = vi.fn();
    state.onunfold = onunfold;
    show?.showItem('t', 0, true, 2);
    await tick();
    expect([onunfold.mock.calls.length, state.unfolded]).toEqual([1, ['t']]);
    state.load(snapshot(1, [item(0, 3), item(1, 3), item(2, 3), at(3, prompt('p'))]));
    await tick();
    expect(state.place).toMatchObject({ following: false, index: 2 });
  });

  it('leaves the row being read in place when rows come before it', async () => {
    const { state, log, scroll, resize } = await transcript(100);
    await scroll(50 * ROW);
    const { index, offset } = state.place;
    const prompts = Array.from({ length: 100 }, (_, i) => at(i < 20 ? i : i + 30, prompt(`p${i}`)));
    const added = Array.from({ length: 30 }, (_, i) => at(i + 20, prompt(`new${i}`)));
    resize(30 * ROW);
    state.load(snapshot(state.seq, [...prompts, ...added]));
    await tick();
    expect(state.place).toEqual({ following: false, index: index + 30, offset });
    expect(log.scrollTop).toBeGreaterThan(50 * ROW + 30 * ROW);
    expect(log.textContent).toContain(`p${index}`);
    expect(log.textContent).not.toContain('new0');
  });

  it('draws all rows between the two ends of a selection, because what is not drawn could not be copied', async () => {
    const { log, scroll } = await transcript(200);
    const rows = () => [...log.querySelectorAll('.row')];
    const [from] = rows().slice(-1);
    if (from === undefined) throw new Error('no rows');
    document.getSelection()?.setBaseAndExtent(from, 0, from, 1);
    document.dispatchEvent(new Event('selectionchange'));
    await scroll(log.scrollTop - 8 * VIEW);
    expect(rows()).toContain(from);
    expect(rows().length).toBeGreaterThan(8 * (VIEW / ROW));
    document.getSelection()?.removeAllRanges();
    document.dispatchEvent(new Event('selectionchange'));
    await tick();
    expect(rows()).not.toContain(from);
  });
});
