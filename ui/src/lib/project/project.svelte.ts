// The state of a window: its project, the project's sessions, and the open session.

import type {
  AgentView,
  Command,
  Connection,
  ExportFormat,
  FoundFiles,
  ItemId,
  PagePoint,
  Profile,
  ProjectView,
  RecentProject,
  RequestId,
  Session,
  SessionId,
  SessionMark,
  SettingsView,
  SidePanels,
  WindowEvent,
} from '../bindings/api';
import { asCommandError, type Host } from '../host/host';
import { SearchState } from './search.svelte';
import { SessionCreation } from './creation.svelte';
import { AgentStart } from './agentStart';
import { Removals } from './removals.svelte';
import type { DoneAction } from '../session/sessionProject';
import { rowId, type Row } from '../session/sessionRows';
import { SessionList } from './sessionList.svelte';
import { SessionChanges } from '../session/changes.svelte';
import { machinesOf, type Machines } from './machines';
import { ConnectionQuestions } from './connectionQuestions.svelte';
import { StoredSessions } from './stored.svelte';
import { TrustQuestions } from './trustQuestions.svelte';
import { Worktrees } from './worktrees.svelte';
import { MenuBar } from './menuBar.svelte';
import { shownProject } from '../text/project';
import { takeNamed } from './askAnother';
import { AgentCheck } from '../session/agentCheck.svelte';
import { Drafts } from '../session/drafts.svelte';
import { FileLinks } from '../session/fileLinks.svelte';
import { Pane, type PanePlace } from '../session/pane.svelte';
import { reuse } from '../session/reuse';
import { SessionState } from '../session/session.svelte';
import { AppActions } from '../session/appActions';
import { Problems } from '../session/problems.svelte';
import { Recordings } from '../session/recording.svelte';
import { SentFiles } from '../session/sentFiles.svelte';
import { SessionActions } from '../session/sessionActions';

/** Conversations kept in memory in addition to the open one, so that returning to them is instant. */
const KEPT = 4;

export class ProjectState {
  readonly problems = new Problems();
  readonly recordings: Recordings;
  readonly app: AppActions;
  readonly acts: SessionActions;
  /** What was attached to the prompts of this window. */
  readonly sentFiles = new SentFiles();
  /** The files that texts name. */
  readonly fileLinks: FileLinks;
  /** The changes of the open session. */
  readonly changes: SessionChanges;
  /** New sessions. */
  readonly creation: SessionCreation;
  /** The two places for sessions, side by side. The second one may be empty. */
  readonly panes: readonly [Pane, Pane];
  /** The pane with the focus. Keys, menus and the palette act on its session. */
  pane = $state.raw<Pane>() as Pane;
  /** The trust decisions. */
  readonly trust: TrustQuestions;
  /** The sessions that were removed in this window. */
  readonly removals = new Removals();
  /** Other machines, for the dialog that opens a folder there. */
  readonly machines: Machines;
  /** The questions of their connections. */
  readonly questions: ConnectionQuestions;
  readonly menuBar: MenuBar;
  /** The worktrees of the project's repository. */
  readonly worktrees: Worktrees;
  /** The sessions in the agent's own store. */
  readonly stored: StoredSessions;
  /** The project's sessions. */
  readonly list: SessionList;
  project = $state.raw<ProjectView>() as ProjectView;
  settings = $state.raw<SettingsView>() as SettingsView;
  /** The request that the shell wants to be shown. */
  shownRequest = $state.raw<string | null>(null);
  /** The sessions of other projects that wait for the user, oldest first. */
  waiting = $state.raw<readonly string[]>([]);
  /** The item that is to be shown as soon as its session has it: a search result was opened. */
  shownItem = $state.raw<{ sessionId: SessionId; itemId: ItemId } | null>(null);
  /** Whether the agent of new sessions can work. */
  readonly agentCheck: AgentCheck;
  /** A removed session is being brought back. */
  restoring = $state(false);
  /** The result of the last action, until it is dismissed. */
  done = $state.raw<DoneAction | null>(null);
  /** Why a key had nothing to do, shown for a moment. */
  hint = $state.raw<{ words: string } | null>(null);
  /** The pane that files are being dragged over. */
  dragging = $state.raw<Pane | null>(null);
  /** Other projects that were opened earlier, once they were requested. */
  recent = $state.raw<readonly RecentProject[]>([]);
  /** The search in all sessions. */
  readonly search: SearchState;
  readonly drafts: Drafts;
  #kept = new Map<SessionId, SessionState>();
  /** Starting agents before a prompt. */
  readonly start: AgentStart;
  /** The panels as the project's last window left them. */
  readonly panels: SidePanels;
  /** The session whose own window this is. It shows no other one. `null`: the window of the project. */
  readonly ownSession: SessionId | null;
  /** The sessions that have windows of their own. The project's window does not show them. */
  ownWindows = $state.raw<ReadonlySet<SessionId>>(new Set());

