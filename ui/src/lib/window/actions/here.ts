// Actions that a project on another machine does not have.

import type { Action } from './action';

/** Actions that need files or programs of this computer. Another machine has other files under the same names. */
export const ON_THIS_COMPUTER: readonly string[] = [
  'restore',
  'reveal',
  'without-asking',
  'usage',
  'record',
  'link',
  'commit',
];

/** The actions, with these off and saying why where the project is on another machine. */
export function offElsewhere(actions: readonly Action[]): readonly Action[] {
  return actions.map((action) => {
    if (!ON_THIS_COMPUTER.includes(action.id)) return action;
    return { ...action, off: (desk, on) => desk.project.notHere ?? action.off?.(desk, on) ?? null };
  });
}
