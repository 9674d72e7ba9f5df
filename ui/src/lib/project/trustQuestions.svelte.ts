// The trust decisions of a window: which page is shown, for the folder or for another agent, and what the user decides.

import type { CommandError, Profile, ProjectView, Session, TrustDecision, TrustView } from '../bindings/api';
import type { AgentOrProfile, Host } from '../host/host';
import type { Problems } from '../session/problems.svelte';

interface Window {
  project: () => ProjectView;
  profiles: () => readonly Profile[];
  /** Creates the session that waited for the decision. Returns why there is none. */
  begin: (wanted: AgentOrProfile) => Promise<CommandError | null>;
}

export class TrustQuestions {
  /** The page of the folder is shown: the user opened it, or has not postponed the decision. */
  folderShown = $state(false);
  /** The page of another agent is shown. */
  agentShown = $state(false);
  /** The agent, or the profile, of a session that waits for the decision. */
  #waiting: AgentOrProfile | null = null;
  /** The user looks at something that needs no decision. The folder's page comes back when a start needs one. */
  #isAside = false;

  constructor(
    private readonly host: Host,
    private readonly problems: Problems,
    private readonly window: Window,
  ) {}

  /** The user has to decide about the folder's trust. Until then nothing from the folder may run. */
  get mustAsk(): boolean {
    const state = this.window.project().trust?.state;
    return state === 'unknown' || state === 'changed';
  }

  /** The folder's settings differ from those that the user trusted. Running agents keep the trusted ones. */
  get changed(): boolean {
    return this.window.project().trust?.state === 'changed';
  }

  /** What the trust page shows: another agent's question first. `null` while it is not shown. */
  get shown(): TrustView | null {
    const { agentTrust, trust } = this.window.project();
    if (this.agentShown && agentTrust !== null) return agentTrust;
    return this.folderShown ? trust : null;
  }

  /** Shows the pages that ask at the start of a window. */
  begin(): void {
    this.folderShown = this.mustAsk;
    this.agentShown = this.window.project().agentTrust !== null;
  }

  /** Reacts to a change of the project, before which `nRefusals` starts of other agents had been refused. */
  follow(project: ProjectView, nRefusals: number): void {
    this.agentShown ||= project.agentRefusals > nRefusals;
    if (!this.mustAsk) this.#isAside = false;
    // A refused start publishes the project again; then the missing decision is the obstacle, so its page is shown.
    this.folderShown ||= this.mustAsk && (project.startRefused || !(this.changed || this.#isAside));
  }

  /** Shows the page of the folder. */
  showFolder(): void {
    this.agentShown = false;
    this.folderShown = true;
  }

  /** Hides both pages: what is shown instead runs nothing, so it needs no decision. */
  hide(): void {
    this.#isAside = true;
    this.folderShown = false;
    this.agentShown = false;
  }

  /** Shows the trust page for the agent of a session. */
  async review({ id, agent }: Session): Promise<void> {
    if (agent !== 'acp') {
      this.folderShown = true;
      return;
    }
    await this.problems.attempt('The decision was not shown', () => this.host.reviewAgentTrust(id));
  }

  /** Asks for the decision that a new session needs, and creates the session after it. */
  askFor(wanted: AgentOrProfile): void {
    this.#waiting = wanted;
    if (this.#isOfClaude(wanted)) this.folderShown = true;
    else this.agentShown = true;
  }

  /** Whether the agent is Claude Code, whose decision is that of the folder. */
  #isOfClaude(wanted: AgentOrProfile): boolean {
    if ('agent' in wanted) return false;
    const profile = this.window.profiles().find(({ name }) => name === wanted.profile);
    return profile !== undefined && profile.agent === null && profile.command === null;
  }

  /** Leaves the trust page without a decision. */
  putOff(): void {
    if (this.shown?.agent != null) this.agentShown = false;
    else this.folderShown = false;
    this.#waiting = null;
  }

  /**
   * Submits the decision for the settings on screen. `load` names the unknown settings to load. If the folder's settings have changed since, they are shown again.
   */
  async decide(decision: TrustDecision, load: readonly string[] = []): Promise<void> {
    const shown = this.shown ?? this.window.project().trust;
    const agent = shown?.agent ?? null;
    const error = await this.problems.attempt('Your decision was not saved', () =>
      this.host.decideTrust(decision, shown?.fingerprint ?? null, agent?.id ?? null, load),
    );
    if (error !== null) return;
    const waiting = this.#waiting;
    this.#waiting = null;
    if (agent === null) this.folderShown = false;
    else this.agentShown = false;
    const starts = agent === null || decision === 'trust' || agent.trustedOnly === null;
    if (waiting === null || !starts) return;
    const isIt = 'agent' in waiting ? waiting.agent === agent?.id : this.#isOfClaude(waiting) === (agent === null);
    if (!isIt) return;
    const refused = await this.window.begin(waiting);
    if (refused !== null) this.problems.report('No session was started', refused);
  }
}
