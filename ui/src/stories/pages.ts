// Stories of the pages that replace a conversation, and of the lists next to it.

import { tick, type ComponentProps } from 'svelte';

import type { BackgroundTask, ScheduledTurn, Session, StartView, Status, StoredSession } from '../lib/bindings/api';
import { emptySession, PROJECT, SETTINGS, stored, SURVIVORS, UNREAD_FILES } from '../fake/facts';
import { AGENTS } from '../fake/agents';
import { agentTrustOf, TRUST } from '../fake/trust';
import { FakeHost } from '../fake/host';
import { QUESTIONS } from '../fake/far';
import { STARTS } from '../fake/start';
import { OBSTACLES, readiness } from '../fake/readiness';
import * as script from '../fake/script';
import ContextMenu from '../lib/kit/ContextMenu.svelte';
import MissingAgent from '../lib/project/pages/MissingAgent.svelte';
import NoHost from '../lib/project/pages/NoHost.svelte';
import Obstacle from '../lib/session/conversation/Obstacle.svelte';
import SetupCommands from '../lib/kit/SetupCommands.svelte';
import SessionFilter from '../lib/project/sessions/SessionFilter.svelte';
import BeginChips from '../lib/project/sessions/BeginChips.svelte';
import SessionList from '../lib/project/sessions/SessionList.svelte';
import ConnectionForm from '../lib/project/machines/ConnectionForm.svelte';
import MachineFolder from '../lib/project/machines/MachineFolder.svelte';
import { machinesOf } from '../lib/project/machines';
import StartWindow from '../lib/window/start/StartWindow.svelte';
import { StartState } from '../lib/window/start/start.svelte';
import SessionRow from '../lib/project/sessions/SessionRow.svelte';
import type { Row } from '../lib/session/sessionRows';
import SessionRows from '../lib/project/sessions/SessionRows.svelte';
import DoneNote from '../lib/session/conversation/DoneNote.svelte';
import RecordingNote from '../lib/session/conversation/RecordingNote.svelte';
import StoredNote from '../lib/session/conversation/StoredNote.svelte';
import { manyChanges, WORKING } from '../fake/changes';
import SidePanel from '../lib/session/side/SidePanel.svelte';
import TrustPage from '../lib/project/trust/TrustPage.svelte';
import type { OtherAgent, RecordingState, TrustView } from '../lib/bindings/api';
import SettingsBanner from '../lib/window/desk/SettingsBanner.svelte';
import SettingsFileBanner from '../lib/window/settings/SettingsFileBanner.svelte';
import OrphansBanner from '../lib/window/desk/OrphansBanner.svelte';
import UnreadFilesBanner from '../lib/window/UnreadFilesBanner.svelte';
import { systemClock } from '../lib/kit/attention.svelte';
import { choices } from './kit';
import { ignore, press, sessionOf, settle, states, write, type Page } from './story';

const FILE_PROBLEMS = [
  { line: 3, column: 11, message: '“zoom” must be a whole number from 50 to 200.' },
  { line: null, column: null, message: 'settings.json could not be read: it is a named pipe, not a file.' },
];

function background(id: string, facts: Partial<BackgroundTask>): BackgroundTask {
  const none = {
    itemId: null,
    description: '',
    tokens: null,
    nToolUses: null,
    activity: null,
    hasOutput: false,
    isStopping: false,
  };
  return { ...none, id, kind: 'command', startedAt: Date.now() - 200_000, ...facts };
}

const BACKGROUND: BackgroundTask[] = [
  background('b1', { description: 'npm run dev', hasOutput: true }),
  background('b2', {
    kind: 'subagent',
    description: 'Look for every place where totals of a month are rounded before they are added',
    tokens: 21_400,
    nToolUses: 12,
    activity: 'Reading src/money.rs',
  }),
  background('b3', { kind: 'other', isStopping: true }),
  background('b4', { kind: 'monitor', description: 'Errors in the log of the server' }),
];

const SCHEDULED: ScheduledTurn[] = [
  {
    id: '2838e6a7',
    itemId: null,
    kind: 'job',
    times: 'Every minute',
    prompt: 'Look whether the build of the release branch is done, and say which of its checks failed',
    nextAt: null,
    repeats: true,
  },
  {
    id: '32443389',
    itemId: null,
    kind: 'job',
    times: 'Every day at 3:17 PM',
    prompt: '',
    nextAt: Date.now() + 4_000_000,
    repeats: false,
  },
  { id: 'wake-up', itemId: null, kind: 'wakeUp', times: '', prompt: '', nextAt: Date.now() + 78_500, repeats: false },
];

