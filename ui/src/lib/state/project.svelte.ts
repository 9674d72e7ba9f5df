// What a window shows: its project, the sessions in it, and the one that is open.

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
  Hello,
  Image,
  ItemId,
  Output,
  Preferences,
  ProjectView,
  Session,
  SessionId,
  TrustDecision,
  WindowEvent,
} from '../bindings/api';
import { withMentions } from '../composer/mention';
import { asCommandError, type Host } from '../host/host';
import type { ItemState } from './item.svelte';
import { isOver, isTurnRunning } from '../text/status';
import { attachment } from './attachments';
import { Drafts } from './drafts.svelte';
import { Feed } from './feed';
import { Problems } from './problems.svelte';
import { reuse } from './reuse';
import { SessionState } from './session.svelte';

/** Conversations kept in memory besides the open one, so that going back shows them at once. */
const KEPT = 4;

export class ProjectState {
  project = $state.raw<ProjectView>() as ProjectView;
  sessions = $state.raw<readonly Session[]>([]);
  preferences = $state.raw<Preferences>() as Preferences;
  /** The open conversation. */
  open = $state.raw<SessionState | null>(null);
  /** Ended since they were last looked at. */
  readonly unread = new SvelteSet<SessionId>();
  /** The request that the shell asked to be shown. */
  shownRequest = $state.raw<string | null>(null);
  /** A session was asked for and no agent was found: the page that says so is on top. */
  missing = $state.raw<CommandError | null>(null);
  creating = $state(false);
  /** The page about the folder's trust is on top: it was asked for, or not put off. */
  trustShown = $state(false);
  /** Files are held over the window. */
  dragging = $state(false);
  readonly problems = new Problems();
  readonly drafts: Drafts;

  #host: Host;
  #feed: Feed | null = null;
  #kept = new Map<SessionId, SessionState>();

  constructor(host: Host, { project, preferences }: Hello, drafts = new Drafts()) {
    this.#host = host;
    this.project = project;
    this.preferences = preferences;
    this.sessions = project.sessions;
    this.trustShown = this.mustAskTrust;
    this.drafts = drafts;
  }

  /** Nothing of the folder's may run before its user has said whether it is trusted. */
  get mustAskTrust(): boolean {
    const standing = this.project.trust?.standing;
    return standing === 'unknown' || standing === 'changed';
  }

