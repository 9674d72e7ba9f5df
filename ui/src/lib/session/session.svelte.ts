// The state of one conversation as far as the window has loaded it: a snapshot plus the batches applied to it in order.
// The engine has the complete conversation. No host, no clock, no DOM.

import { SvelteMap } from 'svelte/reactivity';

import type {
  Batch,
  Body,
  ChangedFile,
  CommandError,
  Event,
  Item,
  ItemId,
  PermissionRequest,
  RewindPreview,
  RowRange,
  Session,
  SessionId,
  Viewport,
  Snapshot,
  Todo,
  TurnEnd,
} from '../bindings/api';
import { ItemState } from './item.svelte';
import { reuse } from './reuse';
import { itemsOf, movesBetween, withItem, withoutItem, type Move, type Row } from './rows';

/** The result of applying a batch. After a gap the state needs a new snapshot. */
export type Applied = 'applied' | 'duplicate' | 'gap';

/** The number of rows to keep loaded: the drawn rows and one or two screens around them. */
export const HELD = 240;

/**
 * The reader's position in the transcript: a row, and the distance in pixels from its top to the top of the viewport.
 */
export interface Place {
  following: boolean;
  index: number;
  offset: number;
}

export class SessionState {
  readonly id: SessionId;
  session = $state.raw<Session>() as Session;
  /** The number of the last applied event; -1 before the first snapshot. */
  seq = $state.raw(-1);
  /** The number of the snapshot's last event, and the time of that event. */
  #snapshot: Pick<Snapshot, 'seq' | 'lastEventAt'> | null = null;
  /** The range of loaded rows. */
  held = $state.raw<RowRange>({ first: 0, end: 0, total: 0, nContinued: 0, requestId: 0 });
  /** The loaded rows, in order. */
  rows = $state.raw<readonly Row[]>([]);
  /** The requested range. Until it is loaded, nothing else is requested. */
  show = $state.raw<Viewport>({ first: null, count: HELD, requestId: 0 });
  requests = $state.raw<readonly PermissionRequest[]>([]);
  /** The end of the last turn; `null` once another turn starts. */
  lastTurn = $state.raw<TurnEnd | null>(null);
  /** The changed files, most recently changed last. */
  files = $state.raw<readonly ChangedFile[]>([]);
  tasks = $state.raw<readonly Todo[]>([]);
  /** What a rewind would change, as last reported. */
  preview = $state.raw<RewindPreview | null>(null);
  /** The last command that failed after it was accepted. */
  failure = $state.raw<CommandError | null>(null);
  /** The most recent prompts, oldest first. */
  prompts: readonly string[] = [];
  /** Which rows with several items the user opened or closed, by row key. */
  readonly openRows = new SvelteMap<string, boolean>();
  /** Only the end of the conversation has been read so far, and the row numbers are relative to it. */
  isPartial = $state.raw(false);
  /** Incremented when the rows are renumbered. */
  numbering = $state.raw(0);
  /** The rows that the last snapshot added above known ones, or took away. */
  moves = $state.raw<readonly Move[]>([]);
  place: Place = { following: true, index: 0, offset: 0 };
  /** Sends a request for other rows to the shell. */
  onshow: (show: Viewport) => void = () => {};
  /** Requests a snapshot, because what the user unfolded or folded has other rows. */
  onunfold: () => void = () => {};

  #items = new Map<ItemId, ItemState>();
  /** The row number of each item. */
  #places = new Map<ItemId, number>();
  #rows = new Map<number, Row>();
  /** Changed files and open requests of the batch being applied, if it changes them. */
  #changedFiles: Map<string, ChangedFile> | null = null;
  #openRequests: Map<string, PermissionRequest> | null = null;
  /** Items that the user unfolded and that are not loaded now. */
  #unfolded = new Set<ItemId>();

  /** The session as the engine reports it. */
  #facts: Session;
  /** The batch being applied changes the session. */
  #isChanged = false;

  constructor(session: Session) {
    this.id = session.id;
    this.#facts = session;
    this.session = session;
    this.requests = session.requests;
  }

  get loaded(): boolean {
    return this.seq >= 0;
  }

  /** The number of rows, with all slices of a long text as one. */
  get nEntries(): number {
    return this.held.total - this.held.nContinued;
  }

  item(id: ItemId): ItemState | undefined {
    return this.#items.get(id);
  }

  /**
   * Unfolds or folds an item. The engine has to know of a long one, which has more rows when it is unfolded, and of a
   * call, which has those of its subagent's items.
   */
  unfold(item: ItemState, open: boolean): void {
    if (item.open === open) return;
    item.open = open;
    const { body, slice } = item;
    const hasRows = slice !== undefined || (body.type === 'thinking' && body.streaming) || this.#isCall(item);
    if (hasRows && isFoldable(body)) this.onunfold();
  }

