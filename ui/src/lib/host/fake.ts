// A host without the desktop app: its sessions follow a script. For browsers and tests.

import type {
  Profile,
  Against,
  AgentKind,
  Attachment,
  BoardConnection,
  BoardMachine,
  BoardRow,
  BoardView,
  Changes,
  Checkup,
  Command,
  CommandError,
  ConnectionQuestion,
  Connection,
  CopyOf,
  Event,
  ExportFormat,
  FileDiff,
  FolderListing,
  ForkedSession,
  Found,
  FoundFiles,
  ItemId,
  JsonValue,
  OptionsReview,
  OrphanProcess,
  OtherAgent,
  Output,
  Patch,
  Preset,
  ProjectView,
  PromptMoment,
  Readiness,
  ReadinessState,
  RecentProject,
  RequestId,
  Reverted,
  Session,
  SessionId,
  SessionMark,
  SessionOptions,
  SettingsView,
  Snapshot,
  StartConnection,
  StoredChange,
  RawLines,
  RecordingState,
  TaskOutput,
  TrustDecision,
  TrustStatus,
  TrustView,
  UsageView,
  Viewport,
  WindowEvent,
  WorktreePlan,
  WorktreeRemoval,
  WorktreeView,
  ZoomStep,
} from '../bindings/api';
import { withSetting } from '../settings/values';
import { runCommand } from './fake/agent';
import { AGENTS } from './fake/agents';
import { agentTrustOf } from './fake/trust';
import { emptySession, PROJECT_FILES } from './fake/facts';
import { textOf } from './fake/copy';
import { find } from './fake/find';
import { FAR, foldersOn, SSH_HOSTS } from './fake/far';
import { scene, type Scene } from './fake/scenes';
import { RAW_LINES } from './fake/raw';
import { EXPLAINED, prompt, SERVER_LOGS, TASK_OUTPUTS, text } from './fake/script';
import { BOARDS, machinesOf } from './fake/board';
import { searchFound } from './fake/search';
import { reviewOf } from './fake/options';
import { FakeSession } from './fake/session';
import { FakeStart, RECENT, STARTS } from './fake/start';
import { diffOf, fileOf, MOMENTS, NO_CHANGES } from './fake/changes';
import { usageOf } from './fake/usage';
import { FakeWindow } from './fake/window';
import { FakeWorktrees } from './fake/worktrees';
import { checkup, readiness, stateOf } from './fake/readiness';
import { writeClipboard, type Host, type RevertedChange } from './host';

