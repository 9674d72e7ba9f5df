// Every action of the table is reached by the palette, by its keys and by its menu, and does its thing.

import { fireEvent, render, screen, within } from '@testing-library/svelte';
import userEvent from '@testing-library/user-event';
import { tick } from 'svelte';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';

import { App } from '../../../test/parts';
import type { BackgroundTask, JsonValue, SessionQuery } from '../../bindings/api';
import { NO_OPTIONS } from '../../session/options/form';
import { ManualClock } from '../../../test/clock';
import { ARM_MS } from '../../session/asking/arming.svelte';
import { PROFILES } from '../../../fake/agents';
import { limited } from '../../../fake/context';
import { FakeHost } from '../../../fake/host';
import { emptySession } from '../../../fake/facts';
import { commandRequest } from '../../../fake/script';
import type { FakeSession } from '../../../fake/session';
import type { Host } from '../../host/host';
import type { Action, Desk, Target } from './action';
import { MENUS } from './menu';
import { actionOf, ACTIONS, chordsOf } from './table';

beforeEach(() => localStorage.clear());
// The find bar marks its hits by it.
vi.stubGlobal('CSS', { escape: (text: string) => text });

interface Opened {
  session: FakeSession;
  /** The calls of the host, by the name of the method. */
  calls: [string, ...unknown[]][];
  user: ReturnType<typeof userEvent.setup>;
  clock: ManualClock;
  host: Host;
}

async function app(scene: string): Promise<Opened> {
  const fake = new FakeHost(scene);
  onTestFinished(() => fake.close());
  const calls: Opened['calls'] = [];
  const host = new Proxy(fake, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...given: unknown[]): unknown => {
        calls.push([String(name), ...given]);
        return Reflect.apply(value, target, given);
      };
    },
  }) as Host;
  const clock = new ManualClock();
  render(App, { host, clock });
  await screen.findByRole('main');
  await tick();
  return { session: fake.session('s1') as FakeSession, calls, user: userEvent.setup(), clock, host };
}

const NOWHERE = {} as Target;

const box = () => screen.getByRole<HTMLTextAreaElement>('textbox', { name: 'Prompt' });
const dialog = (name: string) => () => screen.queryByRole('dialog', { name }) !== null;
const part = (name: string) => document.activeElement?.closest(`[data-part=${name}]`) !== null;
const calling =
  (...call: unknown[]) =>
  ({ calls }: Opened) =>
    calls.some((one) => JSON.stringify(one) === JSON.stringify(call));
const isCopy = (query: unknown) => (query as SessionQuery).type === 'copy';
const copying = (copy: object) => calling('ask', 's1', { type: 'copy', copy });
const commanding = (command: object) => calling('command', 's1', command);
const current = () => screen.getByRole('navigation').querySelector('[aria-current]')?.textContent ?? '';
const firstRow = () => screen.getByRole('navigation').querySelector('button')?.textContent ?? '';

/** The last loaded item of a kind. */
const lastOf = ({ session }: Opened, type: string) => session.items.findLast(({ body }) => body.type === type)?.id;

/** The last loaded tool call with this detail. */
const lastCall = ({ session }: Opened, detail: string) =>
  session.items.findLast(({ body }) => body.type === 'toolCall' && body.detail.type === detail)?.id;

const secondTitle = () =>
  screen.queryByRole('region', { name: /^Second session: / })?.getAttribute('aria-label') ?? null;

const SECOND = 'Second session: Explain the import pipeline';

interface Case {
  scene?: string;
  /** What the action needs. */
  given?: (opened: Opened) => unknown;
  /** For an action with choices: the label of one. */
  choice?: string;
  /** Whether it did its thing. */
  done: (opened: Opened) => boolean;
}

const inBackground: BackgroundTask = {
  id: 'b1',
  itemId: null,
  kind: 'subagent',
  description: 'Look for the bell',
  startedAt: 0,
  tokens: null,
  nToolUses: null,
  activity: null,
  hasOutput: false,
  isStopping: false,
};

