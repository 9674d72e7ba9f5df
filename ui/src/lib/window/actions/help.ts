// The list of keys, for the help and for the documentation.

import { chordName, isMac } from '../../kit/keys';
import { GROUPS } from './action';
import { FIXED_KEYS } from './fixed';
import { ACTIONS, chordsOf, usualChords } from './table';

export interface KeyGroup {
  name: string;
  entries: readonly { keys: readonly string[]; words: string }[];
}

/** All keys as they are shown on a platform, by group. */
export function keyGroups(mac = isMac): KeyGroup[] {
  const groups: KeyGroup[] = GROUPS.map((name) => ({
    name,
    entries: ACTIONS.filter((action) => action.group === name && chordsOf(action, mac).length > 0).map((action) => ({
      keys: chordsOf(action, mac).map((chord) => chordName(chord, mac)),
      words: action.label,
    })),
  }));
  const fixed = FIXED_KEYS.map(({ keys, words }) => ({
    keys: keys.split(' ').map((chord) => chordName(chord, mac)),
    words,
  }));
  return [...groups.filter(({ entries }) => entries.length > 0), { name: 'Prompt box', entries: fixed }];
}

/** All actions and keys as a table of Markdown: first the actions, with their names in the settings. */
export function keyTable(): string {
  const named = (chord: string, mac: boolean) => {
    const key = chordName(chord, mac);
    return /^[/@?]$/.test(key) ? `\`${key}\`` : key;
  };
  const cell = (chords: readonly string[], mac: boolean) => chords.map((chord) => named(chord, mac)).join(', ');
  const actions = GROUPS.flatMap((name) => ACTIONS.filter(({ group }) => group === name)).map((action) => {
    const name = action.isLocal === true ? '' : `\`${action.id}\``;
    return [cell(usualChords(action, false), false), cell(usualChords(action, true), true), action.label, name];
  });
  const fixed = FIXED_KEYS.map(({ keys, words }) => [
    cell(keys.split(' '), false),
    cell(keys.split(' '), true),
    words,
    '',
  ]);
  const lines = [['Key', 'On macOS', 'Action', 'Name'], ['---', '---', '---', '---'], ...actions, ...fixed];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
