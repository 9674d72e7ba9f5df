// Dragging something out of the window.

import type { Attachment } from 'svelte/attachments';

/**
 * Calls `done` when the element is dragged to a place outside of the window. While it is there, it has the attribute
 * `data-dragged-out`. The pointer is captured, because the page otherwise gets no events from outside of the window.
 */
export function draggedOut(done: () => void): Attachment<HTMLElement> {
  return (element) => {
    let pointer: number | null = null;
    const mark = (is: boolean) => element.toggleAttribute('data-dragged-out', is);
    const isOut = ({ clientX: x, clientY: y }: PointerEvent) =>
      x < 0 || y < 0 || x >= window.innerWidth || y >= window.innerHeight;
    const swallow = (event: Event) => event.stopImmediatePropagation();

    const listeners = {
      pointerdown(event: PointerEvent) {
        // A finger scrolls.
        if (event.button !== 0 || event.pointerType === 'touch') return;
        pointer = event.pointerId;
        element.setPointerCapture(pointer);
      },
      pointermove(event: PointerEvent) {
        if (event.pointerId === pointer) mark(isOut(event));
      },
      pointerup(event: PointerEvent) {
        if (event.pointerId !== pointer) return;
        listeners.pointercancel();
        if (!isOut(event)) return;
        // The captured pointer clicks the element, wherever it is released.
        element.addEventListener('click', swallow, { capture: true, once: true });
        setTimeout(() => element.removeEventListener('click', swallow, { capture: true }));
        done();
      },
      pointercancel() {
        pointer = null;
        mark(false);
      },
    };
    const all = Object.entries(listeners) as [string, EventListener][];
    for (const [type, listener] of all) element.addEventListener(type, listener);
    return () => all.forEach(([type, listener]) => element.removeEventListener(type, listener));
  };
}
