// Starting the agent of a session before a prompt is sent to it.

import type { SessionId } from '../bindings/api';
import { asCommandError, type Host } from '../host/host';
import type { Problems } from '../session/problems.svelte';
import type { SessionState } from '../session/session.svelte';
import type { TrustQuestions } from './trustQuestions.svelte';

export class AgentStart {
  /** The empty session whose agent was asked to start. */
  #started: SessionId | null = null;

  constructor(
    private readonly host: Host,
    private readonly problems: Problems,
    private readonly trust: TrustQuestions,
  ) {}

  /** Starts the agent of a session with permission checks off, this time only. */
  async withoutAsking(open: SessionState): Promise<void> {
    await this.#start(() => this.host.startWithoutAsking(open.id));
  }

  /** Starts the agent of an empty session, as the user begins to write. */
  async asUserWrites({ session }: SessionState): Promise<void> {
    if (!session.isEmpty || session.alive || session.status.type !== 'idle' || this.#started === session.id) return;
    this.#started = session.id;
    await this.#start(() => this.host.command(session.id, { type: 'start' }));
  }

  /** Starts the agent of a session whose messages only the agent has. */
  async toRead(id: SessionId): Promise<void> {
    await this.#start(() => this.host.command(id, { type: 'start' }));
  }

  /** Where the user has to decide about the folder first, the page that asks is the answer. */
  async #start(start: () => Promise<void>): Promise<void> {
    try {
      await start();
    } catch (reason) {
      const error = asCommandError(reason);
      if (error.code === 'notTrusted') this.trust.folderShown = true;
      else this.problems.report('The agent was not started', error);
    }
  }
}
