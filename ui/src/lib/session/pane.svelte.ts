// A pane of the window: the session that it shows, its feed, and the user's actions on it.

import type {
  Attachment,
  Command,
  CommandError,
  CopyOf,
  Dropped,
  ItemId,
  Output,
  RequestId,
  Session,
  SessionId,
  StoredSession,
} from '../bindings/api';
import { addDropped } from './dropped';
import { asCommandError, existing, type Host } from '../host/host';
import { elsewhere, type Row } from './sessionRows';
import { EVERYTHING } from './attachments';
import { CardsInSight } from './cards';
import type { Draft } from './drafts.svelte';
import { Feed } from './feed';
import type { SessionState } from './session.svelte';
import type { SessionProject } from './sessionProject';

/** The prompt that continues a turn which a limit ended. It can be edited in the queue. */
const GO_ON = 'Continue where you stopped.';

/** A window has two places for panes, side by side. */
export type PanePlace = 'first' | 'second';

export class Pane {
  /** The permission cards that the user can see. */
  readonly cards: CardsInSight;
  /** The conversation; `null` if none is shown. */
  state = $state.raw<SessionState | null>(null);
  #feed: Feed | null = null;

  constructor(
    private readonly host: Host,
    readonly project: SessionProject,
    readonly place: PanePlace,
    oncards: (session: SessionId, requests: RequestId[]) => void,
  ) {
    this.cards = new CardsInSight(() => this.state?.id ?? null, oncards);
  }

  get id(): SessionId | null {
    return this.state?.id ?? null;
  }

  /** Shows a session, which no other pane shows. */
  async show(state: SessionState): Promise<void> {
    this.#feed?.close();
    this.state = state;
    const { list, problems } = this.project;
    const callbacks = {
      onapplied: (session: Session) => list.take(session),
      onerror: (error: CommandError) => problems.report('The session could not be read', error),
    };
    const subscribe = this.place === 'first' ? this.host.subscribe : this.host.subscribeSecond;
    this.#feed = new Feed(this.host, state, callbacks, subscribe.bind(this.host));
    await this.#feed.load();
    const { drafts, project } = this.project;
    drafts
      .of(state.id, project.path)
      .arrived([...state.prompts.slice(-1), ...state.session.queue.map(({ text }) => text)]);
  }

  /** Ends the feed and shows nothing. Returns what was shown. */
  clear(): SessionState | null {
    const { state } = this;
    this.#feed?.close();
    this.#feed = null;
    this.state = null;
    return state;
  }

  /** Batches wait in the shell. */
  announce(sessionId: SessionId): void {
    this.#feed?.announce(sessionId);
  }

  /** Reads the session again, after an event was lost. */
  reload(): void {
    void this.#feed?.load();
  }

  /** The unsent prompt. Text that is written while a session opens here is for that one. */
  get draft(): Draft {
    const { creation, drafts, pane, project } = this.project;
    return drafts.of(creation.isPending && pane === this ? null : this.id, project.path);
  }

  /** The conversation as the agent stored it. */
  get stored(): StoredSession | null {
    return this.project.stored.all.get(this.state?.session.agentSessionId ?? '') ?? null;
  }

  /** Whether another program has the conversation open. */
  get isWatching(): boolean {
    const { state } = this;
    return state !== null && elsewhere({ session: state.session, stored: this.stored }) !== null;
  }

  /** Sends a command to the session. A refusal is shown, and also returned so that the caller can react to it. */
  async command(command: Command, what: string): Promise<CommandError | null> {
    const { state } = this;
    if (state === null) return null;
    const at = Date.now();
    const error = await this.project.problems.attempt(what, () => this.host.command(state.id, command));
    if (error === null && command.type === 'prompt') {
      state.prompts = [...state.prompts, command.text];
      this.project.sentFiles.keep(state.id, command.text, command.attachments, at);
    }
    return error;
  }

