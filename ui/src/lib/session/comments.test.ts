import { beforeEach, expect, it } from 'vitest';

import type { DiffKind, DiffLine } from '../bindings/api';
import { MONEY } from '../../fake/changes';
import { diffLines } from '../document/diffLines';
import { Drafts } from './drafts.svelte';
import { LineComments, placeWords, promptOf } from './comments.svelte';
import { linesOf, sideBySide } from './changedFiles';

beforeEach(() => localStorage.clear());

const line = (kind: DiffKind, n: number, text: string): DiffLine => ({
  kind,
  oldLine: kind === 'added' ? null : n,
  newLine: kind === 'removed' ? null : n,
  parts: [{ text, strong: false, style: 'plain' }],
});

it('become a prompt with file, lines, quote and comment', () => {
  const comments = new LineComments('s1', localStorage);
  const first = MONEY.hunks.slice(0, 1).flatMap(diffLines);
  comments.write(comments.begin('src/money.rs', first.slice(1, 4)), ' Why? \n');
  comments.write(comments.begin('a`b\n.rs', [line('removed', 7, 'old')]), 'Keep it.');
  comments.begin('src/none.rs', first);
  expect(promptOf(comments.all)).toBe(
    [
      'Comments on the changes of the working tree:',
      '',
      '`src/money.rs`, lines 12–13:',
      '```diff',
      '-    Self(self.0.round_dp(2))',
      '+    Self(self.0.round_dp_with_strategy(2, EVEN))',
      '+    // \u202Eto even',
      '```',
      'Why?',
      '',
      '`` a`b\\u{000A}.rs ``, removed line 7:',
      '```diff',
      '-old',
      '```',
      'Keep it.',
    ].join('\n'),
  );
  expect(promptOf([])).toBe('');
});

it('quote with a fence that no line ends, and cut what is too long', () => {
  const comments = new LineComments('s1', localStorage);
  const evil = [line('added', 1, '`````'), line('added', 2, `${'x'.repeat(999)}😀`)];
  const id = comments.begin('a.md', [...evil, ...Array.from({ length: 300 }, (_, i) => line('added', i + 3, 'y'))]);
  comments.write(id, 'Shorter.');
  const prompt = promptOf(comments.all);
  expect(prompt).toContain('\n``````diff\n+`````\n+' + 'x'.repeat(999) + '…\n');
  expect(prompt).toContain('`a.md`, lines 1–200 and 102 more lines:');
  expect(prompt.match(/^`{6,}/gmu)).toEqual(['``````', '``````']);
});

it('outlive the window, except those without a text, and go with the draft of a removed session', () => {
  const drafts = new Drafts();
  const { comments } = drafts.of('s1', '/p');
  const id = comments.begin('a.rs', [line('context', 3, 'x')]);
  comments.write(id, 'One');
  comments.begin('a.rs', [line('context', 4, 'y')]);
  const again = new LineComments('s1', localStorage).all;
  expect(again.map((one) => `${placeWords(one)}: ${one.text}`)).toEqual(['line 3: One']);
  expect(again[0]?.id).not.toBe(id);
  drafts.forget('s1', '/p');
  expect(drafts.of(null, '/p').comments.all.map(({ text }) => text)).toEqual(['One']);
  expect(new LineComments('s1', localStorage).all).toEqual([]);
  expect(new LineComments('new:/p', localStorage).all).toHaveLength(1);
});

it('that were sent are removed, unless they changed meanwhile', () => {
  const comments = new LineComments('s1', localStorage);
  const [one, two] = [3, 4].map((n) => comments.begin('a.rs', [line('context', n, 'x')])) as [number, number];
  comments.write(one, 'One');
  comments.write(two, 'Two');
  const sent = comments.all;
  comments.write(two, 'Two and more');
  comments.settle(sent);
  expect(comments.all.map(({ text }) => text)).toEqual(['Two and more']);
});

it.each(['{', '{}', '[null, 1, {"path": 3}]', '[{"path":"a","text":"b","nMore":0,"lines":[{"kind":"x","text":"c"}]}]'])(
  'are read from a storage that has %s',
  (stored) => {
    localStorage.setItem('deskbell.comments.s1', stored);
    expect(new LineComments('s1', localStorage).all).toEqual([]);
  },
);

it('of rows side by side are in the order of the diff', () => {
  const lines = MONEY.hunks.slice(0, 1).flatMap(diffLines);
  expect(linesOf(sideBySide(MONEY)[0] ?? [])).toEqual(lines);
});

it('that were emptied or removed can be brought back, and are kept by a window that closes meanwhile', () => {
  const comments = new LineComments('s1', localStorage);
  const [one, two] = [3, 4].map((n) => comments.begin('a.rs', [line('context', n, 'x')])) as [number, number];
  comments.write(one, 'One');
  comments.write(two, 'Two');
  comments.edit(one);
  comments.write(one, ' ');
  expect(new LineComments('s1', localStorage).all.map(({ text }) => text)).toEqual(['One', 'Two']);
  comments.dropEmpty();
  expect(comments.removed?.text).toBe('One');
  expect(new LineComments('s1', localStorage).all.map(({ text }) => text)).toEqual(['Two']);
  comments.undoRemove();
  expect(comments.all.map(({ text }) => text)).toEqual(['One', 'Two']);
  comments.remove(two);
  comments.undoRemove();
  expect(comments.all.map(({ text }) => text)).toEqual(['One', 'Two']);
  expect(comments.removed).toBe(null);
  // One that never had a text is no loss.
  comments.begin('a.rs', [line('context', 5, 'x')]);
  comments.dropEmpty();
  expect(comments.removed).toBe(null);
});
