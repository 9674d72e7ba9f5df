// A host without the desktop app: its sessions follow a script. For browsers and tests.

import type {
  MachineAgents,
  AgentKind,
  Checkup,
  Connection,
  OrphanProcess,
  OtherAgent,
  ProjectView,
  Readiness,
  ReadinessState,
  Session,
  SessionId,
  SessionMark,
  StoredChange,
  TrustDecision,
  TrustStatus,
  TrustView,
  WindowEvent,
  WorktreePlan,
  WorktreeRemoval,
  WorktreeView,
  NamedDraft,
} from '../lib/bindings/api';
import { FAR } from './far';
import { AGENTS, AGENTS_THERE } from './agents';
import { agentTrustOf } from './trust';
import { emptySession } from './facts';
import { scene, type Scene } from './scenes';
import { EXPLAINED, prompt, text } from './script';
import { FakeSession } from './session';
import { FakeWorktrees } from './worktrees';
import { checkup, readiness, stateOf } from './readiness';
import type { Host } from '../lib/host/host';
import { refuse } from './refuse';
import { FakeSessions } from './sessions';

export class FakeHost extends FakeSessions implements Host {
  readonly repository = new FakeWorktrees();
  /** The next result of the readiness check. */
  readiness: ReadinessState;
  #scene: Scene;
  /** The decisions about other agents, by their id. */
  readonly #agentTrust = new Map<string, TrustStatus>();
  #nextId = 1;
  #nFarCalls = 0;
  #draft: NamedDraft | null = null;

  constructor(name = 'empty') {
    const played = scene(name);
    super(name, played.settings);
    this.#scene = played;
    this.readiness = stateOf(name, played.project.agent);
    for (const session of played.sessions) this.adopt(session);
  }

  connect(): Promise<Connection> {
    return Promise.resolve(
      structuredClone({
        event: 'window-fake',
        project: this.ownSession === null ? this.#project() : { ...this.#project(), open: this.ownSession },
        settings: this.settings,
        showItem: null,
        panels: this.panels,
        second: this.second,
        ownSession: this.ownSession,
        ownWindows: [...this.ownWindows],
        waiting: [],
      }),
    );
  }

  listen(_event: string, heard: (event: WindowEvent) => void): Promise<() => void> {
    this.hear = heard;
    this.start.emit = heard;
    return Promise.resolve(() => (this.hear = () => {}));
  }

  createSession(agent: AgentKind | null, withoutAsking: boolean): Promise<Session> {
    if (agent !== 'demo' && this.#scene.project.agent.type === 'missing') {
      return refuse('agentNotFound', 'Claude Code was not found on this computer.');
    }
    const state = this.#scene.project.trust?.state;
    if (agent !== 'demo' && (state === 'unknown' || state === 'changed')) {
      return refuse('notTrusted', 'You have not decided yet whether to trust this folder.');
    }
    const empty = this.#empty(agent ?? 'claude');
    if (empty !== undefined && !withoutAsking) return Promise.resolve(structuredClone(empty));
    const facts = emptySession(`s-new-${this.#nextId++}`, 'New session', agent ?? 'claude');
    if (withoutAsking) Object.assign(facts, { mode: 'bypassPermissions', alive: true });
    this.adopt(new FakeSession(facts));
    return Promise.resolve(structuredClone(facts));
  }

