import { describe, expect, it, vi } from 'vitest';

import type { Block, Item } from '../bindings/api';
import { at, batch, call, code, paragraph, prompt, session, snapshot, text } from '../../test/make';
import { commandRequest } from '../../fake/script';
import { depthOf } from './rows';
import { SessionState } from './session.svelte';

function loaded(items: Item[] = [], seq = 10): SessionState {
  const state = new SessionState(session());
  state.load(snapshot(seq, items));
  return state;
}

function blocks(state: SessionState, id: string): Block[] {
  const body = state.item(id)?.body;
  return body?.type === 'text' ? body.blocks : [];
}

const keys = (state: SessionState) => state.rows.map((row) => row.key);

describe('the order of batches', () => {
  it('applies a batch that follows', () => {
    const state = loaded();
    expect(state.apply(batch(10, [{ type: 'itemAdded', item: prompt('p') }]))).toBe('applied');
    expect(state.seq).toBe(11);
    expect(keys(state)).toEqual(['p']);
  });

  it('takes the number of a merged batch, not the count of its events', () => {
    const state = loaded();
    expect(state.apply(batch(10, [{ type: 'itemAdded', item: prompt('p') }], 25))).toBe('applied');
    expect(state.apply(batch(25, [{ type: 'itemAdded', item: prompt('q') }]))).toBe('applied');
    expect(keys(state)).toEqual(['p', 'q']);
  });

  it('drops what it already knows', () => {
    const state = loaded([prompt('p')]);
    expect(state.apply(batch(8, [{ type: 'itemAdded', item: prompt('q') }], 10))).toBe('duplicate');
    expect(keys(state)).toEqual(['p']);
  });

  it('sees a gap, and an overlap, and changes nothing', () => {
    const state = loaded([prompt('p')]);
    expect(state.apply(batch(12, [{ type: 'itemAdded', item: prompt('q') }]))).toBe('gap');
    expect(state.apply(batch(9, [{ type: 'itemAdded', item: prompt('q') }], 12))).toBe('gap');
    expect(keys(state)).toEqual(['p']);
    expect(state.seq).toBe(10);
  });

  it('takes nothing before its first snapshot', () => {
    expect(new SessionState(session()).apply(batch(0, [{ type: 'itemAdded', item: prompt('p') }]))).toBe('gap');
  });
});

