// Stories of the changes page.

import { tick } from 'svelte';

import type { Changes, CommitBoxState, CommitState, FileText } from '../lib/bindings/api';
import ChangesDialog from '../lib/session/changes/ChangesDialog.svelte';
import { ChangeActs, partsOf, type AskedRevert } from '../lib/session/changeActs.svelte';
import CommitBoxSection from '../lib/session/changes/CommitBox.svelte';
import { CommitBox } from '../lib/session/commitBox.svelte';
import { CommitProposal } from '../lib/session/commitProposal.svelte';
import CommentList from '../lib/session/changes/CommentList.svelte';
import { LineComments } from '../lib/session/comments.svelte';
import FileCounts from '../lib/session/changes/FileCounts.svelte';
import FileSection from '../lib/session/changes/FileSection.svelte';
import RevertDialog from '../lib/session/changes/RevertDialog.svelte';
import SideBySide from '../lib/session/changes/SideBySide.svelte';
import { WorkingChanges } from '../lib/session/workingTree.svelte';
import { diffLines } from '../lib/document/diffLines';
import {
  COMMIT_STATE,
  COMMITTED,
  diffOf,
  EDITED,
  fileOf,
  manyChanges,
  MOMENTS,
  MONEY,
  NO_CHANGES,
  WORKING,
} from '../fake/changes';
import { FILES, NO_FILE } from '../fake/files';
import FileViewer from '../lib/session/viewer/FileViewer.svelte';
import { emptySession } from '../fake/facts';
import { ignore, press, states, type Page, type Play } from './story';

const REVIEW = ['Why is this not a strategy of its own?', 'Say which rounding this is, and why: '.repeat(12)];

/** Comments that outlive nothing. */
function comments(...texts: readonly string[]) {
  const kept = new LineComments('story', sessionStorage);
  for (const { id } of kept.all) kept.remove(id);
  const lines = MONEY.hunks.slice(0, 1).flatMap(diffLines);
  texts.forEach((text, i) => kept.write(kept.begin('src/money.rs', lines.slice(i, i + 2)), text));
  return kept;
}

/** Two comments, of which one was removed. */
function removed() {
  const kept = comments(...REVIEW);
  kept.remove(kept.all[0]?.id ?? 0);
  return kept;
}

function acts(facts: Partial<Pick<ChangeActs, 'said' | 'reverted' | 'asked'>> = {}) {
  const made = new ChangeActs({
    patch: () => Promise.resolve({ text: '', nFiles: 11, leftOut: [] }),
    copy: () => Promise.resolve(),
    revert: ({ path }) => Promise.resolve({ at: 1, files: [path] }),
    undo: () => Promise.resolve(),
    changed: ignore,
  });
  return Object.assign(made, facts);
}

/** A commit box whose message is not stored. */
function commitBox(
  facts: Partial<
    Pick<CommitBox, 'output' | 'failure' | 'said' | 'committed' | 'message' | 'amend' | 'withoutPrograms'>
  > = {},
  state: Partial<CommitState> = {},
  box: CommitBoxState = { type: 'ready', repository: { ...COMMIT_STATE, ...state }, isTrusted: true },
) {
  sessionStorage.removeItem('deskbell.commit.story');
  const host = {
    state: () => Promise.resolve(box),
    commit: () => Promise.resolve(COMMITTED),
    stop: () => Promise.resolve(),
    undo: () => Promise.resolve({ id: COMMITTED.id, branch: COMMITTED.branch, head: null }),
    changed: ignore,
  };
  const made = new CommitBox(host, 'story', sessionStorage);
  made.view = box;
  return Object.assign(made, facts);
}

const files = WORKING.files;
const HOOK_OUTPUT =
  'npm run lint\n\nsrc/money.ts\n  12:1  error  Unexpected console statement\n\n1 problem\nlint failed';
const refused = { code: 'refused' as const, message: 'Git or a hook refused the commit.', detail: HOOK_OUTPUT };
const DETACHED =
  'No branch is checked out, so a commit would be lost easily. Create a branch first: git switch -c NAME.';
const detached = { code: 'refused' as const, message: DETACHED, detail: null };
const RESTRICTED: CommitBoxState = {
  type: 'ready',
  repository: { ...COMMIT_STATE, programs: ['pre-commit', 'signing'] },
  isTrusted: false,
};
const MESSAGE = 'Round half to even in totals\n\nThe bank does it that way.';

/** Proposals of an agent that answers nothing. */
function proposal(sideQuestions = true) {
  const empty = emptySession('s1', 'Round half to even');
  return new CommitProposal({
    session: () => ({ ...empty, capabilities: { ...empty.capabilities, sideQuestions } }),
    isWatching: () => false,
    patch: () => Promise.resolve({ text: '', nFiles: 1, leftOut: [] }),
    command: () => Promise.resolve(),
  });
}

