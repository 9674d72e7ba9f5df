// Event order: delivers events in the order in which they were sent, however long a large one takes to fetch.

import type { WindowMessage, WindowEvent } from '../bindings/api';

/**
 * Returns a receiver for window messages. Events that arrive after one being fetched wait for it. For an event that
 * cannot be fetched, `lost` is called in its place.
 */
export function inOrder(
  heard: (event: WindowEvent) => void,
  fetch: (nr: number) => Promise<WindowEvent>,
  lost: (reason: unknown) => void,
): (told: WindowMessage) => void {
  let before: Promise<void> | null = null;
  return (told) => {
    // An announcement has no content: what streams does not wait for a list that is fetched.
    if (told.type === 'event' && (before === null || told.event.type === 'batchReady')) {
      heard(told.event);
      return;
    }
    const event = told.type === 'event' ? Promise.resolve(told.event) : fetch(told.nr);
    const turn = Promise.allSettled([event, before]).then(([event]) => {
      if (before === turn) before = null;
      if (event.status === 'fulfilled') heard(event.value);
      else lost(event.reason);
    });
    before = turn;
  };
}
