// The recordings of sessions, which the user starts for a bug report.

import type { SessionId } from '../bindings/api';
import type { Host } from '../host/host';
import type { Problems } from './problems.svelte';

/** A recording that runs, or that has just ended. */
export interface Recording {
  readonly path: string;
  readonly isRunning: boolean;
}

export class Recordings {
  #all = $state.raw<ReadonlyMap<SessionId, Recording>>(new Map());

  constructor(
    private readonly host: Host,
    private readonly problems: Problems,
  ) {}

  of(id: SessionId): Recording | null {
    return this.#all.get(id) ?? null;
  }

  #set(id: SessionId, recording: Recording | null): void {
    const others = [...this.#all].filter(([known]) => known !== id);
    this.#all = new Map(recording === null ? others : [...others, [id, recording]]);
  }

  /** Finds a recording that was started before the page was loaded. */
  async find(id: SessionId): Promise<void> {
    if (this.#all.has(id)) return;
    await this.problems.attempt('It is not known whether the session is being recorded', async () => {
      const path = await this.host.recordingOf(id);
      if (path !== null) this.#set(id, { path, isRunning: true });
    });
  }

  async start(id: SessionId): Promise<void> {
    await this.problems.attempt('The session is not recorded', async () => {
      this.#set(id, { path: await this.host.recordSession(id), isRunning: true });
    });
  }

  async stop(id: SessionId): Promise<void> {
    const failed = await this.problems.attempt('The recording is incomplete', async () => {
      const path = await this.host.stopRecording(id);
      this.#set(id, path === null ? null : { path, isRunning: false });
    });
    if (failed !== null) this.#set(id, null);
  }

  async reveal(id: SessionId, path: string): Promise<void> {
    await this.problems.attempt('The recording was not shown', () => this.host.revealRecording(id, path));
  }

  async copyPath(path: string): Promise<void> {
    await this.problems.attempt('The path was not copied', () => this.host.writeClipboard(path));
  }

  dismiss(id: SessionId): void {
    this.#set(id, null);
  }
}
