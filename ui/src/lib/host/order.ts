// Events in the order in which they were told, however long the large ones take to be fetched.

import type { Told, WindowEvent } from '../bindings/api';

/**
 * Hears what a window is told. What was told behind an event that is being fetched waits for it; one that cannot be had
 * is reported in its place.
 */
export function inOrder(
  heard: (event: WindowEvent) => void,
  fetch: (nr: number) => Promise<WindowEvent>,
  lost: (reason: unknown) => void,
): (told: Told) => void {
  let before: Promise<void> | null = null;
  return (told) => {
    if (before === null && told.type === 'event') {
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
