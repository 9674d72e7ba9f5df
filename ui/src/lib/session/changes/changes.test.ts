import { expect, it } from 'vitest';

import type { Against, Changes, DiffKind, DiffLine } from '../../bindings/api';
import { manyChanges, NO_CHANGES, WORKING } from '../../../fake/changes';
import { firstChange } from '../changeActs.svelte';
import { comparisonWords, missingWords, sideBySide, splitPath, sumWords } from '../changedFiles';
import { plainPath } from '../../text/reveal';
import { WorkingChanges } from '../workingTree.svelte';

/** A reader whose answers the test gives. */
function reader() {
  const asked: { against: Against; answer: (changes: Changes | null) => void }[] = [];
  const working = new WorkingChanges((against) => new Promise((resolve) => asked.push({ against, answer: resolve })));
  const answer = async (changes: Changes | null) => {
    const before = asked.length;
    asked.at(-1)?.answer(changes);
    await expect.poll(() => asked.length > before || !working.isReading).toBe(true);
  };
  return { working, asked, answer };
}

it('reads once more for everything that was asked for while it was reading', async () => {
  const { working, asked, answer } = reader();
  void working.refresh();
  void working.refresh();
  void working.refresh();
  expect(asked).toHaveLength(1);
  await answer(NO_CHANGES);
  expect(asked).toHaveLength(2);
  expect(working.isKnown).toBe(false);
  await answer(WORKING);
  expect(asked).toHaveLength(2);
  expect([working.isKnown, working.isReading, working.nr]).toEqual([true, false, 2]);
  void working.refresh();
  await answer(null);
  expect(working.view).toBe(WORKING);
});

it('drops the answer to what is no longer asked', async () => {
  const { working, asked, answer } = reader();
  void working.refresh();
  void working.choose('prompt');
  await answer(WORKING);
  expect(working.view).toBe(null);
  expect(asked.map(({ against }) => against)).toEqual(['commit', 'prompt']);
  await answer(NO_CHANGES);
  expect(working.view).toBe(NO_CHANGES);
  void working.reset();
  expect([working.view, working.against]).toEqual([null, 'commit']);
});

it('puts what was removed next to what was added in its place', () => {
  const line = (kind: DiffKind, text: string) => ({
    kind,
    oldLine: null,
    newLine: null,
    parts: [{ text, strong: false, style: 'plain' as const }],
  });
  const lines = [
    line('context', 'a'),
    line('removed', 'b'),
    line('removed', 'c'),
    line('added', 'd'),
    line('context', 'e'),
    line('added', 'f'),
    line('removed', 'g'),
  ];
  const [pairs] = sideBySide({ path: 'a', added: 2, removed: 3, hunks: [{ lines }] });
  const text = (one: DiffLine | null) => one?.parts[0]?.text ?? '';
  expect(pairs?.map((pair) => `${text(pair.old)}|${text(pair.new)}`)).toEqual(['a|a', 'b|d', 'c|', 'e|e', '|f', 'g|']);
});

it('says what a list lacks, and writes out what a name hides', () => {
  expect(missingWords(manyChanges(1))).toEqual([
    '1,204 more files changed and are not listed.',
    '3 files were too large or too many to compare.',
  ]);
  const problem = 'Git is not installed.';
  expect(missingWords({ ...NO_CHANGES, problem })).toEqual([]);
  expect(comparisonWords({ ...NO_CHANGES, problem }, 0, true)).toBe(problem);
  expect(missingWords({ ...WORKING, problem })).toEqual([problem]);
  expect(sumWords(WORKING.files)).toBe('12 files · +44 −120');
  expect(plainPath('a\n\u202Egpj.exe')).toBe('a\\u{000A}\\u{202E}gpj.exe');
  expect(splitPath('src/deep/a.rs')).toEqual(['src/deep/', 'a.rs']);
  expect(splitPath('own/')).toEqual(['', 'own/']);
});

it('finds the line of the first change in the new file', () => {
  const line = (kind: DiffKind, oldLine: number | null, newLine: number | null): DiffLine => {
    return { kind, oldLine, newLine, parts: [] };
  };
  const first = (...lines: DiffLine[]) => firstChange({ path: 'a', added: 0, removed: 0, hunks: [{ lines }] });
  const same = line('context', 6, 7);
  expect(first(same, line('added', null, 8))).toBe(8);
  expect(first(same, line('removed', 7, null), line('context', 8, 8))).toBe(8);
  expect(first(same, line('removed', 7, null))).toBe(7);
  expect(first(line('removed', 1, null))).toBe(null);
  expect(first(same)).toBe(null);
  expect(first()).toBe(null);
});
