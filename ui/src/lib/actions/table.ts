// The table of all actions. It feeds the palette, the keys, the menus, the help and the documentation of the keys.

import type { AgentOption, Command, ExportFormat, Session } from '../bindings/api';
import { currentModel, effortLabel, nextMode, offeredModes, optionChoices } from '../conversation/modes';
import { isChord, isMac } from '../kit/keys';
import { NO_OPTIONS } from '../options/form';
import type { ProjectState } from '../state/project.svelte';
import { limitToWaitFor } from '../usage/limits';
import type { Action, Choice, Desk, Target } from './action';
import { chosenKeys } from './chosen.svelte';
import {
  canUnfold,
  hasInput,
  hasOutput,
  hasText,
  isCall,
  isMarked,
  isOpen,
  isRecorded,
  NO_SESSION,
  notOffered,
  offLink,
  offMessage,
  offOpenOther,
  offOther,
  offRecording,
  offRepository,
  offRequest,
  offRewind,
  offRow,
  offSession,
  offTurn,
  offUnsent,
  open,
} from './conditions';
import { offElsewhere } from './here';

/** Does something with the session of a row; a stored conversation becomes one first, and nothing is started. */
function onSession({ project }: Desk, { row }: Target, act: (session: Session) => unknown): void {
  if (row === null) return;
  // At once where possible: the clipboard can only be written during the click or key press.
  if (row.session !== null) act(row.session);
  else
    void project.sessionOf(row).then((session) => {
      if (session !== null) act(session);
    });
}

const send = (command: Command, what: string) => (desk: Desk) => void desk.project.command(command, what);

function marking(id: string, mark: 'pinned' | 'archived', word: string): Action {
  const undone = `Un${word.toLowerCase()}`;
  const suffix = (inMenu: boolean) => (inMenu ? '' : ' this session');
  return {
    id,
    group: 'Session',
    label: `${word} this session`,
    labelNow: (desk, { row }, inMenu) => `${isMarked(desk, row, mark) ? undone : word}${suffix(inMenu)}`,
    menu: 'session',
    off: offRow,
    does: {
      run: (desk, { row }) => {
        if (row !== null) void desk.project.markSession(row, isMarked(desk, row, mark) ? null : mark);
      },
    },
  };
}

const exporting = (format: ExportFormat, name: string): Action => ({
  id: `export-${format}`,
  group: 'Session',
  label: `Export this session as ${name}…`,
  inMenu: `Export as ${name}…`,
  menu: 'session',
  off: offRow,
  does: { run: (desk, on) => onSession(desk, on, ({ id }) => desk.project.exportSession(format, id)) },
});

/** An action that only shows something or goes somewhere, and is always available. */
const always = (
  group: Action['group'],
  id: string,
  label: string,
  run: (desk: Desk) => void,
  ...keys: string[]
): Action => ({ id, group, label, keys, does: { run } });

/** Whether new sessions keep running: as the setting says, or by the project's own choice. */
const keepingChoices = (project: ProjectState): Choice[] => {
  const choice = (id: string, label: string, keep: boolean | null): Choice => {
    const run = () => void project.setKeepRunning(keep);
    // The palette says “current” in the place of a detail.
    return project.project.keepRunning === keep
      ? { id, label, isCurrent: true, run }
      : { id, label, isCurrent: false, detail: 'for new sessions', run };
  };
  return [
    choice('default', `default (${project.settings.settings.keepRunning ? 'on' : 'off'})`, null),
    choice('on', 'always', true),
    choice('off', 'never', false),
  ];
};

const set = (project: ProjectState, key: string, value: string) => void project.setSetting(key, value);

/** What can be switched in the open session's agent. */
const switching = (
  id: string,
  label: string,
  missing: string,
  choices: (session: Session, project: ProjectState) => readonly Choice[],
  ...keys: string[]
): Action => {
  const all = (desk: Desk) => {
    const session = open(desk)?.session;
    return session === undefined ? [] : choices(session, desk.project);
  };
  return {
    id,
    group: 'Agent',
    label,
    keys,
    off: (desk) => offSession(desk) ?? (all(desk).length === 0 ? missing : null),
    does: { choices: all },
  };
};

