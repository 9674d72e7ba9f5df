import { describe, expect, it } from 'vitest';

import type { Block, Item } from '../bindings/api';
import { batch, call, code, paragraph, prompt, session, snapshot, text } from '../../test/make';
import { commandRequest } from '../host/fake/script';
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
    expect(
      state.apply(
        batch(8, [
          { type: 'itemRemoved', itemId: 'p' },
          { type: 'itemRemoved', itemId: 'p' },
        ]),
      ),
    ).toBe('duplicate');
    expect(keys(state)).toEqual(['p']);
  });

  it('sees a gap, and an overlap, and changes nothing', () => {
    const state = loaded([prompt('p')]);
    expect(state.apply(batch(12, [{ type: 'itemRemoved', itemId: 'p' }]))).toBe('gap');
    expect(state.apply(batch(9, [{ type: 'itemRemoved', itemId: 'p' }], 12))).toBe('gap');
    expect(keys(state)).toEqual(['p']);
    expect(state.seq).toBe(10);
  });

  it('takes nothing before its first snapshot', () => {
    expect(new SessionState(session()).apply(batch(0, [{ type: 'itemRemoved', itemId: 'p' }]))).toBe('gap');
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
      { type: 'blocksChanged', itemId: 'nobody', keep: 3, blocks: [] },
    ]);
    expect(state.apply(grown)).toBe('applied');
    expect(blocks(state, 't')).toEqual([paragraph('one')]);
  });
});

describe('rows', () => {
  it('folds consecutive reads and searches into one', () => {
    const state = loaded([call('a', 'search'), call('b', 'read'), call('c', 'edit'), call('d', 'read')]);
    expect(state.rows.map((row) => (row.kind === 'item' ? row.item.id : row.items.map(({ id }) => id)))).toEqual([
      ['a', 'b'],
      'c',
      'd',
    ]);
  });

  it('shows the items of a subagent inside its tool call', () => {
    const state = loaded([call('agent', 'agent')]);
    state.apply(batch(10, [{ type: 'itemAdded', item: call('inner', 'read', 'agent') }]));
    expect(keys(state)).toEqual(['agent']);
    expect(state.item('agent')?.children.map(({ id }) => id)).toEqual(['inner']);
  });

  it('takes a void item out, and folds what then stands together', () => {
    const state = loaded([call('a', 'read'), text('t', paragraph('one')), call('b', 'read'), call('e', 'todo')]);
    state.apply(batch(10, [{ type: 'itemRemoved', itemId: 't' }]));
    expect(state.rows.map((row) => row.kind)).toEqual(['lookups', 'item']);
    expect(state.item('t')).toBeUndefined();
  });

  it('takes a void item out of its subagent', () => {
    const state = loaded([call('agent', 'agent'), call('inner', 'read', 'agent')]);
    const { rows } = state;
    state.apply(batch(10, [{ type: 'itemRemoved', itemId: 'inner' }]));
    expect(state.item('agent')?.children).toEqual([]);
    expect(state.rows).toBe(rows);
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

  it('go when the session no longer lists them', () => {
    const request = commandRequest('q1', 'ls');
    const state = loaded();
    state.apply(batch(10, [{ type: 'sessionChanged', session: session({ requests: [request] }) }]));
    expect(state.requests).toHaveLength(1);
    state.apply(batch(11, [{ type: 'sessionChanged', session: session() }]));
    expect(state.requests).toEqual([]);
  });
});
