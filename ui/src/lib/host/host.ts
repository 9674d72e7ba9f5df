// The interface between the page and the program around it. Components use nothing else of that program, so they run in
// any browser.

import type {
  BellTest,
  Profile,
  Against,
  MachineAgents,
  AgentKind,
  Attachment,
  Dropped,
  Batch,
  BoardAnswer,
  BoardConnection,
  Checkup,
  Command,
  CommandError,
  CommitBoxState,
  CommitRequest,
  Committed,
  Connection,
  ExportFormat,
  FolderListing,
  MachineAnswer,
  MenuEntry,
  ForkedSession,
  FoundFiles,
  HunkPlace,
  ItemId,
  JsonValue,
  NamedDraft,
  Preset,
  Readiness,
  ProjectRef,
  RecentProject,
  RequestId,
  Reverted,
  RuleFileList,
  RulePlace,
  Session,
  SessionId,
  SessionAnswers,
  SessionMark,
  SessionQuery,
  SidePanels,
  Snapshot,
  StartConnection,
  RecordingState,
  TrustDecision,
  UndoneCommit,
  UsageView,
  Viewport,
  WindowEvent,
  WorktreePlan,
  WorktreeRemoval,
  WorktreeView,
  ZoomStep,
} from '../bindings/api';

/** The program around the window. Every failing call rejects with a `CommandError`. */
/** A change to revert: of a file, or of a part of it, as its diff with this version showed it. */
export interface RevertedChange {
  path: string;
  /** The earlier name of a renamed file. */
  oldPath: string | null;
  version: string;
  hunk: HunkPlace | null;
}

/** What a new session has: an agent by its id, or a profile of the settings by its name. */
export type AgentOrProfile = { agent: string } | { profile: string };

