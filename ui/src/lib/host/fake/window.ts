// A window on a fake session: sends its rows and events as the engine does.

import type { Batch, Event, Item, ItemId, RowRange, SessionId, Viewport, Snapshot } from '../../bindings/api';
import type { FakeSession } from './session';

export class FakeWindow {
  readonly session: FakeSession;
  #show: Viewport;
  #rows: RowRange;

  constructor(session: FakeSession, show: Viewport) {
    this.session = session;
    this.#show = show;
    this.#rows = this.#rowsNow();
  }

  snapshot(): Snapshot {
    const { seq, facts, items, files, tasks, prompts } = this.session;
    return {
      seq,
      lastEventAt: this.session.lastEventAt,
      session: facts,
      rows: this.#rows,
      isPartial: false,
      items: this.#told(items),
      files,
      tasks,
      prompts,
    };
  }

  /** Moves to other rows: sends the items that enter the range. */
  move(show: Viewport): Batch {
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

  /** Sends earlier items of a subagent. */
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

  /** Filters a session's events to those for this window. */
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

  /** The items that are sent without a request: of a subagent, only the last ones. */
  #told(items: readonly Item[]): Item[] {
    const lastOf = new Map(items.map(({ row, nr }) => [row, nr]));
    const isLate = ({ row, nr, parent }: Item) => parent === null || nr > (lastOf.get(row) ?? 0) - 50;
    return items.filter((item) => this.#holds(item) && isLate(item));
  }

  #holds({ row }: Item): boolean {
    return row >= this.#rows.first && row < this.#rows.end;
  }

  #rowsNow(): RowRange {
    const { first, count, requestId } = this.#show;
    const total = this.session.nRows;
    const from = first === null ? Math.max(0, total - count) : Math.min(first, Math.max(0, total - 1));
    return { first: from, end: Math.min(total, from + count), total, nContinued: 0, requestId };
  }
}

function itemOf(event: Event): ItemId | null {
  if ('item' in event) return event.item.id;
  return 'itemId' in event ? event.itemId : null;
}
