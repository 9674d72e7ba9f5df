// The keys that the user chose for actions, as the settings have them.

import type { KeyBinding } from '../../bindings/api';

let chosen = $state.raw<ReadonlyMap<string, string | null>>(new Map());

const MODIFIERS = ['Ctrl', 'Alt', 'Shift'];

/** The names of keys in the spelling of `KeyboardEvent.key`. */
const NAMES = [
  'Escape',
  'Insert',
  'Delete',
  'Backspace',
  'Home',
  'End',
  'PageUp',
  'PageDown',
  'ArrowUp',
  'ArrowDown',
  'ArrowLeft',
  'ArrowRight',
  'Plus',
  'Minus',
];

/** A chord in the spelling of the table: `ctrl+shift+f` is `Ctrl+Shift+F`. */
export function spelled(chord: string): string {
  const parts = chord.split('+').map((part) => part.trim());
  const key = parts.pop() ?? '';
  const has = (name: string) => parts.some((part) => part.toLowerCase() === name.toLowerCase());
  const known = NAMES.find((name) => name.toLowerCase() === key.toLowerCase());
  return [...MODIFIERS.filter(has), known ?? key.toUpperCase()].join('+');
}

/** The chosen keys by action; `null` takes the keys of an action away. */
export const chosenKeys = (): ReadonlyMap<string, string | null> => chosen;

export function chooseKeys(bindings: readonly KeyBinding[]): void {
  chosen = new Map(bindings.map(({ action, key }) => [action, key === null ? null : spelled(key)]));
}

/** Keeps the chosen keys as they are in the settings. Call it during component setup. */
export function followKeys(wanted: () => readonly KeyBinding[]): void {
  $effect.pre(() => chooseKeys(wanted()));
}

/** The bindings with another key for an action; `undefined` for its usual ones. The others keep their order. */
export function withKey(bindings: readonly KeyBinding[], action: string, key: string | null | undefined): KeyBinding[] {
  if (key === undefined) return bindings.filter((one) => one.action !== action);
  const isThere = bindings.some((one) => one.action === action);
  if (!isThere) return [...bindings, { action, key }];
  return bindings.map((one) => (one.action === action ? { action, key } : one));
}
