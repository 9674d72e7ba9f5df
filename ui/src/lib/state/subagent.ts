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
  #isChanged = false;
  /** An item was added before a later one. */
  #isMixed = false;
  /** Items to remove in `settle`. */
  #removed = new Set<ItemState>();

  constructor(call: ItemState) {
    this.#call = call;
  }

  get items(): readonly ItemState[] {
    return this.#items;
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
    this.#isMixed ||= item.nr < (this.#items.at(-1)?.nr ?? 0);
    this.#items.push(item);
    this.#isChanged = true;
    return true;
  }

  remove(item: ItemState): void {
    this.#removed.add(item);
    this.#isChanged = true;
  }

  /**
   * Drops the oldest items above the limit and returns them. Makes each remaining item a child of the call that it
   * belongs to.
   */
  settle(following: boolean): readonly ItemState[] {
    if (!this.#isChanged) return [];
    this.#isChanged = false;
    if (this.#removed.size > 0) this.#items = this.#items.filter((item) => !this.#removed.has(item));
    if (this.#isMixed) this.#items.sort((a, b) => a.nr - b.nr);
    this.#isMixed = false;
    this.#removed.clear();
    const most = (this.#call.open && !following ? READ : HELD) + this.#asked;
    const gone = this.#items.length > most * 1.5 ? this.#items.splice(0, this.#items.length - most) : [];
    const calls = new Map<ItemId, ItemState>([this.#call, ...this.#items].map((item) => [item.id, item]));
    const children = new Map<ItemState, ItemState[]>([[this.#call, []]]);
    for (const item of this.#items) {
      // The item's own call may precede the loaded items.
      const parent = (item.parent === null ? undefined : calls.get(item.parent)) ?? this.#call;
      const siblings = children.get(parent);
      if (siblings === undefined) children.set(parent, [item]);
      else siblings.push(item);
    }
    for (const item of calls.values()) {
      const now = children.get(item) ?? [];
      if (!isSame(item.children, now)) item.children = now;
    }
    const first = this.#items[0];
    this.#from = first?.nr ?? null;
    this.#call.nEarlier = first === undefined ? 0 : first.nr - 1;
    return gone;
  }
}

function isSame(a: readonly ItemState[], b: readonly ItemState[]): boolean {
  return a.length === b.length && a.every((item, i) => item === b[i]);
}
