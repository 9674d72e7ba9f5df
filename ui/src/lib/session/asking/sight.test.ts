import { afterEach, expect, it, vi } from 'vitest';

import { watchSight } from './sight';

type Seen = Pick<IntersectionObserverEntry, 'intersectionRatio'> & { intersectionRect: { height: number } };

/** A fake IntersectionObserver: `see` reports how much of the element is visible. */
function observer() {
  let see: (entry: Seen) => void = () => {};
  const disconnect = vi.fn();
  class Observer {
    constructor(call: (entries: Seen[]) => void) {
      see = (entry) => call([entry]);
    }
    observe() {}
    disconnect = disconnect;
  }
  vi.stubGlobal('IntersectionObserver', Observer);
  return {
    see: (ratio: number, height: number) => see({ intersectionRatio: ratio, intersectionRect: { height } }),
    disconnect,
  };
}

afterEach(() => vi.unstubAllGlobals());

it('counts half of a card, or a good part of a long one, as seen', () => {
  const { see } = observer();
  const tell = vi.fn();
  watchSight(tell)(document.body);
  for (const [ratio, height, expected] of [
    [0, 0, false],
    [0.4, 100, false],
    [0.5, 60, true],
    [0.1, 160, true],
  ] as const) {
    see(ratio, height);
    expect(tell).toHaveBeenLastCalledWith(expected);
  }
});

it('says that a card that goes is not seen', () => {
  const { see, disconnect } = observer();
  const tell = vi.fn();
  const stop = watchSight(tell)(document.body);
  see(1, 100);
  stop?.();
  expect(disconnect).toHaveBeenCalled();
  expect(tell).toHaveBeenLastCalledWith(false);
});
