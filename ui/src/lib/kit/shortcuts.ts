// Keys of actions, for buttons that do the same.

import { getContext, setContext } from 'svelte';

import { ariaChord, chordName } from './keys';

/** The keys of actions, by the action's id. */
export class Shortcuts {
  /** `chordsOf`: the chords of an action, the usual one first. */
  constructor(private readonly chordsOf: (action: string) => readonly string[]) {}

  /** The key of an action, for the tooltip of its button. */
  shown(action: string): string | undefined {
    const [first] = this.chordsOf(action);
    return first === undefined ? undefined : chordName(first);
  }

  /** The title and the `aria-keyshortcuts` of a button that an action's key presses. */
  props(action: string): { title?: string; 'aria-keyshortcuts'?: string } {
    const [first] = this.chordsOf(action);
    return first === undefined ? {} : { title: chordName(first), 'aria-keyshortcuts': ariaChord(first) };
  }
}

const KEY = Symbol('the keys of actions');
const NONE = new Shortcuts(() => []);

/** The keys of actions; none in a window that has no actions. */
export const getShortcuts = (): Shortcuts => getContext<Shortcuts | undefined>(KEY) ?? NONE;
export const setShortcuts = (shortcuts: Shortcuts): Shortcuts => setContext(KEY, shortcuts);
