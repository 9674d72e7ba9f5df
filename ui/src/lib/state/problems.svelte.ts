// Errors that the user has not dismissed yet. Every failed operation is reported here.

import type { CommandError } from '../bindings/api';
import { asCommandError } from '../host/host';

export interface Problem {
  id: number;
  /** The failure, as a sentence: “The prompt was not sent”. */
  what: string;
  error: CommandError;
}

/** Older ones are dropped: a failure that repeats in other words must not fill the window. */
const MOST = 20;

export class Problems {
  list = $state.raw<readonly Problem[]>([]);
  #nextId = 1;

  report(what: string, error: CommandError): void {
    const same = (problem: Problem) => problem.what === what && problem.error.message === error.message;
    const problem = { id: this.#nextId++, what, error };
    this.list = [...this.list.filter((known) => !same(known)), problem].slice(-MOST);
  }

  /** Runs an operation. If it fails, reports that and returns the error. */
  async attempt(what: string, operation: () => Promise<void>): Promise<CommandError | null> {
    try {
      await operation();
      return null;
    } catch (reason) {
      const error = asCommandError(reason);
      this.report(what, error);
      return error;
    }
  }

  dismiss(id: number): void {
    this.list = this.list.filter((problem) => problem.id !== id);
  }
}
