// Whether the agent of new sessions can work, and the steps of the user that remove an obstacle.

import type { AgentView, Readiness, Session, SessionId } from '../bindings/api';
import type { Host } from '../host/host';
import type { Problems } from './problems.svelte';

export class AgentCheck {
  /** The result of the last check. `null` before the first one, and for the demo. */
  readiness = $state.raw<Readiness | null>(null);
  /** A check is running. */
  checking = $state(false);
  /** The dialog that opens a terminal for the login is shown. */
  loginShown = $state(false);
  /** The session whose agent that dialog is about; `null`: Claude Code. */
  loginOf = $state.raw<Session | null>(null);

  #host: Host;
  #problems: Problems;
  #isDemo: () => boolean;
  #found: (agent: AgentView) => void;
  /** The number of the last check. */
  #nr = 0;
  #again = false;

  /** `found`: receives the agent that a check found, which may differ from that of the window's start. */
  constructor(host: Host, problems: Problems, isDemo: () => boolean, found: (agent: AgentView) => void) {
    this.#host = host;
    this.#problems = problems;
    this.#isDemo = isDemo;
    this.#found = found;
  }

  /** What keeps the agent from working; `null` if nothing is known to, or if there is no program. */
  get obstacle(): Readiness | null {
    const type = this.readiness?.state.type;
    return type === 'ready' || type === 'missing' ? null : this.readiness;
  }

  /** Checks the agent. The result of the last check counts. */
  async check(): Promise<void> {
    if (this.#isDemo()) return;
    const nr = ++this.#nr;
    this.checking = true;
    let result: Readiness | null = null;
    await this.#problems.attempt('Claude Code was not checked', async () => {
      result = await this.#host.checkReadiness();
    });
    if (nr !== this.#nr) return;
    this.checking = false;
    this.#take(result);
    if (this.#again) await this.checkAgain();
  }

  #take(result: Readiness | null): void {
    if (result === null) return;
    if (result.state.type === 'ready' && this.readiness?.state.type === 'notLoggedIn') this.loginShown = false;
    this.readiness = result;
    this.#found(result.agent);
  }

  /** The window got the focus: the user may have removed an obstacle elsewhere. */
  async checkAgain(): Promise<void> {
    // A running check may have begun before the user did something: another one follows it.
    this.#again = this.checking;
    if (this.checking || this.readiness === null || this.readiness.state.type === 'ready') return;
    await this.check();
  }

  /** Shows the dialog for the login of a session's agent. */
  showLogin(session: Session): true {
    // A profile can be another account.
    this.loginOf = session.agent === 'acp' || session.profile !== null ? session : null;
    this.loginShown = true;
    return true;
  }

  closeLogin(): void {
    this.loginShown = false;
    this.loginOf = null;
  }

  /** Opens a terminal with the login of Claude Code, or of a session's agent. */
  async openLogin(session: SessionId | null = null): Promise<void> {
    await this.#problems.attempt('The login was not opened', () => this.#host.openLogin(session));
  }

  /** Lets the user choose the agent's program. The setting then arrives as an event, and the program is checked. */
  async choose(): Promise<void> {
    await this.#problems.attempt('No program was chosen', async () => void (await this.#host.chooseAgent()));
  }
}