const hasAgentId = ({ session }: Opened) => session.patch({ agentSessionId: 'a1' });
const stopped = ({ session }: Opened) => session.patch({ alive: false, agentSessionId: 'a1' });

const rewindable = ({ session }: Opened) =>
  session.patch({ agentSessionId: 'a1', status: { type: 'completed' }, nBackground: 0, background: [] });
const rewound = (opened: Opened) => {
  rewindable(opened);
  const undo = { at: Date.now() + 1, prompt: 'Fix it', nFiles: 2, conversation: true };
  opened.session.patch({ rewind: { isPending: false, problem: null, undo } });
};

const CASES: Record<string, Case> = {
  request: { scene: 'permission', done: () => document.activeElement?.id.startsWith('request-') === true },
  allow: {
    given: asked,
    done: ({ calls }) =>
      calls.some(([name, , command]) => name === 'command' && JSON.stringify(command).includes('allowOnce')),
  },
  'always-allow': { given: asked, done: () => screen.queryAllByRole('radio').length > 0 },
  deny: {
    given: asked,
    done: ({ calls }) =>
      calls.some(([name, , command]) => name === 'command' && JSON.stringify(command).includes('"deny"')),
  },
  interrupt: { scene: 'streaming', done: commanding({ type: 'interrupt' }) },
  'to-background': { scene: 'streaming', done: commanding({ type: 'moveToBackground' }) },
  'side-question': {
    done: () => document.activeElement?.getAttribute('aria-label') === 'Side question',
  },
  'stop-all': {
    scene: 'streaming',
    given: ({ session }) => session.patch({ background: [inBackground], nBackground: 1 }),
    done: (opened) =>
      commanding({ type: 'interrupt' })(opened) && commanding({ type: 'stopTask', taskId: 'b1' })(opened),
  },
  'stop-next': { scene: 'streaming', done: commanding({ type: 'interruptAndContinue' }) },
  'continue-at-reset': {
    given: ({ session }) => session.patch(limited(Date.now())),
    done: commanding({ type: 'prompt', text: 'Continue where you stopped.', attachments: [], delivery: 'atReset' }),
  },
  continue: { scene: 'held', done: commanding({ type: 'continueQueue' }) },
  queue: { scene: 'held', done: () => part('queue') },
  prompt: { done: () => document.activeElement === box() },
  paste: { done: calling('clipboardImage') },
  new: { done: calling('createSession', null, false) },
  'new-with': { done: dialog('New session with…') },
  'new-with-profile': {
    given: ({ host }) => host.setSetting('agent.profiles', PROFILES as unknown as JsonValue),
    choice: 'Work',
    done: calling('createSessionWithProfile', 'Work'),
  },
  demo: { done: calling('createSession', 'demo', false) },
  'new-in-worktree': { done: dialog('New session in a worktree') },
  worktrees: { done: dialog('Worktrees') },
  search: { done: dialog('Search in sessions') },
  next: { done: () => !current().includes('Round half') && current() !== '' },
  previous: { scene: 'conversation', given: goDown, done: () => current().includes('Round half') },
  find: { done: () => document.activeElement === screen.queryByRole('textbox', { name: 'Find in the conversation' }) },
  reconnect: {
    given: ({ session }) => session.patch({ link: { type: 'waiting', attempt: 2, at: 0 } }),
    done: calling('retryLink', 's1'),
  },
  read: { scene: 'conversation', done: () => part('conversation') },
  rename: { done: () => document.activeElement === screen.queryByRole('textbox', { name: 'Title of the session' }) },
  copy: { done: copying({ type: 'conversation' }) },
  resume: { given: hasAgentId, done: copying({ type: 'resumeCommand' }) },
  link: { done: calling('writeClipboard', 'deskbell://open?folder=%2Fhome%2Fines%2Fledger&session=s1') },
  'side-by-side': { scene: 'conversation', choice: 'Explain the import', done: () => secondTitle() === SECOND },
  'own-window': { scene: 'conversation', done: calling('placeSession', 's1', true) },
  'swap-sides': {
    scene: 'conversation',
    given: showSecond,
    done: () => document.activeElement === screen.queryByRole('textbox', { name: 'Prompt of the second session' }),
  },
  'close-second': { scene: 'conversation', given: showSecond, done: () => secondTitle() === null },
  'ask-another': { scene: 'conversation', done: dialog('Ask another agent') },
  fork: { given: hasAgentId, done: calling('forkSession', 's1', null) },
  pin: { given: hasAgentId, done: calling('markSession', 'a1', 'pinned') },
  archive: { given: hasAgentId, done: calling('markSession', 'a1', 'archived') },
  terminal: { given: stopped, done: calling('openTerminal', 's1') },
  'generate-title': { scene: 'conversation', done: commanding({ type: 'generateTitle' }) },
  'export-markdown': { done: calling('exportSession', 's1', 'markdown') },
  'export-html': { done: calling('exportSession', 's1', 'html') },
  'export-json': { done: calling('exportSession', 's1', 'json') },
  remove: { done: dialog('Remove this session?') },
  restore: {
    scene: 'conversation',
    given: ({ host }) => host.removeSession('s2'),
    done: calling('restoreSession', 's2', null),
  },
  'copy-message': {
    scene: 'conversation',
    done: (opened) => copying({ type: 'message', itemId: lastOf(opened, 'text') })(opened),
  },
  'copy-input': {
    scene: 'conversation',
    done: (opened) => copying({ type: 'input', itemId: lastCall(opened, 'command') })(opened),
  },
  'copy-output': {
    scene: 'conversation',
    done: (opened) => copying({ type: 'output', itemId: lastCall(opened, 'command') })(opened),
  },
  'copy-call': {
    scene: 'conversation',
    done: (opened) => copying({ type: 'raw', itemId: lastOf(opened, 'toolCall') })(opened),
  },
  'fork-before': {
    scene: 'conversation',
    given: hasAgentId,
    done: (opened) => calling('forkSession', 's1', lastOf(opened, 'prompt'))(opened),
  },
  rewind: { scene: 'conversation', given: rewindable, done: dialog('Rewind to before this prompt') },
  'undo-rewind': {
    scene: 'conversation',
    given: rewound,
    done: commanding({ type: 'undoRewind', overwrite: false }),
  },
  fold: {
    scene: 'conversation',
    done: (opened) =>
      document.querySelector(`[data-item="${lastOf(opened, 'toolCall')}"] [aria-expanded=true]`) !== null,
  },
  'edit-file': {
    scene: 'conversation',
    choice: 'src/',
    done: ({ calls }) => calls.some(([name, path]) => name === 'openInEditor' && String(path).startsWith('src/')),
  },
  reveal: { scene: 'conversation', choice: 'src/', done: ({ calls }) => calls.some(([name]) => name === 'revealPath') },
  'copy-path': {
    scene: 'conversation',
    choice: 'src/',
    done: ({ calls }) => calls.some(([name, text]) => name === 'writeClipboard' && String(text).startsWith('src/')),
  },
  mode: { choice: 'Plan first', done: commanding({ type: 'setMode', mode: 'plan' }) },
  'next-mode': { done: commanding({ type: 'setMode', mode: 'acceptEdits' }) },
  'without-asking': { given: stopped, done: dialog('Start this agent without permission checks?') },
  model: { choice: 'Haiku 5', done: commanding({ type: 'setModel', model: 'haiku' }) },
  effort: { choice: 'Low', done: commanding({ type: 'setEffort', effort: 'low' }) },
  'agent-setting': {
    given: ({ session }) =>
      session.patch({
        agentOptions: [{ id: 'fast', name: 'Fast mode', description: '', kind: 'switch', value: 'false', choices: [] }],
      }),
    choice: 'Fast mode: On',
    done: commanding({ type: 'setAgentOption', id: 'fast', value: 'true' }),
  },
  thinking: {
    given: ({ session }) => session.patch({ model: 'haiku' }),
    choice: 'off',
    done: commanding({ type: 'setThinking', on: false }),
  },
  rules: { done: dialog('Permission rules') },
  configuration: { done: dialog('Servers, hooks and skills') },
  options: { done: dialog('Session options') },
  preset: { choice: 'Agent’s defaults', done: commanding({ type: 'setOptions', options: NO_OPTIONS }) },
  context: { done: dialog('Context') },
  record: { done: calling('recordSession', 's1') },
  lines: { done: dialog('Raw messages') },
  stop: { given: ({ session }) => session.patch({ alive: true }), done: commanding({ type: 'stop' }) },
  palette: { done: dialog('Commands and sessions') },
  menu: { done: () => screen.queryByRole('menu', { name: 'Menu' }) !== null },
  sessions: { done: () => screen.queryByRole('navigation', { name: 'Sessions' }) === null },
  side: {
    scene: 'conversation',
    done: () => screen.queryByRole('complementary', { name: 'Changes and tasks' }) !== null,
  },
  changes: { done: dialog('Changes') },
  commit: { done: dialog('Changes') },
  'next-part': { done: () => document.activeElement !== box() && document.activeElement !== document.body },
  'previous-part': { done: () => document.activeElement !== box() && document.activeElement !== document.body },
  larger: { done: calling('zoomWindow', 'larger') },
  smaller: { done: calling('zoomWindow', 'smaller') },
  usual: { done: calling('zoomWindow', 'usual') },
  theme: { choice: 'dark', done: calling('setSetting', 'theme', 'dark') },
  'open-folder': { done: calling('chooseFolder') },
  'open-far': { done: dialog('Open on another machine') },
  recent: { choice: '', done: ({ calls }) => calls.some(([name]) => name === 'openRecent') },
  board: { done: calling('openBoard') },
  'start-page': { done: calling('openStartPage') },
  trust: {
    scene: 'trust',
    given: async ({ user }) => {
      await user.click(screen.getByRole('button', { name: 'Open restricted' }));
      await expect.poll(() => screen.queryByRole('button', { name: 'Open restricted' })).toBeNull();
    },
    done: () => screen.queryByRole('button', { name: 'Open restricted' }) !== null,
  },
  'keep-running': { choice: 'always', done: calling('setKeepRunning', true) },
  usage: { done: dialog('Usage') },
  doctor: { done: dialog('Doctor') },
  diagnostics: { done: calling('lastLogLines') },
  login: { done: dialog('Log in to Claude Code') },
  settings: { done: dialog('Settings') },
  'settings-file': { done: calling('openSettingsFile') },
  help: { done: dialog('Keys') },
  keys: { done: dialog('Change keys') },
  quit: { done: calling('quit') },
};

