// Actions of the window and of the app.

import type { ProjectState } from '../../../project/project.svelte';
import type { Action, Choice } from '../action';
import { offOwnWindow, offSession } from '../conditions';
import { shownProject } from '../../../text/project';
import { always } from './builders';

/** Whether new sessions keep running: as the setting says, or by the project's own choice. */
const keepingChoices = (project: ProjectState): Choice[] => {
  const choice = (id: string, label: string, keep: boolean | null): Choice => {
    const run = () => void project.app.setKeepRunning(keep);
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

const set = (project: ProjectState, key: string, value: string) => void project.app.setSetting(key, value);

export const APP: readonly Action[] = [
  always('Window', 'palette', 'Commands and sessions', (desk) => desk.show('palette'), 'Ctrl+K'),
  {
    ...always('Window', 'menu', 'Menu', (desk) => desk.showMenu(), 'F10'),
    // The menu bar of the system has the menu.
    isAbsent: (desk) => desk.project.menuBar.isShown,
  },
  {
    ...always('Window', 'sessions', 'Show or hide the sessions', (desk) => desk.toggleSessions(), 'Ctrl+B'),
    off: offOwnWindow,
  },
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
  {
    id: 'commit',
    group: 'Window',
    label: 'Commit…',
    keys: ['Ctrl+Shift+L'],
    off: offSession,
    does: { run: (desk) => desk.show('changes', 'commit') },
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

  always('Deskbell', 'open-folder', 'Open folder…', ({ project }) => void project.app.chooseFolder(), 'Ctrl+O'),
  always('Deskbell', 'open-far', 'Open on another machine…', (desk) => desk.show('far')),
  {
    id: 'recent',
    group: 'Deskbell',
    label: 'Open recent',
    does: {
      choices: ({ project }) =>
        project.recent.map(({ project: recent, name, place }) => ({
          id: shownProject(recent),
          label: name,
          detail: place,
          run: () => void project.app.openRecent(recent),
        })),
    },
    off: ({ project }) => (project.recent.length === 0 ? 'No other project was opened.' : null),
  },
  always('Deskbell', 'board', 'Board of all projects', ({ project }) => void project.app.openBoard(), 'Ctrl+Shift+B'),
  always('Deskbell', 'start-page', 'Start page', ({ project }) => void project.app.openStartPage()),
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
  always('Deskbell', 'diagnostics', 'Copy diagnostics', ({ project }) => void project.app.copyDiagnostics()),
  always('Deskbell', 'login', 'Log in to Claude Code…', ({ project }) => (project.agentCheck.loginShown = true)),
  always('Deskbell', 'settings', 'Settings', (desk) => desk.show('settings'), 'Ctrl+,'),
  always('Deskbell', 'settings-file', 'Open settings.json', ({ project }) => void project.app.openSettingsFile()),
  always('Deskbell', 'help', 'Keys', (desk) => desk.show('help'), '?', 'F1'),
  always('Deskbell', 'keys', 'Change keys…', (desk) => desk.show('keys')),
  always('Deskbell', 'quit', 'Quit Deskbell', ({ project }) => void project.app.quit(), 'Ctrl+Q'),
];
