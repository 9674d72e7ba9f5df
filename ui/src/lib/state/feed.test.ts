import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import type { CommandError, Snapshot } from '../bindings/api';
import { at, batch, prompt, session, snapshot } from '../../test/make';
import type { Host } from '../host/host';
import { Feed } from './feed';
import { SessionState } from './session.svelte';

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const frame = () => vi.advanceTimersByTimeAsync(20);
const added = (after: number) => batch(after, [{ type: 'itemAdded', item: at(after + 1, prompt(`p${after + 1}`)) }]);

function setUp() {
  const answers: ((snapshot: Snapshot) => void)[] = [];
  const acknowledged: number[] = [];
  const errors: CommandError[] = [];
  const host = {
    subscribe: () => new Promise<Snapshot>((resolve) => answers.push(resolve)),
    acknowledge: (_id: string, seq: number) => {
      acknowledged.push(seq);
      return Promise.resolve();
    },
  } satisfies Partial<Host> as Partial<Host> as Host;
  const state = new SessionState(session());
  const feed = new Feed(host, state, { onapplied: () => {}, onerror: (error) => errors.push(error) });
  return { answers, acknowledged, errors, host, state, feed };
}

async function open(seq = 0) {
  const all = setUp();
  void all.feed.load();
  all.answers.shift()?.(snapshot(seq));
  await frame();
  return all;
}

describe('a feed', () => {
  it('keeps batches that come before the snapshot, and drops those that it holds', async () => {
    const { feed, answers, state } = setUp();
    void feed.load();
    feed.receive(added(4));
    feed.receive(added(5));
    answers.shift()?.(snapshot(5, [at(5, prompt('p5'))]));
    await frame();
    expect(state.rows.map((row) => row.key)).toEqual(['p5', 'p6']);
    expect(state.seq).toBe(6);
  });

  it('asks for a new snapshot when the user unfolds a long thought, and once more if he does so meanwhile', async () => {
    const { answers, state } = await open();
    state.onunfold();
    state.onunfold();
    expect(answers).toHaveLength(1);
    answers.shift()?.(snapshot(0, [at(0, prompt('p0'))]));
    await frame();
    expect(answers).toHaveLength(1);
    answers.shift()?.(snapshot(0, [at(0, prompt('p0'))]));
    await frame();
    expect(answers).toHaveLength(0);
  });

  it('applies once per frame', async () => {
    const { feed, state } = await open();
    feed.receive(added(0));
    feed.receive(added(1));
    expect(state.seq).toBe(0);
    await frame();
    expect(state.seq).toBe(2);
  });

  it('asks for a new snapshot after a gap, and goes on from there', async () => {
    const { feed, answers, state } = await open();
    feed.receive(added(3));
    feed.receive(added(4));
    await frame();
    expect(answers).toHaveLength(1);
    answers.shift()?.(snapshot(4, [at(4, prompt('p4'))]));
    await frame();
    expect(state.rows.map((row) => row.key)).toEqual(['p4', 'p5']);
    expect(answers).toHaveLength(0);
  });

  it('acknowledges every second batch at once, and a single one in the next quiet frame', async () => {
    const { feed, acknowledged } = await open();
    feed.receive(added(0));
    feed.receive(added(1));
    await vi.advanceTimersByTimeAsync(16);
    expect(acknowledged).toEqual([2]);
    feed.receive(added(2));
    await vi.advanceTimersByTimeAsync(16);
    expect(acknowledged).toEqual([2]);
    await vi.advanceTimersByTimeAsync(16);
    expect(acknowledged).toEqual([2, 3]);
    await vi.advanceTimersByTimeAsync(1000);
    expect(acknowledged).toEqual([2, 3]);
  });

  it('acknowledges a batch that it could not use, so that the shell goes on', async () => {
    const { feed, acknowledged } = await open();
    feed.receive(added(7));
    await frame();
    expect(acknowledged).toEqual([8]);
  });

  it('goes on with what it has when a new snapshot is refused, and acknowledges what came meanwhile', async () => {
    const { feed, host, state, acknowledged, errors } = await open();
    const refusal: CommandError = { code: 'internal', message: 'The disk does not respond.', detail: null };
    host.subscribe = () => Promise.reject(refusal as unknown as Error);
    state.onunfold();
    feed.receive(added(0));
    feed.receive(added(1));
    await frame();
    expect(errors).toEqual([refusal]);
    expect(state.seq).toBe(2);
    expect(acknowledged).toEqual([2]);
  });

  it('runs while the window is hidden and draws no frames', async () => {
    const { feed, state } = await open();
    vi.stubGlobal('requestAnimationFrame', () => 0);
    feed.receive(added(0));
    await vi.advanceTimersByTimeAsync(300);
    vi.unstubAllGlobals();
    expect(state.seq).toBe(1);
  });

  it('ignores everything once it is closed', async () => {
    const { feed, state } = await open();
    feed.receive(added(0));
    feed.close();
    feed.receive(added(1));
    await frame();
    expect(state.seq).toBe(0);
  });

  it('says so when the snapshot is refused', async () => {
    const errors: CommandError[] = [];
    const refusal: CommandError = { code: 'noSuchSession', message: 'gone', detail: null };
    const host = {
      subscribe: () => Promise.reject(refusal as unknown as Error),
    } satisfies Partial<Host> as Partial<Host> as Host;
    const feed = new Feed(host, new SessionState(session()), {
      onapplied: () => {},
      onerror: (error) => errors.push(error),
    });
    await feed.load();
    expect(errors).toEqual([refusal]);
  });
});