  /** Hello, then listen, then the snapshot of the open session: in this order nothing is missed. */
  static async start(host: Host, drafts?: Drafts): Promise<ProjectState> {
    const hello = await host.hello();
    const state = new ProjectState(host, hello, drafts);
    await host.listen(
      hello.event,
      (event) => state.hear(event),
      (reason) => state.miss(reason),
    );
    if (hello.project.open !== null) await state.openSession(hello.project.open);
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
        // It is told anew when a start was refused: then this is what is in the way.
        this.trustShown ||= this.mustAskTrust;
        this.sessions = reuse(this.sessions, event.project.sessions);
        if (event.project.agent.type === 'found') this.missing = null;
        break;
    }
  }

  /** Something was told and not heard: says so, and reads the open session anew. */
  miss(reason: unknown): void {
    this.problems.report('The window missed something', asCommandError(reason));
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
        message: 'There is no such session any more.',
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

  /** Starts a session and opens it; the state of it, or `null` if there is none. */
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

  /** Starts the agent of the open session so that it asks nothing, this once. */
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

  /** Asks something of the open session. A refusal is shown, and returned for those who can do more about it. */
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
    const error = await this.#try('The settings were not kept', () => this.#host.setPreferences(preferences));
    if (error !== null) this.preferences = before;
  }

  /** Answers for what is shown now. If that is not what the folder says any more, it is shown anew. */
  async decideTrust(decision: TrustDecision): Promise<void> {
    const fingerprint = this.project.trust?.fingerprint ?? null;
    const error = await this.#try('The answer was not kept', () => this.#host.decideTrust(decision, fingerprint));
    if (error === null) this.trustShown = false;
  }

  /** What the doctor says of the agent; `null` if it could not be asked, which is reported. */
  async checkAgent(): Promise<Checkup | null> {
    let checkup: Checkup | null = null;
    await this.#try('The agent was not checked', async () => void (checkup = await this.#host.checkAgent()));
    return checkup;
  }

  /** Ends these processes of an earlier run. What is there then, the host tells. */
  async endSurvivors(pids: number[]): Promise<void> {
    await this.#try('Not everything was ended', () => this.#host.endSurvivors(pids));
  }

  async leaveSurvivors(): Promise<void> {
    await this.#try('They are still asked about', () => this.#host.leaveSurvivors());
  }

  async openLink(url: string): Promise<void> {
    await this.#try('The link was not opened', () => this.#host.openLink(url));
  }

  /** Shows a file of the project where it lies. */
  async revealPath(path: string): Promise<void> {
    await this.#try('The file was not shown', () => this.#host.revealPath(path));
  }

  /** The files that fit a name that is being written; `null`, and a word about it, if they cannot be known. */
  async findFiles(query: string): Promise<FoundFiles | null> {
    let found: FoundFiles | null = null;
    await this.#try('The files were not searched', async () => {
      found = await this.#host.findFiles(query);
    });
    return found;
  }

  checkImage(name: string, data: string): Promise<Image> {
    return this.#host.checkImage(name, data);
  }

  async copyText(text: string): Promise<boolean> {
    return (await this.#try('Nothing was copied', () => this.#host.copyText(text))) === null;
  }

  /** Copies a text that the engine has. */
  async copyOf(copy: CopyOf): Promise<boolean> {
    const id = this.open?.id;
    if (id === undefined) return false;
    const copied = this.#try('Nothing was copied', async () => this.#host.copyText(this.#host.textOf(id, copy)));
    return (await copied) === null;
  }

  /** Finds words in a whole session; `null` if that failed, or another find began. */
  async findWords(id: SessionId, query: string, index: number | null): Promise<Found | null> {
    let found: Found | null = null;
    await this.#try('Nothing was looked for', async () => {
      found = await this.#host.findWords(id, query, index);
    });
    return found;
  }

  /** Some lines of what a tool put out; `null` if that failed. */
  async outputLines(itemId: ItemId, first: number, count: number): Promise<Output | null> {
    const id = this.open?.id;
    if (id === undefined) return null;
    let output: Output | null = null;
    await this.#try('The output could not be read', async () => {
      output = await this.#host.outputLines(id, itemId, first, count);
    });
    return output;
  }

  /** Brings more of what a subagent did, and if one of its items is near enough all from that one on. */
  async showEarlier(call: ItemState, until: ItemId | null = null): Promise<void> {
    const id = this.open?.id;
    if (id === undefined || call.nEarlier === 0) return;
    await this.#try('The rest could not be read', () => this.#host.showEarlier(id, call.id, call.nEarlier + 1, until));
  }

  /** Draws another part of a long item in place of the one that is drawn. */
  async showPart(item: ItemState, part: number): Promise<void> {
    const id = this.open?.id;
    if (id === undefined || part < 0 || part >= item.parts) return;
    if (item.has(part)) return item.showPart(part, null);
    await this.#try('The rest could not be read', async () => {
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

  /** Puts what was dropped on the window into the draft of what is open. */
  #take(dropped: readonly Dropped[]): void {
    const draft = this.drafts.of(this.open?.id ?? null, this.project.path);
    const paths: string[] = [];
    for (const one of dropped) {
      if (one.type === 'image') draft.attachments = [...draft.attachments, attachment(one.name, one.image)];
      if (one.type === 'file') paths.push(one.path);
      if (one.type === 'refused') {
        this.problems.report('It was not attached', { code: 'badCommand', message: one.why, detail: null });
      }
    }
    if (paths.length > 0) draft.text = withMentions(draft.text, paths);
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
