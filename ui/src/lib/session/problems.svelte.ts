// Errors that the user has not dismissed yet. Every failed operation is reported here.

import type { CommandError } from '../bindings/api';
import { asCommandError } from '../host/host';

export interface Problem {
  id: number;
  /** The failure, as a sentence: “The prompt was not sent”. */
  what: string;
  error: CommandError;
  /** Whether it is still so, for a state that can pass. Without it, the problem stays until it is dismissed. */
  holds?: () => boolean;
}

/** Older ones are dropped: a failure that repeats in other words must not fill the window. */
const MOST = 20;

export class Problems {
  list = $state.raw<readonly Problem[]>([]);
  #nextId = 1;

  report(what: string, error: CommandError, holds?: () => boolean): void {
    const same = (problem: Problem) => problem.what === what && problem.error.message === error.message;
    const problem = { id: this.#nextId++, what, error, ...(holds === undefined ? {} : { holds }) };
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

  /** Returns the result of an operation. If it fails, reports that and returns `null`. */
  async read<T>(what: string, operation: () => Promise<T>): Promise<T | null> {
    let result: T | null = null;
    await this.attempt(what, async () => void (result = await operation()));
    return result;
  }

  /** Removes what is no longer so. An effect runs it again when the state changes that `holds` read. */
  removePassed(): void {
    const list = this.list.filter((problem) => problem.holds?.() ?? true);
    if (list.length < this.list.length) this.list = list;
  }

  dismiss(id: number): void {
    this.list = this.list.filter((problem) => problem.id !== id);
  }
}