  /**
   * Has the session continue when the limit that stopped it resets: with its held prompts, or with one that asks the
   * agent to go on.
   */
  async continueAtReset(): Promise<void> {
    const { state } = this;
    if (state === null) return;
    const what = 'The session does not continue by itself';
    const held = state.session.queue.filter((prompt) => prompt.held && !prompt.cutOff);
    for (const { id } of held) {
      const error = await this.command({ type: 'deliver', promptId: id, delivery: 'atReset' }, what);
      if (error !== null) return;
    }
    if (held.length > 0) return;
    await this.command({ type: 'prompt', text: GO_ON, attachments: [], delivery: 'atReset' }, what);
  }

  /** Undoes the last rewind. Returns the files that have changed since; then nothing was undone. */
  async undoRewind(overwrite: boolean): Promise<readonly string[]> {
    const { id } = this;
    let changed: readonly string[] = [];
    if (id === null) return changed;
    await this.project.problems.attempt('The rewind was not undone', async () => {
      try {
        await this.host.command(id, { type: 'undoRewind', overwrite });
      } catch (reason) {
        const error = asCommandError(reason);
        if (error.code !== 'changedSince') throw reason;
        changed = error.files;
      }
    });
    return changed;
  }

  /** Copies a text of the session to the clipboard. */
  async copyOf(copy: CopyOf): Promise<boolean> {
    const { id } = this;
    return id !== null && this.project.acts.copyOf(copy, id);
  }

  /** The row of this project's list with a conversation of the agent; `null` if there is none. */
  rowOf(agentSessionId: string | null): Row | null {
    const is = (row: Row) => (row.session?.agentSessionId ?? row.stored?.agentSessionId) === agentSessionId;
    return agentSessionId === null ? null : (this.project.rows.find(is) ?? null);
  }

  async openRow(row: Row): Promise<void> {
    await this.project.openRow(row);
  }

  /** Opens the session that sent a message, wherever its project is. */
  async openSender(itemId: ItemId): Promise<void> {
    const { id } = this;
    if (id === null) return;
    await this.project.problems.attempt('The session was not opened', () => this.host.openSender(id, itemId));
  }

  /** Forks the session, up to its end or before a prompt. */
  async fork(before: ItemId | null): Promise<void> {
    const { id } = this;
    if (id !== null) await this.project.forkSession(before, id);
  }

  /** Some lines of a tool's output; `null` if that failed. */
  async outputLines(itemId: ItemId, first: number, count: number): Promise<Output | null> {
    const { id } = this;
    if (id === null) return null;
    const read = async () => existing(await this.host.ask(id, { type: 'output', itemId, first, count }));
    return this.project.problems.read('The output could not be loaded', read);
  }

  /** The images that a tool returned; `null` if that failed. */
  async toolImages(itemId: ItemId): Promise<readonly Attachment[] | null> {
    const { id } = this;
    if (id === null) return null;
    const read = async () => existing(await this.host.ask(id, { type: 'images', itemId }));
    return this.project.problems.read('The images could not be loaded', read);
  }

  /** Starts the agent with permission checks off, this time only. */
  async startWithoutAsking(): Promise<void> {
    if (this.state !== null) await this.project.start.withoutAsking(this.state);
  }

  /** Starts the agent of an empty session, as the user begins to write. */
  async beginWriting(): Promise<void> {
    if (this.state !== null) await this.project.start.asUserWrites(this.state);
  }

  /** Adds files that were dropped here to the draft. */
  takeDropped(dropped: readonly Dropped[]): void {
    const why = this.isWatching ? 'Another program has this conversation open, so it takes no files here.' : null;
    if (why !== null) return this.project.app.refuseAttachment(why);
    const accepted = this.state?.session.capabilities ?? EVERYTHING;
    addDropped(this.draft, dropped, accepted).forEach((refused) => this.project.app.refuseAttachment(refused));
    if (dropped.some((one) => one.type !== 'refused')) void this.beginWriting();
  }
}