const done = () => Promise.resolve();
const failure = { code: 'internal' as const, message: 'It did not start.', detail: 'claude: permission denied' };

const missing = {
  install: OBSTACLES['ready-missing'].install,
  tried: [{ place: 'PATH', problem: 'no program named claude' }],
  error: null,
  chosen: '/opt/claude/bin/claude',
  creating: false,
  checking: false,
  ontogglesessions: ignore,
  ondemo: ignore,
  onchoose: ignore,
  oncheck: ignore,
  onprogram: ignore,
};

function obstacle(name: keyof typeof OBSTACLES) {
  return {
    readiness: readiness(OBSTACLES[name]),
    checking: false,
    onlogin: ignore,
    onchoose: ignore,
    oncheck: ignore,
    ondemo: ignore,
  };
}

const asked = TRUST['trust'] as TrustView;

const agent = (id: string) => AGENTS.find((one) => one.id === id) as OtherAgent;

function trust(view: Partial<TrustView>) {
  return {
    trust: { ...asked, ...view },
    name: 'ledger',
    ontogglesessions: ignore,
    ondecide: ignore,
    onlater: ignore,
    onfolder: ignore,
  };
}

function row(status: Status, rest: Partial<Session> = {}) {
  const session = { ...emptySession('s1', 'Nightly export is empty'), status, ...rest };
  return {
    row: { session, stored: null },
    open: false,
    unread: true,
    now: Date.now() + 720_000,
    chosen: null,
    onclick: ignore,
  };
}

/** What is known of a conversation that another agent has listed. */
const OF_CODEX = { agent: 'Codex', firstPrompt: null, lastPrompt: null, branch: null, model: null };

/** A row of the agent's store. */
function storedRow(title: string, facts: Partial<StoredSession> = {}) {
  const row = { session: null, stored: stored('t1', title, 40, facts) };
  return { row, open: false, unread: false, now: Date.now(), chosen: null, onclick: ignore };
}

/** Selects the first two rows of a session list. */
async function chooseTwo(root: HTMLElement): Promise<void> {
  const rows = root.querySelectorAll<HTMLElement>('[data-nr] button');
  for (const row of [...rows].slice(0, 2)) row.dispatchEvent(new MouseEvent('click', { ctrlKey: true, bubbles: true }));
  await tick();
}

function sessionList(facts: Partial<ComponentProps<typeof SessionList>>) {
  return {
    project: PROJECT,
    rows: [storedRow('Trace the slow query').row],
    openId: null,
    unread: new Set<string>(),
    creating: false,
    onopen: ignore,
    onremove: ignore,
    onmark: ignore,
    onexport: ignore,
    onnew: ignore,
    onothers: ignore,
    onsearch: ignore,
    onsearchtexts: ignore,
    onsettings: ignore,
    ...facts,
  };
}

/** Sessions that were changed two hours apart. */
const manySessions = (n: number): Row[] =>
  Array.from({ length: n }, (_, i) => {
    const title = ['Trace the slow query', 'First look', 'Import the bank’s CSV files', 'Why do two tests fail?'][
      i % 4
    ];
    return { session: null, stored: stored(`m${i}`, `${title} (${i + 1})`, i * 120) };
  });

const inTerminal = (activity: 'working' | 'needsInput' | 'open') => ({ live: { pid: 48_902, activity } });

const fromHistory = { ...emptySession('t1', 'Import the bank’s CSV files'), agentSessionId: 't1' };

function start(view: Partial<StartView> = {}, dragging = false) {
  const host = new FakeHost('projects');
  const none: StartView = { projects: [], question: null, problem: null, unreadFiles: [], appVersion: '0.1.0' };
  const all = { ...(STARTS['projects']?.() ?? none), ...view };
  const state = new StartState(host, { event: '', start: all, settings: SETTINGS });
  state.dragging = dragging;
  return { state, clock: systemClock };
}

function startAsked() {
  const page = start({ projects: [] });
  page.state.questions.hear({ type: 'connectionAsks', question: QUESTIONS.hostKey });
  return page;
}

const edits = ['src/money.rs', 'src/a/folder/with/a/long/name/that/goes/on/report.rs'].map((path) =>
  script.tool('edit', 'Edited', path, { type: 'edit', ...script.DIFF, path }),
);

const elsewhere = () => ({ machines: machinesOf(new FakeHost('projects')), onclose: ignore });

async function browse(root: HTMLElement, machine: string) {
  await settle();
  await write(root, machine);
  await press(root, 'Browse');
  await settle();
}

