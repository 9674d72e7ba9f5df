// Stories of dialogs, drawn in the page instead of above it.

import { tick } from 'svelte';

import type {
  RuleFileList,
  BellKind,
  Checkup,
  CommandError,
  MachineAgents,
  OtherAgent,
  Preset,
  Profile,
  RawLine,
  RawLines,
  SettingsView,
  SideOutcome,
  SideQuestion,
} from '../lib/bindings/api';
import { emptySession, PROJECT, SETTINGS } from '../fake/facts';
import { BROKEN_AGENT, checkup as checkupOf } from '../fake/readiness';
import { RULE_FILES, RULES } from '../fake/rules';
import { TRUST } from '../fake/trust';
import { RAW_LINES } from '../fake/raw';
import LinesDialog from '../lib/session/lines/LinesDialog.svelte';
import LoginDialog from '../lib/project/pages/LoginDialog.svelte';
import LoginNote from '../lib/session/conversation/LoginNote.svelte';
import HelpDialog from '../lib/window/actions/HelpDialog.svelte';
import KeysDialog from '../lib/window/actions/KeysDialog.svelte';
import ConnectionDialog from '../lib/project/machines/ConnectionDialog.svelte';
import { QUESTIONS } from '../fake/far';
import Palette from '../lib/window/palette/Palette.svelte';
import SideQuestions from '../lib/session/conversation/SideQuestions.svelte';
import ConfirmUndo from '../lib/session/rewind/ConfirmUndo.svelte';
import RewindDialog from '../lib/session/rewind/RewindDialog.svelte';
import { preview } from '../fake/rewind';
import { answered, sideQuestion, WAITING as WAITING_ASIDE } from '../fake/sideQuestions';
import RulesDialog from '../lib/session/rules/RulesDialog.svelte';
import { AGENTS, AGENTS_THERE, PROFILES } from '../fake/agents';
import AgentDialog from '../lib/session/conversation/AgentDialog.svelte';
import AskAnotherDialog from '../lib/project/sessions/AskAnotherDialog.svelte';
import AgentsDialog from '../lib/project/sessions/AgentsDialog.svelte';
import ConfirmRemove from '../lib/project/sessions/ConfirmRemove.svelte';
import WithoutAsking from '../lib/session/conversation/WithoutAsking.svelte';
import Doctor from '../lib/window/settings/Doctor.svelte';
import DoctorDialog from '../lib/window/settings/DoctorDialog.svelte';
import PresetList from '../lib/window/settings/PresetList.svelte';
import { NO_PROFILE } from '../lib/window/settings/profileForm';
import ProfileList from '../lib/window/settings/ProfileList.svelte';
import SettingsPage from '../lib/window/settings/SettingsPage.svelte';
import { PRESETS } from './options';
import WaitingNotice from '../lib/window/desk/WaitingNotice.svelte';
import { agree, ignore, NotDrawn, press, settle, states, write, type Page, type Play } from './story';

const WAITING = ['ledger', 'tide'];

const PROBLEMS = [{ line: 4, column: 12, message: '“theme” must be "system", "light" or "dark".' }];

const session = { ...emptySession('s1', 'Round half to even in totals'), alive: true };
const rules = (facts: Partial<typeof session>, files: RuleFileList = { ...RULE_FILES, files: [] }) => ({
  session: { ...session, alive: true, ...facts },
  machine: null as string | null,
  onask: ignore,
  onread: () => Promise.resolve(files),
  onremove: () => Promise.resolve(1),
  onrestore: () => Promise.resolve(true),
  onsuspend: () => Promise.resolve(true),
  onclose: ignore,
});

const changingKeys = { bindings: [], onset: ignore, onclose: ignore };

const REWIND = preview('p1', 'Round half to even in totals, and add tests for it');
const rewinding = (props: object) => ({
  preview: REWIND,
  problem: null,
  busy: false,
  onrewind: ignore,
  onclose: ignore,
  ...props,
});

