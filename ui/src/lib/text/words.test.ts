import { expect, it } from 'vitest';

import { dollars, exactDollars, plural, tokens } from '../kit/amounts';
import { statusSentence, windowTitle } from './status';
import { ago, day, elapsed, span } from './time';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const noon = new Date(2026, 4, 13, 12).getTime();

it('says how long something took', () => {
  expect([0, 420, 6_000, 9_940, 9_960, 12_400, 59_000].map(span)).toEqual([
    '0 s',
    '0.4 s',
    '6 s',
    '9.9 s',
    '10 s',
    '12 s',
    '59 s',
  ]);
  expect([MINUTE, 3 * MINUTE + 5 * SECOND, HOUR + 4 * MINUTE].map(span)).toEqual(['1 min', '3 min 5 s', '1 h 4 min']);
  expect([-5, 3_900, 61_500].map(elapsed)).toEqual(['0 s', '3 s', '1 min 1 s']);
});

it('says when something was', () => {
  expect(ago(noon - 20 * SECOND, noon)).toBe('now');
  expect(ago(noon - 12 * MINUTE, noon)).toBe('12 min');
  expect(ago(noon - 3 * HOUR, noon)).toBe('09:00');
  expect(ago(noon - 3 * 24 * HOUR, noon)).toBe('Sun');
});

it('groups by days as people count them', () => {
  expect(day(noon - 12 * HOUR, noon)).toBe('Today');
  expect(day(noon - 12 * HOUR - 1, noon)).toBe('Yesterday');
  expect(day(noon - 37 * HOUR, noon)).toBe('Earlier');
});

it('says amounts', () => {
  expect([0, 840, 12_400, 99_960, 1_240_000].map(tokens)).toEqual(['0', '840', '12.4k', '100k', '1.2M']);
  expect([0, 0.004, 0.18, 12].map(dollars)).toEqual(['$0', '< $0.01', '$0.18', '$12.00']);
  expect(['0.2', '3', '12.345678'].map(exactDollars)).toEqual(['$0.20', '$3.00', '$12.345678']);
  expect([plural(1, 'file'), plural(1200, 'file')]).toEqual(['1 file', '1,200 files']);
});

it('puts whose turn it is first in the title', () => {
  expect(windowTitle({ type: 'working', activity: 'x' }, 'Fix login', 'ledger')).toBe('Working · Fix login — ledger');
  expect(windowTitle({ type: 'needsInput', what: 'x' }, 'Fix login', 'ledger')).toBe(
    'Needs input · Fix login — ledger',
  );
  expect(windowTitle(null, null, 'ledger')).toBe('ledger — Deskbell');
  expect(statusSentence({ type: 'needsInput', what: 'Wants to run a command' })).toBe(
    'Needs input: Wants to run a command',
  );
});