export const pages: Page = () => [
  ...states('NoHost', NoHost, { 'with a detail': { error: failure } }),
  ...states('MissingAgent', MissingAgent, {
    'that was named': missing,
    'that was searched': { ...missing, chosen: null },
    'that did not start': { ...missing, tried: [], error: failure },
    starting: { ...missing, creating: true },
    'before the first check': { ...missing, install: [], checking: true },
  }),
  ...states('Obstacle', Obstacle, {
    'does not run': obstacle('ready-broken'),
    'is another program': obstacle('ready-other'),
    'prints nothing': { ...obstacle('ready-other'), readiness: readiness({ type: 'notClaude', answer: '' }) },
    'is too old': obstacle('ready-old'),
    'is not logged in': obstacle('ready-login'),
    'is checked again': { ...obstacle('ready-login'), checking: true },
  }),
  ...states('SetupCommands', SetupCommands, {
    one: { commands: OBSTACLES['ready-missing'].install.slice(0, 1), label: 'Command to install' },
    several: { commands: OBSTACLES['ready-missing'].install, label: 'Commands to install' },
  }),
  ...states('MachineFolder', MachineFolder, {
    empty: elsewhere(),
    'the folders there': [elsewhere(), (root) => browse(root, 'box')],
    'the top of all folders': [
      elsewhere(),
      async (root) => {
        await browse(root, 'box');
        await press(root, 'Parent folder');
        await settle();
        await press(root, 'Parent folder');
        await settle();
      },
    ],
    'a folder without folders': [
      elsewhere(),
      async (root) => {
        await browse(root, 'box');
        await press(root, 'ledger');
        await settle();
      },
    ],
    'a machine that takes no key': [elsewhere(), (root) => browse(root, 'down')],
    'a machine that is slow': [elsewhere(), (root) => browse(root, 'slow')],
  }),
  ...states('ConnectionForm', ConnectionForm, {
    'a password': { question: QUESTIONS.password, onanswer: ignore },
    'a wrong password': { question: QUESTIONS.again, onanswer: ignore },
    'an unknown host key': { question: QUESTIONS.hostKey, onanswer: ignore },
    'yes or no': { question: QUESTIONS.confirm, onanswer: ignore },
    'a key to touch': { question: QUESTIONS.touch, onanswer: ignore },
    'a hostile question': { question: QUESTIONS.hostile, onanswer: ignore },
  }),
  ...states('StartWindow', StartWindow, {
    'a question of a connection': [startAsked(), (root) => press(root, 'Open on another machine…')],
    'on another machine': [start(), (root) => press(root, 'Open on another machine…')],
    'a folder over it': start({}, true),
    'nothing found': [start(), (root) => write(root, 'no such project')],
    'an unreadable list': start({ projects: [], unreadFiles: UNREAD_FILES.slice(0, 1) }),
  }),
  ...states('TrustPage', TrustPage, {
    'nothing that runs': trust({ nothingToRun: true, findings: asked.findings.slice(-1) }),
    'written differently': trust({ state: 'changed' }),
    trusted: trust({ state: 'trusted' }),
    'another agent': trust(agentTrustOf(agent('opencode'), 'unknown')),
    'an agent with an unchecked list': trust({ ...agentTrustOf(agent('kimi'), 'unknown'), findings: [] }),
    'kept as it was': trust({ ...TRUST['trust-changed'], state: 'kept', canKeep: false }),
  }),
];

const RECORDED = '/home/ines/.local/share/deskbell/recordings/session-1764040000000-s1.ndjson';
const RECORDING = { onstop: ignore, onreveal: ignore, oncopy: ignore, onremove: ignore, onclose: ignore };
const recorded = (recording: Partial<RecordingState>) => ({
  ...RECORDING,
  recording: { path: RECORDED, isRunning: false, nBytes: 1_340_000, problem: null, ...recording },
});
const side = { working: null, onshow: ignore, onchanges: ignore, onclose: ignore };

const begin = {
  session: emptySession('s1', 'New session'),
  checkout: PROJECT.checkout,
  noWorktrees: null,
  onagent: ignore,
  onothers: ignore,
  onworktree: ignore,
};

