// The list of files that a session changed.

import type { ChangedFile as Changed } from '../../bindings/api';

export interface ChangedFile extends Changed {
  name: string;
  folder: string;
}

/** The files with name and folder separated, most recently changed first. */
export function changedFiles(files: readonly Changed[]): ChangedFile[] {
  return files
    .map((file) => {
      const slash = file.path.lastIndexOf('/');
      const folder = slash < 0 ? '' : file.path.slice(0, slash);
      return { ...file, name: file.path.slice(slash + 1), folder };
    })
    .reverse();
}
