// The state of the board: the sessions of all projects that work, wait or have just finished.

import type {
  BoardAnswer,
  BoardConnection,
  BoardRequest,
  BoardView,
  CommandError,
  SettingsView,
  WindowEvent,
} from '../../bindings/api';
import { asCommandError, loggedError, type Host } from '../../host/host';
import { ConnectionQuestions } from '../../project/connectionQuestions.svelte';
import { Problems } from '../../session/problems.svelte';
import { MenuBar } from '../../project/menuBar.svelte';
import { AskedMachines } from './machines.svelte';

export class BoardPage {
  board = $state.raw<BoardView>() as BoardView;
  settings = $state.raw<SettingsView>() as SettingsView;
  readonly problems = new Problems();
  readonly asked: AskedMachines;
  /** The questions of connections to machines that the user asks. */
  readonly questions: ConnectionQuestions;
  readonly menuBar: MenuBar;

  #host: Host;

  constructor(host: Host, { board, settings }: BoardConnection) {
    this.#host = host;
    this.asked = new AskedMachines(host);
    this.questions = new ConnectionQuestions(host, this.problems);
    this.menuBar = new MenuBar(host, this.problems);
    this.board = board;
    this.settings = settings;
  }

  static async start(host: Host): Promise<BoardPage> {
    const connection = await host.connectBoard();
    const state = new BoardPage(host, connection);
    await host.listen(
      connection.event,
      (event) => state.hear(event),
      (reason) => state.problems.report('The board missed an update', asCommandError(reason)),
    );
    return state;
  }

  hear(event: WindowEvent): void {
    this.questions.hear(event);
    this.menuBar.hear(event);
    if (event.type === 'boardChanged') this.board = event.board;
    if (event.type === 'settingsChanged') this.settings = event.settings;
  }

  open(sessionId: string): Promise<void> {
    return this.#try('The session was not opened', () => this.#host.openBoardSession(sessionId));
  }

  /** Answers this request of a session. Resolves to why that failed, or to `null`. One that is over is no problem. */
  async answer(sessionId: string, request: BoardRequest, answer: BoardAnswer): Promise<CommandError | null> {
    try {
      await this.#host.answerBoardRequest(sessionId, request.id, request.shown, answer);
      return null;
    } catch (reason) {
      const error = asCommandError(reason);
      if (error.code !== 'noSuchRequest') this.problems.report('The request was not answered', error);
      return error;
    }
  }

  /** Removes rows from the board. Resolves to whether it was done. */
  async clear(sessionIds: string[]): Promise<boolean> {
    return (
      (await this.problems.attempt('The rows were not cleared', () => this.#host.clearBoardRows(sessionIds))) === null
    );
  }

  /** Shows cleared rows again. */
  restore(sessionIds: string[]): Promise<void> {
    return this.#try('The rows were not shown again', () => this.#host.restoreBoardRows(sessionIds));
  }

  stop(sessionIds: string[]): Promise<void> {
    return this.#try('Not every session was stopped', () => this.#host.stopBoardSessions(sessionIds));
  }

  openStartPage(): Promise<void> {
    return this.#try('The start page was not opened', () => this.#host.openStartPage());
  }

  /** The hosts to offer; none if they cannot be read, because a name can be typed. */
  hosts = (): Promise<readonly string[]> => this.#host.sshHosts().catch(() => []);

  quit(): Promise<void> {
    return this.#try('Deskbell was not ended', () => this.#host.quit());
  }

  copy(text: string): Promise<void> {
    return this.#try('The text was not copied', () => this.#host.writeClipboard(text));
  }

  reportPageError(place: string, error: unknown): void {
    void this.#try('An error was not logged', () => this.#host.reportPageError(place, loggedError(error)));
  }

  async #try(what: string, call: () => Promise<void>): Promise<void> {
    await this.problems.attempt(what, call);
  }
}
