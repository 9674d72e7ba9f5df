import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

import { GROUPS, type Desk } from './action';
import { FIXED_KEYS } from './fixed';
import { keyGroups, keyTable } from './help';
import { ON_THIS_COMPUTER } from './here';
import { actionOf, ACTIONS, chordsOf } from './table';

/** Chords that edit text, or that the desktop or the browser's engine takes, by platform. */
const TAKEN = {
  elsewhere: ['Ctrl+A', 'Ctrl+C', 'Ctrl+V', 'Ctrl+X', 'Ctrl+Y', 'Ctrl+Z', 'Ctrl+Shift+Z', 'Ctrl+Shift+V', 'Alt+F4'],
  mac: ['Ctrl+A', 'Ctrl+C', 'Ctrl+V', 'Ctrl+X', 'Ctrl+Z', 'Ctrl+Shift+Z', 'Ctrl+H', 'Ctrl+M', 'Ctrl+W', 'Ctrl+Tab'],
};

it('has each action that is off on another machine', () => {
  const ids = ACTIONS.map(({ id }) => id);
  expect(ON_THIS_COMPUTER.filter((id) => !ids.includes(id))).toEqual([]);
});

it.each([
  [null, false, 'default (off)'],
  [null, true, 'default (on)'],
  [true, false, 'always'],
  [false, true, 'never'],
])('shows what counts for the project: %s, and %s in the settings', (own, setting, shown) => {
  const state = { keepRunning: own, machine: null as object | null };
  const desk = { project: { project: state, settings: { settings: { keepRunning: setting } } } } as unknown as Desk;
  const on = { row: null, item: null, file: null };
  const action = actionOf('keep-running');
  const choices = 'choices' in action.does ? action.does.choices(desk, on) : [];
  const current = choices.filter(({ isCurrent }) => isCurrent === true);
  expect(current.map(({ label }) => label)).toEqual([shown]);
  expect(choices.filter(({ detail }) => detail === 'for new sessions')).toHaveLength(2);
  expect(action.off?.(desk, on)).toBeNull();
  state.machine = { name: 'box' };
  expect(action.off?.(desk, on)).toContain('on another machine');
});

describe.each([
  ['elsewhere', false],
  ['mac', true],
] as const)('the chords, %s', (platform, mac) => {
  const chords = ACTIONS.flatMap((action) => chordsOf(action, mac));

  it('name one action each', () => {
    const all = [...chords, ...FIXED_KEYS.flatMap(({ keys }) => keys.split(' '))];
    expect(all.length).toBeGreaterThan(25);
    expect(all.filter((chord, i) => all.indexOf(chord) !== i)).toEqual([]);
  });

  it('are free on the platform', () => {
    expect(chords.filter((chord) => (TAKEN[platform] as readonly string[]).includes(chord))).toEqual([]);
  });

  it('write no letter into the prompt', () => {
    // On macOS, Alt writes letters.
    const modifier = mac
      ? /Ctrl\+|^(Shift\+)?F\d+$|^Escape$|^Shift\+Tab$|^Alt\+Arrow/
      : /Ctrl\+|Alt\+|^(Shift\+)?F\d+$|^Escape$|^Shift\+Tab$/;
    expect(chords.filter((chord) => !modifier.test(chord))).toEqual(['?']);
  });
});

it('has each id and each label once', () => {
  for (const values of [ACTIONS.map(({ id }) => id), ACTIONS.map(({ label }) => label)]) {
    expect(values.filter((value, i) => values.indexOf(value) !== i)).toEqual([]);
  }
});

it('shows every action with a key in the help, in its group', () => {
  const words = keyGroups(false).flatMap(({ entries }) => entries.map((entry) => entry.words));
  const wanted = ACTIONS.filter((action) => chordsOf(action, false).length > 0).map(({ label }) => label);
  expect(wanted.filter((label) => !words.includes(label))).toEqual([]);
  expect(ACTIONS.filter(({ group }) => !GROUPS.includes(group))).toEqual([]);
});

it('is documented: `UPDATE_KEYS=1` writes the table of the guide', () => {
  const path = join(import.meta.dirname, '../../../../../docs/guide/settings-and-keys.md');
  const guide = readFileSync(path, 'utf8');
  const [start, end] = ['<!-- keys -->\n', '\n<!-- end of keys -->'];
  const before = guide.slice(0, guide.indexOf(start) + start.length);
  const wanted = `${before}${keyTable()}${guide.slice(guide.indexOf(end))}`;
  if (process.env['UPDATE_KEYS'] === '1') writeFileSync(path, wanted);
  else expect(guide).toBe(wanted);
});
