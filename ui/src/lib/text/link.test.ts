import { expect, it } from 'vitest';

import type { SessionLink } from '../bindings/api';
import { isLinkLost, lastSeen, linkWords } from './link';

const NOW = 1_000_000;
const waiting = (at: number): SessionLink => ({ type: 'waiting', attempt: 3, at });
const shown = (link: SessionLink) => {
  const words = linkWords(link, NOW);
  return words === null ? null : words.label + words.detail;
};

it.each<[SessionLink, string | null, boolean]>([
  [{ type: 'here' }, null, false],
  [{ type: 'connected' }, 'Keeps running', false],
  [{ type: 'connecting' }, 'Reconnecting…', true],
  [waiting(NOW + 8_000), 'Reconnecting in 8 s', true],
  [waiting(NOW + 7_001), 'Reconnecting in 8 s', true],
  [waiting(NOW + 1), 'Reconnecting in 1 s', true],
  [waiting(NOW), 'Reconnecting…', true],
  [waiting(0), 'Reconnecting…', true],
  [{ type: 'incompatible', version: '9.0.0' }, 'Runs in Deskbell 9.0.0', true],
])('says %j as %s', (link, words, isLost) => {
  expect(shown(link)).toBe(words);
  expect(isLinkLost(link)).toBe(isLost);
  expect(linkWords(link, NOW)?.isLost ?? false).toBe(isLost);
});

it('says which attempt it is in the description', () => {
  expect(linkWords(waiting(NOW), NOW)?.title).toContain('(attempt 3)');
  expect(linkWords({ type: 'waiting', attempt: 1, at: NOW }, NOW)?.title).not.toContain('attempt');
});

it('announces the same words through all attempts', () => {
  const links: SessionLink[] = [{ type: 'connecting' }, waiting(NOW + 8_000), waiting(NOW + 7_000)];
  expect(new Set(links.map((link) => linkWords(link, NOW)?.label))).toEqual(new Set(['Reconnecting']));
});

it('says what a session did when it was last seen', () => {
  expect(lastSeen({ type: 'working', activity: 'Running tests' })).toBe('Working when last seen');
});