async function asked({ session, clock }: Opened) {
  session.patch({ requests: [commandRequest('q1', 'git push')] });
  await screen.findByRole('group', { name: 'Permission request' });
  await fireEvent.focus(window);
  await tick();
  clock.advance(ARM_MS);
  await tick();
}

async function goDown() {
  await fireEvent.keyDown(document.body, { key: 'ArrowDown', altKey: true });
  await expect.poll(current).not.toContain('Round half');
}

/** The event of a chord, on Linux and Windows. */
function keyOf(chord: string) {
  const parts = chord.split('+');
  const key = parts.pop() ?? '';
  const named = { Plus: '+', Minus: '-' }[key] ?? (key.length === 1 ? key.toLowerCase() : key);
  const has = (modifier: string) => parts.includes(modifier);
  return { key: named, code: key, ctrlKey: has('Ctrl'), shiftKey: has('Shift'), altKey: has('Alt') };
}

const caseOf = (id: string): Case => {
  const found = CASES[id];
  if (found === undefined) throw new Error(`the action ${id} is not tested`);
  return found;
};

async function opened(id: string): Promise<Opened> {
  const { scene = 'empty', given } = caseOf(id);
  const window = await app(scene);
  await given?.(window);
  await tick();
  return window;
}

async function showSecond(opened: Opened) {
  await inPalette(opened, 'Show side by side: Explain');
  await opened.user.keyboard('{Enter}');
  await expect.poll(secondTitle).toBe(SECOND);
}