export const lists: Page = () => [
  ...states('BeginChips', BeginChips, {
    'Claude Code': begin,
    'a profile, in a worktree': {
      ...begin,
      session: { ...emptySession('s1', 'New session'), profile: 'Work' },
      checkout: { branch: 'fix/rounding', worktreeOf: 'ledger' },
    },
    'another agent, without git': {
      ...begin,
      session: { ...emptySession('s1', 'New session', 'acp'), agentName: 'Gemini CLI' },
      noWorktrees: 'This folder is not in a git repository.',
    },
    'choosing an agent': [begin, (root) => press(root, 'Agent: '), 'above'],
  }),
  ...states('SessionRow', SessionRow, {
    working: row({ type: 'working', activity: 'Writing' }),
    waiting: row({ type: 'needsInput', what: 'Wants to run a command' }),
    failed: row({ type: 'failed', message: 'The API answered 529, which means that it is overloaded' }),
    'open, asks nothing': { ...row({ type: 'completed' }, { mode: 'bypassPermissions' }), open: true },
    'in a window of its own': { ...row({ type: 'working', activity: 'Writing' }), inOwnWindow: true },
    'the demo agent': row({ type: 'completed' }, { agent: 'demo' }),
    'another agent': row({ type: 'completed' }, { agent: 'acp', agentName: 'Gemini CLI' }),
    'a profile': row({ type: 'completed' }, { profile: 'Work' }),
    'with work in the background': row({ type: 'background' }, { nBackground: 2 }),
    'failed, with work in the background': row({ type: 'failed', message: 'The API answered 529' }, { nBackground: 1 }),
    'a long title': row(
      { type: 'idle' },
      { title: 'Why are the totals of the months off by a cent against the bank?' },
    ),
  }),
  ...states('SessionRow', SessionRow, {
    'of the store': storedRow('Sketch the settlement report'),
    'of the store of a profile': storedRow('Sketch the settlement report', { profile: 'Work' }),
    'of another agent’s store': storedRow('Sketch the settlement report', OF_CODEX),
    'of another agent’s store, of a profile, without a time': storedRow('Untitled session', {
      ...OF_CODEX,
      profile: 'Work',
      changedAt: 0,
    }),
    'of the store, interrupted': storedRow('Why do two tests fail?', {
      state: { type: 'interrupted' },
      branch: 'fix/a-branch-with-a-name-that-is-too-long-for-the-list',
    }),
    'of the store, failed': {
      ...storedRow('Rename', { state: { type: 'failed', message: 'API Error: 529' } }),
      unread: true,
    },
    'working elsewhere': storedRow('Import CSV files', inTerminal('working')),
    'waiting elsewhere': storedRow('Import CSV files', { ...inTerminal('needsInput'), branch: null, model: null }),
    'open elsewhere': storedRow('Import CSV files', inTerminal('open')),
  }),
  ...states('SessionFilter', SessionFilter, {
    empty: { query: '', onfirst: ignore, onlist: ignore, onsearch: ignore },
    'with words': { query: 'round totals', onfirst: ignore, onlist: ignore, onsearch: ignore },
  }),
  ...states('SessionRows', SessionRows, {
    'one group': {
      groups: [{ name: 'October', rows: [storedRow('Trace the slow query').row] }],
      openId: 't1',
      unread: new Set<string>(),
      now: Date.now(),
      chosen: new Set<string>(),
      onopen: ignore,
      onchoose: ignore,
      onremove: ignore,
    },
  }),
  ...states('SessionList', SessionList, {
    none: sessionList({ rows: [] }),
    one: sessionList({ rows: manySessions(1) }),
    thirty: sessionList({ rows: manySessions(30) }),
    'of a worktree': sessionList({
      project: {
        ...PROJECT,
        path: '/home/ines/ledger-fix-rounding',
        name: 'ledger-fix-rounding',
        checkout: { branch: 'fix/rounding', worktreeOf: 'ledger' },
      },
    }),
    'a filter without a hit': [sessionList({}), (root) => write(root, 'quarterly report')],
    'still being read': sessionList({ reading: true }),
    'with files that could not be read': sessionList({ nUnreadable: 2 }),
    'with archived sessions': [
      sessionList({
        rows: [storedRow('Trace the slow query').row, { session: null, stored: stored('t2', 'First look', 90) }],
        marks: new Map([
          ['t1', 'pinned'],
          ['t2', 'archived'],
        ] as const),
      }),
      (root) => press(root, 'Archived'),
    ],
    'with a removed session': sessionList({
      removed: [emptySession('s9', 'Round half to even in every report of the year')],
    }),
    'with a session that is being brought back': sessionList({
      removed: [emptySession('s9', 'Round half to even')],
      restoring: true,
    }),
    'with several removed sessions': sessionList({
      removed: [emptySession('s8', 'Round half to even'), emptySession('s9', 'Import the ledger')],
    }),
    'with selected sessions': [
      sessionList({
        rows: ['Trace the slow query', 'First look', 'Import'].map((title, i) => ({
          session: null,
          stored: stored(`t${i}`, title, 40),
        })),
      }),
      chooseTwo,
    ],
    'with the stored sessions of other agents': sessionList({
      rows: [
        storedRow('Trace the slow query').row,
        { session: null, stored: stored('c1', 'Sketch the settlement report', 95, { ...OF_CODEX, profile: 'Work' }) },
        { session: null, stored: stored('c2', 'First look', 0, { ...OF_CODEX, changedAt: 0 }) },
      ],
    }),
    'of a store that cannot be read': sessionList({
      problem: '/home/ines/.claude/projects/-home-ines-ledger is a file',
    }),
  }),
  ...states('StoredNote', StoredNote, {
    'from the history': { session: fromHistory, stored: stored('t1', 'Import', 40) },
    'open elsewhere': { session: fromHistory, stored: stored('t1', 'Import', 40, inTerminal('open')) },
    'working elsewhere': { session: fromHistory, stored: stored('t1', 'Import', 40, inTerminal('working')) },
    'in an older version': { session: { ...fromHistory, olderServer: '0.1.0' }, stored: null },
  }),
  ...states('RecordingNote', RecordingNote, {
    running: recorded({ isRunning: true }),
    complete: recorded({}),
    'asking before it is deleted': [recorded({}), (root) => press(root, 'Delete…')],
    'on a full disk': recorded({ problem: 'the disk is full' }),
    'removed while it ran': recorded({ nBytes: 0, problem: 'its file was removed or moved' }),
  }),
  ...states('DoneNote', DoneNote, {
    exported: {
      done: { text: 'Exported to /home/ines/Documents/Round half to even.html', undo: null },
      onclose: ignore,
    },
    'a rule was saved': {
      done: { text: 'Saved: Bash(npm run *) — you, in this project', undo: ignore },
      onclose: ignore,
    },
  }),
  ...states('SidePanel', SidePanel, {
    'changes and tasks': { open: sessionOf({}, [...edits, script.todos(2)]), ...side },
    'the working tree': { open: sessionOf({}, [...edits, script.todos(2)]), ...side, working: WORKING },
    'a clean working tree': { open: sessionOf(), ...side, working: { ...WORKING, files: [] } },
    'many changed files': { open: sessionOf(), ...side, working: manyChanges(60) },
    empty: { open: sessionOf(), ...side },
    'work in the background': {
      open: sessionOf({ nBackground: 3, background: BACKGROUND }, [script.todos(2)]),
      ...side,
    },
    'the output of a task': [
      { open: sessionOf({ nBackground: 3, background: BACKGROUND }), ...side },
      async (root) => {
        root.querySelector<HTMLElement>('[data-task="b1"] [aria-expanded="false"]')?.click();
        await tick();
      },
    ],
    'a task that wrote nothing': [
      { open: sessionOf({ nBackground: 1, background: [background('b9', { hasOutput: true })] }), ...side },
      async (root) => {
        root.querySelector<HTMLElement>('[data-task="b9"] [aria-expanded="false"]')?.click();
        await tick();
      },
    ],
    'scheduled turns': { open: sessionOf({ scheduled: SCHEDULED }), ...side },
    'more background tasks than are listed': {
      open: sessionOf({ nBackground: 140, background: BACKGROUND }),
      ...side,
    },
  }),
  ...states('ContextMenu', ContextMenu, {
    'words are selected': [
      { entriesOf: () => ({ label: 'Session', items: () => choices.slice(2), pick: ignore }), oncopy: ignore },
      async (root) => {
        const words = root.ownerDocument.querySelector('h2');
        if (words === null) return;
        getSelection()?.selectAllChildren(words);
        words.dispatchEvent(new MouseEvent('contextmenu', { bubbles: true, cancelable: true, clientX: 8, clientY: 8 }));
        await tick();
      },
    ],
  }),
  ...states('SettingsBanner', SettingsBanner, { changed: { onreview: ignore } }),
  ...states('SettingsFileBanner', SettingsFileBanner, {
    'one error': { view: { ...SETTINGS, problems: FILE_PROBLEMS.slice(0, 1) }, onfile: ignore },
    'several errors': { view: { ...SETTINGS, problems: FILE_PROBLEMS }, onfile: ignore },
  }),
  ...states('OrphansBanner', OrphansBanner, {
    one: { orphans: SURVIVORS.slice(0, 1), now: Date.now(), onend: done, onleave: done },
  }),
  ...states('UnreadFilesBanner', UnreadFilesBanner, {
    'each kind': { files: UNREAD_FILES },
    'left where it is': { files: UNREAD_FILES.slice(0, 1).map((file) => ({ ...file, movedTo: null })) },
  }),
];