describe('streaming', () => {
  it('keeps closed blocks the same objects', () => {
    const state = loaded([text('t', paragraph('one'), paragraph('tw'))]);
    const [first] = blocks(state, 't');
    state.apply(
      batch(10, [{ type: 'blocksChanged', itemId: 't', keep: 1, blocks: [paragraph('two'), paragraph('thr')] }]),
    );
    expect(blocks(state, 't')).toEqual([paragraph('one'), paragraph('two'), paragraph('thr')]);
    expect(blocks(state, 't')[0]).toBe(first);
  });

  it('keeps the lines of code that stand', () => {
    const state = loaded([text('t', paragraph('one'), code('let a = 1;', 'let b'))]);
    const before = blocks(state, 't')[1];
    const more = code('let b = 2;', 'let c = 3;');
    if (more.type !== 'code' || before?.type !== 'code') throw new Error('not code');
    state.apply(batch(10, [{ type: 'codeGrew', itemId: 't', keep: 1, lines: more.lines }]));
    const after = blocks(state, 't')[1];
    expect(after).toEqual(code('let a = 1;', 'let b = 2;', 'let c = 3;'));
    expect(after?.type === 'code' && after.lines[0]).toBe(before.lines[0]);
  });

  it('keeps the entries of a list that stand', () => {
    const entry = (words: string) => ({ checked: null, blocks: [paragraph(words)] });
    const list: Block = { type: 'list', start: null, items: [entry('one'), entry('tw')] };
    const state = loaded([text('t', paragraph('zero'), list)]);
    const entries = [entry('two'), entry('three')];
    state.apply(batch(10, [{ type: 'entriesGrew', itemId: 't', keep: 1, entries }]));
    const after = blocks(state, 't')[1];
    expect(after).toEqual({ ...list, items: [entry('one'), ...entries] });
    expect(after?.type === 'list' && after.items[0]).toBe(list.items[0]);
  });

  it('leaves other items alone', () => {
    const state = loaded([text('t', paragraph('one')), text('u', paragraph('two'))]);
    const other = state.item('t')?.body;
    const { rows } = state;
    state.apply(batch(10, [{ type: 'blocksChanged', itemId: 'u', keep: 0, blocks: [paragraph('2')] }]));
    expect(state.item('t')?.body).toBe(other);
    expect(state.rows).toBe(rows);
  });

  it('keeps the blocks when the finished item comes whole', () => {
    const item = text('t', paragraph('one'), paragraph('two'));
    const state = loaded([item]);
    const before = blocks(state, 't');
    const done = structuredClone(item);
    done.body = { ...done.body, streaming: false } as Item['body'];
    state.apply(batch(10, [{ type: 'itemChanged', item: done }]));
    expect(blocks(state, 't')).toBe(before);
    expect(state.item('t')?.body).toMatchObject({ streaming: false });
  });

  it('survives growth of an item that it does not know, or that is no code', () => {
    const state = loaded([text('t', paragraph('one'))]);
    const grown = batch(10, [
      { type: 'codeGrew', itemId: 't', keep: 0, lines: [] },
      { type: 'entriesGrew', itemId: 't', keep: 0, entries: [] },
      { type: 'blocksChanged', itemId: 'nobody', keep: 3, blocks: [] },
    ]);
    expect(state.apply(grown)).toBe('applied');
    expect(blocks(state, 't')).toEqual([paragraph('one')]);
  });
});

describe('tools', () => {
  it('has each tool that was used once', () => {
    const state = loaded([prompt('p'), call('a', 'read'), call('b', 'edit')]);
    expect(state.usedTools()).toEqual(['Did']);
  });
});

describe('rows', () => {
  it('draw together what shares one', () => {
    const items = [call('a', 'search'), call('b', 'read'), call('c', 'edit'), call('d', 'read')];
    const state = loaded(items.map((item, i) => at([0, 0, 1, 2][i] ?? 0, item)));
    expect(state.rows.map((row) => (row.kind === 'item' ? row.item.id : row.items.map(({ id }) => id)))).toEqual([
      ['a', 'b'],
      'c',
      'd',
    ]);
  });

  it('shows the items of a subagent below its call, which the engine has to know of', () => {
    const state = loaded([at(0, call('agent', 'agent'))]);
    const onunfold = vi.fn();
    state.onunfold = onunfold;
    const agent = state.item('agent');
    if (agent !== undefined) state.unfold(agent, true);
    expect([onunfold.mock.calls.length, state.unfolded]).toEqual([1, ['agent']]);
    state.apply(batch(10, [{ type: 'itemAdded', item: at(1, { ...call('inner', 'read', 'agent'), depth: 1 }) }]));
    expect(keys(state)).toEqual(['agent', 'inner']);
    expect(state.rows.map(depthOf)).toEqual([0, 1]);
  });

  it('leave their number empty when their item is void', () => {
    const items = [call('a', 'read'), call('b', 'read'), text('t', paragraph('one')), prompt('p')];
    const state = loaded(items.map((item, i) => at([0, 0, 1, 2][i] ?? 0, item)));
    state.apply(batch(10, [{ type: 'itemRemoved', itemId: 't' }]));
    expect(state.rows.map((row) => row.index)).toEqual([0, 2]);
    expect(state.item('t')).toBeUndefined();
    state.apply(batch(11, [{ type: 'itemRemoved', itemId: 'a' }]));
    expect(state.rows.map((row) => [row.key, row.kind])).toEqual([
      ['b', 'item'],
      ['p', 'item'],
    ]);
  });

  it('keeps what was unfolded over a new snapshot', () => {
    const state = loaded([call('a', 'edit'), call('b', 'edit')]);
    const before = state.item('a');
    if (before) before.open = true;
    state.load(snapshot(20, [call('a', 'edit'), call('c', 'edit')]));
    expect(state.item('a')).toBe(before);
    expect(state.item('a')?.open).toBe(true);
    expect(keys(state)).toEqual(['a', 'c']);
    expect(state.seq).toBe(20);
  });

  it('does not double an item that is added twice', () => {
    const state = loaded([prompt('p')]);
    state.apply(batch(10, [{ type: 'itemAdded', item: prompt('p') }]));
    expect(keys(state)).toEqual(['p']);
  });
});

