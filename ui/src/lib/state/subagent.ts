// The loaded items of a subagent: its last items, and earlier ones that the user requested.

import type { ItemId } from '../bindings/api';
import type { ItemState } from './item.svelte';

/** Items kept for a running subagent. At more than 1.5 times this number the oldest are dropped. */
const HELD = 100;
/**
 * Items kept while the user has the subagent open and does not follow the end, so that the text being read stays
 * longer.
 */
const READ = 1000;

/** The items in the row of a subagent's call, except the call itself, in order. */
export class Subagent {
  #call: ItemState;
  #items: ItemState[] = [];
  /** The number of the first loaded item. */
  #from: number | null = null;
  /** How many earlier items the user requested. They are kept in addition to the limit. */
  #asked = 0;
  /** The call and the loaded items, by id. */
  #calls: Map<ItemId, ItemState>;
  /** Items whose own call precedes the loaded items, by the id of that call. They are children of the subagent's call. */
  #orphans = new Map<ItemId, ItemState[]>();
  /** Items to add in `settle`. */
  #added: ItemState[] = [];
  /** Items to remove in `settle`. */
  #removed = new Set<ItemState>();

  constructor(call: ItemState) {
    this.#call = call;
    this.#calls = new Map([[call.id, call]]);
  }

  get items(): readonly ItemState[] {
    return this.#added.length === 0 ? this.#items : [...this.#items, ...this.#added];
  }

  /**
   * Adds an item; returns whether it was added. Of items before the first loaded one, only those that the user
   * requested are added. `settle` puts all of them in order.
   */
  add(item: ItemState, isNew: boolean): boolean {
    if (this.#from !== null && item.nr < this.#from) {
      if (!isNew) return false;
      this.#asked += 1;
    }
    this.#added.push(item);
    return true;
  }

  remove(item: ItemState): void {
    this.#removed.add(item);
  }

  /**
   * Adds and removes items. Drops the oldest items above the limit and returns them. Makes each remaining item a child
   * of the call that it belongs to.
   */
  settle(following: boolean): readonly ItemState[] {
    if (this.#added.length === 0 && this.#removed.size === 0) return [];
    const added = this.#added.sort(byNr);
    this.#added = [];
    const [oldest, newest] = [this.#items[0], added.at(-1)];
    const isPage = oldest !== undefined && newest !== undefined && newest.nr < oldest.nr && this.#removed.size === 0;
    const gone = isPage ? [] : this.#rebuild([...this.#items, ...added], following);
    if (isPage) this.#prepend(added);
    const first = this.#items[0];
    this.#from = first?.nr ?? null;
    this.#call.nEarlier = first === undefined ? 0 : first.nr - 1;
    return gone;
  }

  /** Adds a page of earlier items without a look at the later ones: they would be looked at again for each page. */
  #prepend(page: readonly ItemState[]): void {
    this.#items = [...page, ...this.#items];
    for (const item of page) this.#calls.set(item.id, item);
    const found = page.flatMap((item) => {
      const later = (this.#orphans.get(item.id) ?? []).sort(byNr);
      this.#orphans.delete(item.id);
      if (later.length > 0) item.children = later;
      return later;
    });
    if (found.length > 0) {
      const moved = new Set(found);
      this.#call.children = this.#call.children.filter((item) => !moved.has(item));
    }
    for (const [parent, first] of this.#childrenByCall(page)) parent.children = [...first, ...parent.children];
  }

  #rebuild(items: ItemState[], following: boolean): readonly ItemState[] {
    this.#items = items.filter((item) => !this.#removed.has(item)).sort(byNr);
    this.#removed.clear();
    const most = (this.#call.open && !following ? READ : HELD) + this.#asked;
    const gone = this.#items.length > most * 1.5 ? this.#items.splice(0, this.#items.length - most) : [];
    this.#calls = new Map([this.#call, ...this.#items].map((item) => [item.id, item]));
    this.#orphans.clear();
    const children = this.#childrenByCall(this.#items);
    for (const item of this.#calls.values()) {
      const now = children.get(item) ?? [];
      if (!isSame(item.children, now)) item.children = now;
    }
    return gone;
  }

  #childrenByCall(items: readonly ItemState[]): Map<ItemState, ItemState[]> {
    const children = new Map<ItemState, ItemState[]>();
    for (const item of items) {
      const call = item.parent === null ? this.#call : this.#calls.get(item.parent);
      if (call === undefined && item.parent !== null) push(this.#orphans, item.parent, item);
      push(children, call ?? this.#call, item);
    }
    return children;
  }
}

function push<Key>(lists: Map<Key, ItemState[]>, key: Key, item: ItemState): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [item]);
  else list.push(item);
}

function byNr(a: ItemState, b: ItemState): number {
  return a.nr - b.nr;
}

function isSame(a: readonly ItemState[], b: readonly ItemState[]): boolean {
  return a.length === b.length && a.every((item, i) => item === b[i]);
}