/** Chooses two files. */
function chosen2() {
  const box = commitBox({ message: MESSAGE });
  box.choose(['src/money.rs', 'assets/logo.png'], true);
  return box;
}

/** A revert of a whole file. */
function asked(path: string): AskedRevert {
  const file = fileOf(path);
  const change = { path, oldPath: file.oldPath, version: path, hunk: null };
  return { file, change, diff: diffOf(path).diff };
}

const part = partsOf(MONEY, false)[0];
const askedPart = (path: string): AskedRevert => {
  const whole = asked(path);
  return { ...whole, change: { ...whole.change, hunk: part?.place ?? null }, diff: part?.diff ?? null };
};
const reverted = { at: 1, files: ['src/money.rs'] };
const NO_GIT_PROGRAM = 'Git is not installed, so changes are not compared with the last commit.';
const LEFT_OUT = 'Copied a patch of 11 files. assets/logo.png: a binary file is left out of the patch.';
const REFUSED =
  'Nothing was reverted: The file has changed since it was shown, so nothing was reverted. Look at its change again. src/money.rs';

const onsend = () => Promise.resolve(true);
function page(
  view: Changes | null,
  facts: { file?: string; machine?: string; comments?: LineComments; acts?: ChangeActs; commit?: CommitBox } = {},
) {
  const working = new WorkingChanges(() => (view === null ? new Promise(ignore) : Promise.resolve(view)));
  void working.refresh();
  const load = (path: string) => Promise.resolve(diffOf(path));
  const calls = { onreveal: ignore, onedit: ignore, onprompt: ignore, onsend, onclose: ignore };
  const loadMoments = () => Promise.resolve(MOMENTS);
  return {
    working,
    comments: comments(),
    acts: acts(),
    commit: commitBox(),
    now: Date.now(),
    load,
    loadMoments,
    ...calls,
    ...facts,
  };
}

const settled: Play = async () => {
  for (let i = 0; i < 5; i++) await tick();
};

const sideBySide: Play = async (root) => {
  await settled(root);
  root.querySelector<HTMLElement>('input[type=checkbox]')?.click();
  await settled(root);
};

/** Chooses two lines of the first diff and begins a comment on them. */
const chosen: Play = async (root) => {
  await settled(root);
  const lines = root.querySelector('[role=listbox]');
  for (const [key, shiftKey] of [
    ['ArrowDown', false],
    ['ArrowDown', false],
    ['ArrowDown', true],
    ['Enter', false],
  ] as const) {
    lines?.dispatchEvent(new KeyboardEvent('keydown', { key, shiftKey, bubbles: true }));
  }
  await settled(root);
};

const file = (path: string, line: number | null = null) => ({
  path,
  line,
  load: () => {
    const text = FILES.get(path);
    const refused = { code: 'refused', message: NO_FILE, detail: null };
    return text === undefined ? Promise.reject(refused as unknown as Error) : Promise.resolve(text);
  },
  loadDiff: () => Promise.resolve(path === 'src/money.rs' ? { ...diffOf(path), nMoreLines: 12 } : null),
  onedit: ignore,
  onclose: ignore,
});

const ofChange: Play = async (root) => {
  await settled(root);
  root.querySelector<HTMLElement>('[aria-pressed]')?.click();
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
  onedit: ignore,
  oncopy: ignore,
  onrevert: ignore,
  onrefuse: ignore,
  oncomment: ignore,
});

