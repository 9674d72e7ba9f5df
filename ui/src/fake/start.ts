// A start page without the desktop app: its list of projects, and what was opened from it.

import type { CommandError, ProjectRef, RecentProject, StartView, WindowEvent } from '../lib/bindings/api';
import { shownProject } from '../lib/text/project';
import { START } from './facts';

const MINUTE = 60_000;

function recent(place: string, name: string, minutesAgo: number, facts: Partial<RecentProject> = {}): RecentProject {
  return {
    project: `${place.replace('~', '/home/ines')}/${name}`,
    name,
    place,
    lastUsedAt: START - minutesAgo * MINUTE,
    pinned: false,
    folder: 'found',
    checkout: { branch: null, worktreeOf: null },
    open: false,
    nWorking: 0,
    nWaiting: 0,
    ...facts,
  };
}

export const RECENT: readonly RecentProject[] = [
  recent('~', 'ledger', 12, { pinned: true, open: true, nWaiting: 1, nWorking: 1 }),
  recent('~/code', 'tide-tables', 40, { open: true, nWorking: 2 }),
  recent('~/code', 'lighthouse', 26 * 60, { checkout: { branch: 'main', worktreeOf: null } }),
  recent('~', 'ledger-fix-totals', 30 * 60, { checkout: { branch: 'fix/totals', worktreeOf: 'ledger' } }),
  recent('/srv/builds/nightly/a-workspace-with-a-long-path-of-folders/and-more', 'exporter', 3 * 24 * 60),
  recent('~/old', 'prototype', 40 * 24 * 60, { folder: 'missing' }),
  recent('box:/home/ines/code', 'windmill (box)', 90, {
    project: { machine: 'box', folder: '/home/ines/code/windmill' },
    folder: 'unchecked',
  }),
  recent('/mnt/archive', 'measurements', 60 * 24 * 60, { folder: 'silent' }),
];

const EMPTY: StartView = {
  projects: [],
  question: null,
  problem: null,
  unreadFiles: [],
  appVersion: '0.1.0',
};

const GONE: CommandError = {
  code: 'badProject',
  message: 'The folder /home/ines/old/prototype does not exist.',
  detail: null,
};

/** The start pages by the name of their scene. */
export const STARTS: Record<string, () => StartView> = {
  projects: () => ({ ...EMPTY, projects: [...RECENT] }),
  'projects-none': () => ({ ...EMPTY }),
  'projects-home': () => ({ ...EMPTY, projects: [...RECENT], question: '/home/ines' }),
  'projects-problem': () => ({ ...EMPTY, projects: [...RECENT], problem: GONE }),
};

/** Whether a row of the list is this project. */
export const isProject = (project: ProjectRef) => (one: RecentProject) =>
  shownProject(one.project) === shownProject(project);

export class FakeStart {
  view: StartView;
  /** What the page did, in order: `open /home/ines/ledger`, `choose`. */
  readonly done: string[] = [];
  emit: (event: WindowEvent) => void = () => {};

  constructor(view: StartView) {
    this.view = view;
  }

  open(project: ProjectRef): Promise<void> {
    this.done.push(`open ${shownProject(project)}`);
    const found = this.view.projects.find(isProject(project));
    return found?.folder === 'missing' ? Promise.reject(GONE) : Promise.resolve();
  }

  answer(open: boolean): void {
    this.done.push(open ? 'open the folder in question' : 'cancel');
    this.show({ ...this.view, question: null });
  }

  change(change: (projects: RecentProject[]) => RecentProject[]): void {
    const projects = change(this.view.projects).toSorted((a, b) => Number(b.pinned) - Number(a.pinned));
    this.show({ ...this.view, projects });
  }

  show(view: StartView): void {
    this.view = view;
    this.emit({ type: 'startChanged', start: structuredClone(view) });
  }
}
