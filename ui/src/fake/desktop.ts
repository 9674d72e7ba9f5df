// The fake host without its sessions: the start page, the board, other machines, the settings, and the desktop around
// the window.

import type {
  BoardAnswer,
  BellTest,
  Profile,
  Attachment,
  Dropped,
  BoardConnection,
  BoardMachine,
  BoardRow,
  BoardView,
  ConnectionQuestion,
  FolderListing,
  MachineAnswer,
  MenuEntry,
  ItemId,
  JsonValue,
  Preset,
  ProjectRef,
  RecentProject,
  SessionId,
  SettingsView,
  SidePanels,
  StartConnection,
  UsageView,
  WindowEvent,
  ZoomStep,
} from '../lib/bindings/api';
import { writeClipboard, type Host } from '../lib/host/host';
import { withSetting } from '../lib/window/settings/values';
import { shownProject } from '../lib/text/project';
import { foldersOn, SSH_HOSTS } from './far';
import { answerOf, BOARDS, machinesOf } from './board';
import { FakeStart, isProject, RECENT, STARTS } from './start';
import { usageOf } from './usage';
import { refuse } from './refuse';

/** The first characters of each image type in base64. */
const IMAGE_STARTS = [
  ['iVBORw0KGg', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
] as const;

export abstract class FakeDesktop {
  readonly opened: string[] = [];
  readonly revealed: string[] = [];
  readonly edited: [string, number | null][] = [];
  /** The errors that the page reported, each with the part of the page. */
  readonly pageErrors: [string, string][] = [];
  readonly page: Host['page'];
  /** The sessions that were opened from the search or the board, each with the item, if one was named. */
  readonly shown: [string, ItemId | null][] = [];
  /** The start page, or the list of projects that a project's window offers. */
  readonly start: FakeStart;
  /** What the user did outside the window: `login`, `choose`. */
  readonly outside: string[] = [];
  /** The answers to the questions of connections, by their id. */
  readonly answered: [string, string | null][] = [];
  protected hear: (event: WindowEvent) => void = () => {};
  protected settings: SettingsView;
  #board: readonly BoardRow[];
  /** The rows before some were cleared. */
  #uncleared: readonly BoardRow[] = [];
  readonly #machines: readonly BoardMachine[];
  /** The requests that the board answered. */
  readonly boardAnswers: [string, BoardAnswer][] = [];
  /** The sessions that the board stopped. */
  readonly stopped: SessionId[] = [];
  /** A browser has no menu bar for a page; a test may say that it has. */
  hasMenuBar = false;
  /** The menus that the bar got. */
  readonly menus: (readonly MenuEntry[])[] = [];
  /** Why the bar cannot be changed. */
  menuBarProblem: string | null = null;
  /** The steps of the zoom. */
  readonly zoomSteps: ZoomStep[] = [];
  panels: SidePanels = { sessions: { width: null, shown: null }, side: { width: null, shown: null } };
  /** The image that `clipboardImage` returns; not the page's own clipboard. */
  clipboard: Attachment | null = null;
  /** The files that `clipboardFiles` returns. */
  copiedFiles: Dropped[] = [];

  constructor(name: string, settings: SettingsView) {
    const start = STARTS[name];
    this.page = start !== undefined ? 'start' : BOARDS[name] !== undefined ? 'board' : 'project';
    this.#board = BOARDS[name] ?? [];
    this.#machines = machinesOf(name);
    this.start = new FakeStart(
      start?.() ?? { projects: [...RECENT], question: null, problem: null, unreadFiles: [], appVersion: '' },
    );
    this.settings = settings;
  }

  setMenu(menu: readonly MenuEntry[]): Promise<boolean> {
    if (this.menuBarProblem !== null) return refuse('internal', this.menuBarProblem);
    this.menus.push(menu);
    return Promise.resolve(true);
  }

  /** The user chooses an entry of the menu bar. */
  chooseInMenuBar(id: string): void {
    this.hear({ type: 'menuChosen', id });
  }

  usage(all: boolean): Promise<UsageView> {
    return Promise.resolve(all ? usageOf(60, 310) : usageOf(31, 24));
  }

  exportUsage(): Promise<string | null> {
    return Promise.resolve('/home/user/Documents/deskbell-usage.csv');
  }

  openBoard(): Promise<void> {
    this.start.done.push('board');
    return Promise.resolve();
  }

  connectBoard(): Promise<BoardConnection> {
    const board = this.#boardView();
    return Promise.resolve(structuredClone({ event: 'board-fake', board, settings: this.settings }));
  }

  /** Publishes other rows of the board. */
  changeBoard(rows: BoardRow[]): void {
    this.#board = rows;
    this.hear({ type: 'boardChanged', board: this.#boardView() });
  }

  #boardView(): BoardView {
    return { rows: [...this.#board], machines: [...this.#machines] };
  }

  openBoardSession(sessionId: SessionId): Promise<void> {
    this.shown.push([sessionId, null]);
    return Promise.resolve();
  }

  showWaiting(): Promise<void> {
    this.shown.push(['waiting', null]);
    return Promise.resolve();
  }

  answerBoardRequest(sessionId: SessionId, requestId: string, shown: string, answer: BoardAnswer): Promise<void> {
    const row = this.#board.find((one) => one.sessionId === sessionId);
    if (row?.request?.id !== requestId || row.request.shown !== shown) {
      return refuse('noSuchRequest', 'Already answered in the window.');
    }
    this.boardAnswers.push([requestId, answer]);
    const status = { type: 'working', activity: 'Working' } as const;
    const works: BoardRow = { ...row, state: 'working', status, request: null };
    this.changeBoard(this.#board.map((one) => (one === row ? works : one)));
    return Promise.resolve();
  }

  clearBoardRows(sessionIds: SessionId[]): Promise<void> {
    this.#uncleared = this.#board;
    this.changeBoard(this.#board.filter((row) => !sessionIds.includes(row.sessionId)));
    return Promise.resolve();
  }

  restoreBoardRows(): Promise<void> {
    this.changeBoard([...this.#uncleared]);
    return Promise.resolve();
  }

  stopBoardSessions(sessionIds: SessionId[]): Promise<void> {
    this.stopped.push(...sessionIds);
    return Promise.resolve();
  }

  machineSessions(machine: string): Promise<MachineAnswer> {
    return answerOf(machine);
  }

  openMachineSession(machine: string, project: string, sessionId: SessionId): Promise<void> {
    this.start.done.push(`open ${sessionId} in ${machine}:${project}`);
    return Promise.resolve();
  }

  stopMachine(machine: string): Promise<void> {
    this.start.done.push(`stop ${machine}`);
    return Promise.resolve();
  }

  keepPanels(panels: SidePanels): Promise<void> {
    this.panels = panels;
    return Promise.resolve();
  }

  zoomWindow(step: ZoomStep): Promise<void> {
    this.zoomSteps.push(step);
    return Promise.resolve();
  }

  setSetting(key: string, value: JsonValue): Promise<void> {
    this.changeSettings({ ...this.settings, settings: withSetting(this.settings.settings, key, value) });
    return Promise.resolve();
  }

  setPresets(presets: Preset[]): Promise<void> {
    return this.setSetting('agent.presets', presets as unknown as JsonValue);
  }

  changeProfile(was: string | null, profile: Profile | null): Promise<void> {
    const profiles = this.settings.settings.agent.profiles;
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

  testBell(): Promise<BellTest[]> {
    const { needsYou, failed, finished } = this.settings.settings.bell;
    const all = Object.entries({ needsYou, failed, finished }).filter(([, { on }]) => on);
    return Promise.resolve(all.map(([event]) => ({ event, isAccepted: true })));
  }

  openSettingsFile(): Promise<void> {
    return Promise.resolve();
  }

  /** Reports other settings, as after a change of the file. */
  changeSettings(settings: SettingsView): void {
    this.settings = settings;
    this.hear({ type: 'settingsChanged', settings });
  }

  lastLogLines(): Promise<string> {
    return Promise.resolve('Last lines of the log\n\n2026-11-22T09:00:00.000000Z [4711]  WARN deskbell: a line\n');
  }

  openLogin(sessionId: SessionId | null): Promise<void> {
    this.outside.push(sessionId === null ? 'login' : `login ${sessionId}`);
    return Promise.resolve();
  }

  chooseAgent(): Promise<boolean> {
    this.outside.push('choose');
    return Promise.resolve(true);
  }

  checkAttachment(name: string, data: string): Promise<Attachment> {
    const image = IMAGE_STARTS.find(([start]) => data.startsWith(start))?.[1];
    if (image !== undefined) return Promise.resolve({ name, mediaType: image, data });
    const bytes = atob(data);
    if (bytes.startsWith('%PDF-')) return Promise.resolve({ name, mediaType: 'application/pdf', data });
    if (bytes.includes('\0')) return refuse('badCommand', `${name} cannot be attached.`);
    return Promise.resolve({ name, mediaType: 'text/plain', data: bytes });
  }

  clipboardImage(): Promise<Attachment | null> {
    return Promise.resolve(this.clipboard);
  }

  clipboardFiles(): Promise<Dropped[]> {
    return Promise.resolve(this.copiedFiles);
  }

  reportPageError(place: string, error: string): Promise<void> {
    this.pageErrors.push([place, error]);
    return Promise.resolve();
  }

  connectStart(): Promise<StartConnection> {
    const { view } = this.start;
    return Promise.resolve(structuredClone({ event: 'start-fake', start: view, settings: this.settings }));
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
    this.hear({ type: 'connectionAsks', question });
  }

  /** A connection does not need the answer any more. */
  endQuestion(id: string): void {
    this.hear({ type: 'connectionAnswered', id });
  }

  openRecent(project: ProjectRef): Promise<void> {
    return this.start.open(project);
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

  pinProject(project: ProjectRef, pinned: boolean): Promise<void> {
    const isIt = isProject(project);
    this.start.change((projects) => projects.map((one) => (isIt(one) ? { ...one, pinned } : one)));
    return Promise.resolve();
  }

  forgetProject(project: ProjectRef): Promise<void> {
    const isIt = isProject(project);
    this.start.change((projects) => projects.filter((one) => !isIt(one)));
    return Promise.resolve();
  }

  moveProject(project: ProjectRef): Promise<void> {
    this.start.done.push(`move ${shownProject(project)}`);
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
}