  constructor(
    private readonly host: Host,
    { project, settings, waiting, panels, ownSession, ownWindows }: Connection,
    drafts = new Drafts(),
  ) {
    this.recordings = new Recordings(host, this.problems);
    this.app = new AppActions(host, this.problems);
    this.acts = new SessionActions(host, this.problems, project.path);
    this.panels = panels;
    this.ownSession = ownSession;
    this.ownWindows = new Set(ownWindows);
    const openId = () => this.open?.id ?? null;
    this.fileLinks = new FileLinks(host, this.problems);
    this.search = new SearchState(host);
    this.worktrees = new Worktrees(host);
    this.machines = machinesOf(host);
    this.questions = new ConnectionQuestions(host, this.problems);
    this.menuBar = new MenuBar(host, this.problems);
    const isDemo = () => this.project.agent.type === 'found' && this.project.agent.kind === 'demo';
    // The agent of another machine is found there when a session starts.
    const isUnchecked = () => this.project.machine !== null || isDemo();
    this.agentCheck = new AgentCheck(host, this.problems, isUnchecked, (agent) => this.#takeAgent(agent));
    this.stored = new StoredSessions(project.path);
    const isShown = (id: SessionId) => this.paneOf(id) !== null;
    this.list = new SessionList(this.stored, isShown);
    this.project = project;
    this.settings = settings;
    this.waiting = waiting;
    this.list.all = project.sessions;
    this.changes = new SessionChanges(host, this.problems, openId, () => this.project.machine !== null, project.path);
    this.trust = new TrustQuestions(host, this.problems, {
      project: () => this.project,
      profiles: () => this.profiles,
      begin: (wanted) => this.creation.createWith(wanted),
    });
    this.creation = new SessionCreation(host, this.problems, this.trust, async (session) => {
      this.list.take(session);
      this.drafts.begin(session.id, this.project.path);
      const opened = this.openSession(session.id);
      if (!this.drafts.of(session.id, this.project.path).empty) void this.pane.beginWriting();
      await opened;
      return this.open;
    });
    this.trust.begin();
    this.start = new AgentStart(host, this.problems, this.trust);
    this.drafts = drafts;
    const reportCards = (session: SessionId, requests: RequestId[]) => void this.#reportCards(session, requests);
    const paneIn = (place: PanePlace) => new Pane(host, this, place, reportCards);
    this.panes = [paneIn('first'), paneIn('second')];
    this.pane = this.panes[0];
  }

  /** Connects, starts listening, then requests the snapshot of the open session. In this order no event is missed. */
  static async start(host: Host, drafts?: Drafts): Promise<ProjectState> {
    const connection = await host.connect();
    const state = new ProjectState(host, connection, drafts);
    await host.listen(
      connection.event,
      (event) => state.hear(event),
      (reason) => state.miss(reason),
    );
    if (connection.project.machine !== null) void state.retryFar();
    void state.followStored();
    void state.agentCheck.check();
    const { open } = connection.project;
    if (open !== null) await state.openSession(open);
    // From the project's last window. Its pane is there at once, and the window does not wait for its content.
    if (connection.second !== null) void state.showBeside(connection.second);
    if (open !== null && connection.showItem !== null) state.#showItem(open, connection.showItem);
    if (connection.project.hasDraft) await state.#takeDraft();
    return state;
  }

  /** The session of the pane with the focus. */
  get open(): SessionState | null {
    return this.pane.state;
  }

  /** The pane without the focus. */
  get beside(): Pane {
    return this.panes[this.pane === this.panes[0] ? 1 : 0];
  }

  /** The pane that shows a session. */
  paneOf(id: SessionId): Pane | null {
    return this.panes.find((pane) => pane.id === id) ?? null;
  }

  /** Moves the focus to a pane, unless it shows nothing. */
  focus(pane: Pane): void {
    if (pane.state !== null) this.pane = pane;
  }

  /** Deskbell's own sessions. */
  get sessions(): readonly Session[] {
    return this.list.all;
  }

  /** The rows of the session list, newest first. */
  get rows(): readonly Row[] {
    return this.list.rows;
  }

  /** Sessions whose turn ended since the user last opened them. */
  get unread(): ReadonlySet<SessionId> {
    return this.list.unread;
  }

  hear(event: WindowEvent): void {
    this.questions.hear(event);
    this.menuBar.hear(event);
    this.recordings.hear(event);
    this.changes.commit?.hear(event);
    switch (event.type) {
      case 'batchReady':
        this.paneOf(event.sessionId)?.announce(event.sessionId);
        break;
      case 'sessionListed':
        this.list.take(event.session);
        break;
      case 'sessionRemoved':
        this.#forget(event.sessionId);
        break;
      case 'ownWindowsChanged':
        this.ownWindows = new Set(event.sessions);
        event.sessions.forEach((id) => this.#release(id));
        break;
      case 'storedChanged':
        this.stored.take(event.change).forEach((news) => this.list.markUnread(news));
        break;
      case 'marksChanged':
        this.stored.marks = new Map(event.marks.map(({ id, mark }) => [id, mark]));
        break;
      case 'show':
        this.shownRequest = event.requestId;
        void this.openSession(event.sessionId);
        if (event.itemId !== null) this.#showItem(event.sessionId, event.itemId);
        break;
      case 'searched':
        this.search.take(event.nr, event.change);
        break;
      case 'worktreesChanged':
        this.worktrees.usesChanged();
        break;
      case 'waitingChanged':
        this.waiting = event.waiting;
        break;
      case 'dragging':
        this.dragging = event.at === null ? null : this.#paneAt(event.at);
        break;
      case 'dropped':
        this.#paneAt(event.at).takeDropped(event.dropped);
        break;
      case 'failed':
        this.problems.report(event.what, event.error);
        break;
      case 'settingsChanged':
        this.#takeSettings(event.settings);
        break;
      case 'projectChanged':
        this.#takeProject(event.project);
        this.list.takeAll(event.project.sessions);
        if (event.project.hasDraft) void this.#takeDraft();
        break;
    }
  }

  /** An event was lost: reports that and reloads the sessions that are shown. */
  miss(reason: unknown): void {
    this.problems.report('This window missed an update', asCommandError(reason));
    this.panes.forEach((pane) => pane.reload());
  }

  #takeProject(project: ProjectView): void {
    const { agent, agentRefusals } = this.project;
    this.project = reuse(this.project, project);
    this.trust.follow(project, agentRefusals);
    if (project.agent.type === 'found') this.creation.missing = null;
    if (this.project.agent !== agent) void this.agentCheck.check();
  }

  #takeSettings(settings: SettingsView): void {
    const isOther = settings.settings.agent.program !== this.settings.settings.agent.program;
    this.settings = settings;
    if (isOther) void this.agentCheck.check();
  }

