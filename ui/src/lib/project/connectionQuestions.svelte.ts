// The questions of connections to other machines that wait for the user in this window.

import type { ConnectionQuestion, WindowEvent } from '../bindings/api';
import type { Host } from '../host/host';
import type { Problems } from '../session/problems.svelte';

export class ConnectionQuestions {
  list = $state.raw<readonly ConnectionQuestion[]>([]);

  #host: Host;
  #problems: Problems;

  constructor(host: Host, problems: Problems) {
    this.#host = host;
    this.#problems = problems;
  }

  hear(event: WindowEvent): void {
    if (event.type === 'connectionAsks') this.list = [...this.#without(event.question.id), event.question];
    if (event.type === 'connectionAnswered') this.list = this.#without(event.id);
  }

  /** Passes the answer on, and keeps no copy; `null` ends the connection. */
  async answer(id: string, answer: string | null): Promise<void> {
    this.list = this.#without(id);
    await this.#problems.attempt('The answer was not sent', () => this.#host.answerConnection(id, answer));
  }

  #without(id: string): ConnectionQuestion[] {
    return this.list.filter((question) => question.id !== id);
  }
}