/** The values of settings that the agent offers itself. The label of a mode is its name alone. */
const ofAgent = (session: Session, project: ProjectState, of: (option: AgentOption) => boolean): Choice[] =>
  session.agentOptions.filter(of).flatMap((option) =>
    optionChoices(option).map(({ id, label, checked, command }) => ({
      id: `${option.id}=${id}`,
      label: option.kind === 'mode' ? label : `${option.name}: ${label}`,
      isCurrent: checked,
      run: () => void project.command(command, 'The setting was not changed'),
    })),
  );

const fileChoices = (desk: Desk, run: (path: string) => void): Choice[] =>
  (open(desk)?.files ?? []).map(({ path }) => ({ id: path, label: path, run: () => run(path) }));

/** An action on a changed file: in its menu, and in the palette one for each file. */
const onFile = (id: string, label: string, inMenu: string, run: (desk: Desk, path: string) => void): Action => ({
  id,
  group: 'File',
  label,
  inMenu,
  menu: 'file',
  off: (desk, { file }) =>
    file === null && (open(desk)?.files.length ?? 0) === 0 ? 'This session changed no files.' : null,
  does: {
    choices: (desk, { file }) =>
      file === null
        ? fileChoices(desk, (path) => run(desk, path))
        : [{ id: file, label: inMenu, run: () => run(desk, file) }],
  },
});

const copying = (
  id: string,
  label: string,
  inMenu: string,
  what: 'message' | 'input' | 'output' | 'raw',
  applies: (on: Target) => boolean,
): Action => ({
  id,
  group: 'Message',
  label,
  inMenu,
  menu: 'message',
  isAbsent: (_, on) => !applies(on),
  off: offMessage,
  does: {
    run: (desk, { item }) => {
      if (item !== null) void desk.project.copyOf({ type: what, itemId: item.id });
    },
  },
});

