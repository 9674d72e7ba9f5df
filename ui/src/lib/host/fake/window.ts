// A window on a fake session: the rows it holds, as the engine would tell them.

import type { Batch, Event, Item, ItemId, Rows, SessionId, Show, Snapshot } from '../../bindings/api';
import type { FakeSession } from './session';

export class FakeWindow {
  readonly session: FakeSession;
  #show: Show;
  #rows: Rows;

  constructor(session: FakeSession, show: Show) {
    this.session = session;
    this.#show = show;
    this.#rows = this.#rowsNow();
  }

  snapshot(): Snapshot {
    const { seq, facts, items, files, tasks, prompts } = this.session;
    return {
      seq,
      toldAt: this.session.toldAt,
      session: facts,
      rows: this.#rows,
      isPartial: false,
      items: this.#told(items),
      files,
      tasks,
      prompts,
    };
  }

  /** Shows other rows: what comes into sight is told. */
  move(show: Show): Batch {
    const before = this.session.items.filter((item) => this.#holds(item));
    this.#show = show;
    this.#rows = this.#rowsNow();
    const entering = this.#told(this.session.items).filter((item) => !before.includes(item));
    const { seq } = this.session;
    return this.#batch(
      seq,
      seq,
      entering.map((item) => ({ type: 'itemAdded', item })),
    );
  }

  /** More of what a subagent did. */
  earlier(itemId: ItemId, before: number, until: ItemId | null): Batch {
    const { items, seq } = this.session;
    const row = items.find(({ id }) => id === itemId)?.row;
    const inside = items.filter((item) => item.row === row && item.nr > 0 && item.nr < before);
    const wanted = inside.findIndex(({ id }) => id === until);
    const first = Math.max(0, Math.min(wanted < 0 ? inside.length : wanted, inside.length - 100), inside.length - 500);
    return this.#batch(
      seq,
      seq,
      inside.slice(first).map((item) => ({ type: 'itemAdded', item })),
    );
  }

  /** What of a session's events this window is told. */
  hear(after: number, events: Event[]): Batch {
    this.#rows = this.#rowsNow();
    const told = events.filter((event) => {
      const id = itemOf(event);
      const item = this.session.items.find((known) => known.id === id);
      return item === undefined || this.#holds(item);
    });
    return this.#batch(after, this.session.seq, told);
  }

  #batch(after: number, seq: number, events: Event[]): Batch {
    const sessionId: SessionId = this.session.facts.id;
    return { sessionId, after, seq, rows: this.#rows, events };
  }

  /** What is told without being asked for: of a subagent, the last of its items. */
  #told(items: readonly Item[]): Item[] {
    const lastOf = new Map(items.map(({ row, nr }) => [row, nr]));
    const isLate = ({ row, nr, parent }: Item) => parent === null || nr > (lastOf.get(row) ?? 0) - 50;
    return items.filter((item) => this.#holds(item) && isLate(item));
  }

  #holds({ row }: Item): boolean {
    return row >= this.#rows.first && row < this.#rows.end;
  }

  #rowsNow(): Rows {
    const { first, count, ask } = this.#show;
    const total = this.session.nRows;
    const from = first === null ? Math.max(0, total - count) : Math.min(first, Math.max(0, total - 1));
    return { first: from, end: Math.min(total, from + count), total, ask };
  }
}

function itemOf(event: Event): ItemId | null {
  if ('item' in event) return event.item.id;
  return 'itemId' in event ? event.itemId : null;
}
