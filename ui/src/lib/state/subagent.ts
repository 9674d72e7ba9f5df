// What a subagent did, as far as a window holds it: the last of its items, and those before them that the reader asked for.

import type { ItemId } from '../bindings/api';
import type { ItemState } from './item.svelte';

/** So many are held of a subagent that works on; with half as many more, the first of them are let go of. */
const HELD = 100;
/** The same while a reader has it open and is elsewhere than at the end: what he reads is not taken from him so soon. */
const READ = 1000;

/** The items in the row of a call, besides itself, in their order. */
export class Subagent {
  #call: ItemState;
  #items: ItemState[] = [];
  /** The number of the first that is shown. */
  #from: number | null = null;
  /** So many more are held than usual, since the reader asked for them. */
  #asked = 0;
  #isChanged = false;

  constructor(call: ItemState) {
    this.#call = call;
  }

  get items(): readonly ItemState[] {
    return this.#items;
  }

  /** Takes an item in, at its place. One from before those that are held comes only if it was asked for. */
  add(item: ItemState, isNew: boolean): boolean {
    if (this.#from !== null && item.nr < this.#from) {
      if (!isNew) return false;
      this.#asked += 1;
    }
    const at = this.#items.findLastIndex((known) => known.nr < item.nr) + 1;
    this.#items.splice(at, 0, item);
    this.#isChanged = true;
    return true;
  }

  remove(item: ItemState): void {
    this.#items = this.#items.filter((known) => known !== item);
    this.#isChanged = true;
  }

  /** Lets go of what is too much, and says what that was; shows the rest, each item below the call that it belongs to. */
  settle(following: boolean): readonly ItemState[] {
    if (!this.#isChanged) return [];
    this.#isChanged = false;
    const most = (this.#call.open && !following ? READ : HELD) + this.#asked;
    const gone = this.#items.length > most * 1.5 ? this.#items.splice(0, this.#items.length - most) : [];
    const calls = new Map<ItemId, ItemState>([this.#call, ...this.#items].map((item) => [item.id, item]));
    const children = new Map<ItemState, ItemState[]>([[this.#call, []]]);
    for (const item of this.#items) {
      // Its own call may have come before what is held.
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
