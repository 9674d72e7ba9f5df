// The list of projects: its filter, and what a row says about its project.

import type { RecentProject } from '../../bindings/api';
import { shownProject } from '../../text/project';

/** The projects that match every word of `query`, in their order. */
export function matching(projects: readonly RecentProject[], query: string): RecentProject[] {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return projects.filter((project) => {
    const { branch, worktreeOf } = project.checkout;
    const path = shownProject(project.project);
    const text = [project.name, path, project.place, branch, worktreeOf].join(' ').toLowerCase();
    return words.every((word) => text.includes(word));
  });
}

/** What happens in a project, most urgent first; `null` if nothing does. */
export function activity(project: RecentProject): { look: 'waiting' | 'working' | 'plain'; words: string } | null {
  if (project.folder === 'missing') return { look: 'plain', words: 'Missing' };
  if (project.nWaiting > 0) {
    return { look: 'waiting', words: project.nWaiting === 1 ? 'Needs input' : `${project.nWaiting} need input` };
  }
  if (project.nWorking > 0) {
    return { look: 'working', words: project.nWorking === 1 ? 'Working' : `${project.nWorking} working` };
  }
  if (project.folder === 'silent') return { look: 'plain', words: 'Not responding' };
  return project.open ? { look: 'plain', words: 'Open' } : null;
}
