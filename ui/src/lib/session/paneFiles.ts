// Files that the texts of a pane can name.

import type { NamedFiles } from '../document/namedFiles';
import { isTurnRunning } from '../text/status';
import type { Pane } from './pane.svelte';

export class PaneFiles implements NamedFiles {
  constructor(private readonly pane: Pane) {}

  get session(): string | null {
    return this.pane.id;
  }

  /** A turn may write files. */
  get isChanging(): boolean {
    const { state } = this.pane;
    return state !== null && isTurnRunning(state.session.status);
  }

  found(path: string): string | null {
    const { id, project } = this.pane;
    return id === null ? null : project.fileLinks.found(id, path);
  }

  look(path: string): void {
    const { id, project } = this.pane;
    if (id !== null) project.fileLinks.look(id, path);
  }

  show(file: string, line: number | null): void {
    const { id, project } = this.pane;
    if (id !== null) project.fileLinks.show({ session: id, path: file, line });
  }

  edit(file: string, line: number | null): void {
    void this.pane.project.app.openInEditor(file, line);
  }
}
