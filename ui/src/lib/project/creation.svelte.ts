// The sessions that a window creates: with an agent, with a profile, or with the project's usual agent.

import type { MachineAgents, AgentKind, CommandError, Profile, Session } from '../bindings/api';
import { asCommandError, type AgentOrProfile, type Host } from '../host/host';
import type { Problems } from '../session/problems.svelte';
import type { SessionState } from '../session/session.svelte';
import type { TrustQuestions } from './trustQuestions.svelte';

type Created = { open: SessionState | null } | { error: CommandError };

export class SessionCreation {
  /** A session is being created and opened. */
  isRunning = $state(false);
  /** The new session is not open yet. What the user writes meanwhile is for it. */
  isPending = $state(false);
  /** The user wanted a session but no agent was found: the page that says so is shown. */
  missing = $state.raw<CommandError | null>(null);

  /** The session that `create` would create: what can be chosen before there is one. `null` until it is known. */
  planned = $state.raw<Session | null>(null);

  /** The profiles of the project's machine, as it listed them last. */
  profiles: readonly Profile[] = [];

  #opened = Promise.resolve<SessionState | null>(null);
  #plans = 0;

  /** `open` lists a new session and opens it at once; its promise resolves when it is read. */
  constructor(
    private readonly host: Host,
    private readonly problems: Problems,
    private readonly trust: TrustQuestions,
    private readonly open: (session: Session) => Promise<SessionState | null>,
  ) {}

  /** Reads what a new session would begin with. */
  async plan(): Promise<void> {
    const nr = ++this.#plans;
    const planned = await this.problems.read('The models of a new session were not read', () =>
      this.host.plannedSession(),
    );
    if (nr === this.#plans) this.planned = planned;
  }

  /** What a session can have instead of Claude Code, on the project's machine; `null` if it could not be read. */
  async machineAgents(): Promise<MachineAgents | null> {
    const found = await this.problems.read('The agents were not searched for', () => this.host.machineAgents());
    this.profiles = found?.profiles ?? [];
    return found;
  }

  /**
   * Creates a session with the project's usual agent, or the demo's, and opens it. `null` if it was not created.
   * `begin` is called before it is opened, and so before a prompt is sent to it.
   */
  async create(
    agent: AgentKind | null,
    withoutAsking = false,
    begin?: (session: Session) => Promise<unknown>,
  ): Promise<SessionState | null> {
    if (this.isRunning) return null;
    const created = await this.#create(() => this.host.createSession(agent, withoutAsking), begin);
    if (!('error' in created)) return created.open;
    const { error } = created;
    if (error.code === 'agentNotFound') this.missing = error;
    else if (error.code === 'notTrusted') this.trust.folderShown = true;
    else this.problems.report('No session was started', error);
    return null;
  }

  /**
   * Creates a session with another agent or a profile, and opens it. Returns why there is none; `null` also where the
   * user has to decide about the folder first.
   */
  async createWith(wanted: AgentOrProfile): Promise<CommandError | null> {
    const created = await this.#create(() =>
      'profile' in wanted
        ? this.host.createSessionWithProfile(wanted.profile)
        : this.host.createSessionWith(wanted.agent),
    );
    if (!('error' in created)) return null;
    if (created.error.code !== 'notTrusted') return created.error;
    // The trust page says the reason.
    this.trust.askFor(wanted);
    return null;
  }

  /** Creates a session with a profile. Why there is none is reported. */
  async createWithProfile(profile: string): Promise<void> {
    const refused = await this.createWith({ profile });
    if (refused !== null) this.problems.report('No session was started', refused);
  }

  /** The session that is being created, once it is open; `null` if it was not created. */
  pending(): Promise<SessionState | null> {
    return this.#opened;
  }

  async #create(create: () => Promise<Session>, begin?: (session: Session) => Promise<unknown>): Promise<Created> {
    this.isRunning = true;
    this.isPending = true;
    const created = this.#open(create, begin);
    this.#opened = created.then((one) => ('error' in one ? null : one.open));
    const result = await created;
    this.isPending = false;
    this.isRunning = false;
    return result;
  }

  async #open(create: () => Promise<Session>, begin?: (session: Session) => Promise<unknown>): Promise<Created> {
    try {
      const session = await create();
      if (begin !== undefined) await begin(session);
      const opened = this.open(session);
      this.isPending = false;
      return { open: await opened };
    } catch (reason) {
      return { error: asCommandError(reason) };
    }
  }
}
