// A window on a fake session: sends its rows and events as the engine does.

import type { Batch, Event, Item, ItemId, RowRange, SessionId, Viewport, Snapshot } from '../lib/bindings/api';
import type { FakeSession } from './session';

/** Where the window draws an item. */
interface Place {
  row: number;
  depth: number;
}

export class FakeWindow {
  readonly session: FakeSession;
  #show: Viewport;
  #rows: RowRange;
  #unfolded: ReadonlySet<ItemId>;
  /** The places of the items that are drawn: those of a subagent only while its call is unfolded. */
  #places = new Map<ItemId, Place>();
  /** The batches that the page has not taken. */
  #waiting: Batch[] = [];
  /** The page was notified, or took a batch, and will ask for the next one. */
  #isAsking = false;

  constructor(session: FakeSession, show: Viewport, unfolded: readonly ItemId[] = []) {
    this.session = session;
    this.#show = show;
    this.#unfolded = new Set(unfolded);
    this.#rows = this.#rowsNow();
  }

  /** Keeps a batch until the page takes it. Returns whether the page has to be notified. */
  wait(batch: Batch): boolean {
    const last = this.#waiting.at(-1);
    if (last?.seq === batch.after && last.rows.first === batch.rows.first) {
      this.#waiting.splice(-1, 1, { ...batch, after: last.after, events: last.events.concat(batch.events) });
    } else {
      this.#waiting.push(batch);
    }
    const isNews = !this.#isAsking;
    this.#isAsking = true;
    return isNews;
  }

  take(): Batch | null {
    const batch = this.#waiting.shift() ?? null;
    this.#isAsking = batch !== null;
    return batch;
  }

  snapshot(): Snapshot {
    const { seq, facts, items, files, tasks, prompts } = this.session;
    return {
      seq,
      lastEventAt: this.session.lastEventAt,
      session: facts,
      rows: this.#rows,
      isPartial: false,
      items: this.#held(items).map((item) => this.#drawn(item)),
      files: files.map((file) => ({ ...file, row: this.rowOf(file.itemId) ?? file.row })),
      tasks,
      prompts,
    };
  }

  /** Moves to other rows: sends the items that enter the range. */
  move(show: Viewport): Batch {
    const before = this.#held(this.session.items);
    this.#show = show;
    this.#rows = this.#rowsNow();
    const entering = this.#held(this.session.items).filter((item) => !before.includes(item));
    const { seq } = this.session;
    return this.#batch(
      seq,
      seq,
      entering.map((item) => ({ type: 'itemAdded', item: this.#drawn(item) })),
    );
  }

  /** Filters a session's events to those for this window. If rows got other numbers, the window has to start over. */
  hear(after: number, events: Event[]): Batch {
    const before = this.#places;
    this.#rows = this.#rowsNow();
    const { seq, items } = this.session;
    if ([...before].some(([id, { row }]) => (this.#places.get(id)?.row ?? row) !== row))
      return this.#batch(seq, seq, []);
    const told = events.flatMap((event): Event[] => {
      if (event.type === 'fileChanged') {
        return [{ ...event, file: { ...event.file, row: this.rowOf(event.file.itemId) ?? event.file.row } }];
      }
      const item = items.find(({ id }) => id === itemOf(event));
      if (item === undefined) return [event];
      if (!this.#holds(item)) return [];
      return ['item' in event ? { ...event, item: this.#drawn(item) } : event];
    });
    return this.#batch(after, seq, told);
  }

  /** The row of an item, or of the call that it is inside of. */
  rowOf(id: ItemId): number | undefined {
    const item = this.session.items.find((known) => known.id === id);
    return this.#places.get(id)?.row ?? (item?.parent == null ? undefined : this.rowOf(item.parent));
  }

  #batch(after: number, seq: number, events: Event[]): Batch {
    const sessionId: SessionId = this.session.facts.id;
    return { sessionId, after, seq, rows: this.#rows, events };
  }

  #held(items: readonly Item[]): Item[] {
    return items.filter((item) => this.#holds(item));
  }

  #holds({ id }: Item): boolean {
    const row = this.#places.get(id)?.row;
    return row !== undefined && row >= this.#rows.first && row < this.#rows.end;
  }

  #drawn(item: Item): Item {
    const { row, depth } = this.#places.get(item.id) ?? { row: item.row, depth: 0 };
    return depth === 0 ? { ...item, row } : { ...item, row, depth };
  }

  /** Places all items that are drawn; returns the number of rows. */
  #lay(): number {
    const { items, nRows } = this.session;
    const ids = new Set(items.map(({ id }) => id));
    const [children, own] = [new Map<ItemId, Item[]>(), new Map<number, Item[]>()];
    for (const item of items) {
      if (item.parent !== null && ids.has(item.parent)) push(children, item.parent, item);
      else push(own, item.row, item);
    }
    this.#places = new Map();
    let next = 0;
    const open = (call: Item, depth: number) => {
      if (!this.#unfolded.has(call.id)) return;
      for (const child of children.get(call.id) ?? []) {
        this.#places.set(child.id, { row: next++, depth });
        open(child, depth + 1);
      }
    };
    for (let row = 0; row < nRows; row += 1) {
      const first = next++;
      const here = own.get(row) ?? [];
      for (const item of here) this.#places.set(item.id, { row: first, depth: 0 });
      for (const item of here) open(item, 1);
    }
    return next;
  }

  #rowsNow(): RowRange {
    const { first, count, requestId } = this.#show;
    const total = this.#lay();
    const from = first === null ? Math.max(0, total - count) : Math.min(first, Math.max(0, total - 1));
    const nContinued = total - this.session.nRows;
    return { first: from, end: Math.min(total, from + count), total, nContinued, requestId };
  }
}

function push<Key>(lists: Map<Key, Item[]>, key: Key, item: Item): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

function itemOf(event: Event): ItemId | null {
  if ('item' in event) return event.item.id;
  return 'itemId' in event ? event.itemId : null;
}