const ROUNDED =
  'The totals are rounded in `src/money.rs`, **half to even**:\n\n- as the bank does it\n- once, at the end';
const aside = (questions: readonly SideQuestion[], facts: object = {}) => ({
  questions,
  obstacle: null,
  text: '',
  onask: ignore,
  oncancel: ignore,
  onclose: ignore,
  ...facts,
});

const entries = [
  { id: 'new', label: 'New session', key: 'Ctrl+N', run: ignore },
  { id: 'rename', label: 'Rename this session', key: 'F2', off: 'No session is open.', run: ignore },
  { id: 'session', label: 'Explain the import pipeline', detail: 'Session', run: ignore },
];

/** The choices of one action. */
const keepingEntries = [
  { name: 'default (off)', detail: 'current' },
  { name: 'always', detail: 'for new sessions' },
  { name: 'never', detail: 'for new sessions' },
].map(({ name, detail }) => {
  const label = `Keep sessions of this project running: ${name}`;
  return { id: name, label, detail, run: ignore };
});

/** Profiles that no change reaches. */
const profileList = (profiles: readonly Profile[], refusal: CommandError | null = null) => ({
  profiles,
  folder: PROJECT.path,
  onprofile: () => Promise.resolve(refusal),
});

/** A profile whose model the file changes while it is edited. */
function changedProfile(): [ReturnType<typeof profileList>, Play] {
  let isChanged = false;
  const props = {
    ...profileList(PROFILES),
    get profiles() {
      return isChanged ? PROFILES.map((one) => ({ ...one, model: 'haiku' })) : PROFILES;
    },
  };
  const play: Play = (root) => {
    isChanged = true;
    return press(root, 'Edit Work…');
  };
  return [props, play];
}

const checkup = (channel: Checkup['channel']) => () => Promise.resolve(checkupOf(channel));

const check = (root: HTMLElement) => press(root, 'Test permissions');

const doctor = (oncheck: () => Promise<Checkup | null>) => ({
  oncheck,
  oncopy: () => Promise.resolve(true),
  oncopylog: () => Promise.resolve(true),
  onclose: ignore,
});

const settings = {
  view: SETTINGS,
  agent: PROJECT.agent,
  appVersion: '0.1.0',
  project: PROJECT.name,
  trust: TRUST['trust'] ?? null,
  ontrust: ignore,
  oncheck: checkup({ type: 'asks' }),
  ondoctor: ignore,
  onset: () => Promise.resolve(null),
  onpresets: () => Promise.resolve(null),
  folder: PROJECT.path,
  onprofile: () => Promise.resolve(null),
  onkeys: ignore,
  ontest: () => Promise.resolve([{ event: 'needsYou', isAccepted: true }]),
  onfile: ignore,
  onclose: ignore,
};

const choosing = (agents: readonly OtherAgent[]) => ({
  load: () => Promise.resolve<MachineAgents | null>({ agents: [...agents], profiles: [] }),
  profiles: [] as readonly Profile[],
  folder: PROJECT.path,
  machine: null as string | null,
  onpick: () =>
    Promise.resolve({
      code: 'agentNotFound' as const,
      message: 'Copilot CLI was not found.',
      detail: 'It was removed after this list was read.',
    }),
  onclaude: ignore,
  onclose: ignore,
});

/** The agents were read. */
const settled: Play = async () => {
  await tick();
  await tick();
};

const asking = (off: string | null) => ({ promptId: 'p1', off, onworktree: ignore, onclose: ignore });

function agentOf(id: string, agentVersion: string | null) {
  const agent = AGENTS.find((one) => one.id === id);
  const facts = emptySession('s1', 'Round half to even in totals', 'acp');
  return {
    session: { ...facts, agentName: agent?.name ?? id, agentVersion, lacks: agent?.lacks ?? facts.lacks },
    onclose: ignore,
  };
}

