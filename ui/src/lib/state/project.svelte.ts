// The state of a window: its project, the project's sessions, and the open session.

import { SvelteSet } from 'svelte/reactivity';

import type {
  AgentKind,
  Checkup,
  Command,
  CommandError,
  Dropped,
  FoundFiles,
  CopyOf,
  Found,
  Connection,
  Image,
  ItemId,
  Output,
  Preferences,
  ProjectView,
  RecentProject,
  Session,
  SessionId,
  StoredChange,
  StoredSession,
  TrustDecision,
  WindowEvent,
} from '../bindings/api';
import { withMentions } from '../composer/mention';
import { asCommandError, loggedError, type Host } from '../host/host';
import type { ItemState } from './item.svelte';
import { inOrder, rowId, rowsOf, type Row } from '../sessions/rows';
import { isOver, isTurnRunning } from '../text/status';
import { attachment } from './attachments';
import { CardsInSight } from './cards';
import { Drafts } from './drafts.svelte';
import { Feed } from './feed';
import { Problems } from './problems.svelte';
import { reuse } from './reuse';
import { SessionState } from './session.svelte';

/** Conversations kept in memory in addition to the open one, so that returning to them is instant. */
const KEPT = 4;

export class ProjectState {
  project = $state.raw<ProjectView>() as ProjectView;
  sessions = $state.raw<readonly Session[]>([]);
  /** The sessions in the agent's own store, by the agent's id. */
  stored = $state.raw<ReadonlyMap<string, StoredSession>>(new Map());
  /** What is known about the store itself. */
  store = $state.raw<Pick<StoredChange, 'isComplete' | 'nUnreadable' | 'problem'>>({
    isComplete: false,
    nUnreadable: 0,
    problem: null,
  });
  readonly #storedInOrder = $derived(inOrder(this.stored.values()));
  /** The rows of the session list, newest first. */
  readonly rows = $derived<readonly Row[]>(rowsOf(this.sessions, this.#storedInOrder));
  preferences = $state.raw<Preferences>() as Preferences;
  /** The open conversation. */
  open = $state.raw<SessionState | null>(null);
  /** Sessions whose turn ended since the user last opened them. */
  readonly unread = new SvelteSet<SessionId>();
  /** The request that the shell wants to be shown. */
  shownRequest = $state.raw<string | null>(null);
  /** The user wanted a session but no agent was found: the page that says so is shown. */
  missing = $state.raw<CommandError | null>(null);
  creating = $state(false);
  /** The trust page is shown: the user opened it, or has not postponed the decision. */
  trustShown = $state(false);
  /** Files are being dragged over the window. */
  dragging = $state(false);
  /** Other projects that were opened earlier, once they were requested. */
  recent = $state.raw<readonly RecentProject[]>([]);
  readonly problems = new Problems();
  readonly drafts: Drafts;
  /** The permission cards that the user can see. */
  readonly cards: CardsInSight;

  #host: Host;
  #feed: Feed | null = null;
  /** The empty session whose agent was asked to start. */
  #started: SessionId | null = null;
  #kept = new Map<SessionId, SessionState>();

  constructor(host: Host, { project, preferences }: Connection, drafts = new Drafts()) {
    this.#host = host;
    this.project = project;
    this.preferences = preferences;
    this.sessions = project.sessions;
    this.trustShown = this.mustAskTrust;
    this.drafts = drafts;
    const openId = () => this.open?.id ?? null;
    this.cards = new CardsInSight(openId, (session, requests) => void this.#reportCards(session, requests));
  }

  /** The user has to decide about the folder's trust. Until then nothing from the folder may run. */
  get mustAskTrust(): boolean {
    const state = this.project.trust?.state;
    return state === 'unknown' || state === 'changed';
  }

  /** The folder's settings differ from those that the user trusted. Running agents keep the trusted ones. */
  get trustChanged(): boolean {
    return this.project.trust?.state === 'changed';
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
    void state.followStored();
    if (connection.project.open !== null) await state.openSession(connection.project.open);
    if (connection.project.hasDraft) await state.#takeDraft();
    return state;
  }

  hear(event: WindowEvent): void {
    switch (event.type) {
      case 'batch':
        this.#feed?.receive(event);
        break;
      case 'sessionListed':
        this.#list(event.session);
        break;
      case 'sessionRemoved':
        this.#forget(event.sessionId);
        break;
      case 'storedChanged':
        this.#takeStored(event.change);
        break;
      case 'show':
        this.shownRequest = event.requestId;
        void this.openSession(event.sessionId);
        break;
      case 'dragging':
        this.dragging = event.over;
        break;
      case 'dropped':
        this.#take(event.dropped);
        break;
      case 'projectChanged':
        this.project = reuse(this.project, event.project);
        // A refused start publishes the project again; then the missing trust decision is the obstacle, so its page is
        // shown.
        this.trustShown ||= this.mustAskTrust && (event.project.startRefused || !this.trustChanged);
        this.sessions = reuse(this.sessions, event.project.sessions);
        if (event.project.agent.type === 'found') this.missing = null;
        if (event.project.hasDraft) void this.#takeDraft();
        break;
    }
  }

  /** An event was lost: reports that and reloads the open session. */
  miss(reason: unknown): void {
    this.problems.report('This window missed an update', asCommandError(reason));
    void this.#feed?.load();
  }

  async openSession(id: SessionId): Promise<void> {
    this.missing = null;
    this.unread.delete(id);
    if (this.open?.id === id) return;
    const facts = this.sessions.find((session) => session.id === id);
    if (facts === undefined) {
      this.problems.report('The session was not opened', {
        code: 'noSuchSession',
        message: 'The session no longer exists.',
        detail: null,
      });
      return;
    }
    this.#feed?.close();
    if (this.open !== null) this.#keep(this.open);
    const state = this.#kept.get(id) ?? new SessionState(facts);
    this.open = state;
    this.#feed = new Feed(this.#host, state, {
      onapplied: (session) => this.#list(session),
      onerror: (error) => this.problems.report('The session could not be read', error),
    });
    await this.#feed.load();
  }

  /** Opens the session of a row. A conversation of the agent's store becomes a session; nothing is started. */
  async openRow(row: Row): Promise<void> {
    if (row.session !== null) return this.openSession(row.session.id);
    this.unread.delete(rowId(row));
    // Looking at a conversation runs nothing, so it needs no decision about the folder's trust.
    this.trustShown = false;
    await this.#try('The session was not opened', async () => {
      const session = await this.#host.openStored(row.stored.agentSessionId);
      this.#list(session);
      await this.openSession(session.id);
    });
  }

  /** Begins to receive the sessions in the agent's store. */
  async followStored(): Promise<void> {
    await this.#try('The list is not complete', () => this.#host.followStored());
  }

  /** The open conversation as the agent stored it. */
  get openStored(): StoredSession | null {
    return this.stored.get(this.open?.session.agentSessionId ?? '') ?? null;
  }

  /** Starts a session and opens it. Returns its state, or `null` if it was not created. */
  async createSession(agent: AgentKind | null, withoutAsking = false): Promise<SessionState | null> {
    if (this.creating) return null;
    this.creating = true;
    try {
      const session = await this.#host.createSession(agent, withoutAsking);
      this.#list(session);
      await this.openSession(session.id);
      return this.open;
    } catch (reason) {
      const error = asCommandError(reason);
      if (error.code === 'agentNotFound') this.missing = error;
      else if (error.code === 'notTrusted') this.trustShown = true;
      else this.problems.report('No session was started', error);
      return null;
    } finally {
      this.creating = false;
    }
  }

  /** Starts the agent of the open session with permission checks off, this time only. */
  async startWithoutAsking(): Promise<void> {
    const { open } = this;
    if (open === null) return;
    try {
      await this.#host.startWithoutAsking(open.id);
    } catch (reason) {
      const error = asCommandError(reason);
      if (error.code === 'notTrusted') this.trustShown = true;
      else this.problems.report('The agent was not started', error);
    }
  }

  /** Starts the agent of an empty session, as the user begins to write. */
  beginWriting(): void {
    const session = this.open?.session;
    if (!session?.isEmpty || session.alive || session.status.type !== 'idle' || this.#started === session.id) return;
    this.#started = session.id;
    void this.command({ type: 'start' }, 'The agent was not started');
  }

  /** Sends a command to the open session. A refusal is shown, and also returned so that the caller can react to it. */
  async command(command: Command, what: string): Promise<CommandError | null> {
    const { open } = this;
    if (open === null) return null;
    const error = await this.#try(what, () => this.#host.command(open.id, command));
    if (error === null && command.type === 'prompt') open.prompts = [...open.prompts, command.text];
    return error;
  }

  async removeSession(id: SessionId): Promise<void> {
    const error = await this.#try('The session was not removed', () => this.#host.removeSession(id));
    if (error === null) this.#forget(id);
  }

  async setPreferences(preferences: Preferences): Promise<void> {
    const before = this.preferences;
    this.preferences = preferences;
    const error = await this.#try('The settings were not saved', () => this.#host.setPreferences(preferences));
    if (error !== null) this.preferences = before;
  }

  /**
   * Submits the trust decision for the settings on screen. If the folder's settings have changed since, they are shown
   * again.
   */
  async decideTrust(decision: TrustDecision): Promise<void> {
    const fingerprint = this.project.trust?.fingerprint ?? null;
    const error = await this.#try('Your decision was not saved', () => this.#host.decideTrust(decision, fingerprint));
    if (error === null) this.trustShown = false;
  }

  /** The result of the agent checkup; `null` if it failed, which is reported. */
  async checkAgent(): Promise<Checkup | null> {
    let checkup: Checkup | null = null;
    await this.#try('The permission test failed', async () => void (checkup = await this.#host.checkAgent()));
    return checkup;
  }

  /** Ends these processes of an earlier run. The host then publishes the remaining ones. */
  async endOrphans(pids: number[]): Promise<void> {
    await this.#try('Some processes were not ended', () => this.#host.endOrphans(pids));
  }

  async leaveOrphans(): Promise<void> {
    await this.#try('The list of processes was not closed', () => this.#host.leaveOrphans());
  }

  /** Writes an error of the page to the program's log. If that fails too, the error is shown. */
  reportPageError(place: string, error: unknown): void {
    void this.#try('An error was not logged', () => this.#host.reportPageError(place, loggedError(error)));
  }

  async #reportCards(session: SessionId, requests: string[]): Promise<void> {
    try {
      await this.#host.cardsInSight(session, requests);
    } catch (reason) {
      // A session that is being removed has no cards.
      const error = asCommandError(reason);
      if (error.code !== 'noSuchSession') this.problems.report('Permission dialogs may cover this window', error);
    }
  }

  /** Loads the projects that were opened earlier, without this one and without missing ones. */
  async loadRecent(): Promise<void> {
    await this.#try('The list of projects was not read', async () => {
      const recent = await this.#host.recentProjects();
      this.recent = recent.filter(({ path, folder }) => path !== this.project.path && folder !== 'missing');
    });
  }

  async openRecent(path: string): Promise<void> {
    await this.#try('The project was not opened', () => this.#host.openRecent(path));
  }

  async chooseFolder(): Promise<void> {
    await this.#try('The folder was not opened', () => this.#host.chooseFolder());
  }

  async openStartPage(): Promise<void> {
    await this.#try('The start page was not opened', () => this.#host.openStartPage());
  }

  async openLink(url: string): Promise<void> {
    await this.#try('The link was not opened', () => this.#host.openLink(url));
  }

  /** Shows a file of the project in the file manager. */
  async revealPath(path: string): Promise<void> {
    await this.#try('The file was not shown', () => this.#host.revealPath(path));
  }

  /** The files that match a partly typed name; `null` if the search failed, which is reported. */
  async findFiles(query: string): Promise<FoundFiles | null> {
    let found: FoundFiles | null = null;
    await this.#try('The file search failed', async () => {
      found = await this.#host.findFiles(query);
    });
    return found;
  }

  /** Reports why an image was not attached. */
  refuseImage(message: string): void {
    this.problems.report('The image was not attached', { code: 'badCommand', message, detail: null });
  }

  checkImage(name: string, data: string): Promise<Image> {
    return this.#host.checkImage(name, data);
  }

  clipboardImage(): Promise<Image | null> {
    return this.#host.clipboardImage();
  }

  async writeClipboard(text: string): Promise<boolean> {
    return (await this.#try('The text was not copied', () => this.#host.writeClipboard(text))) === null;
  }

  /** Copies a text from the engine to the clipboard. */
  async copyOf(copy: CopyOf): Promise<boolean> {
    const id = this.open?.id;
    if (id === undefined) return false;
    const copied = this.#try('The text was not copied', async () =>
      this.#host.writeClipboard(this.#host.copyText(id, copy)),
    );
    return (await copied) === null;
  }

  /** Finds words in a whole session; `null` if that failed or a newer search began. */
  async findWords(id: SessionId, query: string, index: number | null): Promise<Found | null> {
    let found: Found | null = null;
    await this.#try('The search failed', async () => {
      found = await this.#host.findWords(id, query, index);
    });
    return found;
  }

  /** Some lines of a tool's output; `null` if that failed. */
  async outputLines(itemId: ItemId, first: number, count: number): Promise<Output | null> {
    const id = this.open?.id;
    if (id === undefined) return null;
    let output: Output | null = null;
    await this.#try('The output could not be loaded', async () => {
      output = await this.#host.outputLines(id, itemId, first, count);
    });
    return output;
  }

  /**
   * Loads earlier items of a subagent. If `until` is one of its items and near enough, loads all items from that one
   * on.
   */
  async showEarlier(call: ItemState, until: ItemId | null = null): Promise<void> {
    const id = this.open?.id;
    if (id === undefined || call.nEarlier === 0) return;
    await this.#try('The rest could not be loaded', () =>
      this.#host.showEarlier(id, call.id, call.nEarlier + 1, until),
    );
  }

  /** Draws another part of a long item instead of the current one. */
  async showPart(item: ItemState, part: number): Promise<void> {
    const id = this.open?.id;
    if (id === undefined || part < 0 || part >= item.parts) return;
    if (item.has(part)) return item.showPart(part, null);
    await this.#try('The rest could not be loaded', async () => {
      item.showPart(part, await this.#host.itemPart(id, item.id, part));
    });
  }

  async #try(what: string, call: () => Promise<void>): Promise<CommandError | null> {
    try {
      await call();
      return null;
    } catch (reason) {
      const error = asCommandError(reason);
      this.problems.report(what, error);
      return error;
    }
  }

  /** Adds the prompt of a second start to the draft of the open session. The user may send it. */
  async #takeDraft(): Promise<void> {
    await this.#try('The prompt of the command line was not read', async () => {
      const text = await this.#host.takeDraft();
      if (text === null) return;
      const draft = this.drafts.of(this.open?.id ?? null, this.project.path);
      draft.text = draft.text === '' ? text : `${draft.text}\n${text}`;
    });
  }

  /** Adds dropped files to the draft of the open session. */
  #take(dropped: readonly Dropped[]): void {
    const draft = this.drafts.of(this.open?.id ?? null, this.project.path);
    const paths: string[] = [];
    for (const one of dropped) {
      if (one.type === 'image') draft.attachments = [...draft.attachments, attachment(one.name, one.image)];
      if (one.type === 'file') paths.push(one.path);
      if (one.type === 'refused') {
        this.problems.report('The file was not attached', { code: 'badCommand', message: one.why, detail: null });
      }
    }
    if (paths.length > 0) draft.text = withMentions(draft.text, paths);
    if (dropped.some((one) => one.type !== 'refused')) this.beginWriting();
  }

  #list(session: Session): void {
    const index = this.sessions.findIndex((known) => known.id === session.id);
    const before = this.sessions[index];
    if (before === session) return;
    if (before === undefined) {
      this.sessions = [session, ...this.sessions];
      return;
    }
    if (isTurnRunning(before.status) && isOver(session.status) && this.open?.id !== session.id) {
      this.unread.add(session.id);
    }
    this.sessions = this.sessions.with(index, reuse(before, session));
  }

  #takeStored({ changed, removed, ...store }: StoredChange): void {
    this.store = reuse(this.store, store);
    if (changed.length === 0 && removed.length === 0) return;
    const stored = new Map(this.stored);
    removed.forEach((id) => stored.delete(id));
    for (const session of changed) {
      const id = session.agentSessionId;
      const before = stored.get(id);
      stored.set(id, session);
      // A turn ended in another program.
      const isNew = before !== undefined && before.changedAt < session.changedAt;
      const isEnd = session.state.type === 'completed' || session.state.type === 'failed';
      const isOwn = this.sessions.some((own) => own.agentSessionId === id);
      if (isNew && isEnd && !isOwn) this.unread.add(id);
    }
    this.stored = stored;
  }

  #forget(id: SessionId): void {
    this.sessions = this.sessions.filter((session) => session.id !== id);
    this.#kept.delete(id);
    this.unread.delete(id);
    this.drafts.forget(id);
    if (this.open?.id !== id) return;
    this.#feed?.close();
    this.#feed = null;
    this.open = null;
  }

  #keep(state: SessionState): void {
    this.#kept.delete(state.id);
    this.#kept.set(state.id, state);
    const oldest = this.#kept.keys().next();
    if (this.#kept.size > KEPT && !oldest.done) this.#kept.delete(oldest.value);
  }
}