const ALL: readonly Action[] = [
  {
    id: 'request',
    group: 'Requests',
    label: 'Go to the request that waits',
    keys: ['Alt+R'],
    macKeys: ['Ctrl+Shift+R'],
    off: offRequest,
    does: { run: (desk) => desk.showRequest() },
  },
  {
    id: 'allow',
    group: 'Requests',
    label: 'Allow the request, or answer the question',
    keys: ['Alt+A'],
    macKeys: ['Ctrl+Shift+A'],
    isKeyOnly: true,
    off: offRequest,
    does: { run: (desk) => desk.answer('allow') },
  },
  {
    id: 'deny',
    group: 'Requests',
    label: 'Deny the request, or skip the question',
    keys: ['Alt+D'],
    macKeys: ['Ctrl+Shift+D'],
    isKeyOnly: true,
    off: offRequest,
    does: { run: (desk) => desk.answer('deny') },
  },

  {
    id: 'interrupt',
    group: 'Turn',
    label: 'Stop this turn',
    keys: ['Escape'],
    isLocal: true,
    off: offTurn,
    does: { run: send({ type: 'interrupt' }, 'The turn was not stopped') },
  },
  {
    id: 'stop-next',
    group: 'Turn',
    label: 'Stop and send next',
    off: (desk) =>
      offTurn(desk) ??
      (open(desk)?.session.queue.some((prompt) => !prompt.held) === true ? null : 'No prompt is queued.'),
    does: { run: send({ type: 'interruptAndContinue' }, 'The turn was not stopped') },
  },
  {
    id: 'continue',
    group: 'Turn',
    label: 'Continue the queue',
    off: (desk) =>
      open(desk)?.session.queue.some((prompt) => prompt.held && !prompt.cutOff) === true ? null : 'No prompt is held.',
    does: { run: send({ type: 'continueQueue' }, 'The queue was not continued') },
  },
  {
    id: 'continue-at-reset',
    group: 'Turn',
    label: 'Continue when the limit resets',
    off: (desk) => {
      const session = open(desk)?.session;
      return session !== undefined && limitToWaitFor(session, Date.now()) !== null
        ? null
        : 'No limit stopped this session.';
    },
    does: { run: (desk) => void desk.project.continueAtReset() },
  },
  {
    id: 'queue',
    group: 'Turn',
    label: 'Go to the queued prompts',
    off: (desk) => offSession(desk) ?? (open(desk)?.session.queue.length === 0 ? 'No prompt is queued.' : null),
    does: { run: (desk) => desk.goTo('queue') },
  },
  always('Turn', 'prompt', 'Focus prompt', (desk) => desk.focusPrompt(), 'Ctrl+L'),
  {
    id: 'paste',
    group: 'Turn',
    label: 'Paste image',
    // On other platforms the page receives pasted images itself.
    isAbsent: () => !/linux/i.test(navigator.userAgent),
    off: (desk) => desk.covered,
    does: { run: (desk) => desk.pasteImage() },
  },

  always('Session', 'new', 'New session', (desk) => desk.newSession(null), 'Ctrl+N'),
  always('Session', 'new-with', 'New session with…', (desk) => desk.show('agents'), 'Ctrl+Shift+N'),
  {
    id: 'new-with-profile',
    group: 'Session',
    label: 'New session with profile',
    off: ({ project }) =>
      project.settings.settings.agent.profiles.length === 0 ? 'The settings have no profiles (agent.profiles).' : null,
    does: {
      choices: ({ project }) =>
        project.settings.settings.agent.profiles.map(({ name }) => ({
          id: name,
          label: name,
          run: () => void project.beginWithProfile(name),
        })),
    },
  },
  always('Session', 'demo', 'New session with the demo agent', (desk) => desk.newSession('demo')),
  {
    id: 'new-in-worktree',
    group: 'Session',
    label: 'New session in a worktree…',
    off: offRepository,
    does: { run: (desk) => desk.show('newWorktree') },
  },
  {
    id: 'worktrees',
    group: 'Session',
    label: 'Worktrees…',
    off: offRepository,
    does: { run: (desk) => desk.show('worktrees') },
  },
  always('Session', 'search', 'Search in all sessions', (desk) => desk.show('search'), 'Ctrl+Shift+F'),
  always('Session', 'next', 'Next session', (desk) => desk.stepSession(1), 'Alt+ArrowDown'),
  always('Session', 'previous', 'Previous session', (desk) => desk.stepSession(-1), 'Alt+ArrowUp'),
  {
    id: 'find',
    group: 'Session',
    label: 'Find in the conversation',
    keys: ['Ctrl+F'],
    off: offSession,
    does: { run: (desk) => desk.find() },
  },
  {
    id: 'reconnect',
    group: 'Session',
    label: 'Reconnect now',
    off: offLink,
    does: {
      run: ({ project }) => {
        if (project.open !== null) void project.retryLink(project.open.id);
      },
    },
  },
  {
    id: 'read',
    group: 'Session',
    label: 'Go to the conversation',
    off: offSession,
    does: { run: (desk) => desk.goTo('conversation') },
  },
  {
    id: 'rename',
    group: 'Session',
    label: 'Rename this session',
    inMenu: 'Rename',
    keys: ['F2'],
    menu: 'session',
    off: (desk, on) => offRow(desk, on) ?? (isOpen(desk, on) ? desk.covered : null),
    does: {
      run: (desk, on) => {
        if (on.row !== null && !isOpen(desk, on)) desk.openRow(on.row);
        desk.rename();
      },
    },
  },
  {
    id: 'copy',
    group: 'Session',
    label: 'Copy this session as Markdown',
    inMenu: 'Copy as Markdown',
    keys: ['Ctrl+Shift+C'],
    menu: 'session',
    off: offRow,
    does: { run: (desk, on) => onSession(desk, on, ({ id }) => desk.project.copyOf({ type: 'conversation' }, id)) },
  },
  {
    id: 'resume',
    group: 'Session',
    label: 'Copy resume command',
    menu: 'session',
    off: offOther,
    does: { run: (desk, on) => onSession(desk, on, ({ id }) => desk.project.copyOf({ type: 'resumeCommand' }, id)) },
  },
  {
    id: 'link',
    group: 'Session',
    label: 'Copy link to this session',
    inMenu: 'Copy link',
    menu: 'session',
    off: offRow,
    does: { run: (desk, on) => onSession(desk, on, ({ id }) => desk.project.copyLink(id)) },
  },
  {
    id: 'fork',
    group: 'Session',
    label: 'Fork this session',
    inMenu: 'Fork',
    menu: 'session',
    off: offOther,
    does: { run: (desk, on) => onSession(desk, on, ({ id }) => desk.project.forkSession(null, id)) },
  },
  marking('pin', 'pinned', 'Pin'),
  marking('archive', 'archived', 'Archive'),
  {
    id: 'terminal',
    group: 'Session',
    label: 'Open this session in a terminal',
    inMenu: 'Open in terminal',
    menu: 'session',
    off: (desk, on) => {
      // Two programs in one conversation lose each other's messages.
      if (on.row?.session?.alive === true) return 'Its agent runs here. Stop the agent first.';
      return offOther(desk, on) ?? (on.row?.session?.agent === 'demo' ? 'The demo agent has no terminal.' : null);
    },
    does: { run: (desk, on) => onSession(desk, on, ({ id }) => desk.project.openTerminal(id)) },
  },
  {
    id: 'generate-title',
    group: 'Session',
    label: 'Generate a title for this session',
    inMenu: 'Generate title',
    menu: 'session',
    off: (desk, on) =>
      offRow(desk, on) ??
      notOffered(on.row?.session) ??
      (on.row?.session?.isEmpty === true ? 'The session has no prompt yet.' : null),
    does: {
      run: (desk, on) =>
        onSession(desk, on, ({ id }) =>
          desk.project.commandTo(id, { type: 'generateTitle' }, 'No title was generated'),
        ),
    },
  },
  exporting('markdown', 'Markdown'),
  exporting('html', 'web page'),
  exporting('json', 'JSON'),
  {
    id: 'remove',
    group: 'Session',
    label: 'Remove this session…',
    inMenu: 'Remove session',
    menu: 'session',
    isDanger: true,
    off: offRow,
    does: { run: (desk, on) => onSession(desk, on, (session) => desk.confirmRemove([session])) },
  },
  {
    id: 'restore',
    group: 'Session',
    label: 'Bring back what was removed last',
    off: (desk) => (desk.project.removed.length === 0 ? 'No session was removed.' : null),
    does: { run: (desk) => void desk.project.restoreSessions() },
  },

  copying('copy-message', 'Copy the last message', 'Copy message', 'message', hasText),
  copying('copy-input', 'Copy the input of the last tool call', 'Copy input', 'input', hasInput),
  copying('copy-output', 'Copy the output of the last tool call', 'Copy output', 'output', hasOutput),
  copying('copy-call', 'Copy the last tool call as JSON', 'Copy input and result as JSON', 'raw', isCall),
  {
    id: 'fork-before',
    group: 'Message',
    label: 'Fork before the last prompt',
    inMenu: 'Fork before this prompt',
    menu: 'message',
    isAbsent: (_, { item }) => item?.body.type !== 'prompt',
    off: (desk, on) => offMessage(desk, on) ?? offOther(desk, on),
    does: {
      run: (desk, { item }) => {
        if (item !== null) void desk.project.forkSession(item.id);
      },
    },
  },
  {
    id: 'rewind',
    group: 'Message',
    label: 'Rewind to the last prompt…',
    inMenu: 'Rewind to here…',
    menu: 'message',
    isAbsent: (_, { item }) => item?.body.type !== 'prompt',
    off: (desk, on) => offMessage(desk, on) ?? offUnsent(desk, on) ?? offRewind(desk),
    does: {
      run: (desk, { item }) => {
        if (item !== null) desk.rewind(item.id);
      },
    },
  },
  {
    id: 'undo-rewind',
    group: 'Session',
    label: 'Undo the last rewind',
    off: (desk) => offRewind(desk) ?? (open(desk)?.session.rewind.undo === null ? 'There is no rewind to undo.' : null),
    does: { run: (desk) => desk.undoRewind() },
  },
  {
    id: 'fold',
    group: 'Message',
    label: 'Show or hide the last tool call or thinking',
    labelNow: (_, { item }, inMenu) => {
      if (!inMenu) return 'Show or hide the last tool call or thinking';
      return item?.open === true ? 'Hide details' : 'Show details';
    },
    menu: 'message',
    isAbsent: (_, on) => !canUnfold(on),
    off: offMessage,
    does: {
      run: (_, { item }) => {
        if (item !== null) item.open = !item.open;
      },
    },
  },

  onFile('edit-file', 'Open in editor', 'Open in editor', (desk, path) => void desk.project.openInEditor(path)),
  onFile('reveal', 'Show in its folder', 'Show in its folder', (desk, path) => void desk.project.revealPath(path)),
  onFile('copy-path', 'Copy path', 'Copy path', (desk, path) => void desk.project.writeClipboard(path)),

  switching(
    'mode',
    'Permission mode',
    'This agent has no permission modes.',
    (session, project) => [
      ...offeredModes(session).map(({ id, label }) => ({
        id,
        label,
        isCurrent: id === session.mode,
        run: () => void project.command({ type: 'setMode', mode: id }, 'The permission mode was not changed'),
      })),
      ...ofAgent(session, project, (option) => option.kind === 'mode'),
    ],
    'Ctrl+Shift+P',
  ),
  {
    id: 'next-mode',
    group: 'Agent',
    label: 'Next permission mode',
    keys: ['Shift+Tab'],
    isLocal: true,
    off: (desk) => {
      const session = open(desk)?.session;
      if (session === undefined) return NO_SESSION;
      return nextMode(session) === undefined ? 'This agent has no other permission mode.' : null;
    },
    does: {
      run: (desk) => {
        const session = open(desk)?.session;
        const mode = session && nextMode(session);
        if (mode !== undefined) send({ type: 'setMode', mode }, 'The permission mode was not changed')(desk);
      },
    },
  },
  {
    id: 'without-asking',
    group: 'Agent',
    label: 'Skip all permissions…',
    isDanger: true,
    off: (desk) => {
      const session = open(desk)?.session;
      if (session?.alive === true || session?.status.type === 'restarting') {
        return 'The agent is running. This can only be chosen before it starts.';
      }
      return offSession(desk) ?? (session?.capabilities.withoutAsking === true ? null : 'This agent cannot do that.');
    },
    does: { run: (desk) => desk.confirmWithoutAsking() },
  },
  switching(
    'model',
    'Model',
    'This agent offers no choice of models.',
    (session, project) =>
      (session.capabilities.models ? session.models : []).map(({ name, label }) => ({
        id: name,
        label,
        isCurrent: name === currentModel(session)?.name,
        run: () => void project.command({ type: 'setModel', model: name }, 'The model was not changed'),
      })),
    'Ctrl+Shift+M',
  ),
  switching(
    'effort',
    'Effort',
    'The model has no effort levels.',
    (session, project) =>
      (session.capabilities.effort ? (currentModel(session)?.effortLevels ?? []) : []).map((level) => ({
        id: level,
        label: effortLabel(level),
        isCurrent: level === session.effort,
        run: () => void project.command({ type: 'setEffort', effort: level }, 'The setting was not changed'),
      })),
    'Ctrl+Shift+E',
  ),
  switching('agent-setting', 'Agent setting', 'This agent offers no settings of its own.', (session, project) =>
    ofAgent(session, project, (option) => option.kind !== 'mode'),
  ),
  switching('thinking', 'Thinking', 'The model always thinks.', (session, project) =>
    session.capabilities.thinking && currentModel(session)?.canStopThinking === true
      ? [true, false].map((on) => ({
          id: on ? 'on' : 'off',
          label: on ? 'on' : 'off',
          isCurrent: on === session.thinking,
          run: () => void project.command({ type: 'setThinking', on }, 'The setting was not changed'),
        }))
      : [],
  ),
  {
    id: 'rules',
    group: 'Agent',
    label: 'Permission rules',
    off: offOpenOther,
    menu: 'session',
    isAbsent: (desk, on) => !isOpen(desk, on),
    does: { run: (desk) => desk.showRules() },
  },
  {
    id: 'configuration',
    group: 'Agent',
    label: 'Servers, hooks and skills',
    off: offOpenOther,
    menu: 'session',
    isAbsent: (desk, on) => !isOpen(desk, on),
    keys: ['Ctrl+Shift+K'],
    does: { run: (desk) => desk.showConfiguration() },
  },
  {
    id: 'options',
    group: 'Agent',
    label: 'Session options',
    off: offOpenOther,
    menu: 'session',
    isAbsent: (desk, on) => !isOpen(desk, on),
    does: { run: (desk) => desk.showOptions() },
  },
  switching('preset', 'Options preset', 'This agent has no session options.', (session, project) =>
    (session.agent === 'acp'
      ? []
      : [{ name: 'Agent’s defaults', options: NO_OPTIONS }, ...project.settings.settings.agent.presets]
    ).map(({ name, options }) => ({
      id: name,
      label: name,
      run: () => void project.command({ type: 'setOptions', options }, 'The options were not changed'),
    })),
  ),
  {
    id: 'context',
    group: 'Agent',
    label: 'Context and limits',
    off: offSession,
    does: { run: (desk) => desk.showContext() },
  },
  {
    id: 'lines',
    group: 'Agent',
    label: 'Lines of the agent',
    off: offSession,
    menu: 'session',
    isAbsent: (desk, on) => !isOpen(desk, on),
    does: { run: (desk) => desk.show('lines') },
  },
  {
    id: 'record',
    group: 'Agent',
    label: 'Record this session',
    labelNow: (desk) => (isRecorded(desk) ? 'Stop recording this session' : 'Record this session'),
    off: (desk) => offSession(desk) ?? offRecording(desk),
    menu: 'session',
    isAbsent: (desk, on) => !isOpen(desk, on),
    does: {
      run: (desk) => {
        const id = open(desk)?.id;
        if (id === undefined) return;
        void (isRecorded(desk) ? desk.project.recordings.stop(id) : desk.project.recordings.start(id));
      },
    },
  },
  {
    id: 'stop',
    group: 'Agent',
    label: 'Stop the agent',
    menu: 'session',
    off: (desk, on) => offRow(desk, on) ?? (on.row?.session?.alive === true ? null : 'The agent is not running.'),
    does: {
      run: (desk, on) =>
        onSession(desk, on, ({ id }) => desk.project.commandTo(id, { type: 'stop' }, 'The agent was not stopped')),
    },
  },

  always('Window', 'palette', 'Commands and sessions', (desk) => desk.show('palette'), 'Ctrl+K'),
  always('Window', 'menu', 'Menu', (desk) => desk.showMenu(), 'F10'),
  always('Window', 'sessions', 'Show or hide the sessions', (desk) => desk.toggleSessions(), 'Ctrl+B'),
  {
    id: 'side',
    group: 'Window',
    label: 'Show or hide changes and tasks',
    keys: ['Ctrl+J'],
    off: (desk) => (desk.hasSide ? null : 'The session has no changes and no tasks.'),
    does: { run: (desk) => desk.toggleSide() },
  },
  {
    id: 'changes',
    group: 'Window',
    label: 'Changes of the working tree',
    keys: ['Ctrl+Shift+J'],
    off: offSession,
    does: { run: (desk) => desk.show('changes') },
  },
  always('Window', 'next-part', 'Next part of the window', (desk) => desk.stepPart(1), 'F6'),
  always('Window', 'previous-part', 'Previous part of the window', (desk) => desk.stepPart(-1), 'Shift+F6'),
  always('Window', 'larger', 'Zoom in', (desk) => desk.zoom('larger'), 'Ctrl+Plus'),
  always('Window', 'smaller', 'Zoom out', (desk) => desk.zoom('smaller'), 'Ctrl+Minus'),
  always('Window', 'usual', 'Reset zoom', (desk) => desk.zoom('usual'), 'Ctrl+0'),
  {
    id: 'theme',
    group: 'Window',
    label: 'Theme',
    does: {
      choices: ({ project }) =>
        (['system', 'light', 'dark'] as const).map((theme) => ({
          id: theme,
          label: theme,
          isCurrent: project.settings.settings.theme === theme,
          run: () => set(project, 'theme', theme),
        })),
    },
  },

  always('Deskbell', 'open-folder', 'Open folder…', ({ project }) => void project.chooseFolder(), 'Ctrl+O'),
  always('Deskbell', 'open-far', 'Open on another machine…', (desk) => desk.show('far')),
  {
    id: 'recent',
    group: 'Deskbell',
    label: 'Open recent',
    does: {
      choices: ({ project }) =>
        project.recent.map(({ path, name, place }) => ({
          id: path,
          label: name,
          detail: place,
          run: () => void project.openRecent(path),
        })),
    },
    off: ({ project }) => (project.recent.length === 0 ? 'No other project was opened.' : null),
  },
  always('Deskbell', 'board', 'Board of all projects', ({ project }) => void project.openBoard(), 'Ctrl+Shift+B'),
  always('Deskbell', 'start-page', 'Start page', ({ project }) => void project.openStartPage()),
  {
    id: 'trust',
    group: 'Deskbell',
    label: 'Folder trust',
    off: ({ project }) => (project.project.trust === null ? 'This project has no folder settings.' : null),
    does: { run: (desk) => desk.showTrust() },
  },
  {
    id: 'keep-running',
    group: 'Deskbell',
    label: 'Keep sessions of this project running',
    off: ({ project }) =>
      project.project.machine === null
        ? null
        : 'The sessions of this project run on another machine, and keep running.',
    does: { choices: ({ project }) => keepingChoices(project) },
  },
  always('Deskbell', 'usage', 'Usage and cost', (desk) => desk.show('usage')),
  always('Deskbell', 'doctor', 'Doctor', (desk) => desk.show('doctor')),
  always('Deskbell', 'diagnostics', 'Copy diagnostics', ({ project }) => void project.copyDiagnostics()),
  always('Deskbell', 'login', 'Log in to Claude Code…', ({ project }) => (project.agentCheck.loginShown = true)),
  always('Deskbell', 'settings', 'Settings', (desk) => desk.show('settings'), 'Ctrl+,'),
  always('Deskbell', 'settings-file', 'Open settings.json', ({ project }) => void project.openSettingsFile()),
  always('Deskbell', 'help', 'Keys', (desk) => desk.show('help'), '?', 'F1'),
  always('Deskbell', 'keys', 'Change keys…', (desk) => desk.show('keys')),
  always('Deskbell', 'quit', 'Quit Deskbell', ({ project }) => void project.quit(), 'Ctrl+Q'),
];

export const ACTIONS: readonly Action[] = offElsewhere(ALL);

/** The usual chords of an action on a platform. */
export function usualChords({ keys = [], macKeys }: Action, mac = isMac): readonly string[] {
  return mac ? (macKeys ?? keys) : keys;
}

/** The chords of an action on a platform: the one that the user chose, or the usual ones that no other action has. */
export function chordsOf(action: Action, mac = isMac): readonly string[] {
  const chosen = chosenKeys();
  const own = action.isLocal === true ? undefined : chosen.get(action.id);
  if (own !== undefined) return own === null ? [] : [own];
  const taken = [...chosen].filter(([id]) => ACTIONS.some((one) => one.id === id && one.isLocal !== true));
  return usualChords(action, mac).filter((chord) => !taken.some(([, key]) => key === chord));
}

/** The action whose chord was pressed, if the window handles it. */
export function pressed(event: KeyboardEvent): Action | undefined {
  return ACTIONS.find((action) => action.isLocal !== true && chordsOf(action).some((chord) => isChord(event, chord)));
}

/** The action with this id. */
export function actionOf(id: string): Action {
  const action = ACTIONS.find((one) => one.id === id);
  if (action === undefined) throw new Error(`there is no action ${id}`);
  return action;
}
