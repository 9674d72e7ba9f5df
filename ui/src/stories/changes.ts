// Stories of the changes page.

import { tick } from 'svelte';

import type { Changes } from '../lib/bindings/api';
import ChangesDialog from '../lib/changes/ChangesDialog.svelte';
import FileCounts from '../lib/changes/FileCounts.svelte';
import FileSection from '../lib/changes/FileSection.svelte';
import SideBySide from '../lib/changes/SideBySide.svelte';
import { WorkingChanges } from '../lib/changes/working.svelte';
import { diffOf, fileOf, manyChanges, MONEY, NO_CHANGES, WORKING } from '../lib/host/fake/changes';
import { ignore, states, type Page, type Play } from './story';

function page(view: Changes | null, facts: { file?: string } = {}) {
  const working = new WorkingChanges(() => (view === null ? new Promise(ignore) : Promise.resolve(view)));
  void working.refresh();
  const load = (path: string) => Promise.resolve(diffOf(path));
  return { working, now: Date.now(), load, onreveal: ignore, onclose: ignore, ...facts };
}

const settled: Play = async () => {
  for (let i = 0; i < 5; i++) await tick();
};

const sideBySide: Play = async (root) => {
  await settled(root);
  root.querySelector<HTMLElement>('input[type=checkbox]')?.click();
  await settled(root);
};

const since = { type: 'prompt' as const, since: Date.now() - 40 * 60_000 };
const section = (path: string) => ({
  file: fileOf(path),
  nr: 1,
  unfolded: true,
  isSideBySide: false,
  load: () => Promise.resolve(diffOf(path)),
  onreveal: ignore,
});

export const changes: Page = () => [
  ...states('ChangesDialog', ChangesDialog, {
    'each kind of file': [page(WORKING), settled],
    'side by side': [page(WORKING, { file: 'src/money.rs' }), sideBySide],
    'since the last prompt': [page({ ...WORKING, base: since }, { file: 'src/old.rs' }), settled],
    '10,000 files': [page(manyChanges(10_000)), settled],
    'no changes': [page({ ...WORKING, files: [] }), settled],
    'no commit yet': [page({ ...WORKING, base: { type: 'noCommit' } }), settled],
    'no prompt yet': [page({ ...NO_CHANGES, base: { type: 'noPrompt' } }), settled],
    'no repository': [page(NO_CHANGES), settled],
    'of another user': [
      page({ ...NO_CHANGES, problem: 'The repository belongs to another user, so git does not read it.' }),
      settled,
    ],
    reading: page(null),
  }),
  ...states('FileSection', FileSection, {
    unfolded: [section('src/money.rs'), settled],
    'side by side': [{ ...section('src/money.rs'), isSideBySide: true }, settled],
    'with a note': [section('vendor/decimal'), settled],
    'cut off': [section('src/old.rs'), settled],
    'not read': [{ ...section('src/money.rs'), load: () => Promise.resolve(null) }, settled],
    reading: { ...section('src/money.rs'), load: () => new Promise(ignore) },
    folded: { ...section('src/export/nightly.rs'), unfolded: false },
  }),
  ...states('SideBySide', SideBySide, { 'two hunks': { diff: MONEY } }),
  ...states('FileCounts', FileCounts, {
    lines: { file: fileOf('docs/rounding.md') },
    binary: { file: fileOf('assets/logo.png') },
  }),
];
