// One conversation in memory: a snapshot, and the batches folded into it in order. No host, no clock, no DOM.

import { SvelteMap } from 'svelte/reactivity';

import type {
  Batch,
  Event,
  Item,
  ItemId,
  PermissionRequest,
  Session,
  SessionId,
  Snapshot,
  TurnEnd,
} from '../bindings/api';
import { ItemState } from './item.svelte';
import { reuse } from './reuse';
import { appendRow, type Row } from './rows';

/** What became of a batch. After a gap only a new snapshot helps. */
export type Applied = 'applied' | 'duplicate' | 'gap';

/** Where the reader stands in the transcript. */
export interface Place {
  following: boolean;
  key: string | null;
  offset: number;
}

export class SessionState {
  readonly id: SessionId;
  session = $state.raw<Session>() as Session;
  /** The last event that is folded in; -1 before the first snapshot. */
  seq = $state.raw(-1);
  rows = $state.raw<readonly Row[]>([]);
  requests = $state.raw<readonly PermissionRequest[]>([]);
  /** How the last turn ended, while no other has begun. */
  lastTurn = $state.raw<TurnEnd | null>(null);
  /** The items that changed files, and the last list of tasks, for the side panel. */
  edits = $state.raw<readonly ItemState[]>([]);
  tasks = $state.raw<ItemState | null>(null);
  /** The choices that a reader made in rows that fold several items, by row. */
  readonly openRows = new SvelteMap<string, boolean>();
  place: Place = { following: true, key: null, offset: 0 };

  #items = new Map<ItemId, ItemState>();
  #rows: Row[] = [];

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

  /** Every item in the order of the conversation. */
  items(): Iterable<ItemState> {
    return this.#items.values();
  }

  /** Starts over from a snapshot. Items that were known keep their identity, and with it what the reader unfolded. */
  load(snapshot: Snapshot): void {
    const known = this.#items;
    this.#items = new Map();
    this.#rows = [];
    this.edits = [];
    this.tasks = null;
    for (const item of known.values()) item.children = [];
    for (const item of snapshot.items) {
      const state = known.get(item.id);
      state?.replace(item.body);
      this.#insert(state ?? new ItemState(item));
    }
    this.rows = this.#rows.slice();
    this.lastTurn = null;
    this.#setSession(snapshot.session);
    this.seq = snapshot.seq;
  }

  /** Folds a batch in, if it comes right after what is known. */
  apply(batch: Batch): Applied {
    if (batch.seq <= this.seq) return 'duplicate';
    if (!this.loaded || batch.after !== this.seq) return 'gap';
    let reshaped = false;
    for (const event of batch.events) reshaped = this.#fold(event) || reshaped;
    if (reshaped) this.rows = this.#rows.slice();
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
        return this.#add(event.item);
      case 'itemChanged':
        return this.#change(event.item);
      case 'blocksChanged':
        this.#items.get(event.itemId)?.replaceTail(event.keep, event.blocks);
        return false;
      case 'codeGrew':
        this.#items.get(event.itemId)?.growCode(event.keep, event.lines);
        return false;
      case 'itemRemoved':
        return this.#remove(event.itemId);
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

  #add(item: Item): boolean {
    if (this.#items.has(item.id)) return this.#change(item);
    return this.#insert(new ItemState(item));
  }

  #change(item: Item): boolean {
    const state = this.#items.get(item.id);
    if (state === undefined) return this.#insert(new ItemState(item));
    state.replace(item.body);
    this.#note(state);
    return false;
  }

  #insert(state: ItemState): boolean {
    this.#items.set(state.id, state);
    this.#note(state);
    const parent = this.#parentOf(state);
    if (parent === undefined) {
      appendRow(this.#rows, state);
      return true;
    }
    parent.children = [...parent.children, state];
    return false;
  }

  #remove(id: ItemId): boolean {
    const state = this.#items.get(id);
    if (state === undefined) return false;
    this.#items.delete(id);
    this.edits = this.edits.filter((edit) => edit !== state);
    if (this.tasks === state) this.tasks = null;
    const parent = this.#parentOf(state);
    if (parent !== undefined) {
      parent.children = parent.children.filter((child) => child !== state);
      return false;
    }
    // What stood apart may now fold together.
    this.#rows = [];
    for (const item of this.#items.values()) {
      if (this.#parentOf(item) === undefined) appendRow(this.#rows, item);
    }
    return true;
  }

  #parentOf(state: ItemState): ItemState | undefined {
    return state.parent === null ? undefined : this.#items.get(state.parent);
  }

  /** Keeps the lists beside the transcript up to date. */
  #note(state: ItemState): void {
    if (state.body.type !== 'toolCall') return;
    if (state.body.detail.type === 'todos') this.tasks = state;
    if (state.body.detail.type === 'edit' && !this.edits.includes(state)) this.edits = [...this.edits, state];
  }
}

/** An event of a newer shell is not an error: the next snapshot shows what it meant. */
function unknownEvent(_event: never): boolean {
  return false;
}