describe('the part that is held', () => {
  const rows = (first: number, end: number, total: number, requestId = 1) => ({
    ...{ first, end, total, nContinued: 0, requestId },
  });
  const one = (row: number) => ({ type: 'itemAdded', item: at(row, prompt(`r${row}`)) }) as const;

  function showing(first: number, end: number, total: number): SessionState {
    const state = new SessionState(session());
    const items = Array.from({ length: end - first }, (_, i) => at(first + i, prompt(`r${first + i}`)));
    state.load({ ...snapshot(10, items), rows: rows(first, end, total) });
    return state;
  }

  it('moves on at the end, and lets go of what is above it', () => {
    const state = showing(5, 8, 8);
    state.apply(batch(10, [one(8), one(9)], 12, rows(7, 10, 10)));
    expect(keys(state)).toEqual(['r7', 'r8', 'r9']);
    expect(state.item('r6')).toBeUndefined();
    expect(state.held.total).toBe(10);
  });

  it('grows out of sight without a row', () => {
    const state = showing(0, 3, 8);
    const before = state.rows;
    state.apply(batch(10, [], 300, rows(0, 3, 200)));
    expect(state.rows).toBe(before);
    expect([state.held.total, state.seq]).toEqual([200, 300]);
  });

  it('takes other rows without a new event', () => {
    const state = showing(5, 8, 8);
    state.request(0);
    expect(state.apply(batch(10, [one(3), one(4)], 10, rows(3, 6, 8, 2)))).toBe('applied');
    expect(keys(state)).toEqual(['r3', 'r4', 'r5']);
  });

  it('asks the shell for what it wants, and for the same again with a snapshot', () => {
    const state = showing(5_000, 5_100, 9_000);
    const asked: unknown[] = [];
    state.onshow = (show) => asked.push(show);
    state.request(300);
    state.request(null);
    expect(asked).toEqual([
      { first: 180, count: 240, requestId: 2 },
      { first: null, count: 240, requestId: 3 },
    ]);
    expect(state.wantAgain()).toEqual({ first: null, count: 240, requestId: 4 });
  });

  it('is not moved by what was on its way before the snapshot', () => {
    const state = showing(5, 8, 8);
    state.load({ ...snapshot(10, []), rows: rows(0, 0, 0, 2) });
    expect(state.apply(batch(10, [one(3)], 10, rows(3, 6, 8, 1)))).toBe('duplicate');
    expect(keys(state)).toEqual([]);
  });

  it('remembers what was unfolded in rows that come back', () => {
    const state = showing(0, 3, 8);
    const first = state.item('r0');
    if (first) first.open = true;
    state.apply(batch(10, [], 11, rows(4, 5, 8)));
    state.apply(batch(11, [one(0), one(1)], 12, rows(0, 2, 8)));
    expect(state.item('r0')).not.toBe(first);
    expect(state.item('r0')?.open).toBe(true);
    expect(state.item('r1')?.open).toBe(false);
  });
});

