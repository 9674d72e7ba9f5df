// The keys of the board, and their names.

import { chordName, isChord, isMac } from '../../kit/keys';
import { actionOf, chordsOf } from '../actions/table';

/** Another action has this chord in the window of a project. */
const STOP = isMac ? 'Ctrl+Shift+S' : 'Alt+S';

export const isStop = (event: KeyboardEvent): boolean => isChord(event, STOP);
export const stopKey = (): string => chordName(STOP);

const keyOf = (action: string): string => {
  const [first] = chordsOf(actionOf(action));
  return first === undefined ? '' : chordName(first);
};

const allowKey = (): string => keyOf('allow');
const denyKey = (): string => keyOf('deny');

/** The keys at the foot of the board, with what they do. */
export const hints = (): { keys: readonly string[]; does: string }[] =>
  [
    { keys: ['↑', '↓'], does: 'Move' },
    { keys: ['Enter'], does: 'Open' },
    { keys: ['Space'], does: 'Show all of it' },
    { keys: [allowKey()], does: 'Allow once' },
    { keys: [denyKey()], does: 'Deny' },
    { keys: [stopKey()], does: 'Stop' },
    { keys: ['Del'], does: 'Clear' },
  ].filter(({ keys }) => keys.every((key) => key !== ''));
