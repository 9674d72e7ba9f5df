// The list of keys, for the help and for the documentation.

import { chordName, isMac } from '../kit/keys';
import { GROUPS } from './action';
import { FIXED_KEYS } from './fixed';
import { ACTIONS, chordsOf } from './table';

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

/** The keys as a table of Markdown. */
export function keyTable(): string {
  const cell = (keys: readonly string[]) => keys.map((key) => (/^[/@?]$/.test(key) ? `\`${key}\`` : key)).join(', ');
  const mac = keyGroups(true).flatMap(({ entries }) => entries);
  const lines = keyGroups(false)
    .flatMap(({ entries }) => entries)
    .map(({ keys, words }, i) => `| ${cell(keys)} | ${cell(mac[i]?.keys ?? [])} | ${words} |`);
  return ['| Key | On macOS | Action |', '|---|---|---|', ...lines].join('\n');
}
