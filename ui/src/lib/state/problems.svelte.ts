// What went wrong and was not yet put away: nothing that fails is swallowed.

import type { CommandError } from '../bindings/api';

export interface Problem {
  id: number;
  /** What could not be done: “The prompt was not sent”. */
  what: string;
  error: CommandError;
}

export class Problems {
  list = $state.raw<readonly Problem[]>([]);
  #nextId = 1;

  report(what: string, error: CommandError): void {
    const same = (problem: Problem) => problem.what === what && problem.error.message === error.message;
    const problem = { id: this.#nextId++, what, error };
    this.list = [...this.list.filter((known) => !same(known)), problem];
  }

  dismiss(id: number): void {
    this.list = this.list.filter((problem) => problem.id !== id);
  }
}
