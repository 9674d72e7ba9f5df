import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { Batch, CommandError, Snapshot } from '../bindings/api';
import { at, batch, prompt, session, snapshot } from '../../test/make';
import type { Host } from '../host/host';
import { Feed } from './feed';
import { SessionState } from './session.svelte';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** The time of two frames: the first one draws. */
const drawn = () => vi.advanceTimersByTimeAsync(33);
const settled = () => vi.advanceTimersByTimeAsync(0);
const added = (after: number) => batch(after, [{ type: 'itemAdded', item: at(after + 1, prompt(`p${after + 1}`)) }]);

/** A feed with a shell that the test plays: it answers snapshots, and has batches that wait. */
function setUp() {
  const answers: ((snapshot: Snapshot) => void)[] = [];
  const waiting: Batch[] = [];
  const asked: number[] = [];
  const errors: CommandError[] = [];
  const host = {
    subscribe: () => new Promise<Snapshot>((resolve) => answers.push(resolve)),
    nextBatch: (_id: string, after: number) => {
      asked.push(after);
      return Promise.resolve(waiting.shift() ?? null);
    },
  } satisfies Partial<Host> as Partial<Host> as Host;
  const state = new SessionState(session());
  const callbacks = { onapplied: () => {}, onerror: (error: CommandError) => errors.push(error) };
  const feed = new Feed(host, state, callbacks, (...what) => host.subscribe(...what));
  const announce = (...batches: Batch[]) => {
    waiting.push(...batches);
    feed.announce(state.id);
  };
  return { answers, waiting, asked, errors, host, state, feed, announce };
}

async function open(seq = 0) {
  const all = setUp();
  void all.feed.load();
  all.answers.shift()?.(snapshot(seq));
  await drawn();
  all.asked.splice(0);
  return all;
}

describe('a feed', () => {
  it('takes no batch before the snapshot, and then all that wait', async () => {
    const { feed, answers, asked, announce, state } = setUp();
    void feed.load();
    announce(added(5));
    await drawn();
    expect(asked).toEqual([]);
    answers.shift()?.(snapshot(5, [at(5, prompt('p5'))]));
    await settled();
    expect(state.rows.map((row) => row.key)).toEqual(['p5', 'p6']);
    await drawn();
    expect(asked).toEqual([5, 6]);
  });

  it('asks for a new snapshot when the user unfolds a long thought, and once more if he does so meanwhile', async () => {
    const { answers, state } = await open();
    state.onunfold();
    state.onunfold();
    expect(answers).toHaveLength(1);
    answers.shift()?.(snapshot(0, [at(0, prompt('p0'))]));
    await drawn();
    expect(answers).toHaveLength(1);
    answers.shift()?.(snapshot(0, [at(0, prompt('p0'))]));
    await drawn();
    expect(answers).toHaveLength(0);
  });

  it('applies the first batch at once, and each other one after the last is drawn, until nothing waits', async () => {
    const { asked, announce, state } = await open();
    announce(added(0), added(1), added(2));
    await settled();
    expect(state.seq).toBe(1);
    await vi.advanceTimersByTimeAsync(16);
    expect(state.seq).toBe(1);
    await vi.advanceTimersByTimeAsync(16);
    expect(state.seq).toBe(2);
    await drawn();
    expect(state.seq).toBe(3);
    await vi.advanceTimersByTimeAsync(1000);
    expect(asked).toEqual([0, 1, 2, 3]);
  });

  it('takes the rows that the user scrolls to at once', async () => {
    const { host, announce, state, waiting } = await open();
    host.showRows = () => Promise.resolve();
    announce(added(0));
    await settled();
    waiting.push(added(1));
    state.onshow({ first: 0, count: 100, requestId: 2 });
    await settled();
    expect(state.seq).toBe(2);
  });

  it('asks again for what is announced while it asks', async () => {
    const { feed, host, announce, state } = await open();
    const answers: ((batch: Batch | null) => void)[] = [];
    const { nextBatch } = host;
    host.nextBatch = () => new Promise((resolve) => answers.push(resolve));
    feed.announce(state.id);
    host.nextBatch = nextBatch;
    announce(added(0));
    await drawn();
    expect([answers.length, state.seq]).toEqual([1, 0]);
    answers[0]?.(null);
    await settled();
    expect(state.seq).toBe(1);
  });

  it('asks nothing for the announcement of another session', async () => {
    const { feed, asked } = await open();
    feed.announce('another');
    await drawn();
    expect(asked).toEqual([]);
  });

  it('asks for a new snapshot after a gap, and goes on from there', async () => {
    const { answers, announce, state } = await open();
    announce(added(3), added(4));
    await drawn();
    expect(answers).toHaveLength(1);
    answers.shift()?.(snapshot(4, [at(4, prompt('p4'))]));
    await drawn();
    expect(state.rows.map((row) => row.key)).toEqual(['p4', 'p5']);
    expect(answers).toHaveLength(0);
  });

  it('asks for a snapshot only after the batch that is being taken', async () => {
    const { feed, host, answers, state } = await open();
    let answer: (batch: Batch | null) => void = () => {};
    host.nextBatch = () => new Promise((resolve) => (answer = resolve));
    feed.announce(state.id);
    state.onunfold();
    await drawn();
    expect(answers).toHaveLength(0);
    answer(added(0));
    await settled();
    expect([answers.length, state.seq]).toEqual([1, 1]);
  });

  it('goes on with what it has when a new snapshot is refused', async () => {
    const { host, state, announce, errors } = await open();
    const refusal: CommandError = { code: 'internal', message: 'The disk does not respond.', detail: null };
    host.subscribe = () => Promise.reject(refusal as unknown as Error);
    state.onunfold();
    announce(added(0), added(1));
    await drawn();
    expect(errors).toEqual([refusal]);
    expect(state.seq).toBe(2);
  });

  it('says so when a batch is refused, and asks again after the next announcement', async () => {
    const { host, state, announce, errors } = await open();
    const refusal: CommandError = { code: 'internal', message: 'This window belongs to no project.', detail: null };
    const { nextBatch } = host;
    host.nextBatch = () => Promise.reject(refusal as unknown as Error);
    announce(added(0));
    await drawn();
    expect(errors).toEqual([refusal]);
    host.nextBatch = nextBatch;
    announce();
    await settled();
    expect(state.seq).toBe(1);
  });

  it('runs while the window is hidden and draws no frames', async () => {
    const { announce, state } = await open();
    vi.stubGlobal('requestAnimationFrame', () => 0);
    announce(added(0), added(1));
    await vi.advanceTimersByTimeAsync(300);
    vi.unstubAllGlobals();
    expect(state.seq).toBe(2);
  });

  it('ignores everything once it is closed', async () => {
    const { feed, announce, asked, state } = await open();
    announce(added(0));
    feed.close();
    announce(added(1));
    await drawn();
    expect([state.seq, asked]).toEqual([0, [0]]);
  });

  it('says so when the snapshot is refused', async () => {
    const errors: CommandError[] = [];
    const refusal: CommandError = { code: 'noSuchSession', message: 'gone', detail: null };
    const callbacks = { onapplied: () => {}, onerror: (error: CommandError) => errors.push(error) };
    const subscribe = () => Promise.reject(refusal as unknown as Error);
    const feed = new Feed({} as Host, new SessionState(session()), callbacks, subscribe);
    await feed.load();
    expect(errors).toEqual([refusal]);
  });
});
