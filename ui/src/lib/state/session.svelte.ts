// The part of one conversation that a window holds: a snapshot, and the batches folded into it in order. The whole of
// it is the engine's. No host, no clock, no DOM.

import { SvelteMap } from 'svelte/reactivity';

import type {
  Batch,
  ChangedFile,
  Event,
  Item,
  ItemId,
  PermissionRequest,
  Rows,
  Session,
  SessionId,
  Show,
  Snapshot,
  Todo,
  TurnEnd,
} from '../bindings/api';
import { ItemState } from './item.svelte';
import { reuse } from './reuse';
import { itemsOf, withItem, type Row } from './rows';
import { Subagent } from './subagent';

/** What became of a batch. After a gap only a new snapshot helps. */
export type Applied = 'applied' | 'duplicate' | 'gap';

/** Rows that are held at a time: what is drawn, and a screen or two around it. */
const HELD = 240;

/** Where the reader stands in the transcript: a row, and how far its top is above that of the view. */
export interface Place {
  following: boolean;
  index: number;
  offset: number;
}

export class SessionState {
  readonly id: SessionId;
  session = $state.raw<Session>() as Session;
  /** The last event that is folded in; -1 before the first snapshot. */
  seq = $state.raw(-1);
  /** The last event of the snapshot, and when it was told. */
  #snapshot: Pick<Snapshot, 'seq' | 'toldAt'> | null = null;
  /** The part of the transcript that is held. */
  held = $state.raw<Rows>({ first: 0, end: 0, total: 0, ask: 0 });
  /** Its rows, in their order. */
  rows = $state.raw<readonly Row[]>([]);
  /** The part that is wanted; until it is held, nothing else is asked for. */
  show = $state.raw<Show>({ first: null, count: HELD, ask: 0 });
  requests = $state.raw<readonly PermissionRequest[]>([]);
  /** How the last turn ended, while no other has begun. */
  lastTurn = $state.raw<TurnEnd | null>(null);
  /** The files that were changed, the one that changed last at the end. */
  files = $state.raw<readonly ChangedFile[]>([]);
  tasks = $state.raw<readonly Todo[]>([]);
  /** The last prompts, oldest first. */
  prompts: readonly string[] = [];
  /** The choices that a reader made in rows that fold several items, by row. */
  readonly openRows = new SvelteMap<string, boolean>();
  /** Only the end of the conversation was read so far, and the rows are counted from there. */
  isPartial = $state.raw(false);
  /** Goes up when rows are counted anew. */
  numbering = $state.raw(0);
  place: Place = { following: true, index: 0, offset: 0 };
  /** Carries a wish for other rows to the shell. */
  onshow: (show: Show) => void = () => {};

  #items = new Map<ItemId, ItemState>();
  #rows = new Map<number, Row>();
  /** What subagents did, by their rows. */
  #subagents = new Map<number, Subagent>();
  /** Items that the reader unfolded, while they are not held. */
  #unfolded = new Set<ItemId>();

  constructor(session: Session) {
    this.id = session.id;
    this.session = session;
    this.requests = session.requests;
  }

  get loaded(): boolean {
    return this.seq >= 0;
  }

  item(id: ItemId): ItemState | undefined {
    return this.#items.get(id);
  }

