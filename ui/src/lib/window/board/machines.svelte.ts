// The other machines on the board that the user asks what runs there. An answer is kept until the next one.

import type { CommandError, MachineAnswer, MachineSession } from '../../bindings/api';
import { asCommandError, type Host } from '../../host/host';

export interface Asked {
  /** What the machine is asked for now: a list, or a stop of all agents there. */
  busy: 'list' | 'stop' | null;
  answer: MachineAnswer | null;
  problem: CommandError | null;
}

const NOTHING: Asked = { busy: null, answer: null, problem: null };

export class AskedMachines {
  #asked = $state.raw<ReadonlyMap<string, Asked>>(new Map());
  #host: Host;

  constructor(host: Host) {
    this.#host = host;
  }

  /** The machines that were asked. */
  get names(): string[] {
    return [...this.#asked.keys()];
  }

  of(machine: string): Asked {
    return this.#asked.get(machine) ?? NOTHING;
  }

  /** Lists what runs there. One question at a time for each machine. */
  list(machine: string): Promise<void> {
    return this.#ask(machine, 'list', () => Promise.resolve());
  }

  /** Stops every agent there, and lists what runs there then. */
  stop(machine: string): Promise<void> {
    return this.#ask(machine, 'stop', () => this.#host.stopMachine(machine));
  }

  async open(machine: string, { project, sessionId }: MachineSession): Promise<void> {
    try {
      await this.#host.openMachineSession(machine, project, sessionId);
    } catch (reason) {
      this.#set(machine, { problem: asCommandError(reason) });
    }
  }

  async #ask(machine: string, busy: 'list' | 'stop', first: () => Promise<void>): Promise<void> {
    if (this.of(machine).busy !== null) return;
    this.#set(machine, { busy, problem: null });
    try {
      await first();
      this.#set(machine, { answer: await this.#host.machineSessions(machine) });
    } catch (reason) {
      this.#set(machine, { problem: asCommandError(reason) });
    } finally {
      this.#set(machine, { busy: null });
    }
  }

  #set(machine: string, change: Partial<Asked>): void {
    this.#asked = new Map(this.#asked).set(machine, { ...this.of(machine), ...change });
  }
}
