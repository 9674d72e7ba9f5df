// The table of all actions. It feeds the palette, the keys, the menus, the help and the documentation of the keys.

import { isChord, isMac } from '../../kit/keys';
import type { Action } from './action';
import { chosenKeys } from './chosen.svelte';
import { offElsewhere } from './here';
import { AGENT } from './subjects/agent';
import { APP } from './subjects/app';
import { MESSAGE } from './subjects/message';
import { SESSION } from './subjects/session';
import { TURN } from './subjects/turn';

/** In the order in which the palette and the help show them. */
export const ACTIONS: readonly Action[] = offElsewhere([...TURN, ...SESSION, ...MESSAGE, ...AGENT, ...APP]);

/** The usual chords of an action on a platform. */
export function usualChords({ keys = [], macKeys }: Action, mac = isMac): readonly string[] {
  return mac ? (macKeys ?? keys) : keys;
}

/** The chords of an action on a platform: the one that the user chose, or the usual ones that no other action has. */
export function chordsOf(action: Action, mac = isMac): readonly string[] {
  const chosen = chosenKeys();
  const own = action.isLocal === true ? undefined : chosen.get(action.id);
  if (own !== undefined) return own === null ? [] : [own];
  const taken = [...chosen].filter(([id]) => ACTIONS.some((one) => one.id === id && one.isLocal !== true));
  return usualChords(action, mac).filter((chord) => !taken.some(([, key]) => key === chord));
}

/** The action whose chord was pressed, if the window handles it. */
export function pressed(event: KeyboardEvent): Action | undefined {
  return ACTIONS.find((action) => action.isLocal !== true && chordsOf(action).some((chord) => isChord(event, chord)));
}

/** The action with this id. */
export function actionOf(id: string): Action {
  const action = ACTIONS.find((one) => one.id === id);
  if (action === undefined) throw new Error(`there is no action ${id}`);
  return action;
}