export const dialogs: Page = () => [
  ...states('AgentDialog', AgentDialog, {
    'not started': agentOf('gemini', null),
    'that did nothing here': agentOf('kimi', '1.4.0'),
  }),
  ...states('AgentsDialog', AgentsDialog, {
    all: choosing(AGENTS),
    'a refused one': [
      choosing(AGENTS),
      async (root) => {
        await tick();
        await press(root, 'Copilot CLI');
        await tick();
      },
    ],
    'with profiles': { ...choosing(AGENTS), profiles: PROFILES },
    'with a default profile': {
      ...choosing(AGENTS),
      profiles: PROFILES,
      folder: '/home/ada/office',
    },
    'on another machine': { ...choosing([]), load: () => Promise.resolve(AGENTS_THERE), machine: 'box' },
    searching: { ...choosing([]), load: () => new Promise(ignore) },
    unread: { ...choosing([]), load: () => Promise.resolve(null) },
  }),
  ...states('AskAnotherDialog', AskAnotherDialog, {
    'in this folder': [asking(null), settled],
    'in a worktree': [
      asking(null),
      async (root) => {
        root.querySelector<HTMLInputElement>('input[type=checkbox]')?.click();
        await settled(root);
      },
    ],
    'without a repository': [asking('This folder is not in a git repository.'), settled],
  }),
  ...states('Palette', Palette, {
    all: { entries, onclose: ignore },
    'not available': { entries, start: 'ession', onclose: ignore },
    'keeping a project running': { entries: keepingEntries, start: 'keep', onclose: ignore },
    'more than are drawn': { entries: Array.from({ length: 60 }, () => entries).flat(), onclose: ignore },
    'nothing fits': [{ entries, onclose: ignore }, (root) => write(root, 'wombat')],
  }),
  ...states('HelpDialog', HelpDialog, { keys: { onpalette: ignore, onkeys: ignore, onclose: ignore } }),
  ...states('KeysDialog', KeysDialog, {
    usual: changingKeys,
    'nothing fits': [changingKeys, (root) => write(root, 'wombat')],
    chosen: {
      bindings: [
        { action: 'new', key: 'Ctrl+Alt+N' },
        { action: 'find', key: null },
        { action: 'wombat', key: 'F5' },
      ],
      onset: ignore,
      onclose: ignore,
    },
    'a key is awaited': [changingKeys, (root) => press(root, 'Change')],
    'another action has it': [
      changingKeys,
      async (root) => {
        await press(root, 'Change');
        const catcher = root.querySelector('[role=group] button');
        catcher?.dispatchEvent(new KeyboardEvent('keydown', { key: 'k', ctrlKey: true, bubbles: true }));
        await tick();
      },
    ],
  }),
  ...states('RewindDialog', RewindDialog, {
    asking: rewinding({ preview: null }),
    files: rewinding({}),
    busy: rewinding({ busy: true }),
    failed: rewinding({
      problem: 'The files could not be copied for an undo, so nothing was changed: the disk is full',
    }),
    'no-checkpoint': rewinding({
      preview: { ...REWIND, files: [], nMore: 0, filesProblem: 'No file checkpoint found for this message.' },
    }),
    nothing: rewinding({
      preview: {
        ...REWIND,
        files: [],
        nMore: 0,
        filesProblem: 'This agent has no checkpoints of files.',
        conversationProblem: 'The agent has not stored this prompt, so the conversation cannot be rewound to it.',
      },
    }),
  }),
  ...states('SideQuestions', SideQuestions, {
    'none yet': aside([]),
    waiting: aside([sideQuestion('Where is it rounded?', WAITING_ASIDE)]),
    'the call is repeated': aside([
      sideQuestion('Where is it rounded?', { type: 'waiting', retry: { attempt: 2, most: 10 } }),
    ]),
    answered: aside([sideQuestion('Where is it rounded?', answered(ROUNDED)), sideQuestion('Why?', WAITING_ASIDE)]),
    'a long answer, cut': aside([
      sideQuestion('Explain it', { ...answered(`${ROUNDED}\n\n`.repeat(40)), isCut: true } as SideOutcome),
    ]),
    'failed and cancelled': aside([
      sideQuestion('Where?', { type: 'failed', message: 'API error: Repeated 529 Overloaded errors.' }),
      sideQuestion('And now?', { type: 'cancelled' }),
    ]),
    'of an agent that cannot': aside([], {
      text: 'Where is it rounded?',
      obstacle: 'This version of the agent does not answer side questions.',
    }),
    'long words': aside([sideQuestion('a'.repeat(300), { type: 'failed', message: 'b'.repeat(300) })]),
  }),
  ...states('ConfirmUndo', ConfirmUndo, {
    asks: { files: ['src/money.rs', 'tests/rounding.rs'], onconfirm: ignore, onclose: ignore },
  }),
  ...states('ConfirmRemove', ConfirmRemove, {
    asks: { sessions: [session], onconfirm: ignore, onclose: ignore },
    'asks about many': {
      sessions: Array.from({ length: 15 }, (_, i) => ({ ...session, title: `Session ${i + 1}`, alive: i < 2 })),
      onconfirm: ignore,
      onclose: ignore,
    },
  }),
  ...states('ConnectionDialog', ConnectionDialog, {
    'a password': { question: QUESTIONS.password, onanswer: ignore },
    'an unknown host key': { question: QUESTIONS.hostKey, onanswer: ignore },
  }),
  ...states('WaitingNotice', WaitingNotice, {
    'two projects': { waiting: WAITING, onshow: ignore },
  }),
  ...states('LoginDialog', LoginDialog, {
    'with the command': { ...login, login: { label: 'Log in', command: 'claude auth login' } },
    'of another agent': {
      ...login,
      agent: 'Codex',
      login: { label: 'Codex', command: 'CODEX_HOME=/home/ines/.codex-2 codex login' },
    },
    'on another machine': { ...login, machine: 'build-3', login: null },
    'before the first check': { ...login, login: null },
  }),
  ...states('LoginNote', LoginNote, {
    'with a button': needsLogin,
    'on another machine': { ...needsLogin, machine: 'build-3' },
    'on another machine with a profile': {
      ...needsLogin,
      machine: 'build-3',
      session: { ...needsLogin.session, profile: 'Lab' },
    },
    'a long command': { ...needsLogin, command: `env ${'CONFIG_FOLDER=/home/ines/agents/work '.repeat(4)}codex login` },
  }),
  ...states('WithoutAsking', WithoutAsking, {
    asks: { title: 'Start this agent without permission checks?', onconfirm: ignore, onclose: ignore },
  }),
];

