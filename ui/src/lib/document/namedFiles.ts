// Files that a text can name: those in its session's folder.

import { createContext } from 'svelte';

export interface NamedFiles {
  /** Whose folder it is; `null` without a session. */
  readonly session: string | null;
  /** Files may appear and disappear now. */
  readonly isChanging: boolean;
  /** The file that a path names; `null` if there is none, or as long as it is not known. */
  found(path: string): string | null;
  /** Looks for the file, unless it was found before. */
  look(path: string): void;
  /** Shows a file. */
  show(file: string, line: number | null): void;
  /** Opens a file in the user's editor. */
  edit(file: string, line: number | null): void;
}

export const [getNamedFiles, setNamedFiles] = createContext<NamedFiles>();
