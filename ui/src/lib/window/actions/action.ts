// An action of a project's window: its words, its keys, where it can be used and what it does.

import type { Session, ZoomStep } from '../../bindings/api';
import type { Part } from '../parts';
import type { Row } from '../../session/sessionRows';
import type { ItemState } from '../../session/item.svelte';
import type { Pane } from '../../session/pane.svelte';
import type { ProjectState } from '../../project/project.svelte';

/** The answers to a request that have a key. */
export type Answer = 'allow' | 'always-allow' | 'deny';

/** The parts of the window that actions use. */
export interface Desk {
  readonly project: ProjectState;
  /** The pane whose session actions are applied to. */
  readonly pane: Pane;
  /** The open session changed files or has tasks. */
  readonly hasSide: boolean;
  /** Why no session can be shown: another page is in its place. */
  readonly covered: string | null;
  newSession(agent: 'demo' | null): void;
  /** Shows the agents that a prompt of the open session can be given to. */
  askAnother(promptId: string): void;
  openRow(row: Row): void;
  toggleSessions(): void;
  toggleSide(): void;
  /** Shows a dialog. The palette can begin with a query, and `changes` with the message of a `commit`. */
  show(
    dialog:
      | 'settings'
      | 'palette'
      | 'search'
      | 'help'
      | 'doctor'
      | 'usage'
      | 'changes'
      | 'keys'
      | 'agents'
      | 'askAnother'
      | 'worktrees'
      | 'newWorktree'
      | 'far'
      | 'lines',
    query?: string,
  ): void;
  /** Opens the window's menu. */
  showMenu(): void;
  showTrust(): void;
  showRules(): void;
  /** Shows what the agent of the open session is started with. */
  showOptions(): void;
  showContext(): void;
  /** Shows the side questions of the open session, with the box for a new one. */
  askAside(): void;
  /** Shows the servers, hooks, skills and other parts of what is configured for the agent. */
  showConfiguration(): void;
  /** Asks before the agent starts with permission checks off. */
  confirmWithoutAsking(): void;
  /** Shows what a rewind to a prompt would change, and asks. */
  rewind(promptId: string): void;
  undoRewind(): void;
  /** Asks before the session is removed. */
  confirmRemove(sessions: readonly Session[]): void;
  /** Edits the title of the open session. */
  rename(): void;
  find(): void;
  focusPrompt(): void;
  pasteImage(): void;
  goTo(part: Part): void;
  stepPart(by: 1 | -1): void;
  /** Opens the session above or below the open one in the list. */
  stepSession(by: 1 | -1): void;
  /** Shows the request that waits, wherever it is. */
  showRequest(): void;
  /** Presses a button of the request that waits, if it is armed. Otherwise the request gets the focus. */
  answer(answer: Answer): void;
  zoom(step: ZoomStep): void;
}

/** What an action is applied to. Outside a context menu: the open session and its last message. */
export interface Target {
  row: Row | null;
  item: ItemState | null;
  /** The path of a changed file. */
  file: string | null;
}

/** One of the choices of an action: a model, a theme. */
export interface Choice {
  id: string;
  label: string;
  detail?: string;
  isCurrent?: boolean;
  run: () => void;
}

export const GROUPS = ['Requests', 'Turn', 'Session', 'Message', 'File', 'Agent', 'Window', 'Deskbell'] as const;

export interface Action {
  /** Unique; recent actions are saved by it. */
  readonly id: string;
  readonly group: (typeof GROUPS)[number];
  /** In the palette and the help. */
  readonly label: string;
  /** In the menu of its target, where the label need not name it. */
  readonly inMenu?: string;
  /** The label as things are, for an action that undoes itself: “Unpin this session”. */
  readonly labelNow?: (desk: Desk, on: Target, inMenu: boolean) => string;
  /** The chords that trigger it, the one to show first. */
  readonly keys?: readonly string[];
  /** The chords on macOS, where they differ. */
  readonly macKeys?: readonly string[];
  /** The element that has the focus handles the keys: the prompt box, a card. */
  readonly isLocal?: true;
  /** Its menu: of a session, of a message or of a changed file. */
  readonly menu?: 'session' | 'message' | 'file';
  readonly isDanger?: true;
  /** Its choices are sessions. The palette lists them after the sessions themselves. */
  readonly choosesSession?: true;
  /** It is not in the palette, where Enter would trigger it. */
  readonly isKeyOnly?: true;
  /** It does not apply at all: no menu shows it. */
  readonly isAbsent?: (desk: Desk, on: Target) => boolean;
  /** Why it is not available now, as a sentence; `null` if it is. */
  readonly off?: (desk: Desk, on: Target) => string | null;
  readonly does:
    | { run: (desk: Desk, on: Target) => void }
    /** The palette offers each choice. Its keys open the palette with them. */
    | { choices: (desk: Desk, on: Target) => readonly Choice[] };
}
