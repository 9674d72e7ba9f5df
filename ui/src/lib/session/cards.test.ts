import { describe, expect, it } from 'vitest';

import { CardsInSight } from './cards';

function told() {
  const calls: [string, string[]][] = [];
  let session: string | null = 'a';
  const cards = new CardsInSight(
    () => session,
    (...call) => calls.push(call),
  );
  const open = (id: string | null) => (session = id);
  return { cards, calls, open };
}

/** Changes are reported in a microtask; this one was queued after it. */
const settled = () => new Promise<void>((done) => queueMicrotask(done));

describe('the cards in sight', () => {
  it('are told once for all that changes together', async () => {
    const { cards, calls } = told();
    cards.set('r2', true);
    cards.set('r1', true);
    await settled();
    expect(calls).toEqual([['a', ['r1', 'r2']]]);
    cards.set('r1', true);
    await settled();
    expect(calls).toHaveLength(1);
    cards.set('r1', false);
    await settled();
    expect(calls.at(-1)).toEqual(['a', ['r2']]);
  });

  it('are none while something lies over the page', async () => {
    const { cards, calls } = told();
    cards.set('r1', true);
    const first = cards.cover();
    const second = cards.cover();
    await settled();
    expect(calls).toEqual([['a', []]]);
    first();
    await settled();
    expect(calls).toHaveLength(1);
    second();
    await settled();
    expect(calls.at(-1)).toEqual(['a', ['r1']]);
  });

  it('are those of the session that is open', async () => {
    const { cards, calls, open } = told();
    cards.set('r1', true);
    await settled();
    open('b');
    cards.set('r1', false);
    await settled();
    expect(calls.at(-1)).toEqual(['b', []]);
    open(null);
    cards.set('r2', true);
    await settled();
    expect(calls).toHaveLength(2);
  });
});