export const changes: Page = () => [
  ...states('FileViewer', FileViewer, {
    'at a line': [file('src/money.rs', 7), settled],
    'its change': [file('src/money.rs', 7), ofChange],
    'a part of a long file': [{ ...file('src/long.rs', 2_810), machine: 'box' }, settled],
    'an empty file': [file('src/empty.rs'), settled],
    'hidden characters': [file('src/a b.rs'), settled],
    'a file that is gone': [file('src/gone.rs'), settled],
    reading: { ...file('src/money.rs'), load: () => new Promise<FileText>(ignore) },
  }),
  ...states('ChangesDialog', ChangesDialog, {
    'each kind of file': [page(WORKING), settled],
    'side by side': [page(WORKING, { file: 'src/money.rs' }), sideBySide],
    'with comments': [page(WORKING, { file: 'src/money.rs', comments: comments(...REVIEW) }), settled],
    'a patch copied': [page(WORKING, { acts: acts({ said: LEFT_OUT }) }), settled],
    'a revert done': [page(WORKING, { acts: acts({ said: 'Reverted src/money.rs.', reverted }) }), settled],
    'a revert refused': [page(WORKING, { acts: acts({ said: REFUSED }) }), settled],
    'asking before a revert': [page(WORKING, { acts: acts({ asked: asked('src/money.rs') }) }), settled],
    'lines chosen': [page(WORKING, { file: 'src/money.rs', comments: comments() }), chosen],
    'with a commit chosen': [page(WORKING, { file: 'src/money.rs', commit: chosen2() }), settled],
    'since the last prompt': [page({ ...WORKING, base: since }, { file: 'src/old.rs' }), settled],
    'on another machine': [page(WORKING, { file: 'src/money.rs', machine: 'box' }), settled],
    'on another machine, without git': [page(EDITED, { file: 'src/money.rs', machine: 'box' }), settled],
    '10,000 files': [page(manyChanges(10_000)), settled],
    'no changes': [page({ ...WORKING, files: [] }), settled],
    'no commit yet': [page({ ...WORKING, base: { type: 'noCommit' } }), settled],
    'no prompt yet': [page({ ...NO_CHANGES, base: { type: 'noPrompt' } }), settled],
    'no repository': [page(NO_CHANGES), settled],
    'without git': [page(EDITED, { file: 'src/money.rs' }), settled],
    'without git, since the last prompt': [
      page({ ...EDITED, base: { type: 'edits', sincePrompt: true }, files: [], problem: NO_GIT_PROGRAM }),
      settled,
    ],
    'of another user': [
      page({ ...NO_CHANGES, problem: 'The repository belongs to another user, so git does not read it.' }),
      settled,
    ],
    reading: page(null),
  }),
  ...states('CommitBox', CommitBoxSection, {
    empty: { box: commitBox({}, { staged: [], partlyStaged: [] }), files },
    'with a choice': { box: chosen2(), files },
    'with a proposal': { box: chosen2(), files, proposal: proposal() },
    'a message is being proposed': [
      { box: chosen2(), files, proposal: proposal() },
      async (root) => press(root, 'Propose a message'),
    ],
    'no message was proposed': {
      box: chosen2(),
      files,
      proposal: Object.assign(proposal(), { failure: 'API error: Repeated 529 Overloaded errors.' }),
    },
    'of an agent that cannot propose': { box: chosen2(), files, proposal: proposal(false) },
    'amending the last commit': { box: commitBox({ amend: true }), files },
    'amending refused': {
      box: commitBox({}, { amendment: { type: 'refused', reason: 'The last commit is already on origin/main.' } }),
      files,
    },
    'with hooks': { box: commitBox({ message: MESSAGE }, { programs: ['pre-commit', 'commit-msg'] }), files },
    'with hooks in a restricted folder': {
      box: commitBox({ message: MESSAGE }, {}, RESTRICTED),
      files,
    },
    'a running hook': {
      box: commitBox({ message: MESSAGE, output: HOOK_OUTPUT }, {}, { type: 'running' }),
      files,
    },
    'a failing hook': { box: commitBox({ message: MESSAGE, failure: refused }), files },
    done: { box: commitBox({ said: 'Committed 3 files on half-even.', committed: COMMITTED }), files: [] },
    'no branch': { box: commitBox({ message: MESSAGE }, {}, { type: 'refused', problem: detached }), files },
    reading: { box: Object.assign(commitBox(), { view: null }), files },
  }),
  ...states('FileSection', FileSection, {
    unfolded: [section('src/money.rs'), settled],
    'side by side': [{ ...section('src/money.rs'), isSideBySide: true }, settled],
    'with a note': [section('vendor/decimal'), settled],
    'cut off': [section('src/old.rs'), settled],
    'not read': [{ ...section('src/money.rs'), load: () => Promise.resolve(null) }, settled],
    reading: { ...section('src/money.rs'), load: () => new Promise(ignore) },
    folded: { ...section('src/export/nightly.rs'), unfolded: false },
    'in a commit': [{ ...section('src/money.rs'), commit: chosen2() }, settled],
    'not to be committed': { ...section('src/import.rs'), unfolded: false, commit: commitBox() },
  }),
  ...states('RevertDialog', RevertDialog, {
    'a file': { asked: asked('src/money.rs'), busy: false, onrevert: ignore, onclose: ignore },
    'a part': { asked: askedPart('src/money.rs'), busy: false, onrevert: ignore, onclose: ignore },
    'a new file': { asked: asked('docs/rounding.md'), busy: false, onrevert: ignore, onclose: ignore },
    'a deleted file': { asked: asked('src/old.rs'), busy: false, onrevert: ignore, onclose: ignore },
    'a renamed file, at work': { asked: asked('src/export/nightly.rs'), busy: true, onrevert: ignore, onclose: ignore },
  }),
  ...states('CommentList', CommentList, {
    'two comments': { comments: comments(...REVIEW), onprompt: ignore, onsend },
    'one removed': { comments: removed(), onprompt: ignore, onsend },
    none: { comments: comments(), onprompt: ignore, onsend },
  }),
  ...states('SideBySide', SideBySide, {
    'two hunks': { diff: MONEY },
    'with comments': { diff: MONEY, oncomment: ignore },
  }),
  ...states('FileCounts', FileCounts, {
    lines: { file: fileOf('docs/rounding.md') },
    binary: { file: fileOf('assets/logo.png') },
  }),
];