/** Opens the palette by key and searches for an action. */
async function inPalette({ user }: Opened, query: string): Promise<HTMLElement> {
  await fireEvent.keyDown(document.activeElement ?? document.body, { key: 'k', ctrlKey: true });
  const field = await screen.findByRole('combobox', { name: 'Search commands and sessions' });
  expect(document.activeElement).toBe(field);
  await user.keyboard(query.replaceAll(/[[{]/g, '$&$&'));
  await tick();
  return screen.getAllByRole('option')[0] as HTMLElement;
}

it('tests every action, and no other', () => {
  expect(Object.keys(CASES).toSorted()).toEqual(ACTIONS.map(({ id }) => id).toSorted());
});

describe('by the palette', () => {
  // Enter never answers a request, and the palette does not list itself.
  const listed = ACTIONS.filter(({ id, isKeyOnly }) => isKeyOnly !== true && id !== 'palette');

  it.each(listed.map(({ id, label }) => [id, label]))('%s: “%s”', async (id, label) => {
    const window = await opened(id);
    const { choice, done } = caseOf(id);
    const first = await inPalette(window, choice === undefined ? label : `${label}: ${choice}`);
    expect(first.textContent).toContain(label);
    expect(first.getAttribute('aria-disabled')).toBe('false');
    expect(done(window) && id !== 'prompt' && !id.endsWith('part')).toBe(false);
    await window.user.keyboard('{Enter}');
    await expect.poll(() => done(window)).toBe(true);
  });
});

describe('by key', () => {
  const chords = ACTIONS.flatMap((action) => chordsOf(action, false).map((chord) => [chord, action.id] as const));

  it.each(chords)('%s: %s', async (chord, id) => {
    const window = await opened(id);
    const { choice, done } = caseOf(id);
    if (id === 'prompt' || [...chord].length === 1) (document.activeElement as HTMLElement).blur();
    else box().focus();
    await fireEvent.keyDown(document.activeElement ?? document.body, keyOf(chord));
    await tick();
    if (choice !== undefined) {
      await screen.findByRole('combobox', { name: 'Search commands and sessions' });
      await window.user.keyboard(`${choice}{Enter}`);
    }
    await expect.poll(() => done(window)).toBe(true);
  });
});

describe('by the menu of the window', () => {
  // No menu answers a request, and the menu does not list itself.
  const listed = ACTIONS.filter(({ id, isKeyOnly }) => isKeyOnly !== true && id !== 'menu');
  const placed = Object.values(MENUS).flatMap((sections) => sections.flat());
  const menuOf = (id: string) => Object.keys(MENUS).find((name) => MENUS[name]?.flat().includes(id)) ?? '';
  const labels = () => [...(document.activeElement?.parentElement?.children ?? [])].map((child) => child.textContent);

  it('has every action once', () => {
    expect(placed.toSorted()).toEqual(listed.map(({ id }) => id).toSorted());
  });

  it.each(listed.map(({ id, label }) => [id, label]))('%s: “%s”, by mouse', async (id, label) => {
    const window = await opened(id);
    const { choice, done } = caseOf(id);
    await window.user.click(screen.getByRole('button', { name: 'Menu' }));
    await window.user.click(screen.getByRole('menuitem', { name: menuOf(id) }));
    const item = within(screen.getByRole('menu', { name: menuOf(id) })).getByRole('menuitem', { name: label });
    expect(item.getAttribute('aria-disabled')).toBeNull();
    expect(done(window) && id !== 'prompt' && !id.endsWith('part')).toBe(false);
    await window.user.click(item);
    if (choice !== undefined) {
      const choices = [...screen.getByRole('menu', { name: label }).querySelectorAll('.label')];
      const wanted = choices.find((one) => one.textContent.toLowerCase().startsWith(choice.toLowerCase()));
      await window.user.click(wanted as Element);
    }
    await expect.poll(() => done(window)).toBe(true);
    expect(screen.queryByRole('menu')).toBeNull();
  });

  it('is used with keys only, and gives the focus back', async () => {
    const { user, calls } = await app('conversation');
    box().focus();
    await user.keyboard('{F10}');
    expect(document.activeElement?.textContent).toContain('File');
    // A letter, the arrow into the submenu, letters of one word, and the arrow back.
    await user.keyboard('v{ArrowRight}zoom o');
    expect(document.activeElement?.textContent).toContain('Zoom out');
    await user.keyboard('{ArrowLeft}{ArrowLeft}');
    expect(document.activeElement?.textContent).toContain('View');
    await user.keyboard('{End}{ArrowDown}{ArrowUp}');
    expect(document.activeElement?.textContent).toContain('Help');
    await user.keyboard('{Escape}');
    expect(screen.queryByRole('menu')).toBeNull();
    expect(document.activeElement).toBe(box());
    await user.keyboard('{F10}v{Enter}{End}{Enter}{ArrowDown}{Enter}');
    expect(calls.filter(([name]) => name === 'setSetting').map(([, key]) => key)).toEqual(['theme']);
    expect(document.activeElement).toBe(box());
    expect(box().value).toBe('');
  });

  it('shows the keys in force, and why an action is not available', async () => {
    const { user, host } = await app('empty');
    await host.setSetting('keys', [{ action: 'new', key: 'Alt+N' }]);
    await user.keyboard('{F10}{ArrowRight}');
    await expect.poll(() => labels()[0]).toMatch(/New session\s*Alt\+N/);
    await user.keyboard('{ArrowLeft}s{ArrowRight}fork');
    const item = document.activeElement as HTMLElement;
    expect(item.getAttribute('aria-disabled')).toBe('true');
    expect(item.title).toBe('The session has no conversation yet.');
    expect(item.parentElement?.querySelector('.why')?.textContent).toBe(item.title);
    await user.keyboard('{Enter}');
    expect(screen.queryByRole('menu', { name: 'Session' })).not.toBeNull();
  });

  it('answers no request, also by key while it is open', async () => {
    const window = await app('conversation');
    await asked(window);
    await window.user.keyboard('{F10}');
    await fireEvent.keyDown(document.activeElement as Element, { key: 'a', altKey: true });
    await tick();
    expect(window.calls.filter(([name]) => name === 'command')).toEqual([]);
    for (const id of ['allow', 'always-allow', 'deny']) expect(placed).not.toContain(id);
  });

  it('opens by Alt alone on Windows, and not after a chord', async () => {
    vi.spyOn(navigator, 'userAgent', 'get').mockReturnValue('Mozilla/5.0 (Windows NT 10.0)');
    onTestFinished(() => void vi.restoreAllMocks());
    const { user } = await app('conversation');
    await user.keyboard('{Alt>}x{/Alt}');
    expect(screen.queryByRole('menu')).toBeNull();
    await user.keyboard('{Alt}');
    expect(screen.queryByRole('menu', { name: 'Menu' })).not.toBeNull();
  });

  it('opens below no dialog', async () => {
    const { user } = await app('conversation');
    await user.keyboard('{F1}');
    await screen.findByRole('dialog', { name: 'Keys' });
    await user.keyboard('{F10}');
    expect(screen.queryByRole('menu')).toBeNull();
  });
});

describe('by the menu of the session', () => {
  const inMenu = ACTIONS.filter(({ menu }) => menu === 'session');

  it.each(inMenu.map((action) => [action.id, action.inMenu]))('%s', async (id, label) => {
    const window = await opened(id);
    await window.user.click(screen.getByRole('button', { name: 'More' }));
    const menu = within(await screen.findByRole('menu', { name: 'More' }));
    const name = label ?? { pin: 'Pin', archive: 'Archive' }[id] ?? ACTIONS.find((one) => one.id === id)?.label ?? '';
    await window.user.click(menu.getByRole('menuitem', { name }));
    await expect.poll(() => caseOf(id).done(window)).toBe(true);
  });
});

/** The item that an action of a message's menu is tried on: the last one that it applies to. */
const itemFor: Record<string, (opened: Opened) => string | undefined> = {
  'copy-message': (opened) => lastOf(opened, 'text'),
  'copy-input': (opened) => lastCall(opened, 'command'),
  'copy-output': (opened) => lastCall(opened, 'command'),
  'copy-call': (opened) => lastOf(opened, 'toolCall'),
  'fork-before': (opened) => lastOf(opened, 'prompt'),
  rewind: (opened) => lastOf(opened, 'prompt'),
  'ask-another': (opened) => lastOf(opened, 'prompt'),
  fold: (opened) => lastOf(opened, 'toolCall'),
};

/** The element whose context menu has the action. */
function placeOf(action: Action, opened: Opened): Element {
  const selector = {
    session: '[data-session="s1"]',
    message: `[data-item="${itemFor[action.id]?.(opened)}"]`,
    file: '[data-file]',
  }[action.menu ?? 'session'];
  const element = document.querySelector(selector);
  if (element === null) throw new Error(`nothing has a menu with ${action.id}: ${selector}`);
  return element;
}

describe('by the context menu', () => {
  const inMenu = ACTIONS.filter(({ menu }) => menu !== undefined);

  it.each(inMenu.map(({ id }) => [id]))('%s', async (id) => {
    const window = await opened(id);
    const action = actionOf(id);
    if (action.menu === 'file') await fireEvent.keyDown(document.body, { key: 'j', ctrlKey: true });
    expect(await fireEvent.contextMenu(placeOf(action, window))).toBe(false);
    const menu = within(await screen.findByRole('menu'));
    const names = menu.getAllByRole('menuitem').map((item) => item.querySelector('.label')?.textContent);
    expect(names.filter((name, i) => names.indexOf(name) !== i)).toEqual([]);
    const name = action.inMenu ?? { pin: 'Pin', archive: 'Archive' }[id] ?? action.label;
    await window.user.click(menu.getByRole('menuitem', { name: id === 'fold' ? 'Show details' : name }));
    await expect.poll(() => caseOf(id).done(window)).toBe(true);
    expect(screen.queryByRole('menu')).toBeNull();
  });

  it('acts on the session below the pointer, and not on the open one', async () => {
    const { calls, user } = await app('conversation');
    const other = document.querySelector('li[data-session]:not([data-session="s1"])') as HTMLElement;
    await fireEvent.contextMenu(other.querySelector('button') as Element);
    await user.click(screen.getByRole('menuitem', { name: 'Copy as Markdown' }));
    const copies = calls.flatMap(([name, id, query]) => (name === 'ask' && isCopy(query) ? [id] : []));
    expect(copies).toEqual([other.dataset['session']]);
  });

  it('offers the file of an edit together with the message', async () => {
    const { session, calls, user } = await app('conversation');
    const edit = session.items.findLast(({ body }) => body.type === 'toolCall' && body.detail.type === 'edit');
    await fireEvent.contextMenu(document.querySelector(`[data-item="${edit?.id}"]`) as Element);
    await user.click(screen.getByRole('menuitem', { name: 'Copy path' }));
    expect(calls.filter(([name]) => name === 'writeClipboard')).toHaveLength(1);
  });

  it('answers no request', async () => {
    const window = await app('permission');
    const card = screen.getByRole('group', { name: 'Permission request' });
    for (const element of [card, ...card.querySelectorAll('*')]) {
      getSelection()?.removeAllRanges();
      await fireEvent.contextMenu(element);
      expect(screen.queryByRole('menu')).toBeNull();
    }
    const reached = ACTIONS.filter(({ menu }) => menu !== undefined).map(({ id }) => id);
    for (const id of ['allow', 'always-allow', 'deny', 'without-asking', 'mode']) expect(reached).not.toContain(id);
    expect(window.calls.filter(([name]) => name === 'command')).toEqual([]);
  });

  it('keeps a request from being answered by key while it is open', async () => {
    const window = await app('conversation');
    await asked(window);
    await fireEvent.contextMenu(document.querySelector('[data-session="s1"]') as Element);
    await fireEvent.keyDown(document.activeElement as Element, { key: 'a', altKey: true });
    await tick();
    expect(window.calls.filter(([name]) => name === 'command')).toEqual([]);
    expect(document.activeElement?.id).toMatch(/^request-/);
    await expect.poll(() => screen.queryByRole('menu')).toBeNull();
  });
});

describe('an action that is not available', () => {
  it('says so when its key is pressed', async () => {
    await app('start');
    await fireEvent.keyDown(document.body, { key: 'f', ctrlKey: true });
    const alert = await screen.findByText(/is not available/);
    expect(alert.closest('[role=alert]')?.textContent).toContain('No session is open.');
  });

  it('stops saying so when it is available', async () => {
    const { user } = await app('start');
    await fireEvent.keyDown(document.body, { key: 'f', ctrlKey: true });
    await screen.findByText(/is not available/);
    await user.type(box(), 'Hello{Enter}');
    await expect.poll(() => screen.queryByText(/is not available/)).toBeNull();
  });

  it.each(['r', 'a', 'd'])('is no failure where nothing waits, by Alt+%s', async (key) => {
    const { clock } = await app('empty');
    await fireEvent.keyDown(document.body, { key, altKey: true });
    const note = await screen.findByText('Nothing is waiting.');
    expect(note.closest('[role=status]')).not.toBeNull();
    expect(screen.queryByText(/is not available/)).toBeNull();
    clock.advance(3000);
    await expect.poll(() => screen.queryByText('Nothing is waiting.')).toBeNull();
  });

  it.each([
    ['model', 'The models are known once the agent has started.', 'This agent offers no choice of models.'],
    ['effort', 'The effort levels are known once the agent has started.', 'The model has no effort levels.'],
  ])('says of a choice of %s whether it is unknown yet or not offered', (id, unknown, none) => {
    const reason = (alive: boolean) => {
      const session = { ...emptySession('a', ''), alive, models: [] };
      return actionOf(id)?.off?.({ covered: null, pane: { state: { session } } } as unknown as Desk, NOWHERE);
    };
    expect([reason(false), reason(true)]).toEqual([unknown, none]);
  });

  it('is shown as such in the palette, and does nothing there', async () => {
    const window = await app('start');
    const first = await inPalette(window, 'Rename this session');
    expect(first.getAttribute('aria-disabled')).toBe('true');
    expect(first.textContent).toContain('No session is open.');
    await window.user.keyboard('{Enter}');
    await window.user.click(first);
    expect(dialog('Commands and sessions')()).toBe(true);
    expect(window.calls.map(([name]) => name)).not.toContain('command');
  });

  it('is shown as such in the menu, with the reason', async () => {
    const { user } = await app('empty');
    await user.click(screen.getByRole('button', { name: 'More' }));
    const item = screen.getByRole('menuitem', { name: 'Fork' });
    expect(item.getAttribute('aria-disabled')).toBe('true');
    expect(item.title).toBe('The session has no conversation yet.');
  });

  it.each(['start', 'missing', 'unknown', 'conversation', 'streaming', 'history'])(
    'has words in the scene “%s”',
    async (scene) => {
      const window = await app(scene);
      await inPalette(window, 'e');
      for (const option of screen.getAllByRole('option')) {
        const isOff = option.getAttribute('aria-disabled') === 'true';
        expect(option.querySelector('.detail')?.textContent ?? '').toMatch(isOff ? /\.$/ : /^[^.]*$|/);
      }
      expect(window.calls.length).toBeGreaterThan(0);
    },
  );
});

it('puts the actions that were chosen last first', async () => {
  const window = await app('empty');
  await inPalette(window, 'Zoom in');
  await window.user.keyboard('{Enter}');
  await inPalette(window, 'Start page');
  await window.user.keyboard('{Enter}');
  await fireEvent.keyDown(document.body, { key: 'k', ctrlKey: true });
  const labels = screen.getAllByRole('option').map((option) => option.querySelector('.label')?.textContent);
  expect(labels.slice(0, 2)).toEqual(['Start page', 'Zoom in']);
  expect(firstRow()).not.toBe('');
});