  #empty(agent: AgentKind): Session | undefined {
    return [...this.sessions.values()].find(({ facts }) => facts.isEmpty && facts.agent === agent)?.facts;
  }

  plannedSession(): Promise<Session | null> {
    const { agent, machine } = this.#scene.project;
    const kind = agent.type === 'found' ? agent.kind : 'claude';
    const planned = machine === null ? emptySession('s-planned', 'New session', kind) : null;
    return Promise.resolve(structuredClone(this.#empty(kind) ?? planned));
  }

  machineAgents(): Promise<MachineAgents> {
    if (this.#scene.project.machine !== null) return Promise.resolve(structuredClone(AGENTS_THERE));
    const { profiles } = this.settings.settings.agent;
    return Promise.resolve(structuredClone({ agents: [...AGENTS], profiles }));
  }

  createSessionWith(id: string): Promise<Session> {
    const agent = AGENTS.find((one) => one.id === id);
    if (agent === undefined) return refuse('badCommand', `Deskbell does not know the agent “${id}”.`);
    const decided = this.#agentTrust.get(id);
    if (decided !== 'trusted' && (agent.trustedOnly !== null || decided === undefined) && id !== 'demo-acp') {
      this.#askTrust(agent, decided ?? 'unknown');
      return refuse('notTrusted', `You have not decided yet whether to trust this folder with ${agent.name}.`);
    }
    const facts = {
      ...emptySession(`s-new-${this.#nextId++}`, 'New session', 'acp'),
      agentName: agent.name,
      agentId: agent.id,
      lacks: agent.lacks,
      login: { words: [agent.id, 'login'], needed: false },
    };
    this.adopt(new FakeSession(facts));
    return Promise.resolve(structuredClone(facts));
  }

  createSessionWithProfile(name: string): Promise<Session> {
    const isHere = this.#scene.project.machine === null;
    const profiles = isHere ? this.settings.settings.agent.profiles : AGENTS_THERE.profiles;
    const profile = profiles.find((one) => one.name === name);
    if (profile === undefined) return refuse('refused', `There is no profile “${name}”.`);
    const agent = AGENTS.find((one) => one.id === profile.agent);
    const facts = {
      ...emptySession(`s-new-${this.#nextId++}`, 'New session', agent === undefined ? 'claude' : 'acp'),
      ...(agent === undefined ? {} : { agentName: agent.name, agentId: agent.id, lacks: agent.lacks }),
      profile: name,
    };
    this.adopt(new FakeSession(facts));
    return Promise.resolve(structuredClone(facts));
  }

  reviewAgentTrust(sessionId: SessionId): Promise<void> {
    const id = this.sessions.get(sessionId)?.facts.agentId;
    const agent = AGENTS.find((one) => one.id === id);
    if (agent === undefined) return refuse('badCommand', 'This session has no agent with a trust decision of its own.');
    this.#askTrust(agent, this.#agentTrust.get(agent.id) ?? 'unknown');
    return Promise.resolve();
  }

  #askTrust(agent: OtherAgent, state: TrustStatus): void {
    const agentTrust = agentTrustOf(agent, state);
    const agentRefusals = this.#scene.project.agentRefusals + 1;
    this.#scene.project = { ...this.#scene.project, agentTrust, agentRefusals };
    this.hear({ type: 'projectChanged', project: this.#project() });
  }

  followStored(): Promise<void> {
    const changed = structuredClone(this.#scene.stored ?? []);
    this.hear({ type: 'marksChanged', marks: structuredClone(this.#scene.marks ?? []) });
    this.changeStored({ changed, removed: [], isComplete: true, nUnreadable: 0, problem: null });
    return Promise.resolve();
  }

  /** Reports a change of the agent's store. */
  changeStored(change: StoredChange): void {
    this.hear({ type: 'storedChanged', change });
  }

  openStored(agentSessionId: string): Promise<Session> {
    const known = [...this.sessions.values()].find(({ facts }) => facts.agentSessionId === agentSessionId);
    if (known !== undefined) return Promise.resolve(structuredClone(known.facts));
    const stored = this.#scene.stored?.find((one) => one.agentSessionId === agentSessionId);
    if (stored === undefined) return refuse('noSuchSession', 'The session is not in the history any more.');
    const { title, changedAt } = stored;
    const session = new FakeSession({ ...emptySession(agentSessionId, title), agentSessionId, changedAt });
    session.add(prompt(stored.firstPrompt ?? title));
    session.add(text(EXPLAINED));
    this.adopt(session);
    return Promise.resolve(structuredClone(session.facts));
  }

  markSession(id: string, mark: SessionMark | null): Promise<void> {
    const others = (this.#scene.marks ?? []).filter((marked) => marked.id !== id);
    this.#scene.marks = mark === null ? others : [...others, { id, mark }];
    this.hear({ type: 'marksChanged', marks: structuredClone(this.#scene.marks) });
    return Promise.resolve();
  }

  worktrees(): Promise<WorktreeView[]> {
    return this.repository.worktrees();
  }

  planWorktree(branch: string): Promise<WorktreePlan> {
    return this.repository.plan(branch);
  }

  addWorktree(branch: string, draft: NamedDraft | null): Promise<void> {
    return this.repository.add(branch, draft);
  }

  openWorktree(path: string): Promise<void> {
    return this.repository.open(path);
  }

  reviewWorktree(path: string): Promise<WorktreeRemoval> {
    return this.repository.review(path);
  }

  removeWorktree(path: string, withIgnored: boolean): Promise<void> {
    return this.repository.remove(path, withIgnored);
  }

  setKeepRunning(keepRunning: boolean | null): Promise<void> {
    this.#scene.project = { ...this.#scene.project, keepRunning };
    this.hear({ type: 'projectChanged', project: this.#project() });
    return Promise.resolve();
  }

  decideTrust(
    decision: TrustDecision,
    fingerprint: string | null,
    agent: string | null,
    load: readonly string[],
  ): Promise<void> {
    const { trust, agentTrust } = this.#scene.project;
    if (agent !== null) {
      if (agentTrust?.agent?.id !== agent) return refuse('badCommand', 'The question is about another agent now.');
      this.#agentTrust.set(agent, decision === 'trust' ? 'trusted' : 'restricted');
      this.#scene.project = { ...this.#scene.project, agentTrust: null };
      this.hear({ type: 'projectChanged', project: this.#project() });
      return Promise.resolve();
    }
    if (trust === null) return refuse('badCommand', 'Nothing was asked.');
    if (decision !== 'restrict' && fingerprint !== trust.fingerprint) {
      return refuse('badCommand', "the folder's settings changed while they were shown; review them again");
    }
    if (decision === 'keep') {
      this.changeFolder({ ...trust, state: 'kept', canKeep: false });
    } else {
      const state = decision === 'trust' ? 'trusted' : 'restricted';
      const unknownSettings = trust.unknownSettings.map(({ name }) => ({ name, isLoaded: load.includes(name) }));
      this.changeFolder({ ...trust, state, added: [], removed: [], canKeep: false, unknownSettings });
    }
    return Promise.resolve();
  }

  /** Replaces the folder's settings. */
  changeFolder(trust: TrustView): void {
    this.#scene.project = { ...this.#scene.project, trust };
    this.hear({ type: 'projectChanged', project: this.#project() });
  }

  checkAgent(): Promise<Checkup> {
    return Promise.resolve(checkup({ type: 'asks' }, this.#scene.project.agent));
  }

  checkReadiness(): Promise<Readiness> {
    return Promise.resolve(readiness(this.readiness, this.#scene.project.agent));
  }

  endOrphans(pids: number[]): Promise<void> {
    const orphans = this.#scene.project.orphans.filter(({ pid }) => !pids.includes(pid));
    return this.#setSurvivors(orphans);
  }

  leaveOrphans(): Promise<void> {
    return this.#setSurvivors([]);
  }

  /** A prompt that a second start or another window named. */
  nameDraft(text: string, asked: NamedDraft['asked'] = null): void {
    this.#draft = { text, asked };
    this.#scene.project = { ...this.#scene.project, hasDraft: true };
    this.hear({ type: 'projectChanged', project: this.#project() });
  }

  takeDraft(): Promise<NamedDraft | null> {
    const draft = this.#draft;
    this.#draft = null;
    return Promise.resolve(draft);
  }

  retryFar(): Promise<void> {
    // The first call is that of the page that connects: its scene is the answer.
    if (this.#nFarCalls++ === 0) return Promise.resolve();
    this.#scene.project = { ...this.#scene.project, ...FAR.connecting };
    this.hear({ type: 'projectChanged', project: this.#project() });
    return Promise.resolve();
  }

  /** Ends every script: no events follow. */
  close(): void {
    this.hear = () => {};
    for (const session of this.sessions.values()) session.abort();
  }

  #project(): ProjectView {
    return {
      ...this.#scene.project,
      sessions: [...this.sessions.values()].map((session) => session.facts),
    };
  }

  #setSurvivors(orphans: OrphanProcess[]): Promise<void> {
    this.#scene.project = { ...this.#scene.project, orphans };
    this.hear({ type: 'projectChanged', project: this.#project() });
    return Promise.resolve();
  }
}
