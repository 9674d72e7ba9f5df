// The dialog that a project's window shows, and where the keyboard was before it.

import type { Desk } from '../actions/action';
import type { Asked } from '../../project/askAnother';
import type { ProjectState } from '../../project/project.svelte';

export type DialogName = Parameters<Desk['show']>[0];

export class Dialogs {
  shown = $state<DialogName | null>(null);
  /** The settings stay open below a dialog that they opened. */
  #hasSettingsBelow = $state(false);
  /** The query that the palette begins with, or the part of the changes page that has the keyboard first. */
  begin = $state('');
  /** The file that the changes page begins with. */
  changedFile = $state<string | null>(null);
  /** The prompt that another agent is to be asked. */
  askedPrompt = $state<string | null>(null);
  /** The prompt that waits in the window of the next worktree. */
  askedInWorktree = $state.raw<Asked | null>(null);
  /** The element that had the focus when a dialog was opened. */
  #before: Element | null = null;

  constructor(private readonly project: ProjectState) {}

  show(which: DialogName, query = ''): void {
    if (this.shown === null) this.#before = document.activeElement;
    this.#hasSettingsBelow = this.hasSettings && (which === 'keys' || which === 'doctor');
    this.shown = which;
    this.askedInWorktree = null;
    if (which === 'changes') {
      this.changedFile = null;
      void this.project.changes.working.refresh();
    }
    this.begin = query;
    if (which !== 'palette') return;
    // The entries appear when they are there; the palette does not wait for a disk.
    void this.project.loadRecent();
  }

  /** Shows the changes of the working tree, beginning with a file. */
  showChanges(file: string | null): void {
    this.show('changes');
    this.changedFile = file;
  }

  /** Shows the agents that a prompt can be given to. */
  askAnother(promptId: string): void {
    this.show('askAnother');
    this.askedPrompt = promptId;
  }

  /** Asks for the name of a worktree whose window is given a prompt. */
  askInWorktree(asked: Asked): void {
    this.show('newWorktree');
    this.askedInWorktree = asked;
  }

  /** The settings are shown, or are below another dialog. */
  get hasSettings(): boolean {
    return this.shown === 'settings' || this.#hasSettingsBelow;
  }

  close(): void {
    this.shown = this.#hasSettingsBelow ? 'settings' : null;
    this.#hasSettingsBelow = false;
  }

  /** Where the keyboard is. After the palette was closed: where it was before. */
  keyboardPlace(): Element | null {
    return document.activeElement === document.body ? this.#before : document.activeElement;
  }
}
