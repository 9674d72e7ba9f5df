import { beforeEach, describe, expect, it } from 'vitest';

import type { Item } from '../bindings/api';
import { at, batch, call, session, snapshot } from '../../test/make';
import { FakeHost } from '../host/fake';
import { tool, whole } from '../host/fake/script';
import type { ItemState } from './item.svelte';
import { ProjectState } from './project.svelte';
import { SessionState } from './session.svelte';

beforeEach(() => localStorage.clear());

const agent = (): Item => at(0, call('agent', 'agent'));
const step = (nr: number, parent = 'agent'): Item => ({ ...at(0, call(`c${nr}`, 'command', parent)), nr });
const steps = (from: number, to: number): Item[] => Array.from({ length: to - from + 1 }, (_, i) => step(from + i));

function loaded(...items: Item[]): SessionState {
  const state = new SessionState(session());
  state.load(snapshot(10, items));
  return state;
}

function tell(state: SessionState, type: 'itemAdded' | 'itemChanged', ...items: Item[]): void {
  state.apply(
    batch(
      state.seq,
      items.map((item) => ({ type, item })),
    ),
  );
}

/** The numbers of a call's first and last loaded items, their count, and the reported number of earlier items. */
function held(call: ItemState | undefined) {
  const nrs = (call?.children ?? []).map(({ nr }) => nr);
  return { first: nrs[0], last: nrs.at(-1), count: nrs.length, earlier: call?.nEarlier };
}

/** Equally distributed numbers from 0 to 1 that depend on the seed alone. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

describe('what a subagent did', () => {
  it('is held in part, however much it becomes', () => {
    const state = loaded(agent());
    let most = 0;
    for (let nr = 1; nr <= 10_000; nr += 1) {
      tell(state, 'itemAdded', step(nr));
      most = Math.max(most, held(state.item('agent')).count);
    }
    expect(most).toBeLessThanOrEqual(150);
    const { first, last, count, earlier } = held(state.item('agent'));
    expect(last).toBe(10_000);
    expect(earlier).toBe((first ?? 0) - 1);
    expect(count).toBe(10_000 - (first ?? 0) + 1);
    expect(state.item('c1')).toBeUndefined();
  });

  it('stays before a reader who has it open and is elsewhere than at the end', () => {
    const state = loaded(agent(), ...steps(1, 50));
    const call = state.item('agent');
    if (call) call.open = true;
    state.place.following = false;
    tell(state, 'itemAdded', ...steps(51, 900));
    expect(held(call)).toEqual({ first: 1, last: 900, count: 900, earlier: 0 });
    tell(state, 'itemAdded', ...steps(901, 2_000));
    expect(held(call).count).toBeLessThanOrEqual(1_500);
  });

  it('comes earlier if it is asked for, and not because it changes', () => {
    const state = loaded(agent(), ...steps(951, 1_000));
    tell(state, 'itemChanged', step(7), step(960));
    expect(held(state.item('agent'))).toEqual({ first: 951, last: 1_000, count: 50, earlier: 950 });
    tell(state, 'itemAdded', ...steps(851, 950));
    expect(held(state.item('agent'))).toEqual({ first: 851, last: 1_000, count: 150, earlier: 850 });
    // Items that the user requested are not dropped when others arrive.
    tell(state, 'itemAdded', ...steps(1_001, 1_050));
    expect(held(state.item('agent')).first).toBe(851);
  });

  it('is below its own call once that is held', () => {
    const state = loaded(agent(), step(9, 'c2'), step(10));
    const ids = (id: string) => state.item(id)?.children.map((child) => child.id);
    expect(ids('agent')).toEqual(['c9', 'c10']);
    tell(state, 'itemAdded', { ...step(2), body: call('c2', 'agent').body });
    expect([ids('agent'), ids('c2')]).toEqual([['c2', 'c10'], ['c9']]);
    state.apply(batch(state.seq, [{ type: 'itemRemoved', itemId: 'c9' }]));
    expect(ids('c2')).toEqual([]);
  });

  it('has each step below its own call, in whatever pages they arrive', () => {
    const random = numbers(7);
    const all = Array.from({ length: 60 }, (_, i): Item => {
      const parent = i > 0 && random() < 0.4 ? `c${Math.floor(random() * i) + 1}` : 'agent';
      return { ...step(i + 1, parent), body: call('', 'agent').body };
    });
    const tree = (item: ItemState | undefined): unknown => [item?.id, item?.children.map(tree)];
    for (let nr = 0; nr < 50; nr += 1) {
      const paged = loaded(agent(), ...all.slice(-5));
      for (let end = all.length - 5; end > 0;) {
        const from = Math.max(0, end - 1 - Math.floor(random() * 20));
        tell(paged, 'itemAdded', ...all.slice(from, end).sort(() => random() - 0.5));
        expect(tree(paged.item('agent'))).toEqual(tree(loaded(agent(), ...all.slice(from)).item('agent')));
        end = from;
      }
    }
  });

  it('goes with its row', () => {
    const state = loaded(agent(), ...steps(1, 3));
    state.apply(batch(state.seq, [], state.seq + 1, { first: 5, end: 9, total: 9, nContinued: 0, requestId: 1 }));
    expect([state.item('agent'), state.item('c1')]).toEqual([undefined, undefined]);
  });

  it('is asked of the host page by page, or up to what is looked for', async () => {
    const host = new FakeHost('conversation');
    const project = await ProjectState.start(host);
    const fake = host.session('s1');
    const body = tool('command', 'Ran', 'it', { type: 'json', input: '{}', output: whole([]) });
    const id = fake?.add(tool('agent', 'Ran a subagent:', 'much', { type: 'json', input: '{}', output: whole([]) }));
    const made = Array.from({ length: 1_000 }, () => fake?.add(body, id ?? null));
    await project.openSession('s2');
    await project.openSession('s1');
    const call = project.open?.item(id ?? '');
    expect(held(call)).toEqual({ first: 951, last: 1_000, count: 50, earlier: 950 });
    if (call === undefined) return;
    await project.showEarlier(call);
    await expect.poll(() => held(call).earlier).toBe(850);
    await project.showEarlier(call, made[599] ?? null);
    await expect.poll(() => held(call)).toEqual({ first: 600, last: 1_000, count: 401, earlier: 599 });
  });
});
