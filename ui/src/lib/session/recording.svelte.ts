// The recordings of sessions, which the user starts for a bug report.

import type { RecordingState, SessionId, WindowEvent } from '../bindings/api';
import type { Host } from '../host/host';
import type { Problems } from './problems.svelte';

export class Recordings {
  /** The recordings that run or have just ended; `null` for one that the user dismissed. */
  #all = $state.raw<ReadonlyMap<SessionId, RecordingState | null>>(new Map());

  constructor(
    private readonly host: Host,
    private readonly problems: Problems,
  ) {}

  of(id: SessionId): RecordingState | null {
    return this.#all.get(id) ?? null;
  }

  #set(id: SessionId, recording: RecordingState | null): void {
    this.#all = new Map([...this.#all, [id, recording]]);
  }

  /** A recording that could not be written has ended by itself. */
  hear(event: WindowEvent): void {
    if (event.type === 'recordingEnded') this.#set(event.sessionId, event.recording);
  }

  /** Finds a recording that was started before the page was loaded, also if it has failed since. */
  async find(id: SessionId): Promise<void> {
    if (this.#all.has(id)) return;
    await this.problems.attempt('It is not known whether the session is being recorded', async () => {
      const recording = await this.host.recordingOf(id);
      if (recording !== null) this.#set(id, recording);
    });
  }

  async start(id: SessionId): Promise<void> {
    await this.problems.attempt('The session is not recorded', async () => {
      this.#set(id, await this.host.recordSession(id));
    });
  }

  async stop(id: SessionId): Promise<void> {
    await this.problems.attempt('The recording was not stopped', async () => {
      this.#set(id, await this.host.stopRecording(id));
    });
  }

  async reveal(id: SessionId, path: string): Promise<void> {
    await this.problems.attempt('The recording was not shown', () => this.host.revealRecording(id, path));
  }

  async remove(id: SessionId, path: string): Promise<void> {
    await this.problems.attempt('The recording was not deleted', async () => {
      await this.host.removeRecording(id, path);
      if (this.of(id)?.path === path) this.dismiss(id);
    });
  }

  async copyPath(path: string): Promise<void> {
    await this.problems.attempt('The path was not copied', () => this.host.writeClipboard(path));
  }

  dismiss(id: SessionId): void {
    this.#set(id, null);
  }
}
