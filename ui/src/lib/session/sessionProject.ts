// The project of a session, as panes and their components use it.

import type {
  AgentKind,
  FoundFiles,
  Profile,
  ProjectView,
  Session,
  SessionId,
  SettingsView,
  StoredSession,
} from '../bindings/api';
import type { AgentCheck } from './agentCheck.svelte';
import type { AppActions } from './appActions';
import type { Drafts } from './drafts.svelte';
import type { FileLinks } from './fileLinks.svelte';
import type { Pane } from './pane.svelte';
import type { Problems } from './problems.svelte';
import type { Recordings } from './recording.svelte';
import type { SentFiles } from './sentFiles.svelte';
import type { SessionActions } from './sessionActions';
import type { SessionState } from './session.svelte';
import type { Row } from './sessionRows';

/** Starts the agent of a session before a prompt is sent. */
interface Starts {
  /** With permission checks off, this time only. */
  withoutAsking(open: SessionState): Promise<void>;
  /** As the user begins to write in an empty session. */
  asUserWrites(open: SessionState): Promise<void>;
}

/** New sessions of the project. */
interface Creates {
  /** A session is about to open. */
  readonly isPending: boolean;
  /** The session that is about to open; `null` if there is none. */
  pending(): Promise<SessionState | null>;
  create(agent: AgentKind | null): Promise<SessionState | null>;
}

/** The result of an action. */
export interface DoneAction {
  /** “Exported to …”, “Saved: Bash(npm run *) — you, in this project” */
  text: string;
  /** Undoes it; `null` if that is not possible. */
  undo: (() => void) | null;
}

export interface SessionProject {
  readonly project: ProjectView;
  readonly problems: Problems;
  readonly recordings: Recordings;
  readonly app: AppActions;
  readonly acts: SessionActions;
  /** What was attached to the prompts of this window. */
  readonly sentFiles: SentFiles;
  readonly settings: SettingsView;
  readonly profiles: readonly Profile[];
  readonly sessions: readonly Session[];
  readonly rows: readonly Row[];
  /** Takes a newer state of a session. */
  readonly list: { take(session: Session): void };
  readonly drafts: Drafts;
  readonly fileLinks: FileLinks;
  readonly agentCheck: AgentCheck;
  /** The sessions in the agent's own store. */
  readonly stored: { readonly all: ReadonlyMap<string, StoredSession> };
  readonly start: Starts;
  readonly creation: Creates;
  readonly trust: { review(session: Session): Promise<void> };
  /** Why nothing that needs files of this computer is available, as a sentence; `null` if it is. */
  readonly notHere: string | null;
  /** The pane with the focus. */
  readonly pane: Pane;
  /** The pane that files are being dragged over. */
  readonly dragging: Pane | null;
  /** The result of the last action, until it is dismissed. */
  done: DoneAction | null;
  /** The files that match a partly typed name, or why there is no list; `null` if the search failed, which is reported. */
  findFiles(query: string): Promise<FoundFiles | string | null>;
  openRow(row: Row): Promise<void>;
  /** Opens a copy of a session, up to its end or before a prompt. */
  forkSession(before: string | null, id: SessionId): Promise<void>;
  /** Puts the text of a rewound prompt into the prompt box, before what is there. */
  returnPrompt(id: SessionId, text: string): void;
}
