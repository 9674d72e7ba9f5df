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
  [waiting(NOW + 8_000), 'Reconnecting, attempt 3, in 8 s', true],
  [waiting(NOW + 7_001), 'Reconnecting, attempt 3, in 8 s', true],
  [waiting(NOW + 1), 'Reconnecting, attempt 3, in 1 s', true],
  [waiting(NOW), 'Reconnecting, attempt 3', true],
  [waiting(0), 'Reconnecting, attempt 3', true],
  [{ type: 'incompatible', version: '9.0.0' }, 'Runs in Deskbell 9.0.0', true],
])('says %j as %s', (link, words, isLost) => {
  expect(shown(link)).toBe(words);
  expect(isLinkLost(link)).toBe(isLost);
  expect(linkWords(link, NOW)?.isLost ?? false).toBe(isLost);
});

it('announces the same words through all attempts', () => {
  const links: SessionLink[] = [{ type: 'connecting' }, waiting(NOW + 8_000), waiting(NOW + 7_000)];
  expect(new Set(links.map((link) => linkWords(link, NOW)?.label))).toEqual(new Set(['Reconnecting']));
});

it('says what a session did when it was last seen', () => {
  expect(lastSeen({ type: 'working', activity: 'Running tests' })).toBe('Working when last seen');
});
