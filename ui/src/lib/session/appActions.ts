// What a window can ask the app for, apart from its sessions: costs, settings, the agent's checkup, links, the clipboard.

import type {
  BellTest,
  Checkup,
  CommandError,
  Attachment,
  Dropped,
  JsonValue,
  Preset,
  Profile,
  ProjectRef,
  SidePanels,
  UsageView,
  ZoomStep,
} from '../bindings/api';
import { asCommandError, loggedError, type Host } from '../host/host';
import type { Problems } from './problems.svelte';

export class AppActions {
  constructor(
    private readonly host: Host,
    private readonly problems: Problems,
  ) {}

  /** What the sessions of the project, or of all projects, cost; `null` if they could not be read, which is reported. */
  async usage(all: boolean): Promise<UsageView | null> {
    return this.problems.read('The costs were not loaded', () => this.host.usage(all));
  }

  /** Exports those costs to a file that the user chooses. Returns its path. */
  async exportUsage(all: boolean): Promise<string | null> {
    return this.problems.read('The costs were not exported', () => this.host.exportUsage(all));
  }

  /** Makes the window's content larger or smaller, for its project only. A refusal is shown. */
  async zoom(step: ZoomStep): Promise<void> {
    await this.problems.attempt('The window was not zoomed', () => this.host.zoomWindow(step));
  }

  /** Remembers the panels for the project's next window. */
  async keepPanels(panels: SidePanels): Promise<void> {
    await this.problems.attempt('The panels were not remembered', () => this.host.keepPanels(panels));
  }

  /** Chooses whether the project's new sessions keep running; `null` follows the setting. A refusal is shown. */
  async setKeepRunning(keep: boolean | null): Promise<void> {
    await this.problems.attempt('The choice was not saved', () => this.host.setKeepRunning(keep));
  }

  /** Changes one setting in the file. Its effect arrives as an event; a refusal is shown. */
  async setSetting(key: string, value: JsonValue): Promise<void> {
    await this.problems.attempt('The setting was not saved', () => this.host.setSetting(key, value));
  }

  /** Changes one setting in the file. Returns why it was refused; its effect arrives as an event. */
  async saveSetting(key: string, value: JsonValue): Promise<CommandError | null> {
    return this.#refusal(() => this.host.setSetting(key, value));
  }

  /** Replaces the presets. Their change arrives as an event; a refusal is shown and returned. */
  async setPresets(presets: Preset[]): Promise<CommandError | null> {
    return this.problems.attempt('The presets were not saved', () => this.host.setPresets(presets));
  }

  /**
   * Adds a profile (`was` is `null`), changes the one with this name, or removes it (`profile` is `null`). Returns why it
   * was refused; its change arrives as an event.
   */
  async changeProfile(was: string | null, profile: Profile | null): Promise<CommandError | null> {
    return this.#refusal(() => this.host.changeProfile(was, profile));
  }

  async #refusal(call: () => Promise<void>): Promise<CommandError | null> {
    try {
      await call();
      return null;
    } catch (reason) {
      return asCommandError(reason);
    }
  }

  /** Sends a test notification of each kind; `null` if that failed, which is reported. */
  testBell(): Promise<BellTest[] | null> {
    return this.problems.read('No test was sent', () => this.host.testBell());
  }

  async openSettingsFile(): Promise<void> {
    await this.problems.attempt('The settings file was not opened', () => this.host.openSettingsFile());
  }

  async quit(): Promise<void> {
    await this.problems.attempt('Deskbell was not ended', () => this.host.quit());
  }

  /** The result of the agent checkup; `null` if it failed, which is reported. */
  async checkAgent(): Promise<Checkup | null> {
    return this.problems.read('The permission test failed', () => this.host.checkAgent());
  }

  /**
   * Copies the doctor's report and the last lines of the log. Without a report that is on screen, the doctor makes one
   * first.
   */
  async copyDiagnostics(report: string | null = null): Promise<boolean> {
    const both = async () => {
      const above = report ?? (await this.host.checkAgent()).report;
      return `${above}\n${await this.host.lastLogLines()}`;
    };
    const copied = this.problems.attempt('The diagnostics were not copied', async () =>
      this.host.writeClipboard(both()),
    );
    return (await copied) === null;
  }

  /** Ends these processes of an earlier run. The host then publishes the remaining ones. */
  async endOrphans(pids: number[]): Promise<void> {
    await this.problems.attempt('Some processes were not ended', () => this.host.endOrphans(pids));
  }

  async leaveOrphans(): Promise<void> {
    await this.problems.attempt('The list of processes was not closed', () => this.host.leaveOrphans());
  }

  /** Writes an error of the page to the program's log. If that fails too, the error is shown. */
  reportPageError(place: string, error: unknown): void {
    void this.problems.attempt('An error was not logged', () => this.host.reportPageError(place, loggedError(error)));
  }

  async openRecent(project: ProjectRef): Promise<void> {
    await this.problems.attempt('The project was not opened', () => this.host.openRecent(project));
  }

  async chooseFolder(): Promise<void> {
    await this.problems.attempt('The folder was not opened', () => this.host.chooseFolder());
  }

  async openBoard(): Promise<void> {
    await this.problems.attempt('The board was not opened', () => this.host.openBoard());
  }

  async openStartPage(): Promise<void> {
    await this.problems.attempt('The start page was not opened', () => this.host.openStartPage());
  }

  /** Opens a link in the desktop's browser. Resolves to whether it was opened. */
  async openLink(url: string): Promise<boolean> {
    return (await this.problems.attempt('The link was not opened', () => this.host.openLink(url))) === null;
  }

  /** Shows a file of the project in the file manager. */
  async revealPath(path: string): Promise<void> {
    await this.problems.attempt('The file was not shown', () => this.host.revealPath(path));
  }

  /** Opens a file of the project in the user's editor, at a line counted from 1. */
  async openInEditor(path: string, line: number | null = null): Promise<void> {
    await this.problems.attempt('The file was not opened', () => this.host.openInEditor(path, line));
  }

  /** Reports why a file or an image was not attached. */
  refuseAttachment(message: string): void {
    this.problems.report('Not attached', { code: 'badCommand', message, detail: null });
  }

  reportHalfCharacter(): void {
    const message = 'The prompt had half of a character, such as half an emoji. The agent got � in its place.';
    this.problems.report('Sent with a change', { code: 'badCommand', message, detail: null });
  }

  checkAttachment(name: string, data: string): Promise<Attachment> {
    return this.host.checkAttachment(name, data);
  }

  clipboardImage(): Promise<Attachment | null> {
    return this.host.clipboardImage();
  }

  clipboardFiles(): Promise<Dropped[]> {
    return this.host.clipboardFiles();
  }

  async writeClipboard(text: string): Promise<boolean> {
    return (await this.problems.attempt('The text was not copied', () => this.host.writeClipboard(text))) === null;
  }
}
