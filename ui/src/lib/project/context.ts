// The Svelte context that passes the state of a project down the component tree.

import { createContext } from 'svelte';

import { setSurroundings } from '../kit/surroundings';
import { setSessionProject } from '../session/context';
import type { ProjectState } from './project.svelte';

const [getProject, provideProject] = createContext<ProjectState>();

export { getProject };

/** Gives a project to the components below: to those of a session, and to controls, as much of it as they use. */
export function setProject(project: ProjectState): ProjectState {
  setSurroundings({
    writeClipboard: (text) => project.app.writeClipboard(text),
    openLink: (url) => project.app.openLink(url),
    reportPageError: (place, error) => project.app.reportPageError(place, error),
    coverCards: () => project.coverCards(),
  });
  setSessionProject(project);
  return provideProject(project);
}
