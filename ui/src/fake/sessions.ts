// The sessions of the fake host: their snapshots and events, texts, recordings, and the changes of the working tree.

import type {
  Against,
  Batch,
  Changes,
  Command,
  CommitBoxState,
  CommitRequest,
  Committed,
  Event,
  ExportFormat,
  ForkedSession,
  FoundFiles,
  ItemId,
  RequestId,
  Reverted,
  RuleFileList,
  RulePlace,
  Session,
  SessionAnswers,
  SessionId,
  SessionQuery,
  Snapshot,
  RawLines,
  RecordingState,
  TaskOutput,
  UndoneCommit,
  Viewport,
} from '../lib/bindings/api';
import type { RevertedChange } from '../lib/host/host';
import { runCommand } from './agent';
import { emptySession, PROJECT_FILES } from './facts';
import { textOf } from './copy';
import { find } from './find';
import { RULE_FILES, withoutRule } from './rules';
import { RAW_LINES } from './raw';
import { PIXEL, SERVER_LOGS, TASK_OUTPUTS } from './script';
import { searchFound } from './search';
import { reviewOf } from './options';
import { FakeSession } from './session';
import { COMMIT_BOX, COMMITTED, diffOf, fileOf, MOMENTS, NO_CHANGES } from './changes';
import { FILES, NO_FILE } from './files';
import { FakeWindow } from './window';
import { FakeDesktop } from './desktop';
import { refuse } from './refuse';

type FakeAnswer<Asked extends SessionQuery> = (
  sessionId: SessionId,
  query: Asked,
) => Promise<SessionAnswers[Asked['type']]>;

/** The queries that a window makes. The others are for the shell and for other clients of a server. */
type WindowQuery = Exclude<
  SessionQuery['type'],
  'edits' | 'editDiff' | 'export' | 'files' | 'lastAnswer' | 'processes' | 'storedPrompt'
>;

type FakeAnswers = { [Name in WindowQuery]: FakeAnswer<Extract<SessionQuery, { type: Name }>> };

export abstract class FakeSessions extends FakeDesktop {
  /** Set by a test or a scene; no repository by default. */
  workingChanges: Changes = NO_CHANGES;
  #beforeRevert: Changes = NO_CHANGES;
  /** The settings files with rules, now and before each removal. */
  rules = RULE_FILES;
  /** The places of the rules that the agent saved with the last answer. */
  saved: RulePlace[] = [];
  readonly #removedRules: RuleFileList[] = [];
  /** Set by a test. */
  commitBox: CommitBoxState = COMMIT_BOX;
  #beforeCommit: Changes = NO_CHANGES;
  /** The visible cards, as last reported. */
  cards: [SessionId, RequestId[]] | null = null;
  protected sessions = new Map<SessionId, FakeSession>();
  #removed = new Map<SessionId, FakeSession>();
  #window: FakeWindow | null = null;
  /** The second session that the window shows. */
  #second: FakeWindow | null = null;
  /** The session beside the open one, also after the window is gone. */
  second: SessionId | null = null;
  /** The session whose own window this is. Set by a test. */
  ownSession: SessionId | null = null;
  /** The sessions that have windows of their own. */
  readonly ownWindows = new Set<SessionId>();
  /** The sessions whose windows were brought up. */
  readonly broughtUp: SessionId[] = [];
  /** The output of tasks in the background, by their ids. */
  taskOutputs = new Map<string, TaskOutput>(TASK_OUTPUTS);
  /** The standard error of MCP servers, by their names. */
  serverLogs = new Map<string, TaskOutput>(SERVER_LOGS);
  /** The lines between Deskbell and the agents of all sessions. */
  rawLinesKept: RawLines = RAW_LINES;
  /** The recordings of sessions that run. */
  readonly recordings = new Map<SessionId, RecordingState>();
  removedRecordings: string[] = [];

  session(id: SessionId): FakeSession | undefined {
    return this.sessions.get(id);
  }

  retryLink(sessionId: SessionId): Promise<void> {
    const session = this.sessions.get(sessionId);
    if (session === undefined) return refuse('noSuchSession', 'There is no such session any more.');
    if (session.facts.link.type === 'waiting') session.patch({ link: { type: 'connecting' } });
    return Promise.resolve();
  }