const login = { agent: 'Claude Code', machine: null as string | null, onlogin: ignore, onclose: ignore };
const needsLogin = {
  session: {
    ...emptySession('s1', 'Round half to even', 'acp'),
    agentName: 'Codex',
    login: { words: ['codex', 'login'], needed: true },
  },
  command: 'codex login',
  machine: null,
  onlogin: ignore,
};

const linesOf = (load: () => Promise<RawLines>) => ({ load, oncopy: agree, onclose: ignore });
const noLines: RawLines = { ...RAW_LINES, lines: [], last: 0, nUnknown: 0, nUnreadable: 0 };
const known = RAW_LINES.lines.filter(({ kind }) => kind === 'known');
const manyLines = Array.from({ length: 300 }, (_, i) => ({ ...(known[1] as RawLine), nr: i + 1 }));

const drawnLines = async () => {
  await tick();
  await tick();
};
const onlyUnknown = async (root: HTMLElement) => {
  await drawnLines();
  root.querySelector<HTMLElement>('input[type=checkbox]')?.click();
  await tick();
};

export const agentLines: Page = () => [
  ...states('LinesDialog', LinesDialog, {
    all: [
      linesOf(() => Promise.resolve(RAW_LINES)),
      async (root) => {
        await drawnLines();
        await press(root, 'Whole line');
      },
    ],
    'only the unknown ones': [linesOf(() => Promise.resolve(RAW_LINES)), onlyUnknown],
    'no unknown one': [
      linesOf(() => Promise.resolve({ ...RAW_LINES, lines: known, nUnknown: 0, nUnreadable: 0 })),
      onlyUnknown,
    ],
    'more than are drawn': [
      linesOf(() => Promise.resolve({ ...noLines, lines: manyLines, last: 300, nDropped: 4_200 })),
      drawnLines,
    ],
    none: [linesOf(() => Promise.resolve(noLines)), drawnLines],
    reading: linesOf(() => new Promise(ignore)),
    failed: [
      linesOf(() => Promise.reject({ code: 'refused', message: 'The session did not answer in time.', detail: null })),
      drawnLines,
    ],
  }),
];