export interface Host {
  /** What the window shows: a project, the start page or the board. */
  readonly page: 'project' | 'start' | 'board';
  /** The system has one menu bar for all windows. */
  readonly hasMenuBar: boolean;
  /** Returns the initial state of a start page. */
  connectStart(): Promise<StartConnection>;
  /** Returns the initial state of a board. */
  connectBoard(): Promise<BoardConnection>;
  /** Returns the initial state of a project's window. */
  connect(): Promise<Connection>;
  /**
   * Receives all events for this window. Resolves once no event can be missed; the resolved function stops listening.
   * `lost` reports an event that could not be received, which happens only if the program is in trouble.
   */
  listen(event: string, heard: (event: WindowEvent) => void, lost: (reason: unknown) => void): Promise<() => void>;
  /**
   * Shows the menu of this window in the menu bar of the system while the window is in front. Resolves to whether the
   * system has such a bar; a chosen entry is an event.
   */
  setMenu(menu: readonly MenuEntry[]): Promise<boolean>;
  /**
   * Creates a session. `withoutAsking` turns permission checks off; set it only if the user chose that for this
   * session.
   */
  createSession(agent: AgentKind | null, withoutAsking: boolean): Promise<Session>;
  /** Returns the session that `createSession(null, false)` would create; `null` if that is not known. Creates nothing. */
  plannedSession(): Promise<Session | null>;
  /**
   * Returns the agents that a session can have instead of Claude Code, each with what was found of it, and the profiles,
   * on the machine of the project.
   */
  machineAgents(): Promise<MachineAgents>;
  /** Creates a session with the agent of this id. */
  createSessionWith(agent: string): Promise<Session>;
  /** Creates a session with the profile of this name. */
  createSessionWithProfile(profile: string): Promise<Session>;
  /** Shows the trust page of the agent of this session. */
  reviewAgentTrust(sessionId: SessionId): Promise<void>;
  /** Tries to connect to the server of this session now, instead of at the next attempt. */
  retryLink(sessionId: SessionId): Promise<void>;
  /**
   * Starts the agent of a session that has none, with permission checks off. Call it only if the user chose that for
   * this start.
   */
  startWithoutAsking(sessionId: SessionId): Promise<void>;
  /**
   * Returns a snapshot of the session with the requested rows. From then on its batches go to this window. A long thought
   * among the `unfolded` items has a row for each of its slices, and a call those of its subagent's items.
   */
  subscribe(sessionId: SessionId, show: Viewport, unfolded: readonly ItemId[]): Promise<Snapshot>;
  /** As `subscribe`, for a second session that is shown beside the open one. */
  subscribeSecond(sessionId: SessionId, show: Viewport, unfolded: readonly ItemId[]): Promise<Snapshot>;
  /** Ends the batches of the session that is beside the open one. */
  leaveSecond(): Promise<void>;
  /** Brings up the window that shows this session: its own, or that of the project. */
  showSession(sessionId: SessionId): Promise<void>;
  /** Gives a session a window of its own, or puts it back into the window of the project. */
  placeSession(sessionId: SessionId, inOwnWindow: boolean): Promise<void>;
  /** Requests other rows of that session; rows that enter the range arrive with a batch. */
  showRows(sessionId: SessionId, show: Viewport): Promise<void>;
  /** Records a session from now on, without secrets. */
  recordSession(sessionId: SessionId): Promise<RecordingState>;
  /** Stops the recording of a session. Returns what became of it, or `null` if there was none. */
  stopRecording(sessionId: SessionId): Promise<RecordingState | null>;
  /** Returns the recording of a session that runs, or that a problem ended, or `null`. */
  recordingOf(sessionId: SessionId): Promise<RecordingState | null>;
  /** Shows a recording of a session in the file manager. */
  revealRecording(sessionId: SessionId, path: string): Promise<void>;
  /** Removes a recording of this session. */
  removeRecording(sessionId: SessionId, path: string): Promise<void>;
  /** Answers a query about a session, which changes nothing. The type of its answer is in `SessionAnswers`. */
  ask<Asked extends SessionQuery>(sessionId: SessionId, query: Asked): Promise<SessionAnswers[Asked['type']]>;
  command(sessionId: SessionId, command: Command): Promise<void>;
  /**
   * Takes the events of a shown session that wait for the page, which has everything up to event `after`. Resolves to
   * `null` if there are none; the next one is then announced with an event.
   */
  nextBatch(sessionId: SessionId, after: number): Promise<Batch | null>;
  removeSession(sessionId: SessionId): Promise<void>;
  /** Brings back a session that was removed since the app started. Waits until its agent has ended. */
  restoreSession(sessionId: SessionId, agentSessionId: string | null): Promise<Session>;
  /** Sends all sessions in the agent's store to this window as events, and then each change. */
  followStored(): Promise<void>;
  /** Returns the session that shows a conversation of the agent's store. Starts nothing. */
  openStored(agentSessionId: string): Promise<Session>;
  /** Pins or archives a session by the agent's id, or by its own; `null` removes its mark. */
  markSession(id: string, mark: SessionMark | null): Promise<void>;
  /** Opens the user's terminal with the agent in the session's conversation. */
  openTerminal(sessionId: SessionId): Promise<void>;
  /** Returns a new session that begins as a copy of this one, up to its end or before one of its prompts. */
  forkSession(sessionId: SessionId, before: ItemId | null): Promise<ForkedSession>;
  /**
   * Asks the user for a file with the system's chooser, and exports the session to it. Resolves to its path; `null` if
   * the user chose none.
   */
  exportSession(sessionId: SessionId, format: ExportFormat): Promise<string | null>;
  /** Returns what the sessions of the project, or of all projects, cost. */
  usage(all: boolean): Promise<UsageView>;
  /** Makes a file, or a part of it, what it was. Refuses if the file has changed since it was shown. */
  revertChange(sessionId: SessionId, against: Against, change: RevertedChange): Promise<Reverted>;
  /** Undoes a revert. Refuses if a file has changed since. */
  undoRevert(at: number): Promise<void>;
  /** Returns the settings files that may have permission rules for a session. */
  ruleFiles(sessionId: SessionId): Promise<RuleFileList>;
  /** Returns the places of the rules that the agent saved with an answer, once it has; none if it saves none in the folder. */
  savedRules(sessionId: SessionId, requestId: RequestId): Promise<RulePlace[]>;
  /** Removes a rule from its file. Running agents ask from the next call on. Returns the number for its undo. */
  removeRule(sessionId: SessionId, place: RulePlace): Promise<number>;
  /** Puts a removed rule back. */
  restoreRule(removal: number): Promise<void>;
  /** Returns what a commit of the user would begin with. */
  commitState(): Promise<CommitBoxState>;
  /**
   * Makes a commit. The output of hooks arrives as events. A restricted folder asks in a dialog before programs run, unless
   * `withoutPrograms` leaves them out.
   */
  commit(request: CommitRequest, withoutPrograms: boolean): Promise<Committed>;
  /** Stops the commit that is being made. */
  stopCommit(): Promise<void>;
  /** Undoes the last commit, if Deskbell made it and it is on no remote branch. */
  undoCommit(): Promise<UndoneCommit>;
  /** Returns the worktrees of the project's repository, the main one first. */
  worktrees(): Promise<WorktreeView[]>;
  /** Returns the worktree that `addWorktree` would create for this branch. Rejects if there can be none. */
  planWorktree(branch: string): Promise<WorktreePlan>;
  /** Creates a worktree for a branch, and opens it in its own window. The draft appears there; nothing is sent. */
  addWorktree(branch: string, draft: NamedDraft | null): Promise<void>;
  /** Opens a worktree in its own window, or brings that up. */
  openWorktree(path: string): Promise<void>;
  /** Returns why a worktree would be kept, or else what would be lost with it. Removes nothing. */
  reviewWorktree(path: string): Promise<WorktreeRemoval>;
  /**
   * Removes a worktree, unless something in it is nowhere else or it is in use. Set `withIgnored` only if the user was
   * shown the files that git ignores.
   */
  removeWorktree(path: string, withIgnored: boolean): Promise<void>;
  /** Asks the user for a file, and exports those costs as CSV. Resolves to its path; `null` if the user chose none. */
  exportUsage(all: boolean): Promise<string | null>;
  /**
   * Searches the sessions of the project, or of all projects, and ends the last search. Results arrive as `searched`
   * events with this number: the newest ones, or all if `toTheEnd`. Resolves to the reason if there is nothing to search
   * for.
   */
  searchSessions(
    nr: number,
    query: string,
    all: boolean,
    toTheEnd: boolean,
    utcOffsetMinutes: number,
  ): Promise<string | null>;
  stopSearch(): Promise<void>;
  /** Opens a session that the search found, in the window of its project, at an item if one is given. */
  openFound(agentSessionId: string, itemId: ItemId | null): Promise<void>;
  /** Opens the session that sent the message in this item, in the window of its project. */
  openSender(sessionId: SessionId, itemId: ItemId): Promise<void>;
  /** Returns the row of an item; `null` if the part of the transcript that was read so far does not have it. */
  locateItem(sessionId: SessionId, itemId: ItemId): Promise<number | null>;
  /** Opens the board of all projects, or brings it up. */
  openBoard(): Promise<void>;
  /** Opens a session of the board in the window of its project. */
  openBoardSession(sessionId: SessionId): Promise<void>;
  /** Brings up the window of the other project that has waited longest, at its request. */
  showWaiting(): Promise<void>;
  /**
   * Answers the request of a session that its row of the board showed, if the board may answer it so. Rejects with
   * `noSuchRequest` if it is over.
   */
  answerBoardRequest(sessionId: SessionId, requestId: RequestId, shown: string, answer: BoardAnswer): Promise<void>;
  /** Removes the rows of these sessions from the board, where they are over. The sessions stay. */
  clearBoardRows(sessionIds: SessionId[]): Promise<void>;
  /** Shows cleared rows of the board again. */
  restoreBoardRows(sessionIds: SessionId[]): Promise<void>;
  /** Stops the agents of these sessions of the board. Rejects if one was not stopped. */
  stopBoardSessions(sessionIds: SessionId[]): Promise<void>;
  /** Asks a machine once which sessions run there. ssh may ask something first. Rejects if it cannot be reached. */
  machineSessions(machine: string): Promise<MachineAnswer>;
  /** Opens a session that a machine listed, in the window of its project. */
  openMachineSession(machine: string, project: string, sessionId: SessionId): Promise<void>;
  /** Stops the agents of all sessions on a machine. */
  stopMachine(machine: string): Promise<void>;
  /** Makes the window's content larger or smaller, for this project only; `usual` is the size of the settings. */
  zoomWindow(step: ZoomStep): Promise<void>;
  /** Remembers the panels for the project's next window. */
  keepPanels(panels: SidePanels): Promise<void>;
  /** Chooses whether new sessions of this project keep running when Deskbell closes; `null` follows the setting. */
  setKeepRunning(keep: boolean | null): Promise<void>;
  /** Changes one setting in the settings file; `null` is its default. The settings then arrive as an event. */
  setSetting(key: string, value: JsonValue): Promise<void>;
  /** Replaces the presets in the settings file. The settings then arrive as an event. */
  setPresets(presets: Preset[]): Promise<void>;
  /**
   * Adds a profile to the settings file (`was` is `null`), changes the one with this name, or removes it (`profile` is
   * `null`). The settings then arrive as an event.
   */
  changeProfile(was: string | null, profile: Profile | null): Promise<void>;
  /** Ends the app, after one question if any session has work. */
  quit(): Promise<void>;
  /** Shows a notification of each kind. Resolves to those that the desktop accepted and those that it did not. */
  testBell(): Promise<BellTest[]>;
  /** Opens the settings file in the desktop's editor. */
  openSettingsFile(): Promise<void>;
  /**
   * Stores the trust decision for the folder. Trusting it requires the fingerprint of the settings that were shown.
   * `agent` is the id of the agent that was asked about; `null` is Claude Code.
   */
  decideTrust(
    decision: TrustDecision,
    fingerprint: string | null,
    agent: string | null,
    load: readonly string[],
  ): Promise<void>;
  /** Checks the agent: its version, and whether it asks before acting. Takes some seconds. */
  checkAgent(): Promise<Checkup>;
  /** The last lines of Deskbell's log, without keys, tokens and names, headed for a bug report. */
  lastLogLines(): Promise<string>;
  /** Checks whether the agent of new sessions can work, and otherwise returns the first obstacle. */
  checkReadiness(): Promise<Readiness>;
  /** Opens the user's terminal with the login of Claude Code, or of a session's agent. */
  openLogin(sessionId: SessionId | null): Promise<void>;
  /** Asks the user for the agent's program with the system's chooser, and stores it. Resolves to whether one was chosen. */
  chooseAgent(): Promise<boolean>;
  /** Returns the project files that match the text typed after an `@`. */
  findFiles(query: string): Promise<FoundFiles>;
  /**
   * Returns the file as an attachment, with the type found in its bytes; rejects if it cannot be sent with a prompt. `data` is base64.
   */
  checkAttachment(name: string, data: string): Promise<Attachment>;
  /**
   * Returns the image on the clipboard if the page cannot read it itself; `null` if there is no image or the page can.
   */
  clipboardImage(): Promise<Attachment | null>;
  /** Returns files on the clipboard, as if they had been dropped, if the page cannot read them itself. */
  clipboardFiles(): Promise<Dropped[]>;
  /** Ends these processes, as far as they are left over from an earlier run and still the same processes. */
  endOrphans(pids: number[]): Promise<void>;
  /** Leaves the processes of an earlier run alone; they are not reported again. */
  leaveOrphans(): Promise<void>;
  /** Writes an error of the page to the program's log. `place` names the part of the page. */
  reportPageError(place: string, error: string): Promise<void>;
  /** Reports the permission requests with a visible card in this window. They need no native dialog. */
  cardsInSight(sessionId: SessionId, requestIds: RequestId[]): Promise<void>;
  /** Returns the text that a second start named as a prompt, once; `null` if there is none. */
  takeDraft(): Promise<NamedDraft | null>;
  /** Returns the projects that were opened earlier: pinned ones first, then the most recently used. */
  recentProjects(): Promise<RecentProject[]>;
  /** Asks the user for a folder with the system's chooser, and opens it as a project. */
  chooseFolder(): Promise<void>;
  /** Returns the hosts of the user's ssh configuration. */
  sshHosts(): Promise<string[]>;
  /** Returns the folders in a folder of another machine; an empty name is the home folder. May take minutes. */
  farFolders(machine: string, folder: string): Promise<FolderListing>;
  /** Opens a folder of another machine as a project. */
  openFar(machine: string, folder: string): Promise<void>;
  /** Answers what a connection of this window asked; `null` ends the connection. The answer is kept nowhere. */
  answerConnection(id: string, answer: string | null): Promise<void>;
  /** Asks the machine of this window's project, if that is not under way. What is known arrives as events. */
  retryFar(): Promise<void>;
  /** Opens a project that was opened earlier, or brings up its window. */
  openRecent(project: ProjectRef): Promise<void>;
  /** Answers the start page's question about a folder. */
  answerFolderQuestion(open: boolean): Promise<void>;
  /** Opens the demo in a folder of its own. */
  openDemo(): Promise<void>;
  /** Opens the start page, or brings it up. */
  openStartPage(): Promise<void>;
  pinProject(project: ProjectRef, pinned: boolean): Promise<void>;
  /** Removes a project from the list. The folder and its sessions stay. */
  forgetProject(project: ProjectRef): Promise<void>;
  /** Asks with the system's chooser where the folder of a project is now, takes its sessions there, and opens it. */
  moveProject(project: ProjectRef): Promise<void>;
  /** Removes all projects from the list that are not pinned. */
  forgetAllProjects(): Promise<void>;
  /** Opens a web page in the desktop's browser. */
  openLink(url: string): Promise<void>;
  /** Shows a project file in the desktop's file manager; files outside the project are refused. */
  revealPath(path: string): Promise<void>;
  /** Opens a project file in the user's editor, at a line counted from 1; files outside the project are refused. */
  openInEditor(path: string, line: number | null): Promise<void>;
  /** Writes a text to the clipboard, at once or when the promise resolves. */
  writeClipboard(text: string | Promise<string>): Promise<void>;
}

