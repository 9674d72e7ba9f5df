// The sessions that were removed in a window and can be brought back.

import type { Session, SessionId } from '../bindings/api';

/** Removals that can be undone. */
const MOST = 20;

export class Removals {
  /** The removed sessions, those of one removal together, the last removal last. */
  list = $state.raw<readonly (readonly Session[])[]>([]);
  /** The removals that are under way, each with the sessions that are removed together. */
  readonly #running = new Set<ReadonlySet<SessionId>>();

  /** Removes sessions together, with `remove` for each: each waits until its agent has ended. */
  async together(ids: readonly SessionId[], remove: (id: SessionId) => Promise<void>): Promise<void> {
    const together = new Set(ids);
    this.#running.add(together);
    await Promise.all(ids.map(remove));
    this.#running.delete(together);
  }

  /** Adds a removed session, to those that were removed together with it. */
  add(session: Session): void {
    const together = [...this.#running].find((ids) => ids.has(session.id));
    const at = this.list.findIndex((removal) => removal.some(({ id }) => together?.has(id) === true));
    const removal = this.list[at];
    if (removal === undefined) this.list = [...this.list, [session]].slice(-MOST);
    else this.list = this.list.with(at, [...removal, session]);
  }

  /** Takes out a session that was brought back. */
  delete(id: SessionId): void {
    this.list = this.list
      .map((removal) => removal.filter((session) => session.id !== id))
      .filter(({ length }) => length > 0);
  }
}