export const rulesInForce: Page = () => [
  ...states('RulesDialog', RulesDialog, {
    'in force': rules({ rules: RULES }),
    'by file': rules({ rules: RULES }, RULE_FILES),
    'one was removed': [rules({ rules: RULES }, RULE_FILES), (root) => press(root, 'Remove Bash(git status)')],
    'files of a restricted folder': rules({ restricted: true, rules: RULES }, { ...RULE_FILES, folder: 'restricted' }),
    'a file that cannot be read': rules(
      { rules: RULES },
      {
        ...RULE_FILES,
        files: RULE_FILES.files.map((file) => ({
          ...file,
          rules: [],
          link: '/home/ines/dotfiles/settings.json',
          problem: 'line 14, column 3: trailing comma',
        })),
      },
    ),
    'on another machine': { ...rules({ rules: RULES }), machine: 'buildbox' },
    'asking the agent': rules({}),
    'a restricted agent without rules': rules({ restricted: true, rules: { ...RULES, rules: [], directories: [] } }),
    'of a version that does not list them': rules({ rules: { ...RULES, basis: 'settings' } }),
    'the agent does not run': rules({ alive: false, mode: 'bypassPermissions' }),
  }),
];

const bell = (changes: Partial<BellKind>): BellKind => ({ ...SETTINGS.settings.bell.needsYou, ...changes });

/** Settings with changes of several kinds. */
const CHANGED: SettingsView = {
  ...SETTINGS,
  settings: {
    ...SETTINGS.settings,
    density: 'compact',
    fonts: { ...SETTINGS.settings.fonts, size: 15, code: 'Fira Code' },
    bell: {
      ...SETTINGS.settings.bell,
      needsYou: bell({ sound: true, command: { program: 'ntfy', args: ['publish', 'my desk'] } }),
    },
    agent: { ...SETTINGS.settings.agent, generateTitles: true, profiles: [...PROFILES], presets: [...PRESETS] },
    keys: [{ action: 'new', key: 'Ctrl+Alt+N' }],
  },
};

const NOT_SAVED: CommandError = {
  code: 'internal',
  message: 'The settings could not be saved.',
  detail: 'could not write settings.json: no space left on device',
};

const fieldOf = (root: HTMLElement, key: string) => {
  const field = root.querySelector<HTMLInputElement>(`[data-setting="${key}"] :is(input, textarea)`);
  if (field === null) throw new NotDrawn(`there is no field of ${key}`);
  return field;
};

/** Leaves a number that is too large and a command with an open quote in their fields. */
async function wrongValues(root: HTMLElement) {
  for (const [key, text] of [
    ['zoom', '900'],
    ['editor', "kitty 'vim"],
  ] as const) {
    const field = fieldOf(root, key);
    field.value = text;
    field.dispatchEvent(new InputEvent('input', { bubbles: true }));
    field.dispatchEvent(new Event('change', { bubbles: true }));
  }
  await tick();
}

async function refused(root: HTMLElement) {
  fieldOf(root, 'tray').click();
  await settle();
}

async function typesCommand(root: HTMLElement) {
  fieldOf(root, 'bell.needsYou.command').focus();
  await tick();
}

/** Presets that change as the settings file would. */
function presets() {
  let now: Preset[] = PRESETS;
  return {
    get presets() {
      return now;
    },
    onpresets: (changed: Preset[]) => void (now = changed),
  };
}

