// Actions as menus, keys and the palette use them: targets, labels, and doing one or saying why it cannot be done.

import { chordName } from '../../kit/keys';
import type { MenuItem } from '../../kit/MenuList.svelte';
import { Shortcuts } from '../../kit/shortcuts';
import { itemsOf } from '../../session/rows';
import type { Action, Desk, Target } from './action';
import { actionOf, ACTIONS, chordsOf } from './table';

const NONE: Target = { row: null, item: null, file: null };

/** The target of an action outside a context menu: the open session, and the last message that the action applies to. */
export function ownTarget(desk: Desk, action: Action): Target {
  const { state: open, stored } = desk.pane;
  if (open === null) return NONE;
  const on: Target = { ...NONE, row: { session: open.session, stored } };
  if (action.menu !== 'message') return on;
  for (const row of open.rows.toReversed()) {
    const item = itemsOf(row).findLast((one) => action.isAbsent?.(desk, { ...on, item: one }) !== true);
    if (item !== undefined) return { ...on, item };
  }
  return on;
}

export const chordShown = (action: Action): string | undefined => {
  const [first] = chordsOf(action);
  return first === undefined ? undefined : chordName(first);
};

/** The keys of all actions, for the buttons that do the same. */
export const SHORTCUTS = new Shortcuts((id) => chordsOf(actionOf(id)));

export const labelOf = (desk: Desk, action: Action, on: Target): string =>
  action.labelNow?.(desk, on, false) ?? action.label;

const isAbsent = (desk: Desk, action: Action, on: Target) => action.isAbsent?.(desk, on) ?? false;

/** Why an action cannot be done, as a sentence; `null` if it can. */
const refusal = (desk: Desk, action: Action, on: Target): string | null =>
  isAbsent(desk, action, on) ? 'It does not apply here.' : (action.off?.(desk, on) ?? null);

/** Does an action. If it is not available, says why, for as long as that is so. */
export function perform(desk: Desk, action: Action, target?: Target): void {
  const on = target ?? ownTarget(desk, action);
  const why = refusal(desk, action, on);
  if (why !== null && action.group === 'Requests') {
    // The key came a moment too late, or was tried out. Nothing failed.
    desk.project.hint = { words: why };
  } else if (why !== null) {
    const error = { code: 'badCommand', message: why, detail: null } as const;
    const holds = () => refusal(desk, action, target ?? ownTarget(desk, action)) === why;
    desk.project.problems.report(`“${labelOf(desk, action, on)}” is not available`, error, holds);
  } else if ('run' in action.does) {
    action.does.run(desk, on);
  } else {
    const [only, second] = action.does.choices(desk, on);
    if (on.file !== null && only !== undefined && second === undefined) only.run();
    else desk.show('palette', `${action.label}: `);
  }
}

/** The items of a menu. An action that is not available is shown as such, with the reason. */
export function menuOf(desk: Desk, menu: Action['menu'], on?: Target): MenuItem[] {
  const target = (action: Action) => on ?? ownTarget(desk, action);
  return ACTIONS.filter((action) => action.menu === menu && !isAbsent(desk, action, target(action)))
    .toSorted((a, b) => Number(a.isDanger ?? false) - Number(b.isDanger ?? false))
    .map((action) => {
      const why = action.off?.(desk, target(action)) ?? null;
      const key = chordShown(action);
      return {
        id: action.id,
        label: action.labelNow?.(desk, target(action), true) ?? action.inMenu ?? action.label,
        danger: action.isDanger === true,
        disabled: why !== null,
        ...(why === null ? {} : { title: why }),
        // Its key is for the open session.
        ...(key === undefined || on !== undefined ? {} : { key }),
      };
    });
}

/** Does the action of a menu's item. */
export function performIn(desk: Desk, id: string, on?: Target): void {
  const action = ACTIONS.find((one) => one.id === id);
  if (action !== undefined) perform(desk, action, on);
}