  startWithoutAsking(sessionId: SessionId): Promise<void> {
    const session = this.sessions.get(sessionId);
    if (session === undefined) return refuse('noSuchSession', 'There is no such session any more.');
    if (session.facts.alive) return refuse('badCommand', 'The agent runs. Stop it first.');
    session.patch({ mode: 'bypassPermissions', alive: true, status: { type: 'idle' } });
    return Promise.resolve();
  }

  subscribe(sessionId: SessionId, show: Viewport, unfolded: readonly ItemId[] = []): Promise<Snapshot> {
    const session = this.sessions.get(sessionId);
    if (session === undefined) return refuse('noSuchSession', 'There is no such session any more.');
    if (this.#second?.session === session) this.#second = null;
    if (this.second === sessionId) this.second = null;
    this.#window = new FakeWindow(session, show, unfolded);
    const snapshot = structuredClone(this.#window.snapshot());
    session.play?.(session);
    delete session.play;
    return Promise.resolve(snapshot);
  }

  subscribeSecond(sessionId: SessionId, show: Viewport, unfolded: readonly ItemId[] = []): Promise<Snapshot> {
    const session = this.sessions.get(sessionId);
    if (session === undefined) return refuse('noSuchSession', 'There is no such session any more.');
    this.#second = new FakeWindow(session, show, unfolded);
    this.second = sessionId;
    return Promise.resolve(structuredClone(this.#second.snapshot()));
  }

  showSession(sessionId: SessionId): Promise<void> {
    if (!this.sessions.has(sessionId)) return refuse('noSuchSession', 'There is no such session in this project.');
    this.broughtUp.push(sessionId);
    return Promise.resolve();
  }

  placeSession(sessionId: SessionId, inOwnWindow: boolean): Promise<void> {
    if (!this.sessions.has(sessionId)) return refuse('noSuchSession', 'There is no such session in this project.');
    if (inOwnWindow) this.ownWindows.add(sessionId);
    else this.ownWindows.delete(sessionId);
    this.hear({ type: 'ownWindowsChanged', sessions: [...this.ownWindows] });
    return Promise.resolve();
  }

  leaveSecond(): Promise<void> {
    this.#second = null;
    this.second = null;
    return Promise.resolve();
  }

  #windowOf(sessionId: SessionId): FakeWindow | null {
    return [this.#window, this.#second].find((window) => window?.session.facts.id === sessionId) ?? null;
  }

  showRows(sessionId: SessionId, show: Viewport): Promise<void> {
    const window = this.#windowOf(sessionId);
    if (window !== null) this.#announce(window, window.move(show));
    return Promise.resolve();
  }

  /** The answer to each query of a window. A test may replace one. */
  readonly answers: FakeAnswers = {
    find: (sessionId, { query, index }) => {
      const session = this.sessions.get(sessionId);
      if (session === undefined) return refuse('noSuchSession', 'There is no such session any more.');
      const found = find(session.items, query, index);
      if (found.hit !== null) found.hit.row = this.#rowOf(sessionId, found.hit.itemId) ?? found.hit.row;
      return Promise.resolve(found);
    },
    output: (sessionId, { itemId, first, count }) => {
      const body = this.sessions.get(sessionId)?.items.find((item) => item.id === itemId)?.body;
      const detail = body?.type === 'toolCall' && 'output' in body.detail ? body.detail : null;
      if (detail === null) return Promise.resolve(null);
      const { lines } = detail.output;
      return Promise.resolve({ total: lines.length, first, lines: lines.slice(first, first + count) });
    },
    images: () => Promise.resolve([PIXEL]),
    taskOutput: (_, { taskId }) => Promise.resolve(this.taskOutputs.get(taskId) ?? null),
    serverLog: (_, { server }) => Promise.resolve(this.serverLogs.get(server) ?? null),
    rawLines: (_, { after }) => {
      const { lines, ...facts } = this.rawLinesKept;
      return Promise.resolve({ ...facts, lines: lines.filter(({ nr }) => nr > after) });
    },
    copy: (sessionId, { copy }) => {
      const session = this.sessions.get(sessionId);
      return Promise.resolve((session && textOf(session, copy)) ?? null);
    },
    changes: () => Promise.resolve(this.workingChanges),
    fileDiff: (_, { path }) => Promise.resolve(diffOf(path)),
    namedFiles: (_, { paths }) => Promise.resolve(paths.map((path) => (FILES.has(path) ? path : null))),
    fileText: (_, { path }) => {
      const text = FILES.get(path);
      return text === undefined ? refuse('refused', NO_FILE) : Promise.resolve(text);
    },
    patch: (_, { path }) => {
      const files = path === null ? this.workingChanges.files : [fileOf(path)];
      const text = files.map((file) => `diff --git a/${file.path} b/${file.path}\n`).join('');
      const leftOut = path === null ? ['assets/logo.png: a binary file is left out of the patch.'] : [];
      return Promise.resolve({ text, nFiles: files.length - leftOut.length, leftOut });
    },
    promptMoments: () => Promise.resolve(MOMENTS),
    reviewOptions: (_, { options }) => Promise.resolve(reviewOf(options)),
  };

  ask<Asked extends SessionQuery>(sessionId: SessionId, query: Asked): Promise<SessionAnswers[Asked['type']]> {
    const answer = (this.answers as Partial<Record<string, unknown>>)[query.type] as FakeAnswer<Asked> | undefined;
    if (answer === undefined) return refuse('badCommand', 'The fake host does not answer this query.');
    return answer(sessionId, query);
  }

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

  removeRecording(_sessionId: SessionId, path: string): Promise<void> {
    this.removedRecordings.push(path);
    return Promise.resolve();
  }

  revealRecording(_sessionId: SessionId, path: string): Promise<void> {
    this.revealed.push(path);
    return Promise.resolve();
  }

  async command(sessionId: SessionId, command: Command): Promise<void> {
    const session = this.sessions.get(sessionId);
    if (session === undefined) return refuse('noSuchSession', 'There is no such session any more.');
    const error = runCommand(session, command);
    if (error !== null) throw error;
  }

  nextBatch(sessionId: SessionId): Promise<Batch | null> {
    return Promise.resolve(this.#windowOf(sessionId)?.take() ?? null);
  }

  #announce(window: FakeWindow, batch: Batch): void {
    if (window.wait(structuredClone(batch))) {
      this.hear({ type: 'batchReady', sessionId: batch.sessionId });
    }
  }

  removeSession(sessionId: SessionId): Promise<void> {
    const session = this.sessions.get(sessionId);
    session?.abort();
    if (session !== undefined) this.#removed.set(sessionId, session);
    this.sessions.delete(sessionId);
    this.hear({ type: 'sessionRemoved', sessionId });
    return Promise.resolve();
  }

  restoreSession(sessionId: SessionId): Promise<Session> {
    const session = this.#removed.get(sessionId);
    if (session === undefined) return refuse('noSuchSession', 'The session could not be brought back.');
    this.#removed.delete(sessionId);
    this.sessions.set(sessionId, session);
    return Promise.resolve(structuredClone(session.facts));
  }

  openTerminal(): Promise<void> {
    return refuse('internal', 'No terminal could be opened. “Copy resume command” copies the command for one.');
  }

  forkSession(sessionId: SessionId, before: ItemId | null): Promise<ForkedSession> {
    const origin = this.sessions.get(sessionId);
    if (origin === undefined) return refuse('noSuchSession', 'There is no such session any more.');
    const at = origin.items.findIndex(({ id }) => id === before);
    const body = origin.items[at]?.body;
    const fork = new FakeSession(
      emptySession(`${sessionId}-fork-${this.sessions.size}`, `${origin.facts.title} (fork)`),
    );
    origin.items.slice(0, at < 0 ? undefined : at).forEach((item) => fork.add(structuredClone(item.body)));
    this.adopt(fork);
    const draft = body?.type === 'prompt' ? body.text : null;
    return Promise.resolve({ session: structuredClone(fork.facts), draft });
  }

  exportSession(sessionId: SessionId, format: ExportFormat): Promise<string | null> {
    const title = this.sessions.get(sessionId)?.facts.title;
    if (title === undefined) return refuse('noSuchSession', 'There is no such session any more.');
    const extension = { markdown: 'md', json: 'json', html: 'html' }[format];
    return Promise.resolve(`/home/user/${title}.${extension}`);
  }

  revertChange(_: SessionId, __: Against, change: RevertedChange): Promise<Reverted> {
    this.#beforeRevert = this.workingChanges;
    if (change.hunk === null) {
      const files = this.workingChanges.files.filter(({ path }) => path !== change.path);
      this.workingChanges = { ...this.workingChanges, files };
    }
    return Promise.resolve({ at: 1, files: [change.path] });
  }

  undoRevert(): Promise<void> {
    this.workingChanges = this.#beforeRevert;
    return Promise.resolve();
  }

  ruleFiles(): Promise<RuleFileList> {
    return Promise.resolve(this.rules);
  }

  savedRules(): Promise<RulePlace[]> {
    return Promise.resolve(this.saved);
  }

  removeRule(_: SessionId, place: RulePlace): Promise<number> {
    this.#removedRules.push(this.rules);
    this.rules = withoutRule(this.rules, place);
    return Promise.resolve(this.#removedRules.length - 1);
  }

  restoreRule(removal: number): Promise<void> {
    this.rules = this.#removedRules[removal] ?? this.rules;
    return Promise.resolve();
  }

  commitState(): Promise<CommitBoxState> {
    return Promise.resolve(this.commitBox);
  }

  commit({ files, message }: CommitRequest, _: boolean): Promise<Committed> {
    this.#beforeCommit = this.workingChanges;
    const paths =
      files === 'all' ? this.workingChanges.files.map(({ path }) => path) : files.only.map(({ path }) => path);
    const left = this.workingChanges.files.filter(({ path }) => !paths.includes(path));
    this.workingChanges = { ...this.workingChanges, files: left };
    return Promise.resolve({ ...COMMITTED, files: paths, subject: message?.split('\n')[0] ?? '' });
  }

  stopCommit(): Promise<void> {
    return Promise.resolve();
  }

  undoCommit(): Promise<UndoneCommit> {
    this.workingChanges = this.#beforeCommit;
    return Promise.resolve({ id: COMMITTED.id, branch: COMMITTED.branch, head: null });
  }

  searchSessions(nr: number, query: string, all: boolean, toTheEnd: boolean): Promise<string | null> {
    const change = searchFound(query, all, toTheEnd);
    if (change === null) return Promise.resolve('Type a word to search for.');
    this.hear({ type: 'searched', nr, change });
    return Promise.resolve(null);
  }

  stopSearch(): Promise<void> {
    return Promise.resolve();
  }

  openFound(agentSessionId: string, itemId: ItemId | null): Promise<void> {
    this.shown.push([agentSessionId, itemId]);
    const session = [...this.sessions.values()].find(({ facts }) => facts.agentSessionId === agentSessionId);
    if (session !== undefined) this.hear({ type: 'show', sessionId: session.facts.id, requestId: null, itemId });
    return Promise.resolve();
  }

  openSender(sessionId: SessionId, itemId: ItemId): Promise<void> {
    const body = this.sessions.get(sessionId)?.items.find(({ id }) => id === itemId)?.body;
    const sender = body?.type === 'message' ? body.sender.agentSessionId : null;
    if (sender !== null) return this.openFound(sender, null);
    return refuse('noSuchSession', 'The agent does not report which session sent this message.');
  }

  locateItem(sessionId: SessionId, itemId: ItemId): Promise<number | null> {
    return Promise.resolve(this.#rowOf(sessionId, itemId));
  }

  #rowOf(sessionId: SessionId, itemId: ItemId): number | null {
    const item = this.sessions.get(sessionId)?.items.find(({ id }) => id === itemId);
    return this.#windowOf(sessionId)?.rowOf(itemId) ?? item?.row ?? null;
  }

  findFiles(query: string): Promise<FoundFiles> {
    const files = PROJECT_FILES.flatMap((path) => {
      const at = path.toLowerCase().indexOf(query.toLowerCase());
      return at < 0 ? [] : [{ path, matched: Array.from(query, (_, i) => at + i) }];
    });
    return Promise.resolve({ files, isCut: false });
  }

  cardsInSight(sessionId: SessionId, requestIds: RequestId[]): Promise<void> {
    this.cards = [sessionId, requestIds];
    return Promise.resolve();
  }

  protected adopt(session: FakeSession): void {
    this.sessions.set(session.facts.id, session);
    session.onevents = (after: number, events: Event[]) => {
      const window = this.#windowOf(session.facts.id);
      if (window !== null) this.#announce(window, window.hear(after, events));
      else this.hear({ type: 'sessionListed', session: structuredClone(session.facts) });
    };
  }
}
