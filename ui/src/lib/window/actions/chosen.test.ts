import { afterEach, describe, expect, it } from 'vitest';

import { chooseKeys, spelled, withKey } from './chosen.svelte';
import { actionOf, ACTIONS, chordsOf, pressed } from './table';

afterEach(() => chooseKeys([]));

const press = (key: string, modifiers: KeyboardEventInit = {}) =>
  pressed(new KeyboardEvent('keydown', { key, ...modifiers }));

it.each([
  ['ctrl+shift+f', 'Ctrl+Shift+F'],
  [' shift + CTRL + f5', 'Ctrl+Shift+F5'],
  ['alt+arrowup', 'Alt+ArrowUp'],
  ['Ctrl+plus', 'Ctrl+Plus'],
  ['Ctrl+,', 'Ctrl+,'],
])('spells %s as %s', (written, wanted) => expect(spelled(written)).toBe(wanted));

describe('a chosen key', () => {
  it('is in place of the usual ones', () => {
    chooseKeys([{ action: 'new', key: 'ctrl+alt+n' }]);
    expect(chordsOf(actionOf('new'))).toEqual(['Ctrl+Alt+N']);
    expect(press('n', { ctrlKey: true })).toBeUndefined();
    expect(press('n', { ctrlKey: true, altKey: true })?.id).toBe('new');
  });

  it('takes the key from the action that has it usually', () => {
    chooseKeys([{ action: 'doctor', key: 'Ctrl+N' }]);
    expect(press('n', { ctrlKey: true })?.id).toBe('doctor');
    expect(chordsOf(actionOf('new'))).toEqual([]);
  });

  it('can be none', () => {
    chooseKeys([{ action: 'help', key: null }]);
    expect(chordsOf(actionOf('help'))).toEqual([]);
    expect(press('F1')).toBeUndefined();
  });

  it('does nothing for keys that belong to one element, or for no action', () => {
    const usual = ACTIONS.map((action) => chordsOf(action));
    chooseKeys([
      { action: 'interrupt', key: 'Ctrl+F9' },
      { action: 'wombat', key: 'Ctrl+N' },
    ]);
    expect(ACTIONS.map((action) => chordsOf(action))).toEqual(usual);
    expect(press('F9', { ctrlKey: true })).toBeUndefined();
  });
});

it('changes one binding and keeps the order of the others', () => {
  const before = [
    { action: 'a', key: 'F2' },
    { action: 'b', key: null },
  ];
  expect(withKey(before, 'a', 'F3')).toEqual([{ action: 'a', key: 'F3' }, before[1]]);
  expect(withKey(before, 'c', null)).toEqual([...before, { action: 'c', key: null }]);
  expect(withKey(before, 'a', undefined)).toEqual([before[1]]);
});
