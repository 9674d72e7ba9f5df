// The name of a project's folder, as it is shown.

import type { ProjectRef } from '../bindings/api';

/** The path of the folder, with the machine if it is another one. Differs from that of every other project. */
export function shownProject(project: ProjectRef): string {
  return typeof project === 'string' ? project : `${project.machine}:${project.folder}`;
}
