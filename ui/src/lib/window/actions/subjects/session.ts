// Actions that create, find, copy, mark, export and remove sessions.

import type { ExportFormat } from '../../../bindings/api';
import type { Action, Choice, Desk, Target } from '../action';
import {
  isMarked,
  isOpen,
  notOffered,
  offSecond,
  offLink,
  offOwnWindow,
  offOther,
  offRepository,
  offRow,
  offSession,
} from '../conditions';
import { always, onSession, sayCopied } from './builders';

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

const OPEN_OWN = 'Open in its own window';
const isInOwnWindow = ({ project }: Desk, { row }: Target) =>
  row?.session != null && project.ownWindows.has(row.session.id);

/** The sessions that can be shown beside the one with the focus. */
const others = ({ project }: Desk): Choice[] =>
  project.sessions
    .filter(({ id }) => id !== project.open?.id && !project.ownWindows.has(id))
    .map(({ id, title }) => ({
      id,
      label: title,
      isCurrent: id === project.beside.id,
      run: () => void project.showBeside(id),
    }));

export const SESSION: readonly Action[] = [
  { ...always('Session', 'new', 'New session', (desk) => desk.newSession(null), 'Ctrl+N'), off: offOwnWindow },
  {
    ...always('Session', 'new-with', 'New session with…', (desk) => desk.show('agents'), 'Ctrl+Shift+N'),
    off: offOwnWindow,
  },
  {
    id: 'new-with-profile',
    group: 'Session',
    label: 'New session with profile',
    off: (desk) => {
      const { project } = desk;
      const { machine } = project.project;
      const off = offOwnWindow(desk);
      if (off !== null) return off;
      if (machine !== null) return `The profiles on ${machine.name} are in “New session with…”.`;
      const { profiles } = project.settings.settings.agent;
      return profiles.length === 0 ? 'The settings have no profiles (agent.profiles).' : null;
    },
    does: {
      choices: ({ project }) =>
        project.settings.settings.agent.profiles.map(({ name }) => ({
          id: name,
          label: name,
          run: () => void project.creation.createWithProfile(name),
        })),
    },
  },
  {
    ...always('Session', 'demo', 'New session with the demo agent', (desk) => desk.newSession('demo')),
    off: offOwnWindow,
  },
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
  { ...always('Session', 'next', 'Next session', (desk) => desk.stepSession(1), 'Alt+ArrowDown'), off: offOwnWindow },
  {
    ...always('Session', 'previous', 'Previous session', (desk) => desk.stepSession(-1), 'Alt+ArrowUp'),
    off: offOwnWindow,
  },
  {
    id: 'side-by-side',
    group: 'Session',
    label: 'Show side by side',
    off: (desk) =>
      offOwnWindow(desk) ?? offSession(desk) ?? (others(desk).length === 0 ? 'There is no other session.' : null),
    does: { choices: others },
    choosesSession: true,
  },
  {
    id: 'swap-sides',
    group: 'Session',
    label: 'Go to the other side',
    keys: ['F8'],
    off: offSecond,
    does: {
      run: (desk) => {
        desk.project.focus(desk.project.beside);
        desk.focusPrompt();
      },
    },
  },
  {
    id: 'close-second',
    group: 'Session',
    label: 'Close the second session',
    keys: ['Shift+F8'],
    off: offSecond,
    does: { run: ({ project }) => void project.closePane(project.panes[1]) },
  },
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
        if (project.open !== null) void project.acts.retryLink(project.open.id);
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
    id: 'own-window',
    group: 'Session',
    label: 'Open this session in a window of its own',
    inMenu: OPEN_OWN,
    labelNow: (desk, on, inMenu) => {
      if (isInOwnWindow(desk, on)) return 'Put back into the project’s window';
      return inMenu ? OPEN_OWN : 'Open this session in a window of its own';
    },
    keys: ['Ctrl+F8'],
    menu: 'session',
    off: offRow,
    does: {
      run: (desk, on) => onSession(desk, on, ({ id }) => desk.project.place(id, !isInOwnWindow(desk, on))),
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
    does: {
      run: (desk, on) =>
        onSession(desk, on, ({ id }) =>
          sayCopied(desk, 'the session as Markdown', desk.project.acts.copyOf({ type: 'conversation' }, id)),
        ),
    },
  },
  {
    id: 'resume',
    group: 'Session',
    label: 'Copy resume command',
    menu: 'session',
    off: offOther,
    does: {
      run: (desk, on) =>
        onSession(desk, on, ({ id }) =>
          sayCopied(desk, 'the command', desk.project.acts.copyOf({ type: 'resumeCommand' }, id)),
        ),
    },
  },
  {
    id: 'link',
    group: 'Session',
    label: 'Copy link to this session',
    inMenu: 'Copy link',
    menu: 'session',
    off: offRow,
    does: {
      run: (desk, on) => onSession(desk, on, ({ id }) => sayCopied(desk, 'the link', desk.project.acts.copyLink(id))),
    },
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
    does: { run: (desk, on) => onSession(desk, on, ({ id }) => desk.project.acts.openTerminal(id)) },
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
          desk.project.acts.commandTo(id, { type: 'generateTitle' }, 'No title was generated'),
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
    off: (desk) => (desk.project.removals.list.length === 0 ? 'No session was removed.' : null),
    does: { run: (desk) => void desk.project.restoreSessions() },
  },
];