/**
 * Writes to the page's clipboard. A pending text is passed as a promise, because the write has to start during a click.
 */
export async function writeClipboard(text: string | Promise<string>): Promise<void> {
  if (typeof text === 'string') return navigator.clipboard.writeText(text);
  // If getting the text failed, that error is more precise than the clipboard's.
  const blob = text.then((whole) => new Blob([whole], { type: 'text/plain' }));
  try {
    await navigator.clipboard.write([new ClipboardItem({ 'text/plain': blob })]);
  } catch (reason) {
    await text;
    throw reason;
  }
}

/** The maximum length of one logged error, in characters. */
const MAX_LOGGED = 4_000;

/**
 * Formats an error of the page for the log: its name, message and stack frames. The message of a syntax error quotes
 * the parsed text, so it is left out.
 */
export function loggedError(error: unknown): string {
  if (!(error instanceof Error)) return `a thrown ${typeof error}`;
  const message = error instanceof SyntaxError ? '' : `: ${error.message}`;
  const frames = (error.stack ?? '').split('\n').filter((line) => /^\s+at |@/.test(line));
  return [`${error.name}${message}`, ...frames].join('\n').slice(0, MAX_LOGGED);
}

/** Converts any rejection reason into an error that can be shown. */
export function asCommandError(reason: unknown): CommandError {
  if (isCommandError(reason)) return reason;
  const message = reason instanceof Error ? reason.message : String(reason);
  return { code: 'internal', message, detail: null };
}

function isCommandError(reason: unknown): reason is CommandError {
  return typeof reason === 'object' && reason !== null && 'code' in reason && 'message' in reason;
}

/** The answer about a text, which rejects if the text is gone. */
export function existing<Answer>(answer: Answer | null): Answer {
  if (answer === null) throw new Error('The text no longer exists.');
  return answer;
}
