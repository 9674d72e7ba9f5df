// Keys as they are written in the code, pressed by the user and shown on the current platform.
//
// A chord is written as “Ctrl+Shift+F”. On macOS, Ctrl means ⌘ and Alt means ⌥. Its last part is a `KeyboardEvent.key`,
// or “Plus” or “Minus”.

export const isMac = /mac/i.test(navigator.userAgent) && !/like mac/i.test(navigator.userAgent);

/** Whether this was Tab, with or without Shift. WebKitGTK (2.50) reports Shift+Tab only by its key code. */
export function isTab(event: KeyboardEvent): boolean {
  return event.key === 'Tab' || event.code === 'Tab';
}

/** What a US keyboard writes, by `KeyboardEvent.code`, apart from letters and digits. */
const POSITIONS: Readonly<Record<string, string>> = {
  Comma: ',',
  Period: '.',
  Slash: '/',
  Semicolon: ';',
  Quote: "'",
  BracketLeft: '[',
  BracketRight: ']',
  Backslash: '\\',
  Backquote: '`',
};

/** Whether the keyboard layout has Latin letters, as the last letter or digit showed. */
let hasLatin = true;

/**
 * The key of an event as chords name it. A layout without Latin letters (Cyrillic, Greek, Hebrew, Arabic, Georgian) cannot
 * write the letter of a chord: the key at the same place of a US keyboard counts, which is also printed on it. A Latin
 * layout counts by what it writes: AZERTY has the A of Ctrl+A where a US keyboard has Q.
 */
export function latinKey(event: KeyboardEvent): string {
  const { key, code } = event;
  if ([...key].length !== 1) return key;
  if (/\p{Script=Latin}/u.test(key)) hasLatin = true;
  else if (/(?!\p{Script=Common})\p{L}|(?![0-9])\p{Nd}/u.test(key)) hasLatin = false;
  const letter = /^Key([A-Z])$/.exec(code)?.[1]?.toLowerCase();
  // Hebrew has a slash and Greek a semicolon where Q is. Other keys with ASCII characters are meant as they are.
  if (hasLatin || (letter === undefined && /^[ -~]$/.test(key))) return key;
  return letter ?? /^Digit(\d)$/.exec(code)?.[1] ?? POSITIONS[code] ?? key;
}

/** Keys whose character depends on Shift or shares its key with another one, which is accepted as well. */
const CHARACTERS: Record<string, readonly string[]> = { Plus: ['+', '='], Minus: ['-', '_'], '?': ['?'] };

/** Whether this event is the chord. */
export function isChord(event: KeyboardEvent, chord: string, mac = isMac): boolean {
  const parts = chord.split('+');
  const key = parts.pop() ?? '';
  const main = mac ? event.metaKey : event.ctrlKey;
  const other = mac ? event.ctrlKey : event.metaKey;
  if (main !== parts.includes('Ctrl') || other || event.altKey !== parts.includes('Alt')) return false;
  const pressed = latinKey(event);
  const characters = CHARACTERS[key];
  if (characters !== undefined) return characters.includes(pressed);
  const isKey = key === 'Tab' ? isTab(event) : pressed.toLowerCase() === key.toLowerCase();
  return isKey && event.shiftKey === parts.includes('Shift');
}

const NAMES: Record<string, string> = { Escape: 'Esc', ArrowUp: 'Up', ArrowDown: 'Down', ContextMenu: 'Menu' };
const MAC_NAMES: Record<string, string> = { Plus: '+', Minus: '−', ArrowUp: '↑', ArrowDown: '↓', Enter: '↩', Tab: '⇥' };

/** “Ctrl+Shift+F”, or “⇧⌘F” on macOS. */
export function chordName(chord: string, mac = isMac): string {
  const parts = chord.split('+');
  const key = parts.pop() ?? '';
  if (!mac) return [...parts, NAMES[key] ?? key].join('+');
  const modifiers = [parts.includes('Alt') && '⌥', parts.includes('Shift') && '⇧', parts.includes('Ctrl') && '⌘'];
  return [...modifiers.filter(Boolean), MAC_NAMES[key] ?? NAMES[key] ?? key].join('');
}

/** The chord in the form of `aria-keyshortcuts`. */
export const ariaChord = (chord: string, mac = isMac): string => chord.replace('Ctrl', mac ? 'Meta' : 'Control');

/** “Ctrl+B”, or “⌘B” on macOS. */
export const withCtrl = (key: string): string => chordName(`Ctrl+${key}`);

const BARE = ['Control', 'Shift', 'Alt', 'Meta', 'AltGraph', 'Dead', 'Process', 'Unidentified', 'CapsLock', 'NumLock'];

/** The chord of an event; `null` for a modifier alone and for a key that writes together with the next one. */
export function chordOf(event: KeyboardEvent, mac = isMac): string | null {
  const key = latinKey(event);
  // AltGr is Ctrl and Alt at once on some systems, and it writes.
  if (BARE.includes(key) || event.isComposing || event.getModifierState('AltGraph')) return null;
  const named = Object.entries(CHARACTERS).find(([, characters]) => characters.includes(key))?.[0];
  const isShifted = event.shiftKey && named === undefined;
  const main = mac ? event.metaKey : event.ctrlKey;
  const parts = [main && 'Ctrl', event.altKey && 'Alt', isShifted && 'Shift'].filter((part) => part !== false);
  const written = isTab(event) ? 'Tab' : key === ' ' ? 'Space' : key.length === 1 ? key.toUpperCase() : key;
  return [...parts, named ?? written].join('+');
}