  /** Draws the ends of long texts again, as whoever goes to the end wants to see them. */
  showEnds(): void {
    for (const item of this.#items.values()) item.showEnd();
  }

  /** The first of the rows to hold around `index`. */
  wanted(index: number): number {
    return Math.max(0, Math.min(Math.round(index - HELD / 2), this.held.total - HELD));
  }

  /** Wants the rows around `index`, or those at the end. */
  want(index: number | null): void {
    const first = index === null ? null : this.wanted(index);
    this.show = { ...this.show, first, ask: this.show.ask + 1 };
    this.onshow(this.show);
  }

  /** Nothing came of the wish: another may be tried. */
  unwant(): void {
    this.show = { ...this.show, ask: this.held.ask };
  }

  /** The same wish again, for a snapshot. */
  wantAgain(): Show {
    const first = this.isPartial ? null : this.show.first;
    this.show = { ...this.show, first, ask: this.show.ask + 1 };
    return this.show;
  }

  /** Starts over from a snapshot. Items that were known keep their identity, and with it what the reader unfolded. */
  load(snapshot: Snapshot): void {
    const known = this.#items;
    const read = this.#rows.get(this.place.index)?.key;
    for (const item of known.values()) {
      item.children = [];
      item.nEarlier = 0;
      if (item.open) this.#unfolded.add(item.id);
    }
    this.#items = new Map();
    this.#rows = new Map();
    this.#subagents = new Map();
    this.held = snapshot.rows;
    this.show = { ...this.show, ask: Math.max(this.show.ask, snapshot.rows.ask) };
    for (const item of snapshot.items) {
      const state = known.get(item.id);
      state?.replace(item, this.place.following);
      this.#insert(state ?? new ItemState(item), item.row);
    }
    this.#settleSubagents();
    this.#order();
    if (this.isPartial && !snapshot.isPartial) {
      // The same rows have other numbers now.
      this.place.index = this.rows.find(({ key }) => key === read)?.index ?? Math.max(0, this.held.total - 1);
      this.numbering += 1;
    }
    this.isPartial = snapshot.isPartial;
    this.lastTurn = null;
    this.files = snapshot.files;
    this.tasks = snapshot.tasks;
    this.prompts = snapshot.prompts;
    this.#setSession(snapshot.session);
    const { seq, toldAt } = snapshot;
    this.#snapshot = { seq, toldAt };
    this.seq = seq;
  }

  /** When the last event was told, if it comes with the time `now`: of those in a snapshot, the shell knows. */
  toldAt(now: number): number {
    return this.seq === this.#snapshot?.seq ? this.#snapshot.toldAt : now;
  }

  /** Folds a batch in, if it comes right after what is known. */
  apply(batch: Batch): Applied {
    if (!this.loaded) return 'gap';
    // What was on its way when a snapshot was asked for is in it.
    if (batch.seq < this.seq || batch.rows.ask < this.held.ask) return 'duplicate';
    if (batch.after !== this.seq) return batch.seq === this.seq ? 'duplicate' : 'gap';
    let reshaped = this.#hold(batch.rows);
    for (const event of batch.events) reshaped = this.#fold(event) || reshaped;
    this.#settleSubagents();
    if (reshaped) this.#order();
    this.seq = batch.seq;
    return 'applied';
  }

  /** Folds one event in; says whether rows came, went or moved. */
  #fold(event: Event): boolean {
    switch (event.type) {
      case 'sessionChanged':
        this.#setSession(event.session);
        return false;
      case 'itemAdded':
      case 'itemChanged':
        return this.#take(event.item, event.type === 'itemAdded');
      case 'blocksChanged':
        this.#items.get(event.itemId)?.replaceTail(event.keep, event.blocks);
        return false;
      case 'codeGrew':
        this.#items.get(event.itemId)?.growCode(event.keep, event.lines);
        return false;
      case 'beginningGone':
        this.#items.get(event.itemId)?.dropBeginning(event, this.place.following);
        return false;
      case 'textFinished':
        this.#items.get(event.itemId)?.finish();
        return false;
      case 'fileChanged':
        this.files = [...this.files.filter((file) => file.path !== event.file.path), event.file];
        return false;
      case 'tasksChanged':
        this.tasks = event.tasks;
        return false;
      case 'turnStarted':
        this.lastTurn = null;
        return false;
      case 'turnEnded':
        this.lastTurn = event.turn;
        return false;
      case 'permissionRequested':
        if (!this.requests.some((request) => request.id === event.request.id)) {
          this.requests = [...this.requests, event.request];
        }
        return false;
      case 'permissionResolved':
        this.requests = this.requests.filter((request) => request.id !== event.requestId);
        return false;
      case 'itemRemoved':
        return this.#remove(event.itemId);
      case 'agentExited':
      case 'commandFailed':
        // Both are told by the session's status, or by a notice in the transcript; nothing is kept here.
        return false;
      default:
        return unknownEvent(event);
    }
  }

  #setSession(session: Session): void {
    this.session = reuse(this.session, session);
    this.requests = reuse(this.requests, session.requests);
  }

  #take(item: Item, isNew: boolean): boolean {
    const state = this.#items.get(item.id);
    if (state !== undefined) {
      state.replace(item, this.place.following);
      return false;
    }
    // Out of sight since it was told.
    if (item.row < this.held.first || item.row >= this.held.end) return false;
    return this.#insert(new ItemState(item), item.row, isNew);
  }

  #insert(state: ItemState, index: number, isNew = true): boolean {
    const row = this.#rows.get(index);
    const isInside = state.parent !== null && row?.kind === 'item';
    if (isInside) {
      const subagent = this.#subagents.get(index) ?? new Subagent(row.item);
      this.#subagents.set(index, subagent);
      if (!subagent.add(state, isNew)) return false;
    }
    this.#items.set(state.id, state);
    if (this.#unfolded.delete(state.id)) state.open = true;
    if (!isInside) this.#rows.set(index, withItem(row, state, index));
    return !isInside;
  }

  #settleSubagents(): void {
    for (const subagent of this.#subagents.values()) {
      subagent.settle(this.place.following).forEach((item) => this.#drop(item));
    }
  }

  /** Its row keeps its number, and is empty if nothing else is in it. */
  #remove(id: ItemId): boolean {
    const state = this.#items.get(id);
    if (state === undefined) return false;
    this.#drop(state);
    for (const subagent of this.#subagents.values()) {
      if (!subagent.items.includes(state)) continue;
      subagent.remove(state);
      return false;
    }
    for (const [index, row] of this.#rows) {
      const items = itemsOf(row);
      if (!items.includes(state)) continue;
      this.#rows.delete(index);
      this.#letGo(index);
      for (const item of items) if (item !== state) this.#rows.set(index, withItem(this.#rows.get(index), item, index));
    }
    return true;
  }

  /** Lets go of what is outside the part that is held from now on. */
  #hold(rows: Rows): boolean {
    const { first, end } = this.held;
    this.held = reuse(this.held, rows);
    if (rows.first <= first && rows.end >= end) return false;
    for (const [index, row] of this.#rows) {
      if (index >= rows.first && index < rows.end) continue;
      this.#rows.delete(index);
      itemsOf(row).forEach((item) => this.#drop(item));
      this.#letGo(index);
    }
    return true;
  }

  /** Lets go of what a subagent did. */
  #letGo(row: number): void {
    this.#subagents.get(row)?.items.forEach((item) => this.#drop(item));
    this.#subagents.delete(row);
  }

  #drop(item: ItemState): void {
    this.#items.delete(item.id);
    if (item.open) this.#unfolded.add(item.id);
  }

  #order(): void {
    this.rows = [...this.#rows.values()].sort((a, b) => a.index - b.index);
  }
}

/** An event of a newer shell is not an error: the next snapshot shows what it meant. */
function unknownEvent(_event: never): boolean {
  return false;
}