/** The first characters of each image type in base64. */
const IMAGE_STARTS = [
  ['iVBORw0KGg', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
] as const;

export class FakeHost implements Host {
  /** Set by a test or a scene; no repository by default. */
  workingChanges: Changes = NO_CHANGES;
  readonly repository = new FakeWorktrees();
  #beforeRevert: Changes = NO_CHANGES;
  readonly opened: string[] = [];
  readonly revealed: string[] = [];
  readonly edited: [string, number | null][] = [];
  /** The errors that the page reported, each with the part of the page. */
  readonly pageErrors: [string, string][] = [];
  /** The visible cards, as last reported. */
  cards: [SessionId, RequestId[]] | null = null;
  readonly acknowledged: [SessionId, number][] = [];
  readonly page: Host['page'];
  /** The sessions that were opened from the search or the board, each with the item, if one was named. */
  readonly shown: [string, ItemId | null][] = [];
  /** The start page, or the list of projects that a project's window offers. */
  readonly start: FakeStart;
  /** The next result of the readiness check. */
  readiness: ReadinessState;
  /** What the user did outside the window: `login`, `choose`. */
  readonly outside: string[] = [];
  /** The answers to the questions of connections, by their id. */
  readonly answered: [string, string | null][] = [];
  #scene: Scene;
  #sessions = new Map<SessionId, FakeSession>();
  #removed = new Map<SessionId, FakeSession>();
  #window: FakeWindow | null = null;
  #hear: (event: WindowEvent) => void = () => {};
  #settings: SettingsView;
  /** The decisions about other agents, by their id. */
  readonly #agentTrust = new Map<string, TrustStatus>();
  #nextId = 1;
  #nFarCalls = 0;
  #draft: string | null = null;
  #board: readonly BoardRow[];
  readonly #machines: readonly BoardMachine[];

  constructor(name = 'empty') {
    const start = STARTS[name];
    this.page = start !== undefined ? 'start' : BOARDS[name] !== undefined ? 'board' : 'project';
    this.#board = BOARDS[name] ?? [];
    this.#machines = machinesOf(name);
    this.start = new FakeStart(
      start?.() ?? { projects: [...RECENT], question: null, problem: null, unreadFiles: [], appVersion: '' },
    );
    this.#scene = scene(name);
    this.#settings = this.#scene.settings;
    this.readiness = stateOf(name, this.#scene.project.agent);
    for (const session of this.#scene.sessions) this.#adopt(session);
  }

  session(id: SessionId): FakeSession | undefined {
    return this.#sessions.get(id);
  }

  connect(): Promise<Connection> {
    return Promise.resolve(
      structuredClone({
        event: 'window-fake',
        project: this.#project(),
        settings: this.#settings,
        showItem: null,
      }),
    );
  }

  listen(_event: string, heard: (event: WindowEvent) => void): Promise<() => void> {
    this.#hear = heard;
    this.start.emit = heard;
    return Promise.resolve(() => (this.#hear = () => {}));
  }

  createSession(agent: AgentKind | null, withoutAsking: boolean): Promise<Session> {
    if (agent !== 'demo' && this.#scene.project.agent.type === 'missing') {
      return refuse('agentNotFound', 'Claude Code was not found on this computer.');
    }
    const state = this.#scene.project.trust?.state;
    if (agent !== 'demo' && (state === 'unknown' || state === 'changed')) {
      return refuse('notTrusted', 'You have not decided yet whether to trust this folder.');
    }
    const empty = [...this.#sessions.values()].find(
      ({ facts }) => facts.isEmpty && facts.agent === (agent ?? 'claude') && !(withoutAsking && facts.alive),
    );
    if (empty !== undefined && !withoutAsking) return Promise.resolve(structuredClone(empty.facts));
    const facts = emptySession(`s-new-${this.#nextId++}`, 'New session', agent ?? 'claude');
    if (withoutAsking) Object.assign(facts, { mode: 'bypassPermissions', alive: true });
    this.#adopt(new FakeSession(facts));
    return Promise.resolve(structuredClone(facts));
  }

  otherAgents(): Promise<OtherAgent[]> {
    return Promise.resolve(structuredClone([...AGENTS]));
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
    };
    this.#adopt(new FakeSession(facts));
    return Promise.resolve(structuredClone(facts));
  }

  createSessionWithProfile(name: string): Promise<Session> {
    const profile = this.#settings.settings.agent.profiles.find((one) => one.name === name);
    if (profile === undefined) return refuse('refused', `There is no profile “${name}”.`);
    const agent = AGENTS.find((one) => one.id === profile.agent);
    const facts = {
      ...emptySession(`s-new-${this.#nextId++}`, 'New session', agent === undefined ? 'claude' : 'acp'),
      ...(agent === undefined ? {} : { agentName: agent.name, agentId: agent.id, lacks: agent.lacks }),
      profile: name,
    };
    this.#adopt(new FakeSession(facts));
    return Promise.resolve(structuredClone(facts));
  }

  reviewAgentTrust(sessionId: SessionId): Promise<void> {
    const id = this.#sessions.get(sessionId)?.facts.agentId;
    const agent = AGENTS.find((one) => one.id === id);
    if (agent === undefined) return refuse('badCommand', 'This session has no agent with a trust decision of its own.');
    this.#askTrust(agent, this.#agentTrust.get(agent.id) ?? 'unknown');
    return Promise.resolve();
  }

  #askTrust(agent: OtherAgent, state: TrustStatus): void {
    const agentTrust = agentTrustOf(agent, state);
    const agentRefusals = this.#scene.project.agentRefusals + 1;
    this.#scene.project = { ...this.#scene.project, agentTrust, agentRefusals };
    this.#hear({ type: 'projectChanged', project: this.#project() });
  }

  retryLink(sessionId: SessionId): Promise<void> {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) return refuse('noSuchSession', 'There is no such session any more.');
    if (session.facts.link.type === 'waiting') session.patch({ link: { type: 'connecting' } });
    return Promise.resolve();
  }

  startWithoutAsking(sessionId: SessionId): Promise<void> {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) return refuse('noSuchSession', 'There is no such session any more.');
    if (session.facts.alive) return refuse('badCommand', 'The agent runs. Stop it first.');
    session.patch({ mode: 'bypassPermissions', alive: true, status: { type: 'idle' } });
    return Promise.resolve();
  }

  subscribe(sessionId: SessionId, show: Viewport, unfolded: readonly ItemId[] = []): Promise<Snapshot> {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) return refuse('noSuchSession', 'There is no such session any more.');
    this.#window = new FakeWindow(session, show, unfolded);
    const snapshot = structuredClone(this.#window.snapshot());
    session.play?.(session);
    delete session.play;
    return Promise.resolve(snapshot);
  }

  showRows(sessionId: SessionId, show: Viewport): Promise<void> {
    const window = this.#window;
    if (window?.session.facts.id === sessionId) this.#hear({ type: 'batch', ...structuredClone(window.move(show)) });
    return Promise.resolve();
  }

  findWords(sessionId: SessionId, query: string, index: number | null): Promise<Found> {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) return refuse('noSuchSession', 'There is no such session any more.');
    const found = find(session.items, query, index);
    if (found.hit !== null) found.hit.row = this.#rowOf(sessionId, found.hit.itemId) ?? found.hit.row;
    return Promise.resolve(found);
  }

  outputLines(sessionId: SessionId, itemId: ItemId, first: number, count: number): Promise<Output> {
    const body = this.#sessions.get(sessionId)?.items.find((item) => item.id === itemId)?.body;
    const detail = body?.type === 'toolCall' && 'output' in body.detail ? body.detail : null;
    if (detail === null) return refuse('badCommand', 'The text no longer exists.');
    const { lines } = detail.output;
    return Promise.resolve({ total: lines.length, first, lines: lines.slice(first, first + count) });
  }

  /** The output of tasks in the background, by their ids. */
  taskOutputs = new Map<string, TaskOutput>(TASK_OUTPUTS);

  taskOutput(_sessionId: SessionId, taskId: string): Promise<TaskOutput | null> {
    return Promise.resolve(this.taskOutputs.get(taskId) ?? null);
  }

  /** The standard error of MCP servers, by their names. */
  serverLogs = new Map<string, TaskOutput>(SERVER_LOGS);

  serverLog(_sessionId: SessionId, server: string): Promise<TaskOutput | null> {
    return Promise.resolve(this.serverLogs.get(server) ?? null);
  }

  /** The lines between Deskbell and the agents of all sessions. */
  rawLinesKept: RawLines = RAW_LINES;

  rawLines(_sessionId: SessionId, after: number): Promise<RawLines> {
    const { lines, ...facts } = this.rawLinesKept;
    return Promise.resolve({ ...facts, lines: lines.filter(({ nr }) => nr > after) });
  }

  /** The recordings of sessions that run. */
  readonly recordings = new Map<SessionId, RecordingState>();

  recordSession(sessionId: SessionId): Promise<RecordingState> {
    if (this.recordings.has(sessionId)) return refuse('badCommand', 'This session is being recorded already.');
    const path = `/home/ines/.local/share/deskbell/recordings/session-${sessionId}.ndjson`;
    const recording = { path, isRunning: true, nBytes: 0, problem: null };
    this.recordings.set(sessionId, recording);
    return Promise.resolve(recording);
  }

  stopRecording(sessionId: SessionId): Promise<RecordingState | null> {
    const recording = this.recordings.get(sessionId);
    this.recordings.delete(sessionId);
    return Promise.resolve(recording === undefined ? null : { ...recording, isRunning: false, nBytes: 48_200 });
  }

  recordingOf(sessionId: SessionId): Promise<RecordingState | null> {
    return Promise.resolve(this.recordings.get(sessionId) ?? null);
  }

  removedRecordings: string[] = [];

  removeRecording(_sessionId: SessionId, path: string): Promise<void> {
    this.removedRecordings.push(path);
    return Promise.resolve();
  }

  revealRecording(_sessionId: SessionId, path: string): Promise<void> {
    this.revealed.push(path);
    return Promise.resolve();
  }

  copyText(sessionId: SessionId, copy: CopyOf): Promise<string> {
    const session = this.#sessions.get(sessionId);
    const text = session && textOf(session, copy);
    return text === undefined ? refuse('badCommand', 'The text no longer exists.') : Promise.resolve(text);
  }

  async command(sessionId: SessionId, command: Command): Promise<void> {
    const session = this.#sessions.get(sessionId);
    if (session === undefined) return refuse('noSuchSession', 'There is no such session any more.');
    const error = runCommand(session, command);
    if (error !== null) throw error;
  }

  acknowledge(sessionId: SessionId, seq: number): Promise<void> {
    this.acknowledged.push([sessionId, seq]);
    return Promise.resolve();
  }

  removeSession(sessionId: SessionId): Promise<void> {
    const session = this.#sessions.get(sessionId);
    session?.abort();
    if (session !== undefined) this.#removed.set(sessionId, session);
    this.#sessions.delete(sessionId);
    this.#hear({ type: 'sessionRemoved', sessionId });
    return Promise.resolve();
  }

  restoreSession(sessionId: SessionId): Promise<Session> {
    const session = this.#removed.get(sessionId);
    if (session === undefined) return refuse('noSuchSession', 'The session could not be brought back.');
    this.#removed.delete(sessionId);
    this.#sessions.set(sessionId, session);
    return Promise.resolve(structuredClone(session.facts));
  }

  followStored(): Promise<void> {
    const changed = structuredClone(this.#scene.stored ?? []);
    this.#hear({ type: 'marksChanged', marks: structuredClone(this.#scene.marks ?? []) });
    this.changeStored({ changed, removed: [], isComplete: true, nUnreadable: 0, problem: null });
    return Promise.resolve();
  }

  /** Reports a change of the agent's store. */
  changeStored(change: StoredChange): void {
    this.#hear({ type: 'storedChanged', change });
  }

  openStored(agentSessionId: string): Promise<Session> {
    const known = [...this.#sessions.values()].find(({ facts }) => facts.agentSessionId === agentSessionId);
    if (known !== undefined) return Promise.resolve(structuredClone(known.facts));
    const stored = this.#scene.stored?.find((one) => one.agentSessionId === agentSessionId);
    if (stored === undefined) return refuse('noSuchSession', 'The session is not in the history any more.');
    const { title, changedAt } = stored;
    const session = new FakeSession({ ...emptySession(agentSessionId, title), agentSessionId, changedAt });
    session.add(prompt(stored.firstPrompt ?? title));
    session.add(text(EXPLAINED));
    this.#adopt(session);
    return Promise.resolve(structuredClone(session.facts));
  }

  markSession(id: string, mark: SessionMark | null): Promise<void> {
    const others = (this.#scene.marks ?? []).filter((marked) => marked.id !== id);
    this.#scene.marks = mark === null ? others : [...others, { id, mark }];
    this.#hear({ type: 'marksChanged', marks: structuredClone(this.#scene.marks) });
    return Promise.resolve();
  }

  openTerminal(): Promise<void> {
    return refuse('internal', 'No terminal could be opened. “Copy resume command” copies the command for one.');
  }

  forkSession(sessionId: SessionId, before: ItemId | null): Promise<ForkedSession> {
    const origin = this.#sessions.get(sessionId);
    if (origin === undefined) return refuse('noSuchSession', 'There is no such session any more.');
    const at = origin.items.findIndex(({ id }) => id === before);
    const body = origin.items[at]?.body;
    const fork = new FakeSession(
      emptySession(`${sessionId}-fork-${this.#sessions.size}`, `${origin.facts.title} (fork)`),
    );
    origin.items.slice(0, at < 0 ? undefined : at).forEach((item) => fork.add(structuredClone(item.body)));
    this.#adopt(fork);
    const draft = body?.type === 'prompt' ? body.text : null;
    return Promise.resolve({ session: structuredClone(fork.facts), draft });
  }

  exportSession(sessionId: SessionId, format: ExportFormat): Promise<string | null> {
    const title = this.#sessions.get(sessionId)?.facts.title;
    if (title === undefined) return refuse('noSuchSession', 'There is no such session any more.');
    const extension = { markdown: 'md', json: 'json', html: 'html' }[format];
    return Promise.resolve(`/home/user/${title}.${extension}`);
  }

  usage(all: boolean): Promise<UsageView> {
    return Promise.resolve(all ? usageOf(60, 310) : usageOf(31, 24));
  }

  changes(_: SessionId, __: Against): Promise<Changes> {
    return Promise.resolve(this.workingChanges);
  }

  fileDiff(_: SessionId, __: Against, path: string): Promise<FileDiff> {
    return Promise.resolve(diffOf(path));
  }

  changesPatch(_: SessionId, __: Against, path: string | null): Promise<Patch> {
    const files = path === null ? this.workingChanges.files : [fileOf(path)];
    const text = files.map((file) => `diff --git a/${file.path} b/${file.path}\n`).join('');
    const leftOut = path === null ? ['assets/logo.png: a binary file is left out of the patch.'] : [];
    return Promise.resolve({ text, nFiles: files.length - leftOut.length, leftOut });
  }

  revertChange(_: SessionId, __: Against, change: RevertedChange): Promise<Reverted> {
    this.#beforeRevert = this.workingChanges;
    if (change.hunk === null) {
      const files = this.workingChanges.files.filter(({ path }) => path !== change.path);
      this.workingChanges = { ...this.workingChanges, files };
    }
    return Promise.resolve({ at: 1, files: [change.path] });
  }

  promptMoments(): Promise<PromptMoment[]> {
    return Promise.resolve(MOMENTS);
  }

  undoRevert(): Promise<void> {
    this.workingChanges = this.#beforeRevert;
    return Promise.resolve();
  }

  exportUsage(): Promise<string | null> {
    return Promise.resolve('/home/user/Documents/deskbell-usage.csv');
  }

  searchSessions(nr: number, query: string, all: boolean): Promise<string | null> {
    const change = searchFound(query, all);
    if (change === null) return Promise.resolve('Type a word to search for.');
    this.#hear({ type: 'searched', nr, change });
    return Promise.resolve(null);
  }

  stopSearch(): Promise<void> {
    return Promise.resolve();
  }

  openFound(agentSessionId: string, itemId: ItemId | null): Promise<void> {
    this.shown.push([agentSessionId, itemId]);
    const session = [...this.#sessions.values()].find(({ facts }) => facts.agentSessionId === agentSessionId);
    if (session !== undefined) this.#hear({ type: 'show', sessionId: session.facts.id, requestId: null, itemId });
    return Promise.resolve();
  }

  locateItem(sessionId: SessionId, itemId: ItemId): Promise<number | null> {
    return Promise.resolve(this.#rowOf(sessionId, itemId));
  }

  #rowOf(sessionId: SessionId, itemId: ItemId): number | null {
    const item = this.#sessions.get(sessionId)?.items.find(({ id }) => id === itemId);
    const window = this.#window?.session.facts.id === sessionId ? this.#window : null;
    return window?.rowOf(itemId) ?? item?.row ?? null;
  }

  worktrees(): Promise<WorktreeView[]> {
    return this.repository.worktrees();
  }

  planWorktree(branch: string): Promise<WorktreePlan> {
    return this.repository.plan(branch);
  }

  addWorktree(branch: string): Promise<void> {
    return this.repository.add(branch);
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

  openBoard(): Promise<void> {
    this.start.done.push('board');
    return Promise.resolve();
  }

  connectBoard(): Promise<BoardConnection> {
    const board = this.#boardView();
    return Promise.resolve(structuredClone({ event: 'board-fake', board, settings: this.#settings }));
  }

  /** Publishes other rows of the board. */
  changeBoard(rows: BoardRow[]): void {
    this.#board = rows;
    this.#hear({ type: 'boardChanged', board: this.#boardView() });
  }

  #boardView(): BoardView {
    return { rows: [...this.#board], machines: [...this.#machines] };
  }

  openBoardSession(sessionId: SessionId): Promise<void> {
    this.shown.push([sessionId, null]);
    return Promise.resolve();
  }

  /** The sessions that the board stopped. */
  readonly stopped: SessionId[] = [];

  stopBoardSessions(sessionIds: SessionId[]): Promise<void> {
    this.stopped.push(...sessionIds);
    return Promise.resolve();
  }

  /** The steps of the zoom. */
  readonly zoomSteps: ZoomStep[] = [];

  zoomWindow(step: ZoomStep): Promise<void> {
    this.zoomSteps.push(step);
    return Promise.resolve();
  }

  setKeepRunning(keepRunning: boolean | null): Promise<void> {
    this.#scene.project = { ...this.#scene.project, keepRunning };
    this.#hear({ type: 'projectChanged', project: this.#project() });
    return Promise.resolve();
  }

  setSetting(key: string, value: JsonValue): Promise<void> {
    this.changeSettings({ ...this.#settings, settings: withSetting(this.#settings.settings, key, value) });
    return Promise.resolve();
  }

  reviewOptions(_sessionId: SessionId, options: SessionOptions): Promise<OptionsReview> {
    return Promise.resolve(reviewOf(options));
  }

  setPresets(presets: Preset[]): Promise<void> {
    return this.setSetting('agent.presets', presets as unknown as JsonValue);
  }

  changeProfile(was: string | null, profile: Profile | null): Promise<void> {
    const profiles = this.#settings.settings.agent.profiles;
    if (profile !== null && profiles.some(({ name }) => name === profile.name && name !== was))
      return refuse('internal', `Two profiles have the name “${profile.name}”.`);
    const others = was === null ? profiles : profiles.filter(({ name }) => name !== was || profile !== null);
    const changed = others.map((one) => (one.name === was && profile !== null ? profile : one));
    if (was === null && profile !== null) changed.push(profile);
    return this.setSetting('agent.profiles', changed as unknown as JsonValue);
  }

  quit(): Promise<void> {
    return Promise.resolve();
  }

  openSettingsFile(): Promise<void> {
    return Promise.resolve();
  }

  /** Reports other settings, as after a change of the file. */
  changeSettings(settings: SettingsView): void {
    this.#settings = settings;
    this.#hear({ type: 'settingsChanged', settings });
  }

  decideTrust(decision: TrustDecision, fingerprint: string | null, agent: string | null): Promise<void> {
    const { trust, agentTrust } = this.#scene.project;
    if (agent !== null) {
      if (agentTrust?.agent?.id !== agent) return refuse('badCommand', 'The question is about another agent now.');
      this.#agentTrust.set(agent, decision === 'trust' ? 'trusted' : 'restricted');
      this.#scene.project = { ...this.#scene.project, agentTrust: null };
      this.#hear({ type: 'projectChanged', project: this.#project() });
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
      this.changeFolder({ ...trust, state, added: [], removed: [], canKeep: false });
    }
    return Promise.resolve();
  }

  /** Replaces the folder's settings. */
  changeFolder(trust: TrustView): void {
    this.#scene.project = { ...this.#scene.project, trust };
    this.#hear({ type: 'projectChanged', project: this.#project() });
  }

  checkAgent(): Promise<Checkup> {
    return Promise.resolve(checkup({ type: 'asks' }, this.#scene.project.agent));
  }

  lastLogLines(): Promise<string> {
    return Promise.resolve('Last lines of the log\n\n2026-11-22T09:00:00.000000Z [4711]  WARN deskbell: a line\n');
  }

  checkReadiness(): Promise<Readiness> {
    return Promise.resolve(readiness(this.readiness, this.#scene.project.agent));
  }

  openLogin(): Promise<void> {
    this.outside.push('login');
    return Promise.resolve();
  }

  chooseAgent(): Promise<boolean> {
    this.outside.push('choose');
    return Promise.resolve(true);
  }

  findFiles(query: string): Promise<FoundFiles> {
    const files = PROJECT_FILES.flatMap((path) => {
      const at = path.toLowerCase().indexOf(query.toLowerCase());
      return at < 0 ? [] : [{ path, matched: Array.from(query, (_, i) => at + i) }];
    });
    return Promise.resolve({ files, isCut: false });
  }

  checkAttachment(name: string, data: string): Promise<Attachment> {
    const image = IMAGE_STARTS.find(([start]) => data.startsWith(start))?.[1];
    if (image !== undefined) return Promise.resolve({ name, mediaType: image, data });
    const bytes = atob(data);
    if (bytes.startsWith('%PDF-')) return Promise.resolve({ name, mediaType: 'application/pdf', data });
    if (bytes.includes('\0')) return refuse('badCommand', `${name} cannot be attached.`);
    return Promise.resolve({ name, mediaType: 'text/plain', data: bytes });
  }

  /** The image that `clipboardImage` returns; not the page's own clipboard. */
  clipboard: Attachment | null = null;

  clipboardImage(): Promise<Attachment | null> {
    return Promise.resolve(this.clipboard);
  }

  endOrphans(pids: number[]): Promise<void> {
    const orphans = this.#scene.project.orphans.filter(({ pid }) => !pids.includes(pid));
    return this.#setSurvivors(orphans);
  }

  cardsInSight(sessionId: SessionId, requestIds: RequestId[]): Promise<void> {
    this.cards = [sessionId, requestIds];
    return Promise.resolve();
  }

  leaveOrphans(): Promise<void> {
    return this.#setSurvivors([]);
  }

  reportPageError(place: string, error: string): Promise<void> {
    this.pageErrors.push([place, error]);
    return Promise.resolve();
  }

  connectStart(): Promise<StartConnection> {
    const { view } = this.start;
    return Promise.resolve(structuredClone({ event: 'start-fake', start: view, settings: this.#settings }));
  }

  /** A prompt that a second start named. */
  nameDraft(text: string): void {
    this.#draft = text;
    this.#scene.project = { ...this.#scene.project, hasDraft: true };
    this.#hear({ type: 'projectChanged', project: this.#project() });
  }

  takeDraft(): Promise<string | null> {
    const text = this.#draft;
    this.#draft = null;
    return Promise.resolve(text);
  }

  recentProjects(): Promise<RecentProject[]> {
    return Promise.resolve(structuredClone(this.start.view.projects));
  }

  chooseFolder(): Promise<void> {
    this.start.done.push('choose');
    return Promise.resolve();
  }

  sshHosts(): Promise<string[]> {
    return Promise.resolve([...SSH_HOSTS]);
  }

  farFolders(machine: string, folder: string): Promise<FolderListing> {
    return foldersOn(machine, folder);
  }

  openFar(machine: string, folder: string): Promise<void> {
    this.start.done.push(`open ${machine}:${folder}`);
    return Promise.resolve();
  }

  answerConnection(id: string, answer: string | null): Promise<void> {
    this.answered.push([id, answer]);
    return Promise.resolve();
  }

  /** A connection asks something in this window. */
  askForConnection(question: ConnectionQuestion): void {
    this.#hear({ type: 'connectionAsks', question });
  }

  /** A connection does not need the answer any more. */
  endQuestion(id: string): void {
    this.#hear({ type: 'connectionAnswered', id });
  }

  retryFar(): Promise<void> {
    // The first call is that of the page that connects: its scene is the answer.
    if (this.#nFarCalls++ === 0) return Promise.resolve();
    this.#scene.project = { ...this.#scene.project, ...FAR.connecting };
    this.#hear({ type: 'projectChanged', project: this.#project() });
    return Promise.resolve();
  }

  openRecent(path: string): Promise<void> {
    return this.start.open(path);
  }

  answerFolderQuestion(open: boolean): Promise<void> {
    this.start.answer(open);
    return Promise.resolve();
  }

  openDemo(): Promise<void> {
    this.start.done.push('demo');
    return Promise.resolve();
  }

  openStartPage(): Promise<void> {
    this.start.done.push('start page');
    return Promise.resolve();
  }

  pinProject(path: string, pinned: boolean): Promise<void> {
    this.start.change((projects) => projects.map((one) => (one.path === path ? { ...one, pinned } : one)));
    return Promise.resolve();
  }

  forgetProject(path: string): Promise<void> {
    this.start.change((projects) => projects.filter((one) => one.path !== path));
    return Promise.resolve();
  }

  forgetAllProjects(): Promise<void> {
    this.start.change((projects) => projects.filter((one) => one.pinned));
    return Promise.resolve();
  }

  openLink(url: string): Promise<void> {
    this.opened.push(url);
    window.open(url, '_blank', 'noopener');
    return Promise.resolve();
  }

  revealPath(path: string): Promise<void> {
    this.revealed.push(path);
    return Promise.resolve();
  }

  openInEditor(path: string, line: number | null): Promise<void> {
    this.edited.push([path, line]);
    return Promise.resolve();
  }

  writeClipboard(text: string | Promise<string>): Promise<void> {
    return writeClipboard(text);
  }

  /** Ends every script: no events follow. */
  close(): void {
    this.#hear = () => {};
    for (const session of this.#sessions.values()) session.abort();
  }

  #project(): ProjectView {
    return {
      ...this.#scene.project,
      sessions: [...this.#sessions.values()].map((session) => session.facts),
    };
  }

  #setSurvivors(orphans: OrphanProcess[]): Promise<void> {
    this.#scene.project = { ...this.#scene.project, orphans };
    this.#hear({ type: 'projectChanged', project: this.#project() });
    return Promise.resolve();
  }

  #adopt(session: FakeSession): void {
    this.#sessions.set(session.facts.id, session);
    session.onevents = (after: number, events: Event[]) => {
      const window = this.#window;
      if (window?.session === session) this.#hear({ type: 'batch', ...structuredClone(window.hear(after, events)) });
      else this.#hear({ type: 'sessionListed', session: structuredClone(session.facts) });
    };
  }
}

function refuse<T>(code: CommandError['code'], message: string): Promise<T> {
  const error: CommandError = { code, message, detail: null };
  return Promise.reject(error);
}
