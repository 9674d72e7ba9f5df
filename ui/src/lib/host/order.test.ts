import { describe, expect, it, vi } from 'vitest';

import type { WindowMessage, WindowEvent } from '../bindings/api';
import { inOrder } from './order';

const dropped = (name: string): WindowEvent => ({ type: 'sessionRemoved', sessionId: name });
const small = (name: string): WindowMessage => ({ type: 'event', event: dropped(name) });
const large = (nr: number): WindowMessage => ({ type: 'deferred', nr });

function listener() {
  const heard: string[] = [];
  const asked = new Map<number, { come: (name: string) => void; fail: (reason: string) => void }>();
  const hear = inOrder(
    (event) => heard.push(event.type === 'sessionRemoved' ? event.sessionId : event.type),
    (nr) =>
      new Promise((resolve, reject) => {
        asked.set(nr, { come: (name) => resolve(dropped(name)), fail: reject });
      }),
    (reason) => heard.push(`lost: ${String(reason)}`),
  );
  return { heard, asked, hear };
}

describe('what a window is told', () => {
  it('is heard at once while nothing is fetched', () => {
    const { heard, hear } = listener();
    hear(small('a'));
    hear(small('b'));
    expect(heard).toEqual(['a', 'b']);
  });

  it('waits for what was told before it', async () => {
    const { heard, asked, hear } = listener();
    hear(large(1));
    hear(small('b'));
    hear(large(2));
    hear(small('d'));
    // Both are requested at once; the second arrives first.
    asked.get(2)?.come('c');
    expect(heard).toEqual([]);
    asked.get(1)?.come('a');
    await vi.waitFor(() => expect(heard).toEqual(['a', 'b', 'c', 'd']));
    hear(small('e'));
    expect(heard.at(-1)).toBe('e');
  });

  it('is heard at once if it only announces a batch', async () => {
    const { heard, asked, hear } = listener();
    hear(large(1));
    hear({ type: 'event', event: { type: 'batchReady', sessionId: 's' } });
    expect(heard).toEqual(['batchReady']);
    asked.get(1)?.come('a');
    await vi.waitFor(() => expect(heard).toEqual(['batchReady', 'a']));
  });

  it('says in its place what cannot be had', async () => {
    const { heard, asked, hear } = listener();
    hear(large(1));
    hear(small('b'));
    asked.get(1)?.fail('gone');
    await vi.waitFor(() => expect(heard).toEqual(['lost: gone', 'b']));
  });
});
