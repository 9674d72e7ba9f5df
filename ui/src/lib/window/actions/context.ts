// The context menu's entries: the actions on the session, the message or the file below the pointer.

import type { ContextEntries } from '../../kit/ContextMenu.svelte';
import { rowId } from '../../session/sessionRows';
import type { Desk, Target } from './action';
import { menuOf, performIn } from './perform';

/**
 * The entries for an element of the window; `null` if it belongs to no session, message or file. `desk` is the desk of the
 * element's pane.
 */
export function contextOf(desk: Desk, element: Element): ContextEntries | null {
  // No menu may answer a request, and what is below a dialog is not in reach.
  if (element.closest('[id^="request-"], dialog') !== null) return null;
  const { pane, project } = desk;
  const { state: open } = pane;
  const ofOpen = (target: Partial<Target>) => () => {
    if (open === null || pane.state !== open) return null;
    return { row: { session: open.session, stored: pane.stored }, item: null, file: null, ...target };
  };

  const file = attribute(element, 'file');
  if (file !== null) return entries(desk, 'File', ['file'], ofOpen({ file }));
  const itemId = attribute(element, 'item');
  const item = itemId === null ? undefined : open?.item(itemId);
  if (item !== undefined) {
    const { body } = item;
    const detail = body.type === 'toolCall' ? body.detail : null;
    const path = detail?.type === 'edit' ? detail.path : detail?.type === 'notebook' ? detail.diff.path : null;
    const menus = path === null ? (['message'] as const) : (['message', 'file'] as const);
    return entries(desk, 'Message', menus, ofOpen({ item, file: path }));
  }
  const id = attribute(element, 'session');
  if (id === null) return null;
  return entries(desk, 'Session', ['session'], () => {
    const row = project.rows.find((one) => rowId(one) === id);
    return row === undefined ? null : { row, item: null, file: null };
  });
}

const attribute = (element: Element, name: string): string | null =>
  element.closest<HTMLElement>(`[data-${name}]`)?.dataset[name] ?? null;

/** The entries of one or several menus for a target; none once the target is gone. */
function entries(
  desk: Desk,
  label: string,
  menus: readonly ('session' | 'message' | 'file')[],
  target: () => Target | null,
): ContextEntries {
  const itemsOn = (on: Target) =>
    menus.flatMap((menu) => menuOf(desk, menu, on).map((item, i) => (i === 0 ? { ...item, separated: true } : item)));
  return {
    label,
    items: () => {
      const on = target();
      return on === null ? [] : itemsOn(on);
    },
    pick: (id) => {
      const on = target();
      if (on === null) return;
      // The dialogs of the window are about the pane with the focus.
      desk.project.focus(desk.pane);
      performIn(desk, id, on);
    },
  };
}
