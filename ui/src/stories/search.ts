// Stories of the search in all sessions and of the board of all projects.

import { BoardPage } from '../lib/window/board/board.svelte';
import BoardWindow from '../lib/window/board/BoardWindow.svelte';
import { FakeHost } from '../fake/host';
import { BOARDS, machinesOf } from '../fake/board';
import { SETTINGS } from '../fake/facts';
import { QUESTIONS } from '../fake/far';
import { searchFound, SEARCHED } from '../fake/search';
import type { SearchChange } from '../lib/bindings/api';
import SearchPanel from '../lib/project/search/SearchPanel.svelte';
import { SearchState } from '../lib/project/search.svelte';
import { systemClock } from '../lib/kit/attention.svelte';
import { ignore, press, settle, states, type Page } from './story';

/** A search for these words that has come this far. */
function panel(query: string, change: Partial<SearchChange> | null, all = true) {
  const search = new SearchState(new FakeHost('conversation'));
  search.query = query;
  search.all = all;
  const whole = searchFound(query, true);
  if (whole !== null && change !== null) {
    const { found, ...progress } = { ...whole, ...change };
    search.found = found;
    search.progress = progress;
  }
  return { search, now: Date.now(), onopen: ignore, onclose: ignore };
}

function hinted(query: string, hint: string) {
  const given = panel(query, null);
  given.search.hint = hint;
  return given;
}

function failed(query: string, failure: string) {
  const given = panel(query, null);
  given.search.failure = failure;
  return given;
}

const first = SEARCHED.slice(0, 1);

export const search: Page = () => [
  ...states('SearchPanel', SearchPanel, {
    empty: panel('', null),
    searching: panel('test', { found: [], isComplete: false, nFiles: 40, nSearched: 3 }),
    'first results': panel('test', { isComplete: false, nFiles: 40, nSearched: 9 }),
    results: panel('test', {}),
    'results of one project': panel('test', {}, false),
    'in another window': panel('test', { found: first.map((one) => ({ ...one, inOtherWindow: true })) }),
    'with a profile': panel('test', { found: first.map((one) => ({ ...one, profile: 'Work' })) }),
    'too many': panel('test', { found: first.map((one) => ({ ...one, hasMore: true })), isCut: true }),
    'the newest of many': panel('line', { found: searchFound('line', true, false)?.found ?? [], isCut: true }),
    none: panel('wombat', {}),
    partial: panel('test', { nUnreadable: 2, nLeftOut: 1 }),
    'a date that is none': hinted('test before:soon', '“soon” is not a date. Use a date such as 2026-11-22.'),
    error: panel('test', { found: [], problem: '/home/ines/.claude/projects could not be read: Permission denied' }),
    'a failed call': failed('test', 'The search did not start.'),
  }),
];

function board(name: string) {
  const rows = [...(BOARDS[name] ?? [])];
  const state = new BoardPage(new FakeHost(name), {
    event: '',
    board: { rows, machines: machinesOf(name) },
    settings: SETTINGS,
  });
  return { state, clock: systemClock };
}

async function ask(root: HTMLElement, machine: string) {
  await press(root, 'Other machines');
  await press(root, `List sessions on ${machine}`);
  await settle();
}

/** Presses keys in the list. */
async function keys(root: HTMLElement, ...pressed: string[]) {
  await settle();
  for (const key of pressed) {
    const button = document.activeElement?.closest('[data-session]') ?? root.querySelector('[data-session]');
    button?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
    await settle();
  }
}

async function answerByKey(root: HTMLElement) {
  root.dispatchEvent(new KeyboardEvent('keydown', { key: 'a', code: 'KeyA', altKey: true, bubbles: true }));
  await settle();
}

async function type(root: HTMLElement, words: string) {
  const field = root.querySelector<HTMLInputElement>('.filter input');
  if (field === null) return;
  field.value = words;
  field.dispatchEvent(new Event('input', { bubbles: true }));
  await settle();
}

function asking() {
  const page = board('board-machines');
  page.state.questions.hear({ type: 'connectionAsks', question: QUESTIONS.password });
  return page;
}

export const boards: Page = () => [
  ...states('BoardWindow', BoardWindow, {
    none: board('board-none'),
    one: board('board-one'),
    three: board('board-three'),
    'only done': board('board-done'),
    thirty: board('board'),
    'all that is done': [board('board'), (root) => press(root, 'Show 13 more')],
    'one line of thirty shown whole': [board('board'), (root) => keys(root, 'ArrowDown', ' ')],
    'a long command shown whole': [board('board-three'), (root) => keys(root, 'ArrowDown', 'ArrowDown', ' ')],
    'texts that pretend to be others': board('board-hostile'),
    'rows that were cleared': [board('board-three'), (root) => press(root, 'Clear all')],
    'nothing matches the filter': [board('board-three'), (root) => type(root, 'wombat')],
    'nothing waits for a key': [board('board-done'), (root) => answerByKey(root)],
    'with other programs': board('board-terminals'),
    'in worktrees': board('board-worktrees'),
    'of several profiles and agents': board('board-profiles'),
    'of other machines': board('board-machines'),
    'lists what runs on a machine': [board('board-machines'), (root) => ask(root, 'build-server')],
    'names another machine': [board('board-machines'), (root) => press(root, 'Add a machine…')],
    'names another machine, with none': [board('board'), (root) => press(root, 'Add a machine…')],
    'lists odd sessions': [board('board-machines'), (root) => ask(root, 'old-box')],
    'lists nothing': [board('board-machines'), (root) => ask(root, 'shop.example')],
    'asks whether to stop all on a machine': [
      board('board-machines'),
      async (root) => {
        await ask(root, 'build-server');
        await press(root, 'Stop all on build-server…');
      },
    ],
    'a machine that cannot be reached': [board('board-machines'), (root) => ask(root, 'down')],
    'ssh asks': asking(),
    'asks whether to stop all': [board('board'), (root) => press(root, 'Stop all…')],
  }),
];
