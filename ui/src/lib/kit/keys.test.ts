import { expect, it } from 'vitest';

import { chordName, chordOf, isChord } from './keys';

const press = (key: string, init: KeyboardEventInit = {}): KeyboardEventInit => ({ key, ...init });
const ctrl = { ctrlKey: true };
const meta = { metaKey: true };

it.each<[string, KeyboardEventInit, boolean, boolean]>([
  ['Ctrl+B', press('b', ctrl), true, false],
  ['Ctrl+B', press('B', ctrl), true, false],
  ['Ctrl+B', press('B', { ...ctrl, shiftKey: true }), false, false],
  ['Ctrl+B', press('b', meta), false, true],
  ['Ctrl+B', press('b', { ...ctrl, ...meta }), false, false],
  ['Ctrl+B', press('b', { ...ctrl, altKey: true }), false, false],
  ['Ctrl+Shift+F', press('F', { ...ctrl, shiftKey: true }), true, false],
  ['Alt+ArrowUp', press('ArrowUp', { altKey: true }), true, true],
  ['Alt+A', press('a'), false, false],
  ['Ctrl+Plus', press('=', ctrl), true, false],
  ['Ctrl+Plus', press('+', { ...ctrl, shiftKey: true }), true, false],
  ['Ctrl+Minus', press('-', ctrl), true, false],
  ['?', press('?', { shiftKey: true }), true, true],
  ['F6', press('F6'), true, true],
  ['Shift+Tab', press('Unidentified', { code: 'Tab', shiftKey: true }), true, true],
])('%s by %j: %s, on macOS %s', (chord, init, elsewhere, mac) => {
  const event = new KeyboardEvent('keydown', init);
  expect(isChord(event, chord, false)).toBe(elsewhere);
  expect(isChord(event, chord, true)).toBe(mac);
});

it.each([
  ['Ctrl+Shift+F', 'Ctrl+Shift+F', '⇧⌘F'],
  ['Ctrl+Plus', 'Ctrl+Plus', '⌘+'],
  ['Alt+ArrowUp', 'Alt+Up', '⌥↑'],
  ['Escape', 'Esc', 'Esc'],
  ['Shift+F10', 'Shift+F10', '⇧F10'],
])('%s is shown as %s, on macOS as %s', (chord, elsewhere, mac) => {
  expect(chordName(chord, false)).toBe(elsewhere);
  expect(chordName(chord, true)).toBe(mac);
});

it.each<[KeyboardEventInit, string | null, string | null]>([
  [press('b', ctrl), 'Ctrl+B', 'B'],
  [press('B', { ...ctrl, shiftKey: true }), 'Ctrl+Shift+B', 'Shift+B'],
  [press('=', ctrl), 'Ctrl+Plus', 'Plus'],
  [press('+', { ...ctrl, shiftKey: true }), 'Ctrl+Plus', 'Plus'],
  [press('ArrowUp', { altKey: true }), 'Alt+ArrowUp', 'Alt+ArrowUp'],
  [press(' ', ctrl), 'Ctrl+Space', 'Space'],
  [press('Control', ctrl), null, null],
  [press('Dead', ctrl), null, null],
  [press('@', { ...ctrl, altKey: true, modifierAltGraph: true }), null, null],
  [press('Unidentified', { code: 'Tab', shiftKey: true }), null, null],
])('%j is the chord %s, on macOS %s', (init, elsewhere, mac) => {
  const event = new KeyboardEvent('keydown', init);
  expect(chordOf(event, false)).toBe(elsewhere);
  expect(chordOf(event, true)).toBe(mac);
});