  /** Whether the item is a call in a row of its own. */
  #isCall({ id, body }: ItemState): boolean {
    return body.type === 'toolCall' && this.#rows.get(this.#places.get(id) ?? -1)?.kind === 'item';
  }

  /** Whether the user unfolded an item, loaded or not. */
  isUnfolded(id: ItemId): boolean {
    return this.#items.get(id)?.open ?? this.#unfolded.has(id);
  }

  /** The agent's names of the tools that the items in the window used, each once. */
  usedTools(): string[] {
    const bodies = [...this.#items.values()].map(({ body }) => body);
    return [...new Set(bodies.flatMap((body) => (body.type === 'toolCall' ? [body.tool] : [])))];
  }

  /** The items that the user unfolded. */
  get unfolded(): ItemId[] {
    const loaded = [...this.#items.values()].filter((item) => item.open).map((item) => item.id);
    return [...new Set([...loaded, ...this.#unfolded])];
  }

  /** The first row of the range to load around `index`. */
  wanted(index: number): number {
    return Math.max(0, Math.min(Math.round(index - HELD / 2), this.held.total - HELD));
  }

  /** Requests the rows around `index`; `null` requests the rows at the end. */
  request(index: number | null): void {
    const first = index === null ? null : this.wanted(index);
    this.show = { ...this.show, first, requestId: this.show.requestId + 1 };
    this.onshow(this.show);
  }

  /** The request failed: other requests are possible again. */
  cancelRequest(): void {
    this.show = { ...this.show, requestId: this.held.requestId };
  }

  /** Repeats the current request, for a new snapshot. */
  wantAgain(): Viewport {
    const first = this.isPartial ? null : this.show.first;
    this.show = { ...this.show, first, requestId: this.show.requestId + 1 };
    return this.show;
  }

  /** Starts over from a snapshot. Known items keep their identity, so they stay folded or unfolded. */
  load(snapshot: Snapshot): void {
    const known = this.#items;
    const before = this.rows;
    for (const item of known.values()) {
      if (item.open) this.#unfolded.add(item.id);
    }
    this.#items = new Map();
    this.#places = new Map();
    this.#rows = new Map();
    this.held = snapshot.rows;
    this.show = { ...this.show, requestId: Math.max(this.show.requestId, snapshot.rows.requestId) };
    for (const item of snapshot.items) {
      const state = known.get(item.id);
      state?.replace(item);
      this.#insert(state ?? new ItemState(item), item.row);
    }
    this.#order();
    if (this.isPartial && !snapshot.isPartial) {
      // The rows have been renumbered.
      if (!this.#keepPlace(before, this.place.index)) this.place.index = Math.max(0, this.held.total - 1);
      this.numbering += 1;
    } else {
      this.#keepPlace(before, this.place.index);
      this.moves = movesBetween(before, this.rows);
    }
    this.isPartial = snapshot.isPartial;
    this.lastTurn = null;
    this.files = snapshot.files;
    this.tasks = snapshot.tasks;
    this.prompts = snapshot.prompts;
    this.#setSession(snapshot.session);
    const { seq, lastEventAt } = snapshot;
    this.#snapshot = { seq, lastEventAt };
    this.seq = seq;
  }

  /** Keeps the reader at the row of `before` that he reads, or at the last row above it that is still there. */
  #keepPlace(before: readonly Row[], read: number): boolean {
    const above = before.slice(0, before.findIndex(({ index }) => index === read) + 1).reverse();
    const indices = new Map(this.rows.map(({ key, index }) => [key, index]));
    const kept = above.find(({ key }) => indices.has(key));
    if (kept === undefined) return false;
    this.place.index = indices.get(kept.key) ?? read;
    if (kept.index !== read) this.place.offset = 0;
    return true;
  }

  /** The time of the last event: `now`, the time of its arrival, or the snapshot's own time if no event followed it. */
  lastEventAt(now: number): number {
    return this.seq === this.#snapshot?.seq ? this.#snapshot.lastEventAt : now;
  }

  /** Applies a batch if it directly follows the last applied event. */
  apply(batch: Batch): Applied {
    if (!this.loaded) return 'gap';
    // The snapshot already includes what was on its way when it was requested.
    if (batch.seq < this.seq || batch.rows.requestId < this.held.requestId) return 'duplicate';
    if (batch.after !== this.seq) return batch.seq === this.seq ? 'duplicate' : 'gap';
    let reshaped = this.#hold(batch.rows);
    for (const event of batch.events) reshaped = this.#fold(event) || reshaped;
    this.#settleLists();
    if (reshaped) this.#order();
    this.seq = batch.seq;
    return 'applied';
  }

  /** Applies one event; returns whether rows were added, removed or moved. */
  #fold(event: Event): boolean {
    switch (event.type) {
      case 'sessionChanged':
        this.#facts = { ...this.#facts, ...event.session };
        this.#isChanged = true;
        // The first one has all open requests.
        if (event.session.requests !== undefined) this.#openRequests = null;
        return false;
      case 'itemAdded':
      case 'itemChanged':
        return this.#take(event.item);
      case 'blocksChanged':
        this.#items.get(event.itemId)?.replaceTail(event.keep, event.blocks);
        return false;
      case 'codeGrew':
        this.#items.get(event.itemId)?.growCode(event.keep, event.lines);
        return false;
      case 'entriesGrew':
        this.#items.get(event.itemId)?.growEntries(event.keep, event.entries);
        return false;
      case 'textFinished':
        this.#items.get(event.itemId)?.finish();
        return false;
      case 'fileChanged':
        this.#changedFiles ??= new Map();
        this.#changedFiles.delete(event.file.path);
        this.#changedFiles.set(event.file.path, event.file);
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
        if (!this.#requestsById.has(event.request.id)) this.#requestsById.set(event.request.id, event.request);
        return false;
      case 'permissionResolved':
        this.#requestsById.delete(event.requestId);
        return false;
      case 'itemRemoved':
        return this.#remove(event.itemId);
      case 'rewindPreviewed':
        this.preview = event.preview;
        return false;
      case 'commandFailed':
        this.failure = event.error;
        return false;
      case 'agentExited':
      case 'rewound':
      case 'thoughtGrew':
      case 'callChanged':
      case 'transcriptReplaced':
        // The session's status or a notice in the transcript reports the first two; the others are not for windows.
        return false;
      default:
        return unknownEvent(event);
    }
  }

  #setSession(session: Session): void {
    this.#facts = session;
    this.#isChanged = false;
    this.session = reuse(this.session, session);
    this.requests = reuse(this.requests, session.requests);
    this.#openRequests = null;
  }

  /** The open requests, to be changed; `settleLists` makes them the session's. */
  get #requestsById(): Map<string, PermissionRequest> {
    this.#openRequests ??= new Map(this.#facts.requests.map((request) => [request.id, request]));
    return this.#openRequests;
  }

  /** Makes new lists once for each batch: copying them for each event costs the square of the number of events. */
  #settleLists(): void {
    const [changed, open] = [this.#changedFiles, this.#openRequests];
    if (changed !== null) {
      this.files = [...this.files.filter((file) => !changed.has(file.path)), ...changed.values()];
    }
    this.#changedFiles = null;
    if (open !== null) this.#facts = { ...this.#facts, requests: [...open.values()] };
    if (open !== null || this.#isChanged) this.#setSession(this.#facts);
  }

  #take(item: Item): boolean {
    const state = this.#items.get(item.id);
    if (state !== undefined) {
      state.replace(item);
      return false;
    }
    // The item's row left the loaded range after the event was sent.
    if (item.row < this.held.first || item.row >= this.held.end) return false;
    this.#insert(new ItemState(item), item.row);
    return true;
  }

  #insert(state: ItemState, index: number): void {
    this.#items.set(state.id, state);
    this.#places.set(state.id, index);
    if (this.#unfolded.delete(state.id)) state.open = true;
    this.#rows.set(index, withItem(this.#rows.get(index), state, index));
  }

  /** Removes an item. Its row keeps its number, and is empty if it has no other item. */
  #remove(id: ItemId): boolean {
    const state = this.#items.get(id);
    const index = this.#places.get(id);
    const row = index === undefined ? undefined : this.#rows.get(index);
    if (state === undefined || index === undefined || row === undefined) return false;
    this.#drop(state);
    const rest = withoutItem(row, state);
    if (rest === undefined) this.#rows.delete(index);
    else this.#rows.set(index, rest);
    return true;
  }

  /** Sets the loaded range and evicts the rows outside it; returns whether the range shrank or moved. */
  #hold(rows: RowRange): boolean {
    const { first, end } = this.held;
    this.held = reuse(this.held, rows);
    if (rows.first <= first && rows.end >= end) return false;
    for (const [index, row] of this.#rows) {
      if (index >= rows.first && index < rows.end) continue;
      this.#rows.delete(index);
      itemsOf(row).forEach((item) => this.#drop(item));
    }
    return true;
  }

  #drop(item: ItemState): void {
    this.#items.delete(item.id);
    this.#places.delete(item.id);
    if (item.open) this.#unfolded.add(item.id);
  }

  #order(): void {
    this.rows = [...this.#rows.values()].sort((a, b) => a.index - b.index);
  }
}

/** Whether the item has content that is folded at first. */
function isFoldable({ type }: Body): boolean {
  return type === 'thinking' || type === 'toolCall' || type === 'notice';
}

/** An event of a newer shell is not an error: the next snapshot includes its effect. */
function unknownEvent(_event: never): boolean {
  return false;
}
