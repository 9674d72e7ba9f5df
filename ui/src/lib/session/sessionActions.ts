// What the user does with the sessions of a project: commands to them, and their texts that a window asks for.

import type {
  Command,
  CopyOf,
  Found,
  ItemId,
  OptionsReview,
  SessionId,
  RequestId,
  RuleFileList,
  RulePlace,
  SessionOptions,
  TaskOutput,
  RawLines,
} from '../bindings/api';
import { appLink } from '../text/appLink';
import { existing, type Host } from '../host/host';
import type { Problems } from './problems.svelte';

export class SessionActions {
  /** `project` is the path of the project. */
  constructor(
    private readonly host: Host,
    private readonly problems: Problems,
    private readonly project: string,
  ) {}

  /** Sends a command that is not a prompt to a session. */
  async commandTo(id: SessionId, command: Command, what: string): Promise<void> {
    await this.problems.attempt(what, () => this.host.command(id, command));
  }

  /** What the open session's agent would be started with; `null` if that could not be found out, which is reported. */
  async reviewOptions(sessionId: SessionId, options: SessionOptions): Promise<OptionsReview | null> {
    return this.problems.read('The options were not checked', () =>
      this.host.ask(sessionId, { type: 'reviewOptions', options }),
    );
  }

  /** The settings files that may have permission rules for a session; `null` if that failed, which is reported. */
  async ruleFiles(id: SessionId): Promise<RuleFileList | null> {
    return this.problems.read('The files with rules were not read', () => this.host.ruleFiles(id));
  }

  /**
   * The places of the rules that the agent saved with an answer; none if it saves none in the folder. `null` if it did
   * not save them, which is reported.
   */
  async savedRules(id: SessionId, requestId: RequestId): Promise<RulePlace[] | null> {
    return this.problems.read('The rule was not saved', () => this.host.savedRules(id, requestId));
  }

  /** Removes a rule from its file. Returns the number for its undo; `null` if that failed, which is reported. */
  async removeRule(id: SessionId, place: RulePlace): Promise<number | null> {
    return this.problems.read('The rule was not removed', () => this.host.removeRule(id, place));
  }

  /** Puts a removed rule back. Returns whether that worked. */
  async restoreRule(removal: number): Promise<boolean> {
    return (await this.problems.attempt('The rule was not put back', () => this.host.restoreRule(removal))) === null;
  }

  /** Continues a session in the user's terminal. */
  async openTerminal(id: SessionId): Promise<void> {
    await this.problems.attempt('The terminal was not opened', () => this.host.openTerminal(id));
  }

  /** Tries to connect to the server of a session now. */
  async retryLink(id: SessionId): Promise<void> {
    await this.problems.attempt('The connection was not tried', () => this.host.retryLink(id));
  }

  /** The row of an item of the open session; `null` if it has none, or if that failed, which is reported. */
  async locate(sessionId: SessionId, itemId: ItemId): Promise<number | null> {
    return this.problems.read('The place was not found', () => this.host.locateItem(sessionId, itemId));
  }

  /** The conversation does not show the item of a search result. */
  reportUnshown(): void {
    this.problems.report('The match is not shown', {
      code: 'internal',
      message: 'This part of the conversation was replaced or belongs to another branch of it.',
      detail: null,
    });
  }

  /** Copies a text of a session from the engine to the clipboard. */
  async copyOf(copy: CopyOf, id: SessionId): Promise<boolean> {
    const copied = this.problems.attempt('The text was not copied', async () =>
      this.host.writeClipboard(this.host.ask(id, { type: 'copy', copy }).then(existing)),
    );
    return (await copied) === null;
  }

  /** The whole text of a prompt; a window has only the beginning of a long one. */
  async promptText(id: SessionId, itemId: ItemId): Promise<string | null> {
    const copy = { type: 'message', itemId } as const;
    return this.problems.read('The prompt was not read', async () =>
      existing(await this.host.ask(id, { type: 'copy', copy })),
    );
  }

  /** Copies the link that opens a session of this project. Returns whether that worked. */
  async copyLink(id: SessionId): Promise<boolean> {
    const link = appLink(this.project, id);
    const copied = this.problems.attempt('The link was not copied', async () => this.host.writeClipboard(link));
    return (await copied) === null;
  }

  /** Finds words in a whole session; `null` if that failed or a newer search began. */
  async findWords(id: SessionId, query: string, index: number | null): Promise<Found | null> {
    return this.problems.read('The search failed', () => this.host.ask(id, { type: 'find', query, index }));
  }

  /** The end of the output of a task in the background; `null` if it does not run or writes none. Rejects as the host. */
  taskOutput(id: SessionId, taskId: string): Promise<TaskOutput | null> {
    return this.host.ask(id, { type: 'taskOutput', taskId });
  }

  /** The end of an MCP server's error output; `null` if nothing was kept. Rejects as the host. */
  serverLog(id: SessionId, server: string): Promise<TaskOutput | null> {
    return this.host.ask(id, { type: 'serverLog', server });
  }

  /** The last lines between Deskbell and the agent of a session, after line `after`. Rejects as the host. */
  rawLines(id: SessionId, after: number): Promise<RawLines> {
    return this.host.ask(id, { type: 'rawLines', after });
  }
}
