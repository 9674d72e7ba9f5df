import { beforeEach, expect, it } from 'vitest';

import { matching, type Entry } from './entries';
import { recentActions, rememberAction } from './recent';

beforeEach(() => localStorage.clear());

const entries: Entry[] = ['New session', 'Show or hide the sessions', 'Settings'].map((label) => ({
  id: label,
  label,
  run: () => {},
}));
const labels = (query: string, recent: string[] = [], all = entries) =>
  matching(all, query, recent).map(({ label }) => label);

it('offers everything before anything is typed', () => {
  expect(labels(' ')).toHaveLength(3);
});

it('wants every word, anywhere, and leads with what begins so', () => {
  expect(labels('se')).toEqual(['Settings', 'New session', 'Show or hide the sessions']);
  expect(labels('SESSION hide')).toEqual(['Show or hide the sessions']);
  expect(labels('nothing')).toEqual([]);
});

it('finds a session by a word that is not shown', () => {
  const session: Entry = { id: 's', label: 'Totals', detail: 'Session', words: 'main Why a cent off?', run: () => {} };
  expect(labels('cent main', [], [...entries, session])).toEqual(['Totals']);
});

it('puts recent ones first, but never before what begins with the word', () => {
  expect(labels('', ['Settings'])[0]).toBe('Settings');
  expect(labels('se', ['Show or hide the sessions'])).toEqual(['Settings', 'Show or hide the sessions', 'New session']);
});

it('shows what is not available only if it was searched for, as the last', () => {
  const off: Entry = { id: 'off', label: 'Set nothing', off: 'Nothing is set.', run: () => {} };
  expect(labels('', ['off'], [off, ...entries])).not.toContain('Set nothing');
  expect(labels('se', ['off'], [off, ...entries]).at(-1)).toBe('Set nothing');
});

it('remembers the last choices, each once', () => {
  'abcdefghija'.split('').forEach(rememberAction);
  expect(recentActions().join('')).toBe('ajihgfed');
  localStorage.setItem('deskbell.recentActions', '{"broken');
  expect(recentActions()).toEqual([]);
  rememberAction('new');
  expect(recentActions()).toEqual(['new']);
});
