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

it.each<[string, KeyboardEventInit, string]>([
  ['Cyrillic', press('и', { ...ctrl, code: 'KeyB' }), 'Ctrl+B'],
  ['Cyrillic, with Shift', press('А', { ...ctrl, shiftKey: true, code: 'KeyF' }), 'Ctrl+Shift+F'],
  ['Cyrillic, a letter where a Latin layout has a mark', press('б', { ...ctrl, code: 'Comma' }), 'Ctrl+,'],
  ['Greek', press('κ', { ...ctrl, code: 'KeyK' }), 'Ctrl+K'],
  ['Greek, a mark in the place of Q', press(';', { ...ctrl, code: 'KeyQ' }), 'Ctrl+Q'],
  ['Hebrew', press('ל', { ...ctrl, code: 'KeyK' }), 'Ctrl+K'],
  ['Hebrew, a mark in the place of Q', press('/', { ...ctrl, code: 'KeyQ' }), 'Ctrl+Q'],
  ['Arabic', press('ن', { ...ctrl, code: 'KeyK' }), 'Ctrl+K'],
  ['Arabic digits', press('٠', { ...ctrl, code: 'Digit0' }), 'Ctrl+0'],
  ['Georgian', press('კ', { ...ctrl, code: 'KeyK' }), 'Ctrl+K'],
  ['Korean', press('ㅏ', { ...ctrl, code: 'KeyK' }), 'Ctrl+K'],
])('a layout without Latin letters is compared and recorded by position: %s', (_, init, chord) => {
  // The layout is known by a letter that was typed before.
  chordOf(new KeyboardEvent('keydown', { key: 'λ', code: 'KeyL' }));
  const event = new KeyboardEvent('keydown', init);
  expect(isChord(event, chord, false)).toBe(true);
  expect(chordOf(event, false)).toBe(chord);
});

it.each<[string, KeyboardEventInit, string]>([
  ['AZERTY', press('a', { ...ctrl, code: 'KeyQ' }), 'Ctrl+A'],
  ['AZERTY, a mark in the place of M', press(',', { ...ctrl, code: 'KeyM' }), 'Ctrl+,'],
  ['Dvorak, a mark in the place of W', press(',', { ...ctrl, code: 'KeyW' }), 'Ctrl+,'],
  ['German', press('ö', { ...ctrl, code: 'Semicolon' }), 'Ctrl+Ö'],
])('a Latin layout is compared and recorded by what it writes: %s', (_, init, chord) => {
  chordOf(new KeyboardEvent('keydown', { key: 'e', code: 'KeyE' }));
  const event = new KeyboardEvent('keydown', init);
  expect(isChord(event, chord, false)).toBe(true);
  expect(chordOf(event, false)).toBe(chord);
});