export const settingsOf: Page = () => [
  ...states('ProfileList', ProfileList, {
    none: profileList([]),
    three: profileList(PROFILES),
    'a new one': [profileList([]), (root) => press(root, 'Add profile…')],
    'one edited': [profileList(PROFILES), (root) => press(root, 'Edit Work…')],
    'one with a command edited': [profileList(PROFILES), (root) => press(root, 'Edit Mine…')],
    'one refused': [
      profileList(PROFILES, {
        code: 'internal',
        message: 'This setting has no such value.',
        detail: '“agent.profiles”: two profiles have the name “Mine”.',
      }),
      async (root) => {
        await press(root, 'Edit Work…');
        await write(root, 'Mine');
        await press(root, 'Save profile');
        await tick();
      },
    ],
    'one changed in the file meanwhile': changedProfile(),
    'one with changes after Esc': [
      profileList(PROFILES),
      async (root) => {
        await press(root, 'Edit Work…');
        await write(root, 'Office');
        root.querySelector('form')?.dispatchEvent(new KeyboardEvent('keydown', { key: 'Escape', bubbles: true }));
        await tick();
      },
    ],
    'one of the demo agent edited': [
      profileList([{ ...NO_PROFILE, name: 'Demo', agent: 'demo-acp' }]),
      (root) => press(root, 'Edit Demo…'),
    ],
    'one about to be removed': [profileList(PROFILES), (root) => press(root, 'Remove Work…')],
    'one not removed': [
      profileList(PROFILES, {
        code: 'internal',
        message: 'The settings could not be saved.',
        detail: 'could not write /home/ada/.config/deskbell/settings.json: no space left on device',
      }),
      async (root) => {
        await press(root, 'Remove Work…');
        await press(root, 'Remove profile');
        await tick();
      },
    ],
  }),
  ...states('PresetList', PresetList, {
    none: { presets: [], onpresets: ignore },
    two: { presets: PRESETS, onpresets: ignore },
    'one renamed': [{ presets: PRESETS, onpresets: ignore }, (root) => press(root, 'Rename Careful…')],
    'one removed': [presets(), (root) => press(root, 'Remove Careful')],
  }),
  ...states('SettingsPage', SettingsPage, {
    all: settings,
    changed: { ...settings, view: CHANGED },
    'a search': [settings, (root) => write(root, 'agent')],
    'none found': [settings, (root) => write(root, 'wombat')],
    'wrong values': [settings, wrongValues],
    'a refused value': [{ ...settings, onset: () => Promise.resolve(NOT_SAVED) }, refused],
    'a command is typed': [{ ...settings, view: CHANGED }, typesCommand],
    'with a wrong value in the file': { ...settings, view: { ...SETTINGS, problems: PROBLEMS } },
    'with a broken file': { ...settings, view: { ...SETTINGS, problems: PROBLEMS.slice(0, 1), isBroken: true } },
    'without an agent': { ...settings, agent: { type: 'missing', tried: [] }, trust: null },
  }),
  ...states('Doctor', Doctor, {
    asks: [{ oncheck: checkup({ type: 'asks' }) }, check],
    'never asks': [{ oncheck: checkup({ type: 'neverAsks' }) }, check],
    'not known': [{ oncheck: checkup({ type: 'unknown', reason: 'it did not start' }) }, check],
    checking: [{ oncheck: () => new Promise<Checkup>(ignore) }, check],
  }),
  ...states('DoctorDialog', DoctorDialog, {
    'all is well': doctor(checkup({ type: 'asks' })),
    'a problem': doctor(checkup({ type: 'neverAsks' })),
    'another agent cannot run': doctor(() =>
      Promise.resolve(checkupOf({ type: 'asks' }, PROJECT.agent, [BROKEN_AGENT])),
    ),
    'is checking': doctor(() => new Promise<Checkup>(ignore)),
    'the check failed': doctor(() => Promise.resolve(null)),
  }),
];