describe('requests', () => {
  it('come and go, whoever answered', () => {
    const state = loaded();
    const request = commandRequest('q1', 'ls');
    state.apply(batch(10, [{ type: 'permissionRequested', request }]));
    expect(state.requests).toEqual([request]);
    const resolution = { type: 'denied', message: '' } as const;
    state.apply(batch(11, [{ type: 'permissionResolved', requestId: 'q1', resolution }]));
    expect(state.requests).toEqual([]);
  });

  it('stay when something else of the session changes', () => {
    const request = commandRequest('q1', 'ls');
    const state = loaded();
    const { models } = state.session;
    state.apply(
      batch(10, [
        { type: 'permissionRequested', request },
        { type: 'sessionChanged', session: { title: 'Other' } },
      ]),
    );
    expect([state.requests, state.session.requests]).toEqual([[request], [request]]);
    expect([state.session.title, state.session.models]).toEqual(['Other', models]);
  });

  it('go when the session no longer lists them', () => {
    const request = commandRequest('q1', 'ls');
    const state = loaded();
    state.apply(batch(10, [{ type: 'sessionChanged', session: session({ requests: [request] }) }]));
    expect(state.requests).toHaveLength(1);
    state.apply(batch(11, [{ type: 'sessionChanged', session: session() }]));
    expect(state.requests).toEqual([]);
  });
});

describe('a long thought', () => {
  const slice = { of: 't', nr: 0, isLast: false, block: 0, continues: false, isContinued: true };
  const body = { type: 'thinking', text: 'a thought', streaming: false, durationMs: null } as const;
  const thought = { ...text('t'), body };

  it('gets more rows when it is unfolded, and stays unfolded after it has left the loaded rows', () => {
    const state = loaded([{ ...thought, slice }]);
    const onunfold = vi.fn();
    state.onunfold = onunfold;
    const item = state.item('t');
    if (item === undefined) throw new Error('no thought');
    state.unfold(item, true);
    expect([onunfold.mock.calls.length, state.unfolded, state.isUnfolded('t')]).toEqual([1, ['t'], true]);
    state.load(snapshot(1, []));
    expect([state.unfolded, state.isUnfolded('t')]).toEqual([['t'], true]);
  });

  it('moves the rows below it when it is unfolded or folded, and the reader with them', () => {
    const slices = (n: number) =>
      Array.from({ length: n }, (_, nr) => at(nr, { ...text(nr ? `t~${nr}` : 't'), body, slice: { ...slice, nr } }));
    const below = (n: number) => [at(n, prompt('p')), at(n + 1, prompt('q'))];
    const state = loaded([...slices(1), ...below(1)]);
    state.place = { following: false, index: 2, offset: 7 };
    state.load(snapshot(10, [...slices(4), ...below(4)]));
    expect([state.place.index, state.moves]).toEqual([5, [{ at: 1, by: 3 }]]);
    state.place.index = 3;
    state.load(snapshot(10, [...slices(1), ...below(1)]));
    expect([state.place, state.moves]).toEqual([{ following: false, index: 0, offset: 0 }, [{ at: 1, by: -3 }]]);
  });

  it('is unfolded without the engine if it is short', () => {
    const state = loaded([thought]);
    const onunfold = vi.fn();
    state.onunfold = onunfold;
    const item = state.item('t');
    if (item !== undefined) state.unfold(item, true);
    expect([onunfold.mock.calls.length, item?.open]).toEqual([0, true]);
  });
});

describe('a long conversation that is still being read', () => {
  const end = [at(0, prompt('p8')), at(1, prompt('p9'))];
  const whole = Array.from({ length: 10 }, (_, i) => at(i, prompt(`p${i}`)));

  it('keeps the reader at the row that he read when its number is known', () => {
    const state = new SessionState(session());
    state.load({ ...snapshot(0, end), isPartial: true });
    state.place = { following: false, index: 1, offset: 7 };
    state.request(1);
    // After the snapshot the row number means a different row, so the end is requested.
    expect(state.wantAgain().first).toBeNull();
    state.load(snapshot(1, whole));
    expect(state.place).toEqual({ following: false, index: 9, offset: 7 });
    expect([state.isPartial, state.numbering]).toEqual([false, 1]);
  });

  it('is counted anew once only', () => {
    const state = new SessionState(session());
    state.load({ ...snapshot(0, end), isPartial: true });
    state.load(snapshot(1, whole));
    state.load(snapshot(2, whole));
    expect(state.numbering).toBe(1);
  });
});
