// The state of the start page: its content, and what the user does with it.

import type { ProjectRef, SettingsView, StartConnection, StartView, WindowEvent } from '../../bindings/api';
import { asCommandError, loggedError, type Host } from '../../host/host';
import { machinesOf, type Machines } from '../../project/machines';
import { ConnectionQuestions } from '../../project/connectionQuestions.svelte';
import { Problems } from '../../session/problems.svelte';
import { MenuBar } from '../../project/menuBar.svelte';

export class StartState {
  start = $state.raw<StartView>() as StartView;
  settings = $state.raw<SettingsView>() as SettingsView;
  /** A folder is being dragged over the window. */
  dragging = $state(false);
  readonly problems = new Problems();
  /** Other machines, for the form that opens a folder there. */
  readonly machines: Machines;
  /** The questions of their connections. */
  readonly questions: ConnectionQuestions;
  readonly menuBar: MenuBar;

  #host: Host;
  /** The problem that the shell reported last. */
  #reported: string | null = null;

  constructor(host: Host, { start, settings }: StartConnection) {
    this.#host = host;
    this.machines = machinesOf(host);
    this.questions = new ConnectionQuestions(host, this.problems);
    this.menuBar = new MenuBar(host, this.problems);
    this.settings = settings;
    this.#show(start);
  }

  static async start(host: Host): Promise<StartState> {
    const connection = await host.connectStart();
    const state = new StartState(host, connection);
    await host.listen(
      connection.event,
      (event) => state.hear(event),
      (reason) => state.problems.report('The window missed something', asCommandError(reason)),
    );
    return state;
  }

  hear(event: WindowEvent): void {
    if (event.type === 'startChanged') this.#show(event.start);
    if (event.type === 'settingsChanged') this.settings = event.settings;
    if (event.type === 'dragging') this.dragging = event.at !== null;
    this.questions.hear(event);
    this.menuBar.hear(event);
  }

  chooseFolder(): Promise<void> {
    return this.#try('The folder was not opened', () => this.#host.chooseFolder());
  }

  open(project: ProjectRef): Promise<void> {
    return this.#try('The project was not opened', () => this.#host.openRecent(project));
  }

  openDemo(): Promise<void> {
    return this.#try('The demo was not opened', () => this.#host.openDemo());
  }

  openBoard(): Promise<void> {
    return this.#try('The board was not opened', () => this.#host.openBoard());
  }

  quit(): Promise<void> {
    return this.#try('Deskbell was not ended', () => this.#host.quit());
  }

  answer(open: boolean): Promise<void> {
    return this.#try('The folder was not opened', () => this.#host.answerFolderQuestion(open));
  }

  pin(project: ProjectRef, pinned: boolean): Promise<void> {
    return this.#try('The list was not saved', () => this.#host.pinProject(project, pinned));
  }

  forget(project: ProjectRef): Promise<void> {
    return this.#try('The list was not saved', () => this.#host.forgetProject(project));
  }

  /** Asks for the folder that a missing one is now, and opens it. */
  moved(project: ProjectRef): Promise<void> {
    return this.#try('The project was not opened in its new place', () => this.#host.moveProject(project));
  }

  forgetAll(): Promise<void> {
    return this.#try('The list was not saved', () => this.#host.forgetAllProjects());
  }

  reportPageError(place: string, error: unknown): void {
    void this.#try('An error was not logged', () => this.#host.reportPageError(place, loggedError(error)));
  }

  #show(start: StartView): void {
    this.start = start;
    const problem = start.problem === null ? null : start.problem.message;
    if (start.problem !== null && problem !== this.#reported) {
      this.problems.report('The folder was not opened', start.problem);
    }
    this.#reported = problem;
  }

  async #try(what: string, call: () => Promise<void>): Promise<void> {
    try {
      await call();
    } catch (reason) {
      this.problems.report(what, asCommandError(reason));
    }
  }
}