  #takeAgent(agent: AgentView): void {
    this.project = reuse(this.project, { ...this.project, agent });
    if (agent.type === 'found') this.creation.missing = null;
  }

  /** Shows a session in the pane with the focus. If the other pane shows it, that pane gets the focus. */
  async openSession(id: SessionId): Promise<void> {
    if (!this.#isHere(id)) {
      await this.problems.attempt('The session was not shown', () => this.host.showSession(id));
      return;
    }
    this.creation.missing = null;
    this.list.unread.delete(id);
    const shown = this.paneOf(id);
    if (shown !== null) return this.focus(shown);
    const facts = this.list.find(id);
    if (facts === undefined) {
      this.problems.report('The session was not opened', {
        code: 'noSuchSession',
        message: 'The session no longer exists.',
        detail: null,
      });
      return;
    }
    // The demo agent reads and runs nothing of the folder, so it needs no decision about the folder's trust.
    if (facts.agent === 'demo') this.trust.hide();
    await this.#show(this.pane, facts);
  }

  /** Is this window the place of the session? */
  #isHere(id: SessionId): boolean {
    return this.ownSession === null ? !this.ownWindows.has(id) : id === this.ownSession;
  }

  /** Gives a session a window of its own, or puts it back into the window of the project. */
  async place(id: SessionId, inOwnWindow: boolean): Promise<void> {
    const what = inOwnWindow ? 'The window was not opened' : 'The session was not put back';
    await this.problems.attempt(what, () => this.host.placeSession(id, inOwnWindow));
  }

  /** The open session; without one a new one. One that is being created, also with another agent, counts. */
  async opened(): Promise<SessionState | null> {
    if (this.open !== null) return this.open;
    return this.creation.isRunning ? this.creation.pending() : this.creation.create(null);
  }

  /** Sends a choice to the session of a pane. Without a session, one begins with this choice. */
  async choose(pane: Pane, command: Command, what: string): Promise<void> {
    const isBeginning = pane.state === null && !this.creation.isRunning;
    if (!isBeginning) {
      if ((await this.opened()) !== null) await pane.command(command, what);
      return;
    }
    const send = ({ id }: Session) => this.problems.attempt(what, () => this.host.command(id, command));
    await this.creation.create(null, false, send);
  }

  /** Shows a session beside the one with the focus. */
  async showBeside(id: SessionId): Promise<void> {
    const facts = this.list.find(id);
    if (facts === undefined || this.open === null || this.paneOf(id) !== null) return;
    if (!this.#isHere(id)) return this.openSession(id);
    this.list.unread.delete(id);
    await this.#show(this.beside, facts);
  }

  async #show(pane: Pane, facts: Session): Promise<void> {
    if (pane.state !== null) this.#keep(pane.state);
    await pane.show(this.#kept.get(facts.id) ?? new SessionState(facts));
  }

  /** Closes one of two panes. The session of the other pane is in the first place afterwards. */
  async closePane(pane: Pane): Promise<void> {
    const [first, second] = this.panes;
    if (first.state === null || second.state === null) return;
    const closed = pane.clear();
    if (closed !== null) this.#keep(closed);
    this.pane = first;
    if (pane === second) {
      await this.problems.attempt('The second session was not closed', () => this.host.leaveSecond());
      return;
    }
    const moved = second.clear();
    if (moved !== null) await first.show(moved);
  }

  /**
   * Opens the session of a row. A conversation of the agent's store becomes a session. Nothing is started, unless only
   * the agent has the messages.
   */
  async openRow(row: Row): Promise<void> {
    if (row.session !== null) return this.openSession(row.session.id);
    this.list.unread.delete(rowId(row));
    // Looking at a conversation runs nothing, so it needs no decision about the folder's trust.
    this.trust.hide();
    await this.problems.attempt('The session was not opened', async () => {
      const session = await this.host.openStored(row.stored.agentSessionId);
      this.list.take(session);
      await this.openSession(session.id);
      if (row.stored.agent !== null && !session.alive) await this.start.toRead(session.id);
    });
  }

  /** Brings up the window of the project that has waited longest, at its request. */
  async showWaitingElsewhere(): Promise<void> {
    if (this.waiting.length === 0) return;
    await this.problems.attempt('The session was not opened', () => this.host.showWaiting());
  }

  /** Opens a search result in the window of its project, at the item that matches. */
  async openFound(agentSessionId: string, itemId: ItemId | null): Promise<void> {
    await this.problems.attempt('The session was not opened', () => this.host.openFound(agentSessionId, itemId));
  }

  #showItem(sessionId: SessionId, itemId: ItemId): void {
    // Looking at a conversation runs nothing, so it needs no decision about the folder's trust.
    this.trust.hide();
    this.shownItem = { sessionId, itemId };
  }

  /** Why nothing that needs files of this computer is available, as a sentence; `null` if it is. */
  get notHere(): string | null {
    const machine = this.project.machine?.name;
    return machine === undefined ? null : `This project is on ${machine}. Deskbell cannot do this there yet.`;
  }

  /** The profiles of the project's machine. Those of another machine are known once it listed them, without values. */
  get profiles(): readonly Profile[] {
    return this.project.machine === null ? this.settings.settings.agent.profiles : this.creation.profiles;
  }

  /** Connects to the machine of the project, if that is not under way. */
  async retryFar(): Promise<void> {
    await this.problems.attempt('The connection was not tried', () => this.host.retryFar());
  }

  /** Why the project can have no worktrees, as a sentence; `null` if it can. */
  get noWorktrees(): string | null {
    const { checkout, unreadFiles } = this.project;
    const isKnown = checkout.branch !== null || unreadFiles.some(({ kind }) => kind === 'branch');
    return isKnown ? null : 'This folder is not in a git repository.';
  }

  /** Begins to receive the sessions in the agent's store. */
  async followStored(): Promise<void> {
    await this.problems.attempt('The list is not complete', () => this.host.followStored());
    // What the agent on another machine stored is added once that machine has answered.
    if (this.project.machine !== null) this.stored.complete();
  }

  /** The session of a row. A conversation of the agent's store becomes one; nothing is started or opened. */
  async sessionOf(row: Row): Promise<Session | null> {
    if (row.session !== null) return row.session;
    return this.problems.read('The session was not read', async () => {
      const session = await this.host.openStored(row.stored.agentSessionId);
      this.list.take(session);
      return session;
    });
  }

  /** Removes sessions, which one undo brings back. One that cannot be removed stays in the list. */
  async removeSessions(ids: readonly SessionId[]): Promise<void> {
    await this.removals.together(ids, async (id) => {
      const what = 'The session was not removed';
      if ((await this.problems.attempt(what, () => this.host.removeSession(id))) === null) this.#forget(id);
    });
  }

  /** Brings back the sessions that were removed last, and opens the first. */
  async restoreSessions(): Promise<void> {
    const last = this.removals.list.at(-1);
    if (last === undefined || this.restoring) return;
    this.restoring = true;
    let first: SessionId | null = null;
    for (const session of last) {
      const what = last.length === 1 ? 'The session was not brought back' : `“${session.title}” was not brought back`;
      await this.problems.attempt(what, async () => {
        // Of other agents there is no store to open the conversation from, and of a profile it may be another one.
        const stored = session.agent === 'acp' || session.profile !== null ? null : session.agentSessionId;
        const restored = await this.host.restoreSession(session.id, stored);
        this.removals.delete(session.id);
        this.list.take(restored);
        first ??= restored.id;
      });
    }
    if (first !== null) {
      // The store's rows were removed from the list with them.
      void this.followStored();
      await this.openSession(first);
    }
    this.restoring = false;
  }

  /** Pins or archives the session of a row; `null` removes its mark. */
  async markSession(row: Row, mark: SessionMark | null): Promise<void> {
    const id = row.session?.agentSessionId ?? row.stored?.agentSessionId ?? rowId(row);
    await this.problems.attempt('The session was not marked', () => this.host.markSession(id, mark));
  }

  /**
   * Opens a new session that begins as a copy of another one, up to its end or before a prompt. That prompt becomes its
   * draft.
   */
  async forkSession(before: ItemId | null, id: SessionId): Promise<void> {
    await this.problems.attempt('The session was not forked', async () => {
      const { session, draft } = await this.host.forkSession(id, before);
      this.list.take(session);
      if (draft !== null) this.drafts.of(session.id, this.project.path).text = draft;
      await this.openSession(session.id);
    });
  }

  /** Puts the text of a rewound prompt into the prompt box, before what is there. */
  returnPrompt(id: SessionId, text: string): void {
    const draft = this.drafts.of(id, this.project.path);
    draft.text = draft.text.trim() === '' ? text : `${text}\n\n${draft.text}`;
  }

  /** Exports a session to a file that the user chooses. */
  exportSession(format: ExportFormat, id: SessionId): Promise<void> {
    return this.exportSessions(format, [id]);
  }

  /** Exports sessions, each to a file that the user chooses. Cancelling one of them leaves the others out. */
  async exportSessions(format: ExportFormat, ids: readonly SessionId[]): Promise<void> {
    this.done = null;
    await this.problems.attempt('The session was not exported', async () => {
      for (const [nr, id] of ids.entries()) {
        const path = await this.host.exportSession(id, format);
        if (path === null) return;
        const text = ids.length === 1 ? `Exported to ${path}` : `Exported ${nr + 1} of ${ids.length}, to ${path}`;
        this.done = { text, undo: null };
      }
    });
  }

  /** The files that match a partly typed name. Why another machine lists none is said in place of the list. */
  async findFiles(query: string): Promise<FoundFiles | string | null> {
    if (this.project.machine === null)
      return this.problems.read('The file search failed', () => this.host.findFiles(query));
    return this.host.findFiles(query).catch((reason: unknown) => asCommandError(reason).message);
  }

  /** An overlay hides the permission cards of all panes until the returned function is called. */
  coverCards(): () => void {
    const uncover = this.panes.map((pane) => pane.cards.cover());
    return () => uncover.forEach((end) => end());
  }

  async #reportCards(session: SessionId, requests: string[]): Promise<void> {
    try {
      await this.host.cardsInSight(session, requests);
    } catch (reason) {
      // A session that is being removed has no cards.
      const error = asCommandError(reason);
      if (error.code !== 'noSuchSession') this.problems.report('Permission dialogs may cover this window', error);
    }
  }

  /** Loads the projects that were opened earlier, without this one and without missing ones. */
  async loadRecent(): Promise<void> {
    await this.problems.attempt('The list of projects was not read', async () => {
      const recent = await this.host.recentProjects();
      const isOwn = (one: RecentProject) => shownProject(one.project) === this.project.path;
      this.recent = recent.filter((one) => !isOwn(one) && one.folder !== 'missing');
    });
  }

  /** Takes the prompt of a second start or of another window as a draft. The user may send it. */
  async #takeDraft(): Promise<void> {
    const named = await this.problems.read('The prompt for this window was not read', () => this.host.takeDraft());
    if (named !== null) await takeNamed(this, named);
  }

  /** The pane at a point of the page. What is in neither is for the pane with the focus. */
  #paneAt({ x, y }: PagePoint): Pane {
    const element = document.elementFromPoint(x * window.innerWidth, y * window.innerHeight);
    return this.paneAround(element) ?? this.pane;
  }

  /** The pane that an element of the page is in. */
  paneAround(element: Element | null): Pane | null {
    const place = element?.closest<HTMLElement>('[data-pane]')?.dataset['pane'];
    return this.panes.find((pane) => pane.place === place) ?? null;
  }

  #forget(id: SessionId): void {
    const session = this.list.find(id);
    // There is nothing in an empty one.
    if (session?.isEmpty === false) this.removals.add(session);
    this.list.remove(id);
    this.drafts.forget(id, this.project.path);
    this.#hide(id);
  }

  /** Another window shows the session from now on. */
  #release(id: SessionId): void {
    if (this.#isHere(id)) return;
    this.list.unread.delete(id);
    this.#hide(id);
    this.drafts.release(id);
  }

  #hide(id: SessionId): void {
    const pane = this.paneOf(id);
    if (pane !== null && this.beside.state !== null) void this.closePane(pane);
    else pane?.clear();
    this.#kept.delete(id);
  }

  #keep(state: SessionState): void {
    this.#kept.delete(state.id);
    this.#kept.set(state.id, state);
    const oldest = this.#kept.keys().next();
    if (this.#kept.size > KEPT && !oldest.done) this.#kept.delete(oldest.value);
  }
}
